"""The limit for a mean of bounded numbers: it covers at every sample size, and is short where the numbers agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.theory import mip
from estimators.theory.mip.betting import SHARES, STAKES, all_below, log_wealth, rows_needed, upper_mean

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

WORLDS: dict[str, tuple[Draw, float]] = {
    "rare ones": (lambda g, n: (g.random(n) < 0.05).astype(float), 0.05),
    "coin": (lambda g, n: (g.random(n) < 0.3).astype(float), 0.3),
    "uniform": (lambda g, n: g.random(n), 0.5),
    "narrow": (lambda g, n: 0.15 + 0.1 * g.random(n), 0.2),
    "rare and large": (lambda g, n: np.where(g.random(n) < 0.02, 1.0, 0.1), 0.118),
}


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [5, 50, 300])
def test_the_limit_is_below_the_mean_no_more_often_than_stated(world: str, n: int) -> None:
    draw, mean = WORLDS[world]
    generator, runs, alpha = np.random.default_rng(n), 1000, 0.1

    misses = sum(
        all_below(draw(generator, n), mean, np.zeros(n, dtype=np.int64), 1, alpha) for _ in range(runs)
    )

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


@pytest.mark.parametrize("alpha", [0.05, 5e-4])
def test_where_the_numbers_agree_it_is_shorter_than_the_three_others_that_are_proven(alpha: float) -> None:
    x = WORLDS["narrow"][0](np.random.default_rng(0), 200)

    found = upper_mean(x, alpha)

    assert found - x.mean() < 0.5 * min(
        each(x, alpha) - x.mean() for each in (hoeffding, maurer_pontil, chernoff)
    )


def test_where_they_do_not_it_is_near_the_chernoff_bound() -> None:
    x = WORLDS["coin"][0](np.random.default_rng(0), 200)

    assert upper_mean(x, 1e-3) - x.mean() < 1.25 * (chernoff(x, 1e-3) - x.mean())


@pytest.mark.parametrize("rounds", [128, 512])
@pytest.mark.parametrize("fit", [np.mean, np.median])
def test_on_the_terms_it_is_used_for_it_is_the_shortest_of_the_four(
    fit: Callable[..., float], rounds: int
) -> None:
    """Swaps of 40 records, at the scale that is calibrated for eta = 0.1: the worst record's limit."""
    pairs = mip.swap_pairs(fit, np.random.default_rng(1).normal(size=40), rounds, seed=3)
    sizes, alpha = mip.Sizes.of_swaps(mip.Gaussian([1.0]), pairs.before, pairs.after, pairs.record), 0.05
    x = sizes.noise.total_variation(sizes.sizes / sizes.scale(0.1))
    own = [x[sizes.group == record] for record in range(40)]

    ours = max(upper_mean(each, alpha) for each in own)

    assert ours == pytest.approx(0.2, rel=1e-4)
    for other in (hoeffding, maurer_pontil, chernoff):
        assert max(other(each, alpha) for each in own) > 1.05 * ours


def test_the_limit_rises_with_every_number() -> None:
    generator = np.random.default_rng(1)
    x = generator.random(40)

    for _ in range(20):
        assert upper_mean(np.minimum(1.0, x + 0.1 * generator.random(40)), 0.05) >= upper_mean(x, 0.05)


@pytest.mark.parametrize("others", [0.0, 0.1, 0.2])
def test_the_worst_of_forty_groups_is_below_the_limit_no_more_often_than_stated_without_correction(
    others: float,
) -> None:
    """At a visible level: as few rows as show anything, and the worst group's mean is the one that is tested."""
    generator, runs, alpha = np.random.default_rng(11), 2000, 0.1
    rows = rows_needed(0.2, alpha)
    group, mean = np.repeat(np.arange(40), rows), np.full(40, others)
    mean[7] = 0.2

    wrong = sum(
        all_below((generator.random(len(group)) < mean[group]).astype(float), 0.2, group, 40, alpha)
        for _ in range(runs)
    )

    assert wrong <= runs * alpha
    if (
        others == 0.0
    ):  # all hangs on the worst: the level is nearly used, where Bonferroni would have 0.1% of it
        assert wrong > 0.2 * runs * alpha


def test_a_scale_for_forty_records_is_too_small_no_more_often_than_stated() -> None:
    """Swap sizes of 40 records of known laws: exponential lengths, one record's twice as long."""
    generator, runs, noise, confidence = np.random.default_rng(12), 100, mip.Gaussian([1.0]), 0.9
    group, length = np.repeat(np.arange(40), 40), np.ones(40)
    length[3] = 2.0
    quantiles = -np.log1p(-(np.arange(20_000) + 0.5) / 20_000)

    def true_eta(scale: float) -> float:
        return float(noise.total_variation(2.0 * quantiles / scale).mean()) / 2.0

    misses = sum(
        true_eta(
            mip.Sizes(noise, length[group] * generator.exponential(size=len(group)), group, 40, 0.5).scale(
                0.1, confidence
            )
        )
        > 0.1
        for _ in range(runs)
    )

    assert misses <= runs * (1.0 - confidence)


def test_the_worst_group_decides_at_a_level_of_its_own() -> None:
    generator = np.random.default_rng(2)
    x, group = np.concatenate([0.1 * generator.random(100), generator.random(100)]), np.repeat([0, 1], 100)

    found = upper_mean(x, 0.05, group, 2)

    assert found == pytest.approx(upper_mean(x[100:], 0.05), abs=1e-12)


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
