"""An attack of our own: the likelihood ratio of a noisy release, from fits to halves the adversary draws himself.

He knows the data set, the fit, the noise and its scale: all but the half and the seed. With as many shadow fits as
there are halves he is the best there is; with fewer he is nearly so. What he attains is a lower end for eta, never an
upper one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from estimators.errors import require_count, require_open_unit, require_positive
from estimators.limits.binomial import lower_limit
from estimators.theory.mip.noises import Noise
from estimators.theory.mip.refits import Fit, Refits
from estimators.theory.mip.release import noisy
from estimators.theory.mip.streams import Purpose, root_of, stream

Floats = NDArray[np.float64]

BLOCK = 64
"""Releases at a time: each is compared with every shadow fit, in every coordinate."""


@dataclass(frozen=True, slots=True, eq=False)
class Attacked:
    """How often the attack was right about every record, in so many releases."""

    right: NDArray[np.int64]
    releases: int
    confidence: float
    baseline: float

    @property
    def accuracy(self) -> Floats:
        """Share of right guesses, record by record; the largest of many is above the truth by luck alone."""
        return self.right / self.releases

    @property
    def worst(self) -> int:
        """The record it was most often right about."""
        return int(self.right.argmax())

    @property
    def lower(self) -> float:
        """Lower limit of the accuracy on the worst record (Clopper and Pearson), Bonferroni for having chosen it."""
        alpha = (1.0 - self.confidence) / len(self.right)
        return max(self.baseline, float(lower_limit(float(self.right.max()), self.releases, alpha)))

    @property
    def eta(self) -> float:
        """Lower limit of eta: 0 if it was not surely better than guessing."""
        return self.lower - self.baseline


def attack(
    fit: Fit,
    data: ArrayLike,
    noise: Noise,
    scale: float,
    *,
    seed: int,
    shadows: int = 1024,
    releases: int = 1000,
    confidence: float = 0.95,
) -> Attacked:
    """Attack every record of ``data`` in ``releases`` fresh releases of the fit with noise."""
    require_open_unit("confidence", confidence)
    require_positive("scale", scale)
    root = root_of(seed)
    learning, judging = stream(root, Purpose.LEARNING), stream(root, Purpose.JUDGING)
    refits = Refits.of(fit, data, learning)
    known, inside = _fits(refits, require_count("shadows", shadows, 2), learning)
    bare, truth = _fits(refits, require_count("releases", releases), judging)
    seen = noisy(bare, noise, scale, judging)
    share = np.clip(inside.mean(axis=0), 1e-9, 1.0 - 1e-9)
    right = np.zeros(refits.records, dtype=np.int64)
    for start in range(0, releases, BLOCK):
        part = seen[start : start + BLOCK]
        apart = (part[:, None, :] - known[None, :, :]).reshape(-1, known.shape[1])
        ratio = (noise.size(apart) / scale).reshape(len(part), -1)
        member = softmax(noise.log_density(ratio), axis=1) @ inside
        guess = member / share >= (1.0 - member) / (1.0 - share)
        right += (guess == truth[start : start + BLOCK]).sum(axis=0)
    return Attacked(right, releases, confidence, refits.baseline)


def _fits(refits: Refits, count: int, generator: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    found, rows = [], np.zeros((count, refits.records), dtype=np.bool_)
    for row in rows:
        members = refits.training_set(generator)[0]
        row[members] = True
        found.append(refits.parameters(members))
    return np.stack(found), rows
