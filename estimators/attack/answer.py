"""The advantage of an attack that somebody has, beside the optimum of the same records (MACE, Definitions 1 and 4).

The optimum speaks of the best attacker; this speaks of one: the guesses it made, or the score it cuts and the rule by
which it cuts it. Where the rule looks at these very records to place its cut, the interval allows for that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.families import Guesses
from estimators.adversary.paired import Judged, Rules
from estimators.attack.rules import AttackGuesses, AttackRule, GuessRule, judge_records
from estimators.clusters.dependent_rows import lone_caution, lone_of, lone_places
from estimators.clusters.design import Clusters, Labels
from estimators.clusters.ends import ClusteredEnds, RuleEnds
from estimators.errors import require_count, require_open_unit
from estimators.limits.cuts import FPR, TPR, AnyCut, CutLimits, FixedCut
from estimators.limits.two_rates import Linear
from estimators.metric.definition import Metric
from estimators.metric.presets import every_metric, preset
from estimators.optimum.answer import Advantage, without_upper
from estimators.optimum.ends import Ends, ends_of, groups_for
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import (
    CLUSTERED,
    IID,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    Provenance,
    at_least,
    at_most,
    baseline,
    percent,
)

FIXED = IID + "; the attack was fixed before these records were seen"
SHARE_FIXED = IID + "; how many records are accused was fixed before these records were seen"


@dataclass(frozen=True, slots=True)
class AttackAdvantage:
    """One attack's own advantage, its rates and metrics, and how far it is from the optimum.

    ``attack_advantage`` makes it.

    Attributes:
        rule: The rule that was judged.
        estimate: The attack's advantage with its interval and guarantee; below the baseline, even below 0, if the
            attack is worse than guessing without the score.
        tpr: The share of members that are accused, with its interval.
        fpr: The share of nonmembers that are accused, with its interval.
        metrics: Metrics of this attack by name, each interval by itself; the value is None where the metric is 0/0.
        optimum: The optimal advantage of the same scores, certified.
        gap: The optimal advantage minus this one's, from the records that both judged.
        share: What the attack gains over the baseline, as a share of what the best attacker gains; None if the records
            do not show that there is anything to gain.
        accusations: Member and nonmember records that are accused.
        cut: The last score that is accused; None for guesses, and where none is.
        baseline: The advantage of always guessing the likelier side, |2 x prior - 1|.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.

    Example:
        >>> from estimators import Scores, attack_advantage
        >>> guesses = Scores.of([1] * 70 + [0] * 30, [1] * 20 + [0] * 80)
        >>> result = attack_advantage(guesses)
        >>> round(result.lower, 2), round(result.value, 2), round(result.upper, 2)
        (0.35, 0.5, 0.63)
        >>> result.accusations, result.rates
        ((70, 20), (0.7, 0.2))
    """

    rule: AttackRule
    estimate: Estimate
    tpr: Estimate
    fpr: Estimate
    metrics: dict[str, Estimate]
    optimum: Advantage
    gap: Estimate
    share: Estimate | None
    accusations: tuple[int, int]
    cut: float | None
    baseline: float
    cautions: tuple[Caution, ...]
    provenance: Provenance

    @property
    def value(self) -> float:
        """The attack's advantage on these records."""
        return float(self.estimate.value or 0.0)

    @property
    def lower(self) -> float:
        """Lower end of its interval."""
        return self.estimate.lower

    @property
    def upper(self) -> float:
        """Upper end of its interval."""
        return self.estimate.upper

    @property
    def rates(self) -> tuple[float, float]:
        """True and false positive rate on these records."""
        return float(self.tpr.value or 0.0), float(self.fpr.value or 0.0)

    @property
    def sentence(self) -> str:
        """The result in plain words: the attack's own advantage, and what a better attacker has more."""
        who = "these guesses" if isinstance(self.rule, GuessRule) else "the same score"
        least = f"Attackers who read {who} and whom the upper end covers have at most "
        if self.gap.lower > 0.0:
            least = (
                f"The best attacker who reads {who} has at least {at_least(self.gap.lower)} more, and those whom the "
                "upper end covers have at most "
            )
        return (
            f"With {percent(self.estimate.interval.confidence)} confidence this attack has an advantage between "
            f"{at_least(self.lower)} and {at_most(self.upper)} on new records, {self.optimum.over}. "
            f"{least}{at_most(self.gap.upper)} more."
        )


