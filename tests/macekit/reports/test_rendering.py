"""One answer, many files: the same each time, small enough to be sent, and refused where there is nothing to draw."""

import json
from html import unescape

import numpy as np
import pytest

from macekit.call import CSV, HTML, MARKDOWN, NPY, PNG, SVG
from macekit.problems import Problem
from macekit.reports.model import Context
from macekit.reports.rendering import CARD, render
from macekit.reports.text import text
from tests.cases import each_case
from tests.docs.test_words import verdicts
from tests.macekit.asking import asked
from tests.macekit.decoding.support import npy_bytes
from tests.macekit.reports.asked import CASES, Answer, answered, case, rendered

MIB = 2**20


@pytest.mark.slow
@each_case("operation", ["report", "individual-risk"])
def test_very_many_records_make_a_small_report(operation: str) -> None:
    table = np.column_stack([np.random.default_rng(5).normal(size=100_000), np.arange(100_000) % 2])

    assert _sized(operation, asked(operation, npy_bytes(table), NPY)) < MIB


@pytest.mark.slow
@each_case("operation", ["report", "individual-risk"])
def test_thousands_of_groups_make_a_small_report(operation: str) -> None:
    rng = np.random.default_rng(6)
    sides = {"members": rng.normal(size=2000).tolist(), "nonmembers": rng.normal(size=2000).tolist()}
    labels = [f"{i:04d}{'<' * 200}" for i in range(2000)] * 2

    assert _sized(operation, answered(operation, {**sides, "groups": labels})) < MIB


@each_case("form", [HTML, MARKDOWN, CSV, CARD])
def test_the_same_answer_gives_the_same_bytes(form: str) -> None:
    operation, answer = case("report, scores")

    first = render(operation, answer, form, Context("scores.csv", "2026-01-02"))

    again = json.loads(json.dumps(answer))
    assert render(operation, again, form, Context("scores.csv", "2026-01-02")) == first


@pytest.mark.slow
@each_case("name", CASES)
def test_every_answer_has_every_form_of_a_text_and_gives_no_verdict(name: str) -> None:
    for form in (HTML, MARKDOWN, CSV, CARD):
        assert rendered(name, form)
    assert verdicts(rendered(name, MARKDOWN).decode()) == []


def test_a_report_as_a_page_gives_no_verdict() -> None:
    assert verdicts(rendered(next(iter(CASES)), HTML).decode()) == []


@pytest.mark.slow
@each_case("name", ["report, scores", "compare, queries", "audit, claim"])
def test_pictures_are_drawn_one_or_all(name: str) -> None:
    operation, answer = case(name)

    every = render(operation, answer, SVG)

    assert every.startswith(b"<svg")
    assert render(operation, answer, PNG).startswith(b"\x89PNG")
    if operation == "report":
        assert len(render(operation, answer, SVG, chart="roc")) < len(every)


def test_a_chart_that_is_not_there_is_refused_with_those_that_are() -> None:
    operation, answer = case("report, scores")

    with pytest.raises(Problem) as caught:
        render(operation, answer, PNG, chart="pie")

    assert (caught.value.kind.slug, caught.value.field) == ("unknown-name", "chart")
    assert "interval, distribution, roc" in caught.value.detail


def test_an_answer_without_a_chart_has_no_picture() -> None:
    with pytest.raises(Problem) as caught:
        render(*case("plan, verdict"), SVG)

    assert caught.value.kind.slug == "not-acceptable"


def _sized(operation: str, answer: Answer) -> int:
    return max(len(render(operation, answer, form)) for form in (HTML, MARKDOWN, CSV, CARD))


@pytest.mark.slow
def test_hundreds_of_queries_with_the_worst_names_make_a_small_report() -> None:
    names = [f"{i:04d}{'<' * 60}" for i in range(500)]
    queries = {name: {"members": [0.1, 0.2, 0.3] * 3, "nonmembers": [0.3, 0.4, 0.2] * 3} for name in names}
    assert _sized("compare", answered("compare", {"queries": queries, "against": names[0]})) < MIB


def test_what_is_left_out_is_counted() -> None:
    sides = {"members": [0.1, 0.2, 0.3] * 100, "nonmembers": [0.3, 0.4, 0.2] * 100}
    answer = answered("report", {**sides, "groups": [f"group {i}" for i in range(300)] * 2})

    assert "100 more in the JSON, at `groups`." in render("report", answer, MARKDOWN).decode()


def test_what_a_pass_covers_stands_under_it_in_every_form_and_under_nothing_else() -> None:
    operation, answer = case("pass")
    covers = answer["result"]["verdict"]["covers"]
    assert len(covers) >= 3

    shown = (render(operation, answer, form).decode() for form in (HTML, MARKDOWN, CSV, CARD))
    pages = [unescape(each).replace("\\", "") for each in shown]
    failed = render(*case("report, scores"), MARKDOWN).decode()

    for page in (*pages, text(operation, answer)):
        assert all(line in page for line in covers)
    assert "What this pass covers" in pages[0]
    assert "What this pass covers" not in failed
