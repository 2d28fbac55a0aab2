"""One column of all tables: one type for the values of all of them, and coordinates that some of the tables fix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.audits.queries.precision import Cut, alike, is_coarser
from estimators.audits.queries.values import (
    Values,
    as_dates,
    as_digits,
    as_numbers,
    as_texts,
    fits_floats,
    spelled_as_sides,
    without_point_zero,
)
from estimators.python.dataclass import dataclass
from estimators.statement import Caution

LATTICE = 2.0**40
"""Steps of a number's range: fine enough for any file, coarse enough that sums of 2,048 columns are exact."""

LEVELS = 128  # levels of a category with a column of their own; the rarer ones share
SHARED_LEVELS = 64  # columns that the rarer levels share


@dataclass(frozen=True, slots=True)
class Column:
    """A column that is used, taken for a ``number``, a ``date`` or a ``category``, of so many different values.

    Attributes:
        precision: With how many digits rows are compared in it, in words such as ``float32`` or ``4 decimals``; empty
            if they are compared as they are.
    """

    name: str
    kind: str
    levels: int
    precision: str = ""


@dataclass(frozen=True, slots=True)
class MixedColumn:
    """One column of all tables, one after the other."""

    kind: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]
    codes: Integers
    continuous: bool

    def distinct(self, sides: Sequence[slice]) -> int:
        """How many different values there are in these tables, missing ones aside."""
        codes = np.concatenate([self.codes[side] for side in sides])
        return len(np.unique(codes[codes >= 0]))

    @property
    def constant(self) -> bool:
        """Whether all values are one, or all are missing."""
        return int(self.codes.min()) == int(self.codes.max())

    def points(self, sides: Sequence[slice], levels: int = LEVELS, shared: int = SHARED_LEVELS) -> list[Floats]:
        """The column as coordinates.

        Args:
            sides: The tables that fix ranges and levels: those that an attacker has; the last one that has a range
                fixes it.
            levels: Levels of a category with a place of their own, the most frequent ones.
            shared: Places that the others share.
        """
        if self.kind == "category":
            return self._levels(sides, levels, shared)
        return self._numbers(sides)

    def compared(self, sides: Sequence[slice], released: slice | None) -> tuple[str, dict[Cut, Integers]]:
        """The column at the coarser precision of two tables.

        Args:
            sides: Members and nonmembers, which can be exchanged.
            released: The released table, with which they are compared; None to compare them with each other.

        Returns:
            the precision in words, and numbers that are the same where values are, for each way to cut digits off;
            no words and none of these, if rows are to be compared as they are.
        """
        if self.kind != "number" or self.values.dtype.kind not in "if":
            return "", {}
        values = self.values.astype(np.float64)
        if self.values.dtype.kind == "i" and float(np.abs(values).max()) >= 2.0**53:
            return "", {}
        fine, coarse, further = self._apart(values, sides, released)
        different = [np.unique(values[each]) for each in (fine, coarse, further)]
        members = None if released is None else np.unique(values[self._rows_of(sides[0])])
        words, every = alike(different[0], different[1], different[2], members)
        codes: dict[Cut, Integers] = {}
        for cut, rounded in every.items():
            rewrite = values.copy()
            for rows, before, after in zip((fine, coarse, further), different, rounded, strict=True):
                rewrite[rows] = after[np.searchsorted(before, values[rows])]
            codes[cut] = _codes(rewrite, self.missing)
        return " and ".join(words), codes

    def _apart(self, values: Floats, sides: Sequence[slice], released: slice | None) -> list[NDArray[np.bool_]]:
        """Which rows have a number that may have to be rounded, one that it is rounded to, and one beside these."""
        ones, others = (self._rows_of(side) for side in sides)
        if released is not None:
            fine, coarse = ones | others, self._rows_of(released)
        elif is_coarser(np.unique(values[ones]), np.unique(values[others])):
            fine, coarse = others, ones
        else:
            fine, coarse = ones, others
        return [fine, coarse, ~(fine | coarse | self.missing)]

    def _rows_of(self, table: slice) -> NDArray[np.bool_]:
        """Rows of a table that have a value."""
        rows = np.zeros(len(self.missing), dtype=np.bool_)
        rows[table] = True
        return rows & ~self.missing

    def _numbers(self, sides: Sequence[slice]) -> list[Floats]:
        low, high = self._range(sides)
        span = _difference(np.array([high], dtype=self.values.dtype), low)[0]
        shifted = _difference(self.values, low)
        if span > 0.0:
            with np.errstate(over="ignore"):  # far beyond the range, and clipped
                shares = np.clip(shifted / span, -1.0, 2.0)
        else:
            shares = np.where(shifted == 0.0, 0.0, 1.0)
        points = np.where(self.missing, 0.5, np.rint(shares * LATTICE) / LATTICE + 0.0)
        return [points, np.where(self.missing, 0.5, 0.0)] if self.missing.any() else [points]

    def _range(self, sides: Sequence[slice]) -> tuple[Any, Any]:
        """The last table's range, as the reference's rows are real ones; an earlier one's where that has none."""
        ends: tuple[Any, Any] = (0, 0)
        for side in reversed(sides):
            here = self.values[side][~self.missing[side]]
            if len(here):
                ends = (here.min(), here.max())
                if ends[0] < ends[1]:
                    return ends
        every = np.concatenate([self.values[side][~self.missing[side]] for side in sides])
        return (every.min(), every.max()) if len(every) else ends

    def _levels(self, sides: Sequence[slice], levels: int, shared: int) -> list[Floats]:
        """Levels at halves up and down their own axes: any two are 1 apart; the most frequent come first."""
        codes = self.codes + 1  # missing is a level of its own
        counts = np.zeros(int(codes.max()) + 1, dtype=np.int64)
        for side in sides:
            counts += np.bincount(codes[side], minlength=len(counts))
        order = np.lexsort((np.arange(len(counts)), -counts))
        order = order[counts[order] > 0]
        place = np.full(len(counts), -1)
        place[order] = np.arange(len(order))
        if len(order) > levels:
            place[order[levels:]] = levels + np.arange(len(order) - levels) % shared
        places = min(len(order), levels + shared)
        place[place < 0] = places  # levels that only the sides have: as far from all the others as these are
        where = place[codes]
        axis, half = where // 2, np.where(where % 2, -0.5, 0.5)
        return [np.where(axis == each, half, 0.0) for each in range(int(axis.max()) + 1)]


