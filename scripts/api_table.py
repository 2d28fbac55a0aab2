"""The interface as a short table, for whoever reviews a change of it: operations, fields, limits, status codes.

It is made from the OpenAPI document that a running service shows at /openapi.json, which is not kept.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

from app.main import create_app
from app.openapi.document import OPTIONS, PROBLEMS
from app.settings import Settings

TABLE = Path(__file__).resolve().parent.parent / "docs" / "api.txt"
WRAPPER = TextWrapper(120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
ABOUT = """\
The interface of the service, made by scripts/api-table from the OpenAPI document at /openapi.json.

name? may be left out; "= x" is what it is then. A name with a capital is a type below; what is listed after "as below"
has the type of its own name, written Like_This: prior is a Prior. Problems are application/problem+json; which there
are of a status stands under "problems". An operation that names no problems has the usual ones. "tables", "reports",
what they go without or with, and "usual" stand for what is listed first. A rule says what fields of an object must be
together: by {a: number; b?: null} a must be given and a number, and b be left out or null.
"""

Schema = dict[str, Any]
GROUPS = {
    "tables": (
        "text/csv CsvTable", "application/x-ndjson JsonLines", "application/x-npy NpyArray",
        "application/x-npz NpzArrays", "application/vnd.apache.arrow.stream ArrowTable",
        "application/vnd.apache.parquet ParquetTable",
    ),
    "reports": (
        "text/html", "text/markdown", "text/csv", "application/vnd.mace.brief+json BriefAnswer", "image/svg+xml",
        "image/png",
    ),
    "tables without npy": (
        "text/csv CsvTable", "application/x-ndjson JsonLines", "application/x-npz NpzArrays",
        "application/vnd.apache.arrow.stream ArrowTable", "application/vnd.apache.parquet ParquetTable",
    ),
    "tables without numpy": (
        "text/csv CsvTable", "application/x-ndjson JsonLines", "application/vnd.apache.arrow.stream ArrowTable",
        "application/vnd.apache.parquet ParquetTable",
    ),
    "reports without charts": (
        "text/html", "text/markdown", "text/csv", "application/vnd.mace.brief+json BriefAnswer",
    ),
    "reports with records": (
        "text/csv", "application/vnd.apache.arrow.stream", "text/html", "text/markdown",
        "application/vnd.mace.brief+json BriefAnswer", "image/svg+xml", "image/png",
    ),
    "usual": ("members_column", "nonmembers_column", "members", "data", "dated", "detail"),
}  # fmt: skip
"""Forms, and parameters, that mostly come together, by a word for them."""

PREFER, JOB = "Prefer", "application/json JobAnswer"
RULES = ("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentRequired")
LIMITS = {
    "exclusiveMinimum": "> {}", "minimum": ">= {}", "exclusiveMaximum": "< {}", "maximum": "<= {}",
    "minLength": "{}+ characters", "maxLength": "at most {} characters",
    "minItems": "{}+ items", "maxItems": "at most {} items",
    "minProperties": "{}+ members", "maxProperties": "at most {} members", "pattern": "{}", "format": "{}",
}  # fmt: skip


def document() -> Schema:
    """Return the OpenAPI document of a service with default settings."""
    return create_app(Settings()).openapi()


def table(document: Schema) -> str:
    """Return the whole table."""
    schemas, parameters = document["components"]["schemas"], document["components"]["parameters"]
    simple = {name for name, each in schemas.items() if "properties" not in each}
    parts = {
        "operations": _operations(document),
        "problems": _problems(document),
        "parameters": (": ".join(_parameter(name, parameters[name])) for name in sorted(parameters)),
        "types": _types({name: _kind(schemas[name]) for name in sorted(simple)}),
        "objects": (line for name in sorted(schemas.keys() - simple) for line in _object(name, schemas)),
    }
    lines = [each for title, part in parts.items() for each in (f"== {title} ==", "", *part, "")]
    return "\n".join([ABOUT, *lines])


def _types(kinds: dict[str, str]) -> Iterator[str]:
    """Yield a line for each, and one for those of one name, but for its number, that say the same."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, kind in kinds.items():
        alike.setdefault((name.rstrip("0123456789"), kind), []).append(name)
    for (_, kind), names in alike.items():
        yield f"{', '.join(names)}: {kind}"


