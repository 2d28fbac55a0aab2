"""Limits over several queries: one that fails fails all, all must pass, and a query more costs a fail only."""

from unittest.mock import Mock

import numpy as np
import pytest

from estimators import Counts, Decision, Scores, advantage, check_split, compare, control, lone_rows
from estimators.decisions.exposed_members import exposures_of
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.riskiest import (
    OR_DRIFT,
    compare_queries,
    judge_groups,
    judge_queries,
    limits_of,
    most_exposed,
    require_groups,
    verdict_of,
)
from estimators.decisions.tpr_limit import OF_RANGES, MaxTpr
from estimators.decisions.verdict import decision
from estimators.errors import OptionError, OutOfRange
from estimators.privacy.ranges import tpr_at_least, tpr_at_most
from estimators.privacy.roc import operating_point
from estimators.sample.counting import finest
from estimators.statement import at_least, at_most
from tests.cases import refusals
from tests.oracles import most_misses

RNG = np.random.default_rng(0)
NULL = Scores.of(RNG.normal(size=800), RNG.normal(size=800))
LEAK = Scores.of(RNG.normal(1.0, 1.0, 800), RNG.normal(size=800))
TURNED, BOTH = Scores.of(-LEAK.members, -LEAK.nonmembers), {"null": NULL, "leak": LEAK}


def test_queries_of_one_order_share_no_error_and_queries_turned_round_do_where_one_end_is_looked_at() -> None:
    squashed = Scores.of(np.tanh(LEAK.members), np.tanh(LEAK.nonmembers))
    limits = limits_of(0.5, 0.5, 0.01)
    plain = judge_queries(limits, BOTH)
    named, apart = (judge_queries(limits, BOTH | {"third": each}) for each in (squashed, TURNED))
    exposed = exposures_of({"leak": LEAK, "squashed": squashed})

    assert named == plain
    assert apart[0].estimate.lower < plain[0].estimate.lower
    assert exposed["squashed"] == exposed["leak"] == exposures_of({"leak": LEAK})["leak"]


def test_a_pass_of_several_queries_holds_up_to_the_fewest_changes_of_any_and_covers_no_other_query() -> None:
    alone = [judge(each, [MaxAdvantage(0.6)]).limits[0].verdict.holds_up_to_changes for each in BOTH.values()]

    limits = judge_queries(limits_of(0.6), BOTH)
    verdict = verdict_of(limits, None, "model")
    failed = verdict_of(judge_queries(limits_of(0.1), BOTH), None, "model")

    assert limits[0].holds_up_to_changes == min(alone) < max(alone)
    assert f"change their guess at most {min(alone)} times along the score" in verdict.covers[0]
    covered = "It covers the scores that were asked alone: another one of the same model"
    assert verdict.covers[1].startswith(covered)
    assert (failed.covers, judge_queries(limits_of(0.1), BOTH)[0].holds_up_to_changes) == ((), None)


def test_one_query_that_fails_fails_all_and_of_those_that_pass_the_nearest_is_named_or_what_settles_all() -> None:
    threshold = advantage(LEAK).value + 0.01
    (failed,), (passed,), (open_yet,) = (judge_queries(limits_of(limit), BOTH) for limit in (0.1, 0.9, threshold))
    alone = judge(LEAK, [MaxAdvantage(threshold)]).limits[0].verdict.records_needed

    assert (failed.decision, failed.query, failed.name) == (Decision.FAIL, "leak", "advantage")
    assert failed.reason.startswith("leak: with 95% confidence the advantage is at least")
    assert (passed.decision, passed.query) == (Decision.PASS, "leak")
    assert passed.reason.startswith("all 2 queries keep within the limit; leak, which comes nearest: ")
    assert (open_yet.decision, open_yet.records_needed) == (Decision.INCONCLUSIVE, alone)


