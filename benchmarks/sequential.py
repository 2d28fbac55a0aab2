"""A gate that is asked batch after batch: how often it is ever wrong, how wide it is, and how soon it may stop.

"ever": at any look of a run. The width is that after the last look, beside the interval of one look at all records.
Until it stops: records at the first look with a verdict at 0.1, in the median, beside those of the oracle plan: `plan`,
which knows the truth and decides in four samples of five. An hour and a quarter on two cores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from zlib import crc32

import numpy as np
from scipy.special import ndtr

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng, shift
from estimators import Counts, Decision, Scores, advantage, plan_verdict
from estimators.runs.sequential import sequential_run
from estimators.runs.sequential.run import PLANNED

RUNS, RUNS_OF_MANY_LOOKS, RUNS_UNTIL_STOPPED = 200, 100, 60
LIMIT = 0.1
PARTS = 20  # looks until the records of the oracle plan are there
GROWING = [50, *(round(50 * 1.5**step) - round(50 * 1.5 ** (step - 1)) for step in range(1, 12))]
"""Records a side in each of 12 batches, after which there are half as many again."""
FROM_FEW = np.diff(np.concatenate([[0], np.geomspace(10, 50_000, 12).round().astype(int)])).tolist()
"""12 looks, at 20 to 100,000 records."""
Plan = tuple[str, list[int], int]
"""A name, records of a side in each batch, and how many nonmembers there are to a member."""
OF_SCORES: tuple[Plan, ...] = (
    ("12, growing", GROWING, 1),
    ("40, even", [50] * 40, 1),
    ("12, 1:9", GROWING, 9),
    ("12, from 20 to 100,000", FROM_FEW, 1),
    ("1,000, even", [50] * 1000, 1),
)
OF_COUNTS: tuple[Plan, ...] = (("3, to 10^6", [10_000, 90_000, 900_000], 1),)
LABELS = np.array(list("abcdefgh"))
CUTS = np.linspace(-3.0, 5.0, 41)


@dataclass(frozen=True)
class World:
    """How a batch is drawn, and the advantage of the best attacker."""

    name: str
    truth: float
    draw: Callable[[Rng, int, int], Scores | Counts]

    def __str__(self) -> str:
        return f"{self.name}, {self.truth:.3g}"

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All in which it is drawn: of some truths one is enough."""
        if self.name == "counts":
            return OF_COUNTS
        return OF_SCORES if self.truth in (0.0, 0.2) else OF_SCORES[:1]


def bells(truth: float, rng: Rng, n: int, m: int) -> Scores:
    return Scores.of(rng.normal(shift(truth), 1.0, n), rng.normal(0.0, 1.0, m))


def labels(truth: float, rng: Rng, n: int, m: int) -> Scores:
    """Eight labels, four of them more frequent among members."""
    tilted = np.repeat([1.0 + 2.0 * truth, 1.0 - 2.0 * truth], 4) / 8.0
    return Scores.of(rng.choice(LABELS, n, p=tilted), rng.choice(LABELS, m))


def cells(by: float) -> Floats:
    """How likely a normal score is in each of 42 cells."""
    return np.diff(np.concatenate([[0.0], ndtr(CUTS - by), [1.0]]))


def counts(by: float, rng: Rng, n: int, m: int) -> Counts:
    return Counts.of(rng.multinomial(n, cells(by)), rng.multinomial(m, cells(0.0)), edges=CUTS)


WORLDS = [
    *(World("bells", truth, partial(bells, truth)) for truth in (0.0, 0.05, 0.2, 0.5, 0.95)),
    *(World("labels", truth, partial(labels, truth)) for truth in (0.0, 0.2)),
    *(World("counts", float(abs(cells(by) - cells(0)).sum() / 2), partial(counts, by)) for by in (0.0, 0.5)),
]


def one(seed: int, world: World, batches: list[int], times: int) -> tuple[bool, bool, float]:
    """Of one run: ever wrong below, ever above, width beside one look."""
    rng = np.random.default_rng([11, crc32(f"{world}{len(batches)}{times}".encode()), seed])
    run, every = sequential_run(LIMIT, planned=(1 + times) * sum(batches), seed=seed), []
    for n in batches:
        every.append(world.draw(rng, n, times * n))
        run = run.after(every[-1])
    fixed = advantage(together(every))
    width = (run.upper - run.lower) / (fixed.upper - fixed.lower)
    return run.lower > world.truth, run.upper < world.truth, width


def together(batches: list[Scores | Counts]) -> Scores | Counts:
    if isinstance(batches[0], Counts):
        return reduce(Counts.merge, batches)
    sides = ([getattr(each, side) for each in batches] for side in ("members", "nonmembers"))
    return Scores.of(*map(np.concatenate, sides))


@table
def ends(run: Run):
    yield "scores | truth | batches | runs | ever above | ever below | width"
    plans, every = [(world, *plan) for world in WORLDS for plan in world.plans], []
    for world, name, batches, times in run.few([p for p in plans if not run.quick or len(p[2]) < 20], 5):
        runs = run.times(RUNS_OF_MANY_LOOKS if len(batches) == 1000 else RUNS, 2 if run.quick else 5)
        outcomes = run.map(partial(one, world=world, batches=batches, times=times), range(runs))
        every += outcomes
        below, above, width = np.mean(outcomes, axis=0)
        yield f"{world.name} | {world.truth:.3g} | {name} | {runs} | {below:.1%} | {above:.1%} | {width:.2f}"
    below, above, width = np.mean(every, axis=0)
    yield f"all | | | {len(every)} | {below:.2%} | {above:.2%} | {width:.2f}"


def until_stopped(seed: int, world: World, times: int, plan: int, planned: int) -> float:
    """Records at the first look with a verdict; infinity if there is none at four times those of the plan."""
    rng = np.random.default_rng([12, seed])
    run, n = sequential_run(LIMIT, planned=planned, seed=seed), max(8, round(plan / PARTS / (1 + times)))
    for size in [max(10, n), *[n] * (4 * PARTS)]:
        run = run.after(world.draw(rng, size, times * size))
        if run.decision is not Decision.INCONCLUSIVE:
            return run.looks[-1].n_members + run.looks[-1].n_nonmembers
    return float("inf")


@table
def stopping(run: Run):
    """How many records it takes until there is a verdict, beside the oracle plan."""
    runs = run.times(RUNS_UNTIL_STOPPED, 2 if run.quick else 10)
    yield f"truth ({runs} runs) | nonmembers to a member | the oracle plan | planned so | planned {PLANNED:,}"
    for world in [each for each in WORLDS if each.name == "bells" and (each.truth > 0.1 or not run.quick)]:
        for times in (1, 9):
            plan = plan_verdict(world.truth, LIMIT, member_share=1.0 / (1 + times)).records
            ratios = []
            for planned in (plan, PLANNED):
                task = partial(until_stopped, world=world, times=times, plan=plan, planned=planned)
                ratios.append(np.median(run.map(task, range(runs))) / plan)
            yield f"{world.truth:g} | {times} | {plan:,} | {ratios[0]:.2f} | {ratios[1]:.2f}"
