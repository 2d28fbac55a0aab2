"""Exact nearest neighbours: what being exact costs over the library alone, in time and in memory.

    python -m benchmarks.neighbours                  # 10^5 x 10^5 x 20, the table of docs/queries.md; some minutes
    python -m benchmarks.neighbours --rows 20000     # smaller

For each kind of data: which library was chosen, its CPU seconds alone (candidates only, as it answers them), those of
`nearest`, which also judges them again in float64, the ratio (at most 1.2), the memory beyond the two matrices (at most
300 MiB), and the largest difference from brute force in float64 on some of the records (must be 0).
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from estimators.queries.neighbours import nearest

Floats = NDArray[np.float64]

K = 2
LINE = "| {:<10} | {:<6} | {:<6} | {:>10.1f} | {:>10.1f} | {:>5.2f} | {:>9.0f} | {:>10g} | {:>6} |"


def gaussian(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=(n, 20))


def low_rank(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=(n, 6)) @ np.random.default_rng(1).normal(size=(6, 20)) / 6.0


def mixed(rng: np.random.Generator, n: int) -> Floats:
    """Ten numbers that hang together, and two categories of five levels, on the lattice of `encode`."""
    numbers = 0.5 + 0.5 * np.tanh(
        0.3 * rng.normal(size=(n, 4)) @ np.random.default_rng(2).normal(size=(4, 10))
    )
    levels = [0.5 * np.eye(5)[rng.integers(0, 5, n)] for _ in range(2)]
    return np.hstack([np.rint(numbers * 2.0**40) / 2.0**40, *levels])


DATA: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "mixed": mixed,
    "low rank": low_rank,
    "Gaussian": gaussian,
}
CASES = (("mixed", "l1"), ("low rank", "l2"), ("mixed", "l2"), ("Gaussian", "l2"))


def tables(name: str, n: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(0)
    records, rows = DATA[name](rng, n), DATA[name](rng, n)
    records[:50] = rows[:50]
    return records, rows


def alone(records: Floats, rows: Floats, metric: str, engine: str) -> None:
    """The library as anybody would call it."""
    if engine == "tree":
        from scipy.spatial import cKDTree

        cKDTree(rows, leafsize=32, balanced_tree=False).query(records, K, p=1 if metric == "l1" else 2)
    elif engine == "scan":
        from sklearn.neighbors import NearestNeighbors
        from threadpoolctl import threadpool_limits

        kind = "manhattan" if metric == "l1" else "euclidean"
        with threadpool_limits(limits=1):
            NearestNeighbors(n_neighbors=K, algorithm="brute", metric=kind).fit(rows).kneighbors(records)
    else:
        import faiss
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            index = faiss.IndexFlat(rows.shape[1], faiss.METRIC_L1 if metric == "l1" else faiss.METRIC_L2)
            index.add(rows.astype(np.float32))
            index.search(records.astype(np.float32), K)


def measured(pipe: Connection, name: str, metric: str, n: int, engine: str | None) -> None:
    """In a process of its own: CPU seconds, peak of memory beyond the tables, and the difference from brute force."""
    import scipy.spatial  # noqa: F401 - neither side pays for imports
    import sklearn.neighbors  # noqa: F401

    records, rows = tables(name, n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    if engine is not None:
        alone(records, rows, metric, engine)
        pipe.send((time.process_time() - start, 0.0, 0.0, engine, 0))
        return
    answer = nearest(records, rows, K, metric)
    seconds = time.process_time() - start
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024.0
    off = 0.0
    for index in np.linspace(0, n - 1, 200).astype(np.int64):
        gaps = records[index] - rows
        far = np.abs(gaps).sum(axis=1) if metric == "l1" else np.sqrt((gaps**2).sum(axis=1))
        off = max(off, float(np.abs(np.sort(np.partition(far, K)[:K]) - answer.distances[index]).max()))
    copies = int((answer.distances[:50, 0] == 0.0).sum())
    pipe.send((seconds, memory, off, answer.engine, copies))


def apart(*arguments: Any) -> tuple[float, float, float, str, int]:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=measured, args=(there, *arguments))
    process.start()
    answer: tuple[float, float, float, str, int] = here.recv()
    process.join()
    return answer


def lines(n: int) -> Iterator[str]:
    yield "| data | metric | engine | alone, CPU s | ours, CPU s | ratio | extra MiB | difference | copies at 0 |"
    yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name, metric in CASES:
        seconds, memory, off, engine, copies = apart(name, metric, n, None)
        library, *_ = apart(name, metric, n, engine)
        yield LINE.format(
            name, metric, engine, library, seconds, seconds / library, memory, off, f"{copies}/50"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=100_000)
    for line in lines(parser.parse_args().rows):
        print(line, flush=True)


if __name__ == "__main__":
    main()
