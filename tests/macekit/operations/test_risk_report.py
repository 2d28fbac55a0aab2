"""A report of individual risk lists the records most surely exposed, not all there are."""

import re
from typing import Any

import pytest

from macekit.call import CSV, HTML, JSON, MARKDOWN
from macekit.reports.model import TOP_RECORDS
from macekit.reports.text import text
from tests.app.http.asked import as_json, world
from tests.macekit import asking


def page(**options: object) -> str:
    return re.sub(r"20\d\d-\d\d-\d\dT\d\d:\d\dZ", "", posted(HTML, **options))


def asked(**options: object) -> dict[str, Any]:
    return dict(posted(**options))


@pytest.mark.slow
def test_as_many_records_are_listed_as_were_asked_for_or_as_fit_and_flags_are_of_all() -> None:
    def listed(top: int) -> int:
        table = posted(MARKDOWN, top=top).partition("| Record |")[2].partition("\n\n")[0]
        return len(re.findall(r"^\| \d+ \|", table, re.MULTILINE))

    alone = page()

    assert alone == page(top=TOP_RECORDS)
    assert [listed(top) for top in (5, TOP_RECORDS, 2 * TOP_RECORDS)] == [5, TOP_RECORDS, 2 * TOP_RECORDS]
    flagged = asked()["flags"]["records"]
    assert str(flagged) in alone
    assert flagged > TOP_RECORDS


METRIC_COLUMNS = {"metric", "metric_lower", "metric_upper", "metric_guesses_member", "metric_on_threshold"}


def test_the_metric_of_a_record_comes_with_its_interval_its_rule_and_what_that_is_worth() -> None:
    answer = asked(metric="precision", prior=0.1, top=40)
    rule, records, cells = answer["metric_rule"], answer["records"], answer["cells"]

    assert (rule["name"], rule["direction"], rule["confidence"]) == ("precision", "above", 0.95)
    assert 0.0 < rule["threshold"] < 1.0
    assert not rule["guarantee"]["finite_sample"]
    assert "threshold_estimated" in [each["code"] for each in answer["warnings"]]
    assert {len(records[name]) for name in METRIC_COLUMNS} == {40}
    assert {len(cells[name]) for name in METRIC_COLUMNS} == {len(cells["risk"])}
    for columns in (records, cells):
        for low, value, high in zip(columns["metric_lower"], columns["metric"], columns["metric_upper"], strict=True):
            assert value is None or low <= value <= high
    for name in METRIC_COLUMNS:
        assert [cells[name][cell] for cell in records["cell"]] == records[name]


@pytest.mark.slow
def test_the_rule_is_that_of_the_metrics_question() -> None:
    options = {"prior": 0.1, "seed": 3}
    question = as_json(*world(500), metrics=["precision", "f_beta"], **options)
    for each in asking.asked("metrics", question)["metrics"]:
        assert asked(metric=each["name"], top=1, **options)["metric_rule"]["threshold"] == each["threshold"]


def test_a_metric_that_has_no_value_somewhere_says_why() -> None:
    answer = asked(metric="npv", top=3)
    missing = answer["cells"]["metric"].count(None)

    assert missing
    assert f"in {missing} of {len(answer['cells']['risk'])} cells" in answer["metric_rule"]["undefined"]
    assert "metric_undefined" in [each["code"] for each in answer["warnings"]]
    assert asked(metric="accuracy", top=3)["metric_rule"]["undefined"] is None


@pytest.mark.slow
def test_report_and_text_state_the_rule_and_the_metric_of_each_record() -> None:
    answer = asked(metric="precision", prior=0.1, top=3)

    for written in (text("individual-risk", answer), page(metric="precision", prior=0.1, top=3)):
        assert "The metric of a record is its" in written
        assert "Metric" in written
    assert "not proven at every sample size" in page(metric="precision", prior=0.1, top=3)
    assert "Metric" not in text("individual-risk", asked(top=3))


def test_csv_and_arrow_have_the_interval_of_the_metric() -> None:
    head = posted(CSV, metric="accuracy", top=3).splitlines()[0]

    assert {name.strip('"') for name in head.split(",")} >= METRIC_COLUMNS


def test_without_a_metric_there_is_no_rule_and_out_of_reach_no_metric() -> None:
    answer = asked(top=3)
    records = asked(metric="accuracy", targets=[1e9])["records"]

    assert answer["metric_rule"] is None
    assert all(answer[part][name] is None for part in ("records", "cells") for name in METRIC_COLUMNS)
    assert (records["metric"], records["metric_lower"], records["metric_guesses_member"]) == ([None],) * 3
    assert records["metric_on_threshold"] == [False]


def posted(accept: str = JSON, **options: object) -> Any:
    return asking.asked("individual-risk", as_json(*world(500), **options), accept=accept)
