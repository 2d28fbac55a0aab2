"""Limits of proportions against SciPy and the textbook."""

import numpy as np
import pytest
from scipy.special import betainc, betaincc
from scipy.stats import beta

from estimators.limits.binomial import clopper_pearson, lower_limit, mcdiarmid_radius, upper_limit
from tests.cases import each_case


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


@each_case("records", [10**7, 2 * 10**8, 10**10, 10**12])
def test_limits_have_their_level_beside_every_number_of_hits_of_very_many_records(records) -> None:
    """SciPy's quantile at 1,000 of a billion was twice of what was counted."""
    for hits in (998, 999, 1000, 1001):
        low, high = lower_limit(hits, records, 0.0125), upper_limit(hits, records, 0.0125)

        assert betainc(hits, records - hits + 1, low) == pytest.approx(0.0125, rel=1e-6)
        assert betaincc(hits + 1, records - hits, high) == pytest.approx(0.0125, rel=1e-6)
        assert upper_limit(records - hits, records, 0.0125) == pytest.approx(1.0 - low, abs=1e-15)
        assert lower_limit(records - hits, records, 0.0125) == pytest.approx(1.0 - high, abs=1e-15)


def test_repeated_counts_give_the_same_limits_as_single_ones() -> None:
    hits = np.random.default_rng(0).integers(0, 50, size=1000)
    low, high = clopper_pearson(hits, 50, 0.025)

    assert (low[7], high[7]) == (lower_limit(int(hits[7]), 50, 0.025), upper_limit(int(hits[7]), 50, 0.025))


def test_the_radius_is_the_papers_when_the_sample_has_the_priors_shares_and_else_up_to_five_times() -> None:
    # MACE, Theorem 5: sqrt(2/N ln(2/delta)) with n1 = pN; erratum E15 and section 6: n1 = 20, n0 = 1980, p = 1/2
    assert mcdiarmid_radius(0.1, 200, 1800, 0.05) == pytest.approx(np.sqrt(2 / 2000 * np.log(40)), rel=1e-12)
    assert mcdiarmid_radius(0.5, 20, 1980, 0.05) == pytest.approx(0.305211, abs=1e-6)
