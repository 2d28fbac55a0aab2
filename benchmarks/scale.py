"""Counts where the records lie: that every engine counts the same, and what a row costs.

    python -m benchmarks.scale                       # 10^6 rows, some minutes
    python -m benchmarks.scale --rows 100000000 --engine-rows 10000000
    python -m benchmarks.scale --only equal,stream
    python -m benchmarks.scale --only vectors --vector-rows 20000000 --repeats 1

CPU is that of the process and all it started (a Spark's Java and its workers, too), beyond imports; memory is what
these hold that is not a mapped file. Every line is measured in a process of its own, the least of several. Only
ratios inside one run mean anything. What is not installed is left out, and said.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import macekit

FILES = 8
NEEDS = {"Dask": "dask", "Ibis": "ibis", "SQLFrame": "sqlframe", "Spark": "pyspark", "DuckDB": "duckdb"}
Frame = Callable[[Path], Any]


# --- records ------------------------------------------------------------------------------------------------


def write(folder: Path, rows: int) -> Path:
    """Gaussian scores whose advantage is 0.1, with eight regions, in eight files."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        rng = np.random.default_rng(file)
        n = rows * (file + 1) // FILES - rows * file // FILES
        member = rng.random(n) < 0.5
        score = rng.normal(size=n)
        score[member] += 0.2533
        region = pa.DictionaryArray.from_arrays(
            rng.integers(0, 8, n, dtype=np.int8), [f"r{place}" for place in range(8)]
        )
        table = pa.table({"score": score, "member": member, "region": region.cast(pa.string())})
        pq.write_table(table, folder / f"{file}.parquet")
    return folder


