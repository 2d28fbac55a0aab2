"""How often a mechanism at exactly what it claims is contradicted by ``estimators.agreement``: at most 5% is promised.

Beside it how often the advantage's upper end, which speaks at a resolution, lies below that at full resolution.

    python -m benchmarks.agreement [RUNS]

Blurred randomised response attains what its epsilon allows in every row at once, so nothing is harder.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product

import numpy as np
from scipy.special import expit

from estimators import Scores
from estimators.agreement import agreement
from estimators.theory.dp import GaussianDp, advantage_ceiling, gdp_ceiling

Draw = Callable[[np.random.Generator, int, int], Scores]
Pair = tuple[float, float]


def answers(epsilon: float) -> Draw:
    """Randomised response on membership, blurred inside each answer."""

    def draw(rng: np.random.Generator, n_members: int, n_nonmembers: int) -> Scores:
        honest = expit(epsilon)
        members = np.where(rng.random(n_members) < honest, 1.0, -1.0)
        nonmembers = np.where(rng.random(n_nonmembers) < honest, -1.0, 1.0)
        return Scores.of(members + 0.5 * rng.random(n_members), nonmembers + 0.5 * rng.random(n_nonmembers))

    return draw


def shifted(mu: float) -> Draw:
    """A Gaussian score."""
    return lambda rng, n1, n0: Scores.of(rng.normal(mu, 1.0, n1), rng.normal(0.0, 1.0, n0))


def of_answers(epsilon: float, prior: float) -> float:
    """The advantage at full resolution of answers that attain their epsilon."""
    return advantage_ceiling(epsilon, 0.0, prior)


def pair(mu: float, delta: float) -> Pair:
    """What mu-GDP is at a delta."""
    result = GaussianDp(mu).pair(delta)
    assert result is not None
    return result


WORLDS: dict[str, tuple[Draw, Pair, Callable[[float], float]]] = {
    "randomised response, epsilon 0": (answers(0.0), (0.0, 0.0), partial(of_answers, 0.0)),
    "randomised response, epsilon 1": (answers(1.0), (1.0, 0.0), partial(of_answers, 1.0)),
    "randomised response, epsilon 3": (answers(3.0), (3.0, 0.0), partial(of_answers, 3.0)),
    "Gaussian, mu 1, delta 1e-5": (shifted(1.0), pair(1.0, 1e-5), partial(gdp_ceiling, 1.0)),
    "Gaussian, mu 1, delta 0.1": (shifted(1.0), pair(1.0, 0.1), partial(gdp_ceiling, 1.0)),
}
"""A score, the claim it attains, and its advantage at a prior."""
SIDES = ((100, 100), (1000, 1000), (200, 1800))
PRIORS = (0.3, 0.5)


def main(runs: int) -> None:
    """One line a world: how often any row says no, how often the upper end is too low, and which rows say no."""
    print(f"{'world':32} {'sides':>12} {'prior':>5} {'any no':>7} {'too low':>7}  rows that say no")
    for (name, (draw, claim, truth)), sides, prior in product(WORLDS.items(), SIDES, PRIORS):
        rng, wrong, low, rows = np.random.default_rng(5), 0, 0, Counter[str]()
        for seed in range(runs):
            result = agreement(draw(rng, *sides), *claim, prior, rates=(0.01, 0.1), seed=seed)
            wrong += result.decision == "contradicted"
            low += next(row for row in result.rows if row.quantity == "advantage").estimate.upper < truth(
                prior
            )
            rows.update(row.quantity for row in result.rows if row.agrees == "no")
        which = ", ".join(f"{row} {100 * times / runs:.1f}%" for row, times in rows.items())
        print(
            f"{name:32} {sides!s:>12} {prior:5.1f} {100 * wrong / runs:6.1f}% {100 * low / runs:6.1f}%  {which}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
