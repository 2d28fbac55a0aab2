"""The operations: each takes a body, hands it to the workers as it came, and returns what they answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.jobs import intake
from app.openapi import theory
from app.openapi.document import SUMMARIES, described, media_types, operation
from app.routes.answers import answer
from app.routes.downloads import headers_of
from app.routes.negotiation import accepted, encoding, media_type
from app.routes.service import service
from app.telemetry.exchange import Exchange
from macekit.call import PARQUET, Call
from macekit.catalogue import FORMS, quick, rendered
from macekit.operations.counts import streams

CLIENT_GONE = 499
"""What the log and the metrics say of a request whose client left before the answer; nobody receives it."""

ABOUT = {
    "advantage": "With `threshold` there is a verdict; with `claimed_epsilon` the claim is checked.",
    "individual-risk": "`Accept: text/csv` or an Arrow stream returns the records alone, HTML a report.",
    "metrics": "Every preset if `metrics` is left out.",
    "compare": "Intervals hold for all queries together.",
    "audit": "Guesses at the two ends of the scores, against what the promise allows.",
    "report": "With `Accept: text/html` a page to look at, in one file; as JSON, what it is drawn from.",
    "gate": "At least one limit: `max_advantage`, `max_epsilon`, `max` with `metric`, `max_group_risk` with `groups`.",
    "plan": "Tried on simulated samples; takes a second or two.",
    "columns": "The body may be cut off: 256 KiB of CSV, Arrow or NPY are enough; of Parquet, `PAR1` and the footer.",
    "counts": "NPY, Arrow and CSV are counted as they arrive, however many.",
    **theory.ABOUT,
}


def router() -> APIRouter:
    """A route for each operation."""
    made = APIRouter(prefix="/v1")
    for name, summary in SUMMARIES.items():
        made.add_api_route(
            f"/{name}",
            _endpoint(name),
            methods=["POST"],
            tags=["theory" if name in theory.SUMMARIES else "work"],
            operation_id=name.replace("-", "_").replace("/", "_"),
            summary=summary,
            description=described(name, ABOUT[name]),
            response_class=Response,
            openapi_extra=operation(name),
        )
    return made


def _endpoint(name: str) -> Callable[[Request], Awaitable[Response]]:
    async def work(request: Request) -> Response:
        pool = service(request).pool
        call = Call(
            name,
            media_type(request.headers, media_types(name)),
            encoding(request.headers),
            tuple(request.query_params.multi_items()),
            accepted(request.headers, FORMS[name]),
            pool.settings.expanded_limit,
            Exchange.of(request.scope).request_id,
        )
        streamed = name == "counts" and call.media_type != PARQUET and streams(call)
        client = request.client.host if request.client else ""
        try:
            reply = await intake.answer(
                pool, call, request.receive, request.headers, client=client, streamed=streamed, inline=quick
            )
        except intake.Disconnected:
            return Response(status_code=CLIENT_GONE)
        return answer(request.scope, reply, headers_of(call.accept) if rendered(call) else None)

    return work
