"""Where members may stand out: ranges of the score, labels or cells that are fixed by nonmembers, and their levels.

At both ends of the score these are tails in which 0, 1, 2, 4, ... nonmembers may lie. Levels are shared by directions,
equally, and by tails, of which the j-th gets 1/(j(j+1)): the purest tail gets half, and no number of further tails
takes anything away from it. Everywhere between there are windows that hold so many (``privacy.closeness``), with a
small share of the level: those that hold as many nonmembers share it equally, and as the limit rises with the members
inside, only the fullest of them needs one (docs/methods.md, section 5).

And the best set of a few ranges, or of a few labels, at a false positive rate: both ends of its TPR.

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

from bisect import bisect_left
from math import exp, floor, log, sqrt
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincinv, logit, ndtri

from estimators.adversary.changes import best_by_changes
from estimators.arrays import Floats, Integers
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.privacy.closeness import fullest_windows
from estimators.privacy.direction import Direction
from estimators.privacy.share_ratio import ratio_limit
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Categories, Values
from estimators.sample.counts import Counts
from estimators.sample.frequent import CROWD, RARE

End = Literal["high", "low", "window", "label", "cell"]

Label = str | float | bool | None

HOPEFUL = 0.6
"""Share of a normal limit's reach that no exact limit falls short of: what is not above even so is passed over."""

SURE = (0.95, 0.99)
"""The same, of the limit that endless sides would have; and with more than a thousand on either side of a ratio."""

FEW = 100
"""Nonmembers below which it is no guide."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Tails side by side: where they are, who lies in them, which nonmember ends them, and the level of each.

    A place is the first cell and the one behind the last, which of a tail nobody asks for.
    """

    places: list[tuple[End, int, int]]
    members: Integers
    nonmembers: Integers
    ended_by: Integers
    levels: Floats


def ranges_of(counts: Counts, alpha: float, shares: tuple[float, float], ends: Direction) -> Ranges:
    """Tails at the ends that are asked for, then windows between both ends.

    Args:
        shares: The part of it that tails have, and that windows have.
    """
    tails, windows = tails_of(counts, shares[0] * alpha, ends), windows_of(counts, shares[1] * alpha)
    return Ranges(
        tails.places + windows.places,
        np.concatenate([tails.members, windows.members]),
        np.concatenate([tails.nonmembers, windows.nonmembers]),
        np.concatenate([tails.ended_by, windows.ended_by]),
        np.concatenate([tails.levels, windows.levels]),
    )


def windows_of(counts: Counts, alpha: float) -> Ranges:
    """The fullest window of every number of nonmembers that it may hold."""
    windows = fullest_windows(counts)
    at = zip(windows.first.tolist(), windows.behind.tolist(), strict=True)
    return Ranges(
        [("window", first, behind) for first, behind in at],
        windows.members,
        windows.nonmembers,
        windows.within,
        alpha * windows.shares,
    )


def tails_of(counts: Counts, alpha: float, ends: Direction) -> Ranges:
    """Both ends of ordered cells: as many whole cells as hold at most 0, 1, 2, 4, ... nonmembers."""
    n1, n0 = counts.n_members, counts.n_nonmembers
    members, nonmembers = counts.members.cumsum(), counts.nonmembers.cumsum()
    most = np.array([0] + [2**j for j in range(62) if 2 * 2**j <= n0], dtype=np.int64)
    place = np.arange(1, len(most) + 1)
    levels = alpha / (place * (place + 1.0)) / (2.0 if ends is Direction.EITHER else 1.0)
    sides: list[tuple[End, Integers, Integers]] = []
    if ends is not Direction.LOW:
        last = nonmembers.searchsorted(n0 - most)  # the tail is what lies above this cell
        sides.append(("high", n1 - members[last], n0 - nonmembers[last]))
    if ends is not Direction.HIGH:
        cells = nonmembers.searchsorted(most, side="right")
        below = [np.concatenate([[0], side])[cells] for side in (members, nonmembers)]
        sides.append(("low", below[0], below[1]))
    return Ranges(
        [(name, 0, 0) for name, _, _ in sides for _ in most],
        np.concatenate([inside for _, inside, _ in sides]),
        np.concatenate([inside for _, _, inside in sides]),
        np.concatenate([most] * len(sides)),
        np.concatenate([levels] * len(sides)),
    )


