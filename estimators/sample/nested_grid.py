"""A grid of which crowded cells are cut again: for records that can be counted once more, where they lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Integers
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import places
from estimators.sample.counts import Counts
from estimators.sample.frequent import CROWD_OF_PART, Frequent, is_crowded
from estimators.sample.grid import Grid, grid_of_all
from estimators.sample.parts import Part

MOST_TIMES = 4
"""Times that cells are cut again; each makes them up to 2^16 times as narrow."""


@dataclass(frozen=True, eq=False, slots=True)
class NestedGrid:
    """Cells of several grids, with the records of each group in each of them.

    Which cells are cut again depends on how many records they hold in all, never on who is a member: cells of one score
    are left, which to cut would not change.

    Attributes:
        cells: In order, with the frequent scores.
        tables: Records of each side, of each group, in each cell; where nobody asks about groups, of a single one.
    """

    cells: Grid
    tables: Integers

    @classmethod
    def of(cls, groups: Sequence[Part | None]) -> NestedGrid:
        """The cells of one grid.

        Args:
            groups: The records of each group, each on a grid; None where there are none.
        """
        full = {place: part for place, part in enumerate(groups) if part is not None}
        cells = grid_of_all([part.grid for part in full.values()])
        tables = np.zeros((2, len(groups), cells.size), dtype=np.int64)
        for place, part in full.items():
            at = places(part.grid, cells)
            np.add.at(tables[0, place], at, part.members)
            np.add.at(tables[1, place], at, part.nonmembers)
        frequent = Frequent.together(part.frequent for part in full.values())
        return cls(replace(cells, frequent=frequent.enough(tables.sum(axis=(1, 2)))), tables)

    def crowds(self) -> list[int]:
        """Cells that are not known to be of one score and crowded."""
        unlike = self.tables.sum(axis=1) > self.cells.of_one_score()
        crowds: list[int] = np.flatnonzero(self._crowded() & unlike.any(axis=0)).tolist()
        return crowds

    def _crowded(self) -> NDArray[np.bool_]:
        """Whether each cell is crowded: by all records, or by those of a group."""
        of_groups = is_crowded(self.tables, share=CROWD_OF_PART)
        whole = self.tables.sum(axis=1)
        return np.asarray(of_groups.any(axis=0) | is_crowded(whole))

    def range_of(self, place: int) -> tuple[float, float]:
        """Where a cell begins and ends."""
        return float(self.cells.lower_edges[place]), float(self.cells.upper_edges[place])

    def cut(self, finer: Mapping[int, Sequence[Part | None]]) -> NestedGrid:
        """The same with the cells of finer grids in place of some cells.

        Args:
            finer: The records of each of these cells, of each group, on grids of their own. A cell stays as it is if
                these are not so many as it holds: they were changed before they were counted again.
        """
        grids = {place: NestedGrid.of(groups) for place, groups in finer.items() if any(groups)}
        same = {
            place: grid for place, grid in grids.items() if (grid.tables.sum(axis=2) == self.tables[:, :, place]).all()
        }
        left = np.delete(np.arange(self.cells.size), [*same])
        several = [self.cells.select(left), *(grid.cells for grid in same.values())]
        steps, keys = (np.concatenate(each) for each in zip(*((own.steps, own.keys) for own in several), strict=True))
        tables = np.concatenate([self.tables[..., left], *(grid.tables for grid in same.values())], axis=-1)
        frequent = self.cells.frequent
        others = frequent.only(~np.isin(self.cells.locate(frequent.scores), [*same]))
        every = Frequent.together([others, *(grid.cells.frequent for grid in same.values())])
        whole = Grid.of_steps(steps, keys, every)
        in_order = whole.lower_edges.argsort(kind="stable")
        return NestedGrid(whole.select(in_order), tables[..., in_order])

    def counts(self) -> Counts:
        """The records of all groups, with the caution if a cell is still crowded."""
        frequent = self.cells.frequent
        some = frequent.only(self._crowded()[self.cells.locate(frequent.scores)])
        members, nonmembers = self.tables.sum(axis=1)
        return Counts(members, nonmembers, replace(self.cells, frequent=some))
