"""The ROC curve that no adversary is above: concave, and its own mirror image, as a promise holds both ways round.

Everything a promise allows is read off it: the TPR at an FPR, and what members TPR + nonmembers (1 - FPR) gains over
the better constant guess. That is max(less TPR - more FPR), the smaller weight first, as a mirror image may be taken:
no difference of nearly equal numbers, however unequal the weights.
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


class Envelope(Protocol):
    """The largest TPR at each FPR."""

    def tpr(self, fpr: ArrayLike) -> Floats:
        """Largest TPR at each FPR."""
        ...

    def gain(self, members: float, nonmembers: float) -> float:
        """Largest ``members`` TPR + ``nonmembers`` (1 - FPR), less the larger weight."""
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

    def gain(self, members: float, nonmembers: float) -> float:
        """A linear function is largest at a corner; (0, 0) gains nothing."""
        less, more = sorted((members, nonmembers))
        return max(0.0, float(np.max(less * self.height - more * self.fpr)))

    def twice(self) -> Corners:
        """It bends where the first step does, and where the first step ends at a bend of the second."""
        rising = self.height < 1.0
        rising[np.argmax(~rising)] = True
        before = np.interp(self.fpr[self.fpr >= self.height[0]], self.height[rising], self.fpr[rising])
        at = np.unique(np.concatenate([self.fpr, before]))
        return Corners(at, self.tpr(self.tpr(at)))


@dataclass(frozen=True, slots=True)
class GaussianEnvelope:
    """Phi(Phi^-1(FPR) + mu), the curve of N(mu, 1) against N(0, 1) (Dong, Roth and Su 2022)."""

    mu: float

    def tpr(self, fpr: ArrayLike) -> Floats:
        """The height of the curve."""
        return np.asarray(ndtr(ndtri(np.asarray(fpr, dtype=np.float64)) + self.mu))

    def gain(self, members: float, nonmembers: float) -> float:
        """At the cut where the weighted densities are equal, mu/2 + log(more/less)/mu."""
        if self.mu == 0.0:
            return 0.0
        less, more = sorted((members, nonmembers))
        tilt = log(more / less) / self.mu
        return max(0.0, float(less * ndtr(self.mu / 2.0 - tilt) - more * ndtr(-self.mu / 2.0 - tilt)))

    def twice(self) -> GaussianEnvelope:
        """Two shifts add up."""
        return GaussianEnvelope(2.0 * self.mu)