def attack_advantage(
    scores: Scores,
    rule: AttackRule | None = None,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    metrics: Sequence[Metric] | None = None,
    cluster: Labels | None = None,
) -> AttackAdvantage:
    """The advantage of a given attack on records like these, and how far from the best attacker it is.

    Args:
        scores: The attack's guesses or its scores, of both sides (``Scores.of``).
        rule: What makes guesses of them: ``GuessRule()``, ``ThresholdRule(...)``, ``TopRule(...)`` or
            ``QuantileRule(...)``. None: they are guesses.
        prior, confidence, seed: As for ``advantage``.
        metrics: Metrics of the attack to state as well. None: every preset.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``. The optimum, and the advantage
            of a rule that was fixed before these records, are then those of all rows; everything else is judged on rows
            of which no two share a label, drawn at random. A cut that the rule places by looking at all rows is judged
            as one chosen by looking at these.

    Raises:
        MaceError: guesses that are none, a score without an order, or a cut beyond the records.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, TopRule, attack_advantage
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 1000), rng.normal(0, 1, 1000))
        >>> print(attack_advantage(scores, TopRule()).sentence)
        With 95% confidence this attack has an advantage between 0.319 and 0.409 on new records, over a coin toss.
        Attackers who read the same score and whom the upper end covers have at most 0.030 more.
    """
    rule = GuessRule() if rule is None else rule
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    require_count("seed", seed, 0)
    require_data(scores, Scores)
    alpha = (1.0 - confidence) / 2.0
    attack = judge_records(scores, rule, prior, seed)
    if isinstance(rule, GuessRule):  # as words, numbers or booleans: one score, with one order
        scores = Scores.of(*attack.guesses)
    ends = ends_of(scores, prior, None, seed, cluster=cluster)
    if isinstance(ends.validation, ClusteredEnds):
        clusters = ends.validation.clusters
        limits, of_rates, notes = limits_of_clusters(scores, attack, rule, clusters, ends.fine, seed)
    else:
        limits, of_rates, notes = attack.limits(finest(scores), rule, prior), attack, ()
    whole, table = attack if isinstance(limits, ClusteredCut) else of_rates, of_rates.table
    fixed = FIXED if rule.kind in ("guesses", "threshold") else SHARE_FIXED
    assumes = IID if isinstance(limits, AnyCut) else fixed

    def estimate(what: str, value: float | None, low: float, high: float) -> Estimate:
        about = Guarantee(f"{what} of this attack on new records", assumes, finite_sample=True)
        if value is not None:
            low, high = min(low, value), max(high, value)
        return Estimate(value, Interval(low, high, confidence, about))

    def ratio(name: str, value: float, form: tuple[Linear, Linear]) -> Estimate:
        return estimate(f"the {name}", None if np.isnan(value) else value, *limits.ratio(*form, alpha))

    def by_all(plain: Estimate) -> Estimate:
        return limits.by_all_rows(plain) if isinstance(limits, ClusteredCut) else plain

    own = by_all(estimate("the advantage", whole.advantage(prior), *limits.advantage(alpha)))
    choice = [preset(name, prior) for name in every_metric()] if metrics is None else list(metrics)
    of_metrics = {}
    for metric in choice:
        metric.degeneracy(prior)
        line = metric.line_in_accuracy(prior)
        if line is None:
            value = float(metric.value(table.tpr, table.fpr, prior))
            of_metrics[metric.name] = ratio(metric.name, value, metric.linear(prior))
        else:
            value = float(metric.value(whole.table.tpr, whole.table.fpr, prior))
            ends_of_line = (line[0] + line[1] * (1.0 + end) / 2.0 for end in (own.lower, own.upper))
            of_metrics[metric.name] = by_all(estimate(f"the {metric.name}", value, *ends_of_line))
    optimum = _reaching(ends.at(confidence), own)
    distance = Distance.of(scores, ends, attack, limits, seed)
    gap = distance.gap(alpha)
    between = f"{distance.words}; the optimum as: {optimum.estimate.interval.guarantee.covers}"
    of_both = assumes.replace(IID, CLUSTERED) if ends.clustered else assumes
    return AttackAdvantage(
        rule,
        own,
        ratio("true positive rate", table.tpr, TPR),
        ratio("false positive rate", table.fpr, FPR),
        of_metrics,
        optimum,
        Estimate(
            min(max(optimum.value - float(own.value or 0.0), gap[0]), gap[1]),
            Interval(*gap, confidence, Guarantee(between, of_both, finite_sample=False)),
        ),
        distance.share(alpha, own, optimum),
        (attack.table.hits, attack.table.alarms),
        attack.cut,
        baseline(prior),
        tuple(dict.fromkeys((*attack.cautions, *ends.fine.doubts, *notes, *optimum.cautions))),
        Provenance(f"attack+{rule.kind}", VERSION, scores.n_members, scores.n_nonmembers, prior, seed),
    )


@dataclass(frozen=True, eq=False, slots=True)
class ClusteredCut:
    """Limits of a rule that was fixed before the rows: its advantage by all of them, its rates by lone rows."""

    rates: FixedCut
    whole: RuleEnds

    def advantage(self, alpha: float) -> tuple[float, float]:
        """By whole clusters."""
        return self.whole.advantage(alpha)

    def ratio(self, numerator: Linear, denominator: Linear, alpha: float) -> tuple[float, float]:
        """Of the lone rows."""
        return self.rates.ratio(numerator, denominator, alpha)

    def by_all_rows(self, plain: Estimate) -> Estimate:
        """The same estimate, whose interval takes for granted what holds for clusters."""
        guarantee = replace(
            plain.interval.guarantee, assumes=FIXED.replace(IID, CLUSTERED), finite_sample=self.whole.finite_sample
        )
        return replace(plain, interval=replace(plain.interval, guarantee=guarantee))


