"""Do the claims that `benchmarks.coverage` does not judge hold? Each by simulation, seeds fixed.

    python -m benchmarks.claims                # about 25 minutes of one core
    python -m benchmarks.claims --runs 0.1     # a tenth of the runs

Every share stands with its runs and the standard error it would have if the claim held exactly. The
"worst" of many cases exceeds a level that all of them keep; so the number of cases beyond what that
level exceeds once in a thousand stands beside it, and that number must be 0.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr, ndtri
from scipy.stats import binom

from estimators.advantage import advantage, cells_for
from estimators.audit.epsilon import epsilon_lower_bound
from estimators.audit.roc import auc, operating_point
from estimators.compare import SAME_ORDER, compare
from estimators.metric.bounds import View, views_of
from estimators.metric.estimate import metric_optimum
from estimators.metric.optimum import Objective, optimum
from estimators.metric.presets import preset
from estimators.paper import EqualWidth, algorithm_1, discrete_advantage
from estimators.risk.cells import Limits, cell_risks
from estimators.risk.individual import individual_risk, risk_cells
from estimators.sample.cells import Categories, Intervals
from estimators.sample.counting import by_lattice, finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores
from estimators.targets import CellsTarget, LearnedTarget
from tests.oracles import (
    World,
    atoms,
    categorical,
    categories,
    cauchy_shift,
    gaussian_shift,
    identical,
    scale,
    shift_for,
    vector_shift,
    xor,
)

Floats = NDArray[np.float64]

PRIORS = (0.5, 0.1)
LEVEL = 0.025
POINTS = (0.05, 0.25, 0.5, 0.75, 0.95)
ONE = 10**12
"""Cell probabilities become counts of so many records: the same code then finds the true optimum."""


@dataclass(frozen=True)
class Share:
    """How often something happened in the runs of one case."""

    case: str
    hits: int
    runs: int
    level: float

    @property
    def rate(self) -> float:
        """Share of the runs."""
        return self.hits / self.runs

    @property
    def error(self) -> float:
        """Standard error of the share if the level were met exactly."""
        return float(np.sqrt(self.level * (1 - self.level) / self.runs))

    @property
    def beyond(self) -> bool:
        """More than a method of this level shows once in a thousand simulations."""
        return bool(self.hits > binom.isf(1e-3, self.runs, self.level))

    def __str__(self) -> str:
        """Rate, case, runs and error."""
        return f"{self.rate:.4f} ({self.case}; {self.runs} runs, s.e. {self.error:.4f})"


@dataclass(frozen=True)
class Section:
    """Lines of the table of claims, and a table of details below it."""

    claims: list[tuple[str, str, str]]
    heading: str = ""
    columns: tuple[str, ...] = ()
    details: tuple[tuple[str, ...], ...] = ()


def verdict(claim: str, shares: Sequence[Share], must: str) -> tuple[str, str, str]:
    """One line for many cases: all of them together, the worst, and how many are beyond their level."""
    worst = max(shares, key=lambda s: (s.rate - s.level) / s.error)
    total = sum(s.hits for s in shares) / sum(s.runs for s in shares)
    beyond = sum(s.beyond for s in shares)
    return claim, must, f"{total:.4f} in all; worst {worst}; {beyond} of {len(shares)} cases beyond"


def times(runs: int, share: float) -> int:
    return max(4, round(share * runs))


def line(world: World, rng: np.random.Generator, n1: int, n0: int) -> Scores:
    """A sample read as numbers on a line where the world has them, else as categories."""
    query = Query.AUTO if world.member_cdf is None else Query.CONTINUOUS
    return Scores.of(*world.draw(rng, n1, n0), query)


def cell_probabilities(
    world: World, counts: Counts, by_label: tuple[Floats, Floats] | None
) -> tuple[Floats, Floats]:
    """True mass of each cell for members and nonmembers; categories have theirs listed by label."""
    if isinstance(counts.cells, Intervals):
        assert world.member_cdf is not None
        assert world.nonmember_cdf is not None
        r, q = (
            np.diff(cdf(counts.cells.cuts), prepend=0.0, append=1.0)
            for cdf in (world.member_cdf, world.nonmember_cdf)
        )
        return r, q
    assert isinstance(counts.cells, Categories)
    assert by_label is not None
    at = np.array([int(str(label)[1:]) for label in counts.cells.labels])
    return by_label[0][at], by_label[1][at]


# epsilon


def _tied(world: World, step: float) -> World:
    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Floats, Floats]:
        x, y = world.draw(rng, a, b)
        tied = [step * np.round(np.asarray(side, dtype=np.float64) / step) for side in (x, y)]
        return tied[0], tied[1]

    return World(f"{world.name}, tied at {step:g}", draw, world.truth)


def _one_side(draw: Callable[[np.random.Generator, int], Floats], name: str) -> World:
    """No leakage: both sides drawn alike."""
    return World(name, lambda rng, a, b: (draw(rng, a), draw(rng, b)), lambda prior: abs(2 * prior - 1))


def _zipf_shares(size: int) -> Floats:
    shares = 1.0 / np.arange(1, size + 1, dtype=np.float64)
    return np.asarray(shares / shares.sum())


HARMLESS = (
    identical(),
    _tied(identical(), 0.5),
    _one_side(lambda rng, n: np.minimum(rng.normal(size=n), 0.7), "identical, 24% of the mass at one score"),
    categorical("identical, 10 categories", np.full(10, 0.1), np.full(10, 0.1)),
    categorical("identical, 100 categories (Zipf)", _zipf_shares(100), _zipf_shares(100)),
)


def epsilon(share: float) -> Section:
    """The lower bound on epsilon accuses no mechanism that leaks nothing, or that leaks what it claims."""
    shares = []
    for index, world in enumerate(HARMLESS):
        for n, full in ((100, 1500), (1000, 1000), (10_000, 150)):
            for n1 in (n, n // 5):
                rng, runs = np.random.default_rng([1, index, n, n1]), times(full, share)
                hits = sum(
                    epsilon_lower_bound(finest(Scores.of(*world.draw(rng, n1, 2 * n - n1))), seed=run).value
                    > 0.0
                    for run in range(runs)
                )
                shares.append(Share(f"{world.name}, {n1}:{2 * n - n1}", hits, runs, LEVEL))
    return Section(
        [
            verdict("epsilon lower bound above 0 without leakage", shares, "<= 0.025"),
            verdict(
                "epsilon lower bound above the epsilon of randomised response",
                list(_answered(share)),
                "<= 0.025",
            ),
        ],
        "Lower bound on the mechanism's epsilon: its mean, and the share of runs that contradict a claim of 2",
        ("world", "members:nonmembers", "delta", "mean bound", "above 2", "runs"),
        tuple(_bounds(share)),
    )


def _answered(share: float) -> Iterator[Share]:
    """Each of 1,000 records is a member by its own coin; some are named outright with probability delta."""
    cases = product((0.0, 1.0, 3.0), (0.5, 0.3, 0.1), (True, False), (0.0, 1e-3), (True, False))
    for index, (truth, member_share, coins, delta, ties) in enumerate(cases):
        rng, runs, hits = np.random.default_rng([10, index]), times(1000, share), 0
        for _ in range(runs):
            member = rng.random(1000) < member_share if coins else np.arange(1000) < 1000 * member_share
            score = np.where(member == (rng.random(1000) < expit(truth)), 1.0, 0.0)
            score = np.where(rng.random(1000) < delta, np.where(member, 2.0, -1.0), score)
            score += 0.0 if ties else 0.5 * rng.random(1000)
            counts = finest(Scores.of(score[member], score[~member], Query.CONTINUOUS))
            hits += epsilon_lower_bound(counts, delta=delta).value > truth
        drawn = "own coins" if coins else "fixed sides"
        name = f"epsilon {truth:g}, delta {delta:g}, member share {member_share:g}, {drawn}"
        yield Share(f"{name}{', ties' if ties else ''}", hits, runs, LEVEL)


def _lone(share: float, *, of_members: bool) -> World:
    """A share of one side lies beyond all other records, at its own end; nothing else leaks."""

    def draw(rng: np.random.Generator, a: int, b: int) -> tuple[Floats, Floats]:
        members, nonmembers = rng.normal(size=a), rng.normal(size=b)
        if of_members:
            members[: round(share * a)] += 20.0
        else:
            nonmembers[: round(share * b)] -= 20.0
        return members, nonmembers

    name = "members memorised" if of_members else "nonmembers far below"
    return World(f"{100 * share:g}% of {name}", draw, lambda prior: abs(2 * prior - 1))


def _shifted(by: float) -> World:
    """Gaussian scores, so many standard deviations apart."""
    return World(
        f"Gaussian, {by:g} apart",
        lambda rng, a, b: (rng.normal(by, 1.0, a), rng.normal(size=b)),
        lambda prior: abs(2 * prior - 1),
    )


def _bounds(share: float) -> Iterator[tuple[str, ...]]:
    """How large the bound is, in broad leaks and in leaks at one end alone."""
    worlds = (
        _shifted(0.5),
        _shifted(1.0),
        _lone(0.05, of_members=True),
        _lone(0.05, of_members=False),
        _lone(0.005, of_members=True),
    )
    sides = ((1000, 1000), (5000, 5000), (3000, 7000), (1000, 9000))
    for index, (world, (n1, n0)) in enumerate(product(worlds, sides)):
        rng, runs = np.random.default_rng([11, index]), times(100, share)
        samples = [finest(Scores.of(*world.draw(rng, n1, n0))) for _ in range(runs)]
        for delta in (0.0, 1e-5):
            lower = np.array([epsilon_lower_bound(each, delta=delta).value for each in samples])
            row = f"{lower.mean():.2f}", f"{(lower > 2.0).mean():.2f}", str(runs)
            yield world.name, f"{n1}:{n0}", f"{delta:g}", *row


# individual risk


def risk(share: float) -> Section:
    """Intervals of the cell's risk, one cell at a time and all at once; flags where nothing leaks."""
    alone, together = [], []
    for index, world in enumerate((identical(), gaussian_shift(0.2), gaussian_shift(0.5), scale())):
        grid = np.linspace(-8, 8, 20_001)
        assert world.member_cdf is not None
        assert world.nonmember_cdf is not None
        pooled = (world.member_cdf(grid) + world.nonmember_cdf(grid)) / 2
        points = np.interp(POINTS, pooled, grid)
        for n, full in ((300, 2000), (3000, 1000)):
            rng, runs = np.random.default_rng([2, index, n]), times(full, share)
            misses, misses_any = (
                np.zeros((len(PRIORS), len(POINTS)), dtype=int),
                np.zeros(len(PRIORS), dtype=int),
            )
            for _ in range(runs):
                counts = risk_cells(line(world, rng, n, n))
                r, q = cell_probabilities(world, counts, None)
                at = counts.cells.locate(points)
                for k, prior in enumerate(PRIORS):
                    truth = (prior * r - (1 - prior) * q) / (prior * r + (1 - prior) * q)
                    cells = cell_risks(counts, prior)
                    misses[k] += _outside(cells.pointwise, np.abs(truth))[at]
                    misses_any[k] += _outside(cells.simultaneous, np.abs(truth)).any()
            for k, prior in enumerate(PRIORS):
                name = f"{world.name}, prior {prior:g}, n {n}"
                alone += [
                    Share(f"{name}, {100 * point:g}% point", int(m), runs, 0.05)
                    for point, m in zip(POINTS, misses[k], strict=True)
                ]
                together.append(Share(name, int(misses_any[k]), runs, 0.05))
    return Section(
        [
            verdict(
                "individual risk: interval of the cell's risk misses it, at five points", alone, "<= 0.05"
            ),
            verdict("the same for all cells at once", together, "<= 0.05"),
            verdict("runs that flag any record without leakage", _flags(share), "<= 0.05"),
        ]
    )


