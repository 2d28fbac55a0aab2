"""What there is to ask for: methods, presets, and the files of the examples."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.openapi.document import problems
from app.openapi.files import file_bytes, files
from estimators import PRESETS, VERSION
from macekit.problems import Problem
from macekit.schemas.methods import METHODS, MethodsAnswer, PresetsAnswer

router = APIRouter(tags=["reference"], responses=problems(401, 500, 503))


@router.get("/v1/metrics/presets", operation_id="presets", summary="Every named metric")
async def presets() -> PresetsAnswer:
    """Name, formula in the confusion table, and parameters of each metric that has a name."""
    return {
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


@router.get("/v1/methods", operation_id="methods", summary="Every method, its guarantee and its reference")
async def methods() -> MethodsAnswer:
    """What each number states, what it takes for granted, and where it comes from."""
    return {"version": VERSION, "methods": METHODS}


examples = APIRouter(include_in_schema=False)


@examples.get("/examples/{name}")
def example(name: str) -> Response:
    """A file that can be posted as it is."""
    known = files()
    if name not in known:
        raise Problem("not-found", f"examples are {', '.join(known)}")
    return Response(file_bytes(name), media_type=known[name])
