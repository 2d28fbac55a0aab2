"""Scales from a moment: the paper's, ours, and what is attained, by exact enumeration of small worlds."""

from math import pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import OutOfRange
from estimators.theory import mip
from estimators.theory.subsets import matrix
from tests.cases import each_case

LINE = mip.KNorm(mip.Norm.euclid(1))
BELL = mip.Gaussian([1.0])
HALVES = matrix(8, 4, "")


def worlds() -> list[NDArray[np.float64]]:
    """Eight records each: Gaussian, and skewed with an outlier."""
    plain = [np.random.default_rng(seed).normal(size=8) for seed in range(6)]
    return plain + [np.random.default_rng(seed).exponential(size=8) ** 2 for seed in range(6, 12)]


def swap_scale(records: NDArray[np.float64], noise: mip.Noise, eta: float) -> float:
    """Least scale at which the exact swap bound of the mean is eta, by bisection."""

    def bound(scale: float) -> float:
        apart = np.abs(records[:, None] - records[None, :]) / 4.0
        found = noise.total_variation((apart / scale).ravel()).reshape(8, 8)
        return float((found.sum(axis=1) / 7.0).max()) / 2.0

    low, high = 1e-6, 1e3
    for _ in range(100):
        middle = sqrt(low * high)
        low, high = (middle, high) if bound(middle) > eta else (low, middle)
    return high


@pytest.mark.slow
def test_methods_numbers_for_eight_records_and_the_mean_query() -> None:
    """At eta = 0.1 sigma/(2 eta) attains 0.057-0.091, swaps 0.090-0.100, the paper 0.0001 (study 6)."""
    attained: dict[str, list[float]] = {"linear": [], "moment": [], "swaps": [], "paper": []}
    for records in worlds():
        outputs = HALVES @ records / 4.0
        sigma = float(outputs.std())
        scales = {
            "linear": mip.linear_scale(0.1, sigma),
            "moment": mip.moment_scale(0.1, LINE, sigma),
            "swaps": swap_scale(records, LINE, 0.1),
            "paper": mip.corollary_10_scale(0.1, sigma, 2.0),
        }
        for name, scale in scales.items():
            attained[name].append(float(mip.attained_eta(outputs, HALVES, LINE, scale).max()))

    assert 0.056 < min(attained["linear"]) < max(attained["linear"]) < 0.091
    assert 0.090 < min(attained["swaps"]) < max(attained["swaps"]) <= 0.1
    assert max(attained["paper"]) < 0.00014
    # solved for exactly, the moment bound is nearer than the line, and never beyond
    assert all(a < b <= 0.1 for a, b in zip(attained["linear"], attained["moment"], strict=True))
    assert max(attained["moment"]) > 0.099


@pytest.mark.slow
@each_case("noise", [LINE, BELL])
@each_case("eta", [0.01, 0.1, 0.3, 0.45])
def test_no_bound_is_below_what_is_attained(noise, eta) -> None:
    queries = {"mean": lambda half: half.mean(), "median": np.median, "largest": np.max}
    for records in worlds()[::3]:
        for query in queries.values():
            outputs = np.array([query(records[row]) for row in HALVES])
            scale = mip.moment_scale(eta, noise, float(outputs.std()))

            assert mip.attained_eta(outputs, HALVES, noise, scale).max() <= eta + 1e-12
            assert mip.moment_eta(scale, noise, float(outputs.std())) == pytest.approx(eta)


@each_case("noise", [LINE, BELL])
@each_case("eta", [0.001, 0.1, 0.4])
def test_on_the_line_it_is_attained_where_the_parameter_tells_membership(noise, eta) -> None:
    rows = np.array([[True, False], [False, True]])
    scale = mip.moment_scale(eta, noise, 1.0)
    np.testing.assert_allclose(mip.attained_eta([1.0, -1.0], rows, noise, scale), eta, rtol=2e-5)


def test_sigma_over_two_eta_is_tight_to_first_order_only_and_the_printed_corollary_on_the_line():
    for eta, gap in [(0.001, 0.0015), (0.01, 0.015), (0.1, 0.15)]:
        scale = mip.linear_scale(eta, 1.0)

        attained = float(-np.expm1(-1.0 / scale)) / 2.0  # theta = +-1

        assert eta * (1 - gap) < attained < eta
    assert mip.linear_scale(0.1, 1.0) == 5.0
    assert mip.corollary_10_scale(0.1, 1.0, 2.0) == pytest.approx(3794.56)

    assert [mip.gaussian_sigma(16, moment) for moment in (2.0, 5.0, 1.0)] == [4.0, 4.0, 16.0]
    assert mip.moment_eta(5.0, LINE, 1.0) == pytest.approx(-np.expm1(-1.0 / 5.0) / 2.0, rel=1e-12)


