"""The best set of a few ranges of the score, or of a few labels, at a false positive rate: both ends of its TPR.

*Upper end.* The best such set is fixed, if unknown. With probability 1 - a/2 no more than c of the sample's nonmembers
lie in it, c being a binomial quantile. So its members in the sample are no more than the most that any such set with at
most c nonmembers holds, and their exact limit at a/2 is not below its share of members: no correction for the search.
Lagrange bounds that most: with at most c nonmembers, members are at most h(x) + x c for every price x of a nonmember,
h(x) being the largest sum of members less x times nonmembers over the sets without a limit on nonmembers, of which
there are few: of ranges ``adversary.changes`` finds it, of labels it is the sum of the largest. The same bounds a set
of which one range, or label, is accused in part.

*Lower end.* A window between nonmembers, or a label, has an exact upper limit of its share of nonmembers and a lower
one of its share of members. Who accuses there so seldom that the rate is kept finds the same part of the latter. Half
of the error is for the shares of nonmembers, half for those of members, each shared by all windows, or labels. Windows
hold no score that many nonmembers have: such scores, each by itself, share what J spans of windows leave, 1/(J + 1).
"""

from math import exp, floor, log, sqrt

import numpy as np
from scipy.special import betainc, betaincinv

from estimators.adversary.changes import best_by_changes
from estimators.arrays import Floats, Integers
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy.closeness import fullest_windows
from estimators.sample.counts import Counts
from estimators.sample.frequent import CROWD, RARE

RANGES = 4  # ranges of the score, or labels, of which a set consists at most

PRICES = 16
"""Prices of a nonmember that are tried; each gives an upper bound, and the last ones differ by little."""

GOLDEN = (sqrt(5.0) - 1.0) / 2.0

ROUNDING = 1e-12  # what sums of so many cells may be off by, as a share of all that is summed


def tpr_at_most(counts: Counts, fpr: float, alpha: float, ranges: int = RANGES) -> float:
    """Upper end of level 1 - alpha for the share of members in the best set whose share of nonmembers is at most fpr.

    Args:
        ranges: Of how many ranges, or labels, a set consists at most.
    """
    n1, n0 = counts.n_members, counts.n_nonmembers
    inside = most_members(counts, _most_accused(n0, fpr, alpha / 2.0), ranges)
    return float(upper_limit(min(inside, n1), n1, alpha / 2.0))


def most_members(counts: Counts, nonmembers: int, ranges: int = RANGES) -> int:
    """An upper bound on the members in a set of so few ranges, or labels, that holds at most so many nonmembers."""
    ordered = counts.cells.ordered
    members, others = (
        side + 0.0 for side in (joined_cells(counts) if ordered else (counts.members, counts.nonmembers))
    )
    total = float(counts.n_members)

    def bound(log_price: float) -> float:
        price = exp(log_price)
        gain = members - price * others
        if ordered:
            every = total + price * counts.n_nonmembers  # no rule that accuses beyond both ends is worth this
            best = best_by_changes(np.concatenate([[-every], gain, [-every]]), 2 * ranges)[-1]
            worth = (float(best) + float(gain.sum()) - 2.0 * every) / 2.0 + ROUNDING * every
        else:
            worth = float(np.maximum(np.partition(gain, -ranges)[-ranges:] if len(gain) > ranges else gain, 0).sum())
        return worth + price * nonmembers

    # convex in the price, and so with one dip in its logarithm
    low, high = log(total / counts.n_nonmembers) - 7.0, log(total) + 1.0
    inner = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)]
    values = [bound(each) for each in inner]
    least = min(total, *values)
    for _ in range(PRICES):
        if values[0] <= values[1]:
            high, inner, values = inner[1], [0.0, inner[0]], [0.0, values[0]]
            inner[0] = high - GOLDEN * (high - low)
            values[0] = bound(inner[0])
        else:
            low, inner, values = inner[0], [inner[1], 0.0], [values[1], 0.0]
            inner[1] = low + GOLDEN * (high - low)
            values[1] = bound(inner[1])
        least = min(least, *values)
    return floor(least + 1e-6)


def joined_cells(counts: Counts) -> tuple[Integers, Integers]:
    """Both sides of the cells, of which neighbours are joined that hold members alone, or nonmembers alone."""
    kinds = np.where(counts.nonmembers == 0, 1, np.where(counts.members == 0, -1, 0))
    first = np.ones(len(kinds), dtype=np.bool_)
    first[1:] = (kinds[1:] != kinds[:-1]) | (kinds[1:] == 0)
    starts = np.flatnonzero(first)
    return np.add.reduceat(counts.members, starts), np.add.reduceat(counts.nonmembers, starts)


def tpr_at_least(counts: Counts, fpr: float, alpha: float) -> float:
    """Lower end of level 1 - alpha of the same, by one range or label."""
    inside, within, shares = _sets(counts)
    if not len(inside):
        return 0.0
    n0, levels = counts.n_nonmembers, alpha / 2.0 * shares
    left = np.maximum(n0 - within, 1e-300)
    above = np.where(within < n0, betaincinv(within + 1.0, left, 1.0 - levels), 1.0)
    least = lower_limit(inside, counts.n_members, levels)
    return float((least * np.minimum(1.0, fpr / above)).max())


def tpr_seen(counts: Counts, fpr: float) -> float:
    """The same as it was seen, which reads a little high for having been searched for."""
    inside, within, _ = _sets(counts)
    seldom = np.minimum(1.0, fpr * counts.n_nonmembers / (within + 1.0))
    largest = float((inside / counts.n_members * seldom).max(initial=0.0))
    return max(largest, _seen_at_thresholds(counts, fpr)) if counts.cells.ordered else largest


def _seen_at_thresholds(counts: Counts, fpr: float) -> float:
    """The same of a threshold at one score, of whose records only a part is accused."""
    alike, accused, most = counts.alike(), fpr * counts.n_nonmembers, 0.0
    for way in (1, -1):
        sides, (members, others) = (counts.members[::way], counts.nonmembers[::way]), alike[:, ::way]
        inside, within = (side.cumsum() - side for side in sides)
        at = int(within.searchsorted(accused, side="right")) - 1
        if members[at] + others[at] > RARE:
            part = min(1.0, float((accused - within[at]) / max(1, others[at])))
            most = max(most, float(inside[at] + part * members[at]))
    return most / counts.n_members


def _sets(counts: Counts) -> tuple[Integers, Integers, Floats]:
    """The sets of one range, score or label that are looked at: members, most nonmembers, share of the error."""
    if not counts.cells.ordered:
        labels = max(1, int(np.count_nonzero(counts.pooled)))
        return counts.members, counts.nonmembers, np.full(counts.size, 1.0 / labels)
    windows, alike = fullest_windows(counts), counts.alike()
    often = alike.sum(axis=0) > max(RARE, CROWD * counts.n_records)
    scores = int(often.sum())
    shares = np.full(scores, 1.0 / ((len(windows.shares) + 1.0) * max(1, scores)))
    return (
        np.concatenate([windows.members, alike[0, often]]),
        np.concatenate([windows.within, counts.nonmembers[often]]),
        np.concatenate([windows.shares, shares]),
    )


def _most_accused(trials: int, rate: float, alpha: float) -> int:
    """Fewest c for which more than c of so many are accused with probability at most alpha."""
    low, high = -1, trials
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _more_than(middle, trials, rate) <= alpha else (middle, high)
    return high


def _more_than(hits: int, trials: int, rate: float) -> float:
    """P(Bin(trials, rate) > hits)."""
    return float(betainc(hits + 1.0, float(trials - hits), rate)) if hits < trials else 0.0
