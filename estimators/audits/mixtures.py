"""Mixtures of known records, and whether candidates may be drawn from them: permutation tests of a share.

A mixture takes a share of members and the rest of nonmembers by coins. If that share is the true one, it and the
candidates are drawn from one law, so that each test is exact (docs/methods.md, section 13).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from estimators.arrays import Floats, Integers
from estimators.limits.without_replacement import Side
from estimators.python.dataclass import dataclass

STEP = 0.05
"""Shares that are tested first; between the last that is rejected and the first that is not, halves are tested."""

DRAWS = 999  # permutations of a test, at least, and at least ``BEYOND`` of them beyond the level

BEYOND = 10

MOST_DRAWS = 19_999
"""Permutations of a test, at most: beyond a confidence of 0.9999 only what an inequality rejects is rejected."""

STEPS = 40  # steps of the fit of both laws to the mixture
FIRST = 99  # permutations after which a share that is far from being rejected is left

RATES = np.geomspace(0.25, 4.0, 9)
"""Where Chernoff's bound is looked for, as multiples of where it is least for a normal law."""

FAR = 4.0  # what is called far: so many times the level

SPARE = 0.15
"""Share of the known records on which the statistic is fitted, where none were set aside for the direction."""

FEW = 100  # known records of a group below which ranks are compared: there is too little to fit anything to

BLOCK = 4096
"""Records of which the bins are counted beforehand, so that the first so many of an order are quickly counted."""

CAP = 4.3  # deviations of a binomial number within which the records of a mixture are kept ready
MOST_A_CANDIDATE = 50  # records of a mixture for each candidate beyond which more say nothing
LEARNED_ON = 7  # one of so many nonmembers chooses the cut of the lower end that takes nothing for granted


