"""The bearer key: without it a client gets no further, and does not learn which addresses exist."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.jobs import PLACE
from app.http.service import refusal
from app.keys import Key, KeyRing
from app.telemetry.logs import Exchange
from macekit.problems import Problem

KEY_MISSING = "send the header Authorization: Bearer KEY"


class Access:
    """Asks for a key, if there are any, everywhere but at the addresses open to all, and holds it to its limits."""

    def __init__(self, app: ASGIApp, keys: KeyRing | None, open_to_all: Collection[str]) -> None:
        self.app = app
        self.keys = keys
        self.open_to_all = frozenset(open_to_all)
        self.under_way: Counter[str] = Counter()
        self.pace = MovingWindowRateLimiter(MemoryStorage())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests whose key opens the address and has not reached its limits."""
        if scope["type"] != "http" or self.keys is None or self._open(scope):
            return await self.app(scope, receive, send)
        try:
            key = self._key(self.keys, scope)
            Exchange.of(scope).key = key.name
            if not key.opens(need := need_of(scope)):
                raise Problem(
                    "forbidden", f"this key opens {' and '.join(key.scope)}, and this address needs {need}"
                )
            self._keep_pace(key)
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
        """The key that the request carries."""
        values = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, secret = values[0].partition(b" ") if len(values) == 1 else (b"", b"", b"")
        key = keys.find(secret.strip())
        if key is None or scheme.lower() != b"bearer":
            raise Problem("unauthorized", KEY_MISSING)
        if key.has_expired():
            raise Problem(
                "unauthorized", f"this key ended on {key.expires:%Y-%m-%d}; ask the operator for a new one"
            )
        return key

    def _keep_pace(self, key: Key) -> None:
        """Count the request in the minute that ends now."""
        if key.requests_per_minute is None:
            return
        minute = RateLimitItemPerMinute(key.requests_per_minute)
        if not self.pace.hit(minute, key.sha256):
            wait = self.pace.get_window_stats(minute, key.sha256).reset_time - time.time()
            raise Problem(
                "rate-limit",
                f"this key may ask {key.requests_per_minute} times a minute",
                retry_after=max(1, math.ceil(wait)),
            )

    @contextmanager
    def _place(self, key: Key) -> Iterator[None]:
        """One of the requests that the key may have under way."""
        if key.at_once is not None and self.under_way[key.sha256] >= key.at_once:
            raise Problem(
                "too-many-requests",
                f"this key has {key.at_once} requests under way, as many as it may; wait for one of them",
                retry_after=1,
            )
        self.under_way[key.sha256] += 1
        try:
            yield
        finally:
            self.under_way[key.sha256] -= 1
            if not self.under_way[key.sha256]:
                del self.under_way[key.sha256]


def need_of(scope: Scope) -> str | None:
    """What a key must open for this request; None: any key will do."""
    route = scope.get("route")
    path = "" if route is None else route.path
    if path == "/metrics":
        return "metrics"
    if not path.startswith("/v1/") or "POST" not in getattr(route, "methods", ()):
        return None
    return "counts" if path == "/v1/counts" else "ask"


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
