"""Does a gate decide wrongly as seldom as it says, and does epsilon's upper end hold? Simulated at no margin at all.

    python -m benchmarks.gate                # the tables of docs/gate.md, about three minutes on one core
    python -m benchmarks.gate --runs 0.1     # a tenth of the runs

Every rate may be 2.5%. A wrong fail: every maximum is the truth itself. A wrong pass: one maximum lies a hair below the
truth, the others could not be missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from estimators.audit.closeness import epsilon_upper, tail_cells, within
from estimators.gate import judge
from estimators.maxima import GateSample, Limit, MaxAdvantage, MaxEpsilon, MaxGroupRisk, MaxMetric
from estimators.metric.optimum import Objective, optimum
from estimators.metric.presets import preset
from estimators.plan import Decision
from estimators.sample.cells import Categories, Intervals
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from tests.oracles import shift_for

Floats = NDArray[np.float64]

HAIR = 1e-9
LEVEL = 0.025
UPPER_ENDS = 10
"""Samples of which epsilon's upper end is worked out."""

SIDES = ((100, 100), (200, 1_800), (10_000, 10_000))
DECISIONS = 200
INTERVALS = 200


@dataclass(frozen=True)
class Law:
    """Categories and how probable each is on either side."""

    name: str
    r: Floats
    q: Floats

    def draw(self, rng: np.random.Generator, members: int, nonmembers: int) -> Scores:
        """Labels of both sides, as text: nothing is known of an order."""
        labels = np.array([f"c{i}" for i in range(len(self.r))])
        return Scores.of(
            labels[rng.choice(len(self.r), members, p=self.r)],
            labels[rng.choice(len(self.q), nonmembers, p=self.q)],
        )

    @property
    def exact(self) -> Counts:
        """The law itself, as counts of a sample without chance."""
        r, q = (np.rint(side * 10**15).astype(np.int64) for side in (self.r, self.q))
        return Counts.trusted(r, q, Categories(np.arange(len(self.r))))

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at delta."""
        return smallest(self.r, self.q, delta)


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
DELTA = 0.02
LIMITS = ("advantage", "epsilon", "f_beta", "group risk")


def at_the_truth(law: Law, prior: float) -> dict[str, Callable[[float, Scores], Limit]]:
    """Each limit with its maximum so far from the truth; a group is a category, so that its risk is one number."""
    a, b = prior * law.r, (1 - prior) * law.q
    metric = preset("f_beta", prior)
    best = optimum(law.exact, Objective.of(metric, prior)).value
    risk = float((np.abs(a - b) / (a + b)).max())
    limits: dict[str, Callable[[float, Scores], Limit]] = {
        "advantage": lambda off, _: MaxAdvantage(float(np.abs(a - b).sum()) + off),
        "epsilon": lambda off, _: MaxEpsilon(law.epsilon(DELTA) + off, DELTA),
        "f_beta": lambda off, _: MaxMetric(best + off, metric),
    }
    if prior == 0.5:
        limits["group risk"] = lambda off, data: MaxGroupRisk(
            risk + off, np.concatenate([data.members, data.nonmembers])
        )
    return limits


def wrong(law: Law, prior: float, sides: tuple[int, int], runs: int, only: str | None) -> float:
    """Share of samples with a wrong decision: a pass where ``only`` one limit is violated, else a fail."""
    rng, errors = np.random.default_rng(7), 0
    limits = at_the_truth(law, prior)
    for run in range(runs):
        data = law.draw(rng, *sides)
        if only is None:
            maxima: Sequence[Limit] = [limit(HAIR, data) for limit in limits.values()]
            errors += judge(data, maxima, prior, seed=run).decision is Decision.FAIL
        else:
            maxima = [limits[only](-HAIR, data), MaxAdvantage(1.0)]
            errors += judge(data, maxima, prior, seed=run).decision is Decision.PASS
    return errors / runs


def decisions(share: float) -> Iterator[str]:
    """The table of wrong decisions, and all rows together."""
    yield "| law | prior | n1, n0 | wrong fail of all limits | wrong pass: advantage | epsilon | f_beta | group risk |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    runs, every = max(20, round(DECISIONS * share)), []
    for law in (NOTHING, LEAK):
        for prior in (0.5, 0.2):
            for sides in SIDES[:2]:
                there = at_the_truth(law, prior).keys() - ({"epsilon"} if law is NOTHING else set())
                passes = [wrong(law, prior, sides, runs, each) if each in there else None for each in LIMITS]
                rates = [wrong(law, prior, sides, runs, None), *passes]
                every.append(rates)
                yield f"| {law.name} | {prior:g} | {sides[0]}, {sides[1]} | {' | '.join(map(_percent, rates))} |"
    columns = [[rate for rate in column if rate is not None] for column in zip(*every, strict=True)]
    yield f"| all | | | {' | '.join(_percent(float(np.mean(column))) for column in columns)} |"


def _percent(rate: float | None) -> str:
    return "–" if rate is None else f"{100 * rate:.2g}%"


def epsilons(share: float) -> Iterator[str]:
    """The table of epsilon's two ends."""
    yield "| law | delta | n1, n0 | cells | true epsilon | mean upper end | upper too low | lower too high |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for law in (NOTHING, randomized_response(0.5), randomized_response(1.0, 8), None):
        for delta in (0.01, 0.1):
            for sides in SIDES:
                yield _epsilon(law, delta, sides, max(20, round(INTERVALS * share)))