def test_upper_ends_need_no_correction_and_lower_ends_share_the_error() -> None:
    fine, shared = finest(LEAK), 1.0 - 0.05 / 4.0  # two queries and two limits
    of_advantage, of_tpr = judge_queries(limits_of(0.9, 0.5, 0.01), BOTH)
    (beside,) = judge_queries(limits_of(0.9), {"leak": LEAK}, further=1)  # and limits judged elsewhere

    assert of_advantage.estimate.upper == beside.estimate.upper == advantage(fine).upper
    assert of_advantage.estimate.lower == advantage(fine, confidence=shared).lower
    of_thresholds = 1.0 - (1.0 - OF_RANGES) * (1.0 - shared)
    assert of_tpr.threshold.lower == operating_point(fine, 0.01, of_thresholds).estimate.lower
    assert of_tpr.threshold.upper == operating_point(fine, 0.01).estimate.upper
    assert of_tpr.estimate.lower == max(of_tpr.threshold.lower, tpr_at_least(fine, 0.01, OF_RANGES * 0.05 / 8.0))
    assert of_tpr.estimate.upper == max(of_tpr.threshold.upper, tpr_at_most(fine, 0.01, 0.025))
    assert beside.estimate.lower == advantage(fine, confidence=1.0 - 0.05 / 2.0).lower


def test_a_true_positive_rate_is_that_of_high_scores() -> None:
    (of_leak,), (of_turned,) = (judge_queries(limits_of(None, 0.9, 0.1), {"a": s}) for s in (LEAK, TURNED))
    either = judge(TURNED, [MaxTpr(0.9, 0.1)]).limits[0]

    assert of_leak.threshold.value > 0.3
    assert of_turned.threshold.upper < 0.1
    assert either.threshold.upper == pytest.approx(of_leak.threshold.upper)
    assert of_turned.estimate.upper == pytest.approx(of_leak.estimate.upper, abs=0.02)  # ranges are anywhere
    with pytest.raises(OptionError):
        judge(LEAK, [MaxTpr(0.9, 0.1, "sideways")])


def test_one_query_is_compared_without_correction_and_several_as_ever() -> None:
    alone, several = compare_queries({"leak": LEAK}), compare_queries(BOTH)

    assert alone.maximum == advantage(LEAK).estimate
    assert [place.name for place in alone.ranking] == ["leak"]
    assert several.maximum == compare(BOTH).maximum
    with pytest.raises(OptionError, match="got none"):
        compare_queries({})


def test_the_query_that_exposes_members_is_named() -> None:
    bulk = RNG.normal(size=(2, 1000))
    exposed = Scores.of(np.append(bulk[0], np.linspace(8, 9, 30)), bulk[1])
    name, worst = most_exposed(exposures_of(BOTH | {"exposed": exposed}))

    assert name == "exposed"
    assert worst.alarm
    assert worst.confidence == pytest.approx(1.0 - 0.05 / 3.0)


@pytest.mark.slow
def test_a_fail_is_drift_by_the_columns_or_by_a_control_score() -> None:
    rng = np.random.default_rng(1)
    limits = judge_queries(limits_of(0.1), {"leak": LEAK})
    apart = control(rng.normal(1.0, 1.0, 400), rng.normal(size=400))
    alike = control(*rng.normal(size=(2, 400)))
    differs = check_split({"age": rng.normal(9.0, 1.0, 400)}, {"age": rng.normal(size=400)})

    scores = (None, alike, apart)
    words = [[verdict_of(limits, split, "model", each).word for each in scores] for split in (None, differs)]
    assert words == [["fail", "fail", OR_DRIFT], [OR_DRIFT, OR_DRIFT, OR_DRIFT]]
    assert f"at most {at_most(alike.advantage.upper)}" in verdict_of(limits, differs, "model", alike).sentence
    assert f"at least {at_least(apart.advantage.lower)}" in verdict_of(limits, None, "model", apart).sentence
    passes = judge_queries(limits_of(0.9), {"leak": LEAK})
    assert verdict_of(passes, differs, "model", apart).word == "pass"


