"""Engines that compute for themselves, each started once for all tests of a process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import ibis
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from sqlframe.duckdb import DuckDBSession

SPARK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""A question of a test takes milliseconds: neither an optimizing compiler nor many partitions pay."""

Read = Callable[[str], Any]
Give = Callable[[pa.Table], Any]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        reason = "no Java found for Spark: scripts/setup-java installs one, JAVA_HOME names one"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    builder = SparkSession.builder.master("local[1]")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


# For the session: tests of one engine run one after the other, so that few processes start a Spark.
@pytest.fixture(scope="session", params=["dask", "ibis", "sqlframe", "spark"])
def read(request: pytest.FixtureRequest) -> Iterator[Read]:
    """What makes a frame of an engine of a file."""
    match request.param:
        case "dask":
            yield lambda path: dd.from_pandas(
                pq.read_table(path).to_pandas(types_mapper=pd.ArrowDtype), npartitions=3
            )
        case "ibis":
            yield ibis.duckdb.connect().read_parquet
        case "sqlframe":
            session = DuckDBSession.builder.getOrCreate()
            yield session.read.parquet
            session.stop()
        case "spark":
            yield request.getfixturevalue("spark").read.parquet


@pytest.fixture
def give(read: Read, tmp_path: Path) -> Give:
    """What makes a frame of an engine of a table."""
    numbers = count()

    def frame(records: pa.Table) -> Any:
        path = str(tmp_path / f"{next(numbers)}.parquet")
        pq.write_table(records, path)
        return read(path)

    return frame
