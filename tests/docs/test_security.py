"""docs/security.md names modules and tests that are there, and leaves no cell of a threat's row open but on purpose."""

import ast
import re
from functools import cache
from pathlib import Path

import checks
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
HEAD = ["it could", "what stops it", "shown by", "what is left"]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| ---")
]
THREATS = [row for row in ROWS if len(row) == len(HEAD) and row != HEAD]
NAME = re.compile(r"`([^`]+)`")


@cache
def named_in(file: str) -> frozenset[str]:
    """Its functions, and tables of cases by the name that stands before them."""
    nodes = [*ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))]
    tables = (target for node in nodes if isinstance(node, ast.Assign) for target in node.targets)
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return frozenset(names | {each.id for each in tables if isinstance(each, ast.Name)})


def citations(cell: str) -> list[tuple[str, str]]:
    """Each test of a cell, with the file that stands before it."""
    pairs, file = [], ""
    for name in NAME.findall(cell):
        if name.startswith("tests/"):
            file = name
        elif name.startswith("test_"):
            pairs.append((file, name))
    return pairs


def test_every_table_of_threats_has_the_same_columns() -> None:
    assert ROWS.count(HEAD) == 7
    assert len(THREATS) > 30
    assert all(could and (stops or left) for could, stops, _, left in THREATS)


@pytest.mark.slow
def test_every_test_that_is_named_is_there() -> None:
    pairs = [pair for _, _, tests, _ in THREATS for pair in citations(tests)]

    assert len(pairs) > 60
    assert [pair for pair in pairs if not pair[0] or pair[1] not in named_in(pair[0])] == []


def test_every_module_and_file_that_is_named_is_there() -> None:
    paths = {
        name
        for name in NAME.findall(PAGE)
        if re.fullmatch(r"(?:app|macekit|estimators|scripts|examples|tests|docs)/[\w./-]+", name)
    }

    assert len(paths) > 30
    assert {path for path in paths if not (ROOT / path).exists()} == set()


def test_every_step_of_the_checks_that_is_named_is_one() -> None:
    steps = set(re.findall(r"`(?:MACE_AUDIT_ONLINE=1 )?scripts/check ([\w-]+)`", PAGE))

    assert steps
    assert steps <= {step.name for step in checks.STEPS}


def test_what_is_stopped_is_shown_by_a_test_or_a_check_unless_nothing_of_ours_stops_it() -> None:
    unshown = [(could, stops) for could, stops, tests, _ in THREATS if not NAME.search(tests)]

    assert [stops for _, stops in unshown if not stops.startswith("nothing") and "(uvicorn)" not in stops] == []
