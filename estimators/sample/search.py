"""Between which cuts each of many unsorted scores falls, several times as fast as a binary search for each."""

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers

BUCKETS = 2**14
BLOCK = 2**15


def intervals_of(cuts: Floats, scores: NDArray[np.generic]) -> Integers:
    """``np.searchsorted(cuts, scores, side="right")`` of many unsorted scores, several times as fast.

    The bucket of a score rises with the score, rounding included; so a bucket without a cut lies in one
    interval and a table tells which. Only scores that share a bucket with a cut are searched for.
    """
    values = np.asarray(scores, dtype=np.float64)
    reach = float(cuts[-1] / 2.0 - cuts[0] / 2.0) if len(cuts) > 1 else 0.0
    scale = BUCKETS / reach / 2.0 if reach > 1e-300 else np.inf
    if len(values) < BUCKETS or not 0.0 < scale < np.inf:
        return np.searchsorted(cuts, values, side="right").astype(np.int64)
    low = float(cuts[0]) - 1.0 / scale  # what lies below all cuts has a bucket of its own
    at_cuts = _buckets(cuts, low, scale)
    table = np.searchsorted(at_cuts, np.arange(BUCKETS + 3)).astype(np.int64)
    table[at_cuts] = -1
    result = np.empty(len(values), dtype=np.int64)
    for start in range(0, len(values), BLOCK):
        part = values[start : start + BLOCK]
        at = table.take(_buckets(part, low, scale))
        shared = np.flatnonzero(at < 0)
        at[shared] = np.searchsorted(cuts, part[shared], side="right")
        result[start : start + BLOCK] = at
    return result


def _buckets(values: Floats, low: float, scale: float) -> NDArray[np.intp]:
    with np.errstate(over="ignore"):
        place = np.subtract(values, low)
        place *= scale
    np.clip(place, 0.0, BUCKETS + 2.0, out=place)
    return place.astype(np.intp)
