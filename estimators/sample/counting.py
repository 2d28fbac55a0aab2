"""From scores to counts: no module below this one sees a record again."""

from typing import Any

import numpy as np
from fast_histogram import histogram1d
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats, Integers, distinct, lengths
from estimators.errors import InputError, InvalidCounts, TooManyCells, require_count
from estimators.python.dataclass import replace
from estimators.sample import doubts, unlike_sides
from estimators.sample.cells import Boxes, Categories, Cells, Intervals, Lattice, Values
from estimators.sample.counts import Counts
from estimators.sample.frequent import ScoreSample
from estimators.sample.grid import BLOCK, GRID_CELLS, SMALL_INTEGER_RANGE, intervals_of
from estimators.sample.integers import MOST
from estimators.sample.parts import Part, by_value, counts_of_parts
from estimators.sample.scores import Query, Scores, require_enough
from estimators.sample.stream import CountStream

__all__ = ["by_boxes", "by_category", "by_edges", "by_equal_mass", "by_grid", "by_lattice", "finest", "on_cells"]


EXACT_RECORDS = 2**17
"""Up to this many records every distinct score is a cell of its own; beyond, cells hold at most 1/4096."""

HEAVY = 4096
"""One record in so many is the most that such a cell holds, if it is not one score."""

FEW_ON_GRID = 2**14
"""Up to this many records are sorted into the cells of a grid, rather than every cell of it counted."""

LATTICE_KEYS = 2**62

MOST_SLICES = 2**24
"""Slices of one axis, which are all kept, empty or not."""

SLOT_BITS = 20
"""Text is told apart by a table of up to 2^20 slots before anything is sorted."""

BLOCK_OF_TEXT = 2**14


def resolution(n_records: int) -> int:
    """Cells at which a continuous score is certified: N^(1/3), the L1-optimal rate for histograms."""
    return max(4, round(float(np.cbrt(n_records))))


def times_repeated(data: Scores | Counts) -> int:
    """How often most of the rows stand there that do so more than once; 1 where it is not seen that any does."""
    counts = data if isinstance(data, Counts) else finest(data)
    return _times(data, counts) if counts.repeats else 1


def _times(data: Scores | Counts, counts: Counts) -> int:
    """The same where they are taken to be there more than once."""
    of_values = counts.members, counts.nonmembers
    if isinstance(data, Scores) and data.dimension == 1 and counts.n_records > EXACT_RECORDS:
        of_values = ScoreSample.of(*_line(data)).table()  # a cell may hold several scores
    return doubts.times_repeated(*of_values)


