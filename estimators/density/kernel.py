"""Kernel densities of both sides, and the advantage and the risk they imply.

Atoms are counted, the rest is smoothed on a uniform grid, which both sides share unless one bandwidth is more than 16
times the other: linear binning, one multiplication in frequency by the Gaussian over sinc^2 (which undoes the binning),
one transform back. With 64 steps a bandwidth a density is right to 1e-4 between nodes and its integrals to 1e-6 of the
direct sums. Far outliers cost neither resolution nor memory: a stretch in which no kernel reaches is cut out of the
line. What is left is exact, because densities and integrals look only at distances between neighbours. The prior
weights the two densities, never the sample's share of members.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from estimators.arrays import Floats, Integers
from estimators.density.bandwidth import Bandwidth, Sample, Silverman, spread_indices
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


# Values that many records share exactly have no density, so they are counted, never smoothed: a saturated sigmoid puts
# a third of its records on 1. The advantage of such a mixed score is the sum over its atoms plus the integral over the
# rest (MACE, Definition 2, for a mixed distribution).

SHARE = 0.01  # a value is an atom when at least this share of the pooled records has it ...
FEWEST = 5  # ... and at least this many records ...

PROMINENCE = 4.0
"""... and several times as many as a typical value within a bandwidth of it: scores rounded to three decimals repeat
everywhere alike, which a kernel reads better than a table would."""

SUBSET = 2**12


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Sorted values with the number of member and nonmember records that have them exactly."""

    values: Floats
    members: Integers
    nonmembers: Integers

    @property
    def size(self) -> int:
        """Number of atoms."""
        return len(self.values)

    def locate(self, points: Floats) -> Integers:
        """Which atom each point is, -1 for none."""
        if self.size <= 8:  # a comparison each is cheaper than a search
            which = np.full(len(points), -1, dtype=np.int64)
            for index, value in enumerate(self.values):
                which[points == value] = index
            return which
        at = np.minimum(self.values.searchsorted(points), self.size - 1)
        return np.where(self.values[at] == points, at, -1).astype(np.int64)


def split_atoms(members: Floats, nonmembers: Floats) -> tuple[Atoms, Floats, Floats]:
    """Atoms, and the records of either side that are on none; labels play no part in what is an atom."""
    total = len(members) + len(nonmembers)
    least = max(FEWEST, SHARE * total)
    values = _prominent(members, nonmembers, least / total)
    counts = [_count(side, values) for side in (members, nonmembers)]
    heavy = counts[0] + counts[1] >= least
    atoms = Atoms(values[heavy], counts[0][heavy], counts[1][heavy])
    if not atoms.size:
        return atoms, members, nonmembers
    return atoms, members[atoms.locate(members) < 0], nonmembers[atoms.locate(nonmembers) < 0]


