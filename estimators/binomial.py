"""Limits for proportions, and for what is made of two of them.

Everything certified here rests on three tools: the exact limit of one proportion, the limit of a
weighted sum of two independent proportions, and the limit of a ratio that is linear in both.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

Floats = NDArray[np.float64]


@overload
def lower_limit(hits: float, trials: float, alpha: float) -> float: ...
@overload
def lower_limit(hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float) -> Floats: ...


def lower_limit(
    hits: float | NDArray[np.number], trials: float | NDArray[np.number], alpha: float
) -> float | Floats:
    """One-sided lower limit of level 1 - alpha for a proportion (Clopper and Pearson, 1934).

    It solves P(Bin(trials, limit) >= hits) = alpha; fractional ``hits`` interpolate monotonically.
    """
    h, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    limit = np.where(h > 0, betaincinv(np.maximum(h, 1e-300), n - h + 1.0, alpha), 0.0)
    return float(limit) if np.ndim(hits) == 0 and np.ndim(trials) == 0 else limit


@overload
def upper_limit(hits: float, trials: float, alpha: float) -> float: ...
@overload
def upper_limit(hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float) -> Floats: ...


def upper_limit(
    hits: float | NDArray[np.number], trials: float | NDArray[np.number], alpha: float
) -> float | Floats:
    """One-sided upper limit of level 1 - alpha for a proportion (Clopper and Pearson, 1934)."""
    h, n = np.broadcast_arrays(np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    limit = np.where(h < n, betaincinv(h + 1.0, np.maximum(n - h, 1e-300), 1.0 - alpha), 1.0)
    return float(limit) if np.ndim(hits) == 0 and np.ndim(trials) == 0 else limit


def clopper_pearson(
    hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float
) -> tuple[Floats, Floats]:
    """Lower and upper limit, each of level 1 - alpha, computed once for every distinct count.

    A million records share a few hundred counts, and the inverse beta function is what costs.
    """
    counts = np.asarray(hits)
    if np.ndim(trials) == 0 and counts.size > 64:
        distinct, back = np.unique(counts, return_inverse=True)
        low, high = lower_limit(distinct, trials, alpha), upper_limit(distinct, trials, alpha)
        return low[back.reshape(counts.shape)], high[back.reshape(counts.shape)]
    return lower_limit(counts, trials, alpha), upper_limit(counts, trials, alpha)


def mcdiarmid_radius(prior: float, n_members: int, n_nonmembers: int, delta: float) -> float:
    """Two-sided radius of a sum that one record moves by 2p/n1 or 2(1-p)/n0 (MACE, Theorems 5 and 6).

    With n1 = pN it is the paper's sqrt(2 ln(2/delta)/N); STATISTICS E15 has the general form.
    """
    spread = prior**2 / n_members + (1.0 - prior) ** 2 / n_nonmembers
    return float(np.sqrt(2.0 * np.log(2.0 / delta) * spread))


def weighted_accuracy_limits(
    true_positives: Floats | float,
    n_members: float,
    true_negatives: Floats | float,
    n_nonmembers: float,
    prior: float,
    alpha: float,
) -> tuple[Floats, Floats]:
    """Limits of p TPR + (1-p) TNR for a fixed adversary, each of level 1 - alpha (MOVER, Zou and Donner 2008).

    The exact limits of the two rates are put together as independent errors, in quadrature.
    """
    tp, tn = np.asarray(true_positives, dtype=np.float64), np.asarray(true_negatives, dtype=np.float64)
    tpr, tnr = tp / n_members, tn / n_nonmembers
    tpr_low, tpr_high = clopper_pearson(tp, n_members, alpha)
    tnr_low, tnr_high = clopper_pearson(tn, n_nonmembers, alpha)
    value = prior * tpr + (1.0 - prior) * tnr
    below = np.hypot(prior * (tpr - tpr_low), (1.0 - prior) * (tnr - tnr_low))
    above = np.hypot(prior * (tpr_high - tpr), (1.0 - prior) * (tnr_high - tnr))
    return np.maximum(value - below, 0.0), np.minimum(value + above, 1.0)


def normal_quantile(alpha: float) -> float:
    """z with P(Z > z) = alpha."""
    return float(-ndtri(alpha))
