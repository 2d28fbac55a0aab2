"""Counts where the records lie: that every engine counts the same, and what a row costs.

CPU is that of the process and all it started (a Spark's Java and its workers, too), beyond imports; memory is what
these hold that is not a mapped file. Every line is measured in a process of its own, the least of several. Only
ratios inside one run mean anything. What is not installed is left out, and said. 10^6 rows take some minutes.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import macekit
from benchmarks.harness import Run, table
from benchmarks.processes import family_of, kibibytes, watched
from estimators.sample.grid import finest_exponent

OPTIONS = {
    "rows": (1_000_000, 20_000),
    "engine_rows": (1_000_000, 20_000),
    "vector_rows": (1_000_000, 20_000),
    "repeats": (3, 1),
}
"""Rows streamed here, counted by engines and by Spark, and of two scores each."""
FILES = 8
NEEDS = {"Dask": "dask", "Ibis": "ibis", "SQLFrame": "sqlframe", "Spark": "pyspark", "DuckDB": "duckdb"}


def write(folder: Path, rows: int, world: str = "") -> Path:
    """In eight files: Gaussian scores whose advantage is 0.1, with eight regions; or two scores a record.

    Of two scores both are larger by 0.2 for members, or of equal sign for a fifth of them ("xor").
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in range(FILES):
        rng = np.random.default_rng(file)
        n = rows * (file + 1) // FILES - rows * file // FILES
        member = rng.random(n) < 0.5
        if world:
            a, b = rng.normal(size=(2, n))
            if world == "xor":
                b = np.where(member & (rng.random(n) < 0.2), np.abs(b) * np.sign(a), b)
            else:
                a, b = a + 0.2 * member, b + 0.2 * member
            columns = {"a": a, "b": b, "member": member}
        else:
            score = rng.normal(size=n)
            score[member] += 0.2533
            names = np.array([f"r{place}" for place in range(8)])
            region = names[rng.integers(0, 8, n, dtype=np.int8)]
            columns = {"score": score, "member": member, "region": region}
        pq.write_table(pa.table(columns), folder / f"{file}.parquet")
    return folder


def kinds(size: int = 20_000) -> dict[str, pa.Table]:
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
    shared = {"member": member, "region": of(["eu", "us", "zürich"])}
    return {name: pa.table({"score": each, **shared}) for name, each in scores.items()}


def unusable() -> dict[str, pa.Table]:
    """Tables with one value in them that no engine may take for a score or a membership."""
    floats = kinds(2000)["floats"]
    score, member = floats["score"].to_pylist(), floats["member"].to_pylist()
    tables, odd = {}, {"null": None, "NaN": float("nan"), "infinity": float("inf")}
    for name, value in odd.items():
        tables[name] = pa.table({"score": [*score[:-1], value], "member": member})
    tables["null membership"] = pa.table({"score": score, "member": [*member[:-1], None]})
    tables["third membership"] = pa.table({"score": score, "member": [*map(int, member[:-1]), 2]})
    return tables


def spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", "2")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def dialect() -> Any:
    return import_module("sqlframe.duckdb").DuckDBSession.builder.getOrCreate()


ENGINES: dict[str, Callable[[Path], Any]] = {
    "folder": lambda path: path,
    "Polars, lazy": lambda path: import_module("polars").scan_parquet(path / "*.parquet"),
    "DuckDB, relation": lambda path: import_module("duckdb").connect().read_parquet(f"{path}/*.parquet"),
    "Dask": lambda path: import_module("dask.dataframe").read_parquet(path),
    "Ibis, DuckDB": lambda path: import_module("ibis").duckdb.connect().read_parquet(f"{path}/*.parquet"),
    "SQLFrame, DuckDB": lambda path: dialect().read.parquet(f"{path}/*.parquet"),
    "Spark": lambda path: spark().read.parquet(str(path)),
}


def present(name: str) -> bool:
    """Whether the packages are there that a name of the table begins with."""
    return all(find_spec(package) for word, package in NEEDS.items() if word in name)


