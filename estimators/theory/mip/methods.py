"""Ways to find the noise for a wanted eta around any fit: two that certify it, two that put in an estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, TooFewRecords
from estimators.statement import Guarantee
from estimators.theory.mip.certificate import Sizes
from estimators.theory.mip.moments import moment_of, spread_of_draws
from estimators.theory.mip.noises import Gaussian, KNorm, Noise
from estimators.theory.mip.norms import Norm
from estimators.theory.mip.refits import Refits
from estimators.theory.mip.scales import corollary_10_scale, moment_scale, theorem_9_scale

Floats = NDArray[np.float64]
Shape = Callable[[Floats], Noise]
"""From the spread of the coordinates to a noise: ``Gaussian`` itself, or one of those below."""

CERTIFIED = Guarantee(
    "accuracy of any attack on any record of this data set, over the random half and the noise",
    "the half and the noise are drawn as said, as real numbers, and the adversary does not know the seed",
    True,
)
ESTIMATED = Guarantee(
    "accuracy of any attack on any record of this data set, over the random half and the noise",
    "the moment estimated from a sample of fits is at least the true one, which no sample can show",
    False,
)


def moment_laplace(spread: Floats, order: float = 2.0) -> Noise:
    """The paper's noise: ~ exp(-||x||/s) in the norm that weighs every coordinate by its spread."""
    return KNorm(Norm.moment(spread, order))


def euclid_laplace(spread: Floats) -> Noise:
    """exp(-length/s), the same in every direction."""
    return KNorm(Norm.euclid(len(spread)))


def max_laplace(spread: Floats) -> Noise:
    """exp(-largest coordinate/s)."""
    return KNorm(Norm.max(len(spread)))


def one_laplace(spread: Floats) -> Noise:
    """Independent Laplace noise of one scale in every coordinate."""
    return KNorm(Norm.one(len(spread)))


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """A noise, its scale, and whether eta is certified at it."""

    noise: Noise
    scale: float
    guarantee: Guarantee


class Method(Protocol):
    """A way to find the scale."""

    @property
    def name(self) -> str:
        """In a word."""

    def calibrated(
        self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator
    ) -> Calibrated:
        """The noise for a wanted eta."""


@dataclass(frozen=True, slots=True)
class Swaps:
    """Certified, by swaps: ``rounds`` pairs of every record, half as many fits as rounds times records. Least noise."""

    rounds: int = 256
    draws: int = 64
    shape: Shape = Gaussian
    name: str = "swaps"

    def calibrated(
        self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator
    ) -> Calibrated:
        """The shape from draws of its own, then the scale from swaps."""
        noise = self.shape(spread_of_draws(refits.draws(self.draws, generator)))
        sizes, group = [], []
        for before, after, left, came in refits.rounds(self.rounds, generator):
            size = noise.size(after - before)
            sizes += [size, size]
            group += [left, came]
        found = Sizes(noise, np.concatenate(sizes), np.concatenate(group), refits.records, 0.5)
        return Calibrated(noise, _enough(found, eta, confidence, "rounds"), CERTIFIED)


@dataclass(frozen=True, slots=True)
class Draws:
    """Certified, by independent draws: few fits however many records, and noise of the size of the fit's own spread."""

    count: int = 512
    draws: int = 64
    shape: Shape = Gaussian
    name: str = "draws"

    def calibrated(
        self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator
    ) -> Calibrated:
        """The shape from draws of its own, then the scale from pairs of others."""
        noise = self.shape(spread_of_draws(refits.draws(self.draws, generator)))
        found = Sizes.of_draws(noise, refits.draws(self.count, generator))
        return Calibrated(noise, _enough(found, eta, confidence, "count"), CERTIFIED)


@dataclass(frozen=True, slots=True)
class Moment:
    """An estimate put into our bound: TV(2 sigma/s)/2, at most sigma/(2 s)."""

    draws: int = 256
    order: float = 2.0
    shape: Shape = Gaussian
    name: str = "moment"

    def calibrated(
        self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator
    ) -> Calibrated:
        """The moment of random halves of the whole data set."""
        draws = refits.draws(self.draws, generator)
        noise = self.shape(spread_of_draws(draws, self.order))
        return Calibrated(noise, moment_scale(eta, noise, moment_of(draws, noise, self.order)), ESTIMATED)


@dataclass(frozen=True, slots=True)
class Paper:
    """Algorithm 1 with the right radius: an estimate put into Corollary 10 (Theorem 9, for moments below 2)."""

    draws: int = 256
    order: float = 2.0
    name: str = "paper"

    def calibrated(
        self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator
    ) -> Calibrated:
        """In the moment norm sigma is 1."""
        noise = moment_laplace(spread_of_draws(refits.draws(self.draws, generator), self.order), self.order)
        scale = corollary_10_scale if self.order >= 2.0 else theorem_9_scale
        return Calibrated(noise, scale(eta, 1.0, self.order), ESTIMATED)


def _enough(found: Sizes, eta: float, confidence: float, option: str) -> float:
    scale = found.scale(eta, confidence)
    if scale < inf:
        return scale
    if found.fewest < found.needed(eta, confidence):
        raise TooFewRecords(
            f"{option}: got {found.fewest} pairs a record, need at least {found.needed(eta, confidence)} for this eta "
            "and confidence, and some more to be near the least noise",
            field=option,
        )
    raise OutOfRange(
        "draws: a parameter that never varied in them varies under a swap, and has no noise; draw more",
        field="draws",
    )
