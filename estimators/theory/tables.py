"""Tables of numbers as they come in, checked once: rows of equal length, every number finite and not too large."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import NotFinite, OutOfRange, TooFewRecords

Floats = NDArray[np.float64]

LARGEST = 1e150
"""The square of what is larger overflows."""


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


def _refuse(bad: NDArray[np.bool_], field: str, error: type[NotFinite | OutOfRange], what: str) -> None:
    if bad.any():
        first = int(bad.any(axis=1).argmax())
        raise error(f"{field}: row {first} holds {what}", field=field, index=first)
