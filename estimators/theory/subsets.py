"""The training sets of ``size`` out of ``records``: all of them, or some at random.

A block of training sets is a matrix of booleans, one training set a row, true where the record is in it.
"""

from collections.abc import Iterator
from itertools import chain, combinations, islice
from math import comb, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from estimators.errors import TooFewRecords, TooManySubsets, require_count

Rows = NDArray[np.bool_]

MOST = 2_000_000  # training sets that are gone through one by one; beyond, it takes minutes and gigabytes
BEYOND = 15.0  # a power of ten that is too many for anybody; below it the number is counted exactly
BLOCK = 1 << 14  # training sets at a time: their rows stay in the cache


def how_many(records: int, size: int) -> int:
    """C(records, size)."""
    records, size = require_count("records", records), require_count("size", size, 0)
    if size > records:
        raise TooFewRecords.about("records", f"got {records}, need at least {size}")
    return comb(records, size)


def require_few(records: int, size: int, instead: str, most: int = MOST) -> int:
    """Their number, if they can be gone through; otherwise ``instead`` is what to use."""
    powers = _powers(require_count("records", records), require_count("size", size, 0))
    if powers > BEYOND or how_many(records, size) > most:
        ways = f"more than 10^{BEYOND:.0f}" if powers > BEYOND else f"{how_many(records, size):,}"
        raise TooManySubsets.about(
            "records",
            f"{size} of {records} can be chosen in {ways} ways, and at most {most:,} can be enumerated; {instead}",
        )
    return how_many(records, size)


def _powers(records: int, size: int) -> float:
    """C(records, size) as a power of ten: the number itself may have more digits than there is memory."""
    if not 0 <= size <= records:
        return 0.0
    return float(gammaln(records + 1.0) - gammaln(size + 1.0) - gammaln(records - size + 1.0)) / log(10.0)


def all_subsets(records: int, size: int, block: int = BLOCK) -> Iterator[Rows]:
    """Every training set once, in lexicographic order of its ascending records: {0,1}, {0,2}, {1,2}."""
    number = how_many(records, size)
    ordered = combinations(range(records), size)
    for start in range(0, number, block):
        rows = min(block, number - start)
        members = np.fromiter(chain.from_iterable(islice(ordered, rows)), dtype=np.intp, count=rows * size)
        yield _mark(members.reshape(rows, size), records)


def matrix(records: int, size: int, instead: str, most: int = MOST) -> Rows:
    """All training sets as one matrix."""
    number = require_few(records, size, instead, most)
    return next(all_subsets(records, size, number))


def random_subsets(records: int, size: int, draws: int, seed: int, block: int = BLOCK) -> Iterator[Rows]:
    """``draws`` training sets, independent and equally likely: the ``size`` least of independent uniform numbers."""
    how_many(records, size)
    draws, generator = require_count("draws", draws), np.random.default_rng(seed)
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        keys = generator.random((rows, records))
        yield _mark(np.argpartition(keys, max(size - 1, 0), axis=1)[:, :size], records)


def positions(rows: Rows) -> NDArray[np.int64]:
    """Where training sets stand in lexicographic order."""
    records = rows.shape[1]
    size = rows.sum(axis=1)
    # a set comes after all that hold an earlier record where it first skips one: count those, record by record
    ways = np.array([[comb(m, k) for k in range(records + 1)] for m in range(records)], dtype=np.int64)
    result = np.zeros(len(rows), dtype=np.int64)
    wanting = size.astype(np.int64)
    for record in range(records):
        without = ~rows[:, record] & (wanting > 0)
        result[without] += ways[records - 1 - record, wanting[without] - 1]
        wanting -= rows[:, record]
    return result


def _mark(members: NDArray[np.intp], records: int) -> Rows:
    rows = np.zeros((len(members), records), dtype=np.bool_)
    np.put_along_axis(rows, members, True, axis=1)
    return rows
