"""Columns of Arrow as arrays, without pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from macekit.call import ARROW, CSV, PARQUET
from macekit.decoding.columns import as_numpy
from tests.macekit.decoding.support import table_bytes

COLUMNS = {
    "floats": pa.array([1.5, float("nan"), -0.0]),
    "half floats": pa.array([1.5, 2.0], pa.float16()),
    "a slice": pa.array([1, 2, 3], pa.int16())[1:],
    "large": pa.array([2**64 - 1], pa.uint64()),
    "truths": pa.array([True, False] * 9)[3:],
    "nothing": pa.array([], pa.int64()),
    "nulls": pa.array([1, None, 3]),
    "chunks": pa.chunked_array([[1, 2], [3]]),
    "no chunks": pa.chunked_array([], pa.float64()),
    "times": pa.array([1, 2], pa.timestamp("s")),
    "text": pa.array(["a", "b"]),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_arrays_are_those_of_arrow(column: pa.Array | pa.ChunkedArray) -> None:
    expected = (
        column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    )

    found = as_numpy(column)

    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("media_type", [CSV, PARQUET, ARROW])
def test_a_table_is_answered_without_pandas(tmp_path: Path, media_type: str) -> None:
    rng = np.random.default_rng(0)
    columns = {"score": rng.normal(size=400), "member": rng.random(400) < 0.5, "group": ["a", "b"] * 200}
    (tmp_path / "body").write_bytes(table_bytes(columns, media_type))
    code = f"""
import sys
from macekit.call import Body, Call
from macekit.operations import perform
with Body.of(open({str(tmp_path / "body")!r}, "rb").read()) as body:
    reply = perform(Call("report", {media_type!r}), body)
print(reply.status, {{"pandas", "scipy.optimize"}} & set(sys.modules))
"""

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.strip() == "200 set()"
