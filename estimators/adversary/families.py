"""Adversaries: rules that guess "member" in some cells, fitted to counts and judged on others.

Each family fits many samples at once: ``gain`` has one row for each sample and holds p r_j - (1-p) q_j,
and the advantage of guessing member in the cells M is the sum of gain over M minus the sum outside it.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.changes import rule_of_changes
from estimators.arrays import Floats, lengths
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts

Guesses = NDArray[np.bool_]

COARSE = 8  # groups of cells that the coarser of two cellwise rules sees: it overfits less
SEVERAL = 12  # groups of cells up to which there is no coarser rule


class Family(Protocol):
    """A set of rules from which the best for a sample is taken."""

    @property
    def name(self) -> str:
        """The family's word in answers."""
        ...

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """The rule of most gain for each row: True where it guesses member, ``tie`` where a cell gains nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """The likelier side for every record."""

    name: str = "constant"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """The guess of a cell that gains nothing."""
        return np.full(gain.shape, tie)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Member on one side of a single cut, either side; the constant rules are its ends."""

    name: str = "threshold"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Best of all cuts by one cumulative sum."""
        below = np.concatenate([np.zeros((len(gain), 1)), gain.cumsum(axis=1)], axis=1)
        value = below[:, -1:] - 2.0 * below  # gain of "member from cell j on"
        rows = np.arange(len(gain))
        cut = np.argmax(np.abs(value), axis=1)
        upward = value[rows, cut] >= 0
        guesses: Guesses = (np.arange(gain.shape[1]) >= cut[:, None]) == upward[:, None]
        return guesses


@dataclass(frozen=True, slots=True)
class TwoSided:
    """Member inside one run of neighbouring cells, or outside it."""

    name: str = "two_sided"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Heaviest and lightest run of neighbours by running minima (Kadane)."""
        sums = np.concatenate([np.zeros((len(gain), 1)), gain.cumsum(axis=1)], axis=1)
        total = sums[:, -1]
        inside, heavy = _heaviest_run(sums)
        outside, light = _heaviest_run(-sums)
        better = 2.0 * inside - total >= total + 2.0 * outside
        guesses: Guesses = np.where(better[:, None], heavy, ~light)
        return guesses


@dataclass(frozen=True, slots=True)
class Changes:
    """Member in the heaviest runs of neighbouring cells, with so many changes of guess along the score."""

    most: int

    @property
    def name(self) -> str:
        """The word for it."""
        return f"changes_{self.most}"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """The lightest runs are given up, row by row."""
        return np.stack([rule_of_changes(row, self.most) for row in gain])


@dataclass(frozen=True, slots=True)
class Cellwise:
    """Member wherever the cell holds more member weight."""

    name: str

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Sign of the gain of each cell (MACE, Lemma 1 with the plug-in posterior)."""
        return np.where(gain == 0.0, tie, gain > 0.0)


@dataclass(frozen=True, slots=True)
class UnseenLabels:
    """The same, but the other guess where no record was seen, or as many of either side as balance.

    Where most members have a label of their own, what was never seen is a member.
    """

    name: str = "unseen_labels"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Sign of the gain of each cell, the unlikelier side where there is none."""
        return np.where(gain == 0.0, not tie, gain > 0.0)


@dataclass(frozen=True, slots=True)
class Smoothed:
    """Member where the kernel-smoothed gain is positive: a density estimate on the rank scale."""

    bandwidth: float
    name: str = "kde"

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """Sign of the gain after a Gaussian of ``bandwidth`` cells, reflected at both ends."""
        reach = min(int(4 * self.bandwidth) + 1, gain.shape[1])
        kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / self.bandwidth) ** 2)
        padded = np.concatenate([gain[:, :reach][:, ::-1], gain, gain[:, gain.shape[1] - reach :][:, ::-1]], axis=1)
        smooth = np.zeros_like(gain)
        for offset, weight in enumerate(kernel):
            smooth += weight * padded[:, offset : offset + gain.shape[1]]
        return np.where(smooth == 0.0, tie, smooth > 0.0)


@dataclass(frozen=True, eq=False, slots=True)
class OnGroups:
    """A family that sees cells joined with their neighbours by ``starts``."""

    family: Family
    starts: NDArray[np.int64]

    @property
    def name(self) -> str:
        """The name of the family that decides."""
        return self.family.name

    def fit(self, gain: Floats, tie: bool) -> Guesses:
        """The family's best rule on the groups, for each of their cells."""
        guesses = self.family.fit(np.add.reduceat(gain, self.starts, axis=1), tie)
        return guesses.repeat(lengths(self.starts, gain.shape[1]), axis=1)


def families_for(counts: Counts, cells: int | None = None) -> tuple[Family, ...]:
    """The adversaries that compete on these cells, simplest first: in a draw the first one leads.

    With ``cells`` those that decide cell by cell see so many groups of equal mass; thresholds see every cell.
    """
    if not counts.cells.ordered:
        return (Cellwise("cells"), UnseenLabels())
    starts = counts.group_starts(counts.size if cells is None else cells)
    every: list[Family] = [Cellwise("cells")]
    if len(starts) > SEVERAL:
        every = [
            OnGroups(Cellwise("coarse_cells"), counts.group_starts(COARSE)),
            OnGroups(Smoothed(max(1.0, len(starts) / 16)), starts),
            OnGroups(Cellwise("cells"), starts),
        ]
    elif len(starts) < counts.size:
        every = [OnGroups(Cellwise("cells"), starts)]
    return (Threshold(), TwoSided(), *every)


def in_sample(family: Family, counts: Counts, prior: float) -> float:
    """Advantage of the family's best rule on the very records it was fitted to."""
    gain = counts.weights(prior)
    guesses = family.fit(gain[None, :], prior > 0.5)[0]
    return float(gain[guesses].sum() - gain[~guesses].sum())


def _heaviest_run(sums: Floats) -> tuple[Floats, Guesses]:
    """Largest sums[j] - sums[i] with i <= j, and the cells i..j-1, for each row."""
    rows, cells = np.arange(len(sums)), np.arange(sums.shape[1] - 1)
    lowest = np.minimum.accumulate(sums, axis=1)
    rise = sums - lowest
    end = rise.argmax(axis=1)
    start = (lowest == lowest[rows, end][:, None]).argmax(axis=1)
    return rise[rows, end], (cells >= start[:, None]) & (cells < end[:, None])