def join_values(name: str, parts: Sequence[Values], as_category: bool, cautions: list[Caution]) -> MixedColumn:
    """One column of all tables as one type."""
    kinds = {part.kind for part in parts} - {"missing"}
    missing = np.concatenate([part.missing for part in parts])
    if as_category:
        parts = without_point_zero([as_texts(part) for part in parts])
        kinds = {"text"}
    if "text" in kinds and kinds <= {"text", "whole", "number"} and not as_category:
        numbers = [as_numbers(as_digits(part) if "whole" in kinds else part) for part in parts]
        if all(part is not None for part in numbers):
            parts = [part for part in numbers if part is not None]
            kinds = {"number"}
            message = (
                f"column {name!r} holds numbers written as text: they are read as numbers; name it in `categories` "
                "if they are codes"
            )
            cautions.append(Caution("numbers_as_text", message))
    if kinds <= {"whole", "number"} and not all(fits_floats(part) for part in parts):
        kinds = {"several"}  # no float holds them: names, whatever else
    if "text" in kinds and kinds <= {"text", "date"} and not as_category:
        dates = [as_dates(part) for part in parts]
        if all(part is not None for part in dates):
            parts, kinds = [part for part in dates if part is not None], {"date"}
    if kinds <= {"whole", "number"} or kinds == {"date"}:
        kind = "date" if kinds == {"date"} else "number"
        values = _one_type([part.values for part in parts], missing)
        codes = _codes(values, missing)
        continuous = kind == "date" or not _all_whole(values, missing)
        return MixedColumn(kind, values, missing, codes, continuous)
    if kinds != {"text"}:
        message = f"column {name!r} holds values of several types: they are taken as texts; give it one type"
        cautions.append(Caution("several_types", message))
        parts = [as_texts(part) for part in parts]
    parts = spelled_as_sides(parts)
    texts = np.concatenate([part.values for part in parts]).astype(object)
    texts[missing] = ""
    _, codes = np.unique(texts.astype(np.str_), return_inverse=True)
    labels = np.where(missing, -1, codes).astype(np.int64)
    return MixedColumn("category", labels, missing, labels, False)


def identifier_codes(column: MixedColumn, parts: Sequence[Values]) -> Integers:
    """The values of an identifier as numbers: digits that lost their leading zeros are the same as with them.

    They are told apart by the same rule in all tables, so that chance makes no more of them alike on one side.
    """
    if column.kind != "category":
        return column.codes
    texts = np.concatenate([as_texts(part).values for part in parts]).astype(np.str_)
    digits = np.char.isdecimal(texts) & ~column.missing
    if not (digits & np.char.startswith(texts, "0")).any():
        return column.codes
    texts[digits] = np.char.zfill(texts[digits], texts.dtype.itemsize // 4)  # in the order of numbers, too
    return _codes(texts, column.missing)


def _one_type(parts: Sequence[NDArray[Any]], missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Numbers of several tables as int64 or float64 where these hold them exactly, else as Python's own."""
    kinds = {part.dtype.kind for part in parts}
    if kinds == {"i"} or kinds == {"f"}:
        return np.concatenate([part.astype(np.int64 if kinds == {"i"} else np.float64) for part in parts])
    every = np.empty(sum(map(len, parts)), dtype=object)
    every[:] = [item for part in parts for item in part.tolist()]
    every[missing] = 0
    items = every.tolist()
    if all(isinstance(item, int) for item in items):
        return every.astype(np.int64) if min(items) >= -(2**63) and max(items) < 2**63 else every
    large = {type(item) for item in items if abs(item) > 2**53}
    # Floats have lost the last digits of large integers, which stand beside them without these, too.
    return every if large == {int} else every.astype(np.float64)


def _codes(values: NDArray[Any], missing: NDArray[np.bool_]) -> Integers:
    codes = np.full(len(values), -1, dtype=np.int64)
    if not missing.all():
        codes[~missing] = np.unique(values[~missing], return_inverse=True)[1]
    return codes


def _all_whole(values: NDArray[Any], missing: NDArray[np.bool_]) -> bool:
    present = values[~missing]
    if present.dtype.kind == "i":
        return True
    if present.dtype.kind == "f":
        return bool((np.floor(present) == present).all())
    return all(isinstance(item, int) or item.is_integer() for item in present.tolist())


def _difference(values: NDArray[Any], low: Any) -> Floats:
    """Halves of the differences from the least value, exact before they are rounded; halves, lest they overflow."""
    integers = values.dtype.kind == "i"
    if integers and max(abs(int(values.min())), abs(int(values.max()))) < 2**61:
        return np.asarray((values - np.int64(low)) / 2.0)
    if integers or (values.dtype.kind == "O" and all(isinstance(item, int) for item in values.tolist())):
        return np.array([(item - int(low)) / 2 for item in values.tolist()])
    return np.asarray(values.astype(np.float64) / 2.0 - float(low) / 2.0)
