"""Finite-sample limits for a sum of terms of category probabilities, sum f(p_k), from counts.

Counts of a multinomial sample are negatively associated (Joag-Dev and Proschan 1983), so for monotone g the moment
generating function of sum g(X_k) is at most the product over categories. If for every p

    E exp(-a g(X)) <= exp(-a f(p) + m p),   X ~ Bin(N, p),

then, as probabilities sum to one, sum f(p_k) <= sum g(X_k) + (m + ln(1/alpha))/a with probability 1 - alpha (Markov),
and likewise below with a negative. f falls above 1/2 and is replaced by its top there: of one category at most, whose
share of the sum is bounded by itself (``Tilt.slack``). g and a are fixed by N and the number of categories, before the
data are seen, and m is the least that works on a grid of p, with a heuristic margin for what lies between: g needs no
other property, it is only chosen to be good.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from estimators.limits.binomial import lower_limit, upper_limit
from estimators.theory.mis.shape import Move, Shape, Term, least_beyond
from estimators.theory.mis.tally import Tally

OFFSET = 0.5
"""Added to counts for the upper end: what makes a square root unbiased, and a little more for the unseen."""

ROOM = 1.05
"""By how much more than is needed g is moved: the supremum is then not where it changes fastest."""

RAISES = (0.0, 0.5, 2.0, 8.0)
"""Further raises of g, in units of f at one record: they pay where most categories are unseen."""

LEVELS = (1.0, 1.5)
"""Where nothing is paid for no record, one record pays for what was not seen: 1/N at least (Good, Turing)."""

STEEPEST = 1000.0
"""Beyond this rate a finer grid of p would be needed, and what is to be gained is a thousandth."""

FIRST = 0.7
"""Share of the error for the first of several candidates, where it is expected to be best."""

DOMINANT = 0.1
"""Share of the error spent on the one category that may hold more than half of all records; twice in the upper end."""


def upper(term: Term, tally: Tally, alpha: float) -> float:
    """Upper limit of level 1 - alpha for sum f(p_k); infinite where, without a universe, f does not fall like p."""
    main = (1.0 - 2.0 * DOMINANT) * alpha
    shape = Shape.above(term, tally.law, OFFSET)
    crowded = tally.universe is None or 2 * tally.universe > tally.records
    named = [] if tally.universe is None else list(_raised(shape, tally.universe, main))
    nameless = list(_nothing_for_nothing(shape, main)) if crowded and term.slope < inf else []
    tried = named + nameless
    shares = [1.0 / len(tried)] * len(tried) if nameless else _expecting(len(tried))
    ends = [
        _sum(shape, each.move, tally) + (each.slack + log(1.0 / (share * main))) / each.a
        for each, share in zip(tried, shares, strict=True)
    ]
    return min(ends, default=inf) - _below_top(shape, tally, alpha)


def lower(term: Term, tally: Tally, alpha: float) -> float:
    """Lower limit of level 1 - alpha for sum f(p_k), whatever the number of categories."""
    main = (1.0 - DOMINANT) * alpha
    shape = Shape.below(term, tally.law)
    tried = list(_lowered(shape, main))
    found = max(
        _sum(shape, each.move, tally) - (each.slack + log(len(tried) / main)) / each.a for each in tried
    )
    high = float(upper_limit(float(tally.seen[-1]), float(tally.records), DOMINANT * alpha))
    if high > 0.5:  # one category may lie where f falls again
        found -= shape.top - least_beyond(term, high)
    return max(found, 0.0)


class Tried(NamedTuple):
    """One choice of g and a, with the m it needs."""

    a: float
    move: Move
    slack: float


def _raised(shape: Shape, universe: int, alpha: float) -> Iterator[Tried]:
    """g is f, raised until it suffices where categories are surely seen; at no record as low as then possible."""
    a = min(_rate(shape, universe, alpha), STEEPEST / shape.term.scale)
    tilt = shape.tilted(a)
    for further in RAISES if tilt.usable else ():
        by = ROOM * tilt.needed() + further * shape.unit
        move = Move(by, min(ROOM * tilt.least_at_none(by), float(shape.base[1]) + by))
        yield Tried(a, move, tilt.slack(move))


def _nothing_for_nothing(shape: Shape, alpha: float) -> Iterator[Tried]:
    """The same with g = 0 where there is no record, so that the number of categories does not matter."""
    n = shape.law.n
    most = n / 2.0
    for a in sorted({min(a, most) for a in _rates(shape, alpha)} | {most, most / 4.0}):
        tilt = shape.tilted(a)
        needed = ROOM * tilt.needed()
        for times in LEVELS if tilt.usable else ():
            move = Move(needed, 0.0, times * -log1p(-a / n) / a)
            yield Tried(a, move, tilt.slack(move))


def _lowered(shape: Shape, alpha: float) -> Iterator[Tried]:
    """g is f, lowered until it suffices, or as far as it stays above 0 at one record; 0 where there is no record."""
    for a in _rates(shape, alpha):
        tilt = shape.tilted(-a)
        if not tilt.usable:
            continue
        needed, most = ROOM * tilt.least_lowering(), float(shape.base[1])
        for by in (needed, most) if needed > most else (needed,):
            move = Move(-by, 0.0)
            yield Tried(a, move, tilt.slack(move))


def _sum(shape: Shape, move: Move, tally: Tally) -> float:
    """sum g(X_k), over what was seen and over what was not."""
    seen = move.of(np.interp(tally.seen.astype(np.float64), tally.law.knots, shape.base))
    return float((seen * tally.times).sum()) + (tally.unseen or 0) * move.at_none


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
    most, n = float(tally.seen[-1]), float(tally.records)
    if lower_limit(most, n, DOMINANT * alpha / 2.0) < 0.5:
        return 0.0
    return max(shape.top - shape.term.beyond(float(lower_limit(most, n, DOMINANT * alpha))), 0.0)
