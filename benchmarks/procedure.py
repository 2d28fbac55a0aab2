"""Several models of one training procedure: how often the mean and the next model lie within their limits.

Nonmembers' scores are normal, members' shifted by the model's own leak, which varies between trainings by a share of
itself: as a normal number, or otherwise where the law is named. "one model": how often the interval of a single model
contains the mean over trainings. "share" is the estimated share of the variance before it is cut off at 0, on
average, "truth" that of a rule which needs no learning. "settled" is the share of sets of models whose verdict stands.
About a quarter of an hour on one core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.special import ndtr

from benchmarks.harness import Run, mark, table
from benchmarks.worlds import Floats, Rng, shift
from estimators import Decision, Scores
from estimators.decisions.verdict import decision
from estimators.optimum.ends import Ends, ends_of
from estimators.runs.procedure import plan_models
from estimators.runs.procedure.limits import Trainings, evidence_by
from estimators.runs.procedure.models import seeds_of
from estimators.sample.counting import finest

Law = Callable[[Rng, int], Floats]

RUNS = 400
ALPHA = 0.025
ROWS = 200  # records of a side of each model
MANY = 400_000  # trainings of which the truth is the mean


def normal(leak: float, varies: float) -> Law:
    """Shifts that vary by this share of themselves."""
    return lambda rng, number: shift(leak) * (1.0 + varies * rng.normal(size=number))


def two_values(rng: Rng, number: int) -> Floats:
    """Shifts of which half are by a half smaller, half by a half larger."""
    return shift(0.2) * (1.0 + 0.5 * rng.choice([-1.0, 1.0], number))


def skewed(rng: Rng, number: int) -> Floats:
    deviation = np.sqrt(np.log1p(0.5**2))
    return shift(0.2) * np.exp(deviation * rng.normal(size=number) - deviation**2 / 2.0)


def rare(rng: Rng, number: int) -> Floats:
    """Shifts of which a tenth are four times as large."""
    return np.where(rng.random(number) < 0.1, 4.0, 1.0) * shift(0.2)


@dataclass(frozen=True)
class World:
    """How models leak, how many there are and how many records each has of a side, all as many or each its own."""

    name: str
    law: Law
    models: int
    rows: int | tuple[int, ...] = ROWS

    @property
    def sizes(self) -> tuple[int, ...]:
        """The records of a side of each model."""
        return self.rows if isinstance(self.rows, tuple) else (self.rows,) * self.models

    def advantages(self, shifts: Floats) -> Floats:
        """The best attacker's advantage on models of these shifts."""
        return np.abs(2.0 * ndtr(shifts / 2.0) - 1.0)

    @property
    def truth(self) -> tuple[float, float, float]:
        """The mean over trainings, their standard deviation, and the share of the variance that is theirs."""
        many = self.advantages(self.law(np.random.default_rng(1), MANY))
        noise = float(np.mean(1.0 - many**2)) * float(np.mean([0.5 / size for size in self.sizes]))
        between = float(many.var())
        return float(many.mean()), float(np.sqrt(between)), between / (between + noise)

    def model(self, own: float, rows: int, rng: Rng, seed: int) -> Ends:
        scores = Scores.of(rng.normal(own, 1.0, rows), rng.normal(0.0, 1.0, rows))
        return ends_of(finest(scores), 0.5, None, seed)


NORMAL = product(((0.0, 0.0), (0.2, 0.0), (0.2, 0.2), (0.2, 0.5), (0.6, 0.2), (0.6, 0.5)), (4, 8, 16, 64))
WORLDS = [
    *(World(f"{k} models, {leak}, varies by {by:.0%}", normal(leak, by), k) for (leak, by), k in NORMAL),
    *(
        World(f"{k} models x {2 * rows}, 0.2, varies by 50%", normal(0.2, 0.5), k, rows)
        for rows, k in product((50, 1000), (4, 16))
    ),
]
UNEQUAL = {
    "7 of 16 records, one of 40,000": (*[8] * 7, 20_000),
    "10 of 60, 10 of 6,000": (*[30] * 10, *[3000] * 10),
    "of 20 to 2,000": tuple(np.geomspace(10, 1000, 16).astype(int).tolist()),
}
"""Records of both sides of each model."""
WORLDS += [
    World(f"{len(rows)} models, {name}, {leak}, varies by {by:.0%}", normal(leak, by), len(rows), rows)
    for name, rows in UNEQUAL.items()
    for leak, by in ((0.2, 0.0), (0.2, 0.5), (0.9, 0.2))
]
OTHER_LAWS = {"two values, 50% apart": two_values, "log-normal by 50%": skewed, "one in ten four times as much": rare}
for name, law in OTHER_LAWS.items():
    WORLDS += [World(f"{k} models, 0.2, {name}", law, k) for k in (4, 8, 64)]
    WORLDS += [World(f"{k} models x 2000, 0.2, {name}", law, k, 1000) for k in (4, 16)]


