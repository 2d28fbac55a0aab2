"""``application/json``: the question and its columns in one object.

Two readers give the same answer and the same refusals: simdjson's, which the extra `serve` brings, and one over the
standard library, which reads whatever the first is not sure of, and everything where there is no simdjson.
"""

from __future__ import annotations

import json
from collections.abc import Set
from typing import Any, cast

import numpy as np

from estimators.errors import MixedTypes
from macekit.call import Call
from macekit.catalogue import ARRAYS
from macekit.decoding import bounds
from macekit.decoding.body import Column, DecodedBody, Sample
from macekit.decoding.columns import COLUMNS, column, require_name, require_text
from macekit.problems import Problem, unknown_field
from macekit.schemas.by_operation import QUESTIONS

try:
    from macekit.decoding import simd
except ModuleNotFoundError:
    HAS_SIMDJSON = False
else:
    HAS_SIMDJSON = True


def read(body: memoryview, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays, by the fast reader where there is one and the body is plain."""
    if HAS_SIMDJSON:
        try:
            return simd.read_fast(body, columns)
        except simd.NotPlainError:
            pass
    return read_careful(bytes(body), columns)


# --- careful ------------------------------------------------------------------------------------------------
# JSON by the standard library: slower, and it knows what is wrong and where.

BOM = "\ufeff"


def read_careful(body: bytes, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays, or the first thing that is wrong with it."""
    tree = parse(body)
    if not isinstance(tree, dict):
        raise Problem("malformed-body", "the body is JSON but no object; need {...}")
    return _CarefulWalk(columns).object_of(list(tree), tree.values(), "", 0)


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
        hint = (
            "; if each of its lines is an object, it is JSON lines: application/x-ndjson, or .jsonl"
            if lines
            else ""
        )
        if text[: error.pos].rstrip().endswith(",") and text.startswith(("}", "]"), error.pos):
            hint = "; a comma stands before a closing bracket: remove it"
        if not text[: error.pos].strip() and not hint and "\n" in text.strip():
            hint = "; if it is a table, name its format (text/csv), or let its file end so (.csv)"
        raise Problem("malformed-body", f"the body is not JSON at byte {at}{hint}") from None
    except RecursionError:
        raise Problem("malformed-body", f"the JSON is nested deeper than {bounds.MOST_DEPTH}") from None
    except ValueError:  # Python's own limit on how long an integer may be
        raise Problem("out-of-range", "the body holds an integer of thousands of digits") from None


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        bounds.require_names([name for name, _ in pairs], "")
    return names


class _CarefulWalk(bounds.Walk):
    """The way through a document of Python's own values."""

    def value(self, value: object, name: str, path: str, depth: int) -> object:
        """What a value is: an object, a list, a column, or itself."""
        if isinstance(value, dict):
            return self.object_of(list(value), value.values(), path, depth)
        if isinstance(value, list):
            return column(value, path) if self.is_column(name, path) else self.list_of(value, path, depth)
        if isinstance(value, float) and not np.isfinite(value):
            raise Problem("out-of-range", f"{path}: NaN or beyond 1e308")
        if isinstance(value, str):
            require_text([value], path)
        return value


# --- json ---------------------------------------------------------------------------------------------------

SAMPLE = ("members", "nonmembers", "counts")
SIDES = ("members", "nonmembers")
RECORDS = frozenset({*SAMPLE, "queries", "targets", "groups", "units", "cluster", "model"})
"""Fields that hold records of a sample."""


def decode(call: Call, body: memoryview) -> DecodedBody:
    """The decoded body of a JSON body; null stands for what is not there."""
    if call.query:
        raise Problem("bad-option", "query string: the options of a JSON body stand in the body")
    arrays = ARRAYS.get(call.operation, ())
    tree = read(body, COLUMNS | set(arrays))
    if not RECORDS & QUESTIONS[call.operation].model_fields.keys():
        return _of_arrays(tree, arrays)
    samples = {}
    if any(tree.get(name) is not None for name in SAMPLE):
        samples[""] = _sample(tree, "")
    for place, (name, each) in enumerate(_queries(tree.get("queries")).items()):
        samples[require_name(name, place)] = _query(each, place)
    if "" in samples and len(samples) > 1:
        raise Problem("bad-option", "queries: came together with a sample of its own", field="queries")
    return DecodedBody(
        samples,
        {name: value for name, value in tree.items() if name not in RECORDS},
        textual=False,
        targets=_column(tree, "targets", ""),
        groups=_labels(tree, "groups"),
        units=_labels(tree, "units"),
        models=_labels(tree, "model"),
        clusters=_clusters(tree),
    )


def _of_arrays(tree: dict[str, Any], names: tuple[str, ...]) -> DecodedBody:
    """A question that is asked of no sample: what else stands in the body is its options."""
    arrays = {name: _column(tree, name, "") for name in names}
    return DecodedBody(
        options={name: value for name, value in tree.items() if name not in arrays},
        arrays={name: column for name, column in arrays.items() if column is not None},
    )


def _queries(value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Problem("wrong-type", "queries: need an object, a name for each query", field="queries")
    return value


def _query(value: object, place: int) -> Sample:
    where = f"queries[{place}]"
    if not isinstance(value, dict):
        raise Problem(
            "wrong-type",
            f"{where}: need an object with members and nonmembers, or counts",
            field="queries",
            index=place,
        )
    for name in value:
        if name not in SAMPLE:
            raise unknown_field(name, SAMPLE, where)
    return _sample(value, f"{where}.")


def _sample(tree: dict[str, Any], where: str) -> Sample:
    counts = tree.get("counts")
    if counts is not None and not isinstance(counts, dict):
        raise Problem("wrong-type", f"{where}counts: need an object", field=f"{where}counts")
    return Sample(_column(tree, "members", where), _column(tree, "nonmembers", where), counts)


def _column(tree: dict[str, Any], name: str, where: str) -> Column | None:
    value = tree.get(name)
    if value is not None and not isinstance(value, list | np.ndarray):
        raise Problem("wrong-type", f"{where}{name}: need a list", field=f"{where}{name}")
    return cast("Column | None", value)


def _clusters(tree: dict[str, Any]) -> dict[str, Column]:
    """Columns of labels by their names; one that came without a name is called like the field."""
    value = tree.get("cluster")
    if not isinstance(value, dict) or {*SIDES} & value.keys():
        column = _labels(tree, "cluster")
        return {} if column is None else {"cluster": column}
    if not 1 <= len(value) <= bounds.MOST_CLUSTERS:
        raise Problem(
            "bad-option", f"cluster: got {len(value)} columns, need one, or two that cross", field="cluster"
        )
    columns = {}
    for place, (name, each) in enumerate(value.items()):
        require_name(name, place, "cluster")
        column = _labels({"cluster": each}, "cluster")
        if column is None:
            raise Problem("missing-field", f"cluster[{place}]: need a label for each record", field="cluster")
        columns[name] = column
    return columns


def _labels(tree: dict[str, Any], name: str) -> Column | None:
    """Labels in the order of the records, whether they came as one list or side by side."""
    value = tree.get(name)
    if not isinstance(value, dict):
        return _column(tree, name, "")
    for side in value:
        if side not in SIDES:
            raise unknown_field(side, SIDES, name)
    a, b = (_column(value, side, f"{name}.") for side in SIDES)
    if a is None or b is None:
        raise Problem("missing-field", f"{name}: need members and nonmembers, or one list", field=name)
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        if {type(label) for label in _as_list(a)} != {type(label) for label in _as_list(b)}:
            raise MixedTypes(f"{name}: labels must be all text or all numbers", field=name)
        return _as_list(a) + _as_list(b)
    alike = a.dtype == b.dtype and a.shape[1:] == b.shape[1:]
    return np.concatenate([a, b]) if alike else _as_list(a) + _as_list(b)


def _as_list(column: Column) -> list[object]:
    return column.tolist() if isinstance(column, np.ndarray) else column
