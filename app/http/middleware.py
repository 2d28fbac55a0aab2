"""What every request passes before its route, outermost first; each layer is plain ASGI and one step."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.audit_file import AuditFile
from app.http.access import Access
from app.http.jobs import RESULT
from app.http.service import NOT_FOUND, Service, refusal
from app.refusals import internal_error, not_ready, shutting_down
from app.telemetry import logs
from app.telemetry.logs import Exchange, request_id
from app.workers.intake import Disconnected
from macekit.problems import Problem

log = logging.getLogger(__name__)

# The route of a request is found once, before anything else: logs, metrics and the key go by it, and
# the request is handed to it at the end. 404, 405, HEAD and OPTIONS are answered here for every route alike.


class FindRoute:
    """Leaves the route of each request in ``scope["route"]``, and in ``scope["allow"]`` what it takes instead."""

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self.app = app
        self.routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look through the routes as Starlette's router does, with HEAD as GET.

        No route has an address that needs escapes, so one with an escape has none: a proxy that lets some addresses
        through and others not must never see another address than this service does.
        """
        if scope["type"] == "http" and b"%" not in scope.get("raw_path", b""):
            request = {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope
            methods: set[str] = set()
            for route in self.routes:
                match, details = route.matches(request)
                if match is Match.FULL or (match is Match.PARTIAL and not methods):
                    scope.update({**details, "route": route})
                if match is Match.FULL:
                    break
                if match is Match.PARTIAL:
                    methods |= getattr(route, "methods", set())
            else:
                scope["allow"] = ", ".join(sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set())))
        await self.app(scope, receive, send)


class CallRoute:
    """Stands in the router's place: hands a request to its route, or says why there is none."""

    def __init__(self, router: Router) -> None:
        self.router = router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the lifespan of the app stays the router's."""
        if scope["type"] != "http":
            return await self.router.app(scope, receive, send)
        if (route := scope.get("route")) is None:
            raise Problem("not-found", NOT_FOUND)
        if (allow := scope.get("allow")) is None:
            if scope["method"] == "HEAD":
                scope, send = {**scope, "method": "GET"}, _without_body(send)
            await route.handle(scope, receive, send)
            return None
        headers = {"Allow": allow}
        if scope["method"] == "OPTIONS":
            return await Response(status_code=204, headers=headers)(scope, receive, send)
        problem = Problem("method-not-allowed", f"this address takes {allow}")
        return await refusal(scope, problem, headers)(scope, receive, send)


def _without_body(send: Send) -> Send:
    """Send an answer's head and none of its body."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return send_head


HEADER = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class Layer(ABC):
    """A layer in front of the routes that adds something to each request or its answer; all else passes it by."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        await (self.handle if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and what is sent in answer."""


class Identity(Layer):
    """Gives each request its id, for logs and answer alike."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Name the request and its answer."""
        name = request_name(scope)

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (HEADER, name.encode())]
            await send(message)

        token = request_id.set(name)
        try:
            await self.app(scope, receive, send_with_id)
        finally:
            request_id.reset(token)


def request_name(scope: Scope) -> str:
    """Return the id a request asks for, or a new one."""
    values = [value for name, value in scope["headers"] if name == HEADER]
    if len(values) == 1 and SANE.fullmatch(values[0]):
        return bytes(values[0]).decode("ascii")
    return secrets.token_hex(16)


class Record(Layer):
    """Keeps the exchange of each request; logs, counts and traces it by its route's template, whatever became of it."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        super().__init__(app)
        self.service = service

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch one request from its head to the end of its answer."""
        exchange = Exchange.begin(scope, request_id.get() or "")
        if (route := scope.get("route")) is not None:
            exchange.route = route.path
            exchange.operation = getattr(route, "operation_id", None) or route.name or "none"

        async def count_bytes() -> Message:
            message = await receive()
            exchange.bytes_in += len(message.get("body", b""))
            return message

        async def note_status(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
            await send(message)

        try:
            with self.service.traces.span(scope, exchange):
                await self.app(scope, count_bytes, note_status)
        finally:
            self.service.metrics.count(exchange)
            logs.log_exchange(exchange)


ALWAYS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)


