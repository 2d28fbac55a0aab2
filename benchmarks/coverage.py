"""Does every interval hold as often as it says? Simulated, with the paper's interval beside ours.

n is half the number of records; at a ratio of 1:9 the sides have n/5 and 9n/5. "Covered" is the share of samples whose
interval contains the stated target, computed from the known distributions: the optimal advantage; where the posterior
crosses 1/2 more than twice (the alternating world), the upper end's is that at the stated resolution. "Above" is how
often the lower end exceeds it, "below" how often the upper end falls short of it; each may be 2.5%. Half an hour on two
cores.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from benchmarks.harness import Run, Title, most_misses, table
from estimators import CellsTarget, LearnedTarget, Query, Scores, advantage
from estimators.adversary.learned import cells_of_learned, learn_score, logistic, quadratic
from estimators.errors import TooManyCells
from estimators.limits.binomial import lower_limit, mcdiarmid_radius, pools, upper_limit
from estimators.optimum.ends import cells_for
from estimators.sample.counting import by_lattice, finest
from tests.oracles import WORLDS, World

SIZES = (100, 300, 1_000, 10_000)
PRIORS = (0.5, 0.1, 0.9)
RATIOS = ((1, 1), (1, 9))
RUNS = {100: 1000, 300: 800, 1_000: 600, 10_000: 200}
VECTOR_RUNS = {100: 200, 300: 150, 1_000: 100, 10_000: 30}
ALPHA = 0.025
LEARNERS = (quadratic(), logistic())
MANY_CHANGES = "alternating"  # the world whose best rule changes its guess more often than the default covers


@dataclass(frozen=True)
class Row:
    """What the runs of one case gave on average, and how often each end erred."""

    name: str
    at: int
    n: int
    prior: float
    sides: tuple[int, int]
    runs: int
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

    @property
    def world(self) -> World:
        return WORLDS[self.at]

    @property
    def width(self) -> float:
        return (self.upper - self.lower) / self.oracle

    def rate(self, errors: int) -> str:
        """How often an end erred, where, and the error of the simulation."""
        error = np.sqrt(ALPHA * (1 - ALPHA) / self.runs)
        return f"{errors / self.runs:.4f} ({self.name}, {self.runs} runs, s.e. {error:.4f})"


def simulate(case: tuple, run: Run) -> Row:
    at, n, prior, ratio = case
    world, n1 = WORLDS[at], round(2 * n * ratio[0] / sum(ratio))
    n0, vectors = 2 * n - n1, world.dimension > 1
    runs = run.times((VECTOR_RUNS if vectors else RUNS)[n], 2 if run.quick else 5)
    rng, outcomes = np.random.default_rng([at, n, round(100 * prior), ratio[1]]), []
    for seed in range(runs):
        query = Query.AUTO if world.member_cdf is None else Query.CONTINUOUS
        scores = Scores.of(*world.draw(rng, n1, n0), query)
        outcomes.append((of_vectors if vectors else of_scores)(world, scores, prior, seed, rng))
    values = np.array(outcomes)
    mean = values.mean(axis=0) if np.isnan(values).all(axis=0).any() else np.nanmean(values, axis=0)
    above, below = values[:, 3] > values[:, 1] + 1e-9, values[:, 4] < values[:, 2] - 1e-9
    name = f"{world.name}, n {n}, prior {prior:g}, {n1}:{n0}"
    return Row(
        *(name, at, n, prior, (n1, n0), runs, mean[0], mean[1], mean[5], mean[3], mean[4]),
        *(int(above.sum()), int(below.sum()), int((above | below).sum())),
        *(oracle_width(mean[1], prior, n1, n0, world), mean[6]),
    )


def of_scores(world: World, scores: Scores, prior: float, seed: int, _: np.random.Generator) -> tuple:
    """Cells, what either end is held against, the ends, the estimate, and whether the paper's interval covers."""
    target = CellsTarget(universe=10_000 if "10000" in world.name else None)
    truth = covered = world.truth(prior)
    try:
        fine = finest(scores)
        result = advantage(fine, prior, target)
    except TooManyCells:  # every record in a category of its own: refused, so nothing is claimed
        cells = float(scores.n_members + scores.n_nonmembers)
        return cells, truth, truth, abs(2 * prior - 1), 1.0, np.nan, np.nan
    cuts = getattr(cells_for(fine, target).cells, "cuts", None)
    if cuts is not None and world.name.startswith(MANY_CHANGES):
        covered = world.truth_at(cuts, prior)
    lattice = fine if cuts is None else by_lattice(scores, 100)
    w = float(np.abs(lattice.weights(prior)).sum())
    radius = mcdiarmid_radius(prior, scores.n_members, scores.n_nonmembers, 2 * ALPHA)
    paper = float(abs(w - truth) <= radius)
    return float(result.resolution), truth, covered, result.lower, result.upper, result.value, paper


