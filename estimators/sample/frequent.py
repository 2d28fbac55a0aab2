"""Scores that many records have: what tells a cell of one value from a cell that hides what differs in it.

Where scores are counted, these are counted by value, too. A count may miss records, never name too many: a cell may
then be taken to hide something, and none is taken for a single value that is not.

And the same few scores of either side, whichever blocks they come in, for a look at equal ones and at their digits. A
score is kept, every time it comes, if a hash of its bits is small enough; how small hangs on all records together. So
both sides keep the same scores, and what is kept is the same in every order of the records and however they are split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import InvalidCounts
from estimators.python.dataclass import dataclass

RARE = 8
"""Records of one value that are few, whatever their share."""

CROWD = 1.0 / 256.0
"""Share of a side's records that are many for one cell of a grid: fewer are no severe exposure (0.5% of members)."""

CROWD_OF_PART = 0.1
"""The same of the records of a group, or of a run: there are fewer, and fewer cells."""

FREQUENT_SHARE = CROWD / 2
"""Share of a side's records from which on a score is kept: it may gain some when more records come."""


MOST_AT_ONCE = 1024
"""Scores that a stream keeps, twice as many as can be frequent in the end. Of more, each loses as many records as takes
the others away (Misra and Gries 1982): of n records one with more than n/1024 is not lost, and misses no more.
"""

MOST_RECORDS = 2**62


class FrequentScore(NamedTuple):
    """A score that many records have, and the member and nonmember records that are known to have exactly it."""

    score: float
    members: int
    nonmembers: int


@dataclass(frozen=True, eq=False, slots=True)
class Frequent:
    """Scores that many records have, in order, each once.

    Attributes:
        scores: The scores.
        sides: Member and nonmember records that are known to have exactly each.
    """

    scores: Floats
    sides: Integers

    @classmethod
    def of(cls, each: Iterable[tuple[float, int, int]]) -> Frequent:
        """Those of so many members and nonmembers each, which may stand there several times."""
        columns = [[*column] for column in zip(*each, strict=True)]
        if not columns:
            return NONE
        if sum(columns[1]) + sum(columns[2]) >= MOST_RECORDS:
            raise InvalidCounts("frequent scores: more records than can be counted", field="counts")
        return _summed(np.array(columns[0], np.float64), np.array(columns[1:], np.int64))

    @classmethod
    def of_values(cls, values: Floats, members: Integers, nonmembers: Integers) -> Frequent:
        """Those of records that are counted by value.

        Args:
            values: The values, increasing.
            members: Member records of each.
            nonmembers: Nonmember records of each.
        """
        sides = np.stack([members, nonmembers])
        totals = sides.sum(axis=1)
        return _summed(values, sides, FREQUENT_SHARE * int(totals.min())).enough(totals)

    @classmethod
    def together(cls, several: Iterable[Frequent]) -> Frequent:
        """Those of several samples, as those of all their records.

        Example:
            >>> from estimators.sample.frequent import Frequent
            >>> list(Frequent.together([Frequent.of([(1.0, 5, 0)]), Frequent.of([(0.0, 2, 2), (1.0, 0, 4)])]))[1]
            FrequentScore(score=1.0, members=5, nonmembers=4)
        """
        full = [each for each in several if each]
        if len(full) < 2:
            return full[0] if full else NONE
        return _summed(
            np.concatenate([each.scores for each in full]), np.concatenate([each.sides for each in full], axis=1)
        )

    def __len__(self) -> int:
        """How many there are."""
        return len(self.scores)

    def __iter__(self) -> Iterator[FrequentScore]:
        """One after the other."""
        return map(FrequentScore, self.scores.tolist(), *self.sides.tolist())

    def only(self, some: NDArray[np.bool_]) -> Frequent:
        """Some of them."""
        return self if some.all() else Frequent(self.scores[some], self.sides[:, some])

    def enough(self, totals: Integers) -> Frequent:
        """Those that enough of either side have, of so many member and nonmember records."""
        many: NDArray[np.bool_] = self.sides > FREQUENT_SHARE * totals[:, np.newaxis]
        return self.only(np.asarray(many.any(axis=0)))

    def after(self, side: int, piece: Floats) -> Frequent:
        """Those of a stream after one piece more of one side: those before, and those that are frequent in the piece.

        Args:
            side: 0 of members, 1 of nonmembers.
            piece: Scores of that side.
        """
        values, counts = np.unique_counts(piece + 0.0)
        many = counts > FREQUENT_SHARE * len(piece)
        if len(self):
            at = np.minimum(values.searchsorted(self.scores), len(values) - 1)
            many[at[values[at] == self.scores]] = True
        sides = np.zeros((2, int(many.sum())), np.int64)
        sides[side] = counts[many]
        both = Frequent.together([self, Frequent(values[many], sides)])
        if len(both) <= MOST_AT_ONCE:
            return both
        records = both.sides.sum(axis=0)
        least = np.sort(records)[-MOST_AT_ONCE - 1]
        members = np.minimum(both.sides[0], least)
        return Frequent(both.scores, both.sides - [members, least - members]).only(records > least)


NONE = Frequent(np.zeros(0), np.zeros((2, 0), np.int64))


def _summed(scores: Floats, sides: Integers, more_than: float = 0.0) -> Frequent:
    """Each score once, in order, of those that stand there for more than so many records."""
    some = np.flatnonzero(sides.sum(axis=0) > more_than)
    distinct, at = np.unique(scores[some] + 0.0, return_inverse=True)
    totals = np.zeros((2, len(distinct)), np.int64)
    for total, column in zip(totals, sides[:, some], strict=True):
        np.add.at(total, at, column)
    return Frequent(distinct, totals)


