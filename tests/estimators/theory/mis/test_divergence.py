"""D_gamma of two laws and the attack that attains it, against every attack there is."""

from itertools import product

import numpy as np
import pytest

from estimators.errors import DimensionMismatch, NotDistribution, NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mis
from estimators.theory.bounds import SUM, distribution
from tests.cases import each_case, refusals


@each_case("seed", range(4))
@each_case("nu, weight", [(0.5, 1.0), (0.3, 1.0), (0.8, 1.0), (0.4, 3.0)])
def test_the_rule_is_the_best_of_all_attacks_and_delta_what_it_gains(seed, nu, weight) -> None:
    member, nonmember = np.random.default_rng(seed).dirichlet(np.ones(5) / 2, size=2)

    def accuracy(rule: np.ndarray) -> float:
        return float(weight * (1 - nu) * member[rule].sum() + nu * nonmember[~rule].sum())

    best = max(accuracy(np.array(rule)) for rule in product((False, True), repeat=5))
    guessing = max(nu, weight * (1 - nu))

    laws = np.column_stack([member, nonmember])
    result = mis.assess_divergence(laws, nonmember_share=nu, member_weight=weight)

    assert result.accuracy == pytest.approx(best, abs=1e-12)
    assert accuracy(result.says_member) == pytest.approx(best, abs=1e-12)
    assert result.baseline == guessing
    assert result.delta == pytest.approx((best - guessing) / min(nu, weight * (1 - nu)), abs=1e-12)
    assert result.true_positive_rate == pytest.approx(member[result.says_member].sum())
    assert result.false_positive_rate == pytest.approx(nonmember[result.says_member].sum())


def test_without_a_share_it_is_the_total_variation_and_the_curve_is_the_divergence_at_each():
    laws = np.random.default_rng(1).dirichlet(np.ones(4), size=2).T
    result = mis.assess_divergence(laws, member_weight=2.0)

    assert result.delta == result.total_variation == pytest.approx(np.abs(laws[:, 0] - laws[:, 1]).sum() / 2)
    assert max(result.deltas) <= result.delta + 1e-12
    assert max(result.deltas) > 0.9 * result.delta  # near nu = 2/3, where gamma is 1
    assert "worst_share" in [each.code for each in result.cautions]

    result = mis.assess_divergence([[0.7, 0.2], [0.2, 0.3], [0.1, 0.5]], nonmember_share=0.5)

    for nu, delta in zip(result.shares, result.deltas, strict=True):
        best = sum(max((1 - nu) * q, nu * p) for q, p in ((0.7, 0.2), (0.2, 0.3), (0.1, 0.5)))
        assert delta == pytest.approx((best - max(nu, 1 - nu)) / min(nu, 1 - nu), abs=1e-12)


def test_the_sentence_names_the_attack_or_that_there_is_none() -> None:
    same = mis.assess_divergence([[0.5, 0.5], [0.5, 0.5]], nonmember_share=0.2)
    third = mis.assess_divergence([[1 / 3, 1 / 3]] * 3)
    two = mis.assess_divergence([[0.3, 0.1], [0.3, 0.1], [0.4, 0.8]], nonmember_share=0.5)

    assert "no attack beats guessing (accuracy 0.8)" in same.sentence
    assert not third.says_member.any()
    assert "says member at outputs 0, 1 and has an accuracy of 0.7" in two.sentence


test_what_are_no_two_laws_is_refused = refusals(
    "outputs, error, words",
    ([[0.5, 0.5, 0.0]], DimensionMismatch, "got 3 numbers a row"),
    ([[0.5, 1.0], [0.4, 0.0]], NotDistribution, "sum to 0.9, need 1, for a member"),
    ([[0.5, 0.6], [0.5, 0.6]], NotDistribution, "sum to 1.2, need 1, for a nonmember"),
    ([[1.5, 0.5], [-0.5, 0.5]], NotDistribution, "negative, for a member"),
    ([["a", "b"]], OutOfRange, "need numbers"),
    ([[np.nan, 1.0]], NotFinite, "not finite"),
    ([], TooFewRecords, "at least one row"),
    field="outputs",
    ask=mis.assess_divergence,
)


def test_rounding_of_many_probabilities_is_scaled_away_and_more_is_refused() -> None:
    many = np.full(10_000, 1e-4)  # sums of n roundings are off by about the root of n

    assert distribution(many * (1.0 + 30 * SUM)).sum() == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(NotDistribution, match=r"sum to 1\.0000003, need 1"):
        distribution(many * (1.0 + 300 * SUM))
