"""JSON by simdjson: arrays of numbers become NumPy arrays without one Python object for each number.

simdjson comes with the extra `serve`; where it is not installed, this module cannot be imported.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from simdjson import Array, Object, Parser

from macekit.decoding import bounds
from macekit.decoding.body import Column
from macekit.decoding.columns import COLUMNS, KINDS, column, mixed, refuse_ragged

BRACKET = ord("[")
KIND_OF = {**KINDS, Array: KINDS[list], Object: KINDS[dict]}


class NotPlainError(Exception):
    """The body is to be read with care."""


def read_fast(body: bytes | memoryview, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays; exactly what ``json.read_careful`` makes of it, or ``NotPlainError``.

    simdjson flattens arrays within arrays without a word. Every array has a bracket of its own in the body, so none was
    hidden if there are as many brackets as arrays met; a bracket within a text only makes us read with care.
    """
    try:
        tree = Parser().parse(body)
    except (ValueError, RuntimeError):
        raise NotPlainError from None
    if not isinstance(tree, Object):
        raise NotPlainError
    walk = _FastWalk(columns)
    content = walk.mapping(tree, "", 0)
    if np.count_nonzero(np.frombuffer(body, np.uint8) == BRACKET) != walk.arrays:
        raise NotPlainError
    return content


class _FastWalk(bounds.Walk):
    """The way through a document of simdjson's, and the arrays met on it."""

    def __init__(self, columns: Set[str]) -> None:
        super().__init__(columns)
        self.arrays = 0

    def mapping(self, tree: Object, path: str, depth: int) -> dict[str, Any]:
        """An object; its values are looked up one by one, once its names are known to be few."""
        names = list(tree)
        return self.object_of(names, (tree[name] for name in names), path, depth)

    def value(self, value: object, name: str, path: str, depth: int) -> object:
        """What a value is: an object, a list, a column, or itself."""
        if isinstance(value, Object):
            return self.mapping(value, path, depth)
        if not isinstance(value, Array):
            return value
        self.arrays += 1
        return self.column(value, path) if self.is_column(name, path) else self.list_of(value, path, depth)

    def column(self, array: Array, path: str) -> Column:
        if not len(array):
            return np.empty(0)
        if isinstance(next(iter(array)), Array):
            return self.rows(array, path)
        try:
            return np.frombuffer(array.as_buffer(of_type="i"), np.int64)
        except ValueError:  # beyond 63 bits
            raise NotPlainError from None
        except TypeError:  # not integers, or not only
            pass
        try:
            return np.frombuffer(array.as_buffer(of_type="d"), np.float64)
        except TypeError:  # not numbers, or not only
            pass
        values: list[object] = list(array)  # not as_list, which writes past its end beyond 2^24 elements
        if set(map(type, values)) & {Array, Object}:
            raise mixed(values, path, KIND_OF)
        return column(values, path)

    def rows(self, array: Array, path: str) -> Column:
        lengths = [len(row) if isinstance(row, Array) else -1 for row in array]  # no row is kept
        if -1 in lengths:
            raise mixed(list(array), path, KIND_OF)
        self.arrays += len(lengths)
        refuse_ragged(lengths, path)
        try:
            flat = np.frombuffer(array.as_buffer(of_type="d"), np.float64)
        except TypeError:
            raise NotPlainError from None
        if flat.size != len(lengths) * lengths[0]:
            raise NotPlainError
        return flat.reshape(len(lengths), lengths[0])