def _outside(limits: Limits, value: Floats) -> NDArray[np.bool_]:
    return (value < limits.lower - 1e-12) | (value > limits.upper + 1e-12)


def _flags(share: float) -> list[Share]:
    shares = []
    for index, world in enumerate(HARMLESS):
        for n1, n0 in ((500, 500), (100, 900), (900, 100)):
            rng, runs = np.random.default_rng([3, index, n1]), times(1500, share)
            hits = np.zeros(len(PRIORS), dtype=int)
            for _ in range(runs):
                scores = Scores.of(*world.draw(rng, n1, n0))
                hits += [individual_risk(scores, prior).flagged.any() for prior in PRIORS]
            shares += [
                Share(f"{world.name}, prior {prior:g}, {n1}:{n0}", int(h), runs, 0.05)
                for prior, h in zip(PRIORS, hits, strict=True)
            ]
    return shares


def memorised(share: float) -> Section:
    """Individual risk where a few members score where no nonmember does: their risk is 1."""
    missed, rows = [], []
    for n1, n0 in ((500, 500), (200, 1800), (5000, 5000)):
        for part in (0.01, 0.02, 0.05, 0.1):
            rng, runs = np.random.default_rng([8, n1, round(1000 * part)]), times(1000, share)
            near = exactly = flagged = known = 0
            lower = 0.0
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
            missed.append(Share(f"{100 * part:g}% memorised, {n1}:{n0}", runs - near, runs, LEVEL))
            rows.append(
                (
                    f"{n1}:{n0}",
                    f"{100 * part:g}%",
                    f"{exactly / runs:.3f}",
                    f"{near / runs:.3f}",
                    f"{lower / runs:.2f}",
                    f"{flagged / known:.3f}",
                    str(runs),
                )
            )
    return Section(
        [
            verdict("upper end of a memorised record's risk, 1, is below 0.95", missed, "<= 0.025"),
            _copies(share),
        ],
        "Members who score where no nonmember does, at a random one of them (risk 1)",
        ("sides", "memorised", "interval has 1", "upper end >= 0.95", "mean lower end", "flagged", "runs"),
        tuple(rows),
    )


