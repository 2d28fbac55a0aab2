"""Limits for proportions, and for what is made of two of them.

Everything certified here rests on the exact limit of one proportion; ``two_rates`` has that of two together.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import overload

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, gammaln, ndtri

from estimators.arrays import Floats, Integers

Numbers = float | NDArray[np.float64] | NDArray[np.int64]


@overload
def lower_limit(hits: float, trials: float, alpha: float) -> float: ...
@overload
def lower_limit(hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float | Floats) -> Floats: ...


def lower_limit(
    hits: float | NDArray[np.number], trials: float | NDArray[np.number], alpha: float | Floats
) -> float | Floats:
    """One-sided lower limit of level 1 - alpha for a proportion (Clopper and Pearson, 1934).

    It solves P(Bin(trials, limit) >= hits) = alpha; fractional ``hits`` interpolate monotonically.
    """
    h, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    limit = np.where(h > 0, _quantile(np.maximum(h, 1e-300), n - h + 1.0, alpha), 0.0)
    return limit if limit.ndim else float(limit)


@overload
def upper_limit(hits: float, trials: float, alpha: float) -> float: ...
@overload
def upper_limit(hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float | Floats) -> Floats: ...


def upper_limit(
    hits: float | NDArray[np.number], trials: float | NDArray[np.number], alpha: float | Floats
) -> float | Floats:
    """One-sided upper limit of level 1 - alpha for a proportion (Clopper and Pearson, 1934)."""
    h, n = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    limit = np.where(h < n, _quantile(h + 1.0, np.maximum(n - h, 1e-300), 1.0 - alpha), 1.0)
    return limit if limit.ndim else float(limit)


BESIDE = np.nextafter(1000.0, 0.0)
"""SciPy's quantile of a beta law is wrong where one parameter is 1000 and the other beyond 1e8, and right beside it."""


def _quantile(a: Floats, b: Floats, p: float | Floats) -> Floats:
    """Of a beta law."""
    a, b = np.where(a == 1000.0, BESIDE, a), np.where(b == 1000.0, BESIDE, b)
    return np.asarray(betaincinv(a, b, p))


def clopper_pearson(
    hits: NDArray[np.number], trials: float | NDArray[np.number], alpha: float
) -> tuple[Floats, Floats]:
    """Lower and upper limit, each of level 1 - alpha, computed once for every distinct count.

    A million records share a few hundred counts, and the inverse beta function is what costs.
    """
    counts = np.asarray(hits, dtype=np.float64)
    if np.ndim(trials) == 0:
        n = float(np.asarray(trials))
        return _distinct(lower_limit, counts, n, alpha), _distinct(upper_limit, counts, n, alpha)
    return lower_limit(counts, trials, alpha), upper_limit(counts, trials, alpha)


def pools(n_members: int, n_nonmembers: int, prior: float) -> bool:
    """Whether right guesses of both sides are counted together, in one exact binomial limit.

    They can be when members make up the prior's share of the sample, n1 = pN. They should not be when
    the prior is far from 1/2: a sample of fixed n1 and n0 varies much less than the binomial says.
    """
    total = n_members + n_nonmembers
    return 0.25 <= prior <= 0.75 and abs(n_members / total - prior) < 1e-12


def mcdiarmid_radius(prior: float, n_members: int, n_nonmembers: int, delta: float) -> float:
    """Two-sided radius of a sum that one record moves by 2p/n1 or 2(1-p)/n0 (MACE, Theorems 5 and 6).

    With n1 = pN it is the paper's sqrt(2 ln(2/delta)/N); erratum E15 has the general form.
    """
    spread = prior**2 / n_members + (1.0 - prior) ** 2 / n_nonmembers
    return float(np.sqrt(2.0 * np.log(2.0 / delta) * spread))


