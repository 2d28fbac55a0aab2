"""Columns that an audit leaves out, and the words for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from estimators.audits.queries.column import LEVELS, SHARED_LEVELS, MixedColumn
from estimators.audits.queries.rows import SYNTHETIC
from estimators.decisions.verdict import ELSEWHERE
from estimators.errors import InputError
from estimators.statement import Caution

NEARLY_ALL = 0.98
"""A column with so large a share of different values, and no continuous one, is an identifier."""

FEWEST_ROWS = 50  # in fewer rows nobody can tell an identifier from a column that happens not to repeat
LEFT = {
    "empty_columns": "left out, for one of the tables has no value there: {}",
    "constant_columns": "left out, for the released table and the reference have one value only: {}",
    "identifiers": (
        "left out, for nearly every row has a value of its own, as an identifier has: {}; name it in `use` if it "
        "measures something"
    ),
    ELSEWHERE: (
        "no released value lies among those of the training and hold-out rows, so that no copy is seen: {}; write all "
        "tables in one unit and one spelling, or leave it out"
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


def useless(column: MixedColumn, sides: Sequence[slice], keep: bool) -> str | None:
    """Why a column is left out; None if it is used."""
    if any(column.missing[side].all() for side in sides):
        return "empty_columns"
    if len({code for side in sides[2:] for code in np.unique(column.codes[side]).tolist()}) == 1:
        return "constant_columns"
    return _identifies(column, sides, keep)


def useless_for_sides(column: MixedColumn, sides: Sequence[slice], keep: bool) -> str | None:
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


def names_in_all(
    tables: Mapping[str, Mapping[str, Any]],
    order: Sequence[str],
    options: Sequence[str],
    leave_out: Sequence[str],
    cautions: list[Caution],
) -> list[str]:
    """Columns that every table has, in the order of the first of ``order``."""
    every = list(dict.fromkeys(name for table in order for name in tables[table]))
    for name in options:
        if name not in every:
            message = f"column {name!r} is in no table; the columns are {names_in_words(every)}"
            raise InputError(message, field="columns")
    shared = [name for name in every if all(name in table for table in tables.values())]
    absent = [name for name in every if name not in shared and name not in leave_out]
    if not shared:
        of_one_column = [
            table for table, columns in tables.items() if len(columns) == 1 < max(map(len, tables.values()))
        ]
        raise InputError(
            "the tables have no column in common; need the same names in all: "
            + "; ".join(f"{table} has {names_in_words(list(columns))}" for table, columns in tables.items())
            + (
                f"; {of_one_column[0]} has one column: are its values separated by commas, semicolons or tabs?"
                if of_one_column
                else ""
            ),
            field=order[-1] if len(tables) < 3 else SYNTHETIC,
        )
    if absent:
        words = f"left out, for not every table has them: {names_in_words(absent)}; rename or add them"
        cautions.append(Caution("columns_differ", words))
    return [name for name in shared if name not in leave_out]


def names_in_words(names: Sequence[str], most: int = 12) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name))[:60] for name in names[:most]) + more
