"""The advantage on one fixed set of records, of which all were scored or some drawn at random (MACE's "full access").

The set's members and nonmembers are taken as they are: nothing is said of other records, and the only chance is which
of them were drawn. Of what was not drawn, the numbers of right guesses are hypergeometric given what was.
"""

from __future__ import annotations

import numpy as np

from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import (
    COARSE,
    SEVERAL,
    Cellwise,
    Changes,
    Family,
    OnGroups,
    Smoothed,
    Threshold,
    TwoSided,
    families_for,
)
from estimators.adversary.holdout import SHUFFLES, leaders_so_far, rules_from_past
from estimators.adversary.many_changes import BY_CHANCE
from estimators.adversary.targets import CellsTarget, LearnedTarget, Target, ThresholdTarget
from estimators.arrays import Floats, Integers
from estimators.errors import OptionError, OutOfRange, require_count, require_open_unit
from estimators.limits.without_replacement import Side, largest_sum
from estimators.optimum.ends import Ends, checked_ends, is_vector
from estimators.python.dataclass import dataclass, field
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Estimate, Guarantee, Interval, baseline, both_ends, percent, rules_covered

MOST = 4 * 10**8
"""Records of a side beyond which a set is as good as without end; NumPy deals fewer than 10^9 of both together."""

PLACES = 4096  # cells, of equal mass, at which the rules that are judged may cut the score
DRAWS = 50  # sets in which membership is dealt at random, to say what a set shows if nothing leaks

FEWEST_DRAWS = 4
CELLS_DRAWN = 400_000
"""Large sets differ little from one dealing to the next: about so many cells are dealt in all."""

JUDGING = 0.65  # most of the drawn records that judge a rule, which is learned from the others
LEAST_JUDGING = 0.2  # least part that does, if any record was not drawn
CHOOSING = 0.4  # part of the records learned from that chooses between the kinds of rules

FEW_CELLS, FEW_RECORDS, MORE_ORDERS = 16, 500, 25
"""Of few values or records so few samples differ that each has the luck of its orders for good: more are drawn."""

RANDOM_DRAW = "the scored records of each side were drawn at random from the set, without replacement, or are all of it"


@dataclass(frozen=True, slots=True)
class SetAdvantage:
    """The advantage on a fixed set; ``advantage_on_set`` makes it.

    Attributes:
        estimate: The advantage on the set, with its interval: exact if all was scored.
        if_nothing_leaks: What the best attacker has on such a set on average if membership is dealt at random: with few
            records, somebody who knows who is who finds a rule that fits.
        members: Member records of the set, scored or not.
        nonmembers: Nonmember records of the set, scored or not.
        scored: How many of them were scored, members and nonmembers.
        attacker: Whom the upper end covers, in words to put after "attackers who".
        baseline: The advantage of always guessing the likelier side.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage_on_set
        >>> members, nonmembers = np.random.default_rng(0).normal(size=(2, 500))
        >>> result = advantage_on_set(Scores.of(members + 1, nonmembers), 500, 500)
        >>> result.estimate.lower == result.estimate.upper
        True
    """

    estimate: Estimate
    if_nothing_leaks: float
    members: int
    nonmembers: int
    scored: tuple[int, int]
    attacker: str = field(repr=False)
    baseline: float = 0.0

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        interval = self.estimate.interval
        of = f"{self.members} members and {self.nonmembers} nonmembers"
        if self.scored == (self.members, self.nonmembers):
            start = (
                f"Of exactly these {of} all were scored: on them attackers who {self.attacker} have an advantage of "
                f"{interval.lower:.3f} at best"
            )
        else:
            ends = both_ends(
                interval.lower, interval.upper, self.attacker, self.baseline, "the advantage on all of them"
            )
            start = (
                f"Of exactly these {of}, {self.scored[0]} and {self.scored[1]} were scored: with "
                f"{percent(interval.confidence)} confidence {ends}"
            )
        return (
            f"{start}. On such a set it would be {self.if_nothing_leaks:.3f} on average if nothing leaked. A finer "
            "rule may do better. Nothing is said of other records."
        )


