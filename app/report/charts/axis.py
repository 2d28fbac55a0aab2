"""Positions along a score's axis: as fine as can be seen, wherever the axis lies."""

from __future__ import annotations

import math
from collections.abc import Callable


def drawable(low: float, high: float) -> bool:
    """Whether there is a picture of what lies between numbers that far apart, or that near."""
    span = high - low
    return math.isfinite(span) and span > 1e-300


def placing(low: float, high: float) -> Callable[[float], float]:
    """Rounds to a hundred-thousandth of the axis: less than any screen shows, in a third of the bytes."""
    digits = 5 - math.floor(math.log10(high - low))
    return lambda value: round(value, digits)
