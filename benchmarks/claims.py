"""Do the claims that `coverage` does not judge hold? Each by simulation, seeds fixed. 25 minutes of one core.

Every share stands with its runs and the standard error it would have if the claim held exactly. The "worst" of many
cases exceeds a level that all of them keep; so the number of cases beyond what that level exceeds once in a thousand
stands beside it, and that number must be 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product

import numpy as np
from scipy.special import expit, ndtr, ndtri

from benchmarks.harness import Run, Title, most_misses, table
from benchmarks.worlds import Floats, Rng
from estimators import (
    CellsTarget,
    Counts,
    LearnedTarget,
    Query,
    Scores,
    advantage,
    compare,
    individual_risk,
    metric_optimum,
    preset,
)
from estimators.decisions.compare import SAME_ORDER
from estimators.metric.bounds import Objective, View, optimum, views_of
from estimators.optimum.ends import cells_for
from estimators.paper import EqualWidth, algorithm_1, discrete_advantage
from estimators.privacy.auc import auc
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.privacy.roc import operating_point
from estimators.risk.cells import Limits, cell_risks
from estimators.risk.partition import risk_cells
from estimators.sample.cells import Intervals
from estimators.sample.counting import by_lattice, finest
from tests import oracles
from tests.oracles import World, categorical, gaussian_shift, identical, scale, shift_for

QUICK = 0.0001
PRIORS = (0.5, 0.1)
LEVEL = 0.025
POINTS = (0.05, 0.25, 0.5, 0.75, 0.95)
ONE = 10**12  # cell probabilities become counts of so many records: the same code then finds the true optimum
ByLabel = tuple[Floats, Floats] | None
Lines = Iterator[str | Title]
"""Of a section: lines of the table of claims, and after a title those of a table of details."""


@dataclass(frozen=True)
class Share:
    """How often something happened in the runs of one case."""

    case: str
    hits: int
    runs: int
    level: float = LEVEL

    @property
    def rate(self) -> float:
        return self.hits / self.runs

    @property
    def error(self) -> float:
        """Standard error of the share if the level were met exactly."""
        return float(np.sqrt(self.level * (1 - self.level) / self.runs))


def verdict(claim: str, shares: Sequence[Share], must: str = "<= 0.025") -> str:
    """One line for many cases: all of them together, the worst, and how many are beyond their level."""
    worst = max(shares, key=lambda s: (s.rate - s.level) / s.error)
    total = sum(s.hits for s in shares) / sum(s.runs for s in shares)
    beyond = sum(s.hits > most_misses(s.runs, s.level) for s in shares)
    case = f"{worst.rate:.4f} ({worst.case}; {worst.runs} runs, s.e. {worst.error:.4f})"
    return f"{claim} | {must} | {total:.4f} in all; worst {case}; {beyond} of {len(shares)} cases beyond"


def times(full: int, run: Run) -> int:
    return run.times(full, 2 if run.quick else 4)


def line(world: World, rng: Rng, n1: int, n0: int) -> Scores:
    """A sample read as numbers on a line where the world has them, else as categories."""
    query = Query.AUTO if world.member_cdf is None else Query.CONTINUOUS
    return Scores.of(*world.draw(rng, n1, n0), query)


def cell_probabilities(world: World, counts: Counts, by_label: ByLabel) -> tuple[Floats, Floats]:
    """True mass of each cell for members and nonmembers; categories have theirs listed by label."""
    if isinstance(counts.cells, Intervals):
        cdfs = world.member_cdf, world.nonmember_cdf
        r, q = (np.diff(cdf(counts.cells.cuts), prepend=0.0, append=1.0) for cdf in cdfs)
        return r, q
    at = np.array([int(str(label)[1:]) for label in counts.cells.labels])
    return by_label[0][at], by_label[1][at]


# --- epsilon ------------------------------------------------------------------------------------------------


def baseline(prior: float) -> float:
    return abs(2 * prior - 1)


def tied(world: World, step: float) -> World:
    """The same, rounded to a multiple of the step."""

    def draw(rng: Rng, a: int, b: int) -> list[Floats]:
        sides = world.draw(rng, a, b)
        return [step * np.round(np.asarray(side, dtype=np.float64) / step) for side in sides]

    return World(f"{world.name}, tied at {step:g}", draw, world.truth)


def heaped(rng: Rng, n: int) -> Floats:
    """Normal scores of which a quarter is the same."""
    return np.minimum(rng.normal(size=n), 0.7)


ZIPF = 1.0 / np.arange(1, 101) / (1.0 / np.arange(1, 101)).sum()
HARMLESS = (
    identical(),
    tied(identical(), 0.5),
    World("identical, 24% of the mass at one score", lambda r, a, b: (heaped(r, a), heaped(r, b)), baseline),
    categorical("identical, 10 categories", np.full(10, 0.1), np.full(10, 0.1)),
    categorical("identical, 100 categories (Zipf)", ZIPF, ZIPF),
)


def epsilon(run: Run) -> Lines:
    """The lower bound on epsilon accuses no mechanism that leaks nothing, or that leaks what it claims."""
    shares = []
    sizes = ((100, 1500), (1000, 1000), (10_000, 150))
    for (index, world), (n, full), part in product(enumerate(HARMLESS), sizes, (1, 5)):
        n1, runs = n // part, times(full, run)
        rng, n0 = np.random.default_rng([1, index, n, n1]), 2 * n - n1
        samples = (finest(Scores.of(*world.draw(rng, n1, n0))) for _ in range(runs))
        hits = sum(epsilon_lower_bound(each, seed=seed).value > 0.0 for seed, each in enumerate(samples))
        shares.append(Share(f"{world.name}, {n1}:{n0}", hits, runs))
    yield verdict("epsilon lower bound above 0 without leakage", shares)
    yield verdict("epsilon lower bound above the epsilon of randomised response", list(answered(run)))
    about = "Lower bound on the mechanism's epsilon: its mean, and the share of runs that contradict a claim of 2"
    yield Title("epsilon", about)
    yield "world | members:nonmembers | delta | mean bound | above 2 | runs"
    yield from bounds(run)


def answered(run: Run) -> Iterator[Share]:
    """Each of 1,000 records is a member by its own coin; some are named outright with probability delta."""
    cases = product((0.0, 1.0, 3.0), (0.5, 0.3, 0.1), (True, False), (0.0, 1e-3), (True, False))
    for index, (truth, member_share, coins, delta, ties) in enumerate(cases):
        rng, runs, hits = np.random.default_rng([10, index]), times(1000, run), 0
        for _ in range(runs):
            member = rng.random(1000) < member_share if coins else np.arange(1000) < 1000 * member_share
            score = np.where(member == (rng.random(1000) < expit(truth)), 1.0, 0.0)
            score = np.where(rng.random(1000) < delta, np.where(member, 2.0, -1.0), score)
            score += 0.0 if ties else 0.5 * rng.random(1000)
            counts = finest(Scores.of(score[member], score[~member], Query.CONTINUOUS))
            hits += epsilon_lower_bound(counts, delta=delta).value > truth
        drawn = "own coins" if coins else "fixed sides"
        name = f"epsilon {truth:g}, delta {delta:g}, member share {member_share:g}, {drawn}"
        yield Share(f"{name}{', ties' if ties else ''}", hits, runs)


def lone(share: float, side: int) -> World:
    """A share of one side lies beyond all other records, at its own end; nothing else leaks."""

    def draw(rng: Rng, a: int, b: int) -> tuple[Floats, Floats]:
        sides = rng.normal(size=a), rng.normal(size=b)
        sides[side][: round(share * len(sides[side]))] += (20.0, -20.0)[side]
        return sides

    name = ("members memorised", "nonmembers far below")[side]
    return World(f"{100 * share:g}% of {name}", draw, baseline)


def apart(by: float) -> World:
    draw = lambda r, a, b: (r.normal(by, 1.0, a), r.normal(size=b))  # noqa: E731
    return World(f"Gaussian, {by:g} apart", draw, baseline)


def bounds(run: Run) -> Iterator[str]:
    worlds = apart(0.5), apart(1.0), lone(0.05, 0), lone(0.05, 1), lone(0.005, 0)
    sides = ((1000, 1000), (5000, 5000), (3000, 7000), (1000, 9000))
    for index, (world, (n1, n0)) in enumerate(product(worlds, sides)):
        rng, runs = np.random.default_rng([11, index]), times(100, run)
        samples = [finest(Scores.of(*world.draw(rng, n1, n0))) for _ in range(runs)]
        for delta in (0.0, 1e-5):
            lower = np.array([epsilon_lower_bound(each, delta=delta).value for each in samples])
            row = f"{lower.mean():.2f} | {(lower > 2.0).mean():.2f} | {runs}"
            yield f"{world.name} | {n1}:{n0} | {delta:g} | {row}"


def risk(run: Run) -> Lines:
    """Intervals of the cell's risk, one cell at a time and all at once; flags where nothing leaks."""
    alone, together = [], []
    worlds = enumerate((identical(), gaussian_shift(0.2), gaussian_shift(0.5), scale()))
    for (index, world), (n, full) in product(worlds, ((300, 2000), (3000, 1000))):
        grid = np.linspace(-8, 8, 20_001)
        points = np.interp(POINTS, (world.member_cdf(grid) + world.nonmember_cdf(grid)) / 2, grid)
        rng, runs = np.random.default_rng([2, index, n]), times(full, run)
        misses = np.zeros((len(PRIORS), len(POINTS)), dtype=int)
        misses_any = np.zeros(len(PRIORS), dtype=int)
        for _ in range(runs):
            counts = risk_cells(line(world, rng, n, n))
            r, q = cell_probabilities(world, counts, None)
            at = counts.cells.locate(points)
            for k, prior in enumerate(PRIORS):
                truth = (prior * r - (1 - prior) * q) / (prior * r + (1 - prior) * q)
                cells = cell_risks(counts, prior)
                misses[k] += outside(cells.pointwise, np.abs(truth))[at]
                misses_any[k] += outside(cells.simultaneous, np.abs(truth)).any()
        for prior, of_points, of_any in zip(PRIORS, misses, misses_any, strict=True):
            name = f"{world.name}, prior {prior:g}, n {n}"
            for point, missed in zip(POINTS, of_points, strict=True):
                alone.append(Share(f"{name}, {100 * point:g}% point", int(missed), runs, 0.05))
            together.append(Share(name, int(of_any), runs, 0.05))
    yield verdict("individual risk: interval of the cell's risk misses it, at five points", alone, "<= 0.05")
    yield verdict("the same for all cells at once", together, "<= 0.05")
    yield verdict("runs that flag any record without leakage", list(flags(run)), "<= 0.05")


