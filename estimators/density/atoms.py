"""Values that many records share exactly: they have no density, so they are counted, never smoothed.

A saturated sigmoid puts a third of its records exactly on 1. The advantage of such a mixed score is
the sum over its atoms plus the integral over the rest (MACE, Definition 2, for a mixed distribution).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.density.bandwidth import Sample, Silverman, spread_indices

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHARE = 0.01
"""A value is an atom when at least this share of the pooled records has it ..."""

FEWEST = 5
"""... and at least this many records ..."""

PROMINENCE = 4.0
"""... and several times as many as a typical value within a bandwidth of it: scores rounded to three
decimals repeat everywhere alike, which a kernel reads better than a table would."""

SUBSET = 2**12


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Sorted values with the number of member and nonmember records that have them exactly."""

    values: Floats
    members: Integers
    nonmembers: Integers

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self.values)

    def locate(self, points: Floats) -> Integers:
        """Which atom each point is, -1 for none."""
        if self.size <= 8:  # a comparison each is cheaper than a search
            which = np.full(len(points), -1, dtype=np.int64)
            for index, value in enumerate(self.values):
                which[points == value] = index
            return which
        at = np.minimum(np.searchsorted(self.values, points), self.size - 1)
        return np.where(self.values[at] == points, at, -1).astype(np.int64)


def split_atoms(members: Floats, nonmembers: Floats) -> tuple[Atoms, Floats, Floats]:
    """Atoms, and the records of either side that are on none; labels play no part in what is an atom."""
    total = len(members) + len(nonmembers)
    least = max(FEWEST, SHARE * total)
    values = _prominent(members, nonmembers, least / total)
    counts = [_count(side, values) for side in (members, nonmembers)]
    heavy = counts[0] + counts[1] >= least
    atoms = Atoms(values[heavy], counts[0][heavy], counts[1][heavy])
    if not atoms.size:
        return atoms, members, nonmembers
    return atoms, members[atoms.locate(members) < 0], nonmembers[atoms.locate(nonmembers) < 0]


def _prominent(members: Floats, nonmembers: Floats, share: float) -> Floats:
    """Values that stand out in an even subset of the pooled records, with the same share of either side."""
    total = len(members) + len(nonmembers)
    subset = np.concatenate(
        [side[spread_indices(len(side), -(-SUBSET * len(side) // total))] for side in (members, nonmembers)]
    )
    values, counts = np.unique(subset, return_counts=True)
    heavy = np.flatnonzero(counts >= max(2.0, 0.5 * share * subset.size))
    if not heavy.size or values.size == 1:
        return values[heavy]
    width = Silverman().choose(Sample.of(subset))
    running = np.concatenate([[0], np.cumsum(counts)])
    first = np.searchsorted(values, values[heavy] - width)
    last = np.searchsorted(values, values[heavy] + width, side="right")
    others = last - first - 1
    typical = (running[last] - running[first] - counts[heavy]) / np.maximum(others, 1)
    prominent: Floats = values[heavy[counts[heavy] >= PROMINENCE * typical]]
    return prominent


def _count(side: Floats, values: Floats) -> Integers:
    """Records of one side that equal each value."""
    return np.array([np.count_nonzero(side == value) for value in values], dtype=np.int64)
