"""Does the service stay up? More requests than it can answer, slow clients, a log nobody reads, processes that die.

    python -m benchmarks.load                                 # a short run of all, about three minutes
    python -m benchmarks.load --seconds 20 --faults 100 --requests 100000    # the long run, about an hour
    python -m benchmarks.load --only loops,mixed              # some of: loops, mixed, slow, log, faults, memory
    python -m benchmarks.load --apart                         # half of the cores for the service, half for the clients

The service runs in processes of its own, the clients in this one, and a third asks /healthz twenty times a second, on
the service's port and on that of the probes. All share one machine, so the clients take what the service could have:
ratios say more than rates. Capacity is the goodput of eight clients that ask one request after the other. A client that
is told to come back later does so after a tenth of a second, whatever Retry-After says. Processes, memory and
descriptors are those of the service's whole family, as the system tells them to root or to its user.

The exit status is 1 if an answer was neither 200 nor 503, was cut off or never came where it should have, or if a
process, a file or a descriptor stayed.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import math
import os
import random
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.service import Server, as_json, as_npy
from macekit.call import CSV, JSON, NPY

PATIENCE = 30.0
"""Seconds after which a client gives up."""
AGAIN = 0.1
"""Seconds after which a client that was refused asks again."""
CLIENTS = (1, 4, 16, 64, 256)
FACTORS = (0.4, 0.8, 1, 2, 4, 6)
TRICKLED, SILENT = 34, 1024
LARGE = 16
"""One of so many requests of a mixed load is large."""
CORES: set[int] = set()
"""Those of the service; none: all, with the clients."""


# --- the service --------------------------------------------------------------------------------------------


@dataclass
class Service:
    """A service that listens, and its port of probes."""

    process: subprocess.Popen[bytes]
    port: int
    probe_port: int
    folder: Path
    known: set[tuple[int, str]] = field(default_factory=set)
    """Its processes so far, by number and start: workers outlive a fork server that was killed, and are then nobody's
    children; and the number of one that has ended may be somebody else's."""

    @property
    def server(self) -> Server:
        return Server(self.process, self.port)

    def family(self) -> list[int]:
        """The server and all that came of it and have not ended."""
        self.known |= {(pid, start) for pid in self.server.family() if (start := start_of(pid))}
        return [pid for pid, start in sorted(self.known) if start_of(pid) == start]

    def left(self) -> int:
        """How many of its processes so far have not ended."""
        return sum(start_of(pid) == start for pid, start in self.known)

    def fork_server(self) -> int | None:
        return next((pid for pid in self.family() if parent_of(pid) == self.process.pid), None)

    def workers(self) -> list[int]:
        return [pid for pid in self.family() if pid not in (self.process.pid, self.fork_server())]

    def descriptors(self) -> list[int]:
        """Open descriptors of the server, its fork server and its workers; empty if the system does not say."""
        counts = []
        for pid in self.family():
            try:
                counts.append(len(os.listdir(f"/proc/{pid}/fd")))
            except OSError:
                continue
        return counts

    def files(self) -> int:
        """Files that it left in its temporary directory."""
        return sum(1 for _ in (self.folder / "tmp").rglob("*"))

    def ask(self, path: str, port: int | None = None) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def metric(self, name: str) -> float:
        lines = self.ask("/metrics", self.probe_port)[1].decode().splitlines()
        return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name + " ")))


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def start_of(pid: int) -> str:
    """When a process began; empty if it is gone or has ended: one that nobody has waited for yet is no orphan."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serving(output: int = subprocess.DEVNULL, **settings: str) -> Iterator[Service]:
    """A service as processes of its own, ready, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        port, probe_port = free_port(), free_port()
        (Path(folder) / "tmp").mkdir()
        bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
        ours = {"MACE_PORT": str(port), "MACE_PROBE_PORT": str(probe_port), "TMPDIR": f"{folder}/tmp"}
        process = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve"],
            env={**bare, **ours, **{f"MACE_{name.upper()}": value for name, value in settings.items()}},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        if CORES:
            os.sched_setaffinity(process.pid, CORES)
        service = Service(process, port, probe_port, Path(folder))
        try:
            until(lambda: ready(service))
            yield service
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def ready(service: Service) -> bool:
    try:
        return service.ask("/readyz")[0] == 200
    except OSError:
        return False


