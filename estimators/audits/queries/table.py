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

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.audits.queries.column import LEVELS, Column, MixedColumn, identifier_codes, join_values
from estimators.audits.queries.left_out import (
    LEFT,
    LEFT_OF_SIDES,
    names_in_all,
    names_in_words,
    useless,
    useless_for_sides,
)
from estimators.audits.queries.neighbours import matrix
from estimators.audits.queries.precision import Cut
from estimators.audits.queries.rows import (
    MEMBERS,
    NONMEMBERS,
    REFERENCE,
    SYNTHETIC,
    Rows,
    about_release,
    about_sides,
    equal_but_for_one,
    most_equal,
    records_of,
)
from estimators.audits.queries.values import Values, as_digits, read_values, require_names, spells_any
from estimators.decisions.verdict import ELSEWHERE
from estimators.errors import DimensionMismatch, InputError, RaggedRows, TooFewRecords
from estimators.python.dataclass import dataclass, replace
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution

Table = Mapping[str, Any]

FEW_LEVELS, FEW_SHARED = 16, 8
"""The same where both sides are learned from, and nothing is near or far: levels with a place, and places to share."""


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
    names = names_in_all(tables, (SYNTHETIC, *tables), [*categories, *leave_out, *use], leave_out, cautions)
    every = _slices(sizes)
    rows, columns, compared, identifiers = _encoded(
        tables,
        sizes,
        names,
        categories,
        cautions,
        lambda name, column: useless(column, every, name in use),
        lambda column: column.points(every[2:]),
        lambda column: column.kind == "category" and column.distinct(every[2:]) > LEVELS,
        lambda column: column.compared(every[:2], every[2]),
        LEFT,
    )
    left_out = {*members} - {column.name for column in columns}
    in_words = names_in_words([column.name for column in columns]) if left_out else ""
    return replace(_encoding(rows, sizes, columns, cautions, compared, in_words), identifiers=identifiers)


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
    names = names_in_all(tables, tuple(tables), [*categories, *leave_out, *use], leave_out, cautions)
    halves = _slices(sizes)
    rows, columns, compared, _ = _encoded(
        tables,
        sizes,
        names,
        categories,
        cautions,
        lambda name, column: useless_for_sides(column, halves, name in use),
        lambda column: column.points([slice(None)], FEW_LEVELS, FEW_SHARED),
        lambda column: False,  # every column is also looked at by itself, with all its levels
        lambda column: column.compared(halves, None),
        LEFT_OF_SIDES,
    )
    on_both = np.all([(rows.values[half] >= 0).any(axis=0) for half in halves], axis=0)
    if on_both.any():  # by a column that one side lacks no row of it is equal to one of the other
        compared = {cut: codes[:, on_both] for cut, codes in compared.items()}
    rows = replace(rows, records=records_of(most_equal(compared.values(), [halves[0]], halves[1])))
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
    rows = Rows(every, codes, records_of(codes), codes[:, :0], np.zeros(len(codes), dtype=np.bool_))
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
        if column.kind == "category" and name not in categories:
            require_names(name, list(tables), parts)
        reason = useless(name, column)
        if reason is not None:
            left.setdefault(reason, []).append(name)
            if reason == "identifiers":
                identifiers[name] = identifier_codes(column, parts)
            continue
        if _lies_elsewhere(column, sizes):
            left.setdefault(ELSEWHERE, []).append(name)
        if has_many_levels(column):
            left.setdefault("many_levels", []).append(name)
        points += points_of(column)
        precision, codes_by_cut = compare(column)
        columns.append(Column(name, column.kind, column.distinct([slice(None)]), precision))
        values.append(column.codes)
        rounded.append(codes_by_cut)
    cautions += [Caution(code, words[code].format(names_in_words(which))) for code, which in left.items()]
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
    none = np.zeros(len(codes), dtype=np.bool_)
    rows = Rows(np.ascontiguousarray(np.column_stack(points)), codes, records_of(codes), own, none)
    return rows, columns, compared, tuple(identifiers)


def _lies_elsewhere(column: MixedColumn, sizes: Sequence[int]) -> bool:
    """Whether every released number or date lies beyond all of both sides, or every released name is none of theirs.

    Names of whom or what a row is differ from row to row, so they say nothing: most rows of either side must have a
    name that stands on the other side, too.
    """
    if len(sizes) < 3:
        return False
    between, start, end = np.cumsum(sizes[:3]).tolist()
    if column.kind == "category":
        members, nonmembers, released = (part[part >= 0] for part in np.split(column.codes[:end], (between, start)))
        if min(members.size, nonmembers.size, released.size) < MIN_RECORDS:
            return False
        shared = min(np.isin(members, nonmembers).mean(), np.isin(nonmembers, members).mean())
        return bool(shared >= 0.5 and not np.isin(released, members).any() and not np.isin(released, nonmembers).any())
    present = np.where(column.missing, np.nan, column.values.astype(np.float64))
    sides, released = (part[~np.isnan(part)] for part in (present[:start], present[start:end]))
    enough = min(sides.size, released.size) >= MIN_RECORDS
    return enough and bool(released.min() > sides.max() or released.max() < sides.min())


def _of_precision(columns: Sequence[Column]) -> list[Caution]:
    """That some columns are compared with fewer digits than they have, and with how many."""
    by_precision: dict[str, list[str]] = {}
    for column in columns:
        if column.precision:
            by_precision.setdefault(column.precision, []).append(column.name)
    if not by_precision:
        return []
    which = "; ".join(f"at {precision} {names_in_words(names)}" for precision, names in by_precision.items())
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
    numbers, dates = (
        [table for table, part in zip(tables, parts, strict=True) if part.kind in kinds]
        for kinds in (("whole", "number"), ("date",))
    )
    if numbers and dates:
        raise InputError(
            f"column {name!r} holds numbers in {numbers[0]} and dates in {dates[0]}: no row of the one could equal one "
            "of the other. Write it alike in all tables, or name it in `leave_out`",
            field=dates[0],
        )
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
    in_words: str = "",
) -> Encoding:
    """The rows of all tables, one after the other, each in its own; with what they say of each other.

    ``in_words`` names the columns that are compared, if others were left out.
    """
    every = _slices(sizes)
    of_sides = about_sides(rows.part(every[0]), rows.part(every[1]))
    codes = most_equal(compared.values(), every[:2], every[2])
    rows = replace(rows, records=records_of(codes), but_one=equal_but_for_one(codes, every[2]))
    members, nonmembers, synthetic, *further = (rows.part(which) for which in every)
    reference = further[0] if further else None
    odd = (*of_sides, *about_release(members, nonmembers, synthetic, reference, in_words))
    return Encoding(members, nonmembers, synthetic, reference, tuple(columns), (*odd, *cautions))


def _slices(sizes: Sequence[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]


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
