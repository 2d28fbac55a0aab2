"""Sets of neighbouring scores anywhere along a score, whose share of nonmembers has an exact limit.

The window between the i-th and the (i+k+1)-th nonmember in order holds k of them, and what share of nonmembers it
truly holds is the (k+1)-th smallest of n0 uniform numbers, as for a tail with k inside. So whatever is exact for a tail
is exact for it (``privacy.exposure``). Given the nonmembers the window is fixed, and its members are binomial. Windows
of whole cells strictly between the cells of both nonmembers are no larger: ties and grouped scores only take from them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.sample.counts import Counts

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

RANKS = 2**17
"""Windows end at every nonmember, or of more than these at every second one, every third and so on."""

SPANS = tuple(dict.fromkeys([1, *(1 + round(2 ** (j / 2)) for j in range(2 * RANKS.bit_length()))]))
"""One more than the nonmembers that windows hold: 0, 1, 2, 3, 4, 6, 8, 11, 16 and so on."""

STARTS = 8
"""Windows with k nonmembers begin at every (k/8)-th of them: as good a window is there, and there are fewer of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """For each number of nonmembers the window that holds most members; together they stand for all of that number.

    Attributes:
        first: First cell of each.
        behind: The cell behind its last one.
        members: Members in it.
        nonmembers: Nonmembers in it.
        within: How many it may hold: the nonmembers strictly between the two that bound it.
        shares: The share of an error that each has: all windows that are looked at have one together, those with the
            j-th number of nonmembers 1/(j(j+1)) of it, and each of these as much as any other.
    """

    first: Integers
    behind: Integers
    members: Integers
    nonmembers: Integers
    within: Integers
    shares: Floats


def fullest_windows(counts: Counts) -> Windows:
    """The windows that hold most members, of those that lie between two of the nonmembers.

    Args:
        counts: Counts of cells with an order.
    """
    unit = -(-counts.n_nonmembers // RANKS)
    bounds = counts.n_nonmembers // unit
    spans = [each for each in SPANS if each < bounds]
    to, nonmembers_to = np.cumsum(counts.members), np.cumsum(counts.nonmembers)
    bounding = np.diff(nonmembers_to // unit, prepend=0)  # nonmembers in each cell that bound windows
    ahead, past = np.repeat(to - counts.members, bounding), np.repeat(to, bounding)
    begin, members = np.zeros(len(spans), dtype=np.int64), np.zeros(len(spans), dtype=np.int64)
    steps = np.array([max(1, each // STARTS) for each in spans], dtype=np.int64)
    for at, (length, step) in enumerate(zip(spans, steps.tolist(), strict=True)):
        inside = ahead[length::step] - past[:-length:step]
        begin[at] = step * int(inside.argmax())
        members[at] = max(0, int(inside[begin[at] // step]))
    span = np.array(spans, dtype=np.int64)
    first = np.searchsorted(nonmembers_to, (begin + 1) * unit) + 1
    behind = np.searchsorted(nonmembers_to, (begin + span + 1) * unit)
    behind = np.maximum(behind, first)  # nothing lies between two nonmembers of one cell
    nonmembers = nonmembers_to[behind - 1] - nonmembers_to[first - 1]
    windows, place = -(-(bounds - span) // steps), np.arange(1.0, len(spans) + 1.0)
    return Windows(
        first, behind, members, nonmembers, span * unit - 1, 1.0 / (place * (place + 1.0) * windows)
    )
