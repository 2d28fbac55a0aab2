"""A pilot: rows of both sides, drawn from more than memory holds, that choose a rule for all the others.

The rows come block by block. Each draws a number, and those with the least are the pilot of their side: a sample
without replacement, whatever the order of the rows. Their places are known, so that a second pass leaves them out.
Given the pilot, the rule is fixed and the other records are independent draws that it has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.learned import (
    DEFAULT_LEARNERS,
    MOST_TAUGHT,
    TRAINING_SHARE,
    BoxPosterior,
    LearnedRule,
    Learner,
    boxes,
    teach,
)
from estimators.arrays import Floats, Integers
from estimators.errors import TooFewRecords
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Boxes, Intervals
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts
from estimators.sample.doubts import of_rows
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution

# A score that a database can compute: boxes from a pilot, by comparisons alone, and the share of members in each.
#
# A comparison of a number with a cut has one answer everywhere, so that the box of a row is the same in every engine.
# Sums and products are rounded as each engine likes, so that a pilot could not be taken out of counts of such a
# score.

DEPTH = 7  # comparisons for each row at most: 128 boxes
LEAST = 500  # records of a pilot in a box at least; of a small pilot, a fiftieth of it
NEVER = float(np.finfo(np.float64).max)  # a cut that no row is above: the box is not divided there


class TreePosterior(BoxPosterior):
    """The share of members in the boxes that tell members from nonmembers best, one cut after another."""

    def __init__(self, seed: int) -> None:
        from sklearn.tree import DecisionTreeClassifier

        self._model = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=0.02, random_state=seed)

    def cut(self, rows: Floats, member: NDArray[np.int64]) -> Boxes:
        """Boxes that are cut where it tells most."""
        self._model.set_params(min_samples_leaf=max(1, min(LEAST, len(rows) // 50)))
        return complete(self._model.fit(rows, member).tree_)


def tree() -> Learner:
    """One small tree: boxes that are cut where it tells most, which a database can evaluate."""
    return Learner("tree", TreePosterior)


IN_ENGINES = (boxes(), tree())  # learners whose score a database can compute


def complete(grown: Any) -> Boxes:
    """A tree of scikit-learn as one in which every path has ``DEPTH`` cuts, some of them beyond any number."""
    axes, cuts = np.zeros(2**DEPTH - 1, dtype=np.int64), np.full(2**DEPTH - 1, NEVER)
    places = [(0, 0)]
    while places:
        node, place = places.pop()
        if grown.children_left[node] < 0:
            continue
        axes[place], cuts[place] = grown.feature[node], grown.threshold[node]
        places += [(grown.children_left[node], 2 * place + 1), (grown.children_right[node], 2 * place + 2)]
    return Boxes(axes, cuts)


def between_rows(cut: Boxes, rows: Floats) -> Boxes:
    """The same boxes of these rows, with every cut halfway to the next row above it.

    No row lies on a cut then, whose last digit databases may read otherwise.
    """
    cuts = cut.cuts.copy()
    ordered = [np.unique(column) for column in rows.T]
    for node, (axis, at) in enumerate(zip(cut.axes, cut.cuts, strict=True)):
        values = ordered[axis]
        above = int(np.searchsorted(values, at, side="right"))
        if above < len(values):
            cuts[node] = at + (values[above] - at) / 2.0
    return Boxes(cut.axes, cuts)


@dataclass(frozen=True, eq=False, slots=True)
class BoxRule:
    """A score of vectors that is one number for each box: its share of members in the pilot."""

    boxes: Boxes
    share: Floats
    learner: str
    n_taught: int

    def counts(self, members: Integers, nonmembers: Integers) -> LearnedCounts:
        """Counts of the score, of the records in each box, none of which was learned from."""
        values, at = np.unique(self.share, return_inverse=True)
        sides = [np.bincount(at, weights=side, minlength=len(values)) for side in (members, nonmembers)]
        cells = Intervals(values[1:])
        fine = Counts(sides[0].astype(np.int64), sides[1].astype(np.int64), cells)
        return LearnedCounts(fine.members, fine.nonmembers, cells, self.learner, self.n_taught, "first")


SIDES = ("member", "nonmember")

MOST_BYTES = 2**25  # bytes of a side's pilot: of wide vectors there are fewer rows
LEAST_TAUGHT = 2 * MIN_RECORDS  # records a side that teach at least: half fit, half choose


class PilotDraw:
    """Rows of each side drawn at random while they come; ``pilot`` is what was drawn.

    Args:
        seed: Whole number from which everything random is drawn; the same rows in the same order give the same pilot,
            however they are cut into blocks.
        most: Rows of each side at most.
    """

    def __init__(self, seed: int = 0, most: int = MOST_TAUGHT) -> None:
        self._rng = np.random.default_rng((seed, 1))
        self._most = most
        self._sides = [_Reservoir(), _Reservoir()]
        self.rows = 0

    def add(self, rows: Floats, member: NDArray[np.bool_]) -> None:
        """Draw from one more block: a row for each record, and who is a member."""
        keys = self._rng.random(len(rows))
        most = max(LEAST_TAUGHT, min(self._most, MOST_BYTES // (8 * rows.shape[1])))
        for reservoir, inside in zip(self._sides, (member, ~member), strict=True):
            reservoir.add(rows, keys, inside, self.rows, most)
        self.rows += len(rows)

    def can_teach(self, rows: int) -> bool:
        """Whether so many rows of either side could teach by now, or as many as there may be."""
        return all(reservoir.taught >= min(rows, reservoir.most or rows) for reservoir in self._sides)

    def pilot(self) -> Pilot:
        """What was drawn, 40% of a side at most.

        Raises:
            TooFewRecords: a side has too few records to learn from some of them.
        """
        for reservoir, name in zip(self._sides, SIDES, strict=True):
            if reservoir.taught < LEAST_TAUGHT:
                raise too_few(name, reservoir.total)
        (members, at), (nonmembers, where) = (reservoir.drawn() for reservoir in self._sides)
        order = np.argsort(np.concatenate([at, where]))
        places, rows = np.concatenate([at, where])[order], np.concatenate([members, nonmembers])[order]
        return Pilot(members, nonmembers, places, rows)


def too_few(side: str, records: int) -> TooFewRecords:
    """What is wrong with a side that is too small for a pilot."""
    need = int(np.ceil(LEAST_TAUGHT / TRAINING_SHARE))
    message = f"got {records}, need at least {need} to learn a score of vectors from some of them"
    return TooFewRecords.of_side(side, message)


class _Reservoir:
    """The rows of one side with the least keys so far."""

    def __init__(self) -> None:
        self.total = 0
        self.most = 0
        self._limit = 1.0
        self._parts: list[tuple[Floats, Floats, Integers]] = []
        self._size = 0

    def add(self, rows: Floats, keys: Floats, inside: NDArray[np.bool_], start: int, most: int) -> None:
        """Keep those that may be among the ``most`` with the least keys."""
        self.total, self.most = self.total + int(inside.sum()), most
        at = np.flatnonzero(inside & (keys < self._limit))
        if not len(at):
            return
        self._parts.append((keys[at], rows[at], start + at))
        self._size += len(at)
        if self._size > 2 * most:
            self._shrink(most)

    @property
    def taught(self) -> int:
        """How many of them could teach."""
        return min(self.most, int(TRAINING_SHARE * self.total))

    def drawn(self) -> tuple[Floats, Integers]:
        """The rows, in random order, and their places."""
        self._shrink(self.taught)
        ((_, rows, at),) = self._parts
        return rows, at

    def _shrink(self, size: int) -> None:
        keys, rows, at = (np.concatenate(columns) for columns in zip(*self._parts, strict=True))
        order = np.argsort(keys)[:size]
        self._limit = float(keys[order[-1]])
        self._parts, self._size = [(keys[order], rows[order], at[order])], len(order)


@dataclass(frozen=True, eq=False, slots=True)
class Pilot:
    """Rows that a rule is chosen by, and their places among all rows.

    Attributes:
        members: Rows of member records, in random order.
        nonmembers: Rows of nonmember records, likewise.
        places: Which of all rows they are, ascending.
        rows: The rows in the order of these places.
    """

    members: Floats
    nonmembers: Floats
    places: Integers
    rows: Floats

    @classmethod
    def of(cls, members: Floats, nonmembers: Floats, seed: int) -> Pilot:
        """Rows of both sides that came from elsewhere, in random order; nobody asks for their places."""
        rng = np.random.default_rng((seed, 2))
        sides = rng.permutation(members), rng.permutation(nonmembers)
        return cls(*sides, np.zeros(0, dtype=np.int64), np.concatenate(sides))

    @property
    def size(self) -> int:
        """Rows of both sides."""
        return len(self.rows)

    @property
    def doubts(self) -> tuple[Caution, ...]:
        """What is odd about its rows, such as repeated ones."""
        return of_rows(self.members, self.nonmembers)

    def others(self, start: int, size: int) -> NDArray[np.bool_]:
        """Which of so many rows from ``start`` on are not of the pilot."""
        first, last = np.searchsorted(self.places, [start, start + size])
        left = np.ones(size, dtype=np.bool_)
        left[self.places[first:last] - start] = False
        return left

    def within(self, start: int, size: int) -> Floats:
        """Its rows among so many from ``start`` on."""
        first, last = np.searchsorted(self.places, [start, start + size])
        return self.rows[first:last]

    def teach(self, prior: float = 0.5, seed: int = 0, learners: Sequence[Learner] = DEFAULT_LEARNERS) -> LearnedRule:
        """The score that is learned from it."""
        return teach(self.members, self.nonmembers, prior, seed, learners)

    def teach_boxes(self, prior: float = 0.5, seed: int = 0, learners: Sequence[Learner] = IN_ENGINES) -> BoxRule:
        """The score that is learned from it of those that a database can compute."""
        rule = self.teach(prior, seed, learners)
        model = rule.classify.model
        return BoxRule(model.boxes, model.share, rule.learner, rule.n_taught)

    def boxes(self, size: int | None, records: int) -> Boxes:
        """Boxes of about equal mass; ``size`` None: the cube root of the number of records."""
        return Boxes.halving(self.rows, resolution(records) if size is None else size)
