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
class Ranked:
    """One query's place: its answer at the corrected level, and the ranks it may truly have."""

    name: str
    advantage: Advantage
    best_rank: int
    worst_rank: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several queries of one model: each with a corrected interval, and their maximum (MACE, Remark 1)."""

    maximum: Estimate
    ranking: tuple[Ranked, ...]
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
        Ranked(name, answers[name], 1 + int((lower > upper[i]).sum()), int((upper >= lower[i]).sum()))
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
    """The same for records scored by both models, whatever the dependence between their scores.

    Each end shares its error between the two limits it is made of (Bonferroni), so it is wider than
    for independent samples, and holds when one model's errors mirror the other's.
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


def _ranks(place: Ranked) -> str:
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
    """
    require_data(scores, Scores)
    confidence = require_open_unit("confidence", confidence)
    fine = finest(scores)
    shared = fine.coarsen(GROUP_CELLS) if fine.cells.kind == "intervals" else fine
    groups = group_counts(scores, member_groups, nonmember_groups, shared.cells)
    large = [g for g in groups if g.counts is not None and min(g.n_members, g.n_nonmembers) >= MIN_RECORDS]
    corrected = 1.0 - (1.0 - confidence) / max(1, len(large))
    found = []
    for group in groups:
        answer = None
        if group.counts is not None and min(group.n_members, group.n_nonmembers) >= MIN_RECORDS:
            answer = advantage(group.counts, prior, confidence=corrected, seed=seed)
        found.append(GroupAdvantage(group.label, group.n_members, group.n_nonmembers, answer, group.cautions))
    return tuple(found)
