"""Several bounds of one quantity side by side: what is proven, what only a paper says, and which is tightest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

SLACK = 1e-12
"""By how much two ways to compute the same number may differ."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound: ``name`` is stable, ``quantity`` is what it bounds, ``says`` is for people.

    ``proven`` is false for what a paper prints and a counterexample refutes: it is shown, and never the tightest.
    """

    quantity: str
    name: str
    says: str
    value: float
    source: str
    assumes: str = "none"
    proven: bool = True
    tightest: bool = False


def side_by_side(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Mark the smallest of what is proven, quantity by quantity; equals to rounding are all marked; order is kept."""
    found = tuple(bounds)
    least: dict[str, float] = {}
    for each in found:
        if each.proven:
            least[each.quantity] = min(each.value, least.get(each.quantity, each.value))
    return tuple(
        replace(
            each,
            tightest=each.proven and each.value < inf and each.value <= least[each.quantity] + SLACK,
        )
        for each in found
    )
