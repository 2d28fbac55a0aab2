"""A service as processes of its own, and what the system says of them: for `load`, `service` and `scale`."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 30.0
"""Seconds after which a client gives up."""
CORES: set[int] = set()
"""Those of the service; none: all, with the clients."""


def status_of(pid: int) -> list[str]:
    """The fields of a process from its state on; none if it is gone or has ended and nobody has waited for it yet."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
    return [] if fields[0] == "Z" else fields


def parent_of(pid: int) -> int:
    """Which process began it."""
    return int((status_of(pid) or ["", "0"])[1])


def start_of(pid: int) -> str:
    """When a process began; empty if it has ended."""
    fields = status_of(pid)
    return fields[19] if fields else ""


def family_of(pid: int) -> list[int]:
    """A process and all that descend from it."""
    parents = {int(path.name): parent_of(int(path.name)) for path in Path("/proc").glob("[0-9]*")}
    family = [pid]
    for each in family:
        family += [child for child, parent in parents.items() if parent == each]
    return family


def kibibytes(pid: int, file: str, *names: str) -> int:
    """What a file of the process says, of these lines."""
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return 0
    return sum(
        int(kib) for kib in re.findall(rf"^(?:{'|'.join(names)}):\s+(\d+) kB", text, flags=re.MULTILINE)
    )


def until(reached: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it came to that in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if reached():
            return True
        time.sleep(0.02)
    return False


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

    def family(self) -> list[int]:
        """The server and all that came of it and have not ended."""
        self.known |= {(pid, start) for pid in family_of(self.process.pid) if (start := start_of(pid))}
        return [pid for pid, start in sorted(self.known) if start_of(pid) == start]

    def left(self) -> int:
        """How many of its processes so far have not ended."""
        return sum(start_of(pid) == start for pid, start in self.known)

    def fork_server(self) -> int | None:
        """The process that workers come of."""
        return next((pid for pid in self.family() if parent_of(pid) == self.process.pid), None)

    def workers(self) -> list[int]:
        """Those that answer."""
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

    def memory(self) -> float:
        """MiB of all its processes, shared pages counted once."""
        return sum(kibibytes(pid, "smaps_rollup", "Pss") for pid in family_of(self.process.pid)) / 1024

    def files(self) -> int:
        """Files that it left in its temporary directory."""
        return sum(1 for _ in (self.folder / "tmp").rglob("*"))

    def connect(self, port: int | None = None, patience: float = 300) -> http.client.HTTPConnection:
        """A connection that sends at once."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=patience)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, path: str, port: int | None = None) -> tuple[int, bytes]:
        """One answer on a connection of its own."""
        connection = self.connect(port, PATIENCE)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def answers(self, path: str) -> bool:
        """Whether it does."""
        try:
            return self.ask(path)[0] == 200
        except OSError:
            return False

    def metric(self, name: str) -> float:
        """The number of a metric."""
        lines = self.ask("/metrics", self.probe_port)[1].decode().splitlines()
        return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name + " ")))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(
    output: int = subprocess.DEVNULL, command: tuple[str, ...] = ("app.cli", "serve"), **settings: str
) -> Iterator[Service]:
    """A service as processes of its own, ready, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        port, probe_port = free_port(), free_port()
        (Path(folder) / "tmp").mkdir()
        bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
        ours = {"MACE_PORT": str(port), "MACE_PROBE_PORT": str(probe_port), "TMPDIR": f"{folder}/tmp"}
        process = subprocess.Popen(
            [sys.executable, "-m", *(word.replace("PORT", str(port)) for word in command)],
            env={**bare, **ours, **{f"MACE_{name.upper()}": value for name, value in settings.items()}},
            stdout=output,
            stderr=subprocess.DEVNULL,
        )
        if CORES:
            os.sched_setaffinity(process.pid, CORES)
        service = Service(process, port, probe_port, Path(folder))
        try:
            if not until(
                lambda: service.answers("/readyz" if command[0] == "app.cli" else "/openapi.json"), 180
            ):
                raise TimeoutError(f"{' '.join(command)} was not ready within three minutes")
            yield service
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
