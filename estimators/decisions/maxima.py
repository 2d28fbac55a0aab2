"""What may be limited, each by a maximum: the advantage, a true positive rate, a metric, epsilon, a group's risk.

A limit passes if the upper end of what it limits is at or below the maximum, and fails if the lower end is above it.
"""

from math import ceil
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators import errors
from estimators.adversary.targets import CellsTarget, LearnedTarget, Target
from estimators.decisions.gate_sample import GateSample, JudgedGroup, JudgedLimit, between
from estimators.decisions.tpr_limit import MaxTpr
from estimators.decisions.verdict import (
    Decision,
    beneath_baseline,
    by_a_hair,
    decide,
    judge_advantage,
    most_records,
    records_needed,
)
from estimators.metric.definition import Metric
from estimators.metric.estimate import is_line, metric_optimum
from estimators.optimum.advantage import advantage
from estimators.privacy import closeness
from estimators.privacy.epsilon import epsilon_from_advantage, epsilon_lower_bound
from estimators.privacy.exposure import short_label
from estimators.python.dataclass import dataclass, replace
from estimators.risk.groups import GroupRisks, GroupTable
from estimators.risk.individual import IndividualRisk, RiskByCell, individual_risk, risk_by_cell
from estimators.sample.counts import Counts
from estimators.sample.plain_arrays import ArgumentScores
from estimators.sample.scores import Query, Scores
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval

__all__ = ["MaxAdvantage", "MaxEpsilon", "MaxGroupRisk", "MaxMetric", "MaxTpr"]

READ_OFF_ALL = " (read off all records)"
"""What a group's mean risk is, as words to put behind it: no statement about the group by itself."""


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
                f"the mean risk of group {short_label(label)}{READ_OFF_ALL}", estimate, self.maximum, None, records
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
