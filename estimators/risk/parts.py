"""Cells that hide something are divided: a spike inside a cell else speaks for all records of it.

Where members and nonmembers of a cell lie apart by the statistic of Kolmogorov and Smirnov, the cell is cut where they
lie furthest apart, and so are its parts, until each is even. The labels choose the cuts, so what is said of a part is
said of every run of neighbouring scores that could have been one: its error is shared among all of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.sample.counts import Counts

Integers = NDArray[np.int64]

UNEVEN = 0.03
"""A cell is taken in two parts if its members and nonmembers lie so unevenly with at most this probability."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Where the parts of cells begin; a cell that is even is its own only part.

    Attributes:
        starts: The first of the finest cells in each part.
        cell: Which cell each part is of.
        choices: From how many runs of neighbouring scores each was chosen: 1 for a whole cell.
    """

    starts: Integers
    cell: Integers
    choices: Integers


def whole(starts: Integers) -> Parts:
    """Cells that stay undivided."""
    cells = np.arange(len(starts))
    return Parts(starts, cells, np.ones_like(cells))


def divided(fine: Counts, starts: Integers) -> Parts:
    """The even parts of cells.

    Args:
        fine: Counts of the finest cells.
        starts: The first of these in each cell.
    """
    ends = np.append(starts[1:], fine.size)
    found, begin, end = [starts], starts, ends
    while begin.size:
        at, behind, _, _ = uneven(fine, begin, end)
        found.append(behind)
        begin, end = np.concatenate([begin[at], behind]), np.concatenate([behind, end[at]])
    parts = np.sort(np.concatenate(found))
    cell = np.searchsorted(starts, parts, side="right") - 1
    positions = (ends - starts)[cell]
    several = np.bincount(cell)[cell] > 1
    return Parts(parts, cell, np.where(several, positions * (positions + 1) // 2, 1))


def uneven(fine: Counts, begin: Integers, end: Integers) -> tuple[Integers, Integers, Integers, Integers]:
    """Runs of cells in which members and nonmembers lie apart, and the cut that parts them best.

    Args:
        fine: Counts of the finest cells.
        begin: First cell of each run.
        end: The cell behind its last one.

    Returns:
        Which runs, the cell behind each cut, and how many members and nonmembers lie before it.
    """
    length = end - begin
    first = np.cumsum(length) - length
    row = np.repeat(begin - first, length) + np.arange(int(length.sum()))
    run = np.repeat(np.arange(len(begin)), length)
    sides = fine.members[row], fine.nonmembers[row]
    x, y = (np.add.reduceat(side, first) for side in sides)
    before, inside = (
        np.cumsum(side) - (np.cumsum(total) - total)[run] for side, total in zip(sides, (x, y), strict=True)
    )
    apart = np.abs(before / np.maximum(x, 1)[run] - inside / np.maximum(y, 1)[run])
    most = np.maximum.reduceat(apart, first)
    chance = 2.0 * np.exp(-2.0 * most**2 * x * y / np.maximum(x + y, 1))
    at = np.flatnonzero(chance <= UNEVEN)
    cut = np.array([first[i] + np.argmax(apart[first[i] : first[i] + length[i]]) for i in at], dtype=np.int64)
    return at, row[cut] + 1, before[cut], inside[cut]
