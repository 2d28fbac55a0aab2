"""Several answers side by side: the riskiest of many queries, a ranking, and what changed between two models."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cache
from typing import Generic, TypeVar

import numpy as np

from estimators.adversary.paired import Judged
from estimators.adversary.targets import Target, require_target
from estimators.clusters.design import Labels
from estimators.clusters.ends import ALONE, FEW_CLUSTERS
from estimators.decisions.coverage import AS_CLOSE
from estimators.errors import OptionError, require_open_unit
from estimators.limits.two_rates import Design
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import Ends, ends_of, groups_for
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts, require_data
from estimators.sample.doubts import DOUBTS
from estimators.sample.scores import Scores
from estimators.statement import (
    CLUSTERED,
    IID,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    at_least,
    at_most,
    baseline,
    both_ends,
    percent,
)

Name = TypeVar("Name", bound=Hashable)
Data = TypeVar("Data", bound=Scores | Counts)

STEPS = 13  # levels at which both ends of an answer are taken for a difference, besides the lowest

ROWS = "row i of both is the same record"
ANY = "any dependence between the two"
APART = "samples of the two models are independent"

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
    apart = _differences(questions, ends, pairs, paired, confidence, seed) if pairs else ()
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
        _rows(*answers.values()),
        all(a.estimate.interval.guarantee.finite_sample for a in answers.values()),
    )
    interval = Interval(float(lower.max()), max(above, float(lower.max())), confidence, guarantee)
    note = Caution(
        "joint_query_may_exceed",
        f"an adversary who sees all {many} together may do better than with any one; ask for the vector to bound it",
    )
    doubts = [
        Caution(odd.code, f"{one} {name!r}: {odd.message}")
        for name, answer in answers.items()
        for odd in answer.cautions
        if odd.code in DOUBTS | {FEW_CLUSTERS}
    ]
    # The upper end of the largest needs no correction, so it may lie below that of its query, and below its estimate.
    return Comparison(Estimate(min(top.value, interval.upper), interval), ranking, (*doubts, note), apart)


def difference(
    first: Scores | Counts,
    second: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    clusters: tuple[Labels, Labels] | None = None,
) -> Difference:
    """Advantage against the first minus that against the second, from samples drawn independently.

    The errors of the two answers are independent, so a weighted product of the levels at which each would be wrong is
    seldom small (Fisher 1932, Good 1955). Valid whenever the ends of each answer are.

    Args:
        first: Scores or counts of the first model.
        second: Scores or counts of the second model, from other records than the first.
        prior, confidence, seed: As for ``advantage``.
        target: As for ``advantage``.
        clusters: Whom each row of the first and of the second belongs to, as in ``advantage``; no label is in both.

    Returns:
        a ``Difference``: ``estimate`` with its interval, the two advantages as ``first`` and ``second``, and
        ``decided``, which is true if the interval excludes 0.

    Example:
        >>> from estimators import Counts, difference
        >>> before = Counts.of([10, 30, 60], [60, 30, 10], edges=[0.2, 0.7])
        >>> after = Counts.of([34, 33, 33], [33, 34, 33], edges=[0.2, 0.7])
        >>> print(difference(before, after).sentence)
        With 95% confidence the advantage against the first minus that against the second lies between 0.219 and 0.654:
        they differ.
    """
    queries, labels = ({"first": first, "second": second}, dict(zip(("first", "second"), clusters or (), strict=False)))
    return differences(queries, [("first", "second")], False, prior, target, confidence, seed, labels)[0]


def paired_difference(
    first: Scores | Counts,
    second: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    cluster: Labels | None = None,
) -> Difference:
    """Advantage against the first minus that against the second, for records scored by both models.

    Row i of both must be the same record: then what both models' best rules get right, or both wrong, says nothing
    about the difference, and the more alike they are the narrower the interval. Counts do not tell which record is
    which, nor do samples of different sizes, and rows of one cluster are not judged one by one: each end then shares
    its error between the two limits that it is made of (Bonferroni), which holds whatever the dependence and is wider
    than for independent samples.

    Args:
        first: Scores of the first model, or counts.
        second: Scores of the same records from the second model, in the same order, or counts.
        prior, confidence, seed: As for ``advantage``.
        target: As for ``advantage``.
        cluster: Whom each row belongs to, if some belong together: a label for each row, members' rows first, or two
            columns of labels that cross.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, difference, paired_difference
        >>> rng = np.random.default_rng(0)
        >>> members, nonmembers = rng.normal(1, 1, 1000), rng.normal(0, 1, 1000)
        >>> before = Scores.of(members, nonmembers)
        >>> after = Scores.of(members - 0.5, nonmembers)  # the same records, half of the shift
        >>> round(paired_difference(before, after).estimate.interval.width, 3)
        0.122
        >>> round(difference(before, after).estimate.interval.width, 3)  # as if they were others
        0.182
    """
    confidence = require_open_unit("confidence", confidence)
    queries, labels = {"first": first, "second": second}, dict.fromkeys(("first", "second"), cluster)
    return differences(queries, [("first", "second")], True, prior, target, confidence, seed, labels)[0]


def differences(
    queries: Mapping[str, Scores | Counts],
    pairs: Sequence[tuple[str, str]],
    paired: bool,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    clusters: Mapping[str, Labels | None] | None = None,
) -> tuple[Difference, ...]:
    """The differences of pairs of queries, all holding together (Bonferroni); each query is worked out once.

    Args:
        pairs: Names of two queries each; the second is subtracted from the first.
        paired: Whether the same records were scored each time, or independent samples.
    """
    prior, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    require_target(target)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    labels = clusters or {}
    ends = {name: ends_of(queries[name], prior, target, seed, cluster=labels.get(name)) for name in names}
    return _differences(queries, ends, pairs, paired, confidence, seed)


def _differences(
    queries: Mapping[str, Scores | Counts],
    ends: Mapping[str, Ends],
    pairs: Sequence[tuple[str, str]],
    paired: bool,
    confidence: float,
    seed: int,
) -> tuple[Difference, ...]:
    alpha = (1.0 - confidence) / 2.0 / max(1, len(pairs))
    names = dict.fromkeys(name for pair in pairs for name in pair)
    answers = {name: ends[name].at(1.0 - 2.0 * alpha) for name in names}
    limits = DifferenceLimits(queries, ends, paired, seed)
    results = []
    for first, second in pairs:
        least, most, assumes = limits.of(first, second, alpha)
        results.append(difference_of(answers[first], answers[second], least, most, confidence, assumes))
    return tuple(results)


class DifferenceLimits(Generic[Name]):
    """Both ends of how much more one query gives away than another; what several pairs need is worked out once."""

    def __init__(
        self, queries: Mapping[Name, Scores | Counts], ends: Mapping[Name, Ends], paired: bool, seed: int
    ) -> None:
        self._ends, self._paired = ends, paired
        self._lower = cache(lambda name, level: ends[name].lower(level))
        self._upper = cache(lambda name, level: sound_upper(ends[name], level))
        self._judged = cache(lambda name: _judged(queries[name], ends[name], seed))

    def of(self, first: Name, second: Name, alpha: float) -> tuple[float, float, str]:
        """Lower and upper end, each of level 1 - alpha, and what is taken for granted."""
        one, other = (self._judged(first), self._judged(second)) if self._paired else (None, None)
        if one is not None and other is not None and one.sizes == other.sizes:
            room = 1.0 - baseline(self._ends[first].prior)
            return max(-room, one.minus(other, alpha)), min(room, -other.minus(one, alpha)), ROWS
        levels = [(alpha / 2.0, alpha / 2.0)]
        few = any(self._ends[each].by_betting for each in (first, second))  # each level takes long
        if not self._paired and not few:
            levels = _levels(self._ends[first], self._ends[second], alpha)
        firsts, seconds = zip(*levels, strict=True)
        least = self._least(first, firsts, second, seconds)
        most = -self._least(second, seconds[::-1], first, firsts[::-1])
        return least, most, ANY if self._paired else APART

    def _least(self, one: Name, levels: Sequence[float], other: Name, others: Sequence[float]) -> float:
        """The least of one's lower end minus the other's upper end at pairs of levels; one's fall, the other's rise.

        So do both ends fall: between two pairs no difference is below the later lower end minus the earlier upper end,
        and only where that leaves room is another pair worked out.
        """

        def at(place: int) -> float:
            return self._lower(one, levels[place]) - self._upper(other, others[place])

        last = len(levels) - 1
        least, stretches = min(at(0), at(last)), [(0, last)]
        while stretches:
            begin, end = stretches.pop()
            middle = (begin + end) // 2
            bound = self._lower(one, levels[end]) - self._upper(other, others[begin])
            if begin < middle and bound < least:
                least = min(least, at(middle))
                stretches += [(begin, middle), (middle, end)]
        return least


def _judged(data: Scores | Counts, ends: Ends, seed: int) -> Judged | None:
    """Record by record; None where they cannot be told apart, belong together, or too many rules are covered."""
    if not isinstance(data, Scores) or ends.clustered or ends.rules is None:
        return None
    groups = groups_for(ends.fine, ends.counts, ends.target)
    return Judged.of(data, ends.fine, ends.rules, groups, ends.prior, seed)


def _levels(first: Ends, second: Ends, alpha: float) -> list[tuple[float, float]]:
    """Pairs of levels that cover what a weighted product of two independent p-values leaves: one holds at least.

    The weights suit the samples' sizes. Between two neighbours of a grid each end is taken at the smaller level, and
    none beyond one half.
    """
    a, b = (np.sqrt(_error(each)) for each in (first, second))
    share = min(max(round(float(a / (a + b)), 1), 0.1), 0.9)
    design, half = Design.of(share, alpha), np.log(2.0)
    last = (design.total - (1.0 - share) * half) / share
    grid = np.linspace(max(half, design.low), min(last, design.high), STEPS)
    grid, before = np.append(grid, design.high), np.append(design.low, grid)
    other = np.maximum(design.other(before), half)
    return [(float(np.exp(-e)), float(np.exp(-f))) for e, f in zip(grid, other, strict=True)]


def _error(ends: Ends) -> float:
    """Standard error of an advantage from a sample of this size, at worst."""
    p, source = ends.prior, ends.source
    return float(np.sqrt(p**2 / source.n_members + (1.0 - p) ** 2 / source.n_nonmembers))


def sound_upper(ends: Ends, alpha: float) -> float:
    """The upper end of level 1 - alpha, or 1 where the lower end contradicts it."""
    upper = ends.upper(alpha)
    return upper if upper >= ends.lower(alpha) else 1.0


def difference_of(
    a: Advantage, b: Advantage, lower: float, upper: float, confidence: float, assumes: str
) -> Difference:
    """The difference with its interval and what it covers; the point estimate lies within."""
    guarantee = Guarantee(
        f"the difference of two advantages, each as: {a.estimate.interval.guarantee.covers}",
        f"{assumes}; {_rows(a, b)}",
        False,
    )
    interval = Interval(lower, max(lower, upper), confidence, guarantee)
    return Difference(Estimate(min(max(a.value - b.value, lower), interval.upper), interval), a, b)


def _rows(*answers: Advantage) -> str:
    """What is taken for granted of the rows."""
    clustered = any(each.clusters is not None and each.clusters.method != ALONE for each in answers)
    return CLUSTERED if clustered else IID


def ranks(place: RankedQuery) -> str:
    """The ranks that a place may truly have, in words."""
    if place.best_rank == place.worst_rank:
        return str(place.best_rank)
    return f"between {place.best_rank} and {place.worst_rank}"
