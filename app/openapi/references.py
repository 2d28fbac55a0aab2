"""What the document says several times is said once, in its components, and referred to from everywhere else."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal, get_args, get_origin

from macekit.schemas import questions

Schema = dict[str, Any]
Place = tuple[str, Any, Any]  # what a part is called, and the container and the key that hold it

REFERENCE = "#/components/{kind}/{name}"
NO_SCHEMAS = frozenset({"const", "default", "enum", "examples", "required"})
"""Keywords of JSON Schema whose values are no schemas."""

NAMED = {get_args(alias): name for name, alias in vars(questions).items() if get_origin(alias) is Literal}
"""Lists of values to which the questions give a name, and the name."""


def share(document: Schema) -> None:
    """Move to the components what stands repeatedly: enums, fields, parameters, headers, examples, responses."""
    components, paths = document["components"], document["paths"]
    components["schemas"] = schemas = {name: _brief(each) for name, each in components["schemas"].items()}
    _share_enums(document)
    _move(components, "schemas", _fields(schemas))
    parts = {"parameters": _parameters, "headers": _headers, "examples": _examples, "responses": _responses}
    for kind, places in parts.items():
        uses = (place for item in paths.values() for each in item.values() for place in places(each))
        _move(components, kind, uses)


def _move(components: Schema, kind: str, places: Iterator[Place]) -> None:
    """Say once what stands at several places, if that is shorter; what stands most often gets the plain name."""
    alike: dict[str, list[Place]] = defaultdict(list)
    for place in list(places):
        _, holder, key = place
        alike[_text(holder[key])].append(place)
    shared: Schema = components.setdefault(kind, {})
    for text, uses in sorted(alike.items(), key=lambda item: -len(item[1])):
        name = _free(uses[0][0], shared)
        reference = {"$ref": REFERENCE.format(kind=kind, name=name)}
        if len(text) + len(uses) * len(_text(reference)) < len(uses) * len(text):
            _, first, place = uses[0]
            shared[name] = first[place]
            for _, holder, key in uses:
                holder[key] = reference


def _text(part: object) -> str:
    # as long as it is sent
    return json.dumps(part, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _free(name: str, taken: Mapping[str, object]) -> str:
    return name if name not in taken else next(f"{name}{n}" for n in count(2) if f"{name}{n}" not in taken)


def _brief(part: Any, *, by_name: bool = False) -> Any:
    """A schema without what says nothing (titles, which repeat names; null as the default), "or null" a type."""
    if isinstance(part, list):
        return [_brief(each) for each in part]
    if not isinstance(part, dict):
        return part
    if by_name:
        return {name: _brief(each) for name, each in part.items()}
    brief = {
        key: each if key in NO_SCHEMAS else _brief(each, by_name=key == "properties")
        for key, each in part.items()
        if key != "title" and not (key == "default" and each is None)
    }
    match brief:
        case {"anyOf": [{"type": str() as kind} as one, {"type": "null"}], **rest} if not {"enum", "const"} & set(one):
            return {**one, "type": [kind, "null"], **rest}
    return brief


def _fields(schemas: Schema) -> Iterator[Place]:
    """Fields of questions and answers."""
    for schema in schemas.values():
        fields = schema.get("properties", {})
        for name in fields:
            yield _as_class(name), fields, name


def _share_enums(document: Schema) -> None:
    """Give every list of values that is there repeatedly a schema of its own; what stands beside one stays there."""
    alike: dict[tuple[str, ...], list[tuple[str, Schema]]] = defaultdict(list)
    for name, schema in _with_enum(document, ""):
        alike[tuple(schema["enum"])].append((name, schema))
    schemas = document["components"]["schemas"]
    for values, uses in alike.items():
        if len(uses) > 1:
            name = NAMED.get(values) or _free(_as_class(uses[0][0]), schemas)
            schemas[name] = {"type": "string", "enum": list(values)}
            for _, schema in uses:
                del schema["type"], schema["enum"]
                schema["$ref"] = REFERENCE.format(kind="schemas", name=name)


def _with_enum(part: Any, name: str) -> Iterator[tuple[str, Schema]]:
    """Schemas of text that is one of several values, each with the name of its field or parameter."""
    if isinstance(part, list):
        for each in part:
            yield from _with_enum(each, name)
    elif isinstance(part, dict) and part.get("type") == "string" and "enum" in part:
        yield name, part
    elif isinstance(part, dict):
        name = part["name"] if isinstance(part.get("name"), str) else name
        for key, each in part.items():
            if key == "properties":
                for field, schema in each.items():
                    yield from _with_enum(schema, field)
            elif key not in NO_SCHEMAS:
                yield from _with_enum(each, name)


def _as_class(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace(".", "_").split("_"))


def _parameters(operation: Schema) -> Iterator[Place]:
    parameters = operation.get("parameters", [])
    for place, parameter in enumerate(parameters):
        yield parameter["name"], parameters, place


def _headers(operation: Schema) -> Iterator[Place]:
    for response in operation["responses"].values():
        headers = response.get("headers", {})
        for name in headers:
            yield name, headers, name


def _examples(operation: Schema) -> Iterator[Place]:
    for form in operation.get("requestBody", {}).get("content", {}).values():
        examples = form.get("examples", {})
        for name in examples:
            yield name, examples, name


def _responses(operation: Schema) -> Iterator[Place]:
    responses = operation["responses"]
    for status in responses:
        yield status, responses, status
