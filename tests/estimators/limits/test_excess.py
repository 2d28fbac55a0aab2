"""Hits that chance does not explain: against the hypergeometric law, and how often the limit is too high."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from estimators.limits.binomial import excess_lower


@given(st.data())
def test_the_limit_is_the_least_number_that_chance_does_not_refuse(data) -> None:
    trials, others = (data.draw(st.integers(1, 40)) for _ in range(2))
    hits, other_hits = data.draw(st.integers(0, trials)), data.draw(st.integers(0, others))
    alpha = data.draw(st.sampled_from([0.001, 0.025, 0.2]))

    def chance(beyond: int) -> float:
        left = hits - beyond
        return float(hypergeom.sf(left - 1, trials + others, left + other_hits, trials))

    found = excess_lower(hits, trials, other_hits, others, alpha)

    # a chance of just alpha is either, as floats have it
    assert chance(found) > alpha * (1 - 1e-9)
    assert all(chance(beyond) < alpha * (1 + 1e-9) for beyond in range(found))


def test_by_hand() -> None:
    # of ten hits on either side alike each is on this side with probability about a half: 2^-5 > 0.025 > 2^-6
    assert excess_lower(1000, 10**6, 0, 10**6, 0.025) == 995
    assert excess_lower(0, 10, 0, 10, 0.025) == 0
    assert excess_lower(10, 10, 10, 10, 0.025) == 0


@pytest.mark.parametrize("of_the_rest", [False, True], ids=["any trials", "those that chance does not hit"])
@pytest.mark.parametrize(("made", "chance"), [(0, 0.02), (5, 0.02), (5, 0.3), (20, 0.0), (40, 0.5), (40, 0.1)])
def test_it_is_too_high_as_seldom_as_it_says(made: int, chance: float, of_the_rest: bool) -> None:
    """Hits are made of any trials, some of which chance would have hit, or of those alone that it would not have."""
    rng, runs, high = np.random.default_rng(0), 400, 0
    for _ in range(runs):
        by_chance, other_hits = rng.random(150) < chance, int(rng.binomial(100, chance))
        some = rng.permutation(np.flatnonzero(~by_chance) if of_the_rest else 150)[:made]
        beyond = int((~by_chance[some]).sum())
        high += excess_lower(int(by_chance.sum()) + beyond, 150, other_hits, 100, 0.05) > beyond
    assert high / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