def outside(limits: Limits, value: Floats) -> np.ndarray:
    return (value < limits.lower - 1e-12) | (value > limits.upper + 1e-12)


def flags(run: Run) -> Iterator[Share]:
    for (index, world), (n1, n0) in product(enumerate(HARMLESS), ((500, 500), (100, 900), (900, 100))):
        rng, runs = np.random.default_rng([3, index, n1]), times(1500, run)
        hits = np.zeros(len(PRIORS), dtype=int)
        for _ in range(runs):
            scores = Scores.of(*world.draw(rng, n1, n0))
            hits += [individual_risk(scores, prior).flagged.any() for prior in PRIORS]
        for prior, hit in zip(PRIORS, hits, strict=True):
            yield Share(f"{world.name}, prior {prior:g}, {n1}:{n0}", int(hit), runs, 0.05)


def memorised(run: Run) -> Lines:
    """Individual risk where a few members score where no nonmember does: their risk is 1."""
    missed, rows, sides = [], [], ((500, 500), (200, 1800), (5000, 5000))
    for (n1, n0), part in product(sides, (0.01, 0.02, 0.05, 0.1)):
        rng, runs = np.random.default_rng([8, n1, round(1000 * part)]), times(1000, run)
        near, exactly, flagged, known, lower = 0, 0, 0, 0, 0.0
        for _ in range(runs):
            members = rng.normal(size=n1)
            at = np.flatnonzero(rng.random(n1) < part)
            at = at if at.size else np.array([0])
            members[at] = rng.normal(8.0, 0.5, at.size)
            answer = individual_risk(Scores.of(members, rng.normal(size=n0), Query.CONTINUOUS))
            one = int(rng.choice(at))
            near += answer.upper[one] >= 0.95
            exactly += answer.upper[one] == 1.0
            lower += answer.lower[one]
            flagged += int(answer.flagged[at].sum())
            known += at.size
        missed.append(Share(f"{100 * part:g}% memorised, {n1}:{n0}", runs - near, runs))
        rates = f"{exactly / runs:.3f} | {near / runs:.3f} | {lower / runs:.2f} | {flagged / known:.3f}"
        rows.append(f"{n1}:{n0} | {100 * part:g}% | {rates} | {runs}")
    yield verdict("upper end of a memorised record's risk, 1, is below 0.95", missed)
    yield copied(run)
    yield Title("memorised", "Members who score where no nonmember does, at a random one of them (risk 1)")
    yield "sides | memorised | interval has 1 | upper end >= 0.95 | mean lower end | flagged | runs"
    yield from rows


