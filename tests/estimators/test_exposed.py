"""The share of members that are exposed at a precision: its ends against the truth, and how limits use it."""

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from estimators import Counts, Decision, Scores, audit_synthetic
from estimators.audit.epsilon import Direction
from estimators.errors import OptionError, OutOfRange
from estimators.exposed import MaxExposed, exposed_at_least, exposed_at_most
from estimators.gate import judge
from estimators.limits.binomial import clopper_pearson
from estimators.riskiest import judge_queries, limits_of
from estimators.sample.counting import finest
from tests.cases import each_case

ODDS = 9.0


def world(rng: np.random.Generator, n: int, share: float, away: float) -> Scores:
    """Of the members a share lies far out; the others are as nonmembers are."""
    far = rng.random(n) < share
    return Scores.of(rng.normal(np.where(far, away, 0.0)), rng.normal(size=n))


def truth(share: float, away: float) -> float:
    """The largest true positive rate that is nine times its false positive rate."""

    def rates(cut: float) -> tuple[float, float]:
        none = float(norm.sf(cut))
        return (1.0 - share) * none + share * float(norm.sf(cut - away)), none

    cut = brentq(lambda each: rates(each)[0] - ODDS * rates(each)[1], 0.0, away + 1.0)
    return rates(cut)[0]


@each_case("n, share, away", [(150, 0.1, 4.0), (300, 0.03, 5.0), (500, 0.2, 3.0)])
def test_each_end_misses_the_truth_no_oftener_than_its_error(n, share, away) -> None:
    runs, alpha, true = 120, 0.1, truth(share, away)
    misses = np.zeros(2)
    for seed in range(runs):
        counts = finest(world(np.random.default_rng(seed), n, share, away))
        upper, seen = exposed_at_most(counts, ODDS, alpha, Direction.HIGH)
        lower = exposed_at_least(counts, ODDS, alpha, Direction.HIGH)
        misses += [lower > true, upper < true]
        assert 0.0 <= lower <= upper
        assert 0.0 <= seen <= 1.0

    assert (misses <= binom.isf(0.001, runs, alpha)).all()


def test_the_upper_end_is_that_of_every_cut_by_itself() -> None:
    rng = np.random.default_rng(5)
    scores = world(rng, 60, 0.2, 3.0)
    best = 0.0
    for cut in [*np.unique(np.r_[scores.members, scores.nonmembers]), np.inf]:
        m, k = int((scores.members >= cut).sum()), int((scores.nonmembers >= cut).sum())
        most = clopper_pearson(np.array([m]), 60, 0.0125)[1][0]
        least = clopper_pearson(np.array([k]), 60, 0.0125)[0][0]
        best = max(best, most if most >= ODDS * least else 0.0)

    assert exposed_at_most(finest(scores), ODDS, 0.025, Direction.HIGH)[0] == pytest.approx(best)


def test_both_ends_of_the_score_are_looked_at_unless_one_is_known() -> None:
    scores = world(np.random.default_rng(0), 1500, 0.1, 6.0)
    turned = Scores.of(-scores.members, -scores.nonmembers)
    (high, low, either), (turned_high, turned_low, turned_either) = (
        [
            (exposed_at_least(c, ODDS, 0.025, way), exposed_at_most(c, ODDS, 0.025, way)[0])
            for way in Direction
        ]
        for c in (finest(scores), finest(turned))
    )

    assert (high, low, either) == (turned_low, turned_high, turned_either)
    assert low[0] == 0.0
    assert 0.0 < either[0] < high[0]  # the lower end shares the error, the upper one does not
    assert either[1] == max(high[1], low[1])


def test_members_that_a_release_prints_are_exposed_and_a_limit_on_an_average_hides_them() -> None:
    release = Counts.of([4925, 75], [5000, 0], edges=[1.0])
    limits = judge(release, [MaxExposed(0.008), MaxExposed(0.022), MaxExposed(0.015)]).limits

    assert [each.verdict.decision for each in limits] == [Decision.FAIL, Decision.PASS, Decision.INCONCLUSIVE]
    assert limits[0].about == "the share of members whose score makes membership 0.9 probable"


