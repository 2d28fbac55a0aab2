"""Bodies on their way to a worker: spooled in a nameless file until they are whole, or piped while they arrive."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from app.refusals import busy
from app.workers.shares import Shares
from macekit.problems import Problem


def anonymous_file() -> int:
    """A new file without a name, in memory where the system can (elsewhere in the temporary directory)."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("mace", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write everything; one call may take less than it is given."""
    rest = memoryview(data).cast("B")
    while rest:
        rest = rest[os.write(fd, rest) :]


SMALL = 2**20  # bytes up to which a body may take the last eighth of what all bodies may


MOST_KEPT = 1000  # answers that are kept at once for whoever fetches them later
MOST_EXPECTED = 10_000  # clients and operations of which it is known how large answers were


@dataclass(slots=True)
class Budget:
    """Bytes of all bodies and large answers held at once, and how many there may be.

    Answers that are kept for later take a half of it at most, and give way to whatever is under way.
    """

    most: int
    in_use: int = 0
    _kept_answers: Shares[Callable[[], None]] = field(default_factory=Shares)
    _per_byte: dict[tuple[str, str], float] = field(default_factory=dict)
    """How large an answer was for each byte of its question, of those that were large."""

    def has_room(self, size: int, total: int = 0) -> bool:
        """Whether so much more may be held of a body that comes to this total; what is kept goes for it."""
        room = (self.most if total <= SMALL else self.most - self.most // 8) - size
        if self.in_use > room and self.in_use - self._kept_answers.size > room:
            return False
        while self.in_use > room and (let_go := self._kept_answers.oldest_of_largest(by_size=True)) is not None:
            let_go()
        return self.in_use <= room

    def reserve(self, size: int, total: int = 0) -> None:
        """Count bytes that are about to be held."""
        if not self.has_room(size, total):
            raise busy(
                f"bodies and answers under way would take more than the {self.most} bytes this service holds at once; "
                "try again later, or post counts (POST /v1/counts), which are small"
            )
        self.in_use += size

    def free(self, size: int) -> None:
        """Count bytes that are held no longer."""
        self.in_use -= size

    @contextmanager
    def room(self, size: int) -> Iterator[None]:
        """Hold room for an answer of this size while it is worked on."""
        self.reserve(size, size)
        try:
            yield
        finally:
            self.free(size)

    def expected(self, client: str, operation: str, question: int) -> int:
        """How large an answer will be, by how large this client's last one was for each byte of its question."""
        return min(int(self._per_byte.get((client, operation), 0.0) * question), self.most // 2)

    def expect_next(self, client: str, operation: str, question: int, size: int) -> None:
        """Note how large an answer was; small ones are not expected."""
        self._per_byte.pop((client, operation), None)
        if size > SMALL:
            self._per_byte[client, operation] = size / max(question, 1)
            if len(self._per_byte) > MOST_EXPECTED:
                del self._per_byte[next(iter(self._per_byte))]

    def keep(self, client: str, size: int, let_go: Callable[[], None]) -> bool:
        """Keep an answer until room is needed, at the cost of whoever keeps most; false if it is too large for that."""
        if size > self.most // 2:
            return False
        while len(self._kept_answers) >= MOST_KEPT and (oldest := self._kept_answers.oldest_of_largest(by_size=False)):
            oldest()
        while self._kept_answers.size + size > self.most // 2 and (
            oldest := self._kept_answers.oldest_of_largest(by_size=True)
        ):
            oldest()
        self._kept_answers.add(client, let_go, size)
        return True

    def let_go(self, let_go: Callable[[], None]) -> None:
        """Keep it no longer."""
        self._kept_answers.discard(let_go)


def _no_room() -> Problem:
    return busy("the system has no room for the body; try again later, or send less")


def _close(fd: int, size: int) -> None:
    """Close a file; whoever closes it last frees its pages: a thread, if they are many, because that takes a while."""
    try:
        loop = asyncio.get_running_loop() if size > SMALL else None
    except RuntimeError:
        loop = None
    if loop is None:
        os.close(fd)
    else:
        loop.run_in_executor(None, os.close, fd)


class Spool:
    """One body in a nameless file, for one job; the caller that makes it closes it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0
        try:
            self.fd = anonymous_file()
        except OSError:
            raise _no_room() from None

    def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Add what has come."""
        self._budget.reserve(len(chunk), self.size + len(chunk))
        self.size += len(chunk)
        try:
            write_all(self.fd, memoryview(chunk))
        except OSError:
            raise _no_room() from None

    def has_room(self, size: int) -> bool:
        """Whether so much more may be added."""
        return self._budget.has_room(size, self.size + size)

    def close(self) -> None:
        """Close the file and free its share of the budget."""
        if self.fd >= 0:
            _close(self.fd, self.size)
            self.fd = -1
        self._budget.free(self.size)
        self.size = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


PIPE_SIZE = 2**20
"""Bytes a pipe is asked to hold: enough that neither side waits for the other at every chunk."""


class Clock:
    """The time limit of one job: it runs while the server waits for the worker, and stands while it does not."""

    def __init__(self, timeout: asyncio.Timeout, limit: float) -> None:
        self._timeout: asyncio.Timeout | None = timeout
        self._limit = limit

    def start(self) -> None:
        """From here on it is the worker that is waited for."""
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._limit)

    def stop(self) -> None:
        """The worker has done what it could; it waits for the upload."""
        if self._timeout is not None and not self._timeout.expired():
            self._timeout.reschedule(None)

    def end(self) -> None:
        """The job is over; from now on the clock has no effect."""
        self._timeout = None


class Pipe:
    """The write side of a streamed body; writing waits, never the event loop.

    The clock of the job runs while the pipe is full and once the body has ended: a slow upload costs the worker none
    of its time, and a worker that no longer reads is noticed.
    """

    def __init__(self) -> None:
        self.reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            with suppress(PermissionError):  # past the user's share of pipe memory: the usual size must do
                fcntl.fcntl(self._writer, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._clock: Clock | None = None
        self._waiting_for_reader = False

    def attach_clock(self, clock: Clock) -> None:
        """Have the job's clock run while this pipe waits for the worker, which has the read end now."""
        self._clock = clock
        if self._waiting_for_reader:
            clock.start()

    async def write(self, chunk: bytes | memoryview) -> None:
        """Pass on what has come; ``BrokenPipeError`` if the worker reads no more."""
        rest = memoryview(chunk)
        while rest:
            try:
                rest = rest[os.write(self._writer, rest) :]
            except BlockingIOError:
                self._start_waiting()
                await self._writable()
                self._stop_waiting()

    def finish(self) -> None:
        """The body has ended."""
        self._close_writer()
        self._start_waiting()

    def close_reader(self) -> None:
        """Drop this process's copy of the read end, once the worker has its own."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def close(self) -> None:
        """Close both ends."""
        self.close_reader()
        self._close_writer()

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        ready = asyncio.Event()
        loop.add_writer(self._writer, ready.set)
        try:
            await ready.wait()
        finally:
            loop.remove_writer(self._writer)

    def _start_waiting(self) -> None:
        self._waiting_for_reader = True
        if self._clock is not None:
            self._clock.start()

    def _stop_waiting(self) -> None:
        self._waiting_for_reader = False
        if self._clock is not None:
            self._clock.stop()

    def _close_writer(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
