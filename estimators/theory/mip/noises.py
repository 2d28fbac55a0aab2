"""The noises: Gaussian, and those whose density falls as exp(-||x||/s) in a norm; the norms; how far shifts show.

The general bound 1 - exp(-v/2) is attained by norms with corners only. A ball has none: in d dimensions its shifts are
harder to see by a factor of about sqrt(pi d / 2), and so much less noise is enough.

A noise has a shape (the weight of every coordinate) and a scale s. Two copies of it v apart are told apart as well as
``total_variation(size(v)/s)`` allows; that is zero at 0, concave, rising, and all that any bound here needs.
"""

from __future__ import annotations

from functools import cache
from math import ceil, inf, log, pi, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, gammaln, ndtri

from estimators.arrays import Floats
from estimators.errors import NotFinite, OutOfRange, TooFewRecords, require_count, require_number
from estimators.limits.root import brentq
from estimators.python.dataclass import dataclass
from estimators.theory.shifts import gaussian_total_variation, laplace_total_variation


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """||x|| = (sum |x_i / weight_i|^order)^(1/order), the largest |x_i / weight_i| at order infinity.

    A weight of 0 says that a coordinate does not vary: any x_i other than 0 there is infinitely large.
    """

    order: float
    weights: Floats

    def __post_init__(self) -> None:
        order = require_number("order", self.order)
        if not order >= 1.0:
            raise OutOfRange.about("order", f"got {order!r}, need at least 1, or it is no norm")
        object.__setattr__(self, "weights", spread_of(self.weights))

    @classmethod
    def moment(cls, spread: ArrayLike, order: float = 2.0) -> Norm:
        """The paper's (sum |x_i|^M / (d sigma_i^M))^(1/M): its M-th moment is 1 if the sigma_i are the coordinates'."""
        sigma = spread_of(spread)
        return cls(order, sigma * len(sigma) ** (1.0 / order))

    @classmethod
    def euclid(cls, dimension: int) -> Norm:
        """Length."""
        return cls(2.0, np.ones(require_count("dimension", dimension)))

    @classmethod
    def max(cls, dimension: int) -> Norm:
        """The largest coordinate."""
        return cls(inf, np.ones(require_count("dimension", dimension)))

    @classmethod
    def one(cls, dimension: int) -> Norm:
        """The sum of the coordinates' sizes."""
        return cls(1.0, np.ones(require_count("dimension", dimension)))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.weights)

    def of(self, vectors: Floats) -> Floats:
        """Norm of each row; no power is taken of anything above 1, so nothing overflows."""
        ratio = np.abs(in_weights(vectors, self.weights))
        top = ratio.max(axis=1)
        if self.order == inf:
            return np.asarray(top)
        unit = np.where((top > 0.0) & np.isfinite(top), top, 1.0)[:, None]
        total = ((ratio / unit) ** self.order).sum(axis=1) ** (1.0 / self.order)
        return np.where(np.isfinite(top), total * unit[:, 0], inf)

    def sphere(self, count: int, generator: np.random.Generator) -> Floats:
        """Draws from the cone measure of the unit sphere: where a uniform point of the ball lies, seen from 0.

        Independent Y_i of density ~ exp(-|y|^p), normalised, have it, since their joint density is one of the norm
        alone (Schechtman and Zinn 1990). |Y| = U G^(1/p) with G ~ Gamma(1 + 1/p), which at p = infinity is uniform.
        """
        shape = (count, self.dimension)
        inverse = 1.0 / self.order
        size = generator.random(shape) * generator.standard_gamma(1.0 + inverse, shape) ** inverse
        signed = np.where(generator.random(shape) < 0.5, -size, size)
        flat = Norm(self.order, np.ones(self.dimension))
        return signed / flat.of(signed)[:, None] * self.weights

    def mean_square(self) -> float:
        """Mean square of a coordinate over the cone measure, in units of its weight: E Y^2 / E ||Y||^2."""
        d, p = self.dimension, self.order
        if p == inf:
            return (d + 2.0) / (3.0 * d)
        log = gammaln(3.0 / p) + gammaln(d / p) - gammaln(1.0 / p) - gammaln((d + 2.0) / p)
        return float(np.exp(log))


def spread_of(values: ArrayLike) -> Floats:
    """Weights of the coordinates, checked, as an array nobody can change."""
    spread = np.array(values, dtype=np.float64, ndmin=1)
    if spread.ndim != 1 or spread.size == 0:
        raise TooFewRecords.about("spread", "need one number a coordinate, and at least one")
    if not np.isfinite(spread).all():
        raise NotFinite.about("spread", "holds a number that is not finite")
    if (spread < 0.0).any() or not spread.any():
        raise OutOfRange.about(
            "spread",
            "need numbers of at least 0, at least one of them above 0; a parameter that never varies needs no noise",
        )
    spread.setflags(write=False)
    return spread


def in_weights(vectors: Floats, weights: Floats) -> Floats:
    """Coordinates in units of their weights; 0/0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = vectors / weights
    return np.where(vectors == 0.0, 0.0, ratio)


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
    one, other = value[index], value[index + 1]
    # the cubic with these values and slopes at both ends (Hermite)
    first, last = STEP * slope[index], STEP * slope[index + 1]
    rise = other - one
    cubic = one + t * (rise + (1.0 - t) * ((first - rise) * (1.0 - t) + (rise - last) * t))
    result = np.where(below, value[0] + STEP * place, np.where(beyond, 0.0, cubic))
    return np.minimum(np.exp(result), 1.0)


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
