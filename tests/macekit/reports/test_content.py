"""What a report says, and in which order."""

import json
from typing import Any

import pytest

from macekit.call import MARKDOWN
from macekit.reports.content import content
from macekit.reports.model import Number, Table
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, answered, case, rendered


def text(operation: str, answer: dict[str, Any]) -> str:
    return render(operation, answer, MARKDOWN).decode().replace("\\", "")


def test_a_full_report_reads_from_the_decision_to_its_origin() -> None:
    report = content(*case("groups"))

    assert [section.name for section in report.sections] == [
        *("interval", "people", "changes", "scores", "roc", "precision", "risk", "posterior", "groups"),
        *("numbers", "not-established", "provenance"),
    ]


@each_case("name, word", [("pass", "✓ PASS"), ("report, scores", "✕ FAIL"), ("inconclusive", "? UNDECIDED")])
def test_a_decision_is_a_word_and_a_sign_before_all_else(name: str, word: str) -> None:
    operation, answer = case(name)

    title, decision, sentence = text(operation, answer).split("\n\n")[:3]

    assert title == "# Membership leakage"
    assert decision == f"**{word}**"
    assert sentence == answer["sentence"]


def test_without_a_threshold_there_is_no_decision() -> None:
    operation, answer = case("groups")

    assert content(operation, answer).headline.decision is None
    assert text(operation, answer).split("\n\n")[1] == f"**{answer['sentence']}**"


@pytest.mark.slow
@each_case("name", CASES)
def test_every_warning_is_repeated(name: str) -> None:
    said = rendered(name, MARKDOWN).decode().replace("\\", "")

    for warning in case(name)[1].get("warnings", []):
        assert warning["message"] in said


@pytest.mark.slow
@each_case("name", CASES)
def test_nothing_is_called_what_no_answer_can_show(name: str) -> None:
    said = rendered(name, MARKDOWN).decode().replace("\\", "").lower()

    for word in ("private", "anonymous", "compliant", " safe"):
        assert word not in said


def test_the_records_shown_are_those_most_surely_seen_to_be_members() -> None:
    sides = {"members": [i / 97 for i in range(300)], "nonmembers": [i / 120 for i in range(300)]}
    surest = answered("individual-risk", {**sides, "prior": 0.2, "top": 20})
    answer = answered("individual-risk", {**sides, "prior": 0.2})

    section = content("individual-risk", answer).section("records")

    assert section is not None
    table = section.blocks[0]
    assert isinstance(table, Table)
    assert [row[0].value for row in table.rows if isinstance(row[0], Number)] == surest["records"]["index"]
    assert table.more == 580


def test_an_answer_of_another_version_with_more_in_it_is_told_all_the_same() -> None:
    operation, answer = case("report, scores")
    newer = json.loads(json.dumps(answer))
    newer["provenance"]["options"]["yet_unknown"] = {"deep": [1, "x", None, True]}

    assert "yet_unknown.deep" in text(operation, newer).replace("\\", "")
