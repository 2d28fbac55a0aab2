"""What every rule of a class reaches on the records: a line of rates that none goes beyond."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.changes import best_by_changes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

DIRECTIONS = 41
"""Weights of the two rates for which the best rule is looked up."""

DIGITS = 10
"""Digits by which corners are told apart; they are rounded away from the rules."""


def corners_of(members: Integers, nonmembers: Integers, starts: Integers, changes: int | None) -> Floats:
    """Corners of a polygon that holds the rates of every rule on the joined cells, and of those of few changes.

    For each weight w the class's largest w TPR + (1-w) TNR is known exactly; where two such lines of neighbouring
    weights cross, no rule of the class lies beyond. (corners, 2), from right about all
    nonmembers to right about all members.
    """
    shares = [members / members.sum(), nonmembers / nonmembers.sum()]
    groups = [np.add.reduceat(side, starts) for side in shares]
    weights = np.concatenate([[0.0], 1.0 / (1.0 + np.exp(-np.linspace(-8.0, 8.0, DIRECTIONS))), [1.0]])
    heights = []
    for weight in weights:
        gain = weight * groups[0] - (1.0 - weight) * groups[1]
        best = float(np.abs(gain).sum())
        if changes is not None:
            fine = weight * shares[0] - (1.0 - weight) * shares[1]
            best = max(best, float(best_by_changes(fine, changes)[-1]))
        heights.append((1.0 + best) / 2.0)
    return _crossings(weights, np.array(heights))


def _crossings(weights: Floats, heights: Floats) -> Floats:
    """Where the lines ``w x + (1-w) y = h`` of neighbouring weights cross, within the square."""
    w, v, h, g = weights[:-1], weights[1:], heights[:-1], heights[1:]
    x = (h * (1.0 - v) - g * (1.0 - w)) / (w - v)
    y = (w * g - v * h) / (w - v)
    corners = np.clip(np.column_stack([x, y]), 0.0, 1.0).round(DIGITS)  # of few cells many are alike
    corners = np.unique(corners * [1.0, -1.0], axis=0) * [1.0, -1.0]
    return np.clip(corners + 10.0**-DIGITS, 0.0, 1.0)
