"""Tables of numbers and probabilities as they come in, checked once: rows of equal length, every number finite."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import NotDistribution, NotFinite, OutOfRange, TooFewRecords

Floats = NDArray[np.float64]

LARGEST = 1e150
"""The square of what is larger overflows."""

SUM = 1e-9
"""Probabilities may miss one by so much, times the square root of their number: they were rounded on the way."""


def rows_of(field: str, given: ArrayLike, most: float = LARGEST) -> Floats:
    """A matrix; a plain list of numbers is one number a row."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise OutOfRange(f"{field}: need numbers, or rows of as many numbers each", field=field) from None
    if found.ndim == 1:
        found = found[:, None]
    if found.ndim != 2 or not found.size:
        raise TooFewRecords(f"{field}: need at least one row of numbers", field=field)
    _refuse(~np.isfinite(found), field, NotFinite, "a number that is not finite")
    _refuse(np.abs(found) > most, field, OutOfRange, f"a number beyond {most:g}")
    return found


def distribution(given: ArrayLike, field: str = "probabilities") -> Floats:
    """The numbers if they are probabilities; scaled to sum to one exactly when rounding kept them from it."""
    found = np.asarray(given, dtype=np.float64).ravel()
    if not found.size:
        raise TooFewRecords(f"{field}: got none, need at least one", field=field)
    total = float(found.sum())
    if not np.isfinite(total):
        raise NotFinite(f"{field}: a probability is NaN or infinite", field=field)
    if found.min() < 0.0:
        raise NotDistribution(f"{field}: a probability is negative", field=field, index=int(found.argmin()))
    if abs(total - 1.0) > SUM * max(1.0, found.size**0.5):
        raise NotDistribution(f"{field}: they sum to {total:.9g}, need 1", field=field)
    return found / total


def _refuse(bad: NDArray[np.bool_], field: str, error: type[NotFinite | OutOfRange], what: str) -> None:
    if bad.any():
        first = int(bad.any(axis=1).argmax())
        raise error(f"{field}: row {first} holds {what}", field=field, index=first)
