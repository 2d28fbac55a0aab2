"""Practical membership privacy by brute force: every half of the records, every record, both directions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def laws_of_halves(losses: ArrayLike, exponent: float) -> dict[frozenset[int], Floats]:
    """The exponential mechanism's law on each half; a training set's loss is the sum of its records' rows."""
    rows = np.asarray(losses, dtype=float)
    laws = {}
    for members in combinations(range(len(rows)), len(rows) // 2):
        weights = np.exp(-exponent * rows[list(members)].sum(axis=0))
        laws[frozenset(members)] = weights / weights.sum()
    return laws


def practical_epsilon(laws: dict[frozenset[int], Floats]) -> float:
    """The largest |ln P(outcome | x in)/P(outcome | x out)|."""
    ratios = log_ratios(laws)
    return float(max(ratios.max(), -ratios.min()))


def log_ratios(laws: dict[frozenset[int], Floats]) -> Floats:
    """ln P(outcome | x in)/P(outcome | x out), of every record and outcome."""
    records = sorted(set().union(*laws))
    ratios = []
    for x in records:
        inside = np.mean([law for members, law in laws.items() if x in members], axis=0)
        outside = np.mean([law for members, law in laws.items() if x not in members], axis=0)
        ratios.append(np.log(inside) - np.log(outside))
    return np.array(ratios)


def worst_case_epsilon(laws: dict[frozenset[int], Floats]) -> float:
    """The largest |ln ratio| between two halves that differ in one record."""
    return max(
        float(np.abs(np.log(laws[a]) - np.log(laws[b])).max())
        for a, b in combinations(laws, 2)
        if len(a & b) == len(a) - 1
    )


def sum_modulo(n: int) -> float:
    """Practical epsilon of sum(D) mod 2n on {0, ..., 2n-1}, from counts that are whole numbers."""
    worst = Fraction(1)
    for x in range(2 * n):
        inside, outside = [0] * (2 * n), [0] * (2 * n)
        for members in combinations(range(2 * n), n):
            (inside if x in members else outside)[sum(members) % (2 * n)] += 1
        for a, b in zip(inside, outside, strict=True):
            if min(a, b) == 0 < max(a, b):
                return inf
            if a:
                worst = max(worst, Fraction(a, b), Fraction(b, a))
    return log(worst)
