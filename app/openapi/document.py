"""What each operation says about itself, and the whole document."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.openapi import theory
from app.openapi.examples import JSON_EXAMPLES
from app.openapi.files import file_bytes, files_of, options_with
from app.openapi.parameters import parameters
from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, NPY, PARQUET, PROBLEM, SVG
from macekit.catalogue import FORMS
from macekit.problems import KINDS
from macekit.schemas.answers import ANSWERS
from macekit.schemas.questions import QUESTIONS

Schema = dict[str, Any]
REF = "#/components/schemas/{model}"
FILE = "x-example-file"
"""Where a body that is no text can be had, ready to post; Swagger UI would fetch an ``externalValue`` by itself."""

TABLES = (CSV, NPY, ARROW, PARQUET)
BODIES = {"plan": (JSON,), "theory/dp": (JSON,), "columns": TABLES}
"""Formats of bodies, where they are not JSON and tables."""

TEXTS = (HTML, MARKDOWN, CSV, SVG)
"""Forms of answers that are text."""

WORK_PROBLEMS = (400, 401, 406, 408, 413, 415, 422, 429, 500, 503)
"""Statuses of the problems that an operation with a body may answer with."""

COUNTABLE = ("advantage", "metrics", "audit", "report", "counts")
"""Operations that take counts as they are answered by /v1/counts."""

LATER = (429, 503)
RETRY_AFTER: Schema = {
    "Retry-After": {"description": "seconds to wait before asking again", "schema": {"type": "integer"}}
}

SUMMARIES = {
    "advantage": "How well the best attacker tells members from nonmembers, certified, with a verdict",
    "individual-risk": "The risk of each record and of each group",
    "metrics": "Several accuracy-like metrics of one sample",
    "compare": "Several queries or models side by side",
    "audit": "Whether the scores contradict a promised epsilon and delta",
    "report": "A report on one sample, or all the numbers it shows",
    "gate": "Pass, fail or inconclusive, for several limits at once",
    "plan": "How many records a decision needs, or an interval of a given width",
    "columns": "The columns of a table, read from its first bytes",
    "counts": "Scores in, counts out that can be merged",
    **theory.SUMMARIES,
}

PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "title": "Problem",
    "description": "What went wrong and what to do about it (RFC 9457); every type is described in docs/errors.md.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri", "examples": ["urn:mace:problem:too-few-records"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "the field at fault"},
        "index": {"type": "integer", "description": "the first record at fault, from 0"},
        "instance": {"type": "string", "format": "uri", "description": "the request's id"},
    },
}


def operation(name: str) -> Schema:
    """Body, parameters and answers of one operation, for ``openapi_extra``."""
    return {
        "parameters": _parameters(name),
        "requestBody": {"required": True, "content": _content(name), "description": _options_of(name)},
        "responses": {"200": _answered(name), **problems(*WORK_PROBLEMS)},
    }


def problems(*statuses: int) -> dict[int | str, Schema]:
    """Documented problem responses, with the types each status may have."""
    found: dict[int | str, Schema] = {}
    for status in statuses:
        kinds = [kind for kind in KINDS.values() if kind.status == status]
        found[str(status)] = {
            **({"headers": RETRY_AFTER} if status in LATER else {}),
            "description": "; ".join(kind.title for kind in kinds),
            "content": {
                PROBLEM: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {
                        kind.slug: {
                            "summary": kind.title,
                            "value": {
                                "type": f"urn:mace:problem:{kind.slug}",
                                "title": kind.title,
                                "status": kind.status,
                                "detail": "what came, and what was needed",
                            },
                        }
                        for kind in kinds
                    },
                }
            },
        }
    return found


def components() -> Schema:
    """Schemas of all questions, answers and problems."""
    models: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    models += [
        (name, "validation", TypeAdapter(model))
        for name, model in QUESTIONS.items()
        if JSON in media_types(name)
    ]
    models += [(name, "serialization", TypeAdapter(answer)) for name, answer in ANSWERS.items()]
    _, schemas = TypeAdapter.json_schemas(models, ref_template=REF)
    return {**schemas["$defs"], "Problem": PROBLEM_SCHEMA}


def complete(document: Schema) -> Schema:
    """The framework's document with our schemas, and without its own picture of an error."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for stray in ("HTTPValidationError", "ValidationError"):
        schemas.pop(stray, None)
    schemas.update(components())
    return document


def described(name: str, text: str) -> str:
    """An operation's description, with the files that can be posted to it as they are."""
    files = [file for file, kind in files_of(name).items() if kind in _content(name)]
    links = ", ".join(f"[{file}](examples/{file})" for file in files)
    return f"{text}\n\nFiles to post as they are: {links}." if files else text


def media_types(name: str) -> tuple[str, ...]:
    """Formats in which an operation takes its body."""
    return BODIES.get(name, (JSON, *TABLES))


def _parameters(name: str) -> list[Schema]:
    """The options of a table, filled in where a question has examples of them."""
    shown = options_with(name)
    return [
        {**each, "example": shown[each["name"]]} if each["name"] in shown else each
        for each in parameters(name)
    ]


def _options_of(name: str) -> str:
    if media_types(name) == (JSON,):
        return "The question."
    if media_types(name) == TABLES:
        return "The table, or its head."
    return "JSON carries records and options; any other format the records, with options in the query string."


def _content(name: str) -> Schema:
    content: Schema = {}
    if JSON in media_types(name):
        bodies = {
            key: {"summary": example.summary, "value": example.value}
            for key, example in JSON_EXAMPLES[name].items()
        }
        content[JSON] = {"schema": {"$ref": REF.format(model=QUESTIONS[name].__name__)}, "examples": bodies}
    for file, media_type in files_of(name).items():
        if media_type not in media_types(name) or (name == "compare" and media_type == NPY):
            continue
        if media_type == CSV:
            example = {"summary": "A table with a header", "value": file_bytes(file).decode()}
            content[media_type] = {"schema": {"type": "string"}, "examples": {file: example}}
        else:
            content[media_type] = {
                "schema": {"type": "string", "format": "binary"},
                FILE: f"/examples/{file}",
            }
    return content


def _answered(name: str) -> Schema:
    content: Schema = {
        form: {"schema": {"type": "string"} if form in TEXTS else {"type": "string", "format": "binary"}}
        for form in FORMS[name]
    }
    content[JSON] = {"schema": {"$ref": REF.format(model=ANSWERS[name].__name__)}}
    answered: Schema = {"description": SUMMARIES[name], "content": content}
    if name == "counts":
        answered["links"] = {
            operation_id: {
                "operationId": operation_id,
                "requestBody": {"counts": "$response.body#/counts"},
                "description": f"the counts, posted to {operation_id} in place of scores",
            }
            for operation_id in COUNTABLE
        }
    return answered
