"""The best an adversary can do between two laws, by trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

Floats = NDArray[np.float64]


def best_accuracy(inside: ArrayLike, outside: ArrayLike, prior: float = 0.5) -> float:
    """The most often right of all 2^outcomes adversaries, each of which names a set of outcomes "member"."""
    r, q = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    accusations = np.array(list(product((0.0, 1.0), repeat=len(r))))
    return float((prior * (accusations @ r) + (1.0 - prior) * ((1.0 - accusations) @ q)).max())


def best_advantage(inside: ArrayLike, outside: ArrayLike, prior: float = 0.5) -> float:
    """Twice the best accuracy less one."""
    return 2.0 * best_accuracy(inside, outside, prior) - 1.0


def best_tpr(inside: ArrayLike, outside: ArrayLike, fpr: float) -> float:
    """The largest true positive rate of all randomised adversaries with this false positive rate: a linear program."""
    r, q = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    result = linprog(-r, A_ub=[q], b_ub=[fpr], bounds=(0.0, 1.0))
    return float(-result.fun)


def largest_gap(inside: ArrayLike, outside: ArrayLike) -> float:
    """The largest TPR - FPR of all adversaries."""
    return 2.0 * best_accuracy(inside, outside) - 1.0


def hockey_stick(inside: ArrayLike, outside: ArrayLike, epsilon: float) -> float:
    """The largest P(S) - e^epsilon Q(S), over both orders."""
    r, q = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    factor = np.exp(epsilon)
    return float(max(np.maximum(r - factor * q, 0.0).sum(), np.maximum(q - factor * r, 0.0).sum()))


def randomised_response(epsilon: float, delta: float = 0.0) -> tuple[Floats, Floats]:
    """The extreme (epsilon, delta)-DP pair: with delta the bit is told, else it is told or turned, e^epsilon to one."""
    truthful = (1.0 - delta) / (1.0 + np.exp(-epsilon))
    turned = (1.0 - delta) / (1.0 + np.exp(epsilon))
    return np.array([delta, truthful, turned, 0.0]), np.array([0.0, turned, truthful, delta])
