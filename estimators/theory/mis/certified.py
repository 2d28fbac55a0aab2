"""C_K and Theorem 14 from a sample, by finite-sample limits for a sum over category probabilities, sum f(p_k).

Counts of a multinomial sample are negatively associated (Joag-Dev and Proschan 1983), so for monotone g the moment
generating function of sum g(X_k) is at most the product over categories. If for every p

    E exp(-a g(X)) <= exp(-a f(p) + m p),   X ~ Bin(N, p),

then, as probabilities sum to one, sum f(p_k) <= sum g(X_k) + (m + ln(1/alpha))/a with probability 1 - alpha (Markov),
and likewise below with a negative. f falls above 1/2 and is replaced by its top there: of one category at most, whose
share of the sum is bounded by itself (``Tilt.slack``). g and a are fixed by N and the number of categories, before the
data are seen, and m is the least that works on a grid of p, with a heuristic margin for what lies between: g needs no
other property, it is only chosen to be good.
"""

from collections.abc import Iterator
from math import ceil, exp2, inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from estimators.arrays import Floats
from estimators.errors import require_open_unit, require_up_to_one
from estimators.limits.binomial import clopper_pearson, lower_limit, upper_limit
from estimators.statement import Estimate, Guarantee, Interval
from estimators.theory.mis.binomials import Tally, excess
from estimators.theory.mis.security import MOST_RECORDS, most_diverse, total_c_k, total_delta
from estimators.theory.mis.shape import Move, Shape, Term, least_beyond

OFFSET = 0.5
"""Added to counts for the upper end: what makes a square root unbiased, and a little more for the unseen."""

ROOM = 1.05  # by how much more than is needed g is moved: the supremum is then not where it changes fastest

RAISES = (0.0, 0.5, 2.0, 8.0)
"""Further raises of g, in units of f at one record: they pay where most categories are unseen."""

LEVELS = (1.0, 1.5)
"""Where nothing is paid for no record, one record pays for what was not seen: 1/N at least (Good, Turing)."""

STEEPEST = 1000.0
"""Beyond this rate a finer grid of p would be needed, and what is to be gained is a thousandth."""

FIRST = 0.7  # share of the error for the first of several candidates, where it is expected to be best

DOMINANT = 0.1
"""Share of the error spent on the one category that may hold more than half of all records; twice in the upper end."""


def upper(term: Term, tally: Tally, alpha: float) -> float:
    """Upper limit of level 1 - alpha for sum f(p_k); infinite where, without a universe, f does not fall like p."""
    main = (1.0 - 2.0 * DOMINANT) * alpha
    shape = Shape.above(term, tally.law, OFFSET)
    crowded = tally.universe is None or 2 * tally.universe > tally.records
    of_universe = [] if tally.universe is None else list(_raises(shape, tally.universe, main))
    of_any = list(_nothing_for_nothing(shape, main)) if crowded and term.slope < inf else []
    candidates = of_universe + of_any
    shares = [1.0 / len(candidates)] * len(candidates) if of_any else _expecting(len(candidates))
    ends = [
        _sum(shape, each.move, tally) + (each.slack + log(1.0 / (share * main))) / each.a
        for each, share in zip(candidates, shares, strict=True)
    ]
    return min(ends, default=inf) - _below_top(shape, tally, alpha)


def lower(term: Term, tally: Tally, alpha: float) -> float:
    """Lower limit of level 1 - alpha for sum f(p_k), whatever the number of categories."""
    main = (1.0 - DOMINANT) * alpha
    shape = Shape.below(term, tally.law)
    candidates = list(_lowerings(shape, main))
    result = max(
        _sum(shape, each.move, tally) - (each.slack + log(len(candidates) / main)) / each.a for each in candidates
    )
    high = float(upper_limit(float(tally.counts[-1]), float(tally.records), DOMINANT * alpha))
    if high > 0.5:  # one category may lie where f falls again
        result -= shape.top - least_beyond(term, high)
    return max(result, 0.0)


class Candidate(NamedTuple):
    """One choice of g and a, with the m it needs."""

    a: float
    move: Move
    slack: float


def _raises(shape: Shape, universe: int, alpha: float) -> Iterator[Candidate]:
    """g is f, raised until it suffices where categories are surely seen; at no record as low as then possible."""
    a = min(_rate(shape, universe, alpha), STEEPEST / shape.term.scale)
    tilt = shape.tilted(a)
    for further in RAISES if tilt.usable else ():
        by = ROOM * tilt.least_rise() + further * shape.unit
        move = Move(by, min(ROOM * tilt.least_at_none(by), float(shape.base[1]) + by))
        yield Candidate(a, move, tilt.slack(move))


def _nothing_for_nothing(shape: Shape, alpha: float) -> Iterator[Candidate]:
    """The same with g = 0 where there is no record, so that the number of categories does not matter."""
    n = shape.law.n
    most = n / 2.0
    for a in sorted({min(a, most) for a in _rates(shape, alpha)} | {most, most / 4.0}):
        tilt = shape.tilted(a)
        rise = ROOM * tilt.least_rise()
        for times in LEVELS if tilt.usable else ():
            move = Move(rise, 0.0, times * -log1p(-a / n) / a)
            yield Candidate(a, move, tilt.slack(move))


def _lowerings(shape: Shape, alpha: float) -> Iterator[Candidate]:
    """g is f, lowered until it suffices, or as far as it stays above 0 at one record; 0 where there is no record."""
    for a in _rates(shape, alpha):
        tilt = shape.tilted(-a)
        if not tilt.usable:
            continue
        rise, most = ROOM * tilt.least_lowering(), float(shape.base[1])
        for by in (rise, most) if rise > most else (rise,):
            move = Move(-by, 0.0)
            yield Candidate(a, move, tilt.slack(move))


