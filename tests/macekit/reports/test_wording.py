"""What a report says is no more than its answer bears, and no less than a reader needs beside it."""

from copy import deepcopy
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
from tests.macekit.reports.asked import CASES, Answer, answered


def normal(shift: float, n: int, seed: int = 0) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {"members": rng.normal(shift, 1, n).tolist(), "nonmembers": rng.normal(0, 1, n).tolist()}


SAME = {"members": [0.1, 0.5, 0.9] * 40, "nonmembers": [0.1, 0.5, 0.9] * 40}
STEPS = {"members": [i / 97 for i in range(200)], "nonmembers": [i / 100 for i in range(200)]}
NAMED: dict[str, tuple[str, Answer]] = {
    **CASES,
    "nothing leaks": ("report", SAME),
    "a limit below the baseline": ("report", {**SAME, "prior": 0.1, "max_advantage": 0.2}),
    "a leak at a rare prior": ("report", {**normal(1.0, 1000), "prior": 0.1}),
    "a leak": ("advantage", normal(1.0, 1000)),
    "reversed": ("advantage", normal(-1.0, 300)),
    "a class in a gate": ("gate", {**STEPS, "max_advantage": 0.3, "estimator": {"kind": "threshold"}}),
    "class rejected in a gate": ("gate", {**CASES["class rejected"][1], "max_advantage": 0.97}),
}
"""Questions of every kind, by what is special about them."""


@cache
def of(name: str) -> tuple[str, Answer]:
    operation, question = NAMED[name]
    return operation, answered(operation, question)


def text(operation: str, answer: Answer) -> str:
    return render(operation, answer, MARKDOWN).decode().replace("\\", "")


@cache
def page(name: str) -> str:
    return text(*of(name))


SAID: dict[str, list[str]] = {
    "advantage, scores": [
        "by tossing a coin, the attacker is right 50 times in 100",
        "the best attacker is right at least 64.2 times in 100, whoever that is, and attackers who accuse on one side "
        "of a cut, or inside or outside one range, or who sort the score into 4 steps at most 94 times (with 95% "
        "confidence). A step is a group of equal or similar values.",
        "95% confidence, for attackers who accuse on one side of a cut, or inside or outside one range, or who",
        "do not show that accusing every score above a threshold finds any member there",
        "its coverage was checked by simulation, including with no leakage at all (docs/methods.md in mace's source)",
    ],
    "advantage, options": [
        "With the score, the best attacker is right at least",
        "times in 100, whoever that is, and, if the best adversary is a threshold, at most",
        "90% confidence, if the best adversary is a threshold",
    ],
    "fail at a prior": [
        "by always guessing the likelier side, the attacker is right 90 times in 100",
        "a large advantage is not alarming by itself",
    ],
    "a limit below the baseline": ["your limit, below the baseline"],
    "nothing leaks": [
        "do not show that the score gives anything away; they do not show that it gives nothing away",
        "that anything leaks at all",
    ],
    "a leak at a rare prior": [
        "do not show a gain over the baseline at this prior",
        "the area under the ROC is between 0.7",
        "epsilon is at least 1.5",
        " records lie where scores speak for membership more than chance",
    ],
    "vectors": [
        "attackers who see which of 4 groups of similar values the learned score falls in at most",
        "95% confidence, for a learned score sorted into 4 groups",
        "Show an attacker the vector of one record",
        "The upper end is for attackers who read the learned score",
    ],
    "class rejected": [
        "the best attacker is right at least 97.4 times in 100 (with 95% confidence); there is no upper limit",
        "95% confidence, but the records contradict the assumed class of attacks: choose another",
        "The upper end assumes that the best adversary is a threshold, and these records contradict that.",
        "More records will not help: choose another class of attacks",
    ],
    "groups": [
        "at a prior of 0.3 a risk may lie below it, which is not a smaller leak",
        "At this prior every risk is 0.400 without any leak, and a risk may lie below it",
    ],
    "categories": ["Where there are more values than cells, an attacker who reads them more finely may do better"],
    "audit, claim": [
        "at delta 0, if each record was a member by a coin of its own",
        "Epsilon of the mechanism, at least",
    ],
    "gate, limits": [
        "the epsilon of this score at delta",
        "the epsilon of the mechanism must be at least is another statement",
    ],
    "individual-risk, records": [
        "On average over many such samples, at most 5% of the flagged records are flagged without cause",
        "A flag makes no record a member: at this prior an estimated share of",
    ],
}
UNSAID = {
    "fail at a prior": ["which guessing without the score reaches"],
    "a leak at a rare prior": ["gives anything away", "that anything leaks at all"],
    "reversed": ["do not show that accusing every score above a threshold", "The far left of the curve"],
    "advantage, scores": ["who can afford few false accusations", "proven for many records"],
    "report, scores": ["may lie below it"],
}
NOT_ESTABLISHED = {
    "pass": ["A pass says that the upper end is not above the limit. It does not say that nothing leaks."],
    "inconclusive": ["No decision was reached at the limit: with 95% confidence the advantage may be anything from"],
    "advantage, scores": [
        "or who sort the score into 4 steps. An attacker who finds finer patterns may do better, and no number of",
        "the lower end of the true positive rate is zero",
        "the expectation of the statistic U_N, not the advantage; at 95% confidence, simulated (",
        "of samples, depending on the world (docs/paper.md). It is not the one to decide on.",
        "The bound on the mechanism's epsilon assumes: each record was a member by a coin of its own",
    ],
    "advantage, options": ["The upper end holds only as far as its assumption does: records of each side"],
    "class rejected": ["The records contradict the assumption behind the upper end"],
    "report, scores": ["These groups are too small for an informative advantage of their own: adult and child."],
    "groups": ["The prior of 0.3 is an assumption, not a finding"],
    "audit, claim": ["Only this score of this model was looked at."],
    "metrics, presets": ["The optimum of recall says nothing about leakage"],
    "gate, limits": [
        "Records are taken to be independent of each other.",
        "Upper ends are for the attackers named with each limit",
        "An attacker who finds finer patterns may do better",
        "The mechanism that trained the model is not covered",
    ],
    "a class in a gate": ["The upper end of the advantage holds only as far as its assumption does"],
    "class rejected in a gate": ["more records will not change that. Choose another class of attacks"],
    "reversed": ["Members score lower than nonmembers here", "negated scores would show"],
    "individual-risk, records": ["The limits assume: records of each side are independent draws"],
}


