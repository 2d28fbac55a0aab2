"""Theorem 14: what the worst algorithm gives away of n draws from a discrete distribution; the divergence behind it."""

from __future__ import annotations

from math import ceil, exp, inf, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from estimators.errors import (
    DimensionMismatch,
    OutOfRange,
    require_count,
    require_nonnegative,
    require_positive,
    require_up_to_one,
)
from estimators.limits.root import brentq
from estimators.theory.mis.binomials import Floats, excess
from estimators.theory.mis.diversity import total_c_k
from estimators.theory.tables import distribution

MOST_RECORDS = 10**15
"""Sizes of training sets are sought up to here: beyond, n p is no longer known to one record."""

TINY = 1e-300
"""In place of a Delta of 0, whose logarithm there is none of."""

LEAST_SHARE = 1.0 / sqrt(8.0)
"""Corollary 15's c, better: half of Berend and Kontorovich's (2013) sharp sqrt(1/2); the paper proves 0.29."""

MOST_SHARE = 0.44
"""Corollary 15's c', as the paper proves it; 1/2 (Cauchy and Schwarz) where its condition on n fails."""


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


def worst_delta(probabilities: ArrayLike, n: int, gamma: float = 1.0) -> float:
    """Delta of the worst algorithm on ``n`` training records (Theorem 14): no attack on any algorithm gains more.

    It is the divergence for an algorithm that hands out its training set, so no order, randomness or side
    information of the algorithm can add to it. The largest over gamma is at gamma = 1.
    """
    return total_delta(distribution(probabilities), np.float64(1.0), n, gamma)


def total_delta(p: Floats, times: Floats | np.float64, n: int, gamma: float) -> float:
    """The same for checked probabilities, each so many ``times``."""
    size = require_count("n", n)
    if size > MOST_RECORDS:
        raise OutOfRange(f"n: got {size:.3g}, need at most {MOST_RECORDS:.0e}", field="n")
    return float(min(np.sum(times * excess(p, float(size), require_positive("gamma", gamma))), 1.0))


def simple_delta(c_k: float, n: int) -> float:
    """C_K / (2 sqrt n): at least Delta for any algorithm and any share of nonmembers (Corollary 15)."""
    return require_nonnegative("c_k", c_k) / (2.0 * sqrt(require_count("n", n)))


def bracket(probabilities: ArrayLike, n: int) -> tuple[float, float]:
    """Corollary 15's two sides of the worst Delta over all shares of nonmembers, by C_K alone if n > 1/p_k for all k.

    Below, Berend and Kontorovich's constant stands for the paper's 0.29; 0 where the condition on n fails.
    """
    p = distribution(probabilities)
    p = p[p > 0.0]
    scale = total_c_k(p) / sqrt(require_count("n", n))
    if not sandwiched(float(p.min()), n):
        return 0.0, scale / 2.0
    return LEAST_SHARE * scale, MOST_SHARE * scale


def sandwiched(least: float, n: int) -> bool:
    """Corollary 15's condition: n > 1/p_k for all k, of which ``least`` is the smallest, and more than one category."""
    return n >= 5 and n * least > 1.0 and least < 1.0


def simple_records(c_k: float, delta: float) -> float:
    """Training records from which Corollary 15 promises ``delta``: (C_K / (2 delta))^2; inf beyond counting."""
    enough = (require_nonnegative("c_k", c_k) / (2.0 * require_up_to_one("delta", delta))) ** 2
    return max(1, ceil(enough)) if enough < MOST_RECORDS else inf


def records_needed(probabilities: ArrayLike, delta: float, gamma: float = 1.0) -> float:
    """Least n from which no algorithm exceeds ``delta``, by a search on Theorem 14; inf beyond counting.

    Delta falls as n grows: an empirical distribution is a mean of empirical distributions of one record fewer, and the
    divergence is convex.
    """
    p = distribution(probabilities)
    return least_records(p, np.float64(1.0), delta, gamma)


def least_records(p: Floats, times: Floats | np.float64, delta: float, gamma: float) -> float:
    """The same for checked probabilities, each so many ``times``."""
    target = require_up_to_one("delta", delta)

    def excess_at(n: float) -> float:
        return log(max(total_delta(p, times, int(n), gamma), TINY) / target)

    most = simple_records(total_c_k(p, times), target)  # enough at any gamma
    most = min(most, float(MOST_RECORDS))
    if excess_at(1) <= 0.0:
        return 1
    if excess_at(most) > 0.0:
        return inf
    root = brentq(lambda x: excess_at(round(exp(x))), 0.0, log(most), xtol=max(0.25 / most, 1e-15))
    result = min(round(exp(root)), int(most))
    while excess_at(result) > 0.0:
        result += 1
    while result > 1 and excess_at(result - 1) <= 0.0:
        result -= 1
    return result
