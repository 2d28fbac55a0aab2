"""The long table: every number once for each place it stands at, and no text that a spreadsheet would run."""

from __future__ import annotations

import copy
import csv
import io

import pytest

from app.call import CSV
from app.report.csv import HEAD, inert
from app.report.model import Context
from app.report.rendering import render
from tests.app.report.asked import CASES, HOSTILE, Answer, case
from tests.app.report.test_html import at

LEADING = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "−", "|", "%"]
BEFORE = ["", " ", "  ", '"', "'", "\ufeff", "\xa0", "\u3000"]


def rows(operation: str, answer: Answer, source: str | None = None) -> list[dict[str, str]]:
    text = render(operation, answer, CSV, Context(source)).decode()
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert tuple(found[0]) == HEAD
    assert {len(row) for row in found} == {len(HEAD)}
    return [dict(zip(HEAD, row, strict=True)) for row in found[1:]]


@pytest.mark.parametrize("name", CASES)
def test_every_value_is_the_answers_in_full(name: str) -> None:
    operation, answer = case(name)

    valued = [row for row in rows(operation, answer) if row["value"]]

    assert valued
    for row in valued:
        assert row["value"] == repr(at(answer, row["path"]))


@pytest.mark.parametrize("sign", LEADING)
@pytest.mark.parametrize("before", BEFORE)
def test_a_text_that_begins_like_a_formula_is_made_text(sign: str, before: str) -> None:
    assert inert(f"{before}{sign}1+1").startswith("'")


def test_other_texts_stay_as_they_are() -> None:
    for text in ("adult", "a = b", "9 of 10", "", "größer", "x-y", "Fail: with 95% confidence"):
        assert inert(text) == text


@pytest.mark.parametrize("name", [*HOSTILE.values(), *(sign + "cmd" for sign in LEADING)])
def test_no_field_is_a_formula_whatever_things_are_called(name: str) -> None:
    answer = copy.deepcopy(case("report, scores")[1])
    answer["groups"][0]["label"] = name

    for row in rows("report", answer, name):
        for column in ("section", "name", "column", "path", "text"):
            assert not row[column].lstrip(' \xa0\u3000\ufeff"').startswith(tuple(LEADING))
        if row["value"]:
            float(row["value"])


def test_a_negative_number_stays_a_number() -> None:
    operation, answer = case("compare, queries")

    assert any(row["value"].startswith("-") for row in rows(operation, answer))
