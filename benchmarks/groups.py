"""One group that leaks among many that do not: is it ever passed, and does anything fail where nothing leaks?

"leaks wholly": the group's members stand above all its nonmembers, and other groups' records around both. Every "wrong"
may be 2.5%, and a pass of a group that leaks wholly never. About five minutes of one core.
"""

from collections import Counter
from itertools import product

import numpy as np

from benchmarks.harness import Run, table
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


def leak(task: tuple[str, int, int, int]) -> Counter[str]:
    """How often each decision was made, and what was said."""
    law, groups, rare, runs = task
    rng, tally = np.random.default_rng(groups * rare), Counter[str]()
    for run in range(runs):
        data, labels = with_leak(rng, law, groups, rare)
        tally[judge(data, [MaxGroupAdvantage(0.3, labels)]).decision.value] += 1
        if run < runs // 4:
            by_mean = judge(data, [MaxGroupRisk(0.3, labels)])
            tally["mean risk passes"] += by_mean.decision is Decision.PASS
            tally["warned"] += "group_exceeds" in {each.code for each in by_mean.cautions}
    return tally


def clean(task: tuple[str, int, int, int, float, float, float]) -> Counter[str]:
    """How often each decision was made, and a lower end lay above 0."""
    law, groups, records, runs, maximum, shift, prior = task
    rng, tally = np.random.default_rng(groups * records), Counter[str]()
    for _ in range(runs):
        data, labels = without(rng, law, groups, records, shift)
        judgement = judge(data, [MaxGroupAdvantage(maximum, labels)], prior)
        tally[judgement.decision.value] += 1
        tally["above"] += judgement.limits[0].estimate.lower > abs(2 * prior - 1)
    return tally


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
        passed, few = tally["pass"], max(1, runs // 4)
        run.faults += passed > 0
        mean, warned = (f"{100 * tally[what] / few:.3g}%" for what in ("mean risk passes", "warned"))
        own = f"{passed}{'!' * (passed > 0)} | {100 * tally['fail'] / runs:.3g}%"
        yield f"{law} | {groups} | {rare} | {runs} | {own} | {mean} | {warned}"


@table
def alike(run: Run):
    """No group leaks: how often a limit of 0.2 passes, and any group has a lower end above 0, which fails at 0."""
    yield "scores | groups | of each, a side | runs | passes 0.2 | fails 0.2 | some lower end above 0"
    runs = run.times(CLEAN_RUNS, 4)
    tasks = [(law, k, n, runs, 0.2, 0.0, 0.5) for (law, k), n in run.few(product(WORLDS, CLEAN), 3)]
    for (law, groups, records, *_), tally in zip(tasks, run.map(clean, tasks), strict=True):
        run.faults += tally["fail"] > 0
        shares = " | ".join(f"{100 * tally[decision] / runs:.3g}%" for decision in ("pass", "fail"))
        above = run.rate(tally["above"], runs, form=".3g")
        yield f"{law} | {groups} | {records} | {runs} | {shares} | {above}"


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
        of_all, of_one = run.map(clean, tasks)
        wrong = [run.rate(each, runs, form=".3g") for each in (of_all["fail"], of_one["pass"])]
        yield f"{prior:g} | {truth:g} | {groups} | {records} | {runs} | {wrong[0]} | {wrong[1]}"
