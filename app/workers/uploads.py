"""Bodies that are held while they arrive: written by the server and mapped by a worker, outside of any heap."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType

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


@dataclass(slots=True)
class Budget:
    """Bytes of all bodies held at once, and how many there may be."""

    most: int
    used: int = 0

    def take(self, size: int) -> None:
        """Count bytes that are about to be held."""
        if self.used + size > self.most:
            raise Problem(
                "busy",
                f"the bodies under way would take more than the {self.most} bytes this service holds at once; "
                "try again later, or post counts (POST /v1/counts), which are small",
                retry_after=5,
            )
        self.used += size

    def give(self, size: int) -> None:
        """Count bytes that are held no longer."""
        self.used -= size


class Spool:
    """One body in a nameless file, for one job; the caller that makes it closes it."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.size = 0
        self.fd = anonymous_file()

    def write(self, chunk: bytes | bytearray | memoryview) -> None:
        """Add what has come."""
        self._budget.take(len(chunk))
        self.size += len(chunk)
        write_all(self.fd, memoryview(chunk))

    def hand_over(self) -> None:
        """Let go of the file, now that a worker has it: the last to let go frees its pages, which takes a while."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def close(self) -> None:
        """Let go of the file and of its share of the budget."""
        self.hand_over()
        self._budget.give(self.size)
        self.size = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# --- pipe ---------------------------------------------------------------------------------------------------
# An upload that a worker reads while it arrives: a pipe, and the clock that knows which side it waits for.

HELD = 2**20
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
        """The job is over; who still holds the clock moves nothing."""
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
                fcntl.fcntl(self._writer, fcntl.F_SETPIPE_SZ, HELD)
        self._clock: Clock | None = None
        self._waiting_for_reader = False

    def timed_by(self, clock: Clock) -> None:
        """A worker has the read end now; tell its clock how the upload goes."""
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
                self._wait_for_reader()
                await self._writable()
                self._reader_took()

    def finish(self) -> None:
        """The body has ended."""
        self._close_writer()
        self._wait_for_reader()

    def close_reader(self) -> None:
        """Drop this process's copy of the read end, once the worker has its own."""
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = -1

    def close(self) -> None:
        """Let go of both ends."""
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

    def _wait_for_reader(self) -> None:
        self._waiting_for_reader = True
        if self._clock is not None:
            self._clock.start()

    def _reader_took(self) -> None:
        self._waiting_for_reader = False
        if self._clock is not None:
            self._clock.stop()

    def _close_writer(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def __enter__(self) -> Pipe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
