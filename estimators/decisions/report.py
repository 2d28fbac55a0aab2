"""Everything an auditor asks of one sample, in one answer that carries its own guarantee and provenance."""

from collections.abc import Sequence

import numpy as np

from estimators.adversary.learned import LearnedScore
from estimators.adversary.targets import LearnedTarget, Target
from estimators.clusters.dependent_rows import lone_caution, lone_of
from estimators.clusters.design import Labels
from estimators.clusters.ends import ClusteredEnds
from estimators.decisions.exposed_members import Withheld
from estimators.decisions.verdict import Decision, Verdict, beneath_baseline, by_a_hair, verdict
from estimators.errors import NotFinite, OptionError, OutOfRange, require_open_unit
from estimators.metric.definition import Metric
from estimators.metric.estimate import MetricEstimate, metric_optimum
from estimators.metric.presets import preset
from estimators.optimum.answer import Advantage, ChangesLimit, without_upper
from estimators.optimum.ends import Ends, checked_ends, upper_by_changes
from estimators.optimum.fixed_set import SetAdvantage, on_set, require_drawn_singly
from estimators.paper import (
    EqualWidth,
    Kernel,
    PaperAdvantage,
    PaperMetric,
    algorithm_1,
    discrete_advantage,
    paper_metric,
)
from estimators.privacy.auc import AreaUnderCurve, auc, clustered_auc
from estimators.privacy.epsilon import ClaimCheck, EpsilonBound, check_claim, epsilon_lower_bound
from estimators.privacy.exposure import Exposure, exposure
from estimators.privacy.roc import FALSE_POSITIVE_RATES, OperatingPoint, RocCurve, operating_points, roc
from estimators.python.dataclass import dataclass, field, replace
from estimators.python.renamed import renamed
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.digests import fingerprint
from estimators.sample.scores import Query, Scores
from estimators.statement import Caution, at_least, at_most


@renamed("threshold", "max_advantage")
@dataclass(frozen=True, slots=True)
class AssessOptions:
    """What ``assess`` shall answer about a sample; the defaults are enough for a first look.

    Args:
        prior, target, confidence, seed: As for ``advantage``.
        metric: A further metric at its optimum: the name of a preset (see ``PRESETS``) or a ``Metric``; None for none.
        max_advantage: Largest advantage that is acceptable, from -1 to 1. None: no verdict.
        claimed_epsilon: Epsilon of the differential privacy that was promised, at least 0. None: nothing was promised.
        claimed_delta: Delta that was promised with it, from 0 up to but not including 1.
        operating_points: False positive rates, each strictly between 0 and 1, at which to state the true positive rate.
        reading: How the paper's statistic reads a continuous score: ``EqualWidth(bins)`` or ``Kernel(bandwidth)`` from
            ``estimators.paper``, and so do Algorithms 2 and 3. None: the statistic by kernel densities with Scott's
            bandwidth, the algorithms by the cells that are counted anyway; of vectors no statistic.
        set_members: How many members the whole set has of which these were drawn, to state the advantage on exactly
            that set, too. None: as many as there are here; nothing is said of a set if both are None.
        set_nonmembers: The same of nonmembers.
        accept_exposure: Whether the verdict may be a pass beside a severe exposure.

    Example:
        >>> from estimators import AssessOptions, Counts, assess
        >>> counts = Counts.of([200, 300, 500], [500, 400, 100], edges=[0.2, 0.7])
        >>> assessment = assess(counts, AssessOptions(prior=0.2, max_advantage=0.8, metric="precision"))
        >>> assessment.verdict.decision.value, assessment.metric.name
        ('pass', 'precision')
    """

    prior: float = 0.5
    target: Target | None = None
    metric: str | Metric | None = "accuracy"
    confidence: float = 0.95
    max_advantage: float | None = None
    claimed_epsilon: float | None = None
    claimed_delta: float = 0.0
    operating_points: tuple[float, ...] = FALSE_POSITIVE_RATES
    seed: int = 0
    reading: EqualWidth | Kernel | None = None
    set_members: int | None = None
    set_nonmembers: int | None = None
    accept_exposure: bool = False


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
        verdict: The decision about ``max_advantage``; None without one.
        cautions: What to know before using the numbers, each once.
        input_sha256: SHA-256 of the scores or counts, which ties an answer to its input.
        query: How the scores were read, and why.
        upper_by_changes: Upper ends for attackers who may change their guess more and more often along the score, each
            by itself; none without an order.
        fine: The counts that the numbers were computed from; of vectors those of the learned score.
        lone: Where rows come in clusters, those that the numbers but for advantage and area are computed from: no two
            of them share a label. None otherwise.
        learned: The learned score of vectors; None where nothing was learned but the advantage.
        on_this_set: The advantage on exactly the set of which the records were drawn; None if its size was not told.

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
    lone: Scores | None = field(default=None, repr=False, compare=False)
    learned: LearnedScore | None = field(default=None, repr=False, compare=False)
    on_this_set: SetAdvantage | None = None

    @property
    def sentence(self) -> str:
        """The result in plain words, the decision first if one was asked for."""
        sentence = self.advantage.sentence
        if self.verdict is not None:
            sentence = f"{self.verdict.opening}: {self.verdict.reason}.{self._acceptance} {sentence}"
        return sentence if self.on_this_set is None else f"{sentence} {self.on_this_set.sentence}"

    @property
    def _acceptance(self) -> str:
        """That a pass stands beside a severe exposure, for it was accepted."""
        if self.verdict is None or self.verdict.decision is not Decision.PASS:
            return ""
        return Withheld.by({"": self.exposure}, accepted=self.options.accept_exposure).acceptance


