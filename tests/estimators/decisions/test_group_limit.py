"""A limit on each group by itself: a group that leaks never passes, and one level holds for all of them."""

from typing import Any

import numpy as np
import pytest

from estimators import CellsTarget, Counts, LearnedTarget, Scores, ThresholdTarget, by_group
from estimators.adversary.learned import quadratic
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage, MaxGroupRisk
from estimators.decisions.plan import records_without_leak
from estimators.decisions.tpr_limit import MaxTpr
from estimators.decisions.verdict import Decision
from estimators.errors import DimensionMismatch, InputError, NotFinite, OutOfRange
from estimators.risk.groups import GroupTable
from estimators.sample.counting import by_grid, finest
from tests.cases import each_case, refusals
from tests.oracles import most_misses


def simpson(rng: np.random.Generator, rare: int = 200, others: int = 3800) -> tuple[Scores, Any]:
    """A group whose members stand above its nonmembers, hidden among others who stand around both."""
    sides = np.concatenate([rng.uniform([[0.5], [0.0]], [[1.0], [0.5]], (2, rare)), rng.random((2, others))], axis=1)
    labels = np.repeat(["rare", "most"], [rare, others])
    return Scores.of(*sides), np.concatenate([labels, labels])


def own_limit(data: Scores | Counts, groups: Any, maximum: float = 0.2, **options: Any) -> Judgement:
    return judge(data, [MaxGroupAdvantage(maximum, groups)], **options)


def test_a_group_that_leaks_wholly_fails_where_its_mean_risk_passes_and_the_mean_risk_says_what_it_is():
    data, groups = simpson(np.random.default_rng(0))
    limits = [MaxAdvantage(0.15), MaxGroupRisk(0.3, groups)]
    by_mean, by_own = judge(data, limits), own_limit(data, groups, 0.3)
    both = judge(data, [*limits, MaxGroupAdvantage(0.3, groups)])

    assert by_mean.decision is Decision.PASS
    assert "no group was looked at by itself" in by_mean.limits[1].verdict.reason
    [caution] = [each for each in by_mean.cautions if each.code == "group_exceeds"]
    assert "group rare by themselves" in caution.message
    assert "max_group_advantage" in caution.message
    shown = {each.label: each.advantage.lower > 0.9 for each in by_mean.by_group}
    assert shown == {"most": False, "rare": True}
    assert by_own.decision is both.decision is Decision.FAIL
    assert "group rare is at least 0.9" in by_own.sentence
    outcomes = [(each.label, each.decision.value) for each in by_own.limits[0].groups]
    assert outcomes == [("most", "pass"), ("rare", "fail")]
    assert "group_exceeds" not in {each.code for each in both.cautions}
    assert both.by_group == ()


@each_case("of", ["scores", "counts", "grid"])
def test_scores_and_counts_with_their_groups_are_judged_alike(of) -> None:
    data, groups = simpson(np.random.default_rng(1))
    limit: Any = groups
    if of != "scores":
        counts = by_grid(data) if of == "grid" else finest(data)
        limit = GroupTable.of_scores(data, groups[:4000], groups[4000:], counts.cells)
        data = counts
    result = own_limit(data, limit, 0.3)

    assert result.decision is Decision.FAIL
    assert result.limits[0].estimate.lower > 0.9


def test_ends_are_those_of_each_group_and_the_lower_ones_share_the_error() -> None:
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 4, 4000)
    data = Scores.of(rng.normal(0.6, 1, 2000), rng.normal(size=2000))
    [limit] = own_limit(data, groups, 0.5).limits
    alone = by_group(data, groups[:2000], groups[2000:], confidence=1.0 - 0.05 * 4)  # each at 95%
    together = by_group(data, groups[:2000], groups[2000:])

    for group, above, below in zip(limit.groups, alone, together, strict=True):
        assert (group.estimate.lower, group.estimate.upper) == (below.advantage.lower, above.advantage.upper)
    assert limit.estimate.lower == max(each.estimate.lower for each in limit.groups)
    assert limit.estimate.upper == max(each.estimate.upper for each in limit.groups)


@pytest.mark.slow
def test_a_group_that_leaks_wholly_never_passes() -> None:
    rng, passed, runs = np.random.default_rng(3), 0, 0
    for groups in (2, 10, 50):
        for rare in (30, 100, 500):
            data, labels = simpson(rng, rare, 400 * (groups - 1))
            labels = np.where(labels == "rare", groups, rng.integers(1, groups, len(labels)))
            passed += own_limit(data, labels, 0.3).decision is Decision.PASS
            runs += 1

    assert (passed, runs) == (0, 9)


