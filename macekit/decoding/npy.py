"""``application/x-npy``: fields with names, columns of numbers with membership last, or one column of scores.

Nothing is unpickled, and nothing allocated before the shape in the header fits the bytes that follow.
"""

from __future__ import annotations

import ast
import io
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.python.dataclass import dataclass, replace
from macekit.call import Body, Call
from macekit.decoding import table
from macekit.decoding.body import DecodedBody, Sample, first_members, options, table_options
from macekit.decoding.columns import Labels
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import Source, expanded, first_bytes, unpacked
from macekit.decoding.format import ChooseUnnamed, Column, Format, LabelColumns, Readable, Sides, Tables
from macekit.decoding.roles import C, Choose, Layout, Roles, TableLayout, UnnamedColumns, Wide, choice
from macekit.decoding.table import Table, Values, numbers_without_padding, plain, sides
from macekit.decoding.texts import LOGPROBS, Entry, of_arrays
from macekit.decoding.typed import padding_note
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.decoding.unnamed_columns import Look, candidates, labels_of_array
from macekit.problems import Problem, pickle_problem
from macekit.schemas.query_string import FIRST_MEMBERS, of_table, takes_arrays

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 2**18
BLOCK = 2**20
PREVIEW = 2**18 + 16
MOST_COLUMNS = 2**17  # columns without names that may be chosen from by their numbers
MOST_EMPTY = 2**31  # rows of nothing that NumPy can still count

LAST_LETTER = 0x10FFFF
SCORE = "score", "0"  # what an array of one dimension is, and what its only column is called

WORDS = {"descr", "fortran_order", "shape"}


@dataclass(frozen=True, slots=True)
class Header:
    """What the array is: its type, its shape, and whether columns lie together."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool

    @property
    def is_plain(self) -> bool:
        """Whether it is one column without a name."""
        return len(self.shape) == 1 and not self.kind.names

    @property
    def size(self) -> int:
        """Bytes of the array; no number in a header is too large for Python."""
        return math.prod(self.shape) * self.kind.itemsize


class Npy(Format):
    """One array."""

    def decode(self, call: Call, body: memoryview) -> DecodedBody:
        """The decoded body, without copying the columns it needs no copy of."""
        limit = self.limit(call, body)
        header, data = _header_and_data(body)
        if takes_arrays(call.operation):
            return _arrays(header, data, call, limit)
        _require_sides(header)
        array = array_of(header, data)
        if array.ndim != 1 or header.kind.names:
            layout = _roles(header, call)
            return table.from_table(_table(array, layout, 0), layout, call, limit)
        n = _first_members(call, len(array))
        scores = _plain_scores(array, 0, limit)
        recorder = ColumnRecorder()
        recorder.add(0, *SCORE, scores)
        sample = Sample(scores[:n], scores[n:])
        rows = np.arange(len(array))
        return DecodedBody({"": sample}, options(call), True, rows=rows, columns=recorder.columns())

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The columns in use, and what they are; those of an array without fields have empty names."""
        header, data = _header_and_data(body)
        if len(header.shape) not in (1, 2) or (header.kind.names and len(header.shape) > 1):
            need = "one for numbers or for fields with names, or two"
            raise Problem("dimension-mismatch", f"the array has {len(header.shape)} dimensions; need {need}")
        array = array_of(header, data)
        layout = choose(array.dtype.names or [""] * (array.shape[1] if array.ndim == 2 else 1))
        return _table(array, layout, 0), layout

    def blocks(
        self, call: Call, body: Body, recorder: ColumnRecorder | None = None, look: Look | None = None
    ) -> Iterator[Sides]:
        """Of an array of one dimension the first are members."""
        source = unpacked(call, body)
        header = _header_of_sides(source.read)
        first = _first_members(call, header.shape[0]) if header.is_plain else 0
        layout = None if header.is_plain else _roles(header, call)
        limit, values = call.expanded_limit, set[str]()
        for start, part in _parts(header, source, limit):
            if isinstance(layout, Roles):
                block = _block(part, layout, start, call)
                if look is not None:
                    look.add(block, layout)
                yield sides(block, layout, limit, values, recorder)
                continue
            scores = _plain_scores(part, start, limit)
            if recorder is not None:
                recorder.add(0, *SCORE, scores)
            cut = min(max(first - start, 0), len(scores))
            yield scores[:cut], scores[cut:]
        if source.read(1):
            raise Problem("malformed-body", "something follows the array that the NPY header describes")

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """An array with fields or columns in blocks; columns that lie one after another must all be held."""
        source = unpacked(call, body)
        header = _header_of_sides(source.read)
        layout = None if header.is_plain else _roles(header, call)
        if not isinstance(layout, Roles):
            detail = "an array of one dimension is no table of scores and membership"
            raise Problem("dimension-mismatch", detail)
        for start, part in _parts(header, source, call.expanded_limit):
            yield _block(part, layout, start, call), layout

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """Those of fields."""
        array = array_of(*_header_and_data(body))
        return _labels(array[:LOOKS], choose(array.dtype.names or ()))

    def texts(self, call: Call, body: Body) -> Iterator[Entry]:
        """A row for each text, padded with NaN."""
        return of_arrays({LOGPROBS: array_of(*_header_and_data(expanded(call, body)))})

    def preview(self, call: Call, body: Body) -> list[Column]:
        """The fields."""
        kind = _header_of_sides(io.BytesIO(first_bytes(call, body, PREVIEW)).read).kind
        return [Column.of_dtype(name, kind[name]) for name in kind.names or ()]

    def rows(self, call: Call, body: Body) -> int | None:
        """By the header."""
        return _header_of_sides(io.BytesIO(first_bytes(call, body, PREVIEW)).read).shape[0]


