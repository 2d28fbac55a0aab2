"""Several models of one training procedure: how often the mean and the next model lie within their limits.

    python -m benchmarks.procedure               # about seven minutes on one core
    python -m benchmarks.procedure --runs 0.2    # a fifth of the runs

Nonmembers' scores are normal, members' shifted by the model's own leak, which varies between trainings by a share of
itself: as a normal number, or otherwise where the law is named. "one model": how often the interval of a single model
contains the mean over trainings. "share" is the estimated share of the variance before it is cut off at 0, on
average, "truth" that of a rule which needs no learning. "settled" is the share of sets of models whose verdict stands.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.clusters import shift
from benchmarks.coverage import most_misses
from estimators import Counts, Decision, Scores
from estimators.advantage import Ends, ends_of
from estimators.plan import decision
from estimators.procedure import plan_models
from estimators.procedure.limits import Trainings
from estimators.procedure.trainings import evidence_by, seeds_of
from estimators.sample.counting import finest

Floats = NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Floats]

RUNS = 400
ALPHA = 0.025
ROWS = 200
"""Records of a side of each model."""

MANY = 400_000
"""Trainings of which the truth is the mean."""


def normal(leak: float, varies: float) -> Law:
    """Shifts that vary by this share of themselves."""
    return lambda rng, number: shift(leak) * (1.0 + varies * rng.normal(size=number))


def two_values(leak: float, varies: float) -> Law:
    """Shifts of which half are so much smaller, half so much larger."""
    return lambda rng, number: shift(leak) * (1.0 + varies * rng.choice([-1.0, 1.0], number))


def skewed(leak: float, varies: float) -> Law:
    """Log-normal shifts."""
    deviation = np.sqrt(np.log1p(varies**2))
    return lambda rng, number: shift(leak) * np.exp(deviation * rng.normal(size=number) - deviation**2 / 2.0)


def rare(leak: float, share: float) -> Law:
    """Shifts of which this share are four times as large."""
    return lambda rng, number: np.where(rng.random(number) < share, 4.0, 1.0) * shift(leak)


@dataclass(frozen=True)
class World:
    """How models leak, how many there are and how many records each has of a side."""

    name: str
    law: Law
    models: int
    rows: int = ROWS

    def advantages(self, shifts: Floats) -> Floats:
        """The best attacker's advantage on models of these shifts."""
        return np.abs(2.0 * ndtr(shifts / 2.0) - 1.0)

    @property
    def truth(self) -> tuple[float, float, float]:
        """The mean over trainings, their standard deviation, and the share of the variance that is theirs."""
        many = self.advantages(self.law(np.random.default_rng(1), MANY))
        noise = float(np.mean(1.0 - many**2)) / (2.0 * self.rows)
        between = float(many.var())
        return float(many.mean()), float(np.sqrt(between)), between / (between + noise)

    def model(self, own: float, rng: np.random.Generator, seed: int) -> Ends:
        """Both ends of one model."""
        scores = Scores.of(rng.normal(own, 1.0, self.rows), rng.normal(0.0, 1.0, self.rows))
        counts: Counts = finest(scores)
        return ends_of(counts, 0.5, None, seed)


def worlds() -> list[World]:
    """All that is drawn from."""
    sizes = (4, 8, 16, 64)
    listed = [
        World(f"{k} models, {leak}, varies by {varies:.0%}", normal(leak, varies), k)
        for leak, varies in ((0.0, 0.0), (0.2, 0.0), (0.2, 0.2), (0.2, 0.5), (0.6, 0.2), (0.6, 0.5))
        for k in sizes
    ]
    listed += [
        World(f"{k} models x {2 * rows}, 0.2, varies by 50%", normal(0.2, 0.5), k, rows)
        for rows in (50, 1000)
        for k in (4, 16)
    ]
    for name, law in (
        ("0.2, two values, 50% apart", two_values(0.2, 0.5)),
        ("0.2, log-normal by 50%", skewed(0.2, 0.5)),
        ("0.2, one in ten four times as much", rare(0.2, 0.1)),
    ):
        listed += [World(f"{k} models, {name}", law, k) for k in (4, 8, 64)]
        listed += [World(f"{k} models x 2000, {name}", law, k, 1000) for k in (4, 16)]
    return listed


