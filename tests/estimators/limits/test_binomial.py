"""Limits of proportions against SciPy, statsmodels' formula and exact enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import beta, binom

from estimators.limits.binomial import clopper_pearson, lower_limit, mcdiarmid_radius, upper_limit
from estimators.limits.two_rates import weighted_accuracy_lower, weighted_accuracy_upper


def test_limits_are_the_textbook_ones() -> None:
    # Clopper and Pearson (1934), 95% two-sided, 3 of 10 and 0 of 10: study section 6
    assert lower_limit(3, 10, 0.025) == pytest.approx(0.066740, abs=1e-6)
    assert upper_limit(3, 10, 0.025) == pytest.approx(0.652453, abs=1e-6)
    assert lower_limit(0, 10, 0.025) == 0.0
    assert upper_limit(0, 10, 0.025) == pytest.approx(0.308497, abs=1e-6)
    assert upper_limit(10, 10, 0.025) == 1.0


def test_limits_agree_with_the_beta_quantiles_of_scipy() -> None:
    hits = np.arange(1, 80)
    low, high = clopper_pearson(hits, 80, 0.01)

    np.testing.assert_allclose(low, beta.ppf(0.01, hits, 80 - hits + 1), rtol=1e-10)
    np.testing.assert_allclose(high[:-1], beta.ppf(0.99, hits[:-1] + 1, 80 - hits[:-1]), rtol=1e-10)


def test_repeated_counts_give_the_same_limits_as_single_ones() -> None:
    hits = np.random.default_rng(0).integers(0, 50, size=1000)
    low, high = clopper_pearson(hits, 50, 0.025)

    assert (low[7], high[7]) == (lower_limit(int(hits[7]), 50, 0.025), upper_limit(int(hits[7]), 50, 0.025))


def test_the_radius_is_the_papers_when_the_sample_has_the_priors_shares_and_else_up_to_five_times() -> None:
    # MACE, Theorem 5: sqrt(2/N ln(2/delta)) with n1 = pN; erratum E15 and section 6: n1 = 20, n0 = 1980, p = 1/2
    assert mcdiarmid_radius(0.1, 200, 1800, 0.05) == pytest.approx(np.sqrt(2 / 2000 * np.log(40)), rel=1e-12)
    assert mcdiarmid_radius(0.5, 20, 1980, 0.05) == pytest.approx(0.305211, abs=1e-6)


RATES = np.array([0.005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99, 0.995, 0.999])


@pytest.mark.parametrize(
    ("prior", "n1", "n0"),
    [
        (0.5, 40, 40),
        (0.5, 20, 180),
        (0.5, 30, 300),
        (0.1, 40, 40),
        (0.9, 50, 15),
        (0.3, 60, 140),
        (0.1, 150, 150),
    ],
)
def test_each_limit_of_the_weighted_accuracy_misses_at_most_its_level(prior, n1, n0) -> None:
    tp, tn = np.meshgrid(np.arange(n1 + 1.0), np.arange(n0 + 1.0), indexing="ij")
    low = weighted_accuracy_lower(tp, n1, tn, n0, prior, 0.025)
    high = weighted_accuracy_upper(tp, n1, tn, n0, prior, 0.025)
    chance_tp = binom.pmf(np.arange(n1 + 1)[:, None], n1, RATES)
    chance_tn = binom.pmf(np.arange(n0 + 1)[:, None], n0, RATES)

    for (i, tpr), (j, tnr) in product(enumerate(RATES), repeat=2):  # exact, by every outcome, not simulated
        weight = chance_tp[:, i][:, None] * chance_tn[:, j]
        truth = prior * tpr + (1 - prior) * tnr
        assert weight[low > truth + 1e-12].sum() <= 0.025
        assert weight[high < truth - 1e-12].sum() <= 0.025
