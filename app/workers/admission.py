"""How many requests may be under way, how many bodies may arrive, and who is refused.

A place is taken when work can start. A body that is arriving takes none: a client that sends slowly, or nothing, must
not keep others from being answered. What is short while bodies arrive - their number, their memory, a worker that one
is read into - goes to who sends fastest. Small requests have places of their own.
"""

from __future__ import annotations

import asyncio
import math
import select
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from app.refusals import busy, shutting_down, too_many
from app.workers.shares import Shares
from macekit.problems import Problem

MOST_ARRIVING = 1024
"""Bodies that may arrive at once; the next takes the place of the one that is furthest behind its pace."""

SMALL_PLACES = 8
"""Places beyond the queue that only small bodies may take, so that large ones cannot keep them out."""

STREAM_PACE = 2**16
"""Bytes a second that a body must bring to keep its worker while another body waits for one."""

MOST_STREAMS = 32  # bodies that may wait until they hold a worker, each with its first 64 KiB
MOST_SMALL = 32  # small requests that may wait for their turn in the server itself


LEAST_TURNS, MOST_TURNS = 16, 128
"""Turns of the event loop that pass before the next small request is computed: whatever else is under way needs several
to get on, and a new connection has to be taken, one in each. So many at least, and at most while connections wait."""

MOST_IN_TURN = 3
"""Small requests that are computed in one turn of the event loop, if what passed before took as long."""

LATELY = 10.0  # seconds for which a client that asks is counted among those who do

REFUSALS = 200
"""Refusals for want of room that leave in a second; the next wait, but no longer than LONGEST_REFUSAL."""
LONGEST_REFUSAL = 1.0


class Arriving(Protocol):
    """A body that is still arriving."""

    deadline: float
    """When it is given up, unless more of it comes: the sooner, the further behind its pace it is."""

    def give_up(self) -> None:
        """End it: somebody who sends faster needs its place."""

    def pace(self, now: float) -> tuple[float, float]:
        """For how many seconds it has held a worker, and how many bytes a second it brought meanwhile."""


class Admission:
    """Requests under way and bodies that arrive, of everybody and of each client."""

    def __init__(self, processes: int, queue: int, per_client: int) -> None:
        self.under_way = 0
        self.here = 0
        """Requests that are answered without a worker."""
        self.closed = False
        self._arriving: list[Arriving] = []
        self._processes = processes
        self.places = processes + queue
        self._per_client = per_client
        self._clients: Counter[str] = Counter()
        self._latest: str | None = None
        self._others_asked = -math.inf
        """When a client asked after another one."""
        self._seconds = 1.0
        self.line = Line()
        """Those under way that wait for a worker."""

    @property
    def arriving(self) -> int:
        """Bodies that arrive."""
        return len(self._arriving)

    @contextmanager
    def admit(self, client: str, *, small: bool = False) -> Iterator[None]:
        """Count one request while it is worked on or waits for it, or refuse it."""
        self._check(client)
        if self.is_full(small=small) and not self.line.make_room(client):
            raise self.full()
        self.under_way += 1
        self._clients[client] += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._leave(client)

    @contextmanager
    def receive(self, client: str, upload: Arriving, *, small: bool = True) -> Iterator[None]:
        """Count one body while it arrives, or refuse it; a large one is refused as soon as its request would be."""
        self._check(client)
        if not small and self.is_full(client=client):
            raise self.full()
        if self.arriving >= MOST_ARRIVING:
            self.displace(upload)
        if self._latest not in (None, client):
            self._others_asked = time.monotonic()
        self._latest = client
        self._arriving.append(upload)
        self._clients[client] += 1
        try:
            yield
        finally:
            with suppress(ValueError):
                self._arriving.remove(upload)
            self._leave(client)

    @contextmanager
    def count(self, client: str) -> Iterator[None]:
        """Count one request that is answered without a worker, or refuse it."""
        self._check(client)
        self.here += 1
        self._clients[client] += 1
        try:
            yield
        finally:
            self.here -= 1
            self._leave(client)

    def takes_more(self, client: str) -> bool:
        """Whether this client has a request under way, or its body arrives, while others have asked lately, too."""
        return client in self._clients and time.monotonic() - self._others_asked < LATELY

    def displace(self, upload: Arriving) -> None:
        """End the body that is furthest behind its pace, for one that is not; refuse this one if it is itself."""
        slowest = min(self._arriving, key=lambda other: other.deadline, default=upload)
        if slowest.deadline >= upload.deadline:
            raise busy("the bodies that arrive leave no room for another; try again later", self.seconds())
        self._arriving.remove(slowest)
        slowest.give_up()

    def is_full(self, *, small: bool = False, client: str | None = None) -> bool:
        """Whether the next request for a worker is refused; for a client, even if others give way."""
        full = self.under_way >= self.places + (SMALL_PLACES if small else 0)
        return full and not (client is not None and self.line.may_make_room(client))

    def record_duration(self, seconds: float) -> None:
        """Keep the moving average of how long jobs take, over about ten."""
        self._seconds += (seconds - self._seconds) / 10

    def seconds(self) -> float:
        """Until a place is likely free: requests under way are half done on average, spread over processes."""
        return self._seconds * self.under_way / self._processes / 2

    def full(self) -> Problem:
        """The problem of a request that finds no place."""
        return busy(
            f"{self.under_way} requests are under way, as many as this service takes; try again later", self.seconds()
        )

    def _leave(self, client: str) -> None:
        self._clients[client] -= 1
        if not self._clients[client]:
            del self._clients[client]

    def _check(self, client: str) -> None:
        if self.closed:
            raise shutting_down()
        if self._per_client and self._clients[client] >= self._per_client:
            raise too_many("client", self._per_client)


