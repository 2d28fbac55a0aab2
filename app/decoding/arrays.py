"""The arrays that a question of theory is asked of, checked: numbers of 64 bits, in rows or not, or a list of text.

Each array is what the question's schema says of it, however it came; a table's column, or an array of one dimension,
is rows of one number where only rows are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from app.decoding.columns import or_infinite
from app.decoding.fields import Chosen, Fields
from app.decoding.material import Column, Material
from app.decoding.options import options
from app.decoding.table import Table, material, stacked
from estimators.errors import DimensionMismatch, InputError, NotFinite, TooFewRecords
from macekit.call import Call
from macekit.problems import Problem
from macekit.schemas.query import SIDED, kinds, required
from macekit.schemas.theory import ARRAYS


def held(table: Table, chosen: Chosen, call: Call, limit: int) -> Material:
    """A whole table as the material of the question."""
    if not isinstance(chosen, Fields):
        return material(table, chosen, call, limit)
    arrays = {name: _array(table, places, name, limit) for name, places in chosen.places.items()}
    return Material(arrays=_in_rows(arrays, call.operation), options=options(call), textual=True)


def of_one(array: NDArray[Any], call: Call, limit: int) -> Material:
    """An array without names: the first that the question takes."""
    main = ARRAYS[call.operation][0]
    if array.ndim not in (1, 2):
        raise DimensionMismatch(f"{main}: the array has {array.ndim} dimensions; need one or two", field=main)
    arrays = {main: array}
    if 8 * array.size > limit:
        raise Problem("too-large", f"{main}: the array takes more than {limit} bytes", field=main)
    return Material(arrays=_in_rows(arrays, call.operation), options=options(call), textual=True)


def settled(operation: str, found: Material) -> Material:
    """The same material, its arrays as the library takes them; two sides become the two arrays they stand for."""
    arrays: Mapping[str, Column | None] = found.arrays
    if operation in SIDED and "" in found.samples:
        sample = found.samples[""]
        arrays = dict(zip(SIDED[operation], (sample.members, sample.nonmembers), strict=True))
    missing = next((name for name in required(operation) if arrays.get(name) is None), None)
    if missing is not None:
        raise Problem("missing-field", f"{missing}: is needed and not there", field=missing)
    return replace(
        found,
        samples={},
        rows=None,
        arrays={
            name: _checked(column, operation, name) for name, column in arrays.items() if column is not None
        },
    )


def _array(table: Table, places: tuple[int, ...], name: str, limit: int) -> NDArray[Any]:
    """A column, which may hold rows, or several columns side by side."""
    first = table.columns[places[0]]
    if len(places) == 1 and isinstance(first, np.ndarray) and first.ndim == 2:
        return first
    return stacked(table, places, name, limit)


def _in_rows(arrays: Mapping[str, NDArray[Any]], operation: str) -> dict[str, Column]:
    """Arrays of one dimension as columns of a table where only rows are taken."""
    return {
        name: array[:, None] if array.ndim == 1 and kinds(operation, name) == {"rows"} else array
        for name, array in arrays.items()
    }


def _checked(column: Column, operation: str, field: str) -> Column:
    if not len(column):
        raise TooFewRecords(f"{field}: got none, need at least one", field=field)
    taken, kind = kinds(operation, field), _kind(column, field)
    if kind not in taken and not (kind == "booleans" and "text" in taken):
        raise Problem("wrong-type", f"{field}: got {kind}, need {' or '.join(sorted(taken))}", field=field)
    if kind == "booleans":
        return ["true" if value else "false" for value in column]
    if kind == "text":
        return column.tolist() if isinstance(column, np.ndarray) else column
    return _numbers(np.asarray(column), field, "text" in taken)


def _kind(column: Column, field: str) -> str:
    """What a column holds."""
    if isinstance(column, list):
        return "booleans" if isinstance(column[0], bool) else "text"
    if column.dtype.kind not in "biufOU":
        raise InputError(f"{field}: an array of this type cannot be used; need numbers or text", field=field)
    if column.ndim == 2:
        return "rows" if column.dtype.kind in "biuf" else "rows of text"
    return {"b": "booleans", "U": "text"}.get(column.dtype.kind, "numbers")


def _numbers(array: NDArray[Any], field: str, named: bool) -> Column:
    """Numbers of 64 bits, in rows always floats; whole ones beyond that as text where they are but names."""
    if array.ndim == 2 and not array.shape[1]:
        raise DimensionMismatch(f"{field}: rows are empty, need at least one number in each", field=field)
    if array.ndim == 1 and array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    if array.ndim == 1 and array.dtype.kind in "uO":
        if array.dtype.kind == "u" and int(array.max()) < 2**63:
            return array.astype(np.int64)
        if named:
            return [str(value) for value in array.tolist()]
        array = np.array([or_infinite(value) for value in array.tolist()])
    with np.errstate(over="ignore", invalid="ignore"):
        floats = cast("NDArray[np.float64]", np.ascontiguousarray(array, dtype=np.float64))
        if np.isfinite(np.sum(floats)):  # one pass: what is not finite would show in the sum
            return floats
    finite = np.isfinite(floats) if floats.ndim == 1 else np.isfinite(floats).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise NotFinite(f"{field}: row {row} is NaN or infinite", field=field, index=row)
    return floats
