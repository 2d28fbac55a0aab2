"""What the service costs beside the handler anyone would write first, over real sockets.

Every comparison takes turns between the two in one run: only the ratios mean anything. The stock handler is
``benchmarks/stock.py``; both run under uvicorn with uvloop and httptools, in processes of their own. What memory they
share, the system tells root alone. About three minutes.
"""

import asyncio
import http.client
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from benchmarks.harness import Run, of_rounds, table
from benchmarks.processes import kibibytes, serving, watched
from benchmarks.worlds import Floats
from estimators import Scores, advantage, assess
from estimators.paper import algorithm_1
from estimators.sample.counting import finest
from estimators.sample.digests import fingerprint
from macekit.call import ARROW, HTML, JSON, NPY, PARQUET, Body, Call
from macekit.decoding import decode
from macekit.operations import perform

OPTIONS = {"repeats": (100, 5), "large": (1_000_000, 10_000), "rounds": (3, 1)}
"""How often each is asked, and scores of a side in a large body; ten times as many where memory is watched."""
MIB = 2**20
mace = partial(serving, log_level="warning")
STOCK = ("uvicorn", "benchmarks.stock:app", "--port", "PORT", "--log-level", "error")
stock = partial(serving, command=STOCK)


def post(connection: http.client.HTTPConnection, path: str, body: bytes, kind: str) -> bytes:
    connection.request("POST", path, body, {"Content-Type": kind})
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, content[:300]
    return content


def in_turns(times: int, *tasks: Callable[[], object]) -> list[list[float]]:
    """Seconds of each task, one after the other, so that a busy moment meets all of them."""
    durations: list[list[float]] = [[] for _ in tasks]
    for turn in range(times + 1):
        for task, seconds in zip(tasks, durations, strict=True):
            began = time.perf_counter()
            task()
            if turn:  # the first is for caches
                seconds.append(time.perf_counter() - began)
    return durations


def sample(n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    return rng.normal(0.5, 1.0, n), rng.normal(0.0, 1.0, n)


def as_json(n: int) -> bytes:
    members, nonmembers = sample(n)
    return json.dumps({"members": members.tolist(), "nonmembers": nonmembers.tolist()}).encode()


def as_npy(n: int) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.concatenate(sample(n)))
    return sink.getvalue()


def as_arrow(n: int) -> bytes:
    records = pa.table({"score": np.concatenate(sample(n)), "member": np.arange(2 * n) < n})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, records.schema) as writer:
        writer.write_table(records, max_chunksize=2**18)
    return sink.getvalue()