def write_vectors(folder: Path, rows: int, world: str) -> Path:
    """Two scores a record, in eight files: both larger by 0.2 for members, or of equal sign for a fifth of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        rng = np.random.default_rng(file)
        n = rows * (file + 1) // FILES - rows * file // FILES
        member = rng.random(n) < 0.5
        a, b = rng.normal(size=(2, n))
        if world == "xor":
            b = np.where(member & (rng.random(n) < 0.2), np.abs(b) * np.sign(a), b)
        else:
            a, b = a + 0.2 * member, b + 0.2 * member
        pq.write_table(pa.table({"a": a, "b": b, "member": member}), folder / f"{file}.parquet")
    return folder


def kinds(size: int = 20_000) -> dict[str, pa.Table]:
    """One table of every kind of scores."""
    rng = np.random.default_rng(1)
    member = rng.random(size) < 0.5

    def of(values: list[Any]) -> pa.Array:
        return pa.array([values[place] for place in rng.integers(0, len(values), size)])

    scores = {
        "floats": pa.array(rng.normal(size=size) + member),
        "floats of 32 bits": pa.array((rng.normal(size=size) + member).astype(np.float32)),
        "hostile floats": of([-0.0, 0.0, 5e-324, -5e-324, 1e300, -1e300, 0.1, 3.0]),
        "integers": of([-3, 0, 7, 2**31]),
        "integers beyond 2^53": of([2**53, 2**53 + 1, -(2**62) - 1]),
        "booleans": of([True, False]),
        "text": of(["a", "A", "ä", "日本", "", " a"]),
    }
    region = of(["eu", "us", "zürich"])
    return {
        name: pa.table({"score": column, "member": member, "region": region})
        for name, column in scores.items()
    }


def unusable() -> dict[str, pa.Table]:
    """Tables with one value in them that no engine may take for a score or a membership."""
    floats = kinds(2000)["floats"]
    score, member = floats["score"].to_pylist(), floats["member"].to_pylist()
    tables = {}
    for name, value in (("null", None), ("NaN", float("nan")), ("infinity", float("inf"))):
        tables[name] = pa.table({"score": pa.array([*score[:-1], value]), "member": member})
    tables["null membership"] = pa.table({"score": score, "member": [*member[:-1], None]})
    tables["third membership"] = pa.table({"score": score, "member": [*map(int, member[:-1]), 2]})
    return tables


# --- engines ------------------------------------------------------------------------------------------------


def spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def dask(path: Path) -> Any:
    import dask.dataframe as dd

    return dd.read_parquet(path)


def relation(path: Path) -> Any:
    import duckdb

    return duckdb.connect().read_parquet(str(path / "*.parquet"))


def ibis(path: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(str(path / "*.parquet"))


def sqlframe(path: Path) -> Any:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession.builder.getOrCreate().read.parquet(str(path / "*.parquet"))


def polars(path: Path) -> Any:
    import polars as pl

    return pl.scan_parquet(path / "*.parquet")


ENGINES: dict[str, Frame] = {
    "folder": lambda path: path,
    "Polars, lazy": polars,
    "DuckDB, relation": relation,
    "Dask": dask,
    "Ibis, DuckDB": ibis,
    "SQLFrame, DuckDB": sqlframe,
    "Spark": lambda path: spark().read.parquet(str(path)),
}


def present(name: str) -> bool:
    """Whether the packages are there that a name of the table begins with."""
    return all(
        importlib.util.find_spec(package) is not None for word, package in NEEDS.items() if word in name
    )


# --- counts are the same ------------------------------------------------------------------------------------


def equal(folder: Path) -> None:
    """Print for each engine which kinds of tables it counts as the table itself is, and which it refuses."""
    tables, bad = kinds(), unusable()
    places = {name: folder / "equal" / str(place) for place, name in enumerate([*tables, *bad])}
    for name, table in {**tables, **bad}.items():
        places[name].mkdir(parents=True, exist_ok=True)
        pq.write_table(table, places[name] / "0.parquet")
    wanted = {name: macekit.counts(table)["counts"] for name, table in tables.items()}
    groups = grouped(tables["floats"])
    print(f"\n| engine | {' | '.join(tables)} | by group | null, NaN, infinity | null, third membership |")
    print("|---" * (len(tables) + 4) + "|")
    for engine, frame in ENGINES.items():
        if not present(engine):
            print(f"| {engine}: not installed |" + " |" * (len(tables) + 3))
            continue
        cells = [
            "same" if macekit.counts(frame(places[name]))["counts"] == wanted[name] else "OTHER"
            for name in tables
        ]
        cells.append("same" if grouped(frame(places["floats"])) == groups else "OTHER")
        refusals = [refusal(frame(places[name])) for name in bad]
        cells += [", ".join(refusals[:3]), ", ".join(refusals[3:])]
        print(f"| {engine} | {' | '.join(cells)} |", flush=True)
        if engine == "Spark":
            spark().stop()


def grouped(source: Any) -> dict[Any, Any]:
    return {label: group and group["counts"] for label, group in macekit.counts_by(source, "region").items()}


def refusal(source: Any) -> str:
    try:
        macekit.counts(source)
    except macekit.MaceProblem as problem:
        return problem.kind
    return "ANSWERED"


# --- what a row costs ---------------------------------------------------------------------------------------


@dataclass
class Cost:
    """What something took, in seconds and bytes."""

    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    answer: str = ""


@dataclass
class Tree:
    """This process and all it started."""

    ticks: int = field(default_factory=lambda: os.sysconf("SC_CLK_TCK"))

    def processes(self) -> Iterator[list[str]]:
        """The line in /proc of each."""
        lines = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                text = path.read_text()
            except OSError:
                continue
            lines[int(text.split()[0])] = text[text.rindex(")") + 2 :].split()
        family = {os.getpid()}
        while more := {pid for pid, line in lines.items() if int(line[1]) in family} - family:
            family |= more
        for pid in family & set(lines):
            yield [str(pid), *lines[pid]]

    def cpu(self) -> float:
        """Seconds, those of children that ended with them."""
        return sum(sum(map(int, line[12:16])) for line in self.processes()) / self.ticks

    def held(self) -> int:
        """Bytes that are no mapped file."""
        total = 0
        for line in self.processes():
            try:
                text = Path(f"/proc/{line[0]}/status").read_text()
            except OSError:
                continue
            sizes = dict(entry.split(":", 1) for entry in text.splitlines() if ":" in entry)
            total += sum(int(sizes[name].split()[0]) for name in ("RssAnon", "RssShmem") if name in sizes)
        return 1024 * total


@contextmanager
def measured() -> Iterator[Cost]:
    """The cost of the block."""
    tree, cost, done, watching = Tree(), Cost(), threading.Event(), [0.0]

    def watch() -> None:
        while not done.wait(0.05):
            cost.peak = max(cost.peak, tree.held())
            watching[0] = time.thread_time()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    before, start = tree.cpu(), time.perf_counter()
    yield cost
    cost.wall, cost.cpu = time.perf_counter() - start, tree.cpu() - before - watching[0]
    done.set()
    watcher.join()
    cost.peak = max(cost.peak, tree.held())


OWN_ENDS = "select min(score), max(score) from read_parquet('{}/*.parquet')"
OWN_COUNT = """select floor(score * {}::double)::bigint as key, count(*) filter (where member), count(*)
    from read_parquet('{}/*.parquet') group by key"""


def own_query(path: Path) -> str:
    """The database's own way, by hand: how far the scores reach, and a count of each of as many cells."""
    import duckdb

    from estimators.sample.counting import finest_exponent

    connection = duckdb.connect()
    (ends,) = connection.sql(OWN_ENDS.format(path)).fetchall()
    cells = connection.sql(OWN_COUNT.format(2.0 ** -finest_exponent(*ends), path)).fetchnumpy()
    return f"{len(cells['key'])} cells"


