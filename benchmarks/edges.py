"""Upper ends where they are hardest: near a total leak, at low priors, with few records, ties and many changes.

    python -m benchmarks.edges                # about a quarter of an hour on two cores
    python -m benchmarks.edges --runs 0.1     # a tenth of the runs

The truth is at full resolution. A world whose posterior crosses 1/2 at most twice is within the class that the default
covers, and each end may miss 2.5%. Beyond it a pass may mislead: "misleading" is the share of samples that would pass
at a limit just below the truth, and "at 8", "at 32" what is left of it if the answer's own upper end for so many
changes is used instead.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.coverage import most_misses
from estimators import Scores, advantage, difference, paired_difference
from estimators.advantage import upper_by_changes

Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Array]

ALPHA = 0.025
RUNS = 200
GRID = np.linspace(-15.0, 35.0, 1_000_001)


@dataclass(frozen=True)
class Edge:
    """Two laws of a score by their densities and draws, and how often the posterior crosses 1/2 at these priors."""

    name: str
    members: Draw
    nonmembers: Draw
    truth: Callable[[float], float]
    crossings: int


def mixture(*parts: tuple[float, float, float]) -> tuple[Draw, Callable[[Array], Array]]:
    """A mixture of normal laws, (share, mean, spread) each: how to draw from it, and its density."""
    shares, means, spreads = (np.array(column) for column in zip(*parts, strict=True))

    def draw(rng: np.random.Generator, n: int) -> Array:
        which = rng.choice(len(shares), n, p=shares)
        return rng.normal(means[which], spreads[which])

    def density(x: Array) -> Array:
        return np.asarray(sum(s * norm.pdf(x, m, d) for s, m, d in zip(shares, means, spreads, strict=True)))

    return draw, density


def of_mixtures(
    name: str,
    members: list[tuple[float, float, float]],
    nonmembers: list[tuple[float, float, float]],
    crossings: int,
) -> Edge:
    """A world of two mixtures, its truth by quadrature."""
    (draw, r), (other, q) = mixture(*members), mixture(*nonmembers)

    def truth(prior: float) -> float:
        return float(np.trapezoid(np.abs(prior * r(GRID) - (1.0 - prior) * q(GRID)), GRID))

    return Edge(name, draw, other, truth, crossings)


def sine(periods: int, depth: float = 0.6) -> Edge:
    """Uniform nonmembers, and members whose density waves around theirs: two crossings a period at a prior of 1/2."""

    def members(rng: np.random.Generator, n: int) -> Array:
        u = rng.random(4 * n + 100)
        return u[2.0 * rng.random(u.size) < 1.0 + depth * np.sin(2.0 * np.pi * periods * u)][:n]

    def truth(prior: float) -> float:
        u = (np.arange(100_000) + 0.5) / 100_000
        wave = 1.0 + depth * np.sin(2.0 * np.pi * periods * u)
        return float(np.abs(prior * wave - (1.0 - prior)).mean())

    return Edge(
        f"sine, {2 * periods} crossings", members, lambda rng, n: rng.random(n), truth, 2 * periods - 1
    )


def rounded(edge: Edge, digits: int) -> Edge:
    """The same, to so many digits: ties, and a truth no larger, which is taken at the values."""

    def truth(prior: float) -> float:
        rng = np.random.default_rng(0)
        sides = [np.round(draw(rng, 2_000_000), digits) for draw in (edge.members, edge.nonmembers)]
        values, at = np.unique(np.concatenate(sides), return_inverse=True)
        shares = [np.bincount(part, minlength=len(values)) / 2e6 for part in (at[:2_000_000], at[2_000_000:])]
        return float(np.abs(prior * shares[0] - (1.0 - prior) * shares[1]).sum())

    return Edge(
        f"{edge.name}, {digits} digits",
        lambda rng, n: np.round(edge.members(rng, n), digits),
        lambda rng, n: np.round(edge.nonmembers(rng, n), digits),
        truth,
        edge.crossings,
    )


STANDARD = [(1.0, 0.0, 1.0)]
NULL = of_mixtures("no leak", STANDARD, STANDARD, 0)
PERFECT = of_mixtures("perfectly separated", [(1.0, 20.0, 1.0)], STANDARD, 1)
NEARLY = of_mixtures("two percent overlap", [(0.98, 20.0, 1.0), (0.02, 0.0, 1.0)], STANDARD, 1)
MEMORISED = of_mixtures("5% memorised", [(0.05, 20.0, 1.0), (0.95, 0.0, 1.0)], STANDARD, 1)
SHIFT = of_mixtures("shift .5", [(1.0, 0.5, 1.0)], STANDARD, 1)
SHIFT_3 = of_mixtures("shift 3", [(1.0, 3.0, 1.0)], STANDARD, 1)
SCALE = of_mixtures("scale 1.5", [(1.0, 0.0, 1.5)], STANDARD, 2)
MODES = of_mixtures(
    "three modes",
    [(0.4, -4.0, 0.5), (0.3, 0.0, 0.5), (0.3, 4.0, 0.5)],
    [(0.5, -2.0, 0.5), (0.5, 2.0, 0.5)],
    4,
)

WITHIN = [
    (world, n1, n0, prior)
    for world in (NULL, SHIFT, PERFECT, NEARLY)
    for n1, n0, prior in (
        (8, 8, 0.5), (10, 10_000, 0.5), (300, 300, 0.5), (1000, 1000, 0.5), (200, 1800, 0.5), (100, 9900, 0.01),
        (9900, 100, 0.99), (1000, 1000, 0.1), (30, 3000, 0.01),
    )
] + [
    (MEMORISED, 1000, 1000, 0.1), (MEMORISED, 1000, 1000, 0.5), (MEMORISED, 100, 9900, 0.01),
    (SHIFT_3, 100, 9900, 0.01), (SHIFT_3, 1000, 1000, 0.5),
    (SCALE, 1000, 1000, 0.5), (SCALE, 300, 2700, 0.5), (SCALE, 500, 500, 0.2),
    (rounded(SHIFT, 0), 300, 300, 0.5), (rounded(SHIFT, 1), 200, 1800, 0.5), (rounded(PERFECT, 0), 500, 500, 0.5),
    (SHIFT, 10_000, 10_000, 0.5), (NULL, 10_000, 10_000, 0.5), (PERFECT, 10_000, 10_000, 0.5),
]  # fmt: skip
BEYOND = [(MODES, 1000, 1000, 0.5), (MODES, 5000, 5000, 0.5)] + [
    (sine(periods), n, n, 0.5) for periods in (2, 3, 10) for n in (1000, 5000)
]
CASES = WITHIN + BEYOND


PAIRS = [
    (1000, 1000, 0.5, 0.5, 0.3, 0.0), (1000, 1000, 0.5, 0.5, 0.3, 0.9), (1000, 1000, 0.5, 1.0, 1.0, 0.99),
    (1000, 1000, 0.5, 0.0, 0.0, 0.5), (1000, 1000, 0.5, 3.0, 0.2, 0.5), (1000, 1000, 0.5, 7.0, 0.0, 0.5),
    (200, 2000, 0.5, 0.8, 0.5, 0.9), (100, 900, 0.1, 1.5, 1.2, 0.9), (300, 300, 0.5, 1.0, 1.0, -0.9),
    (10_000, 10_000, 0.5, 0.5, 0.4, 0.9),
]  # fmt: skip
"""Sides, prior, shift of the members by the first score and by the second, correlation of the two scores' noise."""


