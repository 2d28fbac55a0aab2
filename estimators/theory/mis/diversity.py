"""C_K, the diversity of a discrete distribution, the entropies beside it, and what merging categories leaves of it.

C_K, the diversity of a discrete distribution: what it is, how far it can go, and the entropies beside it.

What merging categories buys: which merges are best at what, and what is left of diversity.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heapreplace
from math import floor, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from estimators.errors import OutOfRange, require_count, require_number
from estimators.theory.tables import Floats, distribution


def c_k(probabilities: ArrayLike) -> float:
    """C_K(P) = sum sqrt(p_k (1 - p_k)) (Eq. 18): twice Corollary 15's bound on Delta, times sqrt n."""
    return total_c_k(distribution(probabilities))


def total_c_k(p: Floats, times: Floats | NDArray[np.int64] | float = 1.0) -> float:
    """The same for checked probabilities, each so many ``times``."""
    return float(np.sum(times * np.sqrt(p * (1.0 - p))))


def most_diverse(categories: int) -> float:
    """sqrt(K - 1): C_K of the uniform distribution, the largest there is on K categories (Lemma 23)."""
    return sqrt(require_count("categories", categories) - 1.0)


def given_largest(largest: float, categories: int) -> tuple[float, float]:
    """Least and most C_K of a distribution on K categories whose largest probability is ``largest`` (Lemma 24).

    C_K is concave: least at the corners, where as many categories as fit are as large as the largest; most where
    the others are equal. The least holds for any number of categories.
    """
    k = require_count("categories", categories)
    top = require_number("largest", largest)
    if not 1.0 / k - 1e-12 <= top <= 1.0:
        raise OutOfRange("largest: need a number from 1/categories to 1", field="largest")
    return least_given_largest(top), sqrt(top * (1.0 - top)) + sqrt((1.0 - top) * max(k - 2.0 + top, 0.0))


def least_given_largest(largest: float) -> float:
    """The lower of the two, which does not depend on the number of categories."""
    times = floor(1.0 / largest + 1e-12)
    rest = min(max(1.0 - largest * times, 0.0), 1.0)
    return times * sqrt(largest * (1.0 - largest)) + sqrt(rest * (1.0 - rest))


def gini_simpson(probabilities: ArrayLike) -> float:
    """1 - sum p_k^2: at most C_K / 2, and at least C_K^2 / K (Eqs. 23 and 24)."""
    p = distribution(probabilities)
    return float((p * (1.0 - p)).sum())


def shannon(probabilities: ArrayLike) -> float:
    """Entropy in nats: H <= C_K <= sqrt(K (1 - exp(-H))) (Eq. 25 and the line after it)."""
    return float(-xlogy(p := distribution(probabilities), p).sum())


Cells = NDArray[np.int64]
Merge = Literal["frequent", "balanced", "rare"]

HEAVIEST = 10**5
"""So many of the most frequent categories are put one by one where there is most room; the rest is dealt in turn."""


def frequent(probabilities: ArrayLike, cells: int) -> Cells:
    """The most frequent stay as they are and the rest is one cell.

    Of all merges into so many cells none leaves more records as they were: at most cells - 1 categories can stand
    alone if another is merged, and these are the heaviest. Answers the cell of each category.
    """
    p, k = _check(probabilities, cells)
    return _by_rank(np.argsort(-p, kind="stable"), k)


def rare(probabilities: ArrayLike, cells: int) -> Cells:
    """The rarest stay as they are and the rest is one cell: the least C_K of all merges into so many nonempty cells.

    The j lightest cells of any merge hold at least j categories, so they weigh at least as much as the j rarest: these
    cells majorize those of every other merge, and C_K is Schur-concave. It is a floor, not advice: it keeps the rarest
    and loses the others.
    """
    p, k = _check(probabilities, cells)
    return _by_rank(np.argsort(p, kind="stable"), k)


def balanced(probabilities: ArrayLike, cells: int) -> Cells:
    """Each category, the heaviest first, to the lightest cell so far: a heuristic for equal cells.


    Equal cells have the most C_K of all (Lemma 23), hence this loses the least; whether they exist is the partition
    problem, so no fast rule finds them always.
    """
    p, k = _check(probabilities, cells)
    order = np.argsort(-p, kind="stable")
    result = np.empty(p.size, dtype=np.int64)
    room = [(0.0, cell) for cell in range(k)]
    heapify(room)
    for at in order[:HEAVIEST].tolist():
        weight, cell = room[0]
        result[at] = cell
        heapreplace(room, (weight + float(p[at]), cell))
    tail = order[HEAVIEST:]
    turns = np.array([cell for _, cell in sorted(room)], dtype=np.int64)
    result[tail] = turns[np.arange(tail.size) % k]
    return result


def cell_shares(probabilities: ArrayLike, cells: Cells) -> Floats:
    """The distribution over the cells."""
    return np.asarray(np.bincount(cells, weights=distribution(probabilities)), dtype=np.float64)


def intact(probabilities: ArrayLike, cells: Cells) -> float:
    """Share of records whose category is a cell of its own."""
    alone = np.bincount(cells) == 1
    return float(distribution(probabilities)[alone[cells]].sum())


MERGES: dict[Merge, Callable[[ArrayLike, int], Cells]] = {
    "frequent": frequent,
    "balanced": balanced,
    "rare": rare,
}


def _check(probabilities: ArrayLike, cells: int) -> tuple[Floats, int]:
    p, k = distribution(probabilities), require_count("cells", cells)
    if k > p.size:
        raise OutOfRange(f"cells: got {k}, need at most the {p.size} categories there are", field="cells")
    return p, k


def _by_rank(order: NDArray[np.int64], cells: int) -> Cells:
    result = np.full(order.size, cells - 1, dtype=np.int64)
    result[order[: cells - 1]] = np.arange(cells - 1)
    return result