@table
def parts(run: Run):
    """What one answer of /v1/advantage is made of, in this process: least of several, milliseconds."""
    yield "scores a side | whole | decoding | all statements | counting | certified interval | U_N | SHA-256"
    large = Call("advantage", NPY, query=(("members", str(run.large)),))
    for n, body, call in ((200, as_json(200), Call("advantage")), (run.large, as_npy(run.large), large)):
        scores = Scores.of(*sample(n))
        counts = finest(scores)
        tasks = (
            *(lambda work=work, call=call, body=body: work(call, Body.of(body)) for work in (perform, decode)),
            *(partial(assess, scores), partial(finest, scores), partial(advantage, counts)),
            *(partial(algorithm_1, scores, 0.5), partial(fingerprint, scores)),
        )
        seconds = in_turns(max(1, run.repeats // 5), *tasks)
        cells = " | ".join(f"{1e3 * min(each):.2f}" for each in seconds)
        yield f"{n:,} | {cells}"


@table
def compared(run: Run):
    parts = (end_to_end, counting_memory, small, rates, many_values, starts, start_up, lag)
    yield from of_rounds(run.rounds, lambda: (row for part in parts for row in part(run)))


def faster(name: str, goal: float, mine: list[float], other: list[float]) -> str:
    ours, theirs = median(mine), median(other)
    times = f"{1e3 * ours:.0f} ms against {1e3 * theirs:.0f} ms"
    return f"{name} | >= {goal:g}x faster | {theirs / ours:.1f}x | {times}"


def end_to_end(run: Run):
    """JSON against the stock handler, and binary bodies against reading JSON alone."""
    body, n = as_json(100_000), run.large
    with mace() as ours, stock() as theirs:
        a, b = ours.connect(), theirs.connect()
        tasks = partial(post, a, "/v1/advantage", body, JSON), partial(post, b, "/advantage", body, JSON)
        pair = in_turns(run.repeats, *tasks)
    yield faster("JSON, 10^5 a side, everything against the stock handler's W_N", 3, *pair)
    text, adapter = as_json(n), TypeAdapter(dict[str, list[float]])

    def read() -> object:
        return [np.array(side) for side in adapter.validate_python(json.loads(text)).values()]

    with mace() as ours:
        connection = ours.connect()
        forms = ("NPY", as_npy(n), NPY, f"?members={n}"), ("Arrow", as_arrow(n), ARROW, "")
        for name, body, kind, query in forms:
            ask = partial(post, connection, f"/v1/advantage{query}", body, kind)
            pair = in_turns(max(5, run.repeats // 10), ask, read)
            what = f"{name}, 10^6 a side, everything against json + pydantic + np.array alone"
            yield faster(what, 25, *pair)


def counting_memory(run: Run):
    """What ten million values take while they are counted."""
    n = 5 * run.large
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, write in (("NPY", NPY, as_npy), ("Arrow", ARROW, as_arrow)):
            file = Path(folder) / name
            file.write_bytes(write(n))
            size, query = file.stat().st_size, "?members={}" if kind == NPY else ""
            with mace() as ours:
                connection = ours.connect()
                post(connection, f"/v1/counts{query.format(1000)}", write(1000), kind)
                before, head = ours.memory(), {"Content-Type": kind, "Content-Length": str(size)}
                with watched(ours.memory) as peak, file.open("rb") as source:
                    connection.request("POST", f"/v1/counts{query.format(n)}", source, head)
                    cells = len(json.loads(connection.getresponse().read())["counts"]["members"])
            yield (
                f"{name} of 10^7 values to /v1/counts: all processes beyond what they had | <= 16 MiB + cells | "
                f"{peak[0] - before:.1f} MiB | body {size / MIB:.0f} MiB, {cells:,} cells"
            )


def small(run: Run):
    body = as_json(200)
    with mace() as ours, stock() as theirs:
        a, b = ours.connect(), theirs.connect()
        for operation in ("advantage", "individual-risk", "audit", "counts"):
            tasks = partial(post, a, f"/v1/{operation}", body, JSON), partial(post, b, "/trivial", body, JSON)
            p50, base = map(median, in_turns(5 * run.repeats, *tasks))
            yield (
                f"{operation}, 200 a side, p50 against a trivial handler that takes the same body | <= 3x | "
                f"{p50 / base:.1f}x | {1e3 * p50:.2f} ms against {1e3 * base:.2f} ms"
            )


def rates(run: Run):
    """How many answers two workers give in a second to 16 clients who ask again at once: the best of several runs."""
    from benchmarks.load import closed, request

    body, seconds = as_json(200), 0.5 if run.quick else 3.0
    asked = (
        ("advantage", ">= 700/s, p99 <= 40 ms", request("/v1/advantage", body, JSON)),
        ("report in HTML", ">= 60/s", request("/v1/report", body, JSON, accept=HTML)),
    )
    for name, goal, each in asked:
        with mace(workers="2") as ours:
            tallies = [
                asyncio.run(closed(ours.port, 16, seconds, lambda _, each=each: each))
                for _ in range(1 + max(1, run.repeats // 20))
            ]
        best = max(tallies[1:], key=lambda tally: tally.goodput)  # the first starts what draws
        p99 = 1e3 * np.quantile(best.answers, 0.99)
        yield f"{name}, 200 a side, 16 clients, two workers | {goal} | {best.goodput:.0f}/s | p99 {p99:.0f} ms"


def many_values(run: Run):
    """Four million different integers, which take half a megabyte of Parquet: counted by value, then on a grid."""
    n = 4 * run.large
    sides = np.random.default_rng(0).random(n) < 0.5
    records, sink = pa.table({"score": np.arange(n), "member": sides}), io.BytesIO()
    write = partial(pq.write_table, compression="zstd", use_dictionary=False)
    write(records, sink, column_encoding={"score": "DELTA_BINARY_PACKED", "member": "PLAIN"})
    with mace() as ours:
        connection = ours.connect()
        for operation in ("counts", "advantage"):
            ask = partial(post, connection, f"/v1/{operation}", sink.getvalue(), PARQUET)
            seconds = min(in_turns(max(1, run.repeats // 20), ask)[0])
            what = f"{operation}, Parquet of {n:,} different scores, {len(sink.getvalue()) / MIB:.1f} MiB"
            yield f"{what} | <= 2 s | {seconds:.2f} s | "


def starts(run: Run):
    """Processes from start to end, each beside the imports that it cannot do without: least of several."""
    memory = "; print(next(line for line in open('/proc/self/status') if 'VmHWM' in line).split()[1])"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        rows = (f"{score},{side}\n" for side, scores in enumerate(sample(500)) for score in scores.tolist())
        file.write_text("score,member\n" + "".join(rows))
        codes = (
            "import fastapi, numpy",
            "import app.main; app.main.create_app()" + memory,
            "import numpy",
            f"from macekit.__main__ import main; main(['gate', {str(file)!r}, '--max-advantage', '0.9'])",
            "import macekit; macekit.report([*range(200)], [*range(50, 250)])",
        )
        said: dict[str, bytes] = {}

        def start(code: str) -> None:
            command = [sys.executable, "-c", code]
            said[code] = subprocess.run(command, capture_output=True, check=True).stdout

        times = in_turns(max(1, run.repeats // 10), *(partial(start, code) for code in codes))
    both, service, numpy, gate, report = map(min, times)
    compared_with = (
        ("import the app and make it", "import fastapi, numpy", "<= 2.2x", service, both),
        ("`mace gate` of 1,000 rows", "import numpy", "<= 5x", gate, numpy),
    )
    for what, beside, goal, ours, theirs in compared_with:
        took = f"{ours:.2f} s against {theirs:.2f} s"
        yield f"{what}, against `{beside}` | {goal} | {ours / theirs:.1f}x | {took}"
    yield f"memory of that import, at most | <= 90 MiB | {int(said[codes[1]]) / 1024:.0f} MiB |"
    yield f"the first `macekit.report` of a process | <= 0.6 s | {report:.2f} s | with the start of Python"


def start_up(run: Run):
    code = "import time; t=time.perf_counter(); import app.main; app.main.create_app(); print(time.perf_counter()-t)"
    times, seconds, resident, family = max(1, run.repeats // 20), [], 0.0, 0.0
    command = [sys.executable, "-c", code]
    imports = [float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(times)]
    for _ in range(times):
        began = time.perf_counter()
        with mace() as ours:
            seconds.append(time.perf_counter() - began)
            resident, family = kibibytes(ours.process.pid, "status", "VmRSS") / 1024, ours.memory()
    yield f"import the app and make it | <= 1.3 s | {min(imports):.2f} s | median {median(imports):.2f} s"
    ready = f"{min(seconds):.2f} s | median {median(seconds):.2f} s, workers included"
    yield f"from `mace serve` to ready | | {ready}"
    shared = f"with fork server and workers {family:.0f} MiB (shared pages counted once)"
    yield f"memory of the server process, ready | <= 130 MiB | {resident:.0f} MiB | {shared}"


def lag(run: Run):
    """Time to answer a probe while every worker computes and more wait: at least the event loop's lag."""
    body = as_npy(run.large)
    with mace() as ours:
        stop = threading.Event()

        def load() -> None:
            connection = ours.connect()
            while not stop.is_set():
                post(connection, f"/v1/advantage?members={run.large}", body, NPY)

        def probe(count: int) -> list[float]:
            connection, durations = ours.connect(), []
            for _ in range(count):
                began = time.perf_counter()
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                durations.append(time.perf_counter() - began)
                time.sleep(0.005)
            return sorted(durations)

        idle = probe(5 * run.repeats)
        threads = [threading.Thread(target=load) for _ in range(2 * (os.cpu_count() or 1))]
        for thread in threads:
            thread.start()
        busy = probe(10 * run.repeats)
        stop.set()
        for thread in threads:
            thread.join()
    kinds = ("idle", idle, ""), ("every worker busy, as many waiting", busy, "<= 50 ms")
    for name, durations, goal in kinds:
        p50, p99 = durations[len(durations) // 2], durations[int(0.99 * len(durations))]
        yield f"answer to a probe, {name}: p99 | {goal} | {1e3 * p99:.1f} ms | p50 {1e3 * p50:.1f} ms"


@table
def where_the_line_is(run: Run):
    """In the server or in a worker: what the same small request costs."""
    yield "scores a side | body, KiB | answered in the server, p50 ms | by a worker, p50 ms"
    with mace(inline_limit=str(MIB)) as inline, mace(inline_limit="0") as worker:
        connections = inline.connect(), worker.connect()
        for n in (50, 200, 500, 1_000, 5_000, 20_000):
            body = as_json(n)
            tasks = (partial(post, each, "/v1/advantage", body, JSON) for each in connections)
            both = [f"{1e3 * median(each):.2f}" for each in in_turns(max(10, run.repeats // 4), *tasks)]
            yield f"{n:,} | {len(body) / 1024:,.0f} | {' | '.join(both)}"