def copied(run: Run) -> str:
    """Of 5,000 members 50 stand in the release word for word, and score above all others."""
    runs, every, false = times(200, run), 0, 0.0
    for seed in range(runs):
        rng = np.random.default_rng([9, seed])
        members = np.concatenate([rng.normal(12.0, 1.0, 50), rng.normal(size=4950)])
        flagged = individual_risk(Scores.of(members, rng.normal(size=5000), Query.CONTINUOUS)).flagged
        every += bool(flagged[:50].all())
        false += flagged[50:].sum() / max(1, flagged.sum()) / runs
    claim = "50 of 5,000 members copied into a release: all of them flagged | every run"
    return f"{claim} | {every} of {runs} runs; {false:.3f} of the flags are of other records"


TEN = 1.0 + 0.2 * np.array([1, -1] * 5)
LEAKY: tuple[tuple[World, ByLabel], ...] = (
    *((world, None) for world in (identical(), gaussian_shift(0.2), gaussian_shift(0.5), scale())),
    (oracles.categories(10, 0.1), (TEN / 10, np.full(10, 0.1))),
)
METRICS = ("balanced_accuracy", "precision", "f_beta", "weighted_accuracy", "npv")
WEIGHTS = {"weighted_accuracy": {"w1": 2.0, "w3": 3.0}}