def _operations(document: Schema) -> Iterator[str]:
    usual = _usual_problems(document)
    yield from _listed("usual problems", list(usual))
    for word, group in GROUPS.items():
        yield from _listed(word, list(group), "; ")
    yield f"  202, of what takes {PREFER}: {JOB}"
    yield ""
    for path, item in document["paths"].items():
        for method, about in item.items():
            yield f"{method.upper()} {path} ({about['operationId']})"
            if body := about.get("requestBody"):
                yield from _listed("body" if body["required"] else "body?", _forms(body["content"]), "; ")
                if body.get(OPTIONS):
                    yield f"  example of a table needs: {', '.join(body[OPTIONS])}"
            parameters = about.get("parameters", ())
            yield from _listed("parameters", [_end(each) for each in parameters if "$ref" in each])
            own = (_parameter(each["name"], each) for each in parameters if "$ref" not in each)
            yield from (f"  {line}" for line in _of_a_kind(own))
            for status, response in about["responses"].items():
                found = document["components"]["responses"].get(_end(response), response)
                forms = _forms(found.get("content", {})) or ["nothing"]
                as_usual = status == "202" and forms == [JOB] and PREFER in map(_end, parameters)
                if PROBLEMS not in found and not as_usual:
                    yield from _listed(status, forms, "; ")
            if (problems := _problems_of(document, about)) != usual:
                yield from _listed("problems", list(problems) or ["none"])
            yield ""


def _problems_of(document: Schema, about: Schema) -> tuple[str, ...]:
    """Return the problems of an operation."""
    shared = document["components"]["responses"]
    responses = about["responses"].items()
    return tuple(_end(each) or status for status, each in responses if PROBLEMS in shared.get(_end(each), each))


def _usual_problems(document: Schema) -> tuple[str, ...]:
    """Return those that most operations have."""
    every = [_problems_of(document, about) for item in document["paths"].values() for about in item.values()]
    return Counter(every).most_common(1)[0][0]


def _forms(content: Schema) -> list[str]:
    kinds = {form: f" {_kind(each['schema'])}" if "schema" in each else "" for form, each in content.items()}
    return _in_words([form + kind for form, kind in kinds.items()])


def _in_words(texts: list[str], label: str = "") -> list[str]:
    """Return texts, with a word for those that mostly come together."""
    for word, group in GROUPS.items():
        for at in range(len(texts) - len(group) + 1):
            if label != word and tuple(texts[at : at + len(group)]) == group:
                texts = [*texts[:at], word, *texts[at + len(group) :]]
    return texts


def _problems(document: Schema) -> Iterator[str]:
    for status, response in sorted(document["components"]["responses"].items()):
        if PROBLEMS in response:
            headers = f" ({', '.join(response['headers'])})" if "headers" in response else ""
            yield from _listed(f"{status}{headers}", response[PROBLEMS])


def _parameter(name: str, about: Schema) -> tuple[str, str]:
    """Return what it is called, and its kind."""
    where = "" if about["in"] == "query" else f" in {about['in']}"
    optional = "" if about.get("required") else "?"
    called = f" ({about['name']})" if about["name"] != name else ""
    return f"{name}{optional}{called}{where}", f"{_kind(about['schema'])}{_marked(about)}"


def _object(name: str, schemas: Schema) -> Iterator[str]:
    """Yield an object's fields, those of one type on a line."""
    schema = schemas[name]
    own = {each.replace("_", "").lower() for each in schemas}
    closed = "" if schema.get("additionalProperties") is False else " ..."
    yield f"{name}{closed}"
    needed = schema.get("required", ())
    fields = {name if name in needed else f"{name}?": each for name, each in schema["properties"].items()}
    as_below = [name for name, each in fields.items() if _is_own(name, each, own)]
    yield from _listed("as below", as_below)
    kinds = ((field, _kind(each) + _marked(each)) for field, each in fields.items() if field not in as_below)
    yield from (f"  {line}" for line in _of_a_kind(kinds))
    own_rule = {key: schema[key] for key in RULES if key in schema and key != "allOf"}
    for rule in filter(None, (*schema.get("allOf", ()), own_rule)):
        yield from _listed("rule", [rule_of(rule)])