def _epsilon(law: Law | None, delta: float, sides: tuple[int, int], runs: int) -> str:
    """One row; without a law the world is a Gaussian shift of advantage 0.3, at the cells of each sample."""
    rng, shift = np.random.default_rng(11), shift_for(0.3)
    truths: list[float] = []
    uppers: list[float | None] = []
    short, above, cells = 0, 0, 0
    for run in range(runs):
        if law is None:
            data = Scores.of(rng.normal(shift, size=sides[0]), rng.normal(size=sides[1]))
            counts = tail_cells(finest(data))
            assert isinstance(counts.cells, Intervals)
            r, q = (np.diff(ndtr(counts.cells.cuts - m), prepend=0.0, append=1.0) for m in (shift, 0.0))
            highest = gaussian_epsilon(shift, delta)
        else:
            data = law.draw(rng, *sides)
            counts, r, q = finest(data), law.r, law.q
            highest = law.epsilon(delta)
        truth = smallest(r, q, delta)
        truths.append(truth)
        cells = counts.size
        # passing is nested, so the upper end is too low exactly if an epsilon just below the truth passes
        short += truth > HAIR and within(counts, truth - HAIR, delta, LEVEL)
        sample = GateSample(data, finest(data), 0.5, 0.95, 0.95, run)
        above += MaxEpsilon(1.0, delta).lower(finest(data), sample)[0] > highest
        if run < UPPER_ENDS:
            uppers.append(epsilon_upper(counts, delta, LEVEL))
    name = "Gaussian shift 0.3" if law is None else law.name
    finite = [upper for upper in uppers if upper is not None]
    mean = f"{np.mean(finite):.3f}" if len(finite) == len(uppers) else "none"
    misses = f"{100 * short / runs:.2g}% | {100 * above / runs:.2g}%"
    return f"| {name} | {delta:g} | {sides[0]}, {sides[1]} | {cells} | {np.mean(truths):.3f} | {mean} | {misses} |"


def gaussian_epsilon(shift: float, delta: float) -> float:
    """Where delta(epsilon) = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m) (Balle and Wang 2018)."""

    def excess(epsilon: float) -> float:
        return (
            float(ndtr(shift / 2 - epsilon / shift) - np.exp(epsilon) * ndtr(-shift / 2 - epsilon / shift))
            - delta
        )

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, 60.0))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=float, default=1.0, help="share of the full number of runs")
    share = parser.parse_args().runs
    for table in (decisions, epsilons):
        for row in table(share):
            print(row, flush=True)
        print()


if __name__ == "__main__":
    main()
