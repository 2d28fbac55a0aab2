"""Around any fitting function: a random half, a fit, noise of a scale found in one of four ways, rounded to a grid.

The data set is fixed. What is random is the half, the noise, and whatever the fit draws itself: eta is about them, and
holds for this very data set and this very fit. The scale is found on halves drawn apart from the one that is released:
Algorithm 1 of the paper finds it within the released half, and then the scale itself tells who was in (erratum).
What the fit does besides is no part of it: an error it raises on the released half, or its running time, may tell more.

What is proven is about noise of real numbers. A double is not one: the noise is rounded before the fit is added, and
so near 0 the sum takes values with some fits that it cannot take with others (Mironov 2012). In the cells of a grid
there are many values of the noise each, and which of them it was is no longer to be seen; to round is to process what
is released, which no attack gains by. The grid is of powers of two, known beforehand from the noise and its scale.
"""

from collections.abc import Callable
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from estimators.arrays import Floats
from estimators.errors import OutOfRange, TooFewRecords, require_open_unit
from estimators.python.dataclass import dataclass
from estimators.statement import Guarantee
from estimators.theory.mip import scales
from estimators.theory.mip.noises import Gaussian, KNorm, Noise, Norm
from estimators.theory.mip.refits import Fit, Purpose, Refits, root_of, stream

FINENESS = 20
"""Cells in a deviation of the noise, as a power of two: too fine to cost anything, and 2^30 values of noise in each."""

WHOLE = 2.0**52  # doubles from here on are whole numbers


def grid_of(noise: Noise, scale: float) -> Floats:
    """Width of the cells of every coordinate: 2^-20 of its noise or a little less, 0 where it has none."""
    deviation = noise.deviation(scale)
    power = np.ldexp(1.0, np.frexp(deviation)[1] - 1 - FINENESS)
    return np.where(deviation > 0.0, np.maximum(power, np.finfo(np.float64).smallest_subnormal), 0.0)


def noisy(bare: Floats, noise: Noise, scale: float, generator: np.random.Generator) -> Floats:
    """Rows of parameters with noise of their own each, on the grid."""
    total = bare + noise.sample(scale, len(bare), generator)
    grid = grid_of(noise, scale)
    # beyond 2^52 cells from 0 the doubles are on the grid themselves; dividing by a power of two is exact
    fine = np.abs(total) < WHOLE * grid
    cells = np.divide(total, grid, out=np.zeros_like(total), where=fine)
    return np.where(fine, np.rint(cells) * grid, total)


Shape = Callable[[Floats], Noise]
"""From the spread of the coordinates to a noise: ``Gaussian`` itself, or one of those below."""