def shown(result: Any) -> str:
    interval = getattr(result, "advantage", None)
    return "" if interval is None else f"{interval.lower:.6f} to {interval.upper:.6f}"


def of_counts(result: Any) -> str:
    counts = result["counts"]
    return f"{len(counts['members'])} cells"


def by_group(source: Any) -> str:
    groups = macekit.counts_by(source, "region")
    return f"{len(groups)} groups"


def risks(path: Path) -> str:
    """A row for each record, as Parquet."""
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        answer = macekit.write_risks(path, file.name)
        rows = pq.read_metadata(file.name).num_rows
    return f"{rows:,} rows, {answer['flags']['records']:,} flagged"


def report_by_group(path: Path) -> str:
    groups = macekit.report(path, group="region").answer["groups"]
    return f"{len(groups)} groups"


def page_by_group(path: Path) -> str:
    return f"{len(macekit.report(path, group='region').to_html()) // 1000} kB"


def map_in_arrow(path: Path) -> str:
    """Spark's other way: our counter in Python workers beside it."""

    def parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import macekit as counter

        for batch in batches:
            yield from counter.partial(batch).to_batches()

    schema = "kind string, exponent long, key string, members long, nonmembers long"
    frame = spark().read.parquet(str(path)).select("score", "member")
    rows = frame.mapInArrow(parts, schema).groupBy("kind", "exponent", "key").sum("members", "nonmembers")
    table = rows.toArrow().rename_columns(["kind", "exponent", "key", "members", "nonmembers"])
    return of_counts(macekit.merged(table))


def of_vectors(source: Any) -> str:
    """What is said of two scores a record."""
    result = macekit.estimate(source, score=["a", "b"])
    return f"{shown(result)}, {result.learned_score.learner}"


def from_memory(path: Path) -> str:
    """The same of a table that is in memory already."""
    return of_vectors(pq.read_table(path))


WAYS: dict[str, Callable[[Path], str]] = {
    "vectors, files": of_vectors,
    "vectors, in memory": from_memory,
    "vectors, Ibis, DuckDB": lambda path: of_vectors(ibis(path)),
    "estimate": lambda path: shown(macekit.estimate(path)),
    "counts": lambda path: of_counts(macekit.counts(path)),
    "counts by group": by_group,
    "risk of each record, written": risks,
    "report by group": report_by_group,
    "report by group, HTML": page_by_group,
    "DuckDB's own query": own_query,
    "Polars, lazy": lambda path: of_counts(macekit.counts(polars(path))),
    "DuckDB, relation": lambda path: of_counts(macekit.counts(relation(path))),
    "Dask": lambda path: of_counts(macekit.counts(dask(path))),
    "Ibis, DuckDB": lambda path: of_counts(macekit.counts(ibis(path))),
    "SQLFrame, DuckDB": lambda path: of_counts(macekit.counts(sqlframe(path))),
    "Spark": lambda path: of_counts(macekit.counts(spark().read.parquet(str(path)))),
    "Spark, mapInArrow and partial": map_in_arrow,
}
"""What is measured, by its name in the tables."""


