"""Jobs that outlive the replica that was asked: a row each, their bodies beside it, and a lease for who works on it.

A question is stored once it is told that its answer comes later, and before that is told. Its replica works on at once
and renews its lease each second. Where a lease ends, because the replica was killed, cut off or told to stop, another
one takes the job up: one alone, by FOR UPDATE SKIP LOCKED. Each taking up is a new turn, and an answer counts only from
the replica and the turn that have the job then: it is stored once, whoever else is still at work, and what those come
to is dropped. A question whose replicas end again and again is given up, for it may be what ends them.

What is told by NOTIFY - that a job has ended, was cancelled, or is free - is found each second without it, too.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import msgspec
from starlette.types import Receive

from app.http import jobs
from app.refusals import SOON, busy, not_ready, worker_lost
from app.store import rows
from app.store.database import UNUSABLE, Connection, Store, tell
from app.store.rows import PART, Head, Replay, StoredBody, answer_body, store_parts
from app.telemetry.logs import Exchange
from app.workers.admission import InLine
from app.workers.uploads import MOST_KEPT, Budget
from macekit.problems import Problem

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=5)  # how long a job is a replica's that says no more that it works on it
MOST_DEATHS = 3  # replicas that may end while they work on a job; then it is given up
NAME = re.compile(r"[A-Za-z0-9_-]{24}")
"""How jobs are called; whatever else is asked for is not asked of the store."""
FREE, CANCELLED, ENDED = "free", "cancelled", "ended"  # what replicas tell each other about a job


@dataclass(eq=False, slots=True)
class Work:
    """A job that this replica works on."""

    id: str
    turn: int
    request_id: str
    task: asyncio.Task[jobs.Outcome]
    in_line: InLine = field(default_factory=InLine)
    place: ExitStack = field(default_factory=ExitStack)
    was_taken_up: bool = False
    end: asyncio.Task[None] | None = None
    """Sees to it that what comes of it is stored."""


class JobsInStore:
    """Those of all replicas."""

    answer: jobs.Answering

    def __init__(
        self, store: Store, budget: Budget, seconds_kept: float, has_room: Callable[[], bool], at_once: int
    ) -> None:
        """Jobs of this store.

        Args:
            store: The database.
            budget: Bytes that this replica holds; of the store, answers take as much as they would take there.
            seconds_kept: How long an answer is kept.
            has_room: Whether this replica would work on one job more.
            at_once: How many of others it works on at once.
        """
        self._store, self._budget, self._has_room, self._at_once = store, budget, has_room, at_once
        self._seconds_kept = seconds_kept
        self._most_kept = budget.most // 2
        self._work: dict[str, Work] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._states: Mapping[jobs.State, int] = {}
        self._is_open = True

    async def run(
        self, question: jobs.Question, receive: Receive, headers: Mapping[str, str], scope: Any, wait: float
    ) -> jobs.Outcome | jobs.Description:
        """The answer if it is there soon after the body, else what is known of the job that will have it."""
        if self._store.fault is not None:
            raise not_ready(UNUSABLE, SOON)
        question = replace(question, streamed=False)  # it must be there for another replica
        body, clock = jobs.WholeBody(receive), asyncio.get_running_loop().time
        began = clock()
        with StoredBody() as source:
            task, in_line = await jobs.begin(self.answer(question, body, headers, source.note), body, wait)
            exchange, name = Exchange.of(scope), jobs.new_name()
            try:
                await source.wait_or_end(task)
                if task.done():
                    return task.result()
                await self._add(name, question, exchange, source)
            except BaseException:
                task.cancel()
                raise
        self._go_on(Work(name, 1, exchange.request_id, task, in_line, jobs.place_of(scope)))
        about: jobs.Description = {
            "id": name,
            "operation": question.call.operation,
            "state": "working",
            "status": None,
            "ahead": jobs.ahead(in_line),
        }
        return {**about, "seconds": round(clock() - began, 3), "seconds_kept": None}

    async def look(self, name: str, owner: str | None) -> jobs.Description:
        """What is known of a job."""
        self._require_name(name)
        async with self._store.connection() as connection:
            return self._about(self._require_row(await connection.fetchrow(rows.LOOK, name, owner)))

    async def result(self, name: str, owner: str | None, *, fetched: bool) -> jobs.KeptAnswer | jobs.Description:
        """The answer, kept for a while only once it was fetched; what is known of the job if there is none yet."""
        self._require_name(name)
        async with self._store.connection() as connection:
            if fetched:
                await connection.execute(rows.FETCHED, name, owner, timedelta(seconds=jobs.GRACE))
            async with connection.transaction():  # what is locked does not go while it is read
                row = self._require_row(await connection.fetchrow(f"{rows.LOOK} FOR KEY SHARE", name, owner))
                if row["answer"] is None:
                    return self._about(row)
                body = await answer_body(connection, name, row["size"], self._budget)
        outcome = msgspec.json.decode(row["answer"], type=Head).outcome(body)
        return jobs.KeptAnswer(outcome, min(jobs.GRACE, float(row["seconds_kept"])))

    async def cancel(self, name: str, owner: str | None) -> None:
        """Forget a job; whoever works on it hears it and ends the work."""
        self._require_name(name)
        async with self._store.connection() as connection, connection.transaction():
            self._require_row(await connection.fetchval(rows.CANCEL, name, owner))
            await tell(connection, CANCELLED, name)
        if (work := self._work.get(name)) is not None:
            work.task.cancel()
            await asyncio.wait({work.task}, timeout=1.0)

    async def events(self, name: str, owner: str | None) -> AsyncIterator[bytes]:
        """What is known of a job, every second, as server-sent events, the last when it has ended."""
        return self._events(await self.look(name, owner), owner)

    def states(self) -> Mapping[jobs.State, int]:
        """How many there are in each state, at all replicas, when it was last looked."""
        return self._states

    async def close(self) -> None:
        """End all work here, and let another replica take it up."""
        self._is_open = False
        ends = [work.end for work in self._work.values() if work.end is not None]
        for work in list(self._work.values()):
            work.task.cancel()
        if ends:
            await asyncio.wait(ends, timeout=5.0)

    async def _add(self, name: str, question: jobs.Question, exchange: Exchange, source: StoredBody) -> None:
        about = (exchange.owner, exchange.holder, exchange.request_id, msgspec.json.encode(question), source.size)
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute(rows.STORE, name, question.call.operation, *about, self._store.replica, LEASE)
            await store_parts(connection, name, source.parts(), of_answer=False)

    def _go_on(self, work: Work) -> None:
        self._work[work.id] = work
        work.end = asyncio.get_running_loop().create_task(self._see_to_its_end(work))

    async def _see_to_its_end(self, work: Work) -> None:
        """Store what comes of a job, or let another replica have it."""
        await asyncio.wait({work.task})
        work.place.close()
        try:
            outcome = None if work.task.cancelled() else jobs.outcome_of(work.task, work.request_id)
            while not await self._is_settled(work, outcome) and self._is_open:
                await asyncio.sleep(jobs.PULSE)  # until the store is back, or the lease is another's
        finally:
            if self._work.get(work.id) is work:  # it may have been taken up again
                del self._work[work.id]

    async def _is_settled(self, work: Work, outcome: jobs.Outcome | None) -> bool:
        """Whether the store knows what came of a job; false if it cannot be used."""
        try:
            if outcome is None or _comes_of_this_replica(outcome, was_taken_up=work.was_taken_up):
                await self._let_go(work, timedelta() if outcome is None else timedelta(seconds=SOON))
            else:
                await self._end(work, outcome)
        except Problem as problem:
            if problem.kind.slug != "not-ready":
                raise
            return False
        return True

    async def _let_go(self, work: Work, pause: timedelta) -> None:
        async with self._store.connection() as connection, connection.transaction():
            if await connection.fetchval(rows.LET_GO, *self._claim(work), pause) is not None:
                await tell(connection, FREE, work.id)

    async def _end(self, work: Work, outcome: jobs.Outcome) -> None:
        """Store an answer, if the job is still this replica's in this turn."""
        if len(outcome.reply.body) > self._most_kept:
            outcome = jobs.Outcome(busy(jobs.TOO_LARGE_TO_KEEP).reply(work.request_id))
        reply, body = outcome.reply, outcome.reply.body
        head = Head.of(outcome)
        about = (timedelta(seconds=self._seconds_kept), msgspec.json.encode(head), reply.status, len(body))
        async with self._store.connection() as connection, connection.transaction():
            if await connection.fetchval(rows.END, *self._claim(work), *about) is None:
                log.info("answer not needed", extra={"fields": {"request_id": work.request_id}})
                return
            await connection.execute("DELETE FROM mace.part WHERE job = $1", work.id)
            parts = (bytes(body[at : at + PART]) for at in range(0, len(body), PART))
            await store_parts(connection, work.id, parts, of_answer=True)
            await tell(connection, ENDED, work.id)
        async with self._store.connection() as connection:
            await connection.execute(rows.MAKE_ROOM, self._most_kept, MOST_KEPT)

    def _claim(self, work: Work) -> tuple[str, str, int]:
        """By what a job is this replica's, in this turn."""
        return work.id, self._store.replica, work.turn

    async def keep_up(self, connection: Connection) -> None:
        """Renew leases, end work that is another's by now, and take up what is nobody's."""
        work = dict(self._work)
        about = list(work), self._store.replica, LEASE
        renewed = await connection.fetch(rows.RENEW, *about) if work else []
        ours = {(row["id"], row["turn"]) for row in renewed}
        for name, each in work.items():
            if (name, each.turn) not in ours:
                each.task.cancel()
        while self._is_open and self._has_room() and self._taken_up() < self._at_once:
            row = await connection.fetchrow(rows.TAKE_UP, self._store.replica, LEASE)
            if row is None:
                break
            self._take_up(row)

    async def forget(self, connection: Connection) -> None:
        """Let go of what is kept no longer, and count what there is."""
        await connection.execute(rows.FORGET)
        await connection.execute(rows.MAKE_ROOM, self._most_kept, MOST_KEPT)
        self._states = dict(map(tuple, await connection.fetch(rows.STATES)))

    def _taken_up(self) -> int:
        return sum(work.was_taken_up for work in self._work.values())

    def _take_up(self, row: Any) -> None:
        about = {name: row[name] for name in ("request_id", "turn", "deaths")}
        log.info("job taken up", extra={"fields": about})
        self._go_on(
            Work(
                row["id"],
                row["turn"],
                row["request_id"],
                asyncio.get_running_loop().create_task(self._answer_again(row)),
                was_taken_up=True,
            )
        )

    async def _answer_again(self, row: Any) -> jobs.Outcome:
        if row["deaths"] > MOST_DEATHS:
            raise worker_lost()
        question = msgspec.json.decode(row["question"], type=jobs.Question)
        size = row["body_size"]
        body = Replay(self._store, row["id"], size)
        return await self.answer(question, body.receive, {"content-length": str(size)})

    def hear(self, word: str, name: str) -> None:
        """Do what another replica's word asks for."""
        if word == FREE:
            self._store.wake()
        if word == CANCELLED and (work := self._work.get(name)) is not None:
            work.task.cancel()
        for waiting in self._waiting.get(name, ()):
            waiting.set()

    def _about(self, row: Any) -> jobs.Description:
        """What is known of a job, and whether it waits where it is worked on here."""
        work = self._work.get(row["id"])
        return {**_description(row), "ahead": None if work is None else jobs.ahead(work.in_line)}

    def _require_row(self, row: Any) -> Any:
        if row is None:
            raise self._unknown()
        return row

    def _require_name(self, name: str) -> None:
        if not NAME.fullmatch(name):
            raise self._unknown()

    def _unknown(self) -> Problem:
        return jobs.no_such_job(self._seconds_kept, "at all replicas together")

    async def _events(self, description: jobs.Description, owner: str | None) -> AsyncIterator[bytes]:
        name, ended = description["id"], asyncio.Event()
        self._waiting.setdefault(name, set()).add(ended)
        try:
            while description["state"] == "working":
                yield jobs.event("progress", description)
                with suppress(TimeoutError):
                    async with asyncio.timeout(jobs.PULSE):
                        await ended.wait()
                ended.clear()
                try:
                    description = await self.look(name, owner)
                except Problem as problem:
                    if problem.kind.slug != "not-found":
                        raise  # the connection is cut, and whoever listened opens another
                    description = {**description, "state": "cancelled"}
            yield jobs.event("end", description)
        finally:
            self._waiting[name].discard(ended)
            if not self._waiting[name]:
                del self._waiting[name]


def _description(row: Any) -> jobs.Description:
    if row["answer"] is None:
        state: jobs.State = "working"
    else:
        state = "done" if row["status"] < 400 else "failed"
    return {
        "id": row["id"],
        "operation": row["operation"],
        "state": state,
        "status": row["status"],
        "seconds": round(float(row["seconds"]), 3),
        "seconds_kept": None if row["seconds_kept"] is None else round(float(row["seconds_kept"]), 3),
    }


def _comes_of_this_replica(outcome: jobs.Outcome, *, was_taken_up: bool) -> bool:
    """Whether what went wrong is none of the question's, so that another replica may answer it."""
    return outcome.reply.problem in {"shutting-down", "not-ready", *(["busy"] if was_taken_up else [])}
