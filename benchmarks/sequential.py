"""A gate that is asked batch after batch: how often it is ever wrong, how wide it is, and how soon it may stop.

    python -m benchmarks.sequential                           # an hour and a quarter on two cores
    python -m benchmarks.sequential --runs 0.2                # the first table of docs/gate.md, a quarter of an hour
    python -m benchmarks.sequential --stopping --runs 0.4     # the second one, twenty minutes on one core

"ever": at any look of a run. The width is that after the last look, beside the interval of one look at all records.
Until it stops: records at the first look with a verdict at 0.1, in the median, beside those of the oracle plan: `plan`,
which knows the truth and decides in four samples of five.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce
from zlib import crc32

import numpy as np
from scipy.special import ndtr, ndtri

from estimators import Counts, Scores, advantage, plan_verdict
from estimators.plan import Decision
from estimators.sequential import sequential_run
from estimators.sequential.run import PLANNED

RUNS = 200
RUNS_OF_MANY_LOOKS = 100
RUNS_UNTIL_STOPPED = 60
LIMIT = 0.1

GROWING = [50, *(round(50 * 1.5**step) - round(50 * 1.5 ** (step - 1)) for step in range(1, 12))]
"""Records a side in each of 12 batches, after which there are half as many again."""

EVEN = [50] * 40

FROM_FEW = np.diff(np.concatenate([[0], np.geomspace(10, 50_000, 12).round().astype(int)])).tolist()
"""12 looks, at 20 to 100,000 records."""

THOUSAND = [50] * 1000

LABELS = np.array(list("abcdefgh"))


MANY = [10_000, 90_000, 900_000]
"""Records a side in batches of counts."""

PLANS = (
    (
        ("12, growing", GROWING, 1),
        ("40, even", EVEN, 1),
        ("12, 1:9", GROWING, 9),
        ("12, from 20 to 100,000", FROM_FEW, 1),
        ("1,000, even", THOUSAND, 1),
    ),
    (("3, to 10^6", MANY, 1),),
)
"""Batches, and how many nonmembers there are to a member: of scores, and of counts."""

PARTS = 20
"""Looks until the records of the oracle plan are there."""

CUTS = np.linspace(-3.0, 5.0, 41)


@dataclass(frozen=True)
class World:
    """How a batch is drawn, and the advantage of the best attacker."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int], Scores | Counts]

    def __str__(self) -> str:
        return f"{self.name}, {self.truth:.3g}"


def bells(truth: float, rng: np.random.Generator, n: int, m: int) -> Scores:
    """Normal scores, members' shifted."""
    return Scores.of(rng.normal(2.0 * ndtri((1.0 + truth) / 2.0), 1.0, n), rng.normal(0.0, 1.0, m))


def labels(truth: float, rng: np.random.Generator, n: int, m: int) -> Scores:
    """Eight labels, four of them more frequent among members."""
    tilted = np.repeat([1.0 + 2.0 * truth, 1.0 - 2.0 * truth], 4) / 8.0
    return Scores.of(rng.choice(LABELS, n, p=tilted), rng.choice(LABELS, m))


def counts(shift: float, rng: np.random.Generator, n: int, m: int) -> Counts:
    """Normal scores in 42 cells, members' shifted."""
    return Counts.of(rng.multinomial(n, cells(shift)), rng.multinomial(m, cells(0.0)), edges=CUTS)