@pytest.mark.slow
def test_no_group_fails_without_a_leak_and_large_ones_pass() -> None:
    rng, runs, failed, passed = np.random.default_rng(4), 20, 0, 0
    for run in range(runs):
        groups = rng.permutation(np.repeat(np.arange(5), 2 * 1000))
        data = Scores.of(*rng.random((2, 5000)))
        small = own_limit(Scores.of(*rng.random((2, 500))), rng.integers(0, 10, 1000), 0.0, seed=run)
        failed += small.decision is Decision.FAIL
        passed += own_limit(data, groups, seed=run).decision is Decision.PASS

    assert failed <= most_misses(runs, 0.025)
    assert runs - passed <= most_misses(runs, 0.05)


def test_a_group_that_is_too_small_to_pass_is_named_with_the_records_that_it_needs() -> None:
    rng = np.random.default_rng(5)
    groups = np.tile(np.repeat(["large", "small"], [2000, 60]), 2)
    result = own_limit(Scores.of(*rng.random((2, 2060))), groups)
    large, small = result.limits[0].groups

    assert result.decision is Decision.INCONCLUSIVE
    assert (large.decision, large.records_needed) == (Decision.PASS, None)
    assert small.records_needed == records_without_leak(0.2)
    assert "group small may be anything from 0.000" in result.sentence
    assert "so few records seldom keep even where nothing leaks" in result.sentence
    assert "records of its own would settle it, it has 120" in result.sentence
    assert result.records_needed == pytest.approx(small.records_needed * 4120 / 120, abs=1)


