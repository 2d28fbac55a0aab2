"""Counts in parts: what was counted of some records, of one side or both, until all parts are brought together.

A part is what an engine, a worker or a user's own function hands on: a row for each cell, and rows of equal cells may
be summed by anybody on the way. Together they are the counts of all records, to the last one.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import InvalidCounts, MixedTypes, NotFinite, TooManyCells
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Categories, Cells, Values, places
from estimators.sample.counts import Counts
from estimators.sample.doubts import of_labels
from estimators.sample.frequent import NONE, Frequent, ScoreSample
from estimators.sample.grid import SMALL_INTEGER_RANGE, Grid, cells_at, finest_exponent
from estimators.sample.integers import as_64_bit, as_text, or_infinite
from estimators.sample.scores import MIN_RECORDS, require_enough
from estimators.statement import Caution

PartKind = Literal["grid", "integers", "text"]
T = TypeVar("T", bound=Hashable)

MOST_VALUES = 2**20
"""Integers of more distinct values than this go to the grid; as many labels of text are refused."""


@dataclass(frozen=True, eq=False)
class Part:
    """Cells of one kind with the records that fell into them; of one side there may be none.

    Attributes:
        kind: What the keys are: places on grids of steps 2**exponent, integers, or texts.
        exponents: Of the step of each key's grid; 0 for the others.
        keys: One a cell: integers of any size, or text. A key may stand there several times.
        members: Member records in each cell.
        nonmembers: Nonmember records in each cell.
        frequent: Of a grid: scores that many records have.
        sample: Of a grid: a few scores of either side, the same ones; None where no score was seen.
    """

    kind: PartKind
    keys: NDArray[Any]
    members: Integers
    nonmembers: Integers
    frequent: Frequent = NONE
    exponents: Integers | int = 0
    sample: ScoreSample | None = None

    @property
    def grid(self) -> Grid:
        """The cells of a grid, in the order in which they came."""
        keys = self.keys.astype(np.int64)
        return Grid.of_steps(np.broadcast_to(self.exponents, keys.shape), keys)

    @classmethod
    def of_values(cls, values: Floats, members: Integers, nonmembers: Integers) -> "Part":
        """So many records of each value, in the cells of the finest grid that holds all of them."""
        exponents, keys = cells_at(values, finest_exponent(float(values.min()), float(values.max())))
        frequent = Frequent.of_values(values, members, nonmembers)
        sample = ScoreSample.of_values(values, (members, nonmembers))
        return cls("grid", keys, members, nonmembers, frequent, exponents, sample)

    @classmethod
    def of_grid(cls, counts: Counts) -> "Part | None":
        """Counts of a grid as a part; None of others."""
        cells = counts.cells
        if not isinstance(cells, Grid):
            return None
        return cls("grid", cells.keys, counts.members, counts.nonmembers, cells.frequent, cells.steps)


def counts_of_parts(parts: Sequence[Part]) -> Counts:
    """The counts of all records of all parts: the same as had they been counted in one place.

    Args:
        parts: In any order, each of any number of records.

    Raises:
        TooFewRecords: a side has too few records for any statement.
        MixedTypes: some hold text and some numbers.
        TooManyCells: too many distinct texts.
        NotFinite: an integer beyond any float, among fractions.
    """
    for name in ("member", "nonmember"):
        columns = [getattr(part, f"{name}s") for part in parts]
        if any(len(column) and int(column.min()) < 0 for column in columns):
            raise InvalidCounts(f"{name} counts: a number is negative", field=f"{name}s")
        require_enough(sum(int(column.sum()) for column in columns), name)
    full = [part for part in parts if len(part.keys)]
    hollow = [part for part in parts if not len(part.keys)]
    kinds = {part.kind for part in full}
    if "text" in kinds and len(kinds) > 1:
        raise MixedTypes("scores: text and numbers in one sample", field="members")
    if kinds == {"text"}:
        return _of_texts(_summed(full))
    integers = [part for part in full if part.kind == "integers"]
    whole = _summed(integers) if integers else None
    if whole is not None and "grid" not in kinds and len(whole.keys) <= MOST_VALUES:
        return _of_integers(whole)
    grids = [part for part in full if part.kind == "grid"]
    grids = [*grids, _on_grid(whole)] if whole is not None else grids
    return _of_grids(grids, Frequent.together(part.frequent for part in [*grids, *hollow]))


def counts_of_groups(groups: Mapping[T, Sequence[Part]]) -> dict[T, Counts | None]:
    """The counts of each group, on the cells that all of them together have; None of a side with too few records.

    Args:
        groups: The parts of each group, by its label.

    Raises:
        MaceError: what is wrong with all groups together, as ``counts_of_parts`` says it.
    """
    cells = counts_of_parts([part for parts in groups.values() for part in parts]).cells
    return {label: _on_cells(parts, cells).counts() for label, parts in groups.items()}


def tables_of_groups(groups: Mapping[T, Sequence[Part]]) -> tuple[Counts, dict[T, tuple[Integers, Integers]]]:
    """The counts of all groups together, and of each group the members and the nonmembers in each of their cells.

    Args:
        groups: The parts of each group, by its label; of one side a group may have no record.

    Raises:
        MaceError: what is wrong with all groups together, as ``counts_of_parts`` says it.
    """
    counts = counts_of_parts([part for parts in groups.values() for part in parts])
    tables = {}
    for label, parts in groups.items():
        own = _on_cells(parts, counts.cells)
        tables[label] = own.spread(own.members, counts.cells), own.spread(own.nonmembers, counts.cells)
    return counts, tables


@dataclass(frozen=True, eq=False, slots=True)
class _OnCells:
    """A group's records in those of all cells where it has some."""

    cells: Grid | Categories
    members: Integers
    nonmembers: Integers

    def counts(self) -> Counts | None:
        """Counts, if there are enough records of either side."""
        too_few = min(int(self.members.sum()), int(self.nonmembers.sum())) < MIN_RECORDS
        return None if too_few else Counts(self.members, self.nonmembers, self.cells)

    def spread(self, column: Integers, cells: Cells) -> Integers:
        """The same in each of ``cells``, 0 where it has none."""
        whole = np.zeros(cells.size, dtype=np.int64)
        whole[places(self.cells, cells)] = column
        return whole


