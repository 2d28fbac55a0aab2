"""Limits for an attack that cuts a score, whether the cut was there before the records or was read off them.

Whatever is asked of an attack is a ratio of two linear functions of its true and its false positive rate. A cut fixed
beforehand, or at a record of one side with a known rank, leaves two independent rates (``two_rates``). A cut at a
record of both sides together leaves two numbers with limits of their own: the odds ratio of the two rates, exact given
how many records lie beyond the cut, and the share of all records beyond it. A cut chosen in any other way leaves limits
that hold at every cut at once.
"""

from collections.abc import Callable
from functools import lru_cache
from math import exp, inf, log, sqrt
from typing import Protocol

import numpy as np
from scipy.special import chdtri, gammaln, logit, logsumexp

from estimators.arrays import Floats
from estimators.limits.binomial import binomial_sum_law, lower_limit, upper_limit
from estimators.limits.fieller import ratio_range
from estimators.limits.root import brentq
from estimators.limits.two_rates import Linear, TwoRates, weighted_accuracy_lower, weighted_accuracy_upper
from estimators.python.dataclass import dataclass, replace

Ends = tuple[float, float]

TPR: tuple[Linear, Linear] = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
FPR: tuple[Linear, Linear] = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)

SHARE_ALONE = 0.2, 0.5
"""Part of the error for the share beyond a pooled cut: near a prior of 1/2, where it hardly matters, and elsewhere."""

REACH = 25.0
"""Standard errors, at their largest, within which the law of the members beyond a cut is summed."""

BAND = 0.2
"""Part of the error with which a cut chosen by looking is bounded from above by itself, and not by the best cut."""

HAIR = 1e-6  # by so much a binomial's limits are moved out, so that rounding does not put them inside

STEPS, ROUNDS = 65, 5
"""Shares of records at which a ratio is values, and how often again between the neighbours of the best."""


@dataclass(frozen=True, slots=True)
class GuessTable:
    """How many records an attack accuses, of how many, and the prior at which it is rated."""

    hits: int
    n_members: int
    alarms: int
    n_nonmembers: int
    prior: float

    @property
    def tpr(self) -> float:
        """Share of members accused."""
        return self.hits / self.n_members

    @property
    def fpr(self) -> float:
        """Share of nonmembers accused."""
        return self.alarms / self.n_nonmembers


class CutLimits(Protocol):
    """Limits, each end of level 1 - alpha, for an attack with a cut of some origin."""

    def advantage(self, alpha: float) -> Ends:
        """Of 2 (p TPR + (1-p) TNR) - 1."""
        ...

    def ratio(self, numerator: Linear, denominator: Linear, alpha: float) -> Ends:
        """Of (e0 + ea TPR + ec FPR) / (h0 + ha TPR + hc FPR), the denominator positive but where it is 0/0."""
        ...


@dataclass(frozen=True, slots=True)
class FixedCut:
    """A rule fixed before the records, or with its cut at the k-th record of one side, k fixed.

    Of the side that has the cut, the rate is Beta(k, n - k + 1), so Clopper and Pearson's limits at k are valid; the
    other side knows nothing of it.
    """

    table: GuessTable

    def advantage(self, alpha: float) -> Ends:
        """From the exact limits of two rates together."""
        a = self.table
        rights = a.hits, a.n_members, a.n_nonmembers - a.alarms, a.n_nonmembers
        low = float(weighted_accuracy_lower(*rights, a.prior, alpha))
        high = float(weighted_accuracy_upper(*rights, a.prior, alpha))
        return 2.0 * low - 1.0, 2.0 * high - 1.0

    def ratio(self, numerator: Linear, denominator: Linear, alpha: float) -> Ends:
        """From the same region; of one rate alone Clopper and Pearson's."""
        a = self.table
        for (hits, n), rate in zip(((a.hits, a.n_members), (a.alarms, a.n_nonmembers)), (TPR, FPR), strict=True):
            if (numerator, denominator) == rate:
                return lower_limit(hits, n, alpha), upper_limit(hits, n, alpha)
        low, high = ratio_range(numerator, denominator)
        (e0, ea, ec), (_, ha, hc) = numerator, denominator
        weights = abs(ea) + abs(ha), abs(ec) + abs(hc)
        rates = TwoRates.of(a.hits, a.n_members, a.alarms, a.n_nonmembers, *weights)
        below = -rates.ratio_upper((-e0, -ea, -ec), denominator, alpha, (-high, -low))
        return float(below), float(rates.ratio_upper(numerator, denominator, alpha, (low, high)))


