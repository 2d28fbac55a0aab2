"""Does the service stay up? More requests than it can answer, slow clients, a log nobody reads, processes that die.

The service runs in processes of its own, the clients in this one, and a third asks /healthz twenty times a second, on
the service's port and on that of the probes. All share one machine, so the clients take what the service could have
(`--apart`: half of the cores for each): ratios say more than rates. Capacity is the goodput of eight clients that ask
one request after the other. A client that is told to come back later does so after a tenth of a second, whatever
Retry-After says. Processes, memory and descriptors are those of the service's whole family, as the system tells them
to root or to its user. Three to five minutes; `--seconds 20 --kills 100 --requests 100000` is the long run, an hour.

The exit status is 1 if an answer was neither 200 nor 503, was cut off or never came where it should have, or if a
process, a file or a descriptor stayed.
"""

import asyncio
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from itertools import product
from pathlib import Path

import numpy as np
import psutil

from benchmarks.harness import Run, table
from benchmarks.processes import CORES, PATIENCE, Service, serving, until
from benchmarks.service import as_json, as_npy
from macekit.call import CSV, JSON, NPY

OPTIONS = {"seconds": (4.0, 1.0), "kills": (5, 1), "requests": (3000, 300), "apart": (False, False)}
"""Of each load; how often each process is stopped and killed; over which memory is watched; cores of their own."""
AGAIN = 0.1  # seconds after which a client that was refused asks again
CLIENTS = (1, 4, 16, 64, 256)
FACTORS = (0.4, 0.8, 1, 2, 4, 6)
TRICKLED, SILENT = 34, 1024
LARGE = 16  # one of so many requests of a mixed load is large
Row = tuple[str, int]  # of a table, with how much of it was wrong
Bodies = Callable[[int], bytes]
Stop = threading.Event | None
LOOPS = (
    "load | goodput, 1/s | of that at 1x | refused (503) | Retry-After, s | other | reset | given up | "
    "answers p50, ms | p99 | /healthz p50, ms | p99 | on its own port p50 | p99"
)


