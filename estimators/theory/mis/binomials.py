"""Binomial laws: how far a share of n draws strays in the mean (Theorem 14), and the grid of certified limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import log2

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, gammaln

from estimators.arrays import Floats
from estimators.errors import InvalidCounts, OutOfRange, TooFewRecords, require_count
from estimators.python.dataclass import dataclass

BLOCK = 1 << 14  # categories worked on at once: what they need fits the processor's cache
SMALL = 16  # up to here Stirling's error is looked up; beyond, four terms of its series are exact
LITTLE = 1e-5  # a probability below which a difference from one would cost digits

_K = np.arange(1, SMALL, dtype=np.float64)
_TABLE = np.concatenate(([0.0], gammaln(_K + 1.0) - (_K + 0.5) * np.log(_K) + _K - 0.5 * np.log(2.0 * np.pi)))


def excess(p: Floats, n: float, gamma: float = 1.0) -> Floats:
    """E(B/n - gamma p)_+ for gamma >= 1, E(p - B/(gamma n))_+ below, of B ~ Bin(n, p).

    Summed over categories either is Theorem 14's Delta: |x| = x + 2 (-x)_+ turns the paper's sum of absolute values,
    less a term as large, into these. De Moivre's identity gives the partial mean in closed form at gamma = 1
    (Lemma 31) and leaves one binomial tail elsewhere (Eq. 47).
    """
    result = np.empty_like(p)
    for start in range(0, p.size, BLOCK):
        part = slice(start, start + BLOCK)
        result[part] = _excess(p[part], float(n), gamma)
    return result


def _excess(p: Floats, n: float, gamma: float) -> Floats:
    cut = gamma * n * p
    m = np.floor(cut)
    result = np.zeros_like(p)
    few = m < 1.0
    some = ~few & (cut < n) & (p < 1.0)
    if few.any():
        result[few] = _nothing_below(p[few], n, gamma)
    if some.any():
        result[some] = _around(p[some], m[some], n, gamma)
    return result


def _nothing_below(p: Floats, n: float, gamma: float) -> Floats:
    """Where only B = 0 lies below the cut: E(c - B)_+ = c P(B = 0), and E(B - c)_+ = np - c P(B > 0)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        none = n * np.log1p(-p)
    if gamma <= 1.0:
        return np.asarray(p * np.exp(none))
    return np.asarray(p * np.maximum(1.0 + gamma * np.expm1(none), 0.0))


def _around(p: Floats, m: Floats, n: float, gamma: float) -> Floats:
    """n p q b(m; n-1, p) is the partial mean about the mean itself; a tail moves it to gamma times the mean."""
    centred = p * (1.0 - p) * _inner(m, n - 1.0, p)
    if gamma > 1.0:
        centred -= (gamma - 1.0) * p * betainc(m + 1.0, n - m, p)
    elif gamma < 1.0:
        centred = (centred - (1.0 - gamma) * p * _at_most(m, n, p)) / gamma
    return np.maximum(centred, 0.0)


def _at_most(m: Floats, n: float, p: Floats) -> Floats:
    """P(Bin(n, p) <= m): one less the tail above, which is quick; by the tail below where little is left."""
    result = 1.0 - betainc(m + 1.0, n - m, p)
    little = result < LITTLE
    result[little] = betainc(n - m[little], m[little] + 1.0, 1.0 - p[little])
    return np.asarray(result)


def binomial(m: Floats, n: float, p: Floats) -> Floats:
    """P(Bin(n, p) = m), entry by entry."""
    with np.errstate(divide="ignore"):
        none = np.exp(n * np.log1p(-p))
    return np.where(m < 1.0, none, _inner(np.maximum(m, 1.0), n, p))


def _inner(m: Floats, n: float, p: Floats) -> Floats:
    """The same for m >= 1, by Loader's deviances: no difference of large logarithms at any n."""
    rest = n - m
    open_ = rest > 0.0
    mean, other, remainder = n * p, n * (1.0 - p), np.where(open_, rest, 1.0)
    above = np.where(p < 0.5, m - mean, other - rest)  # whichever difference is of the smaller numbers
    off, back = above / mean, -above / other
    deviance = mean * ((1.0 + off) * np.log1p(off) - off)
    deviance += other * (np.where(open_, 1.0 + back, 0.0) * np.log1p(np.where(open_, back, 0.0)) - back)
    error = _stirling(np.array([n]))[0] - _stirling(m) - _stirling(remainder)
    scale = np.where(open_, np.sqrt(n / (2.0 * np.pi * m * remainder)) * np.exp(np.where(open_, error, 0.0)), 1.0)
    return np.asarray(scale * np.exp(-deviance))


def _stirling(k: Floats) -> Floats:
    """ln k! less Stirling's formula."""
    inverse = 1.0 / np.maximum(k, 1.0)
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    near = k < SMALL
    if near.any():
        series[near] = _TABLE[k[near].astype(np.intp)]
    return np.asarray(series)


POINTS = 1200  # probabilities of the grid, from far below one record to one half, at equal ratios

BETWEEN = 8
"""Further probabilities between two of the grid at which a term is looked at: Theorem 14's terms ripple."""

REACH = 9.0  # standard deviations a law is followed to either side; less than 1e-17 lies beyond

FINE = 6.0
"""Steps a standard deviation: a sum of smooth terms over every so many counts is then exact to 1e-30 (Poisson)."""

KNOTS = 2048
"""Counts up to which a table has every count; beyond, so many in every doubling of the square root."""


