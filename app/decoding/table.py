"""From the columns of a table to both sides of a sample: who is a member stands in a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.decoding.labels import Labels
from app.decoding.material import Column, Material, Sample
from app.decoding.options import options
from app.decoding.roles import Roles
from estimators.errors import InputError, MixedTypes, NotFinite
from macekit.call import Call
from macekit.problems import Problem

MEMBERS = frozenset({"member", "in", "true", "1", "1.0", "yes"})
NONMEMBERS = frozenset({"nonmember", "out", "false", "0", "0.0", "no"})
Values = NDArray[np.generic] | Labels


@dataclass(frozen=True, slots=True)
class Table:
    """The columns in use by their place, and the number of the first row among all."""

    columns: Mapping[int, Values]
    start: int = 0


def material(table: Table, roles: Roles, call: Call, limit: int) -> Material:
    """A whole table as material."""
    member = _membership(table, roles)
    rows = np.concatenate([np.flatnonzero(member), np.flatnonzero(~member)])
    cut = int(member.sum())

    def sample(scores: NDArray[np.generic]) -> Sample:
        ordered = scores[rows]
        return Sample(ordered[:cut], ordered[cut:])

    if roles.queries:
        columns = zip(roles.queries, roles.scores, strict=True)
        samples = {name: sample(stacked(table, (at,), "score", limit)) for name, at in columns}
    else:
        samples = {"": sample(stacked(table, roles.scores, "score", limit))}
    return Material(
        samples,
        options(call),
        textual=True,
        groups=_labels(table, roles.group, "group", rows, limit),
        units=_labels(table, roles.unit, "unit", rows, limit),
        rows=rows,
    )


def sides(table: Table, roles: Roles, limit: int) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Members and nonmembers of one block."""
    member, scores = _membership(table, roles), stacked(table, roles.scores, "score", limit)
    return scores[member], scores[~member]


def _membership(table: Table, roles: Roles) -> NDArray[np.bool_]:
    column = table.columns[roles.member]
    if isinstance(column, Labels):
        words = [text.strip().lower() if text is not None else None for text in column.texts]
        yes = np.array([word in MEMBERS for word in words], dtype=np.bool_)
        no = np.array([word in NONMEMBERS for word in words], dtype=np.bool_)
        bad = column.first(~(yes | no))
        if bad is None:
            return yes[column.codes] if words else np.zeros(0, np.bool_)
    elif column.dtype.kind == "b":
        return column.astype(np.bool_, copy=False)
    else:
        is_member = column == 1
        known = is_member | (column == 0)
        if known.all():
            return np.asarray(is_member, dtype=np.bool_)
        bad = int(np.argmin(known))
    row = table.start + bad
    raise Problem(
        "bad-records",
        f"member: row {row} is none of 1/0, true/false, yes/no, in/out, member/nonmember",
        field="member",
        index=row,
    )


def stacked(table: Table, places: tuple[int, ...], what: str, limit: int) -> NDArray[np.generic]:
    """One column, or several as rows of numbers."""
    found = []
    for place in places:
        column = table.columns[place]
        if isinstance(column, Labels):
            if len(places) > 1:
                raise MixedTypes(
                    f"{what}: column {place} is text; several columns need to be numbers",
                    field=what,
                )
            return column.array(what, table.start, limit)
        found.append(plain(column, what, table.start))
    if len(found) == 1:
        return found[0]
    if 8 * len(found) * len(found[0]) > limit:
        raise Problem(
            "too-large", f"{what}: {len(found)} columns of {len(found[0])} rows take too much memory"
        )
    return np.column_stack([column.astype(np.float64, copy=False) for column in found])


def _labels(table: Table, place: int | None, what: str, rows: NDArray[np.int64], limit: int) -> Column | None:
    if place is None:
        return None
    column = table.columns[place]
    if isinstance(column, Labels):
        return column.array(what, table.start, limit)[rows]
    return plain(column, what, table.start)[rows]


def plain(column: NDArray[np.generic], what: str, start: int) -> NDArray[np.generic]:
    """The same column, if it holds finite numbers or booleans, one a row."""
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise InputError(f"{what}: a column of this type cannot be used; need numbers or text", field=what)
    if column.dtype.kind != "f":
        return column
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(
            np.sum(column, dtype=np.float64)
        ):  # one pass: what is not finite would show in the sum
            return column
        finite = np.isfinite(column.astype(np.float64, copy=False))
    if not finite.all():
        row = start + int(np.argmin(finite))
        raise NotFinite(f"{what}: row {row} is NaN or infinite", field=what, index=row)
    return column
