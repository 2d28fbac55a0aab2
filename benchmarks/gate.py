"""Does a gate decide wrongly as seldom as it says, and does epsilon's upper end hold? Simulated at no margin at all.

Every rate may be 2.5%. A wrong fail: every maximum is the truth itself. A wrong pass: one maximum lies a hair below the
truth, the others could not be missed. About six minutes on one core.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from benchmarks.harness import Run, table
from benchmarks.worlds import Floats, Rng, epsilon_of_shift
from estimators import Counts, Decision, Scores, preset
from estimators.decisions.gate import judge
from estimators.decisions.gate_sample import GateSample, Limit
from estimators.decisions.maxima import MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.metric.bounds import Objective, optimum
from estimators.privacy.closeness import epsilon_upper, tail_cells, within
from estimators.sample.cells import Categories
from estimators.sample.counting import finest
from macekit.reports.files import level_of_each
from tests.oracles import shift_for

HAIR, LEVEL, DELTA = 1e-9, 0.025, 0.02
UPPER_ENDS = 10  # samples of which epsilon's upper end is worked out
SIDES = ((100, 100), (200, 1_800), (10_000, 10_000))
RUNS = 200
LIMITS = ("advantage", "epsilon", "f_beta", "group risk")


@dataclass(frozen=True)
class Law:
    """Categories and how probable each is on either side."""

    name: str
    r: Floats
    q: Floats

    def draw(self, rng: Rng, members: int, nonmembers: int) -> Scores:
        """Labels of both sides, as text: nothing is known of an order."""
        labels, size = np.array([f"c{i}" for i in range(len(self.r))]), len(self.r)
        of_members = labels[rng.choice(size, members, p=self.r)]
        return Scores.of(of_members, labels[rng.choice(size, nonmembers, p=self.q)])

    @property
    def exact(self) -> Counts:
        """The law itself, as counts of a sample without chance."""
        r, q = (np.rint(side * 10**15).astype(np.int64) for side in (self.r, self.q))
        return Counts.trusted(r, q, Categories(np.arange(len(self.r))))


def smallest(r: Floats, q: Floats, delta: float) -> float:
    """The smallest epsilon at delta of two laws over cells, by bisection to the last digit."""

    def excess(epsilon: float) -> float:
        g = np.exp(epsilon)
        return float(max(np.maximum(r - g * q, 0).sum(), np.maximum(q - g * r, 0).sum())) - delta

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, 60.0, xtol=1e-12))


def randomized_response(epsilon: float, size: int = 2) -> Law:
    """Tell the truth with odds e^epsilon against each other answer: exactly epsilon at delta 0."""
    r, q = np.ones(size), np.ones(size)
    r[0] = q[1] = np.exp(epsilon)
    return Law(f"randomized response {epsilon:g}, {size} answers", r / r.sum(), q / q.sum())


NOTHING = Law("no leak, 4 categories", np.full(4, 0.25), np.full(4, 0.25))
LEAK = Law("leak, 4 categories", np.array([0.4, 0.3, 0.2, 0.1]), np.array([0.25, 0.25, 0.25, 0.25]))


def at_the_truth(law: Law, prior: float) -> dict[str, Callable[[float, Scores], Limit]]:
    """Each limit with its maximum so far from the truth; a group is a category, so that its risk is one number."""
    a, b = prior * law.r, (1 - prior) * law.q
    metric, epsilon = preset("f_beta", prior), smallest(law.r, law.q, DELTA)
    best = optimum(law.exact, Objective.of(metric, prior)).value
    risk = float((np.abs(a - b) / (a + b)).max())
    limits = {
        "advantage": lambda off, _: MaxAdvantage(float(np.abs(a - b).sum()) + off),
        "epsilon": lambda off, _: MaxEpsilon(epsilon + off, DELTA),
        "f_beta": lambda off, _: MaxMetric(best + off, metric),
        "group risk": lambda off, data: MaxGroupRisk(risk + off, np.append(data.members, data.nonmembers)),
    }
    return {name: limit for name, limit in limits.items() if prior == 0.5 or name != "group risk"}


def wrong(law: Law, prior: float, sides: tuple[int, int], runs: int, only: str | None) -> float:
    """Share of samples with a wrong decision: a pass where ``only`` one limit is violated, else a fail."""
    rng, errors = np.random.default_rng(7), 0
    limits = at_the_truth(law, prior)
    for _ in range(runs):
        data = law.draw(rng, *sides)
        if only is None:
            maxima, error = [limit(HAIR, data) for limit in limits.values()], Decision.FAIL
        else:
            maxima, error = [limits[only](-HAIR, data), MaxAdvantage(1.0)], Decision.PASS
        errors += judge(data, maxima, prior).decision is error
    return errors / runs


def percent(rate: float | None) -> str:
    return "–" if rate is None else f"{100 * rate:.2g}%"


@table
def decisions(run: Run):
    yield "law | prior | n1, n0 | wrong fail of all limits | wrong pass: advantage | epsilon | f_beta | group risk"
    runs, every = run.times(RUNS, 5 if run.quick else 20), []
    for law, prior, sides in run.few(product((NOTHING, LEAK), (0.5, 0.2), SIDES[:2]), 3):
        there = at_the_truth(law, prior).keys() - ({"epsilon"} if law is NOTHING else set())
        passes = [wrong(law, prior, sides, runs, each) if each in there else None for each in LIMITS]
        rates = [wrong(law, prior, sides, runs, None), *passes]
        every.append(rates)
        yield f"{law.name} | {prior:g} | {sides[0]}, {sides[1]} | {' | '.join(map(percent, rates))}"
    columns = [[rate for rate in column if rate is not None] for column in zip(*every, strict=True)]
    means = [float(np.mean(column)) if column else None for column in columns]
    yield f"all | | | {' | '.join(map(percent, means))}"


@table
def families(run: Run):
    """A wrong decision about any of several files, limits a hair from the truth; and if each had the whole error."""
    yield "files | n1, n0 | families | any wrong, the error shared | any wrong, the whole error each"
    runs = run.times(RUNS, 3 if run.quick else 10)
    for number, sides in run.few(product((1, 3, 10, 30), ((1_000, 1_000), (200, 1_800))), 2):
        rng, limit, wrong = np.random.default_rng(13), at_the_truth(LEAK, 0.5)["advantage"], np.zeros(2)
        for family in range(runs):
            data = [LEAK.draw(rng, *sides) for _ in range(number)]
            for place, level in enumerate((level_of_each(0.95, number), 0.95)):
                judged = (judge(each, [limit(-HAIR, each)], 0.5, level, seed=family) for each in data)
                wrong[place] += any(each.decision is not Decision.INCONCLUSIVE for each in judged)
        shown = " | ".join(map(percent, wrong / runs))
        yield f"{number} | {sides[0]}, {sides[1]} | {runs} | {shown}"


@table
def epsilons(run: Run):
    """Both ends of epsilon; without a law the world is a Gaussian shift of advantage 0.3, at each sample's cells."""
    yield "law | delta | n1, n0 | cells | true epsilon | mean upper end | upper too low | lower too high"
    laws = (NOTHING, randomized_response(0.5), randomized_response(1.0, 8), None)
    runs, by = run.times(RUNS, 5 if run.quick else 20), shift_for(0.3)
    for law, delta, sides in run.few(product(laws, (0.01, 0.1), SIDES[: 2 if run.quick else None]), 4):
        rng, truths, uppers, short, above = np.random.default_rng(11), [], [], 0, 0
        for seed in range(runs):
            if law is None:
                data = Scores.of(rng.normal(by, size=sides[0]), rng.normal(size=sides[1]))
                counts = tail_cells(finest(data))
                r, q = (np.diff(ndtr(counts.cells.cuts - m), prepend=0.0, append=1.0) for m in (by, 0.0))
            else:
                data = law.draw(rng, *sides)
                counts, r, q = finest(data), law.r, law.q
            truths.append(smallest(r, q, delta))
            highest = truths[-1] if law else epsilon_of_shift(by, delta)
            # passing is nested, so the upper end is too low exactly if an epsilon just below the truth passes
            short += truths[-1] > HAIR and within(counts, truths[-1] - HAIR, delta, LEVEL)
            sample = GateSample(data, finest(data), 0.5, 0.95, 0.95, seed)
            above += MaxEpsilon(1.0, delta).lower(finest(data), sample)[0] > highest
            if seed < UPPER_ENDS:
                uppers.append(epsilon_upper(counts, delta, LEVEL))
        mean = "none" if None in uppers else f"{np.mean(uppers):.3f}"
        yield (
            f"{law.name if law else 'Gaussian shift 0.3'} | {delta:g} | {sides[0]}, {sides[1]} | {counts.size} | "
            f"{np.mean(truths):.3f} | {mean} | {percent(short / runs)} | {percent(above / runs)}"
        )
