"""``application/json``: the question and its columns in one object."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from app.decoding import careful, fast
from app.decoding.columns import COLUMNS
from app.decoding.material import Column, Material, Sample
from estimators.errors import MixedTypes
from macekit.call import Call
from macekit.problems import Problem, unknown_field
from macekit.schemas.questions import QUESTIONS
from macekit.schemas.theory import ARRAYS

MOST_LETTERS = 200
SAMPLE = ("members", "nonmembers", "counts")
SIDES = ("members", "nonmembers")
HELD = frozenset({*SAMPLE, "queries", "targets", "groups", "units"})
"""Fields that hold records of a sample."""


def decode(call: Call, body: memoryview) -> Material:
    """The material of a JSON body; null stands for what is not there."""
    if call.query:
        raise Problem("bad-option", "query string: the options of a JSON body stand in the body")
    arrays = ARRAYS.get(call.operation, ())
    try:
        tree = fast.read(body, COLUMNS | set(arrays))
    except fast.NotPlainError:
        tree = careful.read(bytes(body), COLUMNS | set(arrays))
    if not HELD & QUESTIONS[call.operation].model_fields.keys():
        return _of_arrays(tree, arrays)
    samples = {}
    if any(tree.get(name) is not None for name in SAMPLE):
        samples[""] = _sample(tree, "")
    for place, (name, each) in enumerate(_queries(tree.get("queries")).items()):
        samples[require_name(name, place)] = _query(each, place)
    if "" in samples and len(samples) > 1:
        raise Problem("bad-option", "queries: came together with a sample of its own", field="queries")
    return Material(
        samples,
        {name: value for name, value in tree.items() if name not in HELD},
        textual=False,
        targets=_column(tree, "targets", ""),
        groups=_labels(tree, "groups"),
        units=_labels(tree, "units"),
    )


def _of_arrays(tree: dict[str, Any], names: tuple[str, ...]) -> Material:
    """A question that is asked of no sample: what else stands in the body is its options."""
    arrays = {name: _column(tree, name, "") for name in names}
    return Material(
        options={name: value for name, value in tree.items() if name not in arrays},
        arrays={name: column for name, column in arrays.items() if column is not None},
    )


def require_name(name: str, place: int) -> str:
    """The name of a query, if it can be one."""
    if not 0 < len(name) <= MOST_LETTERS:
        raise Problem(
            "out-of-range",
            f"queries[{place}]: its name has {len(name)} characters; need 1 to {MOST_LETTERS}",
            field="queries",
            index=place,
        )
    return name


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
        if {type(label) for label in _listed(a)} != {type(label) for label in _listed(b)}:
            raise MixedTypes(f"{name}: labels must be all text or all numbers", field=name)
        return _listed(a) + _listed(b)
    alike = a.dtype == b.dtype and a.shape[1:] == b.shape[1:]
    return np.concatenate([a, b]) if alike else _listed(a) + _listed(b)


def _listed(column: Column) -> list[object]:
    return column.tolist() if isinstance(column, np.ndarray) else column
