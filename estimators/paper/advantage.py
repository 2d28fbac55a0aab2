"""The optimal advantage as the paper states it: Algorithm 1 with W_N or U_N.

Theorems 5 and 6 bound W_N and U_N around their own expectations, which lie above the advantage, so
these intervals are no statement about the advantage (study section 0).
"""

from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr

from estimators.arrays import Floats, dot
from estimators.density.bandwidth import Bandwidth, Fixed, Scott
from estimators.density.kernel import Densities, LineDensities
from estimators.density.space import PAIRS, EqualWidth, Kernel, PlaneDensities, PointDensities, densities_of
from estimators.errors import require_open_unit
from estimators.limits.binomial import mcdiarmid_radius
from estimators.paper.risk import ATOMS, CATEGORIES, CELLS_FIXED, SPANNED, of_kernel, of_slices, share_within
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Lattice
from estimators.sample.counting import by_category, by_lattice
from estimators.sample.counts import CROWDED, Counts
from estimators.sample.scores import Query, Scores
from estimators.statement import IID, Caution, Guarantee, Interval, at_least, at_most, baseline, percent

FEW = 64  # cells of at most this many records are taken exactly; a larger one's part is close to normal

MANY = 10**7
"""Records beyond which a draw with replacement is the same, and logarithms of factorials are too large to subtract."""


ALIKE = 1.1  # bandwidths at most this many times apart are what two samples of one law have
SHUFFLES, RECORDS = 4, 2**13  # times labels are shuffled for up to so many records; once for more


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
                    shares, densities.lines, (densities.members, densities.nonmembers), densities.widths, strict=True
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


FEW_CELLS, MOST_MASS = 3, 0.9
"""When this many neighbouring equal-width cells hold more than this much mass, the range is an outlier's."""

BANDWIDTH_FIXED = "the bandwidth fixed in advance, without looking at these records"
"""What the paper's proof for kernels needs."""


@dataclass(frozen=True, slots=True)
class PaperAdvantage:
    """W_N or U_N with McDiarmid's interval for its expectation.

    Attributes:
        statistic: ``W_N`` or ``U_N``.
        value: What the statistic is on these records.
        interval: The interval for its expectation, which lies above the advantage.
        null_level: What the statistic is on average for so many records if nothing leaks: below it, it shows nothing.
        cautions: What to know before using the number.
    """

    statistic: str
    value: float
    interval: Interval
    null_level: float
    cautions: tuple[Caution, ...]

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        return (
            f"{self.statistic} is {self.value:.3f} ({self.null_level:.3f} on average if nothing leaks); with "
            f"{percent(self.interval.confidence)} confidence its expectation lies between "
            f"{at_least(self.interval.lower)} and {at_most(self.interval.upper)}, which is not a "
            "statement about the advantage."
        )


def algorithm_1(
    scores: Scores, prior: float, confidence: float = 0.95, reading: EqualWidth | Kernel | None = None
) -> PaperAdvantage:
    """W_N for a discrete query, else U_N, or W_N on equal-width cells if asked (MACE, Algorithm 1).

    Args:
        scores: Scores of both sides (``Scores.of``).
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The interval covers the
            expectation of the statistic, and not the advantage.
        reading: How a continuous score is read: ``EqualWidth(bins)`` or ``Kernel(bandwidth)``. None: kernel densities
            with Scott's bandwidth.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.paper import algorithm_1
        >>> rng = np.random.default_rng(0)
        >>> result = algorithm_1(Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000)), prior=0.5)
        >>> result.statistic, round(result.value, 2)
        ('U_N', 0.37)
    """
    if scores.query is Query.DISCRETE:
        return discrete_advantage(by_category(scores), prior, confidence)
    if not isinstance(reading, EqualWidth):
        kernel = reading or Kernel()
        return continuous_advantage(scores, prior, confidence, kernel.bandwidth, kernel.seed)
    counts = by_lattice(scores, reading.bins)
    result = discrete_advantage(counts, prior, confidence, slices=reading.bins)
    ranged = Caution(
        "cells_from_data",
        "the cells span the range of these very records; the paper's interval needs cells fixed in advance",
    )
    return replace(result, cautions=(*result.cautions, ranged, *_outlier_range(counts, reading.bins)))


