"""The exponential mechanism over all training sets at once, for losses that are summed over records.

Meeting in the middle: a training set is k of the first n records and n - k of the rest, and
e^(score) is a product of the two parts. So with E1 and E2 (parts x outcomes) the normalisers of all
pairs are the product Z = E1 E2', and the sums over training sets are E1 * ((1/Z) E2): three matrix
products, and one reciprocal a training set where enumeration takes an exponential for each outcome.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.theory import subsets
from estimators.theory.pmp.laws import InOut

Floats = NDArray[np.float64]

WIDEST = 600.0
"""Logs of one training set may lie this far apart: products and reciprocals of both parts are still floats."""

CELLS = 1 << 21
"""Pairs of parts at a time."""


def span(scores: Floats) -> float:
    """How far apart the log probabilities of two outcomes can be, at most, on any training set."""
    return float((scores.max(axis=1) - scores.min(axis=1)).sum())


def in_and_out(scores: Floats) -> InOut:
    """The laws of every record from ``scores`` (2n records x outcomes), whose sum over a training set is its logit."""
    n = len(scores) // 2
    first, second = scores[:n], scores[n:]
    inside, outside = np.zeros_like(scores), np.zeros_like(scores)
    for k in range(n + 1):
        a, e1 = _parts(first, k)
        b, e2 = _parts(second, n - k)
        share2 = np.zeros_like(e2)
        step = max(1, CELLS // len(e2))
        for start in range(0, len(e1), step):
            part = slice(start, start + step)
            inverse = 1.0 / (e1[part] @ e2.T)
            share1 = e1[part] * (inverse @ e2)
            inside[:n] += a[part].T @ share1
            outside[:n] += (1.0 - a[part]).T @ share1
            share2 += inverse.T @ e1[part]
        share2 *= e2
        inside[n:] += b.T @ share2
        outside[n:] += (1.0 - b).T @ share2
    half = np.log(subsets.how_many(2 * n, n) / 2)
    return InOut(np.log(inside) - half, np.log(outside) - half)


def _parts(scores: Floats, size: int) -> tuple[Floats, Floats]:
    """All parts of a size: their rows, and e^(sum of scores) with the largest outcome at 1."""
    rows = np.concatenate(list(subsets.all_subsets(len(scores), size))).astype(np.float64)
    total = rows @ scores
    return rows, np.exp(total - total.max(axis=1, keepdims=True))
