"""A score that a database can compute: boxes from a pilot, by comparisons alone, and the share of members in each.

A comparison of a number with a cut has one answer everywhere, so that the box of a row is the same in every engine.
Sums and products are rounded as each engine likes, so that a pilot could not be taken out of counts of such a score.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.learned import BoxPosterior, Learner, boxes
from estimators.arrays import Floats, Integers
from estimators.sample.cells import Boxes, Intervals
from estimators.sample.counts import Counts
from estimators.sample.learned import LearnedCounts

DEPTH = 7
"""Comparisons for each row at most: 128 boxes."""

LEAST = 500
"""Records of a pilot in a box at least; of a small pilot, a fiftieth of it."""

NEVER = float(np.finfo(np.float64).max)
"""A cut that no row is above: the box is not divided there."""


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
    """One small tree: boxes that are cut where it tells most, which a database can evaluate.

    Returns:
        a ``Learner`` for ``LearnedTarget(learners=...)``.

    Example:
        >>> import numpy as np
        >>> from estimators import LearnedTarget, Scores, advantage
        >>> from estimators.adversary.tree import tree
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0, 3, (400, 2)), rng.normal(0, 1, (400, 2)))  # another spread
        >>> result = advantage(scores, target=LearnedTarget(learners=(tree(),)))
        >>> result.lower > 0.1
        True
    """
    return Learner("tree", TreePosterior)


IN_ENGINES = (boxes(), tree())
"""Learners whose score a database can compute."""


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
    """A score of vectors that is one number for each box.

    Attributes:
        boxes: Where the cuts are.
        share: The score of each box: its share of members in the pilot.
        learner: Which learner made it.
        n_taught: Records of both sides that were learned from.
    """

    boxes: Boxes
    share: Floats
    learner: str
    n_taught: int

    def counts(self, members: Integers, nonmembers: Integers) -> LearnedCounts:
        """Counts of the score, of the records in each box.

        Args:
            members: Member records in each box, none of which was learned from.
            nonmembers: Nonmember records in each box.
        """
        values, at = np.unique(self.share, return_inverse=True)
        sides = [np.bincount(at, weights=side, minlength=len(values)) for side in (members, nonmembers)]
        cells = Intervals(values[1:])
        fine = Counts(sides[0].astype(np.int64), sides[1].astype(np.int64), cells)
        return LearnedCounts(fine.members, fine.nonmembers, cells, self.learner, self.n_taught, "first")