def metrics(run: Run) -> Lines:
    """Both ends of the interval for a metric's optimum, against the optimum at the very cells stated."""
    above, below, npv = [], [], []
    for leaky, sides, name, prior in product(LEAKY, ((100, 100), (500, 500), (100, 900)), METRICS, PRIORS):
        many_runs = (leaky, sides, name, prior) == (LEAKY[4], (500, 500), "npv", 0.1)
        runs = times(2000 if many_runs else 300 if sides == (100, 100) else 160, run)
        over, under = metric_misses(*leaky, sides, name, prior, runs)
        case = f"{name}, {leaky[0].name}, prior {prior:g}, {sides[0]}:{sides[1]}"
        above.append(Share(case, over, runs))
        below.append(Share(case, under, runs))
        if many_runs:
            npv.append(above[-1])
    yield verdict("metrics: lower end above the true optimum", above)
    yield verdict("metrics: upper end below the true optimum", below)
    yield verdict("NPV, 10 categories: lower end above the true optimum", npv)


def metric_misses(
    world: World, by_label: ByLabel, sides: tuple[int, int], name: str, prior: float, runs: int
) -> tuple[int, int]:
    """Runs whose lower end is above, and whose upper end is below, the optimum."""
    rng = np.random.default_rng([4, *sides, round(100 * prior), *map(ord, name + world.name)])
    metric = preset(name, prior, **WEIGHTS.get(name, {}))
    objective = Objective.of(metric, prior)
    over = under = 0
    for seed in range(runs):
        counts = finest(line(world, rng, *sides))
        truth = true_optimum(world, counts, by_label, objective)
        interval = metric_optimum(counts, metric, prior, seed=seed).interval
        over += interval.lower > truth + 1e-9
        under += interval.upper < truth - 1e-9
    return over, under