def judged(rows: Callable[[Run], Iterator[str | Row]]) -> Callable[[Run], Iterator[str]]:
    """A table whose rows say how much of them was wrong."""

    @wraps(rows)
    def judge(run: Run) -> Iterator[str]:
        if run.apart:
            cores = sorted(os.sched_getaffinity(0) | CORES)
            CORES.update(cores[: max(len(cores) // 2, 1)])
            os.sched_setaffinity(0, set(cores) - CORES or CORES)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))
        for row in rows(run):
            text, wrong = (row, 0) if isinstance(row, str) else row
            run.faults += wrong
            yield text

    return judge


# --- clients ------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What came of many requests."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    answers: list[float] = field(default_factory=list)
    """Seconds of each answer that was one."""
    retry_after: list[int] = field(default_factory=list)
    reset: int = 0
    """Connections that ended before the answer had come, or were not taken."""
    problems: Counter[str] = field(default_factory=Counter)
    """What other answers were."""
    late: int = 0
    """Requests that their client gave up."""
    probes: list[float] = field(default_factory=list)
    """Seconds of each answer of /healthz."""
    lost_probes: int = 0

    @property
    def goodput(self) -> float:
        return self.statuses[200] / self.seconds

    @property
    def cut(self) -> str:
        """Cells of a row: other answers and of what kind, connections that ended, and requests that were given up."""
        others = ", ".join(f"{number} {kind}" for kind, number in self.problems.items()) or "0"
        return f"{others} | {self.reset} | {self.late}"

    @property
    def faults(self) -> int:
        silent = self.statuses[503] - len(self.retry_after)
        return self.problems.total() + self.reset + self.late + self.lost_probes + silent


def request(path: str, body: bytes, media_type: str, key: str = "", accept: str = "*/*") -> bytes:
    fields = {"Host": "here", "Content-Type": media_type, "Accept": accept, "Content-Length": len(body)}
    fields |= {"Authorization": f"Bearer {key}"} if key else {}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def small(key: str = "") -> bytes:
    return request("/v1/advantage", as_json(50), JSON, key)


def medium(members: int = 5000) -> bytes:
    """Too large for the server itself: a worker answers."""
    return request(f"/v1/advantage?members={members}", as_npy(members), NPY)


class Client:
    """One connection, which is made anew when it has ended."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port, self._tally = port, tally
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, sent: bytes) -> int:
        """The status, or 0."""
        began, status = time.perf_counter(), 0
        try:
            async with asyncio.timeout(PATIENCE):
                status = await self._exchange(sent)
        except TimeoutError:
            self._tally.late += 1
        except (OSError, EOFError, ValueError):
            self._tally.reset += 1
        if not status:
            self.close()
            return 0
        self._tally.statuses[status] += 1
        if status == 200:
            self._tally.answers.append(time.perf_counter() - began)
        return status

    async def _exchange(self, sent: bytes) -> int:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(sent)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        content = await reader.readexactly(int(fields["content-length"]))
        status = int(head.split(" ", 2)[1])
        if status not in (200, 503):
            self._tally.problems[str(json.loads(content)["type"]).rpartition(":")[2]] += 1
        if status == 503 and int(fields.get("retry-after", 0)) >= 1:
            self._tally.retry_after.append(int(fields["retry-after"]))
        if fields.get("connection") == "close":
            self.close()
        return status

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def mixture(mixed: bool) -> Bodies:
    bodies = small(), medium(200_000)
    return lambda number: bodies[mixed and number % LARGE == LARGE - 1]


async def closed(port: int, clients: int, seconds: float, which: Bodies, stop: Stop = None) -> Tally:
    """So many clients, each of which asks again when it was answered."""
    tally, end = Tally(), time.monotonic() + seconds

    async def work(client: Client, number: int) -> None:
        while time.monotonic() < end and not (stop and stop.is_set()):
            if await client.ask(which(number)) != 200:
                await asyncio.sleep(AGAIN)
            number += 1
        client.close()

    began = time.monotonic()
    await asyncio.gather(*(work(Client(port, tally), 5 * at) for at in range(clients)))
    tally.seconds = time.monotonic() - began
    return tally


async def opened(port: int, rate: float, seconds: float, which: Bodies) -> Tally:
    """So many requests a second whatever comes of them, each on a connection of its own."""
    tally, tasks = Tally(), []

    async def once(number: int) -> None:
        client = Client(port, tally)
        await client.ask(which(number))
        client.close()

    began = time.monotonic()
    for number in range(max(1, int(rate * seconds))):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        tasks.append(asyncio.create_task(once(number)))
    await asyncio.gather(*tasks)
    tally.seconds = time.monotonic() - began
    return tally


def four(service: Service, seconds: float, stop: Stop = None) -> Tally:
    """Four clients, every other of whose requests needs a worker."""
    bodies = small(), medium()
    return asyncio.run(closed(service.port, 4, seconds, lambda number: bodies[number % 2], stop))


PROBE = """
import http.client, json, sys, time
port, seconds = int(sys.argv[1]), float(sys.argv[2])
taken, lost, end = [], 0, time.monotonic() + seconds
while time.monotonic() < end:
    began = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/healthz")
        lost += connection.getresponse().status != 200
        taken.append(time.perf_counter() - began)
    except OSError:
        lost += 1
    connection.close()
    time.sleep(0.05)
print(json.dumps([taken, lost]))
"""


def probed(service: Service, seconds: float, run: Callable[[], Tally]) -> tuple[Tally, list[float]]:
    """A load, with what /healthz says meanwhile on the service's port; and on that of the probes."""
    probers = [
        subprocess.Popen([sys.executable, "-c", PROBE, str(port), str(seconds)], stdout=subprocess.PIPE)
        for port in (service.port, service.probe_port)
    ]
    tally = run()
    (tally.probes, lost), (apart, lost_apart) = (json.loads(prober.communicate()[0]) for prober in probers)
    tally.lost_probes = lost + lost_apart
    return tally, apart


def quantiles(durations: list[float]) -> str:
    """Milliseconds: the median, and what one of a hundred exceeds."""
    if not durations:
        return "- | -"
    return f"{1e3 * np.median(durations):.0f} | {1e3 * np.quantile(durations, 0.99, method='higher'):.0f}"


# --- more than it can answer --------------------------------------------------------------------------------


@table
@judged
def loops(run: Run):
    """Small JSON."""
    yield from loads(run, False)


@table
@judged
def mixed(run: Run):
    """Small JSON, and one of so many a large body."""
    yield from loads(run, True)


def loads(run: Run, mixed: bool) -> Iterator[str | Row]:
    yield LOOPS
    which, seconds = mixture(mixed), run.seconds
    with serving() as service:
        asyncio.run(closed(service.port, 8, min(2.0, seconds), which))
        capacity = asyncio.run(closed(service.port, 8, seconds, which)).goodput
        tasks = {
            f"closed, {number} client{'s' * (number > 1)}": (closed, number)
            for number in (CLIENTS if not run.quick else (4,))
        }
        tasks |= {
            f"open, {each:g}x: {each * capacity:.0f}/s": (opened, each * capacity)
            for each in (FACTORS if not run.quick else (2,))
        }
        for name, (ask, many) in tasks.items():
            work = partial(ask, service.port, many, seconds, which)
            tally, apart = probed(service, seconds, lambda work=work: asyncio.run(work()))
            waits = f"{min(tally.retry_after)} to {max(tally.retry_after)}" if tally.retry_after else "-"
            yield (
                f"{name} | {tally.goodput:.0f} | {tally.goodput / capacity:.2f} | {tally.statuses[503]:,} | {waits} | "
                f"{tally.cut} | {quantiles(tally.answers)} | {quantiles(tally.probes)} | {quantiles(apart)}",
                tally.faults,
            )


@table
@judged
def endless(run: Run):
    """Small JSON, more than it can answer for minutes on end."""
    yield (
        "asked, 1/s | seconds | goodput, 1/s | of the capacity | refused (503) | other | reset | given up | "
        "answers p50, ms | p99 | /healthz p50, ms | p99 | on its own port p50 | p99 | "
        "memory before, after, MiB | growth"
    )
    seconds, which = 3 if run.quick else 300.0, mixture(False)
    with serving(log_level="error") as service:
        asyncio.run(closed(service.port, 8, min(2.0, seconds), which))
        capacity = asyncio.run(closed(service.port, 8, min(20.0, seconds), which)).goodput
        rate = 2.5 * capacity
        asyncio.run(opened(service.port, rate, seconds / 10, which))
        before, work = service.memory(), partial(opened, service.port, rate, seconds, which)
        tally, apart = probed(service, seconds, lambda: asyncio.run(work()))
        after = service.memory()
    growth = after / before - 1 if before else 0.0
    yield (
        f"{rate:.0f} | {seconds:g} | {tally.goodput:.0f} | {tally.goodput / capacity:.2f} | {tally.statuses[503]:,} | "
        f"{tally.cut} | {quantiles(tally.answers)} | {quantiles(tally.probes)} | {quantiles(apart)} | "
        f"{before:.0f}, {after:.0f} | {100 * growth:+.1f} %",
        tally.faults,
    )


POLITE = 9
PAUSE = 0.25  # seconds between two questions of a client that is content
GREEDY = {"nobody": 0, "one key, 8 requests at once": 8, "one key, 64 requests at once": 64}


async def beside(port: int, keys: list[str], greed: int, seconds: float) -> tuple[Tally, Tally]:
    """Clients that ask now and then, each by its key, and one more that has so many requests under way all the time."""
    polite, greedy, end = Tally(), Tally(), time.monotonic() + seconds

    async def work(tally: Tally, sent: bytes, pause: float, first: float) -> None:
        client = Client(port, tally)
        await asyncio.sleep(first)
        while time.monotonic() < end:
            if await client.ask(sent) != 200:
                await asyncio.sleep(AGAIN)
            await asyncio.sleep(pause)
        client.close()

    *others, own = map(small, keys)
    await asyncio.gather(
        *(work(polite, sent, PAUSE, PAUSE * at / len(others)) for at, sent in enumerate(others)),
        *(work(greedy, own, 0.0, 0.0) for _ in range(greed)),
    )
    polite.seconds = greedy.seconds = seconds
    return polite, greedy


@table
@judged
def greedy(run: Run):
    """Nine clients that ask now and then, and one that takes all it can get."""
    yield (
        "beside them | goodput of nine, 1/s | refused (503) | other | reset | given up | p50, ms | p95 | "
        "of that alone | goodput of the one, 1/s | refused (503)"
    )
    names = [*(f"client-{number}" for number in range(POLITE)), "greedy"]
    seconds, usual = 2.0 if run.quick else 5 * run.seconds, 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "keys.toml")
        keys = [key_of(file, name) for name in names]
        for name, greed in GREEDY.items():
            with serving(keys_file=str(file)) as service:
                asyncio.run(beside(service.port, keys, greed, min(2.0, seconds)))
                polite, greedy = asyncio.run(beside(service.port, keys, greed, seconds))
            slowest = float(np.quantile(polite.answers, 0.95))
            usual = usual or slowest
            yield (
                f"{name} | {polite.goodput:.1f} | {polite.statuses[503]} | {polite.cut} | "
                f"{1e3 * np.median(polite.answers):.0f} | {1e3 * slowest:.0f} | {slowest / usual:.2f} | "
                f"{greedy.goodput:.0f} | {greedy.statuses[503]:,}",
                polite.faults + greedy.faults + polite.statuses[503],
            )