def _prominent(members: Floats, nonmembers: Floats, share: float) -> Floats:
    """Values that stand out in an even subset of the pooled records, with the same share of either side."""
    total = len(members) + len(nonmembers)
    subset = np.concatenate(
        [side[spread_indices(len(side), -(-SUBSET * len(side) // total))] for side in (members, nonmembers)]
    )
    values, counts = np.unique(subset, return_counts=True)
    heavy = np.flatnonzero(counts >= max(2.0, 0.5 * share * subset.size))
    if not heavy.size or values.size == 1:
        return values[heavy]
    width = Silverman().choose(Sample.of(subset))
    running = np.concatenate([[0], counts.cumsum()])
    first = values.searchsorted(values[heavy] - width)
    last = values.searchsorted(values[heavy] + width, side="right")
    others = last - first - 1
    typical = (running[last] - running[first] - counts[heavy]) / np.maximum(others, 1)
    prominent: Floats = values[heavy[counts[heavy] >= PROMINENCE * typical]]
    return prominent


def _count(side: Floats, values: Floats) -> Integers:
    return np.array([np.count_nonzero(side == value) for value in values], dtype=np.int64)


APART = 16.0
"""Bandwidths this many times apart get a grid each: an outlier in one must not coarsen the other."""


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """What the two densities say at some points.

    Where ``atom`` is true both numbers are masses, elsewhere densities: their ratio means the same.
    """

    members: Floats
    nonmembers: Floats
    atom: NDArray[np.bool_]

    def signed_risk(self, prior: float) -> Floats:
        """f_p = (p r - (1-p) q)/(p r + (1-p) q), 2p - 1 where nothing was seen (MACE, section 4)."""
        return signed_risk(self.members, self.nonmembers, prior)

    def posterior(self, prior: float) -> Floats:
        """P(member given the score) = (1 + f_p)/2."""
        return (1.0 + self.signed_risk(prior)) / 2.0


class Densities(Protocol):
    """Both sides' densities, whatever the dimension; ``prior`` weights them, never the sample's share."""

    @property
    def n_members(self) -> int:
        """Member records."""
        ...

    @property
    def n_nonmembers(self) -> int:
        """Nonmember records."""
        ...

    @property
    def volumes(self) -> tuple[float, float]:
        """Product of the bandwidths over the axes, members' and nonmembers': h^d in the paper."""
        ...

    @property
    def dimension(self) -> int:
        """Number of axes."""
        ...

    def at(self, points: Floats) -> At:
        """Both densities at points (rows)."""
        ...

    def advantage(self, prior: float) -> float:
        """U_N: the integral of |p r - (1-p) q| (MACE, Theorem 6)."""
        ...


def signed_risk(r: Floats, q: Floats, prior: float) -> Floats:
    """f_p from two densities or two masses at the same points."""
    risk, for_nonmember = prior * r, (1.0 - prior) * q
    total = risk + for_nonmember
    risk -= for_nonmember  # in place: a million records are worth it
    if total.size and total.min() > 0.0:
        risk /= total
        return risk
    positive = total > 0.0
    return np.where(positive, risk / np.where(positive, total, 1.0), 2.0 * prior - 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class LineDensities:
    """Both densities of a scalar score: atoms apart, the rest as heights at the nodes of a line."""

    atoms: Atoms
    lines: tuple[Line, Line] | None
    members: Floats
    nonmembers: Floats
    n_members: int
    n_nonmembers: int
    widths: tuple[float, float]
    dimension: int = 1

    @classmethod
    def of(cls, members: Floats, nonmembers: Floats, bandwidth: Bandwidth) -> LineDensities:
        """Estimate both; each side gets the bandwidth the rule chooses for the part of it that is no atom."""
        atoms, a, b = split_atoms(members, nonmembers)
        widths = choose_both(bandwidth, a, b, 1)
        n1, n0 = len(members), len(nonmembers)
        if not len(a) + len(b):
            return cls(atoms, None, np.zeros(2), np.zeros(2), n1, n0, widths)
        if max(widths) <= APART * min(widths):
            shared = Line.over([a, b], list(widths))
            r, q = shared.densities([a, b], [n1, n0], list(widths))
            return cls(atoms, (shared, shared), r, q, n1, n0, widths)
        lines = Line.over([a], [widths[0]]), Line.over([b], [widths[1]])
        r, q = lines[0].densities([a], [n1], [widths[0]])[0], lines[1].densities([b], [n0], [widths[1]])[0]
        return cls(atoms, lines, r, q, n1, n0, widths)

    @property
    def volumes(self) -> tuple[float, float]:
        """The two bandwidths."""
        return self.widths

    def at(self, points: Floats) -> At:
        """Both densities by interpolation between nodes; at an atom both masses."""
        r, q = self._smooth_at(points)
        if not self.atoms.size:
            return At(r, q, np.zeros(len(points), dtype=np.bool_))
        which = self.atoms.locate(points)
        atom = which >= 0
        r[atom] = self.atoms.members[which[atom]] / self.n_members
        q[atom] = self.atoms.nonmembers[which[atom]] / self.n_nonmembers
        return At(r, q, atom)

    def advantage(self, prior: float) -> float:
        """Sum over the atoms plus the integral over the rest."""
        members, nonmembers = prior / self.n_members, (1.0 - prior) / self.n_nonmembers
        total = float(np.abs(members * self.atoms.members - nonmembers * self.atoms.nonmembers).sum())
        if self.lines is not None:
            total += self._integral(prior)
        return min(total, 1.0)

    def _integral(self, prior: float) -> float:
        """Integral of |p r - (1-p) q| over the part that is no atom."""
        assert self.lines is not None
        first, second = self.lines
        if first is second:
            return first.step * absolute_sum(prior * self.members - (1.0 - prior) * self.nonmembers)
        # |n - w| - w vanishes where the narrow density n does; the wide one's whole mass comes on top
        narrow = 0 if self.widths[0] < self.widths[1] else 1
        densities, weights = self._smooth_at(self.lines[narrow].nodes()), (prior, 1.0 - prior)
        heights = (self.members, self.nonmembers)
        wide = weights[1 - narrow] * densities[1 - narrow]
        gain = absolute_sum(weights[narrow] * heights[narrow] - wide) - float(wide.sum())
        mass = weights[1 - narrow] * float(heights[1 - narrow].sum()) * self.lines[1 - narrow].step
        return mass + self.lines[narrow].step * gain

    def _smooth_at(self, points: Floats) -> tuple[Floats, Floats]:
        r, q = np.zeros(len(points)), np.zeros(len(points))
        if self.lines is None:
            return r, q
        first, second = self.lines
        rise, fall = np.diff(self.members, append=0.0), np.diff(self.nonmembers, append=0.0)
        for start, block in zip(range(0, len(points), BLOCK), blocks(points), strict=True):
            here = slice(start, start + len(block))
            node, beyond = first.place(block)
            _interpolate(self.members, rise, node, beyond, r[here])
            if second is not first:
                node, beyond = second.place(block)
            _interpolate(self.nonmembers, fall, node, beyond, q[here])
        return r, q


def _interpolate(heights: Floats, slopes: Floats, node: NDArray[np.intp], beyond: Floats, out: Floats) -> None:
    np.take(slopes, node, out=out, mode="clip")
    out *= beyond
    out += np.take(heights, node, mode="clip")


def choose_both(bandwidth: Bandwidth, a: Floats, b: Floats, dimension: int) -> tuple[float, float]:
    """A width for either side; a side without spread (one value, or none) borrows the other's."""
    widths = [
        bandwidth.choose(Sample.of(side), dimension) if len(side) > 1 and side.min() < side.max() else None
        for side in (a, b)
    ]
    rule_widths = [width for width in widths if width is not None]
    if rule_widths:
        return widths[0] or rule_widths[0], widths[1] or rule_widths[0]
    apart = np.concatenate([a, b])
    # both sides constant: any width that keeps two different values apart says the same
    fallback = float(np.ptp(apart)) / 32.0 if apart.size else 0.0
    return (fallback or 1.0,) * 2