def true_optimum(world: World, counts: Counts, by_label: ByLabel, objective: Objective) -> float:
    """The best value of any rule the interval speaks of: of the stated cells, or a single cut.

    Of a metric that is a line in accuracy the interval is the advantage's, which speaks of the cells alone.
    """
    fine, views = views_of(counts)
    if objective.metric.line_in_accuracy(objective.prior) is not None:
        views = views[:1]
    r, q = (np.rint(ONE * side).astype(np.int64) for side in cell_probabilities(world, fine, by_label))
    return max(best(view, Counts(r, q, fine.cells), objective) for view in views)


def best(view: View, truth: Counts, objective: Objective) -> float:
    """The best value in one way to read the cells."""
    if view.sort:
        return optimum(view.counts(truth), objective).value
    sides = truth.members, truth.nonmembers
    tails = [np.concatenate([[0.0], np.cumsum(side) / side.sum()]) for side in sides]
    tpr, fpr = (np.concatenate([tail, 1.0 - tail]) for tail in tails)
    return float(objective.value(tpr, fpr).max())


def paper(run: Run) -> Lines:
    """How often the paper's intervals contain the advantage, which is not what they promise."""
    rows, null = [], []
    sizes = ((1000, 300), (10_000, 150), (100_000, 60))[: 1 if run.quick else None]
    for (index, world), (n, full) in product(enumerate((identical(), gaussian_shift(0.2))), sizes):
        rng, runs = np.random.default_rng([5, index, n]), times(full, run)
        truth, hits, values = world.truth(0.5), np.zeros(2), np.zeros(2)
        for _ in range(runs):
            scores = line(world, rng, n, n)
            answers = [algorithm_1(scores, 0.5, reading=EqualWidth()), algorithm_1(scores, 0.5)]
            hits += [truth in each.interval for each in answers]
            values += [each.value for each in answers]
        (w, u), shares = values / runs, [f"{each:.3f}" for each in hits / runs]
        rows.append(f"{world.name} | {n} | {truth:.3f} | {w:.4f} | {u:.4f} | {' | '.join(shares)} | {runs}")
        null += [shares] if index == 0 else []
    ways = zip(("100 cells", "KDE"), zip(*null, strict=True), strict=True)
    measured = "; ".join(f"{way}: {', '.join(shares)}" for way, shares in ways)
    claim = "paper's interval contains the advantage, identical, n 10^3, 10^4, 10^5 | no promise of it"
    yield f"{claim} | {measured}"
    about = "Paper mode: nominal 0.95, standard error at most 0.03, 0.04 and 0.06 in the three sizes"
    yield Title("paper", about)
    yield "world | n a side | truth | mean W_N | mean U_N | 100 cells contain it | KDE contains it | runs"
    yield from rows


def roc(run: Run) -> Lines:
    """Area under the curve and operating points of Gaussian shifts, where both are known."""
    areas, points, rates = [], [], (0.01, 0.1)
    for leak, (n1, n0) in product((0.0, 0.2, 0.5, 0.9), ((100, 100), (100, 900), (1000, 1000))):
        m = shift_for(leak) if leak else 0.0
        rng, runs = np.random.default_rng([6, round(100 * leak), n1, n0]), times(1500, run)
        area, truths = float(ndtr(m / np.sqrt(2.0))), [float(ndtr(m + ndtri(rate))) for rate in rates]
        area_misses, misses = 0, np.zeros(2, dtype=int)
        for _ in range(runs):
            counts = finest(Scores.of(rng.normal(m, size=n1), rng.normal(size=n0), Query.CONTINUOUS))
            area_misses += area not in auc(counts).estimate.interval
            stated = (operating_point(counts, rate).estimate.interval for rate in rates)
            misses += [truth not in each for each, truth in zip(stated, truths, strict=True)]
        case = f"shift {leak:g}, {n1}:{n0}"
        areas.append(Share(case, area_misses, runs, 0.05))
        for rate, missed in zip(rates, misses, strict=True):
            points.append(Share(f"FPR {rate:g}, {case}", int(missed), runs, 0.05))
    yield verdict("AUC: interval misses it", areas, "<= 0.05")
    yield verdict("TPR at FPR 1% and 10%: interval misses it", points, "<= 0.05 (acceptance list: 0.06)")