@pytest.mark.slow
@each_case("name", {**SAID, **UNSAID, **NOT_ESTABLISHED})
def test_a_page_says_what_follows_from_its_answer_and_no_more(name: str) -> None:
    said = page(name)
    in_lines = said.replace("\n", " ")

    assert [words for words in SAID.get(name, ()) if words not in in_lines] == []
    assert [words for words in UNSAID.get(name, ()) if words in said] == []
    left_open = said.partition("## What was not established")[2]
    assert [words for words in NOT_ESTABLISHED.get(name, ()) if words not in left_open] == []


def test_a_limit_below_the_baseline_is_said_to_decide_nothing_once() -> None:
    said = page("a limit below the baseline")

    assert said.count("the limit of 0.2 lies below 0.8, which guessing without the score reaches") == 1


def row(name: str, label: str) -> tuple[Any, ...]:
    numbers = content(*of(name)).section("numbers")
    assert numbers is not None
    table = numbers.blocks[0]
    assert isinstance(table, Table)
    return next(each for each in table.rows if label in str(each[0]))


def test_no_gain_at_a_rare_prior_is_not_told_as_no_leak() -> None:
    _, answer = of("a leak at a rare prior")

    assert answer["result"]["advantage"]["lower"] == answer["result"]["baseline"]
    assert f"{answer['risk']['flags']['records']} records lie where" in page("a leak at a rare prior")


@each_case(
    "number, more",
    ("roc", {"auc_lower": 0.51, "auc_upper": 0.6}),
    ("epsilon", {"lower_bound": 0.1}),
    ("exposure", {"score_epsilon": 0.1}),
    ("flags", {"records": 3}),
)
def test_any_number_that_speaks_for_a_leak_withholds_the_stronger_sentence(number, more) -> None:
    answer = deepcopy(of("nothing leaks")[1])
    assert "gives anything away" in text("report", answer)

    place = answer["risk"] if number == "flags" else answer["result"]
    place[number] |= more
    said = text("report", answer)

    assert "gives anything away" not in said
    assert "Other numbers are evidence of a leak" in said