def of_vectors(world: World, scores: Scores, prior: float, seed: int, rng: np.random.Generator) -> tuple:
    """The same; the lower end speaks of any adversary, the upper end of the learned score at its cells."""
    result = advantage(scores, prior, LearnedTarget(LEARNERS))
    counts = cells_of_learned((learned := learn_score(scores, prior, seed, LEARNERS)).counts)
    fresh = [learned.score(np.asarray(side, dtype=float)) for side in world.draw(rng, 100_000, 100_000)]
    shares = [np.bincount(counts.cells.locate(side), minlength=counts.size) / 100_000 for side in fresh]
    at_cells = float(np.abs(prior * shares[0] - (1 - prior) * shares[1]).sum())
    ends = result.lower, result.upper, result.value
    return float(result.resolution), world.truth(prior), at_cells, *ends, np.nan


def oracle_width(truth: float, prior: float, n1: int, n0: int, world: World) -> float:
    """Width of the binomial interval of one who knows the optimal rule and judges it on all records."""
    if pools(n1, n0, prior):
        n, right = n1 + n0, (1 + truth) / 2 * (n1 + n0)
        return 2 * (upper_limit(right, n, ALPHA) - lower_limit(right, n, ALPHA))
    tpr, tnr = optimal_rates(world, prior)
    ends = [
        np.hypot(prior * (limit(tpr * n1, n1, ALPHA) - tpr), (1 - prior) * (limit(tnr * n0, n0, ALPHA) - tnr))
        for limit in (lower_limit, upper_limit)
    ]
    return float(2 * sum(ends))


def optimal_rates(world: World, prior: float) -> tuple[float, float]:
    """TPR and TNR of the optimal rule, by a large sample at very fine cells where the densities are known."""
    if world.member_cdf is None or world.nonmember_cdf is None:
        rng = np.random.default_rng(0)
        counts = finest(Scores.of(*world.draw(rng, 400_000, 400_000), Query.AUTO))
        r, q = counts.members / counts.n_members, counts.nonmembers / counts.n_nonmembers
    else:
        cuts = np.linspace(-12, 20, 200_001)
        r = np.diff(world.member_cdf(cuts), prepend=0.0, append=1.0)
        q = np.diff(world.nonmember_cdf(cuts), prepend=0.0, append=1.0)
    guess = prior * r > (1 - prior) * q
    return float(r[guess].sum()), float(q[~guess].sum())


@table
def cases(run: Run):
    plan = list(product(range(len(WORLDS)), SIZES[: 1 if run.quick else None], PRIORS, RATIOS))
    plan = run.few([case for case in plan if not run.quick or WORLDS[case[0]].dimension == 1], 8)
    large_first = sorted(plan, key=lambda case: (SIZES.index(case[1]), case[0]))
    made = dict(zip(large_first, run.map(partial(simulate, run=run), large_first), strict=True))
    rows = [made[case] for case in sorted(made, key=lambda c: (c[0], c[1], PRIORS.index(c[2]), c[3]))]
    yield (
        "scenario | n | prior | sides | cells | truth | estimate | lower | upper | covered | above | below | "
        "width / oracle | paper covers"
    )
    for row in rows:
        paper = "–" if np.isnan(row.paper) else f"{100 * row.paper:.0f}%"
        errors = " | ".join(f"{each / row.runs:.3f}" for each in (row.above, row.below))
        yield (
            f"{row.world.name} | {row.n} | {row.prior:g} | {row.sides[0]}:{row.sides[1]} | {row.cells:.0f} | "
            f"{row.truth:.3f} | {row.estimate:.3f} | {row.lower:.3f} | {row.upper:.3f} | "
            f"{1 - row.either / row.runs:.3f} | {errors} | {row.width:.2f} | {paper}"
        )
    yield Title("claims")
    runs = sum(row.runs for row in rows)
    yield "claim | measured"
    yield f"samples simulated, cases | {runs}, {len(rows)}"
    for end, what in (("above", "lower end above the truth"), ("below", "upper end below the truth")):
        missed = [getattr(row, end) for row in rows]
        most, worst = max(zip(missed, rows, strict=True), key=lambda each: each[0] / each[1].runs)
        yield f"{what}, all samples | {sum(missed) / runs:.4f} (at most 0.025)"
        yield f"{what}, worst case | {worst.rate(most)}"
    bad = [row for row in rows if max(row.above, row.below) > most_misses(row.runs, ALPHA)]
    uncovered = [row for row in rows if row.either > most_misses(row.runs, 2 * ALPHA)]
    yield f"cases beyond what a nominal end exceeds once in a thousand | {len(bad)} of {len(rows)}"
    yield f"cases covered less often than nominal, same error | {len(uncovered)} of {len(rows)}"
    leaky = [row for row in rows if row.truth - abs(2 * row.prior - 1) >= 0.19]
    wide = [row for row in leaky if row.n >= 1000 and row.world.dimension == 1]
    if wide:
        widest = max(wide, key=lambda row: row.width)
        what = "largest width / oracle, excess truth >= 0.2, n >= 1000, one number a record"
        yield f"{what} | {widest.width:.2f} ({widest.name}) (at most 1.6)"
    for row in rows:
        if row.at == 0 and row.prior == 0.5 and row.sides == (row.n, row.n) and row.n >= 1000:
            yield f"identical, {row.n} a side: mean upper end at {row.cells:.0f} cells | {row.upper:.4f}"
