"""Which end of the scores speaks for membership."""

from enum import Enum
from typing import Self

from estimators.errors import UnknownName

__all__ = ["Direction", "direction_of"]


class Direction(Enum):
    """Which end of the scores speaks for membership; not knowing costs half the level.

    Attributes:
        HIGH: ``"high"``: a high score means member.
        LOW: ``"low"``: a low score means member.
        EITHER: ``"either"``: it is not known beforehand.
    """

    HIGH = "high"
    LOW = "low"
    EITHER = "either"

    @property
    def opposite(self) -> Self:
        """Where nonmembers stand out, if members do so here."""
        return type(self)({"high": "low", "low": "high"}.get(self.value, self.value))


def direction_of(direction: Direction | str) -> Direction:
    """A direction by its name."""
    try:
        return Direction(direction)
    except ValueError:
        raise UnknownName.among("direction", direction, [d.value for d in Direction]) from None
