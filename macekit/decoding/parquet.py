"""``application/vnd.apache.parquet``: read by row group, only the columns in use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from macekit.call import Body, Call
from macekit.decoding.arrow import ROWS, Typed, table_of, with_constants
from macekit.decoding.column_types import Column
from macekit.decoding.columns import guarded, refusals
from macekit.decoding.compression import expanded
from macekit.decoding.format import NOTHING, Readable, Tables
from macekit.decoding.parquet_footer import value_counts
from macekit.decoding.roles import C, Choose, Layout, roles
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

NAME = "Parquet"

MOST_ROWS = 2**20
"""Rows that are read at once."""


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
            empty = None if batches else _in_order(file.schema_arrow.empty_table(), file, layout)
            table = pa.Table.from_batches(batches) if empty is None else empty
        return table, layout, file.schema_arrow.names

    def tables(self, call: Call, body: Readable, constants: Mapping[str, str] = NOTHING) -> Tables:
        """The file in blocks; a page is the least that is read at once."""
        data = expanded(call, body) if isinstance(body, Body) else body
        file, layout = _open(data, lambda names: roles(with_constants(names, constants), call))
        names = with_constants(file.schema_arrow.names, constants)
        with refusals(NAME):
            batches = file.iter_batches(batch_size=ROWS, columns=_paths(file, layout), use_threads=False)
        start = 0
        for batch in guarded(batches, NAME):
            yield table_of(_in_order(batch, file, layout), layout, start, names, constants), layout
            start += len(batch)

    def preview(self, call: Call, body: Body) -> list[Column]:
        """By the footer."""
        import pyarrow.parquet as pq

        data = expanded(call, body)
        with refusals(NAME):
            return Column.of_schema(pq.read_schema(_reader(data)))


FORMAT = Parquet()


def _open(body: memoryview | pa.NativeFile, choose: Choose[C]) -> tuple[Any, C]:
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
