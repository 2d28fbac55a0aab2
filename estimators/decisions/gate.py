"""A decision over several limits: fail if any fails, pass if all pass, undecided else.

With k limits at confidence 1 - alpha the decision errs either way with probability at most alpha/2. A wrong pass needs
that a limit which is violated passes, and one such is enough to hold against it: upper ends need no correction
(Berger 1982). A wrong fail needs that any of k limits which all hold fails: lower ends are taken at alpha/(2k).
"""

from collections.abc import Sequence
from math import isfinite

from estimators.adversary.learned import LearnedScore, learn_score
from estimators.adversary.targets import CellsTarget, LearnedTarget
from estimators.clusters.dependent_rows import lone_caution, lone_rows, require_one_number, require_scores
from estimators.clusters.design import Labels
from estimators.clusters.ends import ClusterSummary
from estimators.decisions.coverage import as_counted, covers
from estimators.decisions.exposed_members import Withheld
from estimators.decisions.gate_sample import GateSample, JudgedLimit, Limit, judge_limit
from estimators.decisions.group_limit import MaxGroupAdvantage, exceeding
from estimators.decisions.maxima import MaxAdvantage, MaxGroupRisk
from estimators.decisions.verdict import Because, Decision, opening, overall, what_settles
from estimators.errors import OptionError, OutOfRange, require_count, require_number, require_open_unit
from estimators.privacy.exposure import Exposure, exposure
from estimators.python.dataclass import dataclass
from estimators.risk.within_groups import GroupAdvantage, at_once, ends_by_group
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.doubts import CROWDED, REPEATED
from estimators.sample.learned import LearnedCounts
from estimators.sample.scores import Scores
from estimators.statement import VERSION, Caution, Provenance, baseline, percent

