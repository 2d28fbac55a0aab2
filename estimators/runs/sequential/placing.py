"""On which cells the batches of a run are counted: those that a few scores of the first one show, and then the same."""

import numpy as np

from estimators.arrays import Floats, Integers
from estimators.errors import IncompatibleCells, InputError
from estimators.sample.cells import Categories, Cells, Intervals, Values
from estimators.sample.counting import on_cells
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores

PILOT = 500
"""Records a side, at most, whose scores show where cells begin; they are judged in no end."""

FEWEST_PILOT = 5
SHARE_OF_PILOT = 0.2

CUTS = 1024
"""Cells of a score, about: a rule may cut it wherever one begins."""

OUTWARD = 12
"""Cuts beyond the least and the largest score of the pilot, ever further apart."""

MERGEABLE = ("intervals", "categories", "values")
"""Kinds of cells that stay what they are as more records come."""


def place(batch: Scores | Counts, before: Counts | None) -> Counts:
    """A batch as counts on cells that go with those before it.

    Args:
        batch: Scores of new records, or their counts.
        before: All records so far; None if this is the first batch.

    Raises:
        MaceError: vectors, numbers where labels came before, or cells that change as records come.
    """
    if isinstance(batch, Counts):
        if batch.cells.kind not in MERGEABLE:
            raise IncompatibleCells(
                f"cells of kind {batch.cells.kind} change as records come; count on edges of your own, or send scores",
                field="counts",
            )
        return batch
    if batch.dimension > 1:
        raise InputError("scores: a run needs one number or label a record, got vectors", field="members")
    if before is not None and isinstance(before.cells, Intervals):
        if not np.issubdtype(np.result_type(batch.members, batch.nonmembers), np.number):
            raise IncompatibleCells("scores: the batches before had numbers, not labels", field="members")
        return on_cells(batch, before.cells)
    if before is not None and batch.query is not Query.DISCRETE:
        raise IncompatibleCells("scores: the batches before had labels, not numbers", field="members")
    if before is not None and isinstance(before.cells, Values) is (batch.members.dtype.kind in "US"):
        came, comes = ("numbers", "text") if isinstance(before.cells, Values) else ("text", "numbers")
        raise IncompatibleCells(
            f"scores: the batches before had {came} as labels, this one has {comes}", field="members"
        )
    labels, at = np.unique(np.concatenate([batch.members, batch.nonmembers]), return_inverse=True)
    cells = (Categories if labels.dtype.kind in "US" else Values)(labels)
    return _count(np.split(at.reshape(-1), [batch.n_members]), cells)


def pilot_and_rest(batch: Scores, rng: np.random.Generator) -> tuple[Counts, Counts]:
    """A few records of the first batch, whose scores show where cells begin, and the others on these cells."""
    if batch.dimension > 1:
        raise InputError("scores: a run needs one number or label a record, got vectors", field="members")
    sides = [rng.permutation(np.asarray(side, np.float64)) for side in (batch.members, batch.nonmembers)]
    if any(len(side) < 2 * FEWEST_PILOT for side in sides):
        raise InputError(
            f"scores: the first batch needs {2 * FEWEST_PILOT} records a side; later ones may be smaller",
            field="members",
        )
    sizes = [min(PILOT, max(FEWEST_PILOT, int(SHARE_OF_PILOT * len(side)))) for side in sides]
    pilot_sides = [side[:size] for side, size in zip(sides, sizes, strict=True)]
    rest = [side[size:] for side, size in zip(sides, sizes, strict=True)]
    cells = Intervals(_cuts(np.unique(np.concatenate(pilot_sides))))
    pilot, others = (_count([cells.locate(side) for side in part], cells) for part in (pilot_sides, rest))
    return pilot, others


def same_cells(counts: Counts, merger: Counts) -> Integers:
    """Both sides' counts on the cells of a merger, (2, cells)."""
    if counts.size == merger.size or not isinstance(merger.cells, Categories):
        return np.array([counts.members, counts.nonmembers])
    assert isinstance(counts.cells, Categories)
    at = np.searchsorted(merger.cells.labels, counts.cells.labels)
    wide = np.zeros((2, merger.size), np.int64)
    wide[:, at] = [counts.members, counts.nonmembers]
    return wide


def _count(places: list[Integers], cells: Cells) -> Counts:
    """Counts of both sides, from the cell of each record."""
    members, nonmembers = (np.bincount(side, minlength=cells.size) for side in places)
    return Counts.trusted(members, nonmembers, cells)


def _cuts(values: Floats) -> Floats:
    """About as many cuts as a run keeps, of distinct values: at each, evenly between two, and beyond both ends.

    Between two values half of the cuts are even in size and half in order of magnitude: a gap may reach from 1e-9 to 1.
    """
    if len(values) >= CUTS:
        some = np.linspace(1, len(values) - 1, CUTS - 1).astype(np.int64)
        return np.asarray(values[some])
    low, high = values[0], values[-1]
    outward = max(high - low, abs(high), 1e-300) * np.geomspace(1 / 32, 32, OUTWARD)
    parts = np.arange(1, max(1, (CUTS - 2 * OUTWARD) // (2 * len(values))) + 1)[:, None]
    share = parts / (len(parts) + 1.0)
    even = values[:-1] + share * np.diff(values)
    alike = np.sign(values[:-1]) * np.sign(values[1:]) > 0
    first, last = np.abs(values[:-1][alike]), np.abs(values[1:][alike])
    by_magnitude = np.sign(values[1:][alike]) * first * (last / first) ** share
    every = np.concatenate([values, even.ravel(), by_magnitude.ravel(), low - outward, high + outward])
    return np.unique(every[np.isfinite(every)])[1:]
