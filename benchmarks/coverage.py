"""Does every interval hold as often as it says? Simulated, with the paper's interval beside ours.

    python -m benchmarks.coverage                # the whole table, about an hour on two cores
    python -m benchmarks.coverage --runs 0.1     # a tenth of the runs

n is half the number of records; at a ratio of 1:9 the sides have n/5 and 9n/5. "Covered" is the share
of samples whose interval contains the stated target, computed from the known distributions: the optimal
advantage; where the posterior crosses 1/2 more than twice (the alternating world), the upper end's is that at
the stated resolution. "Above" is how often the lower end exceeds it, "below" how often
the upper end falls short of it; each may be 2.5%.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from estimators.advantage import advantage, cells_for
from estimators.adversary.learned import learned_counts, logistic, quadratic
from estimators.errors import TooManyCells
from estimators.limits.binomial import lower_limit, mcdiarmid_radius, pools, upper_limit
from estimators.sample.counting import by_lattice, finest
from estimators.sample.scores import Query, Scores
from estimators.targets import CellsTarget, LearnedTarget
from tests.oracles import WORLDS, World

SIZES = (100, 300, 1_000, 10_000)
PRIORS = (0.5, 0.1, 0.9)
RATIOS = ((1, 1), (1, 9))
RUNS = {100: 1000, 300: 800, 1_000: 600, 10_000: 200}
VECTOR_RUNS = {100: 200, 300: 150, 1_000: 100, 10_000: 30}
ALPHA = 0.025
LEARNERS = (quadratic(), logistic())
MANY_CHANGES = "alternating"
"""The world whose best rule changes its guess more often than the default covers."""


@dataclass(frozen=True)
class Case:
    """One cell of the table."""

    world: int
    n: int
    prior: float
    ratio: tuple[int, int]
    runs: int

    @property
    def sides(self) -> tuple[int, int]:
        """Members and nonmembers of one sample."""
        members = round(2 * self.n * self.ratio[0] / sum(self.ratio))
        return members, 2 * self.n - members


@dataclass(frozen=True)
class Row:
    """What the runs of one case gave on average, and how often each end erred."""

    case: Case
    cells: float
    truth: float
    estimate: float
    lower: float
    upper: float
    above: int
    below: int
    either: int
    oracle: float
    paper: float


def cases(share: float) -> Iterator[Case]:
    """Every case of the table, the cheap ones first."""
    for n in SIZES:
        for index, world in enumerate(WORLDS):
            runs = (VECTOR_RUNS if world.dimension > 1 else RUNS)[n]
            for prior in PRIORS:
                for ratio in RATIOS:
                    yield Case(index, n, prior, ratio, max(5, round(share * runs)))


def simulate(case: Case) -> Row:
    """Draw, ask, compare with the truth."""
    world, (n1, n0) = WORLDS[case.world], case.sides
    rng = np.random.default_rng([case.world, case.n, round(100 * case.prior), case.ratio[1]])
    outcomes = []
    for run in range(case.runs):
        scores = Scores.of(
            *world.draw(rng, n1, n0), Query.AUTO if world.member_cdf is None else Query.CONTINUOUS
        )
        one = _vector if world.dimension > 1 else _scalar
        outcomes.append(one(world, scores, case.prior, run, rng))
    table = np.array(outcomes)
    mean = np.nanmean(table, axis=0) if not np.isnan(table).all(axis=0).any() else table.mean(axis=0)
    above, below = table[:, 3] > table[:, 1] + 1e-9, table[:, 4] < table[:, 2] - 1e-9
    truth = mean[1]
    return Row(
        case, mean[0], truth, mean[5], mean[3], mean[4], int(above.sum()), int(below.sum()), int((above | below).sum()),
        oracle_width(truth, case.prior, n1, n0, world), mean[6],
    )  # fmt: skip


def _scalar(
    world: World, scores: Scores, prior: float, run: int, rng: np.random.Generator
) -> tuple[float, ...]:
    universe = 10_000 if "10000" in world.name else None
    target = CellsTarget(universe=universe)
    try:
        fine = finest(scores)
        result = advantage(fine, prior, target, seed=run)
    except TooManyCells:  # every record in a category of its own: refused, so nothing is claimed
        baseline, cells = abs(2 * prior - 1), scores.n_members + scores.n_nonmembers
        return float(cells), world.truth(prior), world.truth(prior), baseline, 1.0, np.nan, np.nan
    cuts = getattr(cells_for(fine, target).cells, "cuts", None)
    truth = covered = world.truth(prior)
    if cuts is not None and world.name.startswith(MANY_CHANGES):
        covered = world.truth_at(cuts, prior)
    lattice = fine if cuts is None else by_lattice(scores, 100)
    w = float(np.abs(lattice.weights(prior)).sum())
    radius = mcdiarmid_radius(prior, scores.n_members, scores.n_nonmembers, 2 * ALPHA)
    paper = float(abs(w - world.truth(prior)) <= radius)
    return float(result.resolution), truth, covered, result.lower, result.upper, result.value, paper


def _vector(
    world: World, scores: Scores, prior: float, run: int, rng: np.random.Generator
) -> tuple[float, ...]:
    """The lower end speaks of any adversary, the upper end of the learned score at its cells."""
    result = advantage(scores, prior, LearnedTarget(LEARNERS), seed=run)
    counts, score = learned_counts(scores, prior, run, LEARNERS)
    fresh = [score(np.asarray(side, dtype=float)) for side in world.draw(rng, 100_000, 100_000)]
    shares = [np.bincount(counts.cells.locate(side), minlength=counts.size) / 100_000 for side in fresh]
    at_cells = float(np.abs(prior * shares[0] - (1 - prior) * shares[1]).sum())
    return (
        float(result.resolution),
        world.truth(prior),
        at_cells,
        result.lower,
        result.upper,
        result.value,
        np.nan,
    )


def oracle_width(truth: float, prior: float, n1: int, n0: int, world: World) -> float:
    """Width of the binomial interval of one who knows the optimal rule and judges it on all records."""
    accuracy = (1 + truth) / 2
    if pools(n1, n0, prior):
        n = n1 + n0
        return 2 * (upper_limit(accuracy * n, n, ALPHA) - lower_limit(accuracy * n, n, ALPHA))
    tpr, tnr = _optimal_rates(world, prior)
    ends = [
        np.hypot(prior * (limit(tpr * n1, n1, ALPHA) - tpr), (1 - prior) * (limit(tnr * n0, n0, ALPHA) - tnr))
        for limit in (lower_limit, upper_limit)
    ]
    return float(2 * sum(ends))


def _optimal_rates(world: World, prior: float) -> tuple[float, float]:
    """TPR and TNR of the optimal rule, by a large sample at very fine cells where the densities are known."""
    if world.member_cdf is None or world.nonmember_cdf is None:
        rng = np.random.default_rng(0)
        counts = finest(Scores.of(*world.draw(rng, 400_000, 400_000), Query.AUTO))
        r, q = counts.members / counts.n_members, counts.nonmembers / counts.n_nonmembers
    else:
        cuts = np.concatenate([np.linspace(-12, 20, 200_001)])
        r = np.diff(world.member_cdf(cuts), prepend=0.0, append=1.0)
        q = np.diff(world.nonmember_cdf(cuts), prepend=0.0, append=1.0)
    guess = prior * r > (1 - prior) * q
    return float(r[guess].sum()), float(q[~guess].sum())


def most_misses(runs: int, level: float) -> int:
    """Errors that a method of this level exceeds once in a thousand simulations."""
    return int(binom.isf(1e-3, runs, level))


def show(rows: list[Row]) -> None:
    """Print the table and what it says of the claims."""
    print("| scenario | n | prior | sides | cells | truth | estimate | lower | upper | covered | above | below "
          "| width / oracle | paper covers |")  # fmt: skip
    print("|---|" + "---|" * 13)
    for row in rows:
        case = row.case
        width = row.upper - row.lower
        paper = "–" if np.isnan(row.paper) else f"{100 * row.paper:.0f}%"
        print(
            f"| {WORLDS[case.world].name} | {case.n} | {case.prior:g} | {case.sides[0]}:{case.sides[1]} "
            f"| {row.cells:.0f} | {row.truth:.3f} | {row.estimate:.3f} | {row.lower:.3f} | {row.upper:.3f} "
            f"| {1 - row.either / case.runs:.3f} | {row.above / case.runs:.3f} | {row.below / case.runs:.3f} "
            f"| {width / row.oracle:.2f} | {paper} |"
        )
    print()
    judge(rows)


def judge(rows: list[Row]) -> None:
    """The claims of the issue, each against the table."""
    runs = sum(r.case.runs for r in rows)
    above, below = sum(r.above for r in rows), sum(r.below for r in rows)
    worst_above = max(rows, key=lambda r: r.above / r.case.runs)
    worst_below = max(rows, key=lambda r: r.below / r.case.runs)
    bad = [r for r in rows if max(r.above, r.below) > most_misses(r.case.runs, ALPHA)]
    uncovered = [r for r in rows if r.either > most_misses(r.case.runs, 2 * ALPHA)]
    wide = [
        r for r in rows
        if r.case.n >= 1000 and r.truth - abs(2 * r.case.prior - 1) >= 0.19 and WORLDS[r.case.world].dimension == 1
    ]  # fmt: skip
    balanced = [r for r in rows if r.case.world == 0 and r.case.prior == 0.5 and r.case.ratio == (1, 1)]
    null = {n: [r for r in balanced if r.case.n == n] for n in (1000, 10_000)}
    print("| claim | measured |")
    print("|---|---|")
    print(f"| samples simulated, cases | {runs}, {len(rows)} |")
    print(f"| lower end above the truth, all samples | {above / runs:.4f} (at most 0.025) |")
    print(f"| lower end above the truth, worst case | {_rate(worst_above, worst_above.above)} |")
    print(f"| upper end below the truth, all samples | {below / runs:.4f} (at most 0.025) |")
    print(f"| upper end below the truth, worst case | {_rate(worst_below, worst_below.below)} |")
    print(f"| cases beyond what a nominal end exceeds once in a thousand | {len(bad)} of {len(rows)} |")
    print(f"| cases covered less often than nominal, same error | {len(uncovered)} of {len(rows)} |")
    if wide:
        widest = max(wide, key=lambda r: (r.upper - r.lower) / r.oracle)
        print(
            f"| largest width / oracle, excess truth >= 0.2, n >= 1000, one number a record "
            f"| {(widest.upper - widest.lower) / widest.oracle:.2f} ({_name(widest)}) (at most 1.6) |"
        )
    for n, rows_of_size in null.items():
        for r in rows_of_size:
            print(f"| identical, {n} a side: mean upper end at {r.cells:.0f} cells | {r.upper:.4f} |")


def _rate(row: Row, errors: int) -> str:
    error = np.sqrt(ALPHA * (1 - ALPHA) / row.case.runs)
    return f"{errors / row.case.runs:.4f} ({_name(row)}, {row.case.runs} runs, s.e. {error:.4f})"


def _name(row: Row) -> str:
    case = row.case
    return f"{WORLDS[case.world].name}, n {case.n}, prior {case.prior:g}, {case.sides[0]}:{case.sides[1]}"


def main() -> None:
    """Run every case on all cores and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(simulate, list(cases(options.runs)), chunksize=1))
    show(sorted(rows, key=lambda r: (r.case.world, r.case.n, PRIORS.index(r.case.prior), r.case.ratio)))


if __name__ == "__main__":
    main()
