"""The routes of the operations: from a request's headers and body to the workers, and back to a response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from anyio import to_thread
from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Receive

from app.http.jobs import Outcome, Question, seconds_to_wait
from app.http.service import Service, accepted_later, answered, service
from app.telemetry.logs import Exchange
from app.workers import intake
from app.workers.uploads import Spool
from macekit.call import BRIEF, FORM_DATA, HTML, JSON, PARQUET, Call, Reply
from macekit.catalogue import OPERATIONS, has_reports, quick, rendered
from macekit.formats import ALIASES, ENCODINGS, REPORTS
from macekit.operation import Operation
from macekit.problems import Problem, fault, pickle_problem
from macekit.questions.counts.work import streams
from macekit.questions.gate import SEAL
from macekit.reports.html import CSP
from macekit.schemas.query_string import DATA, DATED, DETAIL

MOST_RANGES = 32  # ranges of Accept that are looked at: browsers send five
REST = ("*/*", 0.001)  # stands for the ranges beyond those: anything, at the lowest preference


def media_type(headers: Headers, choices: Sequence[str]) -> str:
    """The body's format, without parameters."""
    value = headers.get("content-type", "").partition(";")[0].strip().lower()
    value = ALIASES.get(value, value)
    if not value and "transfer-encoding" not in headers and headers.get("content-length", "0") == "0":
        other = "" if tuple(choices) == (JSON,) else f", or name a dataset that the service has ({DATA}=NAME)"
        raise Problem("missing-field", f"the body: is missing; send one{other}", field="body")
    if "pickle" in value or "joblib" in value:
        raise pickle_problem()
    if value not in choices:
        problem = "one that is not known here" if value else "none"
        raise fault("unsupported-media-type", "Content-Type", f"got {problem}, need {_either(choices)}")
    return value


def encoding(headers: Headers) -> str:
    """How the body is compressed; one layer at most."""
    value = headers.get("content-encoding", "identity").strip().lower() or "identity"
    if value not in ENCODINGS:
        detail = f"got one that is not known here, need {_either(ENCODINGS)}"
        raise fault("unsupported-media-type", "Content-Encoding", detail)
    return value


def accepted(headers: Headers, forms: Sequence[str]) -> str:
    """The form of the answer: the one of ``forms`` that the client prefers, the first of them in a draw."""
    value = ",".join(headers.getlist("accept")) or "*/*"  # several lines are one list (RFC 9110, 5.3)
    parts = [part for part in value.split(",") if part.strip()]
    ranges = [*map(_range, parts[:MOST_RANGES]), *([REST] if len(parts) > MOST_RANGES else [])]
    best, highest = "", 0.0
    for form in forms:
        weights = [(_narrow(pattern), weight) for pattern, weight in ranges if _fits(pattern, form)]
        # the narrowest range that fits decides (RFC 9110, 12.5.1)
        weight = max(weights)[1] if weights else 0.0
        if weight > highest:
            best, highest = form, weight
    if not best:
        raise fault("not-acceptable", "Accept", f"the answer exists as {_either(forms)}")
    return best


def _range(part: str) -> tuple[str, float]:
    pattern, *parameters = (piece.strip().lower() for piece in part.split(";"))
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name == "q":
            return pattern, _weight(value)
    return pattern, 1.0


def _weight(value: str) -> float:
    """The preference for a range; what is not a number from 0 to 1 counts as 0."""
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if 0.0 <= weight <= 1.0 else 0.0


def _fits(pattern: str, form: str) -> bool:
    return pattern in {"*/*", "*", form} or pattern == form.partition("/")[0] + "/*"


def _narrow(pattern: str) -> int:
    return 0 if pattern in {"*/*", "*"} else 1 if pattern.endswith("/*") else 2


def names_dataset(row: Operation, request: Request) -> bool:
    """Whether a request names a dataset of the service in place of a body."""
    if DATA not in request.query_params or row.bodies == (JSON,):
        return False
    if service(request).settings.data is None:
        detail = "this service has no data of its own, for MACE_DATA is not set; send the records as the body"
        raise fault("bad-option", DATA, detail)
    return True


def form_of(request: Request, row: Operation) -> str:
    """The form of the answer, by the header Accept; with `detail=brief` the brief one in place of JSON."""
    form = accepted(request.headers, row.forms)
    detail = one_of(request, DETAIL, ("full", "brief")) if has_reports(row) else None
    if detail == "brief" and form not in (JSON, BRIEF):
        raise fault("bad-option", DETAIL, f"goes with JSON; {form} has no brief form")
    return BRIEF if detail == "brief" else form


def one_of(request: Request, name: str, values: Sequence[str]) -> str | None:
    """What the query says of a word that may be one of these; None if nothing."""
    texts = request.query_params.getlist(name)
    if len(texts) > 1:
        raise fault("bad-option", name, "is given more than once")
    if texts and texts[0] not in values:
        raise fault("wrong-type", name, f"need {_either(values)}")
    return texts[0] if texts else None