def _on_cells(parts: Sequence[Part], cells: Cells) -> _OnCells:
    """What a group has in the cells of all."""
    full = [part for part in parts if len(part.keys)]
    if isinstance(cells, Grid):
        on_grid = [part if part.kind == "grid" else _on_grid(_summed([part])) for part in full]
        columns = np.zeros((2, cells.size), dtype=np.int64)
        for part in on_grid:
            at = places(part.grid, cells)
            np.add.at(columns[0], at, part.members)
            np.add.at(columns[1], at, part.nonmembers)
        own = np.flatnonzero(columns.any(axis=0))
        frequent = Frequent.together(each.frequent for each in on_grid)
        return _OnCells(replace(cells.select(own), frequent=frequent), *columns[:, own])
    assert isinstance(cells, Categories)  # parts make no others
    if not full:
        return _OnCells(type(cells)(cells.labels[:0]), *np.zeros((2, 0), np.int64))
    part = _summed(full)
    text = cells.labels.dtype.kind == "U" and part.kind == "integers"
    labels = as_text(part.keys) if text else part.keys.astype(cells.labels.dtype)
    order = np.argsort(labels)
    return _OnCells(type(cells)(labels[order]), part.members[order], part.nonmembers[order])


def _summed(parts: Sequence[Part]) -> Part:
    """Parts of one kind as one, each key once and in order."""
    columns = [part.keys for part in parts]
    alike = {column.dtype for column in columns} == {np.dtype(np.int64)}
    text = parts[0].kind == "text"
    on_grid = np.concatenate(columns if alike or text else [column.astype(object) for column in columns])
    keys, at = np.unique(on_grid, return_inverse=True)
    members, nonmembers = (
        _totals(np.concatenate([getattr(part, name) for part in parts]), at, len(keys))
        for name in ("members", "nonmembers")
    )
    return Part(parts[0].kind, keys, members, nonmembers)


