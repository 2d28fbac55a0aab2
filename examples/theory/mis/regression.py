"""The regression data of the paper's appendix D: points on a sphere, a function of one coordinate, Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from estimators.theory.mis.overfitting import LossesOf, overfitting

Floats = NDArray[np.float64]

THRESHOLDS = (1e-6, 1e-4, 1e-2)
"""Losses at or below these are counted. The text of the paper names the first; its legends are not in the text."""

NOISE = 0.1
"""The paper's noise is N(0, 0.01), read as a variance."""


@dataclass(frozen=True)
class Sample:
    """Inputs and targets."""

    x: Floats
    y: Floats


def draw(rng: np.random.Generator, records: int, dimension: int, *, linear: bool) -> Sample:
    """``records`` pairs (x, f(x) + noise): f is x_1, or sin(pi x_1); the paper's beta is the first axis."""
    normal = rng.normal(size=(records, dimension))
    x = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    signal = x[:, 0] if linear else np.sin(np.pi * x[:, 0])
    return Sample(x, signal + NOISE * rng.normal(size=records))


def below(losses: Floats) -> Floats:
    """The fraction of losses at or below each threshold."""
    return np.array([np.mean(losses <= threshold) for threshold in THRESHOLDS])


def ceiling(threshold: float) -> float:
    """No model has a squared loss of ``threshold`` or less on a new record more often than this.

    A new record's noise does not depend on the model; around whatever the model says, an interval of half
    width sqrt(threshold) holds no more of N(0, NOISE^2) than around 0.
    """
    return float(erf(np.sqrt(threshold / 2.0) / NOISE))


@dataclass(frozen=True)
class Losses:
    """Squared errors on training records and on new ones, all of one model or each of a training of its own."""

    train: Floats
    heldout: Floats
    of: LossesOf

    def security_at_most(self) -> float:
        """Theorem 11 at nu = 1/2, lambda = 1: with 95% confidence, over all thresholds together."""
        result = overfitting(self.train, self.heldout, thresholds=THRESHOLDS, losses_of=self.of)
        return result.security.upper