CERTIFIED = Guarantee(
    "accuracy of any attack on any record of this data set, over the random half and the noise",
    "the half and the noise are drawn as described, as real numbers, and the attacker does not know the seed",
    True,
)
ESTIMATED = Guarantee(
    "accuracy of any attack on any record of this data set, over the random half and the noise",
    "the moment estimated from a sample of fits is at least the true one; no sample can prove this",
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
class ScaledNoise:
    """A noise, its scale, and whether eta is certified at it."""

    noise: Noise
    scale: float
    guarantee: Guarantee


class Method(Protocol):
    """A way to find the scale."""

    @property
    def name(self) -> str:
        """In a word."""

    def calibrate(self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator) -> ScaledNoise:
        """The noise for a wanted eta."""


@dataclass(frozen=True, slots=True)
class Swaps:
    """Certified, by swaps: ``rounds`` pairs of every record, half as many fits as rounds times records. Least noise.

    Args:
        rounds: Pairs of every record, at least 1; too few certify nothing.
        draws: Fits that set the shape of the noise, at least 2.
        shape: From the spread of the parameters to a noise: ``mip.Gaussian``, ``mip.moment_laplace``,
            ``mip.euclid_laplace``, ``mip.max_laplace`` or ``mip.one_laplace``.
        name: What results call this method; leave it.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> ages = np.random.default_rng(0).integers(20, 80, size=20)
        >>> result = mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Swaps(rounds=64))
        >>> result.certified, result.confidence
        (True, 0.95)
    """

    rounds: int = 256
    draws: int = 64
    shape: Shape = Gaussian
    name: str = "swaps"

    def calibrate(self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator) -> ScaledNoise:
        """The shape from draws of its own, then the scale from swaps.

        Args:
            refits, eta, confidence, generator: ``privatize`` passes them.
        """
        noise = self.shape(scales.spread_of_draws(refits.draws(self.draws, generator)))
        sizes, group = [], []
        for before, after, leaver, newcomer in refits.rounds(self.rounds, generator):
            size = noise.size(after - before)
            sizes += [size, size]
            group += [leaver, newcomer]
        pairs = scales.Sizes(noise, np.concatenate(sizes), np.concatenate(group), refits.records, 0.5)
        return ScaledNoise(noise, _enough(pairs, eta, confidence, "rounds"), CERTIFIED)


@dataclass(frozen=True, slots=True)
class Draws:
    """Certified, by independent draws: few fits however many records, and noise of the size of the fit's own spread.

    Args:
        count: Fits to random halves, in pairs, at least 2; too few certify nothing.
        draws, shape, name: As for ``Swaps``.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> ages = np.random.default_rng(0).integers(20, 80, size=20)
        >>> swaps = mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Swaps(rounds=64))
        >>> draws = mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Draws(count=128))
        >>> swaps.scale < draws.scale
        True
    """

    count: int = 512
    draws: int = 64
    shape: Shape = Gaussian
    name: str = "draws"

    def calibrate(self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator) -> ScaledNoise:
        """The shape from draws of its own, then the scale from pairs of others.

        Args:
            refits, eta, confidence, generator: ``privatize`` passes them.
        """
        noise = self.shape(scales.spread_of_draws(refits.draws(self.draws, generator)))
        pairs = scales.Sizes.of_draws(noise, refits.draws(self.count, generator))
        return ScaledNoise(noise, _enough(pairs, eta, confidence, "count"), CERTIFIED)


@dataclass(frozen=True, slots=True)
class Moment:
    """An estimate put into our bound: TV(2 sigma/s)/2, at most sigma/(2 s).

    Args:
        draws: Fits to random halves from which the moment is estimated, at least 2.
        order: Order of the moment, at least 1.
        shape: As for ``Swaps``.
        name: What results call this method; leave it.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> ages = np.random.default_rng(0).integers(20, 80, size=20)
        >>> print(mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Moment()).guarantee.assumes)
        the moment estimated from a sample of fits is at least the true one; no sample can prove this
    """

    draws: int = 256
    order: float = 2.0
    shape: Shape = Gaussian
    name: str = "moment"

    def calibrate(self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator) -> ScaledNoise:
        """The moment of random halves of the whole data set.

        Args:
            refits, eta, confidence, generator: ``privatize`` passes them.
        """
        draws = refits.draws(self.draws, generator)
        noise = self.shape(scales.spread_of_draws(draws, self.order))
        return ScaledNoise(
            noise, scales.moment_scale(eta, noise, scales.moment_of(draws, noise, self.order)), ESTIMATED
        )


@dataclass(frozen=True, slots=True)
class Paper:
    """Algorithm 1 with the right radius: an estimate put into Corollary 10 (Theorem 9, for moments below 2).

    Args:
        draws: Fits to random halves from which the moment is estimated, at least 2.
        order: Order of the moment, at least 1.
        name: What results call this method; leave it.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> ages = np.random.default_rng(0).integers(20, 80, size=20)
        >>> ours = mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Moment(shape=mip.moment_laplace))
        >>> paper = mip.privatize(np.mean, ages, eta=0.1, seed=1, method=mip.Paper())
        >>> ours.scale < paper.scale
        True
    """

    draws: int = 256
    order: float = 2.0
    name: str = "paper"

    def calibrate(self, refits: Refits, eta: float, confidence: float, generator: np.random.Generator) -> ScaledNoise:
        """In the moment norm sigma is 1.

        Args:
            refits, eta, confidence, generator: ``privatize`` passes them.
        """
        noise = moment_laplace(scales.spread_of_draws(refits.draws(self.draws, generator), self.order), self.order)
        scale = scales.corollary_10_scale if self.order >= 2.0 else scales.theorem_9_scale
        return ScaledNoise(noise, scale(eta, 1.0, self.order), ESTIMATED)


def _enough(sizes: scales.Sizes, eta: float, confidence: float, option: str) -> float:
    scale = sizes.scale(eta, confidence)
    if scale < inf:
        return scale
    if sizes.fewest < sizes.least_pairs(eta, confidence):
        raise TooFewRecords.about(
            option,
            f"got {sizes.fewest} pairs for each record, need at least "
            f"{sizes.least_pairs(eta, confidence)} for this eta and confidence; more pairs bring the noise "
            "closer to the least possible",
        )
    raise OutOfRange.about(
        "draws", "a parameter was the same in all draws but changes under a swap, so it would get no noise; draw more"
    )


@dataclass(frozen=True, slots=True, eq=False)
class PrivateFit:
    """Noisy parameters, and all that may be said with them: neither the half nor the bare fit is kept.

    ``mip.privatize`` makes it.

    Attributes:
        parameters: The noisy parameters, in the shape that the fit returned.
        noise: The noise that was added, without its scale.
        scale: The scale of the noise.
        eta: Accuracy that any attack may have above guessing.
        baseline: Accuracy of guessing.
        confidence: Probability that the certificate holds; None if eta rests on an estimate.
        method: How the scale was found.
        guarantee: What eta covers and what it assumes.
    """

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
) -> PrivateFit:
    """Fit a random half of ``data`` and add noise, to keep attacks within ``eta`` of guessing.

    Scale, half and noise come from three streams of a seed that nobody knows: 128 bits from the operating system. A
    ``seed`` given instead is for tests: whoever knows it, or can try all it may be, knows the half, so it must be
    random and secret.

    Args:
        fit: Function from the records of a training set (rows of ``data``) to a number or an array of a fixed shape.
        data: The records, one a row, at least 2.
        eta: Accuracy that any attack may have above guessing, above 0 and below 0.5.
        seed: For tests only; leave it out if the result is to be released.
        method: How the scale is found: ``Swaps()`` and ``Draws()`` certify it, ``Moment()`` and ``Paper()`` rest on an
            estimate.
        confidence: Probability that the certificate holds, strictly between 0 and 1.

    Raises:
        MaceError: a number out of its range, too few records or fits, or a fit that returns no numbers.

    Example:
        >>> import numpy as np
        >>> from estimators.theory import mip
        >>> heights = np.random.default_rng(0).normal(170, 10, size=100)
        >>> result = mip.privatize(np.mean, heights, eta=0.1, seed=1, method=mip.Draws())
        >>> result.certified, result.accuracy
        (True, 0.6)
        >>> 150 < float(result.parameters) < 190
        True
    """
    eta, confidence = scales.require_eta(eta), require_open_unit("confidence", confidence)
    root = root_of(seed)
    calibrating = stream(root, Purpose.CALIBRATING)
    refits = Refits.of(fit, data, calibrating)
    calibration = method.calibrate(refits, eta, confidence, calibrating)
    bare = refits.parameters(refits.training_set(stream(root, Purpose.HALVING))[0])
    released = noisy(bare[None, :], calibration.noise, calibration.scale, stream(root, Purpose.ADDING))
    return PrivateFit(
        released.reshape(refits.shape),
        calibration.noise,
        calibration.scale,
        eta,
        refits.baseline,
        confidence if calibration.guarantee.finite_sample else None,
        method.name,
        calibration.guarantee,
    )
