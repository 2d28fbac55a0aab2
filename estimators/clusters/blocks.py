"""Progressive validation by whole clusters: no rule is judged on a row whose cluster it has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from estimators.adversary.families import Family, families_for
from estimators.adversary.holdout import (
    PILOT,
    block_fractions,
    close_to_cuts,
    leaders_so_far,
    rules_from_past,
)
from estimators.clusters.design import Bools, Clusters, Floats, Integers
from estimators.sample.cells import Intervals
from estimators.sample.counts import Counts

FEWEST_LEARNED = 2
"""Clusters of either side, at least, of which the first rules learn."""


@dataclass(frozen=True, eq=False, slots=True)
class Guesses:
    """What the leading rules guessed of rows of clusters that they had not seen, for each shuffle.

    ``stage`` is the block in which a row was judged, 0 if in none; ``right`` says whether its guess was right.
    ``by_rule`` has the advantage of every rule, (shuffles, rules).
    """

    stage: Integers
    right: Bools
    by_rule: Floats
    names: tuple[str, ...]


def guess_unseen(
    clusters: Clusters,
    weights: Floats,
    at: Integers,
    fine: Counts,
    cells: int,
    worth: float,
    seed: int,
    shuffles: int,
) -> Guesses:
    """Guesses of the leading rules: a row joins the past after all of its clusters, and is judged before any has."""
    rng = np.random.default_rng(seed)
    sides = clusters.is_member, ~clusters.is_member
    least = min(side.sum() for side in sides) * worth / clusters.rows
    fractions = [_fractions(clusters, column, least) for column in clusters.columns]
    number = max(len(each) for each in fractions)
    blocks = [
        _blocks(clusters, column, each, rng, shuffles)
        for column, each in zip(clusters.columns, fractions, strict=True)
    ]
    in_blocks = np.stack([each[:, column] for each, column in zip(blocks, clusters.columns, strict=True)])
    joins, stage = in_blocks.max(axis=0), in_blocks.min(axis=0)
    starts, families = _rules(fine, clusters, at, (joins == 0).all(axis=0), cells, rng)
    cell = (np.searchsorted(starts, np.arange(fine.size), "right") - 1)[at]

    def table(block: Integers, side: Bools) -> Floats:
        keys = (np.arange(shuffles)[:, None] * number + block[:, side]) * len(starts) + cell[side]
        mass = np.broadcast_to(weights[side], keys.shape)
        total = np.bincount(keys.ravel(), mass.ravel(), shuffles * number * len(starts))
        return np.asarray(total.reshape(shuffles, number, len(starts)), dtype=np.float64)

    past, judged_rows = ([table(block, side) for side in sides] for block in (joins, stage))
    rules = rules_from_past(past[0], past[1], clusters.prior, families)
    hits, alarms = (np.einsum("fsbc,sbc->sfb", rules, each[:, 1:]) for each in judged_rows)
    n1, n0 = (each[:, 1:].sum(axis=2) for each in judged_rows)
    leaders, accuracy = leaders_so_far(hits, n1, n0[:, None] - alarms, n0, clusters.prior)
    shuffle = np.arange(shuffles)[:, None]
    before = np.maximum(stage - 1, 0)
    guesses = rules[leaders[shuffle, before], shuffle, before, cell]
    names = tuple(family.name for family in families)
    return Guesses(stage, guesses == clusters.is_member, 2.0 * accuracy - 1.0, names)


def _fractions(clusters: Clusters, column: Integers, least: float) -> Floats:
    """Growing blocks of clusters; the first is large enough to learn a rule from its rows."""
    fewest = min(len(np.unique(column[side])) for side in (clusters.is_member, ~clusters.is_member))
    fractions = block_fractions(max(1, int(least)), max(1, int(least)))
    first = max(float(fractions[0]) ** (1.0 / len(clusters.columns)), FEWEST_LEARNED / fewest)
    ends = np.cumsum(fractions)
    return np.diff(np.concatenate([[0.0, min(first, 0.5)], ends[ends > min(first, 0.5) * 1.2]]))


def _blocks(
    clusters: Clusters, column: Integers, fractions: Floats, rng: np.random.Generator, shuffles: int
) -> Integers:
    """The block of each cluster in each shuffle; the first block is the same in all of them.

    Clusters with rows of one side, of the other and of both are dealt out apart, so that blocks have equal shares.
    """
    number = int(column.max()) + 1
    has = [
        np.bincount(column[side], minlength=number) > 0 for side in (clusters.is_member, ~clusters.is_member)
    ]
    blocks = np.zeros((shuffles, number), dtype=np.int64)
    for kind in (has[0] & ~has[1], has[1] & ~has[0], has[0] & has[1]):
        order = rng.permutation(np.flatnonzero(kind))
        ends = np.rint(np.cumsum(fractions) * len(order))
        ends[0] = max(ends[0], min(1, len(order)))
        block = np.searchsorted(ends, np.arange(len(order)), "right")
        first = int(ends[0])
        for row in blocks:
            row[order[:first]] = 0
            row[rng.permutation(order[first:])] = block[first:]
    return blocks


def _rules(
    fine: Counts, clusters: Clusters, at: Integers, pilot: Bools, cells: int, rng: np.random.Generator
) -> tuple[Integers, Sequence[Family]]:
    """First fine cell of each group that rules see, and the rules; near the pilot's best cuts groups are narrow."""
    if not fine.cells.ordered:
        return np.arange(fine.size), families_for(fine)
    starts = fine.group_starts(cells)
    pilot_places = [np.sort(at[pilot & side]) for side in (clusters.is_member, ~clusters.is_member)]
    if min(len(each) for each in pilot_places):
        pilot_places = [
            each if len(each) <= PILOT else rng.choice(each, PILOT, replace=False) for each in pilot_places
        ]
        starts = close_to_cuts(
            fine.pooled.cumsum(), pilot_places, clusters.prior, starts, fine.n_records / cells
        )
    whole = [np.add.reduceat(side, starts) for side in (fine.members, fine.nonmembers)]
    coarse = Counts.trusted(whole[0], whole[1], Intervals(fine.lower_edges()[starts[1:]]))
    return starts, families_for(coarse, cells)
