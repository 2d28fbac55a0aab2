"""The lower end of one score: rules judged on unseen records, the best cut of all, and rules with many changes.

Each holds by itself, so the largest holds at the sum of their levels. How the level is shared is fixed by the numbers
of records alone: of few the best cut of all says most, of many it says nothing that the others do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import gammaln, ndtri, xlog1py, xlogy

from estimators.adversary.holdout import HeldOut, Validation, validate, validate_anywhere
from estimators.adversary.many_changes import many_changes
from estimators.arrays import Floats, Integers
from estimators.limits.binomial import pools
from estimators.python import cache_of_records
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts
from estimators.statement import baseline

# An exact lower end from the best single cut of all records: no part is held back, nothing is drawn.
#
# Let S be the largest, over cuts, of p times the share of members above plus 1-p times the share of nonmembers not
# above. Among all pairs of laws whose best cut is right with probability a, S tends to be largest where members lie
# as high as they may: nonmembers uniform, F1(u) = max(0, (p - a + (1-p) u)/p). There (a-p)/(1-p) of the nonmembers
# lie below everything and 1 - (1-a)/p of the members above everything, and the rest comes in random order. So P(S >=
# s) is a sum over two binomial numbers of the share of random orders, as paths, that reach a line. It grows with a,
# ties only lower S, and members who lie higher only raise it: the largest a that is refused is a lower end at every
# number of records. Cuts that accuse the other side are the same with the sides exchanged; each direction has half of
# the level.
#
# If a member weighs as much as a nonmember, p/n1 = (1-p)/n0, the paths that reach the line are counted by reflection,
# and their share is a product of three factors, one of each binomial number and one of their sum: a convolution. Else
# paths are counted step by step, while that is cheap.


MOST_RECORDS = 4000  # records of both sides beyond which rules judged on unseen records do as well

MOST_STEPS = 1_000_000
"""Steps of paths that are counted, each time, where no closed form is known; with more the end is not sought."""

NEGLIGIBLE = 1e-5
"""Share of the level that both tails of the two binomial numbers may have: it is added, so that the end errs below."""

NEAR = 1e-4
"""How closely the end is found, as a probability of being right: a little less of a leak than it might be."""

MOST_TRIES = 40

SAME = 1e-9  # what two sums of the same shares may differ by


@dataclass(frozen=True, slots=True)
class BestCut:
    """How often the best cut of either direction is right on the records themselves, before any level is chosen."""

    right: tuple[float, float]
    n_members: int
    n_nonmembers: int
    prior: float

    @property
    def achieved(self) -> float:
        """Its advantage on the records themselves, or that of the likelier side."""
        return max(2.0 * max(self.right) - 1.0, baseline(self.prior))

    def lower(self, alpha: float, known: float = -1.0) -> float:
        """The lower end of the best cut's advantage, of level 1 - alpha; one below ``known`` is not sought closely."""
        enough = (1.0 + known) / 2.0
        up = _end_of(self.right[0], self.n_members, self.n_nonmembers, self.prior, alpha / 2.0, enough)
        enough = max(enough, up)
        down = _end_of(self.right[1], self.n_nonmembers, self.n_members, 1.0 - self.prior, alpha / 2.0, enough)
        return 2.0 * max(up, down) - 1.0


def best_cut(counts: Counts, prior: float) -> BestCut | None:
    """The best cut of each direction; None where its law is not worth its cost, or there is no order."""
    n1, n0 = counts.n_members, counts.n_nonmembers
    if not counts.cells.ordered or not _affordable(n1, n0, prior):
        return None
    members = np.concatenate([[0], counts.members.cumsum()]) / n1
    nonmembers = np.concatenate([[0], counts.nonmembers.cumsum()]) / n0
    above = prior * (1.0 - members) + (1.0 - prior) * nonmembers
    below = prior * members + (1.0 - prior) * (1.0 - nonmembers)
    return BestCut((float(above.max()), float(below.max())), n1, n0, prior)


def _affordable(n1: int, n0: int, prior: float) -> bool:
    """Whether P(S >= s) takes little time, whatever the records say."""
    if pools(n1, n0, prior):
        return n1 + n0 <= MOST_RECORDS
    few, many = sorted((n1, n0))
    return bool(few * many * min(many, 4.0 * np.sqrt(many) + 4.0) <= MOST_STEPS)


