"""How many times as often as nonmembers members lie in a tail of the score, from below, exactly.

Let the tail end at the (k+1)-th nonmember from outside. What share of nonmembers it truly holds is at most U, the
(k+1)-th smallest of n0 uniform numbers; if the share of members is at most g times that, its members are no more than
those of n1 uniform numbers V that are smaller than g U. So m of them or more have probability at most

    P(V_(m) <= g U_(k+1)),   V_(m) ~ Beta(m, n1 - m + 1),  U_(k+1) ~ Beta(k + 1, n0 - k) independent,

exactly so for a score without ties; at g = 1 it is the hypergeometric law of the pooled ranks. The largest g at which
that is at most the level is the limit.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from math import inf, lgamma, log, sqrt

import numpy as np
from scipy.special import betainc, betaincc, betaincinv, expit, logit, ndtri, polygamma

from estimators.arrays import Floats, dot
from estimators.limits.root import brentq
from estimators.python import cache_of_records

NODES = 40
"""Points at which a law is summed over, if it is the wider one; smooth as it is there, thirty give nine digits."""

OUTSIDE = 1e-6
"""Probability of the law that lies beyond those points, at either end, as a share of the level."""

NORMAL = 100.0
"""From so many records on either side of a cut its law is normal enough to say where those points are."""

SKEW = 4.0
"""With fewer records on one side of the cut the law has one long end, and takes more points."""

NEAR = 1e-5
"""How closely the logarithm of a ratio is found."""

STEPS = tuple(0.01 * 4.0**place for place in range(12))
"""Steps beyond a first guess by which that logarithm is enclosed: they end where no float has it."""


def ratio_limit(m: int, n1: int, k: int, n0: int, level: float, start: float = 0.0) -> float:
    """Largest log g with P(V_(m) <= g U_(k+1)) at most ``level``; ``start``, which is not negative, if none is above.

    Args:
        m: Members in the tail, at least 1.
        n1: Members in all.
        k: Nonmembers that the tail may hold: it ends at the next one.
        n0: Nonmembers in all, more than k.
        level: The probability that the limit may be wrong.
        start: The logarithm that the limit has to exceed.
    """
    if k >= n0 or _log_chance(m, n1, k, n0) > log(level) + 1.0:
        return start
    excess, guess, likely = _excess(m, n1, k, n0, level)
    points = [max(start, guess - 0.02), *accumulate(STEPS, initial=max(start, guess) + 0.005)]
    at = max(0, bisect_left(points, likely) - 1)  # excess grows: its zero lies between this one and the next
    while at and excess(points[at]) > 0.0:
        at -= 1
    if not at and excess(points[0]) > 0.0:
        if points[0] == start or excess(start) > 0.0:
            return start
        points.insert(0, start)
    while excess(points[at + 1]) <= 0.0:
        at += 1
    return max(start, float(brentq(excess, points[at], points[at + 1], xtol=NEAR / 2.0)) - NEAR)


@cache_of_records(64)
def _excess(m: int, n1: int, k: int, n0: int, level: float) -> tuple[Callable[[float], float], float, float]:
    """How far P(V_(m) <= g U_(k+1)) lies above the level, in logarithms, by log g, with which it grows.

    With it, where that is nothing were both sides endless, if that is known, and about where it is as they are.
    Kept for as many tails as a few answers ask about, each more than once: a law is a hundred numbers or so.
    """
    a, b, c, d = float(m), n1 - m + 1.0, k + 1.0, float(n0 - k)
    of_a, of_b, of_c, of_d, of_members, of_nonmembers = polygamma(1, np.array([a, b, c, d, a + b, c + d]))
    uncertain_members, uncertain_end = np.sqrt(of_a - of_members), np.sqrt(of_c - of_nonmembers)
    over_members = uncertain_members <= 3.0 * uncertain_end
    if over_members:
        nodes, spread = 2.0 * uncertain_members / uncertain_end, np.sqrt(of_a + of_b)
        values, weights = _law(a, b, OUTSIDE * level, spread, nodes)
    else:  # then g U is far below 1, where the law of V_(m) has its corner
        values, weights = _law(c, d, OUTSIDE * level, np.sqrt(of_c + of_d), 1.0)

    @lru_cache(maxsize=64)
    def excess(log_ratio: float) -> float:
        g = np.exp(log_ratio)
        if over_members:
            p = dot(weights, betaincc(c, d, values / g))
        else:
            p = dot(weights, betainc(a, b, np.minimum(values * g, 1.0)))
        return float(np.log(max(p, 1e-300) / level))

    share = betaincinv(a, c, level)  # of V_(m) / (V_(m) + U_(k+1)), were both sides endless
    if not 0.0 < share < 1.0:
        return excess, -inf, -inf
    endless = float(logit(share)) + np.log(n0 / n1)
    observed = log(m / n1) - log((k + 0.5) / n0)
    steady = sqrt(max(0.0, 1.0 - (1.0 / n1 + 1.0 / n0) / (1.0 / m + 1.0 / (k + 1.0))))
    return excess, endless, observed - (observed - endless) * steady


def _log_chance(m: int, n1: int, k: int, n0: int) -> float:
    """Logarithm of the chance that of the m + k highest of all records just m are members, if the sides are alike.

    So probable at least it is that V_(m) <= U_(k+1).
    """
    ways = [lgamma(n + 1.0) - lgamma(some + 1.0) - lgamma(n - some + 1.0) for n, some in ((n1, m), (n0, k))]
    return sum(ways) - lgamma(n1 + n0 + 1.0) + lgamma(m + k + 1.0) + lgamma(n1 + n0 - m - k + 1.0)


def _law(a: float, b: float, outside: float, spread: float, times: float) -> tuple[Floats, Floats]:
    """Values of a beta law and their weights, by the trapezoidal rule in the log odds, where its density is smooth.

    With steps small beside all that is summed, the rule converges faster than any power of them.
    """
    centre = np.log(a / b)
    if min(a, b) >= NORMAL:
        high = -float(ndtri(outside)) * spread
        low = -high
    else:
        low = float(logit(betaincinv(a, b, outside))) - centre
        high = -float(logit(betaincinv(b, a, outside))) - centre
    away = np.linspace(low, high, int(NODES * max(1.0, times) * (1.0 if min(a, b) >= SKEW else 4.0)))
    density = a * away - (a + b) * np.log1p(a / (a + b) * np.expm1(away))
    weights = np.exp(density - density.max())
    return expit(away + centre), weights / weights.sum()


def least_visible(n1: int, n0: int, level: float) -> int | None:
    """Fewest members beyond every nonmember that have at most this probability without a leak."""
    if not level:
        return None
    before = np.arange(min(n1, 4096), dtype=np.float64)
    chances = np.cumsum(np.log((n1 - before) / (n1 + n0 - before)))
    few = np.flatnonzero(chances <= np.log(level))
    if len(few):
        return int(few[0]) + 1
    # of a side so much larger the draws are as good as independent, and that errs to the safe side
    many = int(np.ceil(np.log(level) / np.log(n1 / (n1 + n0))))
    return many if many <= n1 else None
