"""A limit on the true positive rate at a false positive rate: how many members one finds who is hardly ever wrong."""

from math import ceil

import numpy as np

from estimators import errors
from estimators.decisions.gate_sample import GateSample, JudgedLimit, between
from estimators.decisions.verdict import MORE, most_records, records_needed
from estimators.privacy.direction import Direction, direction_of
from estimators.privacy.ranges import RANGES, tpr_at_least, tpr_at_most, tpr_seen
from estimators.privacy.roc import operating_point
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval, at_least, at_most

OF_RANGES = 0.2
"""Share of the error of a true positive rate's lower end that ranges have; thresholds have the rest."""
FEW_VALUES, RECORDS_A_VALUE = 16, 32  # values that are few, and records of each on average that are enough
CLOSE = 1.1  # how closely a number of records is looked for


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
        fine, most = sample.fine, errors.require_from_zero_to_one("max_tpr", self.maximum)
        rate = errors.require_open_unit("at_fpr", self.fpr)
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
        hides = self._beside_drift(sample, rate, ranges, highest)
        return JudgedLimit(
            "tpr", about, estimate, verdict, cautions, ranges=ranges, threshold=threshold, beside_drift=hides
        )

    @staticmethod
    def _beside_drift(sample: GateSample, rate: float, ranges: int, highest: float) -> float | None:
        """The upper end against a fair hold-out: who is wrong there so often may be wrong here by the drift more."""
        if not sample.drift:
            return None
        if rate + sample.drift >= 1.0:
            return 1.0
        alpha = (1.0 - sample.confidence) / 2.0
        return max(highest, tpr_at_most(sample.fine, rate + sample.drift, alpha, ranges))

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
        lower, upper = (max(each.estimate.lower for each in below), max(each.estimate.upper for each in above))
        value = max(float(each.estimate.value or 0.0) for each in above)
        interval = Interval(min(lower, upper), upper, sample.confidence, guarantee)
        notes = dict.fromkeys(caution for each in below for caution in each.cautions)
        return Estimate(min(max(value, interval.lower), upper), interval), tuple(notes)


def few_values(counts: Counts) -> bool:
    """Whether all records have one of a few scores, or labels."""
    few = counts.size <= FEW_VALUES and counts.n_records >= RECORDS_A_VALUE * counts.size
    return few and int(counts.alike().sum()) == counts.n_records