def row(world: World, runs: int) -> str:
    mean, spread, part = world.truth
    misses, widths, shares, spreads, one, proven = np.zeros(4), np.zeros(3), [], 0, 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        shifts, seeds = world.law(rng, world.models + 1), seeds_of(world.models, seed)
        each_model = zip(shifts[:-1].tolist(), world.sizes, seeds, strict=True)
        ends = [world.model(own, rows, rng, each) for own, rows, each in each_model]
        seen, k = Trainings.of([evidence_by(each) for each in ends]), world.models
        truths = mean, float(world.advantages(shifts[-1:])[0]), mean
        stated = np.clip([seen.mean(ALPHA), seen.next_one(ALPHA), seen.whatever_they_do(ALPHA)], 0.0, 1.0)
        outside = [(low > t + 1e-12, high < t - 1e-12) for (low, high), t in zip(stated, truths, strict=True)]
        misses += np.concatenate(outside[:2])
        proven += any(outside[2])
        widths += stated[:, 1] - stated[:, 0]
        low, high = seen.spread(ALPHA)[1]
        spreads += low <= spread <= high
        shares.append(1.0 - seen.noise * (k - 3) / (k - 1) / seen.variance)
        one += max(0.0, ends[0].lower(ALPHA)) <= mean <= ends[0].upper(ALPHA)
    cells = [f"{each / runs:.3f}{mark(int(each), runs)}" for each in misses]
    width = [f"{each / runs:.2f}" for each in widths]
    return (
        f"{world.name} | {mean:.3f} | {runs} | {cells[0]} | {cells[1]} | {width[0]} | {cells[2]} | {cells[3]} | "
        f"{width[1]} | {1 - proven / runs:.3f} | {width[2]} | {one / runs:.2f} | {np.mean(shares):.2f} | {part:.2f} | "
        f"{spreads / runs:.2f}"
    )


@table
def limits(run: Run):
    yield (
        "world | mean | runs | above | below | width | next above | next below | width | proven covers | width | "
        "one model | share | truth | spread covered"
    )
    for world in run.few([each for each in WORLDS if not run.quick or each.models < 16], 6):
        yield row(world, run.times(RUNS * min(1.0, 16.0 / world.models), 4))


PLANS = (
    *((0.2, 0.1, 0.05, 1000), (0.2, 0.1, 0.1, 1000), (0.15, 0.1, 0.05, 2000)),
    *((0.05, 0.2, 0.05, 1000), (0.3, 0.4, 0.15, 2000)),
)
"""Expected advantage, threshold, spread, and records of each model."""


@table
def plans(run: Run):
    """How often the planned number of models settles the verdict, if advantages are normal."""
    yield "expected | threshold | spread | records of a model | models planned | runs | settled"
    runs = run.times(RUNS / 2, 4)
    for expected, threshold, spread, records in PLANS[: 1 if run.quick else None]:
        planned = plan_models(expected, threshold, spread, records).models
        world, settled = World("", normal(0.0, 0.0), planned, records // 2), 0
        for seed in range(runs):
            rng = np.random.default_rng(10_000 + seed)
            leaks = np.clip(rng.normal(expected, spread, planned), 0.0, 0.99)
            pairs = zip(leaks, seeds_of(planned, seed), strict=True)
            ends = [world.model(shift(float(leak)), records // 2, rng, own) for leak, own in pairs]
            lower, upper = Trainings.of(list(map(evidence_by, ends))).mean(ALPHA)
            settled += decision(max(lower, 0.0), upper, threshold) is not Decision.INCONCLUSIVE
        yield f"{expected} | {threshold} | {spread} | {records} | {planned} | {runs} | {settled / runs:.2f}"
