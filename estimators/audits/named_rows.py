"""Rows whose identifier is released: how many stand beside it whole, and how many would beside others.

Rows may be sorted, or follow from their numbers in turns: how many would is looked up near, and at any distance.
"""

from collections.abc import Sequence

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.audits.queries.rows import Rows
from estimators.python.dataclass import dataclass

NEXT = 16
"""Distances, by the order of identifiers, at which released rows are looked at beside one's own: rows may be sorted, or
follow from their numbers in turns."""

MOST_PAIRS = 2 * 10**7  # pairs of a training and a released row in which turns of any length are looked for
LIKELIEST = 5  # distances, and lengths of turns, that are then looked at in all rows
CLEAR = 5.0  # units of chance beyond which more rows than usual are alike at such a distance


@dataclass(frozen=True, eq=False, slots=True)
class NamedRows:
    """Rows whose identifier is released, and the released rows in the order of their identifiers.

    Attributes:
        own: The identifier of each row.
        whole: Its record.
        identifiers: Those of the released rows, growing.
        records: Their records.
    """

    own: Integers
    whole: Integers
    identifiers: Integers
    records: Integers

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.own)

    @property
    def place(self) -> Integers:
        """Where the released row of each one's identifier stands."""
        return self.identifiers.searchsorted(self.own)

    @property
    def equal(self) -> int:
        """How many stand beside their own identifier in every column that is compared."""
        return int((self.records[self.place] == self.whole).sum())

    def beside_near(self) -> tuple[int, int]:
        """How many would beside others, of how many; at the distance, one for all, at which most would."""
        most, place = (0, 0), self.place
        for distance in range(1, NEXT + 1):
            there = self._beside(place - distance, place + distance)
            most = max(most, there, key=lambda each: each[0] / max(each[1], 1))
            most = most if most[1] else there
        return most

    def beside_in_turns(self) -> tuple[int, int]:
        """The same at any distance of the numbers, and at any multiple of it, as rows that come in turns would.

        Which distances are the likeliest is looked up in some of the rows, how many would stand there in all.
        """
        first = self.identifiers[0]
        length = int(self.identifiers[-1] - first) + 1
        by_turn, by_distance = self._likeliest(length)
        most = (0, 1)
        for turn in by_turn:
            most = max(most, self._within(turn), key=lambda each: each[0] / each[1])
        for distance in by_distance:
            goals = [self.own - distance, self.own + distance]
            nearby, beside = self._beside(*(self.identifiers.searchsorted(goal) for goal in goals), goals=goals)
            most = max(most, (nearby, max(beside, 1)), key=lambda each: each[0] / each[1])
        return most

    def _beside(self, *places: Integers, goals: Sequence[Integers] = ()) -> tuple[int, int]:
        """Of rows with a released row of another identifier, or of that of the goal, there: how many are equal."""
        nearby, beside = 0, 0
        for number, there in enumerate(places):
            inside = (there >= 0) & (there < len(self.identifiers))
            others = self.identifiers[there[inside]]
            inside[inside] = others == goals[number][inside] if goals else others != self.own[inside]
            nearby += int((self.records[there[inside]] == self.whole[inside]).sum())
            beside += int(inside.sum())
        return nearby, beside

    def _likeliest(self, length: int) -> tuple[list[int], list[int]]:
        """Lengths of turns, and single distances, at which some of the rows are equal to others most clearly."""
        step = max(1, self.rows * len(self.identifiers) // MOST_PAIRS)
        alike, every = np.zeros((2, length))
        for number, record in zip(self.own[::step].tolist(), self.whole[::step].tolist(), strict=True):
            away = np.abs(self.identifiers - number)
            every += np.bincount(away, minlength=length)
            alike += np.bincount(away[self.records == record], minlength=length)
        turns = range(1, length)
        equal, pairs = (np.array([0.0, *(side[turn::turn].sum() for turn in turns)]) for side in (alike, every))
        few = self.rows / step / 8.0
        return _clearest(equal, pairs, few), _clearest(alike, every, few)

    def _within(self, turn: int) -> tuple[int, int]:
        """How many rows would stand beside a number of the same place in turns of this length, of all rows."""
        base = int(max(self.whole.max(), self.records.max())) + 1
        others = np.sort(self.identifiers % turn * base + self.records)
        places = np.bincount(self.identifiers % turn, minlength=turn)
        own = self.own % turn
        equal = others.searchsorted(own * base + self.whole, "right") - others.searchsorted(own * base + self.whole)
        itself = self.records[self.place] == self.whole
        shares = (equal - itself) / np.maximum(places[own] - 1, 1)
        return int(np.ceil(shares.mean() * self.rows)), self.rows


def _clearest(alike: Floats, every: Floats, few: float) -> list[int]:
    """Where more are alike than chance makes, first where it is clearest; not where few pairs were seen, nor at 0."""
    by_chance = every * alike[1:].sum() / max(every[1:].sum(), 1.0)
    beyond = (alike - by_chance) / np.sqrt(by_chance + 1.0)
    beyond[every < few] = beyond[:1] = 0.0
    return [place for place in np.argsort(-beyond, kind="stable")[:LIKELIEST].tolist() if beyond[place] > CLEAR]


def rows_by_identifier(ones: Rows, released: Rows, at: int) -> NamedRows:
    """Rows of one side by the identifier of this place."""
    with_number = np.flatnonzero(released.identifiers[:, at] >= 0)
    order = with_number[np.argsort(released.identifiers[with_number, at], kind="stable")]
    identifiers, records = released.identifiers[order, at], released.records[order]
    rows = np.flatnonzero(np.isin(ones.identifiers[:, at], identifiers))
    return NamedRows(ones.identifiers[rows, at], ones.records[rows], identifiers, records)
