"""From an interval to a decision, and from an open decision to the records that would settle it."""

from collections.abc import Iterable
from enum import StrEnum
from functools import cache, lru_cache
from math import ceil
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from estimators.adversary.lower_end import LowerEnd
from estimators.adversary.targets import LearnedTarget
from estimators.decisions.coverage import coverage_of, covers, up_to
from estimators.errors import OutOfRange, require_count, require_number, require_open_unit
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import Ends, checked_ends, ends_of
from estimators.python.dataclass import dataclass, replace
from estimators.python.renamed import renamed
from estimators.sample.cells import Intervals
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution, Estimate, at_least, at_most, baseline, exactly, percent, roughly

__all__ = ["Decision", "Plan", "Verdict", "expected_design_effect", "plan_verdict", "plan_width", "verdict"]

MOST_RECORDS = 10**8
"""Records that somebody may still collect: more than most training sets have whose members are known."""

NEAR = 1e-12
"""What a baseline may be off by for having been computed: 2 * 0.65 - 1 is a little more than 0.3."""

NONE_SETTLES = "in practice no number of records will settle"

FINE = 256  # cells that stand for the score's full resolution in the world of a plan
RUNS = 40  # samples of each number of records
SAMPLES = 10  # samples without a leak of which the upper end is looked at

POWER = 0.8

ENOUGH_CLUSTERS = 40  # fewer are limited by betting, which takes far more records
DRIFT = "sides_differ"  # the code where a difference of the sides themselves may hide a leak

ELSEWHERE, PUBLISHED = "released_elsewhere", "synthetic_is_members"
"""The code where every released value of a column lies beyond all training and hold-out rows."""


class Decision(StrEnum):
    """What an interval says about a threshold, equal to its word: ``decision == "fail"``.

    Attributes:
        PASS: ``"pass"``: the whole interval is at or below the threshold.
        FAIL: ``"fail"``: the whole interval is above it.
        INCONCLUSIVE: ``"inconclusive"``: the threshold lies within the interval.
        NOT_APPLICABLE: ``"not applicable"``: what was sent cannot answer the question, so that nothing passes.

    Example:
        >>> from estimators import Counts, Decision, advantage, verdict
        >>> result = advantage(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]))
        >>> verdict(result, 0.1).decision is Decision.FAIL
        True
        >>> verdict(result, 0.1).decision.value
        'fail'
    """

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not applicable"


def unanswerable(plain: Decision | None, cautions: Iterable[Caution]) -> Caution | None:
    """The first caution by which no pass stands: the same records on both sides, rows of one person, and the like.

    More of the same settles nothing. A fail stands: what is read off the records is read off them, whatever else they
    are.
    """
    if plain not in (Decision.PASS, Decision.INCONCLUSIVE):
        return None
    return next((each for each in cautions if each.code in UNANSWERABLE), None)


Because = Literal[
    "exposed",
    "sides_share_records",
    "sides_differ_in_precision",
    "repeated_scores",
    "crowded_cell",
    "dependent_rows",
    "sides_differ",
    "released_elsewhere",
    "synthetic_is_members",
]
"""Why no pass stands where all limits are kept, the code of a caution: members whom it would hide (the decision is then
open), or what was sent cannot answer the question (not applicable)."""

