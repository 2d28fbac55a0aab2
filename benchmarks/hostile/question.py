"""What a tool is asked, and what it may say: an adapter is a module that turns one into the other."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.generic]
CellOf = Callable[[Column], NDArray[np.int64]]


class Covers(Enum):
    """The attackers that an upper end is meant for."""

    ANY = "any attacker"
    TWO_CHANGES = "at most two changes of guess along the score, or the tool's own cells"
    ONE_CUT = "one threshold"
    MEMBERS_ABOVE = "one threshold, members above it"
    OWN_SCORE = "a score that the tool learned"


@dataclass(frozen=True)
class Question:
    """Scores of both sides, one number, one text or one row of numbers each; the confidence is 95%.

    ``person`` has one or two columns that say whose a row is, members' rows first; it is empty if rows are independent.
    """

    members: Column
    nonmembers: Column
    prior: float
    person: tuple[Column, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.members.ndim == 1 and self.members.dtype.kind == "f"


@dataclass(frozen=True)
class Statement:
    """What a tool says; None where it says nothing.

    ``leaks`` is whether the tool says that something leaks, in its own way: of tools with a lower end, that it is above
    what guessing the likelier side has. ``epsilon`` is a lower bound of the larger log ratio of both laws. ``cell_of``
    sorts scores into the cells that the upper end is also meant for.
    """

    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    covers: Covers | None = None
    epsilon: float | None = None
    leaks: bool | None = None
    cell_of: CellOf | None = None


class NotAsked(Exception):
    """The tool has no answer to such a question, and says so."""
