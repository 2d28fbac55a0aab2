"""Scores that many records have: what tells a cell of one value from a cell that hides what differs in it.

Where scores are counted, these are counted by value, too. A count may miss records, never name too many: a cell may
then be taken to hide something, and none is taken for a single value that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import InvalidCounts
from estimators.python.dataclass import dataclass

RARE = 8
"""Records of one value that are few, whatever their share."""

CROWD = 1.0 / 64.0
"""Share of all records that are many for one cell of a grid: what differs in it may be an advantage twice as large."""

CROWD_OF_PART = 0.1
"""Share of the records of a group, or of a run, that are many for a cell: there are fewer, and fewer cells."""

FREQUENT_SHARE = CROWD / 2
"""Share of all records from which on a score is kept: it may gain some when more records come."""


MOST_AT_ONCE = 256
"""Scores that a stream keeps, twice as many as can be frequent in the end. Of more, each loses as many records as takes
the others away (Misra and Gries 1982): of n records one with more than n/256 is not lost, and misses no more than that.
"""


@dataclass(frozen=True, slots=True)
class FrequentScore:
    """A score that many records have.

    Attributes:
        score: The score.
        members: Member records that are known to have exactly it.
        nonmembers: Nonmember records, likewise.
    """

    score: float
    members: int
    nonmembers: int

    @property
    def records(self) -> int:
        """Records of both sides."""
        return self.members + self.nonmembers


Frequent = tuple[FrequentScore, ...]
"""In order, each score once."""


def from_dicts(value: Any) -> Frequent:
    """Those that were written down as mappings."""
    several, records = [], 0
    for each in value:
        sides = each["members"], each["nonmembers"]
        whole = len(each) == 3 and all(type(side) is int and side >= 0 for side in sides)
        records += sum(sides) if whole else 0
        if not whole or records >= 2**62 or not np.isfinite(each["score"]):
            raise InvalidCounts(
                "cells of kind 'grid': frequent needs a score and whole numbers of members and nonmembers",
                field="cells",
            )
        several.append((FrequentScore(float(each["score"]) + 0.0, *sides),))
    return together(several)


def together(several: Iterable[Frequent]) -> Frequent:
    """Those of several samples, as those of all their records.

    Example:
        >>> from estimators.sample.frequent import FrequentScore, together
        >>> together([(FrequentScore(1.0, 5, 0),), (FrequentScore(0.0, 2, 2), FrequentScore(1.0, 0, 4))])[1].records
        9
    """
    sides: dict[float, tuple[int, int]] = {}
    for each in (one for some in several for one in some):
        members, nonmembers = sides.get(each.score, (0, 0))
        sides[each.score] = (members + each.members, nonmembers + each.nonmembers)
    return tuple(FrequentScore(score, *sides[score]) for score in sorted(sides))


def frequent_values(values: Floats, members: Integers, nonmembers: Integers) -> Frequent:
    """Those of records that are counted by value.

    Args:
        values: The values, increasing.
        members: Member records of each.
        nonmembers: Nonmember records of each.
    """
    pooled = members + nonmembers
    records = int(pooled.sum())
    many = np.flatnonzero(pooled > FREQUENT_SHARE * records)
    columns = (column[many].tolist() for column in (values + 0.0, members, nonmembers))
    return frequent_enough(together((FrequentScore(*each),) for each in zip(*columns, strict=True)), records)


def frequent_enough(some: Iterable[FrequentScore], records: int, fewest: int = 2) -> Frequent:
    """Those that enough of all records have, and no fewer than so many."""
    return tuple(each for each in some if each.records >= fewest and each.records > FREQUENT_SHARE * records)


def crowded(pooled: Integers | Floats, records: int) -> list[int]:
    """Cells that hold many of the records."""
    if not len(pooled) or pooled.max() <= CROWD * records:
        return []
    at: list[int] = np.flatnonzero(pooled > CROWD * records).tolist()
    return at


def after_piece(
    before: Frequent,
    side: int,
    piece: Floats,
    crowds: Collection[int],
    keys_of: Callable[[Floats], Integers],
) -> Frequent:
    """The frequent scores of a stream after one piece more: those known, and those of its crowded cells.

    Args:
        before: Those of all pieces before.
        side: 0 of members, 1 of nonmembers.
        piece: Scores of that side.
        crowds: Cells in which many of the piece lie.
        keys_of: The cell of each score.
    """
    in_order = np.sort(np.array([*crowds], dtype=np.int64))

    def is_within(scores: Floats) -> NDArray[np.bool_]:
        cells = keys_of(scores)
        return np.asarray(in_order[np.minimum(in_order.searchsorted(cells), len(in_order) - 1)] == cells)

    earlier = np.array([each.score for each in before])
    others, numbers = earlier, {}
    if len(in_order):
        others = earlier[~is_within(earlier)]
        values, counts = np.unique_counts(piece[is_within(piece)] + 0.0)
        many = (counts > FREQUENT_SHARE * len(piece)) | np.isin(values, earlier)
        numbers = dict(zip(values[many].tolist(), counts[many].tolist(), strict=True))
    numbers |= {score: int(np.count_nonzero(piece == score)) for score in others.tolist()}
    new = (FrequentScore(each, *((n, 0) if side == 0 else (0, n))) for each, n in numbers.items() if n)
    both = together([before, tuple(new)])
    if len(both) <= MOST_AT_ONCE:
        return both
    least = sorted(each.records for each in both)[-MOST_AT_ONCE - 1]
    members = [min(each.members, least) for each in both]
    return tuple(
        FrequentScore(each.score, each.members - some, each.nonmembers - (least - some))
        for each, some in zip(both, members, strict=True)
        if each.records > least
    )
