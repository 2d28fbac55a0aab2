"""What the arrays of the library hold, and the sum of their products."""

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
