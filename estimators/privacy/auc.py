"""The area under the ROC curve: the probability that a member outscores a nonmember."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import expit, gammaincinv, logit, stdtrit

from estimators.arrays import Floats, Integers, dot
from estimators.clusters.design import Clusters, Labels
from estimators.clusters.ends import clustered_area
from estimators.errors import IncompatibleCells, require_open_unit
from estimators.limits.binomial import normal_quantile
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import CLUSTERED, IID, Caution, Estimate, Guarantee, Interval, at_least, at_most, percent

OF_AREA = Guarantee("the probability that a member outscores a nonmember, ties one half", IID, False)

FEW_ERRORS = 1.0
"""With fewer misordered pairs than this, of min(n1, n0), the estimated variance is not to be trusted."""

INFORMATIVE = 100.0
"""With fewer records than this whose placements differ, on either side, their variance may be far too small."""

NARROW = 0.5
"""Placements of less than this share of the variance that a smooth score has at the same area lie close together."""

SKEW = 2.0
"""Over the degrees of freedom, the share by which the interval is wider: 15 placements lie skew at any score."""


@dataclass(frozen=True, slots=True)
class AreaUnderCurve:
    """Probability that a member outscores a nonmember, ties one half.

    Attributes:
        estimate: The area with its interval.
        cautions: What to know before using the number.
    """

    estimate: Estimate
    cautions: tuple[Caution, ...] = field(default=())

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        interval = self.estimate.interval
        return (
            f"With {percent(interval.confidence)} confidence a member outscores a nonmember with a probability "
            f"between {at_least(interval.lower)} and {at_most(interval.upper)}; without leakage it would be 0.5."
        )


def auc(counts: Counts, confidence: float = 0.95) -> AreaUnderCurve:
    """Area under the curve with an interval from the variance of placements, on the logit scale.

    A record's placement is the share of the other side it is ahead of; their two variances are that of the
    area (DeLong, DeLong and Clarke-Pearson 1988), the logit keeps the ends inside (0, 1), and Student's quantile,
    a little enlarged, stands for the few placements there may be. Where nearly all placements of a side lie close
    together, as with ties, the variance rests on few records: then each end is that of the area with one record a side
    added at the end that favours it, under random weights. With almost no misordered pairs the interval is the
    finite-sample one of a mean of min(n1, n0) independent pairs, and the caution ``few_misordered_pairs`` says so.

    Args:
        counts: Counts of both sides over cells with an order; a higher score means member.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.

    Returns:
        an ``AreaUnderCurve``: 0.5 if the score tells nothing, below if members score lower.

    Raises:
        IncompatibleCells: categories, which have no order.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.roc import auc
        >>> area = auc(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])).estimate
        >>> round(area.lower, 3), round(area.value, 3), round(area.upper, 3)
        (0.663, 0.735, 0.796)
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    counts = require_order(counts)
    n1, n0 = counts.n_members, counts.n_nonmembers
    below = (counts.nonmembers.cumsum() - 0.5 * counts.nonmembers) / n0
    above = (n1 - counts.members.cumsum() + 0.5 * counts.members) / n1
    area = dot(counts.members, below) / n1
    cautions: tuple[Caution, ...] = ()
    pairs = min(n1, n0)
    if pairs * min(area, 1.0 - area) < FEW_ERRORS:
        lower, upper = _pairs_interval(area, pairs, alpha)
        message = (
            f"too few of {pairs} pairs are misordered to estimate a variance; "
            "the interval is a wider one, valid at every sample size"
        )
        cautions = (Caution("few_misordered_pairs", message),)
    elif _close(counts.members, below - area, area) or _close(counts.nonmembers, above - area, area):
        upper = _area_upper(counts.members, counts.nonmembers, alpha)
        lower = 1.0 - _area_upper(counts.nonmembers, counts.members, alpha)
    else:
        of_members = dot(counts.members, (below - area) ** 2) / (n1 - 1) / n1
        of_nonmembers = dot(counts.nonmembers, (above - area) ** 2) / (n0 - 1) / n0
        variance = of_members + of_nonmembers
        freedom = variance**2 / (of_members**2 / (n1 - 1) + of_nonmembers**2 / (n0 - 1))  # Welch
        # sd of logit(A) = sd(A) / (A (1 - A))
        quantile = float(stdtrit(freedom, 1.0 - alpha)) * (1.0 + SKEW / freedom)
        reach = quantile * sqrt(variance) / (area * (1.0 - area))
        lower, upper = float(expit(logit(area) - reach)), float(expit(logit(area) + reach))
    return _with_direction(area, Interval(lower, upper, confidence, OF_AREA), cautions)


