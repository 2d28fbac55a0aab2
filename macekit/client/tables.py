"""What a question in Python is asked of, as a body: a frame, whose columns are found by name, a file, or arrays."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence, Set, Sized
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macekit.client.columns import arrow_of, column, columns_of, is_table, require_regular
from macekit.client.problems import fault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from estimators import Caution
    from macekit.call import Body, Call
    from macekit.decoding.body import Column, DecodedBody
    from macekit.decoding.table import Values


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


LIMIT = 2**40  # bytes a table of one's own may grow to

ALONE = frozenset({"member", "group", "unit", "model", "members_column", "nonmembers_column"})
"""What is one column, and never several."""


def read_frame(operation: str, frame: object, roles: Mapping[str, object]) -> DecodedBody:
    """The decoded body of a frame; ``roles`` names its columns where they have not their usual names."""
    from macekit.call import Call
    from macekit.catalogue import OF_GROUPS
    from macekit.decoding import unnamed_columns
    from macekit.decoding.roles import Roles, Wide, choice
    from macekit.decoding.roles import unnamed_columns as unnamed_of
    from macekit.decoding.table import Table, from_table
    from macekit.problems import Problem
    from macekit.schemas.query_string import takes_arrays
    from macekit.sources.blocks import blamed

    names, of = columns_of(frame)
    if getattr(getattr(frame, "columns", None), "nlevels", 1) > 1 and not takes_arrays(operation):
        detail = "columns have names of several levels; flatten them: frame.columns = frame.columns.map('.'.join)"
        raise Problem("wrong-type", detail)
    call = Call(operation, query=query(roles))
    layout = choice(names, call)
    fields = {at: of(at) for at in layout.positions}
    if isinstance(layout, Wide):
        fields = _without_padding(fields)
    several = layout.scores if isinstance(layout, Roles) and len(layout.scores) > 1 else ()
    columns = {}
    for at, each in fields.items():
        with blamed(names[at] if at in several else ""):
            columns[at] = _values(each, layout.what[at])
    if not isinstance(layout, Wide):
        require_alike(columns, layout.what)
    result = like_lists(from_table(Table(columns, 0, names), layout, call, LIMIT))
    if not unnamed_columns.wanted(result):
        return result
    others = unnamed_of(names, layout, call)
    rows = np.arange(0 if result.rows is None else len(result.rows))
    spans = unnamed_columns.spans(len(rows))
    columns_there = {name: _looked_at(of(at), spans) for at, name in zip(others.places, others.names, strict=True)}
    places = np.concatenate([rows[each] for each in spans])
    return replace(
        result, cautions=unnamed_columns.cautions(columns_there, result, places, by_step=operation in OF_GROUPS)
    )


def cautions_of_frames(frames: Sequence[object], score: str, body: DecodedBody) -> tuple[Caution, ...]:
    """What is odd about a frame for each side, in columns that both have and nobody named."""
    from macekit.call import Call
    from macekit.decoding import unnamed_columns
    from macekit.decoding.roles import OneSide
    from macekit.decoding.roles import unnamed_columns as unnamed_of

    if body.units is not None or body.models is not None or body.clusters:
        return ()
    sides = []
    for frame in frames:
        names, of = columns_of(frame)
        others = unnamed_of(names, OneSide((names.index(score),)), Call("advantage"))
        first = [slice(0, unnamed_columns.ROWS)]
        columns = {name: _looked_at(of(at), first) for at, name in zip(others.places, others.names, strict=True)}
        labels = {name: unnamed_columns.labels_of_array(each) for name, each in columns.items()}
        sides.append({name: each for name, each in labels.items() if each is not None})
    return unnamed_columns.cautions_of_sides(body.samples[""], *sides)


def _looked_at(values: Any, spans: Sequence[slice]) -> NDArray[Any]:
    """Some values of a column that nobody named; none where they are no array."""
    try:
        array = np.concatenate([np.asarray(getattr(values, "iloc", values)[each]) for each in spans])
    except (TypeError, ValueError):
        return np.zeros(0)
    return array if array.ndim == 1 else np.zeros(0)


def like_lists(body: DecodedBody) -> DecodedBody:
    """The records of a table as they would be had each side come by itself, as a list: the same answer everywhere."""
    samples = {
        name: replace(each, members=column(each.members, "members"), nonmembers=column(each.nonmembers, "nonmembers"))
        for name, each in body.samples.items()
    }
    return replace(body, samples=samples, columns=())


def whole(table: object, name: str) -> Mapping[str, Any]:
    """Every column of a table, as it is: of a frame, a mapping of columns, or a file."""
    if isinstance(table, str | os.PathLike):
        from macekit.decoding import reader_of
        from macekit.decoding.compression import expanded

        file = File.at(table)
        call = file.call("synthetic", ())
        with file.body() as body:
            return reader_of(call).whole_columns(call, expanded(call, body))
    if not is_table(table):
        got = type(table).__name__
        raise fault("wrong-type", name, f"got {got}; need a frame, a mapping of columns or a file")
    names, of = columns_of(table)
    if repeated := [each for at, each in enumerate(names) if each in names[:at]]:
        raise fault("bad-records", name, f"two columns are called {repeated[0]!r}; give every column a name of its own")
    columns = {each: of(place) for place, each in enumerate(names)}
    for each, values in columns.items():
        if isinstance(values, str | bytes | Mapping | Set) or not _has_length(values):
            got = type(values).__name__
            raise fault("wrong-type", name, f"column {each!r} is of type {got}; need a list or an array, a value a row")
    return columns


def _has_length(values: Any) -> bool:
    """Whether there are values, and not one alone."""
    return hasattr(values, "__len__") and getattr(values, "ndim", 1) > 0


def texts_of(side: Any, name: str) -> list[object]:
    """What a language model said of each text of a side: what a file holds, or lists, arrays or mappings of lists."""
    if isinstance(side, str | os.PathLike):
        from macekit.decoding import reader_of

        file = File.at(side)
        call = file.call("text", ())
        with file.body() as body:
            return [_as_lists(entry.value) for entry in reader_of(call).texts(call, body)]
    if isinstance(side, Mapping) or not hasattr(side, "__iter__"):
        raise fault("wrong-type", name, f"got {type(side).__name__}; need an entry for each text, or a file")
    return [_as_lists(each) for each in side]


def _as_lists(value: Any) -> object:
    """Arrays and tensors of one text as lists, and those among its fields."""
    if isinstance(value, Mapping):
        return {str(key): _as_lists(each) for key, each in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value.tolist() if hasattr(value, "tolist") else value


def matrix(values: object, where: str) -> Column:
    """One array: a column, rows of numbers, or every column of a frame side by side."""
    from estimators.errors import MixedTypes

    if not is_table(values):
        return column(values, where)
    names, of = columns_of(values)
    columns = [column(of(at), where) for at in range(len(names))]
    if not all(isinstance(each, np.ndarray) and each.dtype.kind in "iuf" and each.ndim == 1 for each in columns):
        raise fault(MixedTypes, where, "not every column of the table is of numbers")
    return np.column_stack([np.asarray(each, np.float64) for each in columns]) if columns else []


def query(roles: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Names of columns as the service's query string has them."""
    pairs = []
    for role, name in roles.items():
        several = role not in ALONE
        values = list(name) if several and isinstance(name, list | tuple) else [name]
        names = [each for each in values if isinstance(each, str)]
        if len(names) < len(values):
            raise fault(
                "wrong-type", role, 'names a column of a table; need text, such as "0" for a column 0 of pandas'
            )
        if several and any("," in each for each in names):
            reason = "a comma cannot stand in a name; several columns go in a list"
            raise fault("bad-option", role, reason)
        pairs.append((role, ",".join(names)))
    return tuple(pairs)


