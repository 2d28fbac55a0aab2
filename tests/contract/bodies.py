"""Bodies that are tables, for schemathesis to draw: its hooks (``schemathesis.toml``)."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import schemathesis
from hypothesis import strategies as st
from pyarrow import parquet

from app.call import ARROW, CSV, NPY, PARQUET

SCORES = st.floats(-1e9, 1e9, width=32)
HALVES = [False, True] * 8
"""Both sides have enough records, whatever else is drawn."""


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table as people have them: one score or two, who is a member, a group, and whose the record is."""
    size = draw(st.integers(len(HALVES), 2 * len(HALVES)))
    member = [*HALVES, *draw(st.lists(st.booleans(), min_size=size - 16, max_size=size - 16))]
    columns: dict[str, list[object]] = {"score": draw(st.lists(SCORES, min_size=size, max_size=size))}
    if draw(st.booleans()):
        columns["loss"] = draw(st.lists(SCORES, min_size=size, max_size=size))
    columns["member"] = list(member)
    if draw(st.booleans()):
        columns["group"] = draw(
            st.lists(st.sampled_from(["a", "b", "ä, =1+1"]), min_size=size, max_size=size)
        )
    if draw(st.booleans()):
        columns["unit"] = list(range(size))
    return pa.table(columns)


def csv_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pa.csv.write_csv(table, sink)
    return sink.getvalue()


def npy_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.column_stack([np.asarray(table["score"]), np.asarray(table["member"])]))
    return sink.getvalue()


def arrow_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet_of(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


for media_type, written in ((CSV, csv_of), (NPY, npy_of), (ARROW, arrow_of), (PARQUET, parquet_of)):
    schemathesis.openapi.media_type(media_type, tables().map(written))
