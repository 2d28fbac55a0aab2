"""Rows that come in clusters: how often each end misses, and how wide the interval is beside one row a cluster.

Scores are normal, members' shifted; rows of one cluster share a normal part, so that any two of them have the stated
correlation. "both sides": a cluster has rows on either side, as a record has that several models were asked about.
"procedure": each cluster is a model trained by one procedure. Twenty-five minutes of one core.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from benchmarks.harness import Note, Run, mark, table
from benchmarks.worlds import Draw, Floats, Integers, Rng, copies, crossed, equal, pareto, people, shift
from estimators import Advantage, Scores, advantage, one_per_unit

RUNS = 200


@dataclass(frozen=True)
class World:
    """How rows and their clusters are drawn, members' rows first, and the truth."""

    name: str
    draw: Draw
    truth: float
    runs: int = RUNS


def memorised(sizes: list[int], share: float, likeness: float) -> Draw:
    """People of either side with so many rows, of whose members this share are known by all of their rows."""

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        people = 2 * len(sizes)
        of = np.repeat(np.arange(people), sizes * 2)
        score = np.sqrt(likeness) * rng.normal(size=people)[of] + 0.7 * rng.normal(size=len(of))
        member = of < len(sizes)
        known = member & (rng.random(people) < share)[of]
        score[known] += 20.0
        return score[member], score[~member], [of]

    return draw


def yes_or_no(large: list[int], both: bool) -> Draw:
    """120 people of each side, or of both; a few have so many rows; of four in five all rows are told right."""
    rows = np.array([*large, *[1] * (120 - len(large))])
    of = np.repeat(np.arange(120), rows)

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        members, nonmembers = (np.repeat((rng.random(120) < rate).astype(float), rows) for rate in (0.8, 0.2))
        return members, nonmembers, [np.concatenate([of, of if both else of + 120])]

    return draw


Rates = tuple[float, float]
"""How often a row of a member says yes, and a row of a nonmember."""

OTHER_CLUSTERS: tuple[tuple[int, int, bool, Rates, float, Rates], ...] = (
    (42, 50, True, (0.6, 0.4), 0.06, (0.4, 0.4)),
    (42, 50, True, (0.9, 0.3), 0.06, (0.0, 0.0)),
    (42, 50, True, (0.6, 0.4), 0.06, (0.4, 0.6)),
    (42, 50, True, (0.8, 0.2), 0.06, (0.2, 0.8)),
    (50, 4, False, (1.0, 0.025), 0.05, (0.0, 0.025)),
    (40, 100, False, (0.9, 0.3), 0.05, (0.0, 0.3)),
    (40, 100, False, (0.6, 0.4), 0.05, (0.0, 0.0)),
    (40, 100, False, (0.6, 0.4), 0.05, (0.0, 0.4)),
    (42, 50, True, (0.6, 0.4), 0.06, (0.0, 1.0)),
    (42, 50, True, (0.6, 0.4), 0.084, (0.0, 1.0)),
    (25, 60, False, (0.191, 0.101), 0.04, (0.005, 0.955)),
)
"""Clusters (of each side, or of both), their rows of a side, their rates, and which share of them has which others."""


def with_others(task: tuple[int, int]) -> list[float]:
    """Whether the lower end lies above the truth at 95% and at 99%, and the width at 95%."""
    at, seed = task
    number, rows, both, rates, share, other = OTHER_CLUSTERS[at]
    rng, of = np.random.default_rng((at, seed)), np.repeat(np.arange(number), rows)
    is_other = rng.random((2, number)) < share
    if both:
        is_other[1] = is_other[0]
    chances = np.where(is_other, np.array(other)[:, None], np.array(rates)[:, None])
    scores = Scores.of(*((rng.random(of.size) < each[of]).astype(float) for each in chances))
    found = [
        advantage(scores, cluster=np.concatenate([of, of if both else of + number]), confidence=each)
        for each in (0.95, 0.99)
    ]
    return [*(each.lower > truth_with_others(at) + 1e-12 for each in found), found[0].upper - found[0].lower]


def truth_with_others(at: int) -> float:
    """The advantage over all clusters."""
    *_, rates, share, other = OTHER_CLUSTERS[at]
    return (1.0 - share) * (rates[0] - rates[1]) + share * (other[0] - other[1])


