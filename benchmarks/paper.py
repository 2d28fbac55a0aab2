"""How often the paper's intervals contain what one might take them for, in every cell of its matrix.

    python -m benchmarks.paper                # some minutes on two cores
    python -m benchmarks.paper --runs 0.1     # a tenth of the runs

Worlds are normal (or Student's t with two degrees of freedom), so f_p is known at every score, in every slice, and
after smoothing. Nominal is 0.95 throughout. "risk": the share of records whose interval contains f_p at their score;
"of its cell", "smoothed": that of the slice the score falls in, and of the smoothed densities, which is what Theorems 2
and 3 speak of. "metric": likewise for accuracy (Theorem 4). "certified": our interval, of the record's cell. Of ten
categories, f_p at a score is that of its category. Each cell of the table holds the least and the greatest of ten
cases: five worlds, at priors 0.5 and 0.1. `estimators/paper/simulated.py` states three of the columns beside every
published interval.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, t

from estimators import Scores, individual_risk, metric_optimum, preset
from estimators.density.bandwidth import Fixed, ImprovedSheatherJones, LeastSquaresCV, Scott, Silverman
from estimators.density.kernel import signed_risk
from estimators.paper import EqualWidth, Kernel, algorithm_1, paper_metric, record_metric, record_risk
from estimators.sample.counting import by_rank

Array = NDArray[np.float64]
Law = tuple[Callable[[Array], Array], Callable[[Array], Array], Callable[[np.random.Generator, int], Array]]

SIZES = ((300, 60), (1000, 40), (10_000, 12))
PRIORS = (0.5, 0.1)
CATEGORIES = "10 categories"
INNER = np.linspace(-1.5, 2.5, 9)
"""Cuts of the ten categories, fixed in advance."""
READINGS: dict[str, EqualWidth | Kernel | None] = {
    CATEGORIES: None,
    "100 slices": EqualWidth(),
    "10 slices": EqualWidth(10),
    "scott": Kernel(Scott()),
    "silverman": Kernel(Silverman()),
    "sheather_jones": Kernel(ImprovedSheatherJones()),
    "least_squares": Kernel(LeastSquaresCV()),
    "fixed 0.3": Kernel(Fixed(0.3)),
}
BIASES = (1, 5)
"""Columns of the table that are no shares."""
ASKED = 200
"""Records of each sample whose intervals are looked at."""


def normal(mean: float, spread: float) -> Law:
    """Density, distribution function and draws."""
    return (
        lambda x: np.asarray(norm.pdf(x, mean, spread)),
        lambda x: np.asarray(norm.cdf(x, mean, spread)),
        lambda rng, n: rng.normal(mean, spread, n),
    )


def student(mean: float) -> Law:
    """The same of Student's t with two degrees of freedom."""
    return (
        lambda x: np.asarray(t.pdf(x - mean, 2)),
        lambda x: np.asarray(t.cdf(x - mean, 2)),
        lambda rng, n: mean + rng.standard_t(2, n),
    )


@dataclass(frozen=True)
class World:
    """Two laws; ``smooth`` gives their densities after a Gaussian of a width, where that is known."""

    name: str
    members: Law
    nonmembers: Law
    smooth: Callable[[Array, float, float], tuple[Array, Array]] | None


def pair(name: str, mean: float, spread: float) -> World:
    """Normal members of this mean and spread against standard normal nonmembers."""

    def smooth(x: Array, first: float, second: float) -> tuple[Array, Array]:
        return (
            np.asarray(norm.pdf(x, mean, np.hypot(spread, first))),
            np.asarray(norm.pdf(x, 0.0, np.hypot(1.0, second))),
        )

    return World(name, normal(mean, spread), normal(0.0, 1.0), smooth)


WORLDS = (
    pair("no leak", 0.0, 1.0),
    pair("shift 0.5", 0.5, 1.0),
    pair("shift 2", 2.0, 1.0),
    pair("scale 1.5", 0.0, 1.5),
    World("t2, shift 0.5", student(0.5), student(0.0), None),
)


def truth(world: World, prior: float) -> float:
    """The optimal advantage, by quadrature."""
    grid = np.sinh(np.linspace(-12.0, 12.0, 400_001))
    r, q = world.members[0](grid), world.nonmembers[0](grid)
    return float(np.trapezoid(np.abs(prior * r - (1 - prior) * q), grid))


def of_cells(world: World, cuts: Array, at: NDArray[np.int64], prior: float) -> Array:
    """f_p of the interval between cuts that each record falls in."""
    r, q = (np.diff(law[1](cuts), prepend=0.0, append=1.0) for law in (world.members, world.nonmembers))
    return signed_risk(np.maximum(r, 0.0), np.maximum(q, 0.0), prior)[at]


