"""C_K and Theorem 14 from a sample: estimates, and intervals that hold at every sample size."""

from __future__ import annotations

from math import ceil, exp2, inf, sqrt

import numpy as np

from estimators.errors import require_open_unit
from estimators.limits.binomial import clopper_pearson, upper_limit
from estimators.statement import Estimate, Guarantee, Interval
from estimators.theory.mis.certified import lower, upper
from estimators.theory.mis.deviation import Floats, excess
from estimators.theory.mis.diversity import most_diverse, total_c_k
from estimators.theory.mis.security import MOST_RECORDS, total_delta
from estimators.theory.mis.shape import Term
from estimators.theory.mis.tally import Tally

IID = "records are independent draws from one distribution"
NUMERICS = (
    f"{IID}; suprema over probabilities are taken on a grid, with a heuristic margin for what lies between"
)

OF_C_K = Guarantee("C_K of the distribution the records come from", NUMERICS, True)
OF_DELTA = Guarantee(
    "Delta of the worst algorithm on n records of the distribution (Theorem 14), at this one n",
    NUMERICS,
    True,
)

PIECES = 48
"""Pieces, at equal ratios, an exact interval for one category is cut into to bound Delta's term over it."""

STEPS = 16
"""Sizes of the grid in a doubling: a certified number of records is found to 2^(1/16), 4.4%."""

STRIDES = ((64, 0.05), (16, 0.05), (4, 0.05), (1, 0.85))
"""Steps of the grid a walk goes at once, and its share of the error: most for the last, which gives the answer."""


def diversity(tally: Tally, confidence: float = 0.95) -> Estimate:
    """C_K with its interval; the estimate is the sample's, which is too low in the mean: C_K is concave (Jensen).

    The upper end is infinite unless the number of categories is stated: however little is unseen, spread over enough
    categories it would make C_K as large as one likes.
    """
    alpha = _each_end(confidence)
    term = diversity_term()
    most = inf if tally.universe is None else most_diverse(tally.universe)
    least = min(lower(term, tally, alpha), most)
    found = Interval(least, max(min(upper(term, tally, alpha), most), least), confidence, OF_C_K)
    return Estimate(total_c_k(tally.shares, tally.times), found)


def worst_delta_from(tally: Tally, n: int, gamma: float = 1.0, confidence: float = 0.95) -> Estimate:
    """Delta of the worst algorithm on ``n`` records with its interval, and with no need to know all categories."""
    alpha = _each_end(confidence)
    value = total_delta(tally.shares, tally.times.astype(np.float64), n, gamma)
    most = delta_upper(tally, n, gamma, alpha)
    return Estimate(
        value, Interval(min(_delta_lower(tally, n, gamma, alpha), most), most, confidence, OF_DELTA)
    )


def delta_upper(tally: Tally, n: int, gamma: float, alpha: float) -> float:
    """Upper limit of level 1 - ``alpha`` for Delta on ``n`` records.

    Delta's terms are at most p, so what was not seen cannot add more than its probability. Delta is largest at gamma =
    1, so that limit holds at every gamma; elsewhere exact limits for every category at once, if their number is
    stated, share the error with it.
    """
    if tally.universe is None:
        return min(upper(delta_term(n), tally, alpha), 1.0)
    cap = min(most_diverse(tally.universe) / (2.0 * sqrt(n)), 1.0)
    if gamma == 1.0:
        return min(upper(delta_term(n), tally, alpha), cap)
    boxed = _boxed_upper(tally, tally.universe, n, gamma, alpha / 2.0)
    return min(upper(delta_term(n), tally, alpha / 2.0), boxed, cap)


def _delta_lower(tally: Tally, n: int, gamma: float, alpha: float) -> float:
    """Lower limit of level 1 - ``alpha``; away from gamma = 1 only where the number of categories is stated."""
    if gamma == 1.0:
        return lower(delta_term(n), tally, alpha)
    return 0.0 if tally.universe is None else _boxed_lower(tally, tally.universe, n, gamma, alpha)


