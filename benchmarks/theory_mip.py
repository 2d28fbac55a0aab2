"""How much noise ``privatize`` adds to the mean of n normal records, by each of its ways.

    OMP_NUM_THREADS=1 python -m benchmarks.theory_mip

In units of a record's spread over the root of n, so that a way that needs less as n grows is seen to.
"""

from __future__ import annotations

import time

import numpy as np

from estimators.theory import mip
from estimators.theory.mip.privatize import Method

ETA = 0.1
SIZES = (50, 200, 500)
DATA = (1, 2, 3)
WAYS: dict[str, Method] = {
    "swaps (certified)": mip.Swaps(),
    "draws (certified)": mip.Draws(),
    "moment (estimate)": mip.Moment(),
    "paper (estimate)": mip.Paper(),
}


def noise(n: int, method: Method) -> tuple[list[float], float]:
    """The deviation of the noise for each data set, and the seconds that one took at least."""
    found, took = [], []
    for seed in DATA:
        records = np.random.default_rng(seed).normal(size=n)
        start = time.perf_counter()
        released = mip.privatize(np.mean, records, ETA, seed=seed, method=method)
        took.append(time.perf_counter() - start)
        found.append(float(released.deviation) * np.sqrt(n) / records.std())
    return found, min(took)


def main() -> None:
    """A line for each size, a column for each way."""
    print("| n |", " | ".join(WAYS), "|")
    print("| --- |", " | ".join("---" for _ in WAYS), "|")
    for n in SIZES:
        cells = []
        for method in WAYS.values():
            found, took = noise(n, method)
            cells.append(f"{min(found):.3g} - {max(found):.3g} ({took:.1f} s)")
        print(f"| {n} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
