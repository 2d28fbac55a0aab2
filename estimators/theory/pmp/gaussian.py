"""Practical membership privacy of the Gaussian mechanism (PMP, Lemma 10 and Proposition 12).

Proposition 12: the two laws of the output, record in and record out, are mixtures over training sets
paired by exchanges of that record, and the hockey stick is jointly convex, so delta is at most the
mean over exchanges of the hockey stick of two normals. It falls with epsilon and with sigma, which is
why the smallest of either can be searched for. Exchanges that move nothing contribute nothing.
"""

from collections.abc import Callable
from functools import partial
from math import frexp, inf, ldexp

import numpy as np
from numpy.typing import NDArray

from estimators import errors
from estimators.arrays import Floats
from estimators.python.dataclass import dataclass
from estimators.theory import shifts
from estimators.theory.bounds import rows_of

# How far the query moves when a record is exchanged for another, record by record.
#
# A mean over n records has 2n(2n-1) such distances: too many to keep, and to put into a normal tail at every step of
# a search. So they are counted in narrow bins, whose upper and lower ends bound what any rising function of them sums
# to; the few records that decide are gone through again, distance by distance.


EVEN, FAR = 1024, 256  # bins of the usual distances, and of those beyond

MOST_RECORDS = 1 << 16
"""Records whose distances are gone through: four billion of them, in minutes and a third of a gigabyte."""

ROWS, COLUMNS = 256, 2048  # a block of distances fits the cache

MOST = 1e300
"""How far from the others records may lie: less, and floats lose digits; more, and they overflow."""


@dataclass(frozen=True, slots=True)
class Distances:
    """Distances of each record in bins: ``counts`` (records x bins), of which the first holds only zeros.

    ``uppers`` are the bins' upper ends, ``row(x)`` the distances of one record themselves.
    """

    counts: NDArray[np.int32]
    uppers: Floats
    largest: float
    row: Callable[[int], Floats]

    @property
    def records(self) -> int:
        """2n."""
        return len(self.counts)

    @property
    def exchanges(self) -> int:
        """Distances of one record."""
        return int(self.counts[0].sum())


def clip_rows(points: Floats, clip: float) -> Floats:
    """Rows shortened to norm ``clip``, which makes the sum's sensitivity 2 clip when one record is exchanged."""
    table, clip = rows_of("points", points, inf), errors.require_positive("clip", clip)
    if len(table) % 2:
        raise errors.TooFewRecords.about("points", f"got {len(table)} rows, need an even number, 2n")
    largest = np.abs(table).max(axis=1, keepdims=True)
    safe = np.where(largest > 0.0, largest, 1.0)  # squares of large numbers overflow, of small ones vanish
    rows = table / safe
    lengths = np.sqrt((rows**2).sum(axis=1, keepdims=True))  # 1 at least, but for rows of zeros
    with np.errstate(over="ignore"):
        longer = lengths > clip / safe
    return np.where(longer, rows * (clip / np.maximum(lengths, 1.0)), table)


def of_sum(points: Floats) -> Distances:
    """Distances for the sum over the training set: exchanging x for x' moves it by x - x', whoever else is in it.

    That is the O(n^2) form after Proposition 12. For a mean, divide the points by n. Squares are taken in
    units of a power of two near the largest coordinate, so that points and noise on any scale give the same.
    """
    if len(points) > MOST_RECORDS:
        message = f"got {len(points)} rows, need at most {MOST_RECORDS}; use DP's own epsilon for more"
        raise errors.OutOfRange.about("points", message)
    points = rows_of("points", points, MOST)
    centred = points - np.median(points, axis=0)
    unit = _unit(float(np.abs(centred).max()))
    if unit == 0.0:
        counts = np.zeros((len(points), 2), dtype=np.int32)
        counts[:, 0] = len(points) - 1
        return Distances(counts, np.zeros(2), 0.0, lambda x: np.zeros(len(points) - 1))
    centred = centred / unit
    squares = (centred**2).sum(axis=1)
    reach = 2.0 * float(np.sqrt(squares.max()))
    # even bins as far as most distances go, and from there by the logarithm: outliers do not widen the others'
    usual = min(reach, max(2.0 * float(np.quantile(np.sqrt(squares), 0.99)), reach * 1e-6))
    scale, stretch = EVEN / usual, (FAR - 1) / max(np.log(reach / usual), 1e-9)
    counts, most = _count(centred, squares, scale, stretch)
    ends = np.concatenate(
        [np.arange(1, EVEN + 1) / scale, usual * np.exp(np.arange(1, FAR + 1) / stretch * (1 + 1e-12))]
    )
    # |x|^2 + |y|^2 - 2xy is off by at most this much
    slack = 2.0 * (points.shape[1] + 8) * np.finfo(np.float64).eps * reach**2
    uppers = np.concatenate([[0.0], np.sqrt(np.minimum(ends, 2.0 * reach) ** 2 + slack)])

    def row(x: int) -> Floats:
        return _norms(np.delete(points, x, axis=0) - points[x])

    return Distances(counts, uppers * unit, float(np.sqrt(most**2 + slack)) * unit, row)


