"""Which cells stand out, with the false discoveries among them under control.

A flag says of a cell: its scores give an attacker more reason to call a record a member than ``threshold``
allows. Records of one cell share one test; what is kept at a rate is the expected share of false flags
(Benjamini and Hochberg 1995). Under no leakage every flag is false, so at most that share of all runs flags
anything at all. A true flag makes no record a member: how many of the flagged are depends on the prior, and
within a cell scores may differ.

Only the member side is tested. That |f_p| is large in a cell where members are *rare* tells the world
that a record was not used, which is no disclosure of membership; and at a prior below 1/2 it is
large there without any leak.
"""

from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from estimators.arrays import Floats, Integers, distinct, lengths
from estimators.errors import OutOfRange, require_number, require_open_unit
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.statement import percent

# Cells that hide something are divided: a spike inside a cell else speaks for all records of it.
#
# Where members and nonmembers of a cell lie apart by the statistic of Kolmogorov and Smirnov, the cell is cut where
# they lie furthest apart, and so are its parts, until each is even. Where a cut lies is not known to a record: the
# rim between the first and the last that is nearly as likely is a part of its own. The labels choose all this, so
# what is said of a part is said of every run of neighbouring scores that could have been one: its error is shared
# among all of these.


UNEVEN = 0.03
"""A cell is taken in two parts if its members and nonmembers lie so unevenly with at most this probability."""


DOUBTFUL = 0.3  # the same of a cell that is flagged where its neighbour is not

CLOSE = 3.0
"""Cuts whose log likelihood is so close to that of the best one may be the true one: a rim lies between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Where the parts of cells begin; a cell that is even is its own only part.

    Attributes:
        starts: The first of the finest cells in each part.
        cell: Which cell each part is of.
        choices: From how many runs of neighbouring scores each was chosen: 1 for a whole cell.
        rim: Whether it lies between two parts of a cell, and may belong to either.
    """

    starts: Integers
    cell: Integers
    choices: Integers
    rim: NDArray[np.bool_]


def whole(starts: Integers) -> Parts:
    """Cells that stay undivided."""
    cells = np.arange(len(starts))
    return Parts(starts, cells, np.ones_like(cells), np.zeros(len(cells), dtype=np.bool_))


