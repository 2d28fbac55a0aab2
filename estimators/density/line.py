"""One uniform grid on the line: kernel densities by binning and a transform, at any number of records.

Linear binning, one multiplication in frequency by the Gaussian over sinc^2 (which undoes the binning),
one transform back. With 64 steps a bandwidth a density is right to 1e-4 between nodes and its integrals
to 1e-6 of the direct sums.

Far outliers cost neither resolution nor memory: a stretch in which no kernel reaches is cut out of the
line. What is left is exact, because densities and integrals look only at distances between neighbours.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from estimators.arrays import Floats
from estimators.density.bandwidth import spread_indices
from estimators.errors import OutOfRange
from estimators.python.dataclass import dataclass

STEPS = 64
"""Grid steps in the smaller bandwidth; fewer, down to ``FEWEST_STEPS``, if the grid would pass ``POINTS``."""

FEWEST_STEPS = 4
POINTS = 2**21
PLAIN = 2**17
"""A line of at most this many steps is taken whole; a longer one is searched for stretches to cut out."""

REACH = 8.0  # a Gaussian kernel ends after this many bandwidths: what lies beyond is below 2e-14 of its top
NOISE = 1e-13  # transforms leave this much of the largest density behind where there is none
BLOCK = 2**15  # records worked on at a time, so that they stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A uniform grid on the line with empty stretches cut out: where each score falls, in steps.

    Between ``inner`` limits a score's place is arithmetic; beyond, knots say how much was cut out.
    """

    low: float
    step: float
    points: int
    inner: tuple[float, float]
    knots: Floats
    places: Floats

    @classmethod
    def over(cls, sides: list[Floats], widths: list[float]) -> Line:
        """The shortest line on which all kernels of these records, of such widths, lie undisturbed."""
        sides = [side for side in sides if len(side)]
        low, high = min(float(s.min()) for s in sides), max(float(s.max()) for s in sides)
        fine, reach = min(widths) / STEPS, REACH * max(widths)
        inner, knots = (low, high), np.array([low - reach, high + reach])
        places = knots
        if high - low > PLAIN * fine:
            inner = _middle(sides, POINTS * fine / 4.0)
            knots, places = _cut_out(sides, inner, 2.0 * reach)
        start, length = float(places[0]), float(places[-1] - places[0])
        step = max(fine, length / (POINTS - 4))
        if step * FEWEST_STEPS > min(widths):
            raise OutOfRange.about(
                "bandwidth",
                f"the records occupy a stretch of {length / min(widths):.3g} bandwidths, "
                f"need at most {POINTS // FEWEST_STEPS}; use a wider one or read the score as discrete",
            )
        return cls(start, step, fft.next_fast_len(int(length / step) + 4, real=True), inner, knots, places)

    def place(self, scores: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Node to the left of each score and the share of a step beyond it; nothing falls off the ends."""
        at = scores - self.low
        at *= 1.0 / self.step
        if len(self.knots) > 2:
            outer = np.flatnonzero((scores < self.inner[0]) | (scores > self.inner[1]))
            if outer.size:
                at[outer] = (np.interp(scores[outer], self.knots, self.places) - self.low) / self.step
        np.clip(at, 0.0, self.points - 2.0, out=at)
        node = at.astype(np.intp)
        at -= node
        return node, at

    def nodes(self) -> Floats:
        """The score at each node."""
        return np.asarray(np.interp(self.low + self.step * np.arange(self.points), self.places, self.knots))

    def densities(self, sides: list[Floats], totals: list[int], widths: list[float]) -> Floats:
        """Density at the nodes, a row for each side, of records that are part of a total."""
        heights = np.zeros((len(sides), self.points))
        for side, records in enumerate(sides):
            for block in blocks(records):
                node, beyond = self.place(block)
                to_right = np.bincount(node, beyond, minlength=self.points)
                heights[side] += np.bincount(node, minlength=self.points)
                heights[side] -= to_right
                heights[side, 1:] += to_right[:-1]
        wave = np.arange(self.points // 2 + 1) / self.points
        # a Gaussian in frequency; linear binning was a triangle of one step, whose transform is sinc^2
        reach = np.pi * np.array(widths)[:, None] / self.step
        kernel = np.exp(-2.0 * (reach * wave) ** 2) / np.sinc(wave) ** 2
        density = fft.irfft(fft.rfft(heights) * kernel, self.points) / (np.array(totals)[:, None] * self.step)
        density[density < NOISE * density.max(axis=1, keepdims=True)] = 0.0
        return np.asarray(density)


def absolute_sum(values: Floats) -> float:
    """Integral of |f| in steps: the sum over nodes, put right where f changes its sign.

    Between f0 and f1 of opposite sign the sum is off by (|f0| + |f1|)/6 - |f0 f1|/(|f0| + |f1|), up to
    the third power of the step: the kink inside the step and the trapezoid's end terms together.
    """
    f0, f1 = values[:-1], values[1:]
    kink = np.flatnonzero(f0 * f1 < 0.0)
    a, b = np.abs(f0[kink]), np.abs(f1[kink])
    return float(np.abs(values).sum() + ((a + b) / 6.0 - a * b / (a + b)).sum())


def blocks(records: Floats) -> Iterator[Floats]:
    """Records in stretches that stay in the cache."""
    return (records[start : start + BLOCK] for start in range(0, len(records), BLOCK))


def _middle(sides: list[Floats], longest: float) -> tuple[float, float]:
    """Limits of the bulk of the records; a single point if the bulk itself is too long for a grid."""
    subset = np.concatenate([side[spread_indices(len(side), 4096)] for side in sides])
    first, centre, last = (float(q) for q in np.quantile(subset, [0.005, 0.5, 0.995]))
    return (first, last) if last - first <= longest else (centre, centre)


def _cut_out(sides: list[Floats], inner: tuple[float, float], gap: float) -> tuple[Floats, Floats]:
    """Knots of the map that shortens every stretch without records beyond the bulk to at most ``gap``."""
    left = np.sort(np.concatenate([inner[0] - side[side < inner[0]] for side in sides]))
    right = np.sort(np.concatenate([side[side > inner[1]] - inner[1] for side in sides]))
    (back, behind), (ahead, beyond) = _shorten(left, gap), _shorten(right, gap)
    knots = np.concatenate([inner[0] - back[::-1], inner[1] + ahead])
    return knots, np.concatenate([inner[0] - behind[::-1], inner[1] + beyond])


def _shorten(distances: Floats, gap: float) -> tuple[Floats, Floats]:
    """Distances from the bulk's edge, before and after cutting the middle out of long gaps."""
    ends = np.concatenate([[0.0], distances])
    long = np.flatnonzero(np.diff(ends) > gap)
    before, after = ends[long] + gap / 2.0, ends[long + 1] - gap / 2.0
    cut = np.cumsum(after - before)
    knots = np.stack([before, after], axis=1).ravel()
    places = knots - np.stack([cut - (after - before), cut], axis=1).ravel()
    last = ends[-1] + gap / 2.0  # the last kernel's own reach
    end = last - (cut[-1] if long.size else 0.0)
    return np.concatenate([[0.0], knots, [last]]), np.concatenate([[0.0], places, [end]])
