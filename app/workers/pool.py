"""The pool of worker processes: which requests wait for one, which have one, and when one is ended and why.

Every job has a process of its own while it lasts, so a limit can always be enforced: the process is killed and
another forked in its place. What is killed fails one request, never the service.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from weakref import finalize

from app.refusals import busy, internal_error, not_ready, out_of_memory, shutting_down, too_long, worker_lost
from app.settings import Settings
from app.workers.admission import IN_LINE, Admission, InLine, Refusals, Streams, Turns
from app.workers.channel import InternalError, Outcome
from app.workers.forkserver import attempt, forgetting, load_function
from app.workers.processes import ForkServer, Source, Worker
from app.workers.uploads import Budget, Clock, Pipe, Spool
from estimators.python.dataclass import dataclass
from macekit.call import Body, Call, Reply
from macekit.problems import Problem

REASONS = ("time-limit", "memory-limit", "grown", "cancelled", "lost", "drain")
"""Why a worker was ended: a limit, what stayed behind after a job, a client that left, a crash, a shutdown."""

log = logging.getLogger(__name__)


class WorkerLost(Exception):
    """A worker ended before it answered."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How the pool stands at one moment."""

    workers: int
    busy: int
    waiting: int
    under_way: int
    places: int
    arriving: int
    streams_waiting: int
    small_waiting: int
    spooled: int
    ready: bool
    kills: Mapping[str, int]