UNANSWERABLE = frozenset(get_args(Because)) - {"exposed"}
"""Codes of cautions by which a question cannot be answered."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision at a threshold, why, and how many records of both sides would settle it if it is open.

    Attributes:
        threshold: The threshold that was decided at.
        decision: What the interval says; ``Decision.NOT_APPLICABLE`` where the records cannot say it.
        reason: Why, in words.
        records_needed: Records of both sides together that are expected to settle an open decision; None if it is
            settled, or if no number of records is expected to settle it.
        learned_score_accepted: If the upper end is that of a learned score, whether it was accepted for a pass; None
            if it is not.
        holds_up_to_changes: Of a pass of the advantage: the largest number of changes of guess along the score, up to
            1,000, with which every attacker keeps within the limit; None without an order, and of rows in clusters.
        coverage: Of a pass of the advantage: the attackers and the resolution that it covers, a sentence each.
        undecided_because: ``"exposed"`` if it would be a pass that hides a severe exposure, the code of a caution if
            the decision is not applicable; None else. ``verdict`` sees an advantage and no records; ``assess``, and
            whatever else has them, looks.

    Example:
        >>> from estimators import Counts, advantage, verdict
        >>> open_one = verdict(advantage(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])), 0.3)
        >>> open_one.decision.value, open_one.records_needed
        ('inconclusive', 885)
    """

    threshold: float
    decision: Decision
    reason: str
    records_needed: int | None
    learned_score_accepted: bool | None = None
    holds_up_to_changes: int | None = None
    coverage: tuple[str, ...] = ()
    undecided_because: Because | None = None

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass: whom and what it covers, a sentence each; what they do not name is not covered."""
        if self.decision is not Decision.PASS:
            return ()
        return covers(self.coverage, "this score" if self.learned_score_accepted is None else "this learned score")

    @property
    def opening(self) -> str:
        """How a sentence about it begins."""
        return opening(self.decision, self.records_needed is not None)


@dataclass(frozen=True, slots=True)
class Plan:
    """Records of both sides together that are expected to be enough.

    Attributes:
        records: Records in all; None if more than a billion would be needed.
        members: How many of them are members.
        nonmembers: How many of them are nonmembers.
        sentence: The plan in plain words.

    Example:
        >>> from estimators import plan_width
        >>> plan = plan_width(expected=0.3, width=0.25)
        >>> plan.records == plan.members + plan.nonmembers
        True
    """

    records: int | None
    members: int | None
    nonmembers: int | None
    sentence: str


@renamed("threshold", "max_advantage")
def verdict(result: Advantage, max_advantage: float) -> Verdict:
    """What the certified interval of the advantage says about the largest that is acceptable.

    Args:
        result: An ``Advantage``, from ``advantage`` or ``assess``.
        max_advantage: Largest advantage that is acceptable, from -1 to 1.

    Returns:
        a ``Verdict``: pass if the upper end is at or below the limit, fail if the lower end is above it, else
        inconclusive, with the records that would settle it. A learned score passes only if it was accepted by name
        (``LearnedTarget(accept_learned_score=True)``).

    Raises:
        OutOfRange: a limit that is no number from -1 to 1.

    Example:
        >>> from estimators import Counts, advantage, verdict
        >>> result = advantage(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]))
        >>> print(verdict(result, 0.1).reason)
        with 95% confidence the advantage is at least 0.205, above 0.1
        >>> print(verdict(result, 0.3).reason)
        with 95% confidence the advantage may be anything from 0.205 to 0.526, your limit is 0.3; about 885 records in
        all would settle it, you sent 200
    """
    most = require_number("max_advantage", max_advantage)
    if not -1.0 <= most <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {most!r}, need a number between -1 and 1")
    records = result.provenance.n_members + result.provenance.n_nonmembers
    total = None if result.class_rejected else records_needed(result.estimate, most, records)
    return judge_advantage(result, result.estimate, most, total)


def judge_advantage(
    result: Advantage, estimate: Estimate, threshold: float, records: int | None, about: str = "the advantage"
) -> Verdict:
    """``decide`` about an advantage: that of a learned score says so first, and passes only where it was accepted."""
    n_sent = result.provenance.n_members + result.provenance.n_nonmembers
    plain = decide(about, estimate, threshold, records, n_sent, result.scope)
    if isinstance(result.target, LearnedTarget):
        plain = of_learned_score(plain, result.target.accept_learned_score)
    return plain if plain.decision is not Decision.PASS else _up_to_whom(plain, result)


def _up_to_whom(plain: Verdict, result: Advantage) -> Verdict:
    """A pass with the attackers that it covers: up to so many changes of guess, beside the declared class."""
    changes = result.holds_up_to(plain.threshold)
    along = up_to(result, changes)
    return replace(
        plain,
        reason=f"{plain.reason}; the limit holds for {along}" if along else plain.reason,
        holds_up_to_changes=changes,
        coverage=coverage_of(result, changes),
    )


def of_learned_score(plain: Verdict, accepted: bool) -> Verdict:
    """A decision that rests on a learned score: it says so first, and passes only where that was accepted."""
    reason, records = plain.reason, plain.records_needed
    outcome = by_learned_score(plain.decision, accepted)
    if outcome is not plain.decision:
        records = None
        reason = (
            f"the upper end is not above {exactly(plain.threshold)}, but it is that of one score that was learned "
            "here, and an attacker may read more from the vector; to pass by it, accept the learned score by "
            "name (estimator learned, accept_learned_score)"
        )
    return replace(
        plain,
        decision=outcome,
        reason=f"learned score: {reason}",
        records_needed=records,
        learned_score_accepted=accepted,
    )


def by_learned_score(plain: Decision, accepted: bool | None) -> Decision:
    """A decision by a learned score: no pass unless it was accepted; None of a score that was not learned."""
    return Decision.INCONCLUSIVE if plain is Decision.PASS and accepted is False else plain


def decision(lower: float, upper: float, threshold: float) -> Decision:
    """Pass if an interval is at or below the threshold, fail if it is above, else inconclusive."""
    if upper <= threshold:
        return Decision.PASS
    return Decision.FAIL if lower - threshold > NEAR else Decision.INCONCLUSIVE


def opening(outcome: Decision, more_would_settle: bool) -> str:
    """How a sentence about a decision begins: an open one is for want of data only if more of them would settle it."""
    if outcome is Decision.INCONCLUSIVE:
        return "Undecided, not enough data" if more_would_settle else "Undecided"
    return str(outcome.value).capitalize()


def overall(decisions: Iterable[Decision]) -> Decision:
    """The decision over several limits: fail if any fails, pass if all pass, else not applicable, or inconclusive."""
    distinct, order = set(decisions), (Decision.FAIL, Decision.NOT_APPLICABLE, Decision.INCONCLUSIVE)
    return next((each for each in order if each in distinct), Decision.PASS)


def by_a_hair(outcome: Decision, threshold: float, below: Advantage) -> tuple[Caution, ...]:
    """That another seed may decide otherwise: single orders of the records do not agree with their median.

    No pass hangs on the seed, as no upper end does.
    """
    least, most = below.lower_by_order or (below.lower, below.lower)
    fails = outcome is Decision.FAIL and least <= threshold
    if not (fails or (outcome is Decision.INCONCLUSIVE and most > threshold >= below.lower)):
        return ()
    end = at_least(below.lower, beyond=threshold) if fails else at_least(below.lower)
    message = (
        f"the lower end, {end}, is so near the limit of {exactly(threshold)} that another seed may decide otherwise: "
        "declare the seed beforehand (mace declare), or collect more records"
    )
    return (Caution("seed_may_decide", message),)


def beneath_baseline(threshold: float, baseline: float) -> tuple[Caution, ...]:
    """A threshold that is exceeded without any leak."""
    if baseline - threshold <= NEAR:
        return ()
    message = f"the limit of {exactly(threshold)} lies below {baseline:.3g}, which guessing without the score reaches"
    return (Caution("limit_below_baseline", message),)


def decide(
    what: str, estimate: Estimate, threshold: float, records: int | None, n_sent: int, scope: str = ""
) -> Verdict:
    """What an interval of anything says about a threshold.

    Args:
        records: Records of both sides that settle it if it is open; None if in practice no number of them does.
        scope: What the upper end alone is limited to, which a pass must not leave unsaid.
    """
    lower, upper, sure = estimate.lower, estimate.upper, percent(estimate.interval.confidence)
    decided, limit = decision(lower, upper, threshold), exactly(threshold)
    if decided is Decision.PASS:
        high = at_most(upper, within=threshold)
        reason = f"with {sure} confidence {what}{scope} is at most {high}, not above {limit}"
        return Verdict(threshold, decided, reason, None)
    if decided is Decision.FAIL:
        reason = f"with {sure} confidence {what} is at least {at_least(lower, beyond=threshold)}, above {limit}"
        return Verdict(threshold, decided, reason, None)
    reason = f"with {sure} confidence {what} may be {anything_between(lower, upper)}, your limit is {limit}"
    return Verdict(threshold, decided, f"{reason}; {what_settles(records, n_sent)}", records)


def anything_between(lower: float, upper: float) -> str:
    """Both ends of an open interval, in words."""
    low = at_least(lower)
    return f"anything from {low} to {at_most(upper)}" if np.isfinite(upper) else f"anything from {low} on"


MORE = 1.1  # times as many records as were sent, at least, where these do not settle it


def what_settles(records: int | None, n_sent: int, what: str = "it") -> str:
    """How many records would settle what is open, and how many there are."""
    if records is None:
        return f"{NONE_SETTLES} {what}"
    return f"about {roughly(records)} records in all would settle {what}, you sent {n_sent:,}"


def records_needed(estimate: Estimate, threshold: float, records: int, rate: float = 0.5) -> int | None:
    """Records expected to bring the near end across the threshold; None if in practice no number of them does.

    Half-widths shrink as N^-rate, so N ((U - point)/(threshold - point))^(1/rate) are enough; at least a tenth more
    than what did not settle it.
    """
    value = estimate.lower if estimate.value is None else estimate.value
    gap = threshold - value
    if gap == 0:
        return None
    reach = estimate.upper - value if gap > 0 else value - estimate.lower
    times = min(max(1.0, reach / abs(gap)), float(MOST_RECORDS))  # a gap of 1e-308 would overflow
    total = records * max(times ** (1.0 / rate), MORE)
    return int(np.ceil(total)) if total <= most_records(records) else None


def most_records(records: int) -> int:
    """The largest number of records worth naming to somebody who has so many."""
    return max(MOST_RECORDS, 2 * records)


@renamed("threshold", "max_advantage")
def plan_verdict(
    expected: float,
    max_advantage: float,
    prior: float = 0.5,
    member_share: float = 0.5,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    cluster_size: int = 1,
) -> Plan:
    """Records for a decision about ``max_advantage`` in four samples of five, if the true advantage is ``expected``.

    Samples are simulated with Gaussian scores that have this advantage, drawn as counts, so a billion records cost
    what a thousand do; more records never decide less often, so bisection finds the fewest that suffice.

    Args:
        expected: The advantage that you expect, from the baseline |2 x prior - 1| up to but not including 1.
        max_advantage: Largest advantage that is acceptable, from -1 to 1. The nearer to ``expected``, the more
            records.
        prior, confidence: As for ``advantage``.
        member_share: Share of members among the records that you will score, strictly between 0 and 1.
        design_effect: How many times as many records in clusters it takes as independent ones: an earlier answer's, or
            ``expected_design_effect``.
        cluster_size: Records of one cluster; so many records are planned that there are 40 clusters at least.

    Raises:
        OutOfRange: an expected advantage below the baseline, or another number out of its range.

    Example:
        >>> from estimators import plan_verdict
        >>> print(plan_verdict(expected=0.5, max_advantage=0.1).sentence)
        about 52 records, 26 of them members, are enough to decide at a limit of 0.1 in four samples of five, if the
        true advantage is 0.5
    """
    require_reachable(expected, prior)
    most = require_number("max_advantage", max_advantage)

    if not -1.0 <= most <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {most!r}, need a number between -1 and 1")
    purpose = f"to decide at a limit of {exactly(most)}"
    aim = _Decides(most)
    return _smallest(expected, prior, member_share, confidence, aim, purpose, design_effect, cluster_size)


@cache
def records_without_leak(
    max_advantage: float, prior: float = 0.5, member_share: float = 0.5, confidence: float = 0.95
) -> int | None:
    """Records of both sides of which most samples keep a limit where nothing leaks; None if in practice no number does.

    Fewer cannot be expected to pass, whatever is true of them. The fewest are found by doubling and bisection, a few
    simulated samples each.
    """
    if max_advantage <= baseline(prior):
        return None
    alpha = (1.0 - confidence) / 2.0

    def pass_most(records: int) -> bool:
        members = min(max(MIN_RECORDS, round(member_share * records)), records - MIN_RECORDS)
        cells = plan_cells(0.0, member_share, max(FINE, resolution(records)))
        rng, failed = np.random.default_rng(records), 0
        for run in range(SAMPLES):
            counts = draw_counts(0.0, members, records - members, cells, rng)
            failed += checked_ends(counts, prior, None, run, 1).upper(alpha) > max_advantage
            if failed > SAMPLES * (1.0 - POWER):
                return False
        return True

    low = high = ceil(MIN_RECORDS / min(member_share, 1.0 - member_share))
    while not pass_most(high):
        if high >= MOST_RECORDS:
            return None
        low, high = high, min(2 * high, MOST_RECORDS)
    while high - low > 1 and high / low > 1.1:
        middle = round(np.sqrt(low * high))
        low, high = (low, middle) if pass_most(middle) else (middle, high)
    return high


def expected_design_effect(cluster_size: int, correlation: float) -> float:
    """The design effect of clusters of one size, if two scores of a cluster are so alike.

    Guesses of a rule at the median agree less than normal scores do: their correlation is 2/pi asin(correlation).

    Args:
        cluster_size: Records of one cluster.
        correlation: Correlation of two scores of one cluster and one side, from 0 to 1.

    Example:
        >>> from estimators.decisions.plan import expected_design_effect
        >>> round(expected_design_effect(cluster_size=50, correlation=0.5), 2)
        17.33
    """
    require_count("cluster_size", cluster_size)
    if not 0.0 <= require_number("correlation", correlation) <= 1.0:
        raise OutOfRange.about("correlation", f"got {correlation!r}, need a number from 0 to 1")
    return float(1.0 + (cluster_size - 1) * 2.0 / np.pi * np.arcsin(correlation))


def plan_width(
    expected: float,
    width: float,
    prior: float = 0.5,
    member_share: float = 0.5,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    cluster_size: int = 1,
) -> Plan:
    """Records for an interval no wider than ``width`` in four samples of five, if the truth is ``expected``.

    Args:
        expected: The advantage that you expect, from the baseline |2 x prior - 1| up to but not including 1.
        width: Largest distance between the two ends, strictly between 0 and 1.
        prior, confidence: As for ``advantage``.
        member_share: Share of members among the records that you will score, strictly between 0 and 1.
        design_effect: How many times as many records in clusters it takes as independent ones: an earlier answer's, or
            ``expected_design_effect``.
        cluster_size: Records of one cluster; so many records are planned that there are 40 clusters at least.

    Raises:
        OutOfRange: an expected advantage below the baseline, or another number out of its range.

    Example:
        >>> from estimators import plan_width
        >>> print(plan_width(expected=0.3, width=0.25).sentence)
        about 450 records, 225 of them members, are enough for an interval no wider than 0.25 in four samples of five,
        if the true advantage is 0.3
    """
    require_reachable(expected, prior)
    require_open_unit("width", width)

    purpose = f"for an interval no wider than {exactly(width)}"
    aim = _NoWider(width)
    return _smallest(expected, prior, member_share, confidence, aim, purpose, design_effect, cluster_size)


def require_reachable(expected: float, prior: float) -> None:
    """Refuse to expect less than what guessing without the score has, or more than is possible."""
    prior = require_open_unit("prior", prior)
    expected, floor = require_number("expected", expected), baseline(prior)
    if not floor <= expected < 1.0:
        message = f"expected advantage: got {expected!r}, need at least the baseline {floor:g} and below 1"
        raise OutOfRange(message, field="expected")


@dataclass(frozen=True, slots=True)
class _Decides:
    """Whether an interval is on one side of a limit: no word of the verdict is needed."""

    most: float

    def by(self, lower: float, upper: float) -> bool:
        return decision(lower, upper, self.most) is not Decision.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class _NoWider:
    """Whether an interval is so narrow."""

    width: float

    def by(self, lower: float, upper: float) -> bool:
        return upper - lower <= self.width


def _is_reached(aim: _Decides | _NoWider, ends: Ends, alpha: float) -> bool:
    """Whether the interval is as it shall be; the limit of the best cut takes longest, and is seldom needed for it."""
    if isinstance(ends.validation, LowerEnd):
        upper = ends.upper(alpha)
        least, most = ends.validation.between(alpha)
        outcome = aim.by(least, upper)
        if most <= upper and aim.by(most, upper) == outcome:
            return outcome
    return aim.by(*ends.interval(alpha))


def _smallest(
    expected: float,
    prior: float,
    share: float,
    confidence: float,
    aim: _Decides | _NoWider,
    purpose: str,
    design_effect: float,
    cluster_size: int,
) -> Plan:
    share, confidence = require_open_unit("member_share", share), require_open_unit("confidence", confidence)
    require_count("cluster_size", cluster_size)
    if not 1.0 <= require_number("design_effect", design_effect) < MOST_RECORDS:
        raise OutOfRange.about("design_effect", f"got {design_effect!r}, need at least 1")
    high = _fewest(float(expected), float(prior), share, (1.0 - confidence) / 2.0, aim, RUNS)
    if high is None:
        sentence = f"in practice no number of records is enough {purpose}: more than {MOST_RECORDS} would be needed"
        return Plan(None, None, None, sentence)
    in_clusters = design_effect > 1.0 or cluster_size > 1
    if in_clusters:
        high = max(int(np.ceil(high * design_effect)), ENOUGH_CLUSTERS * cluster_size)
    members = round(share * high)
    clusters = f" in {-(-high // cluster_size)} clusters," if cluster_size > 1 else ""
    effect = f" and the design effect {design_effect:.3g}" if in_clusters else ""
    return Plan(
        high,
        members,
        high - members,
        f"about {high} records, {members} of them members,{clusters} are "
        f"enough {purpose} in four samples of five, if the true advantage is {expected:g}{effect}",
    )


@lru_cache(maxsize=128)
def _fewest(
    expected: float, prior: float, share: float, alpha: float, aim: _Decides | _NoWider, runs: int
) -> int | None:
    """Records of which four samples of five are what is wanted; None if in practice no number is.

    It takes a second, and the same question is asked again: in another form, or for clusters.
    """
    shift = shift_for(expected, prior)

    def suffices(records: int) -> bool:
        rng = np.random.default_rng(records)
        members = max(8, round(share * records))
        nonmembers = max(8, records - members)
        cells = plan_cells(shift, share, max(FINE, resolution(members + nonmembers)))
        successes, quota = 0, POWER * runs
        for run in range(runs):
            counts = draw_counts(shift, members, nonmembers, cells, rng)
            successes += _is_reached(aim, ends_of(counts, prior, None, run, 1), alpha)
            if successes >= quota or successes + runs - run - 1 < quota:  # the runs left cannot change it
                break
        return successes >= quota

    low, high = 16, 64
    while not suffices(high):
        if high >= MOST_RECORDS:
            return None
        low, high = high, min(high * 4, MOST_RECORDS)
    while high / low > 1.05:
        middle = round(np.sqrt(low * high))
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def shift_for(expected: float, prior: float) -> float:
    """Mean difference of two unit Gaussians whose optimal advantage at ``prior`` is ``expected``."""

    def advantage_at(m: float) -> float:
        if m == 0.0:
            return baseline(prior)
        cut = m / 2.0 + np.log((1.0 - prior) / prior) / m  # where p r = (1-p) q
        return float(2.0 * (prior * ndtr(m - cut) + (1.0 - prior) * ndtr(cut)) - 1.0)

    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if advantage_at(middle) < expected else (low, middle)
    return 0.0 if expected <= baseline(prior) else high


def plan_cells(shift: float, share: float, size: int) -> Intervals:
    """Cuts of equal pooled mass in the world of the plan."""
    grid = np.linspace(-9.0, 9.0 + shift, 20_001)
    pooled = share * ndtr(grid - shift) + (1.0 - share) * ndtr(grid)
    cuts = np.interp(np.arange(1, size) / size, pooled, grid)
    return Intervals(np.unique(cuts if shift else ndtri(np.arange(1, size) / size)))


def draw_counts(shift: float, members: int, nonmembers: int, cells: Intervals, rng: np.random.Generator) -> Counts:
    """So many records of both sides in the world of the plan."""
    r = np.diff(ndtr(cells.cuts - shift), prepend=0.0, append=1.0)
    q = np.diff(ndtr(cells.cuts), prepend=0.0, append=1.0)
    return Counts(rng.multinomial(members, r), rng.multinomial(nonmembers, q), cells)