def assess(
    data: Scores | Counts,
    options: AssessOptions | None = None,
    cluster: Labels | None = None,
    doubts: Sequence[Caution] = (),
) -> Assessment:
    """Answer everything at once; scores are counted a single time.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        options: What to answer, as ``AssessOptions``. None: their defaults.
        cluster: Whom each row belongs to, as in ``advantage``. The advantage and the area under the ROC curve then
            allow for it; everything else is that of rows of which no two share a label, drawn at random.
        doubts: What is known to be odd about the records, such as ``dependent_rows`` of their columns.

    Raises:
        MaceError: an option out of its range, or data that cannot be used.

    Example:
        >>> from estimators import AssessOptions, Counts, assess
        >>> counts = Counts.of([200, 300, 500], [500, 400, 100], edges=[0.2, 0.7])
        >>> assessment = assess(counts, AssessOptions(max_advantage=0.1, claimed_epsilon=1.0))
        >>> print(assessment.sentence)
        Fail: with 95% confidence the advantage is at least 0.353, above 0.1. With 95% confidence the advantage over a
        coin toss is at least 0.353, whoever reads this score, and at most 0.441 for attackers who see which of 3 groups
        of similar values the score falls in. A finer rule may do better.
        >>> print(assessment.claim.decision)
        contradicted
    """
    require_data(data, Scores, Counts)
    options = AssessOptions() if options is None else _required(options)
    submitted, clustered = data, None
    sizes = ("set_members", "set_nonmembers")
    of_set = next((name for name in sizes if getattr(options, name) is not None), None)
    if of_set is not None:
        require_drawn_singly(data, options.target, clustered=cluster is not None, field=of_set)
    if cluster is not None:
        clustered = checked_ends(data, options.prior, options.target, options.seed, cluster=cluster)
        # of rows that come in clusters some that are independent; all, where no two share a label
        if isinstance(clustered.validation, ClusteredEnds) and isinstance(data, Scores):
            data = lone_of(clustered.validation.clusters, data, clustered.source.seed or 0)
    vector = isinstance(data, Scores) and data.dimension > 1
    counts = data if isinstance(data, Counts) else None if vector else finest(data)
    whole = data if counts is None or isinstance(options.target, LearnedTarget) else counts
    confidence = require_open_unit("confidence", options.confidence)
    ends = clustered or checked_ends(whole, options.prior, options.target, options.seed)
    fine = ends.fine if counts is None else counts
    learned = ends.learned if counts is None else None
    ordered = fine if fine.cells.ordered else None
    area = None
    if ordered is not None and cluster is not None and isinstance(submitted, Scores):
        area = clustered_auc(submitted, cluster, options.confidence)
    elif ordered is not None:
        area = auc(ordered, options.confidence)
    points = () if ordered is None else operating_points(ordered, options.operating_points, options.confidence)
    result = coherent(ends.at(confidence), area, points)
    paper, missing = _paper(data, counts, options)
    definition = preset(options.metric, options.prior) if isinstance(options.metric, str) else options.metric
    metric, published = None, None
    if definition is not None:
        # cells are counted already; kernel densities cost as much again as all else
        read = fine if options.reading is None else data
        published = paper_metric(read, definition, options.prior, options.seed, options.reading)
        metric = metric_optimum(
            fine, definition, options.prior, confidence=options.confidence, seed=options.seed, reuse=result
        )
    claim = None
    if options.claimed_epsilon is not None:
        claim = check_claim(
            fine, options.claimed_epsilon, options.claimed_delta, options.confidence, options.prior, seed=options.seed
        )
        epsilon = claim.bound
    else:
        epsilon = epsilon_lower_bound(fine, options.confidence, options.claimed_delta, seed=options.seed)
    beneath = () if options.max_advantage is None else beneath_baseline(options.max_advantage, result.baseline)
    tails = exposure(fine, options.confidence, options.prior)
    odd = (*doubts, *fine.doubts)
    withheld = Withheld.by({"": tails}, accepted=options.accept_exposure, odd=odd)
    plain = None if options.max_advantage is None else verdict(result, options.max_advantage)
    decision = plain
    if plain is not None and withheld.because(plain.decision):
        decision = replace(
            plain,
            decision=withheld.decide(plain.decision),
            reason=withheld.reason,
            records_needed=None,
            undecided_because=withheld.because(plain.decision),
        )
    hair = () if plain is None else by_a_hair(plain.decision, plain.threshold, result)
    parts = [each for each in (paper, metric, published, area, *points, epsilon) if each is not None]
    elsewhere = () if paper is None else _elsewhere(paper, result)
    return Assessment(
        options,
        result,
        paper,
        metric,
        published,
        None if ordered is None else roc(ordered),
        area,
        points,
        epsilon,
        tails,
        claim,
        decision,
        _cautions(
            [
                odd,
                () if learned is None else (learned.caution,),
                lone_caution(data, submitted, "advantages and the area under the ROC curve use"),
                tails.cautions,
                () if plain is None else withheld.cautions(plain.decision),
                beneath,
                hair,
                result.cautions,
                missing,
                elsewhere,
                *(each.cautions for each in parts),
            ]
        ),
        fingerprint(submitted),
        () if ordered is None else _by_changes(ends, ordered, options),
        fine,
        data if data is not submitted and isinstance(data, Scores) else None,
        learned,
        None
        if of_set is None
        else on_set(
            ends,
            fine.n_members if options.set_members is None else options.set_members,
            fine.n_nonmembers if options.set_nonmembers is None else options.set_nonmembers,
            confidence,
        ),
    )