def _count(points: Floats, squares: Floats, scale: float, stretch: float) -> tuple[NDArray[np.int32], float]:
    """Bins of all distances, block by block, and the largest; a record has no distance to itself."""
    records, bins = len(points), 1 + EVEN + FAR
    counts = np.zeros((records, bins), dtype=np.int32)
    scaled, lengths = points * scale, squares * scale**2
    offsets = np.arange(ROWS)[:, None] * bins + 1
    most = 0.0
    for start in range(0, records, ROWS):
        part, rows = scaled[start : start + ROWS] * -2.0, lengths[start : start + ROWS, None]
        tally = np.zeros(len(part) * bins, dtype=np.int64)
        for begin in range(0, records, COLUMNS):
            apart = part @ scaled[begin : begin + COLUMNS].T
            apart += rows
            apart += lengths[begin : begin + COLUMNS]
            np.maximum(apart, 0.0, out=apart)
            np.sqrt(apart, out=apart)
            farthest = float(apart.max())
            most = max(most, farthest)
            if farthest >= EVEN:
                far = apart >= EVEN
                beyond = EVEN + stretch * np.log(apart[far] / EVEN)
                apart[far] = np.minimum(beyond, EVEN + FAR - 1)
            keys = apart.astype(np.intp)
            keys += offsets[: len(part)]
            tally += np.bincount(keys.ravel(), minlength=len(tally))
        counts[start : start + ROWS] = tally.reshape(len(part), -1)
    counts[:, 1] -= 1  # itself, at a distance that rounds to nothing
    return counts, most / scale


def _unit(largest: float) -> float:
    """Power of two no larger than ``largest``, and more than half of it; 0 at 0."""
    if 0.0 < largest < LEAST:
        raise errors.OutOfRange.about("points", f"differ by less than {LEAST:g}, need other units")
    return ldexp(1.0, frexp(largest)[1] - 1) if largest else 0.0


def _norms(differences: Floats) -> Floats:
    """Lengths of rows, each in units of its own, so that no square vanishes beside a length that counts."""
    largest = np.abs(differences).max(axis=1, keepdims=True)
    rows = differences / np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest[:, 0] * np.sqrt((rows**2).sum(axis=1)))


Stick = Callable[[Floats, float], Floats]
"""Delta of exchanges at their distances, which falls with the number searched for."""

PATIENCE = 1 << 20
"""Distances that are gone through one by one, 64 records' at least; the rest keep their bins' upper ends."""

BLOCK = 1024

LEAST = 1e-300  # of sigma: distances far below it, which then hardly count, are still floats
FARTHEST = 1e100  # standard deviations of noise: beyond, the epsilon that goes with them is soon no float


