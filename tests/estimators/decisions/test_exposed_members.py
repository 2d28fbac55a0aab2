"""The share of members that are exposed at a precision: its ends against the truth, and how limits use it."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from estimators import Counts, Decision, Scores, audit_synthetic
from estimators.decisions.exposed_members import MaxExposed, exposed_at_least, exposed_at_most, exposed_seen
from estimators.decisions.gate import judge
from estimators.decisions.riskiest import judge_queries, limits_of
from estimators.errors import OptionError, OutOfRange, UnknownName
from estimators.limits.binomial import clopper_pearson
from estimators.privacy.direction import Direction
from estimators.sample.counting import finest
from tests.cases import each_case, refusals

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


def inside(rng: np.random.Generator, n: int, share: float, width: float) -> Scores:
    """Of the members a share lies in one window; the others are even, as nonmembers are."""
    some = rng.random(n) < share
    return Scores.of(np.where(some, 0.4 + width * rng.random(n), rng.random(n)), rng.random(n))


def truth_inside(share: float, width: float) -> float:
    """The window and as much beside it as leaves nine times the share of nonmembers."""
    return ODDS * max(share / (ODDS - 1.0 + share), width)


@pytest.mark.slow
@each_case("draw, truth, n, share, shape", [
    (world, truth, 150, 0.1, 4.0), (world, truth, 300, 0.03, 5.0), (world, truth, 500, 0.2, 3.0),
    (inside, truth_inside, 300, 0.1, 0.001), (inside, truth_inside, 500, 0.05, 0.005),
])  # fmt: skip
def test_each_end_misses_the_truth_no_oftener_than_its_error(draw, truth, n, share, shape) -> None:
    runs, alpha, true = 40, 0.1, truth(share, shape)
    misses = np.zeros(2)
    for seed in range(runs):
        counts = finest(draw(np.random.default_rng(seed), n, share, shape))
        upper = exposed_at_most(counts, ODDS, alpha)
        lower = exposed_at_least(counts, ODDS, alpha, Direction.HIGH)
        misses += [lower > true, upper < true]
        assert 0.0 <= lower <= upper
        assert 0.0 <= exposed_seen(counts, ODDS, alpha, Direction.HIGH) <= 1.0

    assert (misses <= binom.isf(0.001, runs, alpha)).all()


@pytest.mark.slow
@each_case("top", [3.0, 1e9])
@each_case("odds, sides", [(ODDS, (60, 60)), (1.5, (60, 60)), (ODDS, (80, 25)), (3.0, (25, 80))])
def test_the_upper_end_is_that_of_every_range_by_itself(top, odds, sides) -> None:
    rng = np.random.default_rng(5)
    members, nonmembers = (np.rint(top * rng.normal(size=n)) for n in sides)
    members[:10] = np.rint(0.1 * top + np.arange(10.0))
    values, best = np.unique(np.r_[members, nonmembers]), 0.0
    most = clopper_pearson(np.arange(sides[0] + 1), sides[0], 0.0125)[1]
    least = clopper_pearson(np.arange(sides[1] + 1), sides[1], 0.0125)[0]
    for low, high in combinations([*values, np.inf], 2):
        m, k = (int(((side >= low) & (side < high)).sum()) for side in (members, nonmembers))
        best = max(best, most[m] if most[m] >= odds * least[k] else 0.0)

    found = exposed_at_most(finest(Scores.of(members, nonmembers)), odds, 0.025)
    assert found == pytest.approx(best, abs=1e-12)


def test_of_many_nonmembers_the_upper_end_is_found_to_the_safe_side() -> None:
    counts = finest(inside(np.random.default_rng(6), 1200, 0.5, 0.2))  # some 240 nonmembers lie in the window
    members, nonmembers = (np.r_[0, side.cumsum()] for side in (counts.members, counts.nonmembers))
    limits = clopper_pearson(np.arange(1201), 1200, 0.0125)
    needed = np.searchsorted(limits[1], 2.5 * limits[0])  # members that agree with so many nonmembers
    best = 0
    for first in range(counts.size):
        m, k = members[first:] - members[first], nonmembers[first:] - nonmembers[first]
        best = max(best, int(m[m >= needed[k]].max()))

    assert limits[1][best] <= exposed_at_most(counts, 2.5, 0.025) <= 1.03 * limits[1][best]


def test_of_two_ranges_the_one_with_more_members_counts_and_counts_of_any_size_have_an_upper_end() -> None:
    counts = Counts.of([3000, 250, 6350, 400, 0], [2000, 1, 4000, 1, 3998], edges=[0.0, 1.0, 2.0, 3.0])
    huge = Counts.of([10**12, 10**11, 10**12], [10**13, 2 * 10**3, 10**13], edges=[0.0, 1.0])
    lower = exposed_at_least(counts, ODDS, 0.025, Direction.EITHER)

    assert 0.025 < lower < 0.04 == exposed_seen(counts, ODDS, 0.025, Direction.EITHER)
    assert 0.04 < exposed_at_most(counts, ODDS, 0.025) < 0.05
    assert exposed_at_most(huge, ODDS, 0.025) == pytest.approx(0.1 / 2.1, rel=1e-4)


def test_both_ends_of_the_score_are_looked_at_unless_one_is_known() -> None:
    scores = world(np.random.default_rng(0), 1500, 0.1, 6.0)
    turned = Scores.of(-scores.members, -scores.nonmembers)
    (high, low, either), (turned_high, turned_low, turned_either) = (
        [(exposed_at_least(c, ODDS, 0.025, way), exposed_seen(c, ODDS, 0.025, way)) for way in Direction]
        for c in (finest(scores), finest(turned))
    )

    assert (high, low, either) == (turned_low, turned_high, turned_either)
    assert low[0] == 0.0
    assert 0.0 < either[0] < high[0]  # both ends of the score share the error of the lower end
    assert either[1] == max(high[1], low[1]) == high[1] > 0.0


@each_case("turned", [False, True])
def test_members_between_two_scores_are_exposed_as_those_beyond_a_cut_are(turned) -> None:
    scores = inside(np.random.default_rng(2), 10_000, 0.1, 0.001)
    if turned:
        scores = Scores.of(1.0 - scores.members, 1.0 - scores.nonmembers)
    limits = judge(scores, [MaxExposed(each) for each in (0.07, 0.13, 0.105)]).limits

    assert [each.verdict.decision for each in limits] == [Decision.FAIL, Decision.PASS, Decision.INCONCLUSIVE]
    assert limits[0].estimate.value == pytest.approx(truth_inside(0.1, 0.001), abs=0.015)


def test_members_that_a_release_prints_are_exposed_and_the_same_odds_are_another_precision_elsewhere() -> None:
    release, tenth = (Counts.of(*sides, edges=[1.0]) for sides in (([4925, 75], [5000, 0]), ([900, 100], [990, 10])))
    limits = judge(release, [MaxExposed(0.008), MaxExposed(0.022), MaxExposed(0.015)]).limits
    here = judge(tenth, [MaxExposed(0.1, 0.75)]).limits[0].estimate
    elsewhere = judge(tenth, [MaxExposed(0.1, 0.25)], prior=0.1).limits[0].estimate

    assert [each.verdict.decision for each in limits] == [Decision.FAIL, Decision.PASS, Decision.INCONCLUSIVE]
    assert limits[0].about == "the share of members whose score makes membership 0.9 probable"
    assert (here.lower, here.upper) == (elsewhere.lower, elsewhere.upper)


def test_without_a_leak_some_thousand_rows_show_that_few_are_exposed() -> None:
    wrong = 0
    for seed in range(12):
        scores = Scores.of(*np.random.default_rng(seed).normal(size=(2, 6500)))
        [limit] = judge(scores, [MaxExposed(0.01)]).limits
        assert limit.verdict.decision is not Decision.FAIL
        wrong += limit.verdict.decision is not Decision.PASS

    assert wrong <= 3


@each_case("records", [100, 300, 1000, 3000])
def test_more_records_are_asked_for_where_too_few_show_it(records) -> None:
    scores = Scores.of(*np.random.default_rng(1).normal(size=(2, records)))
    [limit] = judge(scores, [MaxExposed(0.01)]).limits
    needed = limit.verdict.records_needed

    assert limit.verdict.decision is Decision.INCONCLUSIVE
    assert 2 * 4500 < needed < 2 * 9000
    more = Scores.of(*np.random.default_rng(2).normal(size=(2, 3 * needed // 5)))
    assert judge(more, [MaxExposed(0.01)]).limits[0].verdict.decision is Decision.PASS


TENS = Counts.of([10, 10], [10, 10], edges=[0.5])


test_limits_that_mean_nothing_are_refused = refusals(
    "data, limit, error, words",
    (TENS, MaxExposed(1.5), OutOfRange, "max_exposed: got 1.5, need a number from 0 to 1"),
    (TENS, MaxExposed(0.1, 0.5), OutOfRange, "at_precision: got 0.5, need more than the prior"),
    (TENS, MaxExposed(0.1, 1.0), OutOfRange, "at_precision"),
    (TENS, MaxExposed(0.1, direction="up"), UnknownName, "direction"),
    (Scores.of(list("aabb") * 2, list("aabb") * 2), MaxExposed(0.1), OptionError, "categories have no order"),
    ask=lambda data, limit: judge(data, [limit]),
)


@pytest.mark.slow
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