def _either(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def headers_of(form: str) -> dict[str, str]:
    """Headers of a report in this form: a page carries its own policy, every other form is a file to save."""
    filename = f'filename="mace-report.{REPORTS[form]}"'
    if form != HTML:
        return {"Content-Disposition": f"attachment; {filename}"}
    return {"Content-Disposition": f"inline; {filename}", "Content-Security-Policy": f"{CSP}; frame-ancestors 'self'"}


LONG_BODY = 2**20  # bytes of an answer from which on it is hashed beside the loop
STATE = b'"state":{'
"""Where the state of a run begins in an answer; text of others cannot hold it, for in JSON its quotes are escaped."""
CLIENT_GONE = 499
"""The status in logs and metrics of a request whose client left before the answer; it is never sent."""


def router() -> APIRouter:
    """A route for each operation."""
    routes = APIRouter(prefix="/v1")
    for row in OPERATIONS:
        routes.add_api_route(
            f"/{row.name}",
            _endpoint(row),
            methods=["POST"],
            tags=["theory" if row.paper else "work"],
            operation_id=row.name.replace("-", "_").replace("/", "_"),
            summary=row.summary,
            description=row.about,
            response_class=Response,
        )
    return routes


def _endpoint(row: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def work(request: Request) -> Response:
        running = service(request)
        pool = running.pool
        has_dataset, reports = names_dataset(row, request), has_reports(row)
        call = Call(
            row.name,
            "" if has_dataset else media_type(request.headers, (*row.bodies, *[FORM_DATA] * row.takes_files)),
            "identity" if has_dataset else encoding(request.headers),
            tuple(
                (name, text)
                for name, text in request.query_params.multi_items()
                if name not in (DATED, DETAIL) or not reports
            ),
            form_of(request, row),
            pool.settings.expanded_limit,
            Exchange.of(request.scope).request_id,
            keeping=running.runs.keeping() if running.runs is not None and row.name == "gate" else None,
            dated=reports and one_of(request, DATED, ("true", "false")) == "true",
        )
        streamed = row.name == "counts" and not has_dataset and call.media_type != PARQUET and streams(call)
        question = Question(
            call, Exchange.of(request.scope).holder, _target(request), has_dataset=has_dataset, streamed=streamed
        )
        wait = seconds_to_wait(request.headers)
        try:
            if wait is None:
                return answered(request, await answer_question(running, question, request.receive, request.headers))
            job = await running.jobs.run(question, request.receive, request.headers, request.scope, wait)
        except intake.Disconnected:
            return Response(status_code=CLIENT_GONE)
        return answered(request, job) if isinstance(job, Outcome) else accepted_later(request, job)

    return work


async def answer_question(
    running: Service,
    question: Question,
    receive: Receive,
    headers: Mapping[str, str],
    note_body: Callable[[bytes | Spool], None] | None = None,
) -> Outcome:
    """What leaves for a question, whose body comes by ``receive``."""
    hashed = HashedBody(question.target, receive) if running.signer is not None else None
    reply = await intake.answer(
        running.pool,
        question.call,
        hashed or receive,
        headers,
        client=question.holder,
        streamed=question.streamed,
        has_dataset=question.has_dataset,
        inline=quick,
        note_body=note_body,
    )
    usual = headers_of(question.call.accept) if rendered(question.call) else {}
    return await _outcome(running, reply, usual, "" if hashed is None else hashed.digest.hexdigest())


def _target(request: Request) -> str:
    query = request.scope["query_string"].decode("latin-1")
    return f"{request.scope['route'].path}?{query}" if query else str(request.scope["route"].path)


class HashedBody:
    """A body as it comes, and the digest of its request: of the target, a line feed, and the body."""

    def __init__(self, target: str, receive: Receive) -> None:
        self.digest = sha256(target.encode("latin-1") + b"\n")
        self._receive = receive

    async def __call__(self) -> Message:
        """The next of it."""
        message = await self._receive()
        self.digest.update(message.get("body", b""))
        return message


async def _outcome(running: Service, reply: Reply, usual: Mapping[str, str], request_sha256: str) -> Outcome:
    """The answer as it leaves, signed if there is a key, with its headers, the usual ones and the signature.

    A step of a run leaves if it is the run's next one, and the state in it is sealed.
    """
    if reply.problem is not None:
        return Outcome(reply)
    if reply.step is not None and running.runs is not None:
        seal = await running.runs.seal(reply.step)
        reply = replace(reply, body=bytes(reply.body).replace(STATE, STATE + f'"{SEAL}":"{seal}",'.encode(), 1))

    def work() -> tuple[bytes | memoryview, dict[str, str], str]:
        body, headers = reply.body, dict(usual)
        if running.signer is not None:
            body, signature = running.signer.sign(body, reply.media_type, request_sha256)
            headers["Mace-Signature"] = signature.as_json().decode("ascii")
        return body, headers, sha256(body).hexdigest()

    long = len(reply.body) > LONG_BODY
    body, headers, digest = await to_thread.run_sync(work) if long else work()
    return Outcome(replace(reply, body=body), headers, digest)