@dataclass(frozen=True, slots=True)
class Gaussian:
    """N(0, sigma^2) in each coordinate, added to a query whose value exchanges move by ``distances``."""

    distances: Distances
    sigma: float

    def __post_init__(self) -> None:
        errors.require_positive("sigma", self.sigma)
        if self.sigma < LEAST or self.distances.largest / self.sigma > FARTHEST:
            message = f"need at least {LEAST:g}, and records no more than {FARTHEST:g} of it apart"
            raise errors.OutOfRange.about("sigma", message)

    def delta(self, epsilon: float) -> float:
        """Upper bound (Proposition 12) on the least delta that makes it (epsilon, delta)-PMP on these records."""
        epsilon = errors.require_nonnegative("epsilon", epsilon)
        return _largest(self.distances, lambda d: shifts.gaussian_delta(d / self.sigma, epsilon))

    def deltas(self, epsilons: Floats) -> Floats:
        """The same at many epsilons at once, from the bins alone: never below, and hardly above."""
        curves = [shifts.gaussian_delta(self.distances.uppers / self.sigma, float(e)) for e in epsilons]
        return np.asarray(_uppers(self.distances, np.stack(curves, axis=1)).max(axis=0))

    def epsilon(self, delta: float) -> float:
        """Least epsilon at which Proposition 12 gives at most ``delta``, for every record."""
        delta = errors.require_up_to_one("delta", delta)

        def stick(distances: Floats, epsilon: float) -> Floats:
            return shifts.gaussian_delta(distances / self.sigma, epsilon)

        enough = self.on_records(delta)
        return least(self.distances, stick, delta, 0.0, enough)

    def on_records(self, delta: float) -> float:
        """DP's epsilon at ``delta`` with both training sets among these records: the paper's epsilon(X)."""
        return shifts.gaussian_epsilon(self.distances.largest / self.sigma, delta)

    def total_variation(self) -> float:
        """Bound on the total variation between in and out: half of it is a bound on MIP's eta."""
        return self.delta(0.0)


def dp_epsilon(sensitivity: float, sigma: float, delta: float) -> float:
    """What DP promises at ``delta``, whatever the data: Lemma 10 at the sensitivity."""
    if not sensitivity <= FARTHEST * sigma:
        raise errors.OutOfRange(
            f"sensitivity (2 clip, over n for a mean): more than {FARTHEST:g} of sigma, need more noise or a "
            "smaller clip",
            field="sensitivity",
        )
    return shifts.gaussian_epsilon(sensitivity / sigma, delta)


def least(distances: Distances, stick: Stick, delta: float, low: float, high: float) -> float:
    """Least number in [low, high] at which the mean stick of every record is at most ``delta``; it is so at high.

    The record whose bins say it is furthest above delta is solved exactly; that raises what is needed, and
    drops every record whose bins are below delta there. What patience leaves keeps its bins' word.
    """
    least_epsilon = low
    alive = np.arange(distances.records)
    for _ in range(_patience(distances)):
        above = _uppers(distances, stick(distances.uppers, least_epsilon)[:, None], alive)[:, 0]
        alive, above = alive[above > delta], above[above > delta]
        if not len(alive):
            return least_epsilon
        hardest = int(alive[above.argmax()])
        apart = distances.row(hardest)
        least_epsilon = _solved(partial(_mean, stick, apart), delta, least_epsilon, high)
        alive = alive[alive != hardest]

    def of_bins(at: float) -> float:
        return float(_uppers(distances, stick(distances.uppers, at)[:, None], alive).max(initial=0.0))

    return _solved(of_bins, delta, least_epsilon, high)


def _solved(mean: Callable[[float], float], delta: float, low: float, high: float) -> float:
    """Least number in [low, high] with ``mean`` at most delta, from above, to 1e-12; high, if none is known below."""
    if mean(low) <= delta:
        return low
    for _ in range(200):
        if high - low <= 1e-12 * high:
            break
        middle = (low + high) / 2.0
        low, high = (low, middle) if mean(middle) <= delta else (middle, high)
    return high


def _largest(distances: Distances, stick: Callable[[Floats], Floats]) -> float:
    """Largest mean stick of any record: exact for those that could have it, bins for what patience leaves."""
    above = _uppers(distances, stick(distances.uppers)[:, None])[:, 0]
    order, patience = np.argsort(-above), _patience(distances)
    result = 0.0
    for x in order[:patience]:
        if above[x] <= result:
            return result
        result = max(result, float(stick(distances.row(int(x))).mean()))
    return max(result, float(above[order[patience:]].max(initial=0.0)))


def _mean(stick: Stick, apart: Floats, at: float) -> float:
    return float(stick(apart, at).mean())


def _patience(distances: Distances) -> int:
    return max(64, PATIENCE // distances.exchanges)


def _uppers(distances: Distances, curves: Floats, some: NDArray[np.intp] | None = None) -> Floats:
    """Mean over every record's bins (or only some records') of curves at the bins' upper ends."""
    records = np.arange(distances.records) if some is None else some
    result = np.zeros((len(records), curves.shape[1]))
    for start in range(0, len(records), BLOCK):
        several = distances.counts[records[start : start + BLOCK]]
        result[start : start + BLOCK] = several.astype(np.float64) @ curves
    return result / distances.exchanges
