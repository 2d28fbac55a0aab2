"""Several queries of one model or one release: the riskiest of them, and limits that hold for all.

A limit passes if it passes for every query, and fails if it fails for one. A wrong pass needs that the limit passes for
the query that violates it, and that is one fixed query: upper ends need no correction (Berger 1982). A wrong fail needs
that any query fails any of the limits that all hold: lower ends share the error over queries and limits. Queries that
order the records alike are one question, and share nothing.

Queries of a model point one way, the higher the more like a member, so one end of each score is looked at; a released
table that was filtered keeps away from members, so there it is either.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from estimators.adversary.targets import Target
from estimators.clusters.dependent_rows import lone_rows, require_scores
from estimators.clusters.design import Labels
from estimators.decisions.compare import Comparison, RankedQuery, asked_once, compare
from estimators.decisions.coverage import covers
from estimators.decisions.exposed_members import AT_PRECISION, MaxExposed, Withheld
from estimators.decisions.gate_sample import GateSample, JudgedLimit, judge_limit
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage
from estimators.decisions.tpr_limit import MaxTpr
from estimators.decisions.verdict import DRIFT, Because, Decision, opening, overall
from estimators.errors import OptionError, OutOfRange, require_number, require_open_unit
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage, times
from estimators.privacy.direction import Direction
from estimators.privacy.exposure import Exposure
from estimators.python.dataclass import dataclass
from estimators.risk.groups import GroupRisks
from estimators.risk.individual import individual_risk
from estimators.risk.within_groups import GroupAdvantage, by_group
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.doubts import SAME
from estimators.sample.scores import Scores
from estimators.statement import Caution, Estimate, Interval, at_least, at_most, exactly

AnyLimit = MaxAdvantage | MaxTpr | MaxExposed

OF_BOTH_SIDES = {
    "advantage": "the advantage",
    "group_advantage": "the advantage within a group",
    "tpr": "the true positive rate",
    "exposed": "the share of exposed members",
}
"""What hangs on the hold-out where it passes, by the names of the limits, in words."""

OR_DRIFT = "fail, or drift"  # a fail of sides that differ anyway: it may be their own difference


class Sides(Protocol):
    """Whether two sides differ without any model: ``SplitCheck`` of ``audits.split``."""

    @property
    def differs(self) -> bool:
        """Whether they do, with confidence."""


class SidesBefore(Sides, Protocol):
    """The same with by how much, without any model."""

    @property
    def interval(self) -> Interval:
        """Of the advantage at a prior of one half."""


class ControlScore(Sides, Protocol):
    """A score whose model saw neither side, and the advantage that it has anyway: ``Control`` of ``audits.split``."""

    @property
    def advantage(self) -> Advantage:
        """That of the score."""


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """The decision over all limits, in words that say whether the sides' own difference may be behind it.

    Attributes:
        decision: Fail if any limit fails, pass if all pass, else undecided; None if nothing was limited.
        or_drift: Whether a fail may be the sides' own difference: they are told apart without model or release.
        word: The decision as a word: ``fail, or drift`` where that is so; empty if nothing was limited.
        sentence: The word with the reasons of the limits behind it; empty if nothing was limited.
        covers: Of a pass: whom and what it covers, a sentence each; what they do not name is not covered.
        undecided_because: ``exposed``, if all limits pass and the decision is open for a severe exposure that none of
            them judges; the code of a caution, if the decision is not applicable.
        cautions: That a pass was withheld for that, or stands because exposure was accepted.
    """

    decision: Decision | None
    or_drift: bool
    word: str
    sentence: str
    covers: tuple[str, ...] = ()
    undecided_because: Because | None = None
    cautions: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class RiskiestLimit:
    """One limit, judged for every query; ``judge_queries`` makes it.

    Attributes:
        name: What is limited: ``advantage``, ``group_advantage``, ``tpr``, ``exposed`` or ``copies``.
        decision: Fail if it fails for one query, pass if it passes for all.
        query: The query that decides: of those that fail, or are open, the one with the highest lower end; of those
            that all pass, the one with the highest upper end.
        estimate: The number that is limited, for that query.
        records_needed: Records of both sides that would settle an open decision; None if it is settled, or if in
            practice no number of them settles it.
        cautions: What to know of it, such as too few records for any lower end.
        holds_up_to_changes: Of a pass of the advantage: the largest number of changes of guess along the score, up to
            1,000, with which every attacker keeps within the limit, whichever query it is; None where there is none.
        coverage: Of a pass: whom and what its upper end covers, a sentence each, by that query.
        ranges: Of a true positive rate: of how many ranges of the score a set of scores consists at most; None else.
        threshold: Of it, for that query, the rate of the best threshold, by itself; None else.
        beside_drift: The highest upper end of all queries against a fair hold-out, of sides that differ by a drift that
            the limit was told of; None if of none, and of the advantage, whose upper end says it.
    """

    name: str
    maximum: float
    decision: Decision
    query: str
    estimate: Estimate
    reason: str
    records_needed: int | None = None
    cautions: tuple[Caution, ...] = ()
    holds_up_to_changes: int | None = None
    coverage: tuple[str, ...] = ()
    ranges: int | None = None
    threshold: Estimate | None = None
    beside_drift: float | None = None

    @property
    def opening(self) -> str:
        """How a sentence about it begins."""
        return opening(self.decision, self.records_needed is not None)


def limits_of(
    max_advantage: float | None = None,
    max_tpr: float | None = None,
    at_fpr: float = 0.001,
    direction: Direction = Direction.HIGH,
    max_exposed: float | None = None,
    at_precision: float = AT_PRECISION,
) -> tuple[AnyLimit, ...]:
    """The limits that were asked for, their numbers in range; None is no such limit."""
    rate, precision = require_open_unit("at_fpr", at_fpr), require_open_unit("at_precision", at_precision)
    limits: list[AnyLimit] = []
    for name, maximum, least in (
        ("max_advantage", max_advantage, -1.0),
        ("max_tpr", max_tpr, 0.0),
        ("max_exposed", max_exposed, 0.0),
    ):
        if maximum is not None and not least <= require_number(name, maximum) <= 1.0:
            raise OutOfRange.about(name, f"got {maximum!r}, need a number from {least:g} to 1")
    if max_advantage is not None:
        limits.append(MaxAdvantage(max_advantage))
    if max_tpr is not None:
        limits.append(MaxTpr(max_tpr, rate, direction))
    if max_exposed is not None:
        limits.append(MaxExposed(max_exposed, precision, direction))
    return tuple(limits)


def judge_queries(
    limits: Sequence[AnyLimit],
    queries: Mapping[str, Scores | Counts],
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    further: int = 0,
    cluster: Labels | None = None,
    drift: float = 0.0,
) -> tuple[RiskiestLimit, ...]:
    """Hold every query against every limit; each has to be named before the records are looked at.

    Args:
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. The decision over all
            limits errs either way with half of the rest at most.
        further: How many further limits share the error and are judged elsewhere.
        cluster: Whom each row belongs to, if some belong together, as in ``advantage``; it is that of every query. The
            advantage is judged by all rows, any other limit by rows of which no two share a label, drawn at random.
        drift: By how much the sides are shown to differ without any leak (``drift_of``).
    """
    questions = asked_once(queries)
    shares = max(1, (len(limits) + further) * len(questions))
    below = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / shares
    alone = any(not isinstance(limit, MaxAdvantage) for limit in limits)
    samples = {}
    for name, data in questions.items():
        every = None if cluster is None else require_scores(data)
        rows = data
        if every is not None and cluster is not None and alone:
            rows = lone_rows(every, cluster, seed)
        fine = rows if isinstance(rows, Counts) else finest(rows)
        samples[name] = GateSample(
            rows, fine, prior, confidence, below, seed, every=every, cluster=cluster, drift=drift
        )
    return tuple(
        _riskiest(limit.maximum, {name: judge_limit(limit, sample) for name, sample in samples.items()})
        for limit in limits
    )


def require_groups(max_group_advantage: float | None, *, grouped: bool) -> None:
    """Refuse a limit on groups where there are none, or that is no advantage."""
    if max_group_advantage is None:
        return
    if not -1.0 <= require_number("max_group_advantage", max_group_advantage) <= 1.0:
        message = f"got {max_group_advantage!r}, need a number from -1 to 1"
        raise OutOfRange.about("max_group_advantage", message)
    if not grouped:
        raise OptionError.about("max_group_advantage", "needs groups; name them")


def judge_groups(
    max_group_advantage: float,
    queries: Mapping[str, Scores],
    labels: Mapping[str, NDArray[np.generic]],
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    further: int = 0,
    cluster: Labels | None = None,
    target: Target | None = None,
    drift: float = 0.0,
) -> RiskiestLimit:
    """Hold what every query gives away within every group against a limit.

    Args:
        labels: The group of each record of the query of that name, members first.
        further: How many further limits share the error and are judged elsewhere.
        drift: By how much the sides are shown to differ without any leak (``drift_of``).
    """
    questions = asked_once(queries)
    below = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / ((1 + further) * len(questions))
    verdicts = {}
    for name, data in questions.items():
        limit = MaxGroupAdvantage(max_group_advantage, labels[name], target)
        every = None if cluster is None else data
        sample = GateSample(
            data, finest(data), prior, confidence, below, seed, every=every, cluster=cluster, drift=drift
        )
        verdicts[name] = judge_limit(limit, sample)
    return _riskiest(max_group_advantage, verdicts)


def compare_queries(
    queries: Mapping[str, Scores], prior: float = 0.5, confidence: float = 0.95, seed: int = 0
) -> Comparison:
    """``compare`` that also takes a single query, which needs no correction."""
    if not queries:
        raise OptionError.about("queries", "got none, need at least 1")
    if len(queries) > 1:
        return compare(queries, prior, confidence=confidence, seed=seed)
    ((name, scores),) = queries.items()
    answer = advantage(scores, prior, confidence=confidence, seed=seed)
    return Comparison(answer.estimate, (RankedQuery(name, answer, 1, 1),), answer.cautions)


def most_exposed(exposures: Mapping[str, Exposure]) -> tuple[str, Exposure]:
    """The query that exposes members most surely."""

    def surely(name: str) -> tuple[bool, bool, float]:
        each = exposures[name]
        return each.severe, each.alarm, each.members_epsilon

    name = max(exposures, key=surely)
    return name, exposures[name]


def by_groups(
    queries: Mapping[str, Scores],
    comparison: Comparison,
    labels: NDArray[np.generic],
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[GroupRisks, tuple[GroupAdvantage, ...]]:
    """What the riskiest query says of each group; which one it is was read off, so all queries share the error.

    Args:
        comparison: Their ranking; queries of some of the records only are passed over.
    """
    in_order = asked_once({each.name: queries[each.name] for each in comparison.ranking})
    whole = [each for each in in_order.values() if each.n_members + each.n_nonmembers == len(labels)]
    shared = 1.0 - (1.0 - require_open_unit("confidence", confidence)) / len(whole)
    risks = individual_risk(whole[0], prior, shared, groups=labels, seed=seed).groups
    assert risks is not None
    of_members, of_nonmembers = np.split(labels, [whole[0].n_members])
    return risks, by_group(whole[0], of_members, of_nonmembers, prior, shared, seed)


OF_COPIES = frozenset({"copies", "near_copies"})
"""Limits on rows of a release, and on no score."""

COPIES_ALONE = (
    "It covers training rows that stand in the release alone: what scores of them give away was not limited.",
)


def verdict_of(
    limits: Sequence[RiskiestLimit],
    split: SidesBefore | None,
    what: str,
    control: ControlScore | None = None,
    exposures: Mapping[str, Exposure] | None = None,
    accept_exposure: bool = False,
    odd: Iterable[Caution] = (),
    prior: float = 0.5,
    shared: float = 0.0,
) -> AuditVerdict:
    """The decision over all limits; a fail of sides that differ without the model is ``fail, or drift``.

    Args:
        split: Whether the sides differ anyway; None if that was not asked.
        what: What is audited: ``model`` or ``release``.
        control: The advantage of a score whose model saw neither side; None if there is no such score.
        exposures: What each query exposes, held together; a severe one leaves open what would be a pass.
        shared: The share of the hold-out that is of the training side, too.
    """
    if not limits:
        return AuditVerdict(None, False, "", "")
    decision = overall(limit.decision for limit in limits)
    is_measured = split is not None or control is not None
    odd = (
        *(each for each in odd if not is_measured or each.code != DRIFT),
        *hidden_by_drift(limits, drift_of(split, control, prior, shared), prior, shared),
    )
    names = [limit.name for limit in limits]
    withheld = Withheld.by(exposures or {}, names, accepted=accept_exposure, odd=odd)
    because, cautions = withheld.because(decision), withheld.cautions(decision)
    if because is not None:
        is_open = withheld.decide(decision)
        start = opening(is_open, more_would_settle=False)
        return AuditVerdict(is_open, False, is_open.value, f"{start}: {withheld.reason}.", (), because, cautions)
    columns, score = split is not None and split.differs, control is not None and control.differs
    or_drift = decision is Decision.FAIL and (columns or score)
    word = OR_DRIFT if or_drift else decision.value
    can_settle = all(limit.records_needed is not None for limit in limits if limit.decision is decision)
    start = f"{OR_DRIFT[0].upper()}{OR_DRIFT[1:]}" if or_drift else opening(decision, can_settle)
    reasons = "; ".join(limit.reason for limit in limits if limit.decision is decision)
    tail = f" {_of_drift(what, control)}" if or_drift else ""
    lines: tuple[str, ...] = ()
    if decision is Decision.PASS:
        tail = withheld.acceptance
        lines = COPIES_ALONE
        if not set(names) <= OF_COPIES:
            lines = covers([line for limit in limits for line in limit.coverage], "the scores that were asked")
    return AuditVerdict(decision, or_drift, word, f"{start}: {reasons}.{tail}", lines, cautions=cautions)


def drift_of(
    split: SidesBefore | None, control: ControlScore | None = None, prior: float = 0.5, shared: float = 0.0
) -> float:
    """By how much the law of the hold-out is shown to differ from a fair one's without any leak.

    A control score says so if there is one: an advantage at that prior is at most its baseline and
    2 min(prior, 1 - prior) times that distance. A share of training rows among the hold-out adds no more than itself.
    """
    if control is not None:
        beyond = max(0.0, control.advantage.lower - control.advantage.baseline)
        return min(1.0, shared + beyond / (2.0 * min(prior, 1.0 - prior)))
    return min(1.0, shared + (split.interval.lower if split is not None and split.differs else 0.0))


def hidden_by_drift(
    limits: Iterable[RiskiestLimit], drift: float, prior: float, shared: float = 0.0
) -> Iterator[Caution]:
    """That a pass says nothing, as a difference which the sides are shown to have may hide a leak beyond the limit.

    With f of members, g of the hold-out, h of those that a fair hold-out were, and D = TV(g, h), the advantage of f
    over h is at most that of f over g and 2 (1 - prior) D. A set of which a share a is of h has at most a + D of g: the
    true positive rate at a false positive rate a is at most that at a + D, and who is exposed lies in a range whose
    share of g, less D, has the odds. Within a group that has a share q of g the distance is at most D / q. Copies are
    counted, and hang on no hold-out where they pass. A limit that was not told of the drift does not pass beside it.
    """
    for limit in limits:
        if limit.decision is not Decision.PASS or limit.name not in OF_BOTH_SIDES:
            continue
        if limit.name == "advantage":
            yield from drift_beside(limit.estimate.upper, limit.maximum, drift, prior, shared)
        else:
            most = 1.0 if limit.beside_drift is None else limit.beside_drift
            yield from _may_hide(OF_BOTH_SIDES[limit.name], most, limit.maximum, drift, shared)


def drift_beside(upper: float, maximum: float, drift: float, prior: float, shared: float = 0.0) -> Iterator[Caution]:
    """That an upper end of the advantage that keeps a limit says nothing beside sides that differ by so much."""
    yield from _may_hide(OF_BOTH_SIDES["advantage"], upper + 2.0 * (1.0 - prior) * drift, maximum, drift, shared)


def _may_hide(what: str, most: float, maximum: float, drift: float, shared: float) -> Iterator[Caution]:
    if not drift or most <= maximum:
        return
    mostly = 2.0 * shared >= drift
    if mostly:
        why = f"{100.0 * shared:.3g}% of the hold-out is of the training side, too, and so much may hide a leak"
        instead = "leave these rows out of both sides"
    else:
        why = f"the two sides differ by at least {at_least(drift)} without any leak, and so much may hide one"
        instead = "shuffle all rows before you split them, or audit matched sides"
    yield Caution(
        SAME if mostly else DRIFT,
        f"{why}: {what} may be {at_most(min(1.0, most))}, above {exactly(maximum)}; {instead}",
    )


def _of_drift(what: str, control: ControlScore | None) -> str:
    """Why a fail may be the sides' own difference, and what to do."""
    instead = "shuffle all rows before you split them, or audit matched sides"
    if control is None:
        return (
            f"The two sides differ without the {what}, so that this may be drift and no leak: shuffle all rows before "
            f"you split them, audit matched sides, or score the sides by a {what} that was made of neither."
        )
    if control.differs:
        return (
            f"A {what} that was made of neither side tells them apart, too, by an advantage of at least "
            f"{at_least(control.advantage.lower)}, so that this may be drift and no leak: {instead}."
        )
    return (
        f"The two sides differ without the {what}, but nothing shows that their difference reaches such a score: that "
        f"of a {what} that was made of neither has an advantage of at most {at_most(control.advantage.upper)}, and if "
        f"this {what} is like that one, drift alone explains no more. To be sure, {instead}."
    )


