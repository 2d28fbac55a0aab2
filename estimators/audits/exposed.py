"""Members by name: lists of those who are exposed, and how many of a list may be false, at every cut at once.

A member is *exposed* here whose score is not one that a nonmember would have. If all others score as nonmembers do,
then each order of them and the nonmembers is equally likely, whatever the law, and the nonmembers say how many of them
may stand above any cut: no prior, no share of members, no smoothness is taken for granted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Booleans, Floats, Integers
from estimators.errors import DimensionMismatch, InputError, require_open_unit
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.limits.every_cut import alike_at_most
from estimators.privacy.direction import Direction, direction_of
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.counting import finest
from estimators.sample.scores import Scores
from estimators.statement import Caution, Guarantee, one_end, percent

__all__ = ["ExposedMembers", "exposed_members"]

FEW = 20  # nonmembers below which a list is hardly ever said to hold anybody
OF_DRIFT = 0.02  # the part of the error with which each of two limits is wrong that speak of drift

COVERS = "how many members of each list score as a nonmember would, all lists at once"
ASSUMES = (
    "members who are not exposed score as these nonmembers do: of the same kind and date, and not used to train the "
    "model or the score; records are independent of each other"
)


@dataclass(frozen=True, eq=False, slots=True)
class ExposedMembers:
    """Lists of members, the most exposed first; ``exposed_members`` makes it.

    Attributes:
        order: Places of the members, the most exposed first; members of one score in any order.
        scores: The score of each list's last member, from the shortest list to that of all.
        records: How many members each list has.
        most_false: The most of them that score as a nonmember would, all lists at once.
        max_false_share: The largest share of false members in the list that is named.
        is_low: Whether low scores speak for membership.
        confidence: Twice its error is 1 less this.
        n_nonmembers: How many nonmembers they were held against.
        guarantee: What is covered, and what it takes for granted.
        cautions: What to know before using it.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.audits.exposed import exposed_members
        >>> rng = np.random.default_rng(0)
        >>> members = np.append(rng.normal(size=950), rng.normal(8, 1, 50))  # fifty were memorised
        >>> lists = exposed_members(Scores.of(members, rng.normal(size=5000)))
        >>> lists.at_least > 35, bool((lists.listed[:40] >= 950).all())
        (True, True)
    """

    order: NDArray[np.intp]
    scores: Floats
    records: Integers
    most_false: Integers
    max_false_share: float
    is_low: bool
    confidence: float
    n_nonmembers: int
    guarantee: Guarantee
    cautions: tuple[Caution, ...] = field(default=())

    @property
    def at_least(self) -> int:
        """So many of the members are exposed, at least."""
        return int((self.records - self.most_false).max())

    def longest(self, false_share: float) -> int | None:
        """The place of the longest list of which at most this share is false; None if there is none.

        Args:
            false_share: The share of its members that score as a nonmember would.
        """
        places = np.flatnonzero(self.most_false <= false_share * self.records)
        return int(places[-1]) if len(places) else None

    @property
    def listed(self) -> NDArray[np.intp]:
        """Places of the members in the longest list with at most the asked share of false ones."""
        place = self.longest(self.max_false_share)
        return self.order[: 0 if place is None else int(self.records[place])]

    @property
    def false_share(self) -> Floats:
        """For each member, as they came: the least false share, at most, of any list that names it."""
        share = np.minimum.accumulate((self.most_false / self.records)[::-1])[::-1]
        result = np.empty(len(self.order))
        result[self.order] = np.repeat(share, np.diff(self.records, prepend=0))
        return result

    @property
    def is_listed(self) -> Booleans:
        """For each member, as they came, whether the list names it."""
        result = np.zeros(len(self.order), dtype=np.bool_)
        result[self.listed] = True
        return result

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        sure, total = one_end(self.confidence), len(self.order)
        if not self.at_least:
            return f"With {sure} none of the {total:,} members is shown to be exposed; that is no proof that none is."
        words = f"With {sure} at least {self.at_least:,} of the {total:,} members are exposed"
        place = self.longest(self.max_false_share)
        if place is None:
            return f"{words}, but no list of them has at most {percent(self.max_false_share)} false ones."
        number, most = int(self.records[place]), int(self.most_false[place])
        return f"{words}; of the {number:,} that are listed at most {most:,} score as a nonmember would."


def exposed_members(
    data: Scores, max_false_share: float = 0.1, confidence: float = 0.95, direction: Direction | str = Direction.EITHER
) -> ExposedMembers:
    """Lists of the members who are exposed, each with the most of them that may be false.

    Args:
        data: Scores of members, and of nonmembers of the same kind and date that nothing was trained on.
        max_false_share: Largest share of members in the list that score as a nonmember would.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. What is said of all lists
            is wrong with half of the rest at most.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``; not knowing
            costs half the level.

    Raises:
        DimensionMismatch: scores that are vectors.
        InputError: names, which have no order.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.audits.exposed import exposed_members
        >>> members, nonmembers = np.random.default_rng(0).normal(size=(2, 500))
        >>> exposed_members(Scores.of(members, nonmembers)).at_least
        0
    """
    if data.dimension > 1:
        raise DimensionMismatch("scores: got vectors, need one number a record", field="members")
    if data.members.dtype.kind not in "biuf":
        raise InputError("scores: got names, which have no order; need numbers", field="members")
    share = require_open_unit("max_false_share", max_false_share)
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    ends = direction_of(direction)
    sides = [each for each in (Direction.HIGH, Direction.LOW) if ends in (each, Direction.EITHER)]
    lists = [_lists(data, share, alpha / len(sides), each is Direction.LOW, confidence) for each in sides]
    best, cautions = max(lists, key=lambda each: each.at_least), [*finest(data).doubts]
    if data.n_nonmembers < FEW:
        few = f"only {data.n_nonmembers} nonmembers to hold members against"
        message = f"{few}: hardly any list can be shown to be right"
        cautions.append(Caution("few_nonmembers", message))
    if best.at_least and _few_members_far_from(best, data):
        message = (
            "fewer than half as many members as nonmembers score as the half of nonmembers does that is farthest from "
            "the exposed: either most members are exposed, or members and nonmembers differ in kind or date, and these "
            "scores cannot tell which; names are right only in the first case"
        )
        cautions.append(Caution("exposed_or_drift", message))
    return replace(best, cautions=tuple(cautions))


def _few_members_far_from(lists: ExposedMembers, data: Scores) -> bool:
    """Whether members are shown to be at most half as frequent as nonmembers up to the nonmembers' median."""
    toward = -1.0 if lists.is_low else 1.0
    members, nonmembers = (toward * np.asarray(each, dtype=np.float64) for each in (data.members, data.nonmembers))
    rank, level = (len(nonmembers) + 1) // 2, (1.0 - lists.confidence) * OF_DRIFT
    alike = int((members <= np.partition(nonmembers, rank - 1)[rank - 1]).sum())
    return upper_limit(alike, len(members), level) < lower_limit(rank, len(nonmembers), level) / 2.0


def _lists(data: Scores, share: float, alpha: float, is_low: bool, confidence: float) -> ExposedMembers:
    """The lists from one end of the scores."""
    toward = -1.0 if is_low else 1.0
    members, nonmembers = (toward * np.asarray(each, dtype=np.float64) for each in (data.members, data.nonmembers))
    order = np.argsort(-members, kind="stable")
    cuts, first = np.unique(-members[order], return_index=True)
    records = np.append(first[1:], len(members))
    others = len(nonmembers) - np.searchsorted(np.sort(nonmembers), -cuts, "left")
    every = np.append(others, len(nonmembers))  # the cut below all
    most = alike_at_most(np.append(records, len(members)), every, alpha)[:-1]
    guarantee = Guarantee(COVERS, ASSUMES, True)
    return ExposedMembers(order, -toward * cuts, records, most, share, is_low, confidence, len(nonmembers), guarantee)