def _end_of(right: float, n1: int, n0: int, prior: float, alpha: float, enough: float) -> float:
    """The largest probability of being right that is refused; that of the likelier side if none above ``enough`` is."""
    floor = (1.0 + baseline(prior)) / 2.0
    if right <= max(floor + SAME, enough):
        return floor
    outside, level = alpha * NEGLIGIBLE, float(ndtri(alpha))

    def excess(a: float) -> float:
        """How far P(S >= s) lies above the level, in normal quantiles, in which it is nearly a line."""
        chance = min(max(_reach(right - SAME, n1, n0, prior, a, outside) + 2.0 * outside, 1e-300), 1.0 - 1e-15)
        return float(ndtri(chance)) - level

    spread = float(np.hypot(prior / np.sqrt(n1), (1.0 - prior) / np.sqrt(n0)))
    wrong = 1.0 - right + spread**2 * level**2  # at least what no error in so many records leaves open
    step = spread * float(np.sqrt(wrong * (1.0 - min(wrong, 0.5))))
    low, high = floor, min(right, 1.0 - SAME)
    if high <= floor or excess(max(floor, enough)) > 0.0:  # it grows: whatever is refused lies below
        return floor
    below = above = np.inf
    at = min(max(right + level * step, low + NEAR), high)
    for _ in range(MOST_TRIES):
        height = excess(at)
        if height <= 0.0:
            low, below = at, height
        else:
            high, above = at, height
            below = excess(low) if low == floor else below
        if high - low <= NEAR:
            break
        if np.isinf(above):
            at, step = min(at + step, high), 2.0 * step
            continue
        line = low + (high - low) * below / (below - above)
        # to meet the zero from both sides
        at = min(max(line - NEAR / 3.0, low + NEAR / 2.0), high - NEAR / 2.0)
    return low


@lru_cache(maxsize=64)
def _log_factorials(most: int) -> Floats:
    """Of 0, 1, ..., ``most``, which are not many: the same are asked for at each try."""
    return np.asarray(gammaln(np.arange(most + 1) + 1.0))


def _numbers(n: int, share: float, outside: float) -> tuple[Integers, Floats]:
    """The likely values of a binomial number and their logarithmic probabilities."""
    share = min(max(share, 0.0), 1.0)
    middle, reach = n * share, 7.0 * float(np.sqrt(n * share * (1.0 - share))) + 20.0
    k = np.arange(max(0, int(middle - reach)), min(n, int(middle + reach)) + 1)
    factorial = _log_factorials(n)
    ways = factorial[n] - factorial[k] - factorial[n - k]
    logs = ways + xlogy(k, share) + xlog1py(n - k, -share)
    weights = np.exp(logs)
    first = int(weights.cumsum().searchsorted(outside / 3.0))
    last = len(k) - int(weights[::-1].cumsum().searchsorted(outside / 3.0))
    return k[first:last], logs[first:last]


def _binomials(
    n1: int, n0: int, prior: float, a: float, outside: float
) -> tuple[tuple[Integers, Floats], tuple[Integers, Floats]]:
    """How many nonmembers lie below everything, and how many members above everything."""
    below = _numbers(n0, (a - prior) / (1.0 - prior), outside)
    above = _numbers(n1, 1.0 - (1.0 - a) / prior, outside)
    return below, above


@cache_of_records(1024)
def _reach(right: float, n1: int, n0: int, prior: float, a: float, outside: float) -> float:
    """P(S >= right), kept while one sample is looked at: several statements ask for the same."""
    reach = _reach_by_reflection if pools(n1, n0, prior) else _reach_by_steps
    return reach(right, n1, n0, prior, a, outside)


def _reach_by_reflection(right: float, n1: int, n0: int, prior: float, a: float, outside: float) -> float:
    """P(S >= right) where every record weighs 1/(n1 + n0).

    With k nonmembers below everything and m members above everything, the paths of the n0 - k and n1 - m others that
    reach a height h are as many as all that end at the height mirrored by it: of all they are the share
    (n0 - k)! (n1 - m)! / ((n1 + h - k - m)! (n0 - h)!).
    """
    h = int(np.ceil(right * (n1 + n0) - n1 - 1e-7))
    if h > n0:
        return 0.0
    (k, log_k), (m, log_m) = _binomials(n1, n0, prior, a, outside)
    few_k, few_m = k.searchsorted(h), m.searchsorted(h + n1 - n0)
    total = float(np.exp(log_k[few_k:]).sum())
    total += float(np.exp(log_k[:few_k]).sum() * np.exp(log_m[few_m:]).sum())
    k, log_k, m, log_m = k[:few_k], log_k[:few_k], m[:few_m], log_m[:few_m]
    if not k.size or not m.size:
        return total
    scale = np.log(max(1.0, n1 + h - (k[0] + k[-1]) / 2.0 - (m[0] + m[-1]) / 2.0))
    factorial = _log_factorials(n1 + n0)
    first = log_k + factorial[n0 - k] + scale * k
    second = log_m + factorial[n1 - m] + scale * m
    sums = np.arange(k[0] + m[0], k[-1] + m[-1] + 1)  # below n1 + h, as h is not above n0
    third = -factorial[n1 + h - sums] - factorial[n0 - h] - scale * sums
    top, other = first.max(), second.max()
    ordered = np.convolve(np.exp(first - top), np.exp(second - other))
    return total + float((ordered * np.exp(third + (top + other))).sum())


