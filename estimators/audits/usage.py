"""How large a share of some records was trained on, from scores of known members, known nonmembers and candidates.

To test one share, that share of the known members and the rest of the known nonmembers are mixed by coins. If it is the
true share, and members score alike wherever they stand, the mixture and the candidates are drawn from one law: every
permutation test between them is exact, at any number of records, with ties, and where nothing leaks. The shares that
are not rejected are the interval. docs/methods.md, section 13, has the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from estimators import errors
from estimators.arrays import Floats, random_of
from estimators.audits import one_score
from estimators.audits.mixtures import Mixtures, Tests
from estimators.decisions.verdict import Decision, opening
from estimators.privacy.direction import Direction, direction_of
from estimators.python.dataclass import dataclass, field
from estimators.sample.doubts import REPEATED, SAME, SHARED_BY, signs_of_two
from estimators.sample.scores import MIN_RECORDS, one_of_each
from estimators.statement import Caution, Guarantee, Interval, percent, percent_at_least, percent_at_most

__all__ = ["Combine", "DatasetUse", "PerUnit", "dataset_use"]

PerUnit = Literal["one", "mean"]
"""What of each unit is compared: a record drawn at random, or the mean of its scores."""

Combine = Literal["never", "always", "auto"]
"""Whether several columns of scores are combined; ``auto`` if that is sharper on records set aside."""

CUTS = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.4, 0.5)
"""Shares of all records, from either end of the scores, at which bins of the statistic are cut."""

LEAST_BEYOND = 5  # records beyond a cut, at least
ORDERS = 5  # random orders of the known records; what most of them reject is rejected
FEW_CUTS, FEW_RECORDS, MORE_ORDERS = 8, 500, 25
"""Of few values or records so few samples differ that each has the luck of its orders for good: more are drawn."""

UNLIKE = 0.01  # records are said to be no mixture where no share within the interval fits as well as this p-value

SHARE = "groups_share_records"
TWICE = Caution(
    REPEATED,
    "scores of a group repeat another one of it, far more than chance makes; if rows stand there more than once, the "
    "interval is narrower than it may be: give each record once, or name as unit whose it is",
)
NO_PASS = {one_score.UNITS_DIFFER: "the groups differ in records a unit", SHARE: "two groups share records"}
"""The cautions beside which nothing passes."""

HARDLY = 0.9  # an interval as wide as this says nothing

ALIKE = (
    "the candidates that were used score as the known members, and those that were not as the known nonmembers; "
    "records are drawn independently of each other, one a person or document"
)


LIKE_UNITS = (
    "if units of the three groups have as many records as each other: a mean of few varies more than one of many "
    "(here they differ by no more than chance may, which of few units tells little)"
)
"""What a pass by means takes for granted."""


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """How large a share of the candidates was trained on; ``dataset_use`` makes it.

    Attributes:
        share: The interval of the share; its ends contradict each other where no share fits.
        is_mixture: Whether the candidates can be a mixture of the known groups. If not, the interval says nothing.
        lower_whatever: The share is at least this, however members score; nonmembers still score alike.
        none_used: p-value of "none of them was used"; below 1 - confidence it is refuted.
        all_used: p-value of "all of them were used".
        column: Which column of scores was read; 0 if there is one. Of a combination, that which weighs most.
        is_low: Whether low scores speak for use, and not high ones.
        weights: What each column counts in a combination, positive where its high end speaks for use; empty if one
            column was read.
        numbers: Records of each group that were compared: members, nonmembers, candidates.
        limit: The largest acceptable share; None if nothing was limited.
        cautions: What to know before using it.
        per_unit: What of each unit was compared.
    """

    share: Interval
    is_mixture: bool
    lower_whatever: float
    none_used: float
    all_used: float
    column: int
    is_low: bool
    weights: tuple[float, ...]
    numbers: tuple[int, int, int]
    limit: float | None
    cautions: tuple[Caution, ...] = field(default=())
    per_unit: PerUnit = "one"

    @property
    def lower(self) -> float:
        """The share is at least this: by the interval, or, where no share fits, however members score."""
        return self.share.lower if self.is_mixture else self.lower_whatever

    @property
    def upper(self) -> float:
        """The share is at most this; 1 where the candidates are no mixture, so that nothing limits it."""
        return self.share.upper if self.is_mixture else 1.0

    @property
    def decision(self) -> Decision | None:
        """A pass by the upper end, a fail by the lower one; None if nothing was limited.

        No pass stands where groups share records, or means are compared of units that differ in records: then the upper
        end may be too low.
        """
        if self.limit is None:
            return None
        if self.lower > self.limit:
            return Decision.FAIL
        keeps = self.upper <= self.limit and self._no_pass is None
        return Decision.PASS if keeps else Decision.INCONCLUSIVE

    @property
    def _no_pass(self) -> str | None:
        return next((NO_PASS[each.code] for each in self.cautions if each.code in NO_PASS), None)

    @property
    def covers(self) -> tuple[str, ...]:
        """Of a pass, what it takes for granted, a sentence each; none without one."""
        if self.decision is not Decision.PASS:
            return ()
        return (
            f"these {self.numbers[2]} candidates, by this score of this model",
            "if those of them that were used score as the known members: of one kind and date, and seen as often "
            "(no data test that)",
            "if those that were not used score as the known nonmembers",
            *((LIKE_UNITS,) if self.per_unit == "mean" else ()),
        )

    @property
    def sentence(self) -> str:
        """The result in plain words, the decision first if one was asked for."""
        limits = {
            Decision.PASS: "keeps the limit of",
            Decision.FAIL: "exceeds the limit of",
            Decision.INCONCLUSIVE: "may lie on either side of the limit of",
        }
        decision, ends = self.decision, self._ends_in_words
        if decision is None:
            return ends
        verdict = f"The share {limits[decision]} {self.limit:g}."
        if decision is Decision.INCONCLUSIVE and self.limit is not None and self.upper <= self.limit:
            verdict = f"That is no pass of the limit of {self.limit:g}, for {self._no_pass}."
        return f"{opening(decision, False)}: {ends[0].lower()}{ends[1:]} {verdict}"

    @property
    def _ends_in_words(self) -> str:
        sure = f"With {percent(self.share.confidence)} confidence"
        if not self.is_mixture:
            return (
                "The candidates score like no mixture of the known members and the known nonmembers, so that no "
                f"interval holds for them. {sure} at least {percent_at_least(self.lower_whatever)} were trained on, if "
                "those that were not score as the known nonmembers."
            )
        whatever = (
            f" However members score, it is at least {percent_at_least(self.lower_whatever)}."
            if self.lower_whatever > 0.0
            else ""
        )
        ends = f"between {percent_at_least(self.lower)} and" if self.lower > 0.0 else "at most"
        return (
            f"{sure} {ends} {percent_at_most(self.upper)} of the candidates were trained on, if they score as "
            f"the known ones do.{whatever}"
        )


def dataset_use(
    members: ArrayLike,
    nonmembers: ArrayLike,
    candidates: ArrayLike,
    *,
    units: Sequence[ArrayLike] | None = None,
    per_unit: PerUnit = "one",
    combine: Combine = "never",
    max_share: float | None = None,
    confidence: float = 0.95,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> DatasetUse:
    """How large a share of the candidates was trained on.

    Args:
        members: The model's scores of records known to be trained on: one each, or a row of several.
        nonmembers: Those of records of the same kind and date, known not to be trained on.
        candidates: Those of the records in question.
        units: Whom each record of the three groups belongs to, such as a document.
        per_unit: What of each unit is compared: ``"one"`` record, drawn at random, or the ``"mean"`` of its scores,
            which takes for granted that the groups' units have as many records.
        combine: Whether several columns are combined into one score, by weights that are learned on known records set
            aside: ``"never"`` (the sharpest is read), ``"always"``, or ``"auto"``, where that tells those records apart
            better.
        max_share: Largest acceptable share, for a verdict.
        confidence, seed: As for ``advantage``.
        direction: Which end of the scores speaks for use: ``"high"``, ``"low"`` or ``"either"``. Not knowing costs some
            of the known records, on which it is learned; so does a choice among several scores. A combination learns
            it of each column.

    Raises:
        TooFewRecords: fewer than 8 records of a group.
        NotFinite: a score that is no finite number.

    Example:
        >>> import numpy as np
        >>> from estimators.audits.usage import dataset_use
        >>> rng = np.random.default_rng(1)
        >>> result = dataset_use(rng.normal(2, 1, 500), rng.normal(0, 1, 500), rng.normal(0, 1, 500), max_share=0.2)
        >>> result.decision.value, result.none_used > 0.05
        ('pass', True)
    """
    confidence = errors.require_open_unit("confidence", confidence)
    limit = None if max_share is None else errors.require_share("max_share", max_share)
    ends = direction_of(direction)
    errors.require_count("seed", seed, 0)
    for name, got, choices in (("per_unit", per_unit, PerUnit), ("combine", combine, Combine)):
        if got not in get_args(choices):
            raise errors.UnknownName.among(name, got, get_args(choices))
    rows = [_scores(each, name) for each, name in zip((members, nonmembers, candidates), one_score.GROUPS, strict=True)]
    if len({each.shape[1] for each in rows}) > 1:
        raise errors.DimensionMismatch(
            f"members, nonmembers, candidates: {', '.join(str(each.shape[1]) for each in rows)} scores a record; need "
            "as many of each",
            field="candidates",
        )
    columns = rows[0].shape[1]
    combining = combine != "never"
    if combining and columns == 1:
        raise errors.OptionError.about("combine", "got one column of scores, need several")
    if per_unit == "mean" and units is None:
        raise errors.OptionError.about("per_unit", "got no units, need whom each record belongs to")
    cautions = list[Caution]()
    if units is not None:
        labels = one_score.labels_of_units(rows, units)
        cautions = one_score.unlike_units(labels) if per_unit == "mean" else []
        if per_unit == "mean":
            rows = one_score.means(rows, labels)
        else:
            rng = random_of(seed, *rows)
            rows = [group[one_of_each(own, rng)] for group, own in zip(rows, labels, strict=True)]
    numbers = (len(rows[0]), len(rows[1]), len(rows[2]))
    rng = one_score.random_by_ranks(rows, ends, seed)
    rows = one_score.normal_ranks(rows) if combining else rows
    score, aside, mixed = one_score.OneScore(0, ends is Direction.LOW, np.zeros(0)), list[Floats](), rows
    if ends is Direction.EITHER or columns > 1:
        halves = [one_score.set_aside(each, rng, one_score.A_COLUMN * columns if combining else 0) for each in rows[:2]]
        aside, mixed = [each[0] for each in halves], [*(each[1] for each in halves), rows[2]]
        if combining and (combine == "always" or one_score.combination_pays(aside[0], aside[1], ends, rng)):
            score = one_score.combination(aside[0], aside[1])
        else:
            score = one_score.sharpest(aside[0], aside[1], ends)
    scores = [score.of(each) for each in rows]
    cuts = _cuts(np.concatenate(scores))
    bins, spare = (
        [np.bincount(np.searchsorted(cuts, score.of(each), "right"), minlength=len(cuts) + 1) for each in groups]
        for groups in (mixed, aside)
    )
    level = (1.0 - confidence) / 2.0
    orders = MORE_ORDERS if len(cuts) <= FEW_CUTS or sum(numbers) <= FEW_RECORDS else ORDERS
    tests = Tests([Mixtures(bins, spare, rng) for _ in range(orders)], level)
    lower, upper = tests.end(0), tests.end(1)
    fits = lower <= upper and tests.fit(lower, upper) > UNLIKE
    guarantee = Guarantee("the share of the candidates that was trained on", ALIKE, False)
    return DatasetUse(
        Interval(min(lower, 1.0), max(upper, 0.0), confidence, guarantee),
        fits,
        tests.lower_whatever(),
        tests.p_value(0.0, 0),
        tests.p_value(1.0, 1),
        score.column,
        score.is_low,
        tuple(score.weights.tolist()),
        numbers,
        limit,
        (*cautions, *_cautions(scores, lower, upper, fits)),
        per_unit,
    )


def _scores(values: ArrayLike, name: str) -> Floats:
    try:
        rows = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise errors.InputError.about(name, "need numbers, one score a record or a row of several") from None
    rows = rows[:, None] if rows.ndim == 1 else rows
    if rows.ndim != 2 or not rows.shape[1]:
        raise errors.DimensionMismatch.about(name, "need one score a record or a row of several")
    if len(rows) < MIN_RECORDS:
        raise errors.TooFewRecords.about(name, f"got {len(rows)} records, need at least {MIN_RECORDS}")
    if not np.isfinite(rows).all():
        row = int(np.argmin(np.isfinite(rows).all(axis=1)))
        raise errors.NotFinite.about(name, f"score {row} is not a finite number", row)
    return rows


def _cuts(pooled: Floats) -> Floats:
    """Where bins are cut, by all records alike, whatever group they are of."""
    shares = np.array([each for each in CUTS if each * len(pooled) >= LEAST_BEYOND])
    shares = np.unique(np.concatenate([shares, 1.0 - shares]))
    places = np.minimum(np.ceil(shares * (len(pooled) - 1)).astype(np.int64), len(pooled) - 1)
    return np.unique(np.partition(pooled, np.unique(places))[places]) if len(places) else np.unique(pooled)[1:2]


def _cautions(scores: Sequence[Floats], lower: float, upper: float, fits: bool) -> list[Caution]:
    """Records that seem to stand in two groups, scores that say nothing, and what is no mixture."""
    result = []
    for (i, a), (j, b) in ((x, y) for x in enumerate(scores) for y in enumerate(scores) if x[0] < y[0]):
        signs = signs_of_two(a, b)
        if SAME in signs:
            result.append(Caution(SHARE, SHARED_BY.format(one_score.GROUPS[i], one_score.GROUPS[j])))
        if REPEATED in signs and TWICE not in result:
            result.append(TWICE)
    if not fits:
        message = (
            "the candidates score like no mixture of the two known groups: they may be of another kind or "
            "date, or used otherwise (once rather than often, say)"
        )
        result.append(Caution("not_a_mixture", message))
    elif upper - lower >= HARDLY:
        message = (
            "these scores hardly tell members from nonmembers, so that next to nothing is said: ask a sharper score, "
            "or give more records"
        )
        result.append(Caution("says_little", message))
    return result
