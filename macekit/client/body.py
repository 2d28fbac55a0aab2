"""A file of scores as a body: its format told by its first bytes or its name, as the shell does."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macekit.client.columns import require_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from macekit.call import Body, Call
    from macekit.decoding.body import Column, DecodedBody

EXPANDED = 2**40  # bytes that one's own compressed file may expand to


@dataclass(frozen=True, slots=True)
class File:
    """A file, how it is written, and whether it is compressed."""

    path: str
    media_type: str
    encoding: str

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> File:
        """The file at a path."""
        from macekit.formats import HEAD, encoding_of, format_of, holds_pickle, media_type_of
        from macekit.problems import pickle_problem

        name = os.fspath(path)
        require_regular(name)
        with open(name, "rb") as file:
            head = file.read(HEAD)
        if holds_pickle(name, head):
            raise pickle_problem()
        return cls(name, media_type_of(format_of(name, head), head), encoding_of(head))

    @property
    def size(self) -> int:
        """Bytes that its columns may take: compressed, a multiple of its own."""
        from macekit.questions.counts.work import EXPANSION

        return os.stat(self.path).st_size * (1 if self.encoding == "identity" else EXPANSION)

    def call(self, operation: str, query: tuple[tuple[str, str], ...]) -> Call:
        """The call about this file."""
        from macekit.call import Call

        return Call(operation, self.media_type, self.encoding, query, expanded_limit=EXPANDED)

    def body(self) -> Body:
        """Its bytes, mapped."""
        from macekit.call import READ_BYTES, Body

        return Body.of_descriptor(os.open(self.path, READ_BYTES))

    def decode(self, operation: str, query: tuple[tuple[str, str], ...]) -> DecodedBody:
        """The whole of it, decoded here."""
        from macekit.decoding import decode

        with self.body() as body:
            return decode(self.call(operation, query), body)


# Arrays as a body for a server, in binary form: JSON of as many numbers would cost more than the answer.


@dataclass(frozen=True, slots=True)
class Packed:
    """A body, and how it is written."""

    media_type: str
    data: bytes


def pack(operation: str, arrays: Mapping[str, Column]) -> Packed | None:
    """The first array as NPY; two sides, or several arrays of one length, as a table; None if only JSON will do."""
    from macekit.call import ARROW, NPY, NPZ
    from macekit.catalogue import ARRAYS, BY_NAME, SIDED

    numbers = {name: column for name, column in arrays.items() if isinstance(column, np.ndarray)}
    if ARROW not in BY_NAME[operation].bodies:
        return Packed(NPZ, _npz(arrays))
    if operation in SIDED:
        return _sides(operation, numbers) if len(numbers) == len(SIDED[operation]) else None
    if [*arrays] == [*numbers] == [*ARRAYS[operation][:1]]:
        return Packed(NPY, _npy(next(iter(numbers.values()))))
    alike = len({len(column) for column in arrays.values()}) == 1
    return _table(arrays) if alike and numbers else None


def _sides(operation: str, arrays: Mapping[str, NDArray[Any]]) -> Packed:
    """Both sides in one column, and beside it which one a number is of."""
    from estimators.sample.integers import as_one_type
    from macekit.catalogue import SIDED
    from macekit.schemas.query_string import TABLE

    sides = [arrays[name] for name in SIDED[operation]]
    if {side.dtype.kind for side in sides} <= set("iu"):
        sides = [*as_one_type(sides[0], sides[1])]
    inside = np.repeat([True, False], [len(side) for side in sides])
    return _table(dict(zip(TABLE[:2], (np.concatenate(sides), inside), strict=True)))


def _npy(array: NDArray[Any]) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()


def _npz(arrays: Mapping[str, Column]) -> bytes:
    sink = io.BytesIO()
    columns: dict[str, Any] = {name: np.asarray(column) for name, column in arrays.items()}
    np.savez(sink, **columns)
    return sink.getvalue()


def _table(arrays: Mapping[str, Column]) -> Packed:
    """A column for each array, called like it; rows of numbers are lists of one length."""
    import pyarrow as pa

    from macekit.call import ARROW

    table = pa.table({name: _arrow(column) for name, column in arrays.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Packed(ARROW, sink.getvalue().to_pybytes())


def _arrow(column: Column) -> Any:
    import pyarrow as pa

    if isinstance(column, np.ndarray) and column.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(pa.array(column.reshape(-1)), column.shape[1])
    return pa.array(column)
