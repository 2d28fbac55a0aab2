"""Everything an auditor asks of one sample, in one answer that carries its own guarantee and provenance."""

from __future__ import annotations

from dataclasses import dataclass, field

from estimators.advantage import Advantage, ChangesLimit, checked_ends
from estimators.adversary.learned import LearnedScore
from estimators.audit.epsilon import ClaimCheck, EpsilonBound
from estimators.audit.exposure import Exposure
from estimators.audit.roc import (
    FALSE_POSITIVE_RATES,
    AreaUnderCurve,
    OperatingPoint,
    RocCurve,
    auc,
    operating_points,
)
from estimators.errors import require_open_unit
from estimators.metric.definition import Metric
from estimators.metric.estimate import MetricEstimate
from estimators.metric.presets import preset
from estimators.paper import (
    EqualWidth,
    Kernel,
    PaperAdvantage,
    PaperMetric,
    paper_metric,
)
from estimators.plan import Verdict
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import Caution
from estimators.targets import LearnedTarget, Target


@dataclass(frozen=True, slots=True)
class AssessOptions:
    """What ``assess`` shall answer about a sample; the defaults are enough for a first look.

    Args:
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        target: Which adversaries the interval speaks of: ``CellsTarget()``, ``ThresholdTarget()``,
            ``TwoSidedTarget()`` or ``LearnedTarget()``. None: cells, or a learned adversary if scores are vectors.
        metric: A further metric at its optimum: the name of a preset (see ``PRESETS``) or a ``Metric``; None for none.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        threshold: Largest advantage that is acceptable, from -1 to 1. None: no verdict.
        claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. None: nothing was promised.
        claimed_delta: Delta that was promised with it, from 0 up to but not including 1.
        operating_points: False positive rates, each strictly between 0 and 1, at which to state the true positive rate.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        reading: How the paper's statistic reads a continuous score: ``EqualWidth(bins)`` or ``Kernel(bandwidth)`` from
            ``estimators.paper``. None: kernel densities with Scott's bandwidth; of vectors no statistic.

    Example:
        >>> from estimators import AssessOptions, Counts, assess
        >>> counts = Counts.of([200, 300, 500], [500, 400, 100], edges=[0.2, 0.7])
        >>> assessment = assess(counts, AssessOptions(prior=0.2, threshold=0.8, metric="precision"))
        >>> assessment.verdict.decision.value, assessment.metric.name
        ('pass', 'precision')
    """

    prior: float = 0.5
    target: Target | None = None
    metric: str | Metric | None = "accuracy"
    confidence: float = 0.95
    threshold: float | None = None
    claimed_epsilon: float | None = None
    claimed_delta: float = 0.0
    operating_points: tuple[float, ...] = FALSE_POSITIVE_RATES
    seed: int = 0
    reading: EqualWidth | Kernel | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """The answers of ``assess``, with the ``AssessOptions`` that they follow.

    Categories without an order have no ROC curve. Of vectors, metric, ROC curve, epsilon and exposure speak of one
    learned score, on records that had no part in learning it; with ``CellsTarget`` of the boxes, which have no order.

    Attributes:
        options: The options that these are the answers to.
        advantage: The optimal advantage, certified. Decide by this one.
        paper: The paper's statistic W_N or U_N with its interval, which covers the statistic's expectation and not the
            advantage; None if it cannot be computed.
        metric: The metric that was asked for, at its optimum; None if there is none.
        paper_metric: What the paper's Algorithm 2 or 3 gives for it.
        roc: The ROC curve, a higher score meaning member; None without an order.
        auc: The area under that curve, with its interval.
        operating_points: The true positive rate at each false positive rate that was asked for, with intervals.
        epsilon: What the records say epsilon of the mechanism must be at least.
        exposure: Whether a tail of the score holds members that no nonmember reaches, or almost none, and what the
            epsilon of the score's own distributions is at least.
        claim: Whether the records contradict ``claimed_epsilon``; None if nothing was claimed.
        verdict: The decision at ``threshold``; None without one.
        cautions: What to know before using the numbers, each once.
        input_sha256: SHA-256 of the scores or counts, which ties an answer to its input.
        query: How the scores were read, and why.
        upper_by_changes: Upper ends for attackers who may change their guess more and more often along the score, each
            by itself; none without an order.
        fine: The counts that the numbers were computed from; of vectors those of the learned score.
        learned: The learned score of vectors; None where nothing was learned but the advantage.

    Example:
        >>> from estimators import Counts, assess
        >>> assessment = assess(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]))
        >>> assessment.advantage.lower < assessment.advantage.value < assessment.advantage.upper
        True
        >>> round(assessment.auc.estimate.value, 3), assessment.verdict
        (0.735, None)
    """

    options: AssessOptions
    advantage: Advantage
    paper: PaperAdvantage | None
    metric: MetricEstimate | None
    paper_metric: PaperMetric | None
    roc: RocCurve | None
    auc: AreaUnderCurve | None
    operating_points: tuple[OperatingPoint, ...]
    epsilon: EpsilonBound
    exposure: Exposure
    claim: ClaimCheck | None
    verdict: Verdict | None
    cautions: tuple[Caution, ...]
    input_sha256: str
    upper_by_changes: tuple[ChangesLimit, ...] = ()
    fine: Counts | None = field(default=None, repr=False, compare=False)
    learned: LearnedScore | None = field(default=None, repr=False, compare=False)

    @property
    def sentence(self) -> str:
        """The result in plain words, the decision first if one was asked for."""
        if self.verdict is None:
            return self.advantage.sentence
        return f"{self.verdict.decision.value.capitalize()}: {self.verdict.reason}. {self.advantage.sentence}"


