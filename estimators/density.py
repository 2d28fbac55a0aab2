"""Kernel densities of both sides, and the advantage and the risk they imply.

On a line both densities live on one uniform grid: linear binning, one multiplication in frequency by
the Gaussian over sinc^2 (which undoes the binning), one transform back. With 64 steps a bandwidth the
risk at a record is right to 1e-4 and U_N to 1e-6 of the direct sums, at any number of records.

Far outliers cost neither resolution nor memory: a stretch in which no kernel reaches is cut out of the
line. What is left is exact, because densities and integrals look only at distances between neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from estimators.atoms import Atoms, split_atoms
from estimators.bandwidth import Bandwidth, Sample, spread_indices
from estimators.errors import OutOfRange

Floats = NDArray[np.float64]

STEPS = 64
"""Grid steps in the smaller bandwidth; fewer, down to ``FEWEST_STEPS``, when the grid would pass ``POINTS``."""

FEWEST_STEPS = 4
POINTS = 2**21
PLAIN = 2**17
"""A line of at most this many steps is taken whole; a longer one is searched for stretches to cut out."""

REACH = 7.0
"""A Gaussian kernel ends after this many bandwidths: what lies beyond is below 1e-11."""

NOISE = 1e-13
"""Transforms leave this much of the largest density behind where there is none."""

BLOCK = 2**16
"""Records worked on at a time, so that they stay in the cache."""


@dataclass(frozen=True, slots=True, eq=False)
class At:
    """What the two densities say at some points.

    Where ``atom`` is true both numbers are masses, elsewhere densities: their ratio means the same.
    """

    members: Floats
    nonmembers: Floats
    atom: NDArray[np.bool_]

    def signed_risk(self, prior: float) -> Floats:
        """f_p = (p r - (1-p) q)/(p r + (1-p) q); where nothing was seen the prior alone speaks, 2p - 1 (MACE, Eq. 10)."""
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
    for_member, for_nonmember = prior * r, (1.0 - prior) * q
    total = for_member + for_nonmember
    seen = total > 0.0
    if seen.all():
        return (for_member - for_nonmember) / total
    return np.where(seen, (for_member - for_nonmember) / np.where(seen, total, 1.0), 2.0 * prior - 1.0)


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
    def over(cls, members: Floats, nonmembers: Floats, widths: tuple[float, float]) -> Line:
        """The shortest line on which all kernels of these records lie undisturbed."""
        sides = [side for side in (members, nonmembers) if len(side)]
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
            raise OutOfRange(
                f"bandwidth: the records occupy a stretch of {length / min(widths):.3g} bandwidths, "
                f"need at most {POINTS // FEWEST_STEPS}; use a wider one or read the score as discrete",
                field="bandwidth",
            )
        return cls(start, step, next_fast_len(int(length / step) + 4, real=True), inner, knots, places)

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

    def density(self, records: Floats, total: int, width: float) -> Floats:
        """Density at the nodes of records that are part of ``total``."""
        heights = np.zeros(self.points)
        for block in _blocks(records):
            node, beyond = self.place(block)
            to_right = np.bincount(node, beyond, minlength=self.points)
            heights += np.bincount(node, minlength=self.points)
            heights -= to_right
            heights[1:] += to_right[:-1]
        wave = np.arange(self.points // 2 + 1) / self.points
        # a Gaussian in frequency; linear binning was a triangle of one step, whose transform is sinc^2
        kernel = np.exp(-2.0 * (np.pi * width / self.step * wave) ** 2) / np.sinc(wave) ** 2
        density = irfft(rfft(heights) * kernel, self.points) / (total * self.step)
        density[density < NOISE * density.max()] = 0.0
        return np.asarray(density)


@dataclass(frozen=True, slots=True, eq=False)
class LineDensities:
    """Both densities of a scalar score: atoms apart, the rest on one grid."""

    atoms: Atoms
    line: Line | None
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
        line = Line.over(a, b, widths)
        return cls(
            atoms, line, line.density(a, n1, widths[0]), line.density(b, n0, widths[1]), n1, n0, widths
        )

    @property
    def volumes(self) -> tuple[float, float]:
        """The two bandwidths."""
        return self.widths

    def at(self, points: Floats) -> At:
        """Both densities by interpolation between nodes; at an atom both masses."""
        r, q = np.zeros(len(points)), np.zeros(len(points))
        if self.line is not None:
            rise, fall = np.diff(self.members, append=0.0), np.diff(self.nonmembers, append=0.0)
            for start, block in zip(range(0, len(points), BLOCK), _blocks(points), strict=True):
                node, beyond = self.line.place(block)
                here = slice(start, start + len(block))
                for out, heights, slope in ((r, self.members, rise), (q, self.nonmembers, fall)):
                    np.take(slope, node, out=out[here], mode="clip")
                    out[here] *= beyond
                    out[here] += np.take(heights, node, mode="clip")
        if not self.atoms.size:
            return At(r, q, np.zeros(len(points), dtype=np.bool_))
        which = self.atoms.locate(points)
        atom = which >= 0
        r[atom] = self.atoms.members[which[atom]] / self.n_members
        q[atom] = self.atoms.nonmembers[which[atom]] / self.n_nonmembers
        return At(r, q, atom)

    def advantage(self, prior: float) -> float:
        """Sum over the atoms plus the integral over the rest."""
        on_atoms = (
            prior * self.atoms.members / self.n_members
            - (1 - prior) * self.atoms.nonmembers / self.n_nonmembers
        )
        total = float(np.abs(on_atoms).sum())
        if self.line is not None:
            total += self.line.step * absolute_sum(prior * self.members - (1.0 - prior) * self.nonmembers)
        return min(total, 1.0)


def absolute_sum(values: Floats) -> float:
    """Integral of |f| in steps: the sum over nodes, put right where f changes its sign.

    Between f0 and f1 of opposite sign the sum is off by (|f0| + |f1|)/6 - |f0 f1|/(|f0| + |f1|), up to
    the third power of the step: the kink inside the step and the trapezoid's end terms together.
    """
    f0, f1 = values[:-1], values[1:]
    kink = np.flatnonzero(f0 * f1 < 0.0)
    a, b = np.abs(f0[kink]), np.abs(f1[kink])
    return float(np.abs(values).sum() + ((a + b) / 6.0 - a * b / (a + b)).sum())


def choose_both(bandwidth: Bandwidth, a: Floats, b: Floats, dimension: int) -> tuple[float, float]:
    """A width for either side; a side without spread (one value, or none) borrows the other's."""
    widths = [
        bandwidth.choose(Sample.of(side), dimension) if len(side) > 1 and side.min() < side.max() else None
        for side in (a, b)
    ]
    known = [width for width in widths if width is not None]
    if known:
        return widths[0] or known[0], widths[1] or known[0]
    apart = np.concatenate([a, b])
    # both sides constant: any width that keeps two different values apart says the same
    fallback = float(np.ptp(apart)) / 32.0 if apart.size else 0.0
    return (fallback or 1.0,) * 2


def _blocks(records: Floats) -> list[Floats]:
    return [records[i : i + BLOCK] for i in range(0, len(records), BLOCK)]


def _middle(sides: list[Floats], longest: float) -> tuple[float, float]:
    """Limits of the bulk of the records; a single point if the bulk itself is too long for a grid."""
    look = np.concatenate([side[spread_indices(len(side), 4096)] for side in sides])
    first, centre, last = (float(q) for q in np.quantile(look, [0.005, 0.5, 0.995]))
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
