"""C_K, the diversity of a discrete distribution: what it is, how far it can go, and the entropies beside it."""

from __future__ import annotations

from math import floor, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from estimators.errors import OutOfRange, require_count, require_number
from estimators.theory.mis.divergence import Floats, distribution


def c_k(probabilities: ArrayLike) -> float:
    """C_K(P) = sum sqrt(p_k (1 - p_k)) (Eq. 18): twice Corollary 15's bound on Delta, times sqrt n."""
    return total_c_k(distribution(probabilities))


def total_c_k(p: Floats, times: Floats | NDArray[np.int64] | float = 1.0) -> float:
    """The same for checked probabilities, each so many ``times``."""
    return float(np.sum(times * np.sqrt(p * (1.0 - p))))


def most_diverse(categories: int) -> float:
    """sqrt(K - 1): C_K of the uniform distribution, the largest there is on K categories (Lemma 23)."""
    return sqrt(require_count("categories", categories) - 1.0)


def given_largest(largest: float, categories: int) -> tuple[float, float]:
    """Least and most C_K of a distribution on K categories whose largest probability is ``largest`` (Lemma 24).

    C_K is concave: least at the corners, where as many categories as fit are as large as the largest; most where
    the others are equal. The least holds for any number of categories.
    """
    k = require_count("categories", categories)
    top = require_number("largest", largest)
    if not 1.0 / k - 1e-12 <= top <= 1.0:
        raise OutOfRange("largest: need a number from 1/categories to 1", field="largest")
    return least_given_largest(top), sqrt(top * (1.0 - top)) + sqrt((1.0 - top) * max(k - 2.0 + top, 0.0))


def least_given_largest(largest: float) -> float:
    """The lower of the two, which does not depend on the number of categories."""
    times = floor(1.0 / largest + 1e-12)
    rest = min(max(1.0 - largest * times, 0.0), 1.0)
    return times * sqrt(largest * (1.0 - largest)) + sqrt(rest * (1.0 - rest))


def gini_simpson(probabilities: ArrayLike) -> float:
    """1 - sum p_k^2: at most C_K / 2, and at least C_K^2 / K (Eqs. 23 and 24)."""
    p = distribution(probabilities)
    return float((p * (1.0 - p)).sum())


def shannon(probabilities: ArrayLike) -> float:
    """Entropy in nats: H <= C_K <= sqrt(K (1 - exp(-H))) (Eq. 25 and the line after it)."""
    return float(-xlogy(p := distribution(probabilities), p).sum())
