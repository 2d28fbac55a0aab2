"""Distances between two mixtures of one noise: where the densities cross is found, and between them it is exact."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import laplace, norm

Floats = NDArray[np.float64]
LAWS = {"Laplace": laplace, "Gaussian": norm}
STEPS = 1_000


def subsets(records: int, size: int) -> NDArray[np.bool_]:
    """Every training set of this size, a row each."""
    members = list(combinations(range(records), size))
    rows = np.zeros((len(members), records), dtype=bool)
    rows[np.arange(len(members))[:, np.newaxis], members] = True
    return rows


def exact_eta(values: ArrayLike, members: NDArray[np.bool_], noise: str, scale: float) -> float:
    """The worst record's eta at k = n/2: a half of the total variation between the outputs with it and without it."""
    outputs = np.asarray(values, dtype=float)
    return max(0.5 * hockey_stick(outputs[column], outputs[~column], noise, scale, 0.0) for column in members.T)


def hockey_stick(inside: ArrayLike, outside: ArrayLike, noise: str, scale: float, epsilon: float) -> float:
    """The larger of both hockey-stick divergences at epsilon; at 0 it is the total variation."""
    r, q = np.asarray(inside, dtype=float), np.asarray(outside, dtype=float)
    return max(_above(r, q, noise, scale, epsilon), _above(q, r, noise, scale, epsilon))


def _above(inside: Floats, outside: Floats, noise: str, scale: float, epsilon: float) -> float:
    """The integral of the positive part of p - e^epsilon q."""
    law, factor = LAWS[noise], np.exp(epsilon)

    atoms = np.unique(np.concatenate([inside, outside]))
    weights = _shares(inside, atoms) - factor * _shares(outside, atoms)

    def excess(of: Callable[[Floats], Floats], x: float | Floats) -> Floats:
        return np.asarray((of((np.asarray(x)[..., np.newaxis] - atoms) / scale) * weights).sum(axis=-1))

    def density(x: float | Floats) -> Floats:
        return excess(law.pdf, x)

    far = 40.0 * scale if noise == "Laplace" else 9.0 * scale
    grid = np.unique(np.concatenate([np.linspace(atoms[0] - far, atoms[-1] + far, STEPS), atoms]))
    signs = np.sign(density(grid))
    turns = [brentq(density, grid[i], grid[i + 1], xtol=1e-14) for i in np.flatnonzero(signs[:-1] * signs[1:] < 0)]
    # a zero of the density on the grid is a turn as well; one that is none does no harm: the pieces are summed by sign
    ends = np.array([-np.inf, *sorted([*turns, *grid[signs == 0]]), np.inf])
    return float(np.maximum(np.diff(excess(law.cdf, ends)), 0.0).sum())


def _shares(values: Floats, atoms: Floats) -> Floats:
    return np.bincount(np.searchsorted(atoms, values), minlength=len(atoms)) / len(values)
