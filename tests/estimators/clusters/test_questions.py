"""``cluster`` in the questions beside the advantage: none is wrong more often than it says; few rows are enough."""

from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from estimators import (
    Scores,
    ThresholdRule,
    TopRule,
    advantage,
    advantage_series,
    attack_advantage,
    by_group,
    individual_risk,
    mean_risk,
    one_per_unit,
)
from estimators.clusters.design import Clusters
from estimators.clusters.ends import RuleEnds
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage, MaxGroupRisk
from estimators.decisions.tpr_limit import MaxTpr
from estimators.sample.counting import finest
from tests.oracles import most_misses


def people(
    seed: int, number: int, rows: int, alike: float, shift: float = 0.0
) -> tuple[Scores, np.ndarray[Any, Any], np.random.Generator]:
    """People with rows that are alike, every second one a member."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(number), rows)
    score = np.sqrt(alike) * rng.normal(size=number)[person]
    score += np.sqrt(1.0 - alike) * rng.normal(size=len(person))
    member = person % 2 == 0
    scores = Scores.of(score[member] + shift, score[~member])
    return scores, np.r_[person[member], person[~member]], rng


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "alike"), [(0.0, 0.95), (0.8, 0.5)])
def test_no_statement_is_wrong_more_often_than_it_says(shift, alike) -> None:
    """Of 60 people with 12 rows each; without their names the ends of a fixed rule are wrong in many of the samples."""
    runs, some, truth, cut = 20, 8, 2.0 * ndtr(shift / 2.0) - 1.0, 1.0
    own = float(ndtr(shift - cut) - ndtr(-cut))
    wrong, fixed_wrong, gate, unnamed = dict.fromkeys(("series", "group", "placed"), 0), [0, 0], 0, 0
    for seed in range(runs):
        scores, person, rng = people(seed, 60, 12, alike, shift)
        fixed = attack_advantage(scores, ThresholdRule(cut), metrics=[], cluster=person)
        fixed_wrong[0] += not fixed.lower <= own <= fixed.upper
        fixed_wrong[1] += not fixed.tpr.lower <= ndtr(shift - cut) <= fixed.tpr.upper
        by_rows = attack_advantage(scores, ThresholdRule(cut), metrics=[])
        unnamed += not by_rows.lower <= own <= by_rows.upper
        if seed >= some:  # which take longer
            continue
        group = rng.integers(0, 2, len(person))
        sides = group[: scores.n_members], group[scores.n_members :]
        limits = judge(scores, [MaxAdvantage(truth), MaxTpr(ndtr(shift - 1.0), ndtr(-1.0))], cluster=person)
        gate += limits.decision.value == "fail"
        steps = advantage_series({"a": scores, "b": scores}, cluster=person).steps
        wrong["series"] += any(not s.estimate.lower <= truth <= s.estimate.upper for s in steps)
        alone = [each.advantage for each in by_group(scores, *sides, cluster=person)]
        wrong["group"] += any(not each.lower <= truth <= each.upper for each in alone if each is not None)
        placed = attack_advantage(scores, TopRule(), metrics=[], cluster=person)
        realised = float(ndtr(shift - (placed.cut or 0.0)) - ndtr(-(placed.cut or 0.0)))
        wrong["placed"] += not placed.lower <= realised <= placed.upper

    assert gate <= most_misses(some, 0.025)
    assert max(wrong.values()) <= most_misses(some, 0.05)
    assert max(fixed_wrong) <= most_misses(runs, 0.05) < unnamed


@pytest.mark.slow
def test_the_risk_of_all_records_at_once_holds() -> None:
    runs, misses, unnamed = 40, 0, 0
    for seed in range(runs):
        scores, person, _ = people(seed, 100, 10, 0.9, 0.8)
        for cluster in (person, None):
            risks = individual_risk(scores, cluster=cluster)
            cuts = np.r_[-np.inf, risks.cells.counts.cells.cuts, np.inf]
            member, nonmember = np.diff(ndtr(cuts - 0.8)), np.diff(ndtr(cuts))
            truth = np.abs((member - nonmember) / (member + nonmember))[risks.cell]
            wrong = ((truth < risks.simultaneous_lower) | (truth > risks.simultaneous_upper)).any()
            misses += wrong and cluster is not None
            unnamed += wrong and cluster is None
    assert misses <= most_misses(runs, 0.05) < unnamed


@pytest.mark.parametrize("number", [20, 60])
def test_the_ends_of_a_fixed_rule_are_those_of_its_opposite_turned(number) -> None:
    scores, person, _ = people(0, number, 8, 0.5, 1.0)
    clusters = Clusters.of(person, scores, 0.5)
    fine = finest(scores)
    at = np.concatenate([fine.cells.locate(side) for side in (scores.members, scores.nonmembers)])
    right = np.r_[scores.members > 0.5, scores.nonmembers <= 0.5]
    one, other = (RuleEnds.of(clusters, at, fine, each, 0) for each in (right, ~right))
    assert one.finite_sample == (number < 40)
    low, high = one.advantage(0.025)
    assert other.advantage(0.025) == (-high, -low)
    value = float(np.mean(scores.members > 0.5) - np.mean(scores.nonmembers > 0.5))
    assert -1.0 <= low < value < high <= 1.0
    assert one.advantage(0.001)[0] < low


def test_copies_say_no_more_of_a_fixed_rule_than_one_row_of_each() -> None:
    """The variance between clusters is that of one row each: 2 x 0.69 x 0.31 / 100 of the two rates' difference."""
    scores, person, _ = people(0, 200, 5, 1.0, 1.0)
    sides = (scores.members, person[:500]), (scores.nonmembers, person[500:])
    single = Scores.of(*(side[one_per_unit(side, of)] for side, of in sides))
    by_rows = attack_advantage(single, ThresholdRule(0.5), metrics=[])
    by_clusters = attack_advantage(scores, ThresholdRule(0.5), metrics=[], cluster=person)
    assert by_clusters.value == pytest.approx(by_rows.value)
    width = 2.0 * 1.96 * np.sqrt(2.0 * ndtr(0.5) * ndtr(-0.5) / 100)
    assert width < by_clusters.estimate.interval.width < 1.1 * width
    assert by_clusters.estimate.interval.width < by_rows.estimate.interval.width  # which is exact


