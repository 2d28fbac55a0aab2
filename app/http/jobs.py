"""Answers that are fetched later, `Prefer: respond-async` (RFC 7240): for proxies that cut connections in between.

Such a request goes on when its connection has ended; its answer is kept for a while: until it was fetched, or its room
is needed by work that is under way or by the answer of somebody who keeps less. Where replicas share a store
(`app.store`), jobs outlive each of them. Else they stand in memory and end with the service, and nothing is lost that
cannot be had again: an evaluation is a pure function of its body and seed, so that whoever lost an answer asks again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import ExitStack, suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from app.refusals import busy, internal_error
from app.telemetry.logs import Exchange
from app.workers.admission import IN_LINE, InLine
from app.workers.channel import InternalError
from app.workers.intake import Disconnected
from app.workers.uploads import Budget, Spool
from estimators.python.dataclass import dataclass, field
from macekit.call import Call, Reply
from macekit.problems import Problem

log = logging.getLogger(__name__)

PREFERENCE = "respond-async"
JOBS = "/v1/jobs"
RESULT = f"{JOBS}/{{name}}/result"
PLACE = "place"
"""Where the state of a request has its key's place among those under way, which a job keeps beyond the request."""
USUAL_WAIT = 0.2
"""Seconds that an answer may take after its body and still come at once, where the request says nothing else."""
LONGEST_WAIT = 3600.0
GRACE = 30.0  # seconds for which an answer that was fetched may be fetched again
KEPT_FOR = "Mace-Kept-For"  # the header that says so
PULSE = 1.0  # seconds between two events of a job that is worked on
TOO_LARGE_TO_KEEP = "the answer is too large to be kept; ask again, and wait for it without Prefer"

