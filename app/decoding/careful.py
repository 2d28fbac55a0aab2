"""JSON by the standard library: slower, and it knows what is wrong and where."""

from __future__ import annotations

import json
from collections.abc import Set
from typing import Any

import numpy as np

from app.decoding import bounds
from app.decoding.columns import COLUMNS, column, require_text
from macekit.problems import Problem

BOM = "\ufeff"


def read(body: bytes, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays, or the first thing that is wrong with it."""
    tree = _parse(body)
    if not isinstance(tree, dict):
        raise Problem("malformed-body", "the body is JSON but no object; need {...}")
    return _Walk(columns).mapping(tree, "", 0)


def _parse(body: bytes) -> object:
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Problem("malformed-body", f"the body is not UTF-8 at byte {error.start}") from None
    text = text.removeprefix(BOM)  # RFC 8259 lets a reader pass over it
    if not text.strip():
        raise Problem("incomplete-body", "the body is empty; need a JSON object")
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        at = len(body) - len(text[error.pos :].encode())
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            raise Problem("incomplete-body", f"the JSON ended before it was complete, at byte {at}") from None
        raise Problem("malformed-body", f"the body is not JSON at byte {at}") from None
    except RecursionError:
        raise Problem("malformed-body", f"the JSON is nested deeper than {bounds.MOST_DEPTH}") from None
    except ValueError:  # Python's own limit on how long an integer may be
        raise Problem("out-of-range", "the body holds an integer of thousands of digits") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        bounds.require_names([name for name, _ in pairs], "")
    return found


class _Walk:
    """The way through a document."""

    def __init__(self, columns: Set[str]) -> None:
        self.columns = columns
        self.objects = 0

    def mapping(self, tree: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        self.objects += 1
        bounds.require_few(self.objects)
        bounds.require_shallow(depth)
        bounds.require_names(list(tree), path)
        return {
            name: self.value(value, name, bounds.within(path, name, place), depth + 1)
            for place, (name, value) in enumerate(tree.items())
        }

    def value(self, value: object, name: str, path: str, depth: int) -> object:
        if isinstance(value, dict):
            return self.mapping(value, path, depth)
        if isinstance(value, list):
            if name in self.columns:
                return column(value, path)
            bounds.require_shallow(depth)
            bounds.require_entries(len(value), path)
            return [self.value(each, "", f"{path}[{i}]", depth + 1) for i, each in enumerate(value)]
        if isinstance(value, float) and not np.isfinite(value):
            raise Problem("out-of-range", f"{path}: NaN or beyond 1e308")
        if isinstance(value, str):
            require_text([value], path)
        return value
