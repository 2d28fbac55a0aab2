"""A term f(p) over the grid of a law, the monotone g that is made of it, and what g leaves open."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, sqrt

import numpy as np

from estimators.arrays import Floats
from estimators.python.dataclass import dataclass
from estimators.theory.mis.binomials import Law

SURE = 3.0  # expected records from which a category counts as surely seen, when g is chosen
POINTS = 8192  # pieces of [1/2, 1] in which the largest f is sought
TINY = -1e-300  # in place of a logarithm of one: what is left then is positive


@dataclass(frozen=True, slots=True)
class Term:
    """One category's term f: f(p)/p falls from ``slope``, f is at most scale sqrt(p), ``beyond`` bounds it above 1/2.

    ``beyond(p)`` is at least f at every probability from p > 1/2 on.
    """

    of: Callable[[Floats], Floats]
    beyond: Callable[[float], float]
    scale: float
    slope: float


@dataclass(frozen=True, slots=True)
class Move:
    """g(x) = max(base(x) + by, level) from one record on, ``at_none`` at none."""

    by: float
    at_none: float
    level: float = 0.0

    def of(self, base: Floats) -> Floats:
        """g where there is a record."""
        return np.maximum(base + self.by, self.level)


@dataclass(frozen=True, eq=False)
class Shape:
    """f on the grid of a law, taken to be ``top`` above 1/2, where it falls and a monotone g cannot, and g's base.

    For an upper limit f is raised to the largest f/sqrt(p(1-p)) until the next point of the grid, for a lower one
    lowered to the least: Theorem 14's terms ripple. ``gap`` is base - f over each law's counts, ``none`` ln P(X = 0).
    """

    term: Term
    law: Law
    f: Floats
    top: float
    base: Floats
    gap: Floats
    none: Floats

    @classmethod
    def above(cls, term: Term, law: Law, offset: float) -> Shape:
        """For an upper limit; the base is f at the observed share, with ``offset`` records more, made monotone."""
        top = _top(term)
        f = _root(law.p) * _ratios(term, law).max(axis=1)
        f[-1] = top
        return cls._of(term, law, f, top, offset)

    @classmethod
    def below(cls, term: Term, law: Law) -> Shape:
        """For a lower limit."""
        return cls._of(term, law, _root(law.p) * _ratios(term, law).min(axis=1), _top(term), 0.0)

    @classmethod
    def _of(cls, term: Term, law: Law, f: Floats, top: float, offset: float) -> Shape:
        hull = np.maximum.accumulate(term.of(np.minimum((law.knots + offset) / law.n, 0.5)))
        base = np.minimum(hull, top)
        return cls(term, law, f, top, base, law.spread(base) - f[:, None], law.n * np.log1p(-law.p))

    @property
    def unit(self) -> float:
        """f at one record."""
        return float(self.term.of(np.array([min(1.0 / self.law.n, 0.5)]))[0])

    def tilted(self, a: float) -> Tilt:
        """The same under exp(-a (base - f)), for an upper limit; for a lower one with a negative."""
        return Tilt(self, a, self.mean(-a * self.gap))

    def mean(self, exponent: Floats) -> Floats:
        """ln E exp(exponent) over counts of at least one; infinite where that is beyond what floats hold."""
        powers = np.zeros_like(exponent)
        with np.errstate(over="ignore", divide="ignore"):
            np.exp(exponent, out=powers, where=(self.law.counts >= 1.0) & (self.law.weights > 0.0))
            return np.asarray(np.log(np.einsum("ij,ij->i", powers, self.law.weights)))


@dataclass(frozen=True, eq=False)
class Tilt:
    """exp(-a (base - f)) over each law; ``log_mean`` is the logarithm of its mean over counts of at least one."""

    shape: Shape
    a: float
    log_mean: Floats

    @property
    def usable(self) -> bool:
        """Whether floats hold it: it is not where a is so large that the table of the base is too coarse for it."""
        return float(self.log_mean.max()) < inf

    def least_rise(self) -> float:
        """By how much the base must be raised for categories that are surely seen."""
        sure = self.shape.law.n * self.shape.law.p >= SURE
        return max(float(self.log_mean[sure].max()) / self.a, 0.0) if sure.any() else 0.0

    def least_at_none(self, by: float) -> float:
        """The least g at no record, once the base is raised ``by`` so much."""
        room = np.log(-np.expm1(np.minimum(self.log_mean - self.a * by, TINY)))
        return max(float(np.max(self.shape.none + self.a * self.shape.f - room)) / self.a, 0.0)

    def least_lowering(self) -> float:
        """By how much the base must be lowered for a lower limit that pays nothing for no record."""
        room = np.log(-np.expm1(np.minimum(self.shape.none + self.a * self.shape.f, TINY)))
        return max(float(np.max(self.log_mean - room)) / -self.a, 0.0)

    def slack(self, move: Move) -> float:
        """What all categories together add at most: the larger of m and of what one above 1/2 adds alone.

        With L(p) = ln E exp(-a (g - f)), m is the supremum of L(p)/p up to 1/2. One category at most lies above, and
        all add m (1 - p) + L(p) at most; L(p) is no more than ``dominant``, nor is that more than m/2 where m is
        positive. A negative m is therefore no bound: nearly all probability may lie where it does not hold.
        """
        shape, a = self.shape, self.a
        some = self.log_mean - a * move.by
        if move.level > 0.0 or move.by < 0.0:
            some = shape.mean(-a * np.maximum(shape.gap + move.by, (move.level - shape.f)[:, None]))
        each = np.logaddexp(some, shape.none + a * (shape.f - move.at_none))
        most = max(_supremum(each / shape.law.p), self._near_none(move, float(some[0])))
        return max(most, float(each[-1]) if a > 0.0 else self._dominant(move))

    def _dominant(self, move: Move) -> float:
        """For a lower limit: g is largest at N records. (For an upper one g rises and f stays: L falls from 1/2 on.)"""
        return -self.a * (max(float(self.shape.base[-1]) + move.by, move.level) - self.shape.top)

    def _near_none(self, move: Move, some: float) -> float:
        """L(p)/p below the grid, bounded; ``some`` is ln E exp(-a (g - f)) over counts of at least one at its start.

        Upper limit: E exp(-a g) is at most exp(-a g(0)), or with g(0) = 0 as much less than 1 as one record makes it;
        and f(p) is at most slope p and scale sqrt(p). Lower: (E exp(-a g) - 1)/p is a sum of rising terms, but for
        the probability of no further record, and f(p)/p falls.
        """
        shape, a = self.shape, self.a
        n, p, none, slope = shape.law.n, float(shape.law.p[0]), float(shape.none[0]), shape.term.slope
        if a < 0.0:
            more = exp(some - a * float(shape.f[0])) + expm1(none)
            return inf if move.at_none > 0.0 else (more * exp(-none) + a * float(shape.f[0])) / p
        first = max(float(shape.base[1]) + move.by, move.level)
        result = a * slope + (1.0 - n * p) * n * expm1(-a * first)
        most = min(shape.term.scale * sqrt(p), slope * p)
        return min(result, a * (most - move.at_none) / p) if most <= move.at_none <= first else result


def _supremum(ratio: Floats) -> float:
    """The largest on the grid, and a margin for what lies between its points: a heuristic one.

    It is taken to be no further from the largest value than that is from its neighbours, nor than half a second
    difference, which is what a kink needs.
    """
    bend = np.pad(ratio[1:-1] - (ratio[:-2] + ratio[2:]) / 2.0, 1)
    at = int(np.argmax(ratio))
    near = 2.0 * ratio[at] - ratio[max(at - 1, 0) : at + 2].min()
    return float(min(near, np.max(ratio + np.maximum(bend, 0.0))))


def _root(p: Floats) -> Floats:
    return np.asarray(np.sqrt(p * (1.0 - p)))


def _ratios(term: Term, law: Law) -> Floats:
    between = law.between
    return term.of(between.ravel()).reshape(between.shape) / _root(between)


def _top(term: Term) -> float:
    """The largest f from one half on, or a little more: f(p)/p falls, which bounds f until the next point."""
    p = np.linspace(0.5, 1.0, POINTS + 1)
    return float((term.of(p[:-1]) * (p[1:] / p[:-1])).max())


def least_beyond(term: Term, high: float) -> float:
    """The least f from one half to ``high``, or a little less, likewise."""
    p = np.linspace(0.5, high, POINTS + 1)
    return float((term.of(p[1:]) * (p[:-1] / p[1:])).min())
