"""What the headers of a request say about its body and about the answer it wants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import Response

from app.http.service import answer, service
from app.openapi.document import described, operation
from app.telemetry.logs import Exchange
from app.workers import intake
from macekit.call import CSV, HTML, MARKDOWN, PARQUET, PNG, SVG, Call
from macekit.catalogue import OPERATIONS, Operation, quick, rendered
from macekit.operations.counts import streams
from macekit.problems import Problem
from macekit.report.html import CSP

MOST_RANGES = 32
"""Ranges of Accept that are looked at: browsers send five."""

UNREAD = ("*/*", 0.001)
"""What the ranges beyond those are taken for: anything, as good as not at all."""

ENCODINGS = ("identity", "gzip", "zstd")


def media_type(headers: Headers, known: Sequence[str]) -> str:
    """The body's format, without parameters."""
    given = headers.get("content-type", "").partition(";")[0].strip().lower()
    if given not in known:
        came = "one that is not known here" if given else "none"
        raise Problem(
            "unsupported-media-type", f"Content-Type: got {came}, need {_either(known)}", field="Content-Type"
        )
    return given


def encoding(headers: Headers) -> str:
    """How the body is compressed; one layer at most."""
    given = headers.get("content-encoding", "identity").strip().lower() or "identity"
    if given not in ENCODINGS:
        raise Problem(
            "unsupported-media-type",
            f"Content-Encoding: got one that is not known here, need {_either(ENCODINGS)}",
            field="Content-Encoding",
        )
    return given


def accepted(headers: Headers, offered: Sequence[str]) -> str:
    """The form of the answer: of those offered the one the client likes best, the first in a draw."""
    given = ",".join(headers.getlist("accept")) or "*/*"  # several lines are one list (RFC 9110, 5.3)
    parts = [part for part in given.split(",") if part.strip()]
    ranges = [*map(_range, parts[:MOST_RANGES]), *([UNREAD] if len(parts) > MOST_RANGES else [])]
    best, liking = "", 0.0
    for form in offered:
        weights = [(_narrow(pattern), weight) for pattern, weight in ranges if _fits(pattern, form)]
        weight = (
            max(weights)[1] if weights else 0.0
        )  # the narrowest range that fits decides (RFC 9110, 12.5.1)
        if weight > liking:
            best, liking = form, weight
    if not best:
        raise Problem("not-acceptable", f"Accept: the answer exists as {_either(offered)}", field="Accept")
    return best


def _range(part: str) -> tuple[str, float]:
    pattern, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "q":
            return pattern, _weight(value)
    return pattern, 1.0


def _weight(value: str) -> float:
    """How much a range is liked; what is no number from 0 to 1 (nor is NaN) is no liking."""
    try:
        found = float(value)
    except ValueError:
        return 0.0
    return found if 0.0 <= found <= 1.0 else 0.0


def _fits(pattern: str, form: str) -> bool:
    return pattern in {"*/*", "*", form} or pattern == form.partition("/")[0] + "/*"


def _narrow(pattern: str) -> int:
    return 0 if pattern in {"*/*", "*"} else 1 if pattern.endswith("/*") else 2


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


# --- downloads ----------------------------------------------------------------------------------------------
# What a report says of itself in its headers: what a browser may do with it, and under which name it is
# kept.

SUFFIXES = {HTML: "html", MARKDOWN: "md", CSV: "csv", SVG: "svg", PNG: "png"}


def headers_of(form: str) -> dict[str, str]:
    """Headers of a report in this form: a page is shown under its own policy, all else is a file."""
    kept = f'filename="mace-report.{SUFFIXES[form]}"'
    if form != HTML:
        return {"Content-Disposition": f"attachment; {kept}"}
    return {
        "Content-Disposition": f"inline; {kept}",
        "Content-Security-Policy": f"{CSP}; frame-ancestors 'self'",
    }


# --- v1 -----------------------------------------------------------------------------------------------------
# The operations: each takes a body, hands it to the workers as it came, and returns what they answer.

CLIENT_GONE = 499
"""The status in logs and metrics of a request whose client left before the answer; it is never sent."""


def router() -> APIRouter:
    """A route for each operation."""
    made = APIRouter(prefix="/v1")
    for row in OPERATIONS:
        made.add_api_route(
            f"/{row.name}",
            _endpoint(row),
            methods=["POST"],
            tags=["theory" if row.paper else "work"],
            operation_id=row.name.replace("-", "_").replace("/", "_"),
            summary=row.summary,
            description=described(row),
            response_class=Response,
            openapi_extra=operation(row),
        )
    return made


def _endpoint(row: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def work(request: Request) -> Response:
        pool = service(request).pool
        call = Call(
            row.name,
            media_type(request.headers, row.bodies),
            encoding(request.headers),
            tuple(request.query_params.multi_items()),
            accepted(request.headers, row.forms),
            pool.settings.expanded_limit,
            Exchange.of(request.scope).request_id,
        )
        streamed = row.name == "counts" and call.media_type != PARQUET and streams(call)
        client = request.client.host if request.client else ""
        try:
            reply = await intake.answer(
                pool, call, request.receive, request.headers, client=client, streamed=streamed, inline=quick
            )
        except intake.Disconnected:
            return Response(status_code=CLIENT_GONE)
        return answer(request.scope, reply, headers_of(call.accept) if rendered(call) else None)

    return work
