"""The cells that risk is stated for, which of them are flagged, and what their limits reach beside them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import require_count
from estimators.python.dataclass import dataclass
from estimators.risk.cells import Reach
from estimators.risk.flags import Flags, Multiplicity, Parts, divided, flag_members, uneven, whole
from estimators.sample.counting import by_category, by_rank, resolution
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores

OUTERMOST = 16  # records that the outermost cells have at least: so many of one side are flagged
ENDMOST = 2
"""Records at either end that limits of the outermost cell reach: as few as may be memorised alone."""
JUMP = 4.0  # standard errors by which the shares of members in neighbouring cells differ across a jump


def risk_cells(data: Scores | Counts, bins: int | None = None) -> Counts:
    """The cells risk is stated for: categories as they are, else N^(1/3) cells that narrow towards both ends.

    They have equal pooled mass; the first and the last are halved again and again, down to ``OUTERMOST`` records, so
    that a few memorised records do not drown among others. A number of ``bins`` is taken literally.
    """
    fine, starts, _ = _starts(data, bins)
    return fine if starts is None else fine.join(starts)


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The cells or their parts, and what their limits reach."""

    counts: Counts
    reach: Reach | None = None
    parts: Parts | None = None

    @property
    def occupied(self) -> int:
        """Cells with records: parts of a cell share what it has."""
        cell = np.arange(self.counts.size) if self.parts is None else self.parts.cell
        return len(np.unique(cell[self.counts.pooled > 0]))

    @property
    def choices(self) -> Integers | None:
        """From how many each part was chosen."""
        return None if self.parts is None else self.parts.choices


def _starts(data: Scores | Counts, bins: int | None) -> tuple[Counts, Integers | None, Integers | None]:
    """The finest cells, and of those with an order the first of each cell, and of each group of equal mass."""
    if bins is not None:
        require_count("bins", bins)
    if isinstance(data, Scores) and data.query is Query.DISCRETE:
        return by_category(data), None, None
    fine = data if isinstance(data, Counts) else by_rank(data)
    if fine.cells.kind not in ("intervals", "grid"):
        return fine, None, None
    groups = fine.group_starts(resolution(fine.n_records) if bins is None else bins)
    return fine, groups if bins is not None else fine.tail_starts(groups, OUTERMOST), groups


def flagged_cells(
    data: Scores | Counts,
    bins: int | None,
    prior: float,
    threshold: float | None,
    rate: float,
    over: Multiplicity | None,
) -> tuple[Partition, Flags]:
    """The cells and which of them are flagged.

    They are divided where they are uneven, if there are so many records that they narrow, which no label decides; a
    cell that is flagged as a whole is looked at again, so that no part is flagged for what another holds.
    """
    fine, starts, groups = _starts(data, bins)
    if starts is None or groups is None:
        return Partition(fine), flag_members(fine, prior, threshold, rate, over)

    def judge(parts: Parts) -> tuple[Counts, Flags]:
        counts = fine.join(parts.starts)
        first = parts.starts.searchsorted(groups)
        return counts, flag_members(counts, prior, threshold, rate, over, first, parts)

    parts = whole(starts)
    if narrow := len(starts) > len(groups):
        parts = divided(fine, starts)
    counts, flags = judge(parts)
    if narrow and (islands := _islands(parts.cell, flags.flagged)).size:
        parts = divided(fine, starts, islands)
        counts, flags = judge(parts)
    reach = _reach(fine, parts.starts, counts, groups, bins is None, parts if narrow else None)
    return Partition(counts, reach, parts if narrow else None), flags


def _islands(cell: Integers, flagged: NDArray[np.bool_]) -> Integers:
    """The first and the last cell of each run of flagged ones that reaches neither end of the scores.

    A spike is such a run; a shift is seen up to an end.
    """
    has_flags = np.bincount(cell, flagged) > 0
    turns = np.flatnonzero(np.diff(has_flags)) + 1
    begin, end = turns[has_flags[turns]], turns[~has_flags[turns]]
    end = end[1:] if has_flags[0] else end
    return np.union1d(begin[: len(end)], end - 1)


def _reach(
    fine: Counts, starts: Integers, counts: Counts, groups: Integers, tails: bool, parts: Parts | None
) -> Reach | None:
    """What the limits of cells reach beside them, as counts.

    A neighbour across a jump, and both parts of a cell whose records do not lie evenly if it is not divided there; for
    a cell in a tail the next one further out, and for the outermost the records at the very end.
    """
    jump = _apart(counts) > JUMP
    at = x = y = np.zeros(0, dtype=np.int64)
    if parts is None:
        at, _, x, y = uneven(fine, starts, np.append(starts[1:], fine.size))
    else:
        jump &= np.diff(parts.cell) > 0
    left = np.flatnonzero(jump)
    across, beyond = np.concatenate([left, left + 1]), np.concatenate([left + 1, left])
    cell = [at, at, across]
    members = [x, counts.members[at] - x, counts.members[beyond]]
    nonmembers = [y, counts.nonmembers[at] - y, counts.nonmembers[beyond]]
    if tails:
        last, pooled = len(starts) - 1, fine.pooled
        of_low = np.arange(1, int(starts.searchsorted(groups[1])) if len(groups) > 1 else 1)
        of_high = np.arange(int(starts.searchsorted(groups[-1])), last)
        outer = np.concatenate([of_low - 1, of_high + 1])
        cell += [of_low, of_high, np.array([0, last])]
        low, high = slice(0, starts[1] if last else None), slice(starts[last], None)
        for column, side, of_cells in (
            (members, fine.members, counts.members),
            (nonmembers, fine.nonmembers, counts.nonmembers),
        ):
            first = _first(side[low], pooled[low])
            column += [of_cells[outer], np.array([first, _first(side[high][::-1], pooled[high][::-1])])]
    columns = [np.concatenate(each) for each in (cell, members, nonmembers)]
    return Reach(*columns) if columns[0].size else None


def _apart(counts: Counts) -> Floats:
    """By how many standard errors the shares of members in neighbouring cells differ."""
    records = counts.pooled.astype(np.float64)
    both = records[1:] + records[:-1]
    share = (counts.members[1:] + counts.members[:-1]) / np.maximum(both, 1.0)
    difference = np.diff(counts.members / np.maximum(records, 1.0))
    variance = share * (1.0 - share) * both / np.maximum(records[1:] * records[:-1], 1.0)
    return np.abs(difference) / np.sqrt(np.where(variance > 0.0, variance, np.inf))


def _first(side: Integers, pooled: Integers) -> int:
    """Of the first ``ENDMOST`` records those of a side; cells are whole."""
    return int(side[: int(pooled.cumsum().searchsorted(ENDMOST)) + 1].sum())