def ties(run: Run) -> Lines:
    """Each end of the area where most records tie, or are few: a normal law but for an atom at 0 on both sides."""
    above, below, rows = [], [], []
    sides = ((8, 8), (15, 1000), (1000, 15), (50, 50), (500, 500), (1000, 1000))
    for (n1, n0), atom, m in product(sides, (0.0, 0.5, 0.9, 0.99), (0.0, 1.0, 2.5)):
        rng = np.random.default_rng([10, n1, n0, round(100 * atom), round(m)])
        runs = times(3000, run)
        area = atom**2 / 2 + atom * (1 - atom) * (float(ndtr(m)) + 0.5)
        area += (1 - atom) ** 2 * float(ndtr(m / np.sqrt(2.0)))
        over, under, width = 0, 0, 0.0
        for _ in range(runs):
            drawn = rng.normal(m, size=n1), rng.normal(size=n0)
            for side in drawn:
                side[rng.random(side.size) < atom] = 0.0
            interval = auc(finest(Scores.of(*drawn, Query.CONTINUOUS))).estimate.interval
            over += interval.lower > area + 1e-12
            under += interval.upper < area - 1e-12
            width += interval.upper - interval.lower
        case = f"{100 * atom:g}% tied, area {area:.3f}, {n1}:{n0}"
        above.append(Share(case, over, runs))
        below.append(Share(case, under, runs))
        rates = f"{over / runs:.4f} | {under / runs:.4f} | {width / runs:.3f}"
        rows.append(f"{n1}:{n0} | {100 * atom:g}% | {area:.3f} | {rates}")
    yield verdict("AUC with ties or few records: lower end above it", above)
    yield verdict("the same: upper end below it", below)
    yield Title("ties", "The area under the ROC where records tie")
    yield "sides | tied | area | lower end above | upper end below | mean width"
    yield from rows


def point(run: Run) -> Lines:
    """The point estimate beside one who knows the optimal rule and judges it on all N = 1000 records."""
    rows, ratios, biases, null = [], [], [], ""
    worlds = (identical(), gaussian_shift(0.05), gaussian_shift(0.2), gaussian_shift(0.5), scale())
    runs, n = times(500, run), 500
    for index, world in enumerate((*worlds, oracles.cauchy_shift(), oracles.atoms())):
        rng, truth = np.random.default_rng([7, index]), world.truth(0.5)
        at_cells, values = np.empty(runs), np.empty(runs)
        for seed in range(runs):
            fine = finest(line(world, rng, n, n))
            values[seed] = advantage(fine, 0.5, seed=seed).value
            at_cells[seed] = world.truth_at(cells_for(fine, CellsTarget()).cells.cuts, 0.5)
        off = values - truth
        rmse, oracle = float(np.sqrt((off**2).mean())), float(np.sqrt((1 - truth**2) / (2 * n)))
        bias = f"{off.mean():+.4f} ± {values.std() / np.sqrt(runs):.4f} | {(values - at_cells).mean():+.4f}"
        in_roots = f"{rmse * np.sqrt(2 * n):.2f}"
        errors = f"{rmse:.4f} | {oracle:.4f} | {rmse / oracle:.2f} | {in_roots}"
        rows.append(f"{world.name} | {truth:.3f} | {bias} | {errors}")
        if index == 0:
            null = f"{in_roots} ({runs} runs)"
        else:
            ratios.append((rmse / oracle, world.name))
            biases.append((abs(float(off.mean())), world.name))
    yield "point: largest bias, six worlds, N 1000 | <= 0.015 | {:.4f} ({})".format(*max(biases))
    yield "point: largest RMSE / oracle's s.d., same worlds | <= 1.2 | {:.2f} ({})".format(*max(ratios))
    yield f"point: RMSE sqrt(N) without leakage | <= 1.6 | {null}"
    yield Title("point", f"Point estimate, 500 records a side, prior 0.5, {runs} runs")
    yield "world | truth | bias ± s.e. | bias at its cells | RMSE | oracle's s.d. | ratio | RMSE sqrt(N)"
    yield from rows


