"""Cells next to 0, finer the closer they are to it: each octave, [2^j, 2^(j+1)) or its mirror image, has as many.

They have numbers in their order: from 0 upward above 0, from -1 downward below it. A cell holds its lower end. Next to
1, below it, where confidences crowd, cells are those of score - 1, which is exact; where a float has no more digits
below 1, each float is a cell. A grid whose step is not far smaller than 1 has none of these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass

OCTAVE_BITS = 8
"""An octave has two to this power cells, or those of the grid's step, where these are fewer."""

OCTAVE_CELLS = 2**OCTAVE_BITS

LEAST_OCTAVE = -1000
"""What is closer to 0 than two to this power is one cell on either side."""

LEAST_NUMBER = ((1023 + LEAST_OCTAVE) << OCTAVE_BITS) - 1
"""The number of the cell next to 0."""

MOST_CELLS = 2 ** (11 + OCTAVE_BITS)
"""Cells on either side of 0: floats have 2^11 exponents."""

SLOTS = 2**13
"""Cells on either side of 0 that are counted by index: those of the outermost 32 octaves."""


ANCHORS = (0, 1)
"""Where octaves end: on both sides of 0, and below 1."""

LARGEST_BELOW_ONE = -1 - OCTAVE_BITS
"""The largest exponent of a step with which a grid has cells of octaves next to 1, none of them next to 0, too."""

LEAST_BELOW_ONE = -53
"""Floats below 1, and above a half, are multiples of two to this power."""


def is_near(anchor: int, scores: Floats, exponent: int) -> NDArray[np.bool_]:
    """Whether each score lies where the cells of a grid of this step are those of octaves that end at 0, or 1."""
    with np.errstate(over="ignore"):
        limit = float(np.ldexp(OCTAVE_CELLS, exponent))
    if anchor == 0:
        return (scores >= -limit) & (scores < limit)
    if exponent > LARGEST_BELOW_ONE:
        return np.zeros(len(scores), dtype=np.bool_)
    return (scores >= 1.0 - limit) & (scores < 1.0)


def near_keys(anchor: int, exponent: int) -> tuple[int, int]:
    """The first of the keys of a grid of this step where cells are those of octaves, and the one behind the last."""
    if anchor == 0:
        return -OCTAVE_CELLS, OCTAVE_CELLS
    behind = 2**-exponent if exponent <= LARGEST_BELOW_ONE else OCTAVE_CELLS
    return max(behind - OCTAVE_CELLS, OCTAVE_CELLS), behind


def octave_numbers(scores: Floats) -> Integers:
    """The number of each score's cell."""
    away, below = _cells_away(scores)
    return np.where(below, -1 - away, away)


def _cells_away(scores: Floats) -> tuple[Integers, NDArray[np.bool_]]:
    """How many cells each score is away from 0, and whether it is below."""
    bits = (scores + 0.0).view(np.int64)  # which takes the sign from 0
    bits += bits >> 63  # a cell below 0 ends before its upper edge, too
    below = bits < 0
    bits >>= 52 - OCTAVE_BITS
    bits &= MOST_CELLS - 1
    return np.maximum(bits, LEAST_NUMBER, out=bits), below


def octave_cells(numbers: Integers, anchor: int = 0) -> tuple[Integers, Integers]:
    """The exponent of the step, and the key, of each cell on the grid of that step."""
    if anchor == 1:
        return below_one(*octave_cells(numbers))
    below = numbers < 0
    away = np.where(below, -1 - numbers, numbers)
    exponents = (away >> OCTAVE_BITS) - (1023 + OCTAVE_BITS)
    keys = OCTAVE_CELLS + (away & (OCTAVE_CELLS - 1))
    least = away == LEAST_NUMBER
    exponents, keys = np.where(least, LEAST_OCTAVE, exponents), np.where(least, 0, keys)
    return exponents, np.where(below, -1 - keys, keys)


