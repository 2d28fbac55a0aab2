"""``application/vnd.apache.parquet``: read by row group, only the columns in use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from estimators import MaceError
from macekit.call import Body, Call
from macekit.decoding.arrow import ROWS, Typed, table_of, unnamed_labels
from macekit.decoding.columns import guarded, refusals
from macekit.decoding.compression import expanded
from macekit.decoding.format import Column, LabelColumns, Readable, Tables
from macekit.decoding.roles import C, Choose, Layout, Roles, UnnamedColumns, roles, with_constants
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.decoding.unnamed_columns import candidates, with_labels
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Parquet"

MOST_ROWS = 2**20  # rows that are read at once


class Parquet(Typed):
    """A file of row groups, whose columns are read one by one."""

    def as_written(
        self, body: memoryview, choose: Choose[C], limit: int, enough: int | None = None
    ) -> tuple[pa.Table, C, Sequence[str]]:
        """The columns in use, some rows at a time."""
        import pyarrow as pa

        file, layout = _open(body, choose)
        paths = _paths(file, layout)
        rows = max(1, min(MOST_ROWS, enough or MOST_ROWS, limit // (8 * max(1, len(paths)))))
        with refusals(NAME):
            nested = any(pa.types.is_nested(file.schema_arrow.types[at]) for at in layout.positions)
            if nested and 8 * _values(body, paths) > limit:  # lists, each of which may expand to any length
                raise _too_large(limit)
            parts = file.iter_batches(batch_size=rows, columns=paths, use_threads=False)
        batches, size = [], 0
        for batch in guarded(parts, NAME):
            size += max(batch.nbytes, 8 * len(batch) * len(paths))
            if size > limit:  # a constant column takes next to no room in a file
                raise _too_large(limit)
            batches.append(_in_order(batch, file, layout))
            if enough is not None and sum(map(len, batches)) >= enough:
                break
        with refusals(NAME):
            empty = None if batches else _in_order(file.schema_arrow.empty_table(), file, layout)
            table = pa.Table.from_batches(batches) if empty is None else empty
        return table, layout, file.schema_arrow.names

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """The file in blocks; a page is the least that is read at once."""
        data = expanded(call, body) if isinstance(body, Body) else body
        file, layout = _open(data, lambda names: roles(with_constants(names, constants), call), call)
        names = with_constants(file.schema_arrow.names, constants)
        with refusals(NAME):
            batches = file.iter_batches(batch_size=ROWS, columns=_paths(file, layout), use_threads=False)
        others = candidates(names, layout, call)
        labels = None if others is None else _first_labels(file, others, names, constants, call.looks)
        yield from with_labels(_tables(batches, file, layout, names, constants), labels, call)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the footer."""
        import pyarrow.parquet as pq

        data = expanded(call, body)
        with refusals(NAME):
            return Column.of_schema(pq.read_schema(_reader(data)))

    def rows(self, call: Call, body: Body) -> int | None:
        """By the footer."""
        import pyarrow.parquet as pq

        data = expanded(call, body)
        with refusals(NAME):
            return int(pq.read_metadata(_reader(data)).num_rows)


FORMAT = Parquet()


def _tables(
    batches: Iterator[pa.RecordBatch], file: Any, layout: Roles, names: Sequence[str], constants: Mapping[str, str]
) -> Tables:
    start = 0
    for batch in guarded(batches, NAME):
        yield table_of(_in_order(batch, file, layout), layout, start, names, constants), layout
        start += len(batch)


def _first_labels(
    file: Any, others: UnnamedColumns, names: Sequence[str], constants: Mapping[str, str], most: int
) -> LabelColumns:
    """The labels of the first rows in columns that nobody named, of which no more is read than these rows take."""
    import pyarrow as pa

    types = file.schema_arrow.types
    cheap = (
        pa.types.is_integer if most < LOOKS else lambda kind: not pa.types.is_nested(kind)
    )  # all texts are read first
    places = [at for at in others.places if at >= len(types) or cheap(types[at])]
    others = UnnamedColumns(places, [names[at] for at in places])
    paths = _paths(file, others)
    rows: list[pa.RecordBatch] = []
    try:
        with refusals(NAME):
            batches = file.iter_batches(batch_size=most, columns=paths, use_threads=False)
        for batch in guarded(batches, NAME):
            rows.append(batch)
            if sum(map(len, rows)) >= most:
                break
        with refusals(NAME):
            table = pa.Table.from_batches(rows, None if rows else pa.schema([])).slice(0, most)
    except (Problem, MaceError):
        return {}
    return unnamed_labels(table, others, names, constants)