@pytest.mark.slow
def test_a_pass_beside_a_drift_stands_where_no_leak_beyond_the_limit_may_hide_in_it() -> None:
    """A quarter of members has scores that a fifth of the hold-out has, too, and of a fair hold-out nobody.

    Beside a fair one, that quarter is exposed, and an attacker who is wrong of 3% finds more than 26.5%.
    """
    members, fair, drifted = [0.735, 0.015, 0.25], [0.985, 0.015, 0.0], [0.785, 0.015, 0.2]
    gap, n, runs = 0.2, 5000, 40
    limits = limits_of(max_tpr=0.2, at_fpr=0.03, max_exposed=0.15)

    def sample(seed: int, *laws: list[float]) -> dict[str, Scores]:
        rng = np.random.default_rng(seed)
        return {"score": Scores.of(*(rng.choice(3, n, p=law) + rng.random(n) for law in laws))}

    misses = np.zeros(2, int)
    for seed in range(runs):
        beside = judge_queries(limits, sample(seed, members, drifted), drift=gap)
        misses += [(each.beside_drift or 0.0) < truth for each, truth in zip(beside, (0.265, 0.25), strict=True)]
    assert (misses <= most_misses(runs)).all()

    for laws, drift, word in (((members, drifted), gap, "not applicable"), ((fair, fair), 0.01, "pass")):
        some = sample(0, *laws)
        split = Mock(differs=True, interval=Mock(lower=drift))
        for limit in limits:
            alone = judge_queries([limit], some, drift=drift)
            assert alone[0].decision is Decision.PASS
            assert verdict_of(alone, split, "model").word == word
            assert verdict_of(judge_queries([limit], some), split, "model").word == "not applicable"  # not told of it
            assert verdict_of(judge_queries([limit], some), None, "model").word == "pass"


@pytest.mark.slow
def test_all_of_a_drift_may_lie_in_one_group() -> None:
    """Two in five members of a small group score 1, and so do those of its hold-out; of a fair one nobody does."""
    n, old = 5000, 1500
    groups = np.where(np.arange(n) < old, "old", "young")
    rng = np.random.default_rng(0)
    members, nonmembers = (np.where(groups == "old", rng.random(n) < 0.4, 0.0) + rng.random(n) for _ in "ab")
    scores, labels = {"score": Scores.of(members, nonmembers)}, {"score": np.append(groups, groups)}

    def verdict(most: float, drift: float) -> tuple[str, float | None]:
        limit = judge_groups(most, scores, labels, drift=drift)
        assert limit.decision is Decision.PASS
        split = Mock(differs=True, interval=Mock(lower=drift))
        return verdict_of([limit], split, "model").word, limit.beside_drift

    word, most = verdict(0.3, 0.3 * 0.4)  # the distance of the hold-out's law and a fair one's
    assert (word, (most or 0.0) > 0.4) == ("not applicable", True)
    assert verdict(0.3, 0.01)[0] == "pass"
    assert verdict(0.9, 0.4) == ("not applicable", 1.0)


def test_counts_are_judged_as_the_scores_that_were_counted() -> None:
    counted = {name: finest(scores) for name, scores in BOTH.items()}

    for limit in (0.05, 0.38, 0.9):
        assert judge_queries(limits_of(limit), counted) == judge_queries(limits_of(limit), BOTH)