def test_the_same_odds_at_another_prior_are_another_precision() -> None:
    release = Counts.of([900, 100], [990, 10], edges=[1.0])
    half = judge(release, [MaxExposed(0.1, 0.75)]).limits[0].estimate
    tenth = judge(release, [MaxExposed(0.1, 0.25)], prior=0.1).limits[0].estimate

    assert (half.lower, half.upper) == (tenth.lower, tenth.upper)


def test_without_a_leak_few_thousand_rows_show_that_few_are_exposed() -> None:
    wrong = 0
    for seed in range(12):
        scores = Scores.of(*np.random.default_rng(seed).normal(size=(2, 3000)))
        [limit] = judge(scores, [MaxExposed(0.01)]).limits
        assert limit.verdict.decision is not Decision.FAIL
        wrong += limit.verdict.decision is not Decision.PASS

    assert wrong <= 3


def test_more_records_are_asked_for_where_too_few_show_it() -> None:
    scores = Scores.of(*np.random.default_rng(1).normal(size=(2, 100)))
    [limit] = judge(scores, [MaxExposed(0.01)]).limits
    needed = limit.verdict.records_needed

    assert limit.verdict.decision is Decision.INCONCLUSIVE
    more = Scores.of(*np.random.default_rng(2).normal(size=(2, needed)))
    assert judge(more, [MaxExposed(0.01)]).limits[0].verdict.decision is Decision.PASS


TENS = Counts.of([10, 10], [10, 10], edges=[0.5])


@each_case(
    "data, limit, error, words",
    [
        (TENS, MaxExposed(1.5), OutOfRange, "max_exposed: got 1.5, need a number from 0 to 1"),
        (TENS, MaxExposed(0.1, 0.5), OutOfRange, "at_precision: got 0.5, need more than the prior"),
        (TENS, MaxExposed(0.1, 1.0), OutOfRange, "at_precision"),
        (TENS, MaxExposed(0.1, direction="up"), OptionError, "direction"),
        (
            Scores.of(list("aabb") * 2, list("aabb") * 2),
            MaxExposed(0.1),
            OptionError,
            "categories have no order",
        ),
    ],
)
def test_limits_that_mean_nothing_are_refused(data, limit, error, words) -> None:
    with pytest.raises(error, match=words):
        judge(data, [limit])


def test_an_audit_limits_exposed_members_by_every_query() -> None:
    rng = np.random.default_rng(0)
    train, holdout, released = (dict(zip("xy", rng.normal(size=(2, 1000)), strict=True)) for _ in range(3))
    leaky = {name: np.r_[column[:900], train[name][:100]] for name, column in released.items()}
    options: dict[str, Any] = {"max_advantage": 0.3, "max_exposed": 0.05, "check_sides": False}
    clean, leak = (audit_synthetic(train, holdout, each, **options) for each in (released, leaky))

    decided = [[(each.name, each.decision.value) for each in audit.limits] for audit in (clean, leak)]
    assert decided == [[("advantage", "pass"), ("exposed", last)] for last in ("pass", "fail")]
    assert leak.limits[1].estimate.lower > 0.05
    assert "the share of members whose score makes membership 0.9 probable is at least" in leak.sentence


def test_upper_ends_of_queries_are_not_corrected_and_lower_ends_share_the_error() -> None:
    scores = world(np.random.default_rng(3), 500, 0.2, 6.0)
    limits = limits_of(max_exposed=0.5, at_precision=0.8)
    both = {"strong": scores, "weak": world(np.random.default_rng(4), 500, 0.0, 6.0)}
    (one,), (two,) = (judge_queries(limits, queries) for queries in ({"strong": scores}, both))

    assert one.estimate.upper == two.estimate.upper
    assert one.estimate.lower > two.estimate.lower > 0.0
