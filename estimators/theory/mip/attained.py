"""What the best attack attains on one number with noise, when all training sets can be gone through: the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from estimators.errors import DimensionMismatch, require_positive
from estimators.theory.mip.noises import Gaussian, Noise

Floats = NDArray[np.float64]

REACH = {"gaussian": 9.0, "laplace": 40.0}
"""Scales beyond which a noise has less than 1e-17 of its probability."""


def attained_eta(
    outputs: ArrayLike, rows: NDArray[np.bool_], noise: Noise, scale: float, points: int = 8001
) -> Floats:
    """TV(in, out)/2 of every record: law in and out are mixtures of the noise at the outputs of the training sets.

    The probabilities of intervals are exact; where the difference of the densities changes sign inside one, a little
    is lost. So it errs downward, by the square of the intervals' length: the best attack attains it, and no more than a
    trifle above it.
    """
    theta = np.asarray(outputs, dtype=np.float64).ravel()
    if noise.dimension != 1 or len(theta) != len(rows):
        raise DimensionMismatch(
            "outputs: need one number a training set, and a noise on the line", field="outputs"
        )
    # noise of scale s reaches s times its unit, which is what has size 1
    unit = require_positive("scale", scale) / float(noise.size(np.ones((1, 1)))[0])
    reach = REACH[noise.name] * unit
    cuts = np.unique(np.concatenate([np.linspace(theta.min() - reach, theta.max() + reach, points), theta]))
    inside = rows.astype(np.float64)
    signed = inside / inside.sum(axis=0) - (1.0 - inside) / (1.0 - inside).sum(axis=0)
    difference = np.empty((len(cuts), rows.shape[1]))
    for start in range(0, len(cuts), 512):
        z = (cuts[start : start + 512, None] - theta) / unit
        below = ndtr(z) if isinstance(noise, Gaussian) else _laplace_cdf(z)
        difference[start : start + 512] = below @ signed
    return np.asarray(0.25 * np.abs(np.diff(difference, axis=0, prepend=0.0, append=0.0)).sum(axis=0))


def _laplace_cdf(z: Floats) -> Floats:
    tail = 0.5 * np.exp(-np.abs(z))
    return np.where(z < 0.0, tail, 1.0 - tail)
