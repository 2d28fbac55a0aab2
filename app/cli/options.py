"""The options of a question as options of the shell: made from the question itself, as the service's parameters are."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.openapi.parameters import ABOUT_TABLE, parameters
from macekit.catalogue import flag
from macekit.schemas.query import PAIRS
from macekit.schemas.questions import QUESTIONS
from macekit.schemas.records import Asked

TWICE = {"metric.preset"}
"""Parameters of the service that another option already covers."""

FORMER = {"--max-advantage": "--threshold"}
"""Names that are understood, too: the service and Python call the limit of a question ``threshold``."""

COLUMNS = {
    "score": ("NAME", "the column of scores; several, separated by commas, for a vector"),
    "member": (
        "NAME",
        "the column that says who is a member, or COLUMN=VALUE: members are the rows of this value",
    ),
    "group": ("NAME", "the column of group labels"),
    "unit": ("NAME", "the column with the person (or other unit) of each record; one record of each is kept"),
    "members_column": ("NAME", "a table with a column for each side: the scores of members"),
    "nonmembers_column": ("NAME", "a table with a column for each side: the scores of nonmembers"),
    "members": ("N", "NPY of one dimension: the number of values at its start that are members"),
}
"""Options about the table, not about the question."""

BARE = re.compile(r"\.[0-9]+(e[-+]?[0-9]+)?")
ROUND = re.compile(r"-?[0-9]+\.")

HEADINGS = {
    "": "what is asked",
    "metric": "parameters of a metric",
    "estimator": "which adversaries",
    "columns": "columns of a table",
    "how": "how the answer is computed",
}
HOW = {"query", "seed"}


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its flag, what the service calls it, and what its help says."""

    flag: str
    name: str
    metavar: str
    text: str
    heading: str
    boolean: bool = False

    @property
    def key(self) -> str:
        """Where the parser keeps it."""
        return f"asked:{self.name}"


def options_of(operation: str) -> list[Option]:
    """Every option that one question has in the shell."""
    question = QUESTIONS[operation]
    found = parameters(operation) or list(_fields(question))
    return [_option(operation, each) for each in found if each["name"] not in TWICE]


def add_to(parser: argparse.ArgumentParser, options: list[Option]) -> None:
    """Describe the options, under headings."""
    groups: dict[str, Any] = {
        heading: parser.add_argument_group(HEADINGS[heading])
        for heading in HEADINGS
        if any(each.heading == heading for each in options)
    }
    for each in options:
        kind: dict[str, Any] = {"metavar": each.metavar}
        if each.boolean:
            kind = {"action": argparse.BooleanOptionalAction}
        groups[each.heading].add_argument(
            each.flag, dest=each.key, help=each.text.replace("%", "%%"), default=None, **kind
        )
        if each.flag in FORMER and each.name == FORMER[each.flag].removeprefix("--"):
            parser.add_argument(
                FORMER[each.flag], dest=each.key, help=argparse.SUPPRESS, default=None, **kind
            )


def query_of(options: list[Option], given: argparse.Namespace) -> tuple[tuple[str, str], ...]:
    """What was given, as the service's query string has it."""
    values = {each.name: getattr(given, each.key) for each in options}
    found = {name: value for name, value in values.items() if value is not None}
    if "metric" in found and any(name.startswith("metric.") for name in found):
        found["metric.preset"] = found.pop("metric")
    return tuple(
        (name, str(value).lower() if isinstance(value, bool) else _number(value))
        for name, value in found.items()
    )


def _option(operation: str, given: dict[str, Any]) -> Option:
    question, name, schema = QUESTIONS[operation], given["name"], given["schema"]
    if name in COLUMNS:
        return Option(flag(name), name, *COLUMNS[name], "columns")
    text = given["description"].removeprefix(ABOUT_TABLE)
    if text != given["description"]:
        return Option(flag(name), name, "NAME,…", text, "columns")
    names = schema.get("enum") or schema.get("items", {}).get("enum")
    if names and not all(each in text for each in names):
        text += f": {', '.join(names)}"
    default = _default(question, name)
    if default is not None:
        text += f" (default {_spelled(default)})"
    kind = schema.get("items", schema).get("type")
    metavar = "NAME" if names else "N" if kind in {"number", "integer"} else "TEXT"
    if schema.get("type") == "array":
        metavar = f"{metavar},…"
    if name in PAIRS:
        metavar, text = "N:N,…", f"{text}; spelled 2:0.1,4:0.3"
    heading = "how" if name in HOW else name.split(".")[0] if "." in name else ""
    return Option(flag(name, operation), name, metavar, text, heading, schema.get("type") == "boolean")


def _fields(question: type[Asked]) -> Iterator[dict[str, Any]]:
    """Parameters of a question that has no records, and so no query string."""
    for name, schema in question.model_json_schema()["properties"].items():
        kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
        yield {"name": name, "schema": kinds[0], "description": schema.get("description", "")}


def _default(question: type[BaseModel], name: str) -> object:
    """What an option is without being given."""
    first, *rest = name.split(".")
    field = question.model_fields.get(first)
    if field is None or field.is_required():
        return None
    value = field.get_default()
    for part in rest:  # a default that is itself a set of options
        value = getattr(value, part, None)
    return value


def _spelled(value: object) -> str:
    if isinstance(value, list):
        return ",".join(_spelled(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(text: str) -> str:
    """``.5`` and ``1.`` as the service spells them; what is no such number stays as it is."""
    return f"0{text}" if BARE.fullmatch(text) else text.removesuffix(".") if ROUND.fullmatch(text) else text
