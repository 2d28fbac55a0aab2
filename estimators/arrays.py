"""What the arrays of the library hold, and what is asked of few numbers so often that NumPy's own way is too long."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def is_masked(values: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Whether it is one of NumPy's masked arrays, whose module is large and is not imported to say no.

    >>> is_masked(np.ma.MaskedArray([1.0])), is_masked(np.array([1.0])), is_masked([1.0])
    (True, False, False)
    """
    plain = type(values) is np.ndarray or not isinstance(values, np.ndarray)
    return not plain and isinstance(values, np.ma.MaskedArray)


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


def distinct(values: NDArray[Scalar], in_runs: bool = False) -> NDArray[Scalar]:
    """The different ones of a plain array without NaN, in order: ``np.unique``, which imports masked arrays to say so.

    Args:
        values: The array.
        in_runs: It consists of a few runs that are in order, which costs less.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None, kind="stable" if in_runs else None)
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def median(values: NDArray[Any]) -> NDArray[np.float64]:
    """Of each column, none of which may hold NaN.

    >>> median(np.array([[1, 5], [2, 7], [4, 5], [3, 5]])).tolist()
    [2.5, 5.0]
    """
    ordered = np.sort(values, axis=0)
    return np.asarray((ordered[(len(values) - 1) // 2] + ordered[len(values) // 2]) / 2.0)


def quantiles(values: Floats, shares: tuple[float, float]) -> tuple[float, float]:
    """``np.quantile`` of two shares.

    >>> quantiles(np.array([3.0, 1.0, 2.0, 5.0]), (0.5, 1.0))
    (2.5, 5.0)
    """
    places = [share * (values.size - 1) for share in shares]
    around = [rank for place in places for rank in (int(place), min(int(place) + 1, values.size - 1))]
    a, b, c, d = np.partition(values, around)[around].tolist()
    return _between(a, b, places[0] % 1.0), _between(c, d, places[1] % 1.0)


def random_of(seed: int, *columns: NDArray[Any]) -> np.random.Generator:
    """Random numbers for this seed and these columns.

    By the seed alone the same places are drawn in every table of one length: in sorted ones always the same ranks.
    Numbers count as floats, all else by where each value comes first, so that every format of a table draws the same.

    >>> first, second = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    >>> [int(random_of(0, each).integers(1000)) for each in (first, first, second)]
    [792, 792, 907]
    """
    content = blake2b(digest_size=8)
    for column in columns:
        values = column
        if column.dtype.kind not in "biuf":
            _, first, code = np.unique(column.reshape(-1), return_index=True, return_inverse=True)
            values = np.argsort(np.argsort(first))[code]
        content.update(np.ascontiguousarray(values, dtype=np.float64).data)
    return np.random.default_rng([seed, int.from_bytes(content.digest())])


def groups_by_rank(*groups: NDArray[Any]) -> Integers:
    """The number of each value's group, in the order of all values: the same whatever an increasing function makes.

    >>> groups_by_rank(np.array([3.0, 1.0]), np.array([2.0, 1.0])).tolist()
    [0, 1, 1, 0]
    """
    group = np.repeat(np.arange(len(groups)), [len(each) for each in groups])
    return group[np.lexsort((group, np.concatenate(groups)))]


def _between(a: float, b: float, share: float) -> float:
    """From ``a`` to ``b``, from the nearer end, as NumPy does: so that equal ends give that value."""
    return a + (b - a) * share if share < 0.5 else b - (b - a) * (1.0 - share)