def without_repeats(data: Scores | Counts, wide: bool = False, times: int = 1) -> Scores | Counts:
    """Vectors once each; of single scores, which may be equal by chance, as many as if each were one of several rows.

    An eighth of what lies in a cell varies no more from sample to sample than independent records do, as long as none
    stands there more often; where most that repeat do, fewer are kept (``times_repeated``).

    Args:
        wide: Whether cells are wide. To rules that learn, what varies less than records do would show in narrow ones.
        times: How often rows stand there at least, by what is known of others.
    """
    if isinstance(data, Scores) and data.dimension > 1:
        firsts = [np.sort(np.unique(side, axis=0, return_index=True)[1]) for side in (data.members, data.nonmembers)]
        members, nonmembers = data.members[firsts[0]], data.nonmembers[firsts[1]]
        require_enough(len(members), "members")
        require_enough(len(nonmembers), "nonmembers")
        return replace(data, members=members, nonmembers=nonmembers)
    counts = data if isinstance(data, Counts) else finest(data)
    if not counts.cells.ordered:
        raise TooManyCells("names have no wide cells", field="query")
    times = max(times, _times(data, counts))
    if wide:
        counts = counts.coarsen(resolution(counts.n_records // times))
    of_members, of_nonmembers = (_one_in(times, side) for side in (counts.members, counts.nonmembers))
    require_enough(int(of_members.sum()), "members")
    require_enough(int(of_nonmembers.sum()), "nonmembers")
    return Counts.trusted(of_members, of_nonmembers, counts.cells)


def _one_in(times: int, side: Integers) -> Integers:
    """Every eighth record of a side, say, in the order of cells; read from the other end, the same ones."""
    kept = int(side.sum()) // times
    before = side.cumsum() * (kept / max(int(side.sum()), 1))
    from_start, from_end = np.floor(before + 0.5), kept - np.floor(kept - before + 0.5)
    until: Integers = np.where(2.0 * before <= kept, from_start, from_end).astype(np.int64)
    return np.concatenate([until[:1], until[1:] - until[:-1]])


def finest(scores: Scores) -> Counts:
    """Counts on the finest cells at hand: categories, distinct values, or boxes for vectors.

    Args:
        scores: Scores of both sides (``Scores.of``).

    Returns:
        the ``Counts`` that every estimator makes of scores.

    Example:
        >>> from estimators import Scores
        >>> from estimators.sample.counting import finest
        >>> finest(Scores.of([k / 10 for k in range(20)], [k / 7 for k in range(20)])).size
        38
    """
    if scores.query is Query.DISCRETE:
        return by_category(scores)
    if scores.dimension > 1:
        return by_boxes(scores, resolution(scores.n_members + scores.n_nonmembers))
    return by_rank(scores)


def on_cells(scores: Scores, cells: Cells) -> Counts:
    """Counts on cells that stand already; every score must have one.

    Args:
        scores: Scores of both sides (``Scores.of``).
        cells: The cells, such as those of other counts.

    Raises:
        InputError: a score falls into none of the cells.

    Example:
        >>> from estimators import Counts, Scores
        >>> from estimators.sample.counting import on_cells
        >>> cells = Counts.of([1, 1], [1, 1], edges=[0.5]).cells
        >>> on_cells(Scores.of([k / 10 for k in range(20)], [k / 30 for k in range(20)]), cells).members.tolist()
        [5, 15]
    """
    columns = []
    for side, name in ((scores.members, "member"), (scores.nonmembers, "nonmember")):
        at = cells.locate(side)
        if (at < 0).any():
            index = int(np.argmax(at < 0))
            raise InputError(f"{name} scores: record {index} falls into none of the given cells", index=index)
        columns.append(np.bincount(at, minlength=cells.size))
    return Counts.trusted(columns[0], columns[1], cells)


def by_category(scores: Scores) -> Counts:
    """One cell for each distinct value.

    Args:
        scores: Scores of both sides (``Scores.of``), text or numbers.

    Raises:
        TooManyCells: no two records share a value, so that nothing can be said.

    Example:
        >>> from estimators import Scores
        >>> from estimators.sample.counting import by_category
        >>> counts = by_category(Scores.of(["cat"] * 6 + ["dog"] * 4, ["cat"] * 3 + ["dog"] * 7))
        >>> counts.cells.labels.tolist(), counts.members.tolist(), counts.nonmembers.tolist()
        (['cat', 'dog'], [6, 4], [3, 7])
    """
    a, b = scores.members, scores.nonmembers
    if a.dtype.kind in "iu" and b.dtype.kind in "iu":
        low, high = min(int(a.min()), int(b.min())), max(int(a.max()), int(b.max()))
        if high - low < SMALL_INTEGER_RANGE:
            labels = low + np.arange(high - low + 1, dtype=np.uint64 if high > MOST else np.int64)
            columns = [np.bincount(_from_low(side, low), minlength=len(labels)) for side in (a, b)]
            return _doubting(Counts.trusted(columns[0], columns[1], Values(labels)).occupied(), a, b)
    if "U" in (a.dtype.kind, b.dtype.kind):
        counts = _by_label(np.asarray(a, dtype=np.str_), np.asarray(b, dtype=np.str_))
        return _doubting(counts, a, b).require_shared_cells()
    labels, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    return _doubting(_tabulate(at.reshape(-1), len(a), Values(labels)), a, b).require_shared_cells()


def _from_low(side: NDArray[Any], low: int) -> NDArray[np.intp]:
    """Integers from zero on."""
    if side.dtype == np.uint64:
        side, low = side - np.uint64(low), 0
    at: NDArray[np.intp] = side.astype(np.intp, copy=False)
    return at - low if low else at


def _by_label(a: NDArray[np.str_], b: NDArray[np.str_]) -> Counts:
    """Text by a table of hashed slots: comparing a record with its slot's first label costs less than sorting.

    Records whose label is not their slot's (two labels met in one slot) are sorted; there are few. All of it goes by
    blocks that stay in the processor's cache, two letters of all records of a block at a time.
    """
    width = max(a.dtype.itemsize, b.dtype.itemsize) // 4
    pooled = np.concatenate([a, b], dtype=f"U{max(2, width + width % 2)}")
    letters = pooled.view(np.uint64).reshape(len(pooled), -1)
    blocks = [slice(at, at + BLOCK_OF_TEXT) for at in range(0, len(pooled), BLOCK_OF_TEXT)]
    bits = min(SLOT_BITS, (8 * len(pooled)).bit_length())
    slots, first = np.empty(len(pooled), dtype=np.intp), np.full(2**bits, -1, dtype=np.intp)
    for block in blocks:
        slots[block] = own = _slots_of(letters[block], bits)
        new = np.flatnonzero(first[own] < 0)[::-1]
        first[own[new]] = block.start + new
    occupied_slots = np.flatnonzero(first >= 0)
    if len(occupied_slots) > 2**bits // 4:  # so many labels meet that sorting is cheaper
        labels, cells = np.unique(pooled, return_inverse=True)
        return _tabulate(cells, len(a), Categories(labels))
    order = np.argsort(pooled[first[occupied_slots]])
    labels = pooled[first[occupied_slots[order]]]
    cell_of_slot = first
    cell_of_slot[occupied_slots[order]] = np.arange(len(occupied_slots))
    columns = np.ascontiguousarray(labels.view(np.uint64).reshape(len(labels), -1).T)
    cells, differs = slots, np.empty(len(pooled), dtype=np.bool_)
    for block in blocks:
        cells[block] = own = cell_of_slot[slots[block]]
        odd = differs[block]
        np.not_equal(letters[block, 0], columns[0].take(own), out=odd)
        for column, expected in enumerate(columns[1:], 1):
            odd |= letters[block, column] != expected.take(own)
    strays = np.flatnonzero(differs)
    if strays.size:
        first_labels, labels = labels, distinct(np.concatenate([labels, pooled[strays]]))
        cells = np.searchsorted(labels, first_labels)[cells]
        cells[strays] = np.searchsorted(labels, pooled[strays])
    return _tabulate(cells, len(a), Categories(labels))


def _slots_of(letters: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    """The slot of each row of letters, of 2**bits: equal rows have equal ones."""
    slots = np.full(len(letters), 1, dtype=np.uint64)
    for column in range(letters.shape[1]):
        slots += letters[:, column]
        slots *= np.uint64(0x9E3779B97F4A7C15)
    slots >>= np.uint64(64 - bits)
    return slots.view(np.int64)


def _tabulate(at: NDArray[np.intp], n_members: int, cells: Cells) -> Counts:
    """Counts of records whose cells are known, members first."""
    return Counts.trusted(
        np.bincount(at[:n_members], minlength=cells.size), np.bincount(at[n_members:], minlength=cells.size), cells
    )


def _doubting(counts: Counts, a: NDArray[np.generic], b: NDArray[np.generic]) -> Counts:
    """Counts of categories, and what is odd about how often each of them occurs, and in which order."""
    return by_value(counts.members, counts.nonmembers, counts.cells, unlike_sides.of_order(a, b))


def by_edges(scores: Scores, cuts: ArrayLike) -> Counts:
    """Fixed inner cuts, given in advance.

    Args:
        scores: Scores of both sides (``Scores.of``), one number a record.
        cuts: Increasing numbers; each is the lower end of the cell above it.

    Raises:
        InvalidCounts: cuts that are no increasing numbers.

    Example:
        >>> from estimators import Scores
        >>> from estimators.sample.counting import by_edges
        >>> scores = Scores.of([k / 10 for k in range(20)], [k / 30 for k in range(20)])
        >>> by_edges(scores, [0.5, 1.0]).members.tolist()
        [5, 5, 10]
    """
    _line(scores)
    try:
        inner = np.asarray(cuts)
    except ValueError:
        raise InvalidCounts.about("edges", "need a plain list of numbers") from None
    if inner.dtype.kind not in "iuf":
        raise InvalidCounts.about("edges", f"got type {inner.dtype}, need numbers")
    counts = on_cells(scores, Intervals(inner.astype(np.float64)))
    return counts.doubted(finest(scores).doubts)


def by_equal_mass(scores: Scores, size: int | None = None) -> Counts:
    """About ``size`` cells of equal pooled mass.

    Args:
        scores: Scores of both sides (``Scores.of``), one number a record.
        size: How many cells, at least 1. None: the cube root of the number of records, at least 4.

    Example:
        >>> from estimators import Scores
        >>> from estimators.sample.counting import by_equal_mass
        >>> scores = Scores.of([k / 10 for k in range(20)], [k / 30 for k in range(20)])
        >>> by_equal_mass(scores, 4).pooled.tolist()
        [10, 10, 10, 10]
    """
    size = resolution(scores.n_members + scores.n_nonmembers) if size is None else size
    return by_rank(scores).coarsen(require_count("bins", size))


def by_rank(scores: Scores) -> Counts:
    """Every distinct score a cell, or, past 131,072 records, cells so fine that no statement notices.

    The big case costs one pass over a grid of power-of-two step; only records in cells that hold too
    much of the mass are looked at again and ranked, so neither clusters nor far outliers cost resolution.
    """
    a, b = _line(scores)
    if len(a) + len(b) <= EXACT_RECORDS:
        return _by_sorting(a, b)
    odd = (*unlike_sides.of_sides(a, b), *doubts.of_many(a, b))
    exponent, first, last = _central_grid(a, b)
    span = last - first + 1
    at = [_clipped_keys(side, exponent, first, last) for side in (a, b)]
    columns = [np.bincount(side, minlength=span) for side in at]
    pooled = columns[0] + columns[1]
    heavy = pooled > (len(a) + len(b)) // HEAVY
    heavy[[0, -1]] |= pooled[[0, -1]] > 0  # the two end cells also hold everything beyond the range
    starts = np.ldexp(np.arange(first, last + 1, dtype=np.float64), exponent)
    light = np.flatnonzero((pooled > 0) & ~heavy)
    unseen = max(_largest(column[light]) / len(side) for column, side in zip(columns, (a, b), strict=True))
    if not heavy.any():
        return Counts.trusted(columns[0][light], columns[1][light], Intervals(starts[light[1:]]), odd, unseen)
    inside = [np.sort(side[heavy[index]]) for side, index in zip((a, b), at, strict=True)]
    values = distinct(np.concatenate(inside), in_runs=True)
    every = max(1, len(values) // EXACT_RECORDS)
    fine = values[::every]
    fine_columns = [np.diff(side.searchsorted(fine), append=len(side)) for side in inside]
    edges = np.concatenate([starts[light], fine])
    order = np.argsort(edges, kind="stable")
    sides = [np.concatenate([c[light], f])[order] for c, f in zip(columns, fine_columns, strict=True)]
    if every > 1:
        unseen = max(unseen, *(_largest(f) / len(side) for f, side in zip(fine_columns, (a, b), strict=True)))
    return Counts.trusted(sides[0], sides[1], Intervals(edges[order][1:]), odd, unseen)


def _largest(column: Integers) -> int:
    return int(column.max(initial=0))


def _by_sorting(a: Floats, b: Floats) -> Counts:
    """Every distinct score a cell: one sort puts records of a cell side by side, and a sum over them counts."""
    pooled = np.concatenate([a, b])
    order = np.argsort(pooled)
    ordered = pooled[order]
    starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    members = np.add.reduceat(order < len(a), starts, dtype=np.int64)
    records = lengths(starts, len(pooled))
    odd = (*unlike_sides.of_sides(a, b), *doubts.of_values(members, records - members, ordered=True))
    return Counts.trusted(members, records - members, Intervals(ordered[starts[1:]]), odd, unseen=0.0)


def by_grid(scores: Scores) -> Counts:
    """A grid of power-of-two step: counts of shards that merge without an agreed range or a first pass.

    Args:
        scores: Scores of both sides of one shard (``Scores.of``), one number a record.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage
        >>> from estimators.sample.counting import by_grid
        >>> rng = np.random.default_rng(0)
        >>> shards = [Scores.of(rng.normal(1, 1, 500), rng.normal(0, 1, 500)) for _ in range(4)]
        >>> merged = by_grid(shards[0])
        >>> for shard in shards[1:]:
        ...     merged = merged.merge(by_grid(shard))
        >>> merged.n_members, round(advantage(merged).value, 1)
        (2000, 0.4)
    """
    a, b = _line(scores)
    if len(a) + len(b) > FEW_ON_GRID:
        return CountStream.on_grid().plus(a, b).counts()
    values, at = np.unique(np.concatenate([a, b]), return_inverse=True)
    members, nonmembers = (np.bincount(own, minlength=len(values)) for own in np.split(at, [len(a)]))
    return counts_of_parts([Part.of_values(values, members, nonmembers)])


def by_lattice(scores: Scores, bins: int = 100) -> Counts:
    """The paper's 100^d equal-width cells between the pooled minimum and maximum (MACE section 6.1).

    Args:
        scores: Scores of both sides (``Scores.of``), numbers or rows of numbers.
        bins: Slices of each axis, at least 1.

    Raises:
        TooManyCells: more cells than can be kept; use fewer bins, or ``by_boxes``.

    Example:
        >>> from estimators import Scores
        >>> from estimators.sample.counting import by_lattice
        >>> scores = Scores.of([k / 10 for k in range(20)], [k / 30 for k in range(20)])
        >>> by_lattice(scores, bins=4).pooled.tolist()
        [20, 10, 5, 5]
    """
    require_count("bins", bins)
    _numeric(scores)
    d = scores.dimension
    if float(bins) ** d > (MOST_SLICES if d == 1 else LATTICE_KEYS):
        raise TooManyCells(
            f"{bins} bins on {d} axes are {float(bins) ** d:.3g} cells; use fewer bins, boxes or a learned adversary",
            field="bins",
        )
    a, b = np.asarray(scores.members, dtype=np.float64), np.asarray(scores.nonmembers, dtype=np.float64)
    low, high = np.minimum(a.min(axis=0), b.min(axis=0)), np.maximum(a.max(axis=0), b.max(axis=0))
    if d == 1:
        return _equal_width(a, b, float(low), float(high), bins)
    cells = Lattice(bins, np.atleast_1d(low), np.atleast_1d(high), np.empty(0, dtype=np.int64))
    keys = [cells.key_of(side) for side in (a, b)]
    distinct, at = np.unique(np.concatenate(keys), return_inverse=True)
    return _tabulate(at.reshape(-1), len(a), Lattice(bins, cells.low, cells.high, distinct))


def by_boxes(scores: Scores, size: int) -> Counts:
    """Boxes of equal pooled mass for vectors.

    Args:
        scores: Scores of both sides (``Scores.of``), rows of numbers.
        size: About how many boxes, at least 1.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.sample.counting import by_boxes
        >>> rng = np.random.default_rng(0)
        >>> by_boxes(Scores.of(rng.normal(1, 1, (40, 2)), rng.normal(0, 1, (40, 2))), 4).pooled.tolist()
        [20, 20, 20, 20]
    """
    _numeric(scores)
    require_count("bins", size)
    pooled = np.concatenate([scores.members, scores.nonmembers]).astype(np.float64)
    counts = on_cells(scores, Boxes.halving(pooled.reshape(len(pooled), -1), size))
    if scores.dimension == 1:
        return counts
    return counts.doubted(doubts.of_rows(pooled[: scores.n_members], pooled[scores.n_members :]))


def _equal_width(a: Floats, b: Floats, low: float, high: float, bins: int) -> Counts:
    """Equal-width cells on a line by one multiplication a record; the maximum belongs to the last cell."""
    if not high > low:
        return Counts(np.array([len(a)]), np.array([len(b)]), Intervals(np.empty(0)))
    power = int(np.frexp(max(abs(low), abs(high)))[1])  # an exact change of unit, so that no width overflows
    unit_low, unit_high = float(np.ldexp(low, -power)), float(np.ldexp(high, -power))
    unit_cuts = unit_low + (unit_high - unit_low) * np.arange(1, bins) / bins
    cuts = np.ldexp(unit_cuts, power)
    usual = 1e-290 < high - low < 1e300 and bool((np.diff(cuts, prepend=low) > 0).all())
    if not usual:  # so narrow that cuts coincide, or too wide or too small a range for fast-histogram
        inner = distinct(cuts[cuts > low])
        tables = [np.bincount(intervals_of(inner, side), minlength=len(inner) + 1) for side in (a, b)]
        return Counts.trusted(tables[0], tables[1], Intervals(inner))
    columns = []
    for side in (a, b):
        column = histogram1d(side, bins, (low, high)).astype(np.int64)
        # fast-histogram leaves x == max out, and nothing else here
        column[-1] += len(side) - int(column.sum())
        columns.append(column)
    return Counts.trusted(columns[0], columns[1], Intervals(cuts))


def _numeric(scores: Scores) -> None:
    if "U" in (scores.members.dtype.kind, scores.nonmembers.dtype.kind):
        raise InputError("these cells need numbers, got text", field="members")


def _line(scores: Scores) -> tuple[Floats, Floats]:
    """Both sides as numbers on a line."""
    if scores.dimension > 1 or "U" in (scores.members.dtype.kind, scores.nonmembers.dtype.kind):
        raise InputError("these cells need one number per record, got vectors or text", field="members")
    return scores.members.astype(np.float64, copy=False), scores.nonmembers.astype(np.float64, copy=False)


def _central_grid(a: Floats, b: Floats) -> tuple[int, int, int]:
    """Exponent and key range of a grid of some 2^16 cells over the bulk of the records, labels unseen.

    Eight interquartile ranges on either side leave 4% of a Cauchy sample outside and cells below 1/4096
    inside; where there is no bulk (the quartiles coincide) the range of the sample serves.
    """
    pick = np.concatenate([a[:: max(1, len(a) // 4096)], b[:: max(1, len(b) // 4096)]])
    low, quarter, three, high = (float(q) for q in np.quantile(pick, [0.0, 0.25, 0.75, 1.0]))
    reach = 8.0 * (three - quarter) or np.inf
    low, high = max(low, quarter - reach), min(high, three + reach)
    largest = max(abs(low), abs(high))
    exponent = int(np.ceil(np.log2(max(high / GRID_CELLS - low / GRID_CELLS, largest * 2.0**-50, 2.0**-960))))
    first, last = (int(np.floor(np.ldexp(end, -exponent))) for end in (low, high))
    return exponent, first - 1, last + 1


def _clipped_keys(side: Floats, exponent: int, first: int, last: int) -> Integers:
    keys = np.empty(len(side), dtype=np.intp)
    for start in range(0, len(side), BLOCK):
        scaled = np.multiply(side[start : start + BLOCK], 2.0**-exponent)
        np.floor(scaled, out=scaled)
        np.clip(scaled, first, last, out=scaled)
        scaled -= first
        keys[start : start + BLOCK] = scaled
    return keys
