"""A worker that a body has taken over: what it can still do to the machine, tried by a real one."""

import asyncio
import os
import socket
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.workers import privileges
from app.workers.pool import Pool
from macekit.call import Call
from tests.app.workers.conftest import Workers
from tests.app.workers.support import WORK, fork_server, settings, settled

pytestmark = pytest.mark.skipif(privileges.landlock_version() == 0, reason="the system has no Landlock")

REFUSED = "PermissionError"


async def attempt(pool: Pool, kind: str, argument: object) -> str:
    """What came of an attempt by a worker."""
    reply = await pool.run(Call("attempted", query=(("kind", kind),)), str(argument).encode())
    return bytes(reply.body).decode()


class Worker:
    """One worker as the service runs it, in a loop of its own."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._pool = Pool(settings(workers=1), WORK)
        runner.run(self._pool.start())
        runner.run(settled(self._pool))

    def attempt(self, kind: str, argument: object) -> str:
        return self._runner.run(asyncio.wait_for(attempt(self._pool, kind, argument), 60))

    def pids(self) -> list[int]:
        return [*self._pool._workers, fork_server(self._pool)]

    def stop(self) -> None:
        self._runner.run(self._pool.stop())


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with asyncio.Runner() as runner:
        made = Worker(runner)
        yield made
        made.stop()


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("a-key-of-sixteen-letters")
    return path


def test_what_it_may_read_is_named_without_a_descriptor_that_stays() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in (Path("/usr"), Path(__file__)):
        privileges._allow(-1, path)

    assert len(os.listdir("/proc/self/fd")) == before


def test_it_cannot_read_the_file_that_holds_the_key(worker: Worker, key_file: Path) -> None:
    assert worker.attempt("read", key_file) == REFUSED
    for pid in (os.getpid(), *worker.pids(), "self"):
        assert worker.attempt("read", f"/proc/{pid}/root{key_file}") == REFUSED
    assert worker.attempt("list", key_file.parent) == REFUSED
    assert worker.attempt("read", "/etc/passwd") == REFUSED


@pytest.mark.slow
def test_one_that_is_not_confined_could(workers: Workers, key_file: Path) -> None:
    for kind, argument in (("read", key_file), ("append", key_file), ("run", "/bin/sh")):
        assert workers.run(attempt(workers.pool, kind, argument)) == "done"


def test_it_cannot_see_what_the_service_was_started_with(worker: Worker) -> None:
    for name in ("environ", "maps", "fd/0"):
        assert worker.attempt("read", f"/proc/{os.getpid()}/{name}") == REFUSED


def test_it_cannot_write_anywhere(worker: Worker, key_file: Path) -> None:
    assert worker.attempt("append", key_file) == REFUSED
    assert worker.attempt("remove", key_file) == REFUSED
    for folder in (key_file.parent, Path(privileges.__file__).parent, "/tmp", "/dev/shm", "/var/tmp"):
        assert worker.attempt("write", f"{folder}/{key_file.parent.name}-new") == REFUSED
    assert key_file.read_text() == "a-key-of-sixteen-letters"


def test_it_cannot_run_a_program(worker: Worker) -> None:
    for program in (sys.executable, "/bin/sh"):
        assert worker.attempt("run", program) == REFUSED


def test_it_reads_what_it_works_with(worker: Worker) -> None:
    for path in (os.__file__, privileges.__file__, "/proc/self/statm"):
        assert worker.attempt("read", path) == "done"
    assert worker.attempt("list", sysconfig.get_path("purelib")) == "done"


@pytest.mark.skipif(privileges.landlock_version() < 4, reason="this Landlock knows no connections")
def test_it_cannot_connect(worker: Worker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert worker.attempt("connect", listening.getsockname()[1]) == REFUSED


@pytest.mark.skipif(privileges.landlock_version() < 6, reason="this Landlock knows no signals")
def test_it_cannot_send_the_service_a_signal(worker: Worker) -> None:
    assert worker.attempt("signal", os.getpid()) == REFUSED
    assert worker.attempt("signal", os.getppid()) == REFUSED
