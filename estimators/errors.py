"""Everything that can be wrong with a request, as one small typed tree.

MaceError
├── InputError              the records
│   ├── TooFewRecords
│   ├── NotFinite
│   ├── MixedTypes
│   ├── RaggedRows
│   └── DimensionMismatch
├── OptionError             the question asked of them
│   ├── OutOfRange
│   └── UnknownName
├── MetricError             a metric that is not one
└── CountsError             counts that cannot be used
    ├── InvalidCounts
    ├── IncompatibleCells
    └── TooManyCells

The text of each says who, what came and what was needed, and never repeats a submitted score.
``field`` names the argument at fault, ``index`` the first record at fault, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class MaceError(ValueError):
    """Base of every error this library raises on purpose."""

    def __init__(self, message: str, *, field: str | None = None, index: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.index = index


class InputError(MaceError):
    """The records cannot be used as they came."""


class TooFewRecords(InputError):
    """A side is empty or too small for any statement."""


class NotFinite(InputError):
    """A score is NaN or infinite."""


class MixedTypes(InputError):
    """Scores of one request are of more than one type."""


class RaggedRows(InputError):
    """Rows of a vector query differ in length."""


class DimensionMismatch(InputError):
    """Members and nonmembers have scores of different dimension."""


class OptionError(MaceError):
    """The question asked of the records cannot be answered."""


class OutOfRange(OptionError):
    """A number lies outside the range in which it means something."""


class UnknownName(OptionError):
    """A name is none of those known."""

    @classmethod
    def among(cls, what: str, got: object, known: Iterable[str]) -> UnknownName:
        """Say what is known and, when there is one, the nearest."""
        names = sorted(known)
        near = get_close_matches(str(got), names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return cls(f"{what}: unknown name, need one of {', '.join(names)}{hint}", field=what)


class MetricError(MaceError):
    """The coefficients do not make a metric on this prior."""


class CountsError(MaceError):
    """Counts cannot be built, merged or read."""


class InvalidCounts(CountsError):
    """Counts are negative, fractional or do not fit their cells."""


class IncompatibleCells(CountsError):
    """Two counts are over cells that cannot be brought together."""


class TooManyCells(CountsError):
    """So many cells that the answer would be meaningless or not fit in memory."""


def require_open_unit(name: str, value: float) -> float:
    """Return ``value`` if it lies strictly between 0 and 1."""
    if not 0.0 < value < 1.0:  # also false for NaN
        raise OutOfRange(f"{name}: got {value!r}, need a number strictly between 0 and 1", field=name)
    return float(value)


def require_positive(name: str, value: float) -> float:
    """Return ``value`` if it is finite and above 0."""
    if not 0.0 < value < float("inf"):
        raise OutOfRange(f"{name}: got {value!r}, need a finite number above 0", field=name)
    return float(value)


def require_count(name: str, value: int, minimum: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``minimum``."""
    if isinstance(value, bool) or value != int(value) or value < minimum:
        raise OutOfRange(f"{name}: got {value!r}, need a whole number of at least {minimum}", field=name)
    return int(value)


def require_nonnegative(name: str, value: float) -> float:
    """Return ``value`` if it is finite and at least 0."""
    if not 0.0 <= value < float("inf"):
        raise OutOfRange(f"{name}: got {value!r}, need a finite number of at least 0", field=name)
    return float(value)


def require_share(name: str, value: float) -> float:
    """Return ``value`` if it is at least 0 and below 1."""
    if not 0.0 <= value < 1.0:
        raise OutOfRange(f"{name}: got {value!r}, need a number from 0 up to but not including 1", field=name)
    return float(value)
