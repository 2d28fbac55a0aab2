"""What an interval says about a limit: pass, fail, open or not applicable, and the records that would settle it."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal, get_args

import numpy as np

from estimators.adversary.targets import LearnedTarget
from estimators.decisions.coverage import coverage_of, covers, up_to
from estimators.errors import OutOfRange, require_number
from estimators.optimum.answer import Advantage
from estimators.python.dataclass import dataclass, replace
from estimators.python.renamed import renamed
from estimators.statement import Caution, Estimate, at_least, at_most, exactly, percent, roughly

__all__ = ["Decision", "Verdict", "verdict"]

MOST_RECORDS = 10**8
"""Records that somebody may still collect: more than most training sets have whose members are known."""

NEAR = 1e-12
"""What a baseline may be off by for having been computed: 2 * 0.65 - 1 is a little more than 0.3."""

NONE_SETTLES = "in practice no number of records will settle"
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

    More of the same settles nothing. A fail stands; of records that repeat a lower end is that without repeats.
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
    "one_score_for_all",
    "integers_as_names",
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
        ('inconclusive', 803)
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
        with 95% confidence the advantage is at least 0.210, above 0.1
        >>> print(verdict(result, 0.3).reason)
        with 95% confidence the advantage may be anything from 0.210 to 0.526, your limit is 0.3; about 803 records in
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
