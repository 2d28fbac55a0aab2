"""Around any fitting function: a random half, a fit, noise; and what no attack on the result can beat.

The data set is fixed. What is random is the half, the noise, and whatever the fit draws itself: eta is about them, and
holds for this very data set and this very fit. The scale is found on halves drawn apart from the one that is released:
Algorithm 1 of the paper finds it within the released half, and then the scale itself tells who was in (erratum).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import require_count, require_open_unit
from estimators.statement import Guarantee
from estimators.theory.mip.methods import Method, Swaps
from estimators.theory.mip.noises import Noise
from estimators.theory.mip.refits import Fit, Refits
from estimators.theory.mip.scales import require_eta

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Privatized:
    """Noisy parameters, and all that may be said with them: neither the half nor the bare fit is kept."""

    parameters: Floats
    noise: Noise
    scale: float
    eta: float
    confidence: float | None
    method: str
    guarantee: Guarantee

    @property
    def certified(self) -> bool:
        """Whether eta is certified at ``confidence``; otherwise it rests on an estimate."""
        return self.guarantee.finite_sample

    @property
    def accuracy(self) -> float:
        """What no attack on any record beats, where guessing has one half."""
        return 0.5 + self.eta

    @property
    def deviation(self) -> Floats:
        """Root mean square of the noise of every parameter."""
        return self.noise.deviation(self.scale).reshape(self.parameters.shape)


DEFAULT = Swaps()


def privatize(
    fit: Fit,
    data: ArrayLike,
    eta: float,
    *,
    seed: int,
    method: Method = DEFAULT,
    confidence: float = 0.95,
) -> Privatized:
    """Fit a random half of ``data`` and add noise, so that no attack is right more often than 1/2 + ``eta``.

    ``fit`` maps the records of a training set (rows of ``data``) to a number or an array. Scale, half and noise come
    from three independent streams of ``seed``, which must stay secret: whoever knows it knows the half.
    """
    eta, confidence = require_eta(eta), require_open_unit("confidence", confidence)
    refits = Refits.of(fit, data)
    streams = np.random.SeedSequence(require_count("seed", seed, 0)).spawn(3)
    calibrating, halving, adding = (np.random.default_rng(stream) for stream in streams)
    found = method.calibrated(refits, eta, confidence, calibrating)
    bare = refits.array(refits.training_set(halving)[0])
    noise = found.noise.sample(found.scale, 1, adding).reshape(bare.shape)
    stated = confidence if found.guarantee.finite_sample else None
    return Privatized(bare + noise, found.noise, found.scale, eta, stated, method.name, found.guarantee)