def _totals(column: Integers, at: NDArray[np.intp], size: int) -> Integers:
    totals = np.zeros(size, dtype=np.int64)
    np.add.at(totals, at.reshape(-1), column)
    return totals


def by_value(members: Integers, nonmembers: Integers, cells: Cells, of_order: tuple[Caution, ...] = ()) -> Counts:
    """Counts of records of which each value was counted here, with what is odd about how often each occurs.

    Args:
        members: Member records of each value.
        nonmembers: Nonmember records of each value.
        cells: The values.
        of_order: What is odd about the order in which the records came, if that is known.
    """
    odd = of_labels(cells.labels, members, nonmembers) if isinstance(cells, Categories) else ()
    return Counts.trusted(members, nonmembers, cells, (*of_order, *odd))


def by_integer(members: Integers, nonmembers: Integers, labels: NDArray[Any]) -> Counts:
    """The same of integers, in order; only in a small range may every record have one of its own."""
    counts = by_value(members, nonmembers, Values(labels))
    narrow = int(labels[-1]) - int(labels[0]) < SMALL_INTEGER_RANGE
    return counts if narrow else counts.require_shared_cells()


def _of_texts(part: Part) -> Counts:
    if len(part.keys) > MOST_VALUES:
        message = f"scores: more than {MOST_VALUES} distinct texts; use coarser categories"
        raise TooManyCells(message, field="members")
    labels = part.keys.astype(np.str_)
    return by_value(part.members, part.nonmembers, Categories(labels)).require_shared_cells()


def _of_integers(part: Part) -> Counts:
    """Each value as a cell; as text, where no 64 bits hold all of them."""
    labels = as_64_bit(part.keys)
    if labels.dtype.kind == "O":
        texts = as_text(labels)
        order = np.argsort(texts)
        cells = Categories(texts[order])
        return by_value(part.members[order], part.nonmembers[order], cells).require_shared_cells()
    return by_integer(part.members, part.nonmembers, labels)


def floats_near(numbers: Sequence[int], members: Integers) -> Floats:
    """The floats nearest to integers; of one that none is near its side is named, for the record is not kept."""
    values = np.array([or_infinite(int(number)) for number in numbers])
    infinite = np.isinf(values)
    if infinite.any():
        side = "member" if members[infinite].any() else "nonmember"
        raise NotFinite.of_side(side, "one is beyond 1e308; every score must be finite")
    return values


def _on_grid(part: Part) -> Part:
    """Integers as the floats nearest to them, on the finest grid that has a place for each."""
    return Part.of_values(floats_near(part.keys.tolist(), part.members), part.members, part.nonmembers)


def _of_grids(parts: Sequence[Part], frequent: Frequent) -> Counts:
    """Places on grids of any step on the finest one that holds all of them."""
    several = [(part.grid, part.members, part.nonmembers) for part in parts]
    totals = np.array([[part.members.sum(), part.nonmembers.sum()] for part in parts]).sum(axis=0)
    counts = Counts.of_grids(several, frequent.enough(totals))
    assert isinstance(counts.cells, Grid)
    grid = counts.cells.with_crowds_only(np.stack([counts.members, counts.nonmembers]))
    counts = Counts.trusted(counts.members, counts.nonmembers, grid, counts.doubts, signs=None)
    samples = [part.sample for part in parts if part.sample is not None]
    return counts.showing(ScoreSample.together(samples)) if len(samples) == len(parts) else counts
