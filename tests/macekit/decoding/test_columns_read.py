"""How many different values of a column the account names."""

from __future__ import annotations

import numpy as np
import pytest

from macekit.decoding.columns_read import LOOKS, MOST_DISTINCT
from macekit.decoding.columns_read import ColumnRecorder as Account

TYPES = (np.bool_, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float64)
RANGES = {
    "two": (0, 2),
    "one": (7, 8),
    "on both sides of 0": (-128, 128),
    "at the top": (2**64 - 900, 2**64),
    "at the bottom": (-(2**63), -(2**63) + 5),
    "as many as are named": (0, MOST_DISTINCT),
    "one more": (0, MOST_DISTINCT + 1),
}


def holds(kind: type[np.generic], low: int, high: int) -> bool:
    """Whether all of these numbers are values of the type."""
    if not issubclass(kind, np.integer):
        return True
    return np.iinfo(kind).min <= low < high <= np.iinfo(kind).max + 1


CASES = [
    pytest.param(kind, low, high, id=f"{kind.__name__}: {name}")
    for kind in TYPES
    for name, (low, high) in RANGES.items()
    if holds(kind, low, high)
]


@pytest.mark.parametrize(("kind", "low", "high"), CASES)
def test_different_values_are_counted_exactly(kind: type[np.generic], low: int, high: int) -> None:
    """Every type has a way of its own to count them, and a long column another than a short one."""
    few = [low + at for at in range(high - low)]
    values = np.array((few * (2 * LOOKS))[: 2 * LOOKS], dtype=kind)
    different = len(set(values.tolist()))
    account = Account()

    account.add("score", "score", "score", values[:0])
    account.add("score", "score", "score", values)

    (column,) = account.columns()
    assert column.distinct == (different if different <= MOST_DISTINCT else None)
