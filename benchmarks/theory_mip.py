"""How much noise ``privatize`` adds to the mean of n normal records, by each of its ways.

In units of a record's spread over the root of n, so that a way that needs less as n grows is seen to.
"""

import numpy as np

from benchmarks.harness import Run, least, table
from estimators.theory import mip

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
def noise(run: Run):
    """A line for each size, a column for each way: the deviations of the noise, and the seconds of one at least."""
    yield f"n | {' | '.join(WAYS)}"
    for n in run.few(SIZES, 1):
        cells = []
        for method in WAYS.values():
            found, took = [], []
            for seed in DATA:
                records = np.random.default_rng(seed).normal(size=n)
                released = []

                def ask(records=records, seed=seed, method=method, released=released) -> None:
                    released.append(mip.privatize(np.mean, records, ETA, seed=seed, method=method))

                took.append(least(ask, 1))
                found.append(float(released[0].deviation) * np.sqrt(n) / records.std())
            cells.append(f"{min(found):.3g} - {max(found):.3g} ({min(took):.1f} s)")
        yield f"{n} | {' | '.join(cells)}"
