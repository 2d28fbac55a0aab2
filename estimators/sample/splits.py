"""Records split at random, known by how many there are in each cell: the law of shuffling them, without them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from estimators.arrays import Floats, Integers

HYPERGEOMETRIC_LIMIT = 10**9
"""NumPy draws without replacement from fewer than this many records."""

A_WORD = 64
"""Records that are drawn at a time, a bit each."""

FEW_IN_A_CELL = 256
"""Records a cell holds on average, up to which a bit for each of them is cheaper than a number for each cell."""

BITS = 8
"""Random bits by which a record is drawn with about the share that is wanted."""


def splitter(counts: Integers, total: int, fractions: Floats) -> Callable[[np.random.Generator], Integers]:
    """A way to split one side at random into blocks of the given shares, (blocks, cells), any number of times.

    Args:
        counts: Records in each cell.
        total: Records in all.
        fractions: The blocks' sizes in proportion to each other.
    """
    ends = np.rint(fractions.cumsum() / fractions.sum() * total).astype(np.int64)
    sizes = np.diff(np.concatenate([[0], ends]))
    blocks, cells = len(sizes), len(counts)

    def shuffle(rng: np.random.Generator) -> Integers:
        order = cell.copy()
        rng.shuffle(order)
        order += first_of_block
        return np.bincount(order, minlength=blocks * cells).reshape(blocks, cells)

    def draw(rng: np.random.Generator) -> Integers:
        table, left, n = np.empty((blocks, cells), dtype=np.int64), counts, total
        for block, size in enumerate(sizes[:-1].tolist()):
            table[block] = some_of(left, n, size, rng)
            left, n = left - table[block], n - size
        table[-1] = left
        return table

    def each_by_itself(rng: np.random.Generator) -> Integers:
        return rng.multinomial(counts, fractions / fractions.sum()).T.astype(np.int64)

    if total < 16 * cells + 4096:  # few records: shuffle them
        cell = np.repeat(np.arange(cells), counts)
        first_of_block = np.repeat(np.arange(blocks) * cells, sizes)
        return shuffle
    if total >= HYPERGEOMETRIC_LIMIT:  # then each record draws its own block
        return each_by_itself
    return draw


def some_of(counts: Integers, total: int, size: int, rng: np.random.Generator) -> Integers:
    """How many of so many records, drawn from all without replacement, are of each cell.

    Each record is drawn by itself with about the share that is wanted, 64 of them at a time; then some of those drawn
    are put back, or some of the others drawn, until their number is ``size``. Whatever the number was, all sets of that
    many records were alike, and so are all sets of ``size`` now.

    Args:
        counts: Records in each cell.
        total: Records in all, fewer than 10^9.
        size: How many to draw.
        rng: NumPy's generator to draw from.
    """
    if not 0 < size < total or total > FEW_IN_A_CELL * len(counts):
        return rng.multivariate_hypergeometric(counts, size, method="marginals")
    some = _by_bits(counts, round(size / total * 2**BITS), rng)
    more = size - int(some.sum())
    places = (counts - some if more > 0 else some).cumsum()
    records = rng.choice(int(places[-1]), abs(more), replace=False, shuffle=False)
    changed = np.bincount(places.searchsorted(records, side="right"), minlength=len(counts))
    return some + changed if more > 0 else some - changed


def _by_bits(counts: Integers, share: int, rng: np.random.Generator) -> Integers:
    """How many records of each cell are drawn if each is with a chance of ``share`` in 2**BITS."""
    occupied = np.flatnonzero(counts)
    words = -(-counts[occupied] // A_WORD)
    starts = words.cumsum() - words
    unused = np.zeros(int(words.sum()), dtype=np.uint64)
    unused[starts + words - 1] = words * A_WORD - counts[occupied]
    bits = np.full(len(unused), 0 if share < 2**BITS else 2**A_WORD - 1, dtype=np.uint64)
    for place in range(BITS):
        join = np.bitwise_or if share >> place & 1 else np.bitwise_and
        if share % 2 ** (place + 1):  # below the lowest bit of the share nothing is drawn yet
            join(bits, rng.integers(0, 2**A_WORD - 1, len(bits), dtype=np.uint64, endpoint=True), out=bits)
    some = np.zeros(len(counts), dtype=np.int64)
    some[occupied] = np.add.reduceat(np.bitwise_count(bits >> unused), starts, dtype=np.int64)
    return some
