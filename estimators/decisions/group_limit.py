"""A limit on what each group gives away by itself, at one level for all groups.

A wrong pass needs that a group which violates the limit passes, and that is one fixed group: upper ends take no
correction for the number of groups (an intersection-union test, Berger 1982). A wrong fail needs that any group's lower
end is too high: lower ends share the error over the groups that can be answered, of which no score has a say.

A group passes by its own records or not at all: one with records of one side only, or with too few, leaves the limit
open.
"""

from collections.abc import Sequence
from math import ceil

from numpy.typing import ArrayLike

from estimators import statement
from estimators.adversary.targets import CellsTarget, LearnedTarget, Target
from estimators.decisions.gate_sample import GateSample, JudgedGroup, JudgedLimit, between
from estimators.decisions.plan import records_without_leak
from estimators.decisions.verdict import (
    Decision,
    Verdict,
    anything_between,
    beneath_baseline,
    decide,
    most_records,
    of_learned_score,
    overall,
    records_needed,
)
from estimators.errors import OutOfRange, require_number
from estimators.limits.binomial import lower_limit
from estimators.optimum.ends import is_vector
from estimators.privacy.exposure import short_label
from estimators.python.dataclass import dataclass
from estimators.risk.groups import GroupTable
from estimators.risk.within_groups import IN_FEW_CELLS, GroupAdvantage, GroupEnds, ends_by_group, shared_level
from estimators.sample.counts import Counts
from estimators.sample.doubts import CROWDED, REPEATED
from estimators.sample.scores import MIN_RECORDS

__all__ = ["MaxGroupAdvantage"]

MOST_NAMED = 10  # groups with something odd that are named
NAMED = frozenset({IN_FEW_CELLS, CROWDED, REPEATED})


