"""The same few scores of either side, whichever blocks they come in, for a look at equal ones and at their digits.

A score is kept, every time it comes, if a hash of its bits is small enough; how small hangs on all records together. So
both sides keep the same scores, and what is kept is the same in every order of the records and however they are split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass

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
        sample, scratch = NONE, np.empty(PIECE)
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


NONE = ScoreSample(0, (np.zeros(0), np.zeros(0)))


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
