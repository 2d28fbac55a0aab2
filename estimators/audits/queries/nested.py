"""A release of which ever more rows are out: what each query says when only the first rows of it were released.

What is near among more rows is near among fewer, or among those that came since. So each row is searched once, however
many sizes are asked for, and the answers are those of a search from scratch, bit by bit.

Ranges and levels are those of the whole release at every size, so that scores of different sizes are of one unit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats
from estimators.audits.queries.neighbours import Neighbours, nearest
from estimators.audits.queries.synthetic import Release, SyntheticScores
from estimators.audits.queries.table import Encoding
from estimators.errors import OptionError, OutOfRange, require_count

Key = tuple[int, int, int]  # whose neighbours, among which rows, and how many

LEAST = 10  # the first size, unless others are asked for
NEARLY_ALL = 0.8  # a size beyond this share of the rows is left to the size of all rows

OUT = -1  # the place of the rows that are out, among those of the tables that stay the same


def nested_scores(
    tables: Encoding, sizes: Sequence[int], names: Sequence[str] | None = None, metric: str = "l1"
) -> Iterator[SyntheticScores]:
    """What each query says of every record of both sides when only the first rows were released, size by size.

    Args:
        tables: What `encode` or `encode_points` makes, its released rows in the order in which they go out.
        sizes: Numbers of released rows, growing, the last no more than there are.
        names: Keys of ``CATALOGUE``; None for all that need no reference, and, if there is one, those that do.
        metric: ``l1``, Gower's distance of mixed tables, or ``l2``, of images and features.

    Yields:
        for each size what ``synthetic_scores`` says of a release of so many rows.
    """
    search = GrowingSearch(tables)
    for size in sizes:
        rows = replace(tables.synthetic.part(slice(size)), points=search.grow(size))
        release = Release(rows, tables.reference, metric, scaled=bool(tables.columns), search=search)
        yield SyntheticScores(release.scores(tables.members, names), release.scores(tables.nonmembers, names))


class GrowingSearch:
    """``nearest`` that remembers what it found among the rows that were out before.

    The released rows of ``tables`` are in the order in which they go out.
    """

    def __init__(self, tables: Encoding) -> None:
        self._all = tables.synthetic.points
        self._out = self._all[:0]
        others = (tables.members, tables.nonmembers, tables.reference)
        self._others = [each.points for each in others if each is not None]
        self._answers: dict[Key, Neighbours] = {}
        self._sizes: dict[Key, int] = {}

    def grow(self, size: int) -> Floats:
        """The first rows, so many of them, which are out from here on."""
        self._out = self._all[:size]
        return self._out

    def __call__(self, records: Floats, rows: Floats, k: int, metric: str) -> Neighbours:
        """The k nearest rows of every record."""
        asks, answers = self._place(records), self._place(rows)
        if asks is None or answers is None:
            return nearest(records, rows, k, metric)
        key = (asks, answers, k)
        if asks != OUT and answers != OUT:
            return self._answers.get(key) or self._remember(key, nearest(records, rows, k, metric))
        if asks != OUT:
            return self._among_out(key, records, metric)
        return self._among_each_other(key, metric) if answers == OUT else self._of_out(key, rows, metric)

    def _place(self, points: Floats) -> int | None:
        """Which table these are the rows of; None of rows that will not be asked about again."""
        if points is self._out:
            return OUT
        return next((at for at, each in enumerate(self._others) if each is points), None)

    def _among_out(self, key: Key, records: Floats, metric: str) -> Neighbours:
        """Of records that stay the same, among rows of which there are ever more."""
        before, k = self._sizes.get(key, 0), key[2]
        if before < len(self._out):
            answer = nearest(records, self._out[before:], k, metric)
            self._remember(key, nearer(self._answers[key], answer, before, k) if before else answer)
        return self._answers[key]

    def _among_each_other(self, key: Key, metric: str) -> Neighbours:
        """Of the rows that are out among themselves: the older ones among the newer, and the newer among all."""
        before, k = self._sizes.get(key, 0), key[2]
        if before < len(self._out):
            answer = nearest(self._out[before:], self._out, k, metric)
            if before:
                newer = nearest(self._out[:before], self._out[before:], k, metric)
                answer = _stacked(nearer(self._answers[key], newer, before, k), answer)
            self._remember(key, answer)
        return self._answers[key]

    def _of_out(self, key: Key, rows: Floats, metric: str) -> Neighbours:
        """Of rows of which there are ever more, among rows that stay the same: all of them at the first time."""
        if key not in self._answers:
            self._remember(key, nearest(self._all, rows, key[2], metric))
        every = self._answers[key]
        return Neighbours(every.distances[: len(self._out)], every.rows[: len(self._out)], every.engine)

    def _remember(self, key: Key, answer: Neighbours) -> Neighbours:
        self._answers[key], self._sizes[key] = answer, len(self._out)
        return answer


def nearer(first: Neighbours, second: Neighbours, before: int, k: int) -> Neighbours:
    """The k nearest rows of every record out of two answers, the second about rows from ``before`` on."""
    distances = np.concatenate([first.distances, second.distances], axis=1)
    rows = np.concatenate([first.rows, second.rows + before], axis=1)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return Neighbours(
        np.take_along_axis(distances, order, axis=1), np.take_along_axis(rows, order, axis=1), second.engine
    )


def _stacked(first: Neighbours, second: Neighbours) -> Neighbours:
    """Answers about some records, and about others; there are as many neighbours in both."""
    return Neighbours(
        np.concatenate([first.distances, second.distances]), np.concatenate([first.rows, second.rows]), second.engine
    )


def default_sizes(total: int) -> list[int]:
    """10, 20, 50, 100 and so on below so many rows, and all of them."""
    powers = (LEAST * 10**power for power in range(len(str(total))))
    return [*(step for power in powers for step in (power, 2 * power, 5 * power) if step <= NEARLY_ALL * total), total]


def require_sizes(sizes: Sequence[int] | NDArray[np.integer[Any]], total: int) -> list[int]:
    """The grid, growing, each size once."""
    if np.asarray(sizes, dtype=object).ndim != 1:
        raise OptionError.about("sizes", f"got {type(sizes).__name__}, need a list of whole numbers")
    grid = sorted({require_count("sizes", size) for size in sizes})
    if not grid:
        raise OptionError.about("sizes", "got none, need at least 1")
    if grid[-1] > total:
        message = f"got {grid[-1]:,}, and the released table has {total:,} rows: draw more of them first"
        raise OutOfRange.about("sizes", message)
    return grid
