"""Counts of scores that come block by block, of either side, in any order: the same as of all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from estimators.errors import InputError, MixedTypes, TooManyCells
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Categories
from estimators.sample.counts import Counts
from estimators.sample.grid import SMALL_INTEGER_RANGE
from estimators.sample.growing_grid import SIDES, GrowingGrid
from estimators.sample.integers import as_64_bit, as_one_type, as_text
from estimators.sample.parts import MOST_VALUES, Part, by_integer, by_value, floats_near
from estimators.sample.plain_arrays import as_floats
from estimators.sample.scores import require_enough
from estimators.sample.spelled_numbers import require_no_spelled_number

__all__ = ["CountStream"]

Integers = NDArray[np.int64] | NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class CountStream:
    """Records of both sides counted so far; numbers on a growing grid, integers and text each by value.

    For more records than fit in memory: start with ``CountStream()`` and add block by block. A block of floats after
    integers moves them to the grid, as if they had been floats from the start.

    Attributes:
        table: How many records of each value there were; leave it to ``plus``.
        n_members: Member records so far.
        n_nonmembers: Nonmember records so far.

    Example:
        >>> import numpy as np
        >>> from estimators import advantage
        >>> from estimators.sample.stream import CountStream
        >>> rng, stream = np.random.default_rng(0), CountStream()
        >>> for _ in range(10):
        ...     stream = stream.plus(rng.normal(1, 1, 500), rng.normal(0, 1, 500))
        >>> stream.n_members, round(advantage(stream.counts()).value, 1)
        (5000, 0.4)
    """

    table: GrowingGrid | _Values | _Labels | None = None
    n_members: int = 0
    n_nonmembers: int = 0

    @classmethod
    def on_grid(cls) -> CountStream:
        """The start of counts on the grid, integers of any size included; text is refused."""
        return cls(GrowingGrid.none())

    def plus(self, members: NDArray[np.generic], nonmembers: NDArray[np.generic]) -> CountStream:
        """The counts with one more block; either side of it may be empty.

        Args:
            members: Scores of member records: a NumPy array of numbers or text.
            nonmembers: Scores of nonmember records, likewise.

        Returns:
            a new ``CountStream``; this one stays as it is.

        Raises:
            InputError: a score is NaN or infinite, or text comes after numbers.
        """
        sides = [(side, _flat_array(values, SIDES[side])) for side, values in enumerate((members, nonmembers))]
        blocks = [(side, block) for side, block in sides if len(block)]
        table = self.table
        for side, values in blocks:
            is_text = isinstance(table, _Labels) and not table.integers  # and no integers in its place
            if table is not None and (values.dtype.kind == "U") != is_text:
                if not self.n_members + self.n_nonmembers and isinstance(self.table, GrowingGrid):
                    raise InputError.of_side(SIDES[side], "got text, a grid needs numbers")
                raise MixedTypes.of_side(SIDES[side], "text and numbers in one sample")
            table, block = _of_one_type(table, values)
            text = block.dtype.kind == "U"
            if text:
                require_no_spelled_number(block, SIDES[side], (self.n_members, self.n_nonmembers)[side])
                table = (table if isinstance(table, _Labels) else _Labels.none()).plus(side, block)
            elif block.dtype.kind in "iu" and not isinstance(table, GrowingGrid):
                table = (table or _Values.none()).plus(side, block)
            else:
                start = (self.n_members, self.n_nonmembers)[side]
                table = _grid_of(table).plus(side, as_floats(block, SIDES[side], start), start)
        return CountStream(table, self.n_members + len(sides[0][1]), self.n_nonmembers + len(sides[1][1]))

    def counts(self) -> Counts:
        """Counts of all blocks together, if each side has as many records as any statement needs."""
        for n, name in zip((self.n_members, self.n_nonmembers), SIDES, strict=True):
            require_enough(n, name)
        assert self.table is not None  # there are records
        return self.table.counts()

    def part(self) -> Part | None:
        """What was counted, however little it is, to be brought together with other parts; None if it is nothing."""
        return None if self.table is None else self.table.part()


@dataclass(frozen=True, eq=False)
class _Values:
    """Records of each integer seen."""

    labels: Integers
    columns: tuple[NDArray[np.int64], NDArray[np.int64]]

    @classmethod
    def none(cls) -> _Values:
        """Before the first record."""
        return cls(np.zeros(0, np.int64), (np.zeros(0, np.int64), np.zeros(0, np.int64)))

    def plus(self, side: int, block: NDArray[np.generic]) -> _Values | GrowingGrid:
        """With a block of one side; beyond 2^20 distinct values, the grid of all of them."""
        labels, frequencies = _each_integer(as_64_bit(block))
        ours, theirs = as_one_type(self.labels, labels)
        columns = self.columns
        at = np.minimum(np.searchsorted(ours, theirs), max(len(ours) - 1, 0))
        if not len(ours) or not (ours[at] == theirs).all():
            both: Integers = np.sort(np.concatenate([ours, theirs]), kind="stable")  # which merges the two
            both = both[np.append(True, both[1:] != both[:-1])]
            place = np.searchsorted(both, ours)
            members, nonmembers = (_spread_over(column, place, len(both)) for column in self.columns)
            columns = (members, nonmembers)
            ours, at = both, np.searchsorted(both, theirs)
        column = _spread_over(frequencies, at, len(ours)) + columns[side]
        grown = _Values(ours, (column, columns[1]) if side == 0 else (columns[0], column))
        return grown if len(ours) <= MOST_VALUES else _grid_of(grown)

    def as_labels(self) -> _Labels:
        """The same, each integer as its text."""
        texts = as_text(self.labels).tolist()
        members, nonmembers = (
            Counter({text: int(n) for text, n in zip(texts, column, strict=True) if n}) for column in self.columns
        )
        return _Labels((members, nonmembers), integers=True)

    def counts(self) -> Counts:
        """Each value as a cell."""
        return by_integer(*self.columns, self.labels)

    def part(self) -> Part:
        """The same as a part."""
        return Part("integers", self.labels, *self.columns)


@dataclass(frozen=True, eq=False)
class _Labels:
    """Records of each text seen."""

    columns: tuple[Counter[str], Counter[str]]
    integers: bool = False
    """Whether they are integers that 64 bits do not hold."""

    @classmethod
    def none(cls) -> _Labels:
        """Before the first record."""
        return cls((Counter(), Counter()))

    def plus(self, side: int, block: NDArray[np.generic]) -> _Labels | GrowingGrid:
        """With a block of one side; integers of more than 2^20 distinct values go to the grid, as those of 64 bits."""
        column = Counter(self.columns[side])
        column.update(block.tolist())
        a, b = (column, self.columns[1]) if side == 0 else (self.columns[0], column)
        grown = _Labels((a, b), self.integers)
        if self.integers:
            few = len(a) + len(b) <= MOST_VALUES or len(a.keys() | b.keys()) <= MOST_VALUES
            return grown if few else _grid_of(grown)
        if len(column) > MOST_VALUES:
            message = f"more than {MOST_VALUES} distinct texts; use coarser categories"
            raise TooManyCells.of_side(SIDES[side], message)
        return grown

    def counts(self) -> Counts:
        """Each label as a cell."""
        labels, members, nonmembers = self._cells()
        return by_value(members, nonmembers, Categories(labels)).require_shared_cells()

    def part(self) -> Part:
        """The same as a part; integers as what they are."""
        labels, members, nonmembers = self._cells()
        if not self.integers:
            return Part("text", labels, members, nonmembers)
        return Part("integers", np.array([int(label) for label in labels], object), members, nonmembers)

    def _cells(self) -> tuple[NDArray[np.str_], NDArray[np.int64], NDArray[np.int64]]:
        labels = sorted(self.columns[0].keys() | self.columns[1].keys())
        columns = [np.array([column[label] for label in labels], dtype=np.int64) for column in self.columns]
        return np.array(labels, dtype=np.str_), columns[0], columns[1]


def _flat_array(values: NDArray[np.generic], name: str) -> NDArray[np.generic]:
    """One side of a block as integers, floats or text, one a record."""
    array = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if array.ndim != 1:
        raise InputError.of_side(name, "rows of numbers cannot be counted block by block")
    whole = array.dtype.kind == "O" and all(type(value) is int for value in array.tolist())
    if len(array) and not whole and array.dtype.kind not in "biufU":
        raise InputError.of_side(name, f"type {array.dtype} is not supported; need numbers or text")
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # beyond 1e308 is infinite to us, and refused as that
            return array.astype(np.float64)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _grid_of(table: GrowingGrid | _Values | _Labels | None) -> GrowingGrid:
    """Whatever numbers were counted, on a grid."""
    if isinstance(table, GrowingGrid):
        return table
    if table is None or not len(table.columns[0]) + len(table.columns[1]):
        return GrowingGrid.none()
    columns: Sequence[NDArray[np.int64]]
    if isinstance(table, _Values):
        values, columns = table.labels.astype(np.float64), table.columns
    else:
        numbers = sorted({int(text) for column in table.columns for text in column})
        columns = [np.array([column[str(number)] for number in numbers], dtype=np.int64) for column in table.columns]
        values = floats_near(numbers, columns[0])
    return GrowingGrid.of_values(values, columns)


def _of_one_type(
    table: GrowingGrid | _Values | _Labels | None, block: NDArray[np.generic]
) -> tuple[GrowingGrid | _Values | _Labels | None, NDArray[np.generic]]:
    """What was counted and what is to come, of one type: integers as text where no 64 bits hold all of them."""
    whole = block.dtype.kind in "iuO"
    if isinstance(table, _Labels) and table.integers:
        return (table, as_text(block)) if whole else (_grid_of(table), block)
    if not whole or not (table is None or isinstance(table, _Values)):
        return table, block
    ours = np.zeros(0, np.int64) if table is None else table.labels[[0, -1]]
    theirs = as_one_type(ours, block)[1]
    return (table or _Values.none()).as_labels() if theirs.dtype.kind == "U" else table, theirs


def _each_integer(block: Integers) -> tuple[Integers, NDArray[np.int64]]:
    """Distinct integers and how often each occurs; without sorting if their range is small."""
    low, high = block.min(), block.max()
    if int(high) - int(low) >= SMALL_INTEGER_RANGE:
        return np.unique_counts(block)
    table = np.bincount((block - low).astype(np.intp))
    at = np.flatnonzero(table)
    return at.astype(block.dtype) + low, table[at]


def _spread_over(frequencies: NDArray[np.int64], at: NDArray[np.intp], size: int) -> NDArray[np.int64]:
    """Counts at their places in a longer column."""
    column = np.zeros(size, dtype=np.int64)
    column[at] = frequencies
    return column
