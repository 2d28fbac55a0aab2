"""A given attack: how often its own advantage, and its distance from the optimum, lie outside their intervals.

    python -m benchmarks.attack                # some minutes on two cores
    python -m benchmarks.attack --runs 0.1     # a tenth of the runs

The truth is that of the rule with the cut it made on the sample, on new records. A cell has the misses of the lower and
of the upper end, of which each may be half of what the confidence leaves; "beyond" counts the ends of single cases
that missed more often than a nominal one does once in a thousand simulations.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from benchmarks.coverage import most_misses
from estimators import GuessRule, QuantileRule, Scores, ThresholdRule, TopRule, attack_advantage, preset
from estimators.attack import AttackRule, judge_records

Array = NDArray[np.float64]
RUNS = 100
GRID = np.linspace(-12.0, 40.0, 400_001)


@dataclass(frozen=True)
class Normal:
    """Nonmembers are standard normal, members by ``shift`` above them; rounded to whole numbers if asked."""

    name: str
    shift: float
    rounded: bool = False

    def draw(self, rng: np.random.Generator, n1: int, n0: int) -> tuple[Array, Array]:
        """Scores of both sides."""
        sides = rng.normal(self.shift, 1.0, n1), rng.normal(0.0, 1.0, n0)
        return tuple(np.round(side) for side in sides) if self.rounded else sides  # type: ignore[return-value]

    def rates(self, cut: float, side: str, lot: float) -> tuple[float, float]:
        """TPR and FPR of a rule that accuses beyond the cut, and at it those that draw ``lot`` or more."""
        out = []
        for mean in (self.shift, 0.0):
            if self.rounded:
                below, above = norm.cdf(cut - 0.5, mean), norm.sf(cut + 0.5, mean)
                out.append((above if side == "above" else below) + (1.0 - lot) * (1.0 - below - above))
            else:
                out.append(norm.sf(cut, mean) if side == "above" else norm.cdf(cut, mean))
        return float(out[0]), float(out[1])

    def optimum(self, prior: float) -> float:
        """The optimal advantage."""
        if self.rounded:
            k = np.arange(-12.0, 40.0)
            r, q = (norm.cdf(k + 0.5, mean) - norm.cdf(k - 0.5, mean) for mean in (self.shift, 0.0))
            return float(np.abs(prior * r - (1.0 - prior) * q).sum())
        gap = prior * norm.pdf(GRID, self.shift) - (1.0 - prior) * norm.pdf(GRID)
        return float(np.trapezoid(np.abs(gap), GRID))


def best_cut(members: Array, nonmembers: Array, prior: float) -> ThresholdRule:
    """The threshold that looks best on these records, on either side: what an attacker who tries all would report."""
    scores = np.concatenate([members, nonmembers])
    order = np.argsort(scores, kind="stable")
    weight = np.where(order < len(members), prior / len(members), -(1.0 - prior) / len(nonmembers))
    below = weight.cumsum()
    last = np.append(np.diff(scores[order]) > 0.0, True)
    value = np.where(last, 2.0 * below - below[-1], 0.0)  # of accusing up to here, but for a constant
    at = int(np.argmax(np.abs(value)))
    if value[at] > 0.0 or at + 1 == len(order):
        return ThresholdRule(float(scores[order][at]), "below", chosen_before=False)
    return ThresholdRule(float(scores[order][at + 1]), "above", chosen_before=False)


RULES: dict[str, Callable[[Array, Array, float], AttackRule]] = {
    "guesses": lambda *_: GuessRule(),
    "threshold": lambda *_: ThresholdRule(1.0),
    "best threshold here": best_cut,
    "top n1": lambda *_: TopRule(),
    "median of all": lambda *_: QuantileRule(0.5, "all"),
    "90% quantile of all": lambda *_: QuantileRule(0.9, "all"),
    "90% quantile of nonmembers": lambda *_: QuantileRule(0.9, "nonmembers"),
    "lowest half of members": lambda *_: QuantileRule(0.5, "members", "below"),
}
WORLDS = (
    Normal("no leak", 0.0),
    Normal("shift .5", 0.5),
    Normal("shift 3", 3.0),
    Normal("perfectly separated", 20.0),
    Normal("shift .5, rounded", 0.5, rounded=True),
)
SIDES = (
    (1000, 1000, 0.5),
    (15, 15, 0.5),
    (200, 1800, 0.5),
    (1000, 1000, 0.01),
    (100, 9900, 0.01),
    (1800, 200, 0.9),
)
CONFIDENCES = (0.95, 0.999)
QUANTITIES = ("advantage", "tpr", "fpr", "precision", "gap", "share")


@dataclass(frozen=True)
class Case:
    """One world, rule and sample."""

    world: Normal
    rule: str
    n1: int
    n0: int
    prior: float
    confidence: float


@dataclass(frozen=True)
class Outcome:
    """How often each end missed, by quantity, and how wide the interval of the advantage is on average."""

    case: Case
    runs: int
    low: dict[str, int]
    high: dict[str, int]
    width: float
    gap_width: float

    @property
    def most(self) -> int:
        """Misses that an end of the nominal level exceeds once in a thousand."""
        return most_misses(self.runs, (1.0 - self.case.confidence) / 2.0)


def simulate(case: Case, runs: int, seed: int = 0) -> Outcome:
    """Draw, judge, and count which truths lie outside."""
    rng = np.random.default_rng([seed, *case.rule.encode(), *case.world.name.encode(), case.n1, case.n0])
    low, high = (dict.fromkeys(QUANTITIES, 0) for _ in range(2))
    width = gap_width = 0.0
    best = case.world.optimum(case.prior)
    for run in range(runs):
        sides = case.world.draw(rng, case.n1, case.n0)
        rule = RULES[case.rule](*sides, case.prior)
        if isinstance(rule, GuessRule):
            cut, side, lot = 0.3, "above", 0.0
            scores = Scores.of(sides[0] >= cut, sides[1] >= cut)
            cut = 1.0 if case.world.rounded else cut
        else:
            scores = Scores.of(*sides)
            attack = judge_records(scores, rule, case.prior, run)
            cut, side, lot = float(attack.cut or 0.0), rule.side, attack.lot
        tpr, fpr = case.world.rates(cut, side, lot)
        precision = [preset("precision", case.prior)]
        result = attack_advantage(scores, rule, case.prior, case.confidence, run, precision)
        own = 2.0 * (case.prior * tpr + (1.0 - case.prior) * (1.0 - fpr)) - 1.0
        top = best
        if isinstance(rule, GuessRule):
            top = sum(abs(case.prior * r - (1 - case.prior) * q) for r, q in ((tpr, fpr), (1 - tpr, 1 - fpr)))
        floor = abs(2.0 * case.prior - 1.0)
        flagged = case.prior * tpr + (1.0 - case.prior) * fpr
        truths = {
            "advantage": (own, result.estimate),
            "tpr": (tpr, result.tpr),
            "fpr": (fpr, result.fpr),
            "precision": (case.prior * tpr / flagged if flagged > 0.0 else None, result.metrics["precision"]),
            "gap": (top - own, result.gap),
            "share": ((own - floor) / (top - floor) if top > floor + 1e-9 else None, result.share),
        }
        for name, (truth, estimate) in truths.items():
            if truth is not None and estimate is not None:
                low[name] += estimate.lower > truth + 1e-9
                high[name] += estimate.upper < truth - 1e-9
        width += result.estimate.interval.width / runs
        gap_width += result.gap.interval.width / runs
    return Outcome(case, runs, low, high, width, gap_width)


def cases() -> Iterator[Case]:
    """Every world, rule, pair of sides and confidence."""
    for world in WORLDS:
        for rule in RULES:
            for n1, n0, prior in SIDES:
                for confidence in CONFIDENCES:
                    yield Case(world, rule, n1, n0, prior, confidence)


def _one(task: tuple[Case, int]) -> Outcome:
    return simulate(*task)


def table(outcomes: list[Outcome]) -> str:
    """A row for each rule and confidence: misses of the lower and the upper end, and cases beyond the nominal."""
    head = " | ".join(QUANTITIES)
    lines = [
        f"| rule | confidence | samples | {head} | beyond |",
        "| --- | ---: | ---: |" + " ---: |" * len(QUANTITIES) + " ---: |",
    ]
    for rule in RULES:
        for confidence in CONFIDENCES:
            of_rule = [o for o in outcomes if (o.case.rule, o.case.confidence) == (rule, confidence)]
            runs = sum(o.runs for o in of_rule)
            if not runs:
                continue
            cells = []
            for name in QUANTITIES:
                low, high = sum(o.low[name] for o in of_rule), sum(o.high[name] for o in of_rule)
                cells.append(f"{low / runs:.1%}, {high / runs:.1%}")
            beyond = sum(
                end[name] > o.most for o in of_rule for end in (o.low, o.high) for name in QUANTITIES
            )
            lines.append(f"| {rule} | {confidence:g} | {runs} | {' | '.join(cells)} | {beyond} |")
    return "\n".join(lines)


def widths(outcomes: list[Outcome]) -> str:
    """Mean widths at 1,000 records a side."""
    lines = ["| world | " + " | ".join(RULES) + " |", "| --- |" + " ---: |" * len(RULES)]
    for world in WORLDS:
        row = {
            o.case.rule: f"{o.width:.3f}, {o.gap_width:.3f}"
            for o in outcomes
            if (o.case.world, o.case.n1, o.case.prior, o.case.confidence) == (world, 1000, 0.5, 0.95)
        }
        lines.append(f"| {world.name} | " + " | ".join(row.get(rule, "") for rule in RULES) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=float, default=1.0, help="share of the runs")
    runs = max(1, round(RUNS * parser.parse_args().runs))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(_one, [(case, runs) for case in cases()], chunksize=1))
    print(table(outcomes), "\nMean width of the interval of the advantage, and of the gap:\n", sep="\n")
    print(widths(outcomes))


if __name__ == "__main__":
    main()
