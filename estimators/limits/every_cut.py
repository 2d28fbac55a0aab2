"""Limits that hold at every cut at once: of the share of a law beyond it, and of records that are drawn like others.

Whatever the law, the share above a cut with k of n records at or above it lies between the k-th and the (k+1)-th
smallest of n uniform numbers; ties only take from it. Each of these follows a beta law, and each has the same small
chance ``eta`` to lie outside its limits (equal local levels: Berk and Jones 1979; Gontscharuk, Landwehr and Finner
2016): chosen so that with probability 1 - alpha all n lie within. Bands of one width (Dvoretzky, Kiefer and Wolfowitz)
waste most of their width at the ends, where false positive rates are few.

*Among others.* Of n calibration records and m others, drawn from one law, each order is equally likely. So the others
fall into the n + 1 gaps between calibration records as independent geometric numbers do whose sum is m, and the chance
that at most so many stand above the first, the second, ... is one convolution a rank, cut at each limit: exact,
whatever the law; ties only take from it.
"""

from functools import lru_cache

import numpy as np
from scipy import fft
from scipy.special import betainc, betaincinv, betaln, gammaln

from estimators.arrays import Floats, Integers, distinct
from estimators.limits.binomial import log_ways

# Found by the chance that n uniform numbers in order keep within their limits (benchmarks.band.level_for), for some
# sizes and levels; between them logarithms are interpolated, and SPARE is left for that.

SIZES = (1, 2, 3, 5, 8, 12, 20, 40, 100, 300, 1000, 5000, 20_000, 100_000, 1_000_000)
ALPHAS = (0.3, 0.1, 0.05, 0.02, 0.005, 0.0005, 1e-05)
ETAS = (
    (0.2999, 0.1, 0.05, 0.02, 0.005, 0.0005, 1e-05),  # 1
    (0.1768, 0.05451, 0.02652, 0.01037, 0.002544, 0.0002513, 5.002e-06),  # 2
    (0.1308, 0.03884, 0.01862, 0.007183, 0.001738, 0.0001695, 3.346e-06),  # 3
    (0.09132, 0.02602, 0.01226, 0.004649, 0.001103, 0.0001054, 2.04e-06),  # 5
    (0.06728, 0.01856, 0.008625, 0.003219, 0.0007504, 7.005e-05, 1.322e-06),  # 8
    (0.05281, 0.01422, 0.006535, 0.00241, 0.0005532, 5.062e-05, 9.328e-07),  # 12
    (0.04003, 0.0105, 0.004768, 0.001734, 0.0003912, 3.495e-05, 6.245e-07),  # 20
    (0.0288, 0.007344, 0.00329, 0.001178, 0.0002606, 2.263e-05, 3.893e-07),  # 40
    (0.02001, 0.004962, 0.002194, 0.0007745, 0.0001679, 1.417e-05, 2.341e-07),  # 100
    (0.01405, 0.003408, 0.001492, 0.0005207, 0.0001111, 9.171e-06, 1.465e-07),  # 300
    (0.0103, 0.002461, 0.00107, 0.0003708, 7.835e-05, 6.368e-06, 9.939e-08),  # 1,000
    (0.007413, 0.001751, 0.0007587, 0.0002614, 5.487e-05, 4.411e-06, 6.767e-08),  # 5,000
    (0.005893, 0.001386, 0.0005993, 0.0002062, 4.316e-05, 3.454e-06, 5.256e-08),  # 20,000
    (0.00463, 0.001092, 0.000473, 0.0001629, 3.415e-05, 2.734e-06, 4.156e-08),  # 100,000
    (0.003632, 0.000862, 0.0003745, 0.0001295, 2.726e-05, 2.194e-06, 3.355e-08),  # 1,000,000
)
"""The level of each limit, both its sides together: a row for each number of records, a column for each alpha."""

SPARE = 0.97

EVERY_RANK = 20_000
"""Records up to which that chance is exact. Of more, ranks a tenth or a fifth of a standard deviation apart stood for
all, with 2 or 3% added to the chance."""


