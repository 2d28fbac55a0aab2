"""Practical membership privacy: its cost beside one distance-matrix product, and two ways through all training sets.

Only ratios inside one run mean anything: machines differ and are shared.
"""

import numpy as np

from benchmarks.harness import Run, least, table
from benchmarks.worlds import Floats
from estimators.theory import shifts, subsets
from estimators.theory.pmp.distances import clip_rows, of_sum
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian
from estimators.theory.pmp.laws import laws_of_blocks


def product(points: Floats, block: int = 1000) -> None:
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
    yield "2n | one product, s | everything, s | ratio (wanted: <= 20) | epsilon~ | TV"
    for records in (2_000, 10_000, 20_000)[: 1 if run.quick else None]:
        points = clip_rows(np.random.default_rng(0).normal(size=(records, 50)), 50.0) / (records // 2)
        base, ours = least(lambda p=points: product(p)), least(lambda p=points: everything(p), 1)
        epsilon, variation = everything(points)
        yield f"{records:,} | {base:.3f} | {ours:.3f} | {ours / base:.1f} | {epsilon:.3f} | {variation:.3f}"


def one_by_one(scores: Floats, number: int) -> None:
    """The laws of all training sets, one after the other."""
    chosen = subsets.all_subsets(len(scores), len(scores) // 2)
    laws_of_blocks(((block, block @ scores) for block in chosen), number, len(scores))


@table
def exponential(run: Run):
    """The exponential mechanism, 32 outcomes, epsilon 10, all training sets: one by one, and as products of halves."""
    yield "2n | training sets | one by one, s | by halves, s | epsilon(X), s | epsilon~"
    for records in (12, 16, 20, 24, 28, 30)[: 2 if run.quick else None]:
        mechanism = Summed(np.random.default_rng(0).random((records, 32)), 1.0)
        scores, number = mechanism.scores(10.0), subsets.how_many(records, records // 2)
        slow = paired = "-"
        if records <= 20:
            slow = f"{least(lambda s=scores, n=number: one_by_one(s, n), 1):.3f}"
            paired = f"{least(lambda m=mechanism: m.on_records(10.0), 1):.3f}"
        quick = least(lambda m=mechanism: m.exact(10.0), 1)
        yield f"{records} | {number:,} | {slow} | {quick:.3f} | {paired} | {mechanism.exact(10.0).epsilon:.3f}"
