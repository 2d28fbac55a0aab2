"""Norms that weigh every coordinate by its spread, and uniform draws from their spheres."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln

from estimators.errors import NotFinite, OutOfRange, TooFewRecords, require_count, require_number

Floats = NDArray[np.float64]


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
            raise OutOfRange(f"order: got {order!r}, need at least 1, or it is no norm", field="order")
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
        ratio = np.abs(weighed(vectors, self.weights))
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


def spread_of(given: ArrayLike) -> Floats:
    """Weights of the coordinates, checked, as an array nobody can change."""
    spread = np.array(given, dtype=np.float64, ndmin=1)
    if spread.ndim != 1 or spread.size == 0:
        raise TooFewRecords("spread: need one number a coordinate, and at least one", field="spread")
    if not np.isfinite(spread).all():
        raise NotFinite("spread: holds a number that is not finite", field="spread")
    if (spread < 0.0).any() or not spread.any():
        raise OutOfRange(
            "spread: need numbers of at least 0, one of them above 0: what never varies needs no noise",
            field="spread",
        )
    spread.setflags(write=False)
    return spread


def weighed(vectors: Floats, weights: Floats) -> Floats:
    """Coordinates in units of their weights; 0/0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = vectors / weights
    return np.where(vectors == 0.0, 0.0, ratio)
