"""Training sets at random: the interval holds at every number of draws, for all records and outcomes at once."""

import numpy as np
import pytest
from scipy.special import log_softmax, ndtri

from estimators.errors import OutOfRange
from estimators.theory import subsets
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.sampled import log_range, sample_epsilon
from tests.cases import each_case


@pytest.mark.slow
@each_case("n, outcomes, epsilon, draws", [(3, 3, 1.0, 50), (3, 2, 6.0, 400), (2, 4, 3.0, 2000)])
def test_limits_hold_for_all_records_at_once(n, outcomes, epsilon, draws) -> None:
    losses = np.random.default_rng(n).random((2 * n, outcomes))
    mechanism = Summed(losses, 1.0)
    truth = mechanism.exact(epsilon).epsilons

    found = [sample_epsilon(mechanism, epsilon, draws, 0.6, seed) for seed in range(20)]

    held = [bool(((f.lowers <= truth) & (truth <= f.uppers)).all()) for f in found]
    assert np.mean(held) >= 0.6
    assert np.mean([truth.max() in f.estimate.interval for f in found]) >= 0.6


OUTLIER = np.column_stack([np.r_[0.0, np.zeros(7)], np.r_[1.0, np.linspace(0.0, 0.1, 7)]])
ALIKE = np.tile(np.array([[0.0, 1.0], [1.0, 0.0]]), (4, 1))
RANDOM = np.random.default_rng(3).random((8, 3))


def quantile(chance: float) -> float:
    """The weight whose radius is the normal quantile: Bernstein's is so wide that no wrong count would show."""
    return float(ndtri(1.0 - chance)) ** 2 / 2.0


@pytest.mark.slow
@each_case("losses, confidence", [(OUTLIER, 0.5), (ALIKE, 0.8), (RANDOM, 0.5)])
def test_each_end_misses_as_often_as_its_half_of_the_rest_says(monkeypatch, losses, confidence) -> None:
    monkeypatch.setattr("estimators.theory.pmp.sampled.weight", quantile)
    mechanism = Summed(losses, float(np.ptp(losses, axis=0).max()))
    truth = mechanism.exact(1.0).epsilons
    runs, half = 50, (1.0 - confidence) / 2.0
    noise = 3.0 * np.sqrt(0.25 * 0.75 / runs)

    found = [sample_epsilon(mechanism, 1.0, 2000, confidence, seed) for seed in range(runs)]

    above = np.mean([f.estimate.upper < truth.max() for f in found])
    below = np.mean([f.estimate.lower > truth.max() for f in found])
    assert max(above, below) <= half + noise
    assert np.mean([(f.uppers < truth).any() for f in found]) <= half + noise
    assert np.mean([(f.lowers > truth).any() for f in found]) <= half + noise
    if losses is not ALIKE:  # one record decides: its one inequality is what may fail, and it does
        assert above >= half / 5.0


def test_limits_close_in_on_the_truth_and_the_upper_end_of_the_worst_asks_for_less_than_all_together() -> None:
    few = sample_epsilon(Summed(RANDOM, 1.0), 1.0, 5000)
    mechanism = Summed(np.random.default_rng(1).random((12, 4)), 1.0)
    exact, found = mechanism.exact(1.0), sample_epsilon(mechanism, 1.0, 200_000)

    assert Summed(RANDOM, 1.0).exact(1.0).epsilon < few.estimate.upper < few.uppers.max()
    assert (few.lowers <= few.uppers).all()
    assert exact.epsilon in found.estimate.interval
    assert found.estimate.interval.width < 0.012
    assert found.estimate.value == pytest.approx(exact.epsilon, abs=0.006)
    assert found.laws.epsilons == pytest.approx(exact.epsilons, abs=0.006)
    assert found.estimate.interval.guarantee.finite_sample


def test_a_few_draws_know_no_less_than_exchanges_and_an_outcome_never_seen_keeps_its_bound():
    mechanism = Summed(np.random.default_rng(2).random((60, 5)), 1.0)
    found = sample_epsilon(mechanism, 2.0, 2)

    assert found.estimate.lower == 0.0
    assert (found.uppers <= mechanism.exchanges(2.0)).all()

    losses = np.zeros((40, 2))
    losses[:, 1] = np.linspace(0.0, 1.0, 40)
    mechanism = Summed(losses, 1.0)
    found = sample_epsilon(mechanism, 300.0, 500)  # outcome 1 has a probability of e^-1500

    assert found.estimate.lower <= found.estimate.upper <= 300.0
    assert np.isfinite(found.estimate.value or 0.0)


def test_log_probabilities_stay_within_their_range() -> None:
    scores = np.random.default_rng(3).normal(size=(10, 4)) * 2
    logs = log_softmax(subsets.matrix(10, 5, "") @ scores, axis=1)
    low, high = log_range(scores)

    assert (low <= logs.min(axis=0) + 1e-12).all()
    assert (high >= logs.max(axis=0) - 1e-12).all()


def test_equal_records_and_a_single_outcome_are_no_trouble_and_tables_too_large_are_refused() -> None:
    for losses in (np.ones((40, 3)), np.random.default_rng(0).random((40, 1))):
        assert sample_epsilon(Summed(losses, 1.0), 1.0, 100).estimate.upper < 1e-3
    with pytest.raises(OutOfRange, match="fewer outcomes"):
        sample_epsilon(Summed(np.zeros((10, 4000)), 1.0), 1.0, 100)


@pytest.mark.slow
def test_progress_is_told_and_the_seed_repeats() -> None:
    mechanism = Summed(np.random.default_rng(1).random((30, 4)), 1.0)
    progress: list[float] = []
    one = sample_epsilon(mechanism, 1.0, 100_000, seed=7, progress=progress.append)
    two = sample_epsilon(mechanism, 1.0, 100_000, seed=7)
    other = sample_epsilon(mechanism, 1.0, 100_000, seed=8)

    assert progress == sorted(progress)
    assert len(progress) > 2
    assert progress[-1] == 1.0
    assert one.estimate == two.estimate != other.estimate
    with pytest.raises(OutOfRange, match="draws"):
        sample_epsilon(mechanism, 1.0, 1)