def cells(shift: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How likely a normal score is in each cell."""
    return np.diff(np.concatenate([[0.0], ndtr(CUTS - shift), [1.0]]))


WORLDS = [
    *(World("bells", truth, partial(bells, truth)) for truth in (0.0, 0.05, 0.2, 0.5, 0.95)),
    *(World("labels", truth, partial(labels, truth)) for truth in (0.0, 0.2)),
    *(
        World("counts", float(np.abs(cells(shift) - cells(0.0)).sum() / 2.0), partial(counts, shift))
        for shift in (0.0, 0.5)
    ),
]

Outcome = tuple[bool, bool, float]


def one(world: World, batches: list[int], times: int, seed: int) -> Outcome:
    """Of one run: ever wrong below, ever above, width beside one look."""
    rng = np.random.default_rng([11, crc32(f"{world}{len(batches)}{times}".encode()), seed])
    run, every = sequential_run(LIMIT, planned=(1 + times) * sum(batches), seed=seed), []
    for n in batches:
        every.append(world.draw(rng, n, times * n))
        run = run.after(every[-1])
    fixed = advantage(together(every))
    width = (run.upper - run.lower) / (fixed.upper - fixed.lower)
    return run.lower > world.truth, run.upper < world.truth, width


def until_stopped(world: World, times: int, plan: int, planned: int, seed: int) -> float:
    """Records at the first look with a verdict; infinity if there is none at four times those of the plan."""
    rng = np.random.default_rng([12, seed])
    run, n = sequential_run(LIMIT, planned=planned, seed=seed), max(8, round(plan / PARTS / (1 + times)))
    first = max(10, n)
    for size in [first, *[n] * (4 * PARTS)]:
        run = run.after(world.draw(rng, size, times * size))
        if run.decision is not Decision.INCONCLUSIVE:
            return run.looks[-1].n_members + run.looks[-1].n_nonmembers
    return float("inf")


def together(batches: list[Scores | Counts]) -> Scores | Counts:
    """All records of a run."""
    counted = [batch for batch in batches if isinstance(batch, Counts)]
    if counted:
        return reduce(Counts.merge, counted)
    sides = [np.concatenate([getattr(each, side) for each in batches]) for side in ("members", "nonmembers")]
    return Scores.of(sides[0], sides[1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    parser.add_argument("--stopping", action="store_true", help="the second table alone")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many work at once")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        if not arguments.stopping:
            print_ends(pool, arguments.runs)
        print_stopping(pool, arguments.runs)


def print_ends(pool: ProcessPoolExecutor, share: float) -> None:
    """How often either end is ever wrong, and how wide both are at the end."""
    print("| scores | truth | batches | runs | ever above | ever below | width |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    every: list[Outcome] = []
    for world in WORLDS:
        for name, batches, times in PLANS[world.name == "counts"]:
            if name != PLANS[0][0][0] and world.truth not in (0.0, 0.2) and world.name != "counts":
                continue
            runs = max(5, round(share * (RUNS_OF_MANY_LOOKS if batches is THOUSAND else RUNS)))
            outcomes = list(pool.map(partial(one, world, batches, times), range(runs)))
            every += outcomes
            below, above, width = np.mean(outcomes, axis=0)
            row = f"| {world.name} | {world.truth:.3g} | {name} | {runs} | {below:.1%} | {above:.1%} | {width:.2f} |"
            print(row, flush=True)
    below, above, width = np.mean(every, axis=0)
    print(f"| all | | | {len(every)} | {below:.2%} | {above:.2%} | {width:.2f} |\n", flush=True)


def print_stopping(pool: ProcessPoolExecutor, share: float) -> None:
    """How many records it takes until there is a verdict, beside the oracle plan."""
    runs = max(10, round(share * RUNS_UNTIL_STOPPED))
    print(
        f"| truth ({runs} runs) | nonmembers to a member | the oracle plan | planned so | planned {PLANNED:,} |"
    )
    print("| ---: | ---: | ---: | ---: | ---: |")
    for world in WORLDS:
        for times in (1, 9) if world.name == "bells" else ():
            plan = plan_verdict(world.truth, LIMIT, member_share=1.0 / (1 + times)).records
            assert plan is not None
            ratios = [
                np.median(list(pool.map(partial(until_stopped, world, times, plan, planned), range(runs))))
                / plan
                for planned in (plan, PLANNED)
            ]
            print(
                f"| {world.truth:g} | {times} | {plan:,} | {ratios[0]:.2f} | {ratios[1]:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
