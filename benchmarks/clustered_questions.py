"""Every question of rows that come in clusters: how often what it states is wrong, with ``cluster`` and without.

People have many rows each, every second one is a member, and rows of one person have the stated correlation. Scores are
normal, members' shifted, so that everything stated has a truth in closed form. A statement with two ends is wrong if
the truth lies outside, a bound if it lies above the truth; flags are wrong by the share of flagged rows that are false.
About twenty minutes on two cores.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

import estimators as e
from benchmarks.harness import Note, Run, mark, table
from benchmarks.worlds import Floats, Integers, epsilon_of_shift, equal, people, shift
from estimators import Estimate
from estimators.decisions.gate import judge
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.decisions.tpr_limit import MaxTpr
from estimators.privacy.epsilon import epsilon_lower_bound
from estimators.sample.cells import Intervals
from estimators.sample.counting import finest

RUNS = 200
DELTA = 0.1
FPR = 0.1
SHARE = 0.05
CUT = 1.0
LIMIT = 0.3  # signed risk above which a record is flagged
WORLDS = [(*size, *rest) for size, *rest in product(((200, 10), (30, 40)), (0.5, 0.95), (0.0, 0.3))]
"""People with rows each, their correlation, and the advantage."""


def best_metrics(d: float) -> dict[str, float]:
    """The largest value of metrics at a prior of one half, members shifted by ``d``; every best rule is a cut."""
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


class Statement(NamedTuple):
    """What is stated, how often it may be wrong, and whether it was: 0 or 1, of flags a share."""

    name: str
    level: float
    wrong: float | np.bool_


def outside(name: str, truth: float, estimate: Estimate) -> Statement:
    """Whether the truth lies outside of an interval."""
    return Statement(name, 0.05, not estimate.lower - 1e-12 <= truth <= estimate.upper + 1e-12)


@dataclass(frozen=True)
class Sample:
    """One draw of a world, with the cluster named or not."""

    scores: e.Scores
    cluster: Integers | None
    group: Integers
    truth: float
    seed: int

    @property
    def d(self) -> float:
        return shift(self.truth)

    @property
    def counts(self) -> e.Counts:
        """Of all rows, or of those that share nothing."""
        alone = self.cluster is None
        return finest(self.scores if alone else e.lone_rows(self.scores, self.cluster, self.seed))


def statements(world: tuple, seed: int, named: bool) -> Iterator[Statement]:
    number, rows, likeness, truth = world
    rng = np.random.default_rng(seed)
    members, nonmembers, (labels,) = people(equal(number, rows), likeness, truth)(rng)
    scores, cluster = e.Scores.of(members, nonmembers), labels if named else None
    group = rng.integers(0, 2, len(labels))
    sample = Sample(scores, cluster, group, truth, seed)
    for question in (of_gate, of_metrics, of_risk, of_audit, of_attack):
        yield from question(sample)
    noise = rng.normal(size=len(labels))  # of the second step, in which only a part of the score is left
    part = e.Scores.of(members + noise[: len(members)], nonmembers + noise[len(members) :])
    series = e.advantage_series({"first": scores, "second": part}, seed=seed, cluster=cluster)
    truths = truth, float(2.0 * ndtr(sample.d / np.sqrt(2.0) / 2.0) - 1.0)
    pairs = zip(truths, series.steps, strict=True)
    wrong = max(outside("", truth, step.estimate).wrong for truth, step in pairs)
    yield Statement("series: both steps together", 0.05, wrong)


def of_gate(s: Sample) -> Iterator[Statement]:
    """Five limits together at their truths: none may be exceeded, and each interval holds by itself."""
    tpr, epsilon = float(ndtr(s.d + ndtri(FPR))), epsilon_of_shift(s.d, DELTA, 20.0)
    f_beta = best_metrics(s.d)["f_beta"]
    limits = [MaxAdvantage(s.truth), MaxTpr(tpr, FPR), MaxEpsilon(epsilon, DELTA)]
    limits += [MaxMetric(f_beta, e.preset("f_beta", 0.5)), MaxGroupRisk(1.0, s.group)]
    judged = judge(s.scores, limits, seed=s.seed, cluster=s.cluster).limits
    truths = s.truth, tpr, epsilon, f_beta
    failed = any(each.estimate.lower > limit + 1e-12 for each, limit in zip(judged, truths, strict=False))
    yield Statement("gate: fails though no limit is exceeded", 0.025, failed)
    for name, limit, each in zip(("advantage", "TPR", "epsilon", "metric"), truths, judged, strict=False):
        yield Statement(f"gate: {name} above its upper end", 0.025, each.estimate.upper < limit - 1e-12)


def of_metrics(s: Sample) -> Iterator[Statement]:
    of_all, counts = None, s.counts
    if s.cluster is not None:
        of_all = e.advantage(s.scores, 0.5, e.CellsTarget(), seed=s.seed, cluster=s.cluster)
    for name, truth in best_metrics(s.d).items():
        result = e.metric_optimum(counts, e.preset(name, 0.5), seed=s.seed, reuse=of_all)
        yield outside(f"metrics: {name}", truth, result.estimate)


def of_risk(s: Sample) -> Iterator[Statement]:
    """Risk of all rows at once, of one named in advance, of groups, and flags."""
    risks = e.individual_risk(s.scores, groups=s.group, threshold=LIMIT, seed=s.seed, cluster=s.cluster)
    signed = risk_of_cells(risks.cells.counts.cells, s.d)
    own = np.abs(signed)[risks.cell]
    out = (own < risks.simultaneous_lower - 1e-12) | (own > risks.simultaneous_upper + 1e-12)
    yield Statement("risk: all records at once", 0.05, out.any())
    one = risks.lower[0] - 1e-12 <= own[0] <= risks.upper[0] + 1e-12
    yield Statement("risk: one record", 0.05, not one)
    flagged = risks.flagged
    false = float(np.mean(signed[risks.cell[flagged]] <= LIMIT) if flagged.any() else 0)
    yield Statement("risk: share of false flags", 0.05, false)
    means = [own[s.group == label].mean() for label in risks.groups.labels.tolist()]
    ends = zip(means, risks.groups.lower, risks.groups.upper, strict=True)
    beyond = any(mean < low - 1e-12 or mean > high + 1e-12 for mean, low, high in ends)
    yield Statement("groups: mean risk of each", 0.05, beyond)
    sides = s.group[: s.scores.n_members], s.group[s.scores.n_members :]
    alone = [each.advantage for each in e.by_group(s.scores, *sides, seed=s.seed, cluster=s.cluster)]
    wrong = [outside("", s.truth, each.estimate).wrong for each in alone if each is not None]
    yield Statement("groups: advantage of each", 0.05, max(wrong, default=0.0))


def of_audit(s: Sample) -> Iterator[Statement]:
    delta = DELTA if s.d else 0.0  # at delta 0 the epsilon of two normal laws apart is infinite
    bound = epsilon_lower_bound(s.counts, delta=delta, seed=s.seed).value
    yield Statement("audit: epsilon", 0.025, bound > epsilon_of_shift(s.d, delta, 20.0) + 1e-12)
    answer = e.assess(s.scores, e.AssessOptions(operating_points=(FPR,), seed=s.seed), s.cluster)
    yield outside("audit: AUC", float(ndtr(s.d / np.sqrt(2.0))), answer.auc.estimate)
    yield outside("audit: TPR at FPR 0.1", float(ndtr(s.d + ndtri(FPR))), answer.operating_points[0].estimate)
    if s.d == 0.0:
        yield Statement("audit: exposure without a leak", 0.025, answer.exposure.score_epsilon > 0.0)


def of_attack(s: Sample) -> Iterator[Statement]:
    """An attack's own advantage, its rates and its distance from the best, with a cut fixed before or placed here."""
    asked = {"seed": s.seed, "metrics": [], "cluster": s.cluster}
    fixed, own = e.attack_advantage(s.scores, e.ThresholdRule(CUT), **asked), advantage_of_cut(CUT, s.d)
    yield outside("attack: advantage", own, fixed.estimate)
    yield outside("attack: true positive rate", float(ndtr(s.d - CUT)), fixed.tpr)
    yield outside("attack: gap to the optimum", s.truth - own, fixed.gap)
    placed = e.attack_advantage(s.scores, e.TopRule(), **asked)
    yield outside("attack: advantage, cut placed here", advantage_of_cut(placed.cut, s.d), placed.estimate)


def errors(task: tuple[tuple, bool], runs: int) -> dict[str, tuple[float, Floats]]:
    """For each statement of a world its level, and whether it was wrong in each run."""
    world, named = task
    every = zip(*(statements(world, seed, named) for seed in range(runs)), strict=True)
    return {each[0].name: (each[0].level, np.array([float(one.wrong) for one in each])) for each in every}


@table
def wrong(run: Run):
    runs, worlds = run.times(RUNS, 2), run.few(WORLDS, 2)
    results = run.map(partial(errors, runs=runs), product(worlds, (True, False)))
    named, without = results[::2], results[1::2]
    yield "statement | may be wrong | wrong, all worlds | worst world | the same without `cluster`"
    for name, (level, _) in named[0].items():
        rates = [each[name][1] for each in named if name in each]
        worst = max(rates, key=np.mean)
        sign = max(mark(each.sum(), len(each), level) for each in rates)
        otherwise = max(each[name][1].mean() for each in without if name in each)
        yield f"{name} | {level} | {np.mean(rates):.4f} | {worst.mean():.3f}{sign} | {otherwise:.2f}"
    yield Note(f"{runs} samples of each of {len(worlds)} worlds")
