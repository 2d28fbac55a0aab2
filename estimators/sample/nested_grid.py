"""A grid of which crowded cells are cut again: for records that can be counted once more, where they lie."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Grid, Intervals
from estimators.sample.counts import Counts
from estimators.sample.doubts import of_grid
from estimators.sample.frequent import CROWD, RARE
from estimators.sample.parts import Part

MOST_TIMES = 4
"""Times that cells are cut again; each makes them up to 2^16 times as narrow."""


@dataclass(frozen=True, eq=False, slots=True)
class NestedGrid:
    """Cells of several grids, in order: each is [k, k+1) times 2**exponent, and none lies in another.

    Which cells are cut again depends on how many records they hold in all, never on who is a member: cells of one score
    are left, which to cut would not change.

    Attributes:
        exponents: Of the step of each cell's grid.
        keys: The place of each cell on its grid.
        members: Member records in each.
        nonmembers: Nonmember records in each.
        unlike: Records of both sides in each that are not known to have the same score.
    """

    exponents: Integers
    keys: Integers
    members: Integers
    nonmembers: Integers
    unlike: Integers

    @classmethod
    def of(cls, part: Part) -> NestedGrid:
        """The cells of one grid."""
        grid = Grid(part.exponent, part.keys, part.frequent)
        exponents = np.full(grid.size, part.exponent, dtype=np.int64)
        unlike = part.members + part.nonmembers - grid.of_one_score()
        return cls(exponents, part.keys, part.members, part.nonmembers, unlike)

    @classmethod
    def of_counts(cls, counts: Counts) -> NestedGrid | None:
        """The same of counts; None if they are of no grid."""
        cells = counts.cells
        if not isinstance(cells, Grid):
            return None
        return cls.of(
            Part("grid", cells.exponent, cells.keys, counts.members, counts.nonmembers, cells.frequent)
        )

    @property
    def edges(self) -> Floats:
        """Where each cell begins."""
        return np.ldexp(self.keys.astype(np.float64), self.exponents)

    def crowds(self) -> list[int]:
        """Crowded cells that are not known to be of one score."""
        pooled = self.members + self.nonmembers
        crowded = (pooled > max(RARE, CROWD * int(pooled.sum()))) & (self.unlike > 0)
        places: list[int] = np.flatnonzero(crowded).tolist()
        return places

    def range_of(self, place: int) -> tuple[float, float]:
        """Where a cell begins and ends."""
        with np.errstate(over="ignore"):  # the end of the last cell may be beyond what floats hold
            low, high = np.ldexp(self.keys[place] + np.array([0.0, 1.0]), self.exponents[place]).tolist()
        return low, high

    def cut(self, parts: Mapping[int, Part]) -> NestedGrid:
        """The same with the cells of finer grids in place of some cells.

        Args:
            parts: The records of each of these cells, on a grid of their own. A cell stays as it is if these are not so
                many as it holds: they were changed before they were counted again.
        """
        parts = {
            place: part
            for place, part in parts.items()
            if (part.members.sum(), part.nonmembers.sum()) == (self.members[place], self.nonmembers[place])
        }
        others = np.delete(np.arange(len(self.keys)), [*parts])
        several = [self._some(others), *(NestedGrid.of(part) for part in parts.values())]
        names = ("exponents", "keys", "members", "nonmembers", "unlike")
        whole = NestedGrid(*(np.concatenate([getattr(each, name) for each in several]) for name in names))
        return whole._some(whole.edges.argsort(kind="stable"))

    def _some(self, places: Integers) -> NestedGrid:
        columns = (self.exponents, self.keys, self.members, self.nonmembers, self.unlike)
        return NestedGrid(*(column[places] for column in columns))

    def counts(self) -> Counts:
        """The cells as intervals, with the caution if one of them is still crowded."""
        doubts = of_grid(self.unlike, int(self.members.sum() + self.nonmembers.sum()))
        return Counts.trusted(self.members, self.nonmembers, Intervals(self.edges[1:]), doubts)
