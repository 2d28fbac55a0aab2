"""The exact eta of one number to which Laplace noise is added: no quadrature, no simulation, no approximation.

Between two neighbouring atoms the densities' difference is A e^(x/s) + B e^(-x/s), which changes its sign once at most,
at a place with a closed form. Total variation is the sum of what the difference gains between those places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bits = NDArray[np.bool_]


def exact_eta(values: Floats, members: Bits, scale: float) -> Floats:
    """Of every record: half the total variation between the outputs with it and without it (Proposition 2, k = n/2).

    ``values`` is the algorithm's output on every training set, ``members`` (sets x records) says who is in which.
    """
    order = np.argsort(values, kind="stable")
    atoms, inside = values[order], members[order]
    weights = inside / inside.sum(axis=0) - ~inside / (~inside).sum(axis=0)
    return 0.5 * _total_variation(atoms, weights, scale)


def _total_variation(atoms: Floats, weights: Floats, scale: float) -> Floats:
    """Half the integral of |sum w_i e^(-|x - a_i|/s)/(2s)|, for each column of weights; they sum to nothing."""
    decay = np.exp(-np.diff(atoms) / scale)
    left, right = np.empty_like(weights), np.empty_like(weights)
    left[0], right[-1] = weights[0], weights[-1]
    for i, factor in enumerate(decay):  # left[i]: what stands at or before atom i, as it weighs there
        left[i + 1] = left[i] * factor + weights[i + 1]
    for i, factor in reversed(list(enumerate(decay))):
        right[i] = right[i + 1] * factor + weights[i]
    # Beyond the last atom on either side the difference has one sign, and its integral is a half of what stands there.
    total = (np.abs(right[0]) + np.abs(left[-1])) / 2
    a, b, factor = left[:-1], right[1:], decay[:, np.newaxis]
    # On a gap of width g: f(u) = (a e^-u + b e^(u-g))/2, u from 0 to g (in units of s); from 0 to u its integral is
    # (a (1 - e^-u) + b (e^(u-g) - e^-g))/2, and f = 0 where e^-2u = -(b/a) e^-g.
    whole = (a + b) * (1 - factor) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(-b / a * factor)  # e^-u at the place where the sign changes
        crosses = (root > factor) & (root < 1)
        part = np.where(crosses, (a * (1 - root) + b * (factor / root - factor)) / 2, 0.0)
    return np.asarray((total + (np.abs(part) + np.abs(whole - part)).sum(axis=0)) / 2)
