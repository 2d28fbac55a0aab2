"""What theory promises: its speed, how often its intervals miss, and how much noise it adds.

With one thread (OMP_NUM_THREADS=1). Only ratios inside one run mean anything: machines differ and are shared.
"""

import time
from itertools import product
from math import sqrt

import numpy as np

from benchmarks.harness import Run, Title, least, table
from benchmarks.worlds import Floats
from estimators.theory import mip, shifts, subsets
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.certified import diversity, worst_delta_from
from estimators.theory.mis.security import balanced, c_k, frequent, records_needed, worst_delta
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian, clip_rows, of_sum
from estimators.theory.pmp.laws import laws_of_blocks

OPTIONS = {"categories": (1_000_000, 100_000)}
RUNS = 400
ETA = 0.1
SIZES = (50, 200, 500)
DATA = (1, 2, 3)
WAYS = {
    "swaps (certified)": mip.Swaps(),
    "draws (certified)": mip.Draws(),
    "moment (estimate)": mip.Moment(),
    "paper (estimate)": mip.Paper(),
}


@table
def security(run: Run):
    """Membership inference security: milliseconds, and how many sums over as many numbers they are."""
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
    """Means of the certified intervals of C_K and of Delta, how often they miss, and Delta's if K is not known."""
    runs, rng, unknown = run.times(RUNS, 2), np.random.default_rng(2), []
    yield "P, K, N | C_K | certified 95% | Delta at N | certified 95% | C_K known: C_K/(2 sqrt N) | missed"
    for k, n in ((4, 50), (20, 300), (100, 10_000), (3000, 1000))[: 2 if run.quick else None]:
        for name, p in worlds(k).items():
            diversities, truth, delta = c_k(p), f"{name}, {k}, {n}", worst_delta(p, n)
            both = [[Tally.of_counts(rng.multinomial(n, p), of) for _ in range(runs)] for of in (k, None)]
            deltas, of_others = ([worst_delta_from(each, n).interval for each in side] for side in both)
            of_known = [diversity(each).interval for each in both[0]]
            c_interval, c_missed = mean_interval(of_known, diversities, 2)
            d_interval, d_missed = mean_interval(deltas, delta, 4)
            bound = f"{diversities / (2.0 * sqrt(n)):.4f} | {c_missed}, {d_missed}"
            yield f"{truth} | {diversities:.3f} | {c_interval} | {delta:.4f} | {d_interval} | {bound}"
            interval, missed = mean_interval(of_others, delta, 4)
            unknown.append(f"{truth} | {delta:.4f} | {interval} | {missed}")
    yield Title("coverage_unknown", f"Means over {runs} samples, K unknown:")
    yield "P, K, N | Delta at N | certified 95% | missed"
    yield from unknown


def mean_interval(intervals: list, truth: float, digits: int) -> tuple[str, int]:
    """Their mean, and how many do not contain the truth."""
    lower, upper = np.mean([[each.lower, each.upper] for each in intervals], axis=0)
    return f"[{lower:.{digits}f}, {upper:.{digits}f}]", sum(truth not in each for each in intervals)


@table
def noise(run: Run):
    """What ``privatize`` adds to the mean of n normal records, by each of its ways, and the seconds of one at least.

    In units of a record's spread over the root of n, so that a way that needs less as n grows is seen to.
    """
    yield f"n | {' | '.join(WAYS)}"
    for n in run.few(SIZES, 1):
        cells = []
        for method in WAYS.values():
            found, took = [], []
            for seed in DATA:
                records, start = np.random.default_rng(seed).normal(size=n), time.perf_counter()
                released = mip.privatize(np.mean, records, ETA, seed=seed, method=method)
                took.append(time.perf_counter() - start)
                found.append(float(released.deviation) * np.sqrt(n) / records.std())
            cells.append(f"{min(found):.3g} - {max(found):.3g} ({min(took):.1f} s)")
        yield f"{n} | {' | '.join(cells)}"


def all_products(points: Floats, block: int = 1000) -> None:
    """All inner products, a block of rows at a time: what any distance matrix costs at least."""
    for start in range(0, len(points), block):
        np.dot(points[start : start + block], points.T)


def everything(points: Floats) -> tuple[float, float]:
    """Proposition 12 for the mean of n points: epsilon, total variation and a curve of 41 deltas."""
    moved = of_sum(points)
    mechanism = Gaussian(moved, shifts.gaussian_sigma(moved.largest, 10.0, 1e-2))
    mechanism.deltas(np.linspace(0.0, 10.0, 41))
    return mechanism.epsilon(1e-2), mechanism.total_variation()


@table
def gaussian(run: Run):
    """The Gaussian mechanism: the mean of n of 2n points in d = 50, delta 0.01, epsilon(X) = 10."""
    yield "2n | one product, s | everything, s | ratio (wanted: <= 20)"
    for records in (2_000, 10_000, 20_000)[: 1 if run.quick else None]:
        points = clip_rows(np.random.default_rng(0).normal(size=(records, 50)), 50.0) / (records // 2)
        base, ours = least(lambda p=points: all_products(p)), least(lambda p=points: everything(p), 1)
        yield f"{records:,} | {base:.3f} | {ours:.3f} | {ours / base:.1f}"


def one_by_one(scores: Floats, number: int) -> None:
    """The laws of all training sets, one after the other."""
    chosen = subsets.all_subsets(len(scores), len(scores) // 2)
    laws_of_blocks(((block, block @ scores) for block in chosen), number, len(scores))


@table
def exponential(run: Run):
    """The exponential mechanism, 32 outcomes, epsilon 10, all training sets: one by one, and as products of halves."""
    yield "2n | training sets | one by one, s | by halves, s | epsilon(X), s"
    for records in (12, 16, 20, 24, 28, 30)[: 2 if run.quick else None]:
        mechanism = Summed(np.random.default_rng(0).random((records, 32)), 1.0)
        scores, number = mechanism.scores(10.0), subsets.how_many(records, records // 2)
        slow = paired = "-"
        if records <= 20:
            slow = f"{least(lambda s=scores, n=number: one_by_one(s, n), 1):.3f}"
            paired = f"{least(lambda m=mechanism: m.on_records(10.0), 1):.3f}"
        quick = least(lambda m=mechanism: m.exact(10.0), 1)
        yield f"{records} | {number:,} | {slow} | {quick:.3f} | {paired}"