def divided(fine: Counts, starts: Integers, flagged: Integers | None = None) -> Parts:
    """The even parts of cells, and the rims between them.

    Args:
        fine: Counts of the finest cells.
        starts: The first of these in each cell.
        flagged: Cells that are flagged and may hide a spike: less is enough for these to be taken for uneven.
    """
    ends = np.append(starts[1:], fine.size)
    cuts = _cuts(fine, starts, ends, UNEVEN)
    if flagged is not None:
        cuts = np.union1d(cuts, _cuts(fine, starts[flagged], ends[flagged], DOUBTFUL))
    low, high = _rims(fine, np.append(np.union1d(starts, cuts), fine.size), cuts)
    parts = distinct(np.concatenate([starts, low, high]))
    parts = parts[parts < fine.size]
    rim = np.searchsorted(low, parts, side="right") > np.searchsorted(high, parts, side="right")
    cell = np.searchsorted(starts, parts, side="right") - 1
    positions = (ends - starts)[cell]
    several = np.bincount(cell)[cell] > 1
    return Parts(parts, cell, np.where(several, positions * (positions + 1) // 2, 1), rim)


def _cuts(fine: Counts, begin: Integers, end: Integers, level: float) -> Integers:
    """Cuts that leave only even parts of these cells."""
    cuts = [np.zeros(0, dtype=np.int64)]
    while begin.size:
        at, behind, _, _ = uneven(fine, begin, end, level)
        cuts.append(behind)
        begin, end = np.concatenate([begin[at], behind]), np.concatenate([behind, end[at]])
    return np.sort(np.concatenate(cuts))


def _rims(fine: Counts, bounds: Integers, cuts: Integers) -> tuple[Integers, Integers]:
    """For each cut the first and the last that is about as likely, between its neighbours."""
    low, high = cuts.copy(), cuts.copy()
    for i, cut in enumerate(cuts):
        at = int(np.searchsorted(bounds, cut))
        a, b = int(bounds[at - 1]), int(bounds[at + 1])
        m, k = fine.members[a:b], fine.nonmembers[a:b]
        share = [
            (m[part].sum() + 0.5) / (m[part].sum() + k[part].sum() + 1.0)
            for part in (slice(0, cut - a), slice(cut - a, None))
        ]
        gain = m * np.log(share[0] / share[1]) + k * np.log((1.0 - share[0]) / (1.0 - share[1]))
        likelihood = np.concatenate([[0.0], np.cumsum(gain)])
        near = np.flatnonzero(likelihood >= likelihood.max() - CLOSE)
        low[i], high[i] = a + near[0], a + near[-1]
    return np.sort(low), np.sort(high)


def uneven(
    fine: Counts, begin: Integers, end: Integers, level: float = UNEVEN
) -> tuple[Integers, Integers, Integers, Integers]:
    """Runs of cells in which members and nonmembers lie apart, and the cut that parts them best.

    Args:
        fine: Counts of the finest cells.
        begin: First cell of each run.
        end: The cell behind its last one.
        level: They are taken for uneven where they lie so with at most this probability.

    Returns:
        Which runs, the cell behind each cut, and how many members and nonmembers lie before it.
    """
    length = end - begin
    first = np.cumsum(length) - length
    row = np.repeat(begin - first, length) + np.arange(int(length.sum()))
    run = np.repeat(np.arange(len(begin)), length)
    sides = fine.members[row], fine.nonmembers[row]
    x, y = (np.add.reduceat(side, first) for side in sides)
    before, inside = (
        np.cumsum(side) - (np.cumsum(total) - total)[run] for side, total in zip(sides, (x, y), strict=True)
    )
    apart = np.abs(before / np.maximum(x, 1)[run] - inside / np.maximum(y, 1)[run])
    most = np.maximum.reduceat(apart, first)
    chance = 2.0 * np.exp(-2.0 * most**2 * x * y / np.maximum(x + y, 1))
    at = np.flatnonzero(chance <= level)
    cut = np.array([first[i] + np.argmax(apart[first[i] : first[i] + length[i]]) for i in at], dtype=np.int64)
    return at, row[cut] + 1, before[cut], inside[cut]


NARROW = 0.19
"""Share of the rate that the narrowing cells of a group have, which few records are enough for."""

DIVIDED = 0.01  # share of the rate that parts of divided cells have; the groups have the rest

KEPT = 0.05
"""Of a divided cell that is flagged a part is only if chance gives so many members at most this often."""


class Multiplicity(Protocol):
    """What the false discovery rate is a share of."""

    name: ClassVar[str]

    def weights(self, pooled: Integers) -> Floats:
        """How many discoveries each cell is."""
        ...


@dataclass(frozen=True, slots=True)
class OverRecords:
    """A cell counts as often as it has records: the rate is of flagged records (Benjamini, Hochberg 1997)."""

    name: ClassVar[str] = "records"

    def weights(self, pooled: Integers) -> Floats:
        """Records in the cell."""
        return pooled.astype(np.float64)


@dataclass(frozen=True, slots=True)
class OverCells:
    """Every occupied cell counts once: the rate is of flagged cells."""

    name: ClassVar[str] = "cells"

    def weights(self, pooled: Integers) -> Floats:
        """One for a cell in which a record fell."""
        return (pooled > 0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Flags:
    """The cells flagged, the test behind each, and what the rate of false ones is held at."""

    flagged: NDArray[np.bool_]
    p_values: Floats
    threshold: float
    rate: float
    over: Multiplicity

    @property
    def chance(self) -> str:
        """The probability of membership that belongs to the threshold, (1 + f) / 2: by default the prior."""
        return f"{50.0 + 50.0 * self.threshold:.6g}%"

    @property
    def sentence(self) -> str:
        """The promise in plain words."""
        return (
            f"{int(self.flagged.sum())} of {len(self.flagged)} cells are flagged: their scores make membership more "
            f"likely than {self.chance}, which holds on average for at least {percent(1.0 - self.rate)} of the flagged "
            f"{self.over.name}"
        )


def flag_members(
    counts: Counts,
    prior: float,
    threshold: float | None = None,
    rate: float = 0.05,
    over: Multiplicity | None = None,
    groups: Integers | None = None,
    parts: Parts | None = None,
) -> Flags:
    """Cells whose signed risk f_p is above ``threshold``; by default above 2p-1, its value without any leak.

    In a cell where f_p = tau the records of the sample are members with the share s below, whatever the
    prior, and independently: p_j = P(Bin(m_j, s) >= x_j) is the exact p-value (study 2.5). With ``groups``, the first
    cell of each, a cell is flagged with its group or by itself, and so are ``parts`` of cells.
    """
    prior = require_open_unit("prior", prior)
    require_open_unit("rate", rate)
    tau = 2.0 * prior - 1.0 if threshold is None else require_number("threshold", threshold)
    if not -1.0 < tau < 1.0:
        raise OutOfRange.about("threshold", f"got {tau!r}, need a number strictly between -1 and 1")
    multiplicity = over or OverRecords()
    share = counts.member_share if threshold is None else sample_share(counts, prior, tau)
    p_values = binomial_tail(counts.members, counts.pooled, share)
    if groups is None or len(groups) == counts.size:
        flagged = benjamini_hochberg(p_values, multiplicity.weights(counts.pooled), rate)
    else:
        parts = parts or whole(np.arange(counts.size))
        p_values = np.minimum(1.0, p_values * parts.choices)
        flagged = _with_groups(counts, p_values, share, rate, multiplicity, groups, parts)
    return Flags(flagged, p_values, tau, rate, multiplicity)


def _with_groups(
    counts: Counts, p_values: Floats, share: float, rate: float, over: Multiplicity, groups: Integers, parts: Parts
) -> NDArray[np.bool_]:
    """Parts that are flagged by themselves, or with what is left of their cell or of its group.

    Three families share the rate: the false of each are its part of its own flags at most, so of all flags at most. A
    leak of a few records is seen in a part or a cell, one that is spread over a group in the group; without what is
    flagged already, for one exposed cell does not make its neighbours exposed, and what is left has fewer members
    than chance gives. Parts are chosen by labels: their p-values count every choice, and any false one is as rare as
    their rate (Bonferroni over the groups). The cells of a group share the error evenly, however few records they
    have, as prices with reciprocals of mean 1 allow (Blanchard and Roquain 2008). Of a divided cell that is flagged
    only those parts are that hold more members than chance gives: fewer flags, no others. A rim is if both parts
    beside it are, or all from it to an end of the scores: copies and memorised records lie there.
    """
    by_labels = parts.choices > 1
    own = by_labels & (p_values * len(groups) <= rate * DIVIDED)
    cells = np.flatnonzero(np.diff(parts.cell, prepend=-1))  # the first part of each
    group = np.repeat(np.arange(len(groups)), lengths(groups, counts.size))[cells]

    def left(without: NDArray[np.bool_], starts: Integers) -> tuple[Integers, Integers]:
        return (
            np.add.reduceat(np.where(without, 0, counts.members), starts),
            np.add.reduceat(np.where(without, 0, counts.pooled), starts),
        )

    alone, narrow = np.zeros(len(cells), dtype=np.bool_), np.bincount(group)[group] > 1
    members, pooled = (each[narrow] for each in left(own, cells))
    weights = over.weights(pooled)
    prices = weights * (weights > 0).sum() / max(weights.sum(), 1.0)
    alone[narrow] = benjamini_hochberg(binomial_tail(members, pooled, share) * prices, weights, rate * NARROW)
    by_cell = alone[parts.cell]
    members, pooled = left(own | by_cell, groups)
    together = benjamini_hochberg(
        binomial_tail(members, pooled, share), over.weights(pooled), rate * (1.0 - NARROW - DIVIDED)
    )
    shown_by_cell = alone | together[group] | (np.bincount(parts.cell, own) > 0)
    to_an_end = np.logical_and.accumulate(shown_by_cell) | np.logical_and.accumulate(shown_by_cell[::-1])[::-1]
    most = np.where(to_an_end, 0.5, KEPT)[parts.cell]
    above = ~by_labels | (binomial_tail(counts.members, counts.pooled, share) <= most)
    flagged = own | (by_cell | together[group][parts.cell]) & above
    rim = parts.rim
    from_ends = (np.logical_and.accumulate(flagged | rim), np.logical_and.accumulate((flagged | rim)[::-1])[::-1])
    before, behind = np.append(False, flagged[:-1]), np.append(flagged[1:], False)
    beside = before & behind | before & from_ends[0] | behind & from_ends[1]
    return np.asarray(np.where(rim, beside, flagged))


def sample_share(counts: Counts, prior: float, signed_risk: float) -> float:
    """Share of members among a cell's sampled records if its signed risk at ``prior`` is this.

    The posterior odds (1+f)/(1-f) carry the prior's odds; in the sample those are n1/n0 instead.
    """
    odds = (1.0 + signed_risk) / (1.0 - signed_risk)
    odds *= (1.0 - prior) / prior * counts.n_members / counts.n_nonmembers
    return odds / (1.0 + odds)


def binomial_tail(hits: Integers, trials: Integers, share: float) -> Floats:
    """P(Bin(trials, share) >= hits), elementwise."""
    tail = betainc(np.maximum(hits, 1), np.maximum(trials - hits, 0) + 1.0, share)
    return np.where(hits > 0, tail, 1.0)


def benjamini_hochberg(p_values: Floats, weights: Floats, rate: float) -> NDArray[np.bool_]:
    """Reject the largest set {p_j <= t} that holds t * (all weight) <= rate * (weight rejected).

    With weight 1 each it is the step-up of Benjamini and Hochberg (1995), with m_j it is theirs of 1997.
    """
    order = np.argsort(p_values, kind="stable")
    in_order = p_values[order]
    below = np.flatnonzero(in_order * weights.sum() <= rate * np.cumsum(weights[order]))
    if not below.size:
        return np.zeros(len(p_values), dtype=np.bool_)
    return np.asarray((p_values <= in_order[below[-1]]) & (weights > 0))