@dataclass(frozen=True, slots=True)
class PooledCut:
    """A cut at the k-th record of both sides together, k fixed; ``at_member`` says of which side that record is.

    Given that record, who of the k - 1 beyond it is a member follows Fisher's noncentral hypergeometric law, which
    depends on the odds ratio of the two rates alone. How many of all records lie beyond a fixed cut is a sum of two
    binomials, which varies the less the further their rates are apart (Hoeffding 1956, Gleser 1975); so the share
    beyond this cut is bounded at the odds ratio nearest to 1 among those that are left.
    """

    table: GuessTable
    at_member: bool

    def advantage(self, alpha: float) -> Ends:
        """The least and the largest for odds ratios and shares within their limits."""
        p = self.table.prior
        low, high = self.ratio((1.0 - 2.0 * p, 2.0 * p, -2.0 * (1.0 - p)), (1.0, 0.0, 0.0), alpha)
        return low, high

    def ratio(self, numerator: Linear, denominator: Linear, alpha: float) -> Ends:
        """Along a share the rates lie on a line, where a ratio of linear forms is monotone; so two curves decide."""
        share, odds = _within(self, alpha)
        (e0, ea, ec), (h0, ha, hc) = numerator, denominator

        def value(at: Floats, log_odds: float) -> Floats:
            tpr, fpr = _rates(self.table, at, log_odds)
            below = np.asarray(h0 + ha * tpr + hc * fpr)
            return np.divide(e0 + ea * tpr + ec * fpr, below, out=np.full_like(below, np.nan), where=below != 0.0)

        low = min(-_largest(lambda at, o=each: -value(at, o), share) for each in odds)  # type: ignore[misc]
        high = max(_largest(lambda at, o=each: value(at, o), share) for each in odds)  # type: ignore[misc]
        return low, high


@lru_cache(maxsize=64)
def _within(cut: PooledCut, alpha: float) -> tuple[Ends, Ends]:
    """Limits of the share beyond the cut and of the log odds ratio; together they miss an end by alpha."""
    a = cut.table
    of_share = alpha * SHARE_ALONE[0 if 0.25 <= a.prior <= 0.75 else 1]
    beside = (
        a.hits - cut.at_member,
        a.n_members - cut.at_member,
        a.alarms - (not cut.at_member),
        a.n_nonmembers - (not cut.at_member),
    )
    odds = odds_limits(*beside, alpha - of_share)
    return _share(a, min(max(0.0, odds[0]), odds[1]), of_share / 2.0), odds


def _share(table: GuessTable, log_odds: float, alpha: float) -> Ends:
    """Limits of the share beyond the cut, from how many records would lie beyond it at this odds ratio."""
    n1, n0 = table.n_members, table.n_nonmembers
    beyond, records = table.hits + table.alarms, n1 + n0

    def chance(share: float) -> float:
        """That fewer records lie beyond a cut which leaves this share."""
        with np.errstate(divide="ignore"):
            of_a, of_c = (float(logit(rate)) for rate in _rates(table, np.float64(share), log_odds))
        return sum_at_most(beyond - 1, n1, of_a, n0, of_c)

    # two records from the mean at least: there tails are the lighter the further the rates are apart
    low, high = max(0.0, (beyond - 2) / records), min(1.0, (beyond + 1) / records)
    if low > 0.0 and chance(low) < 1.0 - alpha:
        least = min(float(lower_limit(beyond, records, alpha)), low) * (1.0 - HAIR)
        low = float(brentq(lambda at: 1.0 - alpha - chance(at), least, low, xtol=1e-9))
    if high < 1.0 and chance(high) > alpha:
        most = 1.0 - (1.0 - max(float(upper_limit(beyond - 1, records, alpha)), high)) * (1.0 - HAIR)
        high = float(brentq(lambda at: chance(at) - alpha, high, most, xtol=1e-9))
    return low, high


