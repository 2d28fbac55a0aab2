"""Replies and problems as HTTP responses, noted in the exchange on the way out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from app.call import PROBLEM, Reply
from app.problems import KINDS, Problem
from app.telemetry.exchange import Exchange
from estimators import MaceError

OF_STATUS = {
    400: ("malformed-body", "the request cannot be read"),
    401: ("unauthorized", "a bearer key is needed"),
    404: ("not-found", "there is nothing at this address; /docs shows what there is"),
    405: ("method-not-allowed", "the header Allow names the methods this address takes"),
    406: ("not-acceptable", "the answer does not exist in the format asked for"),
    408: ("upload-stalled", "the body stopped arriving"),
    413: ("too-large", "the body is larger than this service accepts"),
    415: ("unsupported-media-type", "the format of the body is not known here"),
    429: ("too-many-requests", "this client has too many requests under way"),
    503: ("busy", "the service cannot take the request now"),
}
"""What the framework's own errors become, in our words: theirs may repeat what was submitted."""

OURS = "the service made a mistake; its log has the details under this request's id"


def answer(scope: Any, reply: Reply, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a reply of the work; ``headers`` are of an answer, a problem has none."""
    exchange = Exchange.of(scope)
    exchange.records, exchange.problem = reply.records, reply.problem
    found = dict(headers or {}) if reply.problem is None else {}
    if reply.retry_after is not None:
        found["Retry-After"] = str(reply.retry_after)
    return Response(reply.body, reply.status, found, media_type=reply.media_type)


def refusal(scope: Any, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for a problem; it names the request's id."""
    exchange = Exchange.of(scope)
    exchange.problem = problem.kind.slug
    found = dict(headers or {})
    if problem.retry_after is not None:
        found["Retry-After"] = str(problem.retry_after)
    if problem.kind.status == 401:
        found["WWW-Authenticate"] = 'Bearer realm="mace"'
    body = problem.body(exchange.request_id or None)
    return Response(body, problem.kind.status, found, media_type=PROBLEM)


async def problem_raised(request: Request, error: Problem) -> Response:
    """Answer a problem that a route raised."""
    return refusal(request.scope, error)


async def library_raised(request: Request, error: MaceError) -> Response:
    """Answer an error of the library that a route let through."""
    return refusal(request.scope, Problem.of(error))


async def framework_raised(request: Request, error: HTTPException) -> Response:
    """Answer an error of the framework's own."""
    slug, detail = OF_STATUS.get(error.status_code, ("internal", OURS))
    return refusal(request.scope, Problem(slug, detail), error.headers)


async def parameters_refused(request: Request, error: RequestValidationError) -> Response:
    """Answer parameters that do not fit; only names of ours are repeated, never what was sent."""
    first: dict[str, Any] = next(iter(error.errors()), {"loc": (), "type": ""})
    place = [str(part) for part in first["loc"]]
    if first["type"] == "json_invalid":
        return refusal(request.scope, Problem("malformed-body", "the body is not JSON"))
    name = place[1] if len(place) > 1 and place[0] in {"query", "path", "header"} else None
    if first["type"] == "missing":
        return refusal(
            request.scope, Problem("missing-field", f"{name or 'the body'}: is needed", field=name)
        )
    if first["type"] == "extra_forbidden":
        return refusal(request.scope, Problem("unknown-field", "a field is not known"))
    return refusal(
        request.scope, Problem("wrong-type", f"{name or 'the body'}: is not what is needed", field=name)
    )


async def last_resort(request: Request, _error: Exception) -> Response:
    """Answer what nobody foresaw, even an exception in a layer outside all others."""
    return refusal(request.scope, Problem("internal", OURS))


HANDLERS: dict[Any, Any] = {
    Problem: problem_raised,
    MaceError: library_raised,
    HTTPException: framework_raised,
    RequestValidationError: parameters_refused,
    Exception: last_resort,
}
"""Who answers which exception."""

assert all(slug in KINDS for slug, _ in OF_STATUS.values())
