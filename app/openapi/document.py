"""What each operation says about itself, and the whole document."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.openapi.examples import JSON_EXAMPLES
from app.openapi.files import file_bytes, files_of, options_with
from app.openapi.parameters import parameters
from macekit.call import ARROW, CSV, HTML, JSON, MARKDOWN, NDJSON, NPY, NPZ, PARQUET, PROBLEM, SVG
from macekit.catalogue import BY_NAME, OPERATIONS, TABLES, Operation
from macekit.problems import KINDS
from macekit.schemas.answers import ANSWERS
from macekit.schemas.query import DATA
from macekit.schemas.questions import QUESTIONS

Schema = dict[str, Any]
REF = "#/components/schemas/{model}"
FILE = "x-example-file"
"""Where a body that is no text can be had, ready to post; Swagger UI would fetch an ``externalValue`` by itself."""

OPTIONS = "x-example-options"
"""The options that the example of a body that is no JSON needs in the query string.

Beside the body and not beside the parameters: Swagger UI would send those with a JSON body, too, which has its options
in it. Our page fills them in while a form of body is chosen that names them (``swagger.js``).
"""

TO_SEND = {
    CSV: "a table with a header",
    NDJSON: "JSON lines: an object for each row, each on a line of its own",
    NPY: "one array as `numpy.save` writes it: a table with named fields, or its numbers alone",
    NPZ: "arrays by name as `numpy.savez` writes them: a table's columns, or each array under its own name",
    ARROW: "a table as an Arrow IPC stream or file",
    PARQUET: "a table as a Parquet file",
}
"""What a body that is no JSON is."""

EXAMPLES = {CSV: "A table with a header", NDJSON: "An object for each row"}
"""Forms that are text, and what their examples are called."""

TEXTS = (HTML, MARKDOWN, CSV, SVG)
"""Forms of answers that are text."""

WORK_PROBLEMS = (400, 401, 403, 406, 408, 413, 414, 415, 422, 429, 431, 500, 503)
"""Statuses of the problems that an operation with a body may answer with."""

OF_RUNS = {"gate": (409,)}
"""Further ones, of an operation whose answers go on from one another."""

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
    "required": False,
    "schema": {"type": "string"},
    "description": "in place of a body: the name of a dataset of the service, where it has its own (MACE_DATA): "
    "a file, a folder or a pattern such as `run-7/*.parquet`, whose files are one table; "
    "its columns and the options of the question stand beside it",
}
PREFER: Schema = {
    "name": "Prefer",
    "in": "header",
    "required": False,
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
        "type": {"type": "string", "format": "uri", "examples": ["urn:mace:problem:too-few-records"]},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "field": {"type": "string", "description": "the field at fault"},
        "index": {"type": "integer", "description": "the first record at fault, from 0"},
        "instance": {"type": "string", "format": "uri", "description": "the request's id"},
    },
}


def operation(row: Operation) -> Schema:
    """Body, parameters and answers of one operation, for ``openapi_extra``."""
    takes_table = row.bodies != (JSON,)
    return {
        "parameters": [*parameters(row.name), *[DATASET] * takes_table, PREFER],
        "requestBody": {
            "required": not takes_table,
            "content": _content(row),
            "description": _options_of(row),
        },
        "responses": {
            "200": _answered(row),
            "202": ACCEPTED,
            **problems(*WORK_PROBLEMS, *OF_RUNS.get(row.name, ())),
        },
    }


def problems(*statuses: int) -> dict[int | str, Schema]:
    """Documented problem responses, with the types each status may have."""
    responses: dict[int | str, Schema] = {}
    for status in statuses:
        kinds = [kind for kind in KINDS.values() if kind.status == status]
        responses[str(status)] = {
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
    return responses


def components() -> Schema:
    """Schemas of all questions, answers and problems."""
    models: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = []
    models += [
        (name, "validation", TypeAdapter(model))
        for name, model in QUESTIONS.items()
        if JSON in BY_NAME[name].bodies
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


def described(row: Operation) -> str:
    """An operation's description, with the files that can be posted to it as they are."""
    links = ", ".join(f"[{file}](examples/{file})" for file in _files(row))
    return f"{row.about}\n\nFiles to post as they are: {links}." if links else row.about


def _options_of(row: Operation) -> str:
    """What may be sent: of every form that is no JSON, which options it needs and a file that is one."""
    if row.bodies == (JSON,):
        return "The question."
    if row.bodies == TABLES:
        about = f"The table, or its head; none with `{DATA}`."
    else:
        about = (
            "JSON carries records and options; any other format the records, with options in the query string. "
            f"None with `{DATA}`, which names a dataset of the service."
        )
    lines = [f"- `{form}`: {text}" for form, text in _to_send(row).items()]
    return "\n".join((about, "", *lines))


def _to_send(row: Operation) -> dict[str, str]:
    """What to send in each form that is no JSON, in a line."""
    options = "&".join(f"{name}={in_query(value)}" for name, value in options_with(row.name).items())
    beside = f", with `?{options}`" if options else ""
    return {
        form: f"{TO_SEND[form]}; [{file}](examples/{file}) is one{beside}"
        for file, form in _files(row).items()
    }


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
        content[JSON] = {
            "schema": {"$ref": REF.format(model=QUESTIONS[row.name].__name__)},
            "examples": bodies,
        }
    options = options_with(row.name)
    lines = _to_send(row)
    for file, form in _files(row).items():
        content[form] = {"schema": {"type": "string", "description": lines[form]}}
        if form in EXAMPLES:
            example = {"summary": EXAMPLES[form], "value": file_bytes(file).decode()}
            content[form]["examples"] = {file: example}
        else:
            content[form]["schema"]["format"] = "binary"
            content[form][FILE] = f"/examples/{file}"
        if options:
            content[form][OPTIONS] = dict(options)
    return content


def _answered(row: Operation) -> Schema:
    content: Schema = {
        form: {"schema": {"type": "string"} if form in TEXTS else {"type": "string", "format": "binary"}}
        for form in row.forms
    }
    content[JSON] = {"schema": {"$ref": REF.format(model=ANSWERS[row.name].__name__)}}
    answered: Schema = {"description": row.summary, "headers": SIGNED, "content": content}
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