def test_the_advantage_is_judged_by_whole_clusters_and_every_other_limit_by_lone_rows() -> None:
    sides = [np.repeat(RNG.normal(shift, 1.0, 30), 25) + RNG.normal(0.0, 0.001, 750) for shift in (0.7, 0.0)]
    people = Scores.of(*sides)
    labels = np.repeat(np.arange(60), 25)
    queries = {"one": people, "same": people}

    [alike] = judge_queries(limits_of(0.1), queries)
    of_advantage, of_tpr = judge_queries(limits_of(0.1, 0.5, 0.1), queries, cluster=labels)

    whole = advantage(people, confidence=1.0 - 0.05 / 4.0, cluster=labels)
    assert (alike.decision, of_advantage.decision) == (Decision.FAIL, Decision.INCONCLUSIVE)
    assert of_advantage.estimate.lower == whole.lower
    assert of_tpr.threshold.upper == operating_point(finest(lone_rows(people, labels)), 0.1).estimate.upper


@pytest.mark.slow
@pytest.mark.parametrize("cluster", [None, np.repeat(np.arange(400), 4)])
def test_the_decision_is_what_the_largest_of_a_comparison_says(cluster) -> None:
    queries = BOTH | {"half": Scores.of(LEAK.members / 2.0, LEAK.nonmembers)}
    largest = compare(queries, cluster=cluster).maximum.interval

    for limit in np.linspace(0.0, 0.9, 19):
        [judged] = judge_queries(limits_of(float(limit)), queries, cluster=cluster)
        assert judged.decision is decision(largest.lower, largest.upper, float(limit))


@pytest.mark.slow
def test_a_limit_that_all_queries_just_keep_is_failed_no_oftener_than_half_of_the_rest() -> None:
    rng, cells, runs = np.random.default_rng(11), [0.0], 50
    keep = np.array([0.4, 0.6])  # two cells, in which members are so much likelier: the advantage is 0.2
    limits = limits_of(0.2)

    fails = passes = 0
    for run in range(runs):
        sides = ((rng.multinomial(300, keep), rng.multinomial(300, keep[::-1])) for _ in range(3))
        queries = {str(place): Counts.of(*each, edges=cells) for place, each in enumerate(sides)}
        [judged] = judge_queries(limits, queries, seed=run)
        fails += judged.decision is Decision.FAIL
        passes += judged.decision is Decision.PASS

    assert max(fails, passes) <= most_misses(runs)


def test_a_group_that_one_query_betrays_fails_and_all_queries_share_the_error() -> None:
    rng = np.random.default_rng(21)
    group = np.repeat(["most", "rare"], [1800, 200])
    null, leak = rng.random((2, 2000)), rng.random((2, 2000))
    leak[0][1800:], leak[1][1800:] = rng.uniform(0.5, 1, 200), rng.uniform(0, 0.5, 200)
    queries = {"one": Scores.of(*null), "other": Scores.of(*leak)}
    labels = dict.fromkeys(queries, np.tile(group, 2))
    failed = judge_groups(0.4, queries, labels)
    alone = judge_groups(0.4, {"other": queries["other"]}, labels)
    passed = judge_groups(0.4, {"one": queries["one"]}, labels)

    assert (failed.decision.value, failed.query, failed.name) == ("fail", "other", "group_advantage")
    assert "other: with 95% confidence the advantage within group rare is at least" in failed.reason
    assert failed.estimate.lower < alone.estimate.lower
    assert failed.estimate.upper == alone.estimate.upper
    assert passed.decision.value == "pass"


test_a_limit_out_of_its_range_or_on_groups_without_them_is_refused = refusals(
    "ask, error, words",
    *((lambda o=o: limits_of(**o), OutOfRange, None) for o in ({"max_advantage": 1.5}, {"max_tpr": -0.1})),
    *((lambda o=o: limits_of(**o), OutOfRange, None) for o in ({"at_fpr": 0.0}, {"max_advantage": "much"})),
    (lambda: require_groups(0.2, grouped=False), OptionError, "needs groups"),
    (lambda: require_groups(1.2, grouped=True), OutOfRange, "-1 to 1"),
)


def test_no_limit_is_no_limit_and_one_on_groups_is_there_beside_them() -> None:
    assert limits_of() == ()
    require_groups(None, grouped=False)
    require_groups(0.2, grouped=True)
