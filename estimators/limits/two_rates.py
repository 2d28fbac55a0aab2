"""Limits for what two independent rates make together, proven at every level and every number of records.

A rate is refused by its exact one-sided p-value. The p-values of the two true rates are independent and no smaller
than uniform ones, so the weighted sum of their logarithms falls below a known number, or one of them below another,
with probability alpha at most (Fisher 1932; with weights, Good 1955). The pairs of rates that are not refused are a
convex set, because the tail of a binomial is log-concave in its rate. A limit is the largest value on that set, found
from outside: what is stated is where two tangents meet, and no pair lies above it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, betaln, ndtri

from estimators.arrays import Floats, Integers, lengths
from estimators.limits.root import brentq
from estimators.python.dataclass import dataclass, replace

Linear = tuple[float, float, float]

CLOSE = 1e-3  # a limit may lie above the best one by this share of its distance to the observed value

FINE = 1e-10
"""Nor is it worth a search to know a limit better than this: with very many records no float could."""

MOST_RECORDS = 1e11
"""More records than this count as so many, with the same share of hits: floats have no digits left for such tails."""

ALONE = 0.1
"""Part of the level at which either rate is refused by itself; it costs next to nothing where both matter."""

CLOSEST = 1e-9  # a limit of a ratio is found to this share of its range
ALL_TOGETHER = np.zeros(1, dtype=np.int64)  # where lots of pairs begin, if all are one
ROUNDS = 40  # tangents drawn at most; three or four are enough for nearly every pair


@dataclass(frozen=True, eq=False, slots=True)
class TwoRates:
    """``hits_a`` of ``n_a`` and ``hits_c`` of ``n_c`` independent records, each a number or as many as the others.

    ``share`` is the weight of the first p-value, fixed before the records are seen; the second has the rest. ``alone``
    is the part of a level at which either is refused by itself.
    """

    hits_a: Floats
    n_a: Floats
    hits_c: Floats
    n_c: Floats
    share: float
    alone: float = ALONE

    @classmethod
    def of(
        cls, hits_a: ArrayLike, n_a: ArrayLike, hits_c: ArrayLike, n_c: ArrayLike, slope_a: float, slope_c: float
    ) -> TwoRates:
        """Weights that suit a sum with about these slopes: the root of each rate's standard error."""
        x, n, y, m = np.broadcast_arrays(*(np.asarray(each, dtype=np.float64) for each in (hits_a, n_a, hits_c, n_c)))
        a = np.sqrt(abs(slope_a)) / float(np.mean(n)) ** 0.25
        c = np.sqrt(abs(slope_c)) / float(np.mean(m)) ** 0.25
        # rounded: designs are kept for the next call
        share = round(float(a / (a + c)), 3) if a + c > 0.0 else 0.5
        return cls(x, n, y, m, min(max(share, 0.02), 0.98))

    @classmethod
    def of_guesses(
        cls,
        true_positives: ArrayLike,
        n_members: ArrayLike,
        true_negatives: ArrayLike,
        n_nonmembers: ArrayLike,
        prior: float,
        alone: float = ALONE,
    ) -> TwoRates:
        """Right guesses of both sides. At a prior far from 1/2 good rules hardly ever err on the likelier side."""
        errors = [0.5 * min(1.0, odds) for odds in ((1.0 - prior) / prior, prior / (1.0 - prior))]
        a, c = (float(np.sqrt(error * (1.0 - error))) for error in errors)
        rates = cls.of(true_positives, n_members, true_negatives, n_nonmembers, prior * a, (1.0 - prior) * c)
        return replace(rates, alone=alone)

    def upper(self, slope_a: ArrayLike, slope_c: ArrayLike, alpha: float) -> Floats:
        """Upper limits, each of level 1 - alpha, of slope_a a + slope_c c."""
        return self._search(slope_a, slope_c, alpha, None).bound.reshape(self.hits_a.shape)

    def largest(
        self,
        slope_a: float,
        slope_c: float,
        alpha: float,
        floor: float | Floats = -np.inf,
        firsts: Integers = ALL_TOGETHER,
    ) -> Largest:
        """The largest of those limits; where it is at most ``floor``, that it is.

        ``firsts`` are the first pairs of lots that lie side by side, of each of which the largest is asked for, with a
        floor each.
        """
        return self._search(slope_a, slope_c, alpha, floor, firsts)

    def ratio_upper(self, numerator: Linear, denominator: Linear, alpha: float, range_: tuple[float, float]) -> Floats:
        """Upper limits, each of level 1 - alpha, of (e0 + ea a + ec c) / (h0 + ha a + hc c).

        A value is refused if the limit of numerator - value denominator is below 0. The denominator must be positive
        except at corners where the ratio is 0/0; ``range_`` holds all values of the ratio.
        """
        form = Ratio.of(numerator, denominator)
        rho = np.full(self.hits_a.size, range_[0], dtype=np.float64)
        open_ = np.arange(rho.size)
        for _ in range(ROUNDS):
            some = self._only(open_)
            limit = some._search(*form.slopes(rho[open_]), alpha, None)
            beyond = form.beyond(rho[open_], limit.bound, limit.a, limit.c)
            step = np.minimum(beyond, range_[1]) - rho[open_]
            rho[open_] += np.maximum(step, 0.0)
            hair = CLOSEST * (range_[1] - range_[0])
            rho[open_[rho[open_] >= range_[1] - hair]] = range_[1]
            open_ = open_[(step > hair) & (rho[open_] < range_[1])]
            if not open_.size:
                break
        rho[open_] = range_[1]
        return rho.reshape(self.hits_a.shape)

    def largest_ratio(
        self, numerator: Linear, denominator: Linear, alpha: float, range_: tuple[float, float], least: float
    ) -> float:
        """The largest of those limits, or ``least`` if none is above it."""
        form, rho, some = Ratio.of(numerator, denominator), np.array([least]), self
        hair = CLOSEST * (range_[1] - range_[0])
        for _ in range(ROUNDS):
            slope_a, slope_c = (float(each[0]) for each in form.slopes(rho))
            floor = float(-form.constant(rho)[0])
            limit = some.largest(slope_a, slope_c, alpha, floor)
            at = slice(limit.at, limit.at + 1)
            step = form.beyond(rho, limit.bound[at], limit.a[at], limit.c[at]) - rho
            if step[0] <= hair:
                return float(rho[0])
            rho = rho + step
            if rho[0] >= range_[1] - hair:
                break
            some = some._only(limit.bound > floor)  # what cannot reach rho cannot reach more
        return range_[1]

    def _only(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> TwoRates:
        x, n, y, m = (each.ravel()[keep] for each in (self.hits_a, self.n_a, self.hits_c, self.n_c))
        return TwoRates(x, n, y, m, self.share, self.alone)

    def _search(
        self,
        slope_a: ArrayLike,
        slope_c: ArrayLike,
        alpha: float,
        floor: float | Floats | None,
        firsts: Integers = ALL_TOGETHER,
    ) -> Largest:
        x, n, y, m, s, t = (
            each.ravel()
            for each in np.broadcast_arrays(
                self.hits_a, self.n_a, self.hits_c, self.n_c, np.asarray(slope_a, float), np.asarray(slope_c, float)
            )
        )
        down_a, down_c = s < 0.0, t < 0.0
        least = np.where(down_a, s, 0.0) + np.where(down_c, t, 0.0)
        below = None if floor is None else floor - float(least[0] if least.size else 0.0)
        limit = _farthest(
            np.where(down_a, n - x, x),
            n,
            np.where(down_c, m - y, y),
            m,
            np.abs(s),
            np.abs(t),
            Design.of(self.share, alpha, self.alone),
            below,
            firsts,
        )
        a = np.where(down_a, 1.0 - limit.a, limit.a)
        c = np.where(down_c, 1.0 - limit.c, limit.c)
        return replace(limit, bound=limit.bound + least, reached=limit.reached + least, a=a, c=c)


@dataclass(frozen=True, eq=False, slots=True)
class Largest:
    """Limits, which of them is largest, and the pairs of rates at which they are reached.

    ``reached`` is the sum at these pairs: no limit is below it, nor far above if it could be the largest.
    """

    bound: Floats
    reached: Floats
    at: int
    a: Floats
    c: Floats

    @property
    def value(self) -> float:
        """The largest limit."""
        return float(self.bound.max(initial=-np.inf))


@dataclass(frozen=True, slots=True)
class Ratio:
    """numerator - rho denominator of two linear forms, as rho rises to the largest value they can have."""

    numerator: Linear
    denominator: Linear
    turns: tuple[float, ...]

    @classmethod
    def of(cls, numerator: Linear, denominator: Linear) -> Ratio:
        """With the values of rho at which a rate begins to count the other way round."""
        (_, *top), (_, *bottom) = numerator, denominator
        return cls(numerator, denominator, tuple(e / h for e, h in zip(top, bottom, strict=True) if h))

    def constant(self, rho: Floats) -> Floats:
        """What no rate changes."""
        return self.numerator[0] - rho * self.denominator[0]

    def slopes(self, rho: Floats) -> tuple[Floats, Floats]:
        """How much each rate counts; where it is about to count the other way, a hair of that."""
        (_, ea, ec), (_, ha, hc) = self.numerator, self.denominator
        a, c = ea - rho * ha, ec - rho * hc
        return np.where(a == 0.0, -np.sign(ha) * 1e-300, a), np.where(c == 0.0, -np.sign(hc) * 1e-300, c)

    def beyond(self, rho: Floats, bound: Floats, a: Floats, c: Floats) -> Floats:
        """Where the line through the largest difference, ``bound`` at these rates, meets 0; up to the next turn."""
        h0, ha, hc = self.denominator
        step = np.maximum(bound + self.constant(rho), 0.0) / np.maximum(h0 + ha * a + hc * c, 1e-12)
        following = [np.where(rho < turn, turn, np.inf) for turn in self.turns]
        nearest: Floats = np.minimum.reduce([rho + step, *following])
        return nearest


@dataclass(frozen=True, slots=True)
class Design:
    """Which pairs of p-values, exp(-E1) and exp(-E2), refuse: with probability ``alpha``, if both are uniform.

    Those of which share E1 + (1 - share) E2 exceeds ``total``, or of which either by itself exceeds ``cap``: where one
    rate tells nothing of what is asked, the other would else have to be refused at a level far below alpha.
    """

    share: float
    alpha: float
    cap: float
    total: float

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(share: float, alpha: float, alone: float = ALONE) -> Design:
        """The design of a level, of which this part is for either p-value by itself."""
        cap = -float(np.log(alone * alpha))
        total = brentq(lambda t: _refused(share, cap, t) - alpha, 0.0, cap, xtol=1e-14)
        return Design(share, alpha, cap, float(total))

    @property
    def low(self) -> float:
        """Least -log of the first p-value on the border of what is not refused."""
        return max(0.0, (self.total - (1.0 - self.share) * self.cap) / self.share)

    @property
    def high(self) -> float:
        """The most of it."""
        return min(self.cap, self.total / self.share)

    def other(self, e: Floats) -> Floats:
        """-log of the second p-value on that border, where the first is exp(-e)."""
        return np.maximum(self.total - self.share * e, 0.0) / (1.0 - self.share)

    def start(self, first: Floats, second: Floats) -> Floats:
        """Where on the border a sum of two normal variables with these standard deviations is largest."""
        ratios, places = _starts(self)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.interp(np.log(first / second), ratios, places)


def _refused(share: float, cap: float, total: float) -> float:
    """Chance that one of two exponential variables exceeds ``cap``, or their weighted sum ``total``."""
    other = 1.0 - share
    first, last = max(0.0, (total - other * cap) / share), min(cap, total / share)
    rate, beyond = 1.0 - share / other, float(np.exp(-cap))
    if abs(rate) < 1e-9:
        slanted = (last - first) * float(np.exp(-total / other))
    else:
        slanted = float(np.exp(-total / other - rate * first) - np.exp(-total / other - rate * last)) / rate
    slanted -= beyond * float(np.exp(-first) - np.exp(-last))
    return 2.0 * beyond - beyond**2 + slanted + (1.0 - beyond) * (float(np.exp(-last)) - beyond)


@lru_cache(maxsize=1024)
def _starts(design: Design) -> tuple[Floats, Floats]:
    """Logarithms of ratios of standard deviations, and where the sum is largest for each."""
    e = np.linspace(design.low, design.high, 202)[1:-1]
    first, second = -ndtri(np.exp(-e)), -ndtri(np.exp(-design.other(e)))
    ratios = np.linspace(-7.0, 7.0, 57)
    return ratios, e[np.argmax(np.exp(ratios)[:, None] * first + second, axis=1)]


def _spread(hits: Floats, trials: Floats) -> Floats:
    """About the standard error of a rate; never zero."""
    rate = (hits + 1.0) / (trials + 2.0)
    return np.sqrt(rate * (1.0 - rate) / trials)


def _farthest(
    x: Floats,
    n: Floats,
    y: Floats,
    m: Floats,
    s: Floats,
    t: Floats,
    design: Design,
    floor: float | Floats | None,
    firsts: Integers,
) -> Largest:
    """Largest s a + t c, from outside, over the pairs of rates that ``design`` does not refuse for x of n and y of m.

    Along the border of that set, by e = -log p_a, the sum is concave: two points at which it rises and falls bound it
    by their tangents. With a ``floor`` only what could be the largest of its lot, and above it, is looked at closely.
    """
    v, w = design.share, 1.0 - design.share
    e = design.start(s * _spread(x, n), t * _spread(y, m))
    e[y >= m], e[x >= n] = design.high, design.low
    tails, unknown, ones = (_tails(np.array([x, y]), np.array([n, m])), np.full(x.shape, np.nan), np.ones(x.shape))
    left = np.array([np.full(x.shape, design.low), unknown, unknown])  # a place, the sum and its slope there
    right = np.array([np.full(x.shape, design.high), unknown, unknown])
    bound, in_sample, top = s + t, s * x / n + t * y / m, np.array([np.full(x.shape, -np.inf), ones, ones])
    lots = np.repeat(np.arange(len(firsts)), lengths(firsts, x.size))
    open_, bounds, tops = np.arange(x.size), bound.copy(), top.copy()
    for _ in range(ROUNDS):
        (a, c), (da, dc), (dda, ddc) = _rate(tails, np.array([e, design.other(e)]))
        value = s * a + t * c
        slope = s * da - t * (v / w) * dc
        top = np.where(value > top[0], np.array([value, a, c]), top)
        here, up = np.array([e, value, slope]), slope > 0.0
        left, right = np.where(up, here, left), np.where(up, right, here)
        (low, lv, ld), (high, hv, hd), best = left, right, top[0]
        with np.errstate(all="ignore"):
            meet = (hv - lv + ld * low - hd * high) / (ld - hd)
            tangents = np.fmin(np.fmin(lv + ld * (meet - low), lv + ld * (high - low)), hv - hd * (high - low))
            newton = e - 1.1 * slope / (s * dda + t * (v / w) ** 2 * ddc)  # a little beyond: to bracket it
        bound = np.fmax(np.fmin(bound, tangents), best)
        e = np.where(np.isfinite(meet), meet, newton)
        e = np.where((e > low) & (e < high), e, (low + high) / 2.0)
        bounds[open_], tops[:, open_] = bound, top
        near = bound - best <= np.maximum(CLOSE * (best - in_sample), FINE)
        if floor is not None:
            near |= bound <= np.maximum(floor, np.maximum.reduceat(tops[0], firsts))[lots[open_]]
        if near.all():
            break
        if near.any():
            every = (open_, s, t, in_sample, e, bound, left, right, top, *tails)
            open_, s, t, in_sample, e, bound, left, right, top, *tails = (each[..., ~near] for each in every)
    return Largest(bounds, tops[0], int(np.argmax(bounds)) if x.size else 0, tops[1], tops[2])


def _tails(x: Floats, n: Floats) -> list[NDArray[Any]]:
    """What is the same of every rate at which at most x hits in n are looked at: whether all hit, and a beta law."""
    every = x >= n
    few = np.minimum(MOST_RECORDS / n, 1.0)
    x, n = x * few, n * few
    k, rest = np.where(every, 0.0, x), np.where(every, n, n - x)
    return [every, k, rest, betaln(k + 1.0, rest)]


def _rate(tails: list[NDArray[Any]], e: Floats) -> tuple[Floats, Floats, Floats]:
    """The rate whose chance of at most x hits in n is exp(-e), and its first and second derivative in e."""
    every, k, rest, log_beta = tails
    rate = betaincinv(k + 1.0, rest, -np.expm1(-e))
    with np.errstate(all="ignore"):
        log_density = k * np.log(rate) + (rest - 1.0) * np.log1p(-rate) - log_beta
        first = np.exp(-e - log_density)
        second = -first * (1.0 + first * (k / rate - (rest - 1.0) / (1.0 - rate)))
    none = every | ~np.isfinite(first)
    return np.where(every, 1.0, rate), np.where(none, 0.0, first), np.where(none, 0.0, second)


def weighted_accuracy_upper(
    true_positives: ArrayLike,
    n_members: ArrayLike,
    true_negatives: ArrayLike,
    n_nonmembers: ArrayLike,
    prior: float,
    alpha: float,
) -> Floats:
    """Upper limit of level 1 - alpha for p TPR + (1-p) TNR of a fixed adversary.

    At even odds the side with fewer records comes first, so that it is the same whichever side is called the members.
    """
    if prior == 0.5 and np.all(np.greater(n_members, n_nonmembers)):
        true_positives, n_members, true_negatives, n_nonmembers = (
            true_negatives,
            n_nonmembers,
            true_positives,
            n_members,
        )
    rates = TwoRates.of_guesses(true_positives, n_members, true_negatives, n_nonmembers, prior)
    return np.minimum(rates.upper(prior, 1.0 - prior, alpha), 1.0)


def weighted_accuracy_lower(
    true_positives: ArrayLike,
    n_members: ArrayLike,
    true_negatives: ArrayLike,
    n_nonmembers: ArrayLike,
    prior: float,
    alpha: float,
) -> Floats:
    """Lower limit: one minus the upper limit of the opposite adversary, who is right where this one is wrong."""
    wrong = np.subtract(n_members, true_positives), np.subtract(n_nonmembers, true_negatives)
    return 1.0 - weighted_accuracy_upper(wrong[0], n_members, wrong[1], n_nonmembers, prior, alpha)
