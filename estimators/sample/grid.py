"""Grids: cells for numbers on a line that merge with those of any other sample, without an agreed range.

The step is a power of two and the origin is 0, so two grids always agree: the finer one halves its resolution by
shifting its keys, exactly, in any order (floor of a floor is a floor). Next to 0, where losses and probabilities crowd,
and below 1, where confidences do, cells are finer the closer they are to it (``estimators.sample.octaves``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import InvalidCounts
from estimators.python.dataclass import dataclass
from estimators.sample.frequent import CROWD, NONE, Frequent, from_dicts
from estimators.sample.octaves import ANCHORS, is_near, octave_cells, octave_numbers

LARGEST = float(np.finfo(np.float64).max)

GRID_CELLS = 2**16
"""A growing grid spans at most this many cells of its step, then halves its resolution."""

SMALL_INTEGER_RANGE = 2**20
"""Integers spanning less than this are counted by index, without sorting."""

FINEST_EXPONENT = -951
"""No grid has a finer step, however small all scores are."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells [k, k+1) times 2**exponent for the integer keys k that occur; next to 0 and 1, and where cells were cut
    again, of smaller exponents: none lies in another.

    Attributes:
        exponent: The step is 2 to this power; the largest, if there are several.
        keys: Which cells, in the order of the scores.
        frequent: Scores within them that many records have.
        exponents: Of the step of each cell, if there are several.
    """

    exponent: int
    keys: Integers
    frequent: Frequent = NONE
    exponents: Integers | None = None
    kind: ClassVar[str] = "grid"
    ordered: ClassVar[bool] = True

    @classmethod
    def of_steps(cls, exponents: Integers, keys: Integers, frequent: Frequent = NONE) -> Grid:
        """Cells of which each has a step of its own."""
        largest = int(exponents.max()) if len(exponents) else 0
        return cls(largest, keys, frequent, None if (exponents == largest).all() else exponents)

    @property
    def size(self) -> int:
        """Number of occupied cells."""
        return len(self.keys)

    @property
    def steps(self) -> Integers:
        """The exponent of the step of each cell."""
        return np.full(self.size, self.exponent) if self.exponents is None else self.exponents

    @property
    def wide_keys(self) -> Integers:
        """The cell of the largest step in which each lies."""
        return self.keys.astype(np.int64) >> np.minimum(self.exponent - self.steps, 63)

    @property
    def lower_edges(self) -> Floats:
        """Left edge of each cell, or the least float, where it begins below that."""
        with np.errstate(over="ignore"):
            return np.maximum(np.ldexp(self.keys.astype(np.float64), self.steps), -LARGEST)

    @property
    def upper_edges(self) -> Floats:
        """Right edge of each cell; that of the last may be beyond what floats hold."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self.keys + 1.0, self.steps))

    def locate(self, scores: NDArray[np.generic]) -> Integers:
        """Cell of each score, -1 where no record fell."""
        values = np.asarray(scores, dtype=np.float64)
        place = intervals_of(self.lower_edges, values) - 1
        return np.where(values < self.upper_edges[place], place, -1)

    def select(self, keep: Integers) -> Grid:
        """Only the keys named."""
        return Grid.of_steps(self.steps[keep], self.keys[keep], self.frequent)

    def with_crowds_only(self, sides: Integers) -> Grid:
        """The same, with only those of the frequent scores whose cell has many of either side, of so many in each."""
        if not self.frequent:
            return self
        share = sides / np.maximum(1, sides.sum(axis=1, keepdims=True))
        dense = (share > CROWD).any(axis=0)[self.locate(self.frequent.scores)]
        dense &= self.frequent.sides.sum(axis=0) > 1
        return Grid(self.exponent, self.keys, self.frequent.only(dense), self.exponents)

    def of_one_score(self) -> Integers:
        """Member and nonmember records in each cell that are known to have one score: the most that have the same."""
        most = np.zeros((2, self.size), dtype=np.int64)
        if self.frequent:
            in_order = self.frequent.sides.sum(axis=0).argsort(kind="stable")
            at = self.locate(self.frequent.scores[in_order])
            most[:, at[at >= 0]] = self.frequent.sides[:, in_order[at >= 0]]  # the last of one cell stays
        return most

    def to_dict(self) -> dict[str, object]:
        """Exponent and keys, with the exponents if there are several, and the frequent scores where there are some."""
        value = {"kind": self.kind, "exponent": self.exponent, "keys": self.keys.tolist()}
        own = {} if self.exponents is None else {"exponents": self.exponents.tolist()}
        return value | own | ({"frequent": [each._asdict() for each in self.frequent]} if self.frequent else {})

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Grid:
        """Read back what ``to_dict`` wrote."""
        exponent, keys = int(value["exponent"]), np.asarray(value["keys"])
        steps = np.asarray(value.get("exponents", np.full(keys.shape, exponent)))
        if any(column.size and column.dtype.kind not in "iu" for column in (keys, steps)):
            raise InvalidCounts("cells of kind 'grid': keys and exponents need whole numbers", field="cells")
        keys, steps = keys.astype(np.int64), steps.astype(np.int64)
        if not -1100 < exponent < 1024 or np.abs(keys).max(initial=0) > 2**53:
            raise InvalidCounts("cells of kind 'grid': exponent or keys out of range", field="cells")
        if steps.shape != keys.shape or keys.ndim != 1 or (steps > exponent).any() or (steps <= -1100).any():
            message = "cells of kind 'grid': exponents needs one for each key, none larger than exponent"
            raise InvalidCounts(message, field="cells")
        grid = cls.of_steps(steps, keys, from_dicts(value.get("frequent", ())))
        if not (grid.lower_edges[1:] >= grid.upper_edges[:-1]).all():
            words = "cells of kind 'grid': cells must be in order, and none in another"
            raise InvalidCounts(words, field="cells")
        return grid


