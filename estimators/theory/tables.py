"""Tables of numbers and probabilities as they come in, checked once: rows of equal length, every number finite."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import DimensionMismatch, NotDistribution, NotFinite, OutOfRange, TooFewRecords

LARGEST = 1e150  # the square of what is larger overflows

SUM = 1e-9
"""Probabilities may miss one by so much, times the square root of their number: they were rounded on the way."""

ROUNDING = 1e-9  # how far from one a row of probabilities may sum


def rows_of(field: str, values: ArrayLike, most: float = LARGEST) -> Floats:
    """A matrix; a plain list of numbers is one number a row."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise OutOfRange.about(field, "need numbers, or rows of as many numbers each") from None
    if result.ndim == 1:
        result = result[:, None]
    if result.ndim != 2 or not result.size:
        raise TooFewRecords.about(field, "need at least one row of numbers")
    _refuse(~np.isfinite(result), field, NotFinite, "a number that is not finite")
    _refuse(np.abs(result) > most, field, OutOfRange, f"a number beyond {most:g}")
    return result


def distribution(values: ArrayLike, field: str = "probabilities") -> Floats:
    """The numbers if they are probabilities; scaled to sum to one exactly when rounding kept them from it."""
    result = np.asarray(values, dtype=np.float64).ravel()
    if not result.size:
        raise TooFewRecords.about(field, "got none, need at least one")
    total = float(result.sum())
    if not np.isfinite(total):
        raise NotFinite.about(field, "a probability is NaN or infinite")
    if result.min() < 0.0:
        raise NotDistribution.about(field, "a probability is negative", int(result.argmin()))
    if abs(total - 1.0) > SUM * max(1.0, result.size**0.5):
        raise NotDistribution.about(field, f"they sum to {total:.9g}, need 1")
    return result / total


def law_table(laws: ArrayLike, subsets: int) -> Floats:
    """A row of probabilities for each training set; each scaled to sum to one exactly."""
    try:
        table = np.asarray(laws, dtype=np.float64)
    except (TypeError, ValueError):
        raise DimensionMismatch.about("laws", "need rows of as many probabilities each") from None
    if table.ndim != 2 or len(table) != subsets:
        message = f"got {len(table) if table.ndim else 0} rows, need {subsets}: one row a training set"
        raise DimensionMismatch.about("laws", message)
    wrong = ~((table >= 0.0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) <= ROUNDING))  # true for NaN, too
    if wrong.any():
        message = "need probabilities in every row, at least 0 and with sum 1"
        raise NotDistribution.about("laws", message, int(wrong.argmax()))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _refuse(bad: NDArray[np.bool_], field: str, error: type[NotFinite | OutOfRange], what: str) -> None:
    if bad.any():
        first = int(bad.any(axis=1).argmax())
        raise error(f"{field}: row {first} holds {what}", field=field, index=first)
