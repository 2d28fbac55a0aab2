"""Exact nearest neighbours, in bounded memory: never a matrix of all distances.

Candidates come from a library: SciPy's k-d tree where it has to look at few rows, scikit-learn's scan (or faiss, if it
is installed) where a tree would look at most of them anyway. Their distances are computed again, in float64 and
straight from the differences, so that a copy is at exactly 0 and the answer equals brute force in float64 bit by bit.
Where rounding leaves a doubt whether a candidate was missed, that record is searched again by brute force.

How it is searched changes the time that it takes, never the answer.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from estimators import errors
from estimators.adversary.learned import one_thread
from estimators.arrays import Floats, Integers
from estimators.python.dataclass import dataclass

Metric = Literal["l1", "l2"]

METRICS = ("l1", "l2")
ENGINES = ("tree", "scan", "faiss")

BLOCK = 16384  # records whose candidates are asked for at once
FLOATS = 2**21  # numbers held at once while distances are computed again: 16 MiB
LEAF = 32  # rows in a leaf of the tree
FEW_ROWS = 2048  # so few rows are always searched by a tree, which then costs little whatever their shape
PROBES = 64  # records by which it is judged how much of the rows a tree would look at
SPARE = 8  # candidates beyond k where rounding may have changed their order
LARGEST = 1e150  # numbers beyond have squares that no float holds

UNITS = (0, 10, 20, 40)
"""Binary digits behind the point, of numbers whose distances are computed without any rounding."""

# How many rows the other library scans in the time in which a tree looks at one (20 columns, one thread).
TREE_COST: dict[tuple[str, str], float] = {
    ("scan", "l1"): 8.0,
    ("scan", "l2"): 12.0,
    ("faiss", "l1"): 25.0,
    ("faiss", "l2"): 40.0,
}


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest rows of each record, nearest first.

    Attributes:
        distances: One row a record, one column a neighbour.
        rows: Which row each is; of several at the same distance, any.
        engine: What the candidates came from.
    """

    distances: Floats
    rows: Integers
    engine: str


def nearest(records: Any, rows: Any, k: int, metric: str = "l1", engine: str | None = None) -> Neighbours:
    """The k nearest rows of every record, exactly.

    Args:
        records: A matrix, a record a row.
        rows: A matrix of as many columns, in which the neighbours are looked for.
        k: How many neighbours; where there are fewer rows, as many as there are.
        metric: ``l1``, the sum of the differences, or ``l2``, the root of the sum of their squares.
        engine: ``tree``, ``scan`` or ``faiss``; None takes the one that should be fastest.

    Raises:
        TooFewRecords: there are no rows.
        NotFinite, DimensionMismatch, OutOfRange, UnknownName: what the text says.
        NotInstalled: the engine that was asked for is missing.

    Example:
        >>> from estimators.audits.queries.neighbours import nearest
        >>> answer = nearest([[0.0, 0.0]], [[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]], 2, "l2")
        >>> answer.distances.tolist(), answer.rows.tolist()
        ([[0.0, 1.0]], [[2, 1]])
    """
    k = errors.require_count("k", k)
    if metric not in METRICS:
        raise errors.UnknownName.among("metric", metric, METRICS)
    if engine is not None and engine not in ENGINES:
        raise errors.UnknownName.among("engine", engine, ENGINES)
    points, base = matrix("records", records), matrix("rows", rows)
    if points.shape[1] != base.shape[1]:
        message = f"records have {points.shape[1]} columns and rows {base.shape[1]}: need the same ones"
        raise errors.DimensionMismatch(message, field="rows")
    if not len(base):
        raise errors.TooFewRecords.about("rows", "there are none to be near to; need at least one")
    k = min(k, len(base))
    every = _distinct(base)
    if every is None:
        return _of_distinct_records(points, base, k, metric, engine)
    first, _, copies = every
    answer = _of_distinct_records(points, base[first], min(k, len(first)), metric, engine)
    return _with_copies(answer, first, copies, k)


