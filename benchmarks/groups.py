"""One group that leaks among many that do not: is it ever passed, and does anything fail where nothing leaks?

"leaks wholly": the group's members stand above all its nonmembers, and other groups' records around both. Every "wrong"
may be 2.5%, and a pass of a group that leaks wholly never. About five minutes of one core.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from benchmarks.harness import Run, mark, table
from benchmarks.worlds import Rng
from estimators import Decision, Scores
from estimators.decisions.gate import judge
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxGroupRisk
from estimators.decisions.plan import shift_for

OTHERS = 500
"""Records a side of each group that does not leak."""

HAIR = 1e-9
LEAKS = (30, 100, 500)
GROUPS = (2, 10, 50)
CLEAN = (30, 200, 2000)
RUNS = 100
CLEAN_RUNS = 200
HAIR_RUNS = 400
WORLDS = (*product(("uniform",), GROUPS), ("one digit", 10))
"""How scores are drawn, and how many groups there are."""


def score(law: str, rng: Rng, records: int) -> np.ndarray:
    """Scores of one side, members' and nonmembers' alike."""
    scores = rng.random(records)
    return np.round(scores, 1) if law == "one digit" else scores


def with_leak(rng: Rng, law: str, groups: int, rare: int) -> tuple[Scores, np.ndarray]:
    """The last group's members above .5 and its nonmembers below, so many of each; all others alike."""
    low, high = rng.random(rare) / 2, rng.random(rare) / 2 + 0.5
    if law == "one digit":
        low, high = rng.integers(0, 5, rare) / 10, rng.integers(6, 11, rare) / 10
    labels = np.concatenate([np.repeat(np.arange(groups - 1), OTHERS), np.full(rare, groups - 1)])
    others = (groups - 1) * OTHERS
    members = np.concatenate([score(law, rng, others), high])
    nonmembers = np.concatenate([score(law, rng, others), low])
    return Scores.of(members, nonmembers), np.concatenate([labels, labels])


def without(rng: Rng, law: str, groups: int, records: int, shifts: float = 0.0) -> tuple[Scores, np.ndarray]:
    """So many records a side in each group; a Gaussian shift in all of them, or none."""
    labels, n = np.repeat(np.arange(groups), records), groups * records
    if shifts:
        data = Scores.of(rng.normal(shifts, 1, n), rng.normal(size=n))
    else:
        data = Scores.of(score(law, rng, n), score(law, rng, n))
    return data, np.concatenate([labels, labels])


@dataclass(frozen=True)
class Tally:
    """How often each decision was made, and what was said."""

    passed: int
    failed: int
    runs: int
    mean_passed: int = 0
    warned: int = 0
    above: int = 0

    def share(self, times: int) -> str:
        return f"{100 * times / self.runs:.3g}%"


def leak(task: tuple[str, int, int, int]) -> Tally:
    law, groups, rare, runs = task
    rng, decisions, means, warned = np.random.default_rng(groups * rare), [], 0, 0
    for run in range(runs):
        data, labels = with_leak(rng, law, groups, rare)
        decisions.append(judge(data, [MaxGroupAdvantage(0.3, labels)], seed=run).decision)
        if run < runs // 4:
            by_mean = judge(data, [MaxGroupRisk(0.3, labels)], seed=run)
            means += by_mean.decision is Decision.PASS
            warned += "group_exceeds" in {each.code for each in by_mean.cautions}
    counts = [decisions.count(each) for each in (Decision.PASS, Decision.FAIL)]
    return Tally(counts[0], counts[1], runs, means, warned)


def clean(task: tuple[str, int, int, int, float, float, float]) -> Tally:
    law, groups, records, runs, maximum, shift, prior = task
    rng, decisions, above = np.random.default_rng(groups * records), [], 0
    for run in range(runs):
        data, labels = without(rng, law, groups, records, shift)
        judgement = judge(data, [MaxGroupAdvantage(maximum, labels)], prior, seed=run)
        decisions.append(judgement.decision)
        above += judgement.limits[0].estimate.lower > abs(2 * prior - 1)
    return Tally(decisions.count(Decision.PASS), decisions.count(Decision.FAIL), runs, above=above)


@table
def leaks(run: Run):
    """One group leaks wholly: its advantage is 1; both limits are 0.3."""
    yield (
        "scores | groups | of the group that leaks, a side | runs | own advantage: passes | fails | "
        "mean risk: passes | warned"
    )
    runs = run.times(RUNS, 4)
    tasks = [(law, k, n, runs) for (law, k), n in run.few(product(WORLDS, LEAKS), 3)]
    for (law, groups, rare, _), tally in zip(tasks, run.map(leak, tasks), strict=True):
        few = max(1, runs // 4)
        run.faults += tally.passed > 0
        mean, warned = (f"{100 * each / few:.3g}%" for each in (tally.mean_passed, tally.warned))
        yield (
            f"{law} | {groups} | {rare} | {runs} | {tally.passed}{'!' * (tally.passed > 0)} | "
            f"{tally.share(tally.failed)} | {mean} | {warned}"
        )


@table
def alike(run: Run):
    """No group leaks: how often a limit of 0.2 passes, and any group has a lower end above 0, which fails at 0."""
    yield "scores | groups | of each, a side | runs | passes 0.2 | fails 0.2 | some lower end above 0"
    runs = run.times(CLEAN_RUNS, 4)
    tasks = [(law, k, n, runs, 0.2, 0.0, 0.5) for (law, k), n in run.few(product(WORLDS, CLEAN), 3)]
    for (law, groups, records, *_), tally in zip(tasks, run.map(clean, tasks), strict=True):
        wrong = mark(tally.above, runs)
        run.faults += bool(wrong) + (tally.failed > 0)
        shares = " | ".join(tally.share(each) for each in (tally.passed, tally.failed, tally.above))
        yield f"{law} | {groups} | {records} | {runs} | {shares}{wrong}"


@table
def hair(run: Run):
    """Every group's truth is 0.3: a limit of exactly that fails wrongly, and one a hair below passes wrongly."""
    yield "prior | truth | groups | of each, a side | runs | wrong fail | wrong pass of one group"
    runs = run.times(HAIR_RUNS, 4)
    for prior, groups, records in run.few(product((0.5, 0.2), (1, 10), (100, 1000)), 2):
        truth = 0.3 if prior == 0.5 else 0.7
        shift = shift_for(truth, prior)
        ends = [(groups, truth + HAIR), (1, truth - HAIR)]
        tasks = [("", k, records, runs, most, shift, prior) for k, most in ends]
        fail, passed = run.map(clean, tasks)
        wrong = mark(fail.failed, runs), mark(passed.passed, runs)
        run.faults += sum(map(bool, wrong))
        yield (
            f"{prior:g} | {truth:g} | {groups} | {records} | {runs} | {fail.share(fail.failed)}{wrong[0]} | "
            f"{passed.share(passed.passed)}{wrong[1]}"
        )