def _copies(share: float) -> tuple[str, str, str]:
    """Of 5,000 members 50 stand in the release word for word, and score above all others."""
    runs, every, false = times(200, share), 0, 0.0
    for seed in range(runs):
        rng = np.random.default_rng([9, seed])
        members = np.concatenate([rng.normal(12.0, 1.0, 50), rng.normal(size=4950)])
        flagged = individual_risk(Scores.of(members, rng.normal(size=5000), Query.CONTINUOUS)).flagged
        every += bool(flagged[:50].all())
        false += flagged[50:].sum() / max(1, flagged.sum()) / runs
    claim = "50 of 5,000 members copied into a release: all of them flagged"
    return claim, "every run", f"{every} of {runs} runs; {false:.3f} of the flags are of other records"


# metrics


TEN = 1.0 + 0.2 * np.array([1, -1] * 5)
LEAKY: tuple[tuple[World, tuple[Floats, Floats] | None], ...] = (
    (identical(), None),
    (gaussian_shift(0.2), None),
    (gaussian_shift(0.5), None),
    (scale(), None),
    (categories(10, 0.1), (TEN / 10, np.full(10, 0.1))),
)
METRICS: tuple[tuple[str, dict[str, float]], ...] = (
    ("balanced_accuracy", {}),
    ("precision", {}),
    ("f_beta", {}),
    ("weighted_accuracy", {"w1": 2.0, "w3": 3.0}),
    ("npv", {}),
)


