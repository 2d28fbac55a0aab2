"""The lower end of a difference of two advantages, where the same records were scored twice.

A rule for the first score is judged on records it has never seen; the best rule for the second, unknown, is fixed. Of a
record the first of the two guesses may be right, or the second, or both or none, and the last two say nothing about
the difference. So the limit is that of a mean of differences most of which are 0. Of all rules for the second score
the one stands that leaves least, and that rule needs no search: the root of a variance lies below each of its
tangents, below a tangent each record counts by itself, and so the rule is again the best of its class for other gains.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import Cellwise, Constant, Guesses, OnGroups, Threshold, TwoSided, families_for
from estimators.adversary.holdout import PILOT, SHUFFLES, block_fractions, close_to_cuts, rules_from_past
from estimators.arrays import Floats, Integers, lengths, median, random_of
from estimators.limits.binomial import normal_quantile
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores

DIFFERENCES = np.array(
    [[[right - (guess == member) for guess in (0, 1)] for right in (0, 1)] for member in (1, 0)], dtype=np.float64
)
"""The first guess right minus the second right: by side (members first), first right or not, second guess."""

SHIFT, WIDEN = 2.0 / 3.0, 0.5
"""What z^2 records add to a limit and to a variance: without them few records that differ are taken for none."""

CENTRE = 0.5
"""The variance is taken about a mean of at most so much: about one near 1 there would be next to none."""

LEAD, FIRST_LEAD = 0.8, 3.0
"""Standard errors by which a rule must be better than a constant on past blocks, and on the one it was fitted to."""

MANY_RECORDS = 20_000  # from here on one order of the records is as good as the median of several

ROUNDS = 6


@dataclass(frozen=True, eq=False, slots=True)
class Rules:
    """A class of rules on the cells of a score: by groups of cells, by so many changes anywhere, or either."""

    groups: Integers | None
    changes: int | None

    def best(self, gain: Floats) -> float:
        """Largest sum of gain over "member" minus that over "nonmember"."""
        by_groups = -np.inf if self.groups is None else np.abs(np.add.reduceat(gain, self.groups)).sum()
        by_changes = -np.inf if self.changes is None else best_by_changes(gain, self.changes)[-1]
        return float(max(by_groups, by_changes))

    def about_best(self, gain: Floats) -> Guesses:
        """A rule that reaches it; where more than two changes are allowed, one that comes close."""
        families = [] if self.groups is None else [OnGroups(Cellwise("cells"), self.groups)]
        line = {None: [], 1: [Threshold()]}.get(self.changes, [TwoSided()])
        guesses = [family.fit(gain[None, :], False)[0] for family in (*families, *line)]
        return max(guesses, key=lambda member: float(gain[member].sum() - gain[~member].sum()))


@dataclass(frozen=True, eq=False, slots=True)
class Judged:
    """A score of some records, members and nonmembers apart: what held-out rules made of it, and what any could.

    ``cells`` has the cell of each record, ``right`` whether a rule fitted on others guessed it right, 1 or 0, or -1
    where none did, by order of the records. ``rules`` are those that an upper end speaks of.
    """

    cells: tuple[Integers, Integers]
    size: int
    right: tuple[tuple[Integers, Integers], ...]
    rules: Rules
    prior: float

    @classmethod
    def of(cls, scores: Scores, fine: Counts, rules: Rules, groups: int, prior: float, seed: int) -> Judged:
        """Fit rules on blocks of the records, judge each on the next; cell by cell they see so many ``groups``."""
        cells = (fine.cells.locate(scores.members), fine.cells.locate(scores.nonmembers))
        rng = random_of(seed, scores.members, scores.nonmembers)
        orders = 1 if fine.n_records >= MANY_RECORDS else SHUFFLES
        right = tuple(_judge(fine, cells, groups, prior, rng, orders))
        return cls(cells, fine.size, right, rules, prior)

    @property
    def sizes(self) -> tuple[int, int]:
        """Members and nonmembers."""
        return len(self.cells[0]), len(self.cells[1])

    def minus(self, second: Judged, alpha: float) -> float:
        """Lower limit of level 1 - alpha of this score's advantage minus that of the second, of the same records."""
        limits = []
        for right in self.right:
            tables = [
                [np.bincount(cells[outcome == value], minlength=second.size) for value in (0, 1)]
                for cells, outcome in zip(second.cells, right, strict=True)
            ]
            limits.append(_least(np.array(tables), second.rules, self.prior, normal_quantile(alpha)))
        return 2.0 * float(median(np.array(limits)))