@lru_cache(maxsize=256)
def local_level(n: int, alpha: float) -> float:
    """At what level each limit has to be stated for all of them to hold with probability 1 - alpha.

    Of more than a million records it falls as 1 / (log n log log n), which is the law for very many.
    """
    if alpha < ALPHAS[-1]:
        return alpha / n  # of n statements each with its part
    at = np.log(min(n, SIZES[-1]))
    columns = [np.interp(at, np.log(SIZES), np.log(column)) for column in zip(*ETAS, strict=True)]
    level = SPARE * float(np.exp(np.interp(-np.log(alpha), -np.log(ALPHAS), columns)))
    return level * _law_of_many(SIZES[-1]) / _law_of_many(n) if n > SIZES[-1] else level


def _law_of_many(n: int) -> float:
    return float(np.log(n) * np.log(np.log(n)))


def share_limits(k: Integers, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Limits of the share above cuts with k of n records, all of which hold together with probability 1 - alpha."""
    return least_shares(k, n, alpha), most_shares(k, n, alpha)


def least_shares(k: Integers, n: int, alpha: float) -> Floats:
    """The lower ones of these limits."""
    numbers, place = np.unique(k, return_inverse=True)
    some = np.maximum(numbers, 1)
    low = betaincinv(some, n + 1.0 - some, local_level(n, alpha) / 2.0)
    return np.where(numbers > 0, low, 0.0)[place]


def most_shares(k: Integers, n: int, alpha: float) -> Floats:
    """The upper ones."""
    numbers, place = np.unique(k, return_inverse=True)
    some = np.minimum(numbers, n - 1)
    high = betaincinv(some + 1.0, n - some + 0.0, 1.0 - local_level(n, alpha) / 2.0)
    return np.where(numbers < n, high, 1.0)[place]


def records_beyond(shares: Floats, n: int, alpha: float) -> tuple[Integers, Integers]:
    """The most records above a cut whose upper limit is at most these shares, and the same of the lower limit.

    The first is -1 where even a cut with no record above it leaves more open.
    """
    side = local_level(n, alpha) / 2.0
    return _most(shares, n, 1.0 - side), _most(shares, n, side) + 1


def _most(shares: Floats, n: int, chance: float) -> Integers:
    """The largest k from -1 to n - 1 with P(Beta(k+1, n-k) <= share) of at least so much, by halves."""
    low, high = np.full(shares.shape, -1), np.full(shares.shape, n - 1)
    while (low < high).any():
        middle = (low + high + 1) // 2
        enough = betainc(middle + 1.0, n - middle + 0.0, shares) >= chance
        low, high = np.where(enough, middle, low), np.where(enough, high, middle - 1)
    return low


GROWTH = 1.04
"""By so much the ranks grow that have a limit of their own; one between them has that of the next."""

CLASSES = 12  # numbers of others that are told apart: one between two of them has the limits of the larger
SEARCHED = 1e-3  # the local level is looked for between the whole one and this part of it
HALVES = 9  # how often that range is halved

NEGLIGIBLE = 1e-15
LARGE = 3e6  # products of lengths from which a convolution goes by FFT


@lru_cache(maxsize=64)
def most_above(n: int, m: int, alpha: float) -> Integers:
    """The most of m others at or above a cut with k of n calibration records there, k from 0 to n, all at once.

    With probability 1 - alpha all of these hold. The level of rank r goes as 1/sqrt(r): the corner, where few
    calibration records stand above, matters most.
    """
    ranks = _ranks(n)
    if m == 0:
        return np.zeros(n + 1, dtype=np.int64)
    tails = [_tail(n, m, int(rank)) for rank in ranks]
    low, high = SEARCHED, 1.0
    limits = _limits(tails, ranks, low * alpha)
    for _ in range(HALVES):
        part = float(np.sqrt(low * high))
        candidate = _limits(tails, ranks, part * alpha)
        if chance_within(n, m, ranks, candidate) >= 1.0 - alpha:
            low, limits = part, candidate
        else:
            high = part
    each = np.append(limits, m)
    return np.asarray(each[np.searchsorted(ranks, np.arange(n + 1) + 1, "left")])


def _limits(tails: list[tuple[int, Floats]], ranks: Integers, level: float) -> Integers:
    """The most others above each rank, but with this chance over the root of the rank."""
    return np.array(
        [
            first + len(tail) - 1 - int(np.searchsorted(tail, level / np.sqrt(rank), "right"))
            for rank, (first, tail) in zip(ranks.tolist(), tails, strict=True)
        ]
    )


def _ranks(n: int) -> Integers:
    """Ranks with a limit: all of the first, then ever further apart, and the last."""
    ranks = [1]
    while ranks[-1] < n:
        ranks.append(min(n, max(ranks[-1] + 1, int(ranks[-1] * GROWTH))))
    return np.array(ranks)


def _tail(n: int, m: int, rank: int) -> tuple[int, Floats]:
    """The first of some numbers of others above the rank-th calibration record, and the chances of the largest of them.

    The law is beta-binomial; beyond what is kept there is next to nothing.
    """
    mean = m * rank / (n + 1.0)
    sd = np.sqrt(m * rank * (n + 1.0 - rank) * (n + 1.0 + m) / ((n + 1.0) ** 2 * (n + 2.0)))
    first = max(0, int(mean - 2.0 * sd))
    numbers = np.arange(first, min(m, int(mean + 14.0 * sd + 40.0 * (1.0 + m / n))) + 1)
    odds = log_ways(m, numbers) + betaln(numbers + rank, m - numbers + n + 1.0 - rank) - betaln(rank, n + 1.0 - rank)
    law = np.exp(odds)
    return first, np.cumsum(law[::-1])


def chance_within(n: int, m: int, ranks: Integers, limits: Integers) -> float:
    """The chance that at most so many of m others stand above each of these calibration records, of n."""
    stop = (n + 1.0) / (n + 1.0 + m)
    law, first, before = np.ones(1), 0, 0
    for rank, limit in zip(ranks.tolist(), limits.tolist(), strict=True):
        gaps, before = rank - before, rank
        mean, sd = gaps * (1.0 - stop) / stop, np.sqrt(gaps * (1.0 - stop)) / stop
        low = max(0, int(mean - 9.0 * sd - 4.0))
        high = min(m, int(mean + 9.0 * sd + 45.0 / -np.log1p(-stop)))
        law = _sum_of(law, _geometrics(np.arange(low, high + 1), gaps, stop))
        first += low
        law = law[: max(0, limit + 1 - first)]
        if not len(law):
            return 0.0
        idle = int(np.searchsorted(np.cumsum(law), NEGLIGIBLE))
        law, first = law[idle:], first + idle
        if not len(law):
            return 0.0
    rest = m - first - np.arange(len(law))
    law, rest = law[rest >= 0], rest[rest >= 0]
    whole = _geometrics(np.array([m]), n + 1, stop)[0]
    return float(law @ _geometrics(rest, n + 1 - before, stop) / whole)


def _geometrics(numbers: Integers, gaps: int, stop: float) -> Floats:
    """The law of the sum of so many geometric numbers."""
    chances: Floats = np.exp(
        gammaln(numbers + gaps)
        - gammaln(numbers + 1.0)
        - gammaln(gaps)
        + gaps * np.log(stop)
        + numbers * np.log1p(-stop)
    )
    return chances


def _sum_of(law: Floats, other: Floats) -> Floats:
    if len(law) * len(other) < LARGE:
        return np.convolve(law, other)
    length = len(law) + len(other) - 1
    points = fft.next_fast_len(length, real=True)
    return np.asarray(np.maximum(fft.irfft(fft.rfft(law, points) * fft.rfft(other, points), points)[:length], 0.0))


def alike_at_most(lengths: Integers, others: Integers, alpha: float) -> Integers:
    """Of lists of so many records each, the most of each that are drawn like calibration records: all lists at once.

    How many there are in all is not known. Every number lies in one class, and has the limits of the largest of its
    class, since further ones only add; a class that leaves fewer of them than it has is refuted, which costs nothing.

    Args:
        lengths: Records at or above each cut, from the highest cut down; the last has all of them.
        others: Calibration records at or above each cut.
        alpha: The chance that any number is too small.
    """
    m, n = int(lengths[-1]), int(others[-1])
    most, before = np.zeros(len(lengths), dtype=np.int64), -1
    for top in distinct(np.ceil(np.linspace(0, m, CLASSES + 1)).astype(int)).tolist():
        above = np.minimum(most_above(n, top, alpha)[others], top)
        if before + 1 <= int((above + m - lengths).min()):
            most = np.maximum(most, above)
        before = top
    most = np.minimum(most, lengths)
    most = np.minimum.accumulate(most[::-1])[::-1]  # a shorter list has no more of them than a longer one
    # which adds no more than its further records
    return np.asarray(lengths + np.minimum.accumulate(most - lengths))