@dataclass(frozen=True, eq=False, slots=True)
class MaxGroupAdvantage:
    """The optimal advantage within each group, on the group's own records.

    Args:
        maximum: Largest advantage of any group that is acceptable, from -1 to 1.
        groups: A label for each record, members first; of counts, a ``GroupTable`` of them.
        target: As for ``advantage``; a score is learned within each group.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.decisions.gate import judge
        >>> from estimators.decisions.group_limit import MaxGroupAdvantage
        >>> rng = np.random.default_rng(0)
        >>> rare = np.arange(4000) < 200  # members stand above nonmembers there, and everywhere else among them
        >>> members, nonmembers = rng.random((2, 4000))
        >>> members[rare], nonmembers[rare] = members[rare] / 2 + 0.5, nonmembers[rare] / 2
        >>> groups = np.where(rare, "rare", "most")
        >>> judgement = judge(Scores.of(members, nonmembers), [MaxGroupAdvantage(0.3, [*groups, *groups])])
        >>> judgement.decision.value, [(each.label, each.decision.value) for each in judgement.limits[0].groups]
        ('fail', [('most', 'pass'), ('rare', 'fail')])
    """

    maximum: float
    groups: ArrayLike | GroupTable
    target: Target | None = None

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By each group's own interval.

        Args:
            sample: The records, the prior and the confidence; ``judge`` makes it.
        """
        most = require_number("max_group_advantage", self.maximum)
        if not -1.0 <= most <= 1.0:
            raise OutOfRange.about("max_group_advantage", f"got {most!r}, need a number between -1 and 1")
        data = sample.every or sample.data
        learned = isinstance(self.target, LearnedTarget) or (self.target is None and is_vector(data))
        accepted = sample.adversaries.accept_learned_score if learned else None
        # counts of a learned score are of one number a record
        target = None if learned and isinstance(data, Counts) else self.target
        groups = ends_by_group(data, self.groups, sample.prior, sample.seed, target, sample.cluster)
        below = shared_level(groups, sample.below)
        rows = [_judge_group(each, sample, most, below, accepted) for each in groups]
        odd = [caution for each in groups for caution in each.cautions if caution.code in NAMED]
        return _together(rows, sample, most, accepted, odd[:MOST_NAMED])


def exceeding(risks: Sequence[JudgedGroup], own: Sequence[GroupAdvantage]) -> tuple[statement.Caution, ...]:
    """A word on groups that give away more by themselves than their mean risk is at most.

    The mean risk of a group is read off all records together: it may be small where the group's own records betray it.
    """
    upper = {each.label: each.estimate.upper for each in risks if each.estimate is not None}
    lower = {each.label: each.advantage.lower for each in own if each.advantage is not None}
    more = [label for label in lower if lower[label] > upper.get(label, 1.0)]
    if not more:
        return ()
    worst = max(more, key=lambda label: lower[label])
    others = f" ({len(more) - 1} more groups likewise)" if len(more) > 1 else ""
    message = (
        f"the records of group {short_label(worst)} by themselves give away an advantage of at least "
        f"{statement.at_least(lower[worst])}, and its mean risk, which is read off all records together, is at most "
        f"{statement.at_most(upper[worst])}{others}: max_group_advantage judges each group by itself"
    )
    return (statement.Caution("group_exceeds", message),)


def _judge_group(group: GroupEnds, sample: GateSample, most: float, below: float, accepted: bool | None) -> JudgedGroup:
    """What a group's own records say about the limit."""
    sizes, name = (group.n_members, group.n_nonmembers), f"group {short_label(group.label)}"
    total = sum(sizes)
    if group.ends is None:
        least = _without_leak(sizes, sample, most) if min(sizes) < MIN_RECORDS else None
        reason = f"{name} cannot be judged: {_lacks(sizes)}; {_settles(least, total)}"
        return JudgedGroup(group.label, total, None, Decision.INCONCLUSIVE, reason, least, *sizes)
    above = group.ends.at(sample.confidence)
    lower = group.ends.lower((1.0 - below) / 2.0)
    estimate = between(lower, above.value, above.upper, above.estimate.interval)
    verdict = decide(f"the advantage within {name}", estimate, most, None, total, above.scope)
    if verdict.decision is Decision.INCONCLUSIVE:
        records = None if above.class_rejected else records_needed(estimate, most, total)
        low, high = anything_between(estimate.lower, estimate.upper), statement.exactly(most)
        sure = statement.percent(sample.confidence)
        reason = f"with {sure} confidence the advantage within {name} may be {low}, your limit is {high}"
        effect = 1.0 if above.clusters is None else above.clusters.design_effect
        least = _without_leak(sizes, sample, most, effect)
        if least is not None and total < least and lower <= above.baseline:
            records = least
            reason = f"{reason}, which so few records seldom keep even where nothing leaks"
        verdict = Verdict(most, verdict.decision, f"{reason}; {_settles(records, total)}", records)
    if accepted is not None:
        verdict = of_learned_score(verdict, accepted)
    return JudgedGroup(group.label, total, estimate, verdict.decision, verdict.reason, verdict.records_needed, *sizes)


def _lacks(sizes: tuple[int, int]) -> str:
    """Why a group has no interval."""
    members, nonmembers = sizes
    if not (members and nonmembers):
        return f"its records are of one side only, {members:,} member and {nonmembers:,} nonmember records"
    if min(sizes) < MIN_RECORDS:
        needs = f"and {MIN_RECORDS} of each are needed"
        return f"it has {members:,} member and {nonmembers:,} nonmember records, {needs}"
    return "its records are of too few clusters, or no two of them have a category in common"


def _without_leak(sizes: tuple[int, int], sample: GateSample, most: float, design_effect: float = 1.0) -> int | None:
    """Records of a group, in its shares of both sides, of which most samples keep the limit if nothing leaks."""
    if not min(sizes):
        return None
    share = min(sizes) / sum(sizes)
    rounded = float(f"{share:.1g}")  # so that groups of about the same shares are one question
    members = rounded if sizes[0] == min(sizes) else 1.0 - rounded
    records = records_without_leak(most, sample.prior, members, sample.confidence)
    return None if records is None else ceil(records * design_effect)


