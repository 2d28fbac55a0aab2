"""How far a kernel reaches: rules that read one side's records, binned once, and return a bandwidth.

A rule is a small frozen object with ``choose(sample, dimension)``. Data-driven rules need only counts
on a uniform grid over the bulk of the records, so they cost milliseconds at a million records.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gamma, pi, sqrt
from typing import Protocol, runtime_checkable

import numpy as np
from fast_histogram import histogram1d
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from estimators.arrays import Floats, dot, quantiles
from estimators.errors import InvalidCounts, NotFinite, OutOfRange, TooFewRecords, require_positive
from estimators.python.dataclass import dataclass

POINTS = 2**14
"""Cells of the grid a rule reads; a rule that finds structure finer than that asks for a finer one."""

FINEST = 2**17
EXACT_QUARTILES = 2**15
"""Up to this many records the quartiles are order statistics; beyond, the grid gives them."""

BULK = 8.0
"""The grid reaches this many interquartile ranges beyond the quartiles: a far outlier costs no resolution."""


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One side's records as a rule sees them: spread, quartiles, counts on a uniform grid over the bulk."""

    size: int
    deviation: float
    quartile_range: float
    counts: Floats
    low: float
    step: float
    records: Floats | None = None

    @classmethod
    def of(cls, records: ArrayLike, points: int = POINTS) -> Sample:
        """Bin the records; the grid leaves out what lies far beyond the quartiles, the deviation does not."""
        values = np.ascontiguousarray(records, dtype=np.float64)
        if values.ndim != 1 or values.size < 2:
            raise TooFewRecords(f"bandwidth: got {values.size} records, need at least 2")
        with np.errstate(over="ignore", invalid="ignore"):
            apart = values - values.mean()
            deviation = sqrt(dot(apart, apart) / (values.size - 1))
        low, high = float(values.min()), float(values.max())
        if not np.isfinite(deviation):
            raise NotFinite("bandwidth: records are not finite or too far apart for a spread")
        exact = values.size <= EXACT_QUARTILES
        thin = values if exact else values[spread_indices(values.size, EXACT_QUARTILES)]
        first, third = quantiles(thin, (0.25, 0.75))
        reach = BULK * (third - first) or np.inf
        start, end = max(low, first - reach), min(high, third + reach)
        step = (end - start) / (points - 1) or 1.0
        if not 1e-290 < points * step < 1e300:  # a width whose reciprocal overflows crashes fast-histogram
            message = "records lie too close together or too far apart for a spread; change their unit"
            raise OutOfRange.about("bandwidth", message)
        # cell j is centred on start + j step, so both ends of the bulk fall inside their cells
        counts = histogram1d(values, points, (start - step / 2, start + (points - 0.5) * step))
        if not exact:
            below = int(np.count_nonzero(values < start - step / 2)) if start > low else 0
            first, third = (_quantile(counts, start, step, q * values.size - below) for q in (0.25, 0.75))
        return cls(values.size, deviation, third - first, counts, start, step, values)

    @classmethod
    def of_counts(cls, counts: ArrayLike, low: float, step: float) -> Sample:
        """Records that exist only as counts on cells centred on low, low + step, ..."""
        column = np.asarray(counts, dtype=np.float64)
        require_positive("step", step)
        total = float(column.sum())
        if column.ndim != 1 or not np.isfinite(total) or (column < 0).any():
            message = "bandwidth: counts must be one list of finite numbers of at least 0"
            raise InvalidCounts(message, field="counts")
        if total < 2:
            raise TooFewRecords(f"bandwidth: got {total:g} records, need at least 2")
        at = low + step * np.arange(column.size)
        centre = dot(column, at) / total
        deviation = sqrt(dot(column, (at - centre) ** 2) / (total - 1))
        width = _quantile(column, low, step, 0.75 * total) - _quantile(column, low, step, 0.25 * total)
        return cls(round(total), deviation, width if deviation > 0 else 0.0, column, low, step)

    def closer(self) -> Sample | None:
        """The same records, if at hand, on a finer grid with wide empty stretches cut short.

        What a plug-in rule estimates is local, so the distance between two far modes is of no interest to it.
        """
        if self.records is None or self.counts.size >= FINEST:
            return None
        ordered = np.sort(self.records)
        gaps = np.diff(ordered)
        bulk = float(gaps[gaps <= np.quantile(gaps, 0.99)].sum())
        if bulk > 0.0:
            ordered[1:] = ordered[0] + np.cumsum(np.minimum(gaps, bulk))
        return Sample.of(ordered, FINEST)

    @property
    def scale(self) -> float:
        """min(s, IQR/1.349): the spread of the bulk, which neither outliers nor a second mode inflate."""
        robust = self.quartile_range / 1.349
        return min(self.deviation, robust) if robust > 0 else self.deviation


