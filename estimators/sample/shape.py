"""How the scores of both sides lie, in a few bins to be looked at: a display of the sample, never a statement.

Nothing is estimated from these bins, so they may be cut wherever the picture is clearest. Every record is in one of
them or counted as outside: the totals are exact.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers, distinct
from estimators.python.dataclass import dataclass, replace
from estimators.sample.cells import Categories, Intervals
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.grid import Grid, intervals_of
from estimators.sample.scores import Query, Scores

BINS = 48
"""Bins of a picture; fewer where there are few records (Rice's rule, 2 N^(1/3))."""

LABELS = 40
"""Categories of a picture: the most frequent ones."""

TAIL = 0.005
"""Share of the records, or a single one, that may lie outside at either end."""

LONG = 1.0
"""A tail is long if it reaches further beyond its quantile than this many times what lies between the two quantiles: a
normal one never is."""

CROWD = 0.5
"""Share of the records that is too much for one bin: scores that crowd next to 0, or to 1, have bins by powers."""

DECADES = 30.0
"""How many times as far away as the nearest the farthest record is, at least, where bins are by powers."""

SPACED = 16 * BINS
"""Up to this many distinct values may turn out to be evenly spaced (integers, rounded numbers)."""

MOST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Records of both sides in each bin, and those outside; bins lie between ``edges``, or are ``labels``."""

    members: Integers
    nonmembers: Integers
    outside_members: int
    outside_nonmembers: int
    edges: Floats | None
    labels: NDArray[np.generic] | None

    @classmethod
    def of(
        cls,
        members: Integers,
        nonmembers: Integers,
        data: Scores | Counts,
        edges: Floats | None = None,
        labels: NDArray[np.generic] | None = None,
    ) -> Shape:
        """The bins shown, and the rest of all records."""
        outside = data.n_members - int(members.sum()), data.n_nonmembers - int(nonmembers.sum())
        return cls(members, nonmembers, *outside, edges, labels)


def shape(data: Scores | Counts, fine: Counts | None = None, bins: int = BINS) -> Shape | None:
    """The display of a sample, ``fine`` being its finest counts if they are made already; None for vectors.

    Records are counted in bins of equal width, or, where one of these would hold most records next to 0 or to 1, as
    losses and confidences do, in bins of equal ratio of the distance to it. Cells posted as intervals do not tell where
    in them a record lies: they are the bins themselves, neighbours joined where there are many. The two outermost are
    open; what is shown of them is as wide as their neighbours.
    """
    require_data(data, Scores, Counts)
    whole = data if isinstance(data, Counts) else fine or finest(data)
    counts = whole.occupied()
    cells = counts.cells
    if isinstance(cells, Categories) and not (cells.ordered and counts.size > LABELS):
        return _of_labels(counts)
    if not cells.ordered:
        return None
    most = min(bins, max(4, int(np.ceil(2.0 * np.cbrt(whole.n_records)))))
    if isinstance(data, Scores) and data.query is Query.CONTINUOUS:
        return _of_scores(data, counts, most)
    if isinstance(cells, Intervals | Grid):
        on_grid, starts = (_on_grid(cells, counts, most) if isinstance(cells, Grid) else None, counts.lower_edges())
        display = (
            _join_cells(whole, most)
            if on_grid is None
            else _count_by_start(counts, starts, on_grid, starts < on_grid[-1])
        )
        powers = _edges_by_powers(display, starts, counts.pooled, most)
        return display if powers is None else _ending_at_one(_join_cells(whole, most, powers), starts)
    values = counts.lower_edges()
    edges = _equal_edges(values, values, counts, most)
    return _count_by_start(counts, values, edges, values <= edges[-1])


def _of_labels(counts: Counts) -> Shape:
    """A bin for each of the most frequent labels, in the order of the labels."""
    keep = np.sort(np.argsort(-counts.pooled, kind="stable")[:LABELS])
    cells = counts.cells.select(keep)
    assert isinstance(cells, Categories)
    return Shape.of(counts.members[keep], counts.nonmembers[keep], counts, labels=cells.labels)


def _of_scores(scores: Scores, fine: Counts, most: int) -> Shape:
    """Each record counted where it lies."""
    low = min(float(np.min(scores.members)), float(np.min(scores.nonmembers)))
    high = max(float(np.max(scores.members)), float(np.max(scores.nonmembers)))
    starts = np.append(low, fine.lower_edges()[1:])
    display = _records_between(scores, _equal_edges(starts, np.append(starts[:-1], high), fine, most))
    powers = _edges_by_powers(display, starts, fine.pooled, most)
    return display if powers is None else _records_between(scores, powers)


def _edges_by_powers(display: Shape, starts: Floats, records: Integers, most: int) -> Floats | None:
    """Edges whose distances to 0, or to 1, have equal ratios; None unless the bin next to it holds most records.

    Records at 0, or 1, itself are no crowd: one bin shows them as well as another.
    """
    pooled, edges = display.members + display.nonmembers, display.edges
    assert edges is not None  # these have no labels
    fullest, low, high = int(pooled.argmax()), float(edges[0]), float(edges[-1])
    if fullest == 0 and low >= 0.0:
        away, farthest, nearby = starts, high, float(edges[1])
    elif fullest == len(pooled) - 1 and starts[-1] <= 1.0:
        high = min(high, 1.0)
        away, records, farthest, nearby = 1.0 - starts[::-1], records[::-1], 1.0 - low, 1.0 - float(edges[-2])
    else:
        return None
    apart = away > 0.0
    mass, away = np.cumsum(records[apart]), away[apart]
    if not len(mass) or np.append(0, mass)[np.searchsorted(away, nearby)] <= CROWD * mass[-1]:
        return None
    nearest = float(away[np.searchsorted(mass, TAIL * mass[-1])])
    if not nearest * DECADES <= farthest:
        return None
    distances = np.geomspace(nearest, farthest, most)
    inner = distances[1:-1] if fullest == 0 else 1.0 - distances[-2:0:-1]
    near = min(max(nearest, low), high) if fullest == 0 else min(max(1.0 - nearest, low), high)
    return distinct(np.concatenate([[low, near, high], inner]))


def _ending_at_one(display: Shape, starts: Floats) -> Shape:
    """The last bin to 1 where its last cell begins there: who crowds below 1 reaches it, and not beyond."""
    edges, sides = display.edges, (display.members, display.nonmembers)
    if edges is None or starts[-1] != 1.0 or len(edges) < 3:
        return display
    if edges[-2] < 1.0:
        return replace(display, edges=np.append(edges[:-1], 1.0))
    members, nonmembers = (np.append(side[:-2], side[-2:].sum()) for side in sides)
    return replace(display, members=members, nonmembers=nonmembers, edges=edges[:-1])


def _records_between(scores: Scores, edges: Floats) -> Shape:
    """Records counted in bins with these edges."""
    sides = []
    for side in (scores.members, scores.nonmembers):
        column = np.bincount(intervals_of(edges[:-1], side), minlength=len(edges))
        column[-1] -= int((np.asarray(side) > edges[-1]).sum())
        sides.append(column[1:].astype(np.int64))
    return Shape.of(sides[0], sides[1], scores, edges)


def _count_by_start(counts: Counts, starts: Floats, edges: Floats, below: NDArray[np.bool_]) -> Shape:
    """Cells that hold one value each, or end where a bin ends, counted by where they begin."""
    inside = np.flatnonzero(below & (starts >= edges[0]))
    at = np.minimum(np.searchsorted(edges, starts[inside], side="right") - 1, len(edges) - 2)
    sides = np.zeros((2, len(edges) - 1), dtype=np.int64)
    for side, column in zip(sides, (counts.members, counts.nonmembers), strict=True):
        np.add.at(side, at, column[inside])
    return Shape.of(sides[0], sides[1], counts, edges)


def _join_cells(counts: Counts, most: int, edges: Floats | None = None) -> Shape:
    """The cells as they came, those at the ends left out if empty; of many, neighbours joined.

    To about equal widths, or to what lies about between ``edges``.
    """
    occupied = np.flatnonzero(counts.pooled)
    ends = np.append(counts.lower_edges(), np.inf)[occupied[0] : occupied[-1] + 2]
    inside = slice(int(occupied[0]), int(occupied[-1]) + 1)
    inner = Counts.trusted(counts.members[inside], counts.nonmembers[inside], Intervals(ends[1:-1]))
    ends = _close_ends(ends)
    first, last = _cells_to_show(ends[:-1], ends[1:], inner)
    # at the largest float a cell has no width
    keep = first + np.unique(ends[first : last + 1], return_index=True)[1]
    if len(keep) - 1 > most:
        at = np.linspace(0.0, 1.0, most + 1)
        places = ends[keep[0]] * (1.0 - at) + ends[keep[-1]] * at if edges is None else edges
        keep = keep[distinct(np.concatenate([[0, len(keep) - 1], _nearest(ends[keep], places)]))]
    sides = [np.add.reduceat(np.append(side, 0), keep)[:-1] for side in (inner.members, inner.nonmembers)]
    return Shape.of(sides[0], sides[1], counts, ends[keep])


def _cells_to_show(starts: Floats, stops: Floats, counts: Counts) -> tuple[int, int]:
    """The cells to show, up to but not including the last: all, unless a tail is long."""
    pooled, size = counts.pooled, counts.size
    spare = max(1, int(TAIL * counts.n_records))
    first = int(np.searchsorted(np.cumsum(pooled) - pooled, spare, side="right")) - 1
    last = size - int(np.searchsorted(np.cumsum(pooled[::-1]), spare, side="right"))
    low, high = starts[first] / 2.0, stops[last - 1] / 2.0  # by halves: no width may overflow
    reach = LONG * (high - low)
    if not reach > 0.0:
        return 0, size
    return (first if low - starts[0] / 2.0 > reach else 0), (last if stops[-1] / 2.0 - high > reach else size)


def _equal_edges(starts: Floats, stops: Floats, counts: Counts, most: int) -> Floats:
    """Edges of equal width over what is to be shown; between the values, where those are evenly spaced."""
    first, last = _cells_to_show(starts, stops, counts)
    low, high = float(starts[first]), float(stops[last - 1])
    step = _spacing(np.append(starts[first:last], high))
    if step is not None:
        slots = round((high - low) / step) + 1
        each = -(-slots // most)
        return np.asarray(low - step / 2.0 + step * each * np.arange(-(-slots // each) + 1))
    if not high > low:
        pad = max(abs(low) / 2.0, 0.5)
        low, high = max(low - pad, -MOST), min(high + pad, MOST)
    at = np.linspace(0.0, 1.0, most + 1)
    return distinct(low * (1.0 - at) + high * at)


def _spacing(places: Floats) -> float | None:
    """The step of which all distances are multiples: other bins would hold now more, now fewer values."""
    values = distinct(places)
    if not 2 < len(values) <= SPACED:
        return None
    with np.errstate(over="ignore"):
        step = float(np.diff(values).min())
        slots = (values - values[0]) / step
    even = slots[-1] <= SPACED and bool((np.abs(slots - np.rint(slots)) < 1e-3).all())
    return step if even else None


def _on_grid(cells: Grid, counts: Counts, most: int) -> Floats | None:
    """Edges of equal width that are edges of the grid of the largest step, so that no cell is cut.

    None where too few of them lie in what is to be shown, and there are smaller steps.
    """
    keys = cells.wide_keys
    first, last = _cells_to_show(_at(keys, cells.exponent), _at(keys + 1, cells.exponent), counts)
    low, wide = int(keys[first]), int(keys[last - 1] - keys[first]) + 1
    if wide < most and cells.exponents is not None:
        return None
    each = -(-wide // most)
    return distinct(_at(low + each * np.arange(-(-wide // each) + 1), cells.exponent))


def _at(keys: Integers, exponent: int) -> Floats:
    """Where cells of a grid begin; the last one may end beyond what a float holds."""
    with np.errstate(over="ignore"):
        return np.clip(np.ldexp(keys.astype(np.float64), exponent), -MOST, MOST)


def _nearest(ends: Floats, places: Floats) -> Integers:
    """Which of the ends is nearest to each place."""
    above = np.clip(np.searchsorted(ends, places), 1, len(ends) - 1)
    lower = places / 2.0 - ends[above - 1] / 2.0 < ends[above] / 2.0 - places / 2.0
    return above - lower


def _close_ends(ends: Floats) -> Floats:
    """Ends that are infinite moved to where their cell is as wide as its neighbour."""
    inner = ends[np.isfinite(ends)]
    if not len(inner):
        return np.array([-1.0, 1.0])
    alone = max(abs(float(inner[0])), 1.0)
    with np.errstate(over="ignore"):
        widths = (inner[1] - inner[0], inner[-1] - inner[-2]) if len(inner) > 1 else (alone, alone)
        low, high = max(inner[0] - widths[0], -MOST), min(inner[-1] + widths[1], MOST)
    return np.concatenate([[low] if np.isinf(ends[0]) else [], inner, [high] if np.isinf(ends[-1]) else []])
