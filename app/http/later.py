"""The addresses of answers that are fetched later."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from app.http.jobs import JOBS, KEPT_FOR, RESULT, KeptAnswer, State
from app.http.service import accepted_later, answered, service
from app.openapi.document import ACCEPTED, OF_RUNS, WORK_PROBLEMS, answers_with, problems
from app.telemetry.logs import Exchange
from macekit.call import JSON

EVENTS = "text/event-stream"
ABOUT = {
    "parameters": [
        {
            "name": "name",
            "in": "path",
            "required": True,
            "schema": {"type": "string"},
            "description": "the job's id, as the header Location of a 202 has it",
        }
    ]
}

router = APIRouter(tags=["jobs"])


class JobAnswer(BaseModel):
    """A question whose answer is fetched later."""

    id: str
    operation: str
    state: State = Field(description="failed: there is an answer, a problem")
    status: int | None = Field(description="the status of the answer; null while it is worked on")
    ahead: int | None = Field(
        description="how many requests wait for a worker that came before it; clients take turns, so it may get one "
        "sooner. null once it has a worker, and where another replica works on it"
    )
    seconds: float = Field(description="how long it has been worked on, or was, waiting for a worker included")
    seconds_kept: float | None = Field(description="how long the answer is still kept; null while it is worked on")


ANSWERS = (JobAnswer,)  # what a route here answers with


@router.get(
    JOBS + "/{name}",
    openapi_extra=ABOUT,
    operation_id="job",
    summary="How far a question is whose answer is fetched later",
    response_class=Response,
    responses={**answers_with(JobAnswer), **problems(401, 404, 500, 503)},
)
async def job(request: Request) -> Response:
    """Of one sent with `Prefer: respond-async`: whether it is worked on, and how long its answer is kept."""
    answer = JobAnswer(**await service(request).jobs.look(*_job(request)))
    return Response(answer.model_dump_json(), media_type=JSON)


@router.get(
    JOBS + "/{name}/events",
    openapi_extra=ABOUT,
    operation_id="job_events",
    summary="How far it is, every second, until it has ended",
    response_class=Response,
    responses={
        200: {
            "description": "server-sent events: `progress` every second, and `end`",
            "content": {EVENTS: {"schema": {"type": "string"}}},
        },
        **problems(401, 404, 500, 503),
    },
)
async def job_events(request: Request) -> Response:
    """Server-sent events; whoever loses the connection opens another."""
    return StreamingResponse(await service(request).jobs.events(*_job(request)), media_type=EVENTS)


@router.get(
    RESULT,
    openapi_extra=ABOUT,
    operation_id="job_result",
    summary="The answer, once it is there",
    response_class=Response,
    responses={
        200: {"description": "the answer, in the form that the question asked for"},
        **problems(*WORK_PROBLEMS, *OF_RUNS["gate"], 404),
        202: ACCEPTED,
    },
)
async def job_result(request: Request) -> Response:
    """The status, the headers and the body that the question itself would have been answered with.

    The header Mace-Kept-For says for how many seconds it may be fetched again.
    """
    fetched = Exchange.of(request.scope).method == "GET"  # and not HEAD
    result = await service(request).jobs.result(*_job(request), fetched=fetched)
    if not isinstance(result, KeptAnswer):
        return accepted_later(request, result)
    response = answered(request, result.outcome)
    if fetched:
        response.headers[KEPT_FOR] = f"{result.seconds:.0f}"
    return response


@router.delete(
    JOBS + "/{name}",
    openapi_extra=ABOUT,
    operation_id="job_cancel",
    summary="End the work on a question, or forget its answer",
    status_code=204,
    response_class=Response,
    responses={**problems(401, 404, 500, 503)},
)
async def job_cancel(request: Request) -> Response:
    """Its worker is ended; the address is gone."""
    await service(request).jobs.cancel(*_job(request))
    return Response(status_code=204)


def _job(request: Request) -> tuple[str, str | None]:
    """The name of the job at this address, and whose key asks."""
    return request.path_params["name"], Exchange.of(request.scope).owner