@runtime_checkable
class Bandwidth(Protocol):
    """A rule that looks at one side's records, never at labels, and says how wide its kernel is."""

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """Standard deviation of the Gaussian kernel along this axis of a query of this dimension."""
        ...

    def rule(self, dimension: int = 1) -> str:
        """The rule in symbols, or by its name, for a query of this dimension."""
        ...


MOST_DIGITS = 140
"""Digits before or after the point of a fixed bandwidth, of all axes together: its square still is a number."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A bandwidth given in advance: the only kind under which Theorem 6's interval holds (erratum E16)."""

    width: float

    def __post_init__(self) -> None:
        require_positive("bandwidth", self.width)

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """The width given; variances of densities have its powers up to twice the dimension, which must be numbers."""
        most = 10.0 ** (MOST_DIGITS // dimension)
        if not 1.0 / most <= self.width <= most:
            raise OutOfRange.about(
                "bandwidth",
                f"got {self.width:g}, need between {1.0 / most:g} and {most:g} where a record has "
                f"{dimension} number{'s' * (dimension > 1)}",
            )
        return self.width

    def rule(self, dimension: int = 1) -> str:
        """That it was given."""
        return f"{self.width:g}, as given"


@dataclass(frozen=True, slots=True)
class Scott:
    """s n^(-1/(d+4)), paper mode's rule: right for one Gaussian, useless for heavy tails (Scott, 1992)."""

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """Scale of a Gaussian of the same deviation."""
        return _require_width(sample.deviation * sample.size ** (-1.0 / (dimension + 4)))

    def rule(self, dimension: int = 1) -> str:
        """Scott's rule, which is SciPy's of this name."""
        return f"s n^(-1/{dimension + 4}) (Scott 1992)"


@dataclass(frozen=True, slots=True)
class Silverman:
    """0.9 min(s, IQR/1.349) n^(-1/(d+4)): covers individual risk even under Cauchy tails (study 2.5)."""

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """Silverman's rule of thumb (1986, equation 3.31)."""
        return _require_width(0.9 * sample.scale * sample.size ** (-1.0 / (dimension + 4)))

    def rule(self, dimension: int = 1) -> str:
        """The rule of his equation 3.31; SciPy calls another one by his name, that of a Gaussian's deviation alone."""
        return (
            f"0.9 min(s, IQR/1.349) n^(-1/{dimension + 4}) (Silverman 1986, equation 3.31; not SciPy's rule of this "
            "name)"
        )


@dataclass(frozen=True, slots=True)
class ImprovedSheatherJones:
    """Plug-in without a Gaussian reference, so modes do not blur it (Botev, Grotowski and Kroese, 2010).

    Everything happens on the unit interval, so the answer scales with the data exactly.
    """

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """The smallest root of t = xi gamma^[5](t), or Silverman's rule where there is none."""
        return _chosen_by(_fixed_point, sample, dimension)

    def rule(self, dimension: int = 1) -> str:
        """The paper that it is from."""
        return "by the improved Sheather-Jones plug-in (Botev, Grotowski and Kroese 2010)"


@dataclass(frozen=True, slots=True)
class LeastSquaresCV:
    """The minimum of an unbiased estimate of the integrated squared error (Rudemo, 1982; Bowman, 1984).

    All pairs of records enter through the autocorrelation of the grid's counts: one transform.
    """

    def choose(self, sample: Sample, dimension: int = 1) -> float:
        """The lowest local minimum below the oversmoothed width."""
        return _chosen_by(_best_dip, sample, dimension)

    def rule(self, dimension: int = 1) -> str:
        """The papers that it is from."""
        return "by least-squares cross-validation (Rudemo 1982; Bowman 1984)"


def _chosen_by(search: Callable[[Sample], float | None], sample: Sample, dimension: int) -> float:
    """What a search finds, on a finer grid where it is too narrow for this one; Silverman's rule if it finds none."""
    _require_width(sample.deviation)
    width = search(sample)
    if (width is None or width < 4.0 * sample.step) and (closer := sample.closer()) is not None:
        width = search(closer)
    if width is None:
        return Silverman().choose(sample, dimension)
    # from the rate n^(-1/5) of one axis alone to n^(-1/(d+4)) of a product kernel
    return _require_width(width * float(sample.size ** (0.2 - 1.0 / (dimension + 4))))


BANDWIDTHS: Mapping[str, Bandwidth] = {
    "scott": Scott(),
    "silverman": Silverman(),
    "sheather_jones": ImprovedSheatherJones(),
    "least_squares": LeastSquaresCV(),
}
"""Every rule by the name that it is asked for by."""


def _best_dip(sample: Sample) -> float | None:
    """Where the criterion has its lowest local minimum; the ends do not count, ties drive it to -inf at 0."""
    counts, step = sample.counts, sample.step
    n = float(counts.sum())
    padded = fft.next_fast_len(2 * counts.size, real=True)
    pairs = np.rint(fft.irfft(np.abs(fft.rfft(counts, padded)) ** 2, padded)[: counts.size])
    pairs[1:] *= 2.0  # both orders of a pair
    pairs[0] -= n  # a record is no pair with itself
    lags = np.flatnonzero(pairs)  # few records are few pairs
    pairs = pairs[lags]

    def criterion(log_width: float) -> float:
        width = float(np.exp(log_width))
        near = int(lags.searchsorted(9.0 * sqrt(2.0) * width / step, side="right"))
        kernel = np.exp((lags[:near] * (step / width)) ** 2 / -4.0)
        overlap = (dot(pairs[:near], kernel) + n) / (n * n * sqrt(4.0 * pi))
        left_out = dot(pairs[:near], kernel**2) / (n * (n - 1.0) * sqrt(2.0 * pi))
        return float((overlap - 2.0 * left_out) / width)

    widest = np.log(1.2 * sample.scale * n**-0.2) if sample.scale > 0 else np.log(sample.deviation)
    narrowest = max(widest - np.log(300.0), np.log(1.5 * step))
    trial = np.linspace(min(narrowest, widest - 0.5), widest, 48)
    values = np.array([criterion(t) for t in trial])
    dips = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:])) + 1
    if not dips.size:
        return None
    best = int(dips[values[dips].argmin()])
    left, right = float(trial[best - 1]), float(trial[best + 1])
    while right - left > 1e-3:  # a third off the worse end: the dip is the only one in between
        first, second = left + (right - left) / 3.0, right - (right - left) / 3.0
        left, right = (left, second) if criterion(first) < criterion(second) else (first, right)
    return float(np.exp((left + right) / 2.0))


