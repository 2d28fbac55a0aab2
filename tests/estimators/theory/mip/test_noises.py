"""Noise of a K-norm: the right radius on the cone measure; how far apart two copies are, against independent ways."""

from math import inf

import numpy as np
import pytest
from scipy import integrate, special, stats
from scipy.special import gammaln

from estimators.errors import NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mip
from estimators.theory.mip.noises import spherical_shift, spherical_total_variation
from tests.cases import each_case, refusals

ORDERS = [1.0, 1.5, 2.0, 3.0, inf]


def noise(order: float, *weights: float) -> mip.KNorm:
    return mip.KNorm(mip.Norm(order, np.array(weights)))


def test_the_norms_are_what_they_are_called_at_any_size():
    x = np.array([[3.0, -4.0]])

    assert mip.Norm.one(2).of(x) == 7.0
    assert mip.Norm.euclid(2).of(x) == 5.0
    assert mip.Norm.max(2).of(x) == 4.0
    # the paper's: (|3|^M/(2 * 1^M) + |-4|^M/(2 * 2^M))^(1/M)
    assert mip.Norm.moment([1.0, 2.0], 3.0).of(x)[0] == pytest.approx((27 / 2 + 64 / 16) ** (1 / 3))

    assert mip.Norm.euclid(2).of(np.array([[3e200, 4e200]])) == pytest.approx(5e200)
    assert mip.Norm.euclid(2).of(np.array([[3e-200, 4e-200]])) == pytest.approx(5e-200)
    assert mip.Norm(2.0, np.array([1.0, 0.0])).of(np.array([[2.0, 0.0], [2.0, 1e-9]])).tolist() == [2.0, inf]


def test_on_the_line_the_noise_is_laplace_and_high_orders_do_not_underflow():
    draws = noise(3.0, 2.0).sample(1.5, 20_000, np.random.default_rng(0))[:, 0]

    assert stats.kstest(draws, stats.laplace(scale=3.0).cdf).pvalue > 0.01

    draws = noise(100.0, 1.0, 1.0).sample(1.0, 100_000, np.random.default_rng(5))

    assert (np.abs(draws) > 0.0).all()
    np.testing.assert_allclose(np.sqrt((draws**2).mean(axis=0)), noise(100.0, 1, 1).deviation(1.0), rtol=0.02)


@pytest.mark.slow
@each_case("order", ORDERS)
def test_the_radius_is_gamma_and_independent_of_the_direction_which_is_that_of_a_point_of_the_ball(order):
    law = noise(order, 1.0, 0.5, 2.0)

    draws = law.sample(0.7, 40_000, np.random.default_rng(1))

    radius = law.size(draws)
    first = draws[:, 0] / radius
    assert stats.kstest(radius, stats.gamma(3, scale=0.7).cdf).pvalue > 0.01
    assert stats.ks_2samp(first[radius < 2.1], first[radius >= 2.1]).pvalue > 0.01

    generator = np.random.default_rng(3)
    norm = mip.Norm(order, np.ones(3))
    cube = generator.uniform(-1, 1, (100_000, 3))
    ball = cube[norm.of(cube) <= 1.0]
    directions = ball / norm.of(ball)[:, None]
    found = norm.sphere(len(ball), generator)

    np.testing.assert_allclose(norm.of(found), 1.0, atol=1e-12)
    assert stats.ks_2samp(found[:, 0], directions[:, 0]).pvalue > 0.01
    assert stats.ks_2samp(found.max(axis=1), directions.max(axis=1)).pvalue > 0.01


@pytest.mark.slow
@each_case("order", ORDERS)
def test_the_law_is_that_of_rejection_sampling_and_its_deviation_the_root_mean_square(order):
    """Independent of any radius or sphere: points of a box, kept with probability exp(-||x||)."""
    generator = np.random.default_rng(2)
    law = noise(order, 1.0, 0.5)
    box = generator.uniform(-14, 14, (400_000, 2))
    kept = box[generator.random(len(box)) < np.exp(-law.size(box))]
    draws = law.sample(1.0, len(kept), generator)

    assert len(kept) > 900
    for axis in (0, 1):
        assert stats.ks_2samp(draws[:, axis], kept[:, axis]).pvalue > 0.01
    assert stats.ks_2samp(draws.sum(axis=1), kept.sum(axis=1)).pvalue > 0.01
    assert stats.ks_2samp(np.abs(draws).min(axis=1), np.abs(kept).min(axis=1)).pvalue > 0.01

    law = noise(order, 1.0, 0.5, 2.0, 1.0)
    draws = law.sample(0.7, 100_000, np.random.default_rng(4))

    np.testing.assert_allclose(law.deviation(0.7), np.sqrt((draws**2).mean(axis=0)), rtol=0.01)