def grid_of_all(grids: Sequence[Grid], frequent: Frequent = NONE) -> Grid:
    """The cells of several samples' records together, in any order: each of their cells lies in one of these.

    Args:
        grids: The cells of each sample, which need not be in order.
        frequent: The frequent scores of all records.
    """
    steps = np.concatenate([own.steps for own in grids])
    keys = np.concatenate([own.keys for own in grids])
    every = Grid.of_steps(steps, keys)
    wide, exponent = every.wide_keys, max(every.exponent, FINEST_EXPONENT)
    first, last = (int(end) >> (exponent - every.exponent) for end in (wide.min(), wide.max()))
    while last - first >= GRID_CELLS:
        exponent, first, last = exponent + 1, first >> 1, last >> 1
    exponents, places = cells_at(every.lower_edges, exponent)
    wider = steps > exponents
    whole = Grid.of_steps(np.where(wider, steps, exponents), np.where(wider, keys, places))
    lower = whole.lower_edges
    in_order = np.lexsort((-whole.steps, lower))  # the widest of those that begin together first
    reach = np.maximum.accumulate(whole.upper_edges[in_order])
    widest = in_order[np.append(True, lower[in_order][1:] >= reach[:-1])]
    return Grid.of_steps(whole.steps[widest], whole.keys[widest], frequent)


def grid_keys(scores: Floats, exponent: int) -> Integers:
    """floor(score / 2**exponent): exact, because scaling by a power of two does not round, or rounds to 0."""
    scaled = np.multiply(scores, 2.0**-exponent)
    keys = np.floor(scaled, out=scaled)
    return mend_underflow(keys, scores, exponent).astype(np.int64)


def grid_ends(low: float, high: float, exponent: int) -> tuple[int, int]:
    """The keys of two scores."""
    first, last = grid_keys(np.array([low, high]), exponent).tolist()
    return first, last


def mend_underflow(keys: Floats, scores: Floats, exponent: int) -> Floats:
    """The same keys, in place, with -1 for scores just below 0 that a large step took to 0: their cell ends there."""
    if exponent > 0:
        keys[(keys == 0) & (scores < 0)] = -1
    return keys


def cells_at(scores: Floats, exponent: int) -> tuple[Integers, Integers]:
    """The exponent of the step, and the key, of each score's cell on the grid of a step and in octaves."""
    several = [is_near(anchor, scores, exponent) for anchor in ANCHORS]
    exponents = np.full(len(scores), exponent)
    keys = grid_keys(np.where(several[0], 0.0, scores), exponent)
    for anchor, near in zip(ANCHORS, several, strict=True):
        exponents[near], keys[near] = octave_cells(octave_numbers(scores[near] - anchor), anchor)
    return exponents, keys


def finest_exponent(low: float, high: float) -> int:
    """The exponent of the finest grid of at most ``GRID_CELLS`` cells that holds both ends, and floats between.

    Args:
        low: Least score.
        high: Largest score.

    Example:
        >>> from estimators.sample.grid import finest_exponent
        >>> finest_exponent(0.0, 1.0), finest_exponent(-3.0, 3.0)
        (-15, -13)
    """
    exponent = int(np.frexp(max(abs(low), abs(high), 2.0**-900))[1]) - 52
    while True:
        first, last = grid_ends(low, high, exponent)
        if last - first < GRID_CELLS:
            return exponent
        exponent += 1


BUCKETS = 2**14
BLOCK = 2**15


def intervals_of(cuts: Floats, scores: NDArray[np.generic]) -> Integers:
    """``np.searchsorted(cuts, scores, side="right")`` of many unsorted scores, several times as fast.

    The bucket of a score rises with the score, rounding included; so a bucket without a cut lies in one
    interval and a table tells which. Only scores that share a bucket with a cut are searched for.
    """
    values = np.asarray(scores, dtype=np.float64)
    reach = float(cuts[-1] / 2.0 - cuts[0] / 2.0) if len(cuts) > 1 else 0.0
    scale = BUCKETS / reach / 2.0 if reach > 1e-300 else np.inf
    if len(values) < BUCKETS or not 0.0 < scale < np.inf:
        return np.searchsorted(cuts, values, side="right").astype(np.int64)
    low = float(cuts[0]) - 1.0 / scale  # what lies below all cuts has a bucket of its own
    at_cuts = _buckets(cuts, low, scale)
    table = np.searchsorted(at_cuts, np.arange(BUCKETS + 3)).astype(np.int64)
    table[at_cuts] = -1
    result = np.empty(len(values), dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        part = values[start : start + BLOCK]
        at = table.take(_buckets(part, low, scale))
        shared = np.flatnonzero(at < 0)
        at[shared] = np.searchsorted(cuts, part[shared], side="right")
        result[start : start + BLOCK] = at
    return result


def _buckets(values: Floats, low: float, scale: float) -> NDArray[np.intp]:
    with np.errstate(over="ignore"):
        place = np.subtract(values, low)
        place *= scale
    np.clip(place, 0.0, BUCKETS + 2.0, out=place)
    return place.astype(np.intp)