def alike(run: Run) -> Lines:
    """Two coarse queries that order the records alike in some samples only, and are one question in these."""
    ends, gaps, rows = [], [], []
    yes, no = 0.7, 0.5
    for n, changed in product((100, 400), (0.0, 0.002, 0.005, 0.02, 0.1)):
        rng, runs = np.random.default_rng([12, n, round(1000 * changed)]), times(2000, run)
        truth = np.array([yes - no, yes * (1.0 - changed) + (1.0 - yes) * changed - no])
        above = missed = once = 0
        for _ in range(runs):
            members, nonmembers = (rng.random(n) < each for each in (yes, no))
            sides = {"one": members, "other": members ^ (rng.random(n) < changed)}
            queries = {k: Scores.of(1.0 * v, 1.0 * nonmembers, Query.CONTINUOUS) for k, v in sides.items()}
            result = compare(queries, pairs=[("one", "other")])
            lower = {each.name: each.advantage.estimate.interval.lower for each in result.ranking}
            (difference,) = result.differences
            interval = difference.estimate.interval
            above += lower["one"] > truth[0] or lower["other"] > truth[1]
            missed += not interval.lower <= truth[0] - truth[1] <= interval.upper
            once += any(each.code == SAME_ORDER for each in result.cautions)
        case = f"{100 * changed:g}% of members answered otherwise, {n}:{n}"
        ends.append(Share(case, above, runs))
        gaps.append(Share(case, missed, runs, 2.0 * LEVEL))
        rates = " | ".join(f"{each / runs:.4f}" for each in (once, above, missed))
        rows.append(f"{100 * changed:g}% | {n}:{n} | {rates} | {runs}")
    yield verdict("two coarse queries: a lower end of either above its advantage", ends)
    yield verdict("the same: interval of their difference misses it", gaps, "<= 0.05")
    about = "Two queries of two values each: how often they are asked once, and how often either is wrong"
    yield Title("alike", about)
    yield "members answered otherwise | sides | asked once | lower end above | difference missed | runs"
    yield from rows


def vectors(run: Run) -> Lines:
    """The learned adversary beside boxes of equal mass and the paper's 100^d cells."""
    rows, ahead = [], []
    worlds = enumerate((oracles.xor(0.2), oracles.vector_shift(5, 0.2)))
    for (index, world), (n, full) in product(worlds, ((1000, 12), (10_000, 4))[: 1 if run.quick else None]):
        rng, runs = np.random.default_rng([8, index, n]), times(full, run)
        values = np.empty((runs, 4))
        for seed in range(runs):
            scores = Scores.of(*world.draw(rng, n, n))
            learned = advantage(scores, 0.5, LearnedTarget(), seed=seed)
            boxes = advantage(scores, 0.5, CellsTarget(), seed=seed)
            w_n = discrete_advantage(by_lattice(scores, 100), 0.5).value
            values[seed] = learned.lower, learned.value, boxes.lower, w_n
        mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)
        gain = values[:, 0] - values[:, 2]
        ahead.append(f"{world.name}, n {n}: {gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(runs):.3f}")
        cells = " | ".join(f"{a:.3f} ± {e:.3f}" for a, e in zip(mean, error, strict=True))
        rows.append(f"{world.name} | {n} | {world.truth(0.5):.3f} | {cells} | {runs}")
    claim = "vectors: learned lower end minus that of boxes, mean ± s.e. | no number named; above 0 is better"
    yield f"{claim} | {'; '.join(ahead)}"
    about = "Vectors, mean ± its standard error: certified lower ends, and the paper's W_N on 100^d cells"
    yield Title("vectors", about)
    yield "world | n a side | truth | learned, lower | learned, point | boxes, lower | W_N | runs"
    yield from rows


SECTIONS = (epsilon, risk, memorised, metrics, paper, roc, ties, point, alike, vectors)


def lines_of(section: Callable[[Run], Lines], run: Run) -> tuple[list[str | Title], list[str | Title]]:
    """Claims, and details."""
    lines = list(section(run))
    at = next((at for at, line in enumerate(lines) if isinstance(line, Title)), len(lines))
    return lines[:at], lines[at:]


@table
def claims(run: Run):
    yield "claim | must reach | measured"
    for part in zip(*run.map(partial(lines_of, run=run), SECTIONS), strict=True):
        yield from chain.from_iterable(part)
