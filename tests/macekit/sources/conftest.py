"""Engines that compute for themselves, each started once for all tests of a process."""

from __future__ import annotations

import os
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:  # engines take long to import: whoever runs a test of one does
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.session import SparkSession as ConnectSession

SPARK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""A question of a test takes milliseconds: neither compilers nor many partitions pay."""

CONNECT_PORT = "spark.connect.grpc.binding.port"

Read = Callable[[str], Any]
Give = Callable[[pa.Table], Any]


TURNS = {"sqlframe": 0, "ibis": 1}
"""Two clients of one DuckDB share the cases of a test, each has every second: Spark has the code of the one for all of
them, and PostgreSQL that of the other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Engines leave sockets to the garbage collector, which meets them in whatever test runs then."""
    left_behind = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(left_behind)
    numbers: Counter[tuple[Any, ...]] = Counter()

    def is_another_s(item: pytest.Item) -> bool:
        params = item.callspec.params if hasattr(item, "callspec") else {}
        if len(params) < 2 or (engine := params.get("readers")) not in TURNS:
            return False
        numbers[key := (item.path, item.originalname, engine)] += 1  # type: ignore[attr-defined]
        return numbers[key] % 2 != TURNS[engine]

    items[:] = [item for item in items if not is_another_s(item)]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        reason = "no Java found for Spark: scripts/setup java installs one, JAVA_HOME names one"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    builder = SparkSession.builder.master("local[1]")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        builder = builder.config(CONNECT_PORT, str(probe.getsockname()[1]))
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark_connect(spark: SparkSession) -> Iterator[ConnectSession]:
    """A client of the same Spark, over a socket, that has no Java of its own."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    session = ConnectSession.builder.remote(f"sc://127.0.0.1:{spark.conf.get(CONNECT_PORT)}").create()
    yield session
    session.stop()


# For the session: tests of one engine run one after the other, so that few processes start one.
@pytest.fixture(
    scope="session",
    params=[
        "dask",
        "ibis",
        "sqlframe",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("postgres", "spark")),
    ],
)
def readers(request: pytest.FixtureRequest) -> Iterator[list[Read]]:
    """What makes a frame of an engine of a file: one way, or those of both clients of Spark, of which one reads it."""
    match request.param:
        case "dask":
            import dask.dataframe as dd
            import pandas as pd

            types = {"types_mapper": pd.ArrowDtype}
            yield [lambda path: dd.from_pandas(pq.read_table(path).to_pandas(**types), npartitions=3)]
        case "ibis":
            import ibis

            yield [ibis.duckdb.connect().read_parquet]
        case "sqlframe":
            from sqlframe.duckdb import DuckDBSession

            session = DuckDBSession.builder.getOrCreate()
            yield [session.read.parquet]
            session.stop()
        case "postgres":
            import ibis
            from adbc_driver_postgresql import dbapi

            address = request.getfixturevalue("postgres")
            numbers, database = count(), ibis.connect(address)

            def stored(path: str) -> Any:
                name = f"runs{next(numbers)}"
                with dbapi.connect(address) as connection:
                    with connection.cursor() as cursor:
                        cursor.adbc_ingest(name, pq.read_table(path))
                    connection.commit()
                return database.table(name)

            yield [stored]
            database.disconnect()
        case "spark":
            from pyspark.sql.pandas.types import from_arrow_schema

            classic, connect = (request.getfixturevalue(each) for each in ("spark", "spark_connect"))
            yield [
                lambda path: classic.read.schema(from_arrow_schema(pq.read_schema(path))).parquet(path),
                lambda path: connect.createDataFrame(pq.read_table(path)),
            ]


@pytest.fixture
def give(readers: list[Read], request: pytest.FixtureRequest, tmp_path: Path) -> Give:
    """What makes a frame of an engine of a table; where it has two clients, they take turns from case to case."""
    read, numbers = readers[crc32(request.node.name.encode()) % len(readers)], count()

    def frame(records: pa.Table) -> Any:
        path = str(tmp_path / f"{next(numbers)}.parquet")
        pq.write_table(records, path)
        return read(path)

    return frame
