"""C_K and Theorem 14 from a sample: estimates, and intervals that hold at every sample size."""

from __future__ import annotations

from math import ceil, inf, sqrt

import numpy as np

from estimators.errors import require_open_unit
from estimators.limits.binomial import clopper_pearson, upper_limit
from estimators.statement import Estimate, Guarantee, Interval
from estimators.theory.mis.certified import lower, upper
from estimators.theory.mis.deviation import Floats, excess
from estimators.theory.mis.diversity import most_diverse
from estimators.theory.mis.security import MOST_RECORDS, least_records, total_delta
from estimators.theory.mis.shape import Term
from estimators.theory.mis.tally import Tally

IID = "records are independent draws from one distribution"

OF_C_K = Guarantee("C_K of the distribution the records come from", IID, True)
OF_DELTA = Guarantee(
    "Delta of the worst algorithm on n records of the distribution (Theorem 14), at this one n", IID, True
)

PIECES = 48
"""Pieces, at equal ratios, an exact interval for one category is cut into to bound Delta's term over it."""

FURTHEST = 256
"""The certified number of records is sought up to so many times the estimated one."""

CLOSE = 1.005
"""And found to this factor."""


def diversity(tally: Tally, confidence: float = 0.95) -> Estimate:
    """C_K with its interval; the estimate is the sample's, which is too low in the mean: C_K is concave (Jensen).

    The upper end is infinite unless the number of categories is stated: however little is unseen, spread over enough
    categories it would make C_K as large as one likes.
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    term = diversity_term()
    most = inf if tally.universe is None else most_diverse(tally.universe)
    least = min(lower(term, tally, alpha), most)
    found = Interval(least, max(min(upper(term, tally, alpha), most), least), confidence, OF_C_K)
    shares = tally.shares
    return Estimate(float((tally.times * np.sqrt(shares * (1.0 - shares))).sum()), found)


def worst_delta_from(tally: Tally, n: int, gamma: float = 1.0, confidence: float = 0.95) -> Estimate:
    """Delta of the worst algorithm on ``n`` records with its interval, and with no need to know all categories.

    Delta's terms are at most p, so what was not seen cannot add more than its probability. At another gamma than 1 the
    interval also has exact limits for every category at once, if their number is stated: Delta is largest at gamma = 1.
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    value = total_delta(tally.shares, tally.times.astype(np.float64), n, gamma)
    if gamma == 1.0:
        least, most = lower(delta_term(n), tally, alpha), upper(delta_term(n), tally, alpha)
    elif tally.universe is None:
        least, most = 0.0, upper(delta_term(n), tally, alpha)
    else:
        least, most = _boxed(tally, tally.universe, n, gamma, alpha / 2.0)
        most = min(most, upper(delta_term(n), tally, alpha / 2.0))
    if tally.universe is not None:
        most = min(most, most_diverse(tally.universe) / (2.0 * sqrt(n)))
    most = min(most, 1.0)
    return Estimate(value, Interval(min(least, most), most, confidence, OF_DELTA))


def records_from(tally: Tally, delta: float, gamma: float = 1.0, confidence: float = 0.95) -> float:
    """A size of the training set at which no algorithm exceeds ``delta``, certified, to half a percent; inf if none is.

    The least size may be taken although it depends on the records: Delta falls as n grows, and so does its upper limit
    (which is tested, not proven); it is then too small only if the limit is wrong at the largest size at which Delta
    still exceeds ``delta``.
    """
    alpha = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / 2.0
    start = least_records(tally.shares, tally.times.astype(np.float64), delta, gamma)

    def holds(n: float) -> bool:
        return worst_delta_from(tally, int(n), gamma, 2.0 * alpha - 1.0).upper <= delta

    high = max(start, 1.0)
    while not holds(high):
        high *= 2.0
        if high > min(FURTHEST * start, MOST_RECORDS):
            return inf
    low = max(high / 2.0, 1.0)
    while high > low * CLOSE and high - low > 1.0:
        middle = float(ceil(sqrt(low * high)))
        if middle >= high:
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


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


def _boxed(tally: Tally, universe: int, n: int, gamma: float, alpha: float) -> tuple[float, float]:
    """Limits by exact intervals for all categories at once: f(p)/p falls, which bounds f between probabilities."""
    records, level = float(tally.records), alpha / universe
    low, high = clopper_pearson(tally.seen, records, level)
    floor = np.maximum(low, 1e-3 * tally.shares)
    steps = np.log(high / floor)[:, None] * (np.arange(PIECES + 1) / PIECES)
    ends = np.minimum(floor[:, None] * np.exp(steps), 1.0)
    ratio = excess(ends.ravel(), float(n), gamma).reshape(ends.shape) / ends
    most = np.maximum((ends[:, 1:] * ratio[:, :-1]).max(axis=1), np.where(low < floor, floor, 0.0))
    least = np.where(low > 0.0, (ends[:, :-1] * ratio[:, 1:]).min(axis=1), 0.0)
    unseen = 0.0
    if tally.unseen:
        last = float(upper_limit(0.0, records, level)) * np.geomspace(1e-6, 1.0, 4 * PIECES)
        share = excess(last, float(n), gamma) / last
        unseen = tally.unseen * max(float((last[1:] * share[:-1]).max()), float(last[0]))
    return float((least * tally.times).sum()), float((most * tally.times).sum()) + unseen
