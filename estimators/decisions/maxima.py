"""What may be limited, each by a maximum: the advantage, a true positive rate, a metric, epsilon, a group's risk.

A limit passes if the upper end of what it limits is at or below the maximum, and fails if the lower end is above it.
"""

from collections.abc import Callable
from math import ceil
from typing import Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from estimators import errors
from estimators.adversary.learned import LearnedScore
from estimators.adversary.targets import CellsTarget, LearnedTarget, Target
from estimators.clusters.design import Labels
from estimators.clusters.ends import ClusterSummary
from estimators.decisions.plan import (
    MORE,
    Decision,
    Verdict,
    beneath_baseline,
    by_a_hair,
    decide,
    judge_advantage,
    most_records,
    of_learned_score,
    records_needed,
)
from estimators.metric.definition import Metric
from estimators.metric.estimate import is_line, metric_optimum
from estimators.optimum.advantage import advantage
from estimators.optimum.ends import Ends, checked_ends
from estimators.privacy import closeness
from estimators.privacy.best_set import RANGES, tpr_at_least, tpr_at_most, tpr_seen
from estimators.privacy.direction import Direction, direction_of
from estimators.privacy.epsilon import epsilon_from_advantage, epsilon_lower_bound
from estimators.privacy.roc import operating_point
from estimators.python.dataclass import dataclass, field, replace
from estimators.risk.groups import GroupRisks, GroupTable
from estimators.risk.individual import IndividualRisk, RiskByCell, individual_risk, risk_by_cell
from estimators.sample.counts import Counts
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import ArgumentScores, Query, Scores
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval, at_least, at_most

__all__ = ["MaxAdvantage", "MaxEpsilon", "MaxGroupRisk", "MaxMetric", "MaxTpr"]

T = TypeVar("T")

READ_OFF_ALL = " (read off all records)"
"""What a group's mean risk is, as words to put behind it: no statement about the group by itself."""
OF_RANGES = 0.2
"""Share of the error of a true positive rate's lower end that ranges have; thresholds have the rest."""

FEW_VALUES, RECORDS_A_VALUE = 16, 32  # values that are few, and records of each on average that are enough
CLOSE = 1.1  # how closely a number of records is looked for

LONGEST_LABEL = 60  # characters of a group's label that a reason repeats


