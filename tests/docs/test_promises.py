"""Every sentence of what a hostile client can do, and of the errors, names the tests that hold the service to it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from macekit.problems import KINDS
from tests.docs.promises import ERRORS, HOSTILE_CLIENT, NO_PROMISE, PROBLEMS

ROOT = Path(__file__).parents[2]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
ERRORS_PAGE = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
SECTION = OPERATIONS.partition("## What a hostile client can and cannot do\n")[2].partition("\n## ")[0]


def sentences(page: str) -> list[str]:
    """What stands outside of tables, headings and examples, one sentence each."""
    prose = re.sub(r"```.*?```", "", page, flags=re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "#"))]
    blocks = re.split(r"\n\s*\n|\n\* ", "\n" + "\n".join(lines))
    joined = [" ".join(block.removeprefix("* ").split()) for block in blocks]
    return [part for block in joined for part in re.split(r"(?<=[.;]) (?=[A-Z`]|without )", block) if part]


def pairs_of(names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each test with its file."""
    pairs, file = [], ""
    for name in names:
        if name.startswith("test_"):
            pairs.append((file, name))
        else:
            file = name
    return pairs


@cache
def functions_of(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@pytest.mark.parametrize(
    ("page", "promises"), [(SECTION, HOSTILE_CLIENT), (ERRORS_PAGE, ERRORS)], ids=["operations", "errors"]
)
def test_every_sentence_names_its_tests_or_says_why_there_is_none(
    page: str, promises: dict[str, tuple[str, ...]]
) -> None:
    starts = {*promises, *NO_PROMISE}
    matches = {each: [start for start in starts if each.startswith(start)] for each in sentences(page)}

    assert {each: match for each, match in matches.items() if len(match) != 1} == {}
    assert {start for (start,) in matches.values()} >= set(promises)


def test_every_kind_of_problem_names_its_tests() -> None:
    assert set(PROBLEMS) == set(KINDS) == set(re.findall(r"^\| `([a-z-]+)` \|", ERRORS_PAGE, re.MULTILINE))


def test_whoever_is_named_is_there() -> None:
    pairs = [
        pair
        for index in (HOSTILE_CLIENT, ERRORS, PROBLEMS)
        for names in index.values()
        for pair in pairs_of(names)
    ]

    assert len(pairs) > 80
    assert [pair for pair in pairs if pair[1] not in functions_of(pair[0])] == []


def test_a_problem_stands_in_the_file_of_its_tests() -> None:
    for slug, names in PROBLEMS.items():
        assert any(slug in (ROOT / file).read_text(encoding="utf-8") for file, _ in pairs_of(names)), slug


def test_what_promises_nothing_is_in_one_of_the_documents() -> None:
    every = sentences(SECTION) + sentences(ERRORS_PAGE)

    assert [start for start in NO_PROMISE if not any(each.startswith(start) for each in every)] == []