@each_case("dimension", [2, 3, 4, 7, 20])
def test_the_euclidean_total_variation_is_its_closed_form_in_bessel_and_struve_functions(dimension) -> None:
    nu, x = dimension / 2, np.array([0.01, 0.3, 1.0, 4.0])
    closed = x * (special.kv(nu, x) * special.modstruve(nu - 1, x) + special.modstruve(nu, x) * special.kv(nu - 1, x))

    np.testing.assert_allclose(spherical_total_variation(2 * x, dimension), closed, rtol=1e-10)


def test_on_the_line_the_euclidean_total_variation_is_laplaces() -> None:
    v = np.array([0.0, 1e-6, 0.1, 1.0, 10.0, 200.0])

    np.testing.assert_allclose(spherical_total_variation(v, 1), -np.expm1(-v / 2), rtol=1e-9, atol=1e-12)


@each_case("dimension", [2, 50, 10_000, 10**7])
def test_small_shifts_have_the_slope_of_the_density_at_its_top(dimension) -> None:
    shift = np.array([1e-6])

    found = float(spherical_total_variation(shift, dimension)[0])

    # Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), which is 1 on the line
    slope = np.exp(gammaln(dimension / 2) - gammaln((dimension + 1) / 2)) / np.sqrt(np.pi)
    assert found / (shift[0] / 2) == pytest.approx(slope, rel=1e-6)
    half_way = np.array([spherical_shift(0.3, dimension)])
    assert spherical_total_variation(half_way, dimension)[0] == pytest.approx(0.3, rel=1e-12)


@pytest.mark.slow
@each_case("order", ORDERS)
def test_no_shift_is_told_apart_better_than_stated(order) -> None:
    """Against the integral of the difference of the two densities."""
    law, grid = noise(order, 1.0, 0.5), np.linspace(-16, 16, 641)
    points = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    here = np.exp(-law.size(points))
    for shift in ((0.4, 0.0), (0.5, 0.5), (2.0, -1.0)):
        v = np.array(shift)
        there = np.exp(-law.size(points - v))
        truth = np.abs(there / there.sum() - here / here.sum()).sum() / 2
        stated = law.total_variation(law.size(v[None, :]))[0]

        assert stated >= truth - 2e-4  # the grid's own error
        if order == 2.0:
            assert stated == pytest.approx(truth, abs=2e-4)
        if order == 1.0 and shift[1] == 0.0:
            assert stated == pytest.approx(truth, abs=2e-3)


def test_a_norm_with_corners_attains_the_bound_in_many_dimensions() -> None:
    """Max norm, shifted along the diagonal; and the earlier tanh(v/2) lies above, at any shift."""
    d, v = 400, 1.0
    law = mip.KNorm(mip.Norm.max(d))
    x = law.sample(1.0, 8_000, np.random.default_rng(6))
    loss = law.size(x - v) - law.size(x)
    attained = np.maximum(0.0, -np.expm1(-loss)).mean()  # E (1 - q/p)_+ under p

    assert attained == pytest.approx(1 - np.exp(-v / 2), abs=0.01)
    assert law.total_variation(np.array([v]))[0] == pytest.approx(1 - np.exp(-v / 2))
    many = np.linspace(0.001, 20, 500)
    assert (law.total_variation(many) < np.tanh(many / 2)).all()


@each_case("law", [
    mip.Gaussian([1.0, 2.0]), noise(1.0, 1, 1), noise(2.0, 1, 1), noise(3.0, 1, 1), noise(inf, 1, 1),
    noise(2.0, 1),
])  # fmt: skip
def test_total_variation_rises_from_zero_is_concave_and_has_its_inverse(law) -> None:
    found = law.total_variation(np.linspace(0, 6, 200))

    assert found[0] == 0.0
    assert (np.diff(found) > 0.0).all()
    assert (np.diff(found, 2) <= 1e-12).all()
    for t in (1e-4, 0.2, 0.9):
        assert law.total_variation(np.array([law.shift(t)]))[0] == pytest.approx(t, rel=1e-9)


def test_gaussian_noise_has_its_deviation_and_its_total_variation() -> None:
    law = mip.Gaussian([1.0, 3.0])
    draws = law.sample(2.0, 100_000, np.random.default_rng(7))
    integral = integrate.quad(lambda x: abs(stats.norm.pdf(x, 0.8) - stats.norm.pdf(x)) / 2, -9, 9, points=[0.4])[0]

    np.testing.assert_allclose(draws.std(axis=0), law.deviation(2.0), rtol=0.01)
    assert law.total_variation(np.array([0.8]))[0] == pytest.approx(integral, abs=1e-9)


test_shapes_that_are_none_are_refused = refusals(
    "ask, error, words",
    (lambda: mip.Norm(0.5, np.ones(2)), OutOfRange, "no norm"),
    (lambda: mip.Gaussian([0.0, 0.0]), OutOfRange, "above 0"),
    (lambda: mip.Gaussian([1.0, -1.0]), OutOfRange, "above 0"),
    (lambda: mip.Gaussian([1.0, inf]), NotFinite, None),
    (lambda: mip.Gaussian([]), TooFewRecords, None),
)
