"""D_gamma, the divergence behind membership inference security."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import (
    DimensionMismatch,
    NotDistribution,
    NotFinite,
    TooFewRecords,
    require_positive,
)

Floats = NDArray[np.float64]

SUM = 1e-9
"""Probabilities may miss one by so much, times the square root of their number: they were rounded on the way."""


def divergence(nonmember: ArrayLike, member: ArrayLike, gamma: float = 1.0) -> float:
    """D_gamma of two discrete distributions over the same cells (Eqs. 3 and 4): 0 if equal, 1 if disjoint.

    sum (q - gamma p)_+ for gamma >= 1 and sum (p - q / gamma)_+ below: the same number without the paper's
    difference of large terms. Either shows that D_gamma never exceeds the total variation, at any gamma: the
    paper's factor max(1, gamma) before it (Eq. 8, Remark 7, Theorem 13) is never needed.
    """
    gamma = require_positive("gamma", gamma)
    p, q = distribution(nonmember, "nonmember"), distribution(member, "member")
    if p.shape != q.shape:
        raise DimensionMismatch(
            f"member: got {q.size} cells, nonmember has {p.size}; need equally many", field="member"
        )
    gap = q - gamma * p if gamma >= 1.0 else p - q / gamma
    return float(min(np.maximum(gap, 0.0).sum(), 1.0))


def security_at(true_positive_rate: float, false_positive_rate: float, gamma: float = 1.0) -> float:
    """What one attack leaves of security, the least over attacks: max(1, 1/gamma) (1 - TPR + gamma FPR)."""
    gamma = require_positive("gamma", gamma)
    return max(1.0, 1.0 / gamma) * (1.0 - true_positive_rate + gamma * false_positive_rate)


def distribution(given: ArrayLike, field: str = "probabilities") -> Floats:
    """The numbers if they are probabilities; scaled to sum to one exactly when rounding kept them from it."""
    found = np.asarray(given, dtype=np.float64).ravel()
    if not found.size:
        raise TooFewRecords(f"{field}: got none, need at least one", field=field)
    total = float(found.sum())
    if not np.isfinite(total):
        raise NotFinite(f"{field}: a probability is NaN or infinite", field=field)
    if found.min() < 0.0:
        raise NotDistribution(f"{field}: a probability is negative", field=field, index=int(found.argmin()))
    if abs(total - 1.0) > SUM * max(1.0, found.size**0.5):
        raise NotDistribution(f"{field}: they sum to {total:.9g}, need 1", field=field)
    return found / total
