"""Decisions follow the interval, and planned records decide as often as promised."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from estimators import Scores, advantage
from estimators.decisions.plan import plan_verdict, plan_width
from estimators.decisions.verdict import Decision, decide, decision, overall, records_needed, verdict
from estimators.errors import OutOfRange
from estimators.statement import Estimate, Guarantee, Interval, roughly
from tests.cases import each_case
from tests.oracles import gaussian_shift, identical


def ask(world: object, n: int, seed: int = 0, prior: float = 0.5) -> object:
    return advantage(Scores.of(*world.draw(np.random.default_rng(seed), n, n)), prior)


@each_case(
    "world, n, threshold, expected, words",
    (identical(), 5000, 0.1, Decision.PASS, "is at most"),
    (gaussian_shift(0.5), 1000, 0.1, Decision.FAIL, "is at least"),
    (gaussian_shift(0.05), 200, 0.15, Decision.INCONCLUSIVE, "would settle it"),
)
def test_the_interval_decides_and_one_across_says_what_settles_it(world, n, threshold, expected, words):
    decided = verdict(ask(world, n), threshold)

    assert decided.decision is expected
    assert words in decided.reason
    assert (decided.records_needed is not None) == (expected is Decision.INCONCLUSIVE)
    assert (decided.records_needed or 401) > 400


def test_what_is_no_threshold_and_no_expectation_is_refused() -> None:
    for threshold in (1.5, -2.0, float("nan")):
        with pytest.raises(OutOfRange, match="max_advantage"):
            verdict(ask(identical(), 50), threshold)
    with pytest.raises(OutOfRange, match=r"need at least the baseline 0\.8"):
        plan_verdict(0.5, 0.9, prior=0.1)


@pytest.mark.slow
@each_case("expected, threshold, prior", [(0.0, 0.1, 0.5), (0.9, 0.85, 0.2), (0.34, 0.45, 0.35)])
def test_the_records_planned_decide_in_about_four_samples_of_five(expected, threshold, prior) -> None:
    plan = plan_verdict(expected, threshold, prior)
    rng, decided = np.random.default_rng(1), 0
    shift = brentq(lambda m: best_of_normals(m, prior) - expected, 0.01, 8.0) if expected else 0.0

    for run in range(12):
        sides = rng.normal(shift, size=plan.members), rng.normal(size=plan.nonmembers)
        answer = verdict(advantage(Scores.of(*sides, "continuous"), prior, seed=run), threshold)
        decided += answer.decision is not Decision.INCONCLUSIVE

    assert decided >= 5  # P(Bin(12, 0.8) < 5) < 0.06%


def best_of_normals(shift: float, prior: float) -> float:
    """The advantage against two unit normals so far apart: that of the cut where the posterior is a half."""
    cut = shift / 2.0 - np.log(prior / (1.0 - prior)) / shift
    return float(2.0 * (prior * norm.sf(cut - shift) + (1.0 - prior) * norm.cdf(cut)) - 1.0)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_a_narrower_interval_needs_more_records() -> None:
    assert plan_width(0.2, 0.08).records > 5 * plan_width(0.2, 0.24).records


def test_a_threshold_at_the_truth_or_a_hair_from_the_estimate_is_never_reached_and_a_plan_says_so() -> None:
    at, near = plan_verdict(0.2, 0.2), plan_verdict(0.1, 0.1 + 1e-7)
    result = advantage(Scores.of(np.arange(100.0), np.arange(100.0)))
    answer = verdict(result, result.value + 5e-324)

    assert at.records is near.records is None
    assert "more than" in at.sentence
    assert near.sentence.startswith("in practice no number of records is enough to decide at a limit of 0.1")
    assert (answer.decision, answer.records_needed) == (Decision.INCONCLUSIVE, None)


@each_case("lower, upper, expected", [
    (0.0, 0.1, Decision.PASS), (0.1, 0.1, Decision.PASS), (0.1, 0.2, Decision.INCONCLUSIVE),
    (0.0, float("inf"), Decision.INCONCLUSIVE), (0.2, float("inf"), Decision.FAIL),
])  # fmt: skip
def test_a_decision_at_a_tenth_is_what_both_ends_say(lower, upper, expected) -> None:
    assert decision(lower, upper, 0.1) is expected


def test_at_its_upper_end_an_advantage_passes_and_at_its_lower_one_it_does_not_fail() -> None:
    result = ask(gaussian_shift(0.3), 1000)
    decided = [verdict(result, threshold).decision for threshold in (result.upper, result.lower)]

    assert decided == [Decision.PASS, Decision.INCONCLUSIVE]


def test_over_several_limits_a_fail_outweighs_an_open_one_and_that_a_pass() -> None:
    by_weight = [Decision.PASS, Decision.PASS, Decision.INCONCLUSIVE, Decision.FAIL]

    assert [overall(by_weight[:number]) for number in (2, 3, 4)] == by_weight[1:]


@each_case(
    "records, gap, expected",
    (800, 1e-2, 80_000),
    (800, 2.9e-4, 95_124_852),
    (800, 1e-4, None),  # 8 * 10^8
    (800, 0.0, None),
    (8 * 10**7, 0.08, 125_000_000),
    (8 * 10**7, 0.05, None),  # 3.2 * 10^8
)
def test_above_a_hundred_million_records_or_twice_what_there_is_none_settle_it(records, gap, expected):
    estimate = Estimate(0.5, Interval(0.4, 0.6, 0.95, Guarantee("a number", "nothing", finite_sample=True)))
    needed = records_needed(estimate, 0.5 + gap, records)
    decided = decide("the advantage", estimate, 0.5 + gap, needed, records)

    reason = "in practice no number of records will settle it"
    if expected:
        reason = f"about {roughly(needed)} records in all would settle it, you sent {records:,}"
    assert decided.records_needed == needed == (expected and pytest.approx(expected, rel=1e-6))
    assert decided.reason.endswith(reason)
    assert decided.opening == ("Undecided, not enough data" if expected else "Undecided")
