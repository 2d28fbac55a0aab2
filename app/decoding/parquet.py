"""``application/vnd.apache.parquet``: read by row group, only the columns in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.call import Call
from app.decoding.arrow import ROWS, table_of
from app.decoding.foreign import guarded, refusals
from app.decoding.material import Material
from app.decoding.roles import Roles, roles
from app.decoding.table import Table, material
from app.problems import Problem

NAME = "Parquet"


def decode(call: Call, body: memoryview) -> Material:
    """The material of a Parquet file."""
    limit = max(call.expanded_limit, len(body))
    file, chosen = _open(call, body)
    with refusals(NAME):
        if (
            8 * file.metadata.num_rows * len(chosen.used) > limit
        ):  # a constant column takes next to no room in a file
            raise Problem("too-large", f"the columns in use expand to more than {limit} bytes")
        table = file.read(columns=_paths(file, chosen), use_threads=False)
    return material(table_of(_in_order(table, file, chosen), chosen), chosen, call, limit)


def blocks(call: Call, body: memoryview) -> Iterator[tuple[Table, Roles]]:
    """The file in blocks; a page is the least that is read at once."""
    file, chosen = _open(call, body)
    with refusals(NAME):
        batches = file.iter_batches(batch_size=ROWS, columns=_paths(file, chosen), use_threads=False)
    start = 0
    for batch in guarded(batches, NAME):
        yield table_of(_in_order(batch, file, chosen), chosen, start), chosen
        start += len(batch)


def _open(call: Call, body: memoryview) -> tuple[Any, Roles]:
    """The file and the roles of its columns; text stays a dictionary, so a long one costs once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not len(body):
        raise Problem("incomplete-body", f"the body is empty; need {NAME}")
    buffer = pa.py_buffer(body)
    with refusals(NAME):
        schema = pq.read_schema(pa.BufferReader(buffer))
        chosen = roles(schema.names, call)
        text = [
            schema.names[at]
            for at in chosen.used
            if pa.types.is_large_string(schema.types[at]) or pa.types.is_string(schema.types[at])
        ]
        file = pq.ParquetFile(pa.BufferReader(buffer), read_dictionary=text, pre_buffer=False)
    return file, chosen


def _paths(file: Any, chosen: Roles) -> list[str]:
    names = file.schema_arrow.names
    return [names[at] for at in chosen.used]


def _in_order(table: Any, file: Any, chosen: Roles) -> Any:
    """Columns in the order of the file, whatever order they were read in."""
    paths = _paths(file, chosen)
    with refusals(NAME):
        if sorted(table.schema.names) != sorted(paths):
            raise Problem("malformed-body", "two columns of the Parquet file have the same name or path")
        return table.select(paths)