def limits_of_clusters(
    scores: Scores, attack: AttackGuesses, rule: AttackRule, clusters: Clusters, fine: Counts, seed: int
) -> tuple[CutLimits, AttackGuesses, tuple[Caution, ...]]:
    """Limits, the guesses that rates are stated of, and from which rows they are.

    A cut that was placed by looking at all rows is one that was chosen by looking at the lone ones, however that was.
    """
    lone, of_rates = lone_of(clusters, scores, seed), attack.on(lone_places(clusters, seed), clusters.prior)
    limits = of_rates.limits(finest(lone), rule, clusters.prior, elsewhere=True)
    if not isinstance(limits, FixedCut):
        return limits, of_rates, lone_caution(lone, scores, "the optimum uses")
    at = np.concatenate([fine.cells.locate(side) for side in (scores.members, scores.nonmembers)])
    right = np.concatenate([attack.guesses[0], ~attack.guesses[1]])
    notes = lone_caution(lone, scores, "the advantage of the attack and the optimum use")
    return ClusteredCut(limits, RuleEnds.of(clusters, at, fine, right, seed)), of_rates, notes


# How far from the best attacker: both judge the same records, so their difference is judged record by record.


@dataclass(frozen=True, slots=True)
class OneRule(Rules):
    """The class of one rule: the attack's guess, read as the score of a record."""

    def best(self, gain: NDArray[np.float64]) -> float:
        """What it gains: there is no other."""
        return float(gain[1] - gain[0])

    def about_best(self, gain: NDArray[np.float64]) -> Guesses:
        """The guess itself."""
        return np.array([False, True])


@dataclass(frozen=True, eq=False, slots=True)
class Distance:
    """The optimal advantage minus the attack's, at any level.

    The optimum's rules and the attack judged the same records, ``paired`` (best rule, attack), so what both get right,
    or both wrong, says nothing. Where a cut was chosen by looking, or there are too many cells to pair, each end is
    made of a limit of either at half of the error.
    """

    ends: Ends
    limits: CutLimits
    paired: tuple[Judged, Judged] | None

    @classmethod
    def of(cls, scores: Scores, ends: Ends, attack: AttackGuesses, limits: CutLimits, seed: int) -> Distance:
        """Judge the optimum's rules where records can be paired."""
        rules = ends.rules
        if rules is None or isinstance(limits, AnyCut) or ends.clustered:
            return cls(ends, limits, None)
        groups = groups_for(ends.fine, ends.counts, ends.target)
        best = Judged.of(scores, ends.fine, rules, groups, ends.prior, seed)
        members, nonmembers = (side.astype(np.int64) for side in attack.guesses)
        own = Judged((members, nonmembers), 2, ((members, 1 - nonmembers),), OneRule(None, None), ends.prior)
        return cls(ends, limits, (best, own))

    @property
    def words(self) -> str:
        """What the interval of the gap is made of."""
        how = "each end from a limit of either" if self.paired is None else "record by record"
        return f"the optimal advantage minus this attack's, {how}"

    def gap(self, alpha: float) -> tuple[float, float]:
        """Both ends, each of level 1 - alpha; no attack is better than the best."""
        if self.paired is not None:
            best, own = self.paired
            low, high = best.minus(own, alpha), -own.minus(best, alpha)
        else:
            below, above = self.limits.advantage(alpha / 2.0)
            low, high = self.ends.lower(alpha / 2.0) - above, self._optimum_upper(alpha / 2.0) - below
        low = max(0.0, low)
        return low, min(max(low, high), 2.0)

    def share(self, alpha: float, own: Estimate, optimum: Advantage) -> Estimate | None:
        """1 - gap / (optimum - baseline), each end from a limit of either at half of the error."""
        floor = optimum.baseline
        low, high = self.gap(alpha / 2.0)
        least, most = self.ends.lower(alpha / 2.0) - floor, self._optimum_upper(alpha / 2.0) - floor
        if least <= 0.0 or optimum.value <= floor:
            return None
        ends = 1.0 - high / least, 1.0 - low / most
        value = (float(own.value or 0.0) - floor) / (optimum.value - floor)
        covers = "what this attack gains over the baseline as a share of what the best attacker gains"
        about = Guarantee(covers, own.interval.guarantee.assumes, finite_sample=False)
        return Estimate(min(max(value, ends[0]), ends[1]), Interval(*ends, own.interval.confidence, about))

    def _optimum_upper(self, alpha: float) -> float:
        """The optimum's upper end, or 1 where its lower end contradicts it."""
        upper = self.ends.upper(alpha)
        return upper if upper >= self.ends.lower(alpha) else 1.0


def _reaching(optimum: Advantage, own: Estimate) -> Advantage:
    """The optimum, its upper end withdrawn if the attack by itself shows more."""
    if own.lower <= optimum.upper:
        return optimum
    return without_upper(
        optimum,
        f"this attack by itself shows an advantage of {at_least(own.lower)} or more, above the upper end for the "
        "attackers that the optimum covers; the upper end is therefore 1",
    )
