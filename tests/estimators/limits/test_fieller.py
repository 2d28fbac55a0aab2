"""Limits of ratios: golden values, a slow literal twin, laws, and coverage by exact enumeration."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from estimators.errors import MetricError
from estimators.limits.binomial import clopper_pearson, lower_limit, upper_limit
from estimators.limits.fieller import ratio_limits, ratio_range, signed_risk_limits
from tests.cases import each_case, refusals

AM = ((0.5, 0.5, -0.5), (1.0, 0.0, 0.0))


def ppv(prior):
    return (0.0, prior, 0.0), (0.0, prior, 1.0 - prior)


def f1(prior):
    return (0.0, 2 * prior, 0.0), (prior, prior, 1.0 - prior)


def mover_lower(value, x, n1, y, n0, numerator, denominator, alpha):
    """Lower limit of L(value), term by term as study 2.4 writes it."""
    constant, slope_a, slope_c = (e - value * h for e, h in zip(numerator, denominator, strict=True))
    a, c = x / n1, y / n0
    a_star = lower_limit(float(x), n1, alpha) if slope_a > 0 else upper_limit(float(x), n1, alpha)
    c_star = lower_limit(float(y), n0, alpha) if slope_c > 0 else upper_limit(float(y), n0, alpha)
    form = constant + slope_a * a + slope_c * c
    return form - np.sqrt((slope_a * (a - a_star)) ** 2 + (slope_c * (c - c_star)) ** 2)


def bisected(x, n1, y, n0, numerator, denominator, alpha):
    """Smallest value whose lower limit of L is not above 0, by halving the range of the metric 70 times."""
    low, high = ratio_range(numerator, denominator)
    if mover_lower(low, x, n1, y, n0, numerator, denominator, alpha) <= 0:
        return low
    for _ in range(70):
        middle = (low + high) / 2
        too_small = mover_lower(middle, x, n1, y, n0, numerator, denominator, alpha) > 0
        low, high = (middle, high) if too_small else (low, middle)
    return high


@each_case(
    "limits, expected",
    (ratio_limits(20, 100, 30, 900, *ppv(0.1), 0.025), (0.273323, 0.534052)),
    (ratio_limits(0, 100, 0, 900, *ppv(0.1), 0.025), (0.0, 1.0)),
    (ratio_limits(20, 100, 30, 900, *AM, 0.025), (0.546007, 0.629567)),
    (signed_risk_limits(30, 500, 10, 500, 0.5, 0.025), (0.187531, 0.739197)),
)
def test_metrics_meet_the_golden_values(limits, expected):
    assert tuple(map(float, limits)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.floats(0, 1),
    st.floats(0, 1),
    st.tuples(*[st.floats(-2, 2).map(lambda v: round(v, 2))] * 3),
    st.tuples(st.floats(0.1, 2), st.floats(0, 2), st.floats(0, 2)),
)
@settings(max_examples=60)
def test_the_closed_form_is_the_bisection(n1, n0, share_a, share_c, numerator, denominator):
    x, y = round(share_a * n1), round(share_c * n0)
    negated = tuple(-e for e in numerator)
    low, high = ratio_limits(x, n1, y, n0, numerator, denominator, 0.05)

    assert float(low) == pytest.approx(bisected(x, n1, y, n0, numerator, denominator, 0.05), abs=1e-8)
    assert float(high) == pytest.approx(-bisected(x, n1, y, n0, negated, denominator, 0.05), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("forms", [ppv(0.1), f1(0.3), ((0.0, 0.3, -0.7), (0.0, 0.3, 0.7))])
def test_the_closed_form_is_the_bisection_for_every_outcome_of_a_vanishing_denominator(forms):
    outcomes = [(x, y) for x in range(9) for y in range(13) if (x, y) != (0, 0)]

    low, _ = ratio_limits([x for x, _ in outcomes], 8, [y for _, y in outcomes], 12, *forms, 0.025)

    expected = [bisected(x, 8, y, 12, *forms, 0.025) for x, y in outcomes]
    np.testing.assert_allclose(low, expected, atol=1e-9)


def test_limits_are_the_extremes_over_the_egg_of_half_axes():
    numerator, denominator = ppv(0.2)
    x, n1, y, n0 = 12, 60, 9, 80
    a, c = x / n1, y / n0
    angle = np.linspace(0, 2 * np.pi, 200_001)
    across, up = np.cos(angle), np.sin(angle)
    half_a = np.where(across > 0, upper_limit(12.0, n1, 0.025) - a, a - lower_limit(12.0, n1, 0.025))
    half_c = np.where(up > 0, upper_limit(9.0, n0, 0.025) - c, c - lower_limit(9.0, n0, 0.025))
    on_a, on_c = a + half_a * across, c + half_c * up
    value = 0.2 * on_a / (0.2 * on_a + 0.8 * on_c)

    low, high = ratio_limits(x, n1, y, n0, numerator, denominator, 0.025)

    assert (float(low), float(high)) == pytest.approx((value.min(), value.max()), abs=1e-8)


def test_a_rate_by_itself_gets_its_exact_limits():
    limits = ratio_limits([0, 3, 10], 10, 4, 20, (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), 0.025)

    np.testing.assert_allclose(limits, clopper_pearson(np.array([0, 3, 10]), 10, 0.025), atol=1e-12)


def test_turning_both_signs_changes_nothing_and_more_hits_of_the_favourable_side_never_lower_a_limit():
    turned = (tuple(-e for e in form) for form in f1(0.1))
    limits = ratio_limits([3, 9], 40, [5, 2], 90, *f1(0.1), 0.05)
    low, high = ratio_limits(np.arange(41), 40, 7, 90, *ppv(0.3), 0.025)

    np.testing.assert_allclose(ratio_limits([3, 9], 40, [5, 2], 90, *turned, 0.05), limits, rtol=1e-12)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()


def test_swapping_the_sides_mirrors_the_risk_and_an_empty_cell_can_have_any():
    low, high = signed_risk_limits([3, 0, 9, 0, 4], 50, [1, 6, 9, 0, 0], 70, 0.2, 0.025)
    mirrored = signed_risk_limits([1, 6, 9, 0, 0], 70, [3, 0, 9, 0, 4], 50, 0.8, 0.025)

    np.testing.assert_allclose(mirrored, (-high, -low), atol=1e-12)
    assert (low[3], high[3], high[4]) == (-1.0, 1.0, 1.0)
    assert -1.0 < low[4] < 1.0


def test_many_cells_get_the_limits_each_would_get_alone():
    rng = np.random.default_rng(3)
    x, y = rng.poisson(3, 100), rng.poisson(5, 100)

    together = signed_risk_limits(x, 1500, y, 2500, 0.3, 0.025)

    alone = [signed_risk_limits(int(a), 1500, int(b), 2500, 0.3, 0.025) for a, b in zip(x, y, strict=True)]
    np.testing.assert_array_equal(together, np.transpose(alone))


test_a_denominator_without_one_sign_is_refused = refusals(
    "denominator",
    [(0.0, 1.0, 1.0), (-0.5, 1.0, 0.0), (0.0, 0.0, 0.0)],
    error=MetricError,
    words="denominator",
    ask=lambda denominator: ratio_limits(3, 10, 4, 10, (1.0, 0.0, 0.0), denominator, 0.025),
)


RATES = np.r_[0.001, 0.01, 0.02, 0.05, np.linspace(0.1, 0.9, 9), 0.95, 0.98, 0.99, 0.999]


@each_case("n1, n0, prior", [(20, 20, 0.5), (60, 60, 0.5), (20, 100, 0.5), (30, 270, 0.1), (60, 60, 0.1)])
def test_signed_risk_is_covered_in_955_of_1000_enumerated_samples_at_every_pair_of_rates(n1, n0, prior):
    x, y = np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij")
    low, high = signed_risk_limits(x, n1, y, n0, prior, 0.025)
    of_x = binom.pmf(np.arange(n1 + 1), n1, RATES[:, None])
    of_y = binom.pmf(np.arange(n0 + 1), n0, RATES[:, None])

    for (i, r), (j, q) in product(enumerate(RATES), repeat=2):
        f = (prior * r - (1 - prior) * q) / (prior * r + (1 - prior) * q)
        assert of_x[i] @ ((low <= f + 1e-12) & (high >= f - 1e-12)) @ of_y[j] >= 0.955
