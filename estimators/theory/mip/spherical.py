"""The noise whose density falls as exp(-||x||) in a Euclidean norm: its exact total variation in any dimension.

The general bound 1 - exp(-v/2) is attained by norms with corners only. A ball has none: in d dimensions its shifts are
harder to see by a factor of about sqrt(pi d / 2), and so much less noise is enough.
"""

from __future__ import annotations

from functools import cache
from math import ceil, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erf, gammaln

Floats = NDArray[np.float64]

STEP = 0.002
"""Between tabled shifts, in their logarithm: cubics between them err by STEP^4/384, below 1e-13."""

SMALLEST = 1e-8
"""Share of the standard deviation below which it is proportional to the shift, but for 1e-16 of itself."""


def spherical_total_variation(shift: Floats, dimension: int) -> Floats:
    """Total variation of two densities ~ exp(-||x||_2) in ``dimension`` dimensions, ``shift`` apart.

    The density falls with the distance, so the nearer centre is the likelier one and TV = P(|X_1| < v/2). The law is a
    mixture of Gaussians of variance 2G, G ~ Gamma((d+1)/2): r^(1/2) K_(1/2)(r) ~ e^-r. So TV = E erf(v / (4 sqrt G)).
    """
    start, value, slope = _table(dimension)
    with np.errstate(divide="ignore"):
        place = (np.log(np.asarray(shift, dtype=np.float64)) - start) / STEP
    below, beyond = place < 0.0, place >= len(value) - 1.0
    index = np.clip(place, 0.0, len(value) - 1.5).astype(np.int64)
    t = np.clip(place - index, 0.0, 1.0)
    left, right = value[index], value[index + 1]
    # the cubic with these values and slopes at both ends (Hermite)
    first, last = STEP * slope[index], STEP * slope[index + 1]
    rise = right - left
    cubic = left + t * (rise + (1.0 - t) * ((first - rise) * (1.0 - t) + (rise - last) * t))
    found = np.where(below, value[0] + STEP * place, np.where(beyond, 0.0, cubic))
    return np.minimum(np.exp(found), 1.0)


@cache
def _table(dimension: int) -> tuple[float, Floats, Floats]:
    """Logarithm of the first shift; logarithms of the total variation from there on, and their slopes."""
    nodes, weights = _gamma_rule((dimension + 1) / 2.0)
    root = np.sqrt(nodes)
    start, stop = log(4.0 * SMALLEST * root[-1]), log(28.0 * root[-1])  # erf(7) is 1
    shift = np.exp(start + STEP * np.arange(ceil((stop - start) / STEP) + 1))
    value, density = np.empty(len(shift)), np.empty(len(shift))
    for part in range(0, len(shift), 1024):
        z = shift[part : part + 1024, None] / (4.0 * root)
        value[part : part + 1024] = erf(z) @ weights
        density[part : part + 1024] = (2.0 / sqrt(pi) * z * np.exp(-z * z)) @ weights
    return start, np.log(value), density / value


def spherical_shift(total_variation: float, dimension: int) -> float:
    """The shift at which it is ``total_variation``; it rises with the shift from 0 to 1."""

    def beyond(shift: float) -> float:
        return float(spherical_total_variation(np.array([shift]), dimension)[0]) - total_variation

    high = 1.0
    while beyond(high) < 0.0:
        high *= 2.0
    return float(brentq(beyond, 0.0, high, xtol=1e-14, rtol=1e-14))


def _gamma_rule(shape: float) -> tuple[Floats, Floats]:
    """Nodes and weights for E f(G), G ~ Gamma(shape): the trapezoidal rule in log G.

    The integrand is analytic and dies out doubly exponentially on one side, exponentially on the other, where this rule
    converges faster than any power of its step; with this step its error is below rounding.
    """
    step = min(0.25, 0.7 / sqrt(shape)) * pi / 4.0
    low = -42.0 / shape - sqrt(84.0 / shape)  # beyond either end there is less than e^-42
    high = float(np.log1p(12.0 / sqrt(shape) + 60.0 / shape))
    offset = np.arange(low, high, step)
    weights = np.exp(shape * (offset - np.expm1(offset)))  # G^shape e^-G at G = shape e^offset, 1 at its top
    return shape * np.exp(offset), weights / weights.sum()


def small_shift_gain(dimension: int) -> float:
    """What it is of 1 - exp(-v/2) as v -> 0: Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2)), 1 on the line."""
    return float(np.exp(gammaln(dimension / 2.0) - gammaln((dimension + 1) / 2.0)) / sqrt(pi))