class Streams:
    """Workers that bodies may hold while they arrive: all but one, so that slow ones cannot hold them all."""

    def __init__(self, most: int, patience: float) -> None:
        self._most = most
        self._patience = patience
        self._holding: list[Arriving] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def waiting(self) -> int:
        """Bodies that wait until they may hold a worker."""
        return len(self._waiting)

    @asynccontextmanager
    async def place(self, upload: Arriving) -> AsyncIterator[bool]:
        """Let a body hold a worker; false if none came free in time."""
        if not await self._take():
            yield False
            return
        self._holding.append(upload)
        try:
            yield True
        finally:
            self._holding.remove(upload)
            self._give_back()

    async def _take(self) -> bool:
        if len(self._holding) < self._most and not self._waiting:
            return True
        if len(self._waiting) >= MOST_STREAMS:
            return False
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        try:
            for seconds in (self._patience, 1.0):
                await asyncio.wait([waiting], timeout=seconds)
                if waiting.done() or not self._displace_slowest():
                    break
        except asyncio.CancelledError:
            if waiting.done():
                self._give_back()
            raise
        finally:
            with suppress(ValueError):
                self._waiting.remove(waiting)
        return waiting.done()

    def _displace_slowest(self) -> bool:
        """End the slowest of the bodies that have held a worker for as long as another waited for it."""
        now = asyncio.get_running_loop().time()
        paces = [
            (pace, body) for body in self._holding for seconds, pace in [body.pace(now)] if seconds >= self._patience
        ]
        pace, slowest = min(paces, key=lambda pair: pair[0], default=(math.inf, None))
        if slowest is None or pace >= STREAM_PACE:
            return False
        slowest.give_up()
        return True

    def _give_back(self) -> None:
        while self._waiting:
            if not (waiting := self._waiting.popleft()).done():
                waiting.set_result(None)
                return


@dataclass(slots=True)
class InLine:
    """What is known of whether a request waits for a worker."""

    ahead: Callable[[], int] = lambda: 0
    waits: bool = False


IN_LINE: ContextVar[InLine | None] = ContextVar("IN_LINE", default=None)
"""Where a request says that it waits, of which somebody asks while it is under way."""


class Line:
    """Requests that wait for a worker: small ones and others get one by turns, and so do their clients among them."""

    def __init__(self) -> None:
        self._small: Shares[asyncio.Future[Any]] = Shares()
        self._others: Shares[asyncio.Future[Any]] = Shares()
        self._small_next = True
        self._order: dict[asyncio.Future[Any], None] = {}
        """All of them, as they came."""

    def __len__(self) -> int:
        return len(self._small) + len(self._others)

    def join(self, *, small: bool, client: str = "", size: int = 0) -> asyncio.Future[Any]:
        """Wait behind what this client has waiting, holding so many bytes; what is waited for becomes the result."""
        waiting: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        (self._small if small else self._others).add(client, waiting, size)
        self._order[waiting] = None
        return waiting

    def ahead(self, waiting: asyncio.Future[Any]) -> int:
        """How many wait that came before; as clients take turns, it may be sooner or later than that."""
        return next((place for place, each in enumerate(self._order) if each is waiting), 0)

    def leave(self, waiting: asyncio.Future[Any]) -> None:
        """Wait no longer."""
        self._order.pop(waiting, None)
        for line in (self._small, self._others):
            line.discard(waiting)

    def may_make_room(self, client: str) -> bool:
        """Whether somebody would be sent away for this client."""
        return any(line.may_give_way(client) for line in (self._others, self._small))

    def make_room(self, client: str, size: int | None = None) -> bool:
        """Send away the last that came of whoever has most waiting, or holds most by it, if this client has less."""
        for line in (self._others, self._small):
            if (waiting := line.give_way(client, size)) is not None:
                if not waiting.done():
                    waiting.set_exception(
                        busy("you have more requests waiting than others, for one of whom the place is needed")
                    )
                return True
        return False

    def pop(self) -> asyncio.Future[Any] | None:
        """Whose turn it is; none if nobody waits."""
        while self:
            first, second = (self._small, self._others) if self._small_next else (self._others, self._small)
            waiting = (first if len(first) else second).next()
            if waiting is not None and not waiting.done():
                self._small_next = not self._small_next
                return waiting
        return None


