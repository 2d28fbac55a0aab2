"""No bound lies below the truth, and what is called refuted does."""

import ast
from pathlib import Path

import pytest

from examples.theory.enumeration import FAMILIES, README, rows_of, tables
from examples.theory.readme import blocks

TRUTH = Path(__file__).parents[3] / "examples" / "theory" / "truth"
SLACK = 1e-12
families = pytest.mark.parametrize("family", FAMILIES)


@pytest.mark.slow
@families
def test_no_bound_of_ours_lies_below_the_truth(family: str) -> None:
    below = [row for row in rows_of(family) if not row.ours >= row.truth - SLACK]

    assert len(rows_of(family)) > 15
    assert below == []


@pytest.mark.slow
@families
def test_what_is_called_refuted_lies_below_the_truth(family: str) -> None:
    standing = [row for row in rows_of(family) if row.refuted and not (row.paper or 0.0) < row.truth - 1e-6]

    assert standing == []


@pytest.mark.slow
@families
def test_what_is_not_called_refuted_holds(family: str) -> None:
    claims = [row for row in rows_of(family) if row.paper is not None and not row.refuted]

    assert [row for row in claims if not (row.paper or 0.0) >= row.truth - SLACK] == []


@pytest.mark.slow
def test_what_the_errata_name_is_refuted() -> None:
    refuted = {row.source for family in FAMILIES for row in rows_of(family) if row.refuted}

    assert refuted == {"MIP, Theorem 8", "Corollary 10", "Proposition 9", "Corollary 4"}


@pytest.mark.slow
@families
def test_every_case_is_another_one(family: str) -> None:
    names = [(row.case, row.quantity, row.by) for row in rows_of(family)]

    assert len(set(names)) == len(names)


def test_the_truth_knows_nothing_of_the_library() -> None:
    modules = [ast.parse(path.read_text()) for path in TRUTH.glob("*.py")]
    imported = {
        name
        for module in modules
        for node in ast.walk(module)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }

    assert len(modules) > 4
    assert not [name for name in imported if name.split(".")[0] in ("estimators", "app", "macekit", "examples")]


@pytest.mark.slow
def test_the_table_in_the_readme_is_what_is_printed() -> None:
    assert blocks(README) == tables()
