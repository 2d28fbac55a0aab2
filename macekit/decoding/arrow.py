"""``application/vnd.apache.arrow.stream``, and Arrow files: batches of typed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from macekit.call import Call
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import guarded, refusals
from macekit.decoding.compression import Source
from macekit.decoding.roles import Fields, Layout, Roles, Wide, choice, roles
from macekit.decoding.table import Table, from_table
from macekit.decoding.typed import notes_of, padding_note, rows_of, values_of, without_padding
from macekit.formats import ARROW_MAGIC
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Arrow"
STREAM_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""What every writer since format 0.15 ends a stream with."""

ROWS = 2**17
"""Rows of a block: a megabyte of numbers."""

C = TypeVar("C", bound=Layout)


def decode(call: Call, body: memoryview) -> DecodedBody:
    """The decoded body of an Arrow stream or file."""
    limit = max(call.expanded_limit, len(body))
    table, layout = read(body, lambda names: choice(names, call), limit)
    return from_table(table, layout, call, limit)


def read(body: memoryview, choose: Callable[[Sequence[str]], C], limit: int) -> tuple[Table, C]:
    """The columns in use, and what they are."""
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
    return table_of(pa.Table.from_batches(batches, source.reader.schema), layout, 0, names), layout


def blocks(call: Call, body: memoryview | Source) -> Iterator[tuple[Table, Roles]]:
    """The table in blocks; a batch larger than a block is held as a whole while it is read."""
    with refusals(NAME):
        source = _open(body)
        names = source.reader.schema.names
        layout = roles(names, call)
    yield from cut(_batches(source), layout, names)


def cut(
    batches: Iterator[pa.RecordBatch], layout: Roles, names: Sequence[str]
) -> Iterator[tuple[Table, Roles]]:
    """Batches of whole tables as blocks of the columns in use."""
    start = 0
    for batch in batches:
        with refusals(NAME):
            part = batch.select(layout.positions)
        for at in range(0, len(part), ROWS):
            yield table_of(part.slice(at, ROWS), layout, start + at, names), layout
        start += len(part)


def table_of(
    data: pa.Table | pa.RecordBatch, layout: Layout, start: int = 0, names: Sequence[str] = ()
) -> Table:
    """A table of only the columns in use, in their order; ``names`` are those of all columns."""
    what = layout.what
    columns = data.columns
    notes = {at: [*notes_of(column.type)] for at, column in zip(layout.positions, columns, strict=True)}
    if isinstance(layout, Wide):
        columns = without_padding(columns, lambda column: column.is_valid())
        for at, column in zip(layout.positions, columns, strict=True):
            notes[at] += padding_note(len(data), len(column))
    places = zip(layout.positions, columns, strict=True)
    read = rows_of if isinstance(layout, Fields) else values_of
    return Table({place: read(column, what[place], start) for place, column in places}, start, names, notes)


@dataclass(frozen=True, slots=True)
class _BatchSource:
    """A reader of batches, and how to learn what stood last and whether anything follows."""

    reader: Any
    end: Callable[[], tuple[bytes, bool]] | None


def _open(body: memoryview | Source, fields: list[int] | None = None) -> _BatchSource:
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=fields)
    if isinstance(body, Source):
        return _BatchSource(
            pa.ipc.open_stream(pa.PythonFile(body, mode="r"), options=options),
            lambda: (body.tail, bool(body.read(1))),
        )
    if not len(body):
        raise Problem("incomplete-body", f"the body is empty; need {NAME}")
    file = pa.BufferReader(pa.py_buffer(body))
    if bytes(body[: len(ARROW_MAGIC)]) == ARROW_MAGIC:
        return _BatchSource(pa.ipc.open_file(file, options=options), None)
    return _BatchSource(
        pa.ipc.open_stream(file, options=options),
        lambda: (bytes(body[: file.tell()][-8:]), file.tell() < len(body)),
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
