"""The OpenAPI document as a client reads it: its operations, its examples, its answers held to their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jsonschema import Draft202012Validator

from app.openapi.document import FILE, OPTIONS
from macekit.call import JSON

ROOT = Path(__file__).parents[2]

Schema = dict[str, Any]


@cache
def document() -> Schema:
    """The document in docs, which is the one that the code makes."""
    found: Schema = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Operation:
    """One operation of the document."""

    path: str
    method: str
    about: Schema

    @property
    def name(self) -> str:
        return str(self.about.get("operationId"))

    def __str__(self) -> str:
        return self.name

    def takes(self, media_type: str) -> bool:
        return media_type in self.about["requestBody"]["content"]

    def answer_schema(self, status: int, media_type: str) -> Schema:
        return dict(self.about["responses"][str(status)]["content"][media_type]["schema"])


@dataclass(frozen=True)
class Example:
    """One body that the document offers: the bytes, or where they can be had."""

    operation: Operation
    media_type: str
    name: str
    body: bytes | None
    file: str | None

    @property
    def address(self) -> str:
        """Where it is posted, with the options that the document says its example needs."""
        options = self.operation.about["requestBody"]["content"][self.media_type].get(OPTIONS, {})
        query = urlencode({name: _spelled(value) for name, value in options.items()})
        return self.operation.path + (f"?{query}" if query else "")

    def __str__(self) -> str:
        return f"{self.operation.name}-{self.name}"


def _spelled(value: object) -> str:
    """An option as a query string has it: lists in the style that the document says, the rest as JSON spells it."""
    if isinstance(value, list):
        return ",".join(map(_spelled, value))
    return value if isinstance(value, str) else json.dumps(value)


def operations() -> list[Operation]:
    return [
        Operation(path, method, about)
        for path, item in document()["paths"].items()
        for method, about in item.items()
    ]


def examples() -> Iterator[Example]:
    for operation in operations():
        content = operation.about.get("requestBody", {}).get("content", {})
        for media_type, form in content.items():
            for name, example in form.get("examples", {}).items():
                value = example["value"]
                body = json.dumps(value) if media_type == JSON else value
                yield Example(operation, media_type, name, body.encode(), None)
            if FILE in form:
                yield Example(operation, media_type, form[FILE].rpartition("/")[2], None, form[FILE])


def faults(schema: Schema, instance: object) -> list[str]:
    """What is wrong with an instance; a field that the schema does not list is wrong, too."""
    validator = Draft202012Validator({**_closed(schema), "components": {"schemas": _closed_components()}})
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(instance)]


@cache
def _closed_components() -> Schema:
    return {name: _closed(each) for name, each in document()["components"]["schemas"].items()}


def _closed(schema: Any) -> Any:
    """The schema with no room for fields it does not list."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(each) for name, each in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        closed.setdefault("additionalProperties", False)
    return closed
