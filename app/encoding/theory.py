"""Bounds of theory as answers."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from estimators.theory.bounds import Bound
from macekit.schemas.statements import BoundAnswer


def bounds(found: Iterable[Bound]) -> list[BoundAnswer]:
    """Bounds side by side."""
    return [
        {
            "quantity": each.quantity,
            "name": each.name,
            "says": each.says,
            "value": finite(each.value),
            "source": each.source,
            "assumes": each.assumes,
            "proven": each.proven,
            "tightest": each.tightest,
        }
        for each in found
    ]


def finite(value: float) -> float | None:
    """None for what JSON has no number for."""
    return value if isfinite(value) else None
