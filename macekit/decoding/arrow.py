"""``application/vnd.apache.arrow.stream``, and Arrow files: batches of typed columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from estimators import MaceError
from estimators.python.dataclass import dataclass, replace
from macekit.call import ARROW_FILE, Body, Call
from macekit.decoding.columns import Labels, guarded, refusals
from macekit.decoding.compression import Source, expanded, first_bytes, unpacked
from macekit.decoding.format import ChooseUnnamed, Column, Format, LabelColumns, Readable, Tables
from macekit.decoding.roles import (
    NOTHING,
    C,
    Choose,
    Fields,
    Layout,
    Roles,
    UnnamedColumns,
    Wide,
    roles,
    with_constants,
)
from macekit.decoding.table import Table
from macekit.decoding.typed import notes_of, padding_note, rows_of, values_of, without_padding
from macekit.decoding.unnamed_columns import ROWS as LOOKS
from macekit.decoding.unnamed_columns import ROWS_LATER, candidates, labels_of
from macekit.decoding.whole_tables import Columns, all_columns, of_arrow
from macekit.formats import ARROW_MAGIC
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Arrow"
STREAM_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # what every writer since format 0.15 ends a stream with

LONGEST_SCHEMA = 2**24
ROWS = 2**17  # rows of a block: a megabyte of numbers


class Typed(Format):
    """What formats have in common whose columns have types."""

    expansion = 1

    @abstractmethod
    def as_written(
        self, body: memoryview, choose: Choose[C], limit: int, enough: int | None = None
    ) -> tuple[pa.Table, C, Sequence[str]]:
        """The columns in use with the types they have, what they are, and all names; no more than enough rows."""

    def read(self, call: Call, body: memoryview, choose: Choose[C]) -> tuple[Table, C]:
        """The columns in use, and what they are."""
        data, layout, names = self.as_written(body, choose, self.limit(call, body))
        return table_of(data, layout, 0, names), layout

    def whole_columns(self, call: Call, body: memoryview) -> Columns:
        """Every column with its type."""
        data, layout, _ = self.as_written(body, all_columns, self.limit(call, body))
        pairs = zip(layout.names, data.columns, strict=True)
        return {name: of_arrow(column, place) for place, (name, column) in enumerate(pairs)}

    def first_labels(self, call: Call, body: memoryview, choose: ChooseUnnamed, rows: int) -> LabelColumns:
        """Those of the first batches."""
        data, layout, _ = self.as_written(body, choose, self.limit(call, body), LOOKS)
        return labels_of(data.slice(0, LOOKS), layout.names)


class Arrow(Typed):
    """A stream of batches, or the form of it that is a file with an index."""

    def as_written(
        self, body: memoryview, choose: Choose[C], limit: int, enough: int | None = None
    ) -> tuple[pa.Table, C, Sequence[str]]:
        """The columns in use, batch by batch."""
        import pyarrow as pa

        with refusals(NAME):
            names = _open(body).reader.schema.names
            layout = choose(names)
            source = _open(body, layout.positions)
        batches, size = [], 0
        for batch in _batches(source):
            size += batch.nbytes
            if size > limit:
                raise Problem("too-large", f"the batches expand to more than {limit} bytes")
            batches.append(batch)
            if enough is not None and sum(map(len, batches)) >= enough:
                break
        return pa.Table.from_batches(batches, source.reader.schema), layout, names

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str]) -> Tables:
        """The table in blocks; a batch larger than a block is held as a whole while it is read."""
        data: memoryview | Source | pa.NativeFile = body
        if isinstance(body, Body):
            in_place = call.media_type == ARROW_FILE or (body.seekable and call.encoding == "identity")
            data = expanded(call, body) if in_place else unpacked(call, body)
        with refusals(NAME):
            source = _open(data)
            names = with_constants(source.reader.schema.names, constants)
            layout = roles(names, call)
        yield from cut(_batches(source), layout, names, constants, others=candidates(names, layout, call))

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the schema."""
        import pyarrow as pa

        start = first_bytes(call, body, LONGEST_SCHEMA)
        if not start:
            raise Problem("incomplete-body", f"the body is empty; need {NAME}")
        if start.startswith(ARROW_MAGIC):
            start = start[8:]  # a file holds a stream, after its magic and two bytes
        with refusals(NAME):
            return Column.of_schema(pa.ipc.read_schema(pa.py_buffer(start)))


FORMAT = Arrow()


