"""The noise for a wanted practical epsilon: DP's epsilon of an exponential mechanism, sigma of a Gaussian one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, require_nonnegative, require_open_unit, require_positive
from estimators.theory import shifts
from estimators.theory.pmp.distances import Distances
from estimators.theory.pmp.exponential import Summed, Tabled
from estimators.theory.pmp.gaussian import least

Floats = NDArray[np.float64]

GROWTH = 1.1
"""Steps by which epsilon is raised until the practical epsilon is too large."""

FARTHEST = 1000.0
"""An epsilon beyond is no choice of noise any more."""

STEPS, HALVINGS = 40, 24
"""Halvings of the last step; fewer where each compares all pairs of records."""

LEAST = 1e-9
"""A wanted practical epsilon below is refused: rounding alone would decide whether it is kept."""


def epsilon(mechanism: Summed | Tabled, target: float, farthest: float = FARTHEST) -> float:
    """DP's epsilon at which the exact practical epsilon is ``target``, found from below.

    The practical epsilon is **not** monotone in epsilon: an outcome that gives a record away may become
    rare. So epsilon is raised in steps from ``target``, which is always enough since PMP never exceeds DP
    (Proposition 5), and the first step that is too far is halved. At what is returned the practical
    epsilon was computed and is at most ``target``; so it was at every smaller step.
    """
    return _first(lambda e: mechanism.exact(e).epsilon, _require_target(target), farthest)


def epsilon_by_exchanges(mechanism: Summed, target: float, farthest: float = FARTHEST) -> float:
    """The same from the bound by exchanges, which needs no enumeration; it rises with epsilon, so all below keep it."""
    low = high = _require_target(target)
    while high < farthest:
        high = min(2.0 * high, farthest)
        if mechanism.exchanges(high).max() > target:
            return _halve(lambda e: float(mechanism.exchanges(e).max()), target, low, high, HALVINGS)
        low = high
    return low


def epsilon_on_records(mechanism: Summed | Tabled, target: float, farthest: float = 1e6) -> float:
    """DP's epsilon whose epsilon(X), with both training sets among these records, is ``target``: as the paper plots.

    epsilon(X) need not rise with epsilon either; ``target`` is a start because it never exceeds epsilon.
    """
    return _first(mechanism.on_records, _require_target(target), farthest)


def sigma(distances: Distances, target: float, delta: float) -> float:
    """Least noise at which Proposition 12 gives at most ``delta`` at the ``target`` practical epsilon.

    The hockey stick falls as sigma grows, so everything above keeps it as well: it is rounded up a little.
    """
    target, delta = require_nonnegative("wanted", target), require_open_unit("delta", delta)
    if distances.largest == 0.0:
        return 0.0
    enough = shifts.gaussian_sigma(distances.largest, target, delta) * (1.0 + 1e-12)

    def stick(apart: Floats, noise: float) -> Floats:
        return shifts.gaussian_delta(apart / noise, target)

    return least(distances, stick, delta, enough * 1e-9, enough) * (1.0 + 1e-10)


def _require_target(target: float) -> float:
    if require_positive("wanted", target) < LEAST:
        raise OutOfRange(f"wanted: got {target!r}, need at least {LEAST:g}", field="wanted")
    return float(target)


def _first(practical: Callable[[float], float], target: float, farthest: float) -> float:
    low, high = target, target * GROWTH
    while practical(high) <= target:
        if high >= farthest:
            return farthest if practical(farthest) <= target else low
        low, high = high, min(high * GROWTH, farthest)
    return _halve(practical, target, low, high, STEPS)


def _halve(practical: Callable[[float], float], target: float, low: float, high: float, steps: int) -> float:
    for _ in range(steps):
        middle = (low + high) / 2.0
        if practical(middle) <= target:
            low = middle
        else:
            high = middle
    return low
