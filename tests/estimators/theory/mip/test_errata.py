"""Every slip of the paper: its formula fails in numbers, ours holds."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc

from estimators.theory import mip
from estimators.theory.subsets import matrix
from tests.cases import each_case


@each_case("epsilon", [0.1, 1.0, 3.0])
def test_theorem_8_needs_a_factor_of_two(epsilon) -> None:
    """Randomised response: TPR - FPR is tanh(epsilon/2), twice its eta; the paper says at most once."""
    true = 1 / (1 + np.exp(-epsilon))
    eta = mip.finite_eta([[true, 1 - true], [1 - true, true]], 2).eta
    gap = true - (1 - true)

    assert gap > eta * 1.9  # the paper's TPR <= FPR + eta
    assert gap == pytest.approx(2 * eta, abs=1e-12)
    assert gap == pytest.approx(np.tanh(epsilon / 2), abs=1e-12)


@each_case("dimension", [2, 5, 30])
def test_corollary_10s_laplace_radius_is_not_the_law_theorem_9_speaks_of(dimension) -> None:
    generator, n = np.random.default_rng(dimension), 20_000
    noise = mip.KNorm(mip.Norm.moment(np.linspace(1, 2, dimension)))
    printed = generator.laplace(scale=3.0, size=(n, 1)) * noise.norm.sphere(n, generator)

    ours = noise.sample(3.0, n, generator)

    law = stats.gamma(dimension, scale=3.0).cdf  # of ||X|| under a density ~ exp(-||x||/3)
    assert stats.kstest(noise.size(printed), law).pvalue < 1e-100
    assert stats.kstest(noise.size(ours), law).pvalue > 0.01


def printed_eta(scale: float, dimension: int) -> float:
    """P(r |cos| < 1)/2, r exponential, cos^2 ~ Beta(1/2, (d-1)/2): the nearer of two centres, 2 apart, is likelier."""
    radius = np.exp(np.arange(-40.0, 4.0, 0.001))
    weights = radius * np.exp(-radius)
    near = betainc(0.5, (dimension - 1) / 2.0, np.minimum(1.0, 1.0 / (scale * radius) ** 2))
    return float((near * weights).sum() / weights.sum()) / 2.0


@pytest.mark.slow
def test_corollary_10_as_printed_breaks_its_promise_in_many_dimensions() -> None:
    """Found here: theta = +-sigma_i by membership; a model of 10^5 parameters is enough at eta = 0.1."""
    of = {eta: mip.corollary_10_scale(eta, 1.0, 2.0) for eta in (0.1, 0.3, 0.4)}
    direction = (generator := np.random.default_rng(0)).standard_normal((20_000, 400))
    along = generator.laplace(scale=30.0, size=20_000) * direction[:, 0] / np.linalg.norm(direction, axis=1)

    assert printed_eta(of[0.1], 99_000) < 0.1 < printed_eta(of[0.1], 100_000)
    assert printed_eta(of[0.1], 10**6) > 0.2
    assert printed_eta(of[0.4], 10**6) > 0.45
    assert printed_eta(of[0.3], 50_000) < 0.3 < printed_eta(of[0.3], 60_000)
    # simulated, too
    assert (np.abs(along) < 1.0).mean() / 2.0 == pytest.approx(printed_eta(30.0, 400), abs=0.01)


@each_case("dimension", [1, 2, 10, 100])
def test_theorem_9s_tail_step_is_true_in_no_dimension_and_without_its_half_on_the_line_only(dimension):
    """The step: P(||X|| <= g s c ln c - s c) >= 1 - exp(1 - g ln c)/2. ||X|| is Gamma(d), its tail at d = 1 exp(-r)."""
    eta, moment = 0.1, 2.0
    c, gamma = (7.5 / eta) ** (1 + 2 / moment), moment / (moment + 2)
    radius = gamma * np.log(c) - 1  # in units of c sigma, the scale of the noise
    inside = stats.gamma(dimension).cdf(radius)

    assert inside < 1 - 0.5 * np.exp(-radius)
    assert (inside >= 1 - np.exp(-radius) - 1e-12) == (dimension == 1)
    # the theorem stands all the same: its noise is far more than ours
    assert mip.theorem_9_scale(eta, 1.0, moment) > mip.linear_scale(eta, 1.0)


@pytest.mark.slow
def test_algorithm_1_finds_its_scale_in_the_released_half_and_so_gives_it_away() -> None:
    """Found here: nine zeros and a one. Without the one in the half every fit is 0, and so are sigma and the noise."""
    generator, data = np.random.default_rng(0), np.array([1.0] + [0.0] * 9)
    right = 0
    for _ in range(200):
        order = generator.permutation(10)
        half = data[order[:5]]
        fits = np.array([half[generator.permutation(5)[:2]].mean() for _ in range(64)])
        sigma = fits.std()
        released = half.mean() + sigma * generator.laplace(scale=mip.corollary_10_scale(0.1, 1.0, 2.0))
        right += (released != 0.0) == (0 in order[:5])

    assert right == 200  # eta = 1/2, where 0.1 was asked for

    ours = mip.privatize(np.mean, data, 0.1, seed=0)
    assert mip.attack(np.mean, data, ours.noise, ours.scale, seed=1, releases=2000).eta <= 0.1


def test_algorithm_1s_moments_of_odd_order_and_of_halves_of_a_half_are_others_than_asked_for():
    draws = np.array([[0.0], [-1.0], [0.2], [-3.0]])
    centred = draws - draws.mean(axis=0)

    assert (centred**3).mean() < 0.0  # as printed; its cube root is no bound on anything
    assert mip.spread_of_draws(draws, 3.0)[0] == pytest.approx((np.abs(centred) ** 3).mean() ** (1 / 3))

    # The mean of n/4 of n/2 records varies sqrt(2) times as much as that of n/2 of n; other fits vary less.
    data = np.random.default_rng(3).normal(size=12)
    asked = (matrix(12, 6, "") @ data / 6).std()
    printed = np.sqrt(np.mean([(matrix(6, 3, "") @ data[row] / 3).var() for row in matrix(12, 6, "")]))

    assert printed == pytest.approx(asked * np.sqrt(2), rel=1e-9)


def test_a_scale_that_depends_on_membership_is_an_output_too() -> None:
    """The same mean with noise of scale 1 or 2 by membership."""
    rows = np.array([[True, False], [False, True]])
    fixed = mip.attained_eta([0.0, 0.0], rows, mip.KNorm(mip.Norm.euclid(1)), 1.0).max()

    grid = np.linspace(-60, 60, 200_001)
    apart = np.abs(stats.laplace.pdf(grid) - stats.laplace.pdf(grid, scale=2.0))
    assert fixed < 1e-12
    assert np.trapezoid(apart, grid) / 4 > 0.1