def metrics(share: float) -> Section:
    """Both ends of the interval for a metric's optimum, against the optimum at the very cells stated."""
    above, below, npv = [], [], []
    for index, (world, by_label) in enumerate(LEAKY):
        for sides in ((100, 100), (500, 500), (100, 900)):
            for name, parameters in METRICS:
                for prior in PRIORS:
                    many_runs = name == "npv" and index == 4 and prior == 0.1 and sides == (500, 500)
                    runs = times(2000 if many_runs else 300 if sides == (100, 100) else 160, share)
                    over, under = metric_misses(world, by_label, sides, name, parameters, prior, runs)
                    case = f"{name}, {world.name}, prior {prior:g}, {sides[0]}:{sides[1]}"
                    above.append(Share(case, over, runs, LEVEL))
                    below.append(Share(case, under, runs, LEVEL))
                    if many_runs:
                        npv.append(above[-1])
    return Section(
        [
            verdict("metrics: lower end above the true optimum", above, "<= 0.025"),
            verdict("metrics: upper end below the true optimum", below, "<= 0.025"),
            verdict("NPV, 10 categories: lower end above the true optimum", npv, "<= 0.025"),
        ]
    )


def metric_misses(
    world: World,
    by_label: tuple[Floats, Floats] | None,
    sides: tuple[int, int],
    name: str,
    parameters: dict[str, float],
    prior: float,
    runs: int,
) -> tuple[int, int]:
    """Runs whose lower end is above, and whose upper end is below, the optimum."""
    rng = np.random.default_rng([4, *sides, round(100 * prior), *map(ord, name + world.name)])
    metric = preset(name, prior, **parameters)
    objective = Objective.of(metric, prior)
    over = under = 0
    for run in range(runs):
        counts = finest(line(world, rng, *sides))
        truth = true_optimum(world, counts, by_label, objective)
        interval = metric_optimum(counts, metric, prior, seed=run).interval
        over += interval.lower > truth + 1e-9
        under += interval.upper < truth - 1e-9
    return over, under


