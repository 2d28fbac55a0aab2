"""Fixed sets of records: how often each end misses what is true of the set, and how wide the interval is.

A set of members and nonmembers is drawn once and stays; records of each side are drawn from it without replacement and
scored. The truth is the advantage of the best rule of the class on all records of that set: what the upper end covers,
and a stricter truth for the lower end than that of any attacker. "width" is beside the interval of independent draws
on the same scores. Half an hour of one core.
"""

from functools import partial
from itertools import product

import numpy as np

from benchmarks.harness import Note, Run, mark, table
from estimators import Scores, advantage
from estimators.adversary.changes import best_by_changes
from estimators.optimum.ends import Ends, checked_ends
from estimators.optimum.fixed_set import on_set
from estimators.sample.scores import MIN_RECORDS

SETS, SAMPLES = 10, 20
RANKS = np.arange(1.0, 13.0)


def long_tail(rng: np.random.Generator, n: int, member: float) -> np.ndarray:
    """Twelve categories with a long tail, members' tail a little longer."""
    weight = RANKS ** (-1.2 + 0.5 * member)
    return rng.choice(12, n, p=weight / weight.sum()).astype("U5")


WORLDS = {
    "no leak": lambda rng, n, member: rng.normal(0.0 * member, 1.0, n),
    "shift 0.5": lambda rng, n, member: rng.normal(0.5 * member, 1.0, n),
    "separated": lambda rng, n, member: rng.normal(20.0 * member, 1.0, n),
    "5 % memorised": lambda rng, n, member: rng.normal(0.0, 1.0, n) + 20.0 * member * (rng.random(n) < 0.05),
    "spread 1.5": lambda rng, n, member: rng.normal(0.0, 1.5 if member else 1.0, n),
    "half the scores 0": lambda rng, n, member: np.where(rng.random(n) < 0.5, 0, rng.normal(member, 1.0, n)),
    "one digit": lambda rng, n, member: np.round(rng.normal(0.5 * member, 1.0, n), 1),
    "12 categories, long tail": long_tail,
}
"""How scores are drawn: so many, members' if the last number is 1, nonmembers' if it is 0."""
SIDES = ((20, 20, 0.5), (100, 100, 0.5), (50, 450, 0.1), (50, 450, 0.5), (500, 500, 0.5), (1000, 1000, 0.5))
SHARES = (0.1, 0.5, 0.9, 1.0)
CASES = [
    (seed, *case)
    for seed, case in enumerate(
        (world, *sides, share)
        for world, sides, share in product(WORLDS, SIDES, SHARES)
        if min(round(share * sides[0]), round(share * sides[1])) >= MIN_RECORDS
    )
]
"""Seed, world, records of the set, the prior, and the share of either side that is scored."""


def truth(ends: Ends, members: np.ndarray, nonmembers: np.ndarray, prior: float) -> float:
    """The best that a rule of the answer's class has on the whole set: its cells, or its few changes anywhere."""
    values, where = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    sizes, counts = [len(members), len(nonmembers)], ends.counts
    worth = np.repeat([prior / sizes[0], (prior - 1.0) / sizes[1]], sizes)
    by_value = np.bincount(where, worth, len(values))
    if counts.cells.kind in ("categories", "values"):
        return float(np.abs(by_value).sum())
    in_cells = np.abs(np.bincount(counts.cells.locate(values), by_value, counts.size)).sum()
    return float(max(in_cells, best_by_changes(by_value, ends.changes)[-1]))


def simulate(case: tuple, samples: int) -> np.ndarray:
    """A row for each sample: both ends, what is true, and the width of both kinds of intervals."""
    seed, world, n1, n0, prior, share = case
    rng, draw, rows = np.random.default_rng([17, seed]), WORLDS[world], []
    for _ in range(SETS):
        members, nonmembers = draw(rng, n1, 1.0), draw(rng, n0, 0.0)
        for _ in range(samples):
            data = Scores.of(*(rng.permutation(side)[: round(share * len(side))] for side in (members, nonmembers)))
            ends = checked_ends(data, prior, None, 0, 1)
            result = on_set(ends, n1, n0, 0.95).estimate
            known, independent = truth(ends, members, nonmembers, prior), advantage(data, prior)
            widths = result.interval.width, independent.upper - independent.lower
            rows.append((result.lower, result.upper, known, *widths))
    return np.array(rows)


@table
def ends(run: Run):
    yield "world | set | prior | scored | truth | mean interval | lower end above | upper end below | width | runs"
    cases, beyond, wider = run.few(CASES, 8), 0, 0
    for case, rows in zip(cases, run.map(partial(simulate, samples=run.times(SAMPLES)), cases), strict=True):
        _, world, n1, n0, prior, share = case
        runs, (low, high, known, width, other) = len(rows), rows.mean(axis=0)
        misses = [(rows[:, 0] > rows[:, 2] + 1e-9).sum(), (rows[:, 1] < rows[:, 2] - 1e-9).sum()]
        marks = [mark(each, runs) for each in misses]
        beyond, wider = beyond + any(marks), wider + (width / other > 1.0)
        rates = " | ".join(f"{each / runs:.3f}{sign}" for each, sign in zip(misses, marks, strict=True))
        yield (
            f"{world} | {n1}:{n0} | {prior:g} | {100 * share:g} % | {known:.3f} | [{low:.3f}, {high:.3f}] | {rates} | "
            f"{width / other:.2f} | {runs}"
        )
    yield Note(f"Cases beyond what a nominal end exceeds once in a thousand: {beyond} of {len(cases)}.")
    yield Note(f"Cases where the interval is wider than that of independent draws: {wider} of {len(cases)}.")
