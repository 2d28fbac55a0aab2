"""Several answers side by side: the riskiest of many queries, a ranking, and what changed between two models."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from estimators.adversary.targets import Target, require_target
from estimators.clusters.design import Labels
from estimators.clusters.ends import FEW_CLUSTERS
from estimators.decisions.coverage import AS_CLOSE
from estimators.decisions.difference import Difference, about_rows, differences_by_ends, sound_upper
from estimators.errors import OptionError, require_open_unit
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import ends_of
from estimators.python.dataclass import dataclass, replace
from estimators.python.renamed import now_in
from estimators.sample.counts import Counts, require_data
from estimators.sample.doubts import DOUBTS
from estimators.sample.scores import Scores
from estimators.statement import Caution, Estimate, Guarantee, Interval, both_ends, percent

Name = TypeVar("Name", bound=Hashable)
Data = TypeVar("Data", bound=Scores | Counts)

LOOKS = 64
"""Records of either side that tell most queries apart, before the order of all of them is looked at."""

SAME_ORDER = "same_order"  # the code of a caution that two queries are one question


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
    differences: tuple[Difference, ...] = ()

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        worst = self.ranking[0]
        interval, attackers = self.maximum.interval, {each.advantage.attacker for each in self.ranking}
        ends = both_ends(
            interval.lower,
            interval.upper,
            attackers.pop() if len(attackers) == 1 else AS_CLOSE,
            worst.advantage.baseline,
            f"the advantage of the riskiest of {len(self.ranking)} queries",
            "it",
        )
        return (
            f"With {percent(interval.confidence)} confidence {ends}; {worst.name!r} comes first, its true rank is "
            f"{ranks(worst)}."
        )


def same_order(queries: Mapping[str, Scores | Counts], backwards: bool = False) -> dict[str, tuple[str, bool]]:
    """Queries that order the records as an earlier one does, ties and all: the same question under another name.

    Which side a record is of has no say in it, so what is left out by it is left out whatever leaks.

    Args:
        queries: Scores of each query under its name, of the same records in the same order; counts, vectors and text
            have no order to go by, and are no other query's.
        backwards: Whether the order of another query turned round is the same question, too, as it is to an attacker
            who may accuse at either end.

    Returns:
        under the name of each such query that of the first with its order, and whether the order is turned round.
    """
    firsts: dict[str, Scores] = {}
    same: dict[str, tuple[str, bool]] = {}
    for name, data in queries.items():
        if not isinstance(data, Scores) or data.dimension > 1 or data.members.dtype.kind not in "iuf":
            continue
        for first, other in firsts.items():
            turned = _orders_alike(other, data)
            if turned is False or (turned and backwards):
                same[name] = first, turned
                break
        else:
            firsts[name] = data
    return same


def asked_once(queries: Mapping[str, Data]) -> dict[str, Data]:
    """The queries without those that order the records as an earlier one does."""
    same = same_order(queries)
    return {name: data for name, data in queries.items() if name not in same}


def _orders_alike(one: Scores, other: Scores) -> bool | None:
    """Whether the second's order is that of the first turned round, or just that; None if it is neither."""
    if (one.query, one.n_members, one.n_nonmembers) != (other.query, other.n_members, other.n_nonmembers):
        return None
    step = max(1, min(one.n_members, one.n_nonmembers) // LOOKS)
    turned = None
    for each in (step, 1):
        x, y = (np.concatenate([of.members[::each], of.nonmembers[::each]]) for of in (one, other))
        order = np.argsort(x)
        x, y = x[order], y[order]
        rises, up, down = x[1:] > x[:-1], y[1:] > y[:-1], y[1:] < y[:-1]
        forwards = not down.any() and bool((up == rises).all())
        if not forwards and (up.any() or not bool((down == rises).all())):
            return None
        turned = not forwards
    return turned


def compare(
    queries: Mapping[str, Scores | Counts],
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    pairs: Sequence[tuple[str, str]] = (),
    paired: bool = True,
    cluster: Labels | None = None,
) -> Comparison:
    """Rank queries by advantage, bound the largest, and state the differences of pairs of them.

    The upper end of the maximum needs no correction: the truly riskiest query is one fixed query, and
    its own limit is at most the largest. The lower end does: any of them may be the one that errs. Queries that order
    the records alike, or one as the other turned round, are one question: it is asked once, and pays once. That they
    do so on these records is no proof that they do on all, so their difference has an interval like any other. Scores
    of independent samples are never one question.

    Args:
        queries: Scores or counts of each query under its name, at least 2: several scores of one model, say.
        prior, seed: As for ``advantage``.
        target: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of all
            statements about ranks together, and again that of all differences together.
        pairs: Names of two queries each; the second is subtracted from the first.
        paired: Whether all queries scored the same records in the same order, or independent samples.
        cluster: Whom each row belongs to, if some belong together: a label for each row, members' rows first, or two
            columns of labels that cross. It is that of every query.

    Returns:
        a ``Comparison``: ``maximum`` with its interval, ``ranking``, where each query has its advantage and the
        best and the worst rank it may truly have, and ``differences``, a ``Difference`` for each pair.

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
        With 95% confidence the advantage of the riskiest of 2 queries over a coin toss is at least 0.309, whoever reads
        it, and at most 0.617 for attackers who see which of 3 groups of similar values the score falls in; 'loss' comes
        first, its true rank is 1.
        >>> [place.name for place in comparison.ranking]
        ['loss', 'entropy']
    """
    if not isinstance(queries, Mapping):
        raise OptionError("compare needs a mapping from names to scores or counts", field="queries")
    confidence = require_open_unit("confidence", confidence)
    if len(queries) < 2:
        raise OptionError(f"compare needs at least 2 queries, got {len(queries)}", field="queries")
    prior = require_open_unit("prior", prior)
    require_target(target)
    for data in queries.values():
        require_data(data, Scores, Counts)
    same = same_order(queries, backwards=True) if paired else {}
    questions = {name: data for name, data in queries.items() if name not in same}
    corrected = 1.0 - (1.0 - confidence) / len(questions)
    ends = {name: ends_of(data, prior, target, seed, cluster=cluster) for name, data in questions.items()}
    answers = {name: each.at(corrected) for name, each in ends.items()}
    above = max(sound_upper(each, (1.0 - confidence) / 2.0) for each in ends.values())
    for name, (first, _) in same.items():
        questions[name], ends[name], answers[name] = questions[first], ends[first], answers[first]
    apart = differences_by_ends(questions, ends, pairs, paired, confidence, seed) if pairs else ()
    answers = {name: answers[name] for name in queries}
    comparison = side_by_side(answers, above, confidence, apart, "query", "queries")
    return replace(comparison, cautions=(*_same_questions(same), *comparison.cautions))


def _same_questions(same: Mapping[str, tuple[str, bool]]) -> Iterator[Caution]:
    """Which queries were asked once."""
    for name, (first, turned) in same.items():
        how = f"the records as {first!r} does, turned round" if turned else f"the records as {first!r} does"
        yield Caution(SAME_ORDER, f"query {name!r} orders {how}: it is the same question and was asked once")


def side_by_side(
    answers: Mapping[str, Advantage],
    above: float,
    confidence: float,
    apart: tuple[Difference, ...],
    one: str,
    many: str,
) -> Comparison:
    """Answers whose intervals hold together as a ranking, the largest first, and the largest of them.

    Args:
        above: The upper end of the largest, which needs no correction.
        one: What each is, such as ``query``.
        many: The same of several.
    """
    names = sorted(answers, key=lambda name: -answers[name].value)
    lower = np.array([answers[name].lower for name in names])
    upper = np.array([answers[name].upper for name in names])
    ranking = tuple(
        RankedQuery(name, answers[name], 1 + int((lower > upper[i]).sum()), int((upper >= lower[i]).sum()))
        for i, name in enumerate(names)
    )
    top = answers[names[0]]
    guarantee = Guarantee(
        f"the largest of the {many}' advantages, each as: {top.estimate.interval.guarantee.covers}",
        about_rows(*answers.values()),
        all(a.estimate.interval.guarantee.finite_sample for a in answers.values()),
    )
    interval = Interval(float(lower.max()), max(above, float(lower.max())), confidence, guarantee)
    note = Caution(
        "joint_query_may_exceed",
        f"an adversary who sees all {many} together may do better than with any one; columns of one table can be asked "
        "about as one score of several numbers",
    )
    doubts = [
        Caution(odd.code, f"{one} {name!r}: {odd.message}")
        for name, answer in answers.items()
        for odd in answer.cautions
        if odd.code in DOUBTS | {FEW_CLUSTERS}
    ]
    # The upper end of the largest needs no correction, so it may lie below that of its query, and below its estimate.
    return Comparison(Estimate(min(top.value, interval.upper), interval), ranking, (*doubts, note), apart)


def ranks(place: RankedQuery) -> str:
    """The ranks that a place may truly have, in words."""
    if place.best_rank == place.worst_rank:
        return str(place.best_rank)
    return f"between {place.best_rank} and {place.worst_rank}"


__getattr__ = now_in("estimators.decisions.difference", "Difference", "difference", "differences", "paired_difference")
