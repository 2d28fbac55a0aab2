"""Cells that were posted are what they say, before the library sees them."""

from typing import Any

import numpy as np
import pytest

from estimators.errors import InvalidCounts
from estimators.sample.cells import cells_from_dict
from macekit.operations.samples import require_cells
from macekit.problems import Problem
from macekit.schemas.records import CELLS
from tests.cases import each_case

GRID = {"kind": "grid", "exponent": -3, "keys": [1, 2]}
LATTICE = {"kind": "lattice", "bins": 4, "low": [0.0], "high": [1.0], "keys": [1]}


@pytest.mark.parametrize("cells", [
    GRID, {**GRID, "keys": np.array([1, 2])}, LATTICE, {"kind": "categories", "labels": ["a", "b"]},
    {"kind": "values", "labels": [1.5, 2]}, {"kind": "intervals", "cuts": []},
    {"kind": "intervals", "cuts": np.empty(0)}, {"kind": "boxes", "axes": [0], "cuts": [0.5]},
])  # fmt: skip
def test_cells_as_counts_answers_them_pass(cells: dict[str, Any]) -> None:
    require_cells(cells, "")


@each_case(
    "cells, slug, field",
    ([], "wrong-type", "counts.cells"),
    ({}, "unknown-name", "counts.cells.kind"),
    ({"kind": ["grid"]}, "unknown-name", "counts.cells.kind"),
    ({"kind": "SECRET"}, "unknown-name", "counts.cells.kind"),
    ({**GRID, "labels": ["SECRET"]}, "unknown-field", None),
    ({"kind": "grid", "keys": [1]}, "missing-field", "counts.cells.exponent"),
    ({**GRID, "exponent": 2.7}, "wrong-type", "counts.cells.exponent"),
    ({**GRID, "exponent": True}, "wrong-type", "counts.cells.exponent"),
    ({**GRID, "exponent": "3"}, "wrong-type", "counts.cells.exponent"),
    ({**GRID, "keys": [1.0, 2.5]}, "wrong-type", "counts.cells.keys"),
    ({**GRID, "keys": ["1"]}, "wrong-type", "counts.cells.keys"),
    ({**GRID, "keys": None}, "wrong-type", "counts.cells.keys"),
    ({**GRID, "keys": [[1], [2, 3]]}, "wrong-type", "counts.cells.keys"),
    ({**LATTICE, "low": [True]}, "wrong-type", "counts.cells.low"),
    ({"kind": "intervals", "cuts": 1}, "wrong-type", "counts.cells.cuts"),
)
def test_what_would_be_read_as_something_else_is_refused(cells: object, slug: str, field: str | None) -> None:
    with pytest.raises(Problem) as caught:
        require_cells(cells, "")

    assert caught.value.kind.slug == slug
    assert field is None or caught.value.field == field
    assert "SECRET" not in caught.value.detail


def test_every_kind_of_cells_that_the_library_writes_can_be_posted_but_halves() -> None:
    from estimators.sample import cells

    kinds = {getattr(thing, "kind", None) for thing in vars(cells).values() if isinstance(thing, type)}

    assert {*CELLS, "halves"} == {kind for kind in kinds if isinstance(kind, str)}


def test_cells_of_two_scores_are_answered_and_not_read_back() -> None:
    """Which of the two scores a record has is not seen from the score, so counts of them are of no one query."""
    halves: dict[str, object] = {"kind": "halves", "parts": [GRID, GRID]}

    with pytest.raises(Problem, match=r"counts\.cells\.kind: need categories") as caught:
        require_cells(halves, "")
    with pytest.raises(InvalidCounts, match="unknown kind"):
        cells_from_dict(halves)

    assert caught.value.kind.slug == "unknown-name"
