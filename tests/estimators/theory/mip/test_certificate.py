"""Certified scales: they keep eta as often as they say, whether from swaps or from draws, in worlds gone through.

The limit for a mean of bounded numbers: it covers at every sample size, and is short where the numbers agree.
"""

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mip
from estimators.theory.mip.scales import SHARES, STAKES, all_below, log_wealth, rows_needed, upper_mean
from estimators.theory.subsets import matrix
from tests.cases import each_case

LINE = mip.KNorm(mip.Norm.euclid(1))
BELL = mip.Gaussian([1.0])
HALVES = matrix(6, 3, "")
DATA = np.random.default_rng(4).exponential(size=6) ** 2


def mean_swaps(generator: np.random.Generator, rounds: int) -> tuple[NDArray[np.float64], ...]:
    """Pairs of means of three of six, as ``swap_pairs`` makes them, without fitting."""
    found = mip.swap_pairs(np.mean, DATA, rounds, seed=int(generator.integers(2**31)))
    return found.before, found.after, found.record.astype(float)


def swap_eta(scale: float, noise: mip.Noise) -> float:
    """The exact bound by swaps of the worst record."""
    apart = np.abs(DATA[:, None] - DATA[None, :]) / 3.0
    return float((noise.total_variation((apart / scale).ravel()).reshape(6, 6).sum(axis=1) / 5.0).max()) / 2.0


def draw_eta(scale: float, noise: mip.Noise) -> float:
    """The exact bound by independent draws."""
    theta = HALVES @ DATA / 3.0
    return float(noise.total_variation((np.abs(theta[:, None] - theta) / scale).ravel()).mean())


def attained(scale: float, noise: mip.Noise) -> float:
    return float(mip.attained_eta(HALVES @ DATA / 3.0, HALVES, noise, scale).max())


@each_case("noise", [LINE, BELL])
@each_case("scale", [0.05, 0.3, 1.0, 5.0])
def test_truth_is_below_swaps_and_swaps_and_draws_are_both_bounds(noise, scale) -> None:
    assert attained(scale, noise) <= swap_eta(scale, noise) + 1e-12
    assert attained(scale, noise) <= draw_eta(scale, noise) + 1e-12


@each_case("noise", [LINE, BELL])
def test_the_bound_by_draws_is_attained_where_the_parameter_tells_membership(noise) -> None:
    rows = np.array([[True, False], [False, True]])

    truth = mip.attained_eta([1.0, -1.0], rows, noise, 3.0).max()

    by_draws = noise.total_variation(np.array([2.0 / 3.0]))[0] / 2.0  # half of the pairs agree
    assert truth == pytest.approx(by_draws, rel=1e-5)


@pytest.mark.slow
def test_a_scale_chosen_on_the_swaps_themselves_is_too_small_no_more_often_than_stated() -> None:
    generator, runs, eta, confidence = np.random.default_rng(5), 30, 0.2, 0.8
    sizes = (mip.Sizes.of_swaps(BELL, *mean_swaps(generator, 40)) for _ in range(runs))
    scales = [each.scale(eta, confidence) for each in sizes]

    assert np.mean([swap_eta(scale, BELL) > eta for scale in scales]) <= 1 - confidence
    assert all(attained(scale, BELL) <= eta for scale in scales)
    assert np.median([swap_eta(scale, BELL) for scale in scales]) > 0.6 * eta  # and not for nothing


@pytest.mark.slow
def test_a_scale_chosen_on_the_draws_themselves_is_too_small_no_more_often_than_stated() -> None:
    generator, runs, eta, confidence = np.random.default_rng(6), 50, 0.2, 0.8
    theta = HALVES @ DATA / 3.0
    samples = (theta[generator.integers(20, size=120)] for _ in range(runs))
    scales = [mip.Sizes.of_draws(LINE, sample).scale(eta, confidence) for sample in samples]

    assert np.mean([draw_eta(scale, LINE) > eta for scale in scales]) <= 1 - confidence
    assert np.median([draw_eta(scale, LINE) for scale in scales]) > 0.7 * eta


@pytest.mark.slow
def test_draws_certify_within_a_seventh_of_what_the_moment_bound_would_say_if_it_knew_the_moment() -> None:
    """Gaussian parameters: E|theta - theta'|/(2 s) is 2/sqrt(pi) of sigma/(2 s), to first order."""
    draws = np.random.default_rng(7).normal(size=200_000)
    ratio = mip.Sizes.of_draws(LINE, draws).scale(0.01) / mip.linear_scale(0.01, 1.0)

    assert 1.12 < ratio < 1.14  # 2/sqrt(pi) is 1.128