def true_optimum(
    world: World, counts: Counts, by_label: tuple[Floats, Floats] | None, objective: Objective
) -> float:
    """The best value of any rule the interval speaks of: of the stated cells, or a single cut.

    Of a metric that is a line in accuracy the interval is the advantage's, which speaks of the cells alone.
    """
    fine, views = views_of(counts)
    if objective.metric.line_in_accuracy(objective.prior) is not None:
        views = views[:1]
    r, q = cell_probabilities(world, fine, by_label)
    truth = Counts(np.rint(ONE * r).astype(np.int64), np.rint(ONE * q).astype(np.int64), fine.cells)
    return max(_best(view, truth, objective) for view in views)


def _best(view: View, truth: Counts, objective: Objective) -> float:
    if view.sort:
        return optimum(view.counts(truth), objective).value
    tails = [
        np.concatenate([[0.0], np.cumsum(side) / side.sum()]) for side in (truth.members, truth.nonmembers)
    ]
    tpr, fpr = (np.concatenate([tail, 1.0 - tail]) for tail in tails)
    return float(objective.value(tpr, fpr).max())


# paper mode


def paper(share: float) -> Section:
    """How often the paper's intervals contain the advantage, which is not what they promise."""
    rows = []
    for index, world in enumerate((identical(), gaussian_shift(0.2))):
        for n, full in ((1000, 300), (10_000, 150), (100_000, 60)):
            rng, runs = np.random.default_rng([5, index, n]), times(full, share)
            truth, hits, values = world.truth(0.5), np.zeros(2), np.zeros(2)
            for _ in range(runs):
                scores = line(world, rng, n, n)
                answers = [algorithm_1(scores, 0.5, reading=EqualWidth()), algorithm_1(scores, 0.5)]
                hits += [truth in each.interval for each in answers]
                values += [each.value for each in answers]
            rows.append(
                (
                    world.name,
                    str(n),
                    f"{truth:.3f}",
                    *_paired(values / runs, "{:.4f}"),
                    *_paired(hits / runs, "{:.3f}"),
                    str(runs),
                )
            )
    null = [row for row in rows if row[0] == "identical"]
    ways = (("100 cells", 5), ("KDE", 6))
    measured = "; ".join(f"{way}: " + ", ".join(row[at] for row in null) for way, at in ways)
    return Section(
        [
            (
                "paper's interval contains the advantage, identical, n 10^3, 10^4, 10^5",
                "no promise of it",
                measured,
            )
        ],
        "Paper mode: nominal 0.95, standard error at most 0.03, 0.04 and 0.06 in the three sizes",
        (
            "world",
            "n a side",
            "truth",
            "mean W_N",
            "mean U_N",
            "100 cells contain it",
            "KDE contains it",
            "runs",
        ),
        tuple(rows),
    )