def simulate_pair(task: tuple[int, int]) -> tuple[int, list[float]]:
    """One pair: the interval of the difference, how often its ends miss, and the width if records were others."""
    index, runs = task
    n1, n0, prior, first, second, alike = PAIRS[index]
    shifts = [of_mixtures("", [(1.0, shift, 1.0)], STANDARD, 1) for shift in (first, second)]
    truth = max(shifts[0].truth(prior), abs(2 * prior - 1)) - max(shifts[1].truth(prior), abs(2 * prior - 1))
    rng, rows = np.random.default_rng(index), []
    for run in range(runs):
        noise = rng.multivariate_normal([0.0, 0.0], [[1.0, alike], [alike, 1.0]], n1 + n0)
        noise[:n1] += (first, second)
        a, b = (Scores.of(score[:n1], score[n1:], "continuous") for score in noise.T)
        paired = paired_difference(a, b, prior, seed=run).estimate.interval
        apart = difference(a, b, prior, seed=run).estimate.interval
        above, below = paired.lower > truth + 1e-9, paired.upper < truth - 1e-9
        rows.append([paired.lower, paired.upper, above, below, paired.width, apart.width])
    return index, [truth, *np.mean(np.array(rows, dtype=float), axis=0)]


def simulate(task: tuple[int, int]) -> tuple[int, list[float]]:
    """One case: means of both ends and how often they miss, here and for more changes."""
    index, runs = task
    world, n1, n0, prior = CASES[index]
    rng, truth = np.random.default_rng(index), max(world.truth(prior), abs(2 * prior - 1))
    rows = []
    for run in range(runs):
        scores = Scores.of(world.members(rng, n1), world.nonmembers(rng, n0), "continuous")
        result = advantage(scores, prior, seed=run)
        more = (
            {c.changes: c.upper for c in upper_by_changes(scores, prior, changes=(8, 32))}
            if index >= len(WITHIN)
            else {}
        )
        rows.append(
            [result.lower, result.upper, result.lower > truth + 1e-9, result.upper < truth - 1e-9]
            + [more.get(c, 1.0) < truth - 1e-9 for c in (8, 32)]
        )
    return index, [truth, *np.mean(np.array(rows, dtype=float), axis=0)]


