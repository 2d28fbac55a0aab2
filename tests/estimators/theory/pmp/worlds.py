"""Small mechanisms gone through literally, training set by training set."""

from collections.abc import Iterator
from itertools import combinations
from math import exp

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ONE_WAY = np.array([[0.0, 4.0], [1.0, 3.0], [1.0, 3.0], [1.0, 4.0]])
"""Losses of four records at which the two directions of the ratio differ."""

FALLING = np.array([[0.0, 3.0], [4.0, 1.0], [1.0, 0.0], [1.0, 4.0], [0.0, 3.0], [3.0, 0.0]])
"""Losses of six records whose practical epsilon falls while epsilon rises from 8 to 64."""


def training_sets(n: int) -> list[tuple[int, ...]]:
    """All of them, in lexicographic order."""
    return list(combinations(range(2 * n), n))


def modular_sum(n: int) -> Floats:
    """Laws of sum mod 2n on {0, ..., 2n-1}: deterministic, so no epsilon is enough for DP."""
    laws = np.zeros((len(training_sets(n)), 2 * n))
    for row, chosen in enumerate(training_sets(n)):
        laws[row, sum(chosen) % (2 * n)] = 1.0
    return laws


def exponential_laws(losses: Floats, epsilon: float, sensitivity: float) -> Floats:
    """Definition 7, for losses summed over records."""
    laws = []
    for chosen in training_sets(len(losses) // 2):
        sums = losses[list(chosen)].sum(axis=0)
        weights = [exp(-epsilon * each / (2 * sensitivity)) for each in sums]
        laws.append([weight / sum(weights) for weight in weights])
    return np.array(laws)


def in_and_out(laws: Floats, n: int) -> Iterator[tuple[Floats, Floats]]:
    """The law of outcomes where a record is in, and where it is out, record by record."""
    for x in range(2 * n):
        inside = np.array([x in chosen for chosen in training_sets(n)])
        yield laws[inside].mean(axis=0), laws[~inside].mean(axis=0)


def events(outcomes: int) -> list[list[int]]:
    """Every set of outcomes but the empty one."""
    return [list(each) for k in range(1, outcomes + 1) for each in combinations(range(outcomes), k)]


def practical_epsilons(laws: Floats, n: int) -> list[float]:
    """Definition 2 at delta 0, record by record."""
    return [float(np.abs(np.log(one / other)).max()) for one, other in in_and_out(laws, n)]


def dp_epsilon(laws: Floats, n: int) -> float:
    """Definition 1 with both training sets among the 2n records."""
    sets = training_sets(n)
    near = ((a, b) for a in range(len(sets)) for b in range(a) if len(set(sets[a]) & set(sets[b])) == n - 1)
    return max(float(np.abs(np.log(laws[a] / laws[b])).max()) for a, b in near)
