"""How often a mechanism at exactly what it claims is contradicted by ``estimators.agreement``: at most 5% is promised.

Beside it how often the advantage's upper end, which speaks at a resolution, lies below that at full resolution.
Blurred randomised response attains what its epsilon allows in every row at once, so nothing is harder.
"""

from collections import Counter
from functools import partial
from itertools import product

import numpy as np
from scipy.special import expit

from benchmarks.harness import Run, table
from benchmarks.worlds import Rng
from estimators import Scores
from estimators.agreement import agreement
from estimators.theory.dp import GaussianDp, advantage_ceiling, gdp_ceiling

SIDES = ((100, 100), (1000, 1000), (200, 1800))
PRIORS = (0.3, 0.5)
RUNS = 300


def answers(epsilon: float, rng: Rng, n_members: int, n_nonmembers: int) -> Scores:
    """Randomised response on membership, blurred inside each answer."""
    honest = expit(epsilon)
    members = np.where(rng.random(n_members) < honest, 1.0, -1.0)
    nonmembers = np.where(rng.random(n_nonmembers) < honest, -1.0, 1.0)
    return Scores.of(members + 0.5 * rng.random(n_members), nonmembers + 0.5 * rng.random(n_nonmembers))


def shifted(mu: float, rng: Rng, n_members: int, n_nonmembers: int) -> Scores:
    return Scores.of(rng.normal(mu, 1.0, n_members), rng.normal(0.0, 1.0, n_nonmembers))


WORLDS = {
    f"randomised response, epsilon {epsilon:g}": (
        partial(answers, epsilon),
        (epsilon, 0.0),
        partial(advantage_ceiling, epsilon, 0.0),
    )
    for epsilon in (0.0, 1.0, 3.0)
} | {
    f"Gaussian, mu 1, delta {name}": (
        partial(shifted, 1.0),
        GaussianDp(1.0).pair(delta),
        partial(gdp_ceiling, 1.0),
    )
    for name, delta in {"1e-5": 1e-5, "0.1": 0.1}.items()
}
"""A score, the claim it attains, and its advantage at a prior."""


@table
def contradicted(run: Run):
    """One line a world: how often any row says no, how often the upper end is too low, and which rows say no."""
    yield "world | sides | prior | any no | too low | rows that say no"
    runs = run.times(RUNS)
    for (name, (draw, claim, truth)), sides, prior in run.few(product(WORLDS.items(), SIDES, PRIORS), 10):
        rng, wrong, low, rows = np.random.default_rng(5), 0, 0, Counter[str]()
        for seed in range(runs):
            result = agreement(draw(rng, *sides), *claim, prior, rates=(0.01, 0.1), seed=seed)
            wrong += result.decision == "contradicted"
            upper = next(row for row in result.rows if row.quantity == "advantage").estimate.upper
            low += upper < truth(prior)
            rows.update(row.quantity for row in result.rows if row.agrees == "no")
        which = ", ".join(f"{row} {times / runs:.1%}" for row, times in rows.items())
        yield f"{name} | {sides[0]}:{sides[1]} | {prior:.1f} | {wrong / runs:.1%} | {low / runs:.1%} | {which}"