State: TypeAlias = Literal["working", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer ready to leave: what was replied, the headers beside it, and its hash if it is no problem."""

    reply: Reply
    headers: Mapping[str, str] = field(default_factory=dict)
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, but for the body: enough for any process to answer it.

    ``holder`` is who has a share of what is short, ``target`` the address and its query, of which a signature speaks.
    """

    call: Call
    holder: str
    target: str
    has_dataset: bool = False
    streamed: bool = False


class Answering(Protocol):
    """Answers a question whose body comes by ``receive``; ``note_body`` is told it, unless it is streamed."""

    async def __call__(
        self,
        question: Question,
        receive: Receive,
        headers: Mapping[str, str],
        note_body: Callable[[bytes | Spool], None] | None = None,
    ) -> Outcome:
        """What leaves."""


class KeptAnswer(NamedTuple):
    """An answer that is kept, and for how many seconds it may be fetched again."""

    outcome: Outcome
    seconds: float


Description: TypeAlias = dict[str, Any]  # what is known of a job: the fields of `JobAnswer`


class Jobs(Protocol):
    """All questions whose answers are fetched later; ``owner`` is the digest of the key that asks, and sees its own."""

    answer: Answering

    async def run(
        self, question: Question, receive: Receive, headers: Mapping[str, str], scope: Any, wait: float
    ) -> Outcome | Description:
        """The answer if it is there soon after the body, else what is known of the job that will have it.

        What goes wrong until then is raised, a client that leaves amid its body included.
        """

    async def look(self, name: str, owner: str | None) -> Description:
        """What is known of a job."""

    async def result(self, name: str, owner: str | None, *, fetched: bool) -> KeptAnswer | Description:
        """The answer, kept for a while only once it was fetched; what is known of the job if there is none yet."""

    async def cancel(self, name: str, owner: str | None) -> None:
        """End the work on a job, and forget it; its key's place is free then."""

    async def events(self, name: str, owner: str | None) -> AsyncIterator[bytes]:
        """What is known of a job, every second, as server-sent events, the last when it has ended."""

    def states(self) -> Mapping[State, int]:
        """How many there are in each state."""

    async def close(self) -> None:
        """End all work here."""


@dataclass(eq=False, slots=True)
class Job:
    """One question whose answer is fetched later, by whoever has the key that asked it."""

    id: str
    operation: str
    owner: str | None
    """The digest of its key; None where there are no keys."""
    client: str
    began: float
    task: asyncio.Task[Outcome]
    in_line: InLine = field(default_factory=InLine)
    outcome: Outcome | None = None
    ended: float | None = None
    size: int = 0
    """Bytes of its answer that are counted for it; large ones count by themselves."""
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    let_go: Callable[[], None] = lambda: None
    end_of_keeping: asyncio.TimerHandle | None = None

    @property
    def state(self) -> State:
        """How far it is."""
        if self.outcome is None:
            return "cancelled" if self.task.cancelled() else "working"
        return "done" if self.outcome.reply.problem is None else "failed"


class JobsInMemory:
    """Those of one service, which end with it."""

    answer: Answering

    def __init__(self, budget: Budget, seconds_kept: float) -> None:
        self._budget = budget
        self._seconds_kept = seconds_kept
        self._jobs: dict[str, Job] = {}

    async def run(
        self, question: Question, receive: Receive, headers: Mapping[str, str], scope: Any, wait: float
    ) -> Outcome | Description:
        """The answer if it is there soon after the body, else what is known of the job that will have it."""
        began = asyncio.get_running_loop().time()
        body = WholeBody(receive)
        task, in_line = await begin(self.answer(question, body, headers), body, wait)
        if task.done():
            return task.result()
        exchange = Exchange.of(scope)
        job = Job(new_name(), question.call.operation, exchange.owner, exchange.holder, began, task, in_line)
        self._jobs[job.id] = job
        task.add_done_callback(partial(self._finish, job, place_of(scope), exchange.request_id))
        return self._description(job)

    async def look(self, name: str, owner: str | None) -> Description:
        """What is known of a job."""
        return self._description(self._find(name, owner))

    async def result(self, name: str, owner: str | None, *, fetched: bool) -> KeptAnswer | Description:
        """The answer, kept for a while only once it was fetched; what is known of the job if there is none yet."""
        job = self._find(name, owner)
        if job.outcome is None:
            return self._description(job)
        timer = job.end_of_keeping
        end = asyncio.get_running_loop().time() + GRACE
        if fetched and timer is not None and timer.when() > end:
            timer.cancel()
            self._keep_until(job, end)
        return KeptAnswer(job.outcome, min(GRACE, self._left(job)))

    async def cancel(self, name: str, owner: str | None) -> None:
        """End the work on a job, and forget it; its key's place is free then."""
        job = self._find(name, owner)
        self._end(job)
        await asyncio.wait({job.task}, timeout=1.0)

    async def events(self, name: str, owner: str | None) -> AsyncIterator[bytes]:
        """What is known of a job, every second, as server-sent events, the last when it has ended."""
        return self._events(self._find(name, owner))

    def states(self) -> Counter[State]:
        """How many there are in each state."""
        return Counter(job.state for job in self._jobs.values())

    async def close(self) -> None:
        """End all work, for nobody can fetch what comes of it."""
        for job in list(self._jobs.values()):
            self._end(job)

    def _find(self, name: str, owner: str | None) -> Job:
        """The job of this name, if this key asked for it."""
        job = self._jobs.get(name)
        if job is None or job.owner != owner:
            raise no_such_job(self._seconds_kept, "and none outlives the service")
        return job

    def _description(self, job: Job) -> Description:
        now = asyncio.get_running_loop().time()
        end = now if job.ended is None else job.ended
        return {
            "id": job.id,
            "operation": job.operation,
            "state": job.state,
            "status": None if job.outcome is None else job.outcome.reply.status,
            "ahead": ahead(job.in_line),
            "seconds": round(end - job.began, 3),
            "seconds_kept": None if job.ended is None else round(self._left(job), 3),
        }

    async def _events(self, job: Job) -> AsyncIterator[bytes]:
        while not job.finished.is_set():
            yield event("progress", self._description(job))
            with suppress(TimeoutError):
                async with asyncio.timeout(PULSE):
                    await job.finished.wait()
        yield event("end", self._description(job))

    def _end(self, job: Job) -> None:
        job.task.cancel()
        self._forget(job)

    def _finish(self, job: Job, place: ExitStack, request_id: str, task: asyncio.Task[Outcome]) -> None:
        """Keep what came of a job, if there is room for it."""
        place.close()
        if not task.cancelled() and job.id in self._jobs:
            outcome = outcome_of(task, request_id)
            try:
                self._hold(job, outcome.reply.body)
            except Problem as no_room:
                outcome = Outcome(no_room.reply(request_id))
            job.outcome = outcome
            job.ended = asyncio.get_running_loop().time()
            self._keep_until(job, job.ended + self._seconds_kept)
        job.finished.set()

    def _hold(self, job: Job, body: bytes | memoryview) -> None:
        """Count an answer among those that are kept; what is in a mapping is counted as held already."""
        job.let_go = partial(self._forget, job)
        size = len(body) if isinstance(body, bytes) else 0
        self._budget.reserve(size, size)
        if not self._budget.keep(job.client, len(body), job.let_go):
            self._budget.free(size)
            raise busy(TOO_LARGE_TO_KEEP)
        job.size = size

    def _keep_until(self, job: Job, end: float) -> None:
        job.end_of_keeping = asyncio.get_running_loop().call_at(end, self._forget, job)

    def _left(self, job: Job) -> float:
        """Seconds for which an answer is still kept."""
        timer = job.end_of_keeping
        return 0.0 if timer is None else max(0.0, timer.when() - asyncio.get_running_loop().time())

    def _forget(self, job: Job) -> None:
        if self._jobs.pop(job.id, None) is None:
            return
        self._budget.let_go(job.let_go)
        self._budget.free(job.size)
        if job.end_of_keeping is not None:
            job.end_of_keeping.cancel()  # it would hold the answer until then


def new_name() -> str:
    """The name of a job, which nobody guesses."""
    return secrets.token_urlsafe(18)


def place_of(scope: Any) -> ExitStack:
    """The place that the key has among those under way: from here on the job's."""
    place: ExitStack = scope["state"].get(PLACE, ExitStack()).pop_all()
    return place


def no_such_job(seconds: float, why: str) -> Problem:
    """There is none of this name, or none of this key."""
    return Problem(
        "not-found",
        f"there is no such job: answers are kept for {seconds:g} seconds, {GRACE:g} once they were fetched, shorter "
        f"where room is needed, {why}; ask the question again",
    )


def ahead(in_line: InLine) -> int | None:
    """How many wait for a worker that came before a request; None if it waits no more."""
    return in_line.ahead() if in_line.waits else None


async def begin(
    work: Coroutine[Any, Any, Outcome], body: WholeBody, wait: float
) -> tuple[asyncio.Task[Outcome], InLine]:
    """The work on a question, done or once its body is there and it had so many seconds more; and whether it waits.

    A client that leaves until then knows no address to ask at, so that its work ends with it.
    """
    loop, context, in_line = asyncio.get_running_loop(), copy_context(), InLine()
    context.run(IN_LINE.set, in_line)
    task = loop.create_task(work, context=context)
    complete = loop.create_task(body.complete.wait())
    departure = loop.create_task(body.wait_for_disconnect())
    try:
        await asyncio.wait({task, complete}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task, departure}, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
        if departure.done() and not task.done():
            raise Disconnected
    except BaseException:
        task.cancel()
        raise
    finally:
        complete.cancel()
        departure.cancel()
    return task, in_line


class WholeBody:
    """A body as it comes; behind its end whoever reads it hears nothing more of its client."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.complete = asyncio.Event()

    async def __call__(self) -> Message:
        """The next of it."""
        if self.complete.is_set():
            await asyncio.Event().wait()
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self.complete.set()
        return message

    async def wait_for_disconnect(self) -> None:
        """Wait until the client has gone after all of its body came."""
        await self.complete.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass


def outcome_of(task: asyncio.Task[Outcome], request_id: str) -> Outcome:
    """What came of a job; what went wrong is an answer, too."""
    error = task.exception()
    if error is None:
        return task.result()
    if isinstance(error, Problem):
        return Outcome(error.reply(request_id))
    if not isinstance(error, Disconnected):
        about = InternalError.of(error)
        log.error("a job failed", extra={"fields": {"error": about.error, "traceback": list(about.places)}})
    return Outcome(internal_error().reply(request_id))


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def seconds_to_wait(headers: Headers) -> float | None:
    """How long a client would wait before it is told where its answer will be; None: for the answer, however long."""
    preferences = [part.strip().lower() for part in re.split("[,;]", ",".join(headers.getlist("prefer")))]
    if PREFERENCE not in preferences:
        return None
    for each in preferences:
        name, _, value = each.partition("=")
        if name.strip() == "wait" and value.strip().isascii() and value.strip().isdigit():
            return min(float(value.strip()[:9]), LONGEST_WAIT)
    return USUAL_WAIT
