"""The options of a question as options of the shell, and what was typed as values of the question's own types.

Flags, help and types come from the question's JSON schema, as the service's parameters do. A text becomes a value here
once; nothing after this reads it as text again.
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from pydantic import BaseModel

from app.cli.parsing import Misuse, Parser
from app.openapi.parameters import ABOUT_TABLE, TABLE, Schema, parameters
from estimators.python.dataclass import dataclass, replace
from macekit.catalogue import BY_NAME, flag
from macekit.schemas.by_operation import QUESTIONS, schema_of
from macekit.schemas.query_string import WHOLE
from macekit.text import FORMER, printable

METRIC, PRESET = "metric", "metric.preset"
"""One metric by its name, or with parameters beside it: the shell has one flag for both."""

COLUMNS = {
    **{name: text.removeprefix(ABOUT_TABLE) for name, text in TABLE.items()},
    "score": "the column of scores; several, separated by commas, for a vector",
    "member": "the column that says who is a member, or COLUMN=VALUE: members are the rows of this value",
    "cluster": "the column with the person (or document, …) of each record, or two that cross; all records are used, "
    "and intervals allow for records of one cluster that are alike",
    "members_column": f"a {TABLE['members_column']}",
    "nonmembers_column": f"a {TABLE['nonmembers_column']}",
}
"""Options about the table, not about the question."""

NO_DIGIT_BEFORE = re.compile(r"\.[0-9]+(e[-+]?[0-9]+)?")
NO_DIGIT_AFTER = re.compile(r"-?[0-9]+\.")

COLUMN = "columns"  # the heading of options that name columns

HEADINGS = {
    "": "what is asked",
    "metric": "parameters of a metric",
    "estimator": "which adversaries",
    "rule": "how the attack guesses",
    COLUMN: "columns of a table",
    "how": "how the answer is computed",
}
HOW = {"query", "seed"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, what the service calls it, what its help says, and the JSON schema of its values."""

    flag: str
    name: str
    metavar: str
    text: str
    heading: str
    schema: Schema
    former: str = ""
    """The flag that it had in earlier versions, if it is understood still."""

    @property
    def key(self) -> str:
        """Where the parser keeps it."""
        return f"option:{self.name}"


@cache
def options_of(operation: str) -> tuple[Option, ...]:
    """Every option that one question has in the shell."""
    schemas = list(parameters(operation) or _fields(operation))
    names = {each["name"] for each in schemas if not each.get("deprecated")}
    apart = {PRESET, WHOLE}  # the name of a metric is its option; a file is one table
    apart |= {f"estimator.{name}" for name in names}  # what has a shorter name is one option
    former = {FORMER[each["name"]]: flag(each["name"]) for each in schemas if each["name"] in FORMER}
    return tuple(
        replace(_option(operation, each), former=former.get(each["name"], ""))
        for each in schemas
        if each["name"] not in apart and not each.get("deprecated")
    )


def add_to(parser: Parser, options: Sequence[Option]) -> None:
    """Add the options under headings; the name that another command, or an earlier version, has for one is known."""
    headings = {each.heading for each in options}
    groups: dict[str, Any] = {
        heading: parser.add_argument_group(title) for heading, title in HEADINGS.items() if heading in headings
    }
    for each in options:
        kind: dict[str, Any] = {"metavar": each.metavar}
        if each.schema.get("type") == "boolean":
            kind = {"action": "either"}
        groups[each.heading].add_argument(
            each.flag, dest=each.key, help=each.text.replace("%", "%%"), default=None, **kind
        )
        if each.former:
            parser.add_argument(each.former, dest=each.key, action="former", help=argparse.SUPPRESS, **kind)
    names = {each.name: each.flag for each in options}
    for former, current in FORMER.items():
        if current in names and former not in names:
            parser.elsewhere[flag(former)] = f"; did you mean {names[current]}?"