def _sum(shape: Shape, move: Move, tally: Tally) -> float:
    """sum g(X_k), over what was seen and over what was not."""
    terms = move.of(np.interp(tally.counts.astype(np.float64), tally.law.knots, shape.base))
    return float((terms * tally.times).sum()) + (tally.unseen or 0) * move.at_none


def _expecting(candidates: int) -> list[float]:
    """Shares of the error for candidates among which is chosen after the data are seen: most for the first."""
    if candidates < 2:
        return [1.0] * candidates
    return [FIRST] + [(1.0 - FIRST) / (candidates - 1)] * (candidates - 1)


def _rate(shape: Shape, categories: float, alpha: float) -> float:
    """The a that is best where so many categories each add the variance of a root, 1/(4N)."""
    return sqrt(8.0 * shape.law.n * log(1.0 / alpha) / categories) / shape.term.scale


def _rates(shape: Shape, alpha: float) -> list[float]:
    """The same for 1, 4, 16, ... categories, up to one for each record."""
    return [_rate(shape, 4.0**power, alpha) for power in range(int(log(shape.law.n, 4)) + 1)]


def _below_top(shape: Shape, tally: Tally, alpha: float) -> float:
    """How far the term of a category with more than half of all records lies below the top, if one surely has.

    No category of at most one half reaches a count whose exact lower limit at alpha/2 is one half, but with
    probability alpha: for such counts P(Bin(N, p) >= count) is convex in p, so two halves are the worst.
    """
    most, n = float(tally.counts[-1]), float(tally.records)
    if lower_limit(most, n, DOMINANT * alpha / 2.0) < 0.5:
        return 0.0
    return max(shape.top - shape.term.beyond(float(lower_limit(most, n, DOMINANT * alpha))), 0.0)


IID = "records are independent draws from one distribution"
NUMERICS = f"{IID}; suprema over probabilities are taken on a grid, with a heuristic margin for what lies between"

OF_C_K = Guarantee("C_K of the distribution the records come from", NUMERICS, True)
OF_DELTA = Guarantee(
    "Delta of the worst algorithm on n records of the distribution (Theorem 14), at this one n", NUMERICS, True
)

PIECES = 48
"""Pieces, at equal ratios, an exact interval for one category is cut into to bound Delta's term over it."""

STEPS = 16  # sizes of the grid in a doubling: a certified number of records is found to 2^(1/16), 4.4%

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
    result = Interval(least, max(min(upper(term, tally, alpha), most), least), confidence, OF_C_K)
    return Estimate(total_c_k(tally.shares, tally.times), result)


def worst_delta_from(tally: Tally, n: int, gamma: float = 1.0, confidence: float = 0.95) -> Estimate:
    """Delta of the worst algorithm on ``n`` records with its interval, and with no need to know all categories."""
    alpha = _each_end(confidence)
    value = total_delta(tally.shares, tally.times.astype(np.float64), n, gamma)
    most = delta_upper(tally, n, gamma, alpha)
    return Estimate(value, Interval(min(_delta_lower(tally, n, gamma, alpha), most), most, confidence, OF_DELTA))


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
    largest = min(most / (4.0 * require_up_to_one("delta", delta) ** 2) * (1.0 + 1e-9), float(MOST_RECORDS))

    def size(step: int) -> int:
        return max(ceil(largest / exp2(step / STEPS)), 1)

    def holds(step: int, share: float) -> bool:
        return delta_upper(tally, size(step), gamma, share * alpha) <= delta

    result, smallest = inf, 0
    for stride, share in STRIDES:
        step = 0 if result == inf else smallest + stride
        while result > 1.0 and holds(step, share):
            result, smallest, step = float(size(step)), step, step + stride
    return result


def _each_end(confidence: float) -> float:
    return (1.0 - require_open_unit("confidence", confidence)) / 2.0


def diversity_term() -> Term:
    """sqrt(p (1 - p)), the term of C_K."""
    return Term(of=lambda p: np.sqrt(p * (1.0 - p)), beyond=lambda p: sqrt(p * (1.0 - p)), scale=1.0, slope=inf)


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
    result = float((most * tally.times).sum())
    if not tally.unseen:
        return result
    last = float(upper_limit(0.0, records, level)) * np.geomspace(1e-6, 1.0, 4 * PIECES)
    share = excess(last, float(n), gamma) / last
    return result + tally.unseen * max(float((last[1:] * share[:-1]).max()), float(last[0]))


def _boxed_lower(tally: Tally, universe: int, n: int, gamma: float, alpha: float) -> float:
    """Likewise; below the pieces f(p) is at least what f(p)/p at their start leaves of the lower limit itself."""
    low, ends, ratio = _pieces(tally, alpha / (2.0 * universe), n, gamma)
    least = np.minimum((ends[:, :-1] * ratio[:, 1:]).min(axis=1), low * ratio[:, 0])
    return float((least * tally.times).sum())


def _pieces(tally: Tally, level: float, n: int, gamma: float) -> tuple[Floats, Floats, Floats]:
    """Lower limits of categories seen, each interval in pieces (from a thousandth of the share), and f(p)/p there."""
    low, high = clopper_pearson(tally.counts, float(tally.records), level)
    floor = np.maximum(low, 1e-3 * tally.shares)
    steps = np.log(high / floor)[:, None] * (np.arange(PIECES + 1) / PIECES)
    ends = np.minimum(floor[:, None] * np.exp(steps), 1.0)
    return low, ends, excess(ends.ravel(), float(n), gamma).reshape(ends.shape) / ends
