"""JSON as Python's own values and columns as arrays, within bounds: the same by either of two readers.

simdjson's is fast, and comes with the extra `serve`; one over the standard library reads whatever the first is not sure
of, and everything where there is no simdjson.
"""

from __future__ import annotations

import json
import re
from collections.abc import Set
from typing import Any

import numpy as np

from macekit.decoding.body import Column
from macekit.decoding.columns import COLUMNS, KINDS, MOST_QUERIES, column, mixed, refuse_ragged, require_text
from macekit.problems import Problem, fault
from macekit.schemas.by_operation import QUESTIONS
from macekit.schemas.query_string import FIELDS

try:
    from simdjson import Array, Object, Parser
except ModuleNotFoundError:
    HAS_SIMDJSON = False
    OBJECTS: tuple[type, ...] = (dict,)
    LISTS: tuple[type, ...] = (list,)
else:
    HAS_SIMDJSON = True
    OBJECTS, LISTS = (dict, Object), (list, Array)
    KIND_OF = {**KINDS, Array: KINDS[list], Object: KINDS[dict]}

MOST_DEPTH = 12
MOST_NAMES = 64  # names in one object: simdjson looks each up in time proportional to their number
MOST_ENTRIES = 10_000  # entries of one list that is no column: as many shards may come
MOST_INNER = 40_000  # objects in all
SIDES = ("members", "nonmembers")  # what an object of labels may have in place of names of the caller's

PARTS = COLUMNS | FIELDS | {"by_group", "cells", "counts", "queries", "shards", "state"}
"""Names that may stand in a message; any other came from the caller."""


def require_names(names: list[str], path: str) -> None:
    """Refuse names of one object that are too many, occur twice or cannot be looked up or written."""
    most = MOST_QUERIES if path == "queries" else MOST_NAMES
    where = path or "the body"
    if len(names) > most:
        raise Problem(
            "out-of-range",
            f"{where}: got {len(names)} names in one object, at most {most}; values of a column stand in a list, as "
            "those of a pandas frame do in JSON lines: frame.to_json('scores.jsonl', orient='records', lines=True)",
            field=path or None,
        )
    if len(set(names)) < len(names):
        twice = next((name for name in sorted(PARTS) if names.count(name) > 1), None)
        detail = f"{where}: {twice or 'a name'} occurs twice in one object"
        raise Problem("malformed-body", detail, field=twice)
    if any("\0" in name for name in names):
        raise Problem("unknown-field", f"{where}: a name holds a NUL character")
    require_text(names, f"{where}, names")


def within(path: str, name: str, place: int) -> str:
    """The path one step further, without names the caller chose."""
    if path == "queries":
        return f"queries[{place}]"
    if path == "cluster" and name not in SIDES:
        return f"cluster[{place}]"
    part = name if name in PARTS else "an option"
    return f"{path}.{part}" if path else part


class Walk:
    """The way through a document of either reader: columns as arrays, everything else within bounds."""

    def __init__(self, columns: Set[str]) -> None:
        self.columns = columns
        self.objects = 0
        self.arrays = 0

    def value(self, value: object, name: str, path: str, depth: int) -> object:
        """What a value is: an object, a list, a column, or itself."""
        if isinstance(value, OBJECTS):
            return self.mapping(value, path, depth)
        if isinstance(value, LISTS):
            self.arrays += 1
            of_clusters = path.startswith("cluster[") and path.endswith("]")  # whose names the caller chose
            is_column = name in self.columns or of_clusters
            return self.column(value, path) if is_column else self.list_of(value, path, depth)
        if isinstance(value, float) and not np.isfinite(value):
            known = any(name in question.model_fields for question in QUESTIONS.values())
            raise Problem(
                "out-of-range", f"{name if known else path}: NaN or beyond 1e308", field=name if known else None
            )
        if isinstance(value, str):
            require_text([value], path)
        return value

    def mapping(self, tree: Any, path: str, depth: int) -> dict[str, Any]:
        """An object, each of its values walked through once its names are known to be few."""
        self.objects += 1
        if self.objects > MOST_INNER:
            raise Problem("out-of-range", f"the body holds more than {MOST_INNER} objects")
        _require_shallow(depth)
        names = list(tree)
        require_names(names, path)
        return {
            name: self.value(tree[name], name, within(path, name, place), depth + 1) for place, name in enumerate(names)
        }

    def list_of(self, values: Any, path: str, depth: int) -> list[object]:
        """A list that is no column; one too long for options is refused."""
        _require_shallow(depth)
        if len(values) > MOST_ENTRIES:
            raise fault("out-of-range", path, f"got {len(values)} entries, at most {MOST_ENTRIES}")
        return [self.value(each, "", f"{path}[{i}]", depth + 1) for i, each in enumerate(values)]

    def column(self, values: Any, path: str) -> Column:
        """A list of one type."""
        return column(values, path)