def labels_of(counts: Counts, alpha: float) -> Ranges:
    """Each label or cell by itself; of those with as many nonmembers only the one with most members can say most."""
    labels = int(np.count_nonzero(counts.pooled))
    if labels < 2:
        nothing = np.zeros(0, dtype=np.int64)
        return Ranges([], nothing, nothing, nothing, np.zeros(0))
    order = np.lexsort((-counts.members, counts.nonmembers))
    members = counts.members[order]
    best = np.concatenate([[True], members[1:] > np.maximum.accumulate(members)[:-1]])
    keep = order[best & (members > 0)]
    inside = counts.nonmembers[keep]
    levels = np.full(len(keep), alpha / labels)
    what: End = "label" if has_labels(counts) else "cell"
    return Ranges([(what, int(at), int(at) + 1) for at in keep], counts.members[keep], inside, inside, levels)


def has_labels(counts: Counts) -> bool:
    """Whether cells without an order have labels; those of vectors have none."""
    return isinstance(counts.cells, Categories)


def largest_limit(ranges: Ranges, n1: int, n0: int, above: Floats) -> tuple[int, float]:
    """Which tail has the largest limit of those above their own threshold, and the limit; -1 and 0 if none has."""
    which, limit = -1, 0.0
    for at, hope in _hopeful(ranges, n1, n0, above):
        start = max(limit, float(above[at]))
        if hope > start:
            m, k = int(ranges.members[at]), int(ranges.ended_by[at])
            larger = ratio_limit(m, n1, k, n0, float(ranges.levels[at]), start)
            if larger > start:
                which, limit = at, larger
    return which, limit


def _hopeful(ranges: Ranges, n1: int, n0: int, above: Floats | float = 0.0) -> list[tuple[int, float]]:
    """Tails whose limit may lie above their own threshold, and what it is at most, the largest first.

    Were both sides endless, V_(m) / (V_(m) + U_(k+1)) would follow a beta law; that they end makes the ratio less
    uncertain by a factor that is known well enough to tell which tails are worth an exact limit.
    """
    m, k = np.maximum(ranges.members, 1).astype(np.float64), ranges.ended_by.astype(np.float64)
    with np.errstate(divide="ignore"):
        observed = np.log(ranges.members / n1) - np.log((k + 0.5) / n0)
    endless = 1.0 / m + 1.0 / (k + 1.0)
    steady = np.sqrt(np.maximum(endless - 1.0 / n1 - 1.0 / n0, 0.0) / endless)
    rough = observed + HOPEFUL * ndtri(ranges.levels) * np.sqrt(endless) * steady
    short = (n0 < FEW) | (2 * ranges.members > n1)  # one side ends so soon that nothing simple is close
    some = ((rough > above) | (observed > above) & short).nonzero()[0]
    if not some.size:
        return []
    m, k, observed, steady = m[some], k[some], observed[some], steady[some]
    share = betaincinv(m, k + 1.0, ranges.levels[some])
    with np.errstate(divide="ignore"):
        limit = logit(share) + np.log(n0 / n1)
    reach = np.maximum(observed - limit, 0.0)
    sure = np.where(np.minimum(m, k) > 1000.0, SURE[1], SURE[0])
    hope = np.minimum(rough[some], limit + reach * (1.0 - sure * steady))
    hope = np.where(short[some], observed, hope)
    order = np.argsort(-hope, kind="stable")[: np.count_nonzero(hope > 0.0)]
    return list(zip(some[order].tolist(), hope[order].tolist(), strict=True))


def place_of(
    counts: Counts, tails: Ranges, at: int
) -> tuple[End, str | float | bool | None, float | None, float | None]:
    """Where a tail is: its direction, its label if it has one, and both bounds of a window."""
    direction, cell, behind = tails.places[at]
    if direction in ("high", "low"):
        return direction, None, None, None
    if direction == "window":
        edges, one_number = counts.lower_edges(), isinstance(counts.cells, Values)
        return direction, None, float(edges[cell]), float(edges[behind - 1 if one_number else behind])
    return direction, counts.cells.labels[cell].item() if isinstance(counts.cells, Categories) else cell, None, None


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
    return bisect_left(range(trials), True, key=lambda c: _more_than(c, trials, rate) <= alpha)


def _more_than(hits: int, trials: int, rate: float) -> float:
    """P(Bin(trials, rate) > hits)."""
    return float(betainc(hits + 1.0, float(trials - hits), rate)) if hits < trials else 0.0
