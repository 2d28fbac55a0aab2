"""What the paper prints and what holds instead, each with a number (docs/methods.md has the table)."""

from math import exp, sqrt

import numpy as np
import pytest
from scipy.special import xlogy
from scipy.stats import binom

from estimators.theory.mis.binomials import excess
from estimators.theory.mis.security import LEAST_SHARE, bracket, divergence, worst_delta
from tests.cases import each_case
from tests.estimators.theory.mis import worlds


def maximum(data: tuple[int, ...]) -> dict:
    return {max(data): 1.0}


@each_case("p", [0.2, 0.5, 0.9])
def test_lemma_22_delta_of_the_maximum_is_of_the_order_of_1_minus_p_to_the_n_and_not_smaller(p):
    law = np.array([1.0 - p, p])
    for n in (2, 5, 9):
        delta = 1.0 - worlds.security(law, n, maximum, 0.5, 1.0)

        assert delta == pytest.approx(2.0 * p * (1.0 - p) ** n)  # the paper: o((1-p)^n)
    n, gamma = 9, 1.1
    delta = 1.0 - worlds.security(law, n, maximum, gamma / (1.0 + gamma), 1.0)

    if p > 0.4:  # else (1-p)^n is not small yet
        assert delta == pytest.approx((1.0 - p) ** n * max(1.0 - gamma * (1.0 - p), 0.0))


@each_case("gamma", [1.2, 3.0])
def test_equation_8_and_theorem_13_do_not_need_max_1_gamma(gamma):
    rng = np.random.default_rng(0)
    for _ in range(20):
        theta_and_record = rng.dirichlet(np.ones(12)).reshape(4, 3)
        product = np.outer(theta_and_record.sum(axis=1), theta_and_record.sum(axis=0))
        information = float((xlogy(theta_and_record, theta_and_record / product)).sum())
        delta = divergence(product.ravel(), theta_and_record.ravel(), gamma)

        assert delta <= sqrt(information / 2.0)  # ours
        assert sqrt(information / 2.0) < gamma * sqrt(information / 2.0)  # the paper's is looser


def test_lemma_29_the_remainder_away_from_gamma_1_is_not_o_of_exp_minus_n():
    """E|B/n - gamma p| = (2/n) psi + |gamma - 1| p + remainder: it falls like exp(-n c) with c far below 1."""
    gamma, p = 1.1, 0.5
    scaled = []
    for n in (100, 400, 1600):
        remainder = 2.0 * (gamma - 1.0) * p * binom.sf(np.floor(gamma * n * p), n, p)
        scaled.append(remainder * exp(min(n, 700)))

    assert scaled[0] < scaled[1] < scaled[2]
    assert scaled[0] > 1e40


def test_lemma_21_fails_where_one_category_holds_nearly_everything():
    """Its proof uses Lemma 30, which needs m <= n - 2; at n p_1 > n - 1 the lower end is above the truth."""
    p, n = np.array([0.999, 0.001]), 10
    truth = worst_delta(p, n) - 0.001 * 0.999**n
    printed = 0.29 * sqrt(0.999 * 0.001 / n)

    assert truth == pytest.approx(0.999**n * 0.001)
    assert printed > 2.0 * truth


@pytest.mark.slow
def test_corollary_15s_constants_are_not_the_best():
    places = ((n, p) for n in (5, 6, 10, 100, 1000) for p in np.linspace(1.0 / n, 1.0 - 1.0 / n, 501))
    ratios = [float(excess(np.array([p]), n)[0]) / sqrt(p * (1.0 - p) / n) for n, p in places]

    assert min(ratios) >= LEAST_SHARE > 0.29  # Berend and Kontorovich: 1/sqrt(8)
    assert min(ratios) > 0.36
    assert max(ratios) < 0.4221 < 0.44
    assert bracket(np.full(5, 0.2), 100)[0] == pytest.approx(LEAST_SHARE * 2.0 / 10.0)


def test_remark_4_the_best_attack_on_one_training_set_is_not_perfect_on_discrete_data() -> None:
    """Given the data {0, 1, 1}, a nonmember drawn anew may equal a member: nobody can tell them apart."""
    p, data, nu = np.array([0.5, 0.3, 0.2]), (0, 1, 1), 0.5
    best = sum(max(nu * p[k], (1.0 - nu) * data.count(k) / 3.0) for k in range(3))

    assert best == pytest.approx(0.5 * (0.5 + 2.0 / 3.0 + 0.2))  # the paper: 1, for any procedure and any data
    assert best < 0.7


def test_lemma_33_a_constant_algorithm_is_deterministic_and_0_dp():
    p = np.array([0.5, 0.3, 0.2])

    assert worlds.security(p, 3, lambda data: {"always": 1.0}, 0.5, 1.0) == pytest.approx(1.0)
