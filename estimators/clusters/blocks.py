"""Progressive validation by whole clusters: no rule is judged on a row whose cluster it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from estimators.adversary import holdout
from estimators.adversary.families import Family, families_for
from estimators.adversary.many_changes import PARTS, Aspect
from estimators.arrays import Booleans, Floats, Integers, lengths
from estimators.clusters.design import Clusters, number_of
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Intervals
from estimators.sample.counts import Counts

FEWEST_LEARNED = 2  # clusters of either side, at least, of which the first rules learn


@dataclass(frozen=True, eq=False, slots=True)
class Guesses:
    """What the leading rules guessed of rows of clusters that they had not seen, for each shuffle.

    ``stage`` is the block in which a row was judged, 0 if in none; ``right`` says whether its guess was right.
    ``by_rule`` has the advantage of every rule, (shuffles, rules).
    """

    stage: NDArray[np.int8]
    right: Booleans
    by_rule: Floats
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Reader:
    """A way to read scores: in which of its cells each finest cell is, how many it has, and the rules on them."""

    cell: Integers
    size: int
    families: Sequence[Family]


@dataclass(frozen=True, eq=False, slots=True)
class Dealt:
    """Clusters dealt into so many blocks: with which one each row joins the past, and in which it is judged.

    A row joins the past after all of its clusters, and is judged before any has; both are (shuffles, rows).
    ``is_pilot`` says which rows are in the first block, by all of their clusters, where it is the same in all shuffles.
    """

    joins: NDArray[np.int8]
    stage: NDArray[np.int8]
    is_pilot: Booleans
    number: int

    @classmethod
    def of(
        cls, clusters: Clusters, fractions: Sequence[Floats], rng: np.random.Generator, shuffles: int, one_pilot: bool
    ) -> Dealt:
        """Blocks of about these fractions of the clusters of each column; ``one_pilot`` if all begin with the same."""
        in_blocks = [
            _blocks(clusters, column, each, rng, shuffles, one_pilot)[:, column]
            for column, each in zip(clusters.columns, fractions, strict=True)
        ]
        joins, stage = (reduce(each, in_blocks) for each in (np.maximum, np.minimum))
        return cls(joins, stage, (joins == 0).all(axis=0), max(len(each) for each in fractions))


def guess_unseen(
    clusters: Clusters, weights: Floats, at: Integers, fine: Counts, cells: int, worth: float, seed: int, shuffles: int
) -> Guesses:
    """Guesses of the leading rules on so many cells, and of those that cut the score anywhere."""
    rng = clusters.random(seed)
    least = min(clusters.of_sides) * worth / clusters.rows
    fractions = holdout.block_fractions(max(1, int(least)), max(1, int(least)))
    one_pilot = fine.cells.ordered and fine.size > cells  # it shows where cuts lie; else every value is a cell
    learning = [_learning(clusters, each, fractions) for each in clusters.columns]
    dealt = Dealt.of(clusters, learning, rng, shuffles, one_pilot)
    starts, families = _rules(fine, clusters, at, dealt.is_pilot, cells, rng)
    cell = np.repeat(np.arange(len(starts)), lengths(starts, fine.size))
    return _follow_leaders(clusters, weights, at, dealt, [Reader(cell, len(starts), families)])


def guess_many_changes(
    clusters: Clusters, weights: Floats, at: Integers, aspects: Sequence[Aspect], seed: int, shuffles: int
) -> Guesses:
    """Guesses of the leading rules at many scales; the first block that they are judged on only chooses one."""
    rng, fractions = clusters.random(seed), np.array(PARTS)
    learning = [_learning(clusters, each, fractions) for each in clusters.columns]
    dealt = Dealt.of(clusters, learning, rng, shuffles, one_pilot=True)
    readers = [Reader(each.cell, each.size, each.families) for each in aspects]
    guesses = _follow_leaders(clusters, weights, at, dealt, readers)
    return replace(guesses, stage=np.maximum(guesses.stage - 1, 0))


def _follow_leaders(
    clusters: Clusters, weights: Floats, at: Integers, dealt: Dealt, readers: Sequence[Reader]
) -> Guesses:
    """What the rules learn from the rows that came before each block, and what the leading one guesses in it."""
    rules: list[Booleans] = []
    hits, alarms = list[Floats](), list[Floats]()
    n1 = n0 = np.zeros(0)
    for reader in readers:
        cell = reader.cell[at]
        judged_rows = _tables(clusters, weights, dealt.stage, dealt.number, cell, reader.size)
        past = judged_rows
        if dealt.joins is not dealt.stage:
            past = _tables(clusters, weights, dealt.joins, dealt.number, cell, reader.size)
        rules.append(holdout.rules_from_past(past[0], past[1], clusters.prior, reader.families))
        for of_rules, each in zip((hits, alarms), judged_rows, strict=True):
            of_rules.append(np.einsum("fsbc,sbc->sfb", rules[-1], each[:, 1:]))
        n1, n0 = (each[:, 1:].sum(axis=2) for each in judged_rows)  # the same of every reader
    rejections = n0[:, None] - np.concatenate(alarms, axis=1)
    leaders, accuracy = holdout.leaders_so_far(np.concatenate(hits, axis=1), n1, rejections, n0, clusters.prior)
    right, first = np.zeros(dealt.stage.shape, dtype=np.bool_), 0
    for reader, of_reader in zip(readers, rules, strict=True):
        cell, blocks = reader.cell[at], np.arange(leaders.shape[1])
        for s in range(len(dealt.stage)):
            leads = (leaders[s] >= first) & (leaders[s] < first + len(of_reader))
            guesses = of_reader[np.where(leads, leaders[s] - first, 0), s, blocks].ravel()
            before = np.maximum(dealt.stage[s] - 1, 0)
            rows = slice(None) if leads.all() else np.flatnonzero(leads[before])
            keys = before[rows].astype(np.intp) * reader.size
            keys += cell[rows]
            right[s, rows] = guesses[keys] == clusters.is_member[rows]
        first += len(of_reader)
    names = tuple(family.name for reader in readers for family in reader.families)
    return Guesses(dealt.stage, right, 2.0 * accuracy - 1.0, names)


def _tables(
    clusters: Clusters, weights: Floats, block: NDArray[np.int8], number: int, cell: Integers, size: int
) -> list[Floats]:
    """What rows of either side weigh by shuffle, block and cell."""
    tables = []
    for side, _ in clusters.sides:
        table = np.empty((len(block), number * size))
        for row, of_shuffle in zip(table, block, strict=True):
            keys = of_shuffle[side].astype(np.intp) * size
            keys += cell[side]
            row[:] = np.bincount(keys, weights[side], number * size)
        tables.append(table.reshape(len(block), number, size))
    return tables


def _learning(clusters: Clusters, column: Integers, fractions: Floats) -> Floats:
    """Blocks of clusters of about these fractions; the first is large enough to learn a rule from its rows."""
    fewest = min(number_of(column[side]) for side, _ in clusters.sides)
    first = min(max(float(fractions[0]) ** (1.0 / len(clusters.columns)), FEWEST_LEARNED / fewest), 0.5)
    ends = np.cumsum(fractions)
    return np.diff(np.concatenate([[0.0, first], ends[ends > first * 1.2]]))


def _blocks(
    clusters: Clusters, column: Integers, fractions: Floats, rng: np.random.Generator, shuffles: int, one_pilot: bool
) -> NDArray[np.int8]:
    """The block of each cluster in each shuffle; of ``one_pilot`` the first block is the same in all of them.

    Clusters with rows of one side, of the other and of both are dealt out apart, so that blocks have equal shares.
    """
    number = int(column.max()) + 1
    has = clusters.has_rows(column)
    blocks = np.zeros((shuffles, number), dtype=np.int8)
    for kind in (has[0] & ~has[1], has[1] & ~has[0], has[0] & has[1]):
        order = rng.permutation(np.flatnonzero(kind))
        ends = np.rint(np.cumsum(fractions) * len(order))
        ends[0] = max(ends[0], min(1, len(order)))
        block = np.searchsorted(ends, np.arange(len(order)), "right")
        first = int(ends[0]) if one_pilot else 0
        for row in blocks:
            row[order[:first]] = 0
            row[rng.permutation(order[first:])] = block[first:]
    return blocks


def _rules(
    fine: Counts, clusters: Clusters, at: Integers, pilot: Booleans, cells: int, rng: np.random.Generator
) -> tuple[Integers, Sequence[Family]]:
    """First fine cell of each group that rules see, and the rules; near the pilot's best cuts groups are narrow."""
    if not fine.cells.ordered:
        return np.arange(fine.size), families_for(fine)
    starts = fine.group_starts(cells)
    pilot_places = [np.sort(at[side][pilot[side]]) for side, _ in clusters.sides]
    if min(len(each) for each in pilot_places):
        pilot_places = [
            each if len(each) <= holdout.PILOT else rng.choice(each, holdout.PILOT, replace=False)
            for each in pilot_places
        ]
        starts = holdout.close_to_cuts(
            fine.pooled.cumsum(), pilot_places, clusters.prior, starts, fine.n_records / cells
        )
    whole = [np.add.reduceat(side, starts) for side in (fine.members, fine.nonmembers)]
    coarse = Counts.trusted(whole[0], whole[1], Intervals(fine.lower_edges()[starts[1:]]))
    return starts, families_for(coarse, cells)
