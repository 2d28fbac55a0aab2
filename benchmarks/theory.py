"""How long membership inference security takes, as a multiple of np.sum over as many numbers in the same run.

With one thread (OMP_NUM_THREADS=1). Only ratios inside one run mean anything: machines differ and are shared. Beside
it, how often its intervals miss, and how wide they are.
"""

from itertools import product
from math import log, sqrt

import numpy as np

from benchmarks.harness import Run, least, table
from estimators.theory.mis.certified import diversity, worst_delta_from
from estimators.theory.mis.diversity import balanced, c_k, frequent
from estimators.theory.mis.security import records_needed, worst_delta
from estimators.theory.mis.tally import Tally

OPTIONS = {"categories": (1_000_000, 100_000)}
RUNS = 400


@table
def speed(run: Run):
    """Milliseconds, and how many sums they are."""
    p = np.random.default_rng(0).dirichlet(np.ones(run.categories))
    counts = np.random.default_rng(1).multinomial(10**7, p)
    tally = Tally.of_counts(counts, run.categories)
    tasks = {"np.sum": (lambda: np.sum(p), 50)}
    for n, gamma in product((10**4, 10**6, 10**9), (1.0, 0.8, 1.2)):
        tasks[f"Theorem 14, n = {n:.0e}, gamma = {gamma:g}"] = (lambda n=n, g=gamma: worst_delta(p, n, g)), 5
    tasks |= {
        "records needed, exact": (lambda: records_needed(p, 0.01), 1),
        "counts of counts, 10^7 records": (lambda: Tally.of_counts(counts), 3),
        "certified Delta from counts": (lambda: worst_delta_from(tally, 10**7), 3),
        "certified C_K from counts": (lambda: diversity(tally), 3),
        "keep the most frequent 1000": (lambda: frequent(p, 1000), 3),
        "balance into 1000 cells": (lambda: balanced(p, 1000), 1),
    }
    yield "what | ms | times `np.sum`"
    unit = 0.0
    for what, (work, times) in tasks.items():
        seconds = least(work, times)
        unit = unit or seconds
        yield f"{what} | {1e3 * seconds:.2f} | {seconds / unit:.0f}"


def worlds(k: int) -> dict[str, np.ndarray]:
    """Categories, and how frequent each is."""
    decay, rank = 0.9 ** np.arange(k), 1.0 / np.arange(1, k + 1)
    return {
        "uniform": np.full(k, 1.0 / k),
        "geometric 0.9": decay / decay.sum(),
        "Zipf": rank / rank.sum(),
        "one of 0.9": np.append(0.9, np.full(k - 1, 0.1 / (k - 1))),
        "one of 0.999": np.append(0.999, np.full(k - 1, 0.001 / (k - 1))),
    }


@table
def coverage(run: Run):
    """How often the certified intervals of C_K and of Delta miss, and how wide they are."""
    runs, rng = run.times(RUNS, 2), np.random.default_rng(2)
    yield "quantity | K | N | world | universe | truth | mean interval | McDiarmid, one side | missed"
    for k, n in ((4, 50), (20, 300), (100, 10_000), (3000, 1000)):
        for (name, p), universe in product(worlds(k).items(), (k, None)):
            tallies = [Tally.of_counts(rng.multinomial(n, p), universe) for _ in range(runs)]
            delta = [worst_delta_from(tally, n).interval for tally in tallies]
            rows = [("Delta at N", worst_delta(p, n), delta, sqrt(2.0 * log(40.0) / n))]
            if universe:
                found = [diversity(tally).interval for tally in tallies]
                rows.insert(0, ("C_K", c_k(p), found, sqrt(2.0 * log(40.0))))
            for what, truth, each, radius in rows:
                lower, upper = np.mean([[i.lower, i.upper] for i in each], axis=0)
                missed = sum(truth not in i for i in each)
                yield (
                    f"{what} | {k} | {n} | {name} | {universe or 'unknown'} | {truth:.4f} | "
                    f"[{lower:.4f}, {upper:.4f}] | {radius:.4f} | {missed}/{runs}"
                )
