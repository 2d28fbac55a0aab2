"""The ROC curve that no adversary is above: concave, and its own mirror image, as a promise holds both ways round.

Everything a promise allows is read off it: the best of a weighted sum of TPR and 1 - FPR, and the TPR at an FPR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]

LARGEST = 700.0
"""Beyond it e^epsilon is no float, and 1 - e^-epsilon is 1."""


def advantage_of(accuracy: float, prior: float) -> float:
    """The baseline and what is gained over it, so that without a gain it is the baseline to the last bit."""
    return abs(2.0 * prior - 1.0) + 2.0 * max(0.0, accuracy - max(prior, 1.0 - prior))


class Envelope(Protocol):
    """The largest TPR at each FPR."""

    def tpr(self, fpr: ArrayLike) -> Floats:
        """Largest TPR at each FPR."""
        ...

    def best(self, members: float, nonmembers: float) -> float:
        """Largest ``members`` TPR + ``nonmembers`` (1 - FPR): accuracy, for weights that sum to one."""
        ...

    def twice(self) -> Envelope:
        """What two neighbours in a row allow, R(R(x)): the first takes FPR to R, the second R to R(R)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """Straight between its corners, which are in order of FPR and end at (1, 1)."""

    fpr: Floats
    height: Floats

    @classmethod
    def of(cls, epsilons: Sequence[float], deltas: Sequence[float]) -> Corners:
        """What several (epsilon, delta) allow at once: below each line delta + e^epsilon FPR and its mirror image.

        Left of the antidiagonal only the steep lines count, as a shallow one meets its own steep one there. One pair
        alone has the corners (0, delta), (a, 1-a), (1-delta, 1), a = (1-delta)/(1+e^epsilon) (Kairouz et al. 2015).
        """
        slope = np.exp(np.minimum(np.asarray(epsilons, dtype=np.float64), LARGEST))
        start = np.asarray(deltas, dtype=np.float64)
        at = int(np.lexsort((slope, start))[0])
        x, y = [0.0], [float(start[at])]
        end = (1.0 - start) / (1.0 + slope)  # where a line meets the antidiagonal
        while True:
            crossing = np.full(slope.shape, inf)
            flatter = slope < slope[at]
            crossing[flatter] = (start[flatter] - start[at]) / (slope[at] - slope[flatter])
            after = int(np.argmin(crossing))
            if crossing[after] >= end[at]:
                break
            x.append(float(crossing[after]))
            y.append(float(start[at] + slope[at] * crossing[after]))
            at = after
        left, up = np.array(x), np.array(y)
        middle = float(end[at])
        return cls(
            np.concatenate([left, [middle], 1.0 - up[::-1], [1.0]]),
            np.concatenate([up, [1.0 - middle], 1.0 - left[::-1], [1.0]]),
        )

    def tpr(self, fpr: ArrayLike) -> Floats:
        """Straight between the corners."""
        return np.asarray(np.interp(np.asarray(fpr, dtype=np.float64), self.fpr, self.height))

    def best(self, members: float, nonmembers: float) -> float:
        """A linear function is largest at a corner."""
        return float(np.max(members * self.height + nonmembers * (1.0 - self.fpr)))

    def twice(self) -> Corners:
        """It bends where the first step does, and where the first step ends at a bend of the second."""
        rising = self.height < 1.0
        rising[np.argmax(~rising)] = True
        before = np.interp(self.fpr[self.fpr >= self.height[0]], self.height[rising], self.fpr[rising])
        at = np.unique(np.concatenate([self.fpr, before]))
        return Corners(at, self.tpr(self.tpr(at)))


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Phi(Phi^-1(FPR) + mu), the curve of N(mu, 1) against N(0, 1) (Dong, Roth and Su 2022)."""

    mu: float

    def tpr(self, fpr: ArrayLike) -> Floats:
        """The height of the curve."""
        return np.asarray(ndtr(ndtri(np.asarray(fpr, dtype=np.float64)) + self.mu))

    def best(self, members: float, nonmembers: float) -> float:
        """At the cut where the weighted densities are equal, mu/2 - log(members/nonmembers)/mu."""
        if self.mu == 0.0:
            return max(members, nonmembers)
        tilt = log(members / nonmembers) / self.mu
        return float(members * ndtr(self.mu / 2.0 + tilt) + nonmembers * ndtr(self.mu / 2.0 - tilt))

    def twice(self) -> Gaussian:
        """Two shifts add up."""
        return Gaussian(2.0 * self.mu)