FORMAT = Npy()


def _block(part: NDArray[Any], layout: Roles, start: int, call: Call) -> Table:
    block, others = _table(part, layout, start), candidates(part.dtype.names or (), layout, call)
    if others is None or start >= LOOKS:
        return block
    return replace(block, unnamed=_labels(part[: LOOKS - start], others))


def _labels(rows: NDArray[Any], others: UnnamedColumns) -> LabelColumns:
    labels = {name: labels_of_array(rows[name]) for name in others.names}
    return {name: each for name, each in labels.items() if each is not None}


def _header_and_data(body: memoryview) -> tuple[Header, memoryview]:
    """The header, and the bytes that follow it."""
    source = io.BytesIO(body[: LONGEST_HEADER + 16])
    header = header_of(source.read)
    return header, body[source.tell() :]


def _header_of_sides(take: Callable[[int], bytes]) -> Header:
    """The header of scores of two sides."""
    header = header_of(take)
    _require_sides(header)
    return header


def header_of(take: Callable[[int], bytes]) -> Header:
    """Any header, read as a literal and nothing else."""
    head = take(8)
    if head[:2] == b"PK":
        detail = "this is an NPZ archive; send it as application/x-npz, or as .npz"
        raise Problem("unsupported-media-type", detail)
    if len(head) < 8:
        raise Problem("incomplete-body", "the NPY header ended before it was complete")
    if head[:6] != MAGIC or head[6] not in (1, 2, 3):
        raise Problem("malformed-body", "the body is not NPY")
    wide = 2 if head[6] == 1 else 4
    length = int.from_bytes(_exactly(take, wide), "little")
    if length > LONGEST_HEADER:
        raise Problem("malformed-body", f"the NPY header is longer than {LONGEST_HEADER} bytes")
    text = _exactly(take, length)
    try:
        words = ast.literal_eval(text.decode("utf-8" if head[6] == 3 else "latin1").strip())
        kind = np.lib.format.descr_to_dtype(words["descr"])
        shape, fortran = words["shape"], words["fortran_order"]
    except (ValueError, SyntaxError, TypeError, LookupError, AttributeError, MemoryError, RecursionError):
        raise Problem("malformed-body", "the NPY header cannot be read") from None
    complete = isinstance(words, dict) and set(words) == WORDS and isinstance(fortran, bool)
    if not complete or not isinstance(shape, tuple) or not all(type(n) is int and n >= 0 for n in shape):
        raise Problem("malformed-body", "the NPY header is not one")
    if kind.hasobject:
        raise pickle_problem("the array holds Python objects, so it is a pickle, which")
    if kind.itemsize == 0 or kind.subdtype is not None:
        raise Problem("malformed-body", "the elements of the array take no room, or are arrays themselves")
    return Header(kind, shape, fortran)


def _exactly(take: Callable[[int], bytes], size: int) -> bytes:
    data = take(size)
    if len(data) < size:
        raise Problem("incomplete-body", "the NPY header ended before it was complete")
    return data


def _require_sides(header: Header) -> None:
    kind, shape = header.kind, header.shape
    if len(shape) == 2 and not kind.names and shape[1] > 1:
        return
    if len(shape) != 1:
        raise Problem(
            "dimension-mismatch",
            f"the array has {len(shape)} dimensions; need fields with names, or two dimensions with membership in the "
            "last of at least two columns, or one dimension and members=N in the query string",
        )


def array_of(header: Header, data: memoryview) -> NDArray[Any]:
    """The array over the bytes as they lie."""
    if len(data) < header.size:
        detail = f"the NPY header announces {header.size} bytes of data, {len(data)} came"
        raise Problem("incomplete-body", detail)
    if len(data) > header.size:
        raise Problem("malformed-body", "something follows the array that the NPY header describes")
    if not header.shape[0]:
        fits = len(header.shape) == 2 and header.shape[1] <= MOST_COLUMNS
        return np.empty((0, header.shape[1]) if fits else 0, header.kind)
    if not header.size and max(header.shape) > MOST_EMPTY:
        detail = "the rows of the array are empty; need at least one number in each"
        raise Problem("dimension-mismatch", detail)
    flat = np.frombuffer(data, dtype=header.kind)
    return flat.reshape(header.shape, order="F" if header.fortran else "C")