def _settles(records: int | None, total: int) -> str:
    """How many records of a group would settle what is open."""
    if records is None:
        return "in practice no number of such records settles it"
    return f"about {statement.roughly(records)} records of its own would settle it, it has {total:,}"


def _together(
    rows: Sequence[JudgedGroup],
    sample: GateSample,
    most: float,
    accepted: bool | None,
    cautions: Sequence[statement.Caution],
) -> JudgedLimit:
    """The limit over all groups, in the words of the group that decides."""
    floor, ends = (statement.baseline(sample.prior), [each.estimate for each in rows if each.estimate is not None])
    lower = max((each.lower for each in ends), default=floor)
    upper = max((each.upper for each in ends), default=1.0) if len(ends) == len(rows) else 1.0
    value = max((float(each.value or 0.0) for each in ends), default=floor)
    estimate = between(lower, value, upper, statement.Interval(lower, upper, sample.confidence, _guarantee(ends)))
    outcome = overall(each.decision for each in rows)
    deciding = [each for each in rows if each.decision is outcome]
    first = max(deciding, key=lambda each: _comes_first(each, outcome))
    reason, others = first.reason, len(deciding) - 1
    if others and outcome is Decision.PASS:
        reason = f"all {len(rows)} groups keep within the limit; of the one that comes nearest, {reason}"
    elif others:
        reason = f"{reason}; likewise {others:,} more {'group' if others == 1 else 'groups'}"
    records = _records_in_all(deciding, sample.records) if outcome is Decision.INCONCLUSIVE else None
    about = f"the largest advantage within {len(rows):,} {'group' if len(rows) == 1 else 'groups'}"
    summary = None
    if sample.every is not None:
        summary = sample.advantage_ends(sample.every, CellsTarget()).clusters
    return JudgedLimit(
        "group_advantage",
        about,
        estimate,
        Verdict(most, outcome, reason, records, accepted),
        (*beneath_baseline(most, floor), *cautions),
        summary,
        tuple(rows),
        beside_drift=_beside_drift(rows, sample) if sample.drift else None,
    )


def _beside_drift(groups: Sequence[JudgedGroup], sample: GateSample) -> float:
    """The largest upper end against a fair hold-out: all of the drift may lie in one group, however small that is."""
    total, alpha = sum(each.n_nonmembers or 0 for each in groups), (1.0 - sample.confidence) / 2.0
    most = 0.0
    for each in groups:
        share = float(lower_limit(each.n_nonmembers or 0, total, alpha)) if total else 0.0
        if each.estimate is None or share <= sample.drift:
            return 1.0
        most = max(most, each.estimate.upper + 2.0 * (1.0 - sample.prior) * sample.drift / share)
    return min(1.0, most)


def _comes_first(group: JudgedGroup, outcome: Decision) -> tuple[float, ...]:
    """Which of several groups is named: one that cannot be judged, or whose interval lies highest."""
    if group.estimate is None:
        return (2.0, -float(group.records), 0.0)
    ends = (group.estimate.lower, group.estimate.upper)
    return (1.0, *(ends[::-1] if outcome is Decision.PASS else ends))


def _guarantee(ends: Sequence[statement.Estimate]) -> statement.Guarantee:
    """What stands behind the largest, in the words of the group with the highest upper end."""
    covers = "the largest advantage within a group, on its own records"
    if not ends:
        return statement.Guarantee(f"{covers}; no group can be judged", statement.IID, finite_sample=True)
    widest = max(ends, key=lambda each: each.upper).interval.guarantee
    proven = all(each.interval.guarantee.finite_sample for each in ends)
    return statement.Guarantee(f"{covers}; of the group that comes nearest, {widest.covers}", widest.assumes, proven)


def _records_in_all(groups: Sequence[JudgedGroup], records: int) -> int | None:
    """Records of all groups, in their shares, of which every group has as many as it needs."""
    needs = [(each.records_needed, each.records) for each in groups]
    if any(need is None for need, _ in needs):
        return None
    total = max(ceil(need / own * records) for need, own in needs if need is not None)
    return total if total <= most_records(records) else None