def cost(way: str, path: Path, warm: Path, repeats: int) -> Cost:
    """The least of several, each in a process of its own that did the same with few records before."""
    costs = []
    for _ in range(repeats):
        command = [sys.executable, "-m", "benchmarks.scale", "--way", way, str(warm), str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return Cost(answer=(done.stderr.strip().splitlines() or ["ended"])[-1][:200])
        costs.append(Cost(**json.loads(done.stdout.splitlines()[-1])))
    best = min(costs, key=lambda each: each.cpu)
    best.peak = max(each.peak for each in costs)
    return best


def one(way: str, warm: Path, path: Path) -> None:
    WAYS[way](warm)
    with measured() as it:
        it.answer = WAYS[way](path)
    print(json.dumps(vars(it)), flush=True)


def table(ways: list[str], path: Path, rows: int, warm: Path, repeats: int, beside: str) -> None:
    print(f"\n| {rows:,} rows in {FILES} files | CPU, s | ns a row | x {beside} | wall, s | MiB | answer |")
    print("|---|---|---|---|---|---|---|")
    present_ways = [way for way in ways if present(way)]
    costs = {way: cost(way, path, warm, repeats) for way in present_ways}
    for way, it in costs.items():
        ratio = it.cpu / costs[beside].cpu if beside in costs and costs[beside].cpu else float("nan")
        print(
            f"| {way} | {it.cpu:.2f} | {1e9 * it.cpu / rows:.0f} | {ratio:.2f} | {it.wall:.1f} "
            f"| {it.peak / 2**20:.0f} | {it.answer} |",
            flush=True,
        )


def of_two_scores(folder: Path, rows: int, repeats: int) -> None:
    """What vectors cost, in a world where a simple rule is best and in one where it is not."""
    ways = ["vectors, files", "vectors, in memory", "vectors, Ibis, DuckDB"]
    for world in ("shift", "xor"):
        warm = write_vectors(folder / f"warm-{world}", 10_000, world)
        path = write_vectors(folder / f"{world}-{rows}", rows, world)
        print(f"\n{world}:")
        table(ways, path, rows, warm, repeats, ways[0])


def linear(folder: Path, rows: int, warm: Path, repeats: int) -> None:
    """The same question of ever more rows; what each more row costs leaves out what any question costs first."""
    print("\n| rows | CPU, s | ns a row | ns each more row than the line above | MiB |")
    print("|---|---|---|---|---|")
    sizes = sorted({max(rows // step, 10_000) for step in (100, 10, 1)})
    before = 0, 0.0
    for size in sizes:
        it = cost("counts", write(folder / f"rows-{size}", size), warm, repeats)
        more = f"{1e9 * (it.cpu - before[1]) / (size - before[0]):.0f}" if before[0] else ""
        before = size, it.cpu
        print(
            f"| {size:,} | {it.cpu:.2f} | {1e9 * it.cpu / size:.0f} | {more} | {it.peak / 2**20:.0f} |",
            flush=True,
        )


def each_more_row(folder: Path, rows: int, warm: Path, repeats: int) -> None:
    """What Spark takes for each more row, its Java and its workers together, and what that makes of 10^12."""
    print(
        "\n| Spark | CPU, s, of "
        + f"{rows // 10:,} rows | of {rows:,} | ns each more row | core-hours of 10^12 rows |"
    )
    print("|---|---|---|---|---|")
    sizes = (rows // 10, rows)
    paths = [write(folder / f"rows-{size}", size) for size in sizes]
    for way in ("Spark", "Spark, mapInArrow and partial"):
        few, many = (cost(way, path, warm, repeats) for path in paths)
        if few.cpu and many.cpu:
            more = (many.cpu - few.cpu) / (sizes[1] - sizes[0])
            print(
                f"| {way} | {few.cpu:.2f} | {many.cpu:.2f} | {1e9 * more:.0f} | {1e12 * more / 3600:.0f} |",
                flush=True,
            )
        else:
            print(f"| {way} | {few.answer or many.answer} | | | |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="streamed here")
    parser.add_argument("--engine-rows", type=int, default=1_000_000, help="counted by engines, and by Spark")
    parser.add_argument("--vector-rows", type=int, default=1_000_000, help="of two scores each")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="equal,stream,linear,vectors,group,push,spark")
    parser.add_argument("--folder", type=Path, help="where the records are written, and stay")
    parser.add_argument("--way", nargs=3, metavar=("NAME", "WARM", "PATH"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.way:
        way, warm, path = given.way
        one(way, Path(warm), Path(path))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        warm = write(folder / "warm", 10_000)
        parts = given.only.split(",")
        if "equal" in parts:
            equal(folder)
        if "stream" in parts:
            path = write(folder / f"rows-{given.rows}", given.rows)
            ways = [
                "DuckDB's own query",
                "counts",
                "estimate",
                "counts by group",
                "risk of each record, written",
            ]
            table(ways, path, given.rows, warm, given.repeats, "DuckDB's own query")
        if "vectors" in parts:
            of_two_scores(folder, given.vector_rows, given.repeats)
        if "linear" in parts:
            linear(folder, given.rows, warm, given.repeats)
        few = write(folder / f"rows-{given.engine_rows}", given.engine_rows)
        if "group" in parts:
            ways = ["counts by group", "report by group", "report by group, HTML"]
            table(ways, few, given.engine_rows, warm, given.repeats, ways[0])
        if "push" in parts:
            ways = ["DuckDB's own query", *[name for name in ENGINES if name in WAYS and name != "Spark"]]
            table(ways, few, given.engine_rows, warm, given.repeats, "DuckDB's own query")
        if "spark" in parts:
            each_more_row(folder, given.engine_rows, warm, given.repeats)


if __name__ == "__main__":
    main()
