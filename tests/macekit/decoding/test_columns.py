"""Columns of Arrow as arrays, without pandas."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from macekit.call import ARROW, CSV, PARQUET
from macekit.decoding.columns import as_numpy
from tests.cases import each_case
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
PROGRAM = """
import gzip, sys
from macekit.call import Body, Call
from macekit.decoding import decode
decode(Call("advantage", encoding="gzip"), Body.of(gzip.compress(b'{"members": [1]}')))
print("pyarrow" in sys.modules)
from macekit.operations import perform
for media_type, path in zip(sys.argv[1::2], sys.argv[2::2]):
    with Body.of(open(path, "rb").read()) as body:
        print(perform(Call("report", media_type), body).status)
print({"pandas", "scipy.optimize"} & set(sys.modules))
"""


@pytest.mark.slow
def test_gzip_is_read_without_pyarrow_and_tables_are_answered_without_pandas(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"score": rng.normal(size=400), "member": rng.random(400) < 0.5, "group": ["a", "b"] * 200}
    arguments: list[str] = []
    for place, media_type in enumerate((CSV, PARQUET, ARROW)):
        path = tmp_path / str(place)
        path.write_bytes(table_bytes(columns, media_type))
        arguments += [media_type, str(path)]

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout.split() == ["False", "200", "200", "200", "set()"]


@each_case("name", COLUMNS)
def test_arrays_are_those_of_arrow(name: str) -> None:
    column = COLUMNS[name]
    copied = {} if isinstance(column, pa.ChunkedArray) else {"zero_copy_only": False}
    expected = column.to_numpy(**copied)

    found = as_numpy(column)

    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