def key_of(file: Path, name: str) -> str:
    """The secret of a new key in a file of keys."""
    command = [sys.executable, "-m", "app.cli", "keys", "add", str(file), name]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.split()[0]


# --- clients that hold on -----------------------------------------------------------------------------------


REOPENED = 18  # uploads that were ended and begin anew, every half second


class Uploads:
    """Uploads that begin and then trickle, or say nothing; those that are ended begin anew, not all at once."""

    def __init__(self, port: int, number: int, path: str, start: bytes, piece: bytes) -> None:
        head = f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {CSV}\r\nContent-Length: 200000000\r\n"
        self._port, self._piece, self._number = port, piece, number
        self._start = head.encode() + b"\r\n" + start
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.ended = 0

    def __enter__(self) -> "Uploads":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _begin(self) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self._port), 10)
        one.sendall(self._start)
        one.setblocking(False)
        return one

    def _has_ended(self, one: socket.socket) -> bool:
        try:
            return one.recv(4096) is not None
        except BlockingIOError:
            with suppress(OSError):
                one.send(self._piece)
            return False
        except OSError:
            return True

    def _run(self) -> None:
        sockets: list[socket.socket] = []
        while not self._end.is_set():
            missing = self._number - len(sockets)
            for _ in range(min(missing, REOPENED) if sockets else missing):
                with suppress(OSError):
                    sockets.append(self._begin())
            over = {one for one in sockets if self._has_ended(one)}
            self.ended += len(over)
            for one in over:
                one.close()
            sockets = [one for one in sockets if one not in over]
            self._end.wait(0.5)
        for one in sockets:
            one.close()