@dataclass(frozen=True, slots=True)
class GateSample:
    """The records that limits are judged on, the prior, and the confidence at which either end is taken.

    Where rows come in clusters, ``every`` has all of them, ``cluster`` says whose they are, and ``data`` has those of
    which no two share a label.
    """

    data: Scores | Counts
    fine: Counts
    prior: float
    confidence: float
    below: float
    seed: int
    learned: LearnedScore | LearnedCounts | None = None
    adversaries: LearnedTarget = field(default_factory=LearnedTarget)
    every: Scores | None = None
    cluster: Labels | None = None

    @property
    def records(self) -> int:
        """Records of both sides: all of them, if only those of which no two share a cluster are looked at."""
        data = self.every or self.data
        return data.n_members + data.n_nonmembers

    def advantage_ends(self, data: Scores | Counts, target: Target | None) -> Ends:
        """Both ends of the advantage, by whole clusters if some were named."""
        if self.every is None:
            return checked_ends(data, self.prior, target, self.seed)
        return checked_ends(self.every, self.prior, target, self.seed, cluster=self.cluster)

    def ends(self, answer: Callable[[float], T]) -> tuple[T, T]:
        """The answer whose upper end counts, and the one whose lower end does."""
        above = answer(self.confidence)
        return above, above if self.below == self.confidence else answer(self.below)

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Of vectors, which learned score a limit was judged by."""
        return () if self.learned is None else (self.learned.caution,)

    def decide(self, about: str, estimate: Estimate, maximum: float, records: int | None) -> Verdict:
        """What an interval says about a maximum; by a learned score it passes only if that was accepted.

        Args:
            records: Records of both sides that would settle it, if that is known.
        """
        plain = decide(about, estimate, maximum, records, self.records)
        return plain if self.learned is None else of_learned_score(plain, self.adversaries.accept_learned_score)


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """What a limit on groups says of one of them.

    Attributes:
        estimate: What is limited, of this group; None if it cannot be judged.
        records_needed: Records of this group alone that would settle an open decision; None if it is settled, or if in
            practice no number of them settles it.
        n_members: Its members; None where only targets are known.
    """

    label: object
    records: int
    estimate: Estimate | None
    decision: Decision
    reason: str
    records_needed: int | None
    n_members: int | None = None
    n_nonmembers: int | None = None


@dataclass(frozen=True, slots=True)
class JudgedLimit:
    """One limit: what is limited, its interval, and the decision; an upper end may be infinite.

    ``clusters`` says what they cost, where it was judged by all rows of clusters; ``groups`` has each group of a limit
    on groups. Of a true positive rate ``ranges`` says how many ranges, or labels, a set may have, and ``threshold`` is
    that of the best threshold, by itself.
    """

    name: str
    about: str
    estimate: Estimate
    verdict: Verdict
    cautions: tuple[Caution, ...]
    clusters: ClusterSummary | None = None
    groups: tuple[JudgedGroup, ...] = ()
    ranges: int | None = None
    threshold: Estimate | None = None

    @property
    def coverage(self) -> tuple[str, ...]:
        """Of a pass: whom and what its upper end covers, a sentence each."""
        if self.verdict.coverage:
            return self.verdict.coverage
        return (f"On {self.about} it covers {self.estimate.interval.guarantee.covers}.",)


class Limit(Protocol):
    """Something that must not be larger than ``maximum``."""

    @property
    def maximum(self) -> float:
        """The largest value that is acceptable."""
        ...

    def judge(self, sample: GateSample) -> JudgedLimit:
        """What the sample says about it."""
        ...


@dataclass(frozen=True, slots=True)
class MaxAdvantage:
    """The optimal advantage of a class of adversaries.

    Args:
        maximum: Largest advantage that is acceptable, from -1 to 1.
        target: As for ``advantage``.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxAdvantage
        >>> judge(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), [MaxAdvantage(0.1)]).decision.value
        'fail'
    """

    maximum: float
    target: Target | None = None

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By the certified interval of the advantage.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        vector = isinstance(sample.data, Scores) and sample.data.dimension > 1
        data = sample.data if vector or isinstance(self.target, LearnedTarget) else sample.fine
        above, below = sample.ends(sample.advantage_ends(data, self.target).at)
        estimate = between(below.lower, above.value, above.upper, above.estimate.interval)
        records = None if above.class_rejected else records_needed(estimate, self.maximum, sample.records)
        about = "the advantage"
        verdict = judge_advantage(above, estimate, self.maximum, records, about)
        cautions = (
            *above.cautions,
            *beneath_baseline(self.maximum, above.baseline),
            *by_a_hair(verdict.decision, self.maximum, below),
        )
        return JudgedLimit("advantage", about, estimate, verdict, cautions, above.clusters)


@dataclass(frozen=True, slots=True)
class MaxTpr:
    """The true positive rate at a false positive rate, of the best set of at most 4 ranges of the score, or labels.

    It limits what an average hides: how many members are found by an attacker who must hardly ever be wrong. They may
    be at an end of the score or anywhere between.

    Args:
        maximum: Largest true positive rate that is acceptable, from 0 to 1.
        fpr: The false positive rate: share of nonmembers that may be accused, strictly between 0 and 1.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes the limits of thresholds sharper; it has to be known before the scores are looked at.
        ranges: Of how many ranges, or labels, the set consists at most, at least 1.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxTpr
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])  # one training row in twenty, word for word
        >>> judge(release, [MaxTpr(0.01, fpr=0.001)]).decision.value
        'fail'
    """

    maximum: float
    fpr: float
    direction: Direction | str = Direction.EITHER
    ranges: int = RANGES

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By the best set of ranges, and by operating points of both directions, or of the one that is known.

        Which of them finds most is fixed, if unknown, so upper ends need no correction; lower ends share the error.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        fine, most = sample.fine, errors.require_number("max_tpr", self.maximum)
        rate = errors.require_open_unit("at_fpr", self.fpr)
        if not 0.0 <= most <= 1.0:
            raise errors.OutOfRange.about("max_tpr", f"got {most!r}, need a number from 0 to 1")
        ranges = errors.require_count("ranges", self.ranges)
        lowest, highest, threshold, cautions = self._ends(sample, rate, ranges)
        sets = f"{ranges} {'ranges of the score' if fine.cells.ordered else 'labels'}"
        guarantee = Guarantee(
            f"the largest TPR of a set of at most {sets} with at most the FPR asked for, and of a threshold",
            IID,
            finite_sample=False,
        )
        interval = Interval(min(lowest, highest), highest, sample.confidence, guarantee)
        in_sample = tpr_seen(fine, rate)
        if threshold is not None:
            in_sample = max(in_sample, float(threshold.value or 0.0))
        estimate = between(interval.lower, in_sample, interval.upper, interval)
        records = records_needed(estimate, most, sample.records)
        if lowest <= most < highest and few_values(fine):
            records = self._records_to_settle(sample, rate, ranges)
        value = float(estimate.value or 0.0)
        # too few nonmembers show nothing at this rate, whatever the members
        if records is not None and value > most:
            with np.errstate(over="ignore"):  # at a rate of 1e-320
                nonmembers = np.log((1.0 - OF_RANGES) * (1.0 - sample.below) / 4.0) / np.log1p(-rate)
            needed = np.ceil(nonmembers * sample.records / fine.n_nonmembers)
            records = None if needed > most_records(sample.records) else max(records, int(needed))
        about = f"the true positive rate at a false positive rate of {rate:g}"
        verdict = sample.decide(f"{about}, by the best set of at most {sets},", estimate, most, records)
        if threshold is not None:
            alone = f"{at_least(threshold.lower)} to {at_most(threshold.upper)}"
            verdict = replace(verdict, reason=f"{verdict.reason} (by a threshold alone {alone})")
        cautions = (*sample.cautions, *cautions)
        return JudgedLimit("tpr", about, estimate, verdict, cautions, ranges=ranges, threshold=threshold)

    def _ends(
        self, sample: GateSample, rate: float, ranges: int
    ) -> tuple[float, float, Estimate | None, tuple[Caution, ...]]:
        """Both ends, and the best threshold's where there are any."""
        fine = sample.fine
        above, below = ((1.0 - confidence) / 2.0 for confidence in (sample.confidence, sample.below))
        highest = tpr_at_most(fine, rate, above, ranges)
        if not fine.cells.ordered:
            return tpr_at_least(fine, rate, below), highest, None, ()
        threshold, cautions = self._by_threshold(sample, rate)
        lowest = max(threshold.lower, tpr_at_least(fine, rate, OF_RANGES * below))
        return lowest, max(highest, threshold.upper), threshold, cautions

    def _records_to_settle(self, sample: GateSample, rate: float, ranges: int) -> int | None:
        """Records with these shares that would settle it; None if in practice no number of them does.

        With few values the ends jump where it becomes clear on which side of the rate one of them lies.
        """
        fine = sample.fine

        def open_with(times: float) -> bool:
            members, nonmembers = (np.rint(side * times).astype(np.int64) for side in (fine.members, fine.nonmembers))
            more = replace(sample, fine=Counts.trusted(members, nonmembers, fine.cells, unseen=fine.unseen))
            lowest, highest, *_ = self._ends(more, rate, ranges)
            return lowest <= self.maximum < highest

        few, many = MORE, most_records(sample.records) / sample.records
        if open_with(many):
            return None
        while many > CLOSE * few:
            between = (few * many) ** 0.5
            few, many = (between, many) if open_with(between) else (few, between)
        return ceil(many * sample.records)

    def _by_threshold(self, sample: GateSample, rate: float) -> tuple[Estimate, tuple[Caution, ...]]:
        """The best threshold's rate; its lower end has what the ranges leave of the error."""
        fine, ends = sample.fine, direction_of(self.direction)
        ways = [False] * (ends is not Direction.LOW) + [True] * (ends is not Direction.HIGH)
        shared = 1.0 - (1.0 - OF_RANGES) * (1.0 - sample.below) / len(ways)
        above = [operating_point(fine, rate, sample.confidence, low) for low in ways]
        below = [operating_point(fine, rate, shared, low) for low in ways]
        which = "in the direction in which it is higher" if len(ways) == 2 else f"accusing {ends.value} scores"
        guarantee = Guarantee(f"the TPR of the threshold with the FPR asked for, {which}", IID, False)
        lower, upper = (
            max(each.estimate.lower for each in below),
            max(each.estimate.upper for each in above),
        )
        value = max(float(each.estimate.value or 0.0) for each in above)
        interval = Interval(min(lower, upper), upper, sample.confidence, guarantee)
        notes = dict.fromkeys(caution for each in below for caution in each.cautions)
        return Estimate(min(max(value, interval.lower), upper), interval), tuple(notes)


