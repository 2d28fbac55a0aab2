"""From bare parameters to noisy ones, in floating point: the sum is rounded to a grid.

What is proven is about noise of real numbers. A double is not one: the noise is rounded before the fit is added, and
so near 0 the sum takes values with some fits that it cannot take with others (Mironov 2012). In the cells of a grid
there are many values of the noise each, and which of them it was is no longer to be seen; to round is to process what
is released, which no attack gains by. The grid is of powers of two, known beforehand from the noise and its scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.theory.mip.noises import Noise

Floats = NDArray[np.float64]

FINENESS = 20
"""Cells in a deviation of the noise, as a power of two: too fine to cost anything, and 2^30 values of noise in each."""

WHOLE = 2.0**52
"""Doubles from here on are whole numbers."""


def grid_of(noise: Noise, scale: float) -> Floats:
    """Width of the cells of every coordinate: 2^-20 of its noise or a little less, 0 where it has none."""
    deviation = noise.deviation(scale)
    power = np.ldexp(1.0, np.frexp(deviation)[1] - 1 - FINENESS)
    return np.where(deviation > 0.0, np.maximum(power, np.finfo(np.float64).smallest_subnormal), 0.0)


def noisy(bare: Floats, noise: Noise, scale: float, generator: np.random.Generator) -> Floats:
    """Rows of parameters with noise of their own each, on the grid."""
    total = bare + noise.sample(scale, len(bare), generator)
    grid = grid_of(noise, scale)
    # beyond 2^52 cells from 0 the doubles are on the grid themselves; dividing by a power of two is exact
    fine = np.abs(total) < WHOLE * grid
    cells = np.divide(total, grid, out=np.zeros_like(total), where=fine)
    return np.where(fine, np.rint(cells) * grid, total)
