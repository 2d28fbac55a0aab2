"""How far apart two copies of one noise are when one of them is shifted.

A ``shift`` is counted in scales of the noise: ||v||/sigma for N(0, sigma^2), ||v||/s for a density
proportional to exp(-||x||/s). Everything is zero at shift 0 and rises with the shift.
"""

from collections.abc import Callable
from math import inf, log, pi, sqrt
from typing import overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfcx, log_ndtr, ndtri

from estimators.arrays import Floats
from estimators.errors import OutOfRange, require_from_zero_to_one, require_nonnegative, require_open_unit

SMALL = 0.1
"""Below this shift the two terms of the hockey stick nearly cancel, and their difference is integrated instead."""

LARGE = 1e6
"""Above this epsilon it is not added to the logarithm of a tail, which is as large and of the other sign."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
"""A Mills ratio over a stretch of 0.1 is a polynomial to within rounding."""


@overload
def gaussian_delta(shift: float, epsilon: float = 0.0) -> float: ...
@overload
def gaussian_delta(shift: Floats, epsilon: float = 0.0) -> Floats: ...


def gaussian_delta(shift: float | Floats, epsilon: float = 0.0) -> float | Floats:
    """Hockey-stick divergence Phi(v/2 - eps/v) - e^eps Phi(-v/2 - eps/v) of N(v, 1) from N(0, 1).

    It is the smallest delta that goes with epsilon (Balle and Wang 2018, Theorem 8), the same both ways round.
    """
    result = np.exp(gaussian_log_delta(shift, epsilon))
    return result if np.ndim(shift) else float(result)


def gaussian_log_delta(shift: ArrayLike, epsilon: float) -> Floats:
    """Its logarithm, without cancellation: e^eps phi(b) = phi(a), so delta = phi(a) (m(a) - m(b)), m = Phi/phi."""
    epsilon = require_nonnegative("epsilon", epsilon)
    v = np.asarray(shift, dtype=np.float64)
    if epsilon == 0.0:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(erf(v / sqrt(8.0))))
    result = np.full(v.shape, -np.inf)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        a, b = v / 2.0 - epsilon / v, -v / 2.0 - epsilon / v
    inner, small = a >= 0.0, v <= SMALL
    right = (v > 0.0) & inner & ~small
    tail = (v > 0.0) & ~inner & ~small
    near = (v > 0.0) & small & (a > -1e150)  # beyond, the density is 0 whatever multiplies it
    with np.errstate(divide="ignore"):  # a difference below every float: nothing is given away
        second = _log_second_term(a[right], b[right], epsilon)
        result[right] = np.log(-np.expm1(second - log_ndtr(a[right]))) + log_ndtr(a[right])
        result[tail] = _log_density(a[tail]) + np.log(_mills(a[tail]) - _mills(b[tail]))
        result[near] = _log_density(a[near]) + np.log(_mills_difference(a[near], v[near]))
    return result


@overload
def gaussian_total_variation(shift: float) -> float: ...
@overload
def gaussian_total_variation(shift: Floats) -> Floats: ...


def gaussian_total_variation(shift: float | Floats) -> float | Floats:
    """Total variation 2 Phi(v/2) - 1 of N(v, 1) from N(0, 1): the hockey stick at epsilon 0."""
    result = erf(np.asarray(shift, dtype=np.float64) / sqrt(8.0))
    return result if np.ndim(shift) else float(result)


def gaussian_shift(epsilon: float, delta: float) -> float:
    """Largest shift that is (epsilon, delta)-indistinguishable, to the last bit; the hockey stick rises with it."""
    epsilon, delta = require_nonnegative("epsilon", epsilon), require_open_unit("delta", delta)
    goal = log(delta)

    def holds(shift: float) -> bool:
        return float(gaussian_log_delta(shift, epsilon)) <= goal

    high = 1.0
    while holds(high):
        high *= 2.0
    return last(holds, 0.0, high)


def gaussian_sigma(sensitivity: float, epsilon: float, delta: float) -> float:
    """Least standard deviation of Gaussian noise that is (epsilon, delta)-DP at an l2 sensitivity: solved, not bounded.

    Lemma 10 of PMP is Balle and Wang's Theorem 8; their Algorithm 1 solves the same equation.
    """
    shift = gaussian_shift(epsilon, delta)
    sigma = sensitivity / shift if shift > 0.0 else inf
    if not sigma < inf:
        raise OutOfRange.about("delta", "so small that no float is noise enough")
    return sigma if sensitivity / sigma <= shift else float(np.nextafter(sigma, np.inf))


def gaussian_epsilon(shift: float, delta: float) -> float:
    """Least epsilon at which the hockey stick of ``shift`` is at most ``delta``; infinite at delta 0 and shift > 0.

    The second term is positive, so Phi(v/2 - eps/v) = delta gives an epsilon that is enough, and the bracket.
    """
    shift, delta = require_nonnegative("shift", shift), require_from_zero_to_one("delta", delta)
    if gaussian_total_variation(shift) <= delta:
        return 0.0
    if delta == 0.0:
        return inf
    goal = log(delta)

    def fails(epsilon: float) -> bool:
        return float(gaussian_log_delta(shift, epsilon)) > goal

    enough = shift * (shift / 2.0 - float(ndtri(delta)))
    while fails(enough):  # by rounding alone
        enough *= 1.0 + 1e-12
    return float(np.nextafter(last(fails, 0.0, enough), np.inf))


@overload
def laplace_total_variation(shift: float) -> float: ...
@overload
def laplace_total_variation(shift: Floats) -> Floats: ...


def laplace_total_variation(shift: float | Floats) -> float | Floats:
    """Total variation 1 - exp(-v/2) of two Laplace laws of scale 1 on the line, v apart."""
    result = -np.expm1(-np.asarray(shift, dtype=np.float64) / 2.0)
    return result if np.ndim(shift) else float(result)


def last(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Largest float at which ``holds`` is still true: true at ``low``, false at ``high``, and once false, false."""
    while True:
        middle = low + (high - low) / 2.0
        if low > 0.0 and high > 4.0 * low:
            middle = sqrt(low) * sqrt(high)  # orders of magnitude apart: halve the exponent
        elif low == 0.0 and high > 0.0:
            middle = high / 1024.0
        if not low < middle < high:
            return low
        low, high = (middle, high) if holds(middle) else (low, middle)


