"""How much structure a JSON body may have, and the names of its places in messages: the same for both readers."""

from __future__ import annotations

from macekit.decoding.columns import COLUMNS, require_text
from macekit.problems import Problem
from macekit.schemas.query import FIELDS

MOST_DEPTH = 12
MOST_NAMES = 64
"""Names in one object: simdjson looks each up in time proportional to their number."""

MOST_QUERIES = 1000
MOST_ENTRIES = 10_000
"""Entries of one list that is no column: as many shards may come."""

MOST_INNER = 40_000
"""Objects in all."""

PARTS = COLUMNS | FIELDS | {"counts", "queries", "cells", "shards"}
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


def require_entries(count: int, path: str) -> None:
    """Refuse a list too long for options."""
    if count > MOST_ENTRIES:
        raise Problem("out-of-range", f"{path}: got {count} entries, at most {MOST_ENTRIES}", field=path)


def require_shallow(depth: int) -> None:
    """Refuse what is nested deeper than any question."""
    if depth > MOST_DEPTH:
        raise Problem("malformed-body", f"the JSON is nested deeper than {MOST_DEPTH}")


def require_few(inner: int) -> None:
    """Refuse more objects than any question has."""
    if inner > MOST_INNER:
        raise Problem("out-of-range", f"the body holds more than {MOST_INNER} objects")


def within(path: str, name: str, place: int) -> str:
    """The path one step further, without names the caller chose."""
    if path == "queries":
        return f"queries[{place}]"
    known = name if name in PARTS else "an option"
    return f"{path}.{known}" if path else known
