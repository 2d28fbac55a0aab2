"""A limit for the mean of independent numbers between 0 and 1, at every sample size, by betting.

If the mean of x is at least m, a gambler who stakes a share c of all he has on 1 - x being above 1 - m multiplies his
wealth by 1 - c + c (1-x)/(1-m), at most 1 on average. Wealth above 1/alpha has probability at most alpha (Markov), so
an m at which it is reached lies above the mean, at level 1 - alpha. Several gamblers who began with shares of 1 own,
together, no more. Shares adapt to the spread of x, which Hoeffding's and the Chernoff bound do not see (Waudby-Smith
and Ramdas 2024). The wealth falls in every x and rises with m: what is calibrated by it needs no second sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STAKES = np.array([1.0, 0.97, 0.85, 0.65, 0.4, 0.2, 0.08, 0.03])
"""From all, best where the spread is small against the distance to m, to little, best where m is close."""

SHARES = np.array([0.4, 0.1, 0.1, 0.1, 0.1, 0.08, 0.07, 0.05])
"""Most to the bold one, whose day has come when noise is calibrated: every x is about as large as any other."""

ROUNDS = 60
"""Halvings of an interval of length 1: more than a float has bits."""


def log_wealth(x: Floats, mean: float, group: Ints, groups: int) -> Floats:
    """Logarithm of the wealth of each group against its mean being at least ``mean``."""
    with np.errstate(divide="ignore"):
        each = np.log(1.0 - STAKES + STAKES * ((1.0 - x) / (1.0 - mean))[:, None])
        total = np.stack([np.bincount(group, column, groups) for column in each.T], axis=1)
        found = logsumexp(total + np.log(SHARES), axis=1)
    return np.asarray(found)


def all_below(x: Floats, mean: float, group: Ints, groups: int, alpha: float) -> bool:
    """Whether the mean of every group is shown to be below ``mean``; wrong with probability at most ``alpha``.

    Every group is tested at ``alpha`` itself, however many there are: if the answer is wrong, the group of the largest
    mean has passed wrongly, too. Which one that is was settled before the sample, and it passes with probability at
    most ``alpha``, whatever the others do (intersection and union; Berger 1982). Only the largest mean is claimed.
    """
    return bool((log_wealth(x, mean, group, groups) >= -np.log(alpha)).all())


def upper_mean(x: Floats, alpha: float, group: Ints | None = None, groups: int = 1) -> float:
    """Limit of level 1 - alpha for the largest mean of all groups; 1 if the sample is too small for any other.

    It is the largest of the groups' limits, no less than that of the group of the largest mean: so no correction.
    """
    where = np.zeros(len(x), dtype=np.int64) if group is None else group
    low, high = 0.0, 1.0
    for _ in range(ROUNDS):
        middle = (low + high) / 2.0
        if middle < 1.0 and all_below(x, middle, where, groups, alpha):
            high = middle
        else:
            low = middle
    return high


def rows_needed(mean: float, alpha: float) -> int:
    """Numbers a group must have at least for its mean to be shown below ``mean``, were they all 0."""
    return int(np.ceil((-np.log(alpha) - np.log(SHARES[0])) / -np.log1p(-mean)))
