"""What W_N and U_N are on average when nothing leaks: sums of absolute values, both are above 0 by chance alone.

W_N: each cell's records are members' by lot, so that the mean of its part is that of |a X - b| for a hypergeometric X.
U_N: at each point the difference of two kernel estimates of one density is close to normal, with Lemma 4's variance.
That takes both sides' kernels to be about equally wide, and many records in each. Where a few far records make one
side's kernel much wider than the other's, and in three dimensions and more, labels are shuffled instead.
"""

from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from estimators.arrays import Floats, dot
from estimators.density.bandwidth import Bandwidth
from estimators.density.kernel import Densities, LineDensities
from estimators.density.space import PAIRS, PlaneDensities, PointDensities, densities_of
from estimators.sample.scores import Scores

FEW = 64
"""Cells of at most this many records are taken exactly; a larger one's part is close to normal."""

MANY = 10**7
"""Records beyond which a draw with replacement is the same, and logarithms of factorials are too large to subtract."""


ALIKE = 1.1
"""Bandwidths at most this many times apart are what two samples of one law have."""

SHUFFLES, RECORDS = 4, 2**13
"""Times labels are shuffled for up to so many records; once for more."""


def null_of_cells(pooled: NDArray[np.int64], n_members: int, n_nonmembers: int, prior: float) -> float:
    """Mean of W_N over all ways to share the labels out among these records."""
    sizes, cells = np.unique(pooled[pooled > 0], return_counts=True)
    few = sizes <= FEW
    means = np.concatenate(
        [
            _exactly(sizes[few], n_members, n_nonmembers, prior),
            _nearly(sizes[~few].astype(np.float64), n_members, n_nonmembers, prior),
        ]
    )
    return min(dot(cells, means), 1.0)


def null_of_kernels(scores: Scores, densities: Densities, bandwidth: Bandwidth, prior: float) -> float:
    """Mean of U_N, nearly, if labels say nothing about these records."""
    records = scores.n_members + scores.n_nonmembers
    rate = densities.dimension / (densities.dimension + 4) if records > RECORDS else 0.0
    sizes = densities.n_members, densities.n_nonmembers
    narrow, wide = sorted(h * n**rate for h, n in zip(densities.volumes, sizes, strict=True))
    points = isinstance(densities, PointDensities)  # so few records in a kernel that nothing is normal
    # of many records, whatever the widths differ by for the sizes of the sides alone
    if wide <= ALIKE * narrow and not points:
        return _of_one_density(densities, prior)
    n1, rng = scores.n_members, np.random.default_rng(0)
    pooled = np.concatenate([scores.members, scores.nonmembers]).astype(np.float64, copy=False)
    levels = []
    for _ in range(SHUFFLES if records <= RECORDS else 1):
        order = rng.permutation(len(pooled))
        sides = pooled[order[:n1]], pooled[order[n1:]]
        shuffled = Scores(*sides, scores.query, scores.reason)
        levels.append(densities_of(shuffled, bandwidth, pairs=PAIRS // 8).advantage(prior))
    return float(np.mean(levels))


def _of_one_density(densities: Densities, prior: float) -> float:
    """The mean if both sides follow the density of all records together, through kernels of about one width."""
    n1, n0 = densities.n_members, densities.n_nonmembers
    shares = n1 / (n1 + n0), n0 / (n1 + n0)

    def level(density: Floats, volumes: tuple[float, float]) -> Floats:
        return _difference(density, (n1, n0), volumes, densities.dimension, prior)

    total = 0.0
    if isinstance(densities, LineDensities):
        atoms = densities.atoms
        total = null_of_cells(atoms.members + atoms.nonmembers, n1, n0, prior) if atoms.size else 0.0
        if densities.lines is not None:
            first, second = densities.lines
            if first is second:
                both = shares[0] * densities.members + shares[1] * densities.nonmembers
                total += first.step * float(level(both, densities.widths).sum())
            else:  # bandwidths far apart: as if both sides followed the one density, then the other
                for share, line, density, width in zip(
                    shares,
                    densities.lines,
                    (densities.members, densities.nonmembers),
                    densities.widths,
                    strict=True,
                ):
                    total += share * line.step * float(level(density, (width, width)).sum())
    elif isinstance(densities, PlaneDensities):
        both = shares[0] * densities.members + shares[1] * densities.nonmembers
        total = float(level(both, densities.volumes).sum() * np.prod(densities.step))
    return min(total, 1.0)


def _exactly(sizes: NDArray[np.int64], n1: int, n0: int, prior: float) -> Floats:
    """Mean of |p X/n1 - (1-p)(m-X)/n0| for X of m records members', for each m."""
    m, x = sizes[:, None].astype(np.float64), np.arange(FEW + 1.0)
    inside = (x <= m) & (x <= n1) & (m - x <= n0)
    first, rest = np.where(inside, x, 0.0), np.where(inside, m - x, 0.0)
    logarithm = gammaln(m + 1) - gammaln(first + 1) - gammaln(rest + 1)
    if n1 + n0 > MANY:
        logarithm += first * np.log(n1 / (n1 + n0)) + rest * np.log(n0 / (n1 + n0))
    else:
        logarithm += _ways(float(n1), first) + _ways(float(n0), rest) - _ways(float(n1 + n0), m)
    mass = np.where(inside, np.exp(logarithm), 0.0)
    mean: Floats = (mass * np.abs(prior * first / n1 - (1.0 - prior) * rest / n0)).sum(axis=1)
    return mean


def _ways(of: float, first: Floats) -> Floats:
    """Logarithm of the number of ways to take so many, one after another."""
    ways: Floats = gammaln(of + 1) - gammaln(of - np.minimum(first, of) + 1)
    return ways


def _nearly(sizes: Floats, n1: int, n0: int, prior: float) -> Floats:
    """The same where X is close to normal."""
    total = n1 + n0
    variance = sizes * (n1 / total) * (n0 / total) * (total - sizes) / max(total - 1, 1)
    return _folded((2.0 * prior - 1.0) * sizes / total, (prior / n1 + (1.0 - prior) / n0) * np.sqrt(variance))


def _difference(
    density: Floats, sizes: tuple[int, int], volumes: tuple[float, float], dimension: int, prior: float
) -> Floats:
    """Mean of |p r_N - (1-p) q_N| where r = q = ``density``; never more than the density, where a record is rare."""
    roughness = (4.0 * pi) ** (-dimension / 2.0)
    variance = np.zeros_like(density)
    for weight, n, volume in zip((prior, 1.0 - prior), sizes, volumes, strict=True):
        variance += weight**2 * np.maximum(density * roughness / volume - density**2, 0.0) / n
    return np.minimum(_folded((2.0 * prior - 1.0) * density, np.sqrt(variance)), density)


def _folded(mean: Floats, deviation: Floats) -> Floats:
    """Mean of |X| for a normal X."""
    there = deviation > 0.0
    z = np.where(there, mean / np.where(there, deviation, 1.0), 0.0)
    normal = deviation * np.sqrt(2.0 / pi) * np.exp(-0.5 * z * z) + mean * (1.0 - 2.0 * ndtr(-z))
    folded: Floats = np.where(there, normal, np.abs(mean))
    return folded
