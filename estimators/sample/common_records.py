"""Records that both sides have in common, seen in cells alone: their sides differ less than chance makes them differ.

Of two cells with as many records each, neither side's number in one says anything of the other's but what the law
says: given how many members the two have together, how many the first one has is a draw without replacement, or, if the
cells differ in how many of their records are members, further from a half of them. A record that stands on both sides
adds one to either side of its cell, so that cells differ less. Where they differ less than draws without replacement
do, no law of independent records makes it, ties and leaks of any kind included.

Cells are paired by how many records they have, never by sides; of the larger one as many are drawn as the other has.
With E each pair's expected square and Z the sum of the pairs' squares, each as a multiple of E, the chance of K pairs
to stay below Z is at most exp(-(K - Z)^2 / (2 K M)), for E[exp(-y z)] <= 1 - y E[z] + y^2 E[z^2] / 2 where z >= 0; M is
the largest E[z^2], 3 for these draws (those of 2 of 4, half of which are members; checked up to 80 records).
"""

import numpy as np

from estimators.arrays import Integers

NEIGHBOURS = 64
"""Cells that follow each other, among which those of about as many records are paired."""

FOURTH_MOMENT = 3.0
"""The largest mean of the fourth power of such a draw's distance from its mean, beside the square of its variance."""

MOST_DRAWN = 2**29
"""Records of a cell of which some can be drawn; larger cells are left out."""

SPIKE = 4.0
"""Cells with so many times the records of the usual cell count for no more than that in an estimate."""


def differ_too_little(members: Integers, nonmembers: Integers) -> float:
    """Minus the logarithm of what the chance is at most that sides of independent records differ as little in cells.

    Args:
        members: Member records in each cell, in order.
        nonmembers: Nonmember records in each cell.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.common_records import differ_too_little
        >>> own, both = np.random.default_rng(0).poisson(50, (2, 1000)), np.random.default_rng(1).poisson(50, 1000)
        >>> differ_too_little(own[0], own[1]) < 3.0, differ_too_little(own[0] + both, own[1] + both) > 14.0
        (True, True)
    """
    pooled = members + nonmembers
    several = np.flatnonzero((pooled > 1) & (pooled < MOST_DRAWN))
    if len(several) < 2:
        return 0.0
    place = np.arange(len(several))
    keys = ((place // NEIGHBOURS * MOST_DRAWN) + pooled[several]) * NEIGHBOURS + place % NEIGHBOURS
    order = several[keys.argsort()]
    pairs = np.stack([order[:-1:2], order[1::2]])
    records = pooled[pairs].min(axis=0)
    own = members[pairs]
    larger = pooled[pairs] > records
    if larger.any():
        at, draws = pairs[larger], np.broadcast_to(records, pairs.shape)[larger]
        own[larger] = np.random.default_rng(0).hypergeometric(members[at], nonmembers[at], draws)
    both = own.sum(axis=0)
    expected = both * (2 * records - both) / (4.0 * (2 * records - 1))
    some = expected > 0.0
    squares = ((own[0] - own[1])[some] / 2.0) ** 2 / expected[some]
    fewer = len(squares) - float(squares.sum())
    return fewer * fewer / (2.0 * FOURTH_MOMENT * len(squares)) if fewer > 0.0 else 0.0


def in_common(members: Integers, nonmembers: Integers) -> float:
    """About how many records stand on both sides of cells in order: pairs across the sides beyond those of chance.

    With c the share of pairs across the sides among neighbouring cells, s records on both sides of a cell of n add
    s (1 - c) to the c n (n-1) / 2 pairs that chance makes.

    Example:
        >>> import numpy as np
        >>> from estimators.sample.common_records import in_common
        >>> own, both = np.random.default_rng(0).poisson(50, (2, 1000)), np.random.default_rng(1).poisson(50, 1000)
        >>> round(in_common(own[0] + both, own[1] + both) / float(both.sum()), 1)
        1.0
    """
    occupied = np.flatnonzero(members + nonmembers)
    members, nonmembers = members[occupied], nonmembers[occupied]
    pooled = (members + nonmembers).astype(np.float64)
    starts = np.arange(0, len(pooled), NEIGHBOURS)
    a, b, n = (np.add.reduceat(each.astype(np.float64), starts) for each in (members, nonmembers, pooled))
    of_each = np.minimum(2.0 * a * b / np.maximum(n * (n - 1.0), 1.0), 0.5)  # no law makes more of them
    across = np.repeat(of_each, NEIGHBOURS)[: len(pooled)]
    extra = (members * nonmembers.astype(np.float64) - across * pooled * (pooled - 1.0) / 2.0) / (1.0 - across)
    in_order = np.sort(pooled)
    usual = in_order[np.searchsorted(in_order.cumsum(), pooled.sum() / 2.0)]
    weights = np.minimum(1.0, SPIKE * usual / pooled)
    return float((weights * extra).sum() * pooled.sum() / (weights * pooled).sum())
