"""An answer on one screen: the decision, numbers that line up and hold, the sentence, and every caution."""

from itertools import pairwise

import pytest

from macekit.reports.content import content
from macekit.reports.model import Facts, Figure, Headline, Number, Quote, Report, Section, Table, paths
from macekit.reports.text import WIDTH, closing, screen, text
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, case

WIDTHS = (80, WIDTH, 200)


@pytest.mark.slow
@each_case("name", CASES)
def test_the_decision_is_first_and_the_sentence_and_the_cautions_are_last(name: str) -> None:
    operation, answer = case(name)
    decision = content(operation, answer).headline.decision

    lines = text(operation, answer).split("\n")

    if decision is not None:
        assert lines[0] in {"✓ PASS", "✕ FAIL", "? UNDECIDED"}
    assert "\n".join(lines).endswith(closing(answer).partition("\n")[2])
    assert answer.get("sentence", "") in lines or "metrics" in answer
    assert all(f"note: {warning['message']}" in lines for warning in answer.get("warnings", ()))


@pytest.mark.slow
@each_case("name", CASES)
def test_a_number_is_stated_once_and_lines_fit(name: str) -> None:
    operation, answer = case(name)

    page = screen(operation, answer)

    cells = (cell for table in page.tables for row in table.rows for cell in row)
    stated = [cell.path for cell in cells if isinstance(cell, Number)]
    assert stated
    repeated = {path for path in stated if stated.count(path) > 1}
    assert not {path for path in repeated if path.endswith(("lower", "upper", "estimate", "tpr"))}
    sentences = {*page.sentences, *(f"note: {caution}" for caution in page.cautions)}
    for width in WIDTHS:
        lines = text(operation, answer, width).split("\n")
        assert max(len(line) for line in lines if line not in sentences) <= width


def test_an_operation_without_a_report_is_shown_by_the_names_of_its_numbers() -> None:
    answer = {
        "sentence": "It is so.",
        "leak_rate": {"estimate": 0.12345, "lower": 0.12345, "upper": 0.98761, "confidence": 0.95},
        "cells": 1234, "sorted": True, "weights": [0.1, 0.2], "label": "\u202ex",
        "warnings": [{"code": "a", "message": "Mind this."}],
    }  # fmt: skip

    assert text("counts", answer).split("\n") == [
        "Cells   1,234", "Sorted  yes", "", "           Estimate  Lower end  Upper end",
        "Leak rate    0.1235     0.1234     0.9877", "", "It is so.", "note: Mind this.",
    ]  # fmt: skip


def report_of(table: Table | Figure) -> Report:
    section = Section("curve", "A curve", (table,), (table,))
    return Report("Title", Headline(None, Quote("It is so.", "sentence")), Facts(()), (section,))


@pytest.fixture
def curve(monkeypatch: pytest.MonkeyPatch) -> Table:
    """The table of a curve, which the report of a new operation draws."""
    rows = tuple((Number(at, f"x.{at}", "count"), Number(at / 7, f"y.{at}", "ceiling")) for at in range(100))
    table = Table("Curve", ("Records", "Share of the records, at most"), rows)
    figure = Figure("curve", "Curve", "A curve.", {}, table)
    monkeypatch.setattr("macekit.reports.content.content", lambda *_: report_of(figure))
    return table


def test_a_curve_is_thinned_out_to_its_ends(curve: Table) -> None:
    (table,) = screen("plan", {"sentence": "It is so."}).tables

    assert len(table.rows) == 12
    assert (table.rows[0], table.rows[-1]) == (curve.rows[0], curve.rows[-1])
    assert table.more == 88
    assert paths(table) < paths(curve)
    first = (row[0] for row in table.rows if isinstance(row[0], Number))
    places = [int(each.value) for each in first if each.value is not None]
    assert all(8 <= after - before <= 10 for before, after in pairwise(places))


def test_a_long_head_takes_several_lines_and_numbers_stand_under_each_other(curve: Table) -> None:
    lines = text("plan", {"sentence": "It is so."}).split("\n")

    assert lines[:5] == [
        "Records    Share of the", "            records, at", "                   most",
        "      0               0", "      9           1.286",
    ]  # fmt: skip
    assert lines[-3:] == ["88 more rows are in the JSON.", "", "It is so."]


def test_text_that_is_too_wide_is_wrapped_in_its_column(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (("one", "word " * 30, Number(0.5, "a", "share")), ("two", "short", Number(-1e-17, "b", "share")))
    table = Table("", ("", "what", "value"), rows)
    monkeypatch.setattr("macekit.reports.content.content", lambda *_: report_of(table))

    lines = text("plan", {"sentence": "It is so."}, 80).split("\n")

    assert lines == [
        "     what                                                                  value",
        "one  word word word word word word word word word word word word word      0.500",
        "     word word word word word word word word word word word word word",
        "     word word word word",
        "two  short                                                                 0.000",
        "",
        "It is so.",
    ]