class Refusals:
    """When those that are refused learn it: not so soon that refusing takes the time of answering.

    Clients that ask again at once would otherwise be refused a thousand times a second.
    """

    def __init__(self) -> None:
        self._next = 0.0

    def delay(self, now: float) -> float:
        """For how many seconds to keep the next refusal."""
        at = min(max(self._next, now), now + LONGEST_REFUSAL)
        self._next = at + 1 / REFUSALS
        return at - now


class Turns:
    """Turns at computing in the server itself, for small requests: so few that everything else gets its own.

    Between two of them the event loop turns several times, more often while there are connections to take; if that
    took longer than a computation, as many are computed as would take as long. A worker that comes free takes one of
    those that wait.
    """

    def __init__(self) -> None:
        self._holds_place = False
        self._computing = 0
        self._ended = 0.0
        self._seconds = 0.01
        self._waiting: Shares[asyncio.Future[bool]] = Shares()
        self._listening = select.poll()

    def watch(self, listening: Iterable[int]) -> None:
        """From here on connections that wait at these descriptors are taken before anything is computed."""
        for descriptor in listening:
            self._listening.register(descriptor, select.POLLIN)

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn."""
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether the next request has to wait."""
        return self._holds_place or self._connections_wait()

    @asynccontextmanager
    async def turn(self, client: str = "") -> AsyncIterator[bool]:
        """Wait for a turn, or refuse it; false if a worker came free before."""
        loop = asyncio.get_running_loop()
        if self.busy:
            if not await self._wait(loop, client):
                yield False
                return
        else:
            self._holds_place, self._computing = True, 1
        began = loop.time()
        try:
            yield True
        finally:
            self._seconds += (loop.time() - began - self._seconds) / 10
            self._end(loop)

    def pass_on(self) -> None:
        """Have the first that waits go to a worker."""
        self._give(own=False)

    def is_full(self, client: str | None = None) -> bool:
        """Whether the next request is refused; for a client, even if others give way."""
        full = len(self._waiting) >= MOST_SMALL
        return full and not (client is not None and self._waiting.may_give_way(client))

    async def _wait(self, loop: asyncio.AbstractEventLoop, client: str) -> bool:
        if self.is_full():
            if (displaced := self._waiting.give_way(client)) is None:
                raise self.full()
            if not displaced.done():
                displaced.set_exception(self.full())
        turn: asyncio.Future[bool] = loop.create_future()
        self._waiting.add(client, turn)
        if not self._holds_place:
            self._holds_place, self._ended = True, loop.time()
            loop.call_soon(self._next, loop)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None and turn.result():
                self._end(loop)
            raise
        finally:
            self._waiting.discard(turn)

    def full(self) -> Problem:
        """The problem of a request that finds too many before it."""
        return busy(f"{MOST_SMALL} small requests wait, as many as may; try again later", self._seconds * MOST_SMALL)

    def _end(self, loop: asyncio.AbstractEventLoop) -> None:
        self._computing -= 1
        if not self._computing:
            self._ended = loop.time()
            loop.call_soon(self._next, loop)

    def _next(self, loop: asyncio.AbstractEventLoop, passed: int = 0) -> None:
        if passed < LEAST_TURNS or (passed < MOST_TURNS and self._connections_wait()):
            loop.call_soon(self._next, loop, passed + 1)
            return
        number = int((loop.time() - self._ended) / max(self._seconds, 1e-4))
        while self._computing < min(max(number, 1), MOST_IN_TURN) and self._give(own=True):
            self._computing += 1
        self._holds_place = self._computing > 0

    def _give(self, *, own: bool) -> bool:
        """Tell the first that waits to go on, here or by a worker; false if none waits."""
        while (turn := self._waiting.next()) is not None:
            if not turn.done():
                turn.set_result(own)
                return True
        return False

    def _connections_wait(self) -> bool:
        return any(event & select.POLLIN for _, event in self._listening.poll(0))