def _rates(table: GuessTable, share: Floats | np.float64, log_odds: float) -> tuple[Floats, Floats]:
    """TPR and FPR of this odds ratio at which this share of all records is accused."""
    n1, n0 = float(table.n_members), float(table.n_nonmembers)
    m = share * (n1 + n0)
    if log_odds >= 0.0:
        x = _first_side(n1, n0, m, exp(-log_odds))
        y = m - x
    else:
        y = _first_side(n0, n1, m, exp(log_odds))
        x = m - y
    return np.clip(x / n1, 0.0, 1.0), np.clip(y / n0, 0.0, 1.0)


def _first_side(n: float, others: float, m: Floats | np.float64, u: float) -> Floats:
    """Of m records, how many are of the side that is accused at odds 1/u times those of the others."""
    b = n + m + u * (others - m)
    return np.asarray(2.0 * n * m / (b + np.sqrt(np.maximum(b * b - 4.0 * (1.0 - u) * n * m, 0.0))))


def _largest(value: Callable[[Floats], Floats], within: Ends) -> float:
    """Largest value of a function with one peak: on a grid, then on finer ones around its best point.

    Where it has none, as a ratio at 0/0, its neighbours stand for it.
    """
    low, high = within
    most = -inf
    for _ in range(ROUNDS):
        grid = np.linspace(low, high, STEPS)
        values = np.nan_to_num(value(grid), nan=-np.inf)
        best = int(np.argmax(values))
        most = max(most, float(values[best]))
        low, high = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, STEPS - 1)])
    return most


def sum_at_most(most: int, n_a: int, log_odds_a: float, n_c: int, log_odds_c: float) -> float:
    """Chance that two independent binomials together are at most so many."""
    fixed, sides = 0, []
    for n, log_odds in ((n_a, log_odds_a), (n_c, log_odds_c)):
        if log_odds == inf:
            fixed += n
        elif log_odds != -inf:
            sides.append((n, log_odds))
    if not sides:
        return float(fixed <= most)
    first, law = binomial_sum_law(*sides[0], *(sides[1] if len(sides) > 1 else (0, 0.0)))
    return float(law[: max(0, most - fixed - first + 1)].sum() / law.sum())


def odds_limits(hits: int, n_a: int, others: int, n_c: int, alpha: float) -> Ends:
    """Limits of the log odds ratio of two rates, exact given how many hits there are together (Cornfield 1956)."""
    total = hits + others
    least, most = max(0, total - n_c), min(n_a, total)
    reach = int(REACH * sqrt(min(n_a, n_c, total, n_a + n_c - total))) + 200
    x = np.arange(max(least, hits - reach), min(most, hits + reach) + 1, dtype=np.float64)
    weight = -(gammaln(x + 1.0) + gammaln(n_a - x + 1.0) + gammaln(total - x + 1.0) + gammaln(n_c - total + x + 1.0))
    weight -= weight.max()
    apart = x - hits

    def tail(log_odds: float, upward: bool) -> float:
        """Log of the chance of as many hits or more, or of as many or fewer."""
        terms = weight + apart * log_odds
        return float(logsumexp(terms[apart >= 0] if upward else terms[apart <= 0]) - logsumexp(terms))

    def limit(upward: bool) -> float:
        near, far = (0.0, -1.0) if upward else (0.0, 1.0)
        level = log(alpha)
        while tail(far, upward) > level:
            near, far = far, 2.0 * far
        while tail(near, upward) < level:
            far, near = near, (near or -far) * 2.0 if near else -far
        return float(brentq(lambda at: tail(at, upward) - level, far, near, xtol=1e-10))

    return (limit(True) if hits > least else -inf, limit(False) if hits < most else inf)