@table
def equal(run: Run):
    """Which kinds of tables each engine counts as the table itself is, and which it refuses."""
    tables, bad = kinds(), unusable()
    yield f"engine | {' | '.join(tables)} | by group | null, NaN, infinity | null, third membership"
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        places = {name: folder / "equal" / str(place) for place, name in enumerate([*tables, *bad])}
        for name, records in {**tables, **bad}.items():
            places[name].mkdir(parents=True, exist_ok=True)
            pq.write_table(records, places[name] / "0.parquet")
        wanted = {name: macekit.counts(records)["counts"] for name, records in tables.items()}
        groups = grouped(tables["floats"])
        for engine, frame in ENGINES.items():
            if not present(engine):
                yield f"{engine}: not installed |{' |' * (len(tables) + 2)}"
            elif not (run.quick and engine == "Spark"):
                same = [macekit.counts(frame(places[name]))["counts"] == wanted[name] for name in tables]
                same.append(grouped(frame(places["floats"])) == groups)
                refusals = [refusal(frame(places[name])) for name in bad]
                cells = ["same" if each else "OTHER" for each in same]
                run.faults += not all(same)
                yield f"{engine} | {' | '.join(cells)} | {', '.join(refusals[:3])} | {', '.join(refusals[3:])}"
            if engine == "Spark" and present(engine) and not run.quick:
                spark().stop()


def grouped(source: Any) -> dict[Any, Any]:
    return {label: group and group["counts"] for label, group in macekit.counts_by(source, "region").items()}


def refusal(source: Any) -> str:
    try:
        macekit.counts(source)
    except macekit.MaceProblem as problem:
        return problem.kind
    return "ANSWERED"


@dataclass
class Cost:
    """What something took, in seconds and bytes."""

    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0
    answer: str = ""


def cpu() -> float:
    """Seconds of this process and all it started, those of children that ended with them."""
    return sum(sum(each.cpu_times()[:4]) for each in family_of(os.getpid()))


def held() -> int:
    """Bytes of these that are no mapped file."""
    return 1024 * sum(kibibytes(each.pid, "status", "RssAnon", "RssShmem") for each in family_of(os.getpid()))


@contextmanager
def measured() -> Iterator[Cost]:
    cost = Cost()
    with watched(held, 0.05) as seen:
        before, start = cpu(), time.perf_counter()
        yield cost
        cost.wall, cost.cpu = time.perf_counter() - start, cpu() - before - seen[1]
    cost.peak = max(int(seen[0]), held())


OWN_ENDS = "select min(score), max(score) from read_parquet('{}/*.parquet')"
OWN_COUNT = """select floor(score * {}::double)::bigint as key, count(*) filter (where member), count(*)
    from read_parquet('{}/*.parquet') group by key"""


def own_query(path: Path) -> str:
    """The database's own way, by hand: how far the scores reach, and a count of each of as many cells."""
    connection = import_module("duckdb").connect()
    (ends,) = connection.sql(OWN_ENDS.format(path)).fetchall()
    cells = connection.sql(OWN_COUNT.format(2.0 ** -finest_exponent(*ends), path)).fetchnumpy()
    return f"{len(cells['key'])} cells"


def shown(result: Any) -> str:
    return f"{result.advantage.lower:.6f} to {result.advantage.upper:.6f}"


def of_counts(result: Any) -> str:
    return f"{len(result['counts']['members'])} cells"


def risks(path: Path) -> str:
    with NamedTemporaryFile(suffix=".parquet") as file:
        answer = macekit.write_risks(path, file.name)
        rows = pq.read_metadata(file.name).num_rows
    return f"{rows:,} rows, {answer['flags']['records']:,} flagged"


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


WAYS: dict[str, Callable[[Path], str]] = {
    "vectors, files": of_vectors,
    "vectors, in memory": lambda path: of_vectors(pq.read_table(path)),
    "vectors, Ibis, DuckDB": lambda path: of_vectors(ENGINES["Ibis, DuckDB"](path)),
    "estimate": lambda path: shown(macekit.estimate(path)),
    "counts": lambda path: of_counts(macekit.counts(path)),
    "counts by group": lambda path: f"{len(macekit.counts_by(path, 'region'))} groups",
    "risk of each record, written": risks,
    "report by group": lambda path: f"{len(macekit.report(path, group='region').answer['groups'])} groups",
    "report by group, HTML": lambda path: f"{len(macekit.report(path, group='region').to_html()) // 1000} kB",
    "DuckDB's own query": own_query,
    **{
        engine: lambda path, open_=open_: of_counts(macekit.counts(open_(path)))
        for engine, open_ in ENGINES.items()
        if engine != "folder"
    },
    "Spark, mapInArrow and partial": map_in_arrow,
}
"""What is measured, by its name in the tables."""


def cost(way: str, path: Path, warm: Path, repeats: int) -> Cost:
    """The least of several, each in a process of its own that did the same with few records before."""
    costs = []
    for _ in range(repeats):
        code = f"from benchmarks.scale import one; one({way!r}, {str(warm)!r}, {str(path)!r})"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return Cost(answer=(done.stderr.strip().splitlines() or ["ended"])[-1][:200])
        costs.append(Cost(**json.loads(done.stdout.splitlines()[-1])))
    best = min(costs, key=lambda each: each.cpu)
    best.peak = max(each.peak for each in costs)
    return best