@dataclass(frozen=True)
class Law:
    """Bin(n, p) for every p of the grid: rows of counts with their probabilities, and counts to keep tables at."""

    n: int
    p: Floats
    counts: Floats
    weights: Floats
    knots: Floats

    @property
    def between(self) -> Floats:
        """Each probability with those up to the next."""
        steps = np.append(np.diff(np.log(self.p)), 0.0)
        return np.asarray(self.p[:, None] * np.exp(steps[:, None] * np.arange(BETWEEN) / BETWEEN))

    def spread(self, table: Floats) -> Floats:
        """A table over the knots as a function of each row's counts."""
        return np.interp(self.counts, self.knots, table)


@lru_cache(maxsize=4)
def law_of(n: int) -> Law:
    """The laws of ``n`` draws, kept for the next sizes of one curve."""
    p: Floats = np.geomspace(min(1e-4 / n, 1e-3), 0.5, POINTS).astype(np.float64)
    sd = np.sqrt(n * p * (1.0 - p))
    stride = np.asarray(np.maximum(1.0, np.floor(sd / FINE)), dtype=np.float64)
    first: Floats = np.maximum(0.0, np.floor(n * p - REACH * sd - 10.0))
    last = np.minimum(float(n), np.ceil(n * p + REACH * sd + 25.0))
    most = int(((last - first) / stride).max()) + 1
    counts: Floats = first[:, None] + stride[:, None] * np.arange(most)
    inside = counts <= last[:, None]
    counts = np.minimum(counts, float(n))
    weights = np.where(inside, binomial(counts, float(n), np.broadcast_to(p[:, None], counts.shape)), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    knots = _knots(n)
    for array in (p, counts, weights, knots):
        array.setflags(write=False)
    return Law(n, p, counts, weights, knots)


def _knots(n: int) -> Floats:
    every = np.arange(min(n, KNOTS) + 1.0)
    if n <= KNOTS:
        return every
    doublings = log2(n / KNOTS) / 2.0
    beyond = np.geomspace(KNOTS, n, int(KNOTS * max(doublings, 1.0)))
    return np.unique(np.concatenate((every, np.round(beyond))))


@dataclass(frozen=True, slots=True)
class Tally:
    """``times`` categories have ``counts`` records each, ascending; ``universe`` is how many there are, if known.

    The names of categories change nothing here, so counts of counts are all that is kept: a million categories share a
    few hundred counts.
    """

    counts: NDArray[np.int64]
    times: NDArray[np.int64]
    universe: int | None = None

    @classmethod
    def of_counts(cls, counts: ArrayLike, universe: int | None = None) -> Tally:
        """A sample, from the number of records in each category.

        Args:
            counts: Records in each category; zeros may be left out.
            universe: Number of possible categories, listed or not. None: unknown.

        Raises:
            MaceError: counts that are no whole numbers of at least 0, no record, or fewer possible categories than
                are listed.

        Example:
            >>> from estimators.theory import mis
            >>> tally = mis.Tally.of_counts([40, 30, 20, 0], universe=5)
            >>> tally.records, tally.categories, tally.unseen
            (90, 3, 2)
        """
        entries = np.asarray(counts).ravel()
        if not entries.size:
            raise TooFewRecords.about("tallies", "got none, need at least one")
        whole = entries.astype(np.float64)
        if not (np.isfinite(whole).all() and (whole >= 0.0).all() and (whole == np.floor(whole)).all()):
            raise InvalidCounts.about("tallies", "need whole numbers of at least 0")
        if not 1.0 <= whole.sum() < 2.0**53:
            raise TooFewRecords.about("tallies", "need at least one record, and fewer than 2^53")
        result = np.unique(entries[entries > 0].astype(np.int64), return_counts=True)
        return cls(*result, _universe(universe, entries.size))

    @classmethod
    def of_values(cls, values: Sequence[object] | NDArray[np.generic], universe: int | None = None) -> Tally:
        """A sample, from one value a record.

        Args:
            values: The category of each record, numbers or text.
            universe: As for ``Tally.of_counts``.

        Raises:
            MaceError: no value, or fewer possible categories than there are in the sample.

        Example:
            >>> from estimators.theory import mis
            >>> tally = mis.Tally.of_values(["red", "blue", "red", "green"])
            >>> tally.records, tally.categories
            (4, 3)
        """
        if not len(values):
            raise TooFewRecords.about("values", "got none, need at least one")
        _, counts = np.unique(np.asarray(values), return_counts=True)
        return cls(*np.unique(counts.astype(np.int64), return_counts=True), _universe(universe, counts.size))

    @property
    def records(self) -> int:
        """Records in all."""
        return int((self.counts * self.times).sum())

    @property
    def categories(self) -> int:
        """Categories that were seen."""
        return int(self.times.sum())

    @property
    def unseen(self) -> int | None:
        """Categories that were not seen, if it is known how many there are."""
        return None if self.universe is None else self.universe - self.categories

    @property
    def shares(self) -> Floats:
        """Share of each distinct count: the sample's distribution, with ``times``."""
        return self.counts / self.records

    @property
    def law(self) -> Law:
        """Laws of the count of one category."""
        return law_of(self.records)


def _universe(universe: int | None, least: int) -> int | None:
    if universe is None:
        return None
    if require_count("universe", universe) < least:
        message = f"got {universe}, need at least the {least} categories that are there"
        raise OutOfRange.about("universe", message)
    return universe