def _riskiest(maximum: float, verdicts: Mapping[str, JudgedLimit]) -> RiskiestLimit:
    """The decision over all queries, and the query that decides."""
    decision = overall(each.verdict.decision for each in verdicts.values())
    deciding = {name: each for name, each in verdicts.items() if each.verdict.decision is decision}
    if decision is Decision.PASS:
        name = max(deciding, key=lambda each: deciding[each].estimate.upper)
    else:
        name = max(deciding, key=lambda each: (deciding[each].estimate.lower, deciding[each].estimate.upper))
    worst = deciding[name]
    reason = worst.verdict.reason
    if len(verdicts) > 1:
        reason = (
            f"all {len(verdicts)} queries keep within the limit; {name}, which comes nearest: {reason}"
            if decision is Decision.PASS
            else f"{name}: {reason}"
        )
    changes = [each.verdict.holds_up_to_changes for each in verdicts.values()]
    fewest = None if None in changes else min(each for each in changes if each is not None)
    if fewest is not None and decision is Decision.PASS and fewest != worst.verdict.holds_up_to_changes:
        reason += f"; what all queries keep is for attackers who change their guess {times(fewest)}"
    totals = [each.verdict.records_needed for each in deciding.values()]
    beside = [each.beside_drift for each in verdicts.values() if each.beside_drift is not None]
    records = None if None in totals else max(total for total in totals if total is not None)
    return RiskiestLimit(
        worst.name,
        float(maximum),
        decision,
        name,
        worst.estimate,
        reason,
        records if decision is Decision.INCONCLUSIVE else None,
        worst.cautions,
        fewest if decision is Decision.PASS else None,
        worst.coverage if decision is Decision.PASS else (),
        worst.ranges,
        worst.threshold,
        max(beside, default=None),
    )
