"""Noise in floating point: which doubles can be reached tells of the fit, unless the sum is rounded."""

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.theory import mip
from estimators.theory.mip.privatize import FINENESS, grid_of, noisy
from tests.cases import each_case

Floats = NDArray[np.float64]
BELL, SCALE = mip.Gaussian([0.025]), 21.7
"""What swaps certify for eta = 0.02, n = 40 and the mean of one 1 and 39 zeros: a member moves it from 0 to 0.05."""

RELEASES = 20_000


def reached(seen: Floats) -> NDArray[np.bool_]:
    """Whether some double z has fl(s z) equal to the release: those about the quotient are tried."""
    unit = SCALE * 0.025
    low = high = seen / unit
    found = unit * low == seen
    for _ in range(4):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        found |= (unit * low == seen) | (unit * high == seen)
    return found


def unreached(bare: float, generator: np.random.Generator) -> float:
    released = noisy(np.full((RELEASES, 1), bare), BELL, SCALE, generator)
    return 1.0 - float(reached(released[:, 0]).mean())


def test_doubles_out_of_reach_of_the_noise_alone_tell_nothing_of_the_fit_as_they_would_without_the_grid(rng):
    inside, outside = unreached(0.05, rng), unreached(0.0, rng)

    assert inside == pytest.approx(outside, abs=0.012)  # four standard errors: an accuracy of 0.5 +- 0.006

    # Why there is one: the noise is a double before the fit is added, and 0 + noise is always within reach.
    noise = BELL.sample(SCALE, RELEASES, np.random.default_rng(0))[:, 0]
    inside, outside = 1.0 - reached(0.05 + noise).mean(), 1.0 - reached(0.0 + noise).mean()

    assert outside == 0.0
    assert 0.5 + (inside - outside) / 2.0 > 0.53  # where 0.520 was certified


@each_case("scale", [1e-200, 1e-3, 1.0, 3.7, 1e100])
def test_the_grid_is_of_powers_of_two_and_far_finer_than_the_noise(scale) -> None:
    noise = mip.moment_laplace(np.array([1.0, 30.0, 0.01]))
    grid = grid_of(noise, scale)

    assert (np.frexp(grid)[0] == 0.5).all()
    share = noise.deviation(scale) / grid
    assert ((share >= 2.0**FINENESS) & (share < 2.0 ** (FINENESS + 1))).all()


def test_what_is_released_lies_on_the_grid_and_is_the_sum_to_half_a_cell() -> None:
    bare = np.array([[0.1, 1e3, -3.0]])
    noise = mip.Gaussian([1.0, 1e-3, 5.0])

    found = noisy(bare, noise, 2.0, np.random.default_rng(3))

    grid = grid_of(noise, 2.0)
    assert (found / grid == np.rint(found / grid)).all()
    assert (np.abs(found - bare - noise.sample(2.0, 1, np.random.default_rng(3))) <= 0.51 * grid).all()


def test_parameters_without_noise_or_beyond_its_digits_stay_what_they_are() -> None:
    found = noisy(np.array([[0.1, 1e300]]), mip.Gaussian([0.0, 1e-300]), 1.0, np.random.default_rng(0))

    assert found.tolist() == [[0.1, 1e300]]
    still = noisy(np.array([[0.1]]), mip.Gaussian([1.0]), 0.0, np.random.default_rng(0))
    assert still.tolist() == [[0.1]]
    assert grid_of(mip.Gaussian([1.0]), 1e-320)[0] > 0.0


def test_the_wrapper_releases_on_the_grid_that_it_names() -> None:
    released = mip.privatize(np.mean, np.random.default_rng(1).normal(size=20), 0.2)

    assert released.grid.shape == released.parameters.shape
    assert float(released.parameters / released.grid).is_integer()
    assert released.grid == grid_of(released.noise, released.scale)[0]
