"""How many of some records stand above each of others, if all are drawn alike: limits that hold at every cut at once.

Of n calibration records and m others, drawn from one law, each order is equally likely. So the others fall into the
n + 1 gaps between calibration records as independent geometric numbers do whose sum is m, and the chance that at most
so many stand above the first, the second, ... is one convolution a rank, cut at each limit: exact, whatever the law;
ties only take from it.
"""

from functools import lru_cache

import numpy as np
from scipy import fft
from scipy.special import betaln, gammaln

from estimators.arrays import Floats, Integers, distinct

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
    law = np.exp(
        gammaln(m + 1.0)
        - gammaln(numbers + 1.0)
        - gammaln(m - numbers + 1.0)
        + betaln(numbers + rank, m - numbers + n + 1.0 - rank)
        - betaln(rank, n + 1.0 - rank)
    )
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
