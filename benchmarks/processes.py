"""A service as processes of its own, and what the system says of them: for `load`, `service` and `scale`."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

PATIENCE = 30.0
"""Seconds after which a client gives up."""
CORES: set[int] = set()
"""Those of the service; none: all, with the clients."""


def family_of(pid: int) -> list[psutil.Process]:
    """A process and all that descend from it and have not ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [each for each in (process, *process.children(recursive=True)) if lives(each)]
    return []


def lives(process: psutil.Process) -> bool:
    """Whether it has not ended; its number may be another's by now."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def kibibytes(pid: int, file: str, *names: str) -> int:
    """What a file of the process says, of these lines."""
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return 0
    return sum(map(int, re.findall(rf"^(?:{'|'.join(names)}):\s+(\d+) kB", text, flags=re.MULTILINE)))


def until(reached: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it came to that in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if reached():
            return True
        time.sleep(0.02)
    return False


@contextmanager
def watched(measure: Callable[[], float], pause: float = 0.0) -> Iterator[list[float]]:
    """The largest of what is measured again and again meanwhile, and the seconds of CPU that measuring it took."""
    seen, done = [0.0, 0.0], threading.Event()

    def watch() -> None:
        while not done.wait(pause):
            seen[:] = max(seen[0], measure()), time.thread_time()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


@dataclass
class Service:
    """A service that listens, and its port of probes."""

    process: subprocess.Popen[bytes]
    port: int
    probe_port: int
    folder: Path
    known: set[psutil.Process] = field(default_factory=set)
    """Its processes so far: workers outlive a fork server that was killed, and are then nobody's children."""

    def family(self) -> list[psutil.Process]:
        """The server and all that came of it and have not ended."""
        self.known.update(family_of(self.process.pid))
        return [each for each in self.known if lives(each)]

    def left(self) -> int:
        """How many of its processes so far have not ended."""
        return sum(map(lives, self.known))

    def fork_servers(self) -> list[psutil.Process]:
        """The process that workers come of, if it is there."""
        return psutil.Process(self.process.pid).children()

    def workers(self) -> list[psutil.Process]:
        """Those that answer."""
        others = {self.process.pid, *(each.pid for each in self.fork_servers())}
        return [each for each in self.family() if each.pid not in others]

    def descriptors(self) -> int:
        """Open descriptors of the server, its fork server and its workers, as far as the system says."""
        total = 0
        for each in self.family():
            with suppress(psutil.Error):
                total += each.num_fds()
        return total

    def memory(self) -> float:
        """MiB of all its processes, shared pages counted once."""
        return sum(kibibytes(each.pid, "smaps_rollup", "Pss") for each in family_of(self.process.pid)) / 1024

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
        with closing(self.connect(port, PATIENCE)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def answers(self, path: str) -> bool:
        with suppress(OSError):
            return self.ask(path)[0] == 200
        return False

    def metric(self, name: str) -> float:
        lines = self.ask("/metrics", self.probe_port)[1].decode().splitlines()
        return float(next(line.rpartition(" ")[2] for line in lines if line.startswith(name + " ")))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(
    output: int = subprocess.DEVNULL,
    command: tuple[str, ...] = ("app.cli", "serve"),
    tree: Path | None = None,
    **settings: str,
) -> Iterator[Service]:
    """A service as processes of its own, ready, until the block ends; that of another tree if one is given."""
    with tempfile.TemporaryDirectory() as folder:
        port, probe_port = free_port(), free_port()
        (Path(folder) / "tmp").mkdir()
        bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
        ours = {"MACE_PORT": str(port), "MACE_PROBE_PORT": str(probe_port), "TMPDIR": f"{folder}/tmp"}
        ours |= {f"MACE_{name.upper()}": value for name, value in settings.items()}
        words = [sys.executable, "-m", *(word.replace("PORT", str(port)) for word in command)]
        quiet = {"stdout": output, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(words, env=bare | ours, cwd=tree, **quiet)
        if CORES:
            os.sched_setaffinity(process.pid, CORES)
        service = Service(process, port, probe_port, Path(folder))
        try:
            path = "/readyz" if command[0] == "app.cli" else "/openapi.json"
            if not until(lambda: service.answers(path), 180):
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