def matrix(name: str, values: Any) -> Floats:
    """Values as a finite matrix of float64, row by row in memory.

    Raises:
        NotFinite: the index of the first row with a NaN or an infinity is in the error.
        DimensionMismatch: not a matrix.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        message = f"got {array.ndim} dimensions, need a matrix with a record a row (flatten images)"
        raise errors.DimensionMismatch.about(name, message)
    whole = np.isfinite(array).all(axis=1)
    if not whole.all():
        bad = int(np.argmin(whole))
        raise errors.NotFinite.about(name, f"row {bad} is NaN or infinite; leave it out or encode it", bad)
    if np.abs(array).max(initial=0.0) > LARGEST:
        message = "a number lies beyond 1e150, and its square beyond floats; scale the columns"
        raise errors.NotFinite.about(name, message)
    return np.ascontiguousarray(array + 0.0)  # no negative zeros: equal rows have equal bytes


def _of_distinct_records(points: Floats, base: Floats, k: int, metric: str, engine: str | None) -> Neighbours:
    """The same for records some of which are equal: each different one is searched once."""
    every = _distinct(points)
    if every is None:
        return _search(points, base, k, metric, engine)
    first, which, _ = every
    answer = _search(points[first], base, k, metric, engine)
    return Neighbours(answer.distances[which], answer.rows[which], answer.engine)


def _distinct(points: Floats) -> tuple[Integers, Integers, Integers] | None:
    """First of each different row, which of these every row is, and how often each stands there; None if few repeat."""
    if len(points) < 2:
        return None
    words = np.random.default_rng(0).integers(2**63, size=points.shape[1], dtype=np.uint64) | np.uint64(1)
    keys = np.empty(len(points), dtype=np.uint64)
    step = max(1, FLOATS // max(1, points.shape[1]))
    for start in range(0, len(points), step):
        bits = points[start : start + step].view(np.uint64)
        mixed = (bits ^ (bits >> np.uint64(29))) * words
        keys[start : start + step] = (mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64)
    _, first, which, copies = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if len(first) > 0.9 * len(points):
        return None
    for start in range(0, len(points), step):
        here = points[start : start + step]
        if not np.array_equal(here, points[first[which[start : start + step]]]):
            return None  # two rows of one key: rarer than a broken disk, and only slower
    return first.astype(np.int64), which.astype(np.int64), copies.astype(np.int64)


def _with_copies(answer: Neighbours, first: Integers, copies: Integers, k: int) -> Neighbours:
    """Neighbours among different rows, each as often as it stands there."""
    ends = np.cumsum(copies[answer.rows], axis=1)
    which = np.stack([(ends <= place).sum(axis=1) for place in range(k)], axis=1)
    return Neighbours(
        np.take_along_axis(answer.distances, which, axis=1),
        first[np.take_along_axis(answer.rows, which, axis=1)],
        answer.engine,
    )


def _search(points: Floats, base: Floats, k: int, metric: str, engine: str | None) -> Neighbours:
    exact = _without_rounding(points, base, metric)
    name, tree = _engine(points, base, k, metric, engine)
    if name == "faiss":
        return _judge(points, base, k, metric, name, _faiss(base, k, metric))
    if name == "scan":
        return _judge(points, base, k, metric, name, _scan(base, k, metric, exact))
    order = _built(points).indices  # near records after each other find what they need in the processor's cache
    ask = _tree(tree or _built(base), base, k, metric, exact)
    answer = _judge(points[order], base, k, metric, name, ask)
    back = np.argsort(order)
    return Neighbours(answer.distances[back], answer.rows[back], name)


Candidates = tuple[Integers, Floats]
"""Candidates of each record, and a distance that no other row can be nearer than."""


def _judge(
    points: Floats, base: Floats, k: int, metric: str, name: str, ask: Callable[[Floats], Candidates]
) -> Neighbours:
    """The k nearest of the candidates by their distances in float64; by brute force where one may be missing."""
    distances = np.empty((len(points), k))
    rows = np.empty((len(points), k), dtype=np.int64)
    for start in range(0, len(points), BLOCK):
        here = slice(start, start + BLOCK)
        candidates, beyond = ask(points[here])
        far, which = _sorted(points[here], base, candidates, k, metric)
        doubtful = np.flatnonzero((beyond < far[:, -1]) & (far[:, -1] > 0.0))
        if len(doubtful):
            far[doubtful], which[doubtful] = _again(points[here][doubtful], base, k, metric, name)
        distances[here], rows[here] = far, which
    return Neighbours(distances, rows, name)


def _sorted(points: Floats, base: Floats, candidates: Integers, k: int, metric: str) -> tuple[Floats, Integers]:
    """The k nearest of each record's candidates."""
    far = np.empty(candidates.shape)
    step = max(1, FLOATS // (candidates.shape[1] * max(1, base.shape[1])))
    for start in range(0, len(points), step):
        gaps = points[start : start + step, None] - base[candidates[start : start + step]]
        far[start : start + step] = _distances(gaps, metric)
    order = np.argsort(far, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(far, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _distances(gaps: Floats, metric: str) -> Floats:
    """Lengths of differences along the last axis; the one formula of a distance here."""
    if metric == "l1":
        return np.asarray(np.abs(gaps, out=gaps).sum(axis=-1))
    return np.asarray(np.sqrt(np.square(gaps, out=gaps).sum(axis=-1)))


def _again(points: Floats, base: Floats, k: int, metric: str, name: str) -> tuple[Floats, Integers]:
    """The same by brute force; what faiss, in float32, left in doubt, in float64 first."""
    if name == "faiss" and len(points) > PROBES:
        other = _search(points, base, k, metric, "scan" if _has("sklearn") else "tree")
        return other.distances, other.rows
    far = np.empty((len(points), k))
    which = np.empty((len(points), k), dtype=np.int64)
    step = max(1, FLOATS // max(1, base.shape[1]))
    for index, point in enumerate(points):
        every = np.concatenate(
            [_distances(point - base[start : start + step], metric) for start in range(0, len(base), step)]
        )
        few = np.argpartition(every, k - 1)[:k]
        which[index] = few[np.argsort(every[few], kind="stable")]
        far[index] = every[which[index]]
    return far, which


def _without_rounding(points: Floats, base: Floats, metric: str) -> bool:
    """Whether the numbers are such that no distance is rounded, in whatever order it is added up."""
    most = max(float(np.abs(each).max(initial=0.0)) for each in (points, base))
    width = max(1, points.shape[1])
    for digits in UNITS:
        unit = 2.0**digits
        steps = 2.0 * most * unit
        if (steps if metric == "l1" else steps * steps) * width > 2.0**53:
            return False
        if all(_multiples(each, unit) for each in (points, base)):
            return True
    return False


def _multiples(values: Floats, unit: float) -> bool:
    step = max(1, FLOATS // max(1, values.shape[1]))
    for start in range(0, len(values), step):
        scaled = values[start : start + step] * unit
        if not np.array_equal(np.rint(scaled), scaled):
            return False
    return True


def _engine(points: Floats, base: Floats, k: int, metric: str, engine: str | None) -> tuple[str, Any]:
    """Which engine to take, and the tree if one was built to find that out."""
    if engine is not None:
        package = {"scan": "sklearn", "faiss": "faiss"}.get(engine)
        if package and not _has(package):
            extra = {"scan": "learned", "faiss": "neighbours"}[engine]
            message = f"{engine} needs a package that is missing; pip install 'macekit[{extra}]'"
            raise errors.NotInstalled.about("engine", message)
        return engine, None
    if len(base) <= FEW_ROWS:
        return "tree", None
    other = "faiss" if _has("faiss") else "scan" if _has("sklearn") else None
    if other is None:
        return "tree", None
    tree = _built(base)
    share = _share_visited(tree, base, points, k, metric)
    return ("tree", tree) if share * TREE_COST[other, metric] < 1.0 else (other, None)


def _has(package: str) -> bool:
    return find_spec(package) is not None


def _built(base: Floats) -> Any:
    return import_module("scipy.spatial").cKDTree(base, leafsize=LEAF, balanced_tree=False)


def _share_visited(tree: Any, base: Floats, points: Floats, k: int, metric: str) -> float:
    """The share of the rows that a tree looks at for one record: those in leaves nearer than its k-th neighbour."""
    probes = points[np.linspace(0, len(points) - 1, min(PROBES, len(points))).astype(np.int64)]
    radius = tree.query(probes, [k], p=_p(metric))[0][:, 0]
    starts, queue = [], [tree.tree]
    while queue:
        node = queue.pop()
        if node.split_dim < 0:
            starts.append(node.start_idx)
        else:
            queue += [node.lesser, node.greater]
    first = np.unique(starts)
    ordered = base[tree.indices]
    low, high = np.minimum.reduceat(ordered, first), np.maximum.reduceat(ordered, first)
    sizes = np.diff(np.append(first, len(base)))
    visited = 0
    for probe, most in zip(probes, radius, strict=True):
        gaps = np.maximum(np.maximum(low - probe, probe - high), 0.0)
        visited += int(sizes[_distances(gaps, metric) <= most].sum())
    return visited / (len(probes) * len(base))


def _p(metric: str) -> float:
    return 1.0 if metric == "l1" else 2.0


def _tree(tree: Any, base: Floats, k: int, metric: str, exact: bool) -> Callable[[Floats], Candidates]:
    count = k if exact else min(k + 1, len(base))
    slack = 0.0 if exact else 4.0 * (base.shape[1] + 4) * np.finfo(np.float64).eps

    def ask(points: Floats) -> Candidates:
        far, rows = tree.query(points, np.arange(1, count + 1), p=_p(metric))
        return rows.astype(np.int64), _beyond(far[:, -1] * (1.0 - slack), count, len(base))

    return ask


def _beyond(distances: Floats, count: int, n: int) -> Floats:
    """No row beyond the candidates is nearer than this; infinite where every row is a candidate."""
    return np.full(len(distances), np.inf) if count == n else distances


def _scan(base: Floats, k: int, metric: str, exact: bool) -> Callable[[Floats], Candidates]:
    count = k if exact else min(k + SPARE, len(base))
    centre = np.zeros(base.shape[1]) if exact else base.mean(axis=0)
    shifted = base if exact else base - centre
    kind = "manhattan" if metric == "l1" else "sqeuclidean"
    finder = import_module("sklearn.neighbors").NearestNeighbors(n_neighbors=count, algorithm="brute", metric=kind)
    with one_thread("sklearn"):
        finder.fit(shifted)
    error = 0.0 if exact else 4.0 * (base.shape[1] + 8) * np.finfo(np.float64).eps
    sizes = _sizes(shifted, metric)

    def ask(points: Floats) -> Candidates:
        moved = points if exact else points - centre
        with one_thread("sklearn"):
            far, rows = finder.kneighbors(moved)
        low = far[:, -1] - error * (_sizes_each(moved, metric) + sizes)
        return rows.astype(np.int64), _beyond(_length(low, metric, error), count, len(base))

    return ask


def _faiss(base: Floats, k: int, metric: str) -> Callable[[Floats], Candidates]:
    faiss = import_module("faiss")
    count = min(k + SPARE, len(base))
    centre = base.mean(axis=0)
    shifted = base - centre
    sizes = _sizes(shifted, metric)
    index = faiss.IndexFlat(base.shape[1], faiss.METRIC_L1 if metric == "l1" else faiss.METRIC_L2)
    with one_thread("faiss"):
        index.add(shifted.astype(np.float32))
    error = 2.0 * (base.shape[1] + 8) * float(np.finfo(np.float32).eps)

    def ask(points: Floats) -> Candidates:
        moved = points - centre
        with one_thread("faiss"):
            far, rows = index.search(moved.astype(np.float32), count)
        low = far[:, -1].astype(np.float64) - error * (_sizes_each(moved, metric) + sizes)
        lost = (rows < 0).any(axis=1)  # beyond what float32 holds
        low[lost] = -np.inf
        return np.maximum(rows, 0).astype(np.int64), _beyond(_length(low, metric, error), count, len(base))

    return ask


def _sizes_each(points: Floats, metric: str) -> Floats:
    return np.asarray(np.abs(points).sum(axis=1) if metric == "l1" else np.einsum("ij,ij->i", points, points))


def _sizes(points: Floats, metric: str) -> float:
    return float(_sizes_each(points, metric).max())


def _length(low: Floats, metric: str, error: float) -> Floats:
    """A lower limit of a distance from one of what the library answers, which for l2 is a square."""
    if metric == "l1":
        return low
    roots = np.sqrt(np.maximum(low, 0.0))
    return np.where(low < 0.0, -1.0, roots * (1.0 - min(error, 1e-15)))
