"""The footer of a Parquet file says how many values there are; where it lies, nothing but the file is refused."""

import io
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from estimators import MaceError
from macekit.call import PARQUET
from macekit.decoding.parquet import value_counts
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import parquet_bytes, read

ASKED = {"operation": "theory/pmp-gaussian", "column": "points", "clip": "1", "limit": 2**24}
LISTS = pa.table({"points": [[float(k), 1.0, 2.0] for k in range(50)], "x": np.arange(50)})


@each_case("options", [
    {}, {"row_group_size": 7}, {"write_statistics": False}, {"version": "1.0", "compression": "gzip"},
    {"write_page_index": True, "write_page_checksum": True}, {"sorting_columns": [pq.SortingColumn(1)]},
])  # fmt: skip
def test_values_are_counted_as_arrow_counts_them(options: dict[str, object]) -> None:
    body = parquet_bytes(LISTS, **options)
    metadata = pq.ParquetFile(io.BytesIO(body)).metadata
    expected: dict[str, int] = {}
    for group in range(metadata.num_row_groups):
        for at in range(metadata.num_columns):
            column = metadata.row_group(group).column(at)
            expected[column.path_in_schema] = expected.get(column.path_in_schema, 0) + column.num_values

    assert {".".join(path): values for path, values in value_counts(memoryview(body)).items()} == expected
    assert expected["points.list.element"] == 150


@pytest.mark.slow
def test_a_footer_that_was_damaged_ends_no_process() -> None:
    """In a child, for a process that Arrow ends would take the tests with it."""
    body, rng = parquet_bytes(LISTS), np.random.default_rng(3)
    size = int.from_bytes(body[-8:-4], "little")
    child = os.fork()
    if not child:
        for _ in range(1000):
            damaged = bytearray(body)
            for at in rng.integers(len(body) - 8 - size, len(body) - 8, rng.integers(1, 4)):
                damaged[at] = rng.integers(256)
            try:
                read(bytes(damaged), PARQUET, **ASKED)
            except (Problem, MaceError):
                pass
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)

    assert os.waitstatus_to_exitcode(status) == 0


@each_case("tail", [b"", b"PAR1", b"\xff\xff\xff\xffPAR1", b"\x04\0\0\0PAR1", b"\xff" * 20 + b"\x14\0\0\0PAR1"])
def test_a_footer_that_is_none_is_refused(tail: bytes) -> None:
    with pytest.raises(Problem):
        value_counts(memoryview(b"PAR1" + tail))
