"""Counts of scores that come block by block, of either side, in any order: the same as of all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from fast_histogram import histogram1d
from numpy.typing import NDArray

from estimators.arrays import Floats
from estimators.errors import InputError, MixedTypes, NotFinite, TooFewRecords, TooManyCells
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Categories, Values
from estimators.sample.counts import Counts
from estimators.sample.frequent import Frequent, after_piece, crowded, frequent_enough, frequent_values
from estimators.sample.grid import (
    GRID_CELLS,
    OCTAVE_CELLS,
    SMALL_INTEGER_RANGE,
    count_octaves,
    grid_ends,
    grid_keys,
    is_near_zero,
    mend_underflow,
    octave_cells,
    octave_numbers,
)
from estimators.sample.integers import as_64_bit, as_one_type, as_text, or_infinite
from estimators.sample.parts import MOST_VALUES, Part, by_value
from estimators.sample.scores import MIN_RECORDS, as_floats, require_no_spelled_number

__all__ = ["CountStream"]

Integers = NDArray[np.int64] | NDArray[np.uint64]
SIDES = ("member", "nonmember")

PIECE = 2**18
"""Numbers counted at a time: two megabytes of scratch, and a table of cells is small beside it."""

LARGEST_EXPONENT = 1000
"""Steps below which the far end of the window is still a float."""

NEAR = 2**60
"""Added to the numbers of cells near 0, where they stand beside keys of the window."""

LARGEST_KEY = 2**52 - GRID_CELLS
"""Keys below this are floats whose unit is smaller than a cell, so none that joins them needs a wider one."""


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

    table: _Grid | _Values | _Labels | None = None
    n_members: int = 0
    n_nonmembers: int = 0

    @classmethod
    def on_grid(cls) -> CountStream:
        """The start of counts on the grid, integers of any size included; text is refused."""
        return cls(_Grid.none())

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
        sides = [
            (side, _flat_array(values, SIDES[side])) for side, values in enumerate((members, nonmembers))
        ]
        blocks = [(side, block) for side, block in sides if len(block)]
        table = self.table
        for side, values in blocks:
            if table is not None and (values.dtype.kind == "U") != _is_text(table):
                if not self.n_members + self.n_nonmembers and isinstance(self.table, _Grid):
                    raise InputError(
                        f"{SIDES[side]} scores: got text, a grid needs numbers", field=f"{SIDES[side]}s"
                    )
                raise MixedTypes(
                    f"{SIDES[side]} scores: text and numbers in one sample", field=f"{SIDES[side]}s"
                )
            table, block = _of_one_type(table, values)
            text = block.dtype.kind == "U"
            if text:
                require_no_spelled_number(block, SIDES[side], (self.n_members, self.n_nonmembers)[side])
                table = (table if isinstance(table, _Labels) else _Labels.none()).plus(side, block)
            elif block.dtype.kind in "iu" and not isinstance(table, _Grid):
                table = (table or _Values.none()).plus(side, block)
            else:
                start = (self.n_members, self.n_nonmembers)[side]
                table = _grid_of(table).plus(side, as_floats(block, SIDES[side], start), start)
        return CountStream(table, self.n_members + len(sides[0][1]), self.n_nonmembers + len(sides[1][1]))

    def counts(self) -> Counts:
        """Counts of all blocks together, if each side has as many records as any statement needs."""
        for n, name in zip((self.n_members, self.n_nonmembers), SIDES, strict=True):
            if n < MIN_RECORDS:
                raise TooFewRecords(f"{name} scores: got {n}, need at least {MIN_RECORDS}", field=f"{name}s")
        assert self.table is not None  # there are records
        return self.table.counts()

    def part(self) -> Part | None:
        """What was counted, however little it is, to be brought together with other parts; None if it is nothing."""
        return None if self.table is None else self.table.part()


@dataclass(frozen=True, eq=False)
class _Grid:
    """A window of 2^16 cells of the growing grid; it moves, or its step doubles, when a score lies outside.

    What is near 0 is counted in the cells of octaves, too, by their numbers.
    """

    exponent: int
    first: int
    columns: tuple[Floats, Floats]
    scratch: Floats
    near: _Values
    frequent: Frequent = ()

    @classmethod
    def none(cls) -> _Grid:
        """A grid before its first record: no step is too small for it."""
        return cls(-2000, 0, (np.zeros(0), np.zeros(0)), np.empty(PIECE), _Values.none())

    def plus(self, side: int, scores: Floats, start: int) -> _Grid:
        """The grid with more scores of one side; ``start`` is the index of the first among all of its side."""
        grid = self
        for at in range(0, len(scores), PIECE):
            piece = scores[at : at + PIECE]
            column = grid._histogram(piece)
            if column is None:
                low, high = float(piece.min()), float(piece.max())
                if not np.isfinite(low) or not np.isfinite(high):
                    _refuse_not_finite(piece, SIDES[side], start + at)
                grid = grid.reaching(low, high)
                column = grid.tabulate(piece)
            near = None
            if column[grid._window_near_zero()].any():
                near = count_octaves(
                    piece.take(np.flatnonzero(is_near_zero(piece, grid.exponent))), grid.exponent
                )
            frequent = grid._frequent_with(side, piece, column, near)
            column += grid.columns[side]
            columns = (column, grid.columns[1]) if side == 0 else (grid.columns[0], column)
            values = grid.near if near is None else grid.near.with_records(side, *near)
            grid = replace(grid, columns=columns, near=values, frequent=frequent)
        return grid

    def _window_near_zero(self) -> slice:
        """The cells of the window whose records are counted in the cells of octaves, too."""
        return slice(*(min(max(end - self.first, 0), GRID_CELLS) for end in (-OCTAVE_CELLS, OCTAVE_CELLS)))

    def _frequent_with(
        self, side: int, piece: Floats, column: Floats, near: tuple[Integers, NDArray[np.int64]] | None
    ) -> Frequent:
        """The frequent scores with those of one more piece, of which so many are in each cell."""
        crowds = {self.first + cell: int(column[cell]) for cell in crowded(column, len(piece))}
        if crowds and near is not None:
            inner = self._window_near_zero()
            crowds = {key: n for key, n in crowds.items() if not inner.start <= key - self.first < inner.stop}
            crowds |= {NEAR + int(near[0][at]): int(near[1][at]) for at in crowded(near[1], len(piece))}
        if not crowds and not self.frequent:
            return ()
        n = int(self.columns[0].sum() + self.columns[1].sum()) + len(piece)
        return after_piece(self.frequent, side, piece, crowds, self._numbers_of, n)

    def _numbers_of(self, scores: Floats) -> NDArray[np.int64]:
        """A number for the cell of each score."""
        near = is_near_zero(scores, self.exponent)
        numbers = grid_keys(np.where(near, 0.0, scores), self.exponent)
        numbers[near] = NEAR + octave_numbers(scores[near])
        return numbers

    def reaching(self, low: float, high: float) -> _Grid:
        """The same records on the finest grid that also holds ``low`` and ``high``: the one of ``by_grid``."""
        start = int(np.frexp(max(abs(low), abs(high), 2.0**-900))[1]) - 52
        exponent = max(start, self.exponent)
        cells = np.flatnonzero(self.columns[0] + self.columns[1]).astype(np.int64)
        ours = [self.first + int(cell) for cell in (cells[0], cells[-1])] if cells.size else []
        while True:
            keys = [*grid_ends(low, high, exponent)] + [key >> (exponent - self.exponent) for key in ours]
            least, most = min(keys), max(keys)
            if most - least < GRID_CELLS:
                break
            exponent += 1
        from_zero = least >= 0 and most < GRID_CELLS
        first = 0 if from_zero else least - (GRID_CELLS - 1 - (most - least)) // 2  # room on both sides
        moved = ((cells + self.first) >> (exponent - self.exponent)) - first
        columns = [
            _count_in_window(moved, column[cells] if cells.size else column) for column in self.columns
        ]
        return _Grid(
            exponent,
            first,
            (columns[0], columns[1]),
            self.scratch,
            self._near_at(exponent, cells),
            self.frequent,
        )

    def _near_at(self, exponent: int, cells: NDArray[np.int64]) -> _Values:
        """What is near 0 with a larger step, too: cells of the window are those of octaves then."""
        keys = self.first + cells
        moved = keys >> (exponent - self.exponent)
        own = np.abs(keys + 0.5) > OCTAVE_CELLS
        own &= np.abs(moved + 0.5) < OCTAVE_CELLS
        starts, some = np.ldexp(keys[own].astype(np.float64), self.exponent), cells[own]
        return self.near.with_scores(starts, [column[some] for column in self.columns])

    def tabulate(self, scores: Floats, weights: Floats | None = None) -> Floats:
        """Records in each cell of the window, where all lie in it."""
        return _count_in_window(grid_keys(scores, self.exponent) - self.first, weights)

    def _histogram(self, scores: Floats) -> Floats | None:
        """The same in one pass, or nothing if a score lies outside the window or is not finite.

        fast-histogram leaves such scores out, which the total shows. It truncates (score - start) / width, which is
        exact for whole numbers, and from a start at 0 if the width is a power of two.
        """
        wide = self.exponent > LARGEST_EXPONENT or max(-self.first, self.first + GRID_CELLS) > LARGEST_KEY
        if wide or not self.columns[0].size:
            return None
        if self.first == 0:
            keys, reach = scores, (0.0, GRID_CELLS * 2.0**self.exponent)
        else:
            keys, reach = self.scratch[: len(scores)], (float(self.first), float(self.first + GRID_CELLS))
            with np.errstate(over="ignore", invalid="ignore"):
                np.floor(np.multiply(scores, 2.0**-self.exponent, out=keys), out=keys)
            mend_underflow(keys, scores, self.exponent)
        column: Floats = histogram1d(keys, GRID_CELLS, reach)
        return column if column.sum() == len(scores) else None

    def counts(self) -> Counts:
        """Occupied cells as counts."""
        part = self.part()
        grid = replace(part.grid, frequent=part.frequent)
        return Counts(part.members, part.nonmembers, grid.with_crowds_only(part.members + part.nonmembers))

    def part(self) -> Part:
        """The same as a part."""
        cells = np.flatnonzero(self.columns[0] + self.columns[1])
        numbers, inner = self.near.labels.astype(np.int64), self._window_near_zero()
        before, after = cells[cells < inner.start], cells[cells >= inner.stop]
        exponents, keys = octave_cells(numbers)
        members, nonmembers = (
            np.concatenate([column[before], near, column[after]]).astype(np.int64)
            for column, near in zip(self.columns, self.near.columns, strict=True)
        )
        return Part(
            "grid",
            np.concatenate([self.first + before, keys, self.first + after]),
            members,
            nonmembers,
            frequent_enough(self.frequent, int(members.sum() + nonmembers.sum())),
            np.concatenate(
                [*(np.full(len(before), self.exponent), exponents, np.full(len(after), self.exponent))]
            ),
        )


@dataclass(frozen=True, eq=False)
class _Values:
    """Records of each integer seen."""

    labels: Integers
    columns: tuple[NDArray[np.int64], NDArray[np.int64]]

    @classmethod
    def none(cls) -> _Values:
        """Before the first record."""
        return cls(np.zeros(0, np.int64), (np.zeros(0, np.int64), np.zeros(0, np.int64)))

    def plus(self, side: int, block: NDArray[np.generic]) -> _Values | _Grid:
        """With a block of one side; beyond 2^20 distinct values, the grid of all of them."""
        grown = self.with_records(side, *_each_integer(as_64_bit(block)))
        return grown if len(grown.labels) <= MOST_VALUES else _grid_of(grown)

    def with_records(self, side: int, labels: Integers, frequencies: NDArray[np.int64]) -> _Values:
        """With so many records of one side for each of these integers, which are in order."""
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
        return _Values(ours, (column, columns[1]) if side == 0 else (columns[0], column))

    def with_scores(self, scores: Floats, columns: Sequence[Floats | Integers]) -> _Values:
        """With so many records of both sides of each of these scores near 0, by the numbers of their cells."""
        values = self
        if len(scores):
            numbers, at = np.unique(octave_numbers(scores), return_inverse=True)
            for side, column in enumerate(columns):
                values = values.with_records(side, numbers, np.bincount(at, column).astype(np.int64))
        return values

    def as_labels(self) -> _Labels:
        """The same, each integer as its text."""
        texts = as_text(self.labels).tolist()
        members, nonmembers = (
            Counter({text: int(n) for text, n in zip(texts, column, strict=True) if n})
            for column in self.columns
        )
        return _Labels((members, nonmembers), integers=True)

    def counts(self) -> Counts:
        """Each value as a cell."""
        counts = by_value(*self.columns, Values(self.labels))
        narrow = int(self.labels[-1]) - int(self.labels[0]) < SMALL_INTEGER_RANGE
        return counts if narrow else counts.require_shared_cells()

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

    def plus(self, side: int, block: NDArray[np.generic]) -> _Labels | _Grid:
        """With a block of one side; integers of more than 2^20 distinct values go to the grid, as those of 64 bits."""
        column = Counter(self.columns[side])
        column.update(block.tolist())
        a, b = (column, self.columns[1]) if side == 0 else (self.columns[0], column)
        grown = _Labels((a, b), self.integers)
        if self.integers:
            few = len(a) + len(b) <= MOST_VALUES or len(a.keys() | b.keys()) <= MOST_VALUES
            return grown if few else _grid_of(grown)
        if len(column) > MOST_VALUES:
            raise TooManyCells(
                f"{SIDES[side]} scores: more than {MOST_VALUES} distinct texts; use coarser categories",
                field=f"{SIDES[side]}s",
            )
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
        raise InputError(f"{name} scores: rows of numbers cannot be counted block by block", field=f"{name}s")
    whole = array.dtype.kind == "O" and all(type(value) is int for value in array.tolist())
    if len(array) and not whole and array.dtype.kind not in "biufU":
        raise InputError(
            f"{name} scores: type {array.dtype} is not supported; need numbers or text", field=f"{name}s"
        )
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # beyond 1e308 is infinite to us, and refused as that
            return array.astype(np.float64)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _refuse_not_finite(scores: Floats, name: str, start: int) -> None:
    """Name the first record that is NaN or infinite."""
    at = int(np.argmin(np.isfinite(scores)))
    what = "NaN" if np.isnan(scores[at]) else "infinite"
    raise NotFinite(
        f"{name} scores: record {start + at} is {what}; every score must be finite",
        field=f"{name}s",
        index=start + at,
    )


def _refuse_beyond_floats(infinite: NDArray[np.bool_], members: NDArray[np.int64]) -> None:
    """Name the side that has an integer which no float is near; which record it was is not kept."""
    if infinite.any():
        side = SIDES[0] if members[infinite].any() else SIDES[1]
        raise NotFinite(f"{side} scores: one is beyond 1e308; every score must be finite", field=f"{side}s")


def _grid_of(table: _Grid | _Values | _Labels | None) -> _Grid:
    """Whatever numbers were counted, on a grid."""
    if isinstance(table, _Grid):
        return table
    if table is None or not len(table.columns[0]) + len(table.columns[1]):
        return _Grid.none()
    columns: Sequence[NDArray[np.int64]]
    if isinstance(table, _Values):
        values, columns = table.labels.astype(np.float64), table.columns
    else:
        numbers = sorted({int(text) for column in table.columns for text in column})
        values = np.array([or_infinite(number) for number in numbers])
        columns = [
            np.array([column[str(number)] for number in numbers], dtype=np.int64) for column in table.columns
        ]
        _refuse_beyond_floats(np.isinf(values), columns[0])
    grid = _Grid.none().reaching(float(values[0]), float(values[-1]))
    members, nonmembers = (grid.tabulate(values, column.astype(np.float64)) for column in columns)
    inner = is_near_zero(values, grid.exponent)
    near = grid.near.with_scores(values[inner], [column[inner] for column in columns])
    return replace(grid, columns=(members, nonmembers), near=near, frequent=frequent_values(values, *columns))


def _is_text(table: _Grid | _Values | _Labels) -> bool:
    """Whether text was counted, and no integers in its place."""
    return isinstance(table, _Labels) and not table.integers


def _of_one_type(
    table: _Grid | _Values | _Labels | None, block: NDArray[np.generic]
) -> tuple[_Grid | _Values | _Labels | None, NDArray[np.generic]]:
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


def _count_in_window(cells: NDArray[np.int64], weights: Floats | None) -> Floats:
    """Records in each cell of a window."""
    return np.bincount(cells, weights, GRID_CELLS).astype(np.float64, copy=False)


def _spread_over(frequencies: NDArray[np.int64], at: NDArray[np.intp], size: int) -> NDArray[np.int64]:
    """Counts at their places in a longer column."""
    column = np.zeros(size, dtype=np.int64)
    column[at] = frequencies
    return column