def assess(data: Scores | Counts, options: AssessOptions | None = None) -> Assessment:
    """Answer everything at once; scores are counted a single time.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        options: What to answer, as ``AssessOptions``. None: their defaults.

    Returns:
        an ``Assessment``.

    Raises:
        MaceError: an option out of its range, or data that cannot be used.

    Example:
        >>> from estimators import AssessOptions, Counts, assess
        >>> counts = Counts.of([200, 300, 500], [500, 400, 100], edges=[0.2, 0.7])
        >>> assessment = assess(counts, AssessOptions(threshold=0.1, claimed_epsilon=1.0))
        >>> print(assessment.sentence)
        Fail: with 95% confidence the advantage is at least 0.3587, above 0.1. With 95% confidence the best attacker who
        reads this score has an advantage between 0.358 and 0.441, over a coin toss. The upper end covers attackers who
        see the score sorted into 3 cells of similar values; no others.
        >>> print(assessment.claim.decision)
        contradicted
    """
    require_data(data, Scores, Counts)
    options = options or AssessOptions()
    vector = isinstance(data, Scores) and data.dimension > 1
    counted = data if isinstance(data, Counts) else None if vector else finest(data)
    whole = data if counted is None or isinstance(options.target, LearnedTarget) else counted
    confidence = require_open_unit("confidence", options.confidence)
    ends = checked_ends(whole, options.prior, options.target, options.seed)
    fine = ends.fine if counted is None else counted
    learned = ends.learned if counted is None else None
    ordered = fine if fine.cells.ordered else None
    area = None if ordered is None else auc(ordered, options.confidence)
    points = (
        () if ordered is None else operating_points(ordered, options.operating_points, options.confidence)
    )
    result = coherent(ends.at(confidence), area, points)
    paper, missing = _paper(data, counted, options)
    definition = preset(options.metric, options.prior) if isinstance(options.metric, str) else options.metric
    metric, published = None, None
    if definition is not None:
        published = paper_metric(
            data if learned is None else learned.scores,
            definition,
            options.prior,
            options.seed,
            options.reading,
        )