def below_one(exponents: Integers, keys: Integers) -> tuple[Integers, Integers]:
    """The cells below 1 that are those of score - 1, where these have so many floats or a single one."""
    steps = np.maximum(exponents, LEAST_BELOW_ONE)
    return steps, (keys >> (steps - exponents)) + (1 << -steps)


@dataclass(frozen=True, eq=False, slots=True)
class OctaveCounts:
    """Scores of both sides near 0 on the grid of a step, counted in these cells; or what scores near 1 are above it.

    Attributes:
        exponent: Of the step.
        columns: Member and nonmember records in the cells of the outermost octaves, above 0 and below.
        numbers: Of the cells of other octaves.
        others: Member and nonmember records in these.
    """

    exponent: int
    columns: Integers
    numbers: Integers
    others: Integers

    @classmethod
    def of(cls, exponent: int, numbers: Integers, records: Integers) -> OctaveCounts:
        """Records of both sides in cells, of which one may stand there several times."""
        columns, others = np.zeros((2, 2 * SLOTS), np.int64), np.zeros((2, 0), np.int64)
        places = _places(numbers, exponent)
        outer = places >= 0
        for column, side in zip(columns, records, strict=True):
            np.add.at(column, places[outer], side[outer])
        if outer.all():
            return cls(exponent, columns, numbers[:0], others)
        distinct, at = np.unique(numbers[~outer], return_inverse=True)
        others = np.zeros((2, len(distinct)), np.int64)
        for column, side in zip(others, records, strict=True):
            np.add.at(column, at, side[~outer])
        return cls(exponent, columns, distinct, others)

    @classmethod
    def none(cls, exponent: int) -> OctaveCounts:
        """Before the first record."""
        return cls.of(exponent, np.zeros(0, np.int64), np.zeros((2, 0), np.int64))

    @classmethod
    def of_side(cls, exponent: int, side: int, scores: Floats) -> OctaveCounts:
        """Scores near 0 of one side."""
        away, below = _cells_away(scores)
        away -= _first(exponent)
        outer = away >= 0
        numbers, records = np.zeros(0, np.int64), np.zeros(0, np.int64)
        if not outer.all():
            numbers, records = np.unique_counts(octave_numbers(scores[~outer]))
            away, below = away[outer], below[outer]
        np.add(away, SLOTS, out=away, where=below)
        columns, others = np.zeros((2, 2 * SLOTS), np.int64), np.zeros((2, len(numbers)), np.int64)
        columns[side], others[side] = np.bincount(away, minlength=2 * SLOTS), records
        return cls(exponent, columns, numbers, others)

    def plus(self, other: OctaveCounts) -> OctaveCounts:
        """With other records, on the grid of the same step."""
        columns = self.columns + other.columns
        if not len(other.numbers):
            return OctaveCounts(self.exponent, columns, self.numbers, self.others)
        numbers = np.concatenate([self.numbers, other.numbers])
        deep = OctaveCounts.of(self.exponent, numbers, np.concatenate([self.others, other.others], axis=1))
        return OctaveCounts(self.exponent, columns, deep.numbers, deep.others)

    def cells(self) -> tuple[Integers, Integers]:
        """The numbers of all cells, in order, and the records of both sides in each."""
        occupied = np.flatnonzero(self.columns.any(axis=0))
        away = _first(self.exponent) + occupied % SLOTS
        numbers = np.concatenate([self.numbers, np.where(occupied < SLOTS, away, -1 - away)])
        order = numbers.argsort()
        return numbers[order], np.concatenate([self.others, self.columns[:, occupied]], axis=1)[:, order]


def _first(exponent: int) -> int:
    """How many cells are next to 0 before the outermost octaves begin."""
    return ((1023 + OCTAVE_BITS + exponent) << OCTAVE_BITS) - SLOTS


def _places(numbers: Integers, exponent: int) -> Integers:
    """Where cells are in the columns of the outermost octaves; less than 0 where they are not."""
    away = np.where(numbers < 0, -1 - numbers, numbers) - _first(exponent)
    return np.where((numbers < 0) & (away >= 0), away + SLOTS, away)
