"""``application/vnd.apache.parquet``: read by row group, only the columns in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from macekit.call import Call
from macekit.decoding.arrow import NOTHING, ROWS, table_of, with_constants
from macekit.decoding.body import DecodedBody
from macekit.decoding.columns import guarded, refusals
from macekit.decoding.parquet_footer import value_counts
from macekit.decoding.roles import Layout, Roles, choice, roles
from macekit.decoding.table import Table, from_table
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Parquet"

MOST_ROWS = 2**20
"""Rows that are read at once."""

C = TypeVar("C", bound=Layout)


def decode(call: Call, body: memoryview) -> DecodedBody:
    """The decoded body of a Parquet file."""
    limit = max(call.expanded_limit, len(body))
    table, layout = read(body, lambda names: choice(names, call), limit)
    return from_table(table, layout, call, limit)


def read(body: memoryview, choose: Callable[[Sequence[str]], C], limit: int) -> tuple[Table, C]:
    """The columns in use, and what they are."""
    data, layout, names = as_written(body, choose, limit)
    return table_of(data, layout, 0, names), layout


def as_written(
    body: memoryview, choose: Callable[[Sequence[str]], C], limit: int, enough: int | None = None
) -> tuple[Any, C, Sequence[str]]:
    """The columns in use with the types they have, what they are, and all names; no more than enough rows."""
    import pyarrow as pa

    file, layout = _open(body, choose)
    paths = _paths(file, layout)
    rows = max(1, min(MOST_ROWS, enough or MOST_ROWS, limit // (8 * max(1, len(paths)))))
    with refusals(NAME):
        if _nested(file, layout) and 8 * _values(body, paths) > limit:
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
        table = (
            pa.Table.from_batches(batches)
            if batches
            else _in_order(file.schema_arrow.empty_table(), file, layout)
        )
    return table, layout, file.schema_arrow.names


def blocks(
    call: Call, body: memoryview | pa.NativeFile, constants: Mapping[str, str] = NOTHING
) -> Iterator[tuple[Table, Roles]]:
    """The file in blocks; a page is the least that is read at once.

    ``constants`` are columns that have one value throughout the file, as the folders of a partitioned table say.
    """
    file, layout = _open(body, lambda names: roles(with_constants(names, constants), call))
    names = file.schema_arrow.names
    with refusals(NAME):
        batches = file.iter_batches(batch_size=ROWS, columns=_paths(file, layout), use_threads=False)
    start = 0
    for batch in guarded(batches, NAME):
        whole = _in_order(batch, file, layout)
        yield (
            table_of(whole, layout, start, with_constants(names, constants), constants),
            layout,
        )
        start += len(batch)


def _open(body: memoryview | pa.NativeFile, choose: Callable[[Sequence[str]], C]) -> tuple[Any, C]:
    """The file and the choice of its columns; text stays a dictionary, so a long one costs once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with refusals(NAME):
        schema = pq.read_schema(_reader(body))
        layout = choose(schema.names)
        text = [
            schema.names[at]
            for at in layout.positions
            if at < len(schema.names)
            and (pa.types.is_large_string(schema.types[at]) or pa.types.is_string(schema.types[at]))
        ]
        file = pq.ParquetFile(
            _reader(body),
            read_dictionary=text,
            pre_buffer=False,
            page_checksum_verification=True,
        )
    return file, layout


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


def _nested(file: Any, layout: Layout) -> bool:
    """Whether a column in use holds lists, each of which may expand to any length."""
    import pyarrow as pa

    return any(pa.types.is_nested(file.schema_arrow.types[at]) for at in layout.positions)


def _values(body: memoryview, names: Sequence[str]) -> int:
    """How many values the columns in use hold; one of lists holds more than there are rows."""
    return sum(
        values
        for path, values in value_counts(body).items()
        if ".".join(path) in names or (path and path[0] in names)
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
