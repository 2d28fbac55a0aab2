"""Every threshold at once: the ROC curve and its height at the low rates that matter.

All of it is read off counts on ordered cells, a higher score meaning "member". Where members score lower
the area is below 1/2 and stays there: turning the curve over after a look at the labels would flatter it.
For the same reason categories without an order are refused: sorted by their own likelihood ratio even
pure noise would bend the curve upwards.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from estimators.arrays import Floats, Integers, distinct
from estimators.errors import require_count, require_open_unit
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy.auc import AreaUnderCurve, auc, require_order
from estimators.python.dataclass import dataclass, field
from estimators.sample.counts import Counts
from estimators.sample.frequent import RARE
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval, percent

__all__ = ["AreaUnderCurve", "OperatingPoint", "RocCurve", "auc", "operating_point", "operating_points", "roc"]


POINTS = 512  # a curve has at most this many points, half of them spaced evenly in the logarithm of the FPR

FALSE_POSITIVE_RATES = (0.001, 0.01, 0.1)
"""Rates at which an auditor asks for the true positive rate (Carlini et al. 2022)."""

OF_RATES = Guarantee("the TPR of the threshold with the FPR asked for, each rate by itself", IID, False)
"""What the intervals of the area and of operating points cover."""

OF_TIES = 0.05
"""Share of an end's error that is for which large ties the threshold accuses; the rate at it has what is left."""

OFF_CHORD = 0.25
"""A curve off its chord by so much of its rise, and half a standard error of that, is too bent for quadrature."""

FEW = 24
"""One record in so many is no large tie where there are few records; of more, ``RARE`` records are none."""


@dataclass(frozen=True, slots=True, eq=False)
class RocCurve:
    """Vertices of the empirical curve from (0, 0) to (1, 1); each is exact, none is interpolated.

    Attributes:
        fpr: False positive rates, ascending.
        tpr: The true positive rate at each.
    """

    fpr: Floats
    tpr: Floats


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """True positive rate of the threshold whose false positive rate is ``fpr``.

    Attributes:
        fpr: The false positive rate.
        estimate: The true positive rate with its interval.
        cautions: What to know before using the number.
    """

    fpr: float
    estimate: Estimate
    cautions: tuple[Caution, ...] = field(default=())

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        interval = self.estimate.interval
        return (
            f"With {percent(interval.confidence)} confidence a threshold that accuses {100 * self.fpr:g}% of "
            f"nonmembers finds between {100 * interval.lower:.2g}% and {100 * interval.upper:.2g}% of members."
        )


def roc(counts: Counts, points: int = POINTS) -> RocCurve:
    """Curve of all thresholds; past ``points`` vertices it keeps the low false positive rates dense.

    A vertex kept for a rate is the last one that does not exceed it, so the height read there is what
    a threshold attains without going over (docs/methods.md, section 5).

    Args:
        counts: Counts of both sides over cells with an order; a higher score means member.
        points: Most vertices that are kept, at least 8.

    Raises:
        IncompatibleCells: categories, which have no order.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.privacy.roc import roc
        >>> from estimators.sample.counting import finest
        >>> rng = np.random.default_rng(0)
        >>> curve = roc(finest(Scores.of(rng.normal(1, 1, 5000), rng.normal(0, 1, 5000))), points=64)
        >>> len(curve.fpr) <= 64, float(curve.tpr[-1])
        (True, 1.0)
    """
    require_count("points", points, 8)
    hits, alarms = from_the_top(counts)
    run, rise = np.diff(alarms), np.diff(hits)
    bends = run[1:] * rise[:-1] != run[:-1] * rise[1:]  # what lies on a straight line adds nothing
    corners = np.concatenate([[0], np.flatnonzero(bends) + 1, [len(hits) - 1]])
    hits, alarms = hits[corners], alarms[corners]
    if len(hits) > points:
        n1, n0, quarter = hits[-1], alarms[-1], points // 4 - 1
        even = np.linspace(0.0, 1.0, 2 * quarter)
        rates = np.concatenate([n0**even, np.linspace(0.0, n0, quarter)])
        by_rate = alarms.searchsorted(rates * (1.0 + 1e-12), side="right") - 1
        by_height = hits.searchsorted(np.linspace(0.0, n1, quarter) * (1.0 - 1e-12))
        keep = distinct(np.concatenate([[0, len(hits) - 1], by_rate, by_height]))
        hits, alarms = hits[keep], alarms[keep]
    return RocCurve(alarms / alarms[-1], hits / hits[-1])


