"""How much memory a worker may take: RLIMIT_DATA, which counts what a process allocates and not what it maps.

Linux counts private writable memory (the heap, NumPy's and Arrow's buffers) and leaves out mapped bodies and shared
libraries. Other systems count less, or nothing: there the limit of the container or of the user must do.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from app.workers.admission import out_of_memory
from app.workers.channel import (
    APART,
    CLOSED_ON_EXEC,
    Message,
    Mistake,
    Outcome,
    hear,
    packed,
    packed_outcome,
    tell,
)
from app.workers.uploads import anonymous_file, write_all
from macekit.call import Body, Call, Reply

PAGE = resource.getpagesize()


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a worker had when it began, what it is granted beyond, and the limit that makes of it."""

    baseline: int
    granted: int
    limit: int

    @classmethod
    def of_now(cls, granted: int) -> Allowance:
        """Limit this process to what it has now and as much again as is granted."""
        baseline = data_bytes()
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = baseline + granted
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        return cls(baseline, granted, soft)

    def lift(self) -> None:
        """Make room for a last message: the process ends after it."""
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))

    def grown(self) -> bool:
        """Whether so much has stayed behind after a job that the next one would feel it.

        What the limit was raised by meanwhile is for what stays for good (``macekit.report.drawing``): not counted.
        """
        room = max(0, resource.getrlimit(resource.RLIMIT_DATA)[0] - self.limit)
        much = self.baseline + self.granted // 4 + room
        return data_bytes() > much and gc.collect() >= 0 and data_bytes() > much


def data_bytes() -> int:
    """Bytes of private writable memory, as RLIMIT_DATA counts them; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[5]) * PAGE
    except OSError:
        return 0


# --- worker -------------------------------------------------------------------------------------------------
# What runs in a worker: one job after another, within limits, until the server is gone.

Perform: TypeAlias = Callable[[Call, Body], Reply]


def serve(channel: socket.socket, perform: Perform, memory_limit: int) -> None:
    """Do every job that comes through the channel; return when the server has closed it."""
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    allowance = Allowance.of_now(memory_limit)
    tell(channel, packed({"pid": os.getpid()}))
    while (message := hear(channel)) is not None and _work(channel, message, perform, allowance):
        pass


def attempt(perform: Perform, call: Call, body: Body) -> Reply | Mistake:
    """Perform a call; an error it should not have raised is told without its message, which may quote the request."""
    try:
        return perform(call, body)
    except MemoryError:
        raise
    except Exception as error:
        return Mistake.of(error)


def _work(channel: socket.socket, message: Message, perform: Perform, allowance: Allowance) -> bool:
    """Do one job; whether the worker is good for another."""
    with message.source() as body:
        outcome = _outcome(perform, message.call(), body, allowance)
    # The body is closed first: an upload that still comes must not wait for a reader it no longer has.
    _answer(channel, outcome)
    return outcome.spent is None


def _outcome(perform: Perform, call: Call, body: Body, allowance: Allowance) -> Outcome:
    try:
        answer = attempt(perform, call, body)
    except MemoryError:
        answer = None
    if answer is None:
        # Apart from the handler: by here the frames that held the memory are gone.
        allowance.lift()
        return Outcome(out_of_memory(allowance.granted).reply(), "memory-limit")
    if isinstance(answer, Reply) and answer.problem == "memory-limit":
        return Outcome(answer, "memory-limit")
    return Outcome(answer, "grown" if allowance.grown() else None)


def _answer(channel: socket.socket, outcome: Outcome) -> None:
    body = outcome.answer.body if isinstance(outcome.answer, Reply) else b""
    if len(body) <= APART:
        tell(channel, packed_outcome(outcome, body), body)
        return
    fd = anonymous_file()
    try:
        write_all(fd, body)
        tell(channel, packed_outcome(outcome, b""), b"", fd)
    finally:
        os.close(fd)


def _end_with(channel: socket.socket) -> None:
    """End this process when the server has closed the channel or died, whatever it is doing."""
    watch = select.poll()
    watch.register(channel, 0)  # hanging up is always told
    watch.poll()
    os._exit(0)


# --- nursery ------------------------------------------------------------------------------------------------
# The process that workers are forked from: it has imported what they need, and runs nothing else.

PRELOADED = ("estimators", "numpy", "pyarrow", "pyarrow.csv", "pyarrow.parquet")
ENDED = struct.Struct("<ii")
"""How the end of a worker is reported: its process id and its wait status."""

THREADLESS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""One thread for each worker: workers are as many as cores already, and a process with threads is not safe to fork.

Arrow's own pool reserves a gigabyte at its first use, so a worker would count as grown after its first table.
"""

REUSING = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
}
"""Memory that a worker has freed it keeps for its next array: fresh pages cost as much as reading the scores does
(glibc's names; other systems pass them over)."""


def loaded(path: str) -> Perform:
    """The function at ``package.module:name``."""
    module, _, name = path.partition(":")
    found: Perform = getattr(import_module(module), name)
    return found


def main(descriptor: int, perform: str, memory_limit: int) -> None:
    """Fork a worker for every socket that comes through the descriptor, until the server closes it."""
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    work = loaded(perform)
    for name in PRELOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # a collection in a worker must not touch, and so copy, every page it shares
    woken, wake = _woken_by_ends()
    while True:
        ready, _, _ = select.select([control.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 512)
            _report(control)
        if control.fileno() in ready:
            _, descriptors, _, _ = socket.recv_fds(control, 1, 1, CLOSED_ON_EXEC)
            if not descriptors:
                return
            if os.fork() == 0:
                _live((control.fileno(), woken, wake), descriptors[0], work, memory_limit)
            os.close(descriptors[0])


def _woken_by_ends() -> tuple[int, int]:
    """A pipe that can be read when a worker has ended: no signal is missed just before a wait begins."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return woken, wake


def _live(parents: tuple[int, ...], descriptor: int, work: Perform, memory_limit: int) -> None:
    """Be a worker, and end without unwinding what belongs to the nursery."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)  # asyncio, from Python 3.12 on, has done so already in a forked child
        for fd in parents:
            os.close(fd)
        serve(socket.socket(fileno=descriptor), work, memory_limit)
        status = 0
    except BrokenPipeError:  # the server is gone
        status = 0
    except BaseException as error:
        sys.stderr.write(f"mace: a worker ended: {Mistake.of(error)}\n")
        sys.stderr.flush()
    finally:
        os._exit(status)


def _report(control: socket.socket) -> None:
    """Tell the server which workers have ended, and how."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        try:
            control.send(ENDED.pack(pid, status))
        except OSError:  # the server is gone; the main loop sees it, too
            return
