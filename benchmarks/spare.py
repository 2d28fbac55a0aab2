"""What it costs to look at columns that nobody named, beside the question that is asked.

Tables of five columns with an identifier of ten rows each, as CSV and as Parquet. CPU seconds, the least of three.
"""

import io
import time

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.harness import Run, least, table
from macekit.call import CSV, PARQUET, Body, Call
from macekit.decoding import cautions_of, decode
from macekit.operations import perform

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FORMATS = (("CSV", CSV, csv.write_csv), ("Parquet", PARQUET, parquet.write_table))


def records(rows: int) -> pa.Table:
    """Scores of both sides, whose they are, and two columns of no part in the question."""
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "score": rng.normal(size=rows),
            "member": rng.random(rows) < 0.5,
            "user_id": [f"user{label:07d}" for label in rng.integers(0, rows // 10, rows)],
            "age": rng.integers(18, 80, rows),
            "income": rng.normal(size=rows),
        }
    )


@table
def looking(run: Run):
    yield "CPU seconds | question | looking | ratio"
    for rows in SIZES[: 1 if run.quick else None]:
        for name, media_type, write in FORMATS:
            sink = io.BytesIO()
            write(records(rows), sink)
            data, call = sink.getvalue(), Call("advantage", media_type, query=(("score", "score"),))
            decoded = decode(call, Body.of(data))
            whole = least(lambda call=call, data=data: perform(call, Body.of(data)), 3, time.process_time)
            look = least(
                lambda call=call, data=data, decoded=decoded: cautions_of(call, memoryview(data), decoded),
                3,
                time.process_time,
            )
            alone = whole - look
            yield f"{rows:,} rows, {name} | {alone:.2f} | {look:.3f} | {look / alone:.3f}"
