"""Ceilings from epsilon by brute force, and their inverses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from estimators.errors import OutOfRange
from estimators.theory.dp import (
    advantage_ceiling,
    epsilon_from_advantage,
    gdp_ceiling,
    gdp_from_advantage,
    individual_risk_ceiling,
)

ALARMS = np.linspace(0.0, 1.0, 400_001)


def best_advantage(heights, prior):
    """Advantage of the best point of a curve TPR(FPR), or of its mirror image."""
    right = np.maximum(
        prior * heights + (1 - prior) * (1 - ALARMS), prior * ALARMS + (1 - prior) * (1 - heights)
    )
    return 2 * right.max() - 1


def dp_curve(epsilon, delta):
    """Highest TPR at each FPR under (epsilon, delta)-DP (Kairouz, Oh and Viswanath 2015)."""
    miss = np.maximum(0.0, 1 - delta - np.exp(epsilon) * ALARMS)
    miss = np.maximum(miss, np.exp(-epsilon) * (1 - delta - ALARMS))
    return 1 - miss


@pytest.mark.parametrize(
    ("ceiling", "expected"),
    [
        (advantage_ceiling(1.0), 0.4621),  # tanh(1/2)
        (advantage_ceiling(2.0), 0.7616),  # MACE Appendix G: 0.762
        (advantage_ceiling(1.0, prior=0.1), 0.8),  # E2: the population's
        (individual_risk_ceiling(1.0, prior=0.1), 0.9215),  # E2: the paper's, which holds for one record
        (advantage_ceiling(1.0, 0.05), 0.4890),  # E3
        (individual_risk_ceiling(1.0), 0.4621),
        (gdp_ceiling(1.0), 2 * norm.cdf(0.5) - 1),
    ],
)
def test_ceilings_meet_the_golden_values(ceiling, expected):
    assert ceiling == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("prior", [0.03, 0.1, 0.4, 0.5, 0.8])
@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.0, 0.0), (0.3, 0.0), (1.0, 0.05), (3.0, 0.2), (0.0, 0.3), (6.0, 1e-5)]
)
def test_advantage_ceiling_is_the_best_point_of_the_dp_curve(epsilon, delta, prior):
    expected = best_advantage(dp_curve(epsilon, delta), prior)

    ceiling = advantage_ceiling(epsilon, delta, prior)

    assert ceiling == pytest.approx(
        expected, abs=2e-5
    )  # the grid misses a corner by at most its step times slope
    assert ceiling >= expected - 1e-12


@pytest.mark.parametrize("prior", [0.03, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("mu", [0.0, 0.2, 1.0, 3.0])
def test_gdp_ceiling_is_the_best_point_of_the_gaussian_curve(mu, prior):
    expected = best_advantage(norm.cdf(norm.ppf(ALARMS) + mu), prior)

    assert gdp_ceiling(mu, prior) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.7])
def test_individual_ceiling_is_the_largest_risk_within_the_odds(prior):
    odds = np.exp(np.linspace(-1.5, 1.5, 3001)) * prior / (1 - prior)

    assert individual_risk_ceiling(1.5, prior) == pytest.approx(
        np.abs((odds - 1) / (odds + 1)).max(), abs=1e-12
    )


@pytest.mark.parametrize("delta", [0.0, 0.01])
@pytest.mark.parametrize("prior", [0.2, 0.5, 0.6])
def test_inverses_lead_back_to_the_advantage(prior, delta):
    advantage = 0.75

    epsilon, mu = epsilon_from_advantage(advantage, delta, prior), gdp_from_advantage(advantage, prior)

    assert advantage_ceiling(epsilon, delta, prior) == pytest.approx(advantage, abs=1e-12)
    assert gdp_ceiling(mu, prior) == pytest.approx(advantage, abs=1e-10)


def test_inverses_have_their_closed_forms_and_ends():
    assert epsilon_from_advantage(0.3) == pytest.approx(2 * np.arctanh(0.3), abs=1e-12)
    assert gdp_from_advantage(0.3) == pytest.approx(2 * norm.ppf(0.65), abs=1e-10)
    assert epsilon_from_advantage(0.8, prior=0.1) == gdp_from_advantage(0.8, prior=0.1) == 0.0
    assert epsilon_from_advantage(1.0) == gdp_from_advantage(1.0, 0.2) == np.inf


def test_a_model_without_any_dp_loss_has_advantage_1_on_a_fixed_set():
    rng = np.random.default_rng(
        0
    )  # E1: the query ignores training, Q(z) = z; S is 50 numbers, known and fixed
    known = rng.normal(size=50)

    tpr, fpr = np.isin(rng.choice(known, 1000), known).mean(), np.isin(rng.normal(size=1000), known).mean()

    assert tpr - fpr == 1.0 > advantage_ceiling(0.0) == 0.0


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda: gdp_ceiling(np.inf), "mu"),
        (lambda: advantage_ceiling(1.0, prior=0.0), "prior"),
        (lambda: advantage_ceiling(-1.0), "epsilon"),
        (lambda: advantage_ceiling(1.0, delta=1.0), "delta"),
        (lambda: epsilon_from_advantage(1.5), "advantage"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(ask, name):
    with pytest.raises(OutOfRange, match=name) as caught:
        ask()

    assert caught.value.field == name
