"""How many of some records stand above others drawn alike: against every order there is."""

from itertools import combinations

import numpy as np
import pytest

from estimators.limits.every_cut import LARGE, _sum_of, alike_at_most, chance_within, most_above
from tests.cases import each_case


def orders(n: int, m: int) -> np.ndarray:
    """Of each order of m records among n others, how many of the m stand above each of the n."""
    rows = []
    for places in combinations(range(n + m), m):
        others = np.setdiff1d(np.arange(n + m), places)
        rows.append(np.searchsorted(places, others))
    return np.array(rows)


@each_case(
    "n, m, limits", [(4, 3, [1, 2, 2, 3]), (5, 5, [3, 3, 4, 5, 5]), (6, 2, [0, 1, 1, 2, 2, 2]), (3, 8, [4, 7, 8])]
)
def test_the_chance_is_that_of_all_orders(n: int, m: int, limits: list[int]) -> None:
    exact = (orders(n, m) <= np.array(limits)).all(axis=1).mean()

    assert chance_within(n, m, np.arange(1, n + 1), np.array(limits)) == pytest.approx(exact, rel=1e-12)


@each_case("n, m, alpha", [(6, 5, 0.1), (5, 8, 0.2), (9, 4, 0.05), (12, 1, 0.1)])
def test_the_limits_hold_together_as_often_as_they_say(n: int, m: int, alpha: float) -> None:
    limits = most_above(n, m, alpha)

    above = orders(n, m)  # a cut with k others at or above it stands just before the next
    assert 0.0 < (above > limits[:n]).any(axis=1).mean() <= alpha
    assert limits[n] == m
    assert (np.diff(limits) >= 0).all()


@pytest.mark.slow
def test_every_list_is_at_most_as_false_as_it_is_long_and_the_longest_holds_all() -> None:
    rng = np.random.default_rng(0)
    listed = np.arange(1, 401)
    others = np.sort(rng.integers(0, 301, 400))
    others[-1] = 300

    most = alike_at_most(listed, others, 0.025)

    assert (most <= listed).all()
    assert (np.diff(most) >= 0).all()
    assert (np.diff(listed - most) >= 0).all()


@pytest.mark.slow
def test_where_all_are_alike_hardly_anybody_is_said_to_be_exposed() -> None:
    rng, wrong, runs = np.random.default_rng(1), 0, 120
    for _ in range(runs):
        is_listed = rng.permutation(np.arange(160) < 80)
        most = alike_at_most(np.append(np.cumsum(is_listed), 80), np.append(np.cumsum(~is_listed), 80), 0.1)
        wrong += bool((most < np.append(np.cumsum(is_listed), 80)).any())

    assert wrong <= 50  # 10% of 300, and four deviations
    assert wrong > 0


def test_long_laws_are_added_as_short_ones_are() -> None:
    rng = np.random.default_rng(3)
    law, other = rng.dirichlet(np.ones(1800)), rng.dirichlet(np.ones(1701))

    assert len(law) * len(other) > LARGE
    assert _sum_of(law, other) == pytest.approx(np.convolve(law, other), abs=1e-15)
