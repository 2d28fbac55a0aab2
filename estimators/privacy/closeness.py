"""How far apart the laws of members' and nonmembers' scores are at most, as an epsilon at a delta.

They are (epsilon, delta)-indistinguishable if no set A of scores has r(A) > e^epsilon q(A) + delta, nor
q(A) > e^epsilon r(A) + delta. The most such an excess comes to is a divergence, and that is an optimal advantage in
other words: with g = e^epsilon and the prior p = 1/(1+g),

    Adv_p = sum |p r - (1-p) q| = 1 - 2p + 2p H,   H = max_A r(A) - g q(A),

and likewise with r and q changed at p = g/(1+g). So it has an upper end, as the advantage has: the best set is
unknown but fixed, and what one fixed set's exact limits allow, taken over every set, holds for it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import betaincinv

from estimators.adversary.insample import subsets_within
from estimators.adversary.targets import CellsTarget
from estimators.arrays import Floats, Integers
from estimators.limits.binomial import lower_limit, upper_limit
from estimators.optimum.ends import cells_for
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts

# Sets of neighbouring scores anywhere along a score, whose share of nonmembers has an exact limit.
#
# The window between the i-th and the (i+k+1)-th nonmember in order holds k of them, and what share of nonmembers it
# truly holds is the (k+1)-th smallest of n0 uniform numbers, as for a tail with k inside. So whatever is exact for a
# tail is exact for it (``privacy.share_ratio``). Given the nonmembers the window is fixed, its members are binomial.
# Windows of whole cells strictly between the cells of both nonmembers are no larger: ties and grouped scores only
# take from them.


RANKS = 2**17
"""Windows end at every nonmember, or of more than these at every second one, every third and so on."""

SPANS = tuple(dict.fromkeys([1, *(1 + round(2 ** (j / 2)) for j in range(2 * RANKS.bit_length()))]))
"""One more than the nonmembers that windows hold: 0, 1, 2, 3, 4, 6, 8, 11, 16 and so on."""

STARTS = 8
"""Windows with k nonmembers begin at every (k/8)-th of them: as good a window is there, and there are fewer of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """For each number of nonmembers the window that holds most members; together they stand for all of that number.

    Attributes:
        first: First cell of each.
        behind: The cell behind its last one.
        members: Members in it.
        nonmembers: Nonmembers in it.
        within: How many it may hold: the nonmembers strictly between the two that bound it.
        shares: The share of an error that each has: all windows that are looked at have one together, those with the
            j-th number of nonmembers 1/(j(j+1)) of it, and each of these as much as any other.
    """

    first: Integers
    behind: Integers
    members: Integers
    nonmembers: Integers
    within: Integers
    shares: Floats