def columns_of(options: Sequence[Option], arguments: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """What was typed about the columns of the table: their names, which are no part of the question."""
    texts = ((each.name, getattr(arguments, each.key)) for each in options if each.heading == COLUMN)
    return tuple((name, text) for name, text in texts if text is not None)


def values_of(options: Sequence[Option], arguments: argparse.Namespace) -> dict[str, object]:
    """What was typed about the question, as its own nested values: `--bins 9` is ``{"estimator": {"bins": 9}}``."""
    values = {
        each.name: value_of(each.schema, typed, each.flag)
        for each in options
        if each.heading != COLUMN and (typed := getattr(arguments, each.key)) is not None
    }
    if METRIC in values and any(name.startswith(f"{METRIC}.") for name in values):
        values[PRESET] = values.pop(METRIC)
    nested: dict[str, Any] = {}
    for name, value in values.items():
        group, _, option = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[option] = value
    return nested


def value_of(schema: Schema, text: str | bool, name: str = "") -> object:
    """The value that a text spells, by its JSON schema; text that spells none stays for the question to refuse."""
    kinds = {each.get("type") for each in schema.get("anyOf", [schema])}
    if isinstance(text, bool):
        return text
    if "array" in kinds:
        parts = text.split(",")
        if schema["items"].get("type") == "array" and ":" not in text:
            try:
                parts = _pairs_of(Path(text))
            except (OSError, UnicodeDecodeError):
                place = printable(text)
                message = f"{name}: {place} is no file of two columns, and no pairs such as 2:0.1,4:0.3"
                raise Misuse(message) from None
        return [_item(schema["items"], part.strip()) for part in parts]
    return _number(text) if kinds & {"number", "integer"} else text


def _pairs_of(path: Path) -> list[str]:
    """The lines of a file with two columns, without a line of names, each as a pair is spelled."""
    lines = [line.replace(";", ",").replace("\t", ",") for line in path.read_text("utf-8-sig").splitlines()]
    lines = [line for line in lines if line.strip()]
    has_names = lines and not isinstance(_number(lines[0].partition(",")[0].strip()), int | float)
    return [line.replace(",", ":", 1) for line in lines[bool(has_names) :]]


def _item(schema: Schema, text: str) -> object:
    """One value of a list; a pair is spelled ``2:0.1``."""
    if schema.get("type") == "array" and ":" in text:
        return [value_of(schema["items"], part.strip()) for part in text.split(":")]
    return value_of(schema.get("items", schema), text)


def _option(operation: str, parameter: dict[str, Any]) -> Option:
    question, name, schema = QUESTIONS[operation], parameter["name"], parameter["schema"]
    if name in COLUMNS and not BY_NAME[operation].tables:
        metavar = {"members": "N", "cluster": "NAME,…"}.get(name, "NAME")
        return Option(flag(name, operation), name, metavar, COLUMNS[name], COLUMN, schema)
    text = parameter["description"].removeprefix(ABOUT_TABLE)
    if text != parameter["description"]:
        return Option(flag(name), name, "NAME,…", text, COLUMN, schema)
    names = schema.get("enum") or schema.get("items", {}).get("enum")
    if names and not all(each in text for each in names):
        text += f": {', '.join(names)}"
    default = _default(question, name)
    if default not in (None, []):
        text += f" (default {_text(default)})"
    kind = schema.get("items", schema).get("type")
    metavar = "NAME" if names else "N" if kind in {"number", "integer"} else "TEXT"
    if schema.get("type") == "array":
        metavar = f"{metavar},…"
    if kind == "array":
        metavar, text = "N:N,…", f"{text}; spelled 2:0.1,4:0.3, or a file of two columns"
    heading = "how" if name in HOW else name.split(".")[0] if "." in name else ""
    return Option(flag(name, operation), name, metavar, text, heading, schema)


def _fields(operation: str) -> Iterator[dict[str, Any]]:
    for name, schema in schema_of(operation)["properties"].items():
        kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
        notes = {"description": schema.get("description", ""), "deprecated": schema.get("deprecated")}
        yield {"name": name, "schema": kinds[0], **notes}


def _default(question: type[BaseModel], name: str) -> object:
    """The value of an option that is left out."""
    first, *rest = name.split(".")
    field = question.model_fields.get(first)
    if field is None or field.is_required():
        return None
    value = field.get_default()
    for part in rest:  # a default that is itself a set of options
        value = getattr(value, part, None)
    return value


def _text(value: object) -> str:
    if isinstance(value, list):
        return ",".join(_text(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> float | int | str:
    """A number as JSON writes it, or as ``.5`` and ``1.``; any other text stays text."""
    if NO_DIGIT_BEFORE.fullmatch(text):
        text = f"0{text}"
    elif NO_DIGIT_AFTER.fullmatch(text):
        text = text.removesuffix(".")
    try:
        return msgspec.json.decode(text, type=float | int)
    except msgspec.DecodeError:
        return text