def procedure(models: int, rows: int, leak: float, varies: float) -> World:
    """Models of one training procedure, each with its own records, of which some leak more than others.

    A member's score is shifted by the model's own shift, which varies by this share of itself: over all models it is
    normal with a larger variance, and the truth is the distance of the two laws.
    """
    own = shift(leak)
    x = np.linspace(-40.0, 40.0, 400_001)
    kinds = (own, np.sqrt(1.0 + (varies * own) ** 2)), (0.0, 1.0)
    laws = [np.exp(-(((x - mean) / spread) ** 2) / 2.0) / spread for mean, spread in kinds]
    truth = float(np.abs(laws[0] / laws[0].sum() - laws[1] / laws[1].sum()).sum() / 2.0)

    def draw(rng: Rng) -> tuple[Floats, Floats, list[Integers]]:
        of = np.repeat(np.arange(models), rows)
        shifts = own * (1.0 + varies * rng.normal(size=models))
        return rng.normal(shifts[of], 1.0), rng.normal(size=of.size), [np.concatenate([of, of])]

    name = f"{models} models x {2 * rows}, leak varies by {varies:.0%}, {truth:.3f}"
    return World(name, draw, truth, RUNS if models >= 40 else RUNS // 3)


def worlds() -> list[World]:
    """All that is drawn from, but for models of one procedure."""
    few, even = RUNS // 3, ((40, 2), (40, 50), (40, 100), (200, 1), (200, 5), (200, 20), (1000, 2))
    likenesses = (0.0, 0.5, 0.95)
    of_people = [*product(even, likenesses, (0.0, 0.2, 0.6, 0.95), [RUNS])]
    of_people += product([(2000, 20)], likenesses, (0.0, 0.2), [RUNS // 4])
    of_people += product(((20, 5), (20, 50), (30, 20)), likenesses, (0.0, 0.6), [few])
    listed = []
    for (n, rows), like, truth, runs in of_people:
        draw = people(equal(n, rows), like, truth)
        listed.append(World(f"{n} x {rows}, correlation {like}, {truth}", draw, truth, runs))
    for n, like, truth in product((60, 200, 1000), likenesses, (0.0, 0.2, 0.6)):
        draw = people(pareto(n), like, truth)
        listed.append(World(f"{n} of Pareto sizes, correlation {like}, {truth}", draw, truth))
    for share, truth in product((0.2, 0.5, 0.8), (0.0, 0.3)):
        listed.append(World(f"{share:.0%} copies, {truth}", copies(300, share, truth), truth))
    of_records = ((20, 100, few), (50, 40, RUNS), (200, 10, RUNS), (1000, 2, RUNS), (2000, 1, RUNS))
    of_both = ((20, 100, RUNS // 4), (50, 40, RUNS), (100, 60, RUNS // 2))
    kinds = ("records x models", (0.5, 0.0), of_records), ("both columns", (0.3, 0.3), of_both)
    for name, alike, sizes in kinds:
        for (records, models, runs), truth in product(sizes, (0.0, 0.3)):
            draw = crossed(records, models, alike, truth, sizes is of_both)
            listed.append(World(f"{name} {records} x {models}, {truth}", draw, truth, runs))
    of_few = (25, 400, 0.12), (30, 200, 0.1), (50, 200, 0.06), (100, 10, 0.1), (100, 100, 0.03)
    of_many = (42, 100, 0.318), (60, 20, 0.306), (100, 10, 0.15)
    for n, rows, share in of_few + of_many:
        few = (n, rows, share) in of_few
        name = f"{2 * n} x {rows}, {share:.0%} known by all rows" + ", others independent" * (not few)
        listed.append(World(name, memorised([rows] * n, share, 0.49 * few), share, 5 * RUNS))
    name = "44 x 300 and 176 x 8, 20% known by all rows, others independent"
    listed.append(World(name, memorised([300] * 22 + [8] * 88, 0.2, 0.0), 0.2, 5 * RUNS))
    for large, both in product(([2], [20] * 3, [40, 20, 10], [8] * 6), (False, True)):
        name = f"a yes or no, {'120' if both else '240'} people, of whom some have {large} rows a side"
        listed.append(World(name, yes_or_no(large, both), 0.6, 5 * RUNS))
    return listed


def procedures() -> list[World]:
    leaks = ((0.0, 0.0), (0.2, 0.0), (0.2, 0.2), (0.2, 0.5), (0.6, 0.5))
    return [procedure(models, 50, *leak) for models, leak in product((16, 30, 40, 64), leaks)]


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

    def row(self, beside: bool) -> str:
        """A line of the table; with or without one row a cluster beside it."""
        ends = " | ".join(f"{n / self.runs:.3f}{mark(n, self.runs)}" for n in (self.above, self.below))
        ratio = f" | {self.one_row:.3f} | {self.width / self.one_row:.2f}" if beside else ""
        widths = f"{self.width:.3f}{ratio} | {self.design_effect:.2f}"
        return f"{self.name} | {self.method} | {self.runs} | {ends} | {widths}"


def answers(world: World, seed: int) -> tuple[Advantage, Advantage]:
    """By clusters, and with one row of each cluster of a side (of the first column, where two cross)."""
    rng = np.random.default_rng(seed)
    members, nonmembers, labels = world.draw(rng)
    sides = labels[0][: len(members)], labels[0][len(members) :]
    keep = [one_per_unit(side, of, seed) for side, of in zip((members, nonmembers), sides, strict=True)]
    if len(labels) > 1 or np.intersect1d(*sides).size:
        keep = one_row(labels, len(members), rng)
    cluster = dict(zip(("record", "model"), labels, strict=False)) if len(labels) > 1 else labels[0]
    alone = advantage(Scores.of(members[keep[0]], nonmembers[keep[1]]))  # at the seed that everybody has
    return advantage(Scores.of(members, nonmembers), cluster=cluster), alone


def one_row(labels: list[Integers], n_members: int, rng: Rng) -> list[Integers]:
    """Rows of which no two share a label, half of them members, or nearly."""
    taken: list[set[int]] = [set() for _ in labels]
    keep: list[list[int]] = [[], []]
    for row in rng.permutation(len(labels[0])):
        side, own = int(row >= n_members), [int(each[row]) for each in labels]
        seen = any(label in before for label, before in zip(own, taken, strict=True))
        if len(keep[side]) <= len(keep[1 - side]) and not seen:
            keep[side].append(int(row) - side * n_members)
            for before, label in zip(taken, own, strict=True):
                before.add(label)
    return [np.array(each, dtype=np.int64) for each in keep]


def tally(at: int, listed, run: Run) -> Tally:
    world = listed()[at]
    runs = run.times(world.runs, 2)
    ours, others = zip(*(answers(world, seed) for seed in range(runs)), strict=True)
    summary = [one.clusters for one in ours if one.clusters is not None]
    above = sum(one.lower > world.truth + 1e-12 for one in ours)
    below = sum(one.upper < world.truth - 1e-12 for one in ours)
    widths = (float(np.mean([each.upper - each.lower for each in every])) for every in (ours, others))
    effect = float(np.median([each.design_effect for each in summary]))
    return Tally(world.name, runs, summary[0].method, above, below, *widths, effect)


def tallied(run: Run, listed, most: int, beside: bool):
    """A row for each world, and the misses of each method."""
    tallies = run.map(partial(tally, listed=listed, run=run), run.few(range(len(listed())), most))
    yield from (each.row(beside) for each in tallies)
    for method in sorted({each.method for each in tallies}):
        group = [each for each in tallies if each.method == method]
        runs = sum(each.runs for each in group)
        above, below = (sum(getattr(each, end) for each in group) / runs for end in ("above", "below"))
        yield Note(f"{method}: {runs} samples, lower end above {above:.4f}, upper end below {below:.4f}")


@table
def ends(run: Run):
    yield "world, truth | method | runs | above | below | width | one row a cluster | ratio | design effect"
    yield from tallied(run, worlds, 12, True)


@table
def models(run: Run):
    yield "models x records, truth | method | runs | above | below | width | design effect"
    yield from tallied(run, procedures, 3, False)


@table
def unlike(run: Run):
    yield "clusters, rates | others | truth | runs | above, 95% | above, 99% | width"
    runs = run.times(5 * RUNS, 2)
    results = run.map(with_others, list(product(run.few(range(len(OTHER_CLUSTERS)), 2), range(runs))))
    for at, rows in enumerate(np.array(results).reshape(-1, runs, 3)):
        number, of_each, both, rates, share, other = OTHER_CLUSTERS[at]
        first, second = (int(rows[:, end].sum()) for end in (0, 1))
        sides = "both sides" if both else "each side"
        yield (
            f"{number} of {sides} x {of_each}, {rates[0]} and {rates[1]} | {share:.0%}: {other[0]} and {other[1]} | "
            f"{truth_with_others(at):.3f} | {runs} | {first / runs:.3f}{mark(first, runs)} | "
            f"{second / runs:.3f}{mark(second, runs, 0.005)} | {rows[:, 2].mean():.3f}"
        )