def of_categories(world: World, prior: float) -> float:
    """The advantage of those who see the category alone."""
    r, q = (np.diff(law[1](INNER), prepend=0.0, append=1.0) for law in (world.members, world.nonmembers))
    return float(np.abs(prior * r - (1 - prior) * q).sum())


def inside(values: Array, lower: Array, upper: Array) -> float:
    """The share within; where there is no truth, none is counted."""
    known = ~np.isnan(values) & ~np.isnan(lower)
    held = (lower - 1e-9 <= values) & (values <= upper + 1e-9)
    return float(held[known].mean()) if known.any() else np.nan


def simulate(task: tuple[int, int, int, float]) -> tuple[tuple[int, int, float], dict[str, Array]]:
    """One world, size and prior: for each reading the mean of what its intervals contain."""
    index, n, runs, prior = task
    world, rng = WORLDS[index], np.random.default_rng([index, n])
    best, accuracy = truth(world, prior), preset("accuracy", prior)
    rows: dict[str, list[list[float]]] = {name: [] for name in READINGS}
    for run in range(runs):
        sides = world.members[2](rng, n), world.nonmembers[2](rng, n)
        scores, every = Scores.of(*sides, "continuous"), np.concatenate(sides)
        asked = rng.choice(len(every), ASKED, replace=False)
        points = every[asked]
        at_point = signed_risk(world.members[0](points), world.nonmembers[0](points), prior)
        ours = individual_risk(scores, prior)
        cuts = ours.cells.counts.cells.cuts  # type: ignore[attr-defined]
        own = of_cells(world, cuts, ours.cell[asked], prior)
        certified = inside(
            own, ours.cells.signed.lower[ours.cell[asked]], ours.cells.signed.upper[ours.cell[asked]]
        )
        found = metric_optimum(by_rank(scores), accuracy, prior, seed=run).interval
        for name, reading in READINGS.items():
            data, at_score, leak = scores, at_point, best
            if name == CATEGORIES:
                labels = [np.searchsorted(INNER, side, "right") for side in sides]
                data = Scores.of(labels[0], labels[1], "discrete")
                at_score = of_cells(world, INNER, np.concatenate(labels)[asked], prior)
                leak = of_categories(world, prior)
            whole = algorithm_1(data, prior, reading=reading)
            risk = record_risk(data, prior, reading=reading)
            metric = record_metric(data, risk, accuracy, prior, run, reading)
            low, high = risk.risk.lower[asked], risk.risk.upper[asked]
            promise = np.full(ASKED, np.nan)
            if reading is None:
                promise = at_score
            elif isinstance(reading, EqualWidth):
                edges = np.linspace(every.min(), every.max(), reading.bins + 1)[1:-1]
                promise = of_cells(world, edges, np.searchsorted(edges, points, "right"), prior)
            elif world.smooth is not None and risk.bandwidth is not None:
                promise = signed_risk(*world.smooth(points, *risk.bandwidth), prior)
            of_metric = accuracy.individual_value((1.0 + at_score) / 2.0, metric.cut)
            published = paper_metric(data, accuracy, prior, run, reading).value
            rows[name].append(
                [
                    leak in whole.interval,
                    whole.value - leak,
                    inside(promise, low, high),
                    inside(at_score, low, high),
                    inside(of_metric, metric.lower[asked], metric.upper[asked]),
                    np.nan if published is None else published - (1 + leak) / 2,
                    certified,
                    found.lower <= (1 + best) / 2 <= found.upper,
                ]
            )
    columns = {name: np.array(each, dtype=float).T for name, each in rows.items()}
    return (index, n, prior), {
        name: np.array([np.nan if np.isnan(column).all() else np.nanmean(column) for column in each])
        for name, each in columns.items()
    }


def main() -> None:
    """Run every world on all cores and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    tasks = [
        (index, n, max(4, round(options.runs * runs)), prior)
        for n, runs in reversed(SIZES)
        for index in range(len(WORLDS))
        for prior in PRIORS
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        results = dict(pool.map(simulate, tasks))
    print(
        "| reading | a side | statistic contains the advantage | its bias | risk: its own promise "
        "| risk at the score | metric at the score | Algorithm 2: bias | certified risk | certified accuracy |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in READINGS:
        for n, _ in SIZES:
            cases = np.array([values[name] for (_, size, _), values in results.items() if size == n])
            texts = [f"{name}", f"{n}"]
            for at, column in enumerate(cases.T):
                form = "+.3f" if at in BIASES else ".2f"
                known = column[~np.isnan(column)]
                texts.append(f"{known.min():{form}} to {known.max():{form}}" if known.size else "–")
            print(f"| {' | '.join(texts)} |")


if __name__ == "__main__":
    main()
