"""Counts per cell: the waist of the hourglass, a sufficient statistic that merges.

Whatever produces scores only has to produce counts, and every estimator reads nothing else. Merging
is exact, associative and free of order; splitting at random is done on counts too, with the law it
would have on records (docs/methods.md, section 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats, Integers, distinct, is_masked
from estimators.errors import IncompatibleCells, InputError, InvalidCounts, TooFewRecords, TooManyCells, require_count
from estimators.python.dataclass import dataclass, field
from estimators.sample.cells import Categories, Cells, Intervals, Lattice, Values, cells_from_dict, places
from estimators.sample.doubts import REPEATED, of_cells, of_grid, of_labels, of_sample, together
from estimators.sample.frequent import Frequent, ScoreSample
from estimators.sample.grid import Grid, grid_of_all
from estimators.sample.integers import as_one_type
from estimators.sample.splits import splitter
from estimators.statement import Caution

CROWDED = 5
"""Records a cell should hold on average."""

FEW = 30
"""Records a side below which intervals are wide whatever is asked."""

MOST_RECORDS = 2.0**62
"""Records a side has fewer than: both sides together still fit 63 bits."""


@dataclass(frozen=True, eq=False)
class Counts:
    """How many member and nonmember records fall into each cell, and how many there are in all.

    Counts stand for scores wherever no single record is looked at: they are small, they merge exactly in any order,
    and they show no single score. ``Counts.of`` makes them of plain lists; the functions of
    ``estimators.sample.counting`` count ``Scores``.

    Attributes:
        members: Member records in each cell.
        nonmembers: Nonmember records in each cell.
        cells: What each cell is: an interval of scores, a category, a value.
        n_members: Member records in all.
        n_nonmembers: Nonmember records in all.
        doubts: Signs that the scores they were counted from are not what they are taken for, such as repeated rows.
        unseen: Of scores that were counted here, the largest share of a side in a cell that may hold several values;
            None of counts that came.
        signs: Those of the doubts that single scores showed, where they were counted; None if none was looked at.

    Example:
        >>> from estimators import Counts
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> counts.n_members, counts.n_nonmembers, counts.size
        (100, 100, 3)
        >>> counts.pooled.tolist(), counts.cells.kind
        ([70, 70, 60], 'intervals')
    """

    members: Integers
    nonmembers: Integers
    cells: Cells
    n_members: int = field(init=False)
    n_nonmembers: int = field(init=False)
    doubts: tuple[Caution, ...] = field(default=(), init=False)
    unseen: float | None = field(default=None, init=False)
    signs: tuple[Caution, ...] | None = field(default=None, init=False)
    merges: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("members", "nonmembers"):
            column = _numbers(getattr(self, name), f"{name} counts", name)
            if column.ndim != 1 or len(column) != self.cells.size:
                raise InvalidCounts(
                    f"{name} counts: got {column.shape}, need one number for each of {self.cells.size} cells",
                    field=name,
                )
            beyond = ~(np.abs(column.astype(np.float64)) < MOST_RECORDS)  # NaN too
            if beyond.any() or column.astype(np.float64).sum() >= MOST_RECORDS:
                message = f"{name} counts: NaN, infinite or {MOST_RECORDS:g} and more"
                raise InvalidCounts(message, field=name, index=int(beyond.argmax()))
            whole = column.astype(np.int64)
            if column.dtype.kind not in "iu" and not (column == whole).all():
                message = f"{name} counts: cell {int(np.argmax(column != whole))} is not a whole number"
                raise InvalidCounts(message, field=name, index=int(np.argmax(column != whole)))
            if whole.size and whole.min() < 0:
                raise InvalidCounts(
                    f"{name} counts: cell {int(whole.argmin())} is negative; need how many records lie in it",
                    field=name,
                    index=int(whole.argmin()),
                )
            total = int(whole.sum())
            if not total:
                raise TooFewRecords(f"{name} counts: got 0 records, need at least 1", field=name)
            object.__setattr__(self, name, whole)
            object.__setattr__(self, f"n_{name}", total)
        if isinstance(self.cells, Grid):
            sides, unlike = np.stack([self.members, self.nonmembers]), self.unlike()
            if unlike.size and int(unlike.min()) < 0:
                at = int(unlike.min(axis=0).argmin())
                message = f"cells of kind 'grid': a frequent score has more records than its cell {at}"
                raise InvalidCounts(message, field="cells")
            odd = of_cells(self.members, self.nonmembers)
            object.__setattr__(self, "doubts", (*odd, *of_grid(sides, unlike)))
        elif isinstance(self.cells, Categories):
            object.__setattr__(self, "doubts", of_labels(self.cells.labels, self.members, self.nonmembers))

    @classmethod
    def trusted(
        cls,
        members: Integers,
        nonmembers: Integers,
        cells: Cells,
        doubts: tuple[Caution, ...] = (),
        unseen: float | None = None,
        signs: tuple[Caution, ...] | None = (),
    ) -> Counts:
        """Counts that were made here, of scores or of counts: whole numbers, one a cell, with nothing left to check.

        Args:
            members: Member records in each cell.
            nonmembers: Nonmember records in each cell.
            cells: What each cell is.
            doubts: What is odd about the scores that were counted.
            unseen: The largest share of a side in a cell that may hold several values; None if it is not known.
            signs: Those of the doubts that single scores showed; None if no score was looked at.
        """
        counts = object.__new__(cls)
        for name, side in (("members", members), ("nonmembers", nonmembers)):
            object.__setattr__(counts, name, side)
            object.__setattr__(counts, f"n_{name}", int(side.sum()))
        object.__setattr__(counts, "cells", cells)
        object.__setattr__(counts, "doubts", doubts)
        object.__setattr__(counts, "unseen", unseen)
        object.__setattr__(counts, "signs", signs)
        return counts

    def showing(self, sample: ScoreSample) -> Counts:
        """The same with the doubts that a few of the scores show.

        Args:
            sample: Scores of the records that are counted here.
        """
        return self.doubted(of_sample(sample, min(self.n_members, self.n_nonmembers)))

    def doubted(self, signs: tuple[Caution, ...] | None) -> Self:
        """The same with other doubts beside those of the cells.

        Args:
            signs: Doubts that single scores showed; None if no score was looked at.
        """
        if signs is None:
            return self
        counts = copy(self)
        object.__setattr__(counts, "signs", signs)
        object.__setattr__(counts, "doubts", together(signs, self.doubts))
        return counts

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.cells.size

    @cached_property
    def pooled(self) -> Integers:
        """Records of either side in each cell."""
        return self.members + self.nonmembers

    def unlike(self) -> Integers:
        """Member and nonmember records in each cell that are not known to have the same score."""
        sides = np.stack([self.members, self.nonmembers])
        return sides - self.cells.of_one_score() if isinstance(self.cells, Grid) else sides

    def alike(self) -> Integers:
        """Member and nonmember records in each cell that are known to have one and the same score."""
        sides = np.stack([self.members, self.nonmembers])
        if isinstance(self.cells, Grid):
            return self.cells.of_one_score()
        if isinstance(self.cells, Categories):
            return sides
        if self.unseen is None:
            return np.zeros_like(sides)
        shares = sides / np.array([[self.n_members], [self.n_nonmembers]])
        return np.where((shares > self.unseen).any(axis=0), sides, 0)

    @property
    def by_value(self) -> bool:
        """Whether they were counted here from scores, each value of which has a cell of its own."""
        return self.unseen == 0.0

    @property
    def fullest(self) -> float:
        """The largest share of a side in a cell that may hide what differs: of both sides, and not of one score."""
        if self.unseen is not None:
            return self.unseen
        unlike = self.unlike()[:, (self.members > 0) & (self.nonmembers > 0)]
        shares = unlike / np.array([[self.n_members], [self.n_nonmembers]])
        return float(shares.max(initial=0.0))

    @property
    def n_records(self) -> int:
        """Records in all."""
        return self.n_members + self.n_nonmembers

    @property
    def member_share(self) -> float:
        """Share of members in the sample, which is not the prior."""
        return self.n_members / self.n_records

    def weights(self, prior: float) -> Floats:
        """p r_j - (1-p) q_j with r and q the sample's shares: its absolute sum is W_N (MACE, Theorem 5).

        Args:
            prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        """
        members = self.members * (prior / self.n_members)
        return members - self.nonmembers * ((1.0 - prior) / self.n_nonmembers)

    def merge(self, other: Counts) -> Counts:
        """Counts of both samples together.

        Args:
            other: Counts over cells of the same kind. Grids and categories need not have the same cells; intervals,
                lattices and boxes must.

        Raises:
            IncompatibleCells: cells that cannot be brought together.

        Example:
            >>> from estimators import Counts
            >>> shard = Counts.of([5, 3], [1, 7], edges=[0.5])
            >>> shard.merge(shard).members.tolist()
            [10, 6]
        """
        require_data(other, Counts)
        if not (self.merges and other.merges):
            raise IncompatibleCells(
                "counts of a learned score do not merge: each sample learned a score of its own; count both together",
                field="counts",
            )
        ours, theirs = self.cells, other.cells
        if isinstance(ours, Grid) and isinstance(theirs, Grid):
            several = [(ours, self.members, self.nonmembers), (theirs, other.members, other.nonmembers)]
            return Counts.of_grids(several, Frequent.together([ours.frequent, theirs.frequent]))
        if isinstance(ours, Intervals) and isinstance(theirs, Intervals) and np.array_equal(ours.cuts, theirs.cuts):
            return Counts(self.members + other.members, self.nonmembers + other.nonmembers, ours)
        if (
            type(ours) is type(theirs)
            and isinstance(ours, Categories)
            and isinstance(theirs, Categories)
            and (ours.labels.dtype.kind in "US") == (theirs.labels.dtype.kind in "US")
        ):
            labels, others = ours.labels, theirs.labels
            if labels.dtype.kind in "iu" and others.dtype.kind in "iu":
                labels, others = as_one_type(labels, others)
                if labels.dtype.kind == "U":
                    raise IncompatibleCells(
                        "cannot merge counts of integers below 0 with counts of integers from 2^63 on; "
                        "send them as text",
                        field="counts",
                    )
            return self._union(other, labels, others, type(ours))
        if (
            isinstance(ours, Lattice)
            and isinstance(theirs, Lattice)
            and ours.bins == theirs.bins
            and np.array_equal(ours.low, theirs.low)
            and np.array_equal(ours.high, theirs.high)
        ):
            return self._union(
                other, ours.keys, theirs.keys, lambda keys: Lattice(ours.bins, ours.low, ours.high, keys)
            )
        if ours.kind == theirs.kind == "boxes" and ours.to_dict() == theirs.to_dict():
            return Counts(self.members + other.members, self.nonmembers + other.nonmembers, ours)
        raise IncompatibleCells(
            f"cannot merge counts over {ours.kind} with counts over {theirs.kind}"
            + ("" if ours.kind != theirs.kind else " that were cut elsewhere; count both on the same cells"),
            field="counts",
        )

    @classmethod
    def of_grids(cls, several: Sequence[tuple[Grid, Integers, Integers]], frequent: Frequent) -> Counts:
        """Counts of all records of several samples, in any order.

        Args:
            several: The cells of each, and the member and nonmember records in each of them.
            frequent: The frequent scores of all records.
        """
        grids = [grid for grid, _, _ in several]
        whole = grid_of_all(grids, frequent)
        columns = np.zeros((2, whole.size), dtype=np.int64)
        for grid, *sides in several:
            at = places(grid, whole)
            for column, side in zip(columns, sides, strict=True):
                np.add.at(column, at, side)
        return cls(columns[0], columns[1], whole)

    def _union(self, other: Counts, a: NDArray[np.generic], b: NDArray[np.generic], make: object) -> Counts:
        keys, at = np.unique(np.concatenate([a, b]), return_inverse=True)
        members = np.zeros(len(keys), dtype=np.int64)
        nonmembers = np.zeros(len(keys), dtype=np.int64)
        np.add.at(members, at, np.concatenate([self.members, other.members]))
        np.add.at(nonmembers, at, np.concatenate([self.nonmembers, other.nonmembers]))
        return Counts(members, nonmembers, make(keys))  # type: ignore[operator]

    def coarsen(self, size: int) -> Counts:
        """About ``size`` neighbouring cells of equal pooled mass; a cell heavier than that stays whole.

        Only the pooled counts decide, so bounds that need cells chosen without labels stay exact.

        Args:
            size: How many cells to join them to, at least 1.

        Raises:
            IncompatibleCells: cells without an order, such as categories.
        """
        if not self.cells.ordered:
            raise IncompatibleCells(f"cells of kind {self.cells.kind} have no order to join neighbours by")
        size = require_count("bins", size)
        return self if size >= self.size else self.join(self.group_starts(size))

    def join(self, starts: Integers) -> Counts:
        """Neighbouring cells joined to intervals, one from each of ``starts`` to the next.

        Args:
            starts: First cell of each, increasing from 0.
        """
        if len(starts) == self.size:
            return self
        edges = self.lower_edges()[starts[1:]]
        return Counts.trusted(
            np.add.reduceat(self.members, starts),
            np.add.reduceat(self.nonmembers, starts),
            Intervals(edges),
            self.doubts,
        )

    def group_starts(self, size: int) -> Integers:
        """First cell of each of about ``size`` groups of equal pooled mass; every cell, if there are no more.

        Args:
            size: How many groups, at least 1.
        """
        if size >= self.size:
            return np.arange(self.size)
        place = self.pooled.astype(np.float64)
        place = place.cumsum() - place / 2.0
        place *= size / self.n_records
        half = size // 2  # up to it a group begins at its mass, beyond just behind it: alike from either end
        below = place.searchsorted(np.arange(1.0, half + 1.0))
        above = place.searchsorted(np.arange(half + 1.0, size), side="right")
        starts = np.concatenate([[0], below, above])
        new = np.concatenate([[True], starts[1:] > starts[:-1]])  # they are in order
        return starts[new & (starts < self.size)]

    def tail_starts(self, starts: Integers, outermost: int) -> Integers:
        """These groups, with the first and the last one halved again and again towards their ends.

        A few records at an end of the scores then have cells of their own. Only the pooled counts decide.

        Args:
            starts: First cell of each group, from ``group_starts``.
            outermost: Records that the outermost cell has at least.
        """
        if len(starts) == self.size:
            return starts
        pooled = self.pooled
        ends = (
            pooled[: starts[1]] if len(starts) > 1 else pooled,
            pooled[: starts[-1] - 1 : -1] if starts[-1] else pooled[::-1],
        )
        low, high = (totals.searchsorted(_halves(int(totals[-1]), outermost)) + 1 for totals in map(np.cumsum, ends))
        starts = distinct(np.concatenate([starts, low, self.size - high]))
        return starts[starts < self.size]

    def lower_edges(self) -> Floats:
        """Where each ordered cell begins."""
        if isinstance(self.cells, Intervals):
            return np.concatenate([[-np.inf], self.cells.cuts])
        if isinstance(self.cells, Grid):
            return self.cells.lower_edges
        if isinstance(self.cells, Values):
            return np.asarray(self.cells.labels, dtype=np.float64)
        raise IncompatibleCells(f"cells of kind {self.cells.kind} have no order")

    def occupied(self) -> Counts:
        """Only cells in which a record fell."""
        keep = np.flatnonzero(self.pooled)
        if len(keep) == self.size or self.cells.kind == "boxes":
            return self
        cells, sides = self.cells.select(keep), (self.members[keep], self.nonmembers[keep])
        return Counts.trusted(*sides, cells, self.doubts, self.unseen, self.signs)

    def require_shared_cells(self) -> Counts:
        """Refuse counts in which every record has a cell of its own: they say nothing."""
        if self.n_records > 1 and self.pooled.max() == 1:
            cut = self.cells.kind in ("boxes", "lattice")
            raise TooManyCells(
                f"each of the {self.n_records} records has a cell of its own, so nothing can be said about others; "
                + ("use fewer cells" if cut else "use fewer cells, coarser categories or a continuous query"),
                field="bins" if cut else "query",
            )
        return self

    @property
    def repeats(self) -> bool:
        """Whether records stand there more than once, as far as that can be seen."""
        return any(each.code == REPEATED for each in self.doubts)

    def cautions(self) -> list[Caution]:
        """What any reader of these counts should know, whatever is asked of them."""
        cautions = list(self.doubts)
        if self.size * CROWDED > self.n_records:
            message = (
                f"{self.size} cells for {self.n_records} records: the interval is valid but wide, and "
                "estimates are mostly chance; use fewer cells or more records"
            )
            cautions.append(Caution("cells_outrun_sample", message))
        if min(self.n_members, self.n_nonmembers) < FEW:
            cautions.append(Caution("few_records", f"fewer than {FEW} records on a side: expect a wide interval"))
        return cautions

    def blocks(self, fractions: Floats, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """Split both sides at random into blocks of the given shares: two arrays (blocks, cells).

        Drawing without replacement from counts has the law that shuffling records would have.

        Args:
            fractions: The share of the records in each block; they sum to 1.
            rng: NumPy's generator to draw from.
        """
        members, nonmembers = self.shuffles(fractions, rng, 1)
        return members[0], nonmembers[0]

    def random(self, seed: int) -> np.random.Generator:
        """Random numbers of a seed and these counts: by the seed alone the same ranks have the luck in every sample.

        Args:
            seed: Whole number from which everything random is drawn; the same seed gives the same answer.

        Example:
            >>> from estimators import Counts
            >>> first, second = Counts.of([5, 3], [1, 7]), Counts.of([4, 4], [1, 7])
            >>> [int(each.random(0).integers(1000)) for each in (first, first, second)]
            [286, 286, 470]
        """
        ranks = self.pooled.cumsum()  # which empty cells do not change
        return np.random.default_rng([seed, *(int(side @ ranks) % 2**63 for side in (self.members, self.nonmembers))])

    def shuffles(self, fractions: Floats, rng: np.random.Generator, times: int) -> tuple[Integers, Integers]:
        """The same several times, members before nonmembers each time: two arrays (times, blocks, cells).

        Args:
            fractions: The blocks' sizes in proportion to each other: one list for both sides, or one for each.
            rng: NumPy's generator to draw from.
            times: How many times to split.
        """
        of_members, of_nonmembers = np.broadcast_to(fractions, (2, np.shape(fractions)[-1]))
        splits = [
            splitter(self.members, self.n_members, of_members),
            splitter(self.nonmembers, self.n_nonmembers, of_nonmembers),
        ]
        tables = [[split(rng) for split in splits] for _ in range(times)]
        return np.array([a for a, _ in tables]), np.array([b for _, b in tables])

    def to_dict(self) -> dict[str, object]:
        """Plain values: lists of counts and the cells they belong to."""
        return {"members": self.members.tolist(), "nonmembers": self.nonmembers.tolist(), "cells": self.cells.to_dict()}

    @classmethod
    def from_dict(cls, value: dict[str, object]) -> Counts:
        """Read back ``to_dict``, or the short form with ``edges`` (inner cuts, or outer ones too) or nothing.

        Args:
            value: A mapping with ``members``, ``nonmembers`` and, if the cells have an order, ``cells`` or ``edges``.

        Raises:
            InvalidCounts: a key is missing, or its value is no list of whole numbers.

        Example:
            >>> from estimators import Counts
            >>> counts = Counts.of([5, 3], [1, 7], edges=[0.5])
            >>> Counts.from_dict(counts.to_dict()).members.tolist()
            [5, 3]
        """
        if not isinstance(value, dict):
            raise InvalidCounts.about("counts", "need a mapping with members and nonmembers")
        try:
            members = _numbers(value["members"], "members counts", "members")
            nonmembers = _numbers(value["nonmembers"], "nonmembers counts", "nonmembers")
        except KeyError as missing:
            raise InvalidCounts.about("counts", f"{missing.args[0]} is missing") from None
        if "cells" in value:
            return cls(members, nonmembers, cells_from_dict(value["cells"]))  # type: ignore[arg-type]
        return cls.of(members, nonmembers, value.get("edges"))  # type: ignore[arg-type]

    @classmethod
    def of(cls, members: ArrayLike, nonmembers: ArrayLike, edges: ArrayLike | None = None) -> Counts:
        """Counts given as two lists, in order along ``edges`` if there are any, else unordered categories.

        Args:
            members: Member records in each cell: whole numbers of at least 0.
            nonmembers: Nonmember records in each cell.
            edges: Scores that separate neighbouring cells, increasing: one fewer than there are cells, or one more
                if both outer ends are given. None: the cells are categories without an order.

        Raises:
            InvalidCounts: lists of different length, a negative or broken number, edges that do not fit.

        Example:
            >>> from estimators import Counts
            >>> Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]).cells.kind
            'intervals'
            >>> Counts.of([20, 30, 50], [50, 40, 10]).cells.kind
            'categories'
        """
        a = _numbers(members, "members counts", "members")
        b = _numbers(nonmembers, "nonmembers counts", "nonmembers")
        for side, name in ((a, "members"), (b, "nonmembers")):
            if side.ndim != 1:
                raise InvalidCounts(f"{name} counts: got {side.ndim} dimensions, need a list", field=name)
        if a.shape != b.shape:
            raise InvalidCounts.about("counts", f"{a.size} member cells but {b.size} nonmember cells")
        if edges is None:
            return cls(a, b, Categories(np.arange(a.size)))
        cuts = _numbers(edges, "edges", "edges").astype(np.float64)
        if cuts.size == a.size + 1:
            if not (np.diff(cuts) > 0).all():  # the two ends may be infinite
                raise InvalidCounts.about("edges", "must be strictly increasing")
            cuts = cuts[1:-1]
        if cuts.size != a.size - 1:
            raise InvalidCounts.about(
                "edges", f"got {np.size(edges)}, need {a.size - 1} or, with both ends, {a.size + 1} for {a.size} cells"
            )
        return cls(a, b, Intervals(cuts))


def require_data(data: object, *kinds: type) -> None:
    """Refuse what was not made by ``Scores.of`` or ``Counts.of``, such as a bare list."""
    if not isinstance(data, kinds):
        makers = " or ".join(f"{kind.__name__}.of(members, nonmembers)" for kind in kinds)
        raise InputError.about("data", f"got {type(data).__name__}, need {makers}")


def _halves(mass: int, least: int) -> Floats:
    """A half of it, a quarter and so on, while there is ``least`` of it; whole numbers."""
    halves = mass / 2.0 ** np.arange(1, 64)
    return np.floor(halves[halves >= least])


def _numbers(values: object, what: str, field: str) -> NDArray[Any]:
    """Plain real numbers as they came; whatever is none is refused without being repeated."""
    need = "numbers" if field == "edges" else "whole numbers"
    try:
        array = np.asarray(values)
    except (ValueError, OverflowError):
        raise InvalidCounts(f"{what}: need a plain list of numbers", field=field) from None
    if is_masked(values) and np.ma.getmaskarray(values).any():
        raise InvalidCounts(f"{what}: some are masked", field=field)
    if array.dtype.kind not in "iuf" and array.size:
        raise InvalidCounts(f"{what}: got type {array.dtype}, need {need}", field=field)
    return array if array.size else array.astype(np.float64)
