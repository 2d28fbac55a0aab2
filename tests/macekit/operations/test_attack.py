"""``/v1/attack``: the library's own numbers, and one clear refusal for each thing that can be wrong."""

from typing import Any

import numpy as np
import pytest

from app.openapi.examples import JSON_EXAMPLES, SAMPLE
from estimators import GuessRule, QuantileRule, Scores, ThresholdRule, TopRule, attack_advantage, preset
from estimators.attack.rules import AttackRule
from macekit.call import HTML, JSON
from tests.cases import each_case
from tests.macekit import asking

RNG = np.random.default_rng(0)
SIDES = RNG.normal(1, 1, 60).round(3), RNG.normal(0, 1, 90).round(3)
SCORES = {"members": SIDES[0].tolist(), "nonmembers": SIDES[1].tolist()}


def ask(accept: str = JSON, **question: object) -> Any:
    return asking.ask("attack", question, accept=accept)


@pytest.mark.slow
@each_case(
    "asked, rule",
    ({"threshold": 0.5}, ThresholdRule(0.5)),
    ({"kind": "threshold", "threshold": 0.5, "side": "below"}, ThresholdRule(0.5, "below")),
    ({"threshold": 0.5, "chosen_before": False}, ThresholdRule(0.5, chosen_before=False)),
    ({"kind": "top"}, TopRule()),
    ({"records": 20, "side": "below"}, TopRule(20, "below")),
    ({"quantile": 0.5}, QuantileRule(0.5)),
    ({"kind": "quantile", "quantile": 0.9, "of": "nonmembers"}, QuantileRule(0.9, "nonmembers")),
)
def test_the_answer_has_the_librarys_numbers(asked: dict[str, object], rule: AttackRule) -> None:
    answer = ask(**SCORES, rule=asked, prior=0.3, confidence=0.9, seed=4)

    expected = attack_advantage(Scores.of(*SIDES), rule, 0.3, 0.9, 4)
    assert answer["sentence"] == expected.sentence
    for name, estimate in {
        "attack": expected.estimate,
        "true_positive_rate": expected.tpr,
        "false_positive_rate": expected.fpr,
        "optimum": expected.optimum.estimate,
        "gap": expected.gap,
        **({} if expected.share is None else {"share_of_optimum": expected.share}),
    }.items():
        numbers = (answer[name]["estimate"], answer[name]["lower"], answer[name]["upper"])
        assert numbers == (estimate.value, estimate.lower, estimate.upper)
        assert answer[name]["guarantee"]["assumes"] == estimate.interval.guarantee.assumes
    assert [each["name"] for each in answer["metrics"]] == list(expected.metrics)
    assert (answer["rule"]["members_accused"], answer["rule"]["nonmembers_accused"]) == expected.accusations
    assert (answer["rule"]["cut"], answer["rule"]["kind"]) == (expected.cut, rule.kind)


def test_guesses_need_no_rule() -> None:
    guesses = {name: [score > 0.5 for score in side] for name, side in SCORES.items()}

    answer = ask(**guesses)

    expected = attack_advantage(Scores.of(*(side > 0.5 for side in SIDES)), GuessRule())
    assert answer["attack"]["lower"] == expected.lower
    assert answer["rule"] == {
        "kind": "guesses", "side": None, "cut": None, "chosen_before": True,
        "members_accused": int((SIDES[0] > 0.5).sum()), "nonmembers_accused": int((SIDES[1] > 0.5).sum()),
    }  # fmt: skip
    assert ask(**guesses, rule={"kind": "guesses"})["gap"] == answer["gap"]


def test_metrics_may_be_chosen() -> None:
    own = {"name": "benefit", "coefficients": {"a11": 1.0, "a10": -5.0, "b0": 1.0}}

    answer = ask(**SCORES, rule={"threshold": 0.5}, metrics=[{"preset": "f_beta", "beta": 2}, own])

    tpr, fpr = (float((side >= 0.5).mean()) for side in SIDES)
    first, second = answer["metrics"]
    assert first["estimate"] == pytest.approx(float(preset("f_beta", 0.5, beta=2).value(tpr, fpr, 0.5)))
    assert second["estimate"] == pytest.approx(0.5 * tpr - 2.5 * fpr)
    assert second["lower"] < second["estimate"] < second["upper"]


REFUSED_RULES: list[tuple[dict[str, object], str, str, str]] = [
    ({"threshold": 1, "quantile": 0.5}, "bad-option", "rule.quantile", "together with rule.threshold; send one"),
    ({"kind": "top", "threshold": 1}, "bad-option", "rule.threshold", "only to kind threshold, not top; remove"),
    ({"side": "below"}, "bad-option", "rule.side", "not guesses; remove it"),
    ({"kind": "top", "chosen_before": True}, "bad-option", "rule.chosen_before", "applies only to kind threshold"),
    ({"kind": "threshold"}, "missing-field", "rule.threshold", "is required with kind threshold and missing"),
    ({"kind": "quantile"}, "missing-field", "rule.quantile", "is required"),
    ({"quantile": 1.5}, "out-of-range", "rule.quantile", "less than 1"),
    ({"records": 0}, "out-of-range", "rule.records", "greater than or equal to 1"),
    ({"records": 150}, "out-of-range", "rule.records", "got 150 of 150 records"),
    ({"quantile": 0.9999}, "out-of-range", "rule.quantile", "leaves 0 of 150"),
    ({"kind": "best"}, "unknown-name", "rule.kind", "'threshold'"),
    ({"tresh": 1}, "unknown-field", "threshold", "did you mean 'threshold'"),
]
CUT = {"rule": {"threshold": 1}}
VECTORS, TEXT = ({"members": side, "nonmembers": side} for side in ([[1, 2]] * 8, ["a", "b"] * 8))
CELLS = {"counts": {"members": [9, 9], "nonmembers": [9, 9]}}
UNDEFINED = {"metrics": [{"coefficients": {"a11": 1, "b10": 1}}]}


@each_case(
    "question, kind, field, text",
    *(({**SCORES, "rule": rule}, *problem) for rule, *problem in REFUSED_RULES),
    (SCORES, "bad-records", "members", "members: need guesses, true or false"),
    (VECTORS | CUT, "bad-records", "members", "cuts one number a record, got vectors"),
    (TEXT | CUT, "bad-records", "members", "cuts numbers, got text"),
    (CELLS, "bad-option", "counts", "judged record by record; send its guesses or its scores"),
    (SCORES | CUT | UNDEFINED, "bad-metric", "metric", "denominator is 0"),
)
def test_each_thing_that_is_wrong_is_one_clear_refusal(question, kind, field, text) -> None:
    answer = ask(**question)

    assert (answer["type"].rpartition(":")[2], answer["field"]) == (kind, field), (kind, field, text)
    assert text in answer["detail"]


@pytest.mark.parametrize("name", JSON_EXAMPLES["attack"])
def test_the_report_has_both_numbers_and_what_the_interval_allows_for(name: str) -> None:
    question = JSON_EXAMPLES["attack"][name].value

    page, answer = ask(HTML, **question), ask(**question)

    assert "Optimal advantage minus this attack" in page
    assert f"{answer['attack']['estimate']:.3f}".replace("-", "−") in page.replace("-", "−")
    fixed = "take the attack to have been fixed before" in page
    assert fixed == answer["rule"]["chosen_before"] == (name in ("threshold", "guesses"))


def test_the_same_scores_have_the_optimum_of_the_advantage_answer() -> None:
    optimum = ask(**SAMPLE, rule={"threshold": 0.75})["optimum"]

    assert optimum == asking.ask("advantage", SAMPLE)["advantage"]
