"""Headers that keep a browser from doing with an answer what it is not meant for; a page may set its own."""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from collections.abc import Collection, Sequence
from hashlib import sha256

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.addresses import Addresses, local_path
from app.http.service import NOT_FOUND, OURS, Service, refusal
from app.telemetry import logs
from app.telemetry.logs import Exchange, request_id
from app.workers.intake import Disconnected
from macekit.problems import Problem

ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Headers:
    """Adds each header that an answer has not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to its answer's headers."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                message["headers"] = headers + [pair for pair in ALWAYS if pair[0] not in names]
            await send(message)

        await self.app(scope, receive, guarded)
        return None


# --- identity -----------------------------------------------------------------------------------------------
# A name for every request: the caller's, if it is a sane one, or one made here; every answer carries it.

HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Identity:
    """Gives each request its id, for logs and answer alike."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Name the request and its answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        name = named(scope)

        async def signed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, name.encode())]
            await send(message)

        token = request_id.set(name)
        try:
            await self.app(scope, receive, signed)
        finally:
            request_id.reset(token)
        return None


def named(scope: Scope) -> str:
    """Return the id a request asks for, or a new one."""
    given = [value for name, value in scope["headers"] if name == HEADER]
    if len(given) == 1 and SANE.fullmatch(given[0]):
        return bytes(given[0]).decode("ascii")
    return secrets.token_hex(16)


# --- record -------------------------------------------------------------------------------------------------
# Every request is logged, counted and, if asked for, traced: by its route's template, whatever became of
# it.


class Record:
    """Keeps the exchange of each request, and tells it at its end."""

    def __init__(self, app: ASGIApp, service: Service, addresses: Addresses) -> None:
        self.app = app
        self.service = service
        self.addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch one request from its head to the end of its answer."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        exchange = Exchange.begin(scope, request_id.get() or "")
        if (address := self.addresses.find(local_path(scope))) is not None:
            exchange.route, exchange.operation = address.template, address.operation

        async def received() -> Message:
            message = await receive()
            exchange.bytes_in += len(message.get("body", b""))
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)

        try:
            with self.service.traces.span(scope, exchange):
                await self.app(scope, received, sent)
        finally:
            self.service.metrics.count(exchange)
            logs.tell(exchange)
        return None


# --- access -------------------------------------------------------------------------------------------------
# The bearer key: without it a client gets no further, and does not learn which addresses exist.

NEEDED = "send the header Authorization: Bearer KEY"


class Access:
    """Asks for the key, if there is one, everywhere but at the addresses open to all."""

    def __init__(
        self, app: ASGIApp, addresses: Addresses, key: bytes | None, open_to_all: Collection[str]
    ) -> None:
        self.app = app
        self.addresses = addresses
        self.digest = None if key is None else sha256(key).digest()
        self.open_to_all = frozenset(open_to_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests that carry the key."""
        if scope["type"] != "http" or self.digest is None or self._open(scope) or self._holds(scope):
            return await self.app(scope, receive, send)
        return await refusal(scope, Problem("unauthorized", NEEDED))(scope, receive, send)

    def _open(self, scope: Scope) -> bool:
        address = self.addresses.find(local_path(scope))
        return address is not None and address.template in self.open_to_all

    def _holds(self, scope: Scope) -> bool:
        """Whether the request carries the key; digests are of one length, so not even the key's length shows."""
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if self.digest is None or len(given) != 1:
            return False
        scheme, _, key = given[0].partition(b" ")
        right = hmac.compare_digest(sha256(key.strip()).digest(), self.digest)
        return right and scheme.lower() == b"bearer"


# --- methods ------------------------------------------------------------------------------------------------
# What holds for every route: 404 and 405 as problems, OPTIONS answered, HEAD as GET without its body.


class Methods:
    """Lets through what some route answers, and answers the rest."""

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        self.app = app
        self.addresses = addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out whether the address exists and takes the method."""
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        method, address = scope["method"], self.addresses.find(local_path(scope))
        if address is None:
            problem = Problem("not-found", NOT_FOUND)
            return await refusal(scope, problem)(scope, receive, send)
        allow = {"Allow": address.allow}
        if method == "OPTIONS":
            return await Response(status_code=204, headers=allow)(scope, receive, send)
        if method not in address.methods:
            problem = Problem("method-not-allowed", f"this address takes {address.allow}")
            return await refusal(scope, problem, allow)(scope, receive, send)
        if method == "HEAD":
            return await self.app({**scope, "method": "GET"}, receive, _headless(send))
        return await self.app(scope, receive, send)


def _headless(send: Send) -> Send:
    """Send an answer's head and none of its body."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return sent


# --- errors -------------------------------------------------------------------------------------------------
# The last resort: whatever is raised becomes a problem that says nothing but where to look.

log = logging.getLogger(__name__)


class Errors:
    """Answers for a route that raised, or that the end of the service cut short."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer in the route's place if need be.

        Once an answer has begun it cannot be taken back: then the exception goes on, and the server cuts the
        connection, so that half an answer does not look like a whole one.
        """
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except (ClientDisconnect, Disconnected):
            if begun:
                raise
        except asyncio.CancelledError:
            if self.service.draining and not begun:
                late = Problem(
                    "shutting-down", "the service is shutting down; send the request again", retry_after=5
                )
                await refusal(scope, late)(scope, receive, send)
            raise
        except Exception:
            log.exception("a request failed")
            if begun:
                raise
            await refusal(scope, Problem("internal", OURS))(scope, receive, send)
        return None


# --- front --------------------------------------------------------------------------------------------------
# What every request passes before its route, outermost first; each layer is plain ASGI and one step.

PREFLIGHT = 600
"""Seconds a browser may remember what another origin is allowed."""


def front(service: Service, routes: Sequence[BaseRoute], open_to_all: Collection[str]) -> list[Middleware]:
    """The layers in front of an app's routes.

    Errors stand inside the record, so that a failure is counted and its answer has the headers; other origins' pages
    are answered before the key is asked for, because a browser's preflight carries none and a refusal must be readable.
    """
    addresses = Addresses(routes)
    origins = service.settings.cors_origins
    others = [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "HEAD", "POST"],
            allow_headers=[
                "Authorization",
                "Content-Encoding",
                "Content-Type",
                "X-Request-ID",
                "traceparent",
            ],
            expose_headers=["Retry-After", "X-Request-ID"],
            max_age=PREFLIGHT,
        )
    ]
    return [
        Middleware(Identity),
        Middleware(Record, service=service, addresses=addresses),
        Middleware(Headers),
        Middleware(Errors, service=service),
        *(others if origins else []),
        Middleware(Access, addresses=addresses, key=service.settings.key, open_to_all=open_to_all),
        Middleware(Methods, addresses=addresses),
    ]
