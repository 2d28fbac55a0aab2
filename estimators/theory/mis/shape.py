"""A term f(p) over the grid of a law, the monotone g that is made of it, and what g leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import expm1, inf

import numpy as np

from estimators.theory.mis.deviation import Floats
from estimators.theory.mis.law import Law

SURE = 3.0
"""Expected records from which a category counts as surely seen, when g is chosen."""

TINY = -1e-300
"""In place of a logarithm of one: what is left then is positive."""


@dataclass(frozen=True, slots=True)
class Term:
    """One category's term f: f(p)/p falls from ``slope``, f is about scale sqrt(p), and ``beyond`` bounds it above 1/2.

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
    """f on the grid of a law, taken to be ``top`` above 1/2 so that a monotone g can meet it, and g's base.

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
    """exp(-a (base - f)) over each law; ``seen`` is the logarithm of its mean over counts of at least one."""

    shape: Shape
    a: float
    seen: Floats

    @property
    def usable(self) -> bool:
        """Whether floats hold it: it is not where a is so large that the table of the base is too coarse for it."""
        return float(self.seen.max()) < inf

    def needed(self) -> float:
        """By how much the base must be raised for categories that are surely seen."""
        sure = self.shape.law.n * self.shape.law.p >= SURE
        return max(float(self.seen[sure].max()) / self.a, 0.0) if sure.any() else 0.0

    def least_at_none(self, by: float) -> float:
        """The least g at no record, once the base is raised ``by`` so much."""
        room = np.log(-np.expm1(np.minimum(self.seen - self.a * by, TINY)))
        return max(float(np.max(self.shape.none + self.a * self.shape.f - room)) / self.a, 0.0)

    def least_lowering(self) -> float:
        """By how much the base must be lowered for a lower limit that pays nothing for no record."""
        room = np.log(-np.expm1(np.minimum(self.shape.none + self.a * self.shape.f, TINY)))
        return max(float(np.max(self.seen - room)) / -self.a, 0.0)

    def slack(self, move: Move) -> float:
        """The least m for a move: sup of ln E exp(-a (g - f)) / p over the grid, and below it.

        Below the grid there is one record at most. Between its points the supremum is taken to be no further from the
        largest value than that is from its neighbours, nor than half a second difference, which is what a kink needs.
        """
        shape, law, a = self.shape, self.shape.law, self.a
        some = self.seen - a * move.by
        if move.level > 0.0 or move.by < 0.0:
            some = shape.mean(-a * np.maximum(shape.gap + move.by, (move.level - shape.f)[:, None]))
        ratio = np.logaddexp(some, shape.none + a * (shape.f - move.at_none)) / law.p
        bend = np.pad(ratio[1:-1] - (ratio[:-2] + ratio[2:]) / 2.0, 1)
        at = int(np.argmax(ratio))
        near = 2.0 * ratio[at] - ratio[max(at - 1, 0) : at + 2].min()
        found = float(min(near, np.max(ratio + np.maximum(bend, 0.0))))
        if a > 0.0 and move.at_none == 0.0:
            first = max(float(shape.base[1]) + move.by, move.level)
            found = max(found, a * shape.term.slope + (1.0 - law.n * law.p[0]) * law.n * expm1(-a * first))
        return found


def _root(p: Floats) -> Floats:
    return np.asarray(np.sqrt(p * (1.0 - p)))


def _ratios(term: Term, law: Law) -> Floats:
    between = law.between
    return term.of(between.ravel()).reshape(between.shape) / _root(between)


def _top(term: Term) -> float:
    """The largest f from one half on."""
    return float(term.of(np.linspace(0.5, 1.0, 1025)).max())
