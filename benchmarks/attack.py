"""A given attack: how often its own advantage, and its distance from the optimum, lie outside their intervals.

The truth is that of the rule with the cut it made on the sample, on new records. A cell has the misses of the lower and
of the upper end, of which each may be half of what the confidence leaves; "beyond" counts the ends of single cases
that missed more often than a nominal one does once in a thousand simulations. Three quarters of an hour of one core.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks.harness import Run, Title, most_misses, table
from benchmarks.worlds import Floats, Rng
from estimators import GuessRule, QuantileRule, Scores, ThresholdRule, TopRule, attack_advantage, preset
from estimators.attack.rules import AttackRule, judge_records

RUNS = 100
GRID = np.linspace(-12.0, 40.0, 400_001)


@dataclass(frozen=True)
class Normal:
    """Nonmembers are standard normal, members by ``shift`` above them; rounded to whole numbers if asked."""

    name: str
    shift: float
    rounded: bool = False

    def draw(self, rng: Rng, n1: int, n0: int) -> list[Floats]:
        sides = [rng.normal(self.shift, 1.0, n1), rng.normal(0.0, 1.0, n0)]
        return [np.round(side) for side in sides] if self.rounded else sides

    def rates(self, cut: float, side: str, lot: float) -> tuple[float, float]:
        """TPR and FPR of a rule that accuses beyond the cut, and at it those that draw ``lot`` or more."""
        half, out = 0.5 * self.rounded, []
        for mean in (self.shift, 0.0):
            below, above = norm.cdf(cut - half, mean), norm.sf(cut + half, mean)
            at = (1.0 - lot) * (1.0 - below - above) if self.rounded else 0.0
            out.append(float((above if side == "above" else below) + at))
        return out[0], out[1]

    def optimum(self, prior: float) -> float:
        if self.rounded:
            k = np.arange(-12.0, 40.0)
            r, q = (norm.cdf(k + 0.5, mean) - norm.cdf(k - 0.5, mean) for mean in (self.shift, 0.0))
            return float(np.abs(prior * r - (1.0 - prior) * q).sum())
        gap = prior * norm.pdf(GRID, self.shift) - (1.0 - prior) * norm.pdf(GRID)
        return float(np.trapezoid(np.abs(gap), GRID))


def best_cut(members: Floats, nonmembers: Floats, prior: float) -> ThresholdRule:
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


RULES: dict[str, Callable[[Floats, Floats, float], AttackRule]] = {
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
    *(Normal("no leak", 0.0), Normal("shift .5", 0.5), Normal("shift 3", 3.0)),
    *(Normal("perfectly separated", 20.0), Normal("shift .5, rounded", 0.5, rounded=True)),
)
SIDES = (
    *((1000, 1000, 0.5), (15, 15, 0.5), (200, 1800, 0.5)),
    *((1000, 1000, 0.01), (100, 9900, 0.01), (1800, 200, 0.9)),
)
CONFIDENCES = (0.95, 0.999)
QUANTITIES = ("advantage", "tpr", "fpr", "precision", "gap", "share")


class Outcome(NamedTuple):
    """How often each end missed, by quantity, and the mean widths of the intervals of the advantage and of the gap."""

    case: tuple
    low: Counter[str]
    high: Counter[str]
    width: float
    gap_width: float


def simulate(case: tuple, runs: int) -> Outcome:
    world, rule_name, (n1, n0, prior), confidence = case
    rng = np.random.default_rng([0, *rule_name.encode(), *world.name.encode(), n1, n0])
    low, high, width, gap_width = Counter[str](), Counter[str](), 0.0, 0.0
    best, metrics = world.optimum(prior), [preset("precision", prior)]
    for run in range(runs):
        sides = world.draw(rng, n1, n0)
        rule = RULES[rule_name](*sides, prior)
        if isinstance(rule, GuessRule):
            cut, side, lot = 0.3, "above", 0.0
            scores = Scores.of(sides[0] >= cut, sides[1] >= cut)
            cut = 1.0 if world.rounded else cut
        else:
            scores = Scores.of(*sides)
            attack = judge_records(scores, rule, prior, run)
            cut, side, lot = float(attack.cut or 0.0), rule.side, attack.lot
        tpr, fpr = world.rates(cut, side, lot)
        result = attack_advantage(scores, rule, prior, confidence, run, metrics)
        own, top = 2.0 * (prior * tpr + (1.0 - prior) * (1.0 - fpr)) - 1.0, best
        if isinstance(rule, GuessRule):
            top = sum(abs(prior * r - (1 - prior) * q) for r, q in ((tpr, fpr), (1 - tpr, 1 - fpr)))
        floor, flagged = abs(2.0 * prior - 1.0), prior * tpr + (1.0 - prior) * fpr
        truths = {
            "advantage": (own, result.estimate),
            "tpr": (tpr, result.tpr),
            "fpr": (fpr, result.fpr),
            "precision": (prior * tpr / flagged if flagged > 0.0 else None, result.metrics["precision"]),
            "gap": (top - own, result.gap),
            "share": ((own - floor) / (top - floor) if top > floor + 1e-9 else None, result.share),
        }
        for name, (truth, estimate) in truths.items():
            if truth is not None and estimate is not None:
                low[name] += estimate.lower > truth + 1e-9
                high[name] += estimate.upper < truth - 1e-9
        width += result.estimate.interval.width / runs
        gap_width += result.gap.interval.width / runs
    return Outcome(case, low, high, width, gap_width)


@table
def misses(run: Run):
    """Of each rule and confidence: misses of the lower and the upper end, and cases beyond the nominal; then widths."""
    runs = run.times(RUNS)
    cases = run.few(product(WORLDS, RULES, SIDES, CONFIDENCES), 20)
    outcomes = run.map(partial(simulate, runs=runs), cases)
    yield f"rule | confidence | samples | {' | '.join(QUANTITIES)} | beyond"
    for rule, confidence in product(RULES, CONFIDENCES):
        group = [each for each in outcomes if (each.case[1], each.case[3]) == (rule, confidence)]
        if group:
            samples, most = runs * len(group), most_misses(runs, (1.0 - confidence) / 2.0)
            beyond = sum(end > most for each in group for end in (*each.low.values(), *each.high.values()))
            low, high = (sum(ends, Counter()) for ends in zip(*(each[1:3] for each in group), strict=True))
            rates = [f"{low[name] / samples:.1%}, {high[name] / samples:.1%}" for name in QUANTITIES]
            yield f"{rule} | {confidence:g} | {samples} | {' | '.join(rates)} | {beyond}"
    about = "Mean width of the interval of the advantage, and of the gap, 1,000 a side at 0.5 and 95%:"
    yield Title("widths", about)
    yield f"world | {' | '.join(RULES)}"
    widths = {each.case: f"{each.width:.3f}, {each.gap_width:.3f}" for each in outcomes}
    for world in WORLDS:
        row = " | ".join(widths.get((world, rule, SIDES[0], 0.95), "") for rule in RULES)
        yield f"{world.name} | {row}"