def _paired(values: Floats, form: str) -> tuple[str, str]:
    return form.format(values[0]), form.format(values[1])


# ROC


def roc(share: float) -> Section:
    """Area under the curve and operating points of Gaussian shifts, where both are known."""
    areas, points = [], []
    for leak in (0.0, 0.2, 0.5, 0.9):
        m = shift_for(leak) if leak else 0.0
        for n1, n0 in ((100, 100), (100, 900), (1000, 1000)):
            rng, runs = np.random.default_rng([6, round(100 * leak), n1, n0]), times(1500, share)
            area, rates = float(ndtr(m / np.sqrt(2.0))), (0.01, 0.1)
            truths = [float(ndtr(m + ndtri(rate))) for rate in rates]
            area_misses, misses = 0, np.zeros(2, dtype=int)
            for _ in range(runs):
                counts = finest(Scores.of(rng.normal(m, size=n1), rng.normal(size=n0), Query.CONTINUOUS))
                area_misses += area not in auc(counts).estimate.interval
                misses += [
                    truth not in operating_point(counts, rate).estimate.interval
                    for rate, truth in zip(rates, truths, strict=True)
                ]
            areas.append(Share(f"shift {leak:g}, {n1}:{n0}", area_misses, runs, 0.05))
            points += [
                Share(f"FPR {rate:g}, shift {leak:g}, {n1}:{n0}", int(k), runs, 0.05)
                for rate, k in zip(rates, misses, strict=True)
            ]
    return Section(
        [
            verdict("AUC: interval misses it", areas, "<= 0.05"),
            verdict("TPR at FPR 1% and 10%: interval misses it", points, "<= 0.05 (acceptance list: 0.06)"),
        ]
    )


# point estimate


def ties(share: float) -> Section:
    """Each end of the area where most records tie, or are few: a normal law but for an atom at 0 on both sides."""
    above, below, rows = [], [], []
    for n1, n0 in ((8, 8), (15, 1000), (1000, 15), (50, 50), (500, 500), (1000, 1000)):
        for tied in (0.0, 0.5, 0.9, 0.99):
            for m in (0.0, 1.0, 2.5):
                rng, runs = (
                    np.random.default_rng([10, n1, n0, round(100 * tied), round(m)]),
                    times(3000, share),
                )
                area = tied**2 / 2 + tied * (1 - tied) * (float(ndtr(m)) + 0.5)
                area += (1 - tied) ** 2 * float(ndtr(m / np.sqrt(2.0)))
                over = under = 0
                width = 0.0
                for _ in range(runs):
                    sides = rng.normal(m, size=n1), rng.normal(size=n0)
                    for side in sides:
                        side[rng.random(side.size) < tied] = 0.0
                    interval = auc(finest(Scores.of(*sides, Query.CONTINUOUS))).estimate.interval
                    over += interval.lower > area + 1e-12
                    under += interval.upper < area - 1e-12
                    width += interval.upper - interval.lower
                case = f"{100 * tied:g}% tied, area {area:.3f}, {n1}:{n0}"
                above.append(Share(case, over, runs, LEVEL))
                below.append(Share(case, under, runs, LEVEL))
                rates = f"{over / runs:.4f}", f"{under / runs:.4f}"
                rows.append((f"{n1}:{n0}", f"{100 * tied:g}%", f"{area:.3f}", *rates, f"{width / runs:.3f}"))
    return Section(
        [
            verdict("AUC with ties or few records: lower end above it", above, "<= 0.025"),
            verdict("the same: upper end below it", below, "<= 0.025"),
        ],
        "The area under the ROC where records tie",
        ("sides", "tied", "area", "lower end above", "upper end below", "mean width"),
        tuple(rows),
    )


