"""Workers and their nursery as the server sees them: processes it can hear, and can end at any moment."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from app.workers.channel import Outcome, hear_async, packed_call, tell_async
from app.workers.forkserver import ENDED, REUSING, THREADLESS
from app.workers.uploads import Clock, Pipe, Spool
from macekit.call import Call

Source: TypeAlias = bytes | Spool | Pipe
"""Where a job's body comes from: memory, a finished spool, or an upload under way."""

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.workers.forkserver import main; main({})"


@dataclass(eq=False, slots=True)
class Worker:
    """One worker process, by the server's end of its socket."""

    pid: int
    channel: socket.socket
    gone: bool = False

    async def ask(self, call: Call, source: Source, clock: Clock) -> Outcome:
        """Have one job done. An error other than ``TimeoutError`` means that the worker is lost."""
        if isinstance(source, bytes):
            clock.start()
            await tell_async(self.channel, packed_call(call, source), source, None)
        elif isinstance(source, Spool):
            clock.start()
            await tell_async(self.channel, packed_call(call, b""), b"", source.fd)
            source.hand_over()
        else:
            await tell_async(self.channel, packed_call(call, b""), b"", source.reader)
            source.close_reader()
            source.timed_by(clock)
        return (await hear_async(self.channel)).outcome()

    def end(self) -> None:
        """End the process now, whatever it does."""
        self.channel.close()
        if not self.gone:  # its number may belong to another process by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Nursery:
    """The process that workers come from; started again by the caller that finds it dead."""

    def __init__(self, perform: str, memory_limit: int, ended: Callable[[int, int], None]) -> None:
        self._perform = perform
        self._memory_limit = memory_limit
        self._ended = ended
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def open(self) -> None:
        """Start the process, unless it runs; it takes a moment to import what workers need."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            arguments = f"{theirs.fileno()}, {self._perform!r}, {self._memory_limit}"
            self._process = subprocess.Popen(
                [sys.executable, "-c", START.format(arguments), json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=_environment(),
            )
        self._control = ours
        asyncio.get_running_loop().add_reader(ours, self._hear)

    async def worker(self) -> Worker:
        """Have a worker born; ``OSError`` or ``EOFError`` if none comes to life."""
        self.open()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs:
                socket.send_fds(self._control, [b"w"], [theirs.fileno()])
            pid = (await hear_async(ours)).fields["pid"]
        except BaseException:
            ours.close()
            raise
        assert isinstance(pid, int)
        return Worker(pid, ours)

    def close(self) -> None:
        """End the process; workers end by their own sockets."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _hear(self) -> None:
        """Pass on which workers have ended."""
        assert self._control is not None
        try:
            told = self._control.recv(ENDED.size * 64, socket.MSG_PEEK)
            told = self._control.recv(len(told) // ENDED.size * ENDED.size)
        except OSError:
            told = b""
        if not told:  # the nursery itself has ended; the next to need a worker starts it again
            asyncio.get_running_loop().remove_reader(self._control)
            return
        for pid, status in ENDED.iter_unpack(told):
            self._ended(pid, status)


def _environment() -> dict[str, str]:
    """What workers see of the environment: none of the service's settings, which hold its key."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
    return REUSING | ours | THREADLESS
