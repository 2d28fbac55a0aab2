"""How many hits on one side chance does not explain, exactly: those on the other side say what chance does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]


def excess_lower(hits: int, trials: int, other_hits: int, other_trials: int, alpha: float) -> int:
    """Lower limit of level 1 - alpha for how many of the hits were made on purpose.

    If x of the trials were made hits, whichever they are, the others are as the other side's trials: given all hits
    that are left, those among them follow a hypergeometric law. The limit is the least x at which so many of them or
    more have a probability above alpha (attributable effects, Rosenbaum 2001); it rises with x, so bisection finds it.

    Args:
        hits: Hits on the side on which some may have been made.
        trials: Trials on that side.
        other_hits: Hits on the side on which none were.
        other_trials: Trials on it, at least 1.
        alpha: The probability that the limit may be too high.

    Example:
        >>> from estimators.limits.excess import excess_lower
        >>> excess_lower(50, 5000, 0, 5000, 0.025), excess_lower(50, 5000, 50, 5000, 0.025)
        (45, 0)
    """
    low, high = -1, hits  # with all of them made nothing is left to explain
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(hits - middle, trials - middle, other_hits, other_trials) > alpha:
            high = middle
        else:
            low = middle
    return high


def _chance(hits: int, trials: int, other_hits: int, other_trials: int) -> float:
    """Probability of at least so many of all hits on this side, if all trials are alike."""
    total = hits + other_hits
    k = np.arange(hits, min(total, trials) + 1, dtype=np.float64)
    logs = _log_ways(trials, k) + _log_ways(other_trials, total - k)
    return float(np.exp(logs - _log_ways(trials + other_trials, np.array(float(total)))).sum())


def _log_ways(n: int, k: Floats) -> Floats:
    """Logarithm of the ways to choose k of n."""
    return np.asarray(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0))