def test_flags_that_every_record_gets_without_a_leak_speak_for_none() -> None:
    answer = answered("report", {**SAME, "prior": 0.9})
    answer["risk"]["flags"] |= {"threshold": 0.0, "records": 240}

    said = text("report", answer)

    assert "do not show a gain over the baseline at this prior" in said
    assert "Other numbers are evidence of a leak" not in said


def test_the_papers_interval_is_proven_only_with_a_bandwidth_fixed_in_advance() -> None:
    from_data, of_categories = (row(name, "The paper's statistic")[5] for name in ("advantage, scores", "categories"))

    assert from_data == "not shown: its bandwidth was chosen from these records"
    assert of_categories == "yes"


def test_each_number_is_named_for_what_it_is_about() -> None:
    condition = "if each record was a member by a coin of its own"

    assert row("advantage, scores", "Epsilon")[0] == f"Epsilon of the mechanism, {condition}"
    for label in ("eta of membership", "Security"):
        assert "of this one model" in row("advantage, scores", label)[0]
    assert row("a leak", "Epsilon of the mechanism")[2].path == "epsilon.lower_bound"
    assert row("a leak", "Epsilon of this score, not of the mechanism")[2].path == "exposure.score_epsilon"


@each_case("operation", ["compare", "gate"])
def test_the_baseline_stands_beside_the_advantage_and_is_the_answers(operation: str) -> None:
    sides = normal(1.0, 200, seed=1)
    compared = {"queries": {"a": sides, "b": sides}, "paired": False}
    question = compared if operation == "compare" else {**sides, "max_advantage": 0.85}

    report = content(operation, answered(operation, {**question, "prior": 0.1}))

    tile = next(each for each in report.facts.items if each.label == "Advantage without any leak")
    assert isinstance(tile.value, Number)
    assert (tile.value.path, tile.value.value) == ("baseline", pytest.approx(0.8))
    assert tile.note[0] == "the baseline: guessing without the score"
    assert isinstance(tile.note[-1], Number)
    assert tile.note[-1].value == 0.1


def test_certainty_is_told_of_nothing_less() -> None:
    answer = answered("advantage", {"members": [1.0] * 40, "nonmembers": [0.0] * 40})
    certain = text("advantage", answer)

    answer["advantage"] |= {"lower": 0.99997, "upper": 0.99998}
    nearly = text("advantage", answer)

    assert "at most 100 times" in certain
    assert "right at least 99.9 times in 100" in nearly
    assert "at most 99.999 times" in nearly


def exposing(operation: str, members: int) -> tuple[Answer, str]:
    """An answer that passes though so many of 5,000 members stand beyond every nonmember, and what it says of them."""
    counts = {"members": [5000 - members, members], "nonmembers": [5000, 0], "edges": [0.0]}
    answer = answered(operation, {"counts": counts, "max_advantage": 0.1, "accept_exposure": True})
    sentence: str = answer.get("result", answer)["exposure"]["sentence"]
    return answer, sentence


@pytest.mark.slow
@each_case("operation", ["advantage", "report", "gate"])
def test_the_head_of_a_pass_says_who_is_exposed(operation: str) -> None:
    answer, sentence = exposing(operation, 80)
    head = content(operation, answer).headline

    assert head.decision == "pass"
    assert "Accepted by name (accept_exposure): 80 of 5,000 members score higher" in head.sentence.text
    assert head.warning is not None
    assert head.warning.text == sentence
    said = text(operation, answer)
    assert said.index(sentence) < said.index("At a glance")
    assert sentence in unescape(render(operation, answer, HTML).decode()).replace("</strong>", "")
    assert head.severe


@pytest.mark.slow
@each_case("operation", ["advantage", "report", "gate"])
def test_a_mild_exposure_is_told_calmly(operation: str) -> None:
    """Eight members beyond every nonmember: an attacker is 53% sure in place of 50%."""
    answer, sentence = exposing(operation, 8)

    html, said = render(operation, answer, HTML).decode(), text(operation, answer)

    assert sentence.startswith("8 of 5,000 members score higher than every nonmember. Such a score makes an attacker")
    assert 'class="remark"' in html
    assert 'class="warning"' not in html
    assert f"\n\n{sentence}\n\n" in said


def test_nothing_is_said_at_the_head_where_nobody_is_shown_to_be_exposed() -> None:
    answer = answered("advantage", SAME)

    assert content("advantage", answer).headline.warning is None
    assert answer["exposure"]["sentence"] in text("advantage", answer)
