"""Several answers side by side: the riskiest of many queries, a ranking, and what changed between two models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from estimators.advantage import Advantage, Target, advantage
from estimators.errors import OptionError, require_open_unit
from estimators.risk.groups import group_counts
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import MIN_RECORDS, Scores
from estimators.statement import IID, Caution, Estimate, Guarantee, Interval, at_least, at_most, percent

GROUP_CELLS = 1024
"""Cells shared by all groups; each group joins them to its own resolution."""


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """One query's place: its answer at the corrected level, and the ranks it may truly have."""

    name: str
    advantage: Advantage
    best_rank: int
    worst_rank: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several queries of one model: each with a corrected interval, and their maximum (MACE, Remark 1)."""

    maximum: Estimate
    ranking: tuple[RankedQuery, ...]
    cautions: tuple[Caution, ...]

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        worst = self.ranking[0]
        interval = self.maximum.interval
        return (
            f"With {percent(interval.confidence)} confidence the riskiest of {len(self.ranking)} queries has an "
            f"advantage between {at_least(interval.lower)} and {at_most(interval.upper)}, "
            f"{worst.advantage.over}; {worst.name!r} comes first, its true rank is {_ranks(worst)}."
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more the first gives away than the second."""

    estimate: Estimate
    first: Advantage
    second: Advantage

    @property
    def decided(self) -> bool:
        """Whether the interval excludes "no difference"."""
        return 0.0 not in self.estimate.interval

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        interval = self.estimate.interval
        words = "differ" if self.decided else "are not shown to differ"
        return (
            f"With {percent(interval.confidence)} confidence the advantage against the first minus that against the "
            f"second lies between {at_least(interval.lower)} and {at_most(interval.upper)}: they {words}."
        )