@dataclass(frozen=True, slots=True)
class MaxMetric:
    """A metric at its optimum; the larger, the more leaks.

    Args:
        maximum: Largest value of the metric that is acceptable.
        metric: The metric, such as ``preset("precision", prior)``, or your own ``Metric``.
        bins: Into how many cells of about equal size scores with an order are joined, at least 2. None: the cube root
            of the number of records, at least 4. Categories stay as they are.

    Example:
        >>> from estimators import Counts, preset
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxMetric
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> judge(counts, [MaxMetric(0.8, preset("accuracy", 0.5))]).decision.value
        'pass'
    """

    maximum: float
    metric: Metric
    bins: int | None = None

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By the interval of the metric's optimum.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        counts, of_all = sample.fine, None
        if sample.every is not None and is_line(self.metric, sample.prior):
            of_all = sample.advantage_ends(sample.every, CellsTarget(self.bins))
        above, below = sample.ends(
            lambda confidence: metric_optimum(
                counts,
                self.metric,
                sample.prior,
                None,
                confidence,
                self.bins,
                sample.seed,
                reuse=None if of_all is None else of_all.at(confidence),
            )
        )
        estimate = between(below.interval.lower, above.value, above.interval.upper, above.interval)
        records = None if above.class_rejected else records_needed(estimate, self.maximum, sample.records)
        about = f"the best {above.name.replace('_', ' ')}"
        cautions = (*sample.cautions, *above.cautions, *beneath_baseline(self.maximum, above.trivial))
        verdict = sample.decide(about, estimate, self.maximum, records)
        summary = None if of_all is None else of_all.clusters
        return JudgedLimit("metric", about, estimate, verdict, cautions, summary)


