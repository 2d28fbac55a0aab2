"""Tables of mixed columns as points: one encoding for every table of an audit.

Only the tables that an attacker has anyway, the released one and the reference, fix ranges and levels. What the score
of a record is then depends on that record and on these two, not on who else is a member, nor on the side on which it
stands. Both sides together decide no more than which columns can be used, and whether they hold numbers or names; for
that they can be exchanged.

The distance of two encoded records in L1 is Gower's, times the number of columns: a number counts its difference as a
share of the range, at most 3, and a category 1 if it differs, for its levels stand at halves up and down axes of their
own. Points lie on a lattice of 2^-40, so that these sums are exact in floats, in whatever order they are added. Which
records are equal is known apart from their points, by their values as they came: integers beyond 2^53 and numbers that
are too close for the lattice are told apart. Where one table is written with fewer digits than another, records are
compared with as few (``precision``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.audits.queries.column import LEVELS, SHARED_LEVELS, Column, MixedColumn, identifier_codes, join_values
from estimators.audits.queries.neighbours import matrix
from estimators.audits.queries.precision import Cut
from estimators.audits.queries.values import Values, as_digits, read_values, spells_any
from estimators.decisions.verdict import ELSEWHERE, PUBLISHED
from estimators.errors import DimensionMismatch, InputError, RaggedRows, TooFewRecords
from estimators.python.dataclass import dataclass, replace
from estimators.sample.scores import LOOKS, MIN_RECORDS, spells_number
from estimators.statement import Caution

Table = Mapping[str, Any]

NEARLY_ALL = 0.98
"""A column with so large a share of different values, and no continuous one, is an identifier."""

FEW_LEVELS, FEW_SHARED = 16, 8
"""The same where both sides are learned from, and nothing is near or far: levels with a place, and places to share."""

FEWEST_ROWS = 50  # in fewer rows nobody can tell an identifier from a column that happens not to repeat

ODD, FEW_EQUAL = 4, 8
"""So many times more equal rows than chance makes elsewhere, and at least so many, are worth a word."""

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
    """

    points: Floats
    values: Integers
    records: Integers
    identifiers: Integers

    def __len__(self) -> int:
        return len(self.points)

    def part(self, which: Any) -> Rows:
        """Some of the records.

        Args:
            which: An index of rows, as NumPy takes it.
        """
        every = (self.points, self.values, self.records, self.identifiers)
        return Rows(*(each[which] for each in every))


@dataclass(frozen=True, slots=True)
class Encoding:
    """Every table of an audit in one encoding, and what to know of it.

    Attributes:
        members: Rows that the release was made from.
        nonmembers: Rows that it was not made from.
        synthetic: The released rows.
        reference: Rows like the others that belong to neither side; None if there are none.
        columns: The columns that are used, in the order of the released table.
        cautions: What was left out, and what looks wrong.
        identifiers: The columns that were left out as identifiers.
    """

    members: Rows
    nonmembers: Rows
    synthetic: Rows
    reference: Rows | None
    columns: tuple[Column, ...]
    cautions: tuple[Caution, ...]
    identifiers: tuple[str, ...] = ()