def _reach_by_steps(right: float, n1: int, n0: int, prior: float, a: float, outside: float) -> float:
    """The same whatever a record weighs: paths that stay below the line, one row for each member passed.

    Looked at from above, with the sides exchanged, it is the same question: the side with fewer records has the rows.
    """
    if n1 > n0:
        n1, n0, prior = n0, n1, 1.0 - prior
    (k, log_k), (m, log_m) = _binomials(n1, n0, prior, a, outside)
    weights_k, weights_m = np.exp(log_k), np.exp(log_m)
    height = prior + (1.0 - prior) * np.arange(k[0], n0 + 1) / n0  # before any member is passed
    paths = np.where((np.arange(k[0], n0 + 1) >= k[:, None]) & (height < right), 1.0, 0.0)
    lower_by = prior * np.arange(n1 - int(m[0]) + 1) / n1
    beyond = np.count_nonzero(height - lower_by[:, None] < right, axis=1).tolist()
    never = 0.0
    for members, below in enumerate(beyond):
        if members:
            np.add.accumulate(paths[:, :below], axis=1, out=paths[:, :below])
        at = n1 - members - int(m[0])
        if at < len(m):
            rest = n0 - k
            every = np.exp(gammaln(rest + members + 1) - gammaln(rest + 1) - gammaln(members + 1))
            never += float(weights_m[at] * (weights_k * paths[:, -1] / every).sum())
    return max(0.0, float(weights_k.sum() * weights_m.sum()) - never)


OF_CUT = 0.5  # the best cut's share of the level,
FEW_RECORDS = 200
"""up to so many records of both sides; beyond, it falls as their number to the power of 0.6."""

OF_MANY_CHANGES = 0.12  # the share of rules with many changes, whether they are asked or not,
FEWEST_RECORDS = 200  # from so many records on; of fewer they could not show anything


@dataclass(frozen=True, eq=False, slots=True)
class LowerEnd:
    """What the adversaries achieved, before any level is chosen.

    Attributes:
        unseen: What rules achieved on records that they had not seen.
        cut: The best cut of all records; None where it was not sought.
        many: What rules with many changes achieved; None where there was no sign of them.
        of_cut: The best cut's share of the level.
        of_many: The share of rules with many changes.
        changes: So many changes of guess gain more than chance explains; None if none do.
        once: What is shown at a level without repeats; None where no record stands there more than once.
    """

    unseen: Validation
    cut: BestCut | None = None
    many: Validation | None = None
    of_cut: float = 0.0
    of_many: float = 0.0
    changes: int | None = None
    once: Callable[[float], HeldOut] | None = None

    def at(self, alpha: float) -> HeldOut:
        """The largest of all limits, at their shares of the level; the estimate is that of who sets it.

        A rule knows a record again that it has seen: of records that repeat it is that without repeats, if lower.
        """
        best = self._at(alpha)
        return best if self.once is None else min(best, self.once(alpha), key=_lower)

    def _at(self, alpha: float) -> HeldOut:
        best = self.of_unseen(alpha)
        if self.cut is not None:
            lower = self.cut.lower(alpha * self.of_cut, best.lower)
            if lower > best.lower:
                orders = lower, max(lower, best.orders[1])  # the best cut draws nothing
                best = HeldOut(lower, max(best.value, lower), best.leader, False, orders)
        return best

    def between(self, alpha: float) -> tuple[float, float]:
        """What the lower end is at least, and at most: a limit of the best cut is not above what that has achieved."""
        if self.once is not None:
            return (self.at(alpha).lower,) * 2
        least = self.of_unseen(alpha).lower
        return least, least if self.cut is None else max(least, self.cut.achieved)

    def of_unseen(self, alpha: float) -> HeldOut:
        """The same without the best cut, whose limit takes longest: never above it."""
        best = self.unseen.at(alpha * (1.0 - self.of_cut - self.of_many))
        if self.many is None:
            return best
        many = self.many.at(alpha * self.of_many)
        least, most = (max(ends) for ends in zip(best.orders, many.orders, strict=True))
        return replace(max(best, many, key=_lower), orders=(least, most))


def _lower(best: HeldOut) -> float:
    return best.lower


def on_cells(counts: Counts, prior: float, seed: int, orders: int) -> LowerEnd:
    """Of rules that read these cells alone."""
    cut, of_cut = _cut(counts, prior)
    return LowerEnd(validate(counts, prior, seed, orders), cut, None, of_cut)


def anywhere(fine: Counts, prior: float, cells: int, seed: int, orders: int) -> LowerEnd:
    """Of rules that read an ordered score at any place, beside rules that decide by so many cells."""
    cut, of_cut = _cut(fine, prior)
    unseen = validate_anywhere(fine, prior, cells, seed, orders)
    if fine.n_records < FEWEST_RECORDS:
        return LowerEnd(unseen, cut, None, of_cut)
    many, changes = many_changes(fine, prior, seed, orders)
    return LowerEnd(unseen, cut, many, of_cut, OF_MANY_CHANGES, changes)


def _cut(counts: Counts, prior: float) -> tuple[BestCut | None, float]:
    """The best cut, and its share of the level."""
    cut = best_cut(counts, prior)
    if cut is None:
        return None, 0.0
    return cut, OF_CUT * min(1.0, (FEW_RECORDS / counts.n_records) ** 0.6)
