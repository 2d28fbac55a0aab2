"""Small worlds gone through one by one: every data set, every test point, every attack."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from itertools import product

import numpy as np

Algorithm = Callable[[tuple[int, ...]], dict[Hashable, float]]
"""From a training set to the law of what is published."""


def release(data: tuple[int, ...]) -> dict[Hashable, float]:
    """The worst algorithm: the training set itself, in its order."""
    return {data: 1.0}


def empirical(data: tuple[int, ...]) -> dict[Hashable, float]:
    """Its empirical distribution, as the paper has it."""
    return {tuple(sorted(Counter(data).items())): 1.0}


def joint(p: np.ndarray, n: int, algorithm: Algorithm) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """Laws of (what is published, test point): of a nonmember, drawn anew, and of a member of the training set."""
    nonmember: dict[Hashable, float] = defaultdict(float)
    member: dict[Hashable, float] = defaultdict(float)
    for data in product(range(len(p)), repeat=n):
        weight = float(np.prod(p[list(data)]))
        for shown, chance in algorithm(data).items():
            for k in range(len(p)):
                nonmember[shown, k] += weight * chance * p[k]
                member[shown, k] += weight * chance * data.count(k) / n
    return nonmember, member


def best_accuracy(nonmember: dict, member: dict, nu: float, weight: float) -> float:
    """Definition 2's accuracy of the best attack: every (published, test point) is called by what weighs more."""
    return sum(max(nu * nonmember[at], weight * (1.0 - nu) * member[at]) for at in nonmember)


def security(p: np.ndarray, n: int, algorithm: Algorithm, nu: float, weight: float) -> float:
    """Definition 3, word for word."""
    nonmember, member = joint(p, n, algorithm)
    most = best_accuracy(nonmember, member, nu, weight)
    return (nu + weight * (1.0 - nu) - most) / min(nu, weight * (1.0 - nu))
