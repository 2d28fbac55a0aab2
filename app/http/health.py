"""Routes beside the operations: probes, version and metrics of the service, methods, presets and example files."""

from __future__ import annotations

import json
import platform
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import numpy as np
from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from app import WELL_KNOWN
from app.http.service import service
from app.openapi.document import answers_with, problems
from app.openapi.examples import file_bytes, files
from app.refusals import not_ready, shutting_down
from app.telemetry.metrics import CONTENT_TYPE
from estimators import PRESETS, VERSION
from macekit.call import JSON, __version__
from macekit.catalogue import WINGS
from macekit.operations.encode import json_bytes
from macekit.problems import Problem
from macekit.schemas.methods import OF_CORE, MethodsAnswer, PresetsAnswer

router = APIRouter(tags=["health"], default_response_class=Response, responses=problems(500))
JWK_SET = "application/jwk-set+json"
SAMPLE = "# HELP mace_workers Worker processes alive.\n# TYPE mace_workers gauge\nmace_workers 2.0\n"


class Alive(BaseModel):
    """The process runs and its loop turns."""

    status: Literal["ok"] = "ok"


class Ready(BaseModel):
    """A request sent now is admitted."""

    status: Literal["ready"] = "ready"


class Versions(BaseModel):
    """What answers: the service, its methods, and what they are computed with."""

    mace: str = Field(description="version of the service")
    methods: str = Field(description="version of the methods: the same numbers come from the same version")
    python: str
    numpy: str
    scipy: str
    scikit_learn: str


ANSWERS = (Alive, Ready, Versions, PresetsAnswer, MethodsAnswer)  # what the routes here answer with

METHODS = [
    *OF_CORE,
    *(method for wing in WINGS if wing.ROWS for method in import_module(f"{wing.__name__}.methods").METHODS),
]
"""One entry a method: the core's, then those of each wing."""


def _of(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type=JSON)


@router.get("/healthz", operation_id="healthz", summary="Whether the service is alive", responses=answers_with(Alive))
async def healthz(_request: Request) -> Response:
    """Answers as long as the event loop turns; needs no key."""
    return _of(Alive())


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Whether the service takes requests",
    responses={**answers_with(Ready), **problems(503)},
)
async def readyz(request: Request) -> Response:
    """Answers 503 until the workers are up, while no request would be admitted, and once the service is shutting down.

    So it does while the audit file cannot be written, or the file of keys or the store that replicas share cannot be
    used. Needs no key.
    """
    state = service(request)
    if state.draining:
        raise shutting_down()
    if state.audit is not None and state.audit.fault is not None:
        raise not_ready(f"the audit file cannot be written: {state.audit.fault}")
    if state.keys is not None and (fault := state.keys.look()) is not None:
        raise not_ready(f"the file of keys cannot be used: {fault}")
    if state.store is not None and state.store.fault is not None:
        raise not_ready(f"the store that replicas share cannot be used: {state.store.fault}")
    state.pool.check_ready()
    return _of(Ready())


@router.get(
    WELL_KNOWN,
    operation_id="signing_keys",
    summary="The public keys that verify signed answers",
    response_class=Response,
    responses={
        200: {
            "description": "a JWK set; its first key is the one that signs now",
            "content": {JWK_SET: {"schema": {"type": "object"}}},
        }
    },
)
async def signing_keys(request: Request) -> Response:
    """Needs no key. `mace verify --public-key` takes this address, or the file."""
    signer = service(request).signer
    return Response(json.dumps({"keys": []} if signer is None else signer.key_set()), media_type=JWK_SET)


@router.get(
    "/version",
    operation_id="version",
    summary="Which versions answer",
    responses={**answers_with(Versions), **problems(401)},
)
async def versions(_request: Request) -> Response:
    """Name the service, its methods, and what they are computed with."""
    return _of(_versions())


@router.get(
    "/metrics",
    operation_id="prometheus",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={
        200: {
            "description": "Metrics in Prometheus' text format",
            "content": {"text/plain": {"schema": {"type": "string"}, "example": SAMPLE}},
        },
        **problems(401, 403),
    },
)
async def metrics(request: Request) -> Response:
    """Requests, seconds, records, the queue and the workers; needs the key, if there is one."""
    return Response(service(request).metrics.text(), headers={"Content-Type": CONTENT_TYPE})


@cache
def _versions() -> Versions:
    return Versions(
        mace=__version__,
        methods=VERSION,
        python=platform.python_version(),
        numpy=np.__version__,
        scipy=version("scipy"),
        scikit_learn=_version("scikit-learn"),
    )


def _version(distribution: str) -> str:
    """The version of a package that an extra brings."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


reference = APIRouter(tags=["reference"], default_response_class=Response, responses=problems(401, 500, 503))


@reference.get(
    "/v1/metrics/presets", operation_id="presets", summary="Every named metric", responses=answers_with(PresetsAnswer)
)
async def presets(_request: Request) -> Response:
    """Name, formula in the confusion table, and parameters of each metric that has a name."""
    answer: PresetsAnswer = {
        "presets": [
            {
                "name": name,
                "formula": preset.formula,
                "description": preset.description,
                "parameters": dict(preset.parameters),
                "depends_on_prior": preset.by_prior,
            }
            for name, preset in PRESETS.items()
        ]
    }
    return Response(json_bytes(answer), media_type=JSON)


@reference.get(
    "/v1/methods",
    operation_id="methods",
    summary="Every method, its guarantee and its reference",
    responses=answers_with(MethodsAnswer),
)
async def methods(_request: Request) -> Response:
    """What each number states, what it takes for granted, and where it comes from."""
    answer: MethodsAnswer = {"version": VERSION, "methods": METHODS}
    return Response(json_bytes(answer), media_type=JSON)


examples = APIRouter(include_in_schema=False)


@examples.get("/examples/{name}")
def example(request: Request) -> Response:
    """A file that can be posted as it is."""
    name, media_types = request.path_params["name"], files()
    if name not in media_types:
        raise Problem("not-found", f"examples are {', '.join(media_types)}")
    return Response(file_bytes(name), media_type=media_types[name])
