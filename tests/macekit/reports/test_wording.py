"""What a report says is no more than its answer bears, and no less than a reader needs beside it."""

from __future__ import annotations

from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pytest

from macekit.call import HTML, MARKDOWN
from macekit.reports.content import content
from macekit.reports.model import Number, Table
from macekit.reports.rendering import render
from tests.cases import each_case
from tests.macekit.reports.asked import CASES, answered, case


def text(operation: str, answer: dict[str, Any]) -> str:
    return render(operation, answer, MARKDOWN).decode().replace("\\", "")


@cache
def shifted(operation: str, shift: float, n: int, **more: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    sides = {"members": rng.normal(shift, 1, n).tolist(), "nonmembers": rng.normal(0, 1, n).tolist()}
    return answered(operation, {**sides, **more})


def row(operation: str, answer: dict[str, Any], label: str) -> tuple[Any, ...]:
    numbers = content(operation, answer).section("numbers")
    assert numbers is not None
    table = numbers.blocks[0]
    assert isinstance(table, Table)
    return next(each for each in table.rows if label in str(each[0]))


def test_no_gain_at_a_rare_prior_is_not_told_as_no_leak() -> None:
    answer = shifted("report", 1.0, 1000, prior=0.1)
    said = text("report", answer)

    assert answer["result"]["advantage"]["lower"] == answer["result"]["baseline"]
    assert "do not show a gain over the baseline at this prior" in said
    assert "the area under the ROC is between 0.7" in said
    assert "epsilon is at least 1.5" in said
    assert (
        f"{answer['risk']['flags']['records']} records lie where scores speak for membership more than chance"
        in said
    )
    assert "gives anything away" not in said
    assert "that anything leaks at all" not in said


@each_case("number", ["roc", "epsilon", "exposure", "flags"])
def test_any_number_that_speaks_for_a_leak_withholds_the_stronger_sentence(number: str) -> None:
    same = [0.1, 0.5, 0.9] * 40
    answer = answered("report", {"members": same, "nonmembers": same})
    assert "gives anything away" in text("report", answer)

    if number == "roc":
        answer["result"]["roc"] |= {"auc_lower": 0.51, "auc_upper": 0.6}
    elif number == "epsilon":
        answer["result"]["epsilon"]["lower_bound"] = 0.1
    elif number == "exposure":
        answer["result"]["exposure"]["score_epsilon"] = 0.1
    else:
        answer["risk"]["flags"]["records"] = 3
    said = text("report", answer)

    assert "gives anything away" not in said
    assert "Other numbers are evidence of a leak" in said


def test_flags_that_every_record_gets_without_a_leak_speak_for_none() -> None:
    same = [0.1, 0.5, 0.9] * 40
    answer = answered("report", {"members": same, "nonmembers": same, "prior": 0.9})
    answer["risk"]["flags"] |= {"threshold": 0.0, "records": 240}

    said = text("report", answer)

    assert "do not show a gain over the baseline at this prior" in said
    assert "Other numbers are evidence of a leak" not in said


def test_rates_of_reversed_scores_are_said_to_be_of_the_other_guess() -> None:
    said = text("advantage", shifted("advantage", -1.0, 300))

    assert "Members score lower than nonmembers here" in said.partition("## What was not established")[2]
    assert "negated scores would show" in said
    assert "do not show that accusing every score above a threshold" not in said
    assert "The far left of the curve" not in said


def test_a_rate_without_a_lower_end_is_of_accusing_every_score_above_a_threshold() -> None:
    said = text(*case("advantage, scores"))

    assert "do not show that accusing every score above a threshold finds any member there" in said
    assert "who can afford few false accusations" not in said


@each_case(
    "name, told, tile",
    [
        (
            "advantage, scores",
            "accuse on one side of a cut, or inside or outside one range, or who sort the score into 4 steps. A step",
            "95% confidence, for attackers who accuse on one side of a cut, or inside or outside one range, or who",
        ),
        (
            "advantage, options",
            "With the score, if the best adversary is a threshold, the best attacker is right between",
            "90% confidence, if the best adversary is a threshold",
        ),
        (
            "vectors",
            "the upper end is for attackers who read the learned score, sorted into 4 groups of similar values",
            "95% confidence, for a learned score sorted into 4 groups",
        ),
        (
            "class rejected",
            "the best attacker is right at least 97.6 times in 100 (with 95% confidence); there is no upper limit",
            "95% confidence, but the records contradict the assumed class of attacks: choose another",
        ),
    ],
)
def test_an_upper_end_names_whom_it_covers(name: str, told: str, tile: str) -> None:
    said = text(*case(name))

    assert told in said
    assert tile in said


def test_a_vector_is_not_called_a_score_in_people() -> None:
    said = text(*case("vectors"))

    assert "Show an attacker the vector of one record" in said
    assert "The upper end is for attackers who read the learned score" in said


def test_a_contradicted_class_is_said_to_be_and_another_asked_for() -> None:
    said = text(*case("class rejected"))

    assert (
        "The upper end assumes that the best adversary is a threshold, and these records contradict that."
        in said
    )
    assert "More records will not help: choose another class of attacks" in said


def test_a_gate_names_resolution_and_what_it_does_not_cover() -> None:
    said = text(*case("gate, limits")).partition("## What was not established")[2]

    assert "Upper ends are for the attackers named with each limit" in said
    assert "An attacker who finds finer patterns may do better" in said
    assert "The mechanism that trained the model is not covered" in said


def test_a_gate_on_an_assumed_class_says_what_its_upper_end_rests_on() -> None:
    sides = {"members": [i / 97 for i in range(200)], "nonmembers": [i / 100 for i in range(200)]}
    answer = answered("gate", {**sides, "max_advantage": 0.3, "estimator": {"kind": "threshold"}})

    said = text("gate", answer).partition("## What was not established")[2]

    assert "The upper end of the advantage holds only as far as its assumption does" in said


def test_a_gate_whose_class_is_contradicted_asks_for_another() -> None:
    question = CASES["class rejected"][1]
    answer = answered("gate", {**question, "max_advantage": 0.97})

    said = text("gate", answer).partition("## What was not established")[2]

    assert "more records will not change that. Choose another class of attacks" in said


def test_an_end_that_is_not_proven_at_every_sample_size_is_said_to_be_simulated() -> None:
    said = text(*case("advantage, scores"))

    assert (
        "its coverage was checked by simulation, including with no leakage at all (docs/methods.md in mace's source)"
        in said
    )
    assert "proven for many records" not in said


def test_the_papers_interval_is_proven_only_with_a_bandwidth_fixed_in_advance() -> None:
    from_data = row(*case("advantage, scores"), "The paper's statistic")
    of_categories = row(*case("categories"), "The paper's statistic")

    assert from_data[5] == "not shown: its bandwidth was chosen from these records"
    assert of_categories[5] == "yes"


@each_case("operation", ["compare", "gate"])
def test_the_baseline_stands_beside_the_advantage_and_is_the_answers(operation: str) -> None:
    rng = np.random.default_rng(1)
    sides = {"members": rng.normal(1, 1, 200).tolist(), "nonmembers": rng.normal(0, 1, 200).tolist()}
    question = (
        {"queries": {"a": sides, "b": sides}, "prior": 0.1, "paired": False}
        if operation == "compare"
        else {**sides, "prior": 0.1, "max_advantage": 0.85}
    )

    report = content(operation, answered(operation, question))

    tile = next(each for each in report.facts.items if each.label == "Advantage without any leak")
    assert isinstance(tile.value, Number)
    assert tile.value.path == "baseline"
    assert tile.value.value == pytest.approx(0.8)
    assert tile.note[0] == "the baseline: guessing without the score"
    assert isinstance(tile.note[-1], Number)
    assert tile.note[-1].value == 0.1


def test_a_risk_below_the_baseline_is_not_told_as_a_smaller_leak() -> None:
    uneven, even = text(*case("groups")), text(*case("report, scores"))

    assert "at a prior of 0.3 a risk may lie below it, which is not a smaller leak" in uneven
    assert "At this prior every risk is 0.400 without any leak, and a risk may lie below it" in uneven
    assert "may lie below it" not in even


def test_categories_are_not_said_to_be_seen_more_finely() -> None:
    said = text(*case("categories"))

    assert (
        "Where there are more values than cells, an attacker who reads them more finely may do better" in said
    )


def test_every_epsilon_of_the_mechanism_keeps_its_condition() -> None:
    condition = "if each record was a member by a coin of its own"

    assert row(*case("advantage, scores"), "Epsilon")[0] == f"Epsilon of the mechanism, {condition}"
    assert f"at delta 0, {condition}" in text(*case("audit, claim"))
    assert "Epsilon of the mechanism, at least" in text(*case("audit, claim"))


def test_a_gate_s_epsilon_is_that_of_the_score_and_an_audit_s_is_another() -> None:
    said = text(*case("gate, limits"))

    assert "the epsilon of this score at delta" in said
    assert "the epsilon of the mechanism must be at least is another statement" in said.replace("\n", " ")


def test_eta_and_security_are_of_this_one_model() -> None:
    assert "of this one model" in row(*case("advantage, scores"), "eta of membership")[0]
    assert "of this one model" in row(*case("advantage, scores"), "Security")[0]


def test_the_share_of_false_flags_is_an_average() -> None:
    said = text(*case("individual-risk, records"))

    assert (
        "On average over many such samples, at most 5% of the flagged records are flagged without cause"
        in said
    )
    assert "A flag makes no record a member: at this prior an estimated share of" in said


def test_limits_of_individual_risk_say_what_they_assume() -> None:
    said = text(*case("individual-risk, records")).partition("## What was not established")[2]

    assert "The limits assume: records of each side are independent draws" in said


def test_certainty_is_told_of_nothing_less() -> None:
    answer = answered("advantage", {"members": [1.0] * 40, "nonmembers": [0.0] * 40})
    certain = text("advantage", answer)

    answer["advantage"] |= {"lower": 0.99997, "upper": 0.99998}
    nearly = text("advantage", answer)

    assert "and 100 times in 100" in certain
    assert "right between 99.9 and 99.999 times in 100" in nearly


VERBATIM = {"counts": {"members": [4950, 50], "nonmembers": [5000, 0], "edges": [0.0]}}


@each_case("operation", ["advantage", "report", "gate"])
def test_the_head_of_a_pass_says_who_is_exposed(operation: str) -> None:
    answer = answered(operation, {**VERBATIM, "max_advantage": 0.1})
    part = answer.get("result", answer)
    head = content(operation, answer).headline

    assert head.decision == "pass"
    assert head.warning is not None
    assert head.warning.text == part["exposure"]["sentence"]
    said = text(operation, answer)
    assert said.index(part["exposure"]["sentence"]) < said.index("At a glance")
    assert part["exposure"]["sentence"] in unescape(render(operation, answer, HTML).decode()).replace(
        "</strong>", ""
    )
    assert head.severe


@each_case("operation", ["advantage", "report", "gate"])
def test_a_mild_exposure_is_told_calmly(operation: str) -> None:
    """Eight members beyond every nonmember: an attacker is 53% sure in place of 50%."""
    limit = {"max_advantage": 0.1} if operation == "gate" else {"threshold": 0.1}
    counts = {"members": [4992, 8], "nonmembers": [5000, 0], "edges": [0.0]}
    answer = answered(operation, {"counts": counts, **limit})

    page, said = render(operation, answer, HTML).decode(), text(operation, answer)

    sentence = answer.get("result", answer)["exposure"]["sentence"]
    assert sentence.startswith(
        "8 of 5,000 members score higher than every nonmember. Such a score makes an attacker"
    )
    assert 'class="remark"' in page
    assert 'class="warning"' not in page
    assert f"\n\n{sentence}\n\n" in said


def test_nothing_is_said_at_the_head_where_nobody_is_shown_to_be_exposed() -> None:
    same = [0.1, 0.5, 0.9] * 40
    answer = answered("advantage", {"members": same, "nonmembers": same})

    assert content("advantage", answer).headline.warning is None
    assert answer["exposure"]["sentence"] in text("advantage", answer)


def test_two_bounds_on_an_epsilon_have_two_names() -> None:
    answer = shifted("advantage", 1.0, 1000)

    assert row("advantage", answer, "Epsilon of the mechanism")[2].path == "epsilon.lower_bound"
    assert (
        row("advantage", answer, "Epsilon of this score, not of the mechanism")[2].path
        == "exposure.score_epsilon"
    )
