"""Which kinds of values an array of a question may hold: read off its schema, so that both say the same."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from app.schemas.theory import ARRAYS, QUESTIONS

Schema = dict[str, Any]

KINDS = {"number": "numbers", "integer": "numbers", "string": "text", "boolean": "booleans", "array": "rows"}
"""What an array of values of a JSON type is called."""

FIELDS = frozenset(name for names in ARRAYS.values() for name in names)
"""Every field of any question that holds an array."""


@cache
def kinds(operation: str, field: str) -> frozenset[str]:
    """``numbers``, ``rows``, ``text`` and ``booleans``, as far as the field takes them."""
    schema = QUESTIONS[operation].model_json_schema()
    defs = schema.get("$defs", {})
    return frozenset(
        KINDS[items["type"]]
        for given in _branches(schema["properties"][field], defs)
        if given.get("type") == "array"
        for items in _branches(given["items"], defs)
    )


@cache
def required(operation: str) -> tuple[str, ...]:
    """Arrays without which the question is none."""
    needed = QUESTIONS[operation].model_json_schema().get("required", ())
    return tuple(name for name in ARRAYS[operation] if name in needed)


def _branches(schema: Schema, defs: Schema) -> Iterator[Schema]:
    """What a value may be, references followed."""
    if "$ref" in schema:
        schema = defs[schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" not in schema:
        yield schema
    for branch in schema.get("anyOf", ()):
        yield from _branches(branch, defs)