def point(share: float) -> Section:
    """The point estimate beside one who knows the optimal rule and judges it on all N = 1000 records."""
    rows, ratios, biases, null = [], [], [], ""
    worlds = (identical(), gaussian_shift(0.05), gaussian_shift(0.2), gaussian_shift(0.5), scale())
    for index, world in enumerate((*worlds, cauchy_shift(), atoms())):
        rng, runs, n = np.random.default_rng([7, index]), times(500, share), 500
        truth, at_cells, values = world.truth(0.5), np.empty(runs), np.empty(runs)
        for run in range(runs):
            fine = finest(line(world, rng, n, n))
            values[run] = advantage(fine, 0.5, seed=run).value
            at_cells[run] = world.truth_at(cells_for(fine, CellsTarget()).cells.cuts, 0.5)  # type: ignore[attr-defined]
        off = values - truth
        rmse, oracle = float(np.sqrt((off**2).mean())), float(np.sqrt((1 - truth**2) / (2 * n)))
        error = values.std() / np.sqrt(runs)
        rows.append(
            (
                world.name,
                f"{truth:.3f}",
                f"{off.mean():+.4f} ± {error:.4f}",
                f"{(values - at_cells).mean():+.4f}",
                f"{rmse:.4f}",
                f"{oracle:.4f}",
                f"{rmse / oracle:.2f}",
                f"{rmse * np.sqrt(2 * n):.2f}",
            )
        )
        if index == 0:
            null = f"{rmse * np.sqrt(2 * n):.2f} ({runs} runs)"
        else:
            ratios.append((rmse / oracle, world.name))
            biases.append((abs(float(off.mean())), world.name))
    return Section(
        [
            ("point: largest bias, six worlds, N 1000", "<= 0.015", "{:.4f} ({})".format(*max(biases))),
            (
                "point: largest RMSE / oracle's s.d., same worlds",
                "<= 1.2",
                "{:.2f} ({})".format(*max(ratios)),
            ),
            ("point: RMSE sqrt(N) without leakage", "<= 1.6", null),
        ],
        f"Point estimate, 500 records a side, prior 0.5, {times(500, share)} runs",
        (
            "world",
            "truth",
            "bias ± s.e.",
            "bias at its cells",
            "RMSE",
            "oracle's s.d.",
            "ratio",
            "RMSE sqrt(N)",
        ),
        tuple(rows),
    )


# several queries


