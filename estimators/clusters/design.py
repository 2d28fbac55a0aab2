"""Whom each row belongs to, how much it weighs, and which of two methods that calls for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Booleans, Floats, Integers
from estimators.errors import DimensionMismatch, InputError, TooFewRecords
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import Scores

Labels = ArrayLike | Sequence[ArrayLike] | Mapping[str, ArrayLike]

FEWEST = 8  # fewest clusters of which anything is said
FEWEST_A_SIDE = 4  # fewest clusters that have rows of a side: some to learn from, some to judge
FEW = 40  # clusters below which the variance between them is not trusted, and limits are found by betting

ROUNDS = 3
"""How often marks of rows and of clusters take up each other's: rows of crossed columns are told apart by both."""

UNCERTAIN = 0.7
"""So much larger than it is read off is a correlation taken to be, over the root of the number of clusters it is of: of
few it is read off as low where they are right, and they would weigh much then, and as high where they are wrong."""

SHRINKAGE = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
"""Correlations at which rows may be weighed, if at the estimated one few large clusters outweigh all others."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each row in one column or in two that cross, members' rows first.

    ``columns`` has for each column a number for each row; ``names`` what they are called. Neither the numbers nor
    ``marks``, in whose order rows are drawn, depend on what labels are or on the order in which rows came. ``values``
    says which of the different scores each row has, from the least.
    """

    names: tuple[str, ...]
    columns: tuple[Integers, ...]
    is_member: Booleans
    prior: float
    marks: NDArray[np.uint64]
    values: Integers

    @classmethod
    def of(cls, cluster: Labels, scores: Scores, prior: float) -> Clusters | None:
        """Check the labels; None if no two rows share one, so that there is nothing to allow for.

        Raises:
            DimensionMismatch: not a label for each row, or more than two columns.
            InputError: a row without a label.
            TooFewRecords: one label for all rows, or too few of them.
        """
        rows = scores.n_members + scores.n_nonmembers
        is_member = np.arange(rows) < scores.n_members
        by_name = _by_name(cluster)
        columns = {
            name: _numbered(f"cluster {i + 1}" if len(by_name) > 1 else "cluster", labels, rows, scores.n_members)
            for i, (name, labels) in enumerate(by_name.items())
        }
        columns = {name: each for name, each in columns.items() if each.max() + 1 < rows}
        names = [
            name
            for name, each in columns.items()
            if not any(_within(each, other) for other in columns.values() if other is not each)
        ]
        if not columns:
            return None
        names = names or list(columns)[:1]  # each within the other: the same clusters under two names
        records = np.concatenate([scores.members, scores.nonmembers])
        values = np.unique(records, axis=None if records.ndim == 1 else 0, return_inverse=True)[1].reshape(-1)
        by_content, marks = _by_content([columns[name] for name in names], values, is_member)
        return cls(tuple(names), by_content, is_member, prior, marks, values)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """How many clusters each column has."""
        return tuple(int(column.max()) + 1 for column in self.columns)

    @cached_property
    def crossings(self) -> Integers:
        """Which pair of labels each row has, of two columns that cross."""
        both = self.columns[0] * self.numbers[1] + self.columns[1]
        return np.asarray(np.unique(both, return_inverse=True)[1], dtype=np.int64)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.is_member)

    def cells(self, fine: Counts, scores: Scores) -> Integers:
        """The cell of each row: where each cell is one value, they are known."""
        if fine.cells.ordered and fine.size == int(self.values.max()) + 1:
            return self.values
        return np.concatenate([fine.cells.locate(side) for side in (scores.members, scores.nonmembers)])

    @cached_property
    def of_sides(self) -> tuple[int, int]:
        """How many rows are of either side."""
        members = int(np.count_nonzero(self.is_member))
        return members, self.rows - members

    @property
    def sides(self) -> tuple[tuple[slice, float], tuple[slice, float]]:
        """Which rows are of either side, and its part of the accuracy."""
        members = self.of_sides[0]
        return (slice(members), self.prior), (slice(members, None), 1.0 - self.prior)

    @cached_property
    def share_sides(self) -> bool:
        """Whether some cluster has rows of both sides."""
        return any(bool((one & other).any()) for one, other in map(self.has_rows, self.columns))

    def has_rows(self, column: Integers) -> tuple[Booleans, Booleans]:
        """Which clusters of a column have rows of either side."""
        number, (one, other) = int(column.max()) + 1, (column[side] for side, _ in self.sides)
        return np.bincount(one, minlength=number) > 0, np.bincount(other, minlength=number) > 0

    @cached_property
    def equally_heavy(self) -> float:
        """As many clusters of one weight, each with its rows' mean, say as much."""
        return min(self.heavy(1.0 / _sizes(column), column) for column in self.columns)

    @property
    def by_betting(self) -> bool:
        """Whether there are too few clusters for the variance between them; numbers of rows alone decide."""
        return self.equally_heavy < FEW

    def heavy(self, weights: Floats, column: Integers) -> float:
        """As many clusters of one weight would settle the accuracy as well as these, whose weights differ."""
        total = np.zeros(int(column.max()) + 1)
        for side, prior in self.sides:
            mass = np.bincount(column[side], weights[side], len(total))
            total += prior**2 * mass / max(mass.sum(), 1e-150) ** 2
        return float(total.sum() ** 2 / max((total**2).sum(), 1e-300))

    def random(self, seed: int) -> np.random.Generator:
        """Random numbers for this seed and these rows.

        Clusters are numbered by what their rows are: by the seed alone, a draw would always be of the same places in
        that order, with more of some scores than of others (240 clusters of a yes or no: .0155 too much at seed 0).
        """
        return np.random.default_rng([seed, int(self.marks.sum())])

    def lone_rows(self, seed: int) -> Integers:
        """Rows of which no two share a label, drawn at random, as many of either side as they allow."""
        rng = self.random(seed)
        order = np.argsort(self.marks, kind="stable")[rng.permutation(self.rows)]
        member = self.is_member[order]
        if len(self.columns) == 1:
            column = self.columns[0][order]
            mine = self._gives_member(rng)[column] == member
            return np.sort(order[mine][np.unique(column[mine], return_index=True)[1]])
        queues = [order[of_side][::-1].tolist() for of_side in (member, ~member)]
        first, second = (column.tolist() for column in self.columns)
        labels_so_far: tuple[set[int], set[int]] = (set(), set())
        lone: tuple[list[int], list[int]] = ([], [])
        while any(queues):  # the side that has fewer comes next
            side = int(len(lone[1]) < len(lone[0])) if all(queues) else int(bool(queues[1]))
            row = queues[side].pop()
            if first[row] not in labels_so_far[0] and second[row] not in labels_so_far[1]:
                labels_so_far[0].add(first[row])
                labels_so_far[1].add(second[row])
                lone[side].append(row)
        return np.sort(np.array(lone[0] + lone[1], dtype=np.int64))

    def _gives_member(self, rng: np.random.Generator) -> Booleans:
        """Whether each cluster gives a member: of those with rows of both sides as many as make the sides equal."""
        has_member, has_nonmember = self.has_rows(self.columns[0])
        both = rng.permutation(np.flatnonzero(has_member & has_nonmember))
        more = np.count_nonzero(~has_member) - np.count_nonzero(~has_nonmember)
        gives: Booleans = has_member
        gives[both[int(np.clip((len(both) + more + 1) // 2, 0, len(both))) :]] = False
        return gives

    def weights(self, correlation: float) -> Floats:
        """Weight of each row, 1 on average: what rows of one cluster repeat is counted once.

        Of two crossed columns neither tells how much; rows weigh the same.
        """
        if len(self.columns) > 1:
            return np.ones(self.rows)
        sizes, several = _sizes(self.columns[0]), np.bincount(self.columns[0]).astype(np.float64)
        several = several[several > 1.0]
        doubt = UNCERTAIN * float(((several**2).sum() / max(several.sum() ** 2, 1.0)) ** 0.5)
        weights = 1.0 / (1.0 + (sizes - 1.0) * min(correlation + doubt, 1.0))
        for assumed in SHRINKAGE:
            if self.heavy(weights, self.columns[0]) >= FEW:
                break
            weights = np.minimum(weights, 1.0 / (1.0 + (sizes - 1.0) * assumed))
        return np.asarray(weights * (self.rows / weights.sum()))

    def correlations(self, at: Integers, fine: Counts) -> tuple[float, ...]:
        """How alike the scores of one cluster are, for each column, from 0 to 1; who is a member is not used.

        ``at`` is the cell of each row. Ranks are compared where cells have an order; else how often two rows agree.
        """
        if not fine.cells.ordered:
            return tuple(_agreement(at, column) for column in self.columns)
        before = np.cumsum(fine.pooled) - fine.pooled / 2.0
        ranks = before[at]
        for side, _ in self.sides:  # a leak is no likeness within clusters
            ranks[side] -= ranks[side].mean()
        return tuple(likeness(ranks, column) for column in self.columns)

    def inflation(self, correlations: Sequence[float]) -> Floats:
        """How much more the sum of a cluster's rows of one side varies than that of as many independent ones."""
        most = np.ones(self.rows)
        for column, each in zip(self.columns, correlations, strict=True):
            for side, _ in self.sides:
                most[side] = np.maximum(most[side], 1.0 + (_sizes(column[side]) - 1.0) * each)
        return most

    def worth(self, correlations: Sequence[float]) -> float:
        """About how many independent rows these are as good as."""
        return min(
            float((1.0 / (1.0 + (_sizes(column) - 1.0) * each)).sum())
            for column, each in zip(self.columns, correlations, strict=True)
        )


def _by_name(cluster: Labels) -> dict[str, ArrayLike]:
    """One or two columns of labels by their names."""
    if isinstance(cluster, Mapping):
        columns = dict(cluster)
    else:
        several = isinstance(cluster, list | tuple) and all(
            not isinstance(each, str | bytes) and np.ndim(cast(Any, each)) == 1 for each in cluster
        )
        columns = (
            {f"cluster {i + 1}": each for i, each in enumerate(cast("Sequence[ArrayLike]", cluster))}
            if several
            else {"cluster": cast(ArrayLike, cluster)}
        )
    if not 1 <= len(columns) <= 2:
        raise DimensionMismatch.about("cluster", f"got {len(columns)} columns of labels, need one or two")
    return columns


def names_of(cluster: Labels) -> tuple[str, ...]:
    """What the columns of labels are called."""
    return tuple(_by_name(cluster))


def _numbered(where: str, values: ArrayLike, rows: int, members: int) -> Integers:
    """The labels of a column as numbers from 0; ``where`` is what messages call it."""
    labels = labels_of(values, "cluster")
    if len(labels) != rows:
        raise DimensionMismatch(f"{where}: got {len(labels)} labels for {rows} rows", field="cluster")
    if labels.dtype.kind == "U" and (labels == "").any():
        row = int(np.argmax(labels == ""))
        message = f"{where}: row {row} has no label; need whom each row belongs to"
        raise InputError(message, field="cluster", index=row)
    distinct, column = np.unique(labels, return_inverse=True)
    column = np.asarray(column.reshape(-1), dtype=np.int64)
    if len(distinct) < FEWEST:
        got = "one label for all rows" if len(distinct) == 1 else f"{len(distinct)} labels"
        raise TooFewRecords(f"{where}: got {got}, need at least {FEWEST} clusters", field="cluster")
    for side, of_side in (("member", column[:members]), ("nonmember", column[members:])):
        number = number_of(of_side)
        if number < FEWEST_A_SIDE:
            raise TooFewRecords(
                f"{where}: {side} rows come from {number} cluster{'s' * (number > 1)}, need at least {FEWEST_A_SIDE}",
                field="cluster",
            )
    return column


def number_of(column: Integers) -> int:
    """How many different numbers there are."""
    return int(np.count_nonzero(np.bincount(column)))


def _by_content(
    columns: Sequence[Integers], values: Integers, is_member: Booleans
) -> tuple[tuple[Integers, ...], NDArray[np.uint64]]:
    """Clusters numbered by what their rows are, and marks of rows by it; those that are alike in all change nothing.

    A cluster's mark is the sum of its rows' marks; a row's is made of its score and side, and then of its clusters'.
    """
    mark = _scattered((2 * values + ~is_member).astype(np.uint64))
    for _ in range(ROUNDS):
        for column, each in zip(columns, [_sums(column, mark) for column in columns], strict=True):
            mark = _scattered(mark + _scattered(each)[column])
    places = [np.argsort(np.argsort(_sums(column, mark), kind="stable")) for column in columns]
    return tuple(each[column] for column, each in zip(columns, places, strict=True)), mark


def _sums(column: Integers, marks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The sum over each cluster, modulo 2^64."""
    sums = np.zeros(int(column.max()) + 1, dtype=np.uint64)
    np.add.at(sums, column, marks)
    return sums


def _scattered(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of SplitMix64 (Steele, Lea and Flood 2014): different numbers stay different, and look random."""
    z = values + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _within(column: Integers, other: Integers) -> bool:
    """Whether each cluster of the first lies within one of the other, so that the other says it all."""
    last = np.empty(int(column.max()) + 1, dtype=np.int64)
    last[column] = other
    return bool((last[column] == other).all())


def _sizes(column: Integers) -> Floats:
    sizes: Floats = np.bincount(column)[column].astype(np.float64)
    return sizes


def likeness(values: Floats, column: Integers) -> float:
    """Correlation of two rows of one cluster, each cluster by its own pairs."""
    sizes = np.bincount(column)
    several = sizes > 1
    if not several.any() or not values.any():
        return 0.0
    pairs = np.bincount(column, values) ** 2 - np.bincount(column, values**2)
    mean = (pairs[several] / (sizes[several] - 1)).sum() / sizes[several].sum()
    return float(np.clip(mean / np.mean(values**2), 0.0, 1.0))


def _agreement(at: Integers, column: Integers) -> float:
    """How much oftener than any two rows two rows of one cluster agree, of what there is to agree on."""
    cells = int(at.max()) + 1
    keys, times = np.unique(column * cells + at, return_counts=True)
    sizes = np.bincount(column)
    several = sizes > 1
    by_chance = float(((np.bincount(at) / len(at)) ** 2).sum())
    if not several.any() or by_chance >= 1.0:
        return 0.0
    pairs = np.bincount(keys // cells, times * (times - 1.0), len(sizes))
    agree = (pairs[several] / (sizes[several] - 1)).sum() / sizes[several].sum()
    return float(np.clip((agree - by_chance) / (1.0 - by_chance), 0.0, 1.0))
