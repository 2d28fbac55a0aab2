"""The fork server and its workers: what runs in these processes."""

from __future__ import annotations

import gc
import os
import re
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from app.refusals import out_of_memory
from app.workers.channel import (
    CLOSED_ON_EXEC,
    MOST_INLINE,
    InternalError,
    Message,
    Outcome,
    encode,
    encode_outcome,
    receive,
    send,
)
from app.workers.privileges import MemoryLimit, confine, files_needed, forbid_looks, give_up_rights, refuse_calls
from app.workers.uploads import anonymous_file, write_all
from estimators import MaceError
from estimators.python.dataclass import dataclass, replace
from macekit.call import Body, Call, Reply
from macekit.catalogue import BY_NAME
from macekit.decoding.body import options, table_options
from macekit.operations import answer
from macekit.problems import Problem, fault
from macekit.questions.counts.work import EXPANSION, LARGE
from macekit.schemas.query_string import DATA, of_table
from macekit.sources.reading import read
from macekit.sources.shards import ADDRESS, shards_below

NAMED_FILES = (
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
)
"""Variables that name what a bucket's library reads."""

OF_THE_NETWORK = (
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
    "/run/systemd/resolve",
)


@dataclass(frozen=True, slots=True)
class Datasets:
    """The place below which datasets are named: a folder, or an address in a bucket."""

    place: str

    @property
    def is_remote(self) -> bool:
        """Whether it takes the network to read them."""
        return ADDRESS.fullmatch(self.place) is not None

    @property
    def readable(self) -> list[Path]:
        """What a worker must be able to open for them."""
        if not self.is_remote:
            return [Path(self.place)]
        paths = (os.environ.get(variable) for variable in NAMED_FILES)
        return [*(Path(path) for path in paths if path), *map(Path, OF_THE_NETWORK)]

    def perform(self, perform: Perform, call: Call, body: Body) -> Reply:
        """Answer a call, of the dataset that it names or of its body."""
        names = [value for key, value in call.query if key == DATA]
        if not names:
            return perform(call, body)
        about = replace(call, query=tuple((key, value) for key, value in call.query if key != DATA))
        try:
            if len(names) > 1:
                raise _refused("is given twice; a folder or a pattern stands for several files")
            if body.view():
                raise _refused("names a dataset, and a body came beside it; send one of them")
            return self._answer(perform, about, names[0])
        except (Problem, MaceError) as error:
            problem = Problem.of(error)
            return (_without_address(problem) if self.is_remote else problem).reply(call.request_id)

    def _answer(self, perform: Perform, call: Call, name: str) -> Reply:
        """One file of usual size is a body like any other; several, or a large one, are read in blocks."""
        shards = shards_below(self.place, name)
        if len(shards.shards) == 1:
            with shards.shards[0].open(call) as (file, about):
                expansion = 1 if about.encoding == "identity" else EXPANSION
                if file.size() * expansion <= LARGE:
                    return perform(about, Body.of(file.read()))
        if BY_NAME[call.operation].tables or "group" not in of_table(call.operation) or call.operation == "columns":
            raise _refused(f"names {len(shards.shards)} files or a large one; this question reads one of usual size")
        columns = tuple(table_options(call).items())
        return answer(call, read(shards, call.operation, options(call), columns, textual=True))


def _refused(why: str) -> Problem:
    return fault("bad-option", DATA, why)


def _without_address(problem: Problem) -> Problem:
    """The same without the names of the bucket and of what else is in it, which the service keeps to itself."""
    what, _, reason = problem.detail.partition(": cannot be read: ")
    if not reason:
        return problem
    code = re.search(r"AWS Error ([A-Z_]+)", reason)
    return Problem(problem.kind.slug, f"{what}: cannot be read" + (f": {code[1]}" if code else ""))


# What runs in a worker: one job after another, within limits, until the server is gone.

Perform: TypeAlias = Callable[[Call, Body], Reply]


def serve(channel: socket.socket, perform: Perform, memory_limit: int, given_up: Sequence[str]) -> None:
    """Do every job that comes through the channel; return when the server has closed it."""
    threading.Thread(target=_exit_with_server, args=(channel,), daemon=True).start()
    limit = MemoryLimit.apply(memory_limit)
    send(channel, encode({"pid": os.getpid(), "given_up": given_up}))
    while (message := receive(channel)) is not None and _do_job(channel, message, perform, limit):
        pass


def attempt(perform: Perform, call: Call, body: Body) -> Reply | InternalError:
    """Perform a call; an unexpected exception becomes an ``InternalError``."""
    try:
        return perform(call, body)
    except MemoryError:
        raise
    except Exception as error:
        return InternalError.of(error)


def _do_job(channel: socket.socket, message: Message, perform: Perform, limit: MemoryLimit) -> bool:
    """Do one job; whether the worker is good for another."""
    with message.source() as body:
        outcome = _outcome(perform, message.call(), body, limit)
    # The body is closed first: an upload that still comes must not wait for a reader it no longer has.
    _answer(channel, outcome)
    return outcome.end_reason is None


def _outcome(perform: Perform, call: Call, body: Body, limit: MemoryLimit) -> Outcome:
    try:
        answer = attempt(perform, call, body)
    except MemoryError:
        answer = None
    if answer is None:
        # Apart from the handler: by here the frames that held the memory are gone.
        limit.lift()
        return Outcome(out_of_memory(limit.allowance).reply(), "memory-limit")
    if isinstance(answer, Reply) and answer.problem == "memory-limit":
        return Outcome(answer, "memory-limit")
    return Outcome(answer, "grown" if limit.has_grown() else None)


