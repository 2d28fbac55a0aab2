"""Limits for what two rates of a fixed set make together, when records of each side were drawn without replacement.

The number of hits among the drawn is hypergeometric. A pair of totals is refused if so small a sum, or a smaller one,
has a chance of alpha at most; the limit is the largest sum of a pair that is not refused. It is exact for every set,
every number drawn and every level: where all records of a side are drawn, its total is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]

BEYOND = 40.0
"""Laws are summed as far as Bernstein's inequality leaves less than 2 exp(-40) outside."""

TIE = 1e-9
"""Sums that differ by so small a part of a record are the same sum."""

EXACT = 1024
"""Records of the smaller side up to which every total is tried, or known not to matter."""

PLACES = 9
"""Totals that are tried at a time where a side has more."""

SLACK = 0.01
"""Part of the distance to what was observed that a limit may be above the exact one."""


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
        hits = np.arange(least, most + 1, dtype=np.float64)
        ways = _log_ways(total, hits) + _log_ways(self.whole - total, self.sample - hits)
        chances = np.exp(ways - ways.max())
        return least, chances / chances.sum()


def _log_ways(n: int, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))


def largest_sum(first: Side, second: Side, sample_sum: float, alpha: float) -> float:
    """Upper limit of level 1 - alpha for the sum of both totals, each times its worth.

    Args:
        first: One side.
        second: The other one.
        sample_sum: What the hits among the drawn stand for: the sum over sides of hits times ``sample_worth``.
        alpha: Chance that the limit is below the truth, at most.
    """
    if first.whole > second.whole:  # totals of the fewer records are tried one by one
        first, second = second, first
    border = Border(first, second, sample_sum, alpha)
    if first.whole <= EXACT:
        return border.exact_limit()
    largest = border.highest()
    return largest + SLACK * max(0.0, largest - sample_sum)


class Border:
    """For totals of the first side, the most hits of the second that are not refused with them; they fall."""

    def __init__(self, first: Side, second: Side, sample_sum: float, alpha: float) -> None:
        self._first, self._second, self._sample_sum, self._alpha = first, second, sample_sum, alpha
        middle = round(first.whole * 0.5)
        self._end = _last(lambda one: self._stands(first.law(one), 0), 0, first.whole, middle)
        self.others: dict[int, int] = {}
        self.others[0] = self._most(0, 0, second.whole, second.whole)
        self.others[self._end] = self._most(self._end, 0, self.others[0], 0)

    def _stands(self, law: tuple[int, Floats], other: int) -> bool:
        worths = self._first.sample_worth, self._second.sample_worth
        return _chance(law, self._second.law(other), *worths, self._sample_sum) > self._alpha

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

    def exact_limit(self) -> float:
        """The highest value, or little more: stretches in which it cannot lie are left out, the others halved.

        Between two totals there are no more hits than the greater has, and no more others than the smaller leaves.
        """
        largest = max(self.value(*each) for each in self.others.items())
        stretches = [(-self.value(self._end - 1, self.others[0]), 0, self._end)] if self._end > 1 else []
        while stretches and -stretches[0][0] - largest > SLACK * max(0.0, largest - self._sample_sum):
            _, low, high = heappop(stretches)
            middle = (low + high) // 2
            largest = max(largest, self.at(middle, low, high))
            for left, right in ((low, middle), (middle, high)):
                if right - left > 1 and self.value(right - 1, self.others[left]) > largest:
                    heappush(stretches, (-self.value(right - 1, self.others[left]), left, right))
        return max(largest, -stretches[0][0]) if stretches else largest

    def highest(self) -> float:
        """The highest value found where the border, which bends little, is looked at ever more closely."""
        low, high = 0, self._end
        while True:
            places = np.unique(np.linspace(low, high, PLACES).round().astype(np.int64)).tolist()
            values = [self.value(low, self.others[low])]
            for before, place in pairwise(places):
                values.append(self.at(place, before, high))
            best = int(np.argmax(values))
            if high - low < PLACES:
                return max(self.value(*each) for each in self.others.items())
            low, high = places[max(0, best - 1)], places[min(len(places) - 1, best + 1)]


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


def _chance(
    first: tuple[int, Floats], second: tuple[int, Floats], worth: float, other: float, sample_sum: float
) -> float:
    """Chance that hits of both laws, times their worth, are ``sample_sum`` at most."""
    (start, one), (begin, two) = first, second
    left = sample_sum - worth * (start + np.arange(len(one))) + TIE * max(worth, other)
    if not other:
        return float(one[left >= 0.0].sum())
    upto = np.floor(left / other).astype(np.int64) - begin + 1
    return float(one @ np.concatenate([[0.0], two.cumsum()])[np.clip(upto, 0, len(two))])