def cut(
    batches: Iterator[pa.RecordBatch],
    layout: Roles,
    names: Sequence[str],
    constants: Mapping[str, str] = NOTHING,
    start: int = 0,
    others: UnnamedColumns | None = None,
) -> Iterator[tuple[Table, Roles]]:
    """Batches of whole tables as blocks of the columns in use; ``start`` is the number of the first row.

    The first rows of all, and then those of each, come with the labels of ``others``.
    """
    own = [at for at in layout.positions if at < len(names) - len(constants)]
    for batch in batches:
        with refusals(NAME):
            part = batch.select(own)
        for at in range(0, len(part), ROWS):
            table = table_of(part.slice(at, ROWS), layout, start + at, names, constants)
            if others is not None:
                left = LOOKS - table.start
                rows = batch.slice(at, min(ROWS, left if left > 0 else ROWS_LATER))
                table = replace(table, unnamed=unnamed_labels(rows, others, names, constants))
            yield table, layout
        start += len(part)


def unnamed_labels(
    rows: pa.Table | pa.RecordBatch,
    others: UnnamedColumns,
    names: Sequence[str],
    constants: Mapping[str, str] = NOTHING,
) -> LabelColumns:
    """The labels of these rows in columns that nobody named; none where they cannot be read."""
    own = [names[at] for at in others.places if at < len(names) - len(constants)]
    one = np.zeros(len(rows), np.int32)
    labels = {name: Labels(one, [constants[name]]) for name in others.names if name in constants}
    try:
        with refusals(NAME):
            columns = rows.select(own)
        return labels | labels_of(columns, own)
    except (Problem, MaceError):
        return {}


def table_of(
    data: pa.Table | pa.RecordBatch,
    layout: Layout,
    start: int = 0,
    names: Sequence[str] = (),
    constants: Mapping[str, str] = NOTHING,
) -> Table:
    """A table of only the columns in use, in their order; ``names`` are those of all, the last of them constants."""
    what = layout.what
    columns = [*data.columns, *_constant_columns(len(data), layout, names, constants)]
    notes = {at: [*notes_of(column.type)] for at, column in zip(layout.positions, columns, strict=True)}
    if isinstance(layout, Wide):
        columns = without_padding(columns, lambda column: column.is_valid())
        for at, column in zip(layout.positions, columns, strict=True):
            notes[at] += padding_note(len(data), len(column))
    places = zip(layout.positions, columns, strict=True)
    read = rows_of if isinstance(layout, Fields) else values_of
    return Table({place: read(column, what[place], start) for place, column in places}, start, names, notes)


def _constant_columns(size: int, layout: Layout, names: Sequence[str], constants: Mapping[str, str]) -> list[pa.Array]:
    import pyarrow as pa

    constants_in_use = [names[at] for at in layout.positions if at >= len(names) - len(constants)] if constants else []
    return [
        pa.DictionaryArray.from_arrays(pa.array(np.zeros(size, np.int32)), pa.array([constants[name]]))
        for name in constants_in_use
    ]


@dataclass(frozen=True, slots=True)
class _BatchSource:
    """A reader of batches, and how to learn what stood last and whether anything follows."""

    reader: Any
    end: Callable[[], tuple[bytes, bool]] | None


def _open(body: memoryview | Source | pa.NativeFile, fields: list[int] | None = None) -> _BatchSource:
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
    if isinstance(body, Source):
        return _BatchSource(
            pa.ipc.open_stream(pa.PythonFile(body, mode="r"), options=options), lambda: (body.tail, bool(body.read(1)))
        )
    if not isinstance(body, memoryview):  # only the form with an index is read where it lies
        return _BatchSource(pa.ipc.open_file(body, options=options), None)
    if not len(body):
        raise Problem("incomplete-body", f"the body is empty; need {NAME}")
    file = pa.BufferReader(pa.py_buffer(body))
    if bytes(body[: len(ARROW_MAGIC)]) == ARROW_MAGIC:
        return _BatchSource(pa.ipc.open_file(file, options=options), None)
    return _BatchSource(
        pa.ipc.open_stream(file, options=options), lambda: (bytes(body[: file.tell()][-8:]), file.tell() < len(body))
    )


def _batches(source: _BatchSource) -> Iterator[pa.RecordBatch]:
    """Every batch; a stream must say where it ends, or a cut one would pass for a shorter one."""
    if source.end is None:
        count = source.reader.num_record_batches
        yield from guarded(_valid(source.reader.get_batch(i) for i in range(count)), NAME)
        return
    yield from guarded(_valid(source.reader), NAME)
    tail, more = source.end()
    if tail != STREAM_END:
        raise Problem("incomplete-body", "the Arrow stream ended without its end marker")
    if more:
        raise Problem("malformed-body", "something follows the end of the Arrow stream")


def _valid(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches whose buffers are as long as they say: measuring one that is damaged would end the process."""
    for batch in batches:
        batch.validate()
        yield batch