def _parts(header: Header, source: Source, limit: int) -> Iterator[tuple[int, NDArray[Any]]]:
    """Runs of rows, and where each starts."""
    n = header.shape[0]
    row = header.size // n if n else 1
    if header.fortran and len(header.shape) > 1:
        if header.size > limit:
            detail = "columns lie one after another (Fortran order); send the array in C order"
            raise Problem("too-large", detail)
        step = max(n, 1)
    else:
        step = max(1, BLOCK // row)
    for start in range(0, n, step):
        rows = min(step, n - start)
        data = source.read(rows * row)
        if len(data) < rows * row:
            detail = f"the NPY header announces {header.size} bytes of data, fewer came"
            raise Problem("incomplete-body", detail)
        yield (start, array_of(Header(header.kind, (rows, *header.shape[1:]), header.fortran), memoryview(data)))


def _arrays(header: Header, data: memoryview, call: Call, limit: int) -> DecodedBody:
    """An array that a question takes as it is, or a table of several; columns without names go by their numbers."""
    names, wide = header.kind.names, len(header.shape)
    column_option = next((name for name in of_table(call.operation) if name in table_options(call)), None)
    if not wide or (names and wide > 1) or (not names and wide != 2 and column_option):
        need = "one dimension where fields have names, two where columns are chosen"
        detail = f"the array has {wide} dimensions; need {need}"
        raise Problem("dimension-mismatch", detail, field=column_option)
    array = array_of(header, data)
    if names or column_option:
        layout = choice(names or _numbers(header), call)
        return table.from_table(_table(array, layout, 0), layout, call, limit)
    if header.kind.kind == "U" and wide == 1:
        array = _plain_scores(array, 0, limit)
    return table.from_array(array, call, limit)


def _roles(header: Header, call: Call) -> TableLayout:
    """Fields go by their names, columns by their numbers with membership last."""
    if first_members(call) is not None:
        detail = "members: a number of members belongs to an array of one dimension"
        raise Problem("bad-option", detail, field=FIRST_MEMBERS)
    if header.kind.names:
        return choice(header.kind.names, call)
    return choice(_numbers(header), call, header.shape[1] - 1)


def _numbers(header: Header) -> list[str]:
    """The names of columns that have none, if there can be so many."""
    if header.shape[1] > MOST_COLUMNS:
        detail = f"the array has more than {MOST_COLUMNS} columns; send those in use, or fields with names"
        raise Problem("too-large", detail)
    return [str(at) for at in range(header.shape[1])]


def _table(array: NDArray[Any], layout: Layout, start: int) -> Table:
    columns = [_column(array, place) for place in layout.positions]
    names = array.dtype.names or [str(at) for at in range(array.shape[1] if array.ndim == 2 else 1)]
    notes: dict[int, list[str]] = {}
    # there is no null: what is NaN at the end of a column is none of its records
    if isinstance(layout, Wide):
        columns = numbers_without_padding(columns)
        for at, column in zip(layout.positions, columns, strict=True):
            notes[at] = padding_note(len(array), len(column))
    places = zip(layout.positions, columns, strict=True)
    return Table({at: values_of(column, start) for at, column in places}, start, names, notes)


def _column(array: NDArray[Any], place: int) -> NDArray[Any]:
    if array.dtype.names:
        return array[array.dtype.names[place]]
    return array[:, place] if array.ndim > 1 else array


def values_of(column: NDArray[Any], start: int) -> Values:
    """One column in this machine's byte order; text only of letters that there are."""
    own = np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("="))
    if own.dtype.kind != "U" or own.ndim != 1 or not own.dtype.itemsize:
        return own
    letters = own.view(np.uint32).reshape(len(own), -1)
    bad = ((letters > LAST_LETTER) | ((letters >= 0xD800) & (letters < 0xE000))).any(axis=1)
    if bad.any():
        row = start + int(np.argmax(bad))
        raise Problem("malformed-body", f"row {row} holds text that is not Unicode", index=row)
    return Labels.of(own)


def _plain_scores(array: NDArray[Any], start: int, limit: int) -> NDArray[np.generic]:
    values = values_of(array, start)
    return values.array("score", start, limit) if isinstance(values, Labels) else plain(values, "score", start)


def _first_members(call: Call, total: int) -> int:
    """How many values are members, as the caller said."""
    text = first_members(call)
    if text is None:
        detail = (
            "members: an array of one dimension needs members=N in the query string: its first N values are "
            "members; or give a file for each side"
        )
        raise Problem("missing-field", detail, field=FIRST_MEMBERS)
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text) <= total):
        raise Problem("out-of-range", f"members: need a whole number from 0 to {total}", field=FIRST_MEMBERS)
    return int(text)