def _required(options: object) -> AssessOptions:
    if isinstance(options, AssessOptions):
        return options
    what = "need AssessOptions, such as AssessOptions(max_advantage=0.1)"
    raise OptionError.about("options", f"got {type(options).__name__}, {what}")


def _by_changes(ends: Ends, ordered: Counts, options: AssessOptions) -> tuple[ChangesLimit, ...]:
    """``upper_by_changes``; the rules are those of the advantage, where it is of the same counts."""
    if ends.fine is not ordered:
        return upper_by_changes(ordered, options.prior, options.confidence)
    return ends.upper_by_changes(options.confidence)


def coherent(result: Advantage, area: AreaUnderCurve | None, points: Sequence[OperatingPoint]) -> Advantage:
    """The advantage, its upper end withdrawn if what the ROC curve proves in the same answer exceeds it.

    A cut at a false positive rate f with a true positive rate t has an advantage of 2 (p t + (1-p) (1-f)) - 1. At a
    prior of 1/2 an area A needs an advantage of 1 - sqrt(2 (1-A)) at least: no curve closer to the diagonal has more.
    """
    prior = result.provenance.prior
    proven = [2.0 * (prior * each.estimate.lower + (1.0 - prior) * (1.0 - each.fpr)) - 1.0 for each in points]
    if area is not None and prior == 0.5:
        least = max(area.estimate.lower, 1.0 - area.estimate.upper)
        proven.append(1.0 - float(np.sqrt(2.0 * (1.0 - least))))
    most = max(proven, default=-1.0)
    if most <= result.upper:
        return result
    return without_upper(
        result,
        f"the ROC curve of these scores shows an advantage of {at_least(most)} or more, above the upper end for the "
        "attackers that it covers; the upper end is therefore 1",
    )


def _paper(
    data: Scores | Counts, fine: Counts | None, options: AssessOptions
) -> tuple[PaperAdvantage | None, tuple[Caution, ...]]:
    """The paper's statistic, or why there is none: scores near the ends of what a float holds have no bandwidth.

    Of vectors it is computed where a reading asks for it: its kernels and its cells cost more than all else together.
    """
    if isinstance(data, Scores) and data.query is Query.CONTINUOUS and (data.dimension == 1 or options.reading):
        try:
            return algorithm_1(data, options.prior, options.confidence, options.reading), ()
        except (NotFinite, OutOfRange) as error:
            return None, (Caution("paper_unavailable", f"no U_N: {error.message}"),)
    return None if fine is None else discrete_advantage(fine, options.prior, options.confidence), ()


def _elsewhere(paper: PaperAdvantage, certified: Advantage) -> tuple[Caution, ...]:
    """The paper's interval beside one that it does not even touch: kernels of one width misread skewed scores."""
    low, high = paper.interval.lower, paper.interval.upper
    if low <= certified.upper and certified.lower <= high:
        return ()
    message = (
        f"the interval of {paper.statistic}, {at_least(low)} to {at_most(high)}, and the certified one, "
        f"{at_least(certified.lower)} to {at_most(certified.upper)}, have nothing in common: {paper.statistic} "
        "misreads this score; decide by the certified one"
    )
    return (Caution("paper_contradicts_certified", message),)


def _cautions(groups: Sequence[tuple[Caution, ...]]) -> tuple[Caution, ...]:
    return tuple(dict.fromkeys(caution for group in groups for caution in group))
