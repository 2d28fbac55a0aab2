"""A grid of which crowded cells are cut again: for records that can be counted once more, where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Grid, Intervals
from estimators.sample.counts import Counts
from estimators.sample.doubts import of_grid, of_values
from estimators.sample.frequent import CROWD, RARE, frequent_enough, together
from estimators.sample.parts import Part
from estimators.statement import Caution

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
        tables: Records of each side, of each group, in each cell; where nobody asks about groups, of a single one.
        unlike: Records of both sides in each cell that are not known to have the same score.
    """

    exponents: Integers
    keys: Integers
    tables: Integers
    unlike: Integers

    @classmethod
    def of(cls, groups: Sequence[Part | None]) -> NestedGrid:
        """The cells of one grid.

        Args:
            groups: The records of each group, each on a grid; None where there are none.
        """
        full = {place: part for place, part in enumerate(groups) if part is not None}
        exponent = max(part.exponent for part in full.values())
        moved = {
            place: part.keys.astype(np.int64) >> min(exponent - part.exponent, 63)
            for place, part in full.items()
        }
        keys = np.unique(np.concatenate([*moved.values()]))
        tables = np.zeros((2, len(groups), len(keys)), dtype=np.int64)
        for place, part in full.items():
            at = keys.searchsorted(moved[place])
            np.add.at(tables[0, place], at, part.members)
            np.add.at(tables[1, place], at, part.nonmembers)
        pooled = tables.sum(axis=(0, 1))
        frequent = frequent_enough(together(part.frequent for part in full.values()), int(pooled.sum()))
        unlike = pooled - Grid(exponent, keys, frequent).of_one_score()
        return cls(np.full(len(keys), exponent, dtype=np.int64), keys, tables, unlike)

    @property
    def edges(self) -> Floats:
        """Where each cell begins."""
        return np.ldexp(self.keys.astype(np.float64), self.exponents)

    def crowds(self) -> list[int]:
        """Cells that are not known to be of one score and crowded: by all records, or by those of a group."""
        own = self.tables.sum(axis=0)
        pooled = np.concatenate([own, own.sum(axis=0, keepdims=True)])
        many = np.maximum(RARE, CROWD * pooled.sum(axis=1, keepdims=True))
        places: list[int] = np.flatnonzero((pooled > many).any(axis=0) & (self.unlike > 0)).tolist()
        return places

    def range_of(self, place: int) -> tuple[float, float]:
        """Where a cell begins and ends."""
        with np.errstate(over="ignore"):  # the end of the last cell may be beyond what floats hold
            low, high = np.ldexp(self.keys[place] + np.array([0.0, 1.0]), self.exponents[place]).tolist()
        return low, high

    def cut(self, finer: Mapping[int, Sequence[Part | None]]) -> NestedGrid:
        """The same with the cells of finer grids in place of some cells.

        Args:
            finer: The records of each of these cells, of each group, on grids of their own. A cell stays as it is if
                these are not so many as it holds: they were changed before they were counted again.
        """
        grids = {place: NestedGrid.of(groups) for place, groups in finer.items() if any(groups)}
        same = {
            place: grid
            for place, grid in grids.items()
            if (grid.tables.sum(axis=2) == self.tables[:, :, place]).all()
        }
        several = [self._some(np.delete(np.arange(len(self.keys)), [*same])), *same.values()]
        names = ("exponents", "keys", "tables", "unlike")
        whole = NestedGrid(
            *(np.concatenate([getattr(each, name) for each in several], axis=-1) for name in names)
        )
        return whole._some(whole.edges.argsort(kind="stable"))

    def _some(self, places: Integers) -> NestedGrid:
        columns = (self.exponents, self.keys, self.tables, self.unlike)
        return NestedGrid(*(column[..., places] for column in columns))

    def counts(self) -> Counts:
        """The records of all groups in these cells as intervals, with the caution if one of them is still crowded."""
        members, nonmembers = self.tables.sum(axis=1)
        doubts = (
            *of_values(members, nonmembers, ordered=True),
            *of_grid(self.unlike, int(members.sum() + nonmembers.sum())),
        )
        return Counts.trusted(members, nonmembers, Intervals(self.edges[1:]), doubts)

    def doubts_of(self, place: int) -> tuple[Caution, ...]:
        """The same caution of a group."""
        pooled = self.tables[:, place].sum(axis=0)
        return of_grid(np.minimum(pooled, self.unlike), int(pooled.sum()))