class Headers(Layer):
    """Adds headers that keep a browser from doing with an answer what it is not meant for, unless it has its own."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add to its answer's headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                message["headers"] = headers + [pair for pair in ALWAYS if pair[0] not in names]
            await send(message)

        await self.app(scope, receive, send_with_headers)


AUDIT_FAILED = "the audit file cannot be written, so nothing is answered; tell the operator"


class Audit:
    """Writes the line of each question before its answer leaves; without the line the answer does not leave."""

    def __init__(self, app: ASGIApp, audit: AuditFile) -> None:
        self.app = app
        self.audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer once its line is written; none while no line can be written."""
        if scope["type"] != "http" or not _is_audited(scope.get("route")):
            return await self.app(scope, receive, send)
        if self.audit.fault is not None:
            return await refusal(scope, not_ready(AUDIT_FAILED))(scope, receive, send)
        withheld = False

        async def send_audited(message: Message) -> None:
            nonlocal withheld
            if message["type"] == "http.response.start":
                exchange = Exchange.of(scope)
                try:
                    await self.audit.write({**exchange.facts(), "status": message["status"]})
                except OSError:
                    withheld = True
                    exchange.answer_sha256 = None
                    await refusal(scope, not_ready(AUDIT_FAILED))(scope, receive, send)
            if not withheld:
                await send(message)

        return await self.app(scope, receive, send_audited)


def _is_audited(route: Any) -> bool:
    """Whether a request asks a question, or fetches the answer of one."""
    return route is not None and ("POST" in getattr(route, "methods", ()) or route.path == RESULT)


WRONG_HOST = "this service does not go by the name in the header Host; MACE_ALLOWED_HOSTS lists those it does"


class Hosts:
    """Refuses requests for another host, if the settings name those of this service; probes and metrics go by any.

    A page of another origin can have the browser ask this machine under a name of its own.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], open_to_all: Collection[str]) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)
        self.open_to_all = frozenset(open_to_all)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests for a host of this service."""
        if scope["type"] == "http" and not self._is_ours(scope):
            return await refusal(scope, Problem("bad-request", WRONG_HOST))(scope, receive, send)
        return await self.app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        route = scope.get("route")
        if route is not None and route.path in self.open_to_all:
            return True
        values = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        return len(values) == 1 and PORT.sub("", values[0]) in self.hosts


PORT = re.compile(r":[0-9]*\Z")


class Errors(Layer):
    """Answers for a route that raised, or that the end of the service cut short, and says nothing but where to look."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        super().__init__(app)
        self.service = service

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer in the route's place if need be.

        Once an answer has begun it cannot be taken back: then the exception goes on, and the server cuts the
        connection, so that half an answer does not look like a whole one.
        """
        answer_began = False

        async def note_start(message: Message) -> None:
            nonlocal answer_began
            answer_began = True
            await send(message)

        try:
            await self.app(scope, receive, note_start)
        except (ClientDisconnect, Disconnected):
            if answer_began:
                raise
        except asyncio.CancelledError:
            if self.service.draining and not answer_began:
                await refusal(scope, shutting_down())(scope, receive, send)
            raise
        except Exception:
            log.exception("a request failed")
            if answer_began:
                raise
            await refusal(scope, internal_error())(scope, receive, send)


PREFLIGHT = 600  # seconds a browser may remember what another origin is allowed


def front(
    service: Service, routes: Sequence[BaseRoute], open_to_all: Collection[str], probes: Collection[str]
) -> list[Middleware]:
    """The layers in front of an app's routes.

    Errors stand inside the record, so that a failure is counted and its answer has the headers; other origins' pages
    are answered before the key is asked for, because a browser's preflight carries none and a refusal must be readable.
    """
    origins, hosts = service.settings.cors_origins, service.settings.allowed_hosts
    others = [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["DELETE", "GET", "HEAD", "POST"],
            allow_headers=[
                "Authorization",
                "Content-Encoding",
                "Content-Type",
                "Prefer",
                "X-Request-ID",
                "traceparent",
            ],
            expose_headers=[
                "Location",
                "Mace-Kept-For",
                "Mace-Signature",
                "Preference-Applied",
                "Retry-After",
                "X-Request-ID",
            ],
            max_age=PREFLIGHT,
        )
    ]
    return [
        Middleware(FindRoute, routes=routes),
        Middleware(Identity),
        Middleware(Record, service=service),
        Middleware(Headers),
        *([] if service.audit is None else [Middleware(Audit, audit=service.audit)]),
        Middleware(Errors, service=service),
        *([Middleware(Hosts, hosts=hosts, open_to_all=probes)] if hosts else []),
        *(others if origins else []),
        Middleware(Access, keys=service.keys, open_to_all=open_to_all, pace=service.pace),
    ]