def until(reached: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it came to that in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if reached():
            return True
        time.sleep(0.02)
    return False


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
    def other(self) -> int:
        return sum(number for status, number in self.statuses.items() if status not in (200, 503))

    @property
    def others(self) -> str:
        """How many other answers there were, and of what kind."""
        return ", ".join(f"{number} {kind}" for kind, number in self.problems.items()) or "0"

    @property
    def faults(self) -> int:
        """What should not be, whatever the load."""
        silent = self.statuses[503] - len(self.retry_after)
        return self.other + self.reset + self.late + self.lost_probes + silent


def request(path: str, body: bytes, media_type: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def small() -> bytes:
    return request("/v1/advantage", as_json(50), JSON)


def medium() -> bytes:
    """Too large for the server itself: a worker answers."""
    return request("/v1/advantage?members=5000", as_npy(5000), NPY)


def large() -> bytes:
    return request("/v1/advantage?members=200000", as_npy(200_000), NPY)


class Client:
    """One connection, which is made anew when it has ended."""

    def __init__(self, port: int, tally: Tally) -> None:
        self._port, self._tally = port, tally
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, sent: bytes) -> int:
        """The status, or 0."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                status = await self._exchange(sent)
        except TimeoutError:
            self._tally.late += 1
            status = 0
        except (OSError, EOFError, ValueError):
            self._tally.reset += 1
            status = 0
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


def mixture(mixed: bool) -> Callable[[int], bytes]:
    """The request of a number."""
    bodies = small(), large()
    return lambda number: bodies[mixed and number % LARGE == LARGE - 1]


async def closed(
    port: int,
    clients: int,
    seconds: float,
    which: Callable[[int], bytes],
    stop: threading.Event | None = None,
) -> Tally:
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


async def opened(port: int, rate: float, seconds: float, which: Callable[[int], bytes]) -> Tally:
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
    """p50 and p99, milliseconds."""
    if not durations:
        return "- | -"
    ordered = sorted(durations)
    return (
        f"{1e3 * statistics.median(ordered):.0f} | {1e3 * ordered[math.ceil(0.99 * (len(ordered) - 1))]:.0f}"
    )


# --- more than it can answer --------------------------------------------------------------------------------

LOOPS = (
    "| load | goodput, 1/s | of that at 1x | refused (503) | Retry-After, s | other | reset | given up "
    "| answers p50, ms | p99 | /healthz p50, ms | p99 | on its own port p50 | p99 |\n" + "|---" * 14 + "|"
)


Rows = Iterator[tuple[str, int]]
"""Rows of a table, each with how much of it was wrong."""


def loops(seconds: float, mixed: bool, clients: tuple[int, ...], factors: tuple[float, ...]) -> Rows:
    """Closed and open loops."""
    which = mixture(mixed)
    with serving() as service:
        asyncio.run(closed(service.port, 8, min(2.0, seconds), which))
        capacity = asyncio.run(closed(service.port, 8, seconds, which)).goodput
        loads: list[tuple[str, Callable[[], Tally]]] = []
        for number in clients:
            name = f"closed, {number} client{'s' * (number > 1)}"
            loads.append(
                (name, lambda number=number: asyncio.run(closed(service.port, number, seconds, which)))
            )  # type: ignore[misc]
        for factor in factors:
            rate = factor * capacity
            name = f"open, {factor:g}x: {rate:.0f}/s"
            loads.append((name, lambda rate=rate: asyncio.run(opened(service.port, rate, seconds, which))))  # type: ignore[misc]
        for name, run in loads:
            tally, apart = probed(service, seconds, run)
            waits = f"{min(tally.retry_after)} to {max(tally.retry_after)}" if tally.retry_after else "-"
            yield (
                f"| {name} | {tally.goodput:.0f} | {tally.goodput / capacity:.2f} | {tally.statuses[503]:,} | {waits} "
                f"| {tally.others} | {tally.reset} | {tally.late} | {quantiles(tally.answers)} "
                f"| {quantiles(tally.probes)} | {quantiles(apart)} |",
                tally.faults,
            )


# --- clients that hold on -----------------------------------------------------------------------------------


REOPENED = 18
"""Uploads that were ended and begin anew, every half second."""


class Uploads:
    """Uploads that begin and then trickle, or say nothing; those that are ended begin anew, not all at once."""

    def __init__(self, port: int, number: int, path: str, start: bytes, piece: bytes) -> None:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Type: {CSV}\r\nContent-Length: 200000000\r\n\r\n"
        )
        self._port, self._start, self._piece = port, head.encode() + start, piece
        self._number = number
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.ended = 0

    def __enter__(self) -> Uploads:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        sockets: list[socket.socket] = []
        while not self._end.is_set():
            missing = self._number - len(sockets)
            for _ in range(min(missing, REOPENED) if sockets else missing):
                with suppress(OSError):
                    one = socket.create_connection(("127.0.0.1", self._port), 10)
                    one.sendall(self._start)
                    one.setblocking(False)
                    sockets.append(one)
            remaining = []
            for one in sockets:
                try:
                    ended = one.recv(4096) is not None
                except BlockingIOError:
                    ended = False
                except OSError:
                    ended = True
                with suppress(OSError):
                    one.send(self._piece) if self._piece and not ended else None
                self.ended += ended
                remaining += [] if ended else [one]
                if ended:
                    one.close()
            sockets = remaining
            self._end.wait(0.5)
        for one in sockets:
            one.close()


SLOW = (
    "| meanwhile | goodput of 4 clients, 1/s | of that alone | refused (503) | other | reset | given up "
    "| answers p50, ms | p99 | /healthz p50, ms | p99 | uploads that were ended |\n" + "|---" * 12 + "|"
)


def holding(seconds: float, trickled: int = TRICKLED, silent: int = SILENT) -> Rows:
    """Others while uploads trickle or are silent."""
    rows = b"score,member\n" + b"0.5,1\n" * 11_000
    kinds = {
        "nobody": (0, "/v1/counts", b"", b""),
        f"{trickled} trickled uploads to /v1/counts": (trickled, "/v1/counts", rows, b"0.5,1\n"),
        f"{silent:,} silent uploads": (silent, "/v1/advantage", b"", b""),
    }
    bodies = small(), medium()
    alone = 0.0
    for name, (number, path, start, piece) in kinds.items():
        with serving() as service, Uploads(service.port, number, path, start, piece) as uploads:
            if number:
                until(lambda number=number: arrived(service) >= number, 20)  # type: ignore[misc]
            tally, _ = probed(
                service,
                seconds,
                lambda: asyncio.run(closed(service.port, 4, seconds, lambda n: bodies[n % 2])),
            )
            alone = alone or tally.goodput
            yield (
                f"| {name} | {tally.goodput:.0f} | {tally.goodput / alone:.2f} | {tally.statuses[503]} "
                f"| {tally.others} | {tally.reset} | {tally.late} | {quantiles(tally.answers)} "
                f"| {quantiles(tally.probes)} "
                f"| {uploads.ended} |",
                tally.faults + (tally.statuses[200] == 0),
            )


def arrived(service: Service) -> float:
    return sum(
        service.metric(f"mace_{name}") for name in ("bodies_arriving", "streams_waiting", "workers_busy")
    )


def unread(requests: int) -> tuple[str, int]:
    """A log that nobody reads: how many were answered, what was dropped."""
    reader, writer = os.pipe()
    with serving(writer) as service:
        os.close(writer)
        statuses: Counter[int] = Counter()
        connection = service.server.connect()
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
    row = f"{statuses[200]:,} of {requests:,} requests answered, {dropped:,.0f} lines dropped, exit status {ended}"
    return row, requests - statuses[200] + abs(ended)


# --- processes that die -------------------------------------------------------------------------------------

FAULTS = (
    "| what | times | answered (200) | refused (503) | other | reset | given up | left behind: processes | files "
    "| descriptors before, after |\n" + "|---" * 10 + "|"
)


def strike(service: Service, victim: str, number: int, rng: random.Random) -> None:
    """Send a signal to one of the service's own processes, and to no other that has its number by now."""
    pids = {"worker": service.workers, "fork server": lambda: [service.fork_server() or 0]}[victim]()
    if not pids or not all(pids):
        return
    pid = rng.choice(pids)
    with suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if pid in service.family():
                signal.pidfd_send_signal(descriptor, signal.Signals(number))
        finally:
            os.close(descriptor)


@dataclass
class Clients:
    """Four clients that ask until they are told to stop, and what became of their requests."""

    port: int
    bodies: tuple[bytes, bytes]
    tally: Tally = field(default_factory=Tally)

    @contextmanager
    def asking(self) -> Iterator[threading.Event]:
        """A load beside what is done meanwhile; at its end, or once the event is set, it stops and is counted."""
        stop = threading.Event()
        thread = threading.Thread(target=lambda: self._ask(stop))
        thread.start()
        try:
            yield stop
        finally:
            stop.set()
            thread.join()

    def _ask(self, stop: threading.Event) -> None:
        self.tally = asyncio.run(closed(self.port, 4, 3600, lambda n: self.bodies[n % 2], stop))


def faults_within(victim: str, number: int, times: int, seed: int = 0) -> tuple[str, int]:
    """Workers or fork servers that are stopped or killed at random moments of a load: a row, and what was wrong."""
    rng, bodies = random.Random(seed), (small(), medium())
    with serving(time_limit="3") as service:
        asyncio.run(closed(service.port, 4, 1.0, lambda n: bodies[n % 2]))
        before, workers = settled(service), len(service.workers())
        clients = Clients(service.port, bodies)
        with clients.asking():
            for _ in range(times):
                time.sleep(rng.uniform(0.1, 1.0))
                strike(service, victim, number, rng)
            time.sleep(1)
        until(lambda: len(service.workers()) == workers == service.metric("mace_workers"), 30)
        after = settled(service)
        files = service.files()
        service.family()
    until(lambda: not service.left(), 10)
    orphans, tally = service.left(), clients.tally
    row = (
        f"| {signal.Signals(number).name} to a {victim} | {times} | {tally.statuses[200]:,} | {tally.statuses[503]} "
        f"| {tally.others} | {tally.reset} | {tally.late} | {orphans} | {files} | {before}, {after} |"
    )
    return row, tally.reset + tally.late + orphans + files + (after > before)


def settled(service: Service) -> int:
    """Descriptors once no connection is open and every worker is there."""
    counts = [-1, -2]
    end = time.monotonic() + 10
    while len(set(counts[-4:])) > 1 and time.monotonic() < end:
        counts.append(sum(service.descriptors()))
        time.sleep(0.2)
    return counts[-1]


def server_stopped(times: int, seed: int = 0) -> tuple[str, int]:
    """The server itself is stopped and goes on: nobody is lost."""
    rng, bodies = random.Random(seed), (small(), medium())
    with serving() as service:
        asyncio.run(closed(service.port, 4, 1.0, lambda n: bodies[n % 2]))
        before, clients = settled(service), Clients(service.port, bodies)
        with clients.asking():
            for _ in range(times):
                time.sleep(rng.uniform(0.05, 0.5))
                service.process.send_signal(signal.SIGSTOP)
                time.sleep(rng.uniform(0.05, 0.5))
                service.process.send_signal(signal.SIGCONT)
        after, files = settled(service), service.files()
        service.family()
    until(lambda: not service.left(), 10)
    orphans, tally = service.left(), clients.tally
    row = (
        f"| SIGSTOP, SIGCONT to the server | {times} | {tally.statuses[200]:,} | {tally.statuses[503]} "
        f"| {tally.others} | {tally.reset} | {tally.late} | {orphans} | {files} | {before}, {after} |"
    )
    return row, tally.faults + orphans + files + (after > before)


def server_killed(times: int, seed: int = 0) -> tuple[str, int]:
    """The server is killed under load: its processes and files go with it. Whoever was not answered knows."""
    rng, bodies = random.Random(seed), (small(), medium())
    orphans = files = good = cut = 0
    for _ in range(times):
        with serving() as service:
            clients = Clients(service.port, bodies)
            with clients.asking() as stop:
                time.sleep(rng.uniform(0.2, 1.0))
                service.family()
                stop.set()
                service.process.kill()
                service.process.wait()
            until(lambda service=service: not service.left(), 10)  # type: ignore[misc]
            orphans += service.left()
            files += service.files()
            good, cut = good + clients.tally.statuses[200], cut + clients.tally.reset
    row = f"| SIGKILL to the server | {times} | {good:,} | 0 | 0 | {cut} | 0 | {orphans} | {files} | |"
    return row, orphans + files


# --- many requests ------------------------------------------------------------------------------------------

MEMORY = (
    "| requests | memory after a tenth of them, MiB | at the end | growth | descriptors | processes |\n"
    + "|---" * 6
    + "|"
)


def soak(requests: int) -> tuple[str, int]:
    """Memory, descriptors and processes over many requests of every kind."""
    kinds = [
        ("/v1/advantage", as_json(50), JSON),
        ("/v1/individual-risk", as_json(50), JSON),
        ("/v1/counts", as_json(50), JSON),
        ("/v1/advantage?members=500", as_npy(500), NPY),
        ("/v1/counts?members=5000", as_npy(5000), NPY),
        ("/v1/advantage", b'{"members": [1, 2', JSON),
    ]
    with serving(log_level="error") as service:
        connection, faults = service.server.connect(), 0
        sizes, counts, processes = list[float](), list[int](), list[int]()
        for number in range(requests):
            if number == requests // 10:
                sizes.append(service.server.memory("Pss"))
                counts.append(sum(service.descriptors()))
                processes.append(len(service.family()))
            path, body, media_type = kinds[number % len(kinds)]
            connection.request("POST", path, body, {"Content-Type": media_type})
            answer = connection.getresponse()
            answer.read()
            faults += answer.status not in ((400,) if body.endswith(b"2") else (200,))
        sizes.append(service.server.memory("Pss"))
        until(lambda: sum(service.descriptors()) <= counts[0], 5)
        counts.append(sum(service.descriptors()))
        processes.append(len(service.family()))
        connection.close()
    growth = sizes[1] / sizes[0] - 1 if sizes[0] else 0.0
    row = (
        f"| {requests:,} | {sizes[0]:.0f} | {sizes[1]:.0f} | {100 * growth:+.1f} % | {counts[0]}, {counts[1]} "
        f"| {processes[0]}, {processes[1]} |"
    )
    return row, faults + (counts[1] > counts[0]) + (processes[1] != processes[0])


# --- all of it ----------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=4.0, help="of each load")
    parser.add_argument("--faults", type=int, default=5, help="how often each process is stopped and killed")
    parser.add_argument("--requests", type=int, default=3000, help="over which memory is watched")
    parser.add_argument("--only", default="loops,mixed,slow,log,faults,memory")
    parser.add_argument("--apart", action="store_true", help="service and clients on cores of their own")
    arguments = parser.parse_args()
    if arguments.apart:
        cores = sorted(os.sched_getaffinity(0))
        CORES.update(cores[: max(len(cores) // 2, 1)])
        os.sched_setaffinity(0, set(cores) - CORES or CORES)
    parts, wrong = arguments.only.split(","), 0
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 8192)), hard))

    def show(row: str, faults: int) -> None:
        nonlocal wrong
        wrong += faults
        print(row, flush=True)

    for part, title in (("loops", "Small JSON"), ("mixed", f"Small JSON, and one of {LARGE} a large body")):
        if part in parts:
            print(f"\n{title}:\n\n{LOOPS}", flush=True)
            for row, faults in loops(arguments.seconds, part == "mixed", CLIENTS, FACTORS):
                show(row, faults)
    if "slow" in parts:
        print(f"\n{SLOW}", flush=True)
        for row, faults in holding(arguments.seconds):
            show(row, faults)
    if "log" in parts:
        row, faults = unread(max(12_000, arguments.requests // 10))
        show(f"\nA log that nobody reads: {row}.", faults)
    if "faults" in parts:
        print(f"\n{FAULTS}", flush=True)
        for victim in ("worker", "fork server"):
            for number in (signal.SIGKILL, signal.SIGSTOP):
                show(*faults_within(victim, number, arguments.faults))
        show(*server_stopped(arguments.faults))
        show(*server_killed(arguments.faults))
    if "memory" in parts:
        print(f"\n{MEMORY}", flush=True)
        show(*soak(arguments.requests))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
