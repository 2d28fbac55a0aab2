"""A claim beside the records: worlds at exactly what they claim are rarely contradicted, worlds beyond it are."""

import numpy as np
import pytest

from estimators import Counts, Scores, advantage
from estimators.errors import OptionError, OutOfRange
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.theory.agreement import agreement
from estimators.theory.dp import GaussianDp, advantage_ceiling
from tests.cases import each_case
from tests.oracles import answers

COUNTS = Counts.of([120, 300, 580], [310, 420, 270], edges=[0.4, 0.7])


def shifted(rng, mu, n_members, n_nonmembers):
    return rng.normal(mu, 1.0, n_members), rng.normal(0.0, 1.0, n_nonmembers)


def contradicted(draw, size, claim, sides, prior, runs):
    """How many of so many samples contradict the claim."""
    rng = np.random.default_rng(17)
    samples = (Scores.of(*draw(rng, size, *sides)) for _ in range(runs))
    results = (agreement(each, *claim, prior, rates=(0.01, 0.1)) for each in samples)
    return sum(each.decision == "contradicted" for each in results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "prior", "sides"),
    [(0.0, 0.5, (100, 900)), (1.0, 0.5, (100, 100)), (1.0, 0.3, (100, 900)), (3.0, 0.5, (100, 100))],
)
def test_randomised_response_at_its_claim_is_contradicted_no_more_often_than_stated(epsilon, prior, sides):
    # more of them: benchmarks/agreement.py
    assert contradicted(answers, epsilon, (epsilon, 0.0), sides, prior, 15) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("delta", "runs"), [(1e-5, 15), (0.1, 15)])
def test_a_gaussian_score_at_its_claim_is_contradicted_no_more_often_than_stated(delta, runs):
    assert contradicted(shifted, 1.0, GaussianDp(1.0).pair(delta), (100, 100), 0.4, runs) <= 0.05 * runs


@pytest.mark.parametrize("claim", [(0.5, 0.0), (0.5, 1e-3)])
def test_a_score_beyond_its_claim_is_contradicted(claim):
    assert contradicted(answers, 1.5, claim, (600, 600), 0.5, 3) == 3


def struck(rng, probability, share, size):
    """(0, probability x share)-DP of a record's coin: some runs print the membership of a share of the records."""
    hit = share if rng.random() < probability else 0.0
    members, nonmembers = rng.random((2, size))
    above, below = rng.random(size) < hit, rng.random(size) < hit
    return Scores.of(np.where(above, 1.0 + members, members), np.where(below, nonmembers - 1.0, nonmembers))


@pytest.mark.slow
@each_case("probability, share, size, runs", [(0.1, 1.0, 40, 60), (0.5, 0.2, 1500, 6)])
def test_a_run_that_spends_delta_on_many_records_does_not_contradict_it(probability, share, size, runs):
    rng, claim = np.random.default_rng(5), (0.0, 0.1)
    samples = (struck(rng, probability, share, size) for _ in range(runs))
    result = [agreement(each, *claim, rates=(0.1,), inclusion="independent") for each in samples]

    assert np.mean([each.decision == "contradicted" for each in result]) <= 0.05
    beyond = [each.rows[0].estimate.lower > each.rows[0].ceiling for each in result]
    assert np.mean(beyond) > 0.05  # had it to hold in each run


def test_what_one_run_may_exceed_is_what_markov_s_inequality_leaves():
    rows = {row.quantity: row for row in agreement(COUNTS, 0.5, 1e-4, rates=(0.1,), direction="high").rows}
    delta = 1e-4 / (0.05 / 3.0 / 2.0)  # of one run
    assert rows["advantage"].in_one_run == pytest.approx(advantage_ceiling(0.5, delta), abs=1e-12)
    assert rows["tpr_at_fpr_0.1_high"].in_one_run == pytest.approx(delta + 0.1 * np.exp(0.5), abs=1e-12)
    assert rows["epsilon"].in_one_run == rows["epsilon"].ceiling == 0.5
    assert "affect many records" in rows["advantage"].estimate.interval.guarantee.assumes
    pure = agreement(COUNTS, 0.5, rates=(0.1,), direction="high")
    assert all(row.in_one_run == row.ceiling for row in pure.rows)


def test_epsilon_says_that_members_of_a_fixed_number_have_no_coins_of_their_own():
    fixed, coins = (agreement(COUNTS, 0.2, inclusion=i) for i in ("fixed_number", "independent"))

    assert "independent_inclusion" in {caution.code for caution in fixed.cautions}
    assert "independent_inclusion" not in {caution.code for caution in coins.cautions}
    assert "the number of members is fixed" in fixed.rows[-1].estimate.interval.guarantee.assumes
    assert "scores are independent draws given who is a member" in fixed.sentence


