"""A real service for tests: a process of its own, on a port of its own."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from tests.app.forking import Forked

Process: TypeAlias = subprocess.Popen[bytes] | Forked

PATIENCE = 60.0
SERVE = ("-m", "app.cli", "serve")


@dataclass(frozen=True)
class Answer:
    """One answer as it came over the wire."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Running:
    """A service that listens."""

    process: Process
    port: int
    folder: Path
    """Where its output is."""

    def ask(
        self, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def send(self, *pieces: bytes) -> bytes:
        """Everything that comes back for these bytes, until the server closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            for piece in pieces:
                connection.sendall(piece)
            return b"".join(iter(lambda: connection.recv(65536), b""))

    def probes(self) -> Running:
        """The same service, on the port of its probes."""
        (port,) = until(lambda: re.findall(r'(?:Probes: port|"probe_port":) (\d+)', self.said()))
        return replace(self, port=int(port))

    def logged(self) -> str:
        return (self.folder / "stdout").read_text()

    def said(self) -> str:
        return (self.folder / "stderr").read_text()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextmanager
def running(folder: Path, program: Sequence[str] = SERVE, *, anew: bool = False, **settings: str) -> Iterator[Running]:
    """Start a service with these settings, and end it; `anew` by a process that was not forked."""
    begun = start(folder, program, None, **settings) if anew else Forked(program, environment(settings), folder)
    with begun as process:
        try:
            yield Running(process, port_of(folder, process), folder)
        finally:
            process.kill()


@contextmanager
def ready(folder: Path, program: Sequence[str] = SERVE, *, anew: bool = False, **settings: str) -> Iterator[Running]:
    """A service whose workers are there."""
    with running(folder, program, anew=anew, **settings) as found:
        until(lambda: found.ask("/readyz").status == 200, found.process)
        yield found


def port_of(folder: Path, process: Process) -> int:
    """Where a service says that it listens."""
    said = until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)", (folder / "stderr").read_text()), process)
    return int(said[1])


def start(
    folder: Path, program: Sequence[str] = SERVE, output: int | None = None, **settings: str
) -> subprocess.Popen[bytes]:
    """Start a process with these settings; its output goes to files in the folder."""
    with (folder / "stdout").open("wb") as stdout, (folder / "stderr").open("wb") as stderr:
        return subprocess.Popen(
            [sys.executable, *program], env=environment(settings), stdout=output or stdout, stderr=stderr
        )


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """This one, with no settings of a service but these."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
    told = {"port": "0", "workers": "1", **settings}
    return bare | {f"MACE_{name.upper()}": value for name, value in told.items()}


def children(pid: int) -> list[int]:
    """Processes whose parent has this id, those that only wait to be reaped included."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
    return found


def environment_shown(pid: int) -> bytes:
    """What the system shows of a process's environment: of a service, nothing to who is not root."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        assert os.geteuid() != 0
        return b""


def until(look: Any, process: Process | None = None) -> Any:
    """Look again and again until there is something, as long as the process lives."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := look():
            return found
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the process ended with status {process.returncode}")
        time.sleep(0.01)
    raise AssertionError("it did not happen in time")
