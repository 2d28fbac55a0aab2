"""The noise for a wanted practical epsilon."""

import numpy as np
import pytest

from estimators.errors import OutOfRange
from estimators.theory.pmp import bounds
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian, of_sum
from tests.cases import each_case
from tests.estimators.theory.pmp.worlds import FALLING


def test_the_practical_epsilon_is_not_monotone_and_what_is_never_reached_stops_at_the_farthest():
    mechanism = Summed(FALLING, 4.0)
    found = [mechanism.exact(epsilon).epsilon for epsilon in (8.0, 16.0, 64.0)]

    assert found == sorted(found, reverse=True)
    assert found[0] - found[-1] > 0.1

    assert bounds.epsilon(Summed(FALLING, 4.0), 5.0, farthest=100.0) == 100.0
    assert bounds.epsilon_by_exchanges(Summed(np.ones((4, 2)), 1.0), 5.0, farthest=100.0) == 100.0


@each_case("wanted", [0.01, 0.3, 0.9])
def test_epsilon_is_the_first_that_reaches_what_is_wanted(wanted) -> None:
    mechanism = Summed(FALLING, 4.0)
    found = bounds.epsilon(mechanism, wanted)

    assert mechanism.exact(found).epsilon <= wanted
    assert mechanism.exact(found).epsilon == pytest.approx(wanted, rel=1e-6)
    assert all(mechanism.exact(e).epsilon <= wanted for e in np.linspace(1e-3, found, 50))


def test_by_exchanges_it_is_smaller_and_still_enough_and_epsilon_on_records_is_reached() -> None:
    losses = np.random.default_rng(0).random((10, 3))
    mechanism, other = Summed(losses, 1.0), Summed(losses, 2.0)
    found = bounds.epsilon_by_exchanges(mechanism, 0.5)

    assert 0.5 <= found <= bounds.epsilon(mechanism, 0.5)
    assert mechanism.exact(found).epsilon <= 0.5
    assert mechanism.exchanges(found).max() == pytest.approx(0.5, rel=1e-6)
    assert other.on_records(bounds.epsilon_on_records(other, 5.0)) == pytest.approx(5.0, rel=1e-6)


@pytest.mark.slow
@each_case("wanted", [0.05, 0.5, 5.0])
@each_case("delta", [1e-6, 1e-2])
def test_sigma_is_the_least_that_keeps_what_is_wanted(wanted, delta) -> None:
    moved = of_sum(np.random.default_rng(0).normal(size=(30, 3)))
    found = bounds.sigma(moved, wanted, delta)

    assert Gaussian(moved, found).epsilon(delta) <= wanted
    assert Gaussian(moved, found * (1 - 1e-6)).epsilon(delta) > wanted


def test_equal_points_need_no_noise_and_nonsense_is_refused() -> None:
    moved = of_sum(np.ones((4, 1)))

    assert bounds.sigma(moved, 1.0, 0.1) == 0.0
    with pytest.raises(OutOfRange, match="wanted"):
        bounds.sigma(moved, -0.1, 0.1)
    mechanism = Summed(FALLING, 4.0)
    for chosen in (bounds.epsilon, bounds.epsilon_by_exchanges, bounds.epsilon_on_records):
        with pytest.raises(OutOfRange, match="wanted: got 1e-300, need at least 1e-09"):
            chosen(mechanism, 1e-300)
    with pytest.raises(OutOfRange, match="delta: so small"):
        bounds.sigma(of_sum(np.array([[0.0], [1e290]])), 1e-300, 1e-300)
    with pytest.raises(OutOfRange, match="delta"):
        bounds.sigma(moved, 1.0, 0.0)
