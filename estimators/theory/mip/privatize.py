"""Around any fitting function: a random half, a fit, noise; and what attacks on the result are kept to.

The data set is fixed. What is random is the half, the noise, and whatever the fit draws itself: eta is about them, and
holds for this very data set and this very fit. The scale is found on halves drawn apart from the one that is released:
Algorithm 1 of the paper finds it within the released half, and then the scale itself tells who was in (erratum).
What the fit does besides is no part of it: an error it raises on the released half, or its running time, may tell more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import require_open_unit
from estimators.statement import Guarantee
from estimators.theory.mip.methods import Method, Swaps
from estimators.theory.mip.noises import Noise
from estimators.theory.mip.refits import Fit, Refits
from estimators.theory.mip.release import grid_of, noisy
from estimators.theory.mip.scales import require_eta
from estimators.theory.mip.streams import Purpose, root_of, stream

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Privatized:
    """Noisy parameters, and all that may be said with them: neither the half nor the bare fit is kept."""

    parameters: Floats
    noise: Noise
    scale: float
    eta: float
    baseline: float
    confidence: float | None
    method: str
    guarantee: Guarantee

    @property
    def certified(self) -> bool:
        """Whether eta is certified at ``confidence``; otherwise it rests on an estimate."""
        return self.guarantee.finite_sample

    @property
    def accuracy(self) -> float:
        """What attacks on any record are kept to, where guessing has ``baseline``.

        At ``confidence`` if it is certified; otherwise an estimate, which an attack may beat.
        """
        return min(1.0, self.baseline + self.eta)

    @property
    def deviation(self) -> Floats:
        """Root mean square of the noise of every parameter."""
        return self.noise.deviation(self.scale).reshape(self.parameters.shape)

    @property
    def grid(self) -> Floats:
        """What every parameter is a multiple of; 0 where it has no noise."""
        return grid_of(self.noise, self.scale).reshape(self.parameters.shape)


DEFAULT = Swaps()


def privatize(
    fit: Fit,
    data: ArrayLike,
    eta: float,
    *,
    seed: int | None = None,
    method: Method = DEFAULT,
    confidence: float = 0.95,
) -> Privatized:
    """Fit a random half of ``data`` and add noise, to keep attacks within ``eta`` of guessing.

    ``fit`` maps the records of a training set (rows of ``data``) to a number or an array of a fixed shape. Scale, half
    and noise come from three streams of a seed that nobody knows: 128 bits from the operating system. A ``seed`` given
    instead is for tests: whoever knows it, or can try all it may be, knows the half, so it must be random and secret.
    """
    eta, confidence = require_eta(eta), require_open_unit("confidence", confidence)
    root = root_of(seed)
    calibrating = stream(root, Purpose.CALIBRATING)
    refits = Refits.of(fit, data, calibrating)
    found = method.calibrated(refits, eta, confidence, calibrating)
    bare = refits.parameters(refits.training_set(stream(root, Purpose.HALVING))[0])
    released = noisy(bare[None, :], found.noise, found.scale, stream(root, Purpose.ADDING))
    return Privatized(
        released.reshape(refits.shape),
        found.noise,
        found.scale,
        eta,
        refits.baseline,
        confidence if found.guarantee.finite_sample else None,
        method.name,
        found.guarantee,
    )