def discrete_advantage(
    counts: Counts, prior: float, confidence: float = 0.95, *, slices: int | None = None
) -> PaperAdvantage:
    """W_N = sum_j |p n1j/n1 - (1-p) n0j/n0| (MACE, Theorem 5; radius for any n1, n0: erratum E15).

    The interval is proven only for cells that were fixed in advance, not for ``slices`` of these records' range.
    """
    prior = require_open_unit("prior", prior)
    value = float(np.abs(counts.weights(prior)).sum())
    occupied = int(np.count_nonzero(counts.pooled))
    cautions = []
    if occupied * CROWDED > counts.n_records:
        message = f"{occupied} occupied cells for {counts.n_records} records: W_N is mostly noise"
        cautions.append(Caution("cells_outrun_sample", message))
    sides = counts.n_members, counts.n_nonmembers
    reading = CATEGORIES if slices is None else of_slices(slices)
    interval = _mcdiarmid(
        "W_N",
        value,
        prior,
        *sides,
        confidence,
        CELLS_FIXED,
        "" if slices is None else SPANNED,
        simulated=None if isinstance(counts.cells, Lattice) else reading,
    )
    null_level = null_of_cells(counts.pooled, *sides, prior)
    return PaperAdvantage("W_N", value, interval, null_level, tuple(cautions))


def continuous_advantage(
    scores: Scores, prior: float, confidence: float = 0.95, bandwidth: Bandwidth = Scott(), seed: int = 0
) -> PaperAdvantage:
    """U_N = integral of |p r_N - (1-p) q_N| (MACE, Theorem 6); atoms, having no density, enter as in W_N."""
    prior = require_open_unit("prior", prior)
    densities = densities_of(scores, bandwidth, seed)
    value, cautions = densities.advantage(prior), []
    if isinstance(densities, LineDensities) and densities.atoms.size:
        cautions.append(Caution("atoms", f"{densities.atoms.size} {ATOMS}"))
    if isinstance(densities, PointDensities):
        error = densities.standard_error(prior)
        cautions.append(Caution("monte_carlo", f"U_N was integrated at random points, standard error {error:.2g}"))
    interval = _mcdiarmid(
        "U_N",
        value,
        prior,
        scores.n_members,
        scores.n_nonmembers,
        confidence,
        BANDWIDTH_FIXED,
        "" if isinstance(bandwidth, Fixed) else f"; here it was chosen from them: {bandwidth.rule(scores.dimension)}",
        simulated=of_kernel(bandwidth) if scores.dimension == 1 else None,
    )
    null_level = null_of_kernels(scores, densities, bandwidth, prior)
    return PaperAdvantage("U_N", value, interval, null_level, tuple(cautions))


def _mcdiarmid(
    name: str,
    value: float,
    prior: float,
    n1: int,
    n0: int,
    confidence: float,
    fixed: str,
    here: str,
    simulated: str | None,
) -> Interval:
    """value -+ radius, cut to [|2p-1|, 1], where the expectation of either statistic always lies.

    ``here`` is why what has to be fixed was not; empty if it was, and the interval is proven.
    """
    shares = share_within("advantage", simulated, n1, n0)
    radius = mcdiarmid_radius(prior, n1, n0, 1.0 - require_open_unit("confidence", confidence))
    guarantee = Guarantee(
        f"the expectation of the statistic {name}, not the advantage{shares}", f"{IID}; {fixed}{here}", not here
    )
    return Interval(max(value - radius, baseline(prior)), min(value + radius, 1.0), confidence, guarantee)


def _outlier_range(counts: Counts, bins: int) -> tuple[Caution, ...]:
    """Whether a few neighbouring slices of an axis hold nearly all: one far record does that (E16)."""
    pooled = counts.pooled
    if isinstance(counts.cells, Lattice):
        d = len(counts.cells.low)
        slices = [
            np.bincount(counts.cells.keys // bins ** (d - 1 - axis) % bins, pooled, minlength=bins) for axis in range(d)
        ]
    else:
        slices = [pooled.astype(np.float64)]
    if bins <= 10 * FEW_CELLS or len(slices[0]) < bins:
        return ()
    heaviest = max(float(np.convolve(axis, np.ones(FEW_CELLS)).max()) for axis in slices) / counts.n_records
    if heaviest <= MOST_MASS:
        return ()
    message = (
        f"{heaviest:.0%} of the records fall into {FEW_CELLS} of {bins} equal-width cells of an axis: "
        "a few far records stretch the range, and W_N sees little of the rest"
    )
    return (Caution("outlier_range", message),)
