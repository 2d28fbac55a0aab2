"""Rows that come in clusters: how often each end misses, and how wide the interval is beside one row a cluster.

    python -m benchmarks.clusters                # about ten minutes on two cores
    python -m benchmarks.clusters --runs 0.2     # a fifth of the runs

Scores are normal, members' shifted; rows of one cluster share a normal part, so that any two of them have the stated
correlation. "both sides": a cluster has rows on either side, as a record has that several models were asked about.
"procedure": each cluster is a model trained by one procedure.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from benchmarks.coverage import most_misses
from estimators import Advantage, Scores, advantage, one_per_unit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Sides = tuple[Floats, Floats, list[Integers]]
Draw = Callable[[np.random.Generator], Sides]

RUNS = 200
ALPHA = 0.025


@dataclass(frozen=True)
class World:
    """How rows and their clusters are drawn, members' rows first, and the truth."""

    name: str
    draw: Draw
    truth: float
    runs: int = RUNS


def shift(truth: float) -> float:
    """By how much members' scores are shifted at this advantage."""
    return 2.0 * float(ndtri((1.0 + truth) / 2.0))


def people(sizes: Callable[[np.random.Generator], Integers], likeness: float, truth: float) -> Draw:
    """People with so many rows each, every second one a member."""

    def draw(rng: np.random.Generator) -> Sides:
        rows = sizes(rng)
        of = np.repeat(np.arange(len(rows)), rows)
        score = np.sqrt(likeness) * rng.normal(size=len(rows))[of]
        score += np.sqrt(1.0 - likeness) * rng.normal(size=len(of))
        member = of % 2 == 0
        return score[member] + shift(truth), score[~member], [np.concatenate([of[member], of[~member]])]

    return draw


def pareto(number: int, shape: float = 1.2, most: int = 100) -> Callable[[np.random.Generator], Integers]:
    """Numbers of rows of which few are many."""
    return lambda rng: np.minimum(rng.pareto(shape, number) + 1.0, most).astype(np.int64)


def equal(number: int, rows: int) -> Callable[[np.random.Generator], Integers]:
    """As many rows each."""
    return lambda _: np.full(number, rows)


def copies(number: int, share: float, truth: float) -> Draw:
    """Rows of which this share repeat another row of their side, value and all."""

    def draw(rng: np.random.Generator) -> Sides:
        own = max(2, round(number * (1.0 - share)))
        of = np.concatenate([np.arange(own), rng.integers(0, own, number - own)])
        score = rng.normal(size=(2, own))
        return score[0][of] + shift(truth), score[1][of], [np.concatenate([of, of + own])]

    return draw


def crossed(records: int, models: int, likeness: tuple[float, float], truth: float, both: bool) -> Draw:
    """Records asked of models, each trained on a random half; records are alike, and so may models be."""

    def draw(rng: np.random.Generator) -> Sides:
        record, model = np.divmod(np.arange(records * models), models)
        member = rng.random((records, models)).argsort(axis=0).ravel() < records // 2
        score = np.sqrt(likeness[0]) * rng.normal(size=records)[record]
        score += np.sqrt(likeness[1]) * rng.normal(size=models)[model]
        score += np.sqrt(1.0 - sum(likeness)) * rng.normal(size=record.size)
        order = np.argsort(~member, kind="stable")
        labels = [each[order] for each in (record, model)]
        return score[member] + shift(truth), score[~member], labels if both else labels[:1]

    return draw


def memorised(number: int, rows: int, share: float) -> Draw:
    """People of whom this share of the members are known by all of their rows, and the others by none."""

    def draw(rng: np.random.Generator) -> Sides:
        of = np.repeat(np.arange(2 * number), rows)
        score = 0.7 * rng.normal(size=2 * number)[of] + 0.7 * rng.normal(size=len(of))
        member = of < number
        known = member & (rng.random(2 * number) < share)[of]
        score[known] += 20.0
        return score[member], score[~member], [of]

    return draw


