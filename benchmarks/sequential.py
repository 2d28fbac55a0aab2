"""A gate that is asked batch after batch: how often it is ever wrong, how wide it is, and how soon it may stop.

    python -m benchmarks.sequential                # the table of docs/gate.md, about ten minutes on two cores
    python -m benchmarks.sequential --runs 0.2     # a fifth of the runs

"ever": at any look of a run. The width is that after the last look, beside the interval of one look at all records.
Until it stops: records at the first look with a verdict at 0.1, in the median, beside those that `plan` asks for, which
knows the truth and decides in four samples of five.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from scipy.special import ndtr, ndtri

from estimators import Counts, Scores, advantage, plan_verdict
from estimators.plan import Decision
from estimators.sequential import sequential_run

RUNS = 200
LIMIT = 0.1

GROWING = [50, *(round(50 * 1.5**step) - round(50 * 1.5 ** (step - 1)) for step in range(1, 12))]
"""Records a side in each of 12 batches, after which there are half as many again."""

EVEN = [50] * 40

LABELS = np.array(list("abcdefgh"))


MANY = [10_000, 90_000, 900_000]
"""Records a side in batches of counts."""

PLANS = (
    (("12, growing", GROWING, 1), ("40, even", EVEN, 1), ("12, 1:9", GROWING, 9)),
    (("3, to 10^6", MANY, 1),),
)
"""Batches, and how many nonmembers there are to a member: of scores, and of counts."""

CUTS = np.linspace(-3.0, 5.0, 41)


@dataclass(frozen=True)
class World:
    """How a batch is drawn, and the advantage of the best attacker."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int, int], Scores | Counts]


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

Outcome = tuple[bool, bool, float, int | None]


def one(world: World, batches: list[int], times: int, seed: int) -> Outcome:
    """Of one run: ever wrong below, ever above, width beside one look, records until a verdict at the limit."""
    rng = np.random.default_rng([11, seed])
    run, every, stopped = sequential_run(LIMIT, planned=(1 + times) * sum(batches), seed=seed), [], None
    for n in batches:
        every.append(world.draw(rng, n, times * n))
        run = run.after(every[-1])
        if stopped is None and run.decision is not Decision.INCONCLUSIVE:
            stopped = run.looks[-1].n_members + run.looks[-1].n_nonmembers
    fixed = advantage(together(every))
    width = (run.upper - run.lower) / (fixed.upper - fixed.lower)
    return run.lower > world.truth, run.upper < world.truth, width, stopped


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
    runs = max(10, round(RUNS * parser.parse_args().runs))
    print(
        f"| scores ({runs} runs) | truth | batches | ever above | ever below | width | until it stops, of the plan |"
    )
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for world in WORLDS:
            for name, batches, times in PLANS[world.name == "counts"]:
                if name != PLANS[0][0][0] and world.truth not in (0.0, 0.2) and world.name != "counts":
                    continue
                outcomes = list(pool.map(partial(one, world, batches, times), range(runs)))
                below, above, width = (np.mean([each[at] for each in outcomes]) for at in range(3))
                print(
                    f"| {world.name} | {world.truth:.3g} | {name} | {below:.1%} | {above:.1%} | {width:.2f} | "
                    f"{soonness(world, times, outcomes)} |",
                    flush=True,
                )


def soonness(world: World, times: int, outcomes: list[Outcome]) -> str:
    """Records until the verdict beside those of a plan; a dash if most runs never stop, or nothing can be planned."""
    records = np.median([np.inf if each[3] is None else each[3] for each in outcomes])
    if not np.isfinite(records) or world.name != "bells":
        return "-"
    plan = plan_verdict(world.truth, LIMIT, member_share=1.0 / (1 + times))
    return "-" if plan.records is None else f"{records / plan.records:.2f}"


if __name__ == "__main__":
    main()
