"""Records of a table, encoded, and those that stand where they should not: on both sides, or more than once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.decisions.verdict import PUBLISHED
from estimators.errors import InputError
from estimators.python.dataclass import dataclass
from estimators.statement import Caution

ODD, FEW_EQUAL = 4, 8
"""So many times more equal rows than chance makes elsewhere, and at least so many, are worth a word."""
RARELY = 0.01
"""The share of different rows that chance may make equal across the sides where each of a side is asked about once."""
FEWER = 2
"""So many times fewer different rows on one side alone than chance puts there are shared ones."""
FEWEST_COLUMNS, MOST_COLUMNS = 4, 128
"""Rows of fewer columns are equal in all but one by chance; of more they are near, and looking takes long."""
MEMBERS, NONMEMBERS, SYNTHETIC, REFERENCE = "members", "nonmembers", "synthetic", "reference"


@dataclass(frozen=True, slots=True)
class Rows:
    """Records of one table, encoded.

    Attributes:
        points: Where each lies; near points are similar records.
        values: For each record and column a number that is the same where the values are the same, -1 where missing.
        records: For each record a number that is the same where whole records are the same, in any table: numbers at
            the precision at which their column is compared (``Column.precision``).
        identifiers: The same as ``values``, of the columns that were left out as identifiers.
        but_one: Whether a released row equals it in every column, or in all but one (``equal_but_for_one``).
    """

    points: Floats
    values: Integers
    records: Integers
    identifiers: Integers
    but_one: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.points)

    @classmethod
    def of_records(cls, records: Integers) -> Rows:
        """Rows of which no more is known than which are the same.

        Args:
            records: A number for each row that is the same where rows are.
        """
        column = records[:, np.newaxis]
        return cls(column.astype(np.float64), column, records, column[:, :0], np.zeros(len(records), dtype=np.bool_))

    def part(self, which: Any) -> Rows:
        """Some of the records.

        Args:
            which: An index of rows, as NumPy takes it.
        """
        every = (self.points, self.values, self.records, self.identifiers, self.but_one)
        return Rows(*(each[which] for each in every))


def about_sides(members: Rows, nonmembers: Rows) -> list[Caution]:
    """Records of the sides that stand where they should not: on both, or more than once on one."""
    cautions = []
    if share_of_training_rows(members, nonmembers):
        shared = int(np.isin(members.records, nonmembers.records).sum())
        message = (
            f"{shared} rows of the members stand among the nonmembers, too: nothing tells these apart, and they "
            "hide a leak; if they are the same records, leave them out of both sides"
        )
        cautions.append(Caution("shared_rows", message))
    if rows_repeat(members, nonmembers):
        repeated = [len(side) - len(np.unique(side.records)) for side in (members, nonmembers)]
        counts = " and ".join(
            f"{count} of the {name}" for count, name in zip(repeated, (MEMBERS, NONMEMBERS), strict=True) if count
        )
        instead = (
            "each different row is asked about once"
            if many_rows_repeat(members, nonmembers)
            else "if they are the same records, give each once"
        )
        message = (
            f"{counts} repeat a row of their table, far more often than chance makes: intervals are for independent "
            f"records; {instead}"
        )
        cautions.append(Caution("repeated_rows", message))
    return cautions


def require_two_sides(members: Rows, nonmembers: Rows) -> None:
    """Refuse one table as both sides, far as that is from chance: nothing would be found, whatever leaks."""
    same = np.array_equal(np.sort(members.records), np.sort(nonmembers.records))
    if same and _rows_are_shared(members, nonmembers):
        raise InputError.about(
            NONMEMBERS,
            "these are the training rows, row for row: nothing tells them apart, whatever leaks; give "
            "rows that were held out",
        )


def share_of_training_rows(members: Rows, nonmembers: Rows) -> float:
    """The share of nonmembers that are rows of the members; 0 where chance explains them."""
    if not _rows_are_shared(members, nonmembers):
        return 0.0
    return float(np.isin(nonmembers.records, members.records).mean())


def _rows_are_shared(members: Rows, nonmembers: Rows) -> bool:
    """Whether rows stand on both sides far more often than chance makes, or many do that chance would put on one."""
    within, across = _pairs(members, nonmembers)
    if _beyond_chance(across, within):
        return True
    a, b = _occurrences(members, nonmembers)
    several, share = a + b > 1, len(members) / (len(members) + len(nonmembers))
    on_one = float(sum((each ** (a + b))[several].sum() for each in (share, 1.0 - share)))
    return on_one > FEWER * float(((a == 0) | (b == 0))[several].sum()) + FEW_EQUAL


def rows_repeat(members: Rows, nonmembers: Rows) -> bool:
    """Whether rows repeat within the sides far more often than chance makes, a single row or many."""
    return _beyond_chance(*_pairs(members, nonmembers)) or many_rows_repeat(members, nonmembers)


def many_rows_repeat(members: Rows, nonmembers: Rows) -> bool:
    """Whether many different rows stand more than once on a side where chance would put them on both.

    Of a row that occurs so many times each lies on a side with that side's share of all. Where chance makes more than a
    few rows equal, which of them repeat cannot be told: each different row once would be another law, of either side.
    """
    a, b = _occurrences(members, nonmembers)
    on_both = float(((a > 0) & (b > 0)).sum())
    if on_both > max(FEW_EQUAL, RARELY * np.count_nonzero(a + b)):
        return False
    times, share = a + b, len(members) / (len(members) + len(nonmembers))
    on_one = [(1.0 - each) ** times for each in (share, 1.0 - share)]
    if _beyond_chance(float((1.0 - on_one[0] - on_one[1])[times > 1].sum()), on_both):
        return True
    for own, each, none in zip((a, b), (share, 1.0 - share), on_one, strict=True):
        by_chance = 1.0 - none - times * each * (1.0 - each) ** np.maximum(times - 1.0, 0.0)
        if _beyond_chance(float((own > 1).sum()), float(by_chance[times > 1].sum())):
            return True
    return False


def _occurrences(members: Rows, nonmembers: Rows) -> tuple[Floats, Floats]:
    """How often each row stands on either side."""
    most = 1 + max(int(side.records.max()) for side in (members, nonmembers))
    a, b = (np.bincount(side.records, minlength=most).astype(np.float64) for side in (members, nonmembers))
    return a, b


def firsts(side: Rows) -> NDArray[np.intp]:
    """Where each different row of a side stands first."""
    return np.sort(np.unique(side.records, return_index=True)[1])


def _pairs(members: Rows, nonmembers: Rows) -> tuple[float, float]:
    """Pairs of equal rows within a side, and across; the former as a share of what there could be, times the latter's.

    Chance makes both equal, whatever the sizes of the sides and however often a row occurs.
    """
    n1, n0 = len(members), len(nonmembers)
    a, b = _occurrences(members, nonmembers)
    within = float((a * (a - 1.0) + b * (b - 1.0)).sum()) / 2.0
    across = float((a * b).sum())
    room = n1 * (n1 - 1.0) / 2.0 + n0 * (n0 - 1.0) / 2.0
    return within * n1 * n0 / max(room, 1.0), across


def about_release(
    members: Rows, nonmembers: Rows, synthetic: Rows, reference: Rows | None, compared: str = ""
) -> list[Caution]:
    """Records of the released table and of the reference that stand where they should not.

    ``compared`` names the columns that were compared, in words, if some were left out.
    """
    cautions, where = [], f" in the columns that were compared ({compared})" if compared else ""
    for name, side in ((MEMBERS, members), (NONMEMBERS, nonmembers)):
        if np.array_equal(np.sort(side.records), np.sort(synthetic.records)):
            then = "every member is published" if name == MEMBERS else "nothing of the members is released"
            message = (
                f"the released table is the table of {name}, row for row{where}; is it the right file? If it is, {then}"
            )
            cautions.append(Caution(PUBLISHED if name == MEMBERS else "synthetic_is_nonmembers", message))
    if reference is not None and np.array_equal(np.sort(reference.records), np.sort(synthetic.records)):
        message = (
            f"the reference is the released table, row for row{where}: queries that compare the two see nothing; give "
            "rows of neither side, or none"
        )
        cautions.append(Caution("reference_is_synthetic", message))
    if reference is not None:
        inside = [int(np.isin(side.records, reference.records).sum()) for side in (members, nonmembers)]
        ratio = len(members) / len(nonmembers)
        for name, count, expected in (
            (MEMBERS, inside[0], inside[1] * ratio),
            (NONMEMBERS, inside[1], inside[0] / ratio),
        ):
            if _beyond_chance(count, expected):
                message = (
                    f"{count} of the {name} stand in the reference, too, where they are compared with themselves; "
                    "the reference must be of neither side: leave them out of it"
                )
                cautions.append(Caution(f"reference_has_{name}", message))
    return cautions


def _beyond_chance(count: float, expected: float) -> bool:
    """Far more equal rows than chance makes, as those elsewhere say."""
    return count > ODD * expected + FEW_EQUAL


def records_of(codes: Integers) -> Integers:
    """A number for each row that is the same where all columns are."""
    records = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        _, records = np.unique(records * (int(column.max()) + 2) + column + 1, return_inverse=True)
        records = records.astype(np.int64)
    return records


def equal_but_for_one(codes: Integers, released: slice) -> NDArray[np.bool_]:
    """Which rows equal a released one in every column but one, or in every one; none where that says little or nothing.

    A sum of random numbers, one for each value of a column, stands for a row, and without one of them for the others.
    """
    columns, equal = codes.shape[1], np.zeros(len(codes), dtype=np.bool_)
    if not FEWEST_COLUMNS <= columns <= MOST_COLUMNS:
        return equal
    numbers = _numbers(codes.max(axis=0) + 2)
    whole = sum(of_value[column + 1] for of_value, column in zip(numbers, codes.T, strict=True))
    for of_value, column in zip(numbers, codes.T, strict=True):
        others = whole - of_value[column + 1]
        equal |= np.isin(others, others[released])
    return equal


def _numbers(sizes: Iterable[int]) -> list[Integers]:
    """Random numbers for so many values of each column, of which sums hardly ever are the same."""
    rng = np.random.default_rng(0)
    return [rng.integers(2**62, size=size) for size in sizes]


def most_equal(cuts: Iterable[Integers], sides: Sequence[slice], released: slice) -> Integers:
    """Codes by the way to cut digits off each column that finds most rows of all sides in the released table.

    One way for all columns, and then another for a column where that finds more. That asks of no row on which side it
    stands, so that rows of both sides can be exchanged as before.
    """
    ways = list(cuts)
    if len(ways) == 1:
        return ways[0]
    tables = _numbers(np.max([way.max(axis=0) for way in ways], axis=0) + 2)
    parts = [[table[codes + 1] for table, codes in zip(tables, way.T, strict=True)] for way in ways]

    def rows_there(hashes: Integers) -> int:
        return sum(int(np.isin(hashes[side], hashes[released]).sum()) for side in sides)

    sums = [np.sum(columns, axis=0) for columns in parts]
    best = max(range(len(ways)), key=lambda way: rows_there(sums[way]))
    chosen, hashes, most = ways[best].copy(), sums[best], rows_there(sums[best])
    for at in range(chosen.shape[1]):
        own = parts[best][at]
        for way, columns in zip(ways, parts, strict=True):
            other = hashes - own + columns[at]
            if (more := rows_there(other)) > most:
                chosen[:, at], own, hashes, most = way[:, at], columns[at], other, more
    return chosen
