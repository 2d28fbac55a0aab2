"""Product-kernel densities of vector queries: on a grid in the plane, by direct sums beyond.

In three to ten dimensions a grid has more nodes than there are records, so densities are summed over
records at the points asked for, and U_N is a Monte Carlo mean, as in MACE's Algorithm 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from estimators.arrays import Floats
from estimators.density.bandwidth import Bandwidth, Scott
from estimators.density.kernel import At, Densities, LineDensities, choose_both
from estimators.errors import InputError, require_count
from estimators.python.dataclass import dataclass
from estimators.sample.scores import Query, Scores

PLANE_POINTS = 1024
PLANE_STEPS = 12
PLANE_FEWEST_STEPS = 4
PLANE_REACH = 6.0

MOST_AXES = 10
PAIRS = 2**28
"""Kernel evaluations spent on the Monte Carlo draws of U_N; more records leave room for fewer draws."""

MOST_DRAWS, FEWEST_DRAWS = 2**14, 2**8
BLOCK_PAIRS = 2**17


def densities_of(scores: Scores, bandwidth: Bandwidth, seed: int = 0, pairs: int = PAIRS) -> Densities:
    """Both sides' densities: a line, a plane, or sums over records; the seed and ``pairs`` matter only to the last."""
    if scores.query is Query.DISCRETE:
        raise InputError("a kernel density needs a continuous query, got categories", field="query")
    members, nonmembers = np.asarray(scores.members, np.float64), np.asarray(scores.nonmembers, np.float64)
    if scores.dimension == 1:
        return LineDensities.of(members, nonmembers, bandwidth)
    if scores.dimension > MOST_AXES:
        raise InputError(
            f"kernel densities in {scores.dimension} dimensions say nothing; need at most {MOST_AXES}, "
            "or a learned adversary",
            field="estimator.kind",
        )
    if scores.dimension == 2:
        plane = PlaneDensities.of(members, nonmembers, bandwidth)
        if plane is not None:
            return plane
    return PointDensities.of(members, nonmembers, bandwidth, seed, pairs)


