"""Pools for these tests, real ones; and waiting without sleeping for a fixed time."""

import asyncio
import functools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.workers.pool import Pool
from app.workers.processes import Source
from macekit.call import Call, Reply
from macekit.problems import Problem

WORK = "tests.app.workers.work:perform"
PATIENCE = 30.0


def settings(**given: Any) -> Settings:
    return Settings(**{"workers": 2, "queue": 4, **given})


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test in an event loop: that of the shared pool, if it has one."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        shared = fixtures.get("workers")
        (asyncio.run if shared is None else shared.run)(test(**fixtures))

    return run


async def settled(pool: Pool) -> None:
    """Wait until every worker is there and has nothing to do."""
    await until(lambda: pool.snapshot().workers == pool.settings.processes and not pool.snapshot().busy)


@asynccontextmanager
async def running(perform: str = WORK, *, confined: bool = False, **given: Any) -> AsyncIterator[Pool]:
    """A pool; workers that are not confined may write files, by which jobs tell these tests that they have begun."""
    pool = Pool(settings(**given), perform, confined=confined)
    await pool.start()
    try:
        await settled(pool)
        yield pool
    finally:
        await pool.stop()


def fork_server(pool: Pool) -> int:
    """The process of its fork server."""
    assert pool._fork_server._process is not None
    return pool._fork_server._process.pid


async def do(pool: Pool, operation: str, source: Source = b"", client: str = "someone") -> Reply:
    with pool.admission.admit(client):
        return await pool.run(Call(operation), source, client=client)


async def refused(awaited: Awaitable[Any]) -> Problem:
    """The problem that something ends with."""
    with pytest.raises(Problem) as failed:
        await awaited
    return failed.value


async def until(true: Callable[[], Any]) -> None:
    """Wait until something is so; fail if it does not become so."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.005)


async def gone_when_called(waiting: asyncio.Future[Any], task: asyncio.Task[Any]) -> None:
    """Cancel what waits in the very turn of the loop in which its turn has come."""
    while not waiting.done():
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def state_of(pid: int) -> str:
    """The letter by which the system tells how a process is; Z if it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "Z"


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    return state_of(pid) not in "ZX"


async def halt_fork_server(pool: Pool) -> None:
    """Have it do nothing more, once it has done all that it was to do: until then it holds its workers' sockets."""
    await until(lambda: state_of(fork_server(pool)) == "S")
    os.kill(fork_server(pool), signal.SIGSTOP)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


class Gate:
    """Holds jobs (``wait_for``) until it is opened."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "gate"
        self.source = os.fsencode(self.path)

    def call(self) -> Call:
        """A job that reads nothing of its body until it is opened."""
        return Call("gated_checksum", query=(("gate", str(self.path)),))

    def open(self) -> None:
        self.path.touch()

    def began(self) -> list[int]:
        """Processes of the jobs that have begun."""
        return [int(path.name.rpartition(".")[2]) for path in self.path.parent.glob("gate.began.*")]


def request(*chunks: bytes, then: Callable[[], Awaitable[None]] | None = None) -> Callable[[], Awaitable[Any]]:
    """An ASGI ``receive`` that brings these chunks, and after them tells of a disconnect once ``then`` is done."""
    messages = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks) - 1}
        for number, chunk in enumerate(chunks)
    ]

    async def receive() -> Any:
        if messages:
            return messages.pop(0)
        await (then() if then is not None else asyncio.Event().wait())
        return {"type": "http.disconnect"}

    return receive