def advantage_on_set(
    data: Scores | Counts,
    set_members: int,
    set_nonmembers: int,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> SetAdvantage:
    """The optimal advantage on one fixed set of members and nonmembers.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``): all records of the set, or some that
            were drawn from each side at random without replacement.
        set_members: How many members the whole set has, scored or not.
        set_nonmembers: How many nonmembers it has, scored or not.
        prior, confidence, seed: As for ``advantage``.
        target: As for ``advantage``; a score is not learned of records of a fixed set.

    Raises:
        OutOfRange: fewer records in the set than were scored.
        OptionError: vectors of which a score would be learned.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage_on_set
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0.5, 1, 800), rng.normal(0, 1, 800))
        >>> print(advantage_on_set(scores, 1000, 1000).sentence)
        Of exactly these 1000 members and 1000 nonmembers, 800 and 800 were scored: with 95% confidence the advantage on
        all of them over a coin toss is at least 0.153, whoever reads this score, and at most 0.214 for attackers who
        accuse on one side of a cut, or inside or outside one range, or who sort the score into 12 steps. On such a set
        it would be 0.063 on average if nothing leaked. A finer rule may do better. Nothing is said of other records.
    """
    confidence = require_open_unit("confidence", confidence)
    require_drawn_singly(data, target, clustered=False)
    return on_set(checked_ends(data, prior, target, seed, 1), set_members, set_nonmembers, confidence)


def on_set(ends: Ends, set_members: int, set_nonmembers: int, confidence: float) -> SetAdvantage:
    """The same from the rules that both ends of the advantage rest on."""
    fine, prior, seed = ends.fine, ends.prior, ends.source.seed or 0
    _require_whole("set_members", set_members, fine.n_members, "members")
    _require_whole("set_nonmembers", set_nonmembers, fine.n_nonmembers, "nonmembers")
    alpha = (1.0 - confidence) / 2.0
    sides = (
        Side(set_members, fine.n_members, prior / set_members),
        Side(set_nonmembers, fine.n_nonmembers, (1.0 - prior) / set_nonmembers),
    )
    best, floor = _Best.of(ends), baseline(prior)
    sample_sum = (1.0 + best.advantage(*(each.sample_worth for each in sides))) / 2.0
    complete = all(each.sample == each.whole for each in sides)
    value = lower = upper = max(floor, 2.0 * sample_sum - 1.0)
    if not complete:
        upper = min(1.0, max(floor, 2.0 * largest_sum(*sides, sample_sum, alpha) - 1.0))
        learned, about = _learned(best, sides, prior, alpha, seed)
        # a rule that fits the scored records, if it errs on all others
        fit = sum(each.worth * each.sample for each in sides) - 1.0
        fit += best.advantage(*(each.worth for each in sides))
        lower = max(floor, fit, learned)
        lower, upper = min(lower, upper), max(lower, upper)  # if they cross, one of them is wrong
        value = min(upper, max(lower, (value + about) / 2.0))
    covers = f"the optimal advantage on the records of the set; upper end: that of attackers who {best.attacker}"
    interval = Interval(lower, upper, confidence, Guarantee(covers, RANDOM_DRAW, complete))
    return SetAdvantage(
        Estimate(value, interval),
        best.if_nothing_leaks(set_members, set_nonmembers, prior, seed),
        set_members,
        set_nonmembers,
        (fine.n_members, fine.n_nonmembers),
        best.attacker,
        floor,
    )


def require_drawn_singly(
    data: Scores | Counts, target: Target | None, *, clustered: bool, field: str = "set_members"
) -> None:
    """Refuse rows that belong together, and a score that is learned from the records that would judge it."""
    if clustered:
        raise OptionError.about(
            field, "goes with records that were drawn from the set one by one, not by cluster; name one of both"
        )
    if isinstance(target, LearnedTarget) or (target is None and is_vector(data)):
        raise OptionError.about(
            field,
            "on a fixed set there is no interval for a learned score; score each record by one number, "
            "or ask for cells (CellsTarget, estimator histogram)",
        )


def _require_whole(name: str, whole: int, scored: int, side: str) -> None:
    """Refuse a set that is smaller than what was scored, or so large that it need not be told."""
    whole = require_count(name, whole)
    if whole < scored:
        message = f"got {whole}, but {scored} {side} were scored; need how many the whole set has"
        raise OutOfRange.about(name, message)
    if whole > MOST:
        raise OutOfRange.about(
            name,
            f"got {whole}, need at most {MOST}; records drawn from so large a set are as good as independent: "
            "leave it out",
        )


@dataclass(frozen=True, slots=True)
class _Best:
    """The best rule of the class that the upper end covers, on the records it is chosen on."""

    fine: Counts
    counts: Counts | None
    changes: int | None

    @classmethod
    def of(cls, ends: Ends) -> _Best:
        if isinstance(ends.target, CellsTarget):
            return cls(ends.fine, ends.counts, ends.changes)
        return cls(ends.fine, None, 1 if isinstance(ends.target, ThresholdTarget) else 2)

    @property
    def attacker(self) -> str:
        """Which rules, in words to put after "attackers who"."""
        return rules_covered(self.changes, None if self.counts is None else self.counts.size)

    def advantage(self, member: float, nonmember: float) -> float:
        """The gain of the best rule, a member being worth so much and a nonmember so much."""
        values = [] if self.counts is None else [float(np.abs(_gain(self.counts, member, nonmember)).sum())]
        if self.changes is not None:
            values.append(float(best_by_changes(_gain(self.fine, member, nonmember), self.changes)[-1]))
        return max(values)

    def families(self) -> tuple[Counts, tuple[Family, ...]]:
        """Rules of the class that may be learned, and the cells that they see: no rule is more than the class has."""
        if not self.fine.cells.ordered:
            return self.fine, families_for(self.fine)
        own = np.empty(0, dtype=np.int64) if self.counts is None else _starts(self.fine, self.counts)
        places = np.union1d(self.fine.group_starts(PLACES), own)
        counts = self.fine.join(places)
        changes = self.changes or 0
        few: list[Family] = [rule for most, rule in ((1, Threshold()), (2, TwoSided())) if most <= changes]
        few += [Changes(most) for most in BY_CHANCE if most <= changes]
        if not own.size:
            return counts, tuple(few)
        starts = np.searchsorted(places, own)
        every: list[Family] = [OnGroups(Cellwise("cells"), starts)]
        if self.counts is not None and starts.size > SEVERAL:
            coarse = starts[self.counts.group_starts(COARSE)]
            every = [
                OnGroups(Cellwise("coarse_cells"), coarse),
                OnGroups(Smoothed(max(1.0, starts.size / 16)), starts),
                *every,
            ]
        return counts, (*few, *every)

    def if_nothing_leaks(self, n_members: int, n_nonmembers: int, prior: float, seed: int) -> float:
        """What it is on average if members are drawn at random from a set like this one."""
        rng = np.random.default_rng(seed)
        pooled, whole = self.fine.pooled, n_members + n_nonmembers
        starts = None if self.counts is None else _starts(self.fine, self.counts)
        worth = prior / n_members, (1.0 - prior) / n_nonmembers
        values = []
        for _ in range(min(DRAWS, max(FEWEST_DRAWS, CELLS_DRAWN // self.fine.size))):
            of_set = pooled if whole == pooled.sum() else rng.multinomial(whole, pooled / pooled.sum())
            members = rng.multivariate_hypergeometric(of_set, n_members, method="marginals")
            gain = worth[0] * members - worth[1] * (of_set - members)
            each = [] if starts is None else [float(np.abs(np.add.reduceat(gain, starts)).sum())]
            if self.changes is not None:
                each.append(float(best_by_changes(gain, self.changes)[-1]))
            values.append(max(each))
        return max(baseline(prior), float(np.mean(values)))


def _gain(counts: Counts, member: float, nonmember: float) -> Floats:
    return counts.members * member - counts.nonmembers * nonmember


def _starts(fine: Counts, counts: Counts) -> Integers:
    """First fine cell of each cell."""
    if counts is fine:
        return np.arange(fine.size)
    before = np.concatenate([[0], counts.pooled.cumsum()[:-1]])
    return np.searchsorted(fine.pooled.cumsum(), before, side="right")


def _learned(best: _Best, sides: tuple[Side, Side], prior: float, alpha: float, seed: int) -> tuple[float, float]:
    """What a rule of the class that is learned from some scored records has on the set, at least and about.

    The others judge it, and stand for those that were not scored; on the first it is known what it does. The median
    over random orders of the records.
    """
    counts, families = best.families()
    differ_little = counts.size <= FEW_CELLS or counts.n_records <= FEW_RECORDS
    orders, rng = (MORE_ORDERS, np.random.default_rng(seed)) if differ_little else (SHUFFLES, counts.random(seed))
    judging = [_judging_part(each) for each in sides]
    learning = [1.0 - each for each in judging]
    fractions = np.array([[(1.0 - CHOOSING) * a, CHOOSING * a, b] for a, b in zip(learning, judging, strict=True)])
    members, nonmembers = counts.shuffles(fractions, rng, orders)
    guesses = rules_from_past(members, nonmembers, prior, families)
    hits = np.einsum("fsbc,sbc->sfb", guesses, members[:, 1:])
    refusals = nonmembers[:, 1:].sum(axis=2)[:, None] - np.einsum("fsbc,sbc->sfb", guesses, nonmembers[:, 1:])
    leaders, _ = leaders_so_far(hits, members[:, 1:].sum(axis=2), refusals, nonmembers[:, 1:].sum(axis=2), prior)
    rows = np.arange(orders)
    rules = guesses[leaders[:, 1], rows, 1]
    limits, values = [], []
    for rule, of_members, of_nonmembers in zip(rules, members, nonmembers, strict=True):
        wrong = of_members @ ~rule, of_nonmembers @ rule  # by block
        certain = sum(side.worth * int(each[:2].sum()) for side, each in zip(sides, wrong, strict=True))
        left = [
            Side(side.whole - int(blocks[:2].sum()), int(blocks[2].sum()), side.worth)
            for side, blocks in zip(sides, (of_members, of_nonmembers), strict=True)
        ]
        sample_sum = sum(side.sample_worth * int(each[2]) for side, each in zip(left, wrong, strict=True))
        limits.append(1.0 - 2.0 * (certain + largest_sum(left[0], left[1], sample_sum, alpha)))
        values.append(1.0 - 2.0 * (certain + sample_sum))
    return float(np.median(limits)), float(np.median(values))


def _judging_part(side: Side) -> float:
    """Part of a side's scored records that judges a rule: the fewer were left out, the smaller."""
    left_out = 1.0 - side.sample / side.whole
    return min(JUDGING, left_out + LEAST_JUDGING) if left_out else 0.0