@table
@judged
def slow(run: Run):
    yield (
        "meanwhile | goodput of 4 clients, 1/s | of that alone | refused (503) | other | reset | given up | "
        "answers p50, ms | p99 | /healthz p50, ms | p99 | uploads that were ended"
    )
    rows, silent, alone = b"score,member\n" + b"0.5,1\n" * 11_000, 200 if run.quick else SILENT, 0.0
    kinds = {
        "nobody": (0, "/v1/counts", b"", b""),
        f"{TRICKLED} trickled uploads to /v1/counts": (TRICKLED, "/v1/counts", rows, b"0.5,1\n"),
        f"{silent:,} silent uploads": (silent, "/v1/advantage", b"", b""),
    }
    for name, (number, path, start, piece) in kinds.items():
        with serving() as service, Uploads(service.port, number, path, start, piece) as uploads:
            if number:
                until(lambda number=number: arrived(service) >= number, 20)
            tally, _ = probed(service, run.seconds, lambda: four(service, run.seconds))
            alone = alone or tally.goodput
            yield (
                f"{name} | {tally.goodput:.0f} | {tally.goodput / alone:.2f} | {tally.statuses[503]} | {tally.cut} | "
                f"{quantiles(tally.answers)} | {quantiles(tally.probes)} | {uploads.ended}",
                tally.faults + (tally.statuses[200] == 0),
            )


