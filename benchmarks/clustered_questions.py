"""Every question of rows that come in clusters: how often what it states is wrong, with ``cluster`` and without.

    python -m benchmarks.clustered_questions                # about twenty minutes on two cores
    python -m benchmarks.clustered_questions --runs 0.3     # a third of the runs

People have many rows each, every second one is a member, and rows of one person have the stated correlation. Scores are
normal, members' shifted, so that everything stated has a truth in closed form. A statement with two ends is wrong if
the truth lies outside, a bound if it lies above the truth; flags are wrong by the share of flagged rows that are false.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from benchmarks.clusters import equal, people, shift
from benchmarks.coverage import most_misses
from estimators import (
    AssessOptions,
    CellsTarget,
    IndividualRisk,
    Scores,
    ThresholdRule,
    TopRule,
    advantage,
    advantage_series,
    assess,
    attack_advantage,
    by_group,
    individual_risk,
    lone_rows,
    metric_optimum,
    preset,
)
from estimators.audit.epsilon import epsilon_lower_bound
from estimators.gate import judge
from estimators.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric, MaxTpr
from estimators.sample.cells import Intervals
from estimators.sample.counting import finest
from estimators.statement import Estimate

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RUNS = 200
DELTA = 0.1
FPR = 0.1
SHARE = 0.05
CUT = 1.0
LIMIT = 0.3
"""Signed risk above which a record is flagged."""


@dataclass(frozen=True)
class World:
    """People with rows each, their correlation, and the advantage."""

    number: int
    rows: int
    likeness: float
    truth: float

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.number} x {self.rows}, correlation {self.likeness}, {self.truth}"


WORLDS = [
    World(number, rows, likeness, truth)
    for number, rows in ((200, 10), (30, 40))
    for likeness in (0.5, 0.95)
    for truth in (0.0, 0.3)
]


# --- truths -------------------------------------------------------------------------------------------------
# Of a nonmember's score that is normal, and a member's that is shifted by ``d``.


def epsilon_at(d: float, delta: float) -> float:
    """The epsilon at delta of the two laws."""

    def excess(epsilon: float) -> float:
        return float(ndtr(d / 2 - epsilon / d) - np.exp(epsilon) * ndtr(-d / 2 - epsilon / d)) - delta

    return 0.0 if d == 0.0 or excess(0.0) <= 0.0 else float(brentq(excess, 0.0, 20.0))


def best_metrics(d: float) -> dict[str, float]:
    """The largest value of metrics at a prior of one half; every best rule is a cut."""
    cut = np.linspace(-8.0, 8.0 + d, 200_001)
    tpr, fpr = ndtr(d - cut), ndtr(-cut)
    enough = tpr + fpr >= 2.0 * SHARE
    return {
        "accuracy": float(ndtr(d / 2.0)),
        "f_beta": float((2.0 * tpr / (1.0 + tpr + fpr)).max()),
        "jaccard": float((tpr / (1.0 + fpr)).max()),
        "precision": float((tpr / (tpr + fpr))[enough].max()),
    }


def risk_of_cells(cells: Intervals, d: float) -> Floats:
    """The signed risk of each cell at a prior of one half."""
    edges = np.concatenate([[-np.inf], cells.cuts, [np.inf]])
    member, nonmember = np.diff(ndtr(edges - d)), np.diff(ndtr(edges))
    return np.asarray((member - nonmember) / (member + nonmember))


def advantage_of_cut(cut: float, d: float) -> float:
    """Of an attack that accuses the scores from a cut on."""
    return float(ndtr(d - cut) - ndtr(-cut))


# --- statements ---------------------------------------------------------------------------------------------

Statement = tuple[str, float, float]
"""What is stated, how often it may be wrong, and whether it was: 0 or 1, of flags a share."""


def outside(name: str, truth: float, estimate: Estimate, level: float = 0.05) -> Statement:
    """Whether the truth lies outside of an interval."""
    low, high = estimate.lower - 1e-12, estimate.upper + 1e-12
    return name, level, float(not low <= truth <= high)


def statements(world: World, seed: int, named: bool) -> Iterator[Statement]:
    """What every question states of one draw, with the cluster named or not."""
    rng = np.random.default_rng(seed)
    d = shift(world.truth)
    members, nonmembers, (labels,) = people(equal(world.number, world.rows), world.likeness, world.truth)(rng)
    scores, cluster = Scores.of(members, nonmembers), labels if named else None
    group = rng.integers(0, 2, len(labels))
    yield from of_gate(scores, cluster, group, world.truth, d, seed)
    yield from of_metrics(scores, cluster, d, seed)
    yield from of_risk(scores, cluster, group, world.truth, d, seed)
    yield from of_audit(scores, cluster, d, seed)
    yield from of_attack(scores, cluster, world.truth, d, seed)
    noise = rng.normal(size=len(labels))  # of the second step, in which only a part of the score is left
    part = Scores.of(members + noise[: len(members)], nonmembers + noise[len(members) :])
    series = advantage_series({"first": scores, "second": part}, seed=seed, cluster=cluster)
    truths = world.truth, float(2.0 * ndtr(d / np.sqrt(2.0) / 2.0) - 1.0)
    wrong = [outside("", truth, step.estimate)[2] for truth, step in zip(truths, series.steps, strict=True)]
    yield "series: both steps together", 0.05, max(wrong)


def of_gate(
    scores: Scores, cluster: Integers | None, group: Integers, truth: float, d: float, seed: int
) -> Iterator[Statement]:
    """Five limits together at their truths: none may be exceeded, and each interval holds by itself."""
    tpr, epsilon, f_beta = float(ndtr(d + ndtri(FPR))), epsilon_at(d, DELTA), best_metrics(d)["f_beta"]
    limits = [
        MaxAdvantage(truth),
        MaxTpr(tpr, FPR),
        MaxEpsilon(epsilon, DELTA),
        MaxMetric(f_beta, preset("f_beta", 0.5)),
        MaxGroupRisk(1.0, group),
    ]
    judged = judge(scores, limits, seed=seed, cluster=cluster).limits
    truths = truth, tpr, epsilon, f_beta
    failed = any(each.estimate.lower > limit + 1e-12 for each, limit in zip(judged, truths, strict=False))
    yield "gate: fails though no limit is exceeded", 0.025, float(failed)
    for name, limit, each in zip(("advantage", "TPR", "epsilon", "metric"), truths, judged, strict=False):
        yield f"gate: {name} above its upper end", 0.025, float(each.estimate.upper < limit - 1e-12)


def of_metrics(scores: Scores, cluster: Integers | None, d: float, seed: int) -> Iterator[Statement]:
    """Metrics at their optimum."""
    counts = finest(scores if cluster is None else lone_rows(scores, cluster, seed))
    of_all = None if cluster is None else advantage(scores, 0.5, CellsTarget(), seed=seed, cluster=cluster)
    for name, truth in best_metrics(d).items():
        result = metric_optimum(counts, preset(name, 0.5), seed=seed, reuse=of_all)
        yield outside(f"metrics: {name}", truth, result.estimate)


def of_risk(
    scores: Scores, cluster: Integers | None, group: Integers, truth: float, d: float, seed: int
) -> Iterator[Statement]:
    """Risk of all rows at once, of one named in advance, of groups, and flags."""
    risks = individual_risk(scores, groups=group, threshold=LIMIT, seed=seed, cluster=cluster)
    assert isinstance(risks, IndividualRisk)
    cells = risks.cells.counts.cells
    assert isinstance(cells, Intervals)
    signed = risk_of_cells(cells, d)
    own = np.abs(signed)[risks.cell]
    out = (own < risks.simultaneous_lower - 1e-12) | (own > risks.simultaneous_upper + 1e-12)
    yield "risk: all records at once", 0.05, float(out.any())
    yield "risk: one record", 0.05, float(not risks.lower[0] - 1e-12 <= own[0] <= risks.upper[0] + 1e-12)
    flagged = risks.flagged
    yield (
        "risk: share of false flags",
        0.05,
        float(np.mean(signed[risks.cell[flagged]] <= LIMIT) if flagged.any() else 0),
    )
    assert risks.groups is not None
    means = [own[group == label].mean() for label in risks.groups.labels.tolist()]
    beyond = [
        mean < low - 1e-12 or mean > high + 1e-12
        for mean, low, high in zip(means, risks.groups.lower, risks.groups.upper, strict=True)
    ]
    yield "groups: mean risk of each", 0.05, float(any(beyond))
    sides = group[: scores.n_members], group[scores.n_members :]
    alone = [each.advantage for each in by_group(scores, *sides, seed=seed, cluster=cluster)]
    wrong = [outside("", truth, each.estimate)[2] for each in alone if each is not None]
    yield "groups: advantage of each", 0.05, max(wrong, default=0.0)


def of_audit(scores: Scores, cluster: Integers | None, d: float, seed: int) -> Iterator[Statement]:
    """Epsilon, ROC, AUC and exposure."""
    counts = finest(scores if cluster is None else lone_rows(scores, cluster, seed))
    delta = DELTA if d else 0.0  # at delta 0 the epsilon of two normal laws apart is infinite
    bound = epsilon_lower_bound(counts, delta=delta, seed=seed).value
    yield "audit: epsilon", 0.025, float(bound > epsilon_at(d, delta) + 1e-12)
    answer = assess(scores, AssessOptions(operating_points=(FPR,), seed=seed), cluster)
    assert answer.auc is not None
    yield outside("audit: AUC", float(ndtr(d / np.sqrt(2.0))), answer.auc.estimate)
    yield outside("audit: TPR at FPR 0.1", float(ndtr(d + ndtri(FPR))), answer.operating_points[0].estimate)
    if d == 0.0:
        yield "audit: exposure without a leak", 0.025, float(answer.exposure.score_epsilon > 0.0)


def of_attack(
    scores: Scores, cluster: Integers | None, truth: float, d: float, seed: int
) -> Iterator[Statement]:
    """An attack's own advantage, its rates and its distance from the best, with a cut fixed before or placed here."""
    fixed = attack_advantage(scores, ThresholdRule(CUT), seed=seed, metrics=[], cluster=cluster)
    own = advantage_of_cut(CUT, d)
    yield outside("attack: advantage", own, fixed.estimate)
    yield outside("attack: true positive rate", float(ndtr(d - CUT)), fixed.tpr)
    yield outside("attack: gap to the optimum", truth - own, fixed.gap)
    placed = attack_advantage(scores, TopRule(), seed=seed, metrics=[], cluster=cluster)
    assert placed.cut is not None
    yield outside("attack: advantage, cut placed here", advantage_of_cut(placed.cut, d), placed.estimate)


