"""Theorem 14: what the worst algorithm gives away of n draws from a discrete distribution; the divergence behind it."""

from collections.abc import Callable
from heapq import heapify, heapreplace
from math import ceil, exp, floor, inf, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from estimators import errors
from estimators.arrays import Floats
from estimators.limits.root import brentq
from estimators.theory.bounds import distribution
from estimators.theory.mis.binomials import excess


def c_k(probabilities: ArrayLike) -> float:
    """C_K(P) = sum sqrt(p_k (1 - p_k)) (Eq. 18): twice Corollary 15's bound on Delta, times sqrt n."""
    return total_c_k(distribution(probabilities))


def total_c_k(p: Floats, times: Floats | NDArray[np.int64] | float = 1.0) -> float:
    """The same for checked probabilities, each so many ``times``."""
    return float(np.sum(times * np.sqrt(p * (1.0 - p))))


def most_diverse(categories: int) -> float:
    """sqrt(K - 1): C_K of the uniform distribution, the largest there is on K categories (Lemma 23)."""
    return sqrt(errors.require_count("categories", categories) - 1.0)


def given_largest(largest: float, categories: int) -> tuple[float, float]:
    """Least and most C_K of a distribution on K categories whose largest probability is ``largest`` (Lemma 24).

    C_K is concave: least at the corners, where as many categories as fit are as large as the largest; most where
    the others are equal. The least holds for any number of categories.
    """
    k = errors.require_count("categories", categories)
    top = errors.require_number("largest", largest)
    if not 1.0 / k - 1e-12 <= top <= 1.0:
        raise errors.OutOfRange.about("largest", "need a number from 1/categories to 1")
    return least_given_largest(top), sqrt(top * (1.0 - top)) + sqrt((1.0 - top) * max(k - 2.0 + top, 0.0))


def least_given_largest(largest: float) -> float:
    """The lower of the two, which does not depend on the number of categories."""
    times = floor(1.0 / largest + 1e-12)
    rest = min(max(1.0 - largest * times, 0.0), 1.0)
    return times * sqrt(largest * (1.0 - largest)) + sqrt(rest * (1.0 - rest))


def gini_simpson(probabilities: ArrayLike) -> float:
    """1 - sum p_k^2: at most C_K / 2, and at least C_K^2 / K (Eqs. 23 and 24)."""
    p = distribution(probabilities)
    return float((p * (1.0 - p)).sum())


def shannon(probabilities: ArrayLike) -> float:
    """Entropy in nats: H <= C_K <= sqrt(K (1 - exp(-H))) (Eq. 25 and the line after it)."""
    return float(-xlogy(p := distribution(probabilities), p).sum())


Cells = NDArray[np.int64]
Merge = Literal["frequent", "balanced", "rare"]

HEAVIEST = 10**5
"""So many of the most frequent categories are put one by one where there is most room; the rest is dealt in turn."""


def frequent(probabilities: ArrayLike, cells: int) -> Cells:
    """The most frequent stay as they are and the rest is one cell.

    Of all merges into so many cells none leaves more records as they were: at most cells - 1 categories can stand
    alone if another is merged, and these are the heaviest. Answers the cell of each category.
    """
    p, k = _check(probabilities, cells)
    return _by_rank(np.argsort(-p, kind="stable"), k)


def rare(probabilities: ArrayLike, cells: int) -> Cells:
    """The rarest stay as they are and the rest is one cell: the least C_K of all merges into so many nonempty cells.

    The j lightest cells of any merge hold at least j categories, so they weigh at least as much as the j rarest: these
    cells majorize those of every other merge, and C_K is Schur-concave. It is a floor, not advice: it keeps the rarest
    and loses the others.
    """
    p, k = _check(probabilities, cells)
    return _by_rank(np.argsort(p, kind="stable"), k)


def balanced(probabilities: ArrayLike, cells: int) -> Cells:
    """Each category, the heaviest first, to the lightest cell so far: a heuristic for equal cells.


    Equal cells have the most C_K of all (Lemma 23), hence this loses the least; whether they exist is the partition
    problem, so no fast rule finds them always.
    """
    p, k = _check(probabilities, cells)
    order = np.argsort(-p, kind="stable")
    result = np.empty(p.size, dtype=np.int64)
    room = [(0.0, cell) for cell in range(k)]
    heapify(room)
    for at in order[:HEAVIEST].tolist():
        weight, cell = room[0]
        result[at] = cell
        heapreplace(room, (weight + float(p[at]), cell))
    tail = order[HEAVIEST:]
    turns = np.array([cell for _, cell in sorted(room)], dtype=np.int64)
    result[tail] = turns[np.arange(tail.size) % k]
    return result