def tasks(share: float) -> Iterator[tuple[int, int]]:
    """Every case with its number of runs, fewer where a sample is large."""
    for index, (_, n1, n0, _) in enumerate(CASES):
        yield index, max(10, round(share * RUNS * (0.25 if n1 + n0 > 12_000 else 1.0)))


def main() -> None:
    """Run every case on all cores and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    plan = dict(tasks(options.runs))
    with ProcessPoolExecutor(options.jobs) as pool:
        results = dict(pool.map(simulate, plan.items()))
        pair_plan = {
            index: max(10, round(options.runs * RUNS * (0.25 if case[0] > 5000 else 1.0)))
            for index, case in enumerate(PAIRS)
        }
        pairs = dict(pool.map(simulate_pair, pair_plan.items()))
    print(
        "| within the class | sides | prior | truth | mean interval | lower end above | upper end below | runs |"
    )
    print("|---|---|---|---|---|---|---|---|")
    worse = 0
    for index in range(len(WITHIN)):
        (world, n1, n0, prior), (truth, low, high, above, below, _, _) = CASES[index], results[index]
        worse += max(above, below) * plan[index] > most_misses(plan[index], ALPHA)
        print(
            f"| {world.name} | {n1}:{n0} | {prior:g} | {truth:.4f} | [{low:.4f}, {high:.4f}] | {above:.3f} "
            f"| {below:.3f} | {plan[index]} |"
        )
    print(f"\nCases beyond what a nominal end exceeds once in a thousand: {worse} of {len(WITHIN)}.\n")
    print(
        "| beyond it | a side | truth | mean interval | lower end above | misleading | at 8 | at 32 | runs |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for index in range(len(WITHIN), len(CASES)):
        (world, n1, _, _), (truth, low, high, above, below, eight, more) = CASES[index], results[index]
        print(
            f"| {world.name} | {n1} | {truth:.3f} | [{low:.3f}, {high:.3f}] | {above:.3f} | {below:.2f} "
            f"| {eight:.2f} | {more:.2f} | {plan[index]} |"
        )
    print(
        "\n| shifts | in common | sides | prior | difference | mean interval | lower end above | upper end below "
        "| width / if records were others | runs |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for index, (n1, n0, prior, first, second, alike) in enumerate(PAIRS):
        truth, low, high, above, below, width, apart = pairs[index]
        print(
            f"| {first:g}, {second:g} | {alike:g} | {n1}:{n0} | {prior:g} | {truth:.3f} | [{low:.3f}, {high:.3f}] "
            f"| {above:.3f} | {below:.3f} | {width / apart:.2f} | {pair_plan[index]} |"
        )


if __name__ == "__main__":
    main()