def _answer(channel: socket.socket, outcome: Outcome) -> None:
    body = outcome.answer.body if isinstance(outcome.answer, Reply) else b""
    if len(body) <= MOST_INLINE:
        send(channel, encode_outcome(outcome, body), body)
        return
    try:
        fd = anonymous_file()
    except OSError:
        fd = -1
    try:
        write_all(fd, body)
    except OSError:  # the system has no room for it: it goes the way of small ones
        send(channel, encode_outcome(outcome, body), body)
    else:
        send(channel, encode_outcome(outcome, b""), b"", fd)
    finally:
        if fd >= 0:
            os.close(fd)


def _exit_with_server(channel: socket.socket) -> None:
    """End this process when the server has closed the channel or died, whatever it is doing."""
    watch = select.poll()
    watch.register(channel, 0)  # a hang-up is always reported
    watch.poll()
    os._exit(0)


# The process that workers are forked from: it has imported what they need, and runs nothing else.

PRELOAD = ("estimators", "numpy", "pyarrow", "pyarrow.csv", "pyarrow.parquet")
EXIT = struct.Struct("<ii")
"""How the fork server reports that a worker has exited: its process id and its wait status."""

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "ARROW_IO_THREADS": "1",
    "JOBLIB_MULTIPROCESSING": "0",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"""One thread for each worker: workers are as many as cores already, and a process with threads is not safe to fork.
Nor does joblib, which scikit-learn imports, try out semaphores, for which it writes a file.

Arrow's own pool reserves a gigabyte at its first use, so a worker would count as grown after its first table.
"""

REUSE_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(32 * 2**20), "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20)}
"""Memory that a worker has freed it keeps for its next array: fresh pages cost as much as reading the scores does
(glibc's names; other systems pass them over)."""


def load_function(path: str) -> Perform:
    """The function at ``package.module:name``."""
    module, _, name = path.partition(":")
    function: Perform = getattr(import_module(module), name)
    return function


def forgetting(perform: Perform) -> Perform:
    """The same, but nothing is kept of a question: whoever asks next could tell by the time that it takes."""

    def perform_and_forget(call: Call, body: Body) -> Reply:
        try:
            return perform(call, body)
        finally:
            if python := sys.modules.get("estimators.python"):
                python.forget()
            if audits := sys.modules.get("estimators.audits.split"):  # a wing, which may not be there
                audits.REMEMBERED.checks.clear()

    return perform_and_forget


def main(descriptor: int, perform: str, memory_limit: int, confined: bool, data: str | None = None) -> None:
    """Fork a worker for every socket that comes through the descriptor, until the server closes it.

    ``data`` is the place below which requests may name datasets.
    """
    datasets = None if data is None else Datasets(data)
    network = datasets is not None and datasets.is_remote
    given_up = give_up_rights(network=network)  # before there are threads, and anything of a stranger's
    forbid_looks()
    control = socket.socket(fileno=descriptor)
    control.set_inheritable(False)
    function = load_function(perform)
    for name in PRELOAD:
        import_module(name)
    if datasets is not None:
        function = partial(datasets.perform, function)
    function = forgetting(function)
    if confined:
        readable = [] if datasets is None else datasets.readable
        given_up += confine([*files_needed(), *readable], network=network)
        given_up += refuse_calls(network=network)
    gc.freeze()  # a collection in a worker must not touch, and so copy, every page it shares
    gc.enable()
    reader, writer = _wakeup_pipe()
    watch = select.poll()  # not select: the number of a descriptor is the server's, and may be large
    watch.register(control, select.POLLIN)
    watch.register(reader, select.POLLIN)
    while True:
        ready = {fd for fd, _ in watch.poll()}
        if reader in ready:
            os.read(reader, 512)
            _report_exits(control)
        if control.fileno() in ready:
            descriptors: list[int] = []
            with suppress(ConnectionResetError):  # the server went without reading which workers have ended
                _, descriptors, _, _ = socket.recv_fds(control, 1, 1, CLOSED_ON_EXEC)
            if not descriptors:
                return
            if os.fork() == 0:
                channel, parents = descriptors[0], (control.fileno(), reader, writer)
                _run_worker(parents, channel, lambda own: serve(own, function, memory_limit, given_up))
            os.close(descriptors[0])


def _wakeup_pipe() -> tuple[int, int]:
    """A pipe that becomes readable when a worker has ended: no signal is missed just before a wait begins."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    return reader, writer


def _run_worker(parents: tuple[int, ...], descriptor: int, work: Callable[[socket.socket], None]) -> None:
    """Run as a worker in the forked process, and exit without unwinding what belongs to the fork server."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)  # asyncio, from Python 3.12 on, has done so already in a forked child
        for fd in parents:
            os.close(fd)
        work(socket.socket(fileno=descriptor))
        status = 0
    except BrokenPipeError:  # the server is gone
        status = 0
    except BaseException as error:
        sys.stderr.write(f"mace: a worker ended: {InternalError.of(error)}\n")
        sys.stderr.flush()
    finally:
        os._exit(status)


def _report_exits(control: socket.socket) -> None:
    """Report to the server which workers have exited, and how."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        try:
            control.send(EXIT.pack(pid, status))
        except OSError:  # the server is gone; the main loop sees it, too
            return
