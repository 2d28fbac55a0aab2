"""The epsilon-DP procedure on one record that tells most about it: some categories, the record's likely among them."""

from __future__ import annotations

from itertools import combinations
from math import comb, exp


def joint(categories: int, size: int, epsilon: float) -> tuple[list[float], list[float]]:
    """Laws of (set, record) with a fresh record and with the one it was learned from, all categories equally likely.

    A set with the record's category is e^epsilon times as likely as one without.
    """
    within, without = comb(categories - 1, size - 1), comb(categories - 1, size)
    unit = 1.0 / (exp(epsilon) * within + without)
    outside, inside = [], []
    for subset in combinations(range(categories), size):
        for record in range(categories):
            outside.append(1.0 / categories / comb(categories, size))
            inside.append((exp(epsilon) if record in subset else 1.0) * unit / categories)
    return outside, inside


def insecurity(outside: list[float], inside: list[float], gamma: float) -> float:
    """MIS's Delta by its definition, for lambda = 1."""
    nu = gamma / (1.0 + gamma)
    accuracy = sum(max(nu * p, (1.0 - nu) * q) for p, q in zip(outside, inside, strict=True))
    return (accuracy - max(nu, 1.0 - nu)) / min(nu, 1.0 - nu)