def cell_shares(probabilities: ArrayLike, cells: Cells) -> Floats:
    """The distribution over the cells."""
    return np.asarray(np.bincount(cells, weights=distribution(probabilities)), dtype=np.float64)


def intact(probabilities: ArrayLike, cells: Cells) -> float:
    """Share of records whose category is a cell of its own."""
    alone = np.bincount(cells) == 1
    return float(distribution(probabilities)[alone[cells]].sum())


MERGES: dict[Merge, Callable[[ArrayLike, int], Cells]] = {"frequent": frequent, "balanced": balanced, "rare": rare}


def _check(probabilities: ArrayLike, cells: int) -> tuple[Floats, int]:
    p, k = distribution(probabilities), errors.require_count("cells", cells)
    if k > p.size:
        raise errors.OutOfRange.about("cells", f"got {k}, need at most the {p.size} categories there are")
    return p, k


def _by_rank(order: NDArray[np.int64], cells: int) -> Cells:
    result = np.full(order.size, cells - 1, dtype=np.int64)
    result[order[: cells - 1]] = np.arange(cells - 1)
    return result


MOST_RECORDS = 10**15
"""Sizes of training sets are sought up to here: beyond, n p is no longer known to one record."""

TINY = 1e-300  # in place of a Delta of 0, whose logarithm there is none of

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
    gamma = errors.require_positive("gamma", gamma)
    p, q = distribution(nonmember, "nonmember"), distribution(member, "member")
    if p.shape != q.shape:
        message = f"got {q.size} cells, nonmember has {p.size}; need equally many"
        raise errors.DimensionMismatch.about("member", message)
    gap = q - gamma * p if gamma >= 1.0 else p - q / gamma
    return float(min(np.maximum(gap, 0.0).sum(), 1.0))


def security_at(true_positive_rate: float, false_positive_rate: float, gamma: float = 1.0) -> float:
    """What one attack leaves of security, the least over attacks: max(1, 1/gamma) (1 - TPR + gamma FPR)."""
    gamma = errors.require_positive("gamma", gamma)
    return max(1.0, 1.0 / gamma) * (1.0 - true_positive_rate + gamma * false_positive_rate)


def worst_delta(probabilities: ArrayLike, n: int, gamma: float = 1.0) -> float:
    """Delta of the worst algorithm on ``n`` training records (Theorem 14): no attack on any algorithm gains more.

    It is the divergence for an algorithm that hands out its training set, so no order, randomness or side
    information of the algorithm can add to it. The largest over gamma is at gamma = 1.
    """
    return total_delta(distribution(probabilities), np.float64(1.0), n, gamma)


def total_delta(p: Floats, times: Floats | np.float64, n: int, gamma: float) -> float:
    """The same for checked probabilities, each so many ``times``."""
    size = errors.require_count("n", n)
    if size > MOST_RECORDS:
        raise errors.OutOfRange.about("n", f"got {size:.3g}, need at most {MOST_RECORDS:.0e}")
    return float(min(np.sum(times * excess(p, float(size), errors.require_positive("gamma", gamma))), 1.0))


def simple_delta(c_k: float, n: int) -> float:
    """C_K / (2 sqrt n): at least Delta for any algorithm and any share of nonmembers (Corollary 15)."""
    return errors.require_nonnegative("c_k", c_k) / (2.0 * sqrt(errors.require_count("n", n)))


def bracket(probabilities: ArrayLike, n: int) -> tuple[float, float]:
    """Corollary 15's two sides of the worst Delta over all shares of nonmembers, by C_K alone if n > 1/p_k for all k.

    Below, Berend and Kontorovich's constant stands for the paper's 0.29; 0 where the condition on n fails.
    """
    p = distribution(probabilities)
    p = p[p > 0.0]
    scale = total_c_k(p) / sqrt(errors.require_count("n", n))
    if not sandwiched(float(p.min()), n):
        return 0.0, scale / 2.0
    return LEAST_SHARE * scale, MOST_SHARE * scale


def sandwiched(least: float, n: int) -> bool:
    """Corollary 15's condition: n > 1/p_k for all k, of which ``least`` is the smallest, and more than one category."""
    return n >= 5 and n * least > 1.0 and least < 1.0


def simple_records(c_k: float, delta: float) -> float:
    """Training records from which Corollary 15 promises ``delta``: (C_K / (2 delta))^2; inf beyond counting."""
    enough = (errors.require_nonnegative("c_k", c_k) / (2.0 * errors.require_up_to_one("delta", delta))) ** 2
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
    target = errors.require_up_to_one("delta", delta)

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
