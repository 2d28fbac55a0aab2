"""What merging categories buys: which merges are best at what, and what is left of diversity."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heapreplace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.errors import OutOfRange, require_count
from estimators.theory.mis.divergence import Floats, distribution

Cells = NDArray[np.int64]
Merge = Literal["frequent", "balanced", "rare"]

WEIGHED = 10**5
"""So many of the most frequent categories are put one by one where there is most room; the rest is dealt in turn."""


def frequent(probabilities: ArrayLike, cells: int) -> Cells:
    """The most frequent stay as they are and the rest is one cell.

    Of all merges into so many cells none leaves more records as they were: at most cells - 1 categories can stand
    alone if another is merged, and these are the heaviest. Answers the cell of each category.
    """
    p, k = _given(probabilities, cells)
    return _ranked(np.argsort(-p, kind="stable"), k)


def rare(probabilities: ArrayLike, cells: int) -> Cells:
    """The rarest stay as they are and the rest is one cell: the least C_K of all merges into so many nonempty cells.

    The j lightest cells of any merge hold at least j categories, so they weigh at least as much as the j rarest: these
    cells majorize those of every other merge, and C_K is Schur-concave. It is a floor, not advice: it keeps the rarest
    and loses the others.
    """
    p, k = _given(probabilities, cells)
    return _ranked(np.argsort(p, kind="stable"), k)


def balanced(probabilities: ArrayLike, cells: int) -> Cells:
    """Each category, the heaviest first, to the lightest cell so far: a heuristic for equal cells.


    Equal cells have the most C_K of all (Lemma 23), hence this loses the least; whether they exist is the partition
    problem, so no fast rule finds them always.
    """
    p, k = _given(probabilities, cells)
    order = np.argsort(-p, kind="stable")
    found = np.empty(p.size, dtype=np.int64)
    room = [(0.0, cell) for cell in range(k)]
    heapify(room)
    for at in order[:WEIGHED].tolist():
        weight, cell = room[0]
        found[at] = cell
        heapreplace(room, (weight + float(p[at]), cell))
    tail = order[WEIGHED:]
    turns = np.array([cell for _, cell in sorted(room)], dtype=np.int64)
    found[tail] = turns[np.arange(tail.size) % k]
    return found


def merged(probabilities: ArrayLike, cells: Cells) -> Floats:
    """The distribution over the cells."""
    return np.asarray(np.bincount(cells, weights=distribution(probabilities)), dtype=np.float64)


def kept(probabilities: ArrayLike, cells: Cells) -> float:
    """Share of records whose category is a cell of its own."""
    alone = np.bincount(cells) == 1
    return float(distribution(probabilities)[alone[cells]].sum())


MERGES: dict[Merge, Callable[[ArrayLike, int], Cells]] = {
    "frequent": frequent,
    "balanced": balanced,
    "rare": rare,
}


def _given(probabilities: ArrayLike, cells: int) -> tuple[Floats, int]:
    p, k = distribution(probabilities), require_count("cells", cells)
    if k > p.size:
        raise OutOfRange(f"cells: got {k}, need at most the {p.size} categories there are", field="cells")
    return p, k


def _ranked(order: NDArray[np.int64], cells: int) -> Cells:
    found = np.full(order.size, cells - 1, dtype=np.int64)
    found[order[: cells - 1]] = np.arange(cells - 1)
    return found