def clustered_auc(scores: Scores, cluster: Labels, confidence: float = 0.95) -> AreaUnderCurve:
    """The same of rows that come in clusters, by the variance of their totals of placements (Obuchowski 1997).

    With fewer than 40 clusters that are as heavy as each other the interval is the finite-sample one of as many
    independent comparisons as pairs of clusters can be formed at once; so it is with almost no misordered pairs.

    Args:
        scores: Scores of both sides (``Scores.of``) with an order; a higher score means member.
        cluster: Whom each row belongs to: a label for each row, members' rows first, or two columns that cross.

    Returns:
        an ``AreaUnderCurve``; ``auc`` of the scores where no two rows share a label.
    """
    alpha = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    require_data(scores, Scores)
    fine = finest(scores)
    clusters = Clusters.of(cluster, scores, 0.5)
    if clusters is None:
        return auc(fine, confidence)
    require_order(fine)
    at = np.concatenate([fine.cells.locate(side) for side in (scores.members, scores.nonmembers)])
    correlations = clusters.correlations(at, fine)
    weights, alike = clusters.weights(max(correlations)), clusters.inflation(correlations)
    area = clustered_area(clusters, at, fine.size, weights, alike)
    guarantee = replace(OF_AREA, assumes=CLUSTERED)
    if area.error and area.pairs * min(area.value, 1.0 - area.value) >= FEW_ERRORS:
        quantile = float(stdtrit(area.freedom, 1.0 - alpha)) * (1.0 + SKEW / area.freedom)
        reach = quantile * area.error / (area.value * (1.0 - area.value))
        ends = [float(expit(logit(area.value) + step)) for step in (-reach, reach)]
        ahead, behind = (each.at(alpha) for each in area.largest)
        ends = [min(ends[0], 1.0 - behind), max(ends[1], ahead)]
    else:
        ends = list(_pairs_interval(area.value, area.pairs, alpha))
        guarantee = replace(guarantee, finite_sample=True)
    return _with_direction(area.value, Interval(ends[0], ends[1], confidence, guarantee), ())


def _with_direction(area: float, interval: Interval, cautions: tuple[Caution, ...]) -> AreaUnderCurve:
    """The area with a word on members that score lower."""
    if interval.upper < 0.5:
        cautions += (
            Caution(
                "members_score_lower",
                f"members score lower than nonmembers (AUC {area:.3f}, at most {at_most(interval.upper)}); "
                "negate the scores if a lower score is meant to speak for membership",
            ),
        )
    return AreaUnderCurve(Estimate(area, interval), cautions)


def _close(records: Integers, apart: Floats, area: float) -> bool:
    """Whether nearly all placements of a side lie so close together that its variance rests on few records.

    It rests on all n if half lie one way and half the other. A smooth score's is that of two exponential laws (Hanley
    and McNeil 1982); where the area is near 1 that is small, too, and the logit takes care of it.
    """
    square = apart**2
    second, fourth = dot(records, square), dot(records, square**2)
    smooth = max(area, 1.0 - area)
    usual = smooth / (2.0 - smooth) - smooth**2
    return second < NARROW * usual * int(records.sum()) and second**2 <= INFORMATIVE * fourth


def _area_upper(members: Integers, nonmembers: Integers, alpha: float) -> float:
    """Upper limit of level 1 - alpha for the area, from few records or from many that tie.

    One member is added above all and one nonmember below all, and each side's records get Dirichlet weights: the
    limit is a quantile of the area so weighted. On one side alone that is Gaffke's (2005) limit of a bounded mean, and
    for two values Clopper and Pearson's; two sides are put together as by Fay, Proschan and Brittain (2015). Its first
    three moments are exact but for what the sides have in common in the third, and a gamma law has its quantile.
    """
    n1, n0 = int(members.sum()) + 1, int(nonmembers.sum()) + 1
    below = (nonmembers.cumsum() - 0.5 * nonmembers + 1.0) / n0
    above = (n1 - members.cumsum() + 0.5 * members) / n1
    mean = (dot(members, below) + 1.0) / n1
    tied = dot(members, nonmembers.astype(np.float64)) / n1 / n0
    squares, variance, third = mean - tied / 4.0 + mean**2, 0.0, 0.0
    for records, placements, n in ((members, below, n1), (nonmembers, above, n0)):
        apart = placements - mean
        two, three = (dot(records, apart**power) + (1.0 - mean) ** power for power in (2, 3))
        variance += two / (n * (n + 1.0))
        third += 2.0 * three / (n * (n + 1.0) * (n + 2.0))
        squares -= two / n + mean**2
    variance += max(0.0, squares) / ((n1 + 1.0) * (n0 + 1.0))
    skew = third / variance**1.5 if variance > 0.0 else 0.0
    if abs(skew) < 1e-3:
        reach = normal_quantile(alpha)
    else:
        shape = 4.0 / skew**2
        reach = (gammaincinv(shape, 1.0 - alpha if skew > 0.0 else alpha) - shape) * skew / 2.0
    return min(1.0, mean + float(reach) * sqrt(variance))


def _pairs_interval(area: float, pairs: int, alpha: float) -> tuple[float, float]:
    """Interval for the mean of ``pairs`` independent comparisons of one member with one nonmember.

    The area is the average of such means over all pairings, so its tail is at most that of Chernoff's bound
    exp(-n KL(area, theta)) (Hoeffding 1963, section 5). At area 1 it is exact: theta^n = alpha.
    """
    budget = -np.log(alpha) / pairs

    def divergence(theta: float) -> float:
        hit = area * np.log(area / theta) if area > 0.0 else 0.0
        miss = (1.0 - area) * np.log((1.0 - area) / (1.0 - theta)) if area < 1.0 else 0.0
        return float(hit + miss)

    ends = []
    for outer, inner in ((0.0, area), (1.0, area)):
        far, near = outer, inner
        for _ in range(60):
            middle = (far + near) / 2.0
            if not 0.0 < middle < 1.0:
                break
            far, near = (far, middle) if divergence(middle) <= budget else (middle, near)
        ends.append(far)
    return ends[0], ends[1]


def require_order(counts: Counts) -> Counts:
    """The cells that have records, of counts whose cells have an order."""
    require_data(counts, Counts)
    if not counts.cells.ordered:
        raise IncompatibleCells(
            f"cells of kind {counts.cells.kind} have no order, so they have no thresholds; give numbers, "
            "or the score of a learned adversary on records it has not seen",
            field="query",
        )
    return counts.occupied()
