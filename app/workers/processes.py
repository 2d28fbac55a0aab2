"""Workers and their fork server as the service sees them: processes that it talks to and can end at any moment."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import msgspec

from app.workers.channel import Outcome, encode_call, receive_async, send_async
from app.workers.forkserver import EXIT, ONE_THREAD, REUSE_MEMORY
from app.workers.uploads import Clock, Pipe, Spool
from macekit.call import Call

log = logging.getLogger(__name__)

Source: TypeAlias = bytes | Spool | Pipe
"""Where a job's body comes from: memory, a finished spool, or an upload under way."""

SPAWN_SECONDS = 30.0  # seconds that a worker may take to be forked, the fork server's own start included

START = """
import gc, json, sys
gc.disable()  # until all is imported, of which nothing is to be freed
sys.path[:] = json.loads(sys.argv[1])
from macekit.own_packages import prefer_own
prefer_own("app")
from app.workers.forkserver import main
main({})
"""


@dataclass(eq=False, slots=True)
class Worker:
    """One worker process, by the server's end of its socket."""

    pid: int
    channel: socket.socket
    given_up: tuple[str, ...] = ()
    """What it can do no more, as far as the system lets it give that up."""
    exited: bool = False
    has_watch: bool = False

    def watch(self, on_end: Callable[[], None]) -> None:
        """While it has nothing to do: learn at once that it has ended, whoever its parent is by then."""
        asyncio.get_running_loop().add_reader(self.channel, on_end)
        self.has_watch = True

    def unwatch(self) -> None:
        """From here on its answer is read."""
        if self.has_watch:
            asyncio.get_running_loop().remove_reader(self.channel)
            self.has_watch = False

    async def run(self, call: Call, source: Source, clock: Clock) -> Outcome:
        """Have one job done. An error other than ``TimeoutError`` means that the worker is lost."""
        if isinstance(source, bytes):
            clock.start()
            await send_async(self.channel, encode_call(call, source), source, None)
        elif isinstance(source, Spool):
            clock.start()
            await send_async(self.channel, encode_call(call, b""), b"", source.fd)
        else:
            await send_async(self.channel, encode_call(call, b""), b"", source.reader)
            source.close_reader()
            source.attach_clock(clock)
        return (await receive_async(self.channel)).outcome()

    def end(self) -> None:
        """End the process now, whatever it does."""
        self.unwatch()
        self.channel.close()
        if not self.exited:  # its number may belong to another process by now
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class Endings:
    """Says when processes have ended, where the system does; elsewhere nothing."""

    def __init__(self) -> None:
        self._descriptors: set[int] = set()

    def watch(self, pid: int, on_end: Callable[[], None]) -> None:
        """Call back once this process has ended, whoever its parent is."""
        try:
            descriptor = os.pidfd_open(pid)
        except (AttributeError, OSError):  # no such function here, or no such process any more
            return

        def end() -> None:
            self._forget(descriptor)
            on_end()

        self._descriptors.add(descriptor)
        asyncio.get_running_loop().add_reader(descriptor, end)

    def close(self) -> None:
        """Call back no more."""
        for descriptor in list(self._descriptors):
            self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        self._descriptors.remove(descriptor)
        os.close(descriptor)


class ForkServer:
    """The process that workers are forked from; when it has ended, the next ``spawn`` starts another.

    Where the server is the first process of a container, the workers of a fork server that was lost become its own
    children: they are reaped when they end.
    """

    def __init__(
        self,
        perform: str,
        memory_limit: int,
        on_exit: Callable[[int, int], None],
        *,
        confined: bool = True,
        data: str | None = None,
    ) -> None:
        self._perform = perform
        self._memory_limit = memory_limit
        self._confined = confined
        self._data = data
        self._on_exit = on_exit
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._workers: set[int] = set()
        """Processes that it has forked and not reported as exited."""
        self._endings = Endings()

    def start(self) -> None:
        """Start the process, unless it runs; it takes a moment to import what workers need."""
        if self._process is not None:
            self._look_after(self._process)
        if self._process is not None:
            return
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        with theirs:
            settings = self._perform, self._memory_limit, self._confined, self._data
            arguments = ", ".join(map(repr, (theirs.fileno(), *settings)))
            self._process = subprocess.Popen(
                [sys.executable, "-c", START.format(arguments), json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env=_environment(),
            )
        self._control = ours
        asyncio.get_running_loop().add_reader(ours, self._read_exits)
        self._endings.watch(self._process.pid, partial(self._look_after, self._process))

    async def spawn(self) -> Worker:
        """Have a worker forked; ``OSError`` or ``EOFError`` if that fails. One that takes too long is ended."""
        self.start()
        assert self._control is not None
        process = self._process
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs:
                socket.send_fds(self._control, [b"w"], [theirs.fileno()])
            async with asyncio.timeout(SPAWN_SECONDS):
                fields = (await receive_async(ours)).fields
        except TimeoutError:
            ours.close()
            if self._process is process:
                log.warning("fork server stuck", extra={"fields": {"seconds": SPAWN_SECONDS}})
                self._end()
            raise
        except BaseException:
            ours.close()
            raise
        worker = Worker(msgspec.convert(fields["pid"], int), ours, msgspec.convert(fields["given_up"], tuple[str, ...]))
        self._workers.add(worker.pid)
        return worker

    def close(self) -> None:
        """End the process for good; workers end by their own sockets."""
        self._end()
        self._endings.close()

    def _look_after(self, process: subprocess.Popen[bytes]) -> None:
        """Reap the process if it has ended."""
        if (status := process.poll()) is not None and process is self._process:
            log.warning("fork server lost", extra={"fields": {"pid": process.pid, "status": status}})
            self._read_exits()
            self._end()

    def _end(self) -> None:
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
        if self._process is not None:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):  # one that the system holds must not hold this one
                self._process.wait(1.0)
            self._process = None
        for pid in self._workers:
            self._endings.watch(pid, partial(self._reap, pid))
        self._workers.clear()

    def _reap(self, pid: int) -> None:
        """Reap a worker whose fork server is gone, and pass on how it exited, if it is this process's child now."""
        with suppress(ChildProcessError):
            child, status = os.waitpid(pid, os.WNOHANG)
            if child:
                self._on_exit(pid, status)

    def _read_exits(self) -> None:
        assert self._control is not None
        try:
            data = self._control.recv(EXIT.size * 64, socket.MSG_PEEK)
            data = self._control.recv(len(data) // EXIT.size * EXIT.size)
        except OSError:
            data = b""
        if not data:  # the fork server itself has ended; the next spawn starts another
            asyncio.get_running_loop().remove_reader(self._control)
            return
        for pid, status in EXIT.iter_unpack(data):
            self._workers.discard(pid)
            self._on_exit(pid, status)


def _environment() -> dict[str, str]:
    """What workers see of the environment: none of the service's settings, which hold its key."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MACE_")}
    return REUSE_MEMORY | variables | ONE_THREAD
