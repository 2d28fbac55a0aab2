"""What limits are judged on, and what is said of each: the sample, one limit, one group of a limit on groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from estimators.adversary.learned import LearnedScore
from estimators.adversary.targets import LearnedTarget, Target
from estimators.clusters.design import Labels
from estimators.clusters.ends import ClusterSummary
from estimators.decisions.verdict import Decision, Verdict, decide, of_learned_score
from estimators.errors import TooFewRecords, TooManyCells
from estimators.optimum.ends import Ends, checked_ends
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.counting import finest, without_repeats
from estimators.sample.counts import Counts
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import Scores
from estimators.statement import Caution, Estimate, Interval

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GateSample:
    """The records that limits are judged on, the prior, and the confidence at which either end is taken.

    Where rows come in clusters, ``every`` has all of them, ``cluster`` says whose they are, and ``data`` has those of
    which no two share a label. ``drift`` is by how much the sides are shown to differ without any leak.
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
    drift: float = 0.0

    def alone(self) -> GateSample:
        """The sample as it would be without repeats."""
        data = without_repeats(self.data)
        return replace(self, data=data, fine=data if isinstance(data, Counts) else finest(data))

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


OF_ROWS = frozenset({"tpr", "metric", "epsilon", "exposed"})
"""Limits of which exact limits of proportions are asked, which know nothing of records that repeat."""


def judge_limit(limit: Limit, sample: GateSample) -> JudgedLimit:
    """What a limit says of a sample; where records repeat, a fail is one only if it is without the repeats, too."""
    found = limit.judge(sample)
    fails = found.verdict.decision is Decision.FAIL and found.name in {*OF_ROWS, "group_risk"}
    if not (fails and sample.every is None and sample.fine.repeats):
        return found
    if found.name in OF_ROWS:
        try:
            return limit.judge(sample.alone())
        except (TooFewRecords, TooManyCells):  # names of which no two are alike
            pass
    return found.left_open()  # of a mean risk, whose the records are that are left without the repeats is not known


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
    that of the best threshold, by itself. ``beside_drift`` is the upper end against a fair hold-out, of sides that
    differ by the sample's ``drift``.
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
    beside_drift: float | None = None

    def left_open(self) -> JudgedLimit:
        """The same without any fail, of records that cannot show one."""

        def opened(decision: Decision) -> Decision:
            return Decision.INCONCLUSIVE if decision is Decision.FAIL else decision

        groups = tuple(replace(each, decision=opened(each.decision)) for each in self.groups)
        return replace(self, verdict=replace(self.verdict, decision=opened(self.verdict.decision)), groups=groups)

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


def between(lower: float, value: float, upper: float, interval: Interval) -> Estimate:
    """A point and two ends; the lower one may have been taken at a higher confidence."""
    whole = Interval(lower, upper, interval.confidence, interval.guarantee)
    return Estimate(min(max(value, lower), upper), whole)
