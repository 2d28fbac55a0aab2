"""Integers that came as two types, brought to one that holds each of them; floats would merge those above 2^53."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.errors import InputError

LEAST, MOST = -(2**63), 2**63 - 1
"""What int64 holds; uint64 holds twice as many, none of them negative."""

UNSIGNED = 2**64 - 1

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,299})")
"""An integer as it is written where no 64 bits hold it, or those beside it."""

LONGEST = 300
"""Zeros that a decimal without a fraction may end in; one with more is beyond what a float holds, or close to it."""


def exact_array(values: Any) -> NDArray[Any]:
    """Values as an array; integers that NumPy would turn to floats, for want of a type that holds all, exactly."""
    array = np.asarray(values)
    if array.dtype.kind not in "fO" or array.ndim != 1 or isinstance(values, np.ndarray) or not len(array):
        return array
    items = list(values)
    if isinstance(items[0], float) or not all(isinstance(v, int | np.integer) for v in items):
        return array
    return as_64_bit(np.array([int(v) for v in items], dtype=object))


def as_64_bit(integers: NDArray[Any]) -> NDArray[Any]:
    """Integers as int64, as uint64 if one of them is beyond, or as Python's own where 64 bits are too few."""
    if integers.dtype.kind == "O":
        low, high = (min(integers.tolist()), max(integers.tolist())) if len(integers) else (0, 0)
        if low >= LEAST and high <= MOST:
            return integers.astype(np.int64)
        return integers.astype(np.uint64) if low >= 0 and high <= 2 * MOST + 1 else integers
    wide = integers.dtype.kind == "u" and integers.dtype.itemsize == 8
    if wide and len(integers) and int(integers.max()) > MOST:
        return integers.astype(np.uint64, copy=False)
    return integers.astype(np.int64, copy=False)


def or_infinite(number: float) -> float:
    """A number as the float nearest to it; an integer that no float is near is infinite."""
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def of_decimal(number: Decimal) -> float:
    """A decimal without a fraction as the integer it is, another as the float nearest to it."""
    if number.is_nan():
        return np.nan
    return int(number) if number.is_finite() and 0 <= int(number.as_tuple().exponent) < LONGEST else float(number)


def as_text(integers: NDArray[Any]) -> NDArray[np.str_]:
    """Integers of any size as the texts that people write for them."""
    return np.array([str(value) for value in integers.tolist()], dtype=np.str_)


def as_one_type(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two columns of integers as int64, as uint64, or, where neither holds all of them, as text."""
    if a.dtype == b.dtype and a.dtype.kind in "iu" and a.dtype != np.uint64:
        return a, b
    a, b = as_64_bit(a), as_64_bit(b)
    if "O" in (a.dtype.kind, b.dtype.kind):
        return as_text(a), as_text(b)
    if a.dtype == b.dtype:
        return a, b
    signed = a if a.dtype.kind == "i" else b
    if len(signed) and int(signed.min()) < 0:
        return as_text(a), as_text(b)
    return a.astype(np.uint64, copy=False), b.astype(np.uint64, copy=False)


def as_type_of(labels: NDArray[Any], numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Numbers as the type of numeric labels, and which of them that type holds exactly; the others equal no label."""
    kind, type_code = labels.dtype.kind, numbers.dtype.kind
    every = np.ones(numbers.shape, dtype=np.bool_)
    if type_code == "b":
        return as_type_of(labels, numbers.astype(np.int64))
    if kind == type_code or kind not in "iuf" or type_code not in "iuf":
        return numbers, every
    if kind == "f":
        floats = numbers.astype(np.float64)
        return floats, _holds_exactly(floats, numbers)
    if type_code == "f":
        with np.errstate(invalid="ignore"):
            below, beyond = (0.0, 2.0**64) if kind == "u" else (-(2.0**63), 2.0**63)
            exact = (numbers >= below) & (numbers < beyond) & (np.floor(numbers) == numbers)
        return np.where(exact, numbers, 0).astype(np.uint64 if kind == "u" else np.int64), exact
    exact = numbers >= 0 if kind == "u" else numbers <= np.uint64(MOST)
    return np.where(exact, numbers, numbers.dtype.type(0)).astype(np.uint64 if kind == "u" else np.int64), exact


def _holds_exactly(floats: NDArray[np.float64], integers: NDArray[Any]) -> NDArray[np.bool_]:
    """Which floats are the integers they were made of."""
    back, exact = as_type_of(integers, floats)
    same: NDArray[np.bool_] = exact & (back == integers)
    return same


def require_different_floats(sides: Sequence[NDArray[Any]], what: str, field: str, otherwise: str = "") -> None:
    """Refuse integers that differ and are one float: a cut between them would be lost without a word.

    Args:
        sides: Values of each side, or rows of values; what is no integer is passed over.
        what: What the message calls them.
        field: The field that it is about.
        otherwise: What the message names beside what helps in any case.

    Raises:
        InputError: some do.
    """
    if not all(side.dtype.kind in "iu" for side in sides):
        return
    if all(int(side.min()) >= -(2**53) and int(side.max()) <= 2**53 for side in sides if side.size):
        return
    both = np.concatenate(sides)
    ordered = np.sort(both.reshape(len(both), -1), axis=0)
    floats = ordered.astype(np.float64)
    if ((ordered[1:] != ordered[:-1]) & (floats[1:] == floats[:-1])).any():
        raise InputError(
            f"{what}: integers beyond 2^53 that differ are one float, so a cut between them would be lost; "
            f"subtract a number from all{otherwise}",
            field=field,
        )
