"""How often a mechanism at exactly what it claims is contradicted by ``estimators.theory.agreement``: at most 5%.

Beside it how often the advantage's upper end, which speaks at a resolution, lies below that at full resolution.
Blurred randomised response attains what its epsilon allows in every row at once, so nothing is harder.
"""

from collections import Counter
from functools import partial
from itertools import product

import numpy as np

from benchmarks.harness import Run, table
from estimators import Scores
from estimators.theory.agreement import agreement
from estimators.theory.dp import GaussianDp, advantage_ceiling, gdp_ceiling
from tests.estimators.theory.test_agreement import answers, shifted

SIDES = ((100, 100), (1000, 1000), (200, 1800))
PRIORS = (0.3, 0.5)
RUNS = 300
WORLDS = {
    f"randomised response, epsilon {each:g}": (answers, each, (each, 0.0), partial(advantage_ceiling, each, 0.0))
    for each in (0.0, 1.0, 3.0)
} | {
    f"Gaussian, mu 1, delta {name}": (shifted, 1.0, GaussianDp(1.0).pair(float(name)), partial(gdp_ceiling, 1.0))
    for name in ("1e-5", "0.1")
}
"""How a score is drawn and how much it tells, the claim it attains, and its advantage at a prior."""


@table
def contradicted(run: Run):
    yield "world | sides | prior | any no | too low | rows that say no"
    runs = run.times(RUNS)
    cases = run.few(product(WORLDS.items(), SIDES, PRIORS), 10)
    for (name, (draw, size, claim, truth)), sides, prior in cases:
        rng, wrong, low, rows = np.random.default_rng(5), 0, 0, Counter[str]()
        for seed in range(runs):
            result = agreement(Scores.of(*draw(rng, size, *sides)), *claim, prior, rates=(0.01, 0.1), seed=seed)
            wrong += result.decision == "contradicted"
            upper = next(row for row in result.rows if row.quantity == "advantage").estimate.upper
            low += upper < truth(prior)
            rows.update(row.quantity for row in result.rows if row.agrees == "no")
        which = ", ".join(f"{row} {times / runs:.1%}" for row, times in rows.items())
        yield f"{name} | {sides[0]}:{sides[1]} | {prior:.1f} | {wrong / runs:.1%} | {low / runs:.1%} | {which}"
