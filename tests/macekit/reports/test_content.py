"""What a report says, and in which order."""

from __future__ import annotations

import json
from typing import Any

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
        "interval",
        "people",
        "changes",
        "scores",
        "roc",
        "risk",
        "posterior",
        "groups",
        "numbers",
        "not-established",
        "provenance",
    ]


@each_case(
    "name, word",
    [("pass", "✓ PASS"), ("report, scores", "✕ FAIL"), ("inconclusive", "? UNDECIDED")],
)
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


def test_an_advantage_is_told_in_right_guesses_of_a_hundred() -> None:
    said = text(*case("advantage, scores"))

    assert "by tossing a coin, the attacker is right 50 times in 100" in said
    assert (
        "the best attacker is right between 67.3 and 94 times in 100 (with 95% confidence); the upper end is for "
        "attackers who accuse on one side of a cut, or inside or outside one range, or who sort the score into 4 "
        "steps. A step is a group of equal or similar values." in said
    )


def test_at_another_prior_the_baseline_is_told_beside_it() -> None:
    said = text(*case("fail at a prior"))

    assert "by always guessing the likelier side, the attacker is right 90 times in 100" in said
    assert "a large advantage is not alarming by itself" in said


def test_a_threshold_below_the_baseline_is_said_to_decide_nothing() -> None:
    sides = {"members": [0.1, 0.5, 0.9] * 40, "nonmembers": [0.1, 0.5, 0.9] * 40}
    answer = answered("report", {**sides, "prior": 0.1, "max_advantage": 0.2})

    said = text("report", answer)

    assert said.count("the limit of 0.2 lies below 0.8, which guessing without the score reaches") == 1
    assert "your limit, below the baseline" in said
    assert "which guessing without the score reaches" not in text(*case("fail at a prior"))


def test_a_lower_end_at_the_baseline_is_said_to_show_nothing_either_way() -> None:
    said = text(
        "report", answered("report", {"members": [0.1, 0.5, 0.9] * 40, "nonmembers": [0.1, 0.5, 0.9] * 40})
    )

    assert (
        "do not show that the score gives anything away; they do not show that it gives nothing away" in said
    )
    assert "that anything leaks at all" in said


@each_case(
    "name, open_question",
    [
        (
            "pass",
            "A pass says that the upper end is not above the limit. It does not say that nothing leaks.",
        ),
        (
            "inconclusive",
            "No decision was reached at the limit: with 95% confidence the advantage may be anything from",
        ),
        (
            "advantage, scores",
            "or who sort the score into 4 steps. An attacker who finds finer patterns may do better, and no number of",
        ),
        (
            "advantage, options",
            "The upper end holds only as far as its assumption does: records of each side",
        ),
        ("class rejected", "The records contradict the assumption behind the upper end"),
        (
            "report, scores",
            "These groups are too small for an informative advantage of their own: adult and child.",
        ),
        ("advantage, scores", "the lower end of the true positive rate is zero"),
        (
            "advantage, scores",
            "the expectation of the statistic U_N, not the advantage; at 95% confidence, simulated (",
        ),
        (
            "advantage, scores",
            "of samples, depending on the world (docs/paper.md). It is not the one to decide on.",
        ),
        (
            "advantage, scores",
            "The bound on the mechanism's epsilon assumes: each record was a member by a coin of its own",
        ),
        ("groups", "The prior of 0.3 is an assumption, not a finding"),
        ("audit, claim", "Only this score of this model was looked at."),
        ("metrics, presets", "The optimum of recall says nothing about leakage"),
        ("gate, limits", "Records are taken to be independent of each other."),
    ],
)
def test_what_was_not_established_follows_from_the_answer(name: str, open_question: str) -> None:
    said = text(*case(name))

    assert open_question in said.partition("## What was not established")[2]


@each_case("name", CASES)
def test_every_warning_is_repeated(name: str) -> None:
    said = rendered(name, MARKDOWN).decode().replace("\\", "")

    for warning in case(name)[1].get("warnings", []):
        assert warning["message"] in said


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
    shown = [row[0].value for row in table.rows if isinstance(row[0], Number)]
    assert shown == surest["records"]["index"]
    assert table.more == 580


def test_an_answer_of_another_version_with_more_in_it_is_told_all_the_same() -> None:
    operation, answer = case("report, scores")
    newer = json.loads(json.dumps(answer))
    newer["provenance"]["options"]["yet_unknown"] = {"deep": [1, "x", None, True]}

    assert "yet_unknown.deep" in text(operation, newer).replace("\\", "")