def _open(body: memoryview | pa.NativeFile, choose: Choose[C], call: Call | None = None) -> tuple[Any, C]:
    """The file and the choice of its columns; text stays a dictionary, so a long one costs once.

    So does that of columns that nobody named, where ``call`` is one that looks at them.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with refusals(NAME):
        schema = pq.read_schema(_reader(body))
        layout = choose(schema.names)
        text = [
            schema.names[at]
            for at in [*layout.positions, *_others(schema.names, layout, call)]
            if at < len(schema.names)
            and (pa.types.is_large_string(schema.types[at]) or pa.types.is_string(schema.types[at]))
        ]
        file = pq.ParquetFile(_reader(body), read_dictionary=text, pre_buffer=False, page_checksum_verification=True)
    return file, layout


def _others(names: Sequence[str], layout: Layout, call: Call | None) -> Sequence[int]:
    others = candidates(names, layout, call) if call is not None and isinstance(layout, Roles) else None
    return () if others is None else others.places


def _reader(body: memoryview | pa.NativeFile) -> pa.NativeFile:
    """What reads a body in memory, or the file it is."""
    import pyarrow as pa

    if not isinstance(body, memoryview):
        return body
    if not len(body):
        raise Problem("incomplete-body", f"the body is empty; need {NAME}")
    return pa.BufferReader(pa.py_buffer(body))


def _too_large(limit: int) -> Problem:
    return Problem("too-large", f"the columns in use expand to more than {limit} bytes")


def _values(body: memoryview, names: Sequence[str]) -> int:
    """How many values the columns in use hold; one of lists holds more than there are rows."""
    return sum(
        values for path, values in value_counts(body).items() if ".".join(path) in names or (path and path[0] in names)
    )


def _paths(file: Any, layout: Layout) -> list[str]:
    names = file.schema_arrow.names
    return [names[at] for at in layout.positions if at < len(names)]  # the others are constants


def _in_order(table: Any, file: Any, layout: Layout) -> Any:
    """Columns in the order of the file, whatever order they were read in."""
    paths = _paths(file, layout)
    with refusals(NAME):
        if sorted(table.schema.names) != sorted(paths):
            raise Problem("malformed-body", "two columns of the Parquet file have the same name or path")
        return table.select(paths)


# How many values the columns of a file hold, read without Arrow, whose own reader of this number ends the process where
# the footer contradicts itself elsewhere. The footer is a struct of Thrift's compact protocol: fields by their number,
# each of which says its type, so that others can be passed over.

MAGIC = b"PAR1"
LONGEST = 2**24  # bytes of a footer that is looked through

DEEPEST = 16
STOP, TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
ROW_GROUPS, COLUMNS, META_DATA, PATH, VALUES = 4, 1, 3, 3, 5


def value_counts(body: memoryview) -> dict[tuple[str, ...], int]:
    """How many values each column holds, by its path."""
    size = int.from_bytes(body[-8:-4], "little")
    if bytes(body[-4:]) != MAGIC or size > len(body) - 8:
        raise Problem("malformed-body", "the body is not Parquet, or was damaged on the way")
    if size > LONGEST:
        raise Problem("too-large", f"the footer of the Parquet file is longer than {LONGEST} bytes")
    try:
        return _Footer(bytes(body[len(body) - 8 - size : -8])).counts()
    except (IndexError, UnicodeDecodeError, RecursionError):
        raise Problem("malformed-body", "the footer of the Parquet file cannot be read") from None


class _Footer:
    """A place in the bytes of a footer."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def counts(self) -> dict[tuple[str, ...], int]:
        """The values of each column, over all row groups."""
        counts: dict[tuple[str, ...], int] = {}
        for field, kind in self._fields():
            if field != ROW_GROUPS or kind != LIST:
                self._pass(kind)
                continue
            for _ in self._items():
                for path, values in self._row_group():
                    counts[path] = counts.get(path, 0) + values
        return counts

    def _row_group(self) -> Iterator[tuple[tuple[str, ...], int]]:
        for field, kind in self._fields():
            if field != COLUMNS or kind != LIST:
                self._pass(kind)
                continue
            for _ in self._items():
                yield self._column()

    def _column(self) -> tuple[tuple[str, ...], int]:
        path: tuple[str, ...] = ()
        values = 0
        for field, kind in self._fields():
            if field != META_DATA or kind != STRUCT:
                self._pass(kind)
                continue
            for inner, inner_kind in self._fields():
                if inner == PATH and inner_kind == LIST:
                    path = tuple(self._binary().decode() for _ in self._items())
                elif inner == VALUES:
                    values = max(0, self._signed())
                else:
                    self._pass(inner_kind)
        return path, values

    def _fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of each field of a struct; whoever takes one reads its value."""
        field = 0
        while (head := self._byte()) != STOP:
            step, kind = head >> 4, head & 15
            field = field + step if step else self._signed()
            yield field, kind

    def _items(self) -> range:
        """The items of a list, each of which is to be read."""
        head = self._byte()
        size = head >> 4 if head >> 4 < 15 else self._unsigned()
        if size > len(self._data) - self._at:
            raise IndexError
        return range(size)

    def _pass(self, kind: int, depth: int = 0, item: bool = False) -> None:
        """Pass over a value."""
        if depth > DEEPEST:
            raise RecursionError
        if kind in (TRUE, FALSE):
            self._at += item
        elif kind == BYTE:
            self._at += 1
        elif kind == DOUBLE:
            self._at += 8
        elif kind == BINARY:
            self._binary()
        elif kind in (LIST, SET):
            inner = self._data[self._at] & 15
            for _ in self._items():
                self._pass(inner, depth + 1, True)
        elif kind == MAP:
            size = self._unsigned()
            kinds = self._byte() if size else 0
            if size > len(self._data):
                raise IndexError
            for _ in range(size):
                self._pass(kinds >> 4, depth + 1, True)
                self._pass(kinds & 15, depth + 1, True)
        elif kind == STRUCT:
            for _, inner in self._fields():
                self._pass(inner, depth + 1)
        else:
            self._unsigned()
        if self._at > len(self._data):
            raise IndexError

    def _binary(self) -> bytes:
        size = self._unsigned()
        self._at += size
        if self._at > len(self._data):
            raise IndexError
        return self._data[self._at - size : self._at]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise IndexError

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
