"""Cells that hide something are divided: a spike inside a cell else speaks for all records of it.

Where members and nonmembers of a cell lie apart by the statistic of Kolmogorov and Smirnov, the cell is cut where they
lie furthest apart, and so are its parts, until each is even. Where a cut lies is not known to a record: the rim between
the first and the last that is nearly as likely is a part of its own. The labels choose all this, so what is said of a
part is said of every run of neighbouring scores that could have been one: its error is shared among all of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.sample.counts import Counts

Integers = NDArray[np.int64]

UNEVEN = 0.03
"""A cell is taken in two parts if its members and nonmembers lie so unevenly with at most this probability."""


DOUBTFUL = 0.3
"""The same of a cell that is flagged where its neighbour is not."""

CLOSE = 3.0
"""Cuts whose log likelihood is so close to that of the best one may be the true one: a rim lies between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Where the parts of cells begin; a cell that is even is its own only part.

    Attributes:
        starts: The first of the finest cells in each part.
        cell: Which cell each part is of.
        choices: From how many runs of neighbouring scores each was chosen: 1 for a whole cell.
        rim: Whether it lies between two parts of a cell, and may belong to either.
    """

    starts: Integers
    cell: Integers
    choices: Integers
    rim: NDArray[np.bool_]


def whole(starts: Integers) -> Parts:
    """Cells that stay undivided."""
    cells = np.arange(len(starts))
    return Parts(starts, cells, np.ones_like(cells), np.zeros(len(cells), dtype=np.bool_))


def divided(fine: Counts, starts: Integers, flagged: Integers | None = None) -> Parts:
    """The even parts of cells, and the rims between them.

    Args:
        fine: Counts of the finest cells.
        starts: The first of these in each cell.
        flagged: Cells that are flagged and may hide a spike: less is enough for these to be taken for uneven.
    """
    ends = np.append(starts[1:], fine.size)
    cuts = _cuts(fine, starts, ends, UNEVEN)
    if flagged is not None:
        cuts = np.union1d(cuts, _cuts(fine, starts[flagged], ends[flagged], DOUBTFUL))
    low, high = _rims(fine, np.append(np.union1d(starts, cuts), fine.size), cuts)
    parts = np.unique(np.concatenate([starts, low, high]))
    parts = parts[parts < fine.size]
    rim = np.searchsorted(low, parts, side="right") > np.searchsorted(high, parts, side="right")
    cell = np.searchsorted(starts, parts, side="right") - 1
    positions = (ends - starts)[cell]
    several = np.bincount(cell)[cell] > 1
    return Parts(parts, cell, np.where(several, positions * (positions + 1) // 2, 1), rim)


def _cuts(fine: Counts, begin: Integers, end: Integers, level: float) -> Integers:
    """Cuts that leave only even parts of these cells."""
    cuts = [np.zeros(0, dtype=np.int64)]
    while begin.size:
        at, behind, _, _ = uneven(fine, begin, end, level)
        cuts.append(behind)
        begin, end = np.concatenate([begin[at], behind]), np.concatenate([behind, end[at]])
    return np.sort(np.concatenate(cuts))


def _rims(fine: Counts, bounds: Integers, cuts: Integers) -> tuple[Integers, Integers]:
    """For each cut the first and the last that is about as likely, between its neighbours."""
    low, high = cuts.copy(), cuts.copy()
    for i, cut in enumerate(cuts):
        at = int(np.searchsorted(bounds, cut))
        a, b = int(bounds[at - 1]), int(bounds[at + 1])
        m, k = fine.members[a:b], fine.nonmembers[a:b]
        share = [
            (m[part].sum() + 0.5) / (m[part].sum() + k[part].sum() + 1.0)
            for part in (slice(0, cut - a), slice(cut - a, None))
        ]
        gain = m * np.log(share[0] / share[1]) + k * np.log((1.0 - share[0]) / (1.0 - share[1]))
        likelihood = np.concatenate([[0.0], np.cumsum(gain)])
        near = np.flatnonzero(likelihood >= likelihood.max() - CLOSE)
        low[i], high[i] = a + near[0], a + near[-1]
    return np.sort(low), np.sort(high)


def uneven(
    fine: Counts, begin: Integers, end: Integers, level: float = UNEVEN
) -> tuple[Integers, Integers, Integers, Integers]:
    """Runs of cells in which members and nonmembers lie apart, and the cut that parts them best.

    Args:
        fine: Counts of the finest cells.
        begin: First cell of each run.
        end: The cell behind its last one.
        level: They are taken for uneven where they lie so with at most this probability.

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
    at = np.flatnonzero(chance <= level)
    cut = np.array([first[i] + np.argmax(apart[first[i] : first[i] + length[i]]) for i in at], dtype=np.int64)
    return at, row[cut] + 1, before[cut], inside[cut]