def compare(
    queries: Mapping[str, Scores | Counts],
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Rank queries by advantage and bound the largest.

    The upper end of the maximum needs no correction: the truly riskiest query is one fixed query, and
    its own limit is at most the largest. The lower end does: any of them may be the one that errs.

    Args:
        queries: Scores or counts of each query under its name, at least 2: several scores of one model, say.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        target: Which adversaries the interval speaks of: ``CellsTarget()``, ``ThresholdTarget()``,
            ``TwoSidedTarget()`` or ``LearnedTarget()``. None: cells, or a learned adversary if scores are vectors.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of all
            statements of the comparison together.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        a ``Comparison``: ``maximum`` with its interval, and ``ranking``, where each query has its advantage and the
        best and the worst rank it may truly have.

    Raises:
        OptionError: fewer than two queries.

    Example:
        >>> from estimators import Counts, compare
        >>> queries = {
        ...     "loss": Counts.of([10, 30, 60], [60, 30, 10], edges=[0.2, 0.7]),
        ...     "entropy": Counts.of([34, 33, 33], [33, 34, 33], edges=[0.2, 0.7]),
        ... }
        >>> comparison = compare(queries)
        >>> print(comparison.sentence)
        With 95% confidence the riskiest of 2 queries has an advantage between 0.316 and 0.617, over a coin toss;
        'loss' comes first, its true rank is 1.
        >>> [place.name for place in comparison.ranking]
        ['loss', 'entropy']
    """
    if not isinstance(queries, Mapping):
        raise OptionError("compare needs a mapping from names to scores or counts", field="queries")
    confidence = require_open_unit("confidence", confidence)
    if len(queries) < 2:
        raise OptionError(f"compare needs at least 2 queries, got {len(queries)}", field="queries")
    corrected = 1.0 - (1.0 - confidence) / len(queries)
    answers = {name: advantage(data, prior, target, corrected, seed) for name, data in queries.items()}
    plain = [advantage(data, prior, target, confidence, seed) for data in queries.values()]
    names = sorted(answers, key=lambda name: -answers[name].value)
    lower = np.array([answers[name].lower for name in names])
    upper = np.array([answers[name].upper for name in names])
    ranking = tuple(
        RankedQuery(name, answers[name], 1 + int((lower > upper[i]).sum()), int((upper >= lower[i]).sum()))
        for i, name in enumerate(names)
    )
    top = answers[names[0]]
    guarantee = Guarantee(
        f"the largest of the queries' advantages, each as: {top.estimate.interval.guarantee.covers}",
        IID,
        all(a.estimate.interval.guarantee.finite_sample for a in answers.values()),
    )
    interval = Interval(float(lower.max()), max(a.upper for a in plain), confidence, guarantee)
    note = Caution(
        "joint_query_may_exceed",
        "an adversary who sees all queries together may do better than with any one; ask for the vector to bound it",
    )
    return Comparison(Estimate(top.value, interval), ranking, (note,))


def difference(
    first: Scores | Counts,
    second: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Advantage against the first minus that against the second, from samples drawn independently.

    The two answers' errors are independent and add in quadrature (MOVER, Zou and Donner 2008).

    Args:
        first: Scores or counts of the first model.
        second: Scores or counts of the second model, from other records than the first.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        target: Which adversaries the interval speaks of: ``CellsTarget()``, ``ThresholdTarget()``,
            ``TwoSidedTarget()`` or ``LearnedTarget()``. None: cells, or a learned adversary if scores are vectors.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        a ``Difference``: ``estimate`` with its interval, the two advantages as ``first`` and ``second``, and
        ``decided``, which is true if the interval excludes 0.

    Example:
        >>> from estimators import Counts, difference
        >>> before = Counts.of([10, 30, 60], [60, 30, 10], edges=[0.2, 0.7])
        >>> after = Counts.of([34, 33, 33], [33, 34, 33], edges=[0.2, 0.7])
        >>> print(difference(before, after).sentence)
        With 95% confidence the advantage against the first minus that against the second lies between 0.271 and
        0.612: they differ.
    """
    a, b = (advantage(data, prior, target, confidence, seed) for data in (first, second))
    value = a.value - b.value
    lower = value - float(np.hypot(max(a.value - a.lower, 0.0), max(b.upper - b.value, 0.0)))
    upper = value + float(np.hypot(max(a.upper - a.value, 0.0), max(b.value - b.lower, 0.0)))
    return _difference(a, b, lower, upper, confidence, "samples of the two models are independent; " + IID)


def paired_difference(
    first: Scores | Counts,
    second: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Difference:
    """Advantage against the first minus that against the second, for records scored by both models.

    Holds whatever the dependence between the two scores of a record: each end shares its error between the two limits
    it is made of (Bonferroni), so it is wider than for independent samples, and holds when one model's errors mirror
    the other's.

    Args:
        first: Scores or counts of the first model.
        second: Scores or counts of the same records from the second model.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        target: Which adversaries the interval speaks of: ``CellsTarget()``, ``ThresholdTarget()``,
            ``TwoSidedTarget()`` or ``LearnedTarget()``. None: cells, or a learned adversary if scores are vectors.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        a ``Difference``, as ``difference`` does.

    Example:
        >>> from estimators import Counts, paired_difference
        >>> before = Counts.of([10, 30, 60], [60, 30, 10], edges=[0.2, 0.7])
        >>> after = Counts.of([34, 33, 33], [33, 34, 33], edges=[0.2, 0.7])
        >>> paired = paired_difference(before, after)
        >>> paired.decided, round(paired.estimate.interval.width, 3)
        (True, 0.487)
    """
    confidence = require_open_unit("confidence", confidence)
    shared = 1.0 - (1.0 - confidence) / 2.0
    a, b = (advantage(data, prior, target, shared, seed) for data in (first, second))
    return _difference(
        a, b, a.lower - b.upper, a.upper - b.lower, confidence, "any dependence between the two; " + IID
    )


def _difference(
    a: Advantage, b: Advantage, lower: float, upper: float, confidence: float, assumes: str
) -> Difference:
    guarantee = Guarantee(
        f"the difference of two advantages, each as: {a.estimate.interval.guarantee.covers}", assumes, False
    )
    return Difference(Estimate(a.value - b.value, Interval(lower, upper, confidence, guarantee)), a, b)


def _ranks(place: RankedQuery) -> str:
    if place.best_rank == place.worst_rank:
        return str(place.best_rank)
    return f"between {place.best_rank} and {place.worst_rank}"


@dataclass(frozen=True, slots=True)
class GroupAdvantage:
    """What a group by itself gives away; no answer where a side is empty or has next to no record."""

    label: object
    n_members: int
    n_nonmembers: int
    advantage: Advantage | None
    cautions: tuple[Caution, ...]


def by_group(
    scores: Scores,
    member_groups: ArrayLike,
    nonmember_groups: ArrayLike,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
) -> tuple[GroupAdvantage, ...]:
    """The advantage within each group, all intervals holding at once (Bonferroni over groups that can be answered).

    A model that gives away little on average can give away much about a few: that is what this is for.

    Args:
        scores: Scores of both sides (``Scores.of``).
        member_groups: A label for each member record, text or numbers.
        nonmember_groups: A label for each nonmember record, of the same type.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of the
            intervals of all groups together.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        a row for each group, with ``label``, ``n_members``, ``n_nonmembers``, ``cautions`` and ``advantage``; the
        advantage is None where a side has fewer than 8 records.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, by_group
        >>> rng = np.random.default_rng(0)
        >>> labels = np.repeat(["adults", "minors"], [300, 100])
        >>> members = rng.normal(np.where(labels == "minors", 3, 0), 1)  # only minors are exposed
        >>> for group in by_group(Scores.of(members, rng.normal(0, 1, 400)), labels, labels):
        ...     print(group.label, round(group.advantage.lower, 2), round(group.advantage.upper, 2))
        adults 0.0 0.15
        minors 0.79 0.96
    """
    require_data(scores, Scores)
    confidence = require_open_unit("confidence", confidence)
    fine = finest(scores)
    shared = fine.coarsen(GROUP_CELLS) if fine.cells.kind == "intervals" else fine
    groups = group_counts(scores, member_groups, nonmember_groups, shared.cells)
    large = [g for g in groups if g.counts is not None and min(g.n_members, g.n_nonmembers) >= MIN_RECORDS]
    corrected = 1.0 - (1.0 - confidence) / max(1, len(large))
    rows = []
    for group in groups:
        answer = None
        if group.counts is not None and min(group.n_members, group.n_nonmembers) >= MIN_RECORDS:
            answer = advantage(group.counts, prior, confidence=corrected, seed=seed)
        rows.append(GroupAdvantage(group.label, group.n_members, group.n_nonmembers, answer, group.cautions))
    return tuple(rows)
