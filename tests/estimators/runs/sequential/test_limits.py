"""Bets that cannot be won on average, whatever the rates: by summing over every outcome, no simulation."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import differential_evolution
from scipy.stats import binom

from estimators.adversary.changes import corners_of
from estimators.runs.sequential.limits import Blocks, lower_accuracy, upper_accuracy, won_against, won_for

Floats = NDArray[np.float64]

ALPHA, PLANNED = 0.025, 200

EARLIER = (520, 1000, 690, 1000)
"""A block after which nearly all stakes are bet; before any record none is."""


def blocks(*outcomes: tuple[int, int, int, int]) -> Blocks:
    table = np.array(outcomes).reshape(-1, 4).T
    return Blocks(table[0], table[1], table[2], table[3])


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.9])
@pytest.mark.parametrize(("n1", "n0"), [(4, 4), (2, 7), (6, 1)])
def test_bets_on_right_guesses_are_never_won_on_average(prior, n1, n0) -> None:
    """One block more, at every pair of rates whose accuracy is the one that is bet against, or less."""
    accuracy = 0.6 if prior == 0.5 else 0.92
    right = np.array(list(product(range(n1 + 1), range(n0 + 1))))
    before = won_for(blocks(EARLIER), prior, accuracy, ALPHA, PLANNED)
    after = [won_for(blocks(EARLIER, (a, n1, b, n0)), prior, accuracy, ALPHA, PLANNED) for a, b in right]
    money = np.exp(np.array(after) - before)
    assert money.min() < 1.0 < money.max()
    for below in (0.0, 0.05):
        for tpr in np.linspace(0.0, 1.0, 21):
            tnr = (accuracy - below - prior * tpr) / (1.0 - prior)
            if 0.0 <= tnr <= 1.0:
                chance = binom.pmf(right[:, 0], n1, tpr) * binom.pmf(right[:, 1], n0, tnr)
                assert chance @ money <= 1.0 + 1e-9


@pytest.mark.slow
def test_nor_by_rules_that_follow_what_was_seen() -> None:
    """Two blocks, the rates of the second chosen by what came of the first, as badly for the limit as they can be."""
    accuracy, n = 0.6, 2
    start = won_for(blocks(EARLIER), 0.5, accuracy, ALPHA, PLANNED)
    outcomes = list(product(range(n + 1), repeat=2))
    rates = [(t, 1.2 - t) for t in np.linspace(0.2, 1.0, 9)]

    def expected(before: list[tuple[int, int, int, int]]) -> float:
        if len(before) == 2:
            return float(np.exp(won_for(blocks(EARLIER, *before), 0.5, accuracy, ALPHA, PLANNED) - start))
        worth = np.array([expected([*before, (a, n, b, n)]) for a, b in outcomes])
        chances = [[binom.pmf(a, n, t) * binom.pmf(b, n, s) for a, b in outcomes] for t, s in rates]
        return float(np.max(np.array(chances) @ worth))

    assert expected([]) <= 1.0 + 1e-9


@pytest.mark.parametrize("prior", [0.5, 0.2])
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_bets_against_a_rule_are_fair_at_its_own_rates(prior, share) -> None:
    """Whatever share of members was expected: exactly 1 at every pair of rates."""
    n1, n0 = 5, 4
    right = np.array(list(product(range(n1 + 1), range(n0 + 1))), dtype=float)
    for tpr, tnr in product([0.0, 0.03, 0.5, 0.9, 1.0], repeat=2):
        rates = np.array([tpr, tnr])
        won = won_against(right / [n1, n0], rates[None], (n1, n0), prior, ALPHA, PLANNED, share)
        chance = binom.pmf(right[:, 0], n1, tpr) * binom.pmf(right[:, 1], n0, tnr)
        assert chance @ np.exp(won) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.slow
def test_more_right_guesses_never_lower_a_limit() -> None:
    right = range(0, 41, 5)
    seen = [blocks((10, 20, 15, 20), (k, 40, 30, 40)) for k in right]
    lower = [lower_accuracy(each, 0.5, ALPHA, PLANNED) for each in seen]
    upper = [upper_accuracy(np.array([[k / 40, 0.75]]), 40, 40, 0.5, ALPHA, PLANNED, 0.5) for k in right]

    assert lower == sorted(lower)
    assert upper == sorted(upper)
    assert lower[0] < lower[-1] < (1.0 + 0.75) / 2.0 < upper[-1]


LINES = {
    "round": np.column_stack([np.linspace(0, 1, 30), 1.0 - np.linspace(0, 1, 30) ** 2]),
    "steep": np.column_stack([np.linspace(0, 1, 30), (1.0 - np.linspace(0, 1, 30)) ** 0.4]),
    "two cells": np.array([[0.05, 1.0], [0.6, 0.6], [1.0, 0.05]]),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("n", [10, 10_000_000])
@pytest.mark.parametrize(("prior", "times"), [(0.5, 30), (0.9, 2), (0.1, 4)])
def test_no_rule_is_overlooked_however_many_records_there_are(name, n, prior, times) -> None:
    """At the limit: no pair of rates, on the records and in truth, that a search of another kind finds still stands."""
    line, records, weight = LINES[name], (n, times * n), np.array([prior, 1.0 - prior])
    accuracy = upper_accuracy(line, *records, prior, ALPHA, 2 * n, 1.0 / (1.0 + times))

    def money(at: Floats) -> Floats:
        corner, place = at
        points = np.array([np.interp(corner, np.arange(len(line)), side) for side in line.T])
        gap = accuracy - weight @ points
        low = np.maximum(0.0, (accuracy - weight[1]) / prior) - points[0]
        high = np.minimum(1.0, accuracy / prior) - points[0]
        more = (gap + 10.0 * np.sign(place) * np.expm1(np.abs(place)) / n).clip(low, high)
        rates = np.array([points[0] + more, points[1] + (gap - prior * more) / weight[1]]).clip(0.0, 1.0)
        return won_against(points.T, rates.T, records, prior, ALPHA, 2 * n, 1.0 / (1.0 + times))

    reach = float(np.log(1.0 + n))
    bounds = [(0.0, len(line) - 1.0), (-reach, reach)]
    once: dict[str, Any] = {"vectorized": True, "updating": "deferred", "tol": 0.0, "polish": False}
    other = differential_evolution(money, bounds, seed=1, popsize=20, maxiter=40, **once)

    assert (line @ weight).max() < accuracy < 1.0
    assert other.fun >= -np.log(ALPHA)


def test_nothing_is_bet_on_rules_that_have_seen_nothing() -> None:
    """Whatever comes of a first block; after it, the larger the stake the sooner it is bet."""
    first, both = blocks((9, 10, 9, 10)), blocks((9, 10, 9, 10), (9, 10, 9, 10))

    assert lower_accuracy(blocks(), 0.5, ALPHA, PLANNED) == 0.0
    assert won_for(first, 0.5, 0.6, ALPHA, PLANNED) == pytest.approx(0.0, abs=1e-12)
    assert won_for(both, 0.5, 0.6, ALPHA, 100) > won_for(both, 0.5, 0.6, ALPHA, 100_000) > 0.1


@pytest.mark.parametrize("seed", range(3))
def test_no_rule_lies_beyond_the_corners(seed) -> None:
    """Every rule on six cells, and every rule of two changes on forty, by brute force."""
    rng = np.random.default_rng(seed)
    members, nonmembers = rng.multinomial(300, rng.dirichlet(np.ones(40))), rng.integers(1, 30, 40)
    starts = np.array([0, 5, 11, 20, 28, 35])
    corners = corners_of(members, nonmembers, starts, 2)
    edges, at = np.arange(40), np.arange(41)
    free = [np.repeat(rule, np.diff([*starts, 40])) for rule in product([False, True], repeat=6)]
    inside = ((edges >= at[:, None, None]) & (edges < at[:, None])).reshape(-1, 40)
    guesses = np.concatenate([free, inside, ~inside])
    tpr, tnr = guesses @ members / members.sum(), ~guesses @ nonmembers / nonmembers.sum()
    order = np.argsort(corners[:, 0])
    beneath = np.interp(tpr, corners[order, 0], corners[order, 1])

    assert (tnr <= beneath + 1e-9).all()
    for weight in (0.1, 0.5, 0.8):
        best = (weight * tpr + (1 - weight) * tnr).max()
        assert best - 1e-12 <= (corners @ [weight, 1 - weight]).max() <= best + 0.02


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_at_the_lower_end_exactly_one_over_alpha_has_been_won(prior) -> None:
    seen = blocks(EARLIER, (265, 500, 340, 500))
    won = won_for(seen, prior, lower_accuracy(seen, prior, ALPHA, PLANNED), ALPHA, PLANNED)

    assert 0.0 <= won + np.log(ALPHA) < 0.3
