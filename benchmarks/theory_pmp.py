"""Practical membership privacy: its cost beside one distance-matrix product, and two ways through all training sets.

python -m benchmarks.theory_pmp
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from estimators.theory import shifts, subsets
from estimators.theory.pmp.distances import clip_rows, of_sum
from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian
from estimators.theory.pmp.laws import Floats, laws_of_blocks


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least of a few runs."""
    found = []
    for _ in range(times):
        start = perf_counter()
        work()
        found.append(perf_counter() - start)
    return min(found)


def product(points: Floats, block: int = 1000) -> None:
    """All inner products, a block of rows at a time: what any distance matrix costs at least."""
    for start in range(0, len(points), block):
        np.dot(points[start : start + block], points.T)


def gaussian() -> None:
    """Proposition 12 for the mean of n points: epsilon, total variation and a curve of 41 deltas."""
    print("Gaussian mechanism, mean of n of 2n points in d = 50, delta 0.01, epsilon(X) = 10")
    print(f"{'2n':>7} {'one product s':>14} {'everything s':>13} {'ratio':>6} {'epsilon~':>9} {'TV':>6}")
    for records in (2_000, 10_000, 20_000):
        points = clip_rows(np.random.default_rng(0).normal(size=(records, 50)), 50.0) / (records // 2)

        def everything(points: Floats = points) -> tuple[float, float]:
            moved = of_sum(points)
            mechanism = Gaussian(moved, shifts.gaussian_sigma(moved.largest, 10.0, 1e-2))
            mechanism.deltas(np.linspace(0.0, 10.0, 41))
            return mechanism.epsilon(1e-2), mechanism.total_variation()

        base, ours = seconds(lambda points=points: product(points)), seconds(everything, 1)
        epsilon, variation = everything()
        print(f"{records:7} {base:14.3f} {ours:13.3f} {ours / base:6.1f} {epsilon:9.3f} {variation:6.3f}")


def exponential() -> None:
    """All training sets: one after the other, and as products of halves."""
    print("\nExponential mechanism, 32 outcomes, epsilon 10")
    print(
        f"{'2n':>4} {'training sets':>14} {'one by one s':>13} {'halves s':>9} {'epsilon(X) s':>13} {'epsilon~':>9}"
    )
    for records in (12, 16, 20, 24, 28, 30):
        mechanism = Summed(np.random.default_rng(0).random((records, 32)), 1.0)
        scores, number = mechanism.scores(10.0), subsets.how_many(records, records // 2)

        def one_by_one(scores: Floats = scores, number: int = number) -> None:
            chosen = subsets.all_subsets(len(scores), len(scores) // 2)
            laws_of_blocks(((block, block @ scores) for block in chosen), number, len(scores))

        slow = f"{seconds(one_by_one, 1):13.3f}" if records <= 20 else f"{'-':>13}"
        paired = (
            f"{seconds(lambda m=mechanism: m.on_records(10.0), 1):13.3f}" if records <= 20 else f"{'-':>13}"
        )
        quick = seconds(lambda m=mechanism: m.exact(10.0), 1)
        print(f"{records:4} {number:14,} {slow} {quick:9.3f} {paired} {mechanism.exact(10.0).epsilon:9.3f}")


if __name__ == "__main__":
    gaussian()
    exponential()
