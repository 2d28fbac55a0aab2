"""Numbers that come piece by piece, in any order, counted on a grid that grows with their range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from fast_histogram import histogram1d
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import NotFinite
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import places
from estimators.sample.counts import Counts
from estimators.sample.frequent import CROWD_OF_PART, NO_SCORES, NONE, Frequent, ScoreSample, crowded, is_crowded
from estimators.sample.grid import GRID_CELLS, Grid, grid_ends, grid_keys, grid_of_all, mend_underflow
from estimators.sample.octaves import ANCHORS, OctaveCounts, is_near, near_keys, octave_cells, octave_numbers
from estimators.sample.parts import Part

SIDES = ("member", "nonmember")

PIECE = 2**18
"""Numbers counted at a time: two megabytes of scratch, and a table of cells is small beside it."""

LARGEST_EXPONENT = 1000
"""Steps below which the far end of the window is still a float."""

LARGEST_KEY = 2**52 - GRID_CELLS
"""Keys below this are floats whose unit is smaller than a cell, so none that joins them needs a wider one."""


@dataclass(frozen=True, eq=False)
class GrowingGrid:
    """A window of 2^16 cells of the growing grid; it moves, or its step doubles, when a score lies outside.

    Attributes:
        exponent: Of the step.
        first: The key of the window's first cell.
        columns: Member and nonmember records in each of its cells.
        scratch: Room for a piece.
        near: The records near 0, and those near 1, once more, in the cells of octaves.
        frequent: Scores that many records have.
        sample: A few scores of either side, the same ones.
    """

    exponent: int
    first: int
    columns: tuple[Floats, Floats]
    scratch: Floats
    near: tuple[OctaveCounts, OctaveCounts]
    frequent: Frequent = NONE
    sample: ScoreSample = NO_SCORES

    @classmethod
    def none(cls) -> GrowingGrid:
        """A grid before its first record: no step is too small for it."""
        none = OctaveCounts.none(-2000)
        return cls(-2000, 0, (np.zeros(0), np.zeros(0)), np.empty(PIECE), (none, none))

    @classmethod
    def of_values(cls, values: Floats, columns: Sequence[Integers]) -> GrowingGrid:
        """So many member and nonmember records of each of these values, which are in order."""
        grid = cls.none().reaching(float(values[0]), float(values[-1]))
        members, nonmembers = (grid.tabulate(values, column.astype(np.float64)) for column in columns)
        zero, one = (_near(grid.exponent, anchor, values, np.stack(columns)) for anchor in ANCHORS)
        frequent = Frequent.of_values(values, columns[0], columns[1])
        sample = ScoreSample.of_values(values, columns)
        return replace(grid, columns=(members, nonmembers), near=(zero, one), frequent=frequent, sample=sample)

    def plus(self, side: int, scores: Floats, start: int) -> GrowingGrid:
        """The grid with more scores of one side; ``start`` is the index of the first among all of its side."""
        grid = self
        for at in range(0, len(scores), PIECE):
            piece = scores[at : at + PIECE]
            column = grid._histogram(piece)
            if column is None:
                low, high = float(piece.min()), float(piece.max())
                if not np.isfinite(low) or not np.isfinite(high):
                    _refuse_not_finite(piece, SIDES[side], start + at)
                grid = grid.reaching(low, high)
                column = grid.tabulate(piece)
            near = [grid._near_in(anchor, side, piece, column) for anchor in ANCHORS]
            frequent = grid._frequent_with(side, piece, column, near)
            column += grid.columns[side]
            columns = (column, grid.columns[1]) if side == 0 else (grid.columns[0], column)
            zero, one = (own if new is None else own.plus(new) for own, new in zip(grid.near, near, strict=True))
            sample = grid.sample.after(side, piece, grid.scratch)
            grid = replace(grid, columns=columns, near=(zero, one), frequent=frequent, sample=sample)
        return grid

    def _near_in(self, anchor: int, side: int, piece: Floats, column: Floats) -> OctaveCounts | None:
        """The scores of a piece near 0, or 1; None if no cell of the window there has any."""
        if not column[self._window_near(anchor)].any():
            return None
        scores = piece.take(np.flatnonzero(is_near(anchor, piece, self.exponent)))
        return OctaveCounts.of_side(self.exponent, side, scores - 1.0 if anchor else scores)

    def _window_near(self, anchor: int) -> slice:
        """The cells of the window whose records are counted in the cells of octaves, too."""
        return slice(*(min(max(end - self.first, 0), GRID_CELLS) for end in near_keys(anchor, self.exponent)))

    def _frequent_with(self, side: int, piece: Floats, column: Floats, near: Sequence[OctaveCounts | None]) -> Frequent:
        """The frequent scores with those of one more piece, of which so many are in each cell."""
        inner = [self._window_near(anchor) for anchor in ANCHORS]
        dense = crowded(column, len(piece))
        alone = [at for at in dense if not any(own.start <= at < own.stop for own in inner)]
        of_octaves = [each.cells()[1][side] for each in near if dense and each is not None]
        if not self.frequent and not alone and not any(crowded(own, len(piece)) for own in of_octaves):
            return NONE
        return self.frequent.after(side, piece)

    def reaching(self, low: float, high: float) -> GrowingGrid:
        """The same records on the finest grid that also holds ``low`` and ``high``: the one of ``by_grid``."""
        start = int(np.frexp(max(abs(low), abs(high), 2.0**-900))[1]) - 52
        exponent = max(start, self.exponent)
        cells = np.flatnonzero(self.columns[0] + self.columns[1]).astype(np.int64)
        ours = [self.first + int(cell) for cell in (cells[0], cells[-1])] if cells.size else []
        while True:
            keys = [*grid_ends(low, high, exponent)] + [key >> (exponent - self.exponent) for key in ours]
            least, most = min(keys), max(keys)
            if most - least < GRID_CELLS:
                break
            exponent += 1
        from_zero = least >= 0 and most < GRID_CELLS
        first = 0 if from_zero else least - (GRID_CELLS - 1 - (most - least)) // 2  # room on both sides
        moved = ((cells + self.first) >> (exponent - self.exponent)) - first
        columns = [_count_in_window(moved, column[cells] if cells.size else column) for column in self.columns]
        return GrowingGrid(
            exponent, first, (columns[0], columns[1]), self.scratch, self._near_at(exponent), self.frequent, self.sample
        )

    def _near_at(self, exponent: int) -> tuple[OctaveCounts, OctaveCounts]:
        """What is near 0, and 1, with a larger step: other cells of the window are those of octaves then."""
        part = self.part()
        edges, records = part.grid.lower_edges, np.stack([part.members, part.nonmembers])
        return _near(exponent, 0, edges, records), _near(exponent, 1, edges, records)

    def tabulate(self, scores: Floats, weights: Floats | None = None) -> Floats:
        """Records in each cell of the window, where all lie in it."""
        return _count_in_window(grid_keys(scores, self.exponent) - self.first, weights)

    def _histogram(self, scores: Floats) -> Floats | None:
        """The same in one pass, or nothing if a score lies outside the window or is not finite.

        fast-histogram leaves such scores out, which the total shows. It truncates (score - start) / width, which is
        exact for whole numbers, and from a start at 0 if the width is a power of two.
        """
        wide = self.exponent > LARGEST_EXPONENT or max(-self.first, self.first + GRID_CELLS) > LARGEST_KEY
        if wide or not self.columns[0].size:
            return None
        if self.first == 0:
            keys, reach = scores, (0.0, GRID_CELLS * 2.0**self.exponent)
        else:
            keys, reach = self.scratch[: len(scores)], (float(self.first), float(self.first + GRID_CELLS))
            with np.errstate(over="ignore", invalid="ignore"):
                np.floor(np.multiply(scores, 2.0**-self.exponent, out=keys), out=keys)
            mend_underflow(keys, scores, self.exponent)
        column: Floats = histogram1d(keys, GRID_CELLS, reach)
        return column if column.sum() == len(scores) else None

    def counts(self) -> Counts:
        """Occupied cells as counts."""
        part = self.part()
        grid = replace(part.grid, frequent=part.frequent)
        grid = grid.with_crowds_only(np.stack([part.members, part.nonmembers]))
        return Counts(part.members, part.nonmembers, grid).showing(self.sample)

    def part(self) -> Part:
        """The same as a part."""
        cells, steps, keys, tables = np.flatnonzero(self.columns[0] + self.columns[1]), [], [], []
        start = 0
        for anchor, near in zip(ANCHORS, self.near, strict=True):
            inner, (numbers, records) = self._window_near(anchor), near.cells()
            before = cells[(cells >= start) & (cells < inner.start)]
            near_steps, near_places = octave_cells(numbers, anchor)
            steps += [np.full(len(before), self.exponent), near_steps]
            keys += [self.first + before, near_places]
            tables += [np.stack([column[before] for column in self.columns]), records]
            start = inner.stop
        after = cells[cells >= start]
        steps, keys = [*steps, np.full(len(after), self.exponent)], [*keys, self.first + after]
        tables.append(np.stack([column[after] for column in self.columns]))
        members, nonmembers = np.concatenate(tables, axis=1).astype(np.int64)
        frequent = self.frequent.enough(np.array([members.sum(), nonmembers.sum()]))
        steps_of_all = np.concatenate(steps)
        return Part("grid", np.concatenate(keys), members, nonmembers, frequent, steps_of_all, self.sample)


def _near(exponent: int, anchor: int, values: Floats, records: Integers) -> OctaveCounts:
    """Those near 0, or 1, of so many member and nonmember records of each of these values."""
    inner = is_near(anchor, values, exponent)
    return OctaveCounts.of(exponent, octave_numbers(values[inner] - anchor), records[:, inner])


def _count_in_window(cells: NDArray[np.int64], weights: Floats | None) -> Floats:
    """Records in each cell of a window."""
    return np.bincount(cells, weights, GRID_CELLS).astype(np.float64, copy=False)


def _refuse_not_finite(scores: Floats, name: str, start: int) -> None:
    """Name the first record that is NaN or infinite."""
    at = int(np.argmin(np.isfinite(scores)))
    what = "NaN" if np.isnan(scores[at]) else "infinite"
    raise NotFinite.of_side(name, f"record {start + at} is {what}; every score must be finite", start + at)


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
