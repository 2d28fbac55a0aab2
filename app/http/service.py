"""The service that the routes of an app share, and how replies and problems become HTTP responses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.audit_file import AuditFile
from app.http.jobs import JOBS, PREFERENCE, Description, Jobs, Outcome
from app.keys import KeyRing
from app.refusals import internal_error
from app.runs import Sealing
from app.settings import STATES, Settings
from app.telemetry.logs import Exchange
from app.telemetry.metrics import Metrics
from app.telemetry.traces import Traces
from app.workers.pool import Pool
from macekit.call import Reply
from macekit.problems import Problem

if TYPE_CHECKING:
    from app.signing import Signer


class Shared(Protocol):
    """What replicas share; ``fault`` says why it cannot be used now."""

    fault: str | None

    async def start(self) -> None:
        """Reach it, or go on trying."""

    async def close(self) -> None:
        """Let go of it."""


class KeyPace(Protocol):
    """How often each key was used in the minute that ends now."""

    async def count(self, key: str, most: int, why: str) -> None:
        """Count a use, or refuse it by a problem."""


@dataclass(slots=True)
class Service:
    """The app's settings, its workers, and what it tells about itself; ``draining`` turns true once, at the end."""

    settings: Settings
    pool: Pool
    traces: Traces
    jobs: Jobs
    signer: Signer | None = None
    audit: AuditFile | None = None
    runs: Sealing | None = None
    keys: KeyRing | None = None
    store: Shared | None = None
    pace: KeyPace | None = None
    """Of the keys at all replicas; None: each replica counts by itself."""
    metrics: Metrics = field(default_factory=Metrics)
    draining: bool = False
    last_turn: float = field(default_factory=time.monotonic)
    """When the event loop last turned, by the clock that every thread reads alike."""

    def gauges(self) -> dict[str, tuple[str, float]]:
        """How its files are; those that it does not have are well."""
        keys = self.keys if self.keys is not None and self.keys.path is not None else None
        return {
            "mace_keys_sound": (
                "1 if the file of keys can be used, else 0.",
                float(keys is None or keys.look() is None),
            ),
            "mace_keys_age_seconds": (
                "Seconds since it was seen that keys are those of the file.",
                0.0 if keys is None else keys.age,
            ),
            "mace_audit_written": (
                "1 if lines of the audit file can be written, else 0.",
                float(self.audit is None or self.audit.fault is None),
            ),
            "mace_store_reached": (
                "1 if the store that replicas share can be used, else 0.",
                float(self.store is None or self.store.fault is None),
            ),
        }

    def reload(self) -> None:
        """Read all keys again, and go on in a new audit file if the one that is written was moved away."""
        if self.keys is not None:
            self.keys.look(now=True)
        if self.audit is not None:
            self.audit.reopen()
        if self.signer is not None:
            self.signer.reload()
            if self.runs is not None:
                self.runs.keys = self.signer.derived_keys(STATES)


async def keep_time(state: Service) -> None:
    """Note every second that the event loop turns."""
    while True:
        state.last_turn = time.monotonic()
        await asyncio.sleep(1.0)


def service(request: Request) -> Service:
    """Return the service that a request came to."""
    return cast(Service, request.app.state.service)


NOT_FOUND = "there is nothing at this address; /docs shows what there is"


def answered(request: Request, outcome: Outcome) -> Response:
    """Return the response for what came of a question; both hashes are noted."""
    exchange = Exchange.of(request.scope)
    exchange.input_sha256, exchange.answer_sha256 = outcome.reply.input_sha256, outcome.sha256
    return answer(request.scope, outcome.reply, outcome.headers)


def accepted_later(request: Request, description: Description) -> Response:
    """Return where the answer of a job will be."""
    place = f"{request.scope.get('root_path', '')}{JOBS}/{description['id']}"
    headers = {"Location": place, "Preference-Applied": PREFERENCE, "Retry-After": "1"}
    return JSONResponse(description, 202, headers)


def answer(scope: Any, reply: Reply, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a reply of the work; ``headers`` are of an answer, a problem has none."""
    return _response(scope, reply, headers if reply.problem is None else None)


def refusal(scope: Any, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem; it names the request's id."""
    return _response(scope, problem.reply(Exchange.of(scope).request_id or None), headers)


def _response(scope: Any, reply: Reply, headers: Mapping[str, str] | None) -> Response:
    exchange = Exchange.of(scope)
    exchange.records, exchange.problem = reply.records, reply.problem
    all_headers = dict(headers or {})
    if reply.retry_after is not None:
        all_headers["Retry-After"] = str(reply.retry_after)
    if reply.status == 401:
        all_headers["WWW-Authenticate"] = 'Bearer realm="mace"'
    return Response(reply.body, reply.status, all_headers, media_type=reply.media_type)


async def problem_raised(request: Request, error: Problem) -> Response:
    """Answer a problem that a route raised."""
    return refusal(request.scope, error)


async def framework_raised(request: Request, error: HTTPException) -> Response:
    """Answer a 404 of the pages, and any exception that a route or FastAPI raised for a status of its own."""
    if error.status_code == 404:
        return refusal(request.scope, Problem("not-found", NOT_FOUND))
    if error.status_code == 405:
        advice = "the header Allow names the methods this address takes"
        return refusal(request.scope, Problem("method-not-allowed", advice), error.headers)
    return refusal(request.scope, internal_error())


async def last_resort(request: Request, _error: Exception) -> Response:
    """Answer any unexpected exception, even one in a layer outside all others."""
    return refusal(request.scope, internal_error())


HANDLERS: dict[Any, Any] = {Problem: problem_raised, HTTPException: framework_raised, Exception: last_resort}
"""Who answers which exception."""
