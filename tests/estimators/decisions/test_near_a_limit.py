"""Near a limit the seed decides between fail and undecided: the answer says so, and a clear one does not."""

import numpy as np
import pytest

from estimators import AssessOptions, Scores, advantage, assess
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.riskiest import judge_queries
from estimators.decisions.verdict import Decision, by_a_hair, decision
from tests.cases import each_case
from tests.oracles import gaussian_shift

CODE = "seed_may_decide"
SEEDS = range(6)
NEAR = Scores.of(*gaussian_shift(0.54).draw(np.random.default_rng(1), 1000, 1000))


def gates(scores: Scores, most: float) -> list[Judgement]:
    return [judge(scores, [MaxAdvantage(most)], seed=seed) for seed in SEEDS]


def warned(judgement: Judgement) -> bool:
    return CODE in {each.code for each in judgement.cautions}


def test_where_seeds_decide_otherwise_most_answers_say_that_they_may() -> None:
    """Of 12 samples: chance may show the orders of one less apart than seeds are."""
    says = []
    for sample in range(12):
        near = Scores.of(*gaussian_shift(0.54).draw(np.random.default_rng(sample), 1000, 1000))
        most = float(np.median([advantage(near, seed=seed).lower for seed in SEEDS]))
        found = gates(near, most)
        assert {each.decision for each in found} == {Decision.FAIL, Decision.INCONCLUSIVE}
        said = {note.message for each in found for note in each.cautions if note.code == CODE}
        assert all("another seed may decide otherwise: declare the seed beforehand" in each for each in said)
        says.append(sum(map(warned, found)))

    assert sum(says) >= 4 * len(says), says


@each_case("most, expected", [(0.3, Decision.FAIL), (0.52, Decision.INCONCLUSIVE), (0.9, Decision.PASS)])
def test_a_clear_answer_has_no_such_warning(most: float, expected: Decision) -> None:
    found = gates(NEAR, most)

    assert {each.decision for each in found} == {expected}
    assert not any(map(warned, found))


@pytest.mark.slow
def test_no_decision_is_changed_by_it() -> None:
    for most in np.linspace(0.4, 0.6, 21):
        result = advantage(NEAR)
        found = judge(NEAR, [MaxAdvantage(float(most))])
        assert found.decision is decision(result.lower, result.upper, float(most))
        assert warned(found) is bool(by_a_hair(found.decision, float(most), result))


def test_every_answer_with_a_limit_on_one_score_says_it() -> None:
    result = advantage(NEAR)
    between = (result.lower_by_order[0] + result.lower) / 2.0
    answer = assess(NEAR, AssessOptions(max_advantage=between))
    (limit,) = judge_queries([MaxAdvantage(between)], {"score": NEAR})

    assert answer.verdict.decision is Decision.FAIL
    for each in (answer, limit):
        assert CODE in {caution.code for caution in each.cautions}


def test_rows_in_clusters_and_sides_wholly_apart_do_not_hang_on_the_seed() -> None:
    near = advantage(NEAR, cluster=np.arange(2000) // 4)
    apart = advantage(Scores.of(np.arange(50.0) + 50.0, np.arange(50.0)))

    assert near.lower_by_order == (near.lower, near.lower)
    assert apart.lower_by_order[0] == apart.lower