__all__ = ["Judgement", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision over all limits together; ``judge`` makes it.

    A pass does not stand beside a severe exposure: the decision is then open (``undecided_because``), unless exposure
    is limited (``MaxTpr``, ``MaxExposed``, ``MaxEpsilon``) or was accepted. It is not applicable where the records
    cannot answer the question: sides written in two ways, rows that repeat or depend on each other.

    Attributes:
        limits: Each limit with its interval and its own verdict.
        confidence: 1 less twice the probability that the decision errs either way.
        provenance: Method, version, numbers of records, prior and seed.
        exposure: Whether a tail of the score holds members that no nonmember reaches, or almost none, whatever the
            limits are; of vectors, of their learned score.
        doubts: Signs that the scores are not what they are taken for, such as repeated rows.
        clusters: How many clusters the rows come in and what that costs the advantage; None if none were named.
        by_group: The advantage within each group, all holding together, where the mean risk of groups is limited and
            ``MaxGroupAdvantage`` does not judge them; else empty.
        accept_exposure: Whether a severe exposure was accepted.
        counted: Of counts, that what differs within a cell is not seen.

    Example:
        >>> from estimators import Counts
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxAdvantage
        >>> judgement = judge(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), [MaxAdvantage(0.3)])
        >>> judgement.decision.value, judgement.records_needed
        ('inconclusive', 803)
    """

    limits: tuple[JudgedLimit, ...]
    confidence: float
    provenance: Provenance
    exposure: Exposure
    doubts: tuple[Caution, ...] = ()
    clusters: ClusterSummary | None = None
    by_group: tuple[GroupAdvantage, ...] = ()
    accept_exposure: bool = False
    counted: tuple[str, ...] = ()

    @property
    def baseline(self) -> float:
        """The advantage of always guessing the likelier side."""
        return baseline(self.provenance.prior)

    @property
    def decision(self) -> Decision:
        """Fail if any fails, pass if all pass, unless that would hide a severe exposure or means nothing."""
        return self._withheld.decide(self._of_limits)

    @property
    def undecided_because(self) -> Because | None:
        """Why the decision is not that of the limits: ``exposed``, or by which caution it is not applicable."""
        return self._withheld.because(self._of_limits)

    @property
    def _of_limits(self) -> Decision:
        return overall(each.verdict.decision for each in self.limits)

    @property
    def _withheld(self) -> Withheld:
        limits = [each.name for each in self.limits]
        return Withheld.by({"": self.exposure}, limits, accepted=self.accept_exposure, odd=self.doubts)

    @property
    def records_needed(self) -> int | None:
        """Records of both sides that would settle an open decision; None if one limit cannot be settled."""
        if self.decision is not Decision.INCONCLUSIVE or self.undecided_because:
            return None
        totals = [each.verdict.records_needed for each in self._which(Decision.INCONCLUSIVE)]
        return None if None in totals else max(total for total in totals if total is not None)

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass: whom and what it covers, a sentence each; what they do not name is not covered."""
        if self.decision is not Decision.PASS:
            return ()
        learned = any(each.verdict.learned_score_accepted is not None for each in self.limits)
        coverage = [line for each in self.limits for line in each.coverage]
        return covers((*coverage, *self.counted), "this learned score" if learned else "this score")

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What to know first, each once: signs of a wrong input, then exposed members whom no limit may have shown."""
        of_limits = [caution for each in self.limits for caution in each.cautions]
        withheld = self._withheld.cautions(self._of_limits)
        return tuple(dict.fromkeys((*self.doubts, *self.exposure.cautions, *withheld, *of_limits)))

    @property
    def sentence(self) -> str:
        """The decision and what it rests on, in plain words."""
        decision, of = self._of_limits, len(self.limits)
        limits, sure = self._which(decision), percent(self.confidence)
        if self.undecided_because:
            return f"{opening(self.decision, more_would_settle=False)}: {self._withheld.reason}."
        accepted = self._withheld.acceptance if decision is Decision.PASS else ""
        if of == 1:
            return f"{limits[0].verdict.opening}: {limits[0].verdict.reason}.{accepted}"
        if decision is Decision.PASS:
            return (
                f"Pass: with {sure} confidence this score keeps within all {of} limits, for the attackers that each "
                f"limit's upper end covers.{self._of_means}{accepted}"
            )
        if decision is Decision.FAIL:
            reasons = "; ".join(each.verdict.reason for each in limits)
            return f"Fail: {len(limits)} of {of} limits are exceeded: {reasons}."
        records = self.records_needed
        n_sent = self.provenance.n_members + self.provenance.n_nonmembers
        learned = [
            f" {each.verdict.reason.capitalize()}." for each in limits if each.verdict.learned_score_accepted is False
        ]
        start = f"{opening(decision, records is not None)}: {len(limits)} of {of} limits are open"
        return f"{start}; {what_settles(records, n_sent, 'all of them')}.{''.join(learned)}"

    @property
    def _of_means(self) -> str:
        """What a pass does not say of groups, where only their mean risk is limited."""
        names = {each.name for each in self.limits}
        if "group_risk" not in names or "group_advantage" in names:
            return ""
        return " The mean risk of groups is read off all records together: no group was looked at by itself."

    def _which(self, decision: Decision) -> list[JudgedLimit]:
        return [each for each in self.limits if each.verdict.decision is decision]


def judge(
    data: Scores | Counts,
    limits: Sequence[Limit],
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    learned_by: LearnedTarget | None = None,
    cluster: Labels | None = None,
    accept_exposure: bool = False,
    doubts: Sequence[Caution] = (),
) -> Judgement:
    """Hold a sample against every limit; each has to be named before the records are looked at.

    Args:
        data, prior, seed: As for ``advantage``.
        limits: At least one of ``MaxAdvantage``, ``MaxTpr``, ``MaxMetric``, ``MaxEpsilon`` and ``MaxGroupRisk`` from
            ``estimators.decisions.maxima``, ``MaxExposed`` from ``estimators.decisions.exposed_members``, and
            ``MaxGroupAdvantage`` from ``estimators.decisions.group_limit``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits errs either way with half of the rest at most.
        learned_by: Of vectors, which classifiers compete for the learned score by which all limits but the advantage
            are judged, and whether a limit may pass by it: another score may give away more. None: all, and none may.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``. The advantage, and metrics that
            are a line in accuracy, are then judged by all rows; every other limit by rows of which no two share a
            label, drawn at random.
        accept_exposure: Whether a pass may stand beside a severe exposure that no limit judges.
        doubts: What is known to be odd about the records, such as ``dependent_rows`` of their columns.

    Returns:
        a ``Judgement``: fail if any limit fails, pass if all pass and no severe exposure is beside them, not applicable
        where the records cannot answer the question, else undecided (``inconclusive``).

    Raises:
        OptionError: no limit, or a maximum that is no finite number.

    Example:
        >>> from estimators import Counts, preset
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.maxima import MaxAdvantage, MaxMetric
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> judgement = judge(counts, [MaxAdvantage(0.6), MaxMetric(0.6, preset("accuracy", 0.5))])
        >>> [(limit.name, limit.verdict.decision.value) for limit in judgement.limits], judgement.decision.value
        ([('advantage', 'pass'), ('metric', 'inconclusive')], 'inconclusive')
    """
    require_data(data, Scores, Counts)
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    require_count("seed", seed, 0)
    if not limits:
        raise OptionError.about("limits", "got none, need at least 1")
    for limit in limits:
        if not isfinite(require_number("maximum", limit.maximum)):
            raise OutOfRange.about("maximum", "got no finite number")
    adversaries = learned_by or LearnedTarget()
    submitted, every = data, None
    if cluster is not None:
        every = require_scores(data)
        data = lone_rows(every, cluster, seed)
    boxes = all(
        isinstance(each, MaxAdvantage | MaxGroupAdvantage) and isinstance(each.target, CellsTarget) for each in limits
    )
    learned: LearnedScore | LearnedCounts | None = None
    if isinstance(data, Counts):
        fine = data
        learned = data if isinstance(data, LearnedCounts) else None
    elif data.dimension > 1 and not boxes:
        require_one_number(data, submitted)
        learned = learn_score(data, prior, seed, adversaries.learners)
        fine = learned.counts
    else:
        fine = finest(data)
    below = confidence if len(limits) == 1 else 1.0 - (1.0 - confidence) / len(limits)
    sample = GateSample(data, fine, prior, confidence, below, seed, learned, adversaries, every, cluster)
    results = tuple(judge_limit(limit, sample) for limit in limits)
    source = Provenance("gate", VERSION, submitted.n_members, submitted.n_nonmembers, prior, seed)
    summary = next((each.clusters for each in results if each.clusters is not None), None)
    if every is not None and summary is None:
        summary = sample.advantage_ends(every, CellsTarget()).clusters
    whole = [each.about for each in results if each.clusters is not None]
    of_all = f"{' and '.join(whole)} use{'s' * (len(whole) == 1)}" if whole else ""
    doubts = (*doubts, *fine.doubts, *lone_caution(data, submitted, of_all))
    own = _by_group(limits, sample)
    risks = [group for each in results if each.name == "group_risk" for group in each.groups]
    of_parts = (odd for some in (results, own) for each in some for odd in each.cautions)
    of_groups = (odd for odd in of_parts if odd.code in (CROWDED, REPEATED) and odd not in doubts)
    doubts = (*doubts, *of_groups, *exceeding(risks, own))
    tails = exposure(fine, confidence, prior)
    counted = as_counted(data) if isinstance(data, Counts) else ()
    return Judgement(results, confidence, source, tails, doubts, summary, own, accept_exposure, counted)


def _by_group(limits: Sequence[Limit], sample: GateSample) -> tuple[GroupAdvantage, ...]:
    """What each group gives away by itself, where only a mean risk is limited that does not show it."""
    limit = next((each for each in limits if isinstance(each, MaxGroupRisk)), None)
    if limit is None or limit.targets is not None or any(isinstance(each, MaxGroupAdvantage) for each in limits):
        return ()
    data = sample.every or sample.data
    target = CellsTarget() if isinstance(data, Scores) and data.dimension > 1 else None
    ends = ends_by_group(data, limit.groups, sample.prior, sample.seed, target, sample.cluster)
    return at_once(ends, sample.confidence)
