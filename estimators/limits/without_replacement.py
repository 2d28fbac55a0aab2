"""Limits for what two rates of a fixed set make together, when records of each side were drawn without replacement.

The number of hits among the drawn is hypergeometric. A pair of totals is refused if so small a sum, or a smaller one,
has a chance of alpha at most; the limit is at least the largest sum of a pair that is not refused, for every set, every
number drawn and every level. It is little more for up to ``SEARCHED`` records of the smaller side; beyond, it is
Chernoff's, which needs no search and is up to twice as far. Where all records of a side are drawn, its total is known.
"""

from collections.abc import Callable
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np
from scipy.special import gammaln

from estimators.arrays import Floats, dot
from estimators.limits.binomial import log_ways
from estimators.python.dataclass import dataclass

BEYOND = 40.0  # laws are summed as far as Bernstein's inequality leaves less than 2 exp(-40) outside
TIE = 1e-9  # sums that differ by so small a part of a record are the same sum
NO_DIGITS = 1e-14  # and so are those that differ by as little as adding them may
SEARCHED = 10_000  # records of the smaller side up to which totals are searched for the limit
TABLED = 2 * SEARCHED  # up to this their factorials are kept
KEPT = 2**20  # chances of the second side's laws that are kept while totals are tried
MOST_TRIED = 2000  # totals that are tried; if that is not enough for the slack, the limit has more

STEPS = np.geomspace(1.0 / 64.0, 64.0, 25)
"""How steep Chernoff's bounds are that are tried first, beside one that suits rates of one half."""

PRICES = np.geomspace(0.5, 2.0, 25)
"""What a part of the bound is worth, beside 1 over its steepness: 1 would be best for normal laws."""

ROUNDS = 4  # how often the best of both are looked at more closely
SLACK = 0.01  # part of the distance to what was observed that a limit may be above the exact one


@dataclass(frozen=True, slots=True)
class Side:
    """Records of one side: how many there are, how many of them were drawn, and what a hit among all is worth."""

    whole: int
    sample: int
    worth: float

    @property
    def sample_worth(self) -> float:
        """What a hit among the drawn ones stands for."""
        return self.worth * self.whole / self.sample if self.sample else 0.0

    def law(self, total: int) -> tuple[int, Floats]:
        """Chances of hits among the drawn if there are ``total`` among all: the least number, and from there."""
        least, most = max(0, total - (self.whole - self.sample)), min(self.sample, total)
        rate = total / self.whole if self.whole else 0.0
        reach = BEYOND / 3.0 + np.sqrt(BEYOND**2 / 9.0 + 2.0 * BEYOND * self.sample * rate * (1.0 - rate))
        least = max(least, int(np.floor(self.sample * rate - reach)))
        most = min(most, int(np.ceil(self.sample * rate + reach)))
        rest = _log_ways(self.whole - total, self.sample - most, self.sample - least)
        ways = _log_ways(total, least, most) + rest[::-1]
        chances = np.exp(ways - ways.max())
        return least, chances / chances.sum()


def _log_ways(n: int, least: int, most: int) -> Floats:
    """Logarithm of how many ways there are to draw so many of n, from the least number to the most."""
    if n > TABLED:
        return log_ways(n, np.arange(least, most + 1, dtype=np.float64))
    logs = _log_factorials()
    ways: Floats = logs[n] - logs[least : most + 1] - logs[n - most : n - least + 1][::-1]
    return ways


@lru_cache(maxsize=1)
def _log_factorials() -> Floats:
    """That of 0, 1, 2 and so on: a limit asks for the same ones thousands of times."""
    return np.asarray(gammaln(np.arange(TABLED + 1, dtype=np.float64) + 1.0))


def _upto(least: int, chances: Floats) -> tuple[int, Floats]:
    """The least number, and the chance of fewer than so many more: of none, one, two and so on."""
    return least, np.concatenate([[0.0], chances.cumsum()])


def largest_sum(first: Side, second: Side, sample_sum: float, alpha: float) -> float:
    """Upper limit of level 1 - alpha for the sum of both totals, each times its worth.

    Args:
        sample_sum: What the hits among the drawn stand for: the sum over sides of hits times ``sample_worth``.
    """
    if first.whole > second.whole:  # totals of the fewer records are tried one by one
        first, second = second, first
    simple = chernoff_limit((first, second), sample_sum, alpha)
    if first.whole > SEARCHED:
        return simple
    return min(simple, Border(first, second, sample_sum, alpha).limit())


def chernoff_limit(sides: tuple[Side, Side], sample_sum: float, alpha: float) -> float:
    """A limit that is never below the exact one, of sides of any size.

    Hits among the drawn, and those among the others, have exponential moments at most as large as those of binomials
    (Hoeffding 1963), whose logarithms are concave in the total. By weak duality each steepness and each price of the
    bound give a limit; the least of those that are tried is taken.
    """
    spread = sum(
        each.sample_worth**2 * each.sample * max(each.whole - each.sample, 1) / (4.0 * max(each.whole, 1))
        for each in sides
    )
    if not spread:  # nobody was drawn
        return sum(each.worth * each.whole for each in sides)
    steep, price = STEPS / np.sqrt(spread), PRICES
    least = sum(each.worth * each.whole for each in sides)
    for _ in range(ROUNDS):
        rate, ratio = np.meshgrid(steep, price, indexing="ij")
        each_price = ratio / rate
        values = each_price * (rate * sample_sum - np.log(alpha))
        for side in sides:
            values = values + _priced(side, rate, each_price)
        values = np.where(np.isnan(values), np.inf, values)  # too steep for floats
        at = np.unravel_index(np.argmin(values), values.shape)
        least = min(least, float(values[at]))
        steep, price = (_closer(grid, place) for grid, place in zip((steep, price), at, strict=True))
    return least