def encode(
    members: Table,
    nonmembers: Table,
    synthetic: Table,
    reference: Table | None = None,
    *,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
) -> Encoding:
    """Tables as points, all in the same way.

    Args:
        members: Columns by name: numbers, booleans, texts, dates, with missing values (None, NaN, NaT, blank text).
        nonmembers: The same columns of rows that the release was not made from.
        synthetic: The same columns of the released rows.
        reference: The same columns of further rows that belong to neither side.
        categories: Columns of numbers that are names of something, such as codes.
        leave_out: Columns that are not to be used.
        use: Columns that are to be used although they look like identifiers.

    Raises:
        InputError: no rows, no column in common, columns of different lengths, infinite numbers, values that are
            neither numbers nor texts nor dates, numbers beside texts of another table; the text names table and column,
            and says what to do.

    Example:
        >>> from estimators.audits.queries.table import encode
        >>> people = {"age": [31, 47, None], "job": ["baker", "nurse", "nurse"]}
        >>> others = {"age": [20, 70, 45], "job": ["baker", "nurse", "judge"]}
        >>> tables = encode(people, others, {"age": [30.0, 50.0], "job": ["baker", "nurse"]})
        >>> [(column.name, column.kind) for column in tables.columns]
        [('age', 'number'), ('job', 'category')]
        >>> tables.members.points[0].round(3).tolist()  # 1/20 of the released range, not missing; a baker
        [0.05, 0.0, 0.5, 0.0]
    """
    tables = {MEMBERS: members, NONMEMBERS: nonmembers, SYNTHETIC: synthetic}
    if reference is not None:
        tables[REFERENCE] = reference
    sizes = _sizes(tables)
    cautions: list[Caution] = []
    order = (SYNTHETIC, *tables)
    names = _names(tables, order, [*categories, *leave_out, *use], leave_out, cautions)
    every = _slices(sizes)
    rows, columns, compared, identifiers = _encoded(
        tables,
        sizes,
        names,
        categories,
        cautions,
        lambda name, column: _useless(column, every, name in use),
        lambda column: column.points(every[2:]),
        lambda column: column.kind == "category" and column.distinct(every[2:]) > LEVELS,
        lambda column: column.compared(every[:2], every[2]),
        LEFT,
    )
    return replace(_encoding(rows, sizes, columns, cautions, compared), identifiers=identifiers)


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides in one encoding that neither of them fixes alone, and what to know of them; ``encode_sides`` makes it.

    Attributes:
        members: Rows of the one side.
        nonmembers: Rows of the other.
        columns: The columns that are used, in the order of the members' table.
        n_columns: How many columns were looked at, with those that have one value only or look like identifiers.
        cautions: What was left out, and what looks wrong.
    """

    members: Rows
    nonmembers: Rows
    columns: tuple[Column, ...]
    n_columns: int
    cautions: tuple[Caution, ...]


def encode_sides(
    members: Table,
    nonmembers: Table,
    *,
    categories: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    use: Sequence[str] = (),
) -> Sides:
    """Both sides as points, without a released table: ranges and levels are those of all rows together.

    The two sides can be exchanged. A column that one side lacks altogether is used: that it does is a difference.

    Args:
        members: Columns by name: numbers, booleans, texts, dates, with missing values (None, NaN, NaT, blank text).
        nonmembers: The same columns of the other side.
        categories, leave_out, use: As for ``encode``.

    Raises:
        InputError: as for ``encode``.

    Example:
        >>> from estimators.audits.queries.table import encode_sides
        >>> sides = encode_sides({"age": [31, 47], "job": ["", ""]}, {"age": [20, 70], "job": ["cook", "nurse"]})
        >>> [(column.name, column.levels) for column in sides.columns]
        [('age', 4), ('job', 2)]
    """
    tables = {MEMBERS: members, NONMEMBERS: nonmembers}
    sizes = _sizes(tables)
    cautions: list[Caution] = []
    names = _names(tables, tuple(tables), [*categories, *leave_out, *use], leave_out, cautions)
    halves = _slices(sizes)
    rows, columns, compared, _ = _encoded(
        tables,
        sizes,
        names,
        categories,
        cautions,
        lambda name, column: _useless_for_sides(column, halves, name in use),
        lambda column: column.points([slice(None)], FEW_LEVELS, FEW_SHARED),
        lambda column: False,  # every column is also looked at by itself, with all its levels
        lambda column: column.compared(halves, None),
        LEFT_OF_SIDES,
    )
    on_both = np.all([(rows.values[half] >= 0).any(axis=0) for half in halves], axis=0)
    if on_both.any():  # by a column that one side lacks no row of it is equal to one of the other
        compared = {cut: codes[:, on_both] for cut, codes in compared.items()}
    rows = replace(rows, records=_most_equal(compared.values(), [halves[0]], halves[1]))
    ones, others = (rows.part(half) for half in halves)
    return Sides(ones, others, tuple(columns), len(names), (*about_sides(ones, others), *cautions))


def encode_points(members: Any, nonmembers: Any, synthetic: Any, reference: Any = None) -> Encoding:
    """Matrices of numbers as they are, such as pixels or hidden features, unscaled.

    Args:
        members: A record a row; flatten images first.
        nonmembers: The same of records that the release was not made from.
        synthetic: The released records.
        reference: Further records that belong to neither side.

    Example:
        >>> from estimators.audits.queries.table import encode_points
        >>> tables = encode_points([[0.0, 1.0]], [[2.0, 1.0]], [[0.0, 1.0], [5.0, 5.0]])
        >>> bool(tables.members.records[0] == tables.synthetic.records[0])
        True
    """
    tables = {MEMBERS: members, NONMEMBERS: nonmembers, SYNTHETIC: synthetic}
    if reference is not None:
        tables[REFERENCE] = reference
    points = [matrix(name, each) for name, each in tables.items()]
    for name, each in zip(tables, points, strict=True):
        if not len(each):
            raise TooFewRecords.about(name, "there are no rows; need at least one")
        if each.shape[1] != points[2].shape[1]:
            message = f"{name} has {each.shape[1]} columns and synthetic {points[2].shape[1]}: need as many"
            raise DimensionMismatch(message, field=name)
    every = np.concatenate(points)
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in every.T]).astype(np.int64)
    rows = Rows(every, codes, _records(codes), codes[:, :0])
    return _encoding(rows, [len(each) for each in points], [], [], {Cut.NEAREST: codes})


def _encoded(
    tables: Mapping[str, Table],
    sizes: Sequence[int],
    names: Sequence[str],
    categories: Sequence[str],
    cautions: list[Caution],
    useless: Callable[[str, MixedColumn], str | None],
    points_of: Callable[[MixedColumn], list[Floats]],
    has_many_levels: Callable[[MixedColumn], bool],
    compare: Callable[[MixedColumn], tuple[str, dict[Cut, Integers]]],
    words: Mapping[str, str],
) -> tuple[Rows, list[Column], dict[Cut, Integers], tuple[str, ...]]:
    """The rows of all tables, one after the other, the columns that are used, what is compared, and the identifiers."""
    columns: list[Column] = []
    points: list[Floats] = []
    values: list[Integers] = []
    rounded: list[dict[Cut, Integers]] = []
    identifiers: dict[str, Integers] = {}
    left: dict[str, list[str]] = {}
    for name in names:
        parts = [
            read_values(table, name, each[name], size)
            for (table, each), size in zip(tables.items(), sizes, strict=True)
        ]
        if name not in categories:
            _require_one_kind(name, list(tables), parts)
        column = join_values(name, parts, name in categories, cautions)
        for odd in () if name in categories else _odd_about(column, parts, sizes):
            left.setdefault(odd, []).append(name)
        reason = useless(name, column)
        if reason is not None:
            left.setdefault(reason, []).append(name)
            if reason == "identifiers":
                identifiers[name] = identifier_codes(column, parts)
            continue
        if has_many_levels(column):
            left.setdefault("many_levels", []).append(name)
        points += points_of(column)
        precision, codes_by_cut = compare(column)
        columns.append(Column(name, column.kind, column.distinct([slice(None)]), precision))
        values.append(column.codes)
        rounded.append(codes_by_cut)
    cautions += [Caution(code, words[code].format(_list(which))) for code, which in left.items()]
    if not columns:
        raise InputError(
            "no column can be used: " + "; ".join(caution.message for caution in cautions),
            field=list(tables)[-1] if len(tables) < 3 else SYNTHETIC,
        )
    cautions += _of_precision(columns)
    codes = np.column_stack(values)
    cuts = dict.fromkeys([Cut.NEAREST, *(cut for own in rounded for cut in own)])
    compared = {
        cut: np.column_stack(
            [own.get(cut, own.get(Cut.NEAREST, each)) for own, each in zip(rounded, values, strict=True)]
        )
        for cut in cuts
    }
    own = np.column_stack([*identifiers.values()]) if identifiers else codes[:, :0]
    rows = Rows(np.ascontiguousarray(np.column_stack(points)), codes, _records(codes), own)
    return rows, columns, compared, tuple(identifiers)


def _odd_about(column: MixedColumn, parts: Sequence[Values], sizes: Sequence[int]) -> Iterator[str]:
    """What speaks for a column that is not read as it is meant, though it may be used."""
    texts = [str(text) for part in parts if part.kind == "text" for text in part.values[~part.missing][:LOOKS]]
    if column.kind == "category" and texts and 2 * sum(map(spells_number, texts)) >= len(texts):
        yield "spelled_numbers"
    if len(sizes) < 3 or column.kind != "number":
        return
    _, start, end = np.cumsum(sizes[:3]).tolist()
    present = np.where(column.missing, np.nan, column.values.astype(np.float64))
    sides, released = (part[~np.isnan(part)] for part in (present[:start], present[start:end]))
    enough = min(sides.size, released.size) >= MIN_RECORDS
    if enough and (released.min() > sides.max() or released.max() < sides.min()):
        yield ELSEWHERE


def _of_precision(columns: Sequence[Column]) -> list[Caution]:
    """That some columns are compared with fewer digits than they have, and with how many."""
    by_precision: dict[str, list[str]] = {}
    for column in columns:
        if column.precision:
            by_precision.setdefault(column.precision, []).append(column.name)
    if not by_precision:
        return []
    which = "; ".join(f"at {precision} {_list(names)}" for precision, names in by_precision.items())
    return [
        Caution(
            "fewer_digits",
            f"one table is written with fewer digits than another, and rows are compared with as few: {which}",
        )
    ]


def _require_one_kind(name: str, tables: Sequence[str], parts: Sequence[Values]) -> None:
    """Refuse numbers in one table beside texts in another of which none is a number: no copy would be seen.

    Codes such as ``12`` and ``A3`` stand beside each other in every table that is large enough; what is written in
    another way, with a currency or a decimal comma, never does.
    """
    for kind, kinds in (("number", ("whole", "number")), ("date", ("date",))):
        plain = [table for table, part in zip(tables, parts, strict=True) if part.kind in kinds]
        odd = [
            table
            for table, part in zip(tables, parts, strict=True)
            if part.kind == "text" and as_digits(part) is part and not spells_any(part, kind)
        ]
        if plain and odd:
            raise InputError(
                f"column {name!r} holds {kind}s in {plain[0]} and texts in {odd[0]}, of which none is a {kind}: no row "
                "of the one could equal one of the other. Write it alike in all tables, or name it in `leave_out`, or "
                "in `categories` if these are names",
                field=odd[0],
            )


def _encoding(
    rows: Rows,
    sizes: Sequence[int],
    columns: Sequence[Column],
    cautions: Sequence[Caution],
    compared: Mapping[Cut, Integers],
) -> Encoding:
    """The rows of all tables, one after the other, each in its own; with what they say of each other."""
    every = _slices(sizes)
    of_sides = about_sides(rows.part(every[0]), rows.part(every[1]))
    rows = replace(rows, records=_most_equal(compared.values(), every[:2], every[2]))
    members, nonmembers, synthetic, *further = (rows.part(which) for which in every)
    reference = further[0] if further else None
    odd = (*of_sides, *_about_release(members, nonmembers, synthetic, reference))
    return Encoding(members, nonmembers, synthetic, reference, tuple(columns), (*odd, *cautions))


def _slices(sizes: Sequence[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]


LEFT = {
    "empty_columns": "left out, for one of the tables has no value there: {}",
    "constant_columns": "left out, for the released table and the reference have one value only: {}",
    "identifiers": (
        "left out, for nearly every row has a value of its own, as an identifier has: {}; name it in `use` if it "
        "measures something"
    ),
    "spelled_numbers": (
        "read as names, though most of its texts spell numbers: {}; write them with a decimal point and nothing around "
        "them, or name it in `categories`"
    ),
    ELSEWHERE: (
        "every released value lies beyond all of the training and hold-out rows, so that no copy is seen: {}; write "
        "all tables in one unit, or leave it out"
    ),
    "many_levels": (
        f"more than {LEVELS} levels: {{}}; the rarer ones share {SHARED_LEVELS} places, and two of them may count "
        "as near; copies and rare values are still told apart"
    ),
}

LEFT_OF_SIDES = LEFT | {
    "empty_columns": "left out, for neither side has a value there: {}",
    "constant_columns": "left out, for both sides have one and the same value only: {}",
}


def _sizes(tables: Mapping[str, Table]) -> list[int]:
    return [_size(table, columns) for table, columns in tables.items()]


def _size(table: str, columns: Any) -> int:
    if not hasattr(columns, "items"):
        raise InputError.about(table, f"got {type(columns).__name__}, need columns by name")
    sizes = {str(name): len(np.atleast_1d(np.asarray(column, dtype=object))) for name, column in columns.items()}
    if not sizes:
        raise InputError.about(table, "there are no columns")
    if len(set(sizes.values())) > 1:
        short, long = min(sizes, key=lambda name: sizes[name]), max(sizes, key=lambda name: sizes[name])
        message = f"column {short!r} has {sizes[short]} rows and {long!r} {sizes[long]}: need as many in each"
        raise RaggedRows.about(table, message)
    size = next(iter(sizes.values()))
    if not size:
        raise TooFewRecords.about(table, "there are no rows; need at least one")
    return size


def _names(
    tables: Mapping[str, Table],
    order: Sequence[str],
    options: Sequence[str],
    leave_out: Sequence[str],
    cautions: list[Caution],
) -> list[str]:
    """Columns that every table has, in the order of the first of ``order``."""
    every = list(dict.fromkeys(name for table in order for name in tables[table]))
    for name in options:
        if name not in every:
            message = f"column {name!r} is in no table; the columns are {_list(every)}"
            raise InputError(message, field="columns")
    shared = [name for name in every if all(name in table for table in tables.values())]
    absent = [name for name in every if name not in shared and name not in leave_out]
    if not shared:
        joined = [table for table, columns in tables.items() if len(columns) == 1 < max(map(len, tables.values()))]
        raise InputError(
            "the tables have no column in common; need the same names in all: "
            + "; ".join(f"{table} has {_list(list(columns))}" for table, columns in tables.items())
            + (
                f"; {joined[0]} has one column: are its values separated by commas, semicolons or tabs?"
                if joined
                else ""
            ),
            field=order[-1] if len(tables) < 3 else SYNTHETIC,
        )
    if absent:
        words = f"left out, for not every table has them: {_list(absent)}; rename or add them"
        cautions.append(Caution("columns_differ", words))
    return [name for name in shared if name not in leave_out]


def _list(names: Sequence[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name))[:60] for name in names[:most]) + more


def _useless(column: MixedColumn, sides: Sequence[slice], keep: bool) -> str | None:
    """Why a column is left out; None if it is used."""
    if any(column.missing[side].all() for side in sides):
        return "empty_columns"
    if len({code for side in sides[2:] for code in np.unique(column.codes[side]).tolist()}) == 1:
        return "constant_columns"
    return _identifies(column, sides, keep)


def _useless_for_sides(column: MixedColumn, sides: Sequence[slice], keep: bool) -> str | None:
    """The same where there is no released table: a value that only one side lacks is a difference."""
    if column.missing.all():
        return "empty_columns"
    if column.constant:
        return "constant_columns"
    return _identifies(column, sides, keep)


def _identifies(column: MixedColumn, sides: Sequence[slice], keep: bool) -> str | None:
    """Whether nearly every row of either side has a value of its own, which measures nothing."""
    if column.continuous or keep:
        return None
    for side in sides[:2]:
        codes = column.codes[side]
        if len(codes) < FEWEST_ROWS or len(np.unique(codes[codes >= 0])) < NEARLY_ALL * len(codes):
            return None
    return "identifiers"


def _records(codes: Integers) -> Integers:
    """A number for each row that is the same where all columns are."""
    records = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:
        _, records = np.unique(records * (int(column.max()) + 2) + column + 1, return_inverse=True)
        records = records.astype(np.int64)
    return records


def _most_equal(ways: Iterable[Integers], sides: Sequence[slice], released: slice) -> Integers:
    """Records by the way to cut digits off that finds most rows of all sides in the released table.

    That asks of no row on which side it stands, so that rows of both sides can be exchanged as before.
    """
    every = [_records(codes) for codes in ways]
    if len(every) == 1:
        return every[0]
    return max(every, key=lambda records: sum(np.isin(records[side], records[released]).sum() for side in sides))


def about_sides(members: Rows, nonmembers: Rows) -> list[Caution]:
    """Records of the sides that stand where they should not: on both, or more than once on one."""
    cautions = []
    within, across = _pairs(members, nonmembers)
    if _beyond_chance(across, within):
        shared = int(np.isin(members.records, nonmembers.records).sum())
        message = (
            f"{shared} rows of the members stand among the nonmembers, too: nothing tells these apart, and they "
            "hide a leak; if they are the same records, leave them out of both sides"
        )
        cautions.append(Caution("shared_rows", message))
    if _beyond_chance(within, across):
        repeated = [len(side) - len(np.unique(side.records)) for side in (members, nonmembers)]
        counts = " and ".join(
            f"{count} of the {name}" for count, name in zip(repeated, (MEMBERS, NONMEMBERS), strict=True) if count
        )
        message = (
            f"{counts} repeat a row of their table; if they are the same records, give each once: intervals are "
            "for independent records"
        )
        cautions.append(Caution("repeated_rows", message))
    return cautions


def require_two_sides(members: Rows, nonmembers: Rows) -> None:
    """Refuse one table as both sides, far as that is from chance: nothing would be found, whatever leaks."""
    within, across = _pairs(members, nonmembers)
    same = np.array_equal(np.sort(members.records), np.sort(nonmembers.records))
    if same and _beyond_chance(across, within):
        raise InputError.about(
            NONMEMBERS,
            "these are the training rows, row for row: nothing tells them apart, whatever leaks; give "
            "rows that were held out",
        )


def rows_repeat(members: Rows, nonmembers: Rows) -> bool:
    """Whether rows repeat within a side far more often than chance makes, by how often they stand on both."""
    return _beyond_chance(*_pairs(members, nonmembers))


def _pairs(members: Rows, nonmembers: Rows) -> tuple[float, float]:
    """Pairs of equal rows within a side, and across; the former as a share of what there could be, times the latter's.

    Chance makes both equal, whatever the sizes of the sides and however often a row occurs.
    """
    n1, n0 = len(members), len(nonmembers)
    most = 1 + max(int(side.records.max()) for side in (members, nonmembers))
    a, b = (np.bincount(side.records, minlength=most).astype(np.float64) for side in (members, nonmembers))
    within = float((a * (a - 1.0) + b * (b - 1.0)).sum()) / 2.0
    across = float((a * b).sum())
    room = n1 * (n1 - 1.0) / 2.0 + n0 * (n0 - 1.0) / 2.0
    return within * n1 * n0 / max(room, 1.0), across


def _about_release(members: Rows, nonmembers: Rows, synthetic: Rows, reference: Rows | None) -> list[Caution]:
    """Records of the released table and of the reference that stand where they should not."""
    cautions = []
    for name, side in ((MEMBERS, members), (NONMEMBERS, nonmembers)):
        if np.array_equal(np.sort(side.records), np.sort(synthetic.records)):
            then = "every member is published" if name == MEMBERS else "nothing of the members is released"
            message = f"the released table is the table of {name}, row for row; is it the right file? If it is, {then}"
            cautions.append(Caution(PUBLISHED if name == MEMBERS else "synthetic_is_nonmembers", message))
    if reference is not None and np.array_equal(np.sort(reference.records), np.sort(synthetic.records)):
        message = (
            "the reference is the released table, row for row: queries that compare the two see nothing; give rows "
            "of neither side, or none"
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
