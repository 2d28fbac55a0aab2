"""How many members may be found out: the share beyond a cut of the score that makes membership so and so probable.

A member is exposed at a precision if it lies beyond some cut, and of who lies there, at the prior, so large a share are
members. With odds of the precision that are g times those of the prior, that is a cut whose true positive rate is at
least g times its false positive rate, and the share of members that are exposed is the largest such true positive rate.

*Upper end.* The best cut is one cut of the score, fixed if unknown. So each rate there has its own exact limit at half
of the error, whatever lies on either side, and the largest upper limit of a true positive rate among all cuts whose
limits agree with the odds is not below the truth: no correction for their number. Which end of the score it lies at is
fixed as well.

*Lower end.* Among tails that nonmembers alone fix and that share the error (``audit.exposure``), the largest lower
limit of a true positive rate whose tail is shown to have the odds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.audit.epsilon import Direction, direction_of
from estimators.audit.exposure import ratio_limit, tails_of
from estimators.errors import OptionError, OutOfRange, require_number, require_open_unit
from estimators.limits.binomial import clopper_pearson, lower_limit
from estimators.maxima import GateSample, JudgedLimit
from estimators.plan import decide, records_needed
from estimators.sample.counts import Counts
from estimators.statement import IID, Estimate, Guarantee, Interval

AT_PRECISION = 0.9
"""How probable membership has to be for a member to count as exposed, unless something else is asked for."""

OF_SHARE = 0.25
"""The part of a tail's error that its share of members may take; its odds, which are harder to show, have the rest."""


@dataclass(frozen=True, slots=True)
class MaxExposed:
    """The share of members beyond a cut that makes membership at least ``precision`` probable, at the prior.

    It limits what an average hides, as ``MaxTpr`` does, and needs no false positive rate that is too small for the
    number of nonmembers.

    Args:
        maximum: Largest share of members that is acceptable, from 0 to 1. At 0 the limit cannot pass: no number of
            records shows that nobody is exposed.
        precision: How probable membership has to be there, above the prior and below 1.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``.

    Example:
        >>> from estimators import Counts
        >>> from estimators.exposed import MaxExposed
        >>> from estimators.gate import judge
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])  # one training row in twenty, word for word
        >>> judge(release, [MaxExposed(0.01)]).decision.value
        'fail'
    """

    maximum: float
    precision: float = AT_PRECISION
    direction: Direction | str = Direction.EITHER

    def judge(self, sample: GateSample) -> JudgedLimit:
        """By the cuts of both ends of the score, or of the one that is known.

        Args:
            sample: The records, the prior and the confidence.
        """
        most = require_number("max_exposed", self.maximum)
        if not 0.0 <= most <= 1.0:
            raise OutOfRange(f"max_exposed: got {most!r}, need a number from 0 to 1", field="max_exposed")
        precision = require_open_unit("at_precision", self.precision)
        if precision <= sample.prior:
            raise OutOfRange(
                f"at_precision: got {precision:g}, need more than the prior, {sample.prior:g}: so probable membership "
                "is without any score",
                field="at_precision",
            )
        if not sample.fine.cells.ordered:
            raise OptionError(
                "max_exposed: categories have no order, and so no cut beyond which members would lie",
                field="max_exposed",
            )
        odds = precision / (1.0 - precision) * (1.0 - sample.prior) / sample.prior
        ends = direction_of(self.direction)
        upper, value = exposed_at_most(sample.fine, odds, (1.0 - sample.confidence) / 2.0, ends)
        lower = exposed_at_least(sample.fine, odds, (1.0 - sample.below) / 2.0, ends)
        guarantee = Guarantee(
            f"the largest share of members beyond a cut of this score beyond which membership is at least "
            f"{precision:g} probable, at a prior of {sample.prior:g}",
            IID,
            finite_sample=True,
        )
        lower = min(lower, upper)
        estimate = Estimate(
            min(max(value, lower), upper), Interval(lower, upper, sample.confidence, guarantee)
        )
        about = f"the share of members whose score makes membership {precision:g} probable"
        # where nobody is seen to be exposed, the upper end falls as one over the number of records
        records = records_needed(estimate, most, sample.records, 0.5 if value else 1.0)
        verdict = decide(about, estimate, most, records, sample.records)
        return JudgedLimit("exposed", about, estimate, verdict, sample.cautions)


def exposed_at_most(counts: Counts, odds: float, alpha: float, ends: Direction) -> tuple[float, float]:
    """The upper end of the share of members that are exposed, and the share that is seen to be.

    Args:
        counts: Counts of cells with an order.
        odds: How many times as often as nonmembers members have to lie beyond the cut.
        alpha: The error of the upper end.
        ends: Which ends of the score are looked at.

    Example:
        >>> from estimators import Counts
        >>> from estimators.audit.epsilon import Direction
        >>> from estimators.exposed import exposed_at_most
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])
        >>> upper, seen = exposed_at_most(release, 9.0, 0.025, Direction.EITHER)
        >>> round(upper, 3), seen
        (0.057, 0.05)
    """
    upper = share_there = 0.0
    for members, nonmembers in _beyond(counts, ends):
        most = clopper_pearson(members, counts.n_members, alpha / 2.0)[1]
        least = clopper_pearson(nonmembers, counts.n_nonmembers, alpha / 2.0)[0]
        upper = max(upper, float(most[most >= odds * least].max()))
        shares = members / counts.n_members
        clear = shares >= odds * np.minimum((nonmembers + 1.0) / counts.n_nonmembers, 1.0)
        share_there = max(share_there, float(shares[clear].max(initial=0.0)))
    return upper, share_there


def exposed_at_least(counts: Counts, odds: float, alpha: float, ends: Direction) -> float:
    """The lower end of the share of members that are exposed.

    Args:
        counts: Counts of cells with an order.
        odds: How many times as often as nonmembers members have to lie beyond the cut.
        alpha: The error of the lower end.
        ends: Which ends of the score are looked at.

    Example:
        >>> from estimators import Counts
        >>> from estimators.audit.epsilon import Direction
        >>> from estimators.exposed import exposed_at_least
        >>> release = Counts.of([4750, 250], [5000, 0], edges=[1.0])
        >>> round(exposed_at_least(release, 9.0, 0.025, Direction.EITHER), 3)
        0.041
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    tails = tails_of(counts, alpha, ends)
    start, lower = float(np.log(odds)), 0.0
    for inside, ended_by, level in zip(
        tails.members.tolist(), tails.ended_by.tolist(), tails.levels.tolist(), strict=True
    ):
        share = float(lower_limit(inside, n1, OF_SHARE * level))
        hopeful = inside > 0 and inside * n0 > odds * ended_by * n1
        of_odds = (1.0 - OF_SHARE) * level
        if share > lower and hopeful and ratio_limit(inside, n1, ended_by, n0, of_odds, start) > start:
            lower = share
    return lower


def _beyond(counts: Counts, ends: Direction) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Members and nonmembers beyond each cut between cells, nobody first, from the ends that are looked at."""
    sides = [counts.members, counts.nonmembers]
    ways = [[each[::-1] for each in sides]] * (ends is not Direction.LOW) + [sides] * (
        ends is not Direction.HIGH
    )
    return [
        (
            np.concatenate([[0], np.cumsum(way[0], dtype=np.int64)]),
            np.concatenate([[0], np.cumsum(way[1], dtype=np.int64)]),
        )
        for way in ways
    ]