def uncut_share(seen: Trainings) -> float:
    """The estimated share of the variance before it is cut off at 0, for a share cannot be less."""
    k = seen.number
    return 1.0 - seen.noise * (k - 3) / (k - 1) / seen.variance


def row(world: World, share: float) -> str:
    """A line of the table."""
    mean, spread, part = world.truth
    runs = max(4, round(RUNS * share * min(1.0, 16.0 / world.models)))
    misses, widths, shares, spreads, one, proven = np.zeros(4), np.zeros(3), [], 0, 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        shifts = world.law(rng, world.models + 1)
        seeds = seeds_of(world.models, seed)
        ends = [world.model(float(own), rng, each) for own, each in zip(shifts[:-1], seeds, strict=True)]
        seen = Trainings.of([evidence_by(each) for each in ends])
        coming = float(world.advantages(shifts[-1:])[0])
        limits = [
            tuple(min(1.0, max(0.0, end)) for end in pair)
            for pair in (seen.mean(ALPHA), seen.next_one(ALPHA), seen.whatever_they_do(ALPHA))
        ]
        for i, (pair, truth) in enumerate(zip(limits, (mean, coming, mean), strict=True)):
            outside = pair[0] > truth + 1e-12, pair[1] < truth - 1e-12
            if i < 2:
                misses[2 * i : 2 * i + 2] += outside
            else:
                proven += any(outside)
            widths[i] += pair[1] - pair[0]
        low, high = seen.spread(ALPHA)[1]
        spreads += low <= spread <= high
        shares.append(uncut_share(seen))
        one += max(0.0, ends[0].lower(ALPHA)) <= mean <= ends[0].upper(ALPHA)
    marks = ["!" * (int(each) > most_misses(runs, ALPHA)) for each in misses]
    cells = [f"{each / runs:.3f}{mark}" for each, mark in zip(misses, marks, strict=True)]
    return (
        f"| {world.name} | {mean:.3f} | {runs} | {cells[0]} | {cells[1]} | {widths[0] / runs:.2f} | {cells[2]} | "
        f"{cells[3]} | {widths[1] / runs:.2f} | {1 - proven / runs:.3f} | {widths[2] / runs:.2f} | {one / runs:.2f} | "
        f"{np.mean(shares):.2f} | {part:.2f} | {spreads / runs:.2f} |"
    )


PLANS = (
    (0.2, 0.1, 0.05, 1000),
    (0.2, 0.1, 0.1, 1000),
    (0.15, 0.1, 0.05, 2000),
    (0.05, 0.2, 0.05, 1000),
    (0.3, 0.4, 0.15, 2000),
)
"""Expected advantage, threshold, spread, and records of each model."""


def plan_row(expected: float, threshold: float, spread: float, records: int, share: float) -> str:
    """How often the planned number of models settles the verdict, if advantages are normal."""
    planned = plan_models(expected, threshold, spread, records).models
    if planned is None:
        raise ValueError("nothing settles it")
    world = World("", lambda rng, number: np.zeros(number), planned, records // 2)
    runs = max(4, round(RUNS / 2 * share))
    settled = 0
    for seed in range(runs):
        rng = np.random.default_rng(10_000 + seed)
        leaks = np.clip(rng.normal(expected, spread, planned), 0.0, 0.99)
        pairs = zip(leaks, seeds_of(planned, seed), strict=True)
        seen = Trainings.of([evidence_by(world.model(shift(float(leak)), rng, own)) for leak, own in pairs])
        lower, upper = seen.mean(ALPHA)
        settled += decision(max(lower, 0.0), upper, threshold) is not Decision.INCONCLUSIVE
    return f"| {expected} | {threshold} | {spread} | {records} | {planned} | {runs} | {settled / runs:.2f} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1.0, help="part of the runs")
    parser.add_argument("--only", default="", help="worlds whose name contains this; plan: the plans alone")
    arguments = parser.parse_args()
    if arguments.only != "plan":
        print(
            "| world | mean | runs | above | below | width | next above | next below | width | proven covers | width | "
            "one model | share | truth | spread covered |"
        )
        print("| --- |" + " ---: |" * 14)
        for world in worlds():
            if arguments.only in world.name:
                print(row(world, arguments.runs), flush=True)
        print()
    print("| expected | threshold | spread | records of a model | models planned | runs | settled |")
    print("|" + " ---: |" * 7)
    for each in PLANS:
        print(plan_row(*each, arguments.runs), flush=True)


if __name__ == "__main__":
    main()
