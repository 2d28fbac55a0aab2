"""Whether what is said of forgotten records is true as often as it says, and how wide the intervals are.

Scores are normal with spread 1: never-seen records about 0, retained ones about 2, forgotten ones by the world. The
retrained model's scores go with the model's, record by record. "below" is how often a lower end lies above the truth,
"above" how often an upper end lies below it: each may be 2.5%. About three minutes of two cores.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from scipy.special import ndtr

from benchmarks.harness import Note, Run, table
from benchmarks.worlds import Rng
from estimators.audits.unlearning import UnlearningAudit, audit_unlearning

RUNS = 300
SIZE_RUNS = 200
SIZES = ((100, 100), (500, 1000), (3000, 3000))
"""Forgotten and never-seen records; of retained ones there are as many as of these."""
RETAINED = ((1.0, 2.0),)
UNSEEN = ((1.0, 0.0),)
GRID = np.linspace(-12.0, 18.0, 60_001)
Mixture = tuple[tuple[float, float], ...]
"""Weights and means."""


@dataclass(frozen=True)
class World:
    """How forgotten records score by the model and by the retrained one, and how much alike both score a record."""

    name: str
    forgotten: Mixture
    retrained: Mixture = UNSEEN
    alike: float = 0.8
    rounded: bool = False

    def survival(self, law: Mixture, cut: float) -> float:
        """Share of records above a cut."""
        at = np.floor(cut) + 0.5 if self.rounded else cut
        return float(sum(weight * ndtr(mean - at) for weight, mean in law))

    def advantage(self) -> float:
        """Of the best attacker who tells forgotten from never-seen records."""
        cuts = np.arange(-12, 18) + 0.5 if self.rounded else GRID
        gap = sum(w * ndtr(cuts - mean) for w, mean in self.forgotten) - ndtr(cuts)
        return float(np.abs(np.diff(gap, prepend=0.0, append=0.0)).sum() / 2.0)

    def excess(self, audit: UnlearningAudit) -> float:
        """At the cuts of an answer, the largest."""
        assert audit.excess is not None

        def beyond(law: Mixture, cut: float) -> float:
            return self.survival(law, cut) - self.survival(UNSEEN, cut)

        return max(
            abs(beyond(self.forgotten, each.cut) - beyond(self.retrained, each.retrained_cut))
            for each in audit.excess.cuts
        )

    def share(self, cut: float) -> float:
        """What remains at a cut."""
        of = [self.survival(law, cut) for law in (self.forgotten, RETAINED, UNSEEN)]
        return (of[0] - of[2]) / (of[1] - of[2])

    def scores(self, rng: Rng, records: int, law: Mixture, again: Mixture) -> tuple[np.ndarray, np.ndarray]:
        """Of so many records, by the model and by the retrained one; who is remembered, is by the first alone."""
        own = rng.normal(size=records) * np.sqrt(self.alike)
        sides = []
        for mixture in (law, again):
            weights, means = zip(*mixture, strict=True)
            side = own + rng.normal(size=records) * np.sqrt(1.0 - self.alike)
            sides.append(side + rng.choice(means, records, p=weights))
        return (np.rint(sides[0]), np.rint(sides[1])) if self.rounded else (sides[0], sides[1])


WORLDS = (
    World("all forgotten", UNSEEN),
    World("half forgotten", ((1.0, 1.0),)),
    World("too much forgotten", ((1.0, -0.5),)),
    World("5% remembered", ((0.05, 6.0), (0.95, 0.0))),
    World("half, whole numbers", ((1.0, 1.0),), rounded=True),
    World("all, retraining varies", UNSEEN, alike=0.0),
    World("all, another kind", ((1.0, 0.5),), ((1.0, 0.5),)),
)


@dataclass(frozen=True)
class Tally:
    """How often each end missed, and widths: of the residual advantage, the excess and the remaining share."""

    misses: np.ndarray
    widths: np.ndarray
    said: np.ndarray

    def cells(self, place: int, run: Run) -> str:
        """Misses of both ends, and the mean width."""
        said = int(self.said[place])
        if not said:
            return "- | -"
        shares = " / ".join(run.rate(each, said, form=".2g") for each in self.misses[place])
        return f"{shares} | {self.widths[place] / said:.3f}"


def tally(task: tuple[World, int, int, int]) -> Tally:
    world, forgotten, unseen, runs = task
    rng, truth = np.random.default_rng(forgotten + unseen), world.advantage()
    misses, widths, said = np.zeros((3, 2)), np.zeros(3), np.zeros(3)
    for run in range(runs):
        audit = once(world, rng, forgotten, unseen, run)
        intervals = [(audit.residual.estimate.interval, truth)]
        assert audit.excess is not None
        intervals.append((audit.excess.estimate.interval, world.excess(audit)))
        if audit.share is not None:
            intervals.append((audit.share.estimate.interval, world.share(audit.share.cut)))
        for place, (interval, true) in enumerate(intervals):
            misses[place] += interval.lower > true + 1e-9, interval.upper < true - 1e-9
            widths[place] += interval.upper - interval.lower
            said[place] += 1
    return Tally(misses, widths, said)


def once(world: World, rng: Rng, forgotten: int, unseen: int, seed: int, most: float | None = None):
    gone, gone_again = world.scores(rng, forgotten, world.forgotten, world.retrained)
    new, new_again = world.scores(rng, unseen, UNSEEN, UNSEEN)
    kept, _ = world.scores(rng, unseen, RETAINED, RETAINED)
    again = None if most is not None else (gone_again, new_again)
    return audit_unlearning(gone, new, kept, again, most, seed=seed)


@table
def coverage(run: Run):
    yield (
        "world | forgotten : never-seen | residual advantage | misses below / above | width | excess misses | width | "
        "remaining share misses | width"
    )
    runs = run.times(RUNS, 4)
    tasks = [(world, *sizes, runs) for world, sizes in run.few(product(WORLDS, SIZES), 3)]
    for (world, forgotten, unseen, _), each in zip(tasks, run.map(tally, tasks), strict=True):
        parts = " | ".join(each.cells(place, run) for place in range(3))
        yield f"{world.name} | {forgotten:,} : {unseen:,} | {world.advantage():.3f} | {parts}"
    yield Note(f"{runs} runs a row.")


@table
def sizes(run: Run):
    """What so many records can pass if nothing is left: no sample less than the smallest limit."""
    yield "forgotten : never-seen | smallest limit | upper end in half of the runs | in four of five | least of all"
    runs = run.times(SIZE_RUNS, 4)
    found = run.map(partial(upper_ends, runs), SIZES)
    for (forgotten, unseen), (least, ends) in zip(SIZES, found, strict=True):
        run.faults += min(ends) < least
        half, most = np.quantile(ends, [0.5, 0.8])
        yield f"{forgotten:,} : {unseen:,} | {least:.3f} | {half:.3f} | {most:.3f} | {min(ends):.3f}"


def upper_ends(runs: int, sizes: tuple[int, int]) -> tuple[float, list[float]]:
    """The smallest limit, and the upper end of each run."""
    rng, world = np.random.default_rng(sum(sizes)), WORLDS[0]
    audits = [once(world, rng, *sizes, seed, 1.0) for seed in range(runs)]
    return audits[0].least_limit, [each.residual.upper for each in audits]
