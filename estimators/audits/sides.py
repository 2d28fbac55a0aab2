"""Columns of both sides that are no features: groups, and whom each row belongs to."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.audits.queries.table import Table
from estimators.audits.queries.values import as_texts, read_values, take_rows
from estimators.errors import DimensionMismatch, InputError
from estimators.sample.scores import labels_of, one_per_unit
from estimators.statement import Caution

NO_LABEL = "(none)"
"""The label of rows that have none."""


def rows_of(table: Table) -> int:
    """How many rows a table has.

    Args:
        table: Columns by name.
    """
    return len(next(iter(table.values()), ()))


def part(table: Table, rows: NDArray[np.intp]) -> Table:
    """Some rows of a table.

    Args:
        table: Columns by name.
        rows: Their places.
    """
    return {name: take_rows(column, rows) for name, column in table.items()}


def labels_of_sides(groups: str | ArrayLike, train: Table, holdout: Table) -> NDArray[np.generic]:
    """A label for each row of both sides, those of ``train`` first.

    Args:
        groups: The column of both sides that holds them; or the labels themselves.
        train: Columns by name of the one side.
        holdout: Columns by name of the other.

    Raises:
        InputError: a side has no such column.
        DimensionMismatch: not a label for each row.
    """
    if isinstance(groups, str):
        sides = (("members", train), ("nonmembers", holdout))
        labels = np.concatenate([_labels("groups", groups, table, name) for name, table in sides])
        return np.where(labels == "", NO_LABEL, labels)
    labels = labels_of(groups, "groups")
    rows = rows_of(train) + rows_of(holdout)
    if len(labels) != rows:
        raise DimensionMismatch(f"groups: got {len(labels)} labels for {rows} rows", field="groups")
    return labels


def one_row_each(
    unit: str, train: Table, holdout: Table, seed: int = 0
) -> tuple[list[NDArray[np.intp]], list[Caution]]:
    """Places that keep one row of each person of a side, and a word on persons who stand on both.

    Args:
        unit: The column of both sides that says whom a row belongs to.
        train: Columns by name of the one side.
        holdout: Columns by name of the other.
        seed: Whole number from which the rows are drawn.

    Raises:
        InputError: a side has no such column, or it says nothing in some row.
    """
    sides = [
        _labels("unit", unit, table, name) for table, name in ((train, "members"), (holdout, "nonmembers"))
    ]
    for labels, name in zip(sides, ("members", "nonmembers"), strict=True):
        if (labels == "").any():
            row = int(np.argmax(labels == ""))
            raise InputError(
                f"unit: row {row} of {name} says nothing in column {unit!r}; need whom each row belongs to",
                field="unit",
                index=row,
            )
    shared = len(np.intersect1d(sides[0], sides[1]))
    cautions = [
        Caution(
            "shared_units",
            f"{shared} of {unit!r} have rows on both sides: they are no nonmembers, and hide a leak; keep all rows "
            "of one on one side",
        )
    ]
    return (
        [one_per_unit(np.arange(len(labels)), labels, seed) for labels in sides],
        cautions if shared else [],
    )


def _labels(what: str, column: str, table: Table, name: str) -> NDArray[np.str_]:
    """A column of labels as texts, empty where there is none."""
    if column not in table:
        raise InputError(f"{what}: {name} has no column {column!r}", field=what)
    size = len(table[column])
    return as_texts(read_values(name, column, table[column], size)).values.astype(np.str_)