# --- table --------------------------------------------------------------------------------------------------


def errors(at: int, share: float, named: bool) -> dict[str, tuple[float, Floats]]:
    """For each statement of a world its level, and whether it was wrong in each run."""
    world, runs = WORLDS[at], max(2, round(RUNS * share))
    every = [list(statements(world, seed, named)) for seed in range(runs)]
    return {
        name: (level, np.array([each[place][2] for each in every]))
        for place, (name, level, _) in enumerate(every[0])
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=float, default=1.0, help="part of the runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    arguments = parser.parse_args()
    places = range(len(WORLDS))
    with ProcessPoolExecutor(arguments.jobs) as pool:
        named, without = (
            list(pool.map(partial(errors, share=arguments.runs, named=each), places))
            for each in (True, False)
        )
    print("| statement | may be wrong | wrong, all worlds | worst world | the same without `cluster` |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name, (level, _) in named[0].items():
        rates = [each[name][1] for each in named if name in each]
        worst = max(rates, key=np.mean)
        mark = "!" if any(each.sum() > most_misses(len(each), level) for each in rates) else ""
        otherwise = max(each[name][1].mean() for each in without if name in each)
        print(f"| {name} | {level} | {np.mean(rates):.4f} | {worst.mean():.3f}{mark} | {otherwise:.2f} |")
    print(f"\n{len(next(iter(named[0].values()))[1])} samples of each of {len(WORLDS)} worlds")


if __name__ == "__main__":
    main()
