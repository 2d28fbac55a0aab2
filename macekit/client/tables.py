"""A frame as material: its columns found by name, its rows sorted into both sides, by the decoder of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macekit.client.columns import arrow_of, column

if TYPE_CHECKING:
    from macekit.decoding.body import Column, Material, Sample
    from macekit.decoding.table import Values

LIMIT = 2**40
"""Bytes a table of one's own may grow to."""

ALONE = frozenset({"member", "group", "unit"})
"""What is one column, and never several."""

Named = tuple[list[str], Callable[[int], object]]
"""The names of the columns, and each column by its place."""


def is_table(value: object) -> bool:
    """Whether a value holds several columns: a mapping, fields with names, or a frame of any library."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.names)
    if isinstance(value, Mapping) or hasattr(type(value), "columns"):  # a lazy frame's own would be computed
        return True
    return hasattr(value, "__arrow_c_stream__") and not hasattr(value, "to_numpy")


def material(operation: str, frame: object, roles: Mapping[str, object]) -> Material:
    """The material of a frame; ``roles`` names its columns where they have not their usual names."""
    from macekit.call import Call
    from macekit.decoding.roles import choice
    from macekit.decoding.table import Table, held

    names, of = _named(frame)
    call = Call(operation, query=query(roles))
    chosen = choice(names, call)
    columns = {at: _values(of(at), chosen.what[at]) for at in chosen.used}
    _require_alike(columns, chosen.what)
    found = held(Table(columns), chosen, call, LIMIT)
    return replace(found, samples={name: _as_sent(sample) for name, sample in found.samples.items()})


def matrix(values: object, where: str) -> Column:
    """One array: a column, rows of numbers, or every column of a frame side by side."""
    from estimators.errors import MixedTypes

    if not is_table(values):
        return column(values, where)
    names, of = _named(values)
    columns = [column(of(at), where) for at in range(len(names))]
    if not all(
        isinstance(each, np.ndarray) and each.dtype.kind in "iuf" and each.ndim == 1 for each in columns
    ):
        raise MixedTypes(f"{where}: not every column of the table is of numbers", field=where)
    return np.column_stack([np.asarray(each, np.float64) for each in columns]) if columns else []


def query(roles: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
    """Names of columns as the service's query string has them."""
    from macekit.problems import Problem

    pairs = []
    for role, name in roles.items():
        several = role not in ALONE
        given = list(name) if several and isinstance(name, list | tuple) else [name]
        names = [each for each in given if isinstance(each, str)]
        if len(names) < len(given):
            raise Problem("wrong-type", f"{role}: names a column of a table; need text", field=role)
        if several and any("," in each for each in names):
            told = "a comma cannot stand in a name; several columns go in a list"
            raise Problem("bad-option", f"{role}: {told}", field=role)
        pairs.append((role, ",".join(names)))
    return tuple(pairs)


def _named(frame: Any) -> Named:
    """The columns of a frame, each fetched only if it is used."""
    from macekit.problems import Problem

    if isinstance(frame, np.ndarray):
        fields = list(frame.dtype.names or ())
        return fields, lambda at: frame[fields[at]]
    if isinstance(frame, Mapping):
        columns = list(frame.values())
        return [str(name) for name in frame], lambda at: columns[at]
    if hasattr(frame, "iloc"):
        return [str(name) for name in frame.columns], lambda at: frame.iloc[:, at]
    if hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__"):
        import pyarrow as pa

        table = pa.table(frame)
        return list(table.column_names), table.column
    got = type(frame).__name__
    raise Problem("wrong-type", f"{got} is no table that can be read here; collect it, or hand over Arrow")


def _values(given: object, what: str) -> Values:
    """A column as the decoder of tables has it: text as labels."""
    from macekit.decoding.typed import labels, values_of

    numpy_backed = isinstance(getattr(given, "dtype", None), np.dtype)
    if not numpy_backed and (arrow := arrow_of(given)) is not None:
        return values_of(arrow, what, 0)
    found = column(given, what)
    if isinstance(found, np.ndarray) and found.dtype.kind not in "OU":
        return found
    if isinstance(found, list) and isinstance(found[0], bool):
        return np.asarray(found)
    import pyarrow as pa

    return labels(pa.array(found, pa.large_string()))


def _require_alike(columns: Mapping[int, Values], what: Mapping[int, str]) -> None:
    from macekit.problems import Problem

    first, *others = columns
    for at in others:
        if len(columns[at]) != len(columns[first]):
            raise Problem(
                "dimension-mismatch",
                f"{what[at]}: got {len(columns[at])} rows, {what[first]} has {len(columns[first])}",
                field=what[at],
            )


def _as_sent(sample: Sample) -> Sample:
    """Each side as it would be had it come by itself."""
    return replace(
        sample, members=column(sample.members, "members"), nonmembers=column(sample.nonmembers, "nonmembers")
    )
