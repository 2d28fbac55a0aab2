"""How often the paper's intervals contain what one might take them for, in every cell of its matrix.

Worlds are normal (or Student's t with two degrees of freedom), so f_p is known at every score, in every slice, and
after smoothing. Nominal is 0.95 throughout. "risk": the share of records whose interval contains f_p at their score;
"of its cell", "smoothed": that of the slice the score falls in, and of the smoothed densities, which is what Theorems 2
and 3 speak of. "metric": likewise for accuracy (Theorem 4). "certified": our interval, of the record's cell. Of ten
categories, f_p at a score is that of its category. Each cell of the table holds the least and the greatest of ten
cases: five worlds, at priors 0.5 and 0.1. `estimators/paper/risk.py` states three of the columns beside every
published interval.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import norm, t

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Integers, Rng
from estimators import Scores, individual_risk, metric_optimum, preset
from estimators.density.bandwidth import Fixed, ImprovedSheatherJones, LeastSquaresCV, Scott, Silverman
from estimators.density.kernel import signed_risk
from estimators.paper import EqualWidth, Kernel, algorithm_1, paper_metric, record_metric, record_risk
from estimators.sample.counting import by_rank

SIZES = ((300, 60), (1000, 40), (10_000, 12))
PRIORS = (0.5, 0.1)
CATEGORIES = "10 categories"
INNER = np.linspace(-1.5, 2.5, 9)  # cuts of the ten categories, fixed in advance
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
BIASES = (1, 5)  # columns of the table that are no shares
ASKED = 200  # records of each sample whose intervals are looked at


@dataclass(frozen=True)
class World:
    """Members' and nonmembers' laws; the spreads of normal laws are known, so that they are after smoothing, too."""

    name: str
    members: Any
    nonmembers: Any
    draw: Callable[[Rng, int], tuple[Floats, Floats]]
    normal: tuple[float, float] | None = None

    def smooth(self, x: Floats, first: float, second: float) -> tuple[Floats, Floats]:
        """Both densities after a Gaussian of a width each."""
        assert self.normal is not None
        mean, spread = self.normal
        return norm.pdf(x, mean, np.hypot(spread, first)), norm.pdf(x, 0.0, np.hypot(1.0, second))


def pair(name: str, mean: float, spread: float) -> World:
    """Normal members of this mean and spread against standard normal nonmembers."""

    def draw(rng: Rng, n: int) -> tuple[Floats, Floats]:
        return rng.normal(mean, spread, n), rng.normal(0.0, 1.0, n)

    return World(name, norm(mean, spread), norm(0.0, 1.0), draw, (mean, spread))


def students(rng: Rng, n: int) -> tuple[Floats, Floats]:
    return 0.5 + rng.standard_t(2, n), rng.standard_t(2, n)


WORLDS = (
    *(pair("no leak", 0.0, 1.0), pair("shift 0.5", 0.5, 1.0), pair("shift 2", 2.0, 1.0)),
    *(pair("scale 1.5", 0.0, 1.5), World("t2, shift 0.5", t(2, 0.5), t(2, 0.0), students)),
)


def truth(world: World, prior: float) -> float:
    grid = np.sinh(np.linspace(-12.0, 12.0, 400_001))
    r, q = world.members.pdf(grid), world.nonmembers.pdf(grid)
    return float(np.trapezoid(np.abs(prior * r - (1 - prior) * q), grid))


def masses(world: World, cuts: Floats) -> list[Floats]:
    return [np.diff(law.cdf(cuts), prepend=0.0, append=1.0) for law in (world.members, world.nonmembers)]


def of_cells(world: World, cuts: Floats, at: Integers, prior: float) -> Floats:
    """f_p of the interval between cuts that each record falls in."""
    r, q = (np.maximum(each, 0.0) for each in masses(world, cuts))
    return signed_risk(r, q, prior)[at]


def inside(values: Floats, lower: Floats, upper: Floats) -> float:
    """The share within; where there is no truth, none is counted."""
    known = ~np.isnan(values) & ~np.isnan(lower)
    held = (lower - 1e-9 <= values) & (values <= upper + 1e-9)
    return float(held[known].mean()) if known.any() else np.nan


def simulate(task: tuple[int, int, int, float]) -> dict[str, Floats]:
    """One world, size and prior: for each reading the mean of what its intervals contain."""
    index, n, runs, prior = task
    world, rng = WORLDS[index], np.random.default_rng([index, n])
    best, accuracy = truth(world, prior), preset("accuracy", prior)
    rows: dict[str, list[list[float]]] = {name: [] for name in READINGS}
    for run in range(runs):
        sides = world.draw(rng, n)
        scores, every = Scores.of(*sides, "continuous"), np.concatenate(sides)
        asked = rng.choice(len(every), ASKED, replace=False)
        points = every[asked]
        at_point = signed_risk(world.members.pdf(points), world.nonmembers.pdf(points), prior)
        ours = individual_risk(scores, prior)
        own, signed = ours.cell[asked], ours.cells.signed
        risk_of_cell = of_cells(world, ours.cells.counts.cells.cuts, own, prior)
        certified = inside(risk_of_cell, signed.lower[own], signed.upper[own])
        found = metric_optimum(by_rank(scores), accuracy, prior, seed=run).interval
        for name, reading in READINGS.items():
            data, at_score, leak = scores, at_point, best
            if name == CATEGORIES:
                labels = [np.searchsorted(INNER, side, "right") for side in sides]
                data = Scores.of(labels[0], labels[1], "discrete")
                at_score = of_cells(world, INNER, np.concatenate(labels)[asked], prior)
                r, q = masses(world, INNER)
                leak = float(np.abs(prior * r - (1 - prior) * q).sum())
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
            elif world.normal is not None and risk.bandwidth is not None:
                promise = signed_risk(*world.smooth(points, *risk.bandwidth), prior)
            of_metric = accuracy.individual_value((1.0 + at_score) / 2.0, metric.cut)
            published = paper_metric(data, accuracy, prior, run, reading).value
            row = [leak in whole.interval, whole.value - leak]
            row += [inside(promise, low, high), inside(at_score, low, high)]
            row.append(inside(of_metric, metric.lower[asked], metric.upper[asked]))
            row.append(np.nan if published is None else published - (1 + leak) / 2)
            rows[name].append([*row, certified, found.lower <= (1 + best) / 2 <= found.upper])
    means = {}
    for name, each in rows.items():
        columns = np.array(each, dtype=float).T
        means[name] = np.array([np.nan if np.isnan(each).all() else np.nanmean(each) for each in columns])
    return means


@table
def contained(run: Run):
    yield (
        "reading | a side | statistic contains the advantage | its bias | risk: its own promise | risk at the score | "
        "metric at the score | Algorithm 2: bias | certified risk | certified accuracy"
    )
    sizes, worlds = SIZES[: 1 if run.quick else None], run.few(range(len(WORLDS)), 2)
    cases = product(reversed(sizes), worlds, PRIORS)
    tasks = [(at, n, run.times(runs, 1 if run.quick else 4), prior) for (n, runs), at, prior in cases]
    results = list(zip(tasks, run.map(simulate, tasks), strict=True))
    for name in READINGS:
        for n, _ in sizes:
            texts = [name, f"{n}"]
            for at, column in enumerate(np.array([each[name] for task, each in results if task[1] == n]).T):
                form, known = "+.3f" if at in BIASES else ".2f", column[~np.isnan(column)]
                texts.append(f"{known.min():{form}} to {known.max():{form}}" if known.size else "–")
            yield " | ".join(texts)
