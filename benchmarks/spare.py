"""What it costs to look at columns that nobody named, beside the question that is asked.

    python -m benchmarks.spare        # the table of docs/clusters.md, about a minute on one core

Tables of five columns with an identifier of ten rows each, as CSV and as Parquet. CPU seconds, the least of three.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from macekit.call import CSV, PARQUET, Body, Call
from macekit.decoding import READERS, spare
from macekit.operations import perform

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TIMES = 3


def table(rows: int) -> pa.Table:
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


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the fastest of several times."""
    taken = []
    for _ in range(TIMES):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def main() -> None:
    """A row of the table for each size and format."""
    for rows in SIZES:
        records = table(rows)
        for name, media_type, write in (
            ("CSV", CSV, csv.write_csv),
            ("Parquet", PARQUET, parquet.write_table),
        ):
            sink = io.BytesIO()
            write(records, sink)
            data, call = sink.getvalue(), Call("advantage", media_type, query=(("score", "score"),))
            decoded = READERS[media_type](call, memoryview(data))
            whole = seconds(lambda call=call, data=data: perform(call, Body.of(data)))  # type: ignore[misc]
            looking = seconds(
                lambda call=call, data=data, decoded=decoded: spare.cautions_of(
                    call, memoryview(data), decoded
                )  # type: ignore[misc]
            )
            alone = whole - looking
            ratio = looking / alone
            print(f"| {rows:,} rows, {name} | {alone:.2f} | {looking:.3f} | {ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main()
