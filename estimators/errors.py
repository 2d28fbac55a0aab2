"""Everything that can be wrong with a request, as one small typed tree.

MaceError
├── InputError              the records
│   ├── TooFewRecords
│   ├── NotFinite
│   ├── MixedTypes
│   ├── RaggedRows
│   ├── DimensionMismatch
│   └── NotDistribution
├── OptionError             the question asked of them
│   ├── OutOfRange
│   ├── UnknownName
│   ├── TooManySubsets
│   └── NotInstalled
├── MetricError             a metric that is not one
└── CountsError             counts that cannot be used
    ├── InvalidCounts
    ├── IncompatibleCells
    └── TooManyCells

The text of each says which argument is wrong, what it is and what is needed, and never repeats a submitted score.
``field`` names the argument at fault, ``index`` the first record at fault, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import Self


class MaceError(ValueError):
    """Base of every error this library raises on purpose; a ``ValueError``.

    ``InputError`` is about the records, ``OptionError`` about the options, ``MetricError`` about a metric,
    ``CountsError`` about counts. No text repeats a score.

    Attributes:
        message: What is wrong and what is needed.
        field: The argument at fault, if it is one.
        index: The first record at fault, if there is one.

    Example:
        >>> from estimators import MaceError, Scores
        >>> try:
        ...     Scores.of([0.9, 0.8, float("nan")] * 3, [0.1] * 9)
        ... except MaceError as error:
        ...     print(type(error).__name__, error.field, error.index)
        NotFinite members 2
    """

    def __init__(self, message: str, *, field: str | None = None, index: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.index = index

    @classmethod
    def about(cls, field: str, text: str, index: int | None = None) -> Self:
        """What is wrong with an argument, with whose name the message begins.

        Args:
            field: The argument at fault.
            text: What is wrong with it and what is needed.
            index: The first record at fault, if there is one.
        """
        return cls(f"{field}: {text}", field=field, index=index)

    @classmethod
    def of_side(cls, side: str, text: str, index: int | None = None) -> Self:
        """What is wrong with the scores of members, or of nonmembers.

        Args:
            side: ``"member"`` or ``"nonmember"``.
            text: What is wrong with them and what is needed.
            index: The first record at fault, if there is one.
        """
        return cls(f"{side} scores: {text}", field=f"{side}s", index=index)


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


class NotDistribution(InputError):
    """Numbers that should be probabilities are negative, or do not sum to one."""


class OptionError(MaceError):
    """The question asked of the records cannot be answered."""


class OutOfRange(OptionError):
    """A number lies outside the range in which it means something."""


class UnknownName(OptionError):
    """A name is not one of the choices."""

    @classmethod
    def among(cls, what: str, got: object, choices: Iterable[str]) -> UnknownName:
        """Name the choices and, when there is one, the nearest."""
        names = sorted(choices)
        near = nearest_name(str(got), names)
        hint = f"; did you mean {near!r}?" if near else ""
        return cls(f"{what}: unknown name, need one of {', '.join(names)}{hint}", field=what)


class TooManySubsets(OptionError):
    """So many training sets that they cannot be gone through one by one; the text says what to use instead."""


class NotInstalled(OptionError):
    """The question needs an optional package that is not installed; the text says how to get it."""


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


def nearest_name(got: str, names: Iterable[str]) -> str | None:
    """The one of several names that is most like this one, or that it begins with; None if none is like it."""
    by_letters = {name.lower(): name for name in names}
    near = get_close_matches(got.lower(), by_letters, n=1)
    near += [name for name in by_letters if len(name) > 1 and got.lower().startswith(name)]
    return by_letters[near[0]] if near else None


def require_number(name: str, value: object) -> float:
    """Return ``value`` as a float if it is a plain real number; text, lists and None are not read as one."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise OutOfRange.about(name, f"got {type(value).__name__}, need a number")
    try:
        return float(value)
    except OverflowError:
        raise OutOfRange.about(name, "got a number beyond 1e308, need a smaller one") from None


def require_open_unit(name: str, value: float) -> float:
    """Return ``value`` if it lies strictly between 0 and 1."""
    number = require_number(name, value)
    if not 0.0 < number < 1.0:  # also false for NaN
        raise OutOfRange.about(name, f"got {number!r}, need a number strictly between 0 and 1")
    return number


def require_positive(name: str, value: float) -> float:
    """Return ``value`` if it is finite and above 0."""
    number = require_number(name, value)
    if not 0.0 < number < float("inf"):
        raise OutOfRange.about(name, f"got {number!r}, need a finite number above 0")
    return number


def require_count(name: str, value: int, minimum: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``minimum`` that fits 63 bits."""
    number = require_number(name, value)
    if not minimum <= number < 2.0**63 or not hasattr(value, "__index__"):  # 8.0 is no count
        message = f"got {number:g}, need a whole number of at least {minimum} and below 2^63"
        raise OutOfRange.about(name, message)
    return int(value)


def require_nonnegative(name: str, value: float) -> float:
    """Return ``value`` if it is finite and at least 0."""
    number = require_number(name, value)
    if not 0.0 <= number < float("inf"):
        raise OutOfRange.about(name, f"got {number!r}, need a finite number of at least 0")
    return number


def require_from_zero_to_one(name: str, value: float) -> float:
    """Return ``value`` if it is at least 0 and at most 1."""
    number = require_number(name, value)
    if not 0.0 <= number <= 1.0:
        raise OutOfRange.about(name, f"got {number!r}, need a number from 0 to 1")
    return number


def require_up_to_one(name: str, value: float) -> float:
    """Return ``value`` if it is above 0 and at most 1."""
    number = require_number(name, value)
    if not 0.0 < number <= 1.0:
        raise OutOfRange.about(name, f"got {number!r}, need a number above 0 and at most 1")
    return number


def require_share(name: str, value: float) -> float:
    """Return ``value`` if it is at least 0 and below 1."""
    number = require_number(name, value)
    if not 0.0 <= number < 1.0:
        raise OutOfRange.about(name, f"got {number!r}, need a number from 0 up to but not including 1")
    return number