def from_dicts(value: Any) -> Frequent:
    """Those that were written down as mappings."""
    several = []
    for each in value:
        sides = each["members"], each["nonmembers"]
        whole = len(each) == 3 and all(type(side) is int and 0 <= side < MOST_RECORDS for side in sides)
        if not whole or not np.isfinite(each["score"]):
            raise InvalidCounts(
                "cells of kind 'grid': frequent needs a score and whole numbers of members and nonmembers",
                field="cells",
            )
        several.append((float(each["score"]), *sides))
    return Frequent.of(several)


def is_crowded(sides: Integers, unlike: Integers | None = None, share: float = CROWD) -> NDArray[np.bool_]:
    """Whether each cell has records of both sides, and of either one many that may differ.

    Args:
        sides: Member and nonmember records in each cell, of each group where there are several.
        unlike: Those that are not known to have one score, likewise. None: all of them.
        share: How many of a side are many.
    """
    many = np.maximum(RARE, share * sides.sum(axis=-1, keepdims=True))
    return np.asarray(((sides if unlike is None else unlike) > many).any(axis=0) & (sides > 0).all(axis=0))


def crowded(records: Integers | Floats, total: int) -> list[int]:
    """Cells that hold many of all records."""
    if not len(records) or records.max() <= CROWD * total:
        return []
    at: list[int] = np.flatnonzero(records > CROWD * total).tolist()
    return at


MOST = 2**12
"""Records that are kept at most."""

PIECE = 2**18
"""Scores whose hashes are computed at a time."""

HASH = np.uint64(0x9E3779B97F4A7C15)
"""A score's bits times this is its hash: each score has another one, and that of 0 is 0."""


@dataclass(frozen=True, eq=False, slots=True)
class ScoreSample:
    """The records whose hash begins with so many zeros, the fewest with which they are not too many; none that is 0.

    Attributes:
        zeros: Bits that are 0 at the start of each hash: one in 2**zeros scores is kept.
        sides: Scores of the members and of the nonmembers that are kept, in no order.
    """

    zeros: int
    sides: tuple[Floats, Floats]

    @classmethod
    def of(cls, members: Floats, nonmembers: Floats) -> ScoreSample:
        """Those of scores at hand."""
        sample, scratch = NO_SCORES, np.empty(PIECE)
        for side, scores in enumerate((members, nonmembers)):
            for at in range(0, len(scores), PIECE):
                sample = sample.after(side, scores[at : at + PIECE], scratch)
        return sample

    @classmethod
    def of_values(cls, values: Floats, columns: Sequence[Integers]) -> ScoreSample:
        """Those of so many member and nonmember records of each value."""
        members, nonmembers = (np.repeat(values, np.minimum(column, MOST + 1)) for column in columns)
        return cls.of(members, nonmembers)

    @classmethod
    def together(cls, several: Iterable[ScoreSample]) -> ScoreSample:
        """Those of several samples, as those of all their records."""
        every = [*several]
        zeros = max((each.zeros for each in every), default=0)
        members, nonmembers = (np.concatenate([np.zeros(0), *(each.sides[side] for each in every)]) for side in (0, 1))
        return _at_most(zeros, (_of_small_hash(members, zeros), _of_small_hash(nonmembers, zeros)))

    def after(self, side: int, piece: Floats, scratch: Floats) -> ScoreSample:
        """With a piece of one side; ``scratch`` has room for as many numbers."""
        new = _of_small_hash(piece, self.zeros, scratch[: len(piece)])
        if not len(new):
            return self
        both = np.concatenate([self.sides[side], new])
        return _at_most(self.zeros, (both, self.sides[1]) if side == 0 else (self.sides[0], both))

    def in_order(self) -> tuple[Floats, Floats]:
        """Both sides by their hashes: in an order that says nothing of them, the same whatever came first."""
        members, nonmembers = (side[_hashes(side).argsort()] for side in self.sides)
        return members, nonmembers

    def table(self) -> tuple[Integers, Integers]:
        """How many members, and nonmembers, have each of the scores, in the order of these."""
        values, at = np.unique(np.concatenate(self.sides), return_inverse=True)
        own = np.split(at, [len(self.sides[0])])
        return np.bincount(own[0], minlength=len(values)), np.bincount(own[1], minlength=len(values))


NO_SCORES = ScoreSample(0, (np.zeros(0), np.zeros(0)))


def _hashes(scores: Floats, scratch: Floats | None = None) -> NDArray[np.uint64]:
    return np.multiply(scores.view(np.uint64), HASH, out=None if scratch is None else scratch.view(np.uint64))


def _smaller(hashes: NDArray[np.uint64], zeros: int) -> NDArray[np.intp]:
    """Places of those that begin with so many zeros, at least one."""
    return np.flatnonzero(hashes < np.uint64(1 << (64 - zeros)))


def _of_small_hash(scores: Floats, zeros: int, scratch: Floats | None = None) -> Floats:
    """Those that are kept where hashes begin with so many zeros; not 0, which many records may have."""
    if zeros:
        scores = scores[_smaller(_hashes(scores, scratch), zeros)]
    others: Floats = scores[scores != 0.0]
    return others


def _at_most(zeros: int, sides: tuple[Floats, Floats]) -> ScoreSample:
    """The same, with more zeros if there are too many."""
    many = len(sides[0]) + len(sides[1])
    if many > MOST:
        hashes = _hashes(np.concatenate(sides))
        likely = _smaller(hashes, max(1, zeros + (many // MOST).bit_length() - 2))
        hashes = hashes[likely] if len(likely) > MOST else hashes
        zeros = 65 - int(np.partition(hashes, MOST)[MOST]).bit_length()
        sides = (_of_small_hash(sides[0], zeros), _of_small_hash(sides[1], zeros))
    return ScoreSample(zeros, sides)