@dataclass(frozen=True, slots=True)
class AnyCut:
    """A cut chosen by whatever was seen in these records, on either side of the score.

    Limits hold at every cut at once. Half of the error is for the largest distance of a side's distribution function
    from its own (Massart 1990), the other half for the ends, where few records are missed: at 0, 1, 2, 4, ... misses.
    From above, what no cut exceeds is the advantage of the best rule with one change of its guess: ``most``.
    """

    table: GuessTable
    most: Callable[[float], float]

    def advantage(self, alpha: float) -> Ends:
        """Below by the distances of both sides together, or by their ends; above so, or by the best cut there is."""
        t = self.table
        opposite = replace(t, hits=t.n_members - t.hits, alarms=t.n_nonmembers - t.alarms)
        above = -_own_lower(opposite, alpha * BAND), self.most(alpha * (1.0 - BAND))
        return _own_lower(t, alpha), min(1.0, *above)

    def ratio(self, numerator: Linear, denominator: Linear, alpha: float) -> Ends:
        """At the corners of both rates' limits, between which a ratio of linear forms is monotone."""
        a = self.table
        if (numerator, denominator) == TPR:
            return _everywhere(a.hits, a.n_members, alpha / 2.0)
        if (numerator, denominator) == FPR:
            return _everywhere(a.alarms, a.n_nonmembers, alpha / 2.0)
        of_tpr = _everywhere(a.hits, a.n_members, alpha / 4.0)
        of_fpr = _everywhere(a.alarms, a.n_nonmembers, alpha / 4.0)
        (e0, ea, ec), (h0, ha, hc) = numerator, denominator
        low, high = ratio_range(numerator, denominator)
        values = []
        for tpr in of_tpr:
            for fpr in of_fpr:
                bottom = h0 + ha * tpr + hc * fpr
                values += [(e0 + ea * tpr + ec * fpr) / bottom] if bottom > 1e-12 else [low, high]
        return max(low, min(values)), min(high, max(values))


def _own_lower(table: GuessTable, alpha: float) -> float:
    """Lower limit of the advantage of every cut at once, of either side of the score."""
    t = table
    level = alpha / 4.0  # two sides of the score, two bounds
    in_sample = 2.0 * (t.prior * t.tpr + (1.0 - t.prior) * (1.0 - t.fpr)) - 1.0
    middle = in_sample - 2.0 * _distance(t, level)
    first, weight_1 = _misses(t.n_members - t.hits)
    second, weight_0 = _misses(t.alarms)
    end = -1.0
    if first < t.n_members and second < t.n_nonmembers:
        rights = t.n_members - first, t.n_members, t.n_nonmembers - second, t.n_nonmembers
        end = 2.0 * float(weighted_accuracy_lower(*rights, t.prior, level * weight_1 * weight_0)) - 1.0
    return max(-1.0, middle, end)


def _distance(table: GuessTable, alpha: float) -> float:
    """Largest p d1 + (1-p) d0 of two distances that are not refused together (Fisher 1932).

    A distance d is refused by exp(-2 n d^2), which is a p-value where it is at most one half.
    """
    total, free = float(chdtri(4.0, alpha)) / 2.0, log(2.0)
    one = table.prior / sqrt(2.0 * table.n_members)
    other = (1.0 - table.prior) / sqrt(2.0 * table.n_nonmembers)
    together = sqrt(total) * sqrt(one**2 + other**2)
    return max(together, one * sqrt(free) + other * sqrt(total), one * sqrt(total) + other * sqrt(free))


def _everywhere(hits: int, n: int, alpha: float) -> Ends:
    """Limits of a rate that hold at every cut at once, for one side of the score."""

    def lower(hits: int) -> float:
        misses, weight = _misses(n - hits)
        end = lower_limit(n - misses, n, alpha / 2.0 * weight) if misses < n else 0.0
        return max(0.0, hits / n - sqrt(log(2.0 / alpha) / (2.0 * n)), end)

    return lower(hits), 1.0 - lower(n - hits)


@lru_cache(maxsize=4096)
def _misses(misses: int) -> tuple[int, float]:
    """The next of 0, 1, 2, 4, 8, ... misses, and its part of the error."""
    step = 0 if misses == 0 else 1 + (misses - 1).bit_length()
    return (0 if step == 0 else 1 << (step - 1)), 1.0 / ((step + 1.0) * (step + 2.0))