@pytest.mark.slow
def test_eta_and_scale_are_each_others_inverse_and_fall_together_whatever_the_labels_of_records():
    sizes = mip.Sizes.of_swaps(LINE, *mean_swaps(np.random.default_rng(8), 200))
    scales = [sizes.scale(eta) for eta in (0.05, 0.1, 0.2, 0.4)]

    assert scales == sorted(scales, reverse=True)
    for eta, scale in zip((0.05, 0.1, 0.2, 0.4), scales, strict=True):
        assert sizes.eta(scale) == pytest.approx(eta, rel=1e-5)
        assert sizes.eta(scale) <= eta
        assert sizes.scale(eta, 0.99) > scale

    before, after, record = mean_swaps(np.random.default_rng(10), 60)
    names = np.array([f"patient {int(r)}" for r in record])

    scales = [mip.Sizes.of_swaps(BELL, before, after, labels).scale(0.1) for labels in (names, record)]
    assert scales[0] == pytest.approx(scales[1])


def test_too_few_pairs_certify_no_scale_nor_does_a_parameter_that_moves_without_noise():
    sizes = mip.Sizes.of_swaps(LINE, *mean_swaps(np.random.default_rng(9), 10))

    assert sizes.scale(0.01) == inf
    assert sizes.fewest == 10
    assert sizes.least_pairs(0.01) > 100
    assert sizes.eta(0.001) <= 0.5

    noise, zeros, ones = mip.Gaussian([1.0, 0.0]), np.zeros((300, 2)), np.ones((300, 1))

    assert mip.Sizes.of_swaps(noise, zeros, zeros + 0.1, np.zeros(300)).scale(0.1) == inf
    assert mip.Sizes.of_swaps(LINE, ones, ones, np.zeros(300)).scale(0.1) == 0.0


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DimensionMismatch, match="as many rows"):
        mip.Sizes.of_swaps(LINE, [1.0, 2.0], [1.0], [0, 1])
    with pytest.raises(DimensionMismatch, match="the noise has 1"):
        mip.Sizes.of_draws(LINE, [[1.0, 2.0], [3.0, 4.0]])
    for outputs, noise in (([0.0], LINE), ([0.0] * len(HALVES), mip.Gaussian([1.0, 1.0]))):
        with pytest.raises(DimensionMismatch, match="one number a training set, and a noise on the line"):
            mip.attained_eta(outputs, HALVES, noise, 1.0)
    with pytest.raises(TooFewRecords):
        mip.Sizes.of_draws(LINE, [1.0])
    with pytest.raises(TooFewRecords):
        mip.Sizes.of_draws(LINE, [])
    with pytest.raises(NotFinite) as caught:
        mip.Sizes.of_draws(LINE, [1.0, float("inf"), 2.0])
    assert caught.value.index == 1
    with pytest.raises(OutOfRange, match="need numbers"):
        mip.Sizes.of_draws(LINE, ["a", "b"])
    with pytest.raises(OutOfRange):
        mip.Sizes.of_draws(LINE, [1.0, 2.0]).scale(0.7)


Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

WORLDS: dict[str, tuple[Draw, float]] = {
    "rare ones": (lambda g, n: (g.random(n) < 0.05).astype(float), 0.05),
    "coin": (lambda g, n: (g.random(n) < 0.3).astype(float), 0.3),
    "uniform": (lambda g, n: g.random(n), 0.5),
    "narrow": (lambda g, n: 0.15 + 0.1 * g.random(n), 0.2),
    "rare and large": (lambda g, n: np.where(g.random(n) < 0.02, 1.0, 0.1), 0.118),
}


@pytest.mark.slow
@each_case("world", WORLDS)
@each_case("n", [5, 50, 300])
def test_the_limit_is_below_the_mean_no_more_often_than_stated(world, n) -> None:
    draw, mean = WORLDS[world]
    generator, runs, alpha = np.random.default_rng(n), 80, 0.1
    none = np.zeros(n, dtype=np.int64)
    misses = sum(all_below(draw(generator, n), mean, none, 1, alpha) for _ in range(runs))

    assert misses <= runs * alpha  # measured over 3,000 runs in these worlds: at most 0.5%


def hoeffding(x: NDArray[np.float64], alpha: float) -> float:
    return float(x.mean() + np.sqrt(np.log(1 / alpha) / (2 * len(x))))


def maurer_pontil(x: NDArray[np.float64], alpha: float) -> float:
    log = np.log(2 / alpha)
    return float(x.mean() + np.sqrt(2 * x.var(ddof=1) * log / len(x)) + 7 * log / (3 * (len(x) - 1)))


def chernoff(x: NDArray[np.float64], alpha: float) -> float:
    """Largest m with len(x) KL(mean || m) <= ln(1/alpha)."""
    mean, low, high = float(x.mean()), float(x.mean()), 1.0
    for _ in range(60):
        m = (low + high) / 2
        parts = (mean * np.log(mean / m) if mean else 0.0) + (1 - mean) * np.log((1 - mean) / (1 - m))
        low, high = (m, high) if len(x) * parts <= np.log(1 / alpha) else (low, m)
    return high