def operating_point(counts: Counts, fpr: float, confidence: float = 0.95, low: bool = False) -> OperatingPoint:
    """True positive rate of the lowest threshold whose false positive rate is at most ``fpr``.

    Args:
        counts: Counts of both sides over cells with an order; a higher score means member.
        fpr: The false positive rate: share of nonmembers that may be accused, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        low: Whether a lower score means member.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.privacy.roc import operating_point
        >>> from estimators.sample.counting import finest
        >>> rng = np.random.default_rng(0)
        >>> counts = finest(Scores.of(rng.normal(1, 1, 5000), rng.normal(0, 1, 5000)))
        >>> print(operating_point(counts, fpr=0.01).sentence)
        With 95% confidence a threshold that accuses 1% of nonmembers finds between 7.8% and 11% of members.
    """
    return operating_points(counts, [fpr], confidence, low)[0]


def operating_points(
    counts: Counts, rates: Sequence[float] = FALSE_POSITIVE_RATES, confidence: float = 0.95, low: bool = False
) -> tuple[OperatingPoint, ...]:
    """One operating point for each rate; each interval holds by itself, not all of them together.

    The right threshold is not known, but nonmember order statistics bracket it: at least j of n0 nonmembers
    lie above a threshold of rate at most ``fpr`` with probability P(Bin(n0, fpr) >= j), which is P(Beta(j,
    n0 - j + 1) <= fpr). What the bracket and the exact limits of the rate at the observed threshold leave
    open is combined in quadrature (MOVER, Zou and Donner 2008; study 2.6, T-E4), from the observed
    threshold and from those beside large ties, which it may have missed. Taking the observed threshold for
    the right one covers as little as 48%.

    A threshold accuses all records of one score or none of them, which is no question of more or less. Say that U is
    what the right threshold accuses, e a part of an end's error (``OF_TIES``). At least j nonmembers lie in U with
    probability P(Bin(n0, fpr) >= j) at most; so a score with which j are accused, where that is at most e, is not in
    U, and the bracket ends before it. With the score next to U the rate is beyond ``fpr``; so what lies before the
    j-th nonmember is in U, where P(Bin(n0, fpr) < j) <= e. U may end at either side of each large tie between, also
    if the rate falls on that step. The limits at all of these have what is left of the error (members are independent
    of nonmembers), and the worst counts. Cells that may hold several scores stay whole: nobody knows their order.

    Quadrature takes the curve between these cuts for a straight line. If many members stand just inside or just
    outside ``fpr`` it is bent, and one end of the bracket is the right rate itself, as uncertain as any: quadrature
    missed it in a quarter of samples. So where the curve is far off its chord (``OFF_CHORD``) the limits at the cut
    farthest along that is count, too, and the bracket is that of e, as beside ties. Simulated, not proven.

    Args:
        counts: Counts of both sides over cells with an order; a higher score means member.
        rates: The false positive rates, each strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of each
            point by itself.
        low: Whether a lower score means member.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.roc import operating_points
        >>> counts = Counts.of([2000, 3000, 5000], [5000, 4000, 1000], edges=[0.2, 0.7])
        >>> for point in operating_points(counts, [0.1, 0.5]):
        ...     print(point.fpr, round(point.estimate.lower, 2), round(point.estimate.upper, 2))
        0.1 0.0 0.81
        0.5 0.49 1.0
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    rates = [require_open_unit("fpr", rate) for rate in rates]
    if not rates:
        return ()
    cuts = Cuts.of(counts, low)
    hits, alarms, _ = cuts
    n1, n0 = int(hits[-1]), int(alarms[-1])
    accused = np.array([int(rate * n0 * (1.0 + 1e-12)) for rate in rates])
    at = alarms.searchsorted(accused, side="right") - 1
    lowers, uppers = (_lower_ends(cuts, at, accused, rates, alpha), _upper_ends(cuts, at, accused, rates, alpha))
    points = []
    for k, rate in enumerate(rates):
        lower = max(0.0, float(lowers[k]))
        cautions: tuple[Caution, ...] = ()
        if not _largest_count_exceeded(n0, rate, alpha):
            with np.errstate(over="ignore"):  # at a rate of 1e-308 no number of records is enough
                nonmembers_needed = float(np.ceil(np.log(alpha) / np.log1p(-rate)))
            fewest = f"{nonmembers_needed:,.0f}" if nonmembers_needed < 1e15 else f"{nonmembers_needed:g}"
            message = f"TPR at FPR {rate:g}: got {n0:,} nonmembers, need at least {fewest} for a lower end above 0"
            lower, cautions = 0.0, (Caution("too_few_nonmembers", message),)
        interval = Interval(lower, min(1.0, float(uppers[k])), confidence, OF_RATES)
        points.append(OperatingPoint(rate, Estimate(float(hits[at[k]] / n1), interval), cautions))
    return tuple(points)


class Cuts(NamedTuple):
    """Members and nonmembers at or above each cut, from none to all, and between two cuts those known to be a tie."""

    hits: Integers
    alarms: Integers
    alike: Integers

    @classmethod
    def of(cls, counts: Counts, low: bool = False) -> Cuts:
        """Those of counts with an order; a lower score means member where ``low``."""
        return cls(*from_the_top(counts, low), require_order(counts).alike()[:, :: 1 if low else -1])

    @property
    def most_before_tie(self) -> Integers:
        """The most members that a threshold between each cut and the next one accuses without the tie there.

        In a cell that may hold several scores nobody knows the order, so all its members may come first.
        """
        return np.append(self.hits[1:] - self.alike[0], self.hits[-1])

    @property
    def with_tie(self) -> tuple[Integers, Integers]:
        """The most members, and the fewest nonmembers, of a threshold there that accuses the tie, too."""
        return np.append(self.hits[1:], self.hits[-1]), self.alarms + np.append(self.alike[1], 0)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether a tie of more than a few records is known between each two."""
        return np.asarray(self.alike.sum(axis=0) > min(RARE, (self.hits[-1] + self.alarms[-1]) // FEW))


def _lower_ends(cuts: Cuts, at: Integers, accused: Integers, rates: Sequence[float], alpha: float) -> Floats:
    """The lower end at each rate: the least from the cut observed and from those beside large ties."""
    hits, alarms, alike = cuts
    n1, n0 = int(hits[-1]), int(alarms[-1])
    j_low = np.array([_largest_count_exceeded(n0, rate, alpha) for rate in rates])  # P(Bin >= j) >= 1 - alpha
    first = np.maximum(alarms.searchsorted(j_low - 1, side="right") - 1, 0)  # the lowest with fewer above it
    least = hits[first]
    span, tie = _large_ties(hits, alarms, ~cuts.tied, first, at)
    # the cuts of all rates side by side, each with the number of its rate
    every = (np.concatenate([np.arange(len(rates)), span]), hits[np.concatenate([at, tie])], np.full(len(rates), alpha))
    surely = np.array([_largest_count_exceeded(n0, rate, OF_TIES * alpha) for rate in rates])
    none = np.exp(n0 * np.log1p(-np.array(rates)))  # P(Bin = 0), all of which one nonmember tells apart
    rest = alpha - np.maximum(OF_TIES * alpha, none * (surely == 0))
    surely = np.maximum(surely, np.minimum(j_low, 1))
    ties = np.flatnonzero(cuts.tied[: int(at.max()) + 1])
    large = 4.0 * np.diff(hits)[ties] >= (hits[at] - least)[:, None]
    large |= 4.0 * alike[1, ties] >= (accused - surely)[:, None]
    left = large & (ties <= at[:, None]) & (alarms[ties + 1] >= surely[:, None])
    lowers = np.full(len(rates), np.inf)
    far = np.maximum(alarms.searchsorted(surely - 1, side="right") - 1, 0)
    rest = np.maximum(0.0, rest)
    for of_rate, cut, level in (every, (*_at(left, hits[ties]), rest), (*_knees(cuts, far, at, -1), rest)):
        limit = n1 * lower_limit(cut, n1, level[of_rate])
        below = cut - np.hypot(cut - limit, np.maximum(0, cut - least[of_rate]))
        np.minimum.at(lowers, of_rate, below / n1)
    return lowers


def _upper_ends(cuts: Cuts, at: Integers, accused: Integers, rates: Sequence[float], alpha: float) -> Floats:
    """The upper end at each rate: the largest from the cut observed and from those beside large ties."""
    hits, alarms, alike = cuts
    n1, n0 = int(hits[-1]), int(alarms[-1])
    j_high = np.array([_smallest_count_reached(n0, rate, alpha) for rate in rates])  # P(Bin >= j) <= alpha
    never = np.array([_smallest_count_reached(n0, rate, OF_TIES * alpha) for rate in rates])
    last = np.minimum(alarms.searchsorted(j_high), len(alarms) - 1)  # the highest with so many above it
    over = cuts.tied[last - 1] & (alarms[last - 1] + alike[1, last - 1] >= never)  # but never with this tie
    most = hits[last] - np.where(over, alike[0, last - 1], 0)
    span, tie = _large_ties(hits, alarms, ~cuts.tied, at, last)
    levels = np.full(len(rates), alpha)
    every = np.concatenate([np.arange(len(rates)), span]), hits[np.concatenate([at, tie + 1])], levels
    ties = np.flatnonzero(cuts.tied[: alarms.searchsorted(never.max())])
    may_end = (ties >= at[:, None] - 1) & (alarms[ties] + alike[1, ties] < never[:, None])
    may_end &= 4.0 * np.diff(hits)[ties] >= (most - hits[at])[:, None]
    before = (ties >= at[:, None]) & (alarms[ties] < never[:, None])
    before &= 4.0 * alike[1, ties] >= (never - accused)[:, None]
    uppers = np.full(len(rates), -np.inf)
    far = np.minimum(alarms.searchsorted(never), len(alarms) - 1)
    rest = (1.0 - OF_TIES) * levels
    for of_rate, cut, level in (
        every,
        (*_at(may_end, hits[ties + 1]), rest),
        (*_at(before, hits[ties]), rest),
        (*_knees(cuts, at, far, 1), rest),
    ):
        limit = n1 * upper_limit(cut, n1, level[of_rate])
        above = cut + np.hypot(limit - cut, np.maximum(0, most[of_rate] - cut))
        np.maximum.at(uppers, of_rate, above / n1)
    return uppers


def _knees(cuts: Cuts, first: Integers, last: Integers, way: int) -> tuple[Integers, Integers]:
    """Where the curve lies far above (``way`` 1) or below (-1) its chord between two cuts: of which rates, and members.

    Of these cuts it is the one farthest along, up or down: beyond it the curve may be flat.
    """
    of_rate, members = [], []
    for k, (low, high) in enumerate(zip(first, last, strict=True)):
        rise, run = (each[low : high + 1] - each[low] for each in (cuts.hits, cuts.alarms))
        most = int(rise[-1])
        off = way * (rise - run * (most / max(int(run[-1]), 1)))
        bends = np.flatnonzero(off > OFF_CHORD * most + 0.5 * sqrt(most))
        if bends.size:
            of_rate.append(k)
            members.append(cuts.hits[low + bends[-1 if way > 0 else 0]])
    return np.array(of_rate, dtype=np.int64), np.array(members, dtype=np.int64)


def from_the_top(counts: Counts, low: bool = False) -> tuple[Integers, Integers]:
    """Members and nonmembers at or above each threshold, from none to all; at or below it, if lower means member."""
    counts, way = require_order(counts), 1 if low else -1
    hits, alarms = np.zeros((2, counts.size + 1), dtype=np.int64)
    counts.members[::way].cumsum(out=hits[1:])
    counts.nonmembers[::way].cumsum(out=alarms[1:])
    return hits, alarms


def _at(some: NDArray[np.bool_], cuts: Integers) -> tuple[Integers, Integers]:
    """The cuts that some rates look at: the numbers of their rates, and the cuts."""
    of_rate, which = np.nonzero(some)
    return of_rate, cuts[which]


def _large_ties(
    hits: Integers, alarms: Integers, some: NDArray[np.bool_], first: Integers, last: Integers
) -> tuple[Integers, Integers]:
    """Those of some ties that hold a quarter of the members between two thresholds: between which two, and the one
    just above.

    Quadrature takes the right threshold to lie anywhere between; across a large tie it lies on one side
    or the other, and what is uncertain there is the rate at that side.
    """
    end = int(last.max())
    rise = hits[1 : end + 1] - hits[:end]
    ties = np.flatnonzero(some[:end] & (rise > 0) & (rise + alarms[1 : end + 1] - alarms[:end] > 1))
    between = (ties >= first[:, None]) & (ties < last[:, None])
    span, which = np.nonzero(between & (4 * rise[ties] >= (hits[last] - hits[first])[:, None]))
    return span, ties[which]


@lru_cache(maxsize=256)
def _largest_count_exceeded(n: int, rate: float, alpha: float) -> int:
    """Largest j with P(Bin(n, rate) >= j) >= 1 - alpha; 0 when not even j = 1 is that likely."""
    low, high = _cantelli_range(n, rate, alpha)  # the tail falls with j
    return low + bisect_left(range(low + 1, high), True, key=lambda j: not bdtr(j - 1, n, rate) <= alpha)


@lru_cache(maxsize=256)
def _smallest_count_reached(n: int, rate: float, alpha: float) -> int:
    """Smallest j with P(Bin(n, rate) >= j) <= alpha; n + 1 when even all n are likelier."""
    low, high = _cantelli_range(n, rate, alpha)
    return low + 1 + bisect_left(range(low + 1, high), True, key=lambda j: bdtr(j - 1, n, rate) >= 1.0 - alpha)


def _cantelli_range(n: int, rate: float, alpha: float) -> tuple[int, int]:
    """Counts that Bin(n, rate) is below, or above, with a probability less than alpha (Cantelli's inequality).

    Beyond 2^31 trials SciPy's binomial law is NaN, no comparison holds, and these ends themselves are taken.
    """
    mean, reach = n * rate, sqrt(n * rate * (1.0 - rate) * (1.0 - alpha) / alpha)
    return max(0, int(mean - reach) - 1), min(n + 1, int(mean + reach) + 2)