def _log_second_term(a: Floats, b: Floats, epsilon: float) -> Floats:
    """Logarithm of e^eps Phi(b); of a large epsilon as that of phi(a) m(b), for the sum would lose its digits."""
    if epsilon > LARGE:
        return np.asarray(_log_density(a) + np.log(_mills(b)))
    return np.asarray(epsilon + log_ndtr(b))


def _log_density(z: Floats) -> Floats:
    with np.errstate(over="ignore"):  # the square of 1e200: a density of nought
        return np.asarray(-(z**2) / 2.0 - log(2.0 * pi) / 2.0)


def _mills(z: Floats) -> Floats:
    """Phi(z)/phi(z), which neither under- nor overflows for z below 0."""
    return np.asarray(sqrt(pi / 2.0) * erfcx(-z / sqrt(2.0)))


def _mills_difference(a: Floats, v: Floats) -> Floats:
    """m(a) - m(a - v) as the integral of m'(z) = 1 + z m(z)."""
    z = a[:, None] - v[:, None] * (1.0 - NODES) / 2.0
    # 1 + z m(z) cancels far out, where it is the tail's own series 1/z^2 - 3/z^4 + 15/z^6 - 105/z^8
    far = 1.0 / np.maximum(z**2, 1.0)
    series = far * (1.0 - far * (3.0 - far * (15.0 - 105.0 * far)))
    slope = np.where(z < -100.0, series, 1.0 + z * _mills(z))
    return np.asarray(v / 2.0 * (slope @ WEIGHTS))
