"""What changed between two answers, with an interval for the difference."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Generic, TypeVar

import numpy as np

from estimators.adversary.paired import Judged
from estimators.adversary.targets import Target, require_target
from estimators.clusters.design import Labels
from estimators.clusters.ends import ALONE
from estimators.errors import require_open_unit
from estimators.limits.two_rates import Design
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import Ends, ends_of, groups_for
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import CLUSTERED, IID, Estimate, Guarantee, Interval, at_least, at_most, baseline, percent

Name = TypeVar("Name", bound=Hashable)

STEPS = 13  # levels at which both ends of an answer are taken for a difference, besides the lowest
ROWS = "row i of both is the same record"
ANY = "any dependence between the two"
APART = "samples of the two models are independent"


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
        0.105
        >>> round(difference(before, after).estimate.interval.width, 3)  # as if they were others
        0.197
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
    return differences_by_ends(queries, ends, pairs, paired, confidence, seed)


def differences_by_ends(
    queries: Mapping[str, Scores | Counts],
    ends: Mapping[str, Ends],
    pairs: Sequence[tuple[str, str]],
    paired: bool,
    confidence: float,
    seed: int,
) -> tuple[Difference, ...]:
    """The same of answers whose ends are known at any level."""
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
        f"{assumes}; {about_rows(a, b)}",
        False,
    )
    interval = Interval(lower, max(lower, upper), confidence, guarantee)
    return Difference(Estimate(min(max(a.value - b.value, lower), interval.upper), interval), a, b)


def about_rows(*answers: Advantage) -> str:
    """What is taken for granted of the rows."""
    clustered = any(each.clusters is not None and each.clusters.method != ALONE for each in answers)
    return CLUSTERED if clustered else IID
