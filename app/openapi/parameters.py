"""Options as query parameters, for bodies that are tables: made from the question, so the two cannot differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from app.schemas.columns import Asked
from app.schemas.query import JSON_ONLY
from app.schemas.questions import COLUMNS

Schema = dict[str, Any]

TABLE: tuple[tuple[str, Schema, str], ...] = (
    (
        "score",
        {"type": "string"},
        "table: the column of scores, or several, separated by commas, for a vector (in /v1/compare: one query each)",
    ),
    ("member", {"type": "string"}, "table: the column that says who is a member"),
    ("group", {"type": "string"}, "table: the column of group labels"),
    (
        "unit",
        {"type": "string"},
        "table: the column that says whom a record belongs to; one record of each is kept",
    ),
    (
        "members",
        {"type": "integer", "minimum": 1},
        "NPY of one dimension: so many values at the start are members, the rest are not",
    ),
)

_NEEDS = {"group": "groups", "unit": "units", "members": "members"}


def parameters(question: type[Asked]) -> list[Schema]:
    """Every option a query string can carry, nested ones with a dot."""
    schema = question.model_json_schema()
    flat = _flatten(schema, schema.get("$defs", {}), "")
    found = [{"name": name, "in": "query", "required": False, **rest} for name, rest in flat.items()]
    if not COLUMNS & set(question.model_fields):
        return []
    return found + [
        {"name": name, "in": "query", "required": False, "schema": kind, "description": text}
        for name, kind, text in TABLE
        if _NEEDS.get(name, "") in {"", *question.model_fields}
    ]


def _flatten(schema: Schema, defs: Schema, prefix: str) -> dict[str, Schema]:
    """Options by their names with dots; what the question gives an example of is filled in where it is tried out."""
    found: dict[str, Schema] = {}
    for name, given in schema["properties"].items():
        if name in COLUMNS | JSON_ONLY:
            continue
        for branch in _branches(given, defs):
            text = given.get("description") or branch.get("description", "")
            if branch.get("type") == "object":  # weights and coefficients are for JSON
                if prefix == "" and "coefficients" not in branch["properties"]:
                    found |= _flatten(branch, defs, f"{name}.")
            elif branch.get("type") == "array":
                items = next(_branches(branch["items"], defs))  # a list of names or of numbers
                found[prefix + name] = {
                    "schema": {
                        **{k: v for k, v in branch.items() if k in {"type", "minItems", "maxItems"}},
                        "items": {k: v for k, v in items.items() if k not in {"title", "description"}},
                    },
                    "style": "form",
                    "explode": False,
                    "description": text,
                }
            elif branch.get("type") != "null":
                kept = {k: v for k, v in branch.items() if k not in {"title", "description", "default"}}
                known = found.get(prefix + name)
                either = kept if known is None else {"anyOf": [known["schema"], kept]}
                shown = {"example": given["examples"][0]} if "examples" in given else {}
                found[prefix + name] = {"schema": either, "description": text, **shown}
    return found


def _branches(schema: Schema, defs: Schema) -> Iterator[Schema]:
    """What a value may be, references followed."""
    resolved = _resolved(schema, defs)
    for key in ("anyOf", "oneOf"):
        if key in resolved:
            for branch in resolved[key]:
                yield from _branches(branch, defs)
            return
    yield resolved


def _resolved(schema: Schema, defs: Schema) -> Schema:
    if "$ref" in schema:
        return {**defs[schema["$ref"].rsplit("/", 1)[1]], **{k: v for k, v in schema.items() if k != "$ref"}}
    return schema