def _without_padding(columns: Mapping[int, object]) -> dict[int, object]:
    """The columns of both sides without the blanks that the shorter one ends in; lists of two lengths may have none."""
    from macekit.decoding.table import filled_sizes

    arrays = {at: _sliceable(each) for at, each in columns.items()}
    filled = [_present(each) for each in arrays.values()]
    if len({len(each) for each in filled}) > 1:
        return arrays
    sizes = filled_sizes(filled)
    return {at: each[:size] for (at, each), size in zip(arrays.items(), sizes, strict=True)}


def _sliceable(values: Any) -> Any:
    """A column as an array of NumPy or Arrow, or as the list it is."""
    if isinstance(getattr(values, "dtype", None), np.dtype) and hasattr(values, "to_numpy"):
        return values.to_numpy()
    arrow = arrow_of(values)
    return values if arrow is None else arrow


def _present(values: Any) -> NDArray[np.bool_]:
    """Where a column holds a value: NumPy's and Python's lists have NaN or None where it has none."""
    if hasattr(values, "is_valid"):
        return np.asarray(values.is_valid(), dtype=np.bool_)
    return np.array([value is not None and value == value for value in values], dtype=np.bool_)


def _values(values: object, what: str) -> Values:
    """A column as the decoder of tables has it: text as labels."""
    from macekit.decoding.typed import labels, values_of

    numpy_backed = isinstance(getattr(values, "dtype", None), np.dtype)
    if not numpy_backed and (arrow := arrow_of(values)) is not None:
        return values_of(arrow, what, 0)
    array = column(values, what)
    if isinstance(array, np.ndarray) and array.dtype.kind != "U":  # integers of more than 64 bits are objects
        return array
    if isinstance(array, list) and isinstance(array[0], bool):
        return np.asarray(array)
    import pyarrow as pa

    return labels(pa.array(array, pa.large_string()))


def require_alike(columns: Mapping[int, Sized], what: Mapping[int, str]) -> None:
    """Refuse columns of one table that differ in length; ``what`` is the role of each."""
    first, *others = columns
    for at in others:
        if len(columns[at]) != len(columns[first]):
            detail = f"got {len(columns[at])} rows, {what[first]} has {len(columns[first])}"
            raise fault("dimension-mismatch", what[at], detail)
