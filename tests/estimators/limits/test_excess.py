"""Hits that chance does not explain: against the hypergeometric law, and how often the limit is too high."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from estimators.limits.binomial import excess_lower


@given(st.data())
def test_the_limit_is_the_least_number_that_chance_does_not_refuse(data) -> None:
    trials, others = (data.draw(st.integers(1, 40)) for _ in range(2))
    hits, other_hits = data.draw(st.integers(0, trials)), data.draw(st.integers(0, others))
    alpha = data.draw(st.sampled_from([0.001, 0.025, 0.2]))

    def chance(made: int) -> float:
        left = hits - made
        return float(hypergeom.sf(left - 1, trials - made + others, left + other_hits, trials - made))

    found = excess_lower(hits, trials, other_hits, others, alpha)

    # a chance of just alpha is either, as floats have it
    assert chance(found) > alpha * (1 - 1e-9)
    assert all(chance(made) < alpha * (1 + 1e-9) for made in range(found))


def test_by_hand() -> None:
    # of ten hits on either side alike each is on this side with probability about a half: 2^-5 > 0.025 > 2^-6
    assert excess_lower(1000, 10**6, 0, 10**6, 0.025) == 995
    assert excess_lower(0, 10, 0, 10, 0.025) == 0
    assert excess_lower(10, 10, 10, 10, 0.025) == 0


def test_it_is_too_high_as_seldom_as_it_says() -> None:
    rng, runs = np.random.default_rng(0), 400
    for made, chance in ((0, 0.02), (5, 0.02), (5, 0.3), (20, 0.0)):
        trials, others = 150, 100
        hits = made + rng.binomial(trials - made, chance, runs)
        other_hits = rng.binomial(others, chance, runs)
        limits = [excess_lower(int(a), trials, int(b), others, 0.05) for a, b in zip(hits, other_hits, strict=True)]
        assert np.mean(np.array(limits) > made) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