def _closer(grid: Floats, place: np.intp) -> Floats:
    """As many numbers between the neighbours of one."""
    low, high = max(0, int(place) - 1), min(len(grid) - 1, int(place) + 1)
    return np.geomspace(grid[low], grid[high], len(grid))


def _priced(side: Side, steep: Floats, price: Floats) -> Floats:
    """Largest over rates of what a side is worth, and the price of the logarithm of its moment."""
    whole, drawn, left = side.whole, side.sample, side.whole - side.sample
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if drawn <= left:
            fall = -np.expm1(-steep * side.sample_worth)
            best = (1.0 - price * drawn * fall / (whole * side.worth)) / fall if drawn else np.ones_like(steep)
            rate = np.clip(best, 0.0, 1.0)
            return np.asarray(whole * side.worth * rate + price * drawn * np.log1p(-fall * rate))
        rise = np.expm1(steep * side.sample_worth)
        cost = price * steep * side.sample_worth - side.worth  # of a hit among all, beyond what it is worth
        best = np.where(cost > 0.0, (price * left * rise / (whole * cost) - 1.0) / rise, 1.0)
        rate = np.clip(np.nan_to_num(best, nan=0.0), 0.0, 1.0)
        return np.asarray(-whole * cost * rate + price * left * np.log1p(rise * rate))


class Border:
    """For totals of the first side, the most hits of the second that are not refused with them; they fall."""

    def __init__(self, first: Side, second: Side, sample_sum: float, alpha: float) -> None:
        self._first, self._second, self._sample_sum, self._alpha = first, second, sample_sum, alpha
        self._others_upto = lru_cache(KEPT // (second.sample + 1))(lambda other: _upto(*second.law(other)))
        worth, other = first.sample_worth, second.sample_worth
        left = sample_sum - worth * np.arange(first.sample + 1) + max(TIE * max(worth, other), NO_DIGITS)
        # by hits of the first side, so many numbers of hits of the second make no more than the sum that was seen
        self._numbers = (np.floor(left / other) + 1.0 if other else left >= 0.0).astype(np.int64)
        middle = round(first.whole * 0.5)
        self._end = _last(lambda one: self._stands(first.law(one), 0), 0, first.whole, middle)
        self.others: dict[int, int] = {}
        self.others[0] = self._most(0, 0, second.whole, second.whole)
        self.others[self._end] = self._most(self._end, 0, self.others[0], 0)

    def _stands(self, law: tuple[int, Floats], other: int) -> bool:
        """Whether a sum of so many hits, or of fewer, is as likely as it has to be."""
        (start, one), (begin, upto) = law, self._others_upto(other)
        numbers = self._numbers[start : start + len(one)] - begin
        return dot(one, upto.take(numbers, mode="clip")) > self._alpha

    def _most(self, one: int, low: int, high: int, guess: int) -> int:
        law = self._first.law(one)
        return _last(lambda other: self._stands(law, other), low, high, guess)

    def value(self, one: int, other: int) -> float:
        """What both totals are worth."""
        return self._first.worth * one + self._second.worth * other

    def at(self, one: int, low: int, high: int) -> float:
        """The value on the border between two places where it is known."""
        upper, lower = self.others[low], self.others[high]
        if one not in self.others:
            guess = upper - (upper - lower) * (one - low) // max(1, high - low)
            self.others[one] = self._most(one, lower, upper, guess)
        return self.value(one, self.others[one])

    def limit(self, most: int = MOST_TRIED) -> float:
        """The highest value, or little more: stretches in which it cannot lie are left out, the others halved.

        Between two totals there are no more hits than the greater has, and no more others than the smaller leaves.
        """
        largest = max(self.value(*each) for each in self.others.items())
        stretches = [(-self.value(self._end - 1, self.others[0]), 0, self._end)] if self._end > 1 else []
        for _ in range(most):
            if not stretches or -stretches[0][0] - largest <= SLACK * max(0.0, largest - self._sample_sum):
                break
            _, low, high = heappop(stretches)
            middle = (low + high) // 2
            largest = max(largest, self.at(middle, low, high))
            for left, right in ((low, middle), (middle, high)):
                if right - left > 1 and self.value(right - 1, self.others[left]) > largest:
                    heappush(stretches, (-self.value(right - 1, self.others[left]), left, right))
        return max(largest, -stretches[0][0]) if stretches else largest


def _last(stands: Callable[[int], bool], low: int, high: int, guess: int) -> int:
    """The last number up to ``high`` that stands, if ``low`` does and none stands after one that does not."""
    step, guess = 1, min(max(guess, low), high)
    if stands(guess):
        low = guess
        while low < high and stands(min(high, low + step)):
            low, step = min(high, low + step), 2 * step
        high = min(high, low + step)
    else:
        high = guess
        while high - step > low and not stands(high - step):
            high, step = high - step, 2 * step
        low, high = max(low, high - step), high - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if stands(middle) else (low, middle - 1)
    return low
