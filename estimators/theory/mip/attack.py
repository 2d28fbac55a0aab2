"""What attacks attain against noise: one of our own, the best on the line, and that on Corollary 10 as printed.

An attack of our own: the likelihood ratio of a noisy release, from fits to halves the adversary draws himself.

He knows the data set, the fit, the noise and its scale: all but the half and the seed. With as many shadow fits as
there are halves he is the best there is; with fewer he is nearly so. What he attains is a lower end for eta, never an
upper one.

What the best attack attains on one number with noise, when all training sets can be gone through: the truth.

Corollary 10 as printed: a Laplace radius in d dimensions, and what an attack attains against it.

Shells of radius r have volume r^(d-1), so this is not the density exp(-||x||/c) of Theorem 9 unless d = 1: it has a
pole at 0, and lies as near the parameters in a million dimensions as in one. In enough dimensions it hides nothing.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, softmax

from estimators.arrays import Floats
from estimators.errors import DimensionMismatch, require_count, require_open_unit, require_positive
from estimators.limits.binomial import lower_limit
from estimators.python.dataclass import dataclass
from estimators.theory.mip.noises import Gaussian, Noise
from estimators.theory.mip.privatize import noisy
from estimators.theory.mip.refits import Fit, Purpose, Refits, root_of, stream

BLOCK = 64  # releases at a time: each is compared with every shadow fit, in every coordinate


@dataclass(frozen=True, slots=True, eq=False)
class AttackResult:
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
) -> AttackResult:
    """Attack every record of ``data`` in ``releases`` fresh releases of the fit with noise."""
    require_open_unit("confidence", confidence)
    require_positive("scale", scale)
    root = root_of(seed)
    learning, judging = stream(root, Purpose.LEARNING), stream(root, Purpose.JUDGING)
    refits = Refits.of(fit, data, learning)
    shadow_fits, inside = _fits(refits, require_count("shadows", shadows, 2), learning)
    bare, truth = _fits(refits, require_count("releases", releases), judging)
    outputs = noisy(bare, noise, scale, judging)
    share = np.clip(inside.mean(axis=0), 1e-9, 1.0 - 1e-9)
    right = np.zeros(refits.records, dtype=np.int64)
    for start in range(0, releases, BLOCK):
        part = outputs[start : start + BLOCK]
        apart = (part[:, None, :] - shadow_fits[None, :, :]).reshape(-1, shadow_fits.shape[1])
        ratio = (noise.size(apart) / scale).reshape(len(part), -1)
        member = softmax(noise.log_density(ratio), axis=1) @ inside
        guess = member / share >= (1.0 - member) / (1.0 - share)
        right += (guess == truth[start : start + BLOCK]).sum(axis=0)
    return AttackResult(right, releases, confidence, refits.baseline)


def _fits(refits: Refits, count: int, generator: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    fits, rows = [], np.zeros((count, refits.records), dtype=np.bool_)
    for row in rows:
        members = refits.training_set(generator)[0]
        row[members] = True
        fits.append(refits.parameters(members))
    return np.stack(fits), rows


REACH = {"gaussian": 9.0, "laplace": 40.0}
"""Scales beyond which a noise has less than 1e-17 of its probability."""


def attained_eta(outputs: ArrayLike, rows: NDArray[np.bool_], noise: Noise, scale: float, points: int = 8001) -> Floats:
    """TV(in, out)/2 of every record: law in and out are mixtures of the noise at the outputs of the training sets.

    The probabilities of intervals are exact; where the difference of the densities changes sign inside one, a little
    is lost. So it errs downward, by the square of the intervals' length: the best attack attains it, and no more than a
    trifle above it.
    """
    theta = np.asarray(outputs, dtype=np.float64).ravel()
    if noise.dimension != 1 or len(theta) != len(rows):
        raise DimensionMismatch.about("outputs", "need one number a training set, and a noise on the line")
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
