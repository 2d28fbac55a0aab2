from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

from estimators.errors import DimensionMismatch, NotDistribution, NotFinite, OutOfRange, TooFewRecords
from estimators.theory.mis.divergence import divergence, security_at
from estimators.theory.weights import accuracy, gamma_of, guess_accuracy
from tests.estimators.theory.mis import worlds

GAMMAS = (0.1, 0.5, 0.9, 1.0, 1.3, 2.0, 7.0)


def either(data):
    return {("largest", max(data)): 0.7, ("sum", sum(data)): 0.3}


def pairs(rng_seed: int = 0):
    rng = np.random.default_rng(rng_seed)
    return [
        (rng.dirichlet(np.ones(5) * a), rng.dirichlet(np.ones(5) * a))
        for a in (0.2, 1.0, 5.0)
        for _ in range(4)
    ]


@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_is_equations_3_and_4_with_the_supremum_over_every_set(gamma):
    for p, q in pairs():
        sets = chain.from_iterable(combinations(range(5), k) for k in range(6))
        raw = max(gamma * p[list(b)].sum() - q[list(b)].sum() for b in sets) / gamma
        paper = max(1.0, gamma) * (raw - max(1.0 - 1.0 / gamma, 0.0))

        assert divergence(p, q, gamma) == pytest.approx(paper, abs=1e-12)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_is_the_f_divergence_of_proposition_5(gamma):
    for p, q in pairs(1):
        f = 0.5 * max(1.0, gamma) * (np.abs(p - q / gamma) - q * abs(1.0 - 1.0 / gamma))

        assert divergence(p, q, gamma) == pytest.approx(f.sum(), abs=1e-12)


def test_it_is_total_variation_at_gamma_1():
    for p, q in pairs(2):
        assert divergence(p, q) == pytest.approx(np.abs(p - q).sum() / 2.0)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_never_exceeds_total_variation_so_the_papers_factor_max_1_gamma_is_not_needed(gamma):
    for p, q in pairs(3):
        assert divergence(p, q, gamma) <= divergence(p, q) + 1e-12


@pytest.mark.parametrize("gamma", GAMMAS)
def test_it_is_0_for_equal_and_1_for_disjoint_distributions(gamma):
    p = np.array([0.2, 0.8, 0.0])

    assert divergence(p, p, gamma) == 0.0
    assert divergence(p, [0.0, 0.0, 1.0], gamma) == pytest.approx(1.0)


@pytest.mark.parametrize(("nu", "weight"), [(0.5, 1.0), (0.2, 1.0), (0.9, 3.0), (0.3, 0.5)])
def test_theorem_6_holds_for_the_best_of_all_attacks(nu, weight):
    p = np.array([0.5, 0.3, 0.2])
    nonmember, member = worlds.joint(p, 3, either)
    delta = divergence(list(nonmember.values()), [member[at] for at in nonmember], gamma_of(nu, weight))

    assert accuracy(delta, nu, weight) == pytest.approx(worlds.best_accuracy(nonmember, member, nu, weight))
    assert worlds.security(p, 3, either, nu, weight) == pytest.approx(1.0 - delta)


def test_nu_is_the_share_of_nonmembers_and_lambda_weighs_true_positives():
    assert gamma_of(0.8) == pytest.approx(4.0)
    assert gamma_of(0.8, 4.0) == pytest.approx(1.0)
    assert guess_accuracy(0.8, 4.0) == pytest.approx(0.8)
    assert guess_accuracy(0.2, 4.0) == pytest.approx(3.2)


@pytest.mark.parametrize("gamma", GAMMAS)
def test_one_attack_leaves_at_least_the_security_there_is(gamma):
    for p, q in pairs(4):
        say = np.array([True, False, True, True, False])

        assert security_at(q[say].sum(), p[say].sum(), gamma) >= 1.0 - divergence(p, q, gamma) - 1e-12


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ([0.5, 0.4], NotDistribution),
        ([1.5, -0.5], NotDistribution),
        ([np.nan, 1.0], NotFinite),
        ([], TooFewRecords),
        ([1.0], DimensionMismatch),
    ],
)
def test_what_is_no_distribution_is_refused(given, error):
    with pytest.raises(error):
        divergence([0.5, 0.5], given)


@pytest.mark.parametrize("bad", [0.0, 1.0, float("nan")])
def test_a_share_of_nonmembers_that_leaves_no_side_is_refused(bad):
    with pytest.raises(OutOfRange):
        gamma_of(bad)
