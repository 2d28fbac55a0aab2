"""How far the query moves when a record is exchanged for another, record by record.

A mean over n records has 2n(2n-1) such distances: too many to keep, and to put into a normal tail
at every step of a search. So they are counted in narrow bins, whose upper and lower ends bound what any
rising function of them sums to; the few records that decide are gone through again, distance by distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import frexp, inf, ldexp

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, TooFewRecords, require_positive
from estimators.theory.tables import rows_of

Floats = NDArray[np.float64]

EVEN, FAR = 1024, 256
"""Bins of the usual distances, and of those beyond."""

MOST_RECORDS = 1 << 16
"""Records whose distances are gone through: four billion of them, in minutes and a third of a gigabyte."""

ROWS, COLUMNS = 256, 2048
"""A block of distances fits the cache."""

LEAST, MOST = 1e-300, 1e300
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
    table, clip = rows_of("points", points, inf), require_positive("clip", clip)
    if len(table) % 2:
        raise TooFewRecords(f"points: got {len(table)} rows, need an even number, 2n", field="points")
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
        raise OutOfRange(
            f"points: got {len(points)} rows, need at most {MOST_RECORDS}; use DP's own epsilon for more",
            field="points",
        )
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
        raise OutOfRange(f"points: differ by less than {LEAST:g}, need other units", field="points")
    return ldexp(1.0, frexp(largest)[1] - 1) if largest else 0.0


def _norms(differences: Floats) -> Floats:
    """Lengths of rows, each in units of its own, so that no square vanishes beside a length that counts."""
    largest = np.abs(differences).max(axis=1, keepdims=True)
    rows = differences / np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest[:, 0] * np.sqrt((rows**2).sum(axis=1)))
