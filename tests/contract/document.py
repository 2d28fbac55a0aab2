"""The OpenAPI document as a client reads it: its operations, its examples, its answers held to their schemas."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from jsonschema_rs import Draft202012Validator

from app.main import create_app
from app.openapi.document import OPTIONS
from app.openapi.examples import files_of
from app.settings import Settings
from macekit.call import CSV, JSON

Schema = dict[str, Any]


@cache
def document() -> Schema:
    """The document of a service with default settings."""
    return create_app(Settings()).openapi()


@cache
def unfolded() -> Schema:
    return unfold(document())


def unfold(whole: Schema) -> Schema:
    """A document with each parameter, header, example and response where it is referred to; schemas stay by name."""
    return {**whole, "paths": _unfolded(whole["paths"], whole["components"])}


def _unfolded(part: Any, components: Schema) -> Any:
    if isinstance(part, list):
        return [_unfolded(each, components) for each in part]
    if not isinstance(part, dict):
        return part
    match part.get("$ref", "").split("/"):
        case ["#", "components", kind, name] if kind != "schemas":
            return _unfolded(components[kind][name], components)
    return {name: _unfolded(each, components) for name, each in part.items()}


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
        options = self.operation.about["requestBody"].get(OPTIONS, {})
        query = urlencode({name: _spelled(value) for name, value in options.items() if self.media_type != JSON})
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
        Operation(path, method, about) for path, item in unfolded()["paths"].items() for method, about in item.items()
    ]


def examples() -> Iterator[Example]:
    for operation in operations():
        content = operation.about.get("requestBody", {}).get("content", {})
        for media_type, form in content.items():
            for name, example in form.get("examples", {}).items():
                value = example["value"]
                body = json.dumps(value) if media_type == JSON else value
                yield Example(operation, media_type, name, body.encode(), None)
        for file, media_type in files_of(operation.path.removeprefix("/v1/")).items() if content else ():
            if media_type in content and media_type != CSV:
                yield Example(operation, media_type, file, None, f"/examples/{file}")


def faults(schema: Schema, instance: object) -> list[str]:
    """What is wrong with an instance; a field that the schema does not list is wrong, too."""
    validator = Draft202012Validator({**_closed(schema), "components": {"schemas": _closed_components()}})
    return [f"{error.instance_path}: {error.message[:200]}" for error in validator.iter_errors(instance)]


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