def spread_indices(size: int, most: int) -> NDArray[np.intp]:
    """At most ``most`` indices, even but without a period, in no order: sorted or interleaved records do no harm."""
    if size <= most:
        return np.arange(size)
    golden = (sqrt(5.0) - 1.0) / 2.0
    indices: NDArray[np.intp] = (np.modf(np.arange(most) * golden)[0] * size).astype(np.intp)
    return indices


def _fixed_point(sample: Sample) -> float | None:
    """sqrt(t) times the grid's length, with t the smallest root; None where there is no root."""
    n = float(sample.counts.sum())
    if n < 2:
        return None
    # an eighth of nothing on either side: cosines reflect at the ends, where a kernel would spill over
    padded = np.pad(sample.counts / n, sample.counts.size // 8)
    cells = padded.size
    half = fft.dct(padded, type=2)[1:] / 2.0  # cosine coefficients of the binned density
    k2 = np.arange(1.0, cells) ** 2
    power = [half**2]
    for _ in range(7):
        power.append(power[-1] * k2)

    def norm2(s: int, t: float) -> float:
        """||f^(s)||^2 of the density smoothed by t."""
        terms = min(cells - 1, int(sqrt(40.0 / t) / pi) + 1)  # beyond, exp(-k^2 pi^2 t) < 1e-17
        return float(2.0 * pi ** (2 * s) * dot(power[s][:terms], np.exp(-k2[:terms] * (pi**2 * t))))

    def excess(t: float) -> float:
        energy = norm2(7, t)
        for s in range(6, 1, -1):
            if energy <= 0.0:  # smoothed flat: no curvature left, the root lies below
                return t
            odd = 2.0 ** (s + 0.5) * gamma(s + 0.5) / (sqrt(2.0) * sqrt(pi))  # 1 3 5 ... (2s-1)
            constant = (1.0 + 0.5 ** (s + 0.5)) / 3.0
            energy = norm2(s, (2.0 * constant * odd / sqrt(pi / 2.0) / (n * energy)) ** (2.0 / (3.0 + 2.0 * s)))
        return t if energy <= 0.0 else t - float(2.0 * n * sqrt(pi) * energy) ** -0.4

    low = (0.5 / cells) ** 2
    is_below = excess(low) < 0.0
    while low < 0.1:
        high = 4.0 * low
        was_below, is_below = is_below, excess(high) < 0.0
        if was_below and not is_below:
            while high > low * (1.0 + 1e-6):
                middle = sqrt(low * high)
                low, high = (middle, high) if excess(middle) < 0.0 else (low, middle)
            return sqrt(high) * cells * sample.step
        low = high
    return None


def _quantile(counts: Floats, low: float, step: float, rank: float) -> float:
    """Where ``rank`` records lie to the left, straight lines inside cells."""
    total = counts.cumsum()
    cell = min(int(total.searchsorted(rank)), counts.size - 1)
    inside = (rank - (total[cell] - counts[cell])) / counts[cell] if counts[cell] else 0.5
    return float(low + (cell - 0.5 + inside) * step)


def _require_width(width: float) -> float:
    """Refuse a width that is no width: records that are all equal have no scale."""
    if not 0.0 < width < float("inf"):
        raise OutOfRange.about(
            "bandwidth",
            f"got {width:g}, need a finite number above 0; equal records have no scale: "
            "read them as discrete or give a fixed bandwidth",
        )
    return float(width)