def procedure(models: int, rows: int, leak: float, varies: float) -> World:
    """Models of one training procedure, each with its own records, of which some leak more than others.

    A member's score is shifted by the model's own shift, which varies by this share of itself: over all models it is
    normal with a larger variance, and the truth is the distance of the two laws.
    """
    own = shift(leak)
    x = np.linspace(-40.0, 40.0, 400_001)
    laws = [
        np.exp(-(((x - mean) / deviation) ** 2) / 2.0) / deviation
        for mean, deviation in ((own, np.sqrt(1.0 + (varies * own) ** 2)), (0.0, 1.0))
    ]
    truth = float(np.abs(laws[0] / laws[0].sum() - laws[1] / laws[1].sum()).sum() / 2.0)

    def draw(rng: np.random.Generator) -> Sides:
        of = np.repeat(np.arange(models), rows)
        shifts = own * (1.0 + varies * rng.normal(size=models))
        return rng.normal(shifts[of], 1.0), rng.normal(size=of.size), [np.concatenate([of, of])]

    name = f"procedure: {models} models x {2 * rows}, leak varies by {varies:.0%}, {truth:.3f}"
    return World(name, draw, truth, RUNS if models >= 40 else RUNS // 3)


def worlds() -> list[World]:
    """All that is drawn from."""
    listed = [
        World(
            f"{number} x {rows}, correlation {likeness}, {truth}",
            people(equal(number, rows), likeness, truth),
            truth,
        )
        for number, rows in ((40, 2), (40, 50), (40, 100), (200, 1), (200, 5), (200, 20), (1000, 2))
        for likeness in (0.0, 0.5, 0.95)
        for truth in (0.0, 0.2, 0.6, 0.95)
    ]
    listed += [
        World(
            f"2000 x 20, correlation {likeness}, {truth}",
            people(equal(2000, 20), likeness, truth),
            truth,
            RUNS // 4,
        )
        for likeness in (0.0, 0.5, 0.95)
        for truth in (0.0, 0.2)
    ]
    listed += [
        World(
            f"{number} x {rows}, correlation {likeness}, {truth}",
            people(equal(number, rows), likeness, truth),
            truth,
            RUNS // 3,
        )
        for number, rows in ((20, 5), (20, 50), (30, 20))
        for likeness in (0.0, 0.5, 0.95)
        for truth in (0.0, 0.6)
    ]
    listed += [
        World(
            f"{number} of Pareto sizes, correlation {likeness}, {truth}",
            people(pareto(number), likeness, truth),
            truth,
        )
        for number in (60, 200, 1000)
        for likeness in (0.0, 0.5, 0.95)
        for truth in (0.0, 0.2, 0.6)
    ]
    listed += [
        World(f"{share:.0%} copies, {truth}", copies(300, share, truth), truth)
        for share in (0.2, 0.5, 0.8)
        for truth in (0.0, 0.3)
    ]
    listed += [
        World(
            f"records x models {records} x {models}, {truth}",
            crossed(records, models, (0.5, 0.0), truth, False),
            truth,
            runs,
        )
        for records, models, runs in (
            (20, 100, RUNS // 3),
            (50, 40, RUNS),
            (200, 10, RUNS),
            (1000, 2, RUNS),
            (2000, 1, RUNS),
        )
        for truth in (0.0, 0.3)
    ]
    listed += [
        World(
            f"both columns {records} x {models}, {truth}",
            crossed(records, models, (0.3, 0.3), truth, True),
            truth,
            runs,
        )
        for records, models, runs in ((20, 100, RUNS // 4), (50, 40, RUNS), (100, 60, RUNS // 2))
        for truth in (0.0, 0.3)
    ]
    listed += [
        procedure(models, 50, leak, varies)
        for models in (16, 30, 40, 64)
        for leak, varies in ((0.0, 0.0), (0.2, 0.0), (0.2, 0.2), (0.2, 0.5), (0.6, 0.5))
    ]
    return [*listed, World("200 x 10, 10% known by all rows", memorised(100, 10, 0.1), 0.1)]


@dataclass(frozen=True)
class Tally:
    """What came of a world: misses of either end, mean widths, and what the answers said."""

    name: str
    runs: int
    method: str
    above: int
    below: int
    width: float
    one_row: float
    design_effect: float

    @property
    def ratio(self) -> float:
        """Width beside one row a cluster."""
        return self.width / self.one_row


def answers(world: World, seed: int) -> tuple[Advantage, Advantage]:
    """By clusters, and with one row of each cluster of a side (of the first column, where two cross)."""
    rng = np.random.default_rng(seed)
    members, nonmembers, labels = world.draw(rng)
    sides = labels[0][: len(members)], labels[0][len(members) :]
    keep = [one_per_unit(side, of, seed) for side, of in zip((members, nonmembers), sides, strict=True)]
    if len(labels) > 1 or np.intersect1d(*sides).size:
        keep = one_row(labels, len(members), rng)
    cluster = dict(zip(("record", "model"), labels, strict=False)) if len(labels) > 1 else labels[0]
    return (
        advantage(Scores.of(members, nonmembers), cluster=cluster, seed=seed),
        advantage(Scores.of(members[keep[0]], nonmembers[keep[1]]), seed=seed),
    )


def one_row(labels: list[Integers], n_members: int, rng: np.random.Generator) -> list[Integers]:
    """Rows of which no two share a label, half of them members, or nearly."""
    taken: list[set[int]] = [set() for _ in labels]
    keep: list[list[int]] = [[], []]
    for row in rng.permutation(len(labels[0])):
        side = int(row >= n_members)
        own = [int(each[row]) for each in labels]
        if len(keep[side]) <= len(keep[1 - side]) and not any(
            o in t for o, t in zip(own, taken, strict=True)
        ):
            keep[side].append(int(row) - side * n_members)
            for each, label in zip(taken, own, strict=True):
                each.add(label)
    return [np.array(each, dtype=np.int64) for each in keep]


def tally(at: int, share: float) -> Tally:
    """Draw from a world again and again."""
    world = worlds()[at]
    runs = max(2, round(world.runs * share))
    results = [answers(world, seed) for seed in range(runs)]
    ours = [one for one, _ in results]
    summary = [one.clusters for one in ours if one.clusters is not None]
    return Tally(
        world.name,
        runs,
        summary[0].method,
        sum(one.lower > world.truth + 1e-12 for one in ours),
        sum(one.upper < world.truth - 1e-12 for one in ours),
        float(np.mean([one.upper - one.lower for one in ours])),
        float(np.mean([other.upper - other.lower for _, other in results])),
        float(np.median([each.design_effect for each in summary])),
    )


def table(tallies: list[Tally]) -> str:
    """Rows of docs/clusters.md."""
    lines = [
        "| world, truth | method | runs | above | below | width | one row a cluster | ratio | design effect |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in tallies:
        marks = ["!" * (misses > most_misses(each.runs, ALPHA)) for misses in (each.above, each.below)]
        lines.append(
            f"| {each.name} | {each.method} | {each.runs} | {each.above / each.runs:.3f}{marks[0]} | "
            f"{each.below / each.runs:.3f}{marks[1]} | {each.width:.3f} | {each.one_row:.3f} | {each.ratio:.2f} | "
            f"{each.design_effect:.2f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1.0, help="part of the runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--only", default="", help="worlds whose name begins so")
    arguments = parser.parse_args()
    some = [at for at, world in enumerate(worlds()) if world.name.startswith(arguments.only)]
    with ProcessPoolExecutor(arguments.jobs) as pool:
        tallies = list(pool.map(partial(tally, share=arguments.runs), some))
    print(table(tallies))
    for method in sorted({each.method for each in tallies}):
        group = [each for each in tallies if each.method == method]
        runs = sum(each.runs for each in group)
        above, below = (sum(getattr(each, end) for each in group) / runs for end in ("above", "below"))
        print(f"\n{method}: {runs} samples, lower end above {above:.4f}, upper end below {below:.4f}")


if __name__ == "__main__":
    main()
