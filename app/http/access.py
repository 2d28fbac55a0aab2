"""The bearer key: without it a client gets no further, and does not learn which addresses exist."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.jobs import JOBS, PLACE
from app.http.service import KeyPace, refusal
from app.keys import METRICS, Key, KeyRing
from app.refusals import too_fast, too_many
from app.telemetry.logs import Exchange
from macekit.problems import Problem

KEY_MISSING = "send the header Authorization: Bearer KEY, with a key that is good here; the operator has one"
MINUTE = 60.0
LOOKS = 1200  # how often in a minute a key may look after its jobs, whatever else it may


class Access:
    """Asks for a key, if there are any, everywhere but at the addresses open to all, and holds it to its limits."""

    def __init__(
        self, app: ASGIApp, keys: KeyRing | None, open_to_all: Collection[str], pace: KeyPace | None = None
    ) -> None:
        self.app = app
        self.keys = keys
        self.open_to_all = frozenset(open_to_all)
        self.under_way: Counter[str] = Counter()
        self.questions = pace or Pace()
        self.looks = Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests whose key opens the address and has not reached its limits.

        Looking after a job, fetching its answer and ending it takes no place, and has a pace of its own.
        """
        if scope["type"] != "http" or self.keys is None or self._open(scope):
            return await self.app(scope, receive, send)
        try:
            key = self._key(self.keys, scope)
            exchange = Exchange.of(scope)
            exchange.key, exchange.owner = key.name, key.sha256
            # who chose its own may be guessed
            exchange.key_sha256 = None if self.keys.path is None else key.sha256
            if not key.opens(need := need_of(scope)):
                detail = f"this key opens {' and '.join(key.scope)}, and this address is {need}"
                raise Problem("forbidden", detail)
            if scope["path"].startswith(JOBS) and scope["method"] != "POST":
                self.looks.keep(key.sha256, LOOKS, f"a key may look after its jobs {LOOKS} times a minute")
                return await self.app(scope, receive, send)
            if (most := key.requests_per_minute) is not None:
                await self.questions.count(key.sha256, most, f"this key may ask {most} times a minute")
            with ExitStack() as place:
                place.enter_context(self._place(key))
                scope.setdefault("state", {})[PLACE] = place
                await self.app(scope, _at_most(receive, scope, key.largest_body), send)
        except Problem as problem:
            return await refusal(scope, problem)(scope, receive, send)

    def _open(self, scope: Scope) -> bool:
        route = scope.get("route")
        return route is not None and route.path in self.open_to_all

    def _key(self, keys: KeyRing, scope: Scope) -> Key:
        if (key := key_of(keys, scope)) is None:
            raise Problem("unauthorized", KEY_MISSING)
        if key.has_expired():
            detail = f"this key ended on {key.expires:%Y-%m-%d}; ask the operator for a new one"
            raise Problem("unauthorized", detail)
        return key

    @contextmanager
    def _place(self, key: Key) -> Iterator[None]:
        """One of the requests that the key may have under way."""
        if key.at_once is not None and self.under_way[key.sha256] >= key.at_once:
            raise too_many("key", key.at_once)
        self.under_way[key.sha256] += 1
        try:
            yield
        finally:
            self.under_way[key.sha256] -= 1
            if not self.under_way[key.sha256]:
                del self.under_way[key.sha256]


def key_of(keys: KeyRing, scope: Scope) -> Key | None:
    """The key of the ring that a request carries."""
    values = [value for name, value in scope["headers"] if name == b"authorization"]
    scheme, _, secret = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
    key = keys.find(secret.strip())
    return key if scheme.lower() == b"bearer" else None


class Pace:
    """How often each key was used in the minute that ends now, by a clock that nobody sets."""

    def __init__(self) -> None:
        self._times: dict[str, deque[float]] = {}
        self._look_at = 0.0

    async def count(self, key: str, most: int, why: str) -> None:
        """Count a use, or refuse it."""
        self.keep(key, most, why)

    def keep(self, key: str, most: int, why: str) -> None:
        """Count a use, or refuse it."""
        now = time.monotonic()
        if now >= self._look_at:  # what rested for a minute is forgotten
            self._look_at = now + MINUTE
            self._times = {each: times for each, times in self._times.items() if times[-1] > now - MINUTE}
        times = self._times.setdefault(key, deque())
        while times and times[0] <= now - MINUTE:
            times.popleft()
        if len(times) >= most:
            raise too_fast(why, times[0] + MINUTE - now)
        times.append(now)


def need_of(scope: Scope) -> str | None:
    """The address that a key must open for this request; None: any key will do."""
    route = scope.get("route")
    path = "" if route is None else route.path
    is_question = path.startswith("/v1/") and "POST" in getattr(route, "methods", ())
    return path if is_question or path == METRICS else None


def _at_most(receive: Receive, scope: Scope, most: int | None) -> Receive:
    """The body, as far as the key may send one."""
    if most is None:
        return receive
    too_large = Problem("too-large", f"the body is larger than the {most} bytes that this key may send")
    declared = dict(scope["headers"]).get(b"content-length", b"")
    if declared.isdigit() and int(declared) > most:
        raise too_large
    size = 0

    async def count_bytes() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise too_large
        return message

    return count_bytes
