"""From scores asked about to the cells they fall in, and whether the sample reached that far.

Intervals and boxes are open to infinity, but the sample says nothing about scores beyond those it
has; and a category never sampled has no cell. Both are *unknown* (cell -1), never extrapolated.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers, is_masked
from estimators.errors import DimensionMismatch, InputError, MixedTypes, NotFinite, RaggedRows, TooFewRecords
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Boxes, Categories, Cells, Lattice
from estimators.sample.counts import Counts
from estimators.sample.grid import Grid
from estimators.sample.integers import as_64_bit, as_text, exact_array, or_infinite
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import Query, Scores

WHOLE = re.compile(r"-?[0-9]+")
"""A label of integers that 64 bits do not hold."""


@dataclass(frozen=True, eq=False)
class SampleRange:
    """Least and greatest score of the sample along each axis."""

    low: Floats
    high: Floats

    @classmethod
    def of(cls, data: Scores | Counts) -> SampleRange | None:
        """What the data reach; None where they do not tell (categories, counts on open intervals)."""
        if isinstance(data, Counts):
            if isinstance(data.cells, Lattice):
                return cls(np.atleast_1d(data.cells.low), np.atleast_1d(data.cells.high))
            if isinstance(data.cells, Grid):
                low, high = data.cells.lower_edges[:1], data.cells.upper_edges[-1:]
                return cls(low, np.nextafter(high, -np.inf))
            return None
        if data.query is Query.DISCRETE:
            return None
        a, b = np.asarray(data.members, dtype=np.float64), np.asarray(data.nonmembers, dtype=np.float64)
        return cls(
            np.atleast_1d(np.minimum(a.min(axis=0), b.min(axis=0))),
            np.atleast_1d(np.maximum(a.max(axis=0), b.max(axis=0))),
        )

    def reaches(self, scores: NDArray[np.generic]) -> NDArray[np.bool_]:
        """Whether each score lies within."""
        rows = np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)
        if rows.shape[1] != len(self.low):
            message = f"targets have dimension {rows.shape[1]}, the records {len(self.low)}"
            raise DimensionMismatch(message, field="targets")
        return np.asarray(((rows >= self.low) & (rows <= self.high)).all(axis=1))


def targets_of(values: ArgumentScores, cells: Cells | None) -> NDArray[np.generic]:
    """The scores asked about, finite and of the kind the cells are made of; numbers, where there are no cells."""
    try:
        array = exact_array(values)
    except ValueError:
        raise RaggedRows.about("targets", "rows differ in length") from None
    if array.ndim == 0:
        raise InputError.about("targets", "got a single value, need a list of scores")
    if array.ndim > 2:
        raise InputError.about("targets", f"got {array.ndim} dimensions, need a list of scores")
    if len(array) and not array.size:
        raise DimensionMismatch.about("targets", "rows are empty, need at least one number in each")
    if is_masked(values) and np.ma.getmaskarray(values).any():
        raise NotFinite.about("targets", "some are masked")
    text = isinstance(cells, Categories) and cells.labels.dtype.kind in "US"
    if array.size and array.ndim == 1 and array.dtype.kind in "iuO":
        array = _integers(array, text and cells.labels)  # type: ignore[union-attr]
    whole = array.ndim == 1 and array.dtype.kind == "O" and _are_integers(array)
    if array.size and ((array.dtype.kind not in "biufUS" and not whole) or (array.dtype.kind in "US") != text):
        message = f"got type {array.dtype}, need {'text' if text else 'numbers'} as the records have"
        raise MixedTypes.about("targets", message)
    if text or not array.size:
        return array.astype(np.str_ if text else np.float64)
    floats = np.array([or_infinite(each) for each in array.tolist()]) if whole else array.astype(np.float64)
    finite = np.isfinite(floats).reshape(len(array), -1).all(axis=1)
    if not finite.all():
        index = int(np.argmin(finite))
        raise NotFinite.about("targets", f"record {index} is not finite", index)
    if whole and not isinstance(cells, Categories):
        return floats
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def rows_of_targets(values: ArgumentScores, dimension: int) -> Floats:
    """Numbers asked about as floats, of the records' own dimension."""
    rows = np.asarray(targets_of(values, None), dtype=np.float64)
    wide = 1 if rows.ndim == 1 else rows.shape[1]
    if wide != dimension:
        message = f"targets have dimension {wide}, the records {dimension}"
        raise DimensionMismatch(message, field="targets")
    return rows


def _integers(array: NDArray[Any], texts: NDArray[Any] | Literal[False]) -> NDArray[np.generic]:
    """Integers beyond 64 bits as they are counted: as text, and so are those beside them."""
    if array.dtype.kind == "O" and not _are_integers(array):
        return array
    if texts is not False and all(WHOLE.fullmatch(str(label)) for label in texts):
        return as_text(array)
    return as_64_bit(array)


def _are_integers(objects: NDArray[Any]) -> bool:
    return all(isinstance(each, int) for each in objects.tolist())


def cell_of(scores: NDArray[np.generic], cells: Cells, sample_range: SampleRange | None = None) -> Integers:
    """Cell of each score, -1 where the sample says nothing about it."""
    if not len(scores):
        return np.empty(0, dtype=np.int64)
    wide = 1 if scores.ndim == 1 else scores.shape[1]
    if (wide > 1) if cells.ordered or isinstance(cells, Categories) else (wide < _axes(cells)):
        raise DimensionMismatch(f"targets have dimension {wide}, the records another", field="targets")
    inside = None if sample_range is None else sample_range.reaches(scores)
    at = cells.locate(scores)
    return at if inside is None else np.where(inside, at, -1)


def cells_asked(
    data: Scores | Counts, targets: ArgumentScores | None, cells: Cells, sample_range: SampleRange | None
) -> Integers:
    """The cell of each target, or of each record, members first, where none are named; counts need targets."""
    if targets is not None:
        return cell_of(targets_of(targets, cells), cells, sample_range)
    if isinstance(data, Scores):
        return np.concatenate([cell_of(side, cells) for side in (data.members, data.nonmembers)])
    raise TooFewRecords.about("targets", "counts hold no records; give the scores to state the risk of")


def _axes(cells: Cells) -> int:
    """Fewest numbers a row needs for these cells."""
    if isinstance(cells, Boxes):
        return int(cells.axes.max(initial=0)) + 1
    return len(cells.low) if isinstance(cells, Lattice) else 1