def arrived(service: Service) -> float:
    waiting = ("bodies_arriving", "streams_waiting", "workers_busy")
    return sum(service.metric(f"mace_{name}") for name in waiting)


@table
@judged
def log(run: Run):
    """A log that nobody reads: how many were answered, what was dropped."""
    yield "requests | answered | lines dropped | exit status"
    requests = 1000 if run.quick else max(12_000, run.requests // 10)
    reader, writer = os.pipe()
    with serving(writer) as service:
        os.close(writer)
        statuses: Counter[int] = Counter()
        connection = service.connect()
        for _ in range(requests):
            connection.request("GET", "/version", headers={"X-Request-ID": "x" * 64})
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        connection.close()
        dropped = service.metric("mace_log_lines_dropped_total")
        service.process.terminate()
        ended = service.process.wait(60)
    os.close(reader)
    row = f"{requests:,} | {statuses[200]:,} | {dropped:,.0f} | {ended}"
    yield row, requests - statuses[200] + abs(ended)


# --- processes that die -------------------------------------------------------------------------------------


def strike(service: Service, victim: str, number: int, rng: random.Random) -> None:
    """Send a signal to one of the service's own processes, and to no other that has its number by now."""
    found = service.workers() if victim == "worker" else service.fork_servers()
    with suppress(psutil.NoSuchProcess):
        if found:
            rng.choice(found).send_signal(number)


@contextmanager
def asking(service: Service, stop: Stop = None) -> Iterator[Tally]:
    """Four clients beside what is done meanwhile; at its end, or once the event is set, they stop and are counted."""
    stop, tally = stop or threading.Event(), Tally()
    thread = threading.Thread(target=lambda: vars(tally).update(vars(four(service, 3600, stop))))
    thread.start()
    try:
        yield tally
    finally:
        stop.set()
        thread.join()


@contextmanager
def held_to_account(what: str, times: int, rows: list[Row], strict: bool, **settings: str):
    """A service that is asked meanwhile; a row of what came of that, and of what it left."""
    with serving(**settings) as service:
        four(service, 1.0)
        before, workers = settled(service), len(service.workers())
        with asking(service) as tally:
            yield service
        until(lambda: len(service.workers()) == workers == service.metric("mace_workers"), 30)
        after, files = settled(service), service.files()
        service.family()
    until(lambda: not service.left(), 10)
    row = f"{what} | {times} | {tally.statuses[200]:,} | {tally.statuses[503]} | {tally.cut}"
    wrong = tally.faults if strict else tally.reset + tally.late
    wrong += service.left() + files + (after > before)
    rows.append((f"{row} | {service.left()} | {files} | {before}, {after}", wrong))


def settled(service: Service) -> int:
    """Descriptors once no connection is open and every worker is there."""
    counts, end = [-1, -2], time.monotonic() + 10
    while len(set(counts[-4:])) > 1 and time.monotonic() < end:
        counts.append(service.descriptors())
        time.sleep(0.2)
    return counts[-1]


def faults_within(victim: str, number: int, times: int) -> list[Row]:
    """Workers or fork servers that are stopped or killed at random moments of a load."""
    rng, rows = random.Random(0), list[Row]()
    name = f"{signal.Signals(number).name} to a {victim}"
    with held_to_account(name, times, rows, strict=False, time_limit="3") as service:
        for _ in range(times):
            time.sleep(rng.uniform(0.1, 1.0))
            strike(service, victim, number, rng)
        time.sleep(1)
    return rows


def server_stopped(times: int) -> list[Row]:
    """The server itself is stopped and goes on: nobody is lost."""
    rng, rows = random.Random(0), list[Row]()
    with held_to_account("SIGSTOP, SIGCONT to the server", times, rows, strict=True) as service:
        for _, number in product(range(times), (signal.SIGSTOP, signal.SIGCONT)):
            time.sleep(rng.uniform(0.05, 0.5))
            service.process.send_signal(number)
    return rows


def server_killed(times: int) -> list[Row]:
    """The server is killed under load: its processes and files go with it. Whoever was not answered knows."""
    rng, orphans, files, good, cut = random.Random(0), 0, 0, 0, 0
    for _ in range(times):
        stop = threading.Event()
        with serving() as service:
            with asking(service, stop) as tally:
                time.sleep(rng.uniform(0.2, 1.0))
                service.family()
                stop.set()
                service.process.kill()
                service.process.wait()
            until(lambda service=service: not service.left(), 10)
            orphans, files = orphans + service.left(), files + service.files()
            good, cut = good + tally.statuses[200], cut + tally.reset
    row = f"SIGKILL to the server | {times} | {good:,} | 0 | 0 | {cut} | 0 | {orphans} | {files} |"
    return [(row, orphans + files)]


@table
@judged
def faults(run: Run):
    yield (
        "what | times | answered (200) | refused (503) | other | reset | given up | left behind: processes | files | "
        "descriptors before, after"
    )
    signals = run.few(product(("worker", "fork server"), (signal.SIGKILL, signal.SIGSTOP)), 1)
    for victim, number in signals:
        yield from faults_within(victim, number, run.kills)
    for strikes in (server_stopped, server_killed):
        yield from strikes(run.kills)


@table
@judged
def memory(run: Run):
    """Memory, descriptors and processes over many requests of every kind."""
    yield "requests | memory after a tenth of them, MiB | at the end | growth | descriptors | processes"
    requests: int = run.requests
    kinds = [
        ("/v1/advantage", as_json(50), JSON),
        ("/v1/individual-risk", as_json(50), JSON),
        ("/v1/counts", as_json(50), JSON),
        ("/v1/advantage?members=500", as_npy(500), NPY),
        ("/v1/counts?members=5000", as_npy(5000), NPY),
        ("/v1/advantage", b'{"members": [1, 2', JSON),
    ]
    with serving(log_level="error") as service:
        connection, faults, seen = service.connect(), 0, list[tuple[float, int, int]]()
        for number in range(requests):
            if number == requests // 10:
                seen.append((service.memory(), service.descriptors(), len(service.family())))
            path, body, media_type = kinds[number % len(kinds)]
            connection.request("POST", path, body, {"Content-Type": media_type})
            answer = connection.getresponse()
            answer.read()
            faults += answer.status not in ((400,) if body.endswith(b"2") else (200,))
        until(lambda: service.descriptors() <= seen[0][1], 5)
        seen.append((service.memory(), service.descriptors(), len(service.family())))
        connection.close()
    (first, *before), (last, *after) = seen
    growth = last / first - 1 if first else 0.0
    pairs = " | ".join(f"{one}, {other}" for one, other in zip(before, after, strict=True))
    row = f"{requests:,} | {first:.0f} | {last:.0f} | {100 * growth:+.1f} % | {pairs}"
    yield row, faults + (after[0] > before[0]) + (after[1] != before[1])
