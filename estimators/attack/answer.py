"""The advantage of an attack that somebody has, beside the optimum of the same records (MACE, Definitions 1 and 4).

The optimum speaks of the best attacker; this speaks of one: the guesses it made, or the score it cuts and the rule by
which it cuts it. Where the rule looks at these very records to place its cut, the interval allows for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.families import Guesses
from estimators.adversary.insample import changes_upper
from estimators.adversary.paired import Judged, Rules
from estimators.clusters.design import Clusters, Labels
from estimators.clusters.ends import ClusteredEnds
from estimators.clusters.lone import lone_caution, lone_of, lone_places
from estimators.clusters.rule import RuleEnds
from estimators.errors import (
    InputError,
    OutOfRange,
    UnknownName,
    require_count,
    require_number,
    require_open_unit,
)
from estimators.limits.cuts import FPR, TPR, AnyCut, CutLimits, FixedCut, GuessTable, PooledCut
from estimators.limits.two_rates import Linear
from estimators.metric.definition import Metric
from estimators.metric.presets import every_metric, preset
from estimators.optimum.advantage import Advantage, Ends, ends_of, groups_for
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

Direction = Literal["above", "below"]
DIRECTIONS = ("above", "below")
SIDES = ("all", "members", "nonmembers")

FIXED = IID + "; the attack was fixed before these records were seen"
SHARE_FIXED = IID + "; how many records are accused was fixed before these records were seen"

# --- rules --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GuessRule:
    """The scores are the attack's guesses themselves: ``True`` or 1 is "member", ``False`` or 0 is "nonmember".

    So are the words "true" and "false", and "member" and "nonmember".

    Example:
        >>> from estimators import GuessRule, Scores, attack_advantage
        >>> guesses = Scores.of([True] * 70 + [False] * 30, [True] * 20 + [False] * 80)
        >>> round(attack_advantage(guesses, GuessRule()).value, 2)
        0.5
    """

    kind: ClassVar[Literal["guesses"]] = "guesses"


@dataclass(frozen=True, slots=True)
class ThresholdRule:
    """Accuse the scores at a threshold and beyond it.

    Args:
        threshold: The threshold.
        side: Which scores are accused: those ``"above"`` it, or those ``"below"``.
        chosen_before: Whether the threshold was chosen before these records were seen. If not, the interval holds
            however it was chosen, and is wider.

    Example:
        >>> from estimators import Scores, ThresholdRule, attack_advantage
        >>> losses = Scores.of([k / 100 for k in range(100)], [k / 50 for k in range(100)])
        >>> attack_advantage(losses, ThresholdRule(1.0, "below")).rates
        (1.0, 0.51)
    """

    threshold: float
    side: Direction = "above"
    chosen_before: bool = True
    kind: ClassVar[Literal["threshold"]] = "threshold"

    def __post_init__(self) -> None:
        number = require_number("threshold", self.threshold)
        if not np.isfinite(number):
            raise OutOfRange("threshold: need a finite number", field="threshold")
        _require_side(self.side)


@dataclass(frozen=True, slots=True)
class TopRule:
    """Accuse a number of records, those with the most extreme scores of both sides together (LOGAN).

    Args:
        records: How many; None: as many as there are members.
        side: Which scores are accused: the highest (``"above"``) or the lowest (``"below"``).

    Example:
        >>> from estimators import Scores, TopRule, attack_advantage
        >>> scores = Scores.of([k / 100 for k in range(100)], [k / 200 for k in range(100)])
        >>> attack_advantage(scores, TopRule()).rates
        (0.67, 0.33)
    """

    records: int | None = None
    side: Direction = "above"
    kind: ClassVar[Literal["top"]] = "top"

    def __post_init__(self) -> None:
        if self.records is not None:
            require_count("records", self.records)
        _require_side(self.side)


@dataclass(frozen=True, slots=True)
class QuantileRule:
    """Accuse the scores beyond a quantile of these records, such as the median distance (Hilprecht et al.).

    Args:
        quantile: The share of records that lie below the cut, strictly between 0 and 1: 0.5 is the median.
        of: Whose quantile: that of ``"all"`` records, of the ``"members"``, or of the ``"nonmembers"``.
        side: Which scores are accused: those ``"above"`` the cut, or those ``"below"``.

    Example:
        >>> from estimators import QuantileRule, Scores, attack_advantage
        >>> scores = Scores.of([k / 100 for k in range(100)], [k / 200 for k in range(100)])
        >>> attack_advantage(scores, QuantileRule(0.9, "nonmembers")).rates
        (0.55, 0.1)
    """

    quantile: float
    of: Literal["all", "members", "nonmembers"] = "all"
    side: Direction = "above"
    kind: ClassVar[Literal["quantile"]] = "quantile"

    def __post_init__(self) -> None:
        require_open_unit("quantile", self.quantile)
        if self.of not in SIDES:
            raise UnknownName.among("of", self.of, SIDES)
        _require_side(self.side)


AttackRule = GuessRule | ThresholdRule | TopRule | QuantileRule


def _require_side(side: str) -> None:
    if side not in DIRECTIONS:
        raise UnknownName.among("side", side, DIRECTIONS)


# --- answer -------------------------------------------------------------------------------------------------


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
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        metrics: Metrics of the attack to state as well. None: every preset.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``. The optimum, and the advantage
            of a rule that was fixed before these records, are then those of all rows; everything else is judged on rows
            of which no two share a label, drawn at random. A cut that the rule places by looking at all rows is judged
            as one chosen by looking at these.

    Returns:
        an ``AttackAdvantage``.

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


# --- guesses ------------------------------------------------------------------------------------------------
# What the rule makes of these records: which of them it accuses, and where it cut.


@dataclass(frozen=True, eq=False, slots=True)
class AttackGuesses:
    """An attack's guesses about both sides.

    ``at_member`` says whose record a cut of both sides together is, and ``lot`` which number a record that ties with it
    must have drawn to be accused.
    """

    guesses: tuple[Guesses, Guesses]
    table: GuessTable
    cut: float | None = None
    at_member: bool = False
    lot: float = 0.0
    cautions: tuple[Caution, ...] = ()

    @classmethod
    def of(cls, members: Guesses, nonmembers: Guesses, prior: float) -> AttackGuesses:
        """Guesses, counted."""
        numbers = int(members.sum()), len(members), int(nonmembers.sum()), len(nonmembers)
        return cls((members, nonmembers), GuessTable(*numbers, prior))

    def advantage(self, prior: float) -> float:
        """Of these very guesses: 2 (p TPR + (1-p) TNR) - 1."""
        return 2.0 * (prior * self.table.tpr + (1.0 - prior) * (1.0 - self.table.fpr)) - 1.0

    def on(self, places: tuple[NDArray[np.int64], NDArray[np.int64]], prior: float) -> AttackGuesses:
        """The same guesses about some of the records of either side."""
        return AttackGuesses.of(self.guesses[0][places[0]], self.guesses[1][places[1]], prior)

    def limits(self, fine: Counts, rule: AttackRule, prior: float, elsewhere: bool = False) -> CutLimits:
        """Limits that allow for how the rule found its cut; ``elsewhere`` if other records had a say in it."""
        by_others = elsewhere and isinstance(rule, TopRule | QuantileRule)
        if by_others or (isinstance(rule, ThresholdRule) and not rule.chosen_before):
            return AnyCut(self.table, partial(changes_upper, fine, prior, changes=1))
        if isinstance(rule, TopRule) or (isinstance(rule, QuantileRule) and rule.of == "all"):
            return PooledCut(self.table, self.at_member)
        return FixedCut(self.table)


def judge_records(scores: Scores, rule: AttackRule, prior: float, seed: int) -> AttackGuesses:
    """Whom the rule accuses of these records."""
    sides = scores.members, scores.nonmembers
    if isinstance(rule, GuessRule):
        return AttackGuesses.of(_guesses(sides[0], "members"), _guesses(sides[1], "nonmembers"), prior)
    if scores.dimension > 1:
        raise InputError(
            f"rule: {rule.kind} cuts one number a record, got vectors; send one score, or the guesses",
            field="members",
        )
    if "U" in (sides[0].dtype.kind, sides[1].dtype.kind):
        raise InputError(
            f"rule: {rule.kind} cuts numbers, got text; send numbers, or the guesses", field="members"
        )
    sign = 1.0 if rule.side == "above" else -1.0
    members, nonmembers = (sign * side.astype(np.float64) for side in sides)
    if isinstance(rule, ThresholdRule):
        at = sign * float(rule.threshold)
        return replace(AttackGuesses.of(members >= at, nonmembers >= at, prior), cut=float(rule.threshold))
    pool = {"members": members, "nonmembers": nonmembers}.get(
        rule.of if isinstance(rule, QuantileRule) else "all", np.concatenate([members, nonmembers])
    )
    return _cut_at(
        members, nonmembers, pool, _number_accused(rule, len(members), len(pool)), sign, prior, seed
    )


def _guesses(side: NDArray[np.generic], name: str) -> Guesses:
    words = np.char.lower(side.astype(np.str_)) if side.dtype.kind == "U" and side.ndim == 1 else side
    yes = ("true", "member") if words is not side else (1,)
    no = ("false", "nonmember") if words is not side else (0,)
    if side.ndim > 1 or not bool(np.isin(words, (*yes, *no)).all()):
        raise InputError(
            f"{name}: need guesses, true or false (or 1 or 0) for each record; for scores give a rule: "
            "threshold, top or quantile",
            field=name,
        )
    return np.isin(words, yes)


def _number_accused(rule: TopRule | QuantileRule, n_members: int, pool: int) -> int:
    """How many of the pool lie beyond the cut."""
    if isinstance(rule, TopRule):
        number = n_members if rule.records is None else rule.records
        if number >= pool:
            raise OutOfRange(
                f"rule.records: got {number} of {pool} records, need fewer", field="rule.records"
            )
        return number
    beyond = rule.quantile if rule.side == "below" else 1.0 - rule.quantile
    number = int(beyond * pool * (1.0 + 1e-12))
    if not 0 < number < pool:
        raise OutOfRange(
            f"rule.quantile: leaves {number} of {pool} records beyond the cut, need at least 1 on either side",
            field="rule.quantile",
        )
    return number


def _cut_at(
    members: NDArray[np.float64],
    nonmembers: NDArray[np.float64],
    pool: NDArray[np.float64],
    number: int,
    sign: float,
    prior: float,
    seed: int,
) -> AttackGuesses:
    """Accuse from the given one of the pool's largest on; of records that tie with it, some drawn at random.

    Each record that ties draws a number, which stands after its score: so no two are alike, and limits stay exact.
    """
    at = float(np.partition(pool, len(pool) - number)[len(pool) - number])
    rng = np.random.default_rng(seed)
    ties = [side == at for side in (members, nonmembers)]
    lots = [rng.random(int(tie.sum())) for tie in ties]
    if len(pool) == len(members) + len(nonmembers):
        of_pool = np.concatenate(lots)
    else:
        of_pool = lots[0] if pool is members else lots[1]
    least = np.sort(of_pool)[::-1][number - int((pool > at).sum()) - 1]
    guesses = []
    for side, tie, lot in zip((members, nonmembers), ties, lots, strict=True):
        guess = side > at
        guess[np.flatnonzero(tie)[lot >= least]] = True
        guesses.append(guess)
    tied = sum(len(lot) for lot in lots)
    cautions: tuple[Caution, ...] = ()
    if tied > 1:
        message = f"{tied} records have the score at the cut; which of them are accused was drawn at random"
        cautions = (Caution("ties_at_cut", message),)
    attack = AttackGuesses.of(guesses[0], guesses[1], prior)
    at_member = bool((lots[0] == least).any())
    return replace(attack, cut=sign * at, at_member=at_member, lot=float(least), cautions=cautions)


# --- clusters -----------------------------------------------------------------------------------------------
# Rows that come in clusters: rates are judged on rows of which no two share a label.


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
            plain.interval.guarantee,
            assumes=FIXED.replace(IID, CLUSTERED),
            finite_sample=self.whole.finite_sample,
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


# --- gap ----------------------------------------------------------------------------------------------------
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
    message = (
        f"this attack by itself shows an advantage of {at_least(own.lower)} or more, above the upper end for the "
        "attackers that the optimum covers; the upper end is therefore 1"
    )
    interval = replace(optimum.estimate.interval, upper=1.0)
    return replace(
        optimum,
        estimate=replace(optimum.estimate, interval=interval),
        class_rejected=True,
        cautions=(Caution("resolution_rejected", message), *optimum.cautions),
    )