def alike(share: float) -> Section:
    """Two coarse queries that order the records alike in some samples only, and are one question in these."""
    ends, apart, rows = [], [], []
    yes, no = 0.7, 0.5
    for n, changed in product((100, 400), (0.0, 0.002, 0.005, 0.02, 0.1)):
        rng, runs = np.random.default_rng([12, n, round(1000 * changed)]), times(2000, share)
        truth = np.array([yes - no, yes * (1.0 - changed) + (1.0 - yes) * changed - no])
        above = missed = once = 0
        for _ in range(runs):
            members, nonmembers = (rng.random(n) < each for each in (yes, no))
            other = members ^ (rng.random(n) < changed)
            queries = {
                name: Scores.of(1.0 * side, 1.0 * nonmembers, Query.CONTINUOUS)
                for name, side in (("one", members), ("other", other))
            }
            result = compare(queries, pairs=[("one", "other")])
            lower = {each.name: each.advantage.estimate.interval.lower for each in result.ranking}
            (difference,) = result.differences
            interval = difference.estimate.interval
            above += lower["one"] > truth[0] or lower["other"] > truth[1]
            missed += not interval.lower <= truth[0] - truth[1] <= interval.upper
            once += any(each.code == SAME_ORDER for each in result.cautions)
        case = f"{100 * changed:g}% of members answered otherwise, {n}:{n}"
        ends.append(Share(case, above, runs, LEVEL))
        apart.append(Share(case, missed, runs, 2.0 * LEVEL))
        rates = (f"{each / runs:.4f}" for each in (once, above, missed))
        rows.append((f"{100 * changed:g}%", f"{n}:{n}", *rates, str(runs)))
    return Section(
        [
            verdict("two coarse queries: a lower end of either above its advantage", ends, "<= 0.025"),
            verdict("the same: interval of their difference misses it", apart, "<= 0.05"),
        ],
        "Two queries of two values each: how often they are asked once, and how often either is wrong",
        ("members answered otherwise", "sides", "asked once", "lower end above", "difference missed", "runs"),
        tuple(rows),
    )


# vectors


def vectors(share: float) -> Section:
    """The learned adversary beside boxes of equal mass and the paper's 100^d cells."""
    rows, ahead = [], list[str]()
    for index, world in enumerate((xor(0.2), vector_shift(5, 0.2))):
        for n, full in ((1000, 12), (10_000, 4)):
            rng, runs = np.random.default_rng([8, index, n]), times(full, share)
            values = np.empty((runs, 4))
            for run in range(runs):
                scores = Scores.of(*world.draw(rng, n, n))
                learned = advantage(scores, 0.5, LearnedTarget(), seed=run)
                boxes = advantage(scores, 0.5, CellsTarget(), seed=run)
                w_n = discrete_advantage(by_lattice(scores, 100), 0.5).value
                values[run] = learned.lower, learned.value, boxes.lower, w_n
            mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)
            gain = values[:, 0] - values[:, 2]
            ahead.append(f"{world.name}, n {n}: {gain.mean():+.3f} ± {gain.std(ddof=1) / np.sqrt(runs):.3f}")
            cells = [f"{a:.3f} ± {e:.3f}" for a, e in zip(mean, error, strict=True)]
            rows.append((world.name, str(n), f"{world.truth(0.5):.3f}", *cells, str(runs)))
    return Section(
        [
            (
                "vectors: learned lower end minus that of boxes, mean ± s.e.",
                "no number named; above 0 is better",
                "; ".join(ahead),
            )
        ],
        "Vectors, mean ± its standard error: certified lower ends, and the paper's W_N on 100^d cells",
        ("world", "n a side", "truth", "learned, lower", "learned, point", "boxes, lower", "W_N", "runs"),
        tuple(rows),
    )


SECTIONS: tuple[Callable[[float], Section], ...] = (
    epsilon,
    risk,
    memorised,
    metrics,
    paper,
    roc,
    ties,
    point,
    alike,
    vectors,
)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table in markdown, line by line."""
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def main() -> None:
    """Run every section and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=[s.__name__ for s in SECTIONS], help="one section alone")
    options = parser.parse_args()
    sections = [s for s in SECTIONS if options.only in (None, s.__name__)]
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(partial(_call, share=options.runs), sections))
    print(
        "\n".join(
            table(("claim", "must reach", "measured"), [c for section in results for c in section.claims])
        )
    )
    for section in results:
        if section.details:
            print(f"\n{section.heading}\n")
            print("\n".join(table(section.columns, section.details)))


def _call(section: Callable[[float], Section], share: float) -> Section:
    return section(share)


if __name__ == "__main__":
    main()