@pytest.mark.slow
def test_the_records_that_a_group_is_said_to_need_are_about_enough() -> None:
    rng, enough = np.random.default_rng(6), records_without_leak(0.2)
    n, passed = enough // 2, 0
    for run in range(30):
        limit = own_limit(Scores.of(*rng.random((2, n))), ["a"] * (2 * n), seed=run)
        passed += limit.decision is Decision.PASS

    assert passed >= 30 - most_misses(30, 0.25)
    with_few = own_limit(Scores.of(*rng.random((2, n // 3))), ["a"] * (2 * (n // 3)))
    assert with_few.decision is Decision.INCONCLUSIVE


@each_case("maximum", [0.2, 1.0])
def test_a_group_of_one_side_or_of_next_to_no_records_is_never_passed(maximum) -> None:
    data = Scores.of(*np.random.default_rng(7).random((2, 2000)))
    for name, places, words in (
        ("alone", [0], "its records are of one side only, 1 member and 0 nonmember records"),
        ("outside", range(2000, 2300), "0 member and 300 nonmember records"),
        ("few", range(1995, 2005), "it has 5 member and 5 nonmember records, and 8 of each are needed"),
    ):
        groups = np.array(["most"] * 4000, dtype="U9")
        groups[list(places)] = name
        result = own_limit(data, groups, maximum)

        assert result.decision is Decision.INCONCLUSIVE
        assert f"group {name} cannot be judged: " in result.sentence
        assert words in result.sentence
        assert result.limits[0].estimate.upper == 1.0
        assert (result.records_needed is None) is (name != "few")


def test_no_group_at_all_that_can_be_judged_is_undecided() -> None:
    result = own_limit(Scores.of(range(8), range(10)), [*"abcdefgh", *"klmnopqrst"])

    assert (result.decision, result.records_needed) == (Decision.INCONCLUSIVE, None)
    assert "no group can be judged" in result.limits[0].estimate.interval.guarantee.covers
    assert "; likewise 17 more groups" in result.sentence


@pytest.mark.slow
def test_ten_thousand_groups_of_next_to_no_records_are_answered() -> None:
    rng = np.random.default_rng(8)
    result = own_limit(Scores.of(*rng.random((2, 30_000))), rng.permutation(np.arange(60_000) % 10_000))

    assert (len(result.limits[0].groups), result.decision) == (10_000, Decision.INCONCLUSIVE)


@each_case("label", ["", " ", "a,b\n<b>&\"'", "ü\u202eé", "-1", "=1+1", "x" * 5000])
def test_labels_may_be_any_text(label) -> None:
    rng = np.random.default_rng(9)
    result = own_limit(Scores.of(*rng.random((2, 300))), np.array([label, "b"] * 300))

    assert result.limits[0].groups[0].label in (label, "b")
    assert len(result.sentence) < 1000


@pytest.mark.slow
@each_case("prior", [0.01, 0.35, 0.9])
def test_at_another_prior_a_group_is_held_against_what_guessing_has_there(prior) -> None:
    data, groups = simpson(np.random.default_rng(10), 400 if prior > 0.1 else 4000)
    floor = abs(2 * prior - 1)
    between, below = floor + 0.3 * (1 - floor), floor - 0.001
    failed, under = own_limit(data, groups, between, prior=prior), own_limit(data, groups, below, prior=prior)

    assert failed.decision is Decision.FAIL
    assert failed.limits[0].groups[0].decision is not Decision.FAIL
    assert "limit_below_baseline" in {each.code for each in under.cautions}
    assert under.decision is Decision.FAIL


def test_people_with_several_rows_are_judged_by_whole_people() -> None:
    rng = np.random.default_rng(11)
    person = np.arange(4000) // 10
    scores = rng.normal(size=400)[person] + rng.normal(0, 1e-3, 4000)  # rows of a person are alike
    data, groups = Scores.of(scores[:2000], scores[2000:]), np.where(person % 2, "odd", "even")
    named = own_limit(data, groups, 0.0, cluster=person)

    assert named.decision is Decision.INCONCLUSIVE
    assert named.clusters is not None
    assert own_limit(data, groups, 0.0).decision is Decision.FAIL  # unnamed, alike rows look like a leak
    assert judge(data, [MaxGroupRisk(0.9, groups)], cluster=person).by_group[0].advantage.clusters is not None


@pytest.mark.slow
def test_vectors_pass_only_by_a_learned_score_that_was_accepted() -> None:
    data, groups = Scores.of(*np.random.default_rng(12).normal(size=(2, 800, 2))), ["a", "b"] * 800
    targets = [LearnedTarget((quadratic(),), accept_learned_score=each) for each in (False, True)]
    plain, accepted = (judge(data, [MaxGroupAdvantage(0.9, groups, each)], learned_by=each) for each in targets)

    assert plain.decision is Decision.INCONCLUSIVE
    assert "learned score" in plain.sentence
    assert accepted.decision is Decision.PASS
    assert own_limit(data, groups, 0.9, learned_by=targets[0]).decision is Decision.INCONCLUSIVE
    assert judge(data, [MaxGroupAdvantage(0.9, groups, CellsTarget())]).decision is Decision.PASS


def test_a_target_is_that_of_every_group_and_other_limits_share_the_error() -> None:
    data, groups = simpson(np.random.default_rng(13))
    alone = judge(data, [MaxGroupAdvantage(0.3, groups, ThresholdTarget())]).limits[0]
    beside = judge(data, [MaxGroupAdvantage(0.3, groups, ThresholdTarget()), MaxTpr(0.9, 0.1)]).limits[0]

    assert "accuse on one side of a cut is at most" in alone.groups[0].reason
    assert beside.estimate.upper == alone.estimate.upper
    assert beside.estimate.lower < alone.estimate.lower


TEN = Scores.of(range(10), range(10))
EVEN = Counts.of([20, 30], [30, 20], edges=[0.5])


test_what_is_no_limit_on_groups_is_refused = refusals(
    "data, limit, error, words",
    (TEN, MaxGroupAdvantage(0.2, ["a"] * 19), DimensionMismatch, "19 labels for 20 records"),
    (TEN, MaxGroupAdvantage(0.2, []), DimensionMismatch, "0 labels"),
    (TEN, MaxGroupAdvantage(0.2, [float("nan")] * 20), NotFinite, "NaN"),
    (TEN, MaxGroupAdvantage(0.2, None), DimensionMismatch, None),
    (TEN, MaxGroupAdvantage(1.5, ["a"] * 20), OutOfRange, "between -1 and 1"),
    (TEN, MaxGroupAdvantage(float("nan"), ["a"] * 20), OutOfRange, "finite"),
    (TEN, MaxGroupAdvantage(0.2, GroupTable.of(EVEN, ["a"], [[20, 30]], [[30, 20]])), InputError, "label for each"),
    (EVEN, MaxGroupAdvantage(0.2, ["a"] * 100), InputError, "counts of each group"),
    ask=lambda data, limit: judge(data, [limit]),
)
