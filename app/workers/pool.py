"""The crew of workers: who waits for one, who has one, and when one is ended and why.

Every job has a process of its own while it lasts, so a limit can always be enforced: the process is killed and
another forked in its place. What is killed fails one request, never the service.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import MappingProxyType

from app.settings import Settings
from app.workers.admission import Admission, failed, lost, out_of_memory, shutting_down, too_long
from app.workers.channel import Mistake, Outcome
from app.workers.forkserver import attempt, loaded
from app.workers.processes import Nursery, Source, Worker
from app.workers.uploads import Budget, Clock
from macekit.call import Body, Call, Reply

REASONS = ("time-limit", "memory-limit", "grown", "cancelled", "lost", "drain")
"""Why a worker was ended: a limit, what stayed behind after a job, a client that left, a crash, a shutdown."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How the pool stands at one moment."""

    workers: int
    busy: int
    waiting: int
    spooled: int
    kills: Mapping[str, int]
    done: int


class Pool:
    """Worker processes, and the requests that are admitted to them."""

    def __init__(self, settings: Settings, perform: str = "macekit.operations:perform") -> None:
        self.settings = settings
        self.budget = Budget(settings.spool_limit)
        self.streams = asyncio.Semaphore(max(1, settings.processes - 1))
        """Uploads that may hold a worker while they arrive: all but one, so that slow ones cannot hold them all."""
        self._perform = perform
        self._admission = Admission(settings.processes, settings.queue, settings.per_client)
        self._nursery = Nursery(perform, settings.memory_limit, self._ended)
        self._crew: dict[int, Worker] = {}
        self._idle: list[Worker] = []
        self._waiting: deque[asyncio.Future[Worker]] = deque()
        self._births: set[asyncio.Task[None]] = set()
        self._mourned: set[int] = set()
        """Workers that were lost before the nursery said what became of them."""
        self._kills = dict.fromkeys(REASONS, 0)
        self._done = 0
        self._closed = True

    async def start(self) -> None:
        """Start the processes; jobs may come at once and wait until the first is there, about half a second later."""
        self._closed = self._admission.closed = False
        self._nursery.open()
        for _ in range(self.settings.processes):
            self._bear()

    async def stop(self) -> None:
        """Admit no more, let what is under way finish within the drain limit, then end it."""
        self._admission.closed = True
        await self._drained(self.settings.drain_limit)
        self._closed = True
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_exception(shutting_down())
        for birth in self._births:
            birth.cancel()
        await asyncio.gather(*self._births, return_exceptions=True)
        for worker in self._crew.values():
            with suppress(OSError):
                os.kill(worker.pid, signal.SIGKILL)
        await self._drained(1.0)  # who was being answered learns that the service has ended
        for worker in self._crew.values():
            worker.end()
        self._crew.clear()
        self._idle.clear()
        self._nursery.close()

    @property
    def ready(self) -> bool:
        """Whether a request would be admitted and find a worker alive."""
        return not self._admission.closed and bool(self._crew)

    def snapshot(self) -> Snapshot:
        """How the pool stands now."""
        return Snapshot(
            workers=len(self._crew),
            busy=len(self._crew) - len(self._idle),
            waiting=sum(not waiting.done() for waiting in self._waiting),
            spooled=self.budget.used,
            kills=MappingProxyType(dict(self._kills)),
            done=self._done,
        )

    def receive(self, client: str) -> AbstractContextManager[None]:
        """Count a body while it arrives; refused if its request would be."""
        return self._admission.receive(client)

    def admit(self, client: str) -> AbstractContextManager[None]:
        """Hold a place while a request is worked on: around ``run``."""
        return self._admission.admit(client)

    async def run(self, call: Call, source: Source) -> Reply:
        """Have a job done by the next free worker; if this is cancelled, the worker is ended."""
        worker = await self._take()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(None) as timeout:
                clock = Clock(timeout, self.settings.time_limit)
                try:
                    outcome = await worker.ask(call, source, clock)
                finally:
                    clock.end()
        except TimeoutError:
            self._end(worker, "time-limit")
            raise too_long(self.settings.time_limit) from None
        except (OSError, EOFError):
            self._end(worker, "drain" if self._closed else "lost")
            raise (shutting_down() if self._closed else lost()) from None
        except BaseException:
            self._end(worker, "cancelled")
            raise
        self._admission.took(loop.time() - began)
        return self._settle(worker, outcome)

    def answer(self, call: Call, body: Body) -> Reply:
        """Answer a small call in this process, by the very function that workers run."""
        try:
            return _reply(attempt(loaded(self._perform), call, body))
        except MemoryError:
            raise out_of_memory(self.settings.memory_limit) from None

    def _settle(self, worker: Worker, outcome: Outcome) -> Reply:
        self._done += 1
        if outcome.spent is None:
            self._give(worker)
        else:
            self._end(worker, outcome.spent)
        return _reply(outcome.answer)

    async def _take(self) -> Worker:
        """Wait for a free worker, first come, first served."""
        if self._closed:
            raise shutting_down()
        if self._idle:
            return self._idle.pop()
        waiting: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled() and waiting.exception() is None:
                self._give(waiting.result())
            else:
                with suppress(ValueError):
                    self._waiting.remove(waiting)
            raise

    def _give(self, worker: Worker) -> None:
        """Hand a free worker to who has waited longest."""
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_result(worker)
                return
        self._idle.append(worker)

    def _end(self, worker: Worker, reason: str) -> None:
        """End a worker that has a job, and have another take its place."""
        self._kills[reason] += 1
        log.log(
            logging.INFO if reason == "cancelled" else logging.WARNING,
            "worker ended",
            extra={"fields": {"pid": worker.pid, "reason": reason}},
        )
        if reason == "lost" and not worker.gone:
            self._mourned.add(worker.pid)
        self._crew.pop(worker.pid, None)
        worker.end()
        self._bear()

    def _bear(self) -> None:
        if self._closed:
            return
        birth = asyncio.get_running_loop().create_task(self._born())
        self._births.add(birth)
        birth.add_done_callback(self._births.discard)

    async def _born(self) -> None:
        """Have a worker born, and try until there is one: later each time, at most every five seconds."""
        pause = 0.1
        while True:
            try:
                worker = await self._nursery.worker()
            except (OSError, EOFError) as error:
                log.error(
                    "worker did not start",
                    extra={"fields": {"error": type(error).__name__, "next_try_seconds": pause}},
                )
                if pause > 0.1:  # a nursery that was killed comes back at once; one that fails twice may not
                    self._give_up()
                await asyncio.sleep(pause)
                pause = min(2 * pause, 5.0)
            else:
                self._crew[worker.pid] = worker
                self._give(worker)
                return

    def _give_up(self) -> None:
        """While no worker can be started, nobody is left to wait for one."""
        while self._waiting and not self._crew:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_exception(lost())

    def _ended(self, pid: int, status: int) -> None:
        """Learn that a worker's process has ended: one with a job is noticed by the caller that waits for "
        "its answer."""
        worker = self._crew.get(pid)
        if self._closed or (worker is None and pid not in self._mourned):
            return
        cause = signal.strsignal(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else "exit"
        log.warning("worker process ended by itself", extra={"fields": {"pid": pid, "cause": cause}})
        self._mourned.discard(pid)
        if worker is None:
            return
        worker.gone = True
        if worker in self._idle:
            self._idle.remove(worker)
            self._end(worker, "lost")

    async def _drained(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._admission.under_way:
                    await asyncio.sleep(0.01)


def _reply(answer: Reply | Mistake) -> Reply:
    """The answer, or the problem that it was a mistake of ours."""
    if isinstance(answer, Reply):
        return answer
    log.error("operation failed", extra={"fields": {"error": answer.error, "traceback": list(answer.places)}})
    raise failed()