def _require_shallow(depth: int) -> None:
    if depth > MOST_DEPTH:
        raise Problem("malformed-body", f"the JSON is nested deeper than {MOST_DEPTH}")


def read(body: memoryview, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays, by the fast reader where there is one and the body is plain."""
    if HAS_SIMDJSON:
        try:
            return read_fast(body, columns)
        except NotPlainError:
            pass
    return read_careful(bytes(body), columns)


# --- careful ------------------------------------------------------------------------------------------------
# By the standard library: slower, and it knows what is wrong and where.

BOM = "\ufeff"
TRAILING_COMMA = re.compile(r",\s*[}\]]")


def read_careful(body: bytes, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays, or the first thing that is wrong with it."""
    return Walk(columns).mapping(parse_object(body), "", 0)


def parse_object(body: bytes) -> dict[str, Any]:
    """A document that is an object, as Python's own values."""
    tree = parse(body)
    if not isinstance(tree, dict):
        need = "need {...}, or, of a table, JSON lines: an object a line"
        raise Problem("malformed-body", f"the body is JSON but no object; {need}")
    return tree


def parse(body: bytes) -> object:
    """The document as Python's own values; no name may occur twice in an object."""
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
        lines = "\n" in text[len(text[: error.pos].rstrip()) : error.pos] and text.startswith("{", error.pos)
        hint = "; if each of its lines is an object, it is JSON lines: application/x-ndjson, or .jsonl" if lines else ""
        # Python points at the comma since 3.13, behind it until then
        before = len(text[: error.pos].rstrip()) - 1
        if TRAILING_COMMA.match(text, max(0, before)) or TRAILING_COMMA.match(text, error.pos):
            hint = "; a comma stands before a closing bracket: remove it"
        if not text[: error.pos].strip() and not hint and "\n" in text.strip():
            hint = "; if it is a table, name its format (text/csv), or let its file end so (.csv)"
        raise Problem("malformed-body", f"the body is not JSON at byte {at}{hint}") from None
    except RecursionError:
        raise Problem("malformed-body", f"the JSON is nested deeper than {MOST_DEPTH}") from None
    except ValueError:  # Python's own limit on how long an integer may be
        raise Problem("out-of-range", "the body holds an integer of thousands of digits") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        require_names([name for name, _ in pairs], "")
    return names


# --- fast ---------------------------------------------------------------------------------------------------
# By simdjson: arrays of numbers become NumPy arrays without one Python object for each number.

BRACKET = ord("[")


class NotPlainError(Exception):
    """The body is to be read with care."""


def read_fast(body: bytes | memoryview, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays; exactly what ``json.read_careful`` makes of it, or ``NotPlainError``.

    simdjson flattens arrays within arrays without a word. Every array has a bracket of its own in the body, so none was
    hidden if there are as many brackets as arrays met; a bracket within a text only makes us read with care.
    """
    try:
        tree = Parser().parse(body)
    except (ValueError, RuntimeError):
        raise NotPlainError from None
    if not isinstance(tree, Object):
        raise NotPlainError
    walk = _FastWalk(columns)
    content = walk.mapping(tree, "", 0)
    if np.count_nonzero(np.frombuffer(body, np.uint8) == BRACKET) != walk.arrays:
        raise NotPlainError
    return content


class _FastWalk(Walk):
    """The way through a document of simdjson's."""

    def column(self, array: Array, path: str) -> Column:
        """A list of one type, its numbers straight from the document."""
        if not len(array):
            return np.empty(0)
        if isinstance(next(iter(array)), Array):
            return self.rows(array, path)
        try:
            return np.frombuffer(array.as_buffer(of_type="i"), np.int64)
        except ValueError:  # beyond 63 bits
            raise NotPlainError from None
        except TypeError:  # not integers, or not only
            pass
        try:
            return np.frombuffer(array.as_buffer(of_type="d"), np.float64)
        except TypeError:  # not numbers, or not only
            pass
        values: list[object] = list(array)  # not as_list, which writes past its end beyond 2^24 elements
        if set(map(type, values)) & {Array, Object}:
            raise mixed(values, path, KIND_OF)
        return column(values, path)

    def rows(self, array: Array, path: str) -> Column:
        """Lists of numbers of one length."""
        lengths = [len(row) if isinstance(row, Array) else -1 for row in array]  # no row is kept
        if -1 in lengths:
            raise mixed(list(array), path, KIND_OF)
        self.arrays += len(lengths)
        refuse_ragged(lengths, path)
        try:
            flat = np.frombuffer(array.as_buffer(of_type="d"), np.float64)
        except TypeError:
            raise NotPlainError from None
        if flat.size != len(lengths) * lengths[0]:
            raise NotPlainError
        return flat.reshape(len(lengths), lengths[0])
