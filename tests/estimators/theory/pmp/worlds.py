"""Small mechanisms gone through literally, training set by training set."""

from itertools import combinations
from math import exp, log

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
        weights = [
            exp(-epsilon * sum(losses[x, w] for x in chosen) / (2 * sensitivity))
            for w in range(losses.shape[1])
        ]
        laws.append([weight / sum(weights) for weight in weights])
    return np.array(laws)


def practical_epsilons(laws: Floats, n: int) -> list[float]:
    """Definition 2 at delta 0, record by record."""
    found = []
    for x in range(2 * n):
        inside = [x in chosen for chosen in training_sets(n)]
        one, other = laws[inside].mean(axis=0), laws[np.logical_not(inside)].mean(axis=0)
        found.append(max(abs(log(p / q)) for p, q in zip(one, other, strict=True)))
    return found


def dp_epsilon(laws: Floats, n: int) -> float:
    """Definition 1 with both training sets among the 2n records."""
    sets = training_sets(n)
    return max(
        float(np.abs(np.log(laws[a] / laws[b])).max())
        for a in range(len(sets))
        for b in range(a)
        if len(set(sets[a]) & set(sets[b])) == n - 1
    )
