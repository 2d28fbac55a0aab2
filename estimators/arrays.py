"""What the arrays of the library hold, and what is asked of few numbers so often that NumPy's own way is too long."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def dot(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The sum of products, in the same digits on every processor: BLAS adds in an order of its kernel's and threads'.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float((one * other).sum())


def lengths(starts: Integers, end: int) -> Integers:
    """How many lie from each start to the next one, and from the last to the end.

    >>> lengths(np.array([0, 2, 3]), 7).tolist()
    [2, 1, 4]
    """
    return np.concatenate([starts[1:], [end]]) - starts


def median(values: NDArray[Any]) -> NDArray[np.float64]:
    """Of each column, none of which may hold NaN.

    >>> median(np.array([[1, 5], [2, 7], [4, 5], [3, 5]])).tolist()
    [2.5, 5.0]
    """
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2.0)
