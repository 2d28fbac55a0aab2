"""Binomial laws over a grid of probabilities: what the certified limits are computed on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log2

import numpy as np

from estimators.theory.mis.deviation import Floats, binomial

POINTS = 1200
"""Probabilities of the grid, from far below one record to one half, at equal ratios."""

BETWEEN = 8
"""Further probabilities between two of the grid at which a term is looked at: Theorem 14's terms ripple."""

REACH = 9.0
"""Standard deviations a law is followed to either side; less than 1e-17 lies beyond."""

FINE = 6.0
"""Steps a standard deviation: a sum of smooth terms over every so many counts is then exact to 1e-30 (Poisson)."""

KNOTS = 2048
"""Counts up to which a table has every count; beyond, so many in every doubling of the square root."""


@dataclass(frozen=True)
class Law:
    """Bin(n, p) for every p of the grid: rows of counts with their probabilities, and counts to keep tables at."""

    n: int
    p: Floats
    counts: Floats
    weights: Floats
    knots: Floats

    @property
    def between(self) -> Floats:
        """Each probability with those up to the next."""
        steps = np.append(np.diff(np.log(self.p)), 0.0)
        return np.asarray(self.p[:, None] * np.exp(steps[:, None] * np.arange(BETWEEN) / BETWEEN))

    def spread(self, table: Floats) -> Floats:
        """A table over the knots as a function of each row's counts."""
        return np.interp(self.counts, self.knots, table)


@lru_cache(maxsize=4)
def law_of(n: int) -> Law:
    """The laws of ``n`` draws, kept for the next sizes of one curve."""
    p: Floats = np.geomspace(min(1e-4 / n, 1e-3), 0.5, POINTS).astype(np.float64)
    sd = np.sqrt(n * p * (1.0 - p))
    stride = np.asarray(np.maximum(1.0, np.floor(sd / FINE)), dtype=np.float64)
    first: Floats = np.maximum(0.0, np.floor(n * p - REACH * sd - 10.0))
    last = np.minimum(float(n), np.ceil(n * p + REACH * sd + 25.0))
    most = int(((last - first) / stride).max()) + 1
    counts: Floats = first[:, None] + stride[:, None] * np.arange(most)
    inside = counts <= last[:, None]
    counts = np.minimum(counts, float(n))
    weights = np.where(inside, binomial(counts, float(n), np.broadcast_to(p[:, None], counts.shape)), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    knots = _knots(n)
    for array in (p, counts, weights, knots):
        array.setflags(write=False)
    return Law(n, p, counts, weights, knots)


def _knots(n: int) -> Floats:
    every = np.arange(min(n, KNOTS) + 1.0)
    if n <= KNOTS:
        return every
    doublings = log2(n / KNOTS) / 2.0
    beyond = np.geomspace(KNOTS, n, int(KNOTS * max(doublings, 1.0)))
    return np.unique(np.concatenate((every, np.round(beyond))))