def _of_a_kind(fields: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield fields, those of one kind on a line."""
    of_kind: dict[str, list[str]] = {}
    for name, kind in fields:
        of_kind.setdefault(kind, []).append(name)
    for kind, same in of_kind.items():
        yield f"{', '.join(same)}: {kind}"


def rule_of(schema: Any) -> str:
    """Return what must be; a keyword without words here stays JSON, so that nothing is lost."""
    if not isinstance(schema, dict):
        return "anything" if schema else "nothing"
    parts: list[str] = []
    for keyword, value in ({"properties": {}} | schema if "required" in schema else schema).items():
        match keyword:
            case "if":
                steps = ((word, schema[word]) for word in ("if", "then", "else") if word in schema)
                parts.append(" ".join(f"{word} {rule_of(step)}" for word, step in steps))
            case "allOf":
                parts += map(rule_of, value)
            case "anyOf" | "oneOf":
                parts.append(f"{keyword[:3]} of ({', '.join(map(rule_of, value))})")
            case "not":
                parts.append(f"not {rule_of(value)}")
            case "type" | "enum" | "const":
                parts.append(" | ".join(map(_value, value if isinstance(value, list) else [value])))
            case "properties":
                needed = schema.get("required", ())
                fields = dict.fromkeys(needed, True) | value
                rules = {name if name in needed else f"{name}?": rule_of(fields[name]) for name in fields}
                parts.append(f"{{{'; '.join(_of_a_kind(rules.items()))}}}")
            case "then" | "else" | "required":
                pass
            case _:
                parts.append(json.dumps({keyword: value}))
    return parts[0] if len(parts) == 1 else f"all of ({', '.join(parts)})"


def _is_own(field: str, schema: Schema, types: set[str]) -> bool:
    """Tell whether a field's type is called like the field."""
    name = field.rstrip("?").replace("_", "").lower()
    return schema.keys() == {"$ref"} and _end(schema).lower() == name and name in types


def _kind(schema: Schema) -> str:
    """Return a schema as a short text: its type, its limits, its default."""
    limits = [text.format(_value(schema[key])) for key, text in LIMITS.items() if key in schema]
    default = [f"= {_value(schema['default'])}"] if "default" in schema else []
    return " ".join([_type(schema), *([f"({', '.join(limits)})"] if limits else []), *default])


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _end(schema)
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            return " | ".join(map(_kind, schema[keyword]))
    if "enum" in schema:
        return " | ".join(_value(each) for each in schema["enum"])
    if "const" in schema:
        return _value(schema["const"])
    kinds = schema.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    texts, items, values = {}, schema.get("items"), schema.get("additionalProperties")
    if "prefixItems" in schema or items is not None:
        texts["array"] = f"[{', '.join(map(_kind, schema.get('prefixItems', [items])))}]"
    if values and isinstance(values, dict):
        texts["object"] = f"{{text: {_kind(values)}}}"
    return " | ".join(texts.get(kind, kind) for kind in kinds)


def _marked(about: Schema) -> str:
    return ", deprecated" if about.get("deprecated") else ""


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _end(reference: Schema) -> str:
    return str(reference.get("$ref", "")).rpartition("/")[2]


def _listed(label: str, words: list[str], separator: str = ", ") -> Iterator[str]:
    """Yield a list on as many lines as it takes."""
    if words:
        yield from WRAPPER.wrap(f"  {label}: {separator.join(_in_words(words, label))}")


def main(arguments: list[str]) -> int:
    """Write the table, compare it, or print the document; 0 when all is as it should be."""
    for name in [name for name in os.environ if name.startswith("MACE_")]:
        del os.environ[name]  # a key would show in the document
    if arguments == ["--openapi"]:
        print(json.dumps(document(), indent=1, ensure_ascii=False))
        return 0
    kept, made = TABLE.read_text(encoding="utf-8") if TABLE.exists() else "", table(document())
    if arguments == ["--check"]:
        lines = unified_diff(kept.splitlines(), made.splitlines(), "docs/api.txt", "the code", "", "", 1, "")
        print("\n".join(lines))
        print(f"docs/api.txt is {'' if kept == made else 'not '}what the code makes: scripts/api-table")
        return int(kept != made)
    TABLE.write_text(made, encoding="utf-8")
    print(f"{TABLE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