def _judge(
    fine: Counts, cells: tuple[Integers, Integers], groups: int, prior: float, rng: np.random.Generator, orders: int
) -> Iterator[tuple[Integers, Integers]]:
    """Whether the rule that led before a record's block guessed it right, in so many orders of the records."""
    sizes = (fine.n_members, fine.n_nonmembers)
    fractions = block_fractions(*sizes)
    ends = [np.rint(fractions.cumsum() * n).astype(np.int64) for n in sizes]
    blocks = [end.searchsorted(np.arange(end[-1]), "right") for end in ends]
    after = fine.pooled.cumsum()
    starts = fine.group_starts(groups) if fine.cells.ordered else None
    for _ in range(orders):
        order_of_sides = [rng.permutation(n) for n in sizes]
        counts, place = fine, np.arange(fine.size)
        if starts is not None:
            pilot = [
                side[order[: min(PILOT, end[0])]] for side, order, end in zip(cells, order_of_sides, ends, strict=True)
            ]
            near = close_to_cuts(after, pilot, prior, starts, fine.n_records / groups)
            counts = fine.join(near)
            place = np.repeat(np.arange(len(near)), lengths(near, fine.size))
        shape = (len(fractions), counts.size)
        joined = [place[side[order]] for side, order in zip(cells, order_of_sides, strict=True)]
        members, nonmembers = (
            np.bincount(block * counts.size + side, minlength=shape[0] * shape[1]).reshape(shape)
            for block, side in zip(blocks, joined, strict=True)
        )
        families = (Constant(), *families_for(counts, groups))
        rules = rules_from_past(members[None], nonmembers[None], prior, families)[:, 0]
        leading = rules[_leaders(rules, members, nonmembers, prior), np.arange(len(fractions) - 1)]
        right = [np.full(n, -1, dtype=np.int64) for n in sizes]
        for member, outcome, order, block, side in zip((1, 0), right, order_of_sides, blocks, joined, strict=True):
            outcome[order] = np.where(block > 0, leading[block - 1, side] == member, -1)
        yield right[0], right[1]


def _leaders(rules: Guesses, members: Integers, nonmembers: Integers, prior: float) -> NDArray[np.intp]:
    """Which rule guesses about each block but the first: the best of those before it, or the constant one.

    A rule that is no better than a constant differs by chance from what it is compared with, and costs width.
    """

    def accuracy(hits: Integers, alarms: Integers, n1: Integers, n0: Integers) -> Floats:
        return np.asarray(prior * hits / n1 + (1.0 - prior) * (n0 - alarms) / n0)

    def error(n1: Integers, n0: Integers) -> Floats:
        return np.hypot(prior / np.sqrt(n1), (1.0 - prior) / np.sqrt(n0)) / 2.0

    first1, first0 = members[0].sum(), nonmembers[0].sum()
    fitted = accuracy(rules[:, 0] @ members[0], rules[:, 0] @ nonmembers[0], first1, first0)
    fitted[0] += FIRST_LEAD * error(first1, first0)
    hits = np.einsum("fbc,bc->fb", rules, members[1:]).cumsum(axis=1)
    alarms = np.einsum("fbc,bc->fb", rules, nonmembers[1:]).cumsum(axis=1)
    n1, n0 = (np.maximum(side[1:].sum(axis=1).cumsum(), 1) for side in (members, nonmembers))
    before = accuracy(hits, alarms, n1, n0)
    before[0] += LEAD * error(n1, n0)
    simplest = int(fitted[1:].max() > fitted[0])
    return np.concatenate([[simplest], before[:, :-1].argmax(axis=0)])


def _least(tables: Integers, rules: Rules, prior: float, z: float) -> float:
    """Smallest limit of p E1 D + (1-p) E0 D over the rules; ``tables`` is (side, first rule right, cell).

    D is 1, 0 or -1: the first rule right minus the second right. With weights w, summed over records, the limit is
    w D - z sqrt(w^2 (D - mean)^2 + guard) - guard', and -sqrt(v) is at least -(u v + 1/u)/2 for every u.
    """
    records = tables.sum(axis=2)
    n = np.maximum(records.sum(axis=1), 1)[:, None, None]
    weight = np.array([prior, 1.0 - prior])[:, None, None] / n
    unit = float(weight.max()) * z
    value = weight * DIFFERENCES
    least, gain = -1.0, _gain(tables, value)
    for _ in range(ROUNDS):
        member = rules.about_best(gain)
        accused = tables[:, :, member].sum(axis=2)
        counts = np.stack([records - accused, accused], axis=2)  # side, first right or not, second guess
        mean = (counts * DIFFERENCES).sum(axis=(1, 2), keepdims=True) / n
        square = weight**2 * (DIFFERENCES - np.minimum(np.maximum(mean, -CENTRE), CENTRE)) ** 2
        u = 1.0 / float(np.sqrt((counts * square).sum() + WIDEN * unit**2))
        value = weight * DIFFERENCES - z * u / 2.0 * square
        gain = _gain(tables, value)
        total = float((records[..., None] * value).sum()) / 2.0 - rules.best(gain)
        limit = total - z / 2.0 * (u * WIDEN * unit**2 + 1.0 / u) - SHIFT * z * unit
        if limit <= least + 1e-9:
            break
        least = limit
    return least


def _gain(tables: Integers, value: Floats) -> Floats:
    """How much less is left in each cell if the second guess is "member", half of it."""
    gain: Floats = np.einsum("srj,sr->j", tables, (value[..., 0] - value[..., 1]) / 2.0)
    return gain