@each_case("moment", [1.0, 2.0, 4.0])
def test_every_formula_goes_to_a_scale_and_back(moment) -> None:
    for noise in (LINE, BELL, mip.KNorm(mip.Norm.moment(np.ones(5))), mip.Gaussian(np.ones(5))):
        for formula in mip.formulas(noise, 1.7, moment):
            for eta in (0.003, 0.1, 0.49):
                assert formula.eta(formula.scale(eta)) == pytest.approx(eta, rel=1e-9)


def test_ours_needs_less_than_the_line_and_the_paper_at_any_eta() -> None:
    for noise in (LINE, mip.KNorm(mip.Norm.moment(np.ones(30))), mip.KNorm(mip.Norm.max(3))):
        for eta in (0.001, 0.1, 0.3, 0.49):
            ours, tanh, line, *papers = (formula.scale(eta) for formula in mip.formulas(noise, 1.0))

            assert ours < tanh < line < min(papers)
            assert [each.name for each in mip.scale_bounds(eta, noise, 1.0) if each.tightest] == ["moment"]
    bell = mip.formulas(mip.Gaussian(np.ones(30)), sqrt(30))
    assert [formula.name for formula in bell] == ["moment", "moment_linear"]
    assert bell[1].scale(0.1) == pytest.approx(mip.gaussian_linear_scale(0.1, 30))
    assert bell[0].scale(0.1) < bell[1].scale(0.1) == pytest.approx(sqrt(30) / (0.1 * sqrt(2 * pi)))


def test_in_many_dimensions_the_papers_own_noise_needs_a_fraction_of_the_line() -> None:
    """The ball has no corners: at order 2 the factor is Gamma(d/2)/(sqrt(pi) Gamma((d+1)/2)), 0.08 at d = 100."""
    noise = mip.KNorm(mip.Norm.moment(np.ones(100)))
    assert mip.moment_scale(0.001, noise, 1.0) / mip.linear_scale(0.001, 1.0) == pytest.approx(0.0798, abs=5e-4)


@pytest.mark.slow
@each_case("dimension", [2, 10, 1000])
@each_case("eta", [0.01, 0.1, 0.4])
def test_with_the_gamma_radius_the_same_world_attains_eta_and_no_more(dimension, eta) -> None:
    """theta = +-sigma_i in all coordinates: 2 apart in the moment norm, where only the distance counts."""
    noise = mip.KNorm(mip.Norm.moment(np.ones(dimension)))
    scale = mip.moment_scale(eta, noise, 1.0)
    assert noise.norm.of(np.ones((1, dimension)))[0] == pytest.approx(1.0)

    # P(the nearer centre is the right one), by simulation of the coordinate along the shift
    x = noise.sample(scale, 40_000 // dimension * 10 + 2_000, np.random.default_rng(dimension))
    along = x.mean(axis=1)  # in units of the distance from the middle, 1
    attained = (np.abs(along) < 1.0).mean() / 2.0

    assert attained == pytest.approx(eta, abs=4 * sqrt(0.25 / len(x)))
    assert mip.moment_eta(scale, noise, 1.0) == pytest.approx(eta)


def test_a_coordinate_that_varies_only_after_its_spread_was_taken_has_an_infinite_moment() -> None:
    draws = np.column_stack([np.arange(8.0), np.arange(8.0) > 6])

    assert mip.moment_of(draws, mip.Gaussian([1.0, 0.0])) == np.inf
    assert mip.moment_of(np.zeros((8, 2)), mip.Gaussian([1.0, 0.0])) == 0.0


def test_what_is_out_of_range_is_refused() -> None:
    for eta in (0.0, 0.5, -0.1, float("nan")):
        with pytest.raises(OutOfRange, match="between 0 and 1/2"):
            mip.linear_scale(eta, 1.0)
    for sigma in (0.0, -1.0, float("inf")):
        with pytest.raises(OutOfRange, match="sigma"):
            mip.moment_scale(0.1, LINE, sigma)
    with pytest.raises(OutOfRange, match="use Theorem 9"):
        mip.corollary_10_scale(0.1, 1.0, 1.5)
