"""How long membership inference security takes, as a multiple of np.sum over as many numbers in the same run.

    OMP_NUM_THREADS=1 python -m benchmarks.theory
    OMP_NUM_THREADS=1 python -m benchmarks.theory --coverage     # how often its intervals miss, and how wide they are

Only ratios inside one run mean anything: machines differ and are shared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from math import log, sqrt

import numpy as np

from estimators.theory.mis.certified import diversity, worst_delta_from
from estimators.theory.mis.diversity import balanced, c_k, frequent
from estimators.theory.mis.security import records_needed, worst_delta
from estimators.theory.mis.tally import Tally

CATEGORIES = 10**6
REPEATS = 5


def best(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest of some runs, in seconds."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def speed() -> Iterator[tuple[str, float]]:
    p = np.random.default_rng(0).dirichlet(np.ones(CATEGORIES))
    counts = np.random.default_rng(1).multinomial(10**7, p)
    tally = Tally.of_counts(counts, CATEGORIES)
    yield "np.sum", best(lambda: np.sum(p), 50)
    for n in (10**4, 10**6, 10**9):
        for gamma in (1.0, 0.8, 1.2):
            yield (
                f"Theorem 14, n = {n:.0e}, gamma = {gamma:g}",
                best(lambda n=n, g=gamma: worst_delta(p, n, g)),
            )  # type: ignore[misc]
    yield "records needed, exact", best(lambda: records_needed(p, 0.01), 1)
    yield "counts of counts, 10^7 records", best(lambda: Tally.of_counts(counts), 3)
    yield "certified Delta from counts", best(lambda: worst_delta_from(tally, 10**7), 3)
    yield "certified C_K from counts", best(lambda: diversity(tally), 3)
    yield "keep the most frequent 1000", best(lambda: frequent(p, 1000), 3)
    yield "balance into 1000 cells", best(lambda: balanced(p, 1000), 1)


def worlds(k: int) -> Iterator[tuple[str, np.ndarray]]:
    yield "uniform", np.full(k, 1.0 / k)
    yield "geometric 0.9", 0.9 ** np.arange(k) / (0.9 ** np.arange(k)).sum()
    yield "Zipf", 1.0 / np.arange(1, k + 1) / (1.0 / np.arange(1, k + 1)).sum()
    yield "one of 0.9", np.append(0.9, np.full(k - 1, 0.1 / (k - 1)))
    yield "one of 0.999", np.append(0.999, np.full(k - 1, 0.001 / (k - 1)))


def coverage(runs: int) -> None:
    rng = np.random.default_rng(2)
    print("quantity | K | N | world | universe | truth | mean interval | McDiarmid, one side | missed")
    for k, n in ((4, 50), (20, 300), (100, 10_000), (3000, 1000)):
        for name, p in worlds(k):
            for universe in (k, None):
                tallies = [Tally.of_counts(rng.multinomial(n, p), universe) for _ in range(runs)]
                delta = [worst_delta_from(tally, n).interval for tally in tallies]
                rows = [("Delta at N", worst_delta(p, n), delta, sqrt(2.0 * log(40.0) / n))]
                if universe:
                    found = [diversity(tally).interval for tally in tallies]
                    rows.insert(0, ("C_K", c_k(p), found, sqrt(2.0 * log(40.0))))
                for what, truth, each, radius in rows:
                    lower, upper = np.mean([[i.lower, i.upper] for i in each], axis=0)
                    missed = sum(truth not in i for i in each)
                    print(
                        f"{what} | {k} | {n} | {name} | {universe or 'unknown'} | {truth:.4f} | "
                        f"[{lower:.4f}, {upper:.4f}] | {radius:.4f} | {missed}/{runs}"
                    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--runs", type=int, default=400)
    chosen = parser.parse_args()
    if chosen.coverage:
        coverage(chosen.runs)
        return
    unit = None
    for what, seconds in speed():
        unit = unit or seconds
        print(f"{what:45s} {1e3 * seconds:10.2f} ms {seconds / unit:10.0f} x np.sum")


if __name__ == "__main__":
    main()
