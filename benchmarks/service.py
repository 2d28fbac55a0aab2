"""What the service costs beside the handler anyone would write first, over real sockets.

    python -m benchmarks.service            # about two minutes
    python -m benchmarks.service --quick    # fewer repetitions
    python -m benchmarks.service --parts    # only what one answer is made of, without a server

Every comparison takes turns between the two in one run: only the ratios mean anything. The stock handler is
``benchmarks/stock.py``; both run under uvicorn with uvloop and httptools, in processes of their own. What memory they
share, the system tells root alone.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import TypeAdapter

from estimators import Scores, advantage, assess
from estimators.paper import algorithm_1
from estimators.sample.counting import finest
from estimators.sample.digests import fingerprint
from macekit.call import ARROW, JSON, NPY, Body, Call
from macekit.decoding import decode
from macekit.operations import perform

MIB = 2**20


@dataclass(frozen=True)
class Server:
    """A process that listens."""

    process: subprocess.Popen[bytes]
    port: int

    def connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.connect()
        assert connection.sock is not None
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def family(self) -> list[int]:
        """The process and all that descend from it."""
        parents = {}
        for status in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = status.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(status.parent.name)] = int(fields[1])
        family = [self.process.pid]
        for pid in family:
            family += [child for child, parent in parents.items() if parent == pid]
        return family

    def memory(self, what: str) -> float:
        """MiB of one line of smaps_rollup, over the whole family."""
        total = 0
        for pid in self.family():
            try:
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
            except OSError:
                continue
            total += sum(int(kib) for kib in re.findall(rf"^{what}:\s+(\d+) kB", text, flags=re.MULTILINE))
        return total / 1024


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[Server]:
    """A server as a process, until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [a.replace("PORT", str(port)) for a in arguments]
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        env={**os.environ, "MACE_PORT": str(port), "MACE_LOG_LEVEL": "warning", **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(process, port)
    try:
        _await(server, "/readyz" if "app.cli" in arguments else "/openapi.json")
        yield server
    finally:
        process.terminate()
        process.wait(60)


def _await(server: Server, path: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            connection = server.connect()
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.01)
    raise TimeoutError(path)


@contextmanager
def mace(**environment: str) -> Iterator[Server]:
    with serving("app.cli", "serve", **environment) as server:
        yield server


@contextmanager
def stock() -> Iterator[Server]:
    with serving("uvicorn", "benchmarks.stock:app", "--port", "PORT", "--log-level", "error") as server:
        yield server


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


def sample(n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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
    table = pa.table({"score": np.concatenate(sample(n)), "member": np.arange(2 * n) < n})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2**18)
    return sink.getvalue()


def json_end_to_end(times: int) -> str:
    body = as_json(100_000)
    with mace() as ours, stock() as theirs:
        a, b = ours.connect(), theirs.connect()
        mine, other = in_turns(
            times,
            lambda: post(a, "/v1/advantage", body, JSON),
            lambda: post(b, "/advantage", body, JSON),
        )
    return row("JSON, 10^5 a side, everything against the stock handler's W_N", 3, mine, other)


def binary_end_to_end(times: int) -> Iterator[str]:
    n = 1_000_000
    text = as_json(n)
    adapter = TypeAdapter(dict[str, list[float]])

    def decode() -> object:
        sides = adapter.validate_python(json.loads(text))
        return [np.array(side) for side in sides.values()]

    bodies = {"NPY": (as_npy(n), NPY, f"?members={n}"), "Arrow": (as_arrow(n), ARROW, "")}
    with mace() as ours:
        connection = ours.connect()
        for name, (body, kind, query) in bodies.items():

            def ask(body: bytes = body, kind: str = kind, query: str = query) -> object:
                return post(connection, f"/v1/advantage{query}", body, kind)

            mine, other = in_turns(times, ask, decode)
            yield row(
                f"{name}, 10^6 a side, everything against json + pydantic + np.array alone", 25, mine, other
            )


def small(times: int) -> Iterator[str]:
    body = as_json(200)
    with mace() as ours, stock() as theirs:
        a, b = ours.connect(), theirs.connect()
        for operation in ("advantage", "individual-risk", "audit", "counts"):
            mine, other = in_turns(
                times,
                lambda operation=operation: post(a, f"/v1/{operation}", body, JSON),  # type: ignore[misc]
                lambda: post(b, "/trivial", body, JSON),
            )
            p50, base = statistics.median(mine), statistics.median(other)
            yield (
                f"| {operation}, 200 a side, p50 against a trivial handler that takes the same body | <= 3x "
                f"| {p50 / base:.1f}x | {1e3 * p50:.2f} ms against {1e3 * base:.2f} ms |"
            )


def where_the_line_is(times: int) -> Iterator[str]:
    """In the server or in a worker: what the same small request costs."""
    with mace(MACE_INLINE_LIMIT=str(MIB)) as inline, mace(MACE_INLINE_LIMIT="0") as worker:
        a, b = inline.connect(), worker.connect()
        for n in (50, 200, 500, 1_000, 5_000, 20_000):
            body = as_json(n)
            mine, other = in_turns(
                max(10, times // 4),
                lambda body=body: post(a, "/v1/advantage", body, JSON),  # type: ignore[misc]
                lambda body=body: post(b, "/v1/advantage", body, JSON),  # type: ignore[misc]
            )
            yield (
                f"| {n:,} | {len(body) / 1024:,.0f} | {1e3 * statistics.median(mine):.2f} "
                f"| {1e3 * statistics.median(other):.2f} |"
            )


def counting_memory() -> Iterator[str]:
    n = 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, query in (("NPY", NPY, f"?members={n // 2}"), ("Arrow", ARROW, "")):
            file = Path(folder) / name
            file.write_bytes(as_npy(n // 2) if kind == NPY else as_arrow(n // 2))
            size = file.stat().st_size / MIB
            with mace() as ours:
                connection = ours.connect()
                small_body = as_npy(1000) if kind == NPY else as_arrow(1000)
                warm = "?members=1000" if kind == NPY else ""
                post(connection, f"/v1/counts{warm}", small_body, kind)
                before, peak, stop = ours.memory("Pss"), [0.0], threading.Event()

                def watch(
                    server: Server = ours, peak: list[float] = peak, stop: threading.Event = stop
                ) -> None:
                    while not stop.is_set():
                        peak[0] = max(peak[0], server.memory("Pss"))

                watcher = threading.Thread(target=watch)
                watcher.start()
                with file.open("rb") as source:
                    connection.request(
                        "POST",
                        f"/v1/counts{query}",
                        source,
                        {"Content-Type": kind, "Content-Length": str(file.stat().st_size)},
                    )
                    answer = connection.getresponse()
                    cells = len(json.loads(answer.read())["counts"]["members"])
                stop.set()
                watcher.join()
                yield (
                    f"| {name} of 10^7 values to /v1/counts: all processes beyond what they had | <= 16 MiB + "
                    f"cells | {peak[0] - before:.1f} MiB | body {size:.0f} MiB, {cells:,} cells |"
                )


def start_up(times: int) -> Iterator[str]:
    command = "import time; t=time.perf_counter(); import app.main; app.main.create_app(); print(time.perf_counter()-t)"
    imports = [
        float(subprocess.run([sys.executable, "-c", command], capture_output=True, check=True).stdout)
        for _ in range(max(3, times // 20))
    ]
    seconds, resident, family = [], 0.0, 0.0
    for _ in range(max(3, times // 20)):
        began = time.perf_counter()
        with mace() as ours:
            seconds.append(time.perf_counter() - began)
            text = Path(f"/proc/{ours.process.pid}/status").read_text()
            resident = int(re.findall(r"^VmRSS:\s+(\d+)", text, flags=re.MULTILINE)[0]) / 1024
            family = ours.memory("Pss")
    median = statistics.median(imports)
    yield f"| import the app and make it | <= 1.3 s | {min(imports):.2f} s | median {median:.2f} s |"
    yield (
        f"| from `mace serve` to ready | | {min(seconds):.2f} s | median {statistics.median(seconds):.2f} s, "
        "workers included |"
    )
    yield (
        f"| memory of the server process, ready | <= 130 MiB | {resident:.0f} MiB "
        f"| with fork server and workers {family:.0f} MiB (shared pages counted once) |"
    )


def parts(times: int) -> Iterator[str]:
    """What one answer of /v1/advantage is made of, in this process: least of several, milliseconds."""
    for n, body, call in (
        (200, as_json(200), Call("advantage")),
        (10**6, as_npy(10**6), Call("advantage", NPY, query=(("members", str(10**6)),))),
    ):
        scores = Scores.of(*sample(n))
        counts = finest(scores)
        tasks: list[Callable[[], object]] = [
            lambda call=call, body=body: perform(call, Body.of(body)),  # type: ignore[misc]
            lambda call=call, body=body: decode(call, Body.of(body)),  # type: ignore[misc]
            lambda scores=scores: assess(scores),  # type: ignore[misc]
            lambda scores=scores: finest(scores),  # type: ignore[misc]
            lambda counts=counts: advantage(counts),  # type: ignore[misc]
            lambda scores=scores: algorithm_1(scores, 0.5),  # type: ignore[misc]
            lambda scores=scores: fingerprint(scores),  # type: ignore[misc]
        ]
        cells = " | ".join(f"{1e3 * min(seconds):.2f}" for seconds in in_turns(times, *tasks))
        yield f"| {n:,} | {cells} |"


def lag(times: int) -> Iterator[str]:
    """Time to answer a probe while every worker computes and more wait: at least the event loop's lag."""
    body = as_npy(1_000_000)
    with mace() as ours:
        stop = threading.Event()

        def load() -> None:
            connection = ours.connect()
            while not stop.is_set():
                post(connection, "/v1/advantage?members=1000000", body, NPY)

        def probe(count: int) -> list[float]:
            connection, durations = ours.connect(), []
            for _ in range(count):
                began = time.perf_counter()
                connection.request("GET", "/healthz")
                connection.getresponse().read()
                durations.append(time.perf_counter() - began)
                time.sleep(0.005)
            return sorted(durations)

        idle = probe(5 * times)
        threads = [threading.Thread(target=load) for _ in range(2 * (os.cpu_count() or 1))]
        for thread in threads:
            thread.start()
        busy = probe(10 * times)
        stop.set()
        for thread in threads:
            thread.join()
    for name, durations, goal in (
        ("idle", idle, ""),
        ("every worker busy, as many waiting", busy, "<= 50 ms"),
    ):
        p50, p99 = durations[len(durations) // 2], durations[int(0.99 * len(durations))]
        yield f"| answer to a probe, {name}: p99 | {goal} | {1e3 * p99:.1f} ms | p50 {1e3 * p50:.1f} ms |"


def row(name: str, goal: float, mine: list[float], other: list[float]) -> str:
    ratio = statistics.median(other) / statistics.median(mine)
    return (
        f"| {name} | >= {goal:g}x faster | {ratio:.1f}x "
        f"| {1e3 * statistics.median(mine):.0f} ms against {1e3 * statistics.median(other):.0f} ms |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--parts", action="store_true", help="only what one answer is made of")
    arguments = parser.parse_args()
    times = 20 if arguments.quick else 100
    print(
        "| scores a side | whole | decoding | all statements | counting | certified interval | U_N | SHA-256 |\n"
        + 8 * "|---"
        + "|"
    )
    for line in parts(times // 5):
        print(line, flush=True)
    if arguments.parts:
        return
    print("\n| what | wanted | measured | |\n|---|---|---|---|")
    print(json_end_to_end(times), flush=True)
    for part in (
        binary_end_to_end(max(5, times // 10)),
        counting_memory(),
        small(5 * times),
        start_up(times),
        lag(times),
    ):
        for line in part:
            print(line, flush=True)
    print(
        "\n| scores a side | body, KiB | answered in the server, p50 ms | by a worker, p50 ms |\n|---|---|---|---|"
    )
    for line in where_the_line_is(times):
        print(line, flush=True)


if __name__ == "__main__":
    main()