class Pool:
    """Worker processes, and the requests that are admitted to them."""

    def __init__(
        self, settings: Settings, perform: str = "macekit.operations.imported:perform", *, confined: bool = True
    ) -> None:
        self.settings = settings
        self.budget = Budget(settings.spool_limit)
        self.streams = Streams(max(1, settings.processes - 1), min(settings.stall_limit, settings.time_limit))
        self.turns = Turns()
        self.refusals = Refusals()
        self.admission = Admission(settings.processes, settings.queue, settings.per_client)
        self._perform = partial(load_function, perform)
        self._fork_server = ForkServer(
            perform, settings.memory_limit, self._worker_exited, confined=confined, data=settings.data
        )
        self._given_up: tuple[str, ...] | None = None
        self._workers: dict[int, Worker] = {}
        self._idle: list[Worker] = []
        self._spawning: set[asyncio.Task[None]] = set()
        self._lost: set[int] = set()
        """Workers that were lost before the fork server reported how their processes ended."""
        self._kills = dict.fromkeys(REASONS, 0)
        self._closed = True

    async def start(self) -> None:
        """Start the processes; jobs may come at once and wait until the first is there, about half a second later."""
        self._closed = self.admission.closed = False
        self._fork_server.start()
        with suppress(ImportError, AttributeError):  # then no worker starts either, which is told
            self._perform()  # small questions are answered here, and none should wait for an import
        for _ in range(self.settings.processes):
            self._spawn()

    async def stop(self) -> None:
        """Admit no more, let what is under way finish within the drain limit, then end it."""
        self.admission.closed = True
        await self._drain(self.settings.drain_limit)
        self._closed = True
        while (waiting := self.admission.line.pop()) is not None:
            waiting.set_exception(shutting_down())
        for task in self._spawning:
            task.cancel()
        await asyncio.gather(*self._spawning, return_exceptions=True)
        for worker in self._workers.values():
            with suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)
        await self._drain(1.0)  # who was being answered learns that the service has ended
        for worker in self._workers.values():
            worker.end()
        self._workers.clear()
        self._idle.clear()
        self._fork_server.close()

    @property
    def ready(self) -> bool:
        """Whether workers are alive and any request would be admitted."""
        return not self.admission.closed and bool(self._workers) and not self._is_full()

    def check_ready(self) -> None:
        """Say why nothing would be admitted, if that is so."""
        if self.admission.closed or not self._workers:
            raise not_ready("the workers are not up", 1)
        if self._is_full():
            raise busy("no request would be admitted, not even a small one", self.admission.seconds())

    def _is_full(self) -> bool:
        return self.admission.is_full(small=True) and self.turns.is_full()

    def snapshot(self) -> Snapshot:
        """How the pool stands now."""
        return Snapshot(
            workers=len(self._workers),
            busy=len(self._workers) - len(self._idle),
            waiting=len(self.admission.line),
            under_way=self.admission.under_way,
            places=self.admission.places,
            arriving=self.admission.arriving,
            streams_waiting=self.streams.waiting,
            small_waiting=self.turns.waiting,
            spooled=self.budget.in_use,
            ready=self.ready,
            kills=MappingProxyType(dict(self._kills)),
        )

    def overload(self, client: str, declared: int, *, json: bool) -> Problem | None:
        """Why a body of this length would be refused, as far as that is known before any of it has come."""
        if declared > self.settings.inline_limit:
            return self.admission.full() if self.admission.is_full(client=client) else None
        return self.turns.full() if json and self.turns.is_full(client) and not self._idle else None

    def has_idle(self) -> bool:
        """Whether a worker has nothing to do."""
        return bool(self._idle)

    def busy(self, detail: str) -> Problem:
        """The problem of a request for which there is no room until a place is free."""
        return busy(f"{detail}; try again later", self.admission.seconds())

    async def run(self, call: Call, source: Source, *, small: bool | None = None, client: str = "") -> Reply:
        """Have a job done by the next free worker; if this is cancelled, the worker is ended.

        It is small if its body is, unless it is said not to be.

        A worker that is lost may have been ended for what others did: the job is done once more by another, unless its
        body has been read as it came.
        """
        if small is None:
            small = isinstance(source, bytes)
        question = _size(source)
        answer = self.budget.expected(client, call.operation, question)
        try:
            reply = await self._attempt(call, source, small, client, answer)
        except WorkerLost:
            if self._closed or isinstance(source, Pipe):
                raise self._lost_problem() from None
            log.warning("request repeated", extra={"fields": {"operation": call.operation}})
            try:
                reply = await self._attempt(call, source, small, client, answer)
            except WorkerLost:
                raise self._lost_problem() from None
        self.budget.expect_next(client, call.operation, question, len(reply.body))
        if isinstance(reply.body, memoryview):
            self.budget.reserve(len(reply.body), len(reply.body))
            # The mapping goes when the last of it has been sent, or its connection has ended.
            finalize(reply.body.obj, self.budget.free, len(reply.body)).atexit = False
        return reply

    def _lost_problem(self) -> Problem:
        return shutting_down() if self._closed else worker_lost()

    async def _attempt(self, call: Call, source: Source, small: bool, client: str, answer: int) -> Reply:
        worker = await self._acquire(small=small, client=client, size=_size(source) + answer)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            with self.budget.room(answer):
                async with asyncio.timeout(None) as timeout:
                    clock = Clock(timeout, self.settings.time_limit)
                    try:
                        outcome = await worker.run(call, source, clock)
                    finally:
                        clock.end()
        except Problem:  # nothing was begun
            self._release(worker)
            raise
        except TimeoutError:
            self._end(worker, "time-limit")
            raise too_long(self.settings.time_limit) from None
        except (OSError, EOFError):
            self._end(worker, "drain" if self._closed else "lost")
            raise WorkerLost from None
        except BaseException:
            self._end(worker, "cancelled")
            raise
        self.admission.record_duration(loop.time() - began)
        return self._finish(worker, outcome)

    def answer(self, call: Call, body: Body) -> Reply:
        """Answer a small call in this process, by the very function that workers run."""
        try:
            return _reply(attempt(forgetting(self._perform()), call, body))
        except MemoryError:
            raise out_of_memory(self.settings.memory_limit) from None

    def _finish(self, worker: Worker, outcome: Outcome) -> Reply:
        if outcome.end_reason is None:
            self._release(worker)
        else:
            self._end(worker, outcome.end_reason)
        return _reply(outcome.answer)

    async def _acquire(self, *, small: bool, client: str, size: int) -> Worker:
        """Wait for a free worker, no longer than work may take."""
        if self._closed:
            raise shutting_down()
        if self._idle:
            worker = self._idle.pop()
            worker.unwatch()
            return worker
        waiting: asyncio.Future[Worker] = self.admission.line.join(small=small, client=client, size=size)
        in_line = IN_LINE.get() or InLine()
        in_line.ahead, in_line.waits = partial(self.admission.line.ahead, waiting), True
        try:
            await asyncio.wait([waiting], timeout=self.settings.time_limit)
        except asyncio.CancelledError:
            if waiting.done() and waiting.exception() is None:
                self._release(waiting.result())
            raise
        finally:
            in_line.waits = False
            self.admission.line.leave(waiting)
        if not waiting.done():
            raise self.busy(f"no worker came free within {self.settings.time_limit:g} seconds")
        return waiting.result()

    def _release(self, worker: Worker) -> None:
        """Hand a free worker to the request whose turn it is."""
        if (waiting := self.admission.line.pop()) is not None:
            waiting.set_result(worker)
        else:
            self._idle.append(worker)
            worker.watch(partial(self._lose_idle, worker))
            self.turns.pass_on()

    def _lose_idle(self, worker: Worker) -> None:
        """Replace a worker that ended while it had nothing to do."""
        worker.unwatch()
        if self._closed:
            return
        self._idle.remove(worker)
        self._end(worker, "lost")

    def _end(self, worker: Worker, reason: str) -> None:
        """End a worker that has a job, and have another take its place."""
        self._kills[reason] += 1
        log.log(
            logging.INFO if reason == "cancelled" else logging.WARNING,
            "worker lost" if reason == "lost" else "worker ended",
            extra={"fields": {"pid": worker.pid, "reason": reason}},
        )
        if reason == "lost" and not worker.exited:
            self._lost.add(worker.pid)
        self._workers.pop(worker.pid, None)
        worker.end()
        self._spawn()

    def _spawn(self) -> None:
        if self._closed:
            return
        task = asyncio.get_running_loop().create_task(self._spawn_until_alive())
        self._spawning.add(task)
        task.add_done_callback(self._spawning.discard)

    async def _spawn_until_alive(self) -> None:
        """Have a worker forked; after a failure try again, with growing pauses of at most five seconds."""
        pause = 0.1
        while True:
            try:
                worker = await self._fork_server.spawn()
            except (OSError, EOFError) as error:
                log.error(
                    "worker spawn failed", extra={"fields": {"error": type(error).__name__, "next_try_seconds": pause}}
                )
                # After one failure a fork server that was killed is back at once; after two it may not be.
                if pause > 0.1:
                    self._fail_waiting()
                await asyncio.sleep(pause)
                pause = min(2 * pause, 5.0)
            else:
                log.debug("worker spawned", extra={"fields": {"pid": worker.pid}})
                if worker.given_up != self._given_up:
                    self._given_up = worker.given_up
                    log.info("workers confined", extra={"fields": {"given_up": worker.given_up}})
                self._workers[worker.pid] = worker
                self._release(worker)
                return

    def _fail_waiting(self) -> None:
        """Refuse the requests that wait for a worker while none can be spawned."""
        while not self._workers and (waiting := self.admission.line.pop()) is not None:
            waiting.set_exception(worker_lost())

    def _worker_exited(self, pid: int, status: int) -> None:
        """Log how a process ended; its channel, which ended with it, says when it must be replaced."""
        worker = self._workers.get(pid)
        if self._closed or (worker is None and pid not in self._lost):
            return
        cause = signal.strsignal(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else "exit"
        log.warning("worker process exited", extra={"fields": {"pid": pid, "cause": cause}})
        self._lost.discard(pid)
        if worker is not None:
            worker.exited = True

    async def _drain(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.admission.under_way + self.admission.here:
                    await asyncio.sleep(0.01)


def _size(source: Source) -> int:
    return len(source) if isinstance(source, bytes) else source.size if isinstance(source, Spool) else 0


def _reply(answer: Reply | InternalError) -> Reply:
    """The answer; an internal error is logged, and raised as a problem."""
    if isinstance(answer, Reply):
        return answer
    log.error("operation failed", extra={"fields": {"error": answer.error, "traceback": list(answer.places)}})
    raise internal_error()
