"""Fixed sets of records: how often each end misses what is true of the set, and how wide the interval is.

    python -m benchmarks.fixed_sets                # about ten minutes on two cores
    python -m benchmarks.fixed_sets --runs 0.2     # a fifth of the runs

A set of members and nonmembers is drawn once and stays; records of each side are drawn from it without replacement and
scored. The truth is the advantage of the best rule of the class on all records of that set: what the upper end covers,
and a stricter truth for the lower end than that of any attacker. "width" is beside the interval of independent draws
on the same scores.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage import most_misses
from estimators import Scores, advantage_on_set
from estimators.advantage import Ends, checked_ends
from estimators.adversary.changes import best_by_changes
from estimators.sample.scores import MIN_RECORDS

Column = NDArray[np.generic]
Draw = Callable[[np.random.Generator, int, float], Column]

ALPHA = 0.025
SETS, SAMPLES = 10, 20
CHANGES = 2


@dataclass(frozen=True)
class World:
    """How scores are drawn: so many, members' if shifted by 1, nonmembers' if by 0."""

    name: str
    draw: Draw


def shifted(by: float) -> Draw:
    """Normal scores, members' shifted."""
    return lambda rng, n, member: rng.normal(by * member, 1.0, n)


def spread(factor: float) -> Draw:
    """Normal scores, members' spread more widely."""
    return lambda rng, n, member: rng.normal(0.0, factor if member else 1.0, n)


def memorised(share: float) -> Draw:
    """Normal scores, but for a share of the members, which lie far off."""
    return lambda rng, n, member: rng.normal(0.0, 1.0, n) + 20.0 * member * (rng.random(n) < share)


def atom(share: float) -> Draw:
    """A share of all scores is 0; the others are normal, members' shifted."""
    return lambda rng, n, member: np.where(rng.random(n) < share, 0.0, rng.normal(member, 1.0, n))


def categories(number: int) -> Draw:
    """Categories with a long tail, members' tail a little longer."""
    ranks = np.arange(1.0, number + 1.0)

    def draw(rng: np.random.Generator, n: int, member: float) -> Column:
        weight = ranks ** (-1.2 + 0.5 * member)
        return rng.choice(number, n, p=weight / weight.sum()).astype("U5")

    return draw


WORLDS = (
    World("no leak", shifted(0.0)),
    World("shift 0.5", shifted(0.5)),
    World("separated", shifted(20.0)),
    World("5 % memorised", memorised(0.05)),
    World("spread 1.5", spread(1.5)),
    World("half the scores 0", atom(0.5)),
    World("one digit", lambda rng, n, member: np.round(rng.normal(0.5 * member, 1.0, n), 1)),
    World("12 categories, long tail", categories(12)),
)
SIDES = ((20, 20, 0.5), (100, 100, 0.5), (50, 450, 0.1), (50, 450, 0.5), (500, 500, 0.5), (1000, 1000, 0.5))
SHARES = (0.1, 0.5, 0.9, 1.0)


@dataclass(frozen=True)
class Case:
    """One world, the records of the set, the prior, and the share of either side that is scored."""

    world: int
    members: int
    nonmembers: int
    prior: float
    share: float

    @property
    def scored(self) -> tuple[int, int]:
        """Records scored of either side."""
        return round(self.share * self.members), round(self.share * self.nonmembers)


def cases() -> Iterator[Case]:
    """Every case that has records enough for an answer."""
    for world in range(len(WORLDS)):
        for members, nonmembers, prior in SIDES:
            for share in SHARES:
                case = Case(world, members, nonmembers, prior, share)
                if min(case.scored) >= MIN_RECORDS:
                    yield case


def truth(ends: Ends, members: Column, nonmembers: Column, prior: float) -> float:
    """The best that a rule of the class has on the whole set: the cells of the answer, or few changes anywhere."""
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    worth = np.repeat(
        [prior / len(members), (prior - 1.0) / len(nonmembers)], [len(members), len(nonmembers)]
    )
    by_value = np.bincount(where, worth, len(values))
    counts = ends.counts
    if counts.cells.kind in ("categories", "values"):
        return float(np.abs(by_value).sum())
    cell = counts.cells.locate(values)
    in_cells = np.abs(np.bincount(cell, by_value, counts.size)).sum()
    return float(max(in_cells, best_by_changes(by_value, CHANGES)[-1]))


def simulate(task: tuple[int, Case, float]) -> tuple[int, int, int, float, float, float, float]:
    """Runs, misses of the upper and of the lower end, mean ends, mean truth, and the mean width of both kinds."""
    seed, case, share = task
    rng = np.random.default_rng([17, seed])
    draw, (n1, n0) = WORLDS[case.world].draw, case.scored
    rows = []
    for _ in range(SETS):
        members, nonmembers = draw(rng, case.members, 1.0), draw(rng, case.nonmembers, 0.0)
        for _ in range(max(1, round(share * SAMPLES))):
            data = Scores.of(rng.permutation(members)[:n1], rng.permutation(nonmembers)[:n0])
            ends = checked_ends(data, case.prior, None, 0)
            result = advantage_on_set(data, case.members, case.nonmembers, case.prior).estimate
            known = truth(ends, members, nonmembers, case.prior)
            independent = ends.at(0.95)
            rows.append(
                (
                    result.lower,
                    result.upper,
                    known,
                    result.interval.width,
                    independent.upper - independent.lower,
                )
            )
    low, high, known, width, other = (np.array(column) for column in zip(*rows, strict=True))
    above, below = int((low > known + 1e-9).sum()), int((high < known - 1e-9).sum())
    return (
        len(rows),
        above,
        below,
        float(low.mean()),
        float(high.mean()),
        float(known.mean()),
        float(width.mean() / other.mean()),
    )


def main() -> None:
    """Run every case on all cores and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    plan = list(cases())
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(simulate, ((i, case, options.runs) for i, case in enumerate(plan))))
    print(
        "| world | set | prior | scored | truth | mean interval | lower end above | upper end below | width | runs |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    beyond, wider = 0, 0
    for case, (runs, above, below, low, high, known, width) in zip(plan, results, strict=True):
        marks = ["!" * (misses > most_misses(runs, ALPHA)) for misses in (above, below)]
        beyond += any(marks)
        wider += width > 1.0
        print(
            f"| {WORLDS[case.world].name} | {case.members}:{case.nonmembers} | {case.prior:g} | {100 * case.share:g} % "
            f"| {known:.3f} | [{low:.3f}, {high:.3f}] | {above / runs:.3f}{marks[0]} | {below / runs:.3f}{marks[1]} "
            f"| {width:.2f} | {runs} |"
        )
    print(f"\nCases beyond what a nominal end exceeds once in a thousand: {beyond} of {len(plan)}.")
    print(f"Cases where the interval is wider than that of independent draws: {wider} of {len(plan)}.")


if __name__ == "__main__":
    main()
