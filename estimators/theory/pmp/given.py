"""Options as they are said: the number that was computed with, not one near it that may ask for more."""

from __future__ import annotations

from decimal import Decimal


def percent(share: float) -> str:
    """``0.95`` as ``95%``, with all its digits."""
    return f"{Decimal(repr(float(share))).scaleb(2).normalize():f}%"
