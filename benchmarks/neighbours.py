"""Exact nearest neighbours: what being exact costs over the library alone, in time and in memory.

For each kind of data: which library was chosen, its CPU seconds alone (candidates only, as it answers them), those of
`nearest`, which also judges them again in float64, the ratio (at most 1.2), the memory beyond the two matrices (at most
300 MiB), and the largest difference from brute force in float64 on some of the records (must be 0).
"""

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng
from estimators.audits.queries.neighbours import nearest

OPTIONS = {"rows": (100_000, 3000)}
K = 2


def mixed(rng: Rng, n: int) -> Floats:
    """Ten numbers that hang together, and two categories of five levels, on the lattice of `encode`."""
    weights = np.random.default_rng(2).normal(size=(4, 10))
    numbers = 0.5 + 0.5 * np.tanh(0.3 * rng.normal(size=(n, 4)) @ weights)
    levels = [0.5 * np.eye(5)[rng.integers(0, 5, n)] for _ in range(2)]
    return np.hstack([np.rint(numbers * 2.0**40) / 2.0**40, *levels])


DATA = {
    "mixed": mixed,
    "low rank": lambda rng, n: rng.normal(size=(n, 6)) @ np.random.default_rng(1).normal(size=(6, 20)) / 6.0,
    "Gaussian": lambda rng, n: rng.normal(size=(n, 20)),
}
CASES = (("mixed", "l1"), ("low rank", "l2"), ("mixed", "l2"), ("Gaussian", "l2"))


def alone(records: Floats, rows: Floats, metric: str, engine: str) -> None:
    with threadpool_limits(limits=1):
        if engine == "tree":
            from scipy.spatial import cKDTree

            cKDTree(rows, leafsize=32, balanced_tree=False).query(records, K, p=1 if metric == "l1" else 2)
        elif engine == "scan":
            from sklearn.neighbors import NearestNeighbors

            kind = "manhattan" if metric == "l1" else "euclidean"
            NearestNeighbors(n_neighbors=K, algorithm="brute", metric=kind).fit(rows).kneighbors(records)
        else:
            import faiss

            index = faiss.IndexFlat(rows.shape[1], faiss.METRIC_L1 if metric == "l1" else faiss.METRIC_L2)
            index.add(rows.astype(np.float32))
            index.search(records.astype(np.float32), K)


def measured(name: str, metric: str, n: int, engine: str | None) -> Any:
    """In a process of its own: CPU seconds, peak of memory beyond the tables, and the difference from brute force."""
    import scipy.spatial  # noqa: F401 - neither side pays for imports
    import sklearn.neighbors  # noqa: F401

    rng = np.random.default_rng(0)
    records, rows = DATA[name](rng, n), DATA[name](rng, n)
    records[:50] = rows[:50]
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    if engine is not None:
        alone(records, rows, metric, engine)
        return time.process_time() - start
    answer = nearest(records, rows, K, metric)
    seconds = time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0
    off = 0.0
    for index in np.linspace(0, n - 1, 200).astype(np.int64):
        gaps = records[index] - rows
        far = np.abs(gaps).sum(axis=1) if metric == "l1" else np.sqrt((gaps**2).sum(axis=1))
        off = max(off, float(np.abs(np.sort(np.partition(far, K)[:K]) - answer.distances[index]).max()))
    return seconds, memory, off, answer.engine, int((answer.distances[:50, 0] == 0.0).sum())


def apart(*arguments: Any) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(measured, *arguments).result()


@table
def cost(run: Run):
    yield "data | metric | engine | alone, CPU s | ours, CPU s | ratio | extra MiB | difference | copies at 0"
    for name, metric in CASES[: 2 if run.quick else None]:
        seconds, memory, off, engine, copies = apart(name, metric, run.rows, None)
        library = apart(name, metric, run.rows, engine)
        yield (
            f"{name} | {metric} | {engine} | {library:.1f} | {seconds:.1f} | {seconds / library:.2f} | {memory:.0f} | "
            f"{off:g} | {copies}/50"
        )
