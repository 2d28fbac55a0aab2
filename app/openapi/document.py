"""What each operation says about itself, and the whole document."""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.openapi.examples import JSON_EXAMPLES, file_bytes, files_of, options_with
from app.openapi.parameters import parameters
from app.openapi.references import share
from macekit.call import ARROW, BRIEF, CSV, FORM_DATA, JSON, NDJSON, NPY, NPZ, PARQUET, PROBLEM
from macekit.catalogue import BY_NAME, OPERATIONS, has_reports
from macekit.decoding.multipart import names_of
from macekit.operation import TABLES, Operation
from macekit.problems import KINDS
from macekit.reports.brief import BriefAnswer
from macekit.schemas.by_operation import ANSWERS, QUESTIONS, SchemaMaker
from macekit.schemas.query_string import DATA, DATED, DETAIL

Schema = dict[str, Any]
REF = "#/components/schemas/{model}"
OPTIONS = "x-example-options"
"""The options that the example of a body that is no JSON needs in the query string, whatever its form.

Beside the body and not beside the parameters: Swagger UI would send those with a JSON body, too, which has its options
in it. Our page fills them in while a form of body is chosen that is not JSON (``swagger.js``).
"""

PROBLEMS = "x-problems"  # which problems a status stands for, by the ends of their types

TEXT: Schema = {"type": "string"}
BYTES: Schema = {"type": "string", "format": "binary"}

TO_SEND: dict[str, tuple[str, Schema, str]] = {
    CSV: ("CsvTable", TEXT, "a table with a header"),
    NDJSON: ("JsonLines", BYTES, "JSON lines: an object for each row, each on a line of its own"),
    NPY: ("NpyArray", BYTES, "one array as `numpy.save` writes it: a table with named fields, or its numbers alone"),
    NPZ: (
        "NpzArrays",
        BYTES,
        "arrays by name as `numpy.savez` writes them: a table's columns, or each array under its own name",
    ),
    ARROW: ("ArrowTable", BYTES, "a table as an Arrow IPC stream or file"),
    PARQUET: ("ParquetTable", BYTES, "a table as a Parquet file"),
}
"""What a body that is no JSON is: the name of its schema, what that says it is made of, and what it is."""

WORK_PROBLEMS = (400, 401, 403, 406, 408, 413, 414, 415, 422, 429, 431, 500, 503)
"""Statuses of the problems that an operation with a body may answer with."""

OF_RUNS = {"gate": (409,)}  # further ones, of an operation whose answers go on from one another

LATER = (429, 503)
RETRY_AFTER: Schema = {
    "Retry-After": {"description": "seconds to wait before asking again", "schema": {"type": "integer"}}
}

SIGNED: Schema = {
    "Mace-Signature": {
        "description": "the answer's signature, where the service has a signing key; "
        "JSON has it in it, too, as the last member `signature`",
        "schema": {"type": "string"},
    }
}

DATASET: Schema = {
    "name": DATA,
    "in": "query",
    "schema": {"type": "string"},
    "description": "in place of a body: the name of a dataset of the service, where it has its own (MACE_DATA): "
    "a file, a folder or a pattern such as `run-7/*.parquet`, whose files are one table; "
    "its columns and the options of the question stand beside it",
}
TIME: Schema = {
    "name": DATED,
    "in": "query",
    "schema": {"type": "boolean"},
    "description": "whether a report says when it was made; without it the same request has the same bytes",
}
LENGTH: Schema = {
    "name": DETAIL,
    "in": "query",
    "schema": {"type": "string", "enum": ["full", "brief"]},
    "description": "brief: what a pipeline reads of the answer, and no more; with `Accept: application/json`",
}
PREFER: Schema = {
    "name": "Prefer",
    "in": "header",
    "schema": {"type": "string"},
    "description": "`respond-async`: if the answer takes longer than a moment, or than the seconds of `wait=10` beside "
    "it, be told at once where it will be",
}
ACCEPTED: Schema = {
    "description": "The question is worked on; the answer will be below the address in Location (`Prefer`)",
    "headers": {
        "Location": {"description": "the job", "schema": {"type": "string", "format": "uri-reference"}},
        "Preference-Applied": {"description": "respond-async", "schema": {"type": "string"}},
        "Retry-After": {"description": "seconds to wait before asking", "schema": {"type": "integer"}},
    },
    "content": {JSON: {"schema": {"$ref": REF.format(model="JobAnswer")}}},
}
PROBLEM_SCHEMA: Schema = {
    "type": "object",
    "title": "Problem",
    "description": "What went wrong and what to do about it (RFC 9457); every type is described in docs/errors.md.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "the field at fault"},
        "index": {"type": "integer", "description": "the first record at fault, from 0"},
        "instance": {"type": "string", "format": "uri", "description": "the request's id"},
    },
    "examples": [
        {
            "type": "urn:mace:problem:too-few-records",
            "title": KINDS["too-few-records"].title,
            "status": KINDS["too-few-records"].status,
            "detail": "member scores: got 2, need at least 8",
        }
    ],
}


def operation(row: Operation) -> Schema:
    """Body, parameters and answers of one operation, as the document has them."""
    takes_table, is_report = row.bodies != (JSON,), has_reports(row)
    options = options_with(row.name) if takes_table else {}
    return {
        "parameters": [*parameters(row.name), *[DATASET] * takes_table, *[TIME, LENGTH] * is_report, PREFER],
        "requestBody": {
            "required": not takes_table,
            "content": _content(row),
            "description": _about_bodies(row),
            **({OPTIONS: dict(options)} if options else {}),
        },
        "responses": {"200": _answered(row), "202": ACCEPTED, **problems(*WORK_PROBLEMS, *OF_RUNS.get(row.name, ()))},
    }