@dataclass(frozen=True, slots=True)
class MaxEpsilon:
    """The smallest epsilon at ``delta`` at which the laws of the two sides' scores are indistinguishable.

    It is that of this score and not of the training: another score of the same model may have a larger one.

    Args:
        maximum: Largest epsilon that is acceptable, at least 0.
        delta: The delta that goes with it, from 0 up to but not including 1. At 0 the limit cannot pass.
        bins: Into how many cells of about equal size scores with an order are joined, at least 2. None: the cube root
            of the number of records, and narrower ones towards both ends of the scores.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxEpsilon
        >>> counts = Counts.of([2000, 3000, 5000], [5000, 4000, 1000], edges=[0.2, 0.7])
        >>> judge(counts, [MaxEpsilon(2.0, delta=0.01)]).decision.value
        'pass'
    """

    maximum: float
    delta: float = 0.0
    bins: int | None = None

    def judge(self, sample: GateSample) -> JudgedLimit:
        """Below by guesses at either end of the scores and at both, above by what every set of cells allows.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        fine, most = sample.fine, errors.require_nonnegative("max_epsilon", self.maximum)
        delta = errors.require_share("delta", self.delta)
        cells, alpha = closeness.tail_cells(fine, self.bins), (1.0 - sample.confidence) / 2.0
        low, cautions = self.lower(fine, sample)
        upper = closeness.epsilon_upper(cells, delta, alpha, most)
        finer = upper is not None and upper < low
        value = closeness.plug_in_epsilon(cells, delta, most)
        guarantee = Guarantee(
            f"the epsilon at delta {delta:g} of this score's two distributions: lower end at any resolution, "
            f"upper end at a resolution of {cells.size} cells, narrower towards the ends; not that of the mechanism",
            IID,
            finite_sample=delta == 0.0,
        )
        high = float("inf") if upper is None or finer else upper
        point = None if value is None else min(max(value, low), high)
        estimate = Estimate(point, Interval(low, high, sample.confidence, guarantee))
        about, records = f"the epsilon of this score at delta {delta:g}", None
        if not finer and high > most >= low:
            records = self._records_to_settle(cells, estimate, sample.records, alpha)
        if finer:
            message = f"the tails of the score give away more than {cells.size} cells show, so there is no upper end"
            cautions = (*cautions, Caution("class_rejected", message))
        if delta == 0.0:
            message = "at delta 0 no number of records bounds epsilon from above, so the limit cannot pass"
            cautions = (*cautions, Caution("delta_zero", message))
        cautions = (*sample.cautions, *cautions)
        return JudgedLimit("epsilon", about, estimate, sample.decide(about, estimate, most, records), cautions)

    def lower(self, fine: Counts, sample: GateSample) -> tuple[float, tuple[Caution, ...]]:
        """By guesses at delta 0; else by the tails, or guesses without an order, and by the advantage, half each.

        Args:
            fine: The counts on the finest cells.
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        if self.delta == 0.0:
            bound = epsilon_lower_bound(fine, sample.below, seed=sample.seed)
            return bound.value, bound.cautions
        half = 1.0 - (1.0 - sample.below) / 2.0
        least = epsilon_from_advantage(
            advantage(fine, 0.5, CellsTarget(self.bins), half, sample.seed).lower, self.delta
        )
        if fine.cells.ordered:
            return max(least, closeness.epsilon_lower(fine, self.delta, (1.0 - half) / 2.0)), ()
        bound = epsilon_lower_bound(fine, half, self.delta, seed=sample.seed)
        return max(least, bound.value), bound.cautions

    def _records_to_settle(self, cells: Counts, estimate: Estimate, records: int, alpha: float) -> int | None:
        """Records with these shares that would pass; or that would fail, where more of them point there."""
        if estimate.value is None:
            return None
        if estimate.value > self.maximum:
            return records_needed(estimate, self.maximum, records)
        lone, most = cells.n_records, most_records(records)
        enough = closeness.records_to_pass(cells, self.maximum, self.delta, alpha, most * lone // records)
        return None if enough is None else ceil(enough * records / lone)


@dataclass(frozen=True, eq=False, slots=True)
class MaxGroupRisk:
    """The largest of the groups' mean risks, each read off all records together, at a prior of one half.

    It averages over a group's records what their scores betray among the records of all groups. It does not look at a
    group by itself: members of a group may stand clear of its nonmembers, and records of other groups between them.
    ``estimators.decisions.group_limit.MaxGroupAdvantage`` judges that.

    At another prior a score can move a record away from what is known without it in either direction, and the mean
    |f| of a group may fall below what it is without any leak: a maximum would reward that.

    Args:
        maximum: Largest mean risk of any group that is acceptable, from 0 to 1.
        groups: A label for each record, members first, or for each target; of counts without targets, a
            ``GroupTable`` of them.
        targets: Scores to state the risk of. None: those of every record, members first; counts need targets, or a
            table.
        bins: Into how many cells of about equal size scores with an order are joined, at least 1. None: the cube root
            of the number of records, at least 4. Categories stay as they are.
        stand_for: Of vectors, for each target the place of the record that it belongs with, as for ``individual_risk``.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxGroupRisk
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(3, 1, 400), rng.normal(0, 1, 400))
        >>> judge(scores, [MaxGroupRisk(0.3, ["young", "old"] * 400)]).decision.value
        'fail'
    """

    maximum: float
    groups: ArrayLike | GroupTable
    targets: ArgumentScores | None = None
    bins: int | None = None
    stand_for: ArrayLike | None = None

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By the limits that hold for all groups at once.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        if isinstance(sample.data, Counts) and self.targets is None and not isinstance(self.groups, GroupTable):
            raise errors.InputError.about("groups", "counts hold no records, so they have no groups")
        if sample.prior != 0.5:
            message = "needs a prior of 0.5; at any other prior, less risk does not mean less leakage"
            raise errors.OptionError.about("max_group_risk", message)
        (above, table), (_, split) = sample.ends(lambda confidence: self._risks(sample, confidence))
        interval = Interval(
            float(split.lower.max()),
            float(table.upper.max()),
            sample.confidence,
            Guarantee(
                "the largest mean individual risk of a group of these records, which is read off all records together "
                f"at a resolution of {above.cells.size} cells, and of no group by itself",
                IID,
                finite_sample=False,
            ),
        )
        estimate = between(interval.lower, float(table.risk.filled(0.0).max()), interval.upper, interval)
        # cells of a continuous score grow in number as N^(1/3), so what a cell holds grows as N^(2/3)
        grows = isinstance(sample.data, Scores) and sample.data.query is Query.CONTINUOUS and self.bins is None
        records = records_needed(estimate, self.maximum, sample.records, 1.0 / 3.0 if grows else 0.5)
        of = f"the largest mean risk of {table.size:,} {'group' if table.size == 1 else 'groups'}"
        about = f"{of}{READ_OFF_ALL}"
        verdict = sample.decide(about, estimate, self.maximum, records)
        if verdict.decision is Decision.FAIL:  # the group whose own lower end it is
            worst = split.labels[int(np.argmax(split.lower))]
            of = f"the mean risk of group {short_label(worst)}"
            verdict = sample.decide(f"{of}{READ_OFF_ALL}", estimate, self.maximum, records)
        if verdict.decision is Decision.PASS:
            verdict = replace(verdict, reason=f"{verdict.reason}; no group was looked at by itself")
        return JudgedLimit(
            "group_risk", about, estimate, verdict, above.cautions, None, self._rows(table, split, interval)
        )

    def _rows(self, table: GroupRisks, split: GroupRisks, interval: Interval) -> tuple[JudgedGroup, ...]:
        """Each group's mean risk."""
        risks, rows = table.risk.filled(0.0), []
        for i, label in enumerate(table.labels.tolist()):
            records = int(table.records[i] + table.unknown[i])
            estimate = between(float(split.lower[i]), float(risks[i]), float(table.upper[i]), interval)
            verdict = decide(
                f"the mean risk of group {short_label(label)}{READ_OFF_ALL}",
                estimate,
                self.maximum,
                None,
                records,
            )
            rows.append(JudgedGroup(label, records, estimate, verdict.decision, verdict.reason, None))
        return tuple(rows)

    def _risks(self, sample: GateSample, confidence: float) -> tuple[IndividualRisk | RiskByCell, GroupRisks]:
        """Risk, and that of each group."""
        if isinstance(self.groups, GroupTable) and isinstance(sample.data, Counts):
            by_cell = risk_by_cell(sample.data, sample.prior, confidence, bins=self.bins, seed=sample.seed)
            return by_cell, by_cell.of_groups(sample.data, self.groups, confidence)
        result = individual_risk(
            sample.every or sample.data,
            sample.prior,
            confidence,
            self.targets,
            cast("ArrayLike", self.groups),
            bins=self.bins,
            seed=sample.seed,
            stand_for=self.stand_for,
            learners=sample.adversaries.learners,
            cluster=sample.cluster,
        )
        assert result.groups is not None
        return result, result.groups


def few_values(counts: Counts) -> bool:
    """Whether all records have one of a few scores, or labels."""
    few = counts.size <= FEW_VALUES and counts.n_records >= RECORDS_A_VALUE * counts.size
    return few and int(counts.alike().sum()) == counts.n_records


def between(lower: float, value: float, upper: float, interval: Interval) -> Estimate:
    """A point and two ends; the lower one may have been taken at a higher confidence."""
    whole = Interval(lower, upper, interval.confidence, interval.guarantee)
    return Estimate(min(max(value, lower), upper), whole)


def short_label(label: object) -> str:
    """A group's label as far as a reason repeats it."""
    text = str(label)
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