def _distinct(limit: Callable[[Floats, Numbers, float], Floats], hits: Floats, trials: Numbers, alpha: float) -> Floats:
    """A limit computed once for every distinct count: the inverse beta function is what costs."""
    if hits.size <= 64 or isinstance(trials, np.ndarray):
        return np.asarray(limit(np.atleast_1d(hits), trials, alpha)).reshape(hits.shape)
    whole = hits.astype(np.intp)
    if trials < 4 * hits.size and bool((whole == hits).all()):  # a table over 0..trials needs no sort
        present = np.flatnonzero(np.bincount(whole.ravel()))
        table = np.zeros(int(present[-1]) + 1)
        table[present] = limit(present.astype(np.float64), trials, alpha)
        return table[whole]
    distinct, back = np.unique(hits, return_inverse=True)
    return limit(distinct, trials, alpha)[back.reshape(hits.shape)]


def normal_quantile(alpha: float) -> float:
    """z with P(Z > z) = alpha."""
    return float(-ndtri(alpha))


BEYOND = 40.0
"""Binomial laws are summed as far as Bernstein's inequality leaves less than 2 exp(-40) outside."""


def binomial_sum_law(n_a: int, log_odds_a: float, n_b: int, log_odds_b: float) -> tuple[int, Floats]:
    """Law of Bin(n_a, sigmoid(log_odds_a)) + Bin(n_b, sigmoid(log_odds_b)): where it begins, and from there.

    It is the convolution of the two, each cut where nothing is left; by Fourier transform, which is quicker for large
    ones and has the same digits on every processor.
    """
    first_a, a = _binomial_law(n_a, log_odds_a)
    if not n_b:
        return first_a, a
    first_b, b = _binomial_law(n_b, log_odds_b)
    size = len(a) + len(b) - 1
    padded = 1 << (size - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(a, padded) * np.fft.rfft(b, padded), padded)[:size]
    return first_a + first_b, np.maximum(product, 0.0)


def _binomial_law(trials: int, log_odds: float) -> tuple[int, Floats]:
    """Where the law of a binomial begins, and its probabilities from there."""
    right, wrong = float(expit(log_odds)), float(expit(-log_odds))
    reach = BEYOND / 3.0 + np.sqrt(BEYOND**2 / 9.0 + 2.0 * BEYOND * trials * right * wrong)
    first, last = max(0, int(trials * right - reach)), min(trials, int(np.ceil(trials * right + reach)))
    x = np.arange(first, last + 1, dtype=np.float64)
    ways = log_ways(trials, x)
    return first, np.exp(ways - x * np.logaddexp(0, -log_odds) - (trials - x) * np.logaddexp(0, log_odds))


def excess_lower(hits: int, trials: int, other_hits: int, other_trials: int, alpha: float) -> int:
    """Lower limit of level 1 - alpha for how many of the hits are none by chance.

    If x of the hits are none by chance, whichever they are, the others are what all trials of this side come to by
    chance, as the other side's do: given all hits but x, those among them follow a hypergeometric law. The limit is the
    least x at which so many of them or more have a probability above alpha (attributable effects, Rosenbaum 2001); it
    rises with x, so bisection finds it.

    Args:
        hits: Hits on the side on which some may be none by chance.
        trials: Trials on that side.
        other_hits: Hits on the side on which all are by chance.
        other_trials: Trials on it, at least 1.
        alpha: The probability that the limit may be too high.
    """
    # where none is by chance nothing is left to explain
    return bisect_left(range(hits), True, key=lambda x: _chance(hits - x, trials, other_hits, other_trials) > alpha)


def _chance(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Probability of at least so many of all hits on this side, if all trials are alike."""
    total = hits + other_hits
    k = np.arange(hits, min(total, trials) + 1, dtype=np.float64)
    logs = log_ways(trials, k) + log_ways(other_trials, total - k)
    return float(np.exp(logs - log_ways(trials + other_trials, np.array(float(total)))).sum())


def log_ways(n: int, k: Floats | Integers) -> Floats:
    """Logarithm of how many ways there are to draw k of n."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
