"""The process that workers are forked from: it has imported what they need, and runs nothing else.

A fork of it takes milliseconds and shares its memory. It has one thread, no listening socket and a session of its own,
so what a terminal or a supervisor sends to the server's group does not reach workers: the server decides when they end.
When the server is gone, so is the other end of its socket, and it ends.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import struct
import sys
from importlib import import_module

from app.jobs.wire import CLOSED_ON_EXEC, Mistake
from app.jobs.worker import Perform, serve

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