def test_rows_are_what_theory_allows_beside_what_was_measured():
    result = agreement(COUNTS, 0.2, prior=0.4, rates=(0.1,), direction="high")

    rows = {row.quantity: row for row in result.rows}
    each = 1.0 - 0.05 / 3.0  # one advantage, one rate, one epsilon
    measured = advantage(COUNTS, 0.4, confidence=each)
    assert rows["advantage"].ceiling == pytest.approx(max(0.2, np.tanh(0.1)))
    ends = rows["advantage"].estimate
    assert (ends.lower, ends.upper) == (measured.lower, measured.upper)
    assert rows["mip_eta"].estimate.upper == pytest.approx((measured.upper - 0.2) / 2)
    assert rows["mis_delta"].estimate.upper == pytest.approx((measured.upper - 0.2) / 0.8)
    assert rows["tpr_at_fpr_0.1_high"].ceiling == pytest.approx(0.1 * np.exp(0.2))
    assert rows["epsilon"].ceiling == 0.2
    assert rows["epsilon"].estimate.lower == epsilon_lower_bound(COUNTS, each, direction="high").value
    assert rows["epsilon"].agrees == "no"
    assert result.decision == "contradicted"
    assert "is contradicted by" in result.sentence
    assert "aseline" in result.sentence


def test_a_generous_claim_agrees_and_is_not_proven():
    result = agreement(COUNTS, 3.0, 0.1)

    agrees = {row.quantity: row.agrees for row in result.rows}
    assert result.decision == "not contradicted"
    assert "at delta 1.2345649e-05" in agreement(COUNTS, 3.0, 1.2345649e-5).sentence
    assert agrees["advantage"] == agrees["mip_eta"] == agrees["mis_delta"] == agrees["epsilon"] == "yes"
    assert "does not prove it" in result.sentence


def test_a_claim_about_adding_or_removing_allows_more():
    replaced, add_remove = (agreement(COUNTS, 0.4, adjacency=a) for a in ("replace", "add_remove"))

    said = [[row.agrees for row in each.rows].count("no") for each in (replaced, add_remove)]
    assert said[0] > said[1]
    assert add_remove.rows[0].ceiling == pytest.approx(1.0 - np.exp(-0.4))
    assert add_remove.rows[-1].ceiling == pytest.approx(0.8)
    coins = agreement(COUNTS, 0.4, adjacency="add_remove", inclusion="independent")
    assert coins.rows[0].ceiling == replaced.rows[0].ceiling


def test_a_claim_that_is_none_about_replacing_has_no_epsilon_row():
    result = agreement(COUNTS, 8.0, 0.01, adjacency="add_remove")

    assert "epsilon" not in {row.quantity for row in result.rows}
    assert "no_epsilon" in {caution.code for caution in result.cautions}


@pytest.mark.slow
def test_rates_and_epsilon_of_a_vector_are_those_of_its_learned_score():
    rng = np.random.default_rng(2)
    vectors = Scores.of(rng.normal(1.5, 1, (100, 2)), rng.normal(0, 1, (100, 2)))

    result = agreement(vectors, 0.1, rates=[0.1], direction="high")

    rows = [row.quantity for row in result.rows]
    assert rows == ["advantage", "mip_eta", "mis_delta", "tpr_at_fpr_0.1_high", "epsilon"]
    assert result.decision == "contradicted"
    assert "learned_score" in {each.code for each in result.cautions}


def test_categories_have_no_rates():
    result = agreement(Counts.of([210, 60, 30], [100, 100, 100]), 0.1)

    assert [row.quantity for row in result.rows] == ["advantage", "mip_eta", "mis_delta", "epsilon"]


def test_what_cannot_be_claimed_is_refused():
    with pytest.raises(OutOfRange, match="epsilon"):
        agreement(COUNTS, -1.0)
    with pytest.raises(OutOfRange, match="prior"):
        agreement(COUNTS, 1.0, prior=0.0)
    with pytest.raises(OptionError, match="training sets of one size"):
        agreement(COUNTS, 1.0, adjacency="replace", inclusion="independent")


def test_low_scores_are_held_against_the_claim_as_high_ones_are():
    rng = np.random.default_rng(8)
    members, nonmembers = rng.normal(1.5, 1, 400), rng.normal(0, 1, 400)

    high = agreement(Scores.of(members, nonmembers), 0.1, direction="high", rates=(0.1,))
    low = agreement(Scores.of(-members, -nonmembers), 0.1, direction="low", rates=(0.1,))
    either = agreement(Scores.of(-members, -nonmembers), 0.1, rates=(0.1,))

    as_high, as_low = ({row.quantity: row for row in each.rows} for each in (high, low))
    assert as_low["tpr_at_fpr_0.1_low"].estimate == as_high["tpr_at_fpr_0.1_high"].estimate
    assert as_low["tpr_at_fpr_0.1_low"].agrees == "no"
    result = {row.quantity: row.agrees for row in either.rows if row.quantity.startswith("tpr")}
    assert result == {"tpr_at_fpr_0.1_high": "yes", "tpr_at_fpr_0.1_low": "no"}
