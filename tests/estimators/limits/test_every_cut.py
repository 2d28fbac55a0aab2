"""Limits of the share beyond every cut hold all together, as often as they say."""

import numpy as np
import pytest
from scipy.stats import beta

from benchmarks.band import chance_outside, level_for
from estimators.limits.every_cut import ALPHAS, ETAS, SIZES, local_level, records_beyond, share_limits
from tests.cases import each_case
from tests.oracles import most_misses


@each_case("n", [1, 2, 3, 7, 30, 150, 700])
@each_case("alpha", [0.4, 0.0253, 0.0005, 1e-6])
def test_the_exact_chance_that_a_limit_fails_is_at_most_alpha(n, alpha) -> None:
    chance = chance_outside(n, local_level(n, alpha))

    assert chance <= alpha + 1e-12  # what sums of floats differ by
    assert chance >= (0.9 * alpha if 1e-5 < alpha <= 0.3 else 0.0)  # and hardly below


@pytest.mark.slow
@each_case("place", range(len(SIZES) - 3))
def test_the_levels_that_are_kept_are_those_of_their_sizes(place) -> None:
    for alpha, level in zip(ALPHAS, ETAS[place], strict=True):
        assert 0.995 * alpha <= chance_outside(SIZES[place], level) <= alpha * (1.0 + 1e-9)


def test_a_level_that_is_kept_is_found_again() -> None:
    for size, alpha in ((3, 0.3), (100, 0.02), (300, 0.0005)):
        kept = ETAS[SIZES.index(size)][ALPHAS.index(alpha)]
        assert level_for(size, alpha) == pytest.approx(kept, rel=2e-3)


def test_the_exact_chance_is_that_of_drawing() -> None:
    runs, n, level = 20_000, 12, 0.05
    numbers = np.sort(np.random.default_rng(0).random((runs, n)), axis=1)
    ranks = np.arange(1, n + 1)
    low, high = beta.ppf([[level / 2], [1 - level / 2]], ranks, n + 1 - ranks)
    outside = int(((numbers < low) | (numbers > high)).any(axis=1).sum())

    chance = chance_outside(n, level)

    assert runs - most_misses(runs, 1.0 - chance) <= outside <= most_misses(runs, chance)


@each_case("n", [1, 2, 50, 3000])
def test_records_beyond_are_the_most_whose_limits_are_within(n) -> None:
    shares = np.array([1e-9, 0.001, 0.02, 0.3, 0.5, 0.9, 1.0 - 1e-9])
    low, high = share_limits(np.arange(n + 1), n, 0.03)

    surely, maybe = records_beyond(shares, n, 0.03)

    assert surely.tolist() == [int((high[:-1] <= share).sum()) - 1 for share in shares]
    assert maybe.tolist() == [int((low <= share).sum()) - 1 for share in shares]


def test_limits_are_those_of_beta_laws_and_widen_with_the_confidence() -> None:
    n, alpha = 40, 0.05
    side = local_level(n, alpha) / 2.0
    low, high = share_limits(np.array([0, 1, 20, 39, 40]), n, alpha)

    np.testing.assert_allclose(low[1:], beta.ppf(side, [1, 20, 39, 40], [40, 21, 2, 1]), rtol=1e-9)
    np.testing.assert_allclose(high[:-1], beta.isf(side, [1, 2, 21, 40], [40, 39, 20, 1]), rtol=1e-9)
    assert (low[0], high[-1]) == (0.0, 1.0)
    assert local_level(n, 0.001) < local_level(n, alpha)
    assert local_level(10**9, alpha) < local_level(10**6, alpha) < local_level(999, alpha)