def problems(*statuses: int) -> dict[int | str, Schema]:
    """Documented problem responses, with the types each status may have."""
    responses: dict[int | str, Schema] = {}
    for status in statuses:
        kinds = [kind for kind in KINDS.values() if kind.status == status]
        responses[str(status)] = {
            **({"headers": RETRY_AFTER} if status in LATER else {}),
            "description": "; ".join(f"`{kind.slug}`: {kind.title}" for kind in kinds),
            "content": {PROBLEM: {"schema": {"$ref": REF.format(model="Problem")}}},
            PROBLEMS: [kind.slug for kind in kinds],
        }
    return responses


def answers_with(model: type) -> dict[int | str, Schema]:
    """The documented answer of a route that is no operation.

    The route itself has no model for the framework, which would import pydantic's first version to look whether it is
    one of that.
    """
    schema = {"$ref": REF.format(model=model.__name__)}
    return {200: {"description": "Successful Response", "content": {JSON: {"schema": schema}}}}


def components(further: Sequence[type]) -> Schema:
    """Schemas of all questions, answers and problems, and of further answers."""
    models: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    models += [
        (name, "validation", TypeAdapter(model)) for name, model in QUESTIONS.items() if JSON in BY_NAME[name].bodies
    ]
    models += [(name, "serialization", TypeAdapter(answer)) for name, answer in ANSWERS.items()]
    models += [(each.__name__, "serialization", TypeAdapter(each)) for each in (BriefAnswer, *further)]
    _, schemas = TypeAdapter.json_schemas(models, ref_template=REF, schema_generator=SchemaMaker)
    forms = {name: {**made_of, "description": about} for name, made_of, about in TO_SEND.values()}
    return {**schemas["$defs"], **forms, "Problem": PROBLEM_SCHEMA}


def complete(document: Schema, further: Sequence[type]) -> Schema:
    """The framework's document with our operations and schemas, and without its own picture of an error.

    ``further`` are the models of ``answers_with``.

    They are made here and not with the routes: only who reads the document waits for them.
    """
    for row in OPERATIONS:
        document["paths"][f"/v1/{row.name}"]["post"].update(deepcopy(operation(row)))  # `share` changes it
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for stray in ("HTTPValidationError", "ValidationError"):
        schemas.pop(stray, None)
    schemas.update(components(further))
    share(document)
    return document


def _about_bodies(row: Operation) -> str:
    """What may be sent, with a file in each form that is no JSON, and the options that it needs."""
    if row.bodies == (JSON,):
        return "The question."
    if row.bodies == TABLES:
        about = f"The table, or its head; none with `{DATA}`."
    else:
        about = (
            "JSON carries records and options; any other format the records, with options in the query string. "
            f"None with `{DATA}`."
        )
    options = "&".join(f"{name}={in_query(value)}" for name, value in options_with(row.name).items())
    beside = f", with `?{options}`" if options else ""
    links = ", ".join(f"[{file.rpartition('.')[2]}](examples/{file})" for file in _files(row))
    return f"{about}\n\nTo post as they are{beside}: {links}."


def _files(row: Operation) -> dict[str, str]:
    """A file in each form that the operation takes, and the form."""
    return {
        file: form
        for file, form in files_of(row.name).items()
        if form in row.bodies and not (row.several and form == NPY)
    }


def in_query(value: object) -> str:
    """An option as a query string has it."""
    if isinstance(value, list):
        return ",".join(map(in_query, value))
    return value if isinstance(value, str) else json.dumps(value)


def _content(row: Operation) -> Schema:
    content: Schema = {}
    if JSON in row.bodies:
        bodies = {
            key: {"summary": example.summary, "value": example.value}
            for key, example in JSON_EXAMPLES[row.name].items()
        }
        content[JSON] = {"schema": {"$ref": REF.format(model=QUESTIONS[row.name].__name__)}, "examples": bodies}
    for file, form in _files(row).items():
        content[form] = {"schema": {"$ref": REF.format(model=TO_SEND[form][0])}}
        if form == CSV:
            example = {"summary": "A table with a header", "value": file_bytes(file).decode()}
            content[form]["examples"] = {file: example}
    if row.takes_files:
        content[FORM_DATA] = {"schema": _of_files(row)}
    return content


def _of_files(row: Operation) -> Schema:
    """The parts that hold files; any other one is an option, as the query string has it."""
    names = names_of(row.name)
    names_needed = row.needed_tables
    about = "a file in any of the other formats, compressed or not"
    if row.several:
        return {"type": "object", "additionalProperties": {**BYTES, "description": f"a query: {about}"}}
    return {
        "type": "object",
        "properties": {name: {**BYTES, "description": about} for name in names},
        **({"required": list(names_needed)} if names_needed else {}),
    }


def _answered(row: Operation) -> Schema:
    content: Schema = {form: {} for form in row.forms}  # of a report no schema says more than its form
    content[JSON] = {"schema": {"$ref": REF.format(model=ANSWERS[row.name].__name__)}}
    if BRIEF in content:
        content[BRIEF] = {"schema": {"$ref": REF.format(model=BriefAnswer.__name__)}}
    answered: Schema = {"description": "The answer, or a report of it", "headers": SIGNED, "content": content}
    if row.name == "counts":
        answered["links"] = {
            each.name: {
                "operationId": each.name,
                "requestBody": {"counts": "$response.body#/counts"},
                "description": f"the counts, posted to {each.name} in place of scores",
            }
            for each in OPERATIONS
            if each.takes_counts
        }
    return answered
