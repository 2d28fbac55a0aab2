"""The lower end of one score: rules judged on unseen records, the best cut of all, and rules with many changes.

Each holds by itself, so the largest holds at the sum of their levels. How the level is shared is fixed by the numbers
of records alone: of few the best cut of all says most, of many it says nothing that the others do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from estimators.adversary.best_cut import BestCut, best_cut
from estimators.adversary.holdout import HeldOut, Validation, validate, validate_anywhere
from estimators.adversary.many_changes import many_changes
from estimators.sample.counts import Counts

OF_CUT = 0.5
"""The best cut's share of the level, """
FEW_RECORDS = 200
"""up to so many records of both sides; beyond, it falls as their number to the power of 0.6."""

OF_MANY_CHANGES = 0.12
"""The share of rules with many changes, whether they are asked or not, """
FEWEST_RECORDS = 200
"""from so many records on; of fewer they could not show anything."""


@dataclass(frozen=True, eq=False, slots=True)
class LowerEnd:
    """What the adversaries achieved, before any level is chosen.

    Attributes:
        unseen: What rules achieved on records that they had not seen.
        cut: The best cut of all records; None where it was not sought.
        many: What rules with many changes achieved; None where there was no sign of them.
        of_cut: The best cut's share of the level.
        of_many: The share of rules with many changes.
        changes: So many changes of guess gain more than chance explains; None if none do.
    """

    unseen: Validation
    cut: BestCut | None = None
    many: Validation | None = None
    of_cut: float = 0.0
    of_many: float = 0.0
    changes: int | None = None

    def at(self, alpha: float) -> HeldOut:
        """The largest of all limits, at their shares of the level; the estimate is that of who sets it."""
        best = self.of_unseen(alpha)
        if self.cut is not None:
            lower = self.cut.lower(alpha * self.of_cut)
            if lower > best.lower:
                best = HeldOut(lower, max(best.value, lower), best.leader, False)
        return best

    def of_unseen(self, alpha: float) -> HeldOut:
        """The same without the best cut, whose limit takes longest: never above it."""
        best = self.unseen.at(alpha * (1.0 - self.of_cut - self.of_many))
        return best if self.many is None else max(best, self.many.at(alpha * self.of_many), key=_lower)


def _lower(best: HeldOut) -> float:
    return best.lower


def on_cells(counts: Counts, prior: float, seed: int, orders: int) -> LowerEnd:
    """Of rules that read these cells alone."""
    cut, of_cut = _cut(counts, prior)
    return LowerEnd(validate(counts, prior, seed, orders), cut, None, of_cut)


def anywhere(fine: Counts, prior: float, cells: int, seed: int, orders: int) -> LowerEnd:
    """Of rules that read an ordered score at any place.

    Args:
        fine: Counts on the finest cells.
        prior: Probability that a record is a member before its score is seen.
        cells: How many cells rules see that decide cell by cell.
        seed: Whole number from which orders of the records are drawn.
        orders: How many.
    """
    cut, of_cut = _cut(fine, prior)
    unseen = validate_anywhere(fine, prior, cells, seed, orders)
    if fine.n_records < FEWEST_RECORDS:
        return LowerEnd(unseen, cut, None, of_cut)
    many, changes = many_changes(fine, prior, seed, orders)
    return LowerEnd(unseen, cut, many, of_cut, OF_MANY_CHANGES, changes)


def _cut(counts: Counts, prior: float) -> tuple[BestCut | None, float]:
    """The best cut, and its share of the level."""
    cut = best_cut(counts, prior)
    if cut is None:
        return None, 0.0
    return cut, OF_CUT * min(1.0, (FEW_RECORDS / counts.n_records) ** 0.6)