@dataclass(frozen=True, slots=True, eq=False)
class PlaneDensities:
    """Both densities of a query of two numbers on one rectangular grid."""

    low: Floats
    step: Floats
    members: Floats
    nonmembers: Floats
    n_members: int
    n_nonmembers: int
    widths: tuple[Floats, Floats]
    dimension: int = 2

    @classmethod
    def of(cls, members: Floats, nonmembers: Floats, bandwidth: Bandwidth) -> PlaneDensities | None:
        """Linear binning, one transform; None if far outliers stretch the grid beyond the kernel."""
        widths = _widths(members, nonmembers, bandwidth)
        reach = PLANE_REACH * np.maximum(*widths)
        low = np.minimum(members.min(axis=0), nonmembers.min(axis=0)) - reach
        length = np.maximum(members.max(axis=0), nonmembers.max(axis=0)) + reach - low
        step = np.maximum(np.minimum(*widths) / PLANE_STEPS, length / (PLANE_POINTS - 2))
        if (step * PLANE_FEWEST_STEPS > np.minimum(*widths)).any():
            return None
        shape = (
            fft.next_fast_len(int(length[0] / step[0]) + 2),
            fft.next_fast_len(int(length[1] / step[1]) + 2, real=True),
        )
        r, q = (
            _plane_density(side, width, low, step, shape)
            for side, width in zip((members, nonmembers), widths, strict=True)
        )
        return cls(low, step, r, q, len(members), len(nonmembers), widths)

    @property
    def volumes(self) -> tuple[float, float]:
        """Product of the two axes' bandwidths, for either side."""
        return float(np.prod(self.widths[0])), float(np.prod(self.widths[1]))

    def at(self, points: Floats) -> At:
        """Both densities, bilinear between nodes."""
        node, beyond = _corner(points, self.low, self.step, self.members.shape)
        columns = self.members.shape[1]
        r, q = np.zeros(len(points)), np.zeros(len(points))
        for offset, share in _corners(beyond, columns):
            r += share * self.members.ravel()[node + offset]
            q += share * self.nonmembers.ravel()[node + offset]
        return At(r, q, np.zeros(len(points), dtype=np.bool_))

    def advantage(self, prior: float) -> float:
        """U_N as a sum over nodes."""
        difference = np.abs(prior * self.members - (1.0 - prior) * self.nonmembers)
        return min(float(difference.sum() * np.prod(self.step)), 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class PointDensities:
    """Both densities as sums over records; U_N from points drawn, half from either, when it was made."""

    records: tuple[Floats, Floats]
    widths: tuple[Floats, Floats]
    draws: tuple[At, At]

    @classmethod
    def of(
        cls, members: Floats, nonmembers: Floats, bandwidth: Bandwidth, seed: int, pairs: int = PAIRS
    ) -> PointDensities:
        """Choose bandwidths, draw from both densities and evaluate both there, once for every prior."""
        widths = _widths(members, nonmembers, bandwidth)
        sides = (members, nonmembers)
        size = int(np.clip(pairs // (2 * (len(members) + len(nonmembers))), FEWEST_DRAWS, MOST_DRAWS))
        rng = np.random.default_rng(require_count("seed", seed, 0))
        draws = []
        for side, width in zip(sides, widths, strict=True):
            # every record about equally often: a kernel estimate is an even mixture of its kernels
            of = (
                rng.permutation(np.arange(size) % len(side)) if size >= len(side) else rng.permutation(len(side))[:size]
            )
            centre = side[of]
            draws.append(_sums(centre + width * rng.standard_normal(centre.shape), sides, widths))
        return cls(sides, widths, (draws[0], draws[1]))

    @property
    def n_members(self) -> int:
        """Member records."""
        return len(self.records[0])

    @property
    def n_nonmembers(self) -> int:
        """Nonmember records."""
        return len(self.records[1])

    @property
    def dimension(self) -> int:
        """Number of axes."""
        return int(self.records[0].shape[1])

    @property
    def volumes(self) -> tuple[float, float]:
        """Product of all axes' bandwidths, for either side."""
        return float(np.prod(self.widths[0])), float(np.prod(self.widths[1]))

    def at(self, points: Floats) -> At:
        """Both densities, summed over every record."""
        return _sums(points, self.records, self.widths)

    def advantage(self, prior: float) -> float:
        """U_N = E|f_p| over the mixture p r + (1-p) q, each part drawn by itself."""
        of_members, of_nonmembers = (np.abs(part.signed_risk(prior)) for part in self.draws)
        return float(prior * of_members.mean() + (1.0 - prior) * of_nonmembers.mean())

    def standard_error(self, prior: float) -> float:
        """Standard error of the Monte Carlo mean, not of U_N as an estimate of anything else."""
        parts = [np.abs(part.signed_risk(prior)) for part in self.draws]
        weights = (prior, 1.0 - prior)
        return float(np.sqrt(sum(w**2 * part.var() / part.size for w, part in zip(weights, parts, strict=True))))


def _widths(members: Floats, nonmembers: Floats, bandwidth: Bandwidth) -> tuple[Floats, Floats]:
    """One bandwidth an axis for either side."""
    axes = range(members.shape[1])
    both = [choose_both(bandwidth, members[:, k], nonmembers[:, k], len(axes)) for k in axes]
    return np.array([w[0] for w in both]), np.array([w[1] for w in both])


def _corner(points: Floats, low: Floats, step: Floats, shape: tuple[int, ...]) -> tuple[NDArray[np.intp], Floats]:
    """Flat number of the node below and left of each point, and how far beyond it the point lies."""
    at = np.clip((points - low) / step, 0.0, np.array(shape) - 2.0)
    node = at.astype(np.intp)
    return node[:, 0] * shape[1] + node[:, 1], at - node


def _corners(beyond: Floats, columns: int) -> list[tuple[int, Floats]]:
    """The four nodes around a point with their shares."""
    x, y = beyond[:, 0], beyond[:, 1]
    return [(0, (1 - x) * (1 - y)), (1, (1 - x) * y), (columns, x * (1 - y)), (columns + 1, x * y)]


def _plane_density(side: Floats, width: Floats, low: Floats, step: Floats, shape: tuple[int, int]) -> Floats:
    """Linear binning, Gaussian over sinc^2 along both axes, transform back."""
    heights = np.zeros(shape[0] * shape[1])
    for start in range(0, len(side), 2**18):
        node, beyond = _corner(side[start : start + 2**18], low, step, shape)
        for offset, share in _corners(beyond, shape[1]):
            heights += np.bincount(node + offset, share, minlength=heights.size)
    waves = (np.fft.fftfreq(shape[0]), np.fft.rfftfreq(shape[1]))
    kernel = [
        np.exp(-2.0 * (np.pi * h / d * wave) ** 2) / np.sinc(wave) ** 2
        for h, d, wave in zip(width, step, waves, strict=True)
    ]
    smooth = fft.irfft2(fft.rfft2(heights.reshape(shape)) * kernel[0][:, None] * kernel[1], shape)
    density = smooth / (len(side) * np.prod(step))
    density[density < 1e-13 * density.max()] = 0.0
    return np.asarray(density)


def _sums(points: Floats, sides: tuple[Floats, Floats], widths: tuple[Floats, Floats]) -> At:
    """Product-kernel sums, in blocks of points; differences, not products, keep far outliers exact."""
    values = []
    for side, width in zip(sides, widths, strict=True):
        value, axes = np.empty(len(points)), np.ascontiguousarray((side / width).T)
        scaled, rows = points / width, max(1, BLOCK_PAIRS // len(side))
        for start in range(0, len(points), rows):
            block = scaled[start : start + rows]
            square = np.zeros((len(block), len(side)))
            for k, axis in enumerate(axes):
                apart = block[:, k, None] - axis
                apart *= apart
                square += apart
            square *= -0.5
            value[start : start + rows] = np.exp(square, out=square).sum(axis=1)
        values.append(value / (len(side) * np.prod(width) * (2.0 * np.pi) ** (len(width) / 2.0)))
    return At(values[0], values[1], np.zeros(len(points), dtype=np.bool_))


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Read a continuous score as discrete: ``bins`` equal slices of each axis (MACE section 6.1).

    Args:
        bins: Slices of each axis between the smallest and the largest score, at least 1.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.paper import EqualWidth, algorithm_1
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> algorithm_1(scores, prior=0.5, reading=EqualWidth(bins=20)).statistic
        'W_N'
    """

    bins: int = 100


@dataclass(frozen=True, slots=True)
class Kernel:
    """Read a continuous score through kernel densities.

    Args:
        bandwidth: How wide the kernels are: ``Scott()``, ``Silverman()``, ``ImprovedSheatherJones()``,
            ``LeastSquaresCV()`` or ``Fixed(width)`` from ``estimators.density.bandwidth``.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer. Used beyond two
            axes, where the densities are compared at random points.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.density.bandwidth import Fixed
        >>> from estimators.paper import Kernel, algorithm_1
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> algorithm_1(scores, prior=0.5, reading=Kernel(Fixed(0.3))).statistic
        'U_N'
    """

    bandwidth: Bandwidth = Scott()
    seed: int = 0
