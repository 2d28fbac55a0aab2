"""The long table: every number once for each place it stands at, and no text that a spreadsheet would run."""

import copy
import csv
import io

import pytest

from macekit.call import CSV
from macekit.reports.csv import HEAD, disarm_formula
from macekit.reports.model import Context
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, HOSTILE, Answer, at, case

LEADING = ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "−", "|", "%"]
BEFORE = ["", " ", "  ", '"', "'", "\ufeff", "\xa0", "\u3000"]


def rows(operation: str, answer: Answer, source: str | None = None) -> list[dict[str, str]]:
    text = render(operation, answer, CSV, Context(source)).decode()
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert tuple(found[0]) == HEAD
    assert {len(row) for row in found} == {len(HEAD)}
    return [dict(zip(HEAD, row, strict=True)) for row in found[1:]]


@pytest.mark.slow
@each_case("name", CASES)
def test_every_value_is_the_answers_in_full(name: str) -> None:
    operation, answer = case(name)

    valued = [row for row in rows(operation, answer) if row["value"]]

    assert valued
    for row in valued:
        assert row["value"] == repr(at(answer, row["path"]))


@each_case("sign", LEADING)
@each_case("before", BEFORE)
def test_a_text_that_begins_like_a_formula_is_made_text(sign: str, before: str) -> None:
    assert disarm_formula(f"{before}{sign}1+1").startswith("'")


def test_other_texts_stay_as_they_are() -> None:
    for text in ("adult", "a = b", "9 of 10", "", "größer", "x-y", "Fail: with 95% confidence"):
        assert disarm_formula(text) == text


def test_a_negative_number_stays_a_number() -> None:
    operation, answer = case("compare, models")

    assert any(row["value"].startswith("-") for row in rows(operation, answer))


PAYLOADS = ["a;=cmd|' /C calc'!A0;b", "a\t=1+1", 'a; "=1+1', "a|@SUM(1)", "a;;-1+1", "a\n=1+1", "a;＝1+1"]


@pytest.mark.slow
@each_case("name", [*HOSTILE.values(), *(sign + "cmd" for sign in LEADING), *PAYLOADS])
def test_no_cell_is_a_formula_wherever_a_spreadsheet_parts_them_and_whatever_things_are_called(name) -> None:
    answer = copy.deepcopy(case("report, scores")[1])
    answer["groups"][0]["label"] = name
    answer["sentence"] = f"A sentence. {name}"

    text = render("report", answer, CSV, Context(name)).decode()

    for separator in ";\t,|" if name in PAYLOADS else ",":
        table = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        found = [cell for row in table for cell in row]
        assert name not in PAYLOADS or any(said in cell for cell in found for said in ("1+1", "cmd", "SUM"))
        for cell in found:
            try:
                float(cell)
            except ValueError:
                assert not cell.lstrip(' \xa0\u3000\ufeff"').startswith(tuple(LEADING)), cell


def test_every_field_is_quoted() -> None:
    text = render(*case("report, scores"), CSV).decode()

    assert all(line.startswith('"') and line.endswith('"') for line in text.strip().split("\r\n"))


def test_what_a_pass_covers_stands_in_rows_of_its_own() -> None:
    """Sentences followed each other without a blank: "along the score.It covers attackers"."""
    headline = [row["text"] for row in rows(*case("gate, limits")) if row["text"].startswith(("Pass", "It covers"))]

    assert len(headline) > 2
    assert not any("It covers" in text[1:] for text in headline)


def test_a_command_stands_on_one_line_and_is_still_that_command() -> None:
    over_http = [row for row in rows(*case("report, scores"), "scores.csv") if row["name"] == "Over HTTP"]
    (said,) = (row["text"] for row in over_http)

    assert said.startswith("curl ")
    assert " -o report.html '" in said or " -o report.html http" in said
    assert "\n" not in said