def one(way: str, warm: str, path: str) -> None:
    """In a process of its own: what it costs, as JSON."""
    WAYS[way](Path(warm))
    with measured() as it:
        it.answer = WAYS[way](Path(path))
    print(json.dumps(vars(it)), flush=True)


def costs(run: Run, rows: int, ways: Sequence[str], world: str = "") -> dict[str, Cost]:
    """What each way costs that is installed; its processes have seen few records before."""
    with TemporaryDirectory() as name:
        warm, path = write(Path(name) / "warm", 10_000, world), write(Path(name) / "rows", rows, world)
        return {way: cost(way, path, warm, run.repeats) for way in ways if present(way)}


def rows_of(run: Run, rows: int, ways: Sequence[str], beside: str, world: str = "") -> Iterator[str]:
    every = costs(run, rows, ways, world)
    for way, it in every.items():
        ratio = it.cpu / every[beside].cpu if beside in every and every[beside].cpu else float("nan")
        label = f"{way} | {world}" if world else way
        times = f"{it.cpu:.2f} | {1e9 * it.cpu / rows:.0f} | {ratio:.2f} | {it.wall:.1f}"
        yield f"{label} | {times} | {it.peak / 2**20:.0f} | {it.answer}"


def head(rows: int, beside: str, *more: str) -> str:
    first = " | ".join((f"{rows:,} rows in {FILES} files", *more))
    return f"{first} | CPU, s | ns a row | x {beside} | wall, s | MiB | answer"


OWN = "DuckDB's own query"


@table
def stream(run: Run):
    """What is answered here, beside the database's own way."""
    yield head(run.rows, OWN)
    ways = (OWN, "counts", "estimate", "counts by group", "risk of each record, written")
    yield from rows_of(run, run.rows, ways[:2] if run.quick else ways, OWN)


@table
def vectors(run: Run):
    """What vectors cost, in a world where a simple rule is best and in one where it is not."""
    ways = ("vectors, files", "vectors, in memory", "vectors, Ibis, DuckDB")
    yield head(run.vector_rows, ways[0], "world")
    for world in ("shift",) if run.quick else ("shift", "xor"):
        yield from rows_of(run, run.vector_rows, ways[:1] if run.quick else ways, ways[0], world)


@table
def linear(run: Run):
    """The same question of ever more rows; what each more row costs leaves out what any question costs first."""
    yield "rows | CPU, s | ns a row | ns each more row than the line above | MiB"
    before = 0, 0.0
    for size in sorted({max(run.rows // step, 10_000) for step in (100, 10, 1)}):
        it = costs(run, size, ["counts"])["counts"]
        more = f"{1e9 * (it.cpu - before[1]) / (size - before[0]):.0f}" if before[0] else ""
        before = size, it.cpu
        yield f"{size:,} | {it.cpu:.2f} | {1e9 * it.cpu / size:.0f} | {more} | {it.peak / 2**20:.0f}"


@table
def group(run: Run):
    ways = ("counts by group", "report by group", "report by group, HTML")
    yield head(run.engine_rows, ways[0])
    yield from rows_of(run, run.engine_rows, ways[:1] if run.quick else ways, ways[0])


@table
def push(run: Run):
    yield head(run.engine_rows, OWN)
    ways = [OWN, *(name for name in ENGINES if name in WAYS and name != "Spark")]
    yield from rows_of(run, run.engine_rows, ways[:3] if run.quick else ways, OWN)


@table
def each_more_row(run: Run):
    """What Spark takes for each more row, its Java and its workers together, and what that makes of 10^12."""
    few, many = run.engine_rows // 10, run.engine_rows
    yield f"Spark | CPU, s, of {few:,} rows | of {many:,} | ns each more row | core-hours of 10^12 rows"
    ways = ("Spark", "Spark, mapInArrow and partial")[: 1 if run.quick else None]
    of_few, of_many = (costs(run, size, ways) for size in (few, many))
    for way, less in of_few.items():
        more = (of_many[way].cpu - less.cpu) / (many - few)
        row = f"{less.cpu:.2f} | {of_many[way].cpu:.2f} | {1e9 * more:.0f} | {1e12 * more / 3600:.0f}"
        failed = less.answer if not less.cpu else of_many[way].answer
        yield f"{way} | {row if less.cpu and of_many[way].cpu else f'{failed} | | |'}"
