"""The exact lower end from the best single cut."""

from itertools import product
from math import comb

import numpy as np
import pytest

from estimators import Counts, Scores
from estimators.adversary import lower_end as module
from estimators.adversary.lower_end import BestCut, LowerEnd, best_cut
from estimators.optimum.ends import checked_ends
from tests.cases import each_case


def chance_by_enumeration(right: float, n1: int, n0: int, prior: float, a: float) -> float:
    """P(S >= right) under the worst law of truth a: every number below and above, every order of the rest."""
    below, above = max(0.0, (a - prior) / (1 - prior)), max(0.0, 1 - (1 - a) / prior)
    total = 0.0
    for k, m in product(range(n0 + 1), range(n1 + 1)):
        weight = comb(n0, k) * below**k * (1 - below) ** (n0 - k)
        weight *= comb(n1, m) * above**m * (1 - above) ** (n1 - m)
        ways = reached = 0
        for order in product((0, 1), repeat=n0 - k + n1 - m):
            if sum(order) != n1 - m:
                continue
            ways += 1
            sides = [0] * k + list(order) + [1] * m
            cuts = range(len(sides) + 1)
            best = max(prior * sum(sides[c:]) / n1 + (1 - prior) * sides[:c].count(0) / n0 for c in cuts)
            reached += best >= right - 1e-12
        total += weight * reached / ways
    return total


@each_case("n1, n0, prior, a, right", [
    (4, 4, 0.5, 0.5, 0.75), (4, 4, 0.5, 0.7, 0.875), (3, 6, 1 / 3, 0.7, 8 / 9), (3, 5, 0.5, 0.6, 0.8),
    (5, 3, 0.3, 0.75, 0.86), (2, 6, 0.8, 0.85, 0.9),
])  # fmt: skip
def test_the_chance_of_the_best_cut_is_that_of_every_order(n1, n0, prior, a, right) -> None:
    """Counted one by one; by reflection only where every record weighs the same."""
    expected = chance_by_enumeration(right, n1, n0, prior, a)

    assert module._reach_by_steps(right - 1e-9, n1, n0, prior, a, 1e-12) == pytest.approx(expected, abs=1e-9)
    if abs(prior * n0 - (1 - prior) * n1) < 1e-9:
        assert module._reach_by_reflection(right - 1e-9, n1, n0, prior, a, 1e-12) == pytest.approx(expected, abs=1e-9)


@each_case("n1, n0, prior", [(24, 24, 0.5), (20, 80, 0.2), (30, 300, 0.5), (40, 15, 0.7), (200, 200, 0.5)])
def test_the_end_is_the_largest_truth_that_is_refused(n1, n0, prior) -> None:
    """At the end the chance is at most the level, and a little above it is more."""
    floor = max(prior, 1 - prior)
    for right in (floor + 0.5 * (1 - floor), floor + 0.8 * (1 - floor), 1.0):
        cut = BestCut((right, 0.0), n1, n0, prior)
        found = (1 + cut.lower(0.05)) / 2
        reach = module._reach_by_steps if prior * n0 != (1 - prior) * n1 else module._reach_by_reflection
        if found > floor:
            assert reach(right - 1e-9, n1, n0, prior, found, 1e-9) <= 0.025
        assert reach(right - 1e-9, n1, n0, prior, min(found + 2e-4, 1.0), 1e-9) > 0.02499


@each_case("n, least", [(8, 0.37), (10, 0.47), (24, 0.75), (50, 0.87)])
def test_sides_wholly_apart(n, least) -> None:
    """By the closed form of equal steps: n a side, every cut right."""
    assert least < best_cut(Counts.of([0, n], [n, 0], edges=[0.5]), prior=0.5).lower(0.025) < least + 0.01


def test_ties_and_more_records_only_lower_it_and_what_has_no_order_or_costs_much_has_none() -> None:
    whole = Counts.of([1, 2, 3, 14], [12, 5, 2, 1], edges=[0.0, 1.0, 2.0])
    assert best_cut(Counts.of([3, 17], [17, 3], edges=[1.0]), 0.5).lower(0.025) <= best_cut(whole, 0.5).lower(0.025)
    assert best_cut(Counts.of([5, 5], [5, 5]), 0.5) is None
    assert best_cut(Counts.of([5000, 5000], [5000, 5000], edges=[0.0]), 0.5) is None
    assert best_cut(Counts.of([500, 100], [300, 2000], edges=[0.0]), 0.5) is None
    assert best_cut(Counts.of([4, 4], [4, 4], edges=[0.0]), 0.999).lower(0.025) == pytest.approx(0.998)


def test_no_direction_is_preferred() -> None:
    counts = Counts.of([2, 3, 9], [9, 5, 1], edges=[0.0, 1.0])
    sides = ((counts.members[::-1], counts.nonmembers[::-1]), (counts.nonmembers, counts.members))
    ways = [Counts.of(*each, edges=[0.0, 1.0]) for each in sides]

    ends = {best_cut(each, 0.5).lower(0.025) for each in (counts, *ways)}
    assert np.ptp(list(ends)) < 1e-12


@each_case("shift", [0.0, 1.0, 4.0])
def test_the_lower_end_lies_between_what_bounds_it_without_a_limit_of_the_cut(shift) -> None:
    rng = np.random.default_rng(5)
    for size in (8, 20, 60, 150):
        below = checked_ends(Scores.of(rng.normal(shift, 1, size), rng.normal(0, 1, size)), 0.5, None, 0).validation
        assert isinstance(below, LowerEnd)
        least, most = below.between(0.025)
        assert least <= below.at(0.025).lower <= most