class Order:
    """Records of a group in random order, of which the first so many are quickly counted by bin."""

    def __init__(self, counts: Integers, rng: np.random.Generator):
        self.bins = len(counts)
        self.places: NDArray[np.uint8] = rng.permutation(np.repeat(np.arange(self.bins, dtype=np.uint8), counts))
        whole = self.places[: len(self.places) // BLOCK * BLOCK]
        blocks = whole.astype(np.int64) + self.bins * (np.arange(len(whole)) // BLOCK)
        by_block = np.bincount(blocks, minlength=self.bins * (len(whole) // BLOCK)).reshape(-1, self.bins)
        self.before = np.concatenate([np.zeros((1, self.bins), dtype=np.int64), by_block.cumsum(axis=0)])

    def __len__(self) -> int:
        return len(self.places)

    def first(self, number: int) -> Integers:
        """Records of each bin among the first so many."""
        block = min(number // BLOCK, len(self.before) - 1)
        rest = np.bincount(self.places[block * BLOCK : number], minlength=self.bins)
        return np.asarray(self.before[block] + rest)

    def after(self, number: int) -> Integers:
        """Records of each bin among the others."""
        return self.first(len(self)) - self.first(number)


@dataclass(frozen=True, slots=True)
class Statistic:
    """Records of both groups by bin, what each bin says, and what the candidates say in all."""

    pool: Integers
    says: Floats
    sd: float
    total: float

    def beyond(self, sign: float, number: int) -> float:
        """More permutations than this share do not lie beyond what was seen.

        Chernoff's bound of the records drawn, or of those that are left, whichever are fewer: it holds for draws
        without replacement (Hoeffding 1963).
        """
        fewer = min(number, int(self.pool.sum()) - number)
        toward = sign if fewer == number else -sign  # what is drawn and what is left sum to nothing
        chances = self.pool / self.pool.sum()
        rates = RATES * abs(self.total) / (fewer * (chances @ self.says**2))
        exponents = fewer * np.log(np.exp(np.outer(rates * toward, self.says)) @ chances) - rates * abs(self.total)
        return float(np.exp(min(0.0, exponents.min())))


class Mixtures:
    """Mixtures of the known records, one for each share, in one random order of them; all from the same coins."""

    def __init__(self, bins: Sequence[Integers], spare: Sequence[Integers], rng: np.random.Generator):
        members, nonmembers, self.candidates = bins
        self.rng = rng
        self.n_candidates = int(self.candidates.sum())
        self.spare = spare
        self.members, self.nonmembers = Order(members, rng), Order(nonmembers, rng)
        self.by_rank = min(len(self.members), len(self.nonmembers)) < FEW
        both = len(self.members) + len(self.nonmembers)
        self.coins = rng.random(min(both, MOST_A_CANDIDATE * self.n_candidates))
        every = members + nonmembers + self.candidates + sum(spare)
        self.even = 2.0 * every / every.sum() + 1e-6
        self.statistics: dict[float, Statistic | None] = {}

    def most(self, share: float, n_members: float, n_nonmembers: float) -> int:
        """Records of a mixture that these numbers are enough for, but once in some ten thousand times."""
        most = len(self.coins)
        for part, number in ((share, n_members), (1.0 - share, n_nonmembers)):
            if part > 0.0:
                slack = CAP * np.sqrt(1.0 - part)
                most = min(most, int(((-slack + np.sqrt(slack**2 + 4.0 * number)) / 2.0) ** 2 / part + 1e-9))
        return max(most, 1)

    def mixed(self, share: float) -> tuple[Integers, Integers, Integers] | None:
        """Records of the mixture, and known ones that it cannot hold; None if the records were not enough."""
        n1, n0 = len(self.members), len(self.nonmembers)
        keep = 1.0 if self.by_rank or self.spare else 1.0 - SPARE
        most = max(self.most(share, keep * n1, n0), self.most(share, n1, keep * n0))
        slack = CAP * np.sqrt(most * share * (1.0 - share)) + 1e-6
        caps = min(n1, int(most * share + slack)), min(n0, int(most * (1.0 - share) + slack))
        number = int(np.count_nonzero(self.coins[:most] < share))
        if number > caps[0] or most - number > caps[1]:
            return None
        mixture = self.members.first(number) + self.nonmembers.first(most - number)
        a, b = self.members.after(caps[0]), self.nonmembers.after(caps[1])
        return (mixture, a + self.spare[0], b + self.spare[1]) if self.spare else (mixture, a, b)

    def weights(self, share: float, pool: Integers, members: Integers, nonmembers: Integers) -> Floats:
        """What each bin says of use: the score of the mixture's likelihood in its share, or ranks.

        It is fitted to the pool, in which the two groups are alike, and to records that no mixture can hold, so that
        the test stays exact whatever it is.
        """
        rank = np.asarray((np.cumsum(pool) - pool / 2.0) / pool.sum())
        if (
            self.by_rank
            or len(pool) == 2
            or not ((members.sum() and share < 1.0) or (nonmembers.sum() and share > 0.0))
        ):
            return rank
        p = q = self.even / 2.0
        n_members = n_nonmembers = 1.0
        for _ in range(STEPS):
            of_members = pool * (share * p / (share * p + (1.0 - share) * q))
            p, q = members + of_members + self.even, nonmembers + pool - of_members + self.even
            n_members, n_nonmembers = p.sum(), q.sum()
            p, q = p / n_members, q / n_nonmembers
        fit = nearest_increasing(p / (p + q), p + q)
        near = min(max(share, 0.02), 0.98)
        says = (2.0 * fit - 1.0) / (near * fit + (1.0 - near) * (1.0 - fit))
        price = 2.0 * (len(np.unique(fit)) - 1) * (1.0 / n_members + 1.0 / n_nonmembers)
        return says if _gain(says, p - q, pool) - price > _gain(rank, p - q, pool) else rank

    def statistic(self, share: float) -> Statistic | None:
        """What is compared at this share; None where nothing is, so that it is not rejected."""
        if share not in self.statistics:
            self.statistics[share] = self._statistic(share)
        return self.statistics[share]

    def _statistic(self, share: float) -> Statistic | None:
        mixed = self.mixed(share)
        if mixed is None:
            return None
        pool, n = self.candidates + mixed[0], self.n_candidates
        number = int(pool.sum())
        says = self.weights(share, pool, *mixed[1:])
        says = says - pool @ says / number
        sd = float(np.sqrt(n * (number - n) / (number - 1) * (pool @ says**2) / number))
        if not sd > 1e-12 * (1.0 + np.abs(says).max()):
            return None
        levels, block = np.unique(says, return_inverse=True)  # bins that say the same are drawn as one
        alike = np.bincount(block, pool).astype(np.int64)
        return Statistic(alike, levels, sd, float(self.candidates @ says))

    def p_value(self, share: float, side: int, draws: int, enough: float = inf) -> float:
        """p-value of "a larger share" (0), or a smaller one (1), by so many permutations.

        With ``enough``, a clear case is left as it is: one that is far above it by the normal law or after the first
        permutations, and one that an inequality shows to be far below, which permutations would hardly ever leave open.
        """
        statistic = self.statistic(share)
        if statistic is None:
            return 1.0
        sign = 1.0 if side == 0 else -1.0
        apart = sign * statistic.total / statistic.sd
        if enough < inf and ndtr(-apart) > FAR * enough:
            return 1.0
        if enough < inf and (most := statistic.beyond(sign, self.n_candidates)) < enough / FAR:
            return most
        times = number = 0
        for more in (FIRST, draws - FIRST):
            sums = self.permutations(statistic.pool, more) @ (sign * statistic.says)
            times += int(np.count_nonzero(sums >= sign * statistic.total - 1e-9 * statistic.sd))
            number += more
            if times >= FAR * enough * number:
                break
        return (1 + times) / (number + 1)

    def permutations(self, pool: Integers, times: int) -> Integers:
        """As many records as there are candidates, drawn from the pool so many times."""
        return self.rng.multivariate_hypergeometric(pool, self.n_candidates, times, method="marginals")

    def fits(self, share: float) -> float:
        """Permutation p-value of the chi-squared distance between the candidates and the mixture."""
        mixed = self.mixed(share)
        if mixed is None:
            return 1.0
        pool = self.candidates + mixed[0]
        expected, each = self.n_candidates * pool / pool.sum(), np.maximum(pool, 1e-9)
        distances = ((self.permutations(pool, DRAWS) - expected) ** 2 / each).sum(axis=1)
        distance = float(((self.candidates - expected) ** 2 / each).sum())
        return float((1 + np.count_nonzero(distances >= distance * (1.0 - 1e-9))) / (DRAWS + 1))

    def lower_whatever(self, level: float) -> float:
        """A lower end that takes nothing for granted of how members score.

        Of the scores beyond a cut, chosen on all members and some nonmembers, the other nonmembers make a
        mixture in which each member lies beyond the cut: where the candidates have more beyond it than that,
        more of them were used (Fisher's exact test).
        """
        learned = max(len(self.nonmembers) // LEARNED_ON, 1)
        members, nonmembers = self.members.first(len(self.members)), self.nonmembers.first(learned)
        beyond_members, beyond_nonmembers = (1.0 - np.cumsum(each) / each.sum() for each in (members, nonmembers))
        careful = beyond_nonmembers + 1.0 / learned
        half = (beyond_members + careful) / 2.0
        error = 2.0 * np.sqrt(half / self.n_candidates + careful / len(self.nonmembers))
        cut = 1 + int(np.argmax((half - careful - error) / (1.0 - careful + 2.0 / learned)))
        hits, rest, share = int(self.candidates[cut:].sum()), len(self.nonmembers) - learned, 0.0
        before = int(nonmembers[cut:].sum())
        for within in np.linspace(0.0, 1.0, round(1.0 / STEP) + 1)[:-1].tolist():
            most = self.most(within, 1e15, rest)
            number = int(np.count_nonzero(self.coins[:most] < within))
            if most - number > rest:
                break
            beyond = number + int(self.nonmembers.first(learned + most - number)[cut:].sum() - before)
            least, law = Side(self.n_candidates + most, self.n_candidates, 1.0).law(hits + beyond)
            if law[max(0, hits - least) :].sum() > level:
                break
            share = within
        return share


def nearest_increasing(values: Floats, weights: Floats) -> Floats:
    """The numbers next to these, in weighted squares, of which none is below the one before.

    Neighbours that are out of order all have their mean ("pool adjacent violators").
    """
    means, weighty, counts = list[float](), list[float](), list[int]()
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, total, count = value, weight, 1
        while means and means[-1] >= mean:
            before = weighty.pop()
            mean = (means.pop() * before + mean * total) / (before + total)
            total, count = total + before, count + counts.pop()
        means.append(mean)
        weighty.append(total)
        counts.append(count)
    return np.repeat(means, counts)


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of all orders: a share is rejected where most of them reject it."""

    orders: Sequence[Mixtures]
    level: float

    @property
    def draws(self) -> int:
        """Permutations of each test."""
        return min(max(DRAWS, int(np.ceil(BEYOND / self.level))), MOST_DRAWS)

    def p_value(self, share: float, side: int) -> float:
        """Of all orders together."""
        return _of_most([each.p_value(share, side, self.draws) for each in self.orders])

    def rejects(self, share: float, side: int) -> bool:
        """Whether most orders reject this share in favour of a larger one (0), or of a smaller one (1)."""
        most = len(self.orders) // 2
        votes = [0, 0]
        for each in self.orders:
            votes[each.p_value(share, side, self.draws, self.level) <= self.level] += 1
            if max(votes) > most:
                break
        return votes[1] > votes[0]

    def end(self, side: int) -> float:
        """The outermost share that is not rejected, from below (0) or above (1); infinite if all are."""
        grid = np.linspace(0.0, 1.0, round(1.0 / STEP) + 1)
        beyond = None
        for within in (grid if side == 0 else grid[::-1]).tolist():
            if not self.rejects(within, side):
                break
            beyond = within
        else:
            return inf if side == 0 else -inf
        if beyond is None:
            return float(within)
        for _ in range(5 + int(np.log2(1.0 + self.orders[0].n_candidates / 1000.0) / 2.0)):
            middle = (beyond + within) / 2.0
            beyond, within = (middle, within) if self.rejects(middle, side) else (beyond, middle)
        return float(beyond)

    def fit(self, lower: float, upper: float) -> float:
        """The largest p-value, over shares of the interval, of "the candidates are such a mixture"."""
        largest, middle = 0.0, (lower + upper) / 2.0
        for share in sorted(np.linspace(lower, upper, 11).tolist(), key=lambda each: abs(each - middle)):
            largest = max(largest, _of_most([each.fits(share) for each in self.orders]))
            if largest > 0.1:
                break
        return largest

    def lower_whatever(self) -> float:
        """The median of all orders."""
        return float(np.median([each.lower_whatever(self.level) for each in self.orders]))


def _of_most(p_values: Sequence[float]) -> float:
    """One p-value of several, however they hang together: of five, 5/3 of the third (Rueger 1978)."""
    return min(1.0, len(p_values) / (len(p_values) // 2 + 1) * float(np.median(p_values)))


def _gain(says: Floats, difference: Floats, pool: Integers) -> float:
    """How far the statistic tells the known groups apart, in its own deviations."""
    number = pool.sum()
    spread = float(pool @ (says - pool @ says / number) ** 2 / number)
    return float(difference @ says) ** 2 / max(spread, 1e-12)