def test_groups_with_too_few_clusters_say_nothing_and_take_no_part_of_the_error() -> None:
    scores, person, _ = people(0, 86, 12, 0.5)
    group = np.where(person < 6, "few", "many")  # 36 rows a side, of six people
    sides = group[: scores.n_members], group[scores.n_members :]
    few, many = by_group(scores, *sides, cluster=person)
    [said] = few.cautions
    assert (few.label, few.advantage, said.code) == ("few", None, "group_too_small")
    assert "too few clusters" in said.message
    alone = person >= 6
    rest = Scores.of(scores.members[alone[: scores.n_members]], scores.nonmembers[alone[scores.n_members :]])
    assert many.advantage.lower == advantage(rest, cluster=person[alone]).lower
    assert many.advantage.clusters.numbers == (80,)
    plain_few, _ = by_group(scores, *sides)
    assert plain_few.advantage is not None


def test_the_mean_risk_is_the_advantage_of_all_rows_and_a_gate_of_groups_states_that_of_a_group() -> None:
    scores, person, _ = people(0, 80, 6, 0.7, 1.0)
    risks = individual_risk(scores, cluster=person)
    mean = mean_risk(scores, risks.cells, cluster=person)
    assert mean.advantage.lower == advantage(scores, cluster=person).lower
    assert risks.size == scores.n_members + scores.n_nonmembers
    assert not np.ma.getmaskarray(risks.risk).any()
    assert risks.cells.counts.n_records == 80

    scores, person, rng = people(0, 80, 6, 0.7, 2.0)
    group = rng.integers(0, 3, len(person))
    judged = judge(scores, [MaxGroupRisk(0.9, group)], cluster=person)
    risks = individual_risk(scores, groups=group, cluster=person)
    assert (judged.limits[0].estimate.upper, judged.clusters.numbers) == (risks.groups.upper.max(), (80,))
    assert "lone_rows" in {each.code for each in judged.cautions}