@each_case("alpha", [0.05, 5e-4])
def test_where_numbers_agree_it_is_shorter_than_the_three_others_proven_and_else_near_the_chernoff_bound(alpha) -> None:
    x, coins = (WORLDS[name][0](np.random.default_rng(0), 200) for name in ("narrow", "coin"))
    others = min(each(x, alpha) for each in (hoeffding, maurer_pontil, chernoff))

    assert upper_mean(x, alpha) - x.mean() < 0.5 * (others - x.mean())
    assert upper_mean(coins, 1e-3) - coins.mean() < 1.25 * (chernoff(coins, 1e-3) - coins.mean())


@pytest.mark.slow
@each_case("fit, rounds", [(np.mean, 512), (np.median, 128)])
def test_on_the_terms_it_is_used_for_it_is_the_shortest_of_the_four(fit, rounds) -> None:
    """Swaps of 40 records, at the scale that is calibrated for eta = 0.1: the worst record's limit."""
    pairs = mip.swap_pairs(fit, np.random.default_rng(1).normal(size=40), rounds, seed=3)
    sizes, alpha = mip.Sizes.of_swaps(mip.Gaussian([1.0]), pairs.before, pairs.after, pairs.record), 0.05
    x = sizes.noise.total_variation(sizes.sizes / sizes.scale(0.1))
    own = [x[sizes.group == record] for record in range(40)]
    ours = max(upper_mean(each, alpha) for each in own)

    assert ours == pytest.approx(0.2, rel=1e-4)
    for other in (hoeffding, maurer_pontil, chernoff):
        assert max(other(each, alpha) for each in own) > 1.05 * ours


@pytest.mark.slow
def test_the_limit_rises_with_every_number_and_the_worst_group_decides_at_a_level_of_its_own(rng):
    x = rng.random(40)

    for _ in range(20):
        assert upper_mean(np.minimum(1.0, x + 0.1 * rng.random(40)), 0.05) >= upper_mean(x, 0.05)

    x, group = np.concatenate([0.1 * rng.random(100), rng.random(100)]), np.repeat([0, 1], 100)
    assert upper_mean(x, 0.05, group, 2) == pytest.approx(upper_mean(x[100:], 0.05), abs=1e-12)


@pytest.mark.slow
@each_case("others", [0.0, 0.1, 0.2])
def test_the_worst_of_forty_groups_is_below_the_limit_no_more_often_than_stated_without_correction(others):
    """At a visible level: as few rows as show anything, and the worst group's mean is the one that is tested."""
    generator, runs, alpha = np.random.default_rng(11), 600, 0.1
    rows = rows_needed(0.2, alpha)
    group, mean = np.repeat(np.arange(40), rows), np.full(40, others)
    mean[7] = 0.2
    samples = ((generator.random(len(group)) < mean[group]).astype(float) for _ in range(runs))
    wrong = sum(all_below(sample, 0.2, group, 40, alpha) for sample in samples)

    assert wrong <= runs * alpha
    # all hangs on the worst: the level is nearly used, where Bonferroni would have 0.1% of it
    if others == 0.0:
        assert wrong > 0.2 * runs * alpha


@pytest.mark.slow
def test_a_scale_for_forty_records_is_too_small_no_more_often_than_stated() -> None:
    """Swap sizes of 40 records of known laws: exponential lengths, one record's twice as long."""
    generator, runs, noise, confidence = np.random.default_rng(12), 30, mip.Gaussian([1.0]), 0.9
    group, length = np.repeat(np.arange(40), 40), np.ones(40)
    length[3] = 2.0
    quantiles = -np.log1p(-(np.arange(20_000) + 0.5) / 20_000)

    def true_eta(scale: float) -> float:
        return float(noise.total_variation(2.0 * quantiles / scale).mean()) / 2.0

    draws = (length[group] * generator.exponential(size=len(group)) for _ in range(runs))
    scales = [mip.Sizes(noise, each, group, 40, 0.5).scale(0.1, confidence) for each in draws]
    assert sum(true_eta(scale) > 0.1 for scale in scales) <= runs * (1.0 - confidence)


def test_the_rows_needed_are_the_fewest_that_show_anything() -> None:
    needed = rows_needed(0.2, 0.05)
    nothing = np.zeros(needed * 10)

    assert needed == 18
    assert all_below(nothing, 0.2, np.arange(needed * 10) % 10, 10, 0.05)
    fewer = (needed - 4) * 10  # the other stakes own a little, too
    assert not all_below(nothing[:fewer], 0.2, np.arange(fewer) % 10, 10, 0.05)


def test_the_gamblers_own_one_together_and_none_stakes_more_than_all() -> None:
    assert SHARES.sum() == pytest.approx(1.0, abs=1e-12)
    assert (STAKES <= 1.0).all()
    # a fair game: on average over 0 and 1 with mean m the wealth stays 1
    for m in (0.1, 0.7):
        lost, won = (np.exp(log_wealth(np.array([v]), m, np.array([0]), 1))[0] for v in (1.0, 0.0))
        assert m * lost + (1 - m) * won == pytest.approx(1.0)
