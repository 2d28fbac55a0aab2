"""How much structure a JSON body may have, and the names of its places in messages: the same for both readers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Set
from typing import Any

from macekit.decoding.columns import COLUMNS, require_text
from macekit.problems import Problem
from macekit.schemas.query_string import FIELDS

MOST_DEPTH = 12
MOST_NAMES = 64
"""Names in one object: simdjson looks each up in time proportional to their number."""

MOST_QUERIES = 1000
MOST_CLUSTERS = 2
"""Columns of clusters."""

MOST_ENTRIES = 10_000
"""Entries of one list that is no column: as many shards may come."""

MOST_INNER = 40_000
"""Objects in all."""

PARTS = COLUMNS | FIELDS | {"by_group", "cells", "counts", "queries", "shards", "state"}
"""Names that may stand in a message; any other came from the caller."""


def require_names(names: list[str], path: str) -> None:
    """Refuse names of one object that are too many, occur twice or cannot be looked up or written."""
    most = MOST_QUERIES if path == "queries" else MOST_NAMES
    where = path or "the body"
    if len(names) > most:
        raise Problem(
            "out-of-range",
            f"{where}: got {len(names)} names in one object, at most {most}",
            field=path or None,
        )
    if len(set(names)) < len(names):
        twice = next((name for name in sorted(PARTS) if names.count(name) > 1), None)
        raise Problem(
            "malformed-body", f"{where}: {twice or 'a name'} occurs twice in one object", field=twice
        )
    if any("\0" in name for name in names):
        raise Problem("unknown-field", f"{where}: a name holds a NUL character")
    require_text(names, f"{where}, names")


def within(path: str, name: str, place: int) -> str:
    """The path one step further, without names the caller chose."""
    if path == "queries":
        return f"queries[{place}]"
    if path == "cluster" and name not in PARTS:
        return f"cluster[{place}]"
    part = name if name in PARTS else "an option"
    return f"{path}.{part}" if path else part


class Walk(ABC):
    """The way through a document: columns as arrays, everything else within bounds."""

    def __init__(self, columns: Set[str]) -> None:
        self.columns = columns
        self.objects = 0

    def is_column(self, name: str, path: str) -> bool:
        """Whether a list there is a column: by its name, or as one of clusters, whose names the caller chose."""
        return name in self.columns or (path.startswith("cluster[") and path.endswith("]"))

    @abstractmethod
    def value(self, value: object, name: str, path: str, depth: int) -> object:
        """What a value is: an object, a list, a column, or itself."""

    def object_of(self, names: list[str], values: Iterable[object], path: str, depth: int) -> dict[str, Any]:
        """An object, each of its values walked through; one nested deeper than any question is refused."""
        self.objects += 1
        if self.objects > MOST_INNER:
            raise Problem("out-of-range", f"the body holds more than {MOST_INNER} objects")
        _require_shallow(depth)
        require_names(names, path)
        return {
            name: self.value(value, name, within(path, name, place), depth + 1)
            for place, (name, value) in enumerate(zip(names, values, strict=True))
        }

    def list_of(self, values: Any, path: str, depth: int) -> list[object]:
        """A list that is no column; one too long for options is refused."""
        _require_shallow(depth)
        if len(values) > MOST_ENTRIES:
            raise Problem(
                "out-of-range", f"{path}: got {len(values)} entries, at most {MOST_ENTRIES}", field=path
            )
        return [self.value(each, "", f"{path}[{i}]", depth + 1) for i, each in enumerate(values)]


def _require_shallow(depth: int) -> None:
    if depth > MOST_DEPTH:
        raise Problem("malformed-body", f"the JSON is nested deeper than {MOST_DEPTH}")