def fullest_windows(counts: Counts) -> Windows:
    """The windows that hold most members, of those that lie between two of the nonmembers."""
    unit = -(-counts.n_nonmembers // RANKS)
    bounds = counts.n_nonmembers // unit
    span = np.array([each for each in SPANS if each < bounds], dtype=np.int64)
    steps = np.maximum(span // STARTS, 1)
    to, nonmembers_to = counts.members.cumsum(), counts.nonmembers.cumsum()
    ends = nonmembers_to // unit
    bounding = ends.copy()  # nonmembers in each cell that bound windows
    bounding[1:] -= ends[:-1]
    kind: Any = np.int32 if counts.n_members < 2**31 else np.int64  # half as much to read
    ahead, past = ((to - counts.members).astype(kind).repeat(bounding), to.astype(kind).repeat(bounding))
    fullest = []
    for length, step in zip(span.tolist(), steps.tolist(), strict=True):
        inside = ahead[length::step] - past[:-length:step]
        at = int(inside.argmax())
        fullest.append((step * at, max(0, int(inside[at]))))
    begin, members = np.array(fullest, dtype=np.int64).reshape(-1, 2).T
    first = nonmembers_to.searchsorted((begin + 1) * unit) + 1
    behind = nonmembers_to.searchsorted((begin + span + 1) * unit)
    behind = np.maximum(behind, first)  # nothing lies between two nonmembers of one cell
    nonmembers = nonmembers_to[behind - 1] - nonmembers_to[first - 1]
    windows, place = -(-(bounds - span) // steps), np.arange(1.0, len(span) + 1.0)
    return Windows(first, behind, members, nonmembers, span * unit - 1, 1.0 / (place * (place + 1.0) * windows))


LARGEST = 15.0  # an epsilon beyond it is as good as none
STEP = 1e-4  # how closely the smallest epsilon is found

TAILS = (0.003, 0.01, 0.03, 0.1, 0.3)
"""Shares of the records, at each end of the scores, that are looked at from below."""

OF_WINDOWS = 0.1
"""Share of the error of the lower end that windows anywhere along the score have; tails have the rest."""

OUTERMOST = 16  # records a cell at an end of the scores is halved down to


def tail_cells(fine: Counts, bins: int | None = None) -> Counts:
    """Cells of equal pooled mass, the first and the last halved again and again towards their ends.

    A few records that are surely members move an advantage little and epsilon without bound; where nobody asks for a
    number of ``bins``, cells that narrow towards the ends keep them from drowning. Labels have no say in it.
    """
    cells = cells_for(fine, CellsTarget(bins))
    if bins is not None or cells.size == fine.size or not cells.cells.ordered:
        return cells
    return fine.join(fine.tail_starts(fine.group_starts(cells.size), OUTERMOST))


def epsilon_lower(fine: Counts, delta: float, alpha: float) -> float:
    """Lower limit of level 1 - alpha for the smallest epsilon at ``delta``, by the tails of ordered scores.

    They are sets named without looking at who is a member. For each, either way, exact limits give r(A) >= L and
    q(A) <= U, so epsilon >= log((L - delta)/U); the error is shared by all of them, and a part of it by windows
    anywhere along the score.
    """
    totals = fine.pooled.cumsum()
    places = {int(totals.searchsorted(share * totals[-1])) for share in TAILS + tuple(1.0 - t for t in TAILS)}
    at = np.array(sorted(places), dtype=np.int64)
    inside = fine.members.cumsum()[at], fine.nonmembers.cumsum()[at]
    sides = [
        (np.concatenate([side, total - side]).astype(np.float64), float(total))
        for side, total in zip(inside, (fine.n_members, fine.n_nonmembers), strict=True)
    ]
    level, best = (1.0 - OF_WINDOWS) * alpha / (4.0 * 2.0 * len(at)), 0.0
    for (more, n), (less, m) in (sides, sides[::-1]):
        excess = lower_limit(more, n, level) - delta
        ratio = np.maximum(excess, 0.0) / upper_limit(less, m, level)
        best = max(best, float(np.log(max(1.0, ratio.max()))))
    turned = Counts.trusted(fine.nonmembers, fine.members, fine.cells)
    return max(best, *(_by_windows(each, delta, OF_WINDOWS * alpha / 2.0) for each in (fine, turned)))


def _by_windows(fine: Counts, delta: float, alpha: float) -> float:
    """The same by windows between nonmembers anywhere, which share the error as in ``privacy.ranges``."""
    windows = fullest_windows(fine)
    if not windows.within.size:
        return 0.0
    level = alpha / 2.0 * windows.shares
    excess = lower_limit(windows.members, fine.n_members, level) - delta
    above = betaincinv(windows.within + 1.0, fine.n_nonmembers - windows.within, 1.0 - level)
    return float(np.log(max(1.0, (excess / above).max())))


def epsilon_upper(counts: Counts, delta: float, alpha: float, start: float = 1.0) -> float | None:
    """Upper limit of level 1 - alpha for the smallest epsilon at ``delta``; None if the records allow every one.

    It is the smallest epsilon at which the upper limits of both divergences are at most delta. A set's limit falls as
    epsilon grows, so passing is nested, and the smallest that passes is too small only if the two laws violate an
    epsilon below their own that passes: one direction does, and its limit errs with probability alpha. The search
    begins at ``start``, which therefore passes exactly if it is no smaller than what is returned.
    """
    if delta == 0.0:  # any set in which no record was seen may hold more than 0
        return None
    return _smallest(lambda epsilon: within(counts, epsilon, delta, alpha), start)


def plug_in_epsilon(counts: Counts, delta: float, start: float = 1.0) -> float | None:
    """The smallest epsilon at ``delta`` of the shares as they were seen, which reads high; None if there is none."""
    r, q = counts.members / counts.n_members, counts.nonmembers / counts.n_nonmembers

    def divergence(epsilon: float) -> float:
        g = float(np.exp(epsilon))
        return float(max(np.maximum(r - g * q, 0.0).sum(), np.maximum(q - g * r, 0.0).sum()))

    return _smallest(lambda epsilon: divergence(epsilon) <= delta, start)


def within(counts: Counts, epsilon: float, delta: float, alpha: float) -> bool:
    """Whether upper limits, each of level 1 - alpha, of both divergences at e^epsilon are at most delta.

    An excess r(A) - g q(A) of at most delta is an accuracy of at most (g + delta)/(1 + g) at the prior 1/(1 + g).
    """
    g = float(np.exp(epsilon))
    turned = Counts.trusted(counts.nonmembers, counts.members, counts.cells)
    most = (g + delta) / (1.0 + g)
    return all(subsets_within(side, 1.0 / (1.0 + g), alpha, most) for side in (counts, turned))


def records_to_pass(counts: Counts, epsilon: float, delta: float, alpha: float, most: int) -> int | None:
    """Records of both sides, with the shares of these, that are within; None if more than ``most`` would be needed.

    It is searched for, as limits near a rate of 0 shrink as 1/N and others as N^-1/2. At delta 0 none are enough.
    """
    if delta == 0.0:
        return None
    records = counts.n_members + counts.n_nonmembers

    def passes(times: float) -> bool:
        members, nonmembers = (np.rint(times * side).astype(np.int64) for side in (counts.members, counts.nonmembers))
        return within(Counts.trusted(members, nonmembers, counts.cells), epsilon, delta, alpha)

    low, high = 1.0, 2.0
    while not passes(high):
        low, high = high, 2.0 * high
        if high * records > most:
            return None
    while high / low > 1.05:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if passes(middle) else (middle, high)
    total = int(np.ceil(high * records))
    return total if total <= most else None


def _smallest(passes: Callable[[float], bool], start: float) -> float | None:
    """The smallest epsilon that passes, from above, if larger ones do; ``start`` is tried first."""
    start = min(start, LARGEST)
    if passes(start):
        low, high = 0.0, start
        if passes(low):
            return low
    else:
        low, high = start, LARGEST
        if not passes(high):
            return None
    while high - low > STEP * max(1.0, high):
        middle = (low + high) / 2.0
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
