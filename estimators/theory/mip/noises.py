"""The noises: Gaussian, and those whose density falls as exp(-||x||/s) in a norm.

A noise has a shape (the weight of every coordinate) and a scale s. Two copies of it v apart are told apart as well as
``total_variation(size(v)/s)`` allows; that is zero at 0, concave, rising, and all that any bound here needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from estimators.theory.mip.norms import Norm, spread_of
from estimators.theory.mip.spherical import spherical_shift, spherical_total_variation
from estimators.theory.shifts import gaussian_total_variation, laplace_total_variation

Floats = NDArray[np.float64]


class Noise(Protocol):
    """What every noise can say of itself."""

    @property
    def name(self) -> str:
        """In words."""

    @property
    def dimension(self) -> int:
        """Number of coordinates."""

    def size(self, shifts: Floats) -> Floats:
        """Length of each row, in the norm that belongs to the noise."""

    def total_variation(self, ratio: Floats) -> Floats:
        """Total variation of two copies, ``ratio`` = size/scale apart, or a bound on it."""

    def shift(self, total_variation: float) -> float:
        """Its inverse: the ratio at which it is reached."""

    def log_density(self, ratio: Floats) -> Floats:
        """Logarithm of the density at a point of this size/scale, up to a constant."""

    def sample(self, scale: float, count: int, generator: np.random.Generator) -> Floats:
        """Draws, one a row."""

    def deviation(self, scale: float) -> Floats:
        """Root mean square of each coordinate."""


@dataclass(frozen=True, slots=True, eq=False)
class Gaussian:
    """Independent N(0, s^2 spread_i^2) in every coordinate."""

    spread: Floats

    def __init__(self, spread: ArrayLike) -> None:
        object.__setattr__(self, "spread", spread_of(spread))

    @property
    def name(self) -> str:
        """In words."""
        return "gaussian"

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.spread)

    def size(self, shifts: Floats) -> Floats:
        """Length in units of the spread."""
        return Norm(2.0, self.spread).of(shifts)

    def total_variation(self, ratio: Floats) -> Floats:
        """2 Phi(v/2) - 1, exactly."""
        return gaussian_total_variation(ratio)

    def shift(self, total_variation: float) -> float:
        """2 Phi^-1((1 + t)/2)."""
        return 2.0 * float(ndtri((1.0 + total_variation) / 2.0))

    def log_density(self, ratio: Floats) -> Floats:
        """-v^2/2."""
        return -0.5 * ratio**2

    def sample(self, scale: float, count: int, generator: np.random.Generator) -> Floats:
        """Draws, one a row."""
        return scale * self.spread * generator.standard_normal((count, self.dimension))

    def deviation(self, scale: float) -> Floats:
        """s spread_i."""
        return scale * self.spread


@dataclass(frozen=True, slots=True, eq=False)
class KNorm:
    """Density proportional to exp(-||x||/s); on the line it is Laplace."""

    norm: Norm

    @property
    def name(self) -> str:
        """In words."""
        return "laplace"

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.norm.dimension

    def size(self, shifts: Floats) -> Floats:
        """The norm."""
        return self.norm.of(shifts)

    def total_variation(self, ratio: Floats) -> Floats:
        """Exact for order 2; 1 - exp(-v/2) for any other norm, as on the line, where it is Laplace's own.

        1 - TV is the integral of exp(-max(||x||, ||x - v||)), and neither norm exceeds ||x - v/2|| + ||v||/2.
        """
        if self.norm.order == 2.0 and self.dimension > 1:
            return spherical_total_variation(ratio, self.dimension)
        return laplace_total_variation(ratio)

    def shift(self, total_variation: float) -> float:
        """-2 ln(1-t), or a root."""
        if self.norm.order == 2.0 and self.dimension > 1:
            return spherical_shift(total_variation, self.dimension)
        return -2.0 * float(np.log1p(-total_variation))

    def log_density(self, ratio: Floats) -> Floats:
        """-v."""
        return -ratio

    def sample(self, scale: float, count: int, generator: np.random.Generator) -> Floats:
        """A Gamma(d, s) radius on the cone measure: shells of radius r have volume r^(d-1) (erratum, Corollary 10)."""
        radius = scale * generator.standard_gamma(self.dimension, (count, 1))
        return radius * self.norm.sphere(count, generator)

    def deviation(self, scale: float) -> Floats:
        """Root mean square radius sqrt(d (d+1)) s, spread over the coordinates."""
        d = self.dimension
        return scale * sqrt(d * (d + 1.0) * self.norm.mean_square()) * self.norm.weights