def records_from(tally: Tally, delta: float, gamma: float = 1.0, confidence: float = 0.95) -> float:
    """A size of the training set from which on no algorithm exceeds ``delta``, certified; inf if none is.

    The limit at n need not fall as n grows, but Delta does. Sizes are walked downward from one that the records do not
    choose, on a grid they do not choose, as long as the limit is at most ``delta``. Let n' be the largest size of the
    walk's strides at which Delta still exceeds ``delta``: if it comes there or below it has passed n', where the limit
    was wrong, and n' is one size, the same for all samples. The next walk, of smaller strides, starts where this one
    ended; each is wrong with its share of the error at most.
    """
    alpha = _each_end(confidence)
    most = 4.0 * tally.records if tally.universe is None else tally.universe - 1.0
    largest = min(most / (4.0 * require_open_unit("delta", delta) ** 2) * (1.0 + 1e-9), float(MOST_RECORDS))

    def size(step: int) -> int:
        return max(ceil(largest / exp2(step / STEPS)), 1)

    def holds(step: int, share: float) -> bool:
        return delta_upper(tally, size(step), gamma, share * alpha) <= delta

    found, smallest = inf, 0
    for stride, share in STRIDES:
        step = 0 if found == inf else smallest + stride
        while found > 1.0 and holds(step, share):
            found, smallest, step = float(size(step)), step, step + stride
    return found


def _each_end(confidence: float) -> float:
    """The error of one end of an interval."""
    return (1.0 - require_open_unit("confidence", confidence)) / 2.0


def diversity_term() -> Term:
    """sqrt(p (1 - p)), the term of C_K."""
    return Term(
        of=lambda p: np.sqrt(p * (1.0 - p)), beyond=lambda p: sqrt(p * (1.0 - p)), scale=1.0, slope=inf
    )


def delta_term(n: int) -> Term:
    """E|B/n - p|/2, the term of Theorem 14 at gamma = 1; B/p is a reverse martingale in p, so f(p)/p falls from 1."""

    def of(p: Floats) -> Floats:
        return excess(p, float(n))

    return Term(of=of, beyond=lambda p: sqrt(p * (1.0 - p) / n) / 2.0, scale=0.5 / sqrt(n), slope=1.0)


def _boxed_upper(tally: Tally, universe: int, n: int, gamma: float, alpha: float) -> float:
    """By exact intervals for all categories at once, seen or not: f(p)/p falls from 1 at most, which bounds f in each.

    A category's interval misses on either side with alpha/(2 universe) at most.
    """
    records, level = float(tally.records), alpha / (2.0 * universe)
    low, ends, ratio = _pieces(tally, level, n, gamma)
    most = np.maximum((ends[:, 1:] * ratio[:, :-1]).max(axis=1), np.where(low < ends[:, 0], ends[:, 0], 0.0))
    found = float((most * tally.times).sum())
    if not tally.unseen:
        return found
    last = float(upper_limit(0.0, records, level)) * np.geomspace(1e-6, 1.0, 4 * PIECES)
    share = excess(last, float(n), gamma) / last
    return found + tally.unseen * max(float((last[1:] * share[:-1]).max()), float(last[0]))


def _boxed_lower(tally: Tally, universe: int, n: int, gamma: float, alpha: float) -> float:
    """Likewise; below the pieces f(p) is at least what f(p)/p at their start leaves of the lower limit itself."""
    low, ends, ratio = _pieces(tally, alpha / (2.0 * universe), n, gamma)
    least = np.minimum((ends[:, :-1] * ratio[:, 1:]).min(axis=1), low * ratio[:, 0])
    return float((least * tally.times).sum())


def _pieces(tally: Tally, level: float, n: int, gamma: float) -> tuple[Floats, Floats, Floats]:
    """Lower limits of categories seen, each interval in pieces (from a thousandth of the share), and f(p)/p there."""
    low, high = clopper_pearson(tally.seen, float(tally.records), level)
    floor = np.maximum(low, 1e-3 * tally.shares)
    steps = np.log(high / floor)[:, None] * (np.arange(PIECES + 1) / PIECES)
    ends = np.minimum(floor[:, None] * np.exp(steps), 1.0)
    return low, ends, excess(ends.ravel(), float(n), gamma).reshape(ends.shape) / ends
