"""JSON by simdjson: arrays of numbers become NumPy arrays without one Python object for each number.

What is not plain (not JSON at all, integers beyond 63 bits, brackets within texts) is left to ``careful``.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from simdjson import Array, Object, Parser

from app.decoding import bounds
from app.decoding.columns import COLUMNS, KINDS, column, mixed, refuse_ragged
from app.decoding.material import Column

BRACKET = ord("[")
KIND_OF = {**KINDS, Array: KINDS[list], Object: KINDS[dict]}


class NotPlainError(Exception):
    """The body is to be read with care."""


def read(body: bytes | memoryview, columns: Set[str] = COLUMNS) -> dict[str, Any]:
    """The body with its columns as arrays; exactly what ``careful.read`` makes of it, or ``NotPlainError``.

    simdjson flattens arrays within arrays without a word. Every array has a bracket of its own in the body, so none was
    hidden if there are as many brackets as arrays met; a bracket within a text only makes us read with care.
    """
    try:
        tree = Parser().parse(body)
    except (ValueError, RuntimeError):
        raise NotPlainError from None
    if not isinstance(tree, Object):
        raise NotPlainError
    walk = _Walk(columns)
    found = walk.mapping(tree, "", 0)
    if np.count_nonzero(np.frombuffer(body, np.uint8) == BRACKET) != walk.arrays:
        raise NotPlainError
    return found


class _Walk:
    """The way through a document, and the arrays met on it."""

    def __init__(self, columns: Set[str]) -> None:
        self.columns = columns
        self.arrays = 0
        self.objects = 0

    def mapping(self, tree: Object, path: str, depth: int) -> dict[str, Any]:
        self.objects += 1
        bounds.require_few(self.objects)
        bounds.require_shallow(depth)
        names = list(tree)
        bounds.require_names(names, path)
        return {
            name: self.value(tree[name], name, bounds.within(path, name, place), depth + 1)
            for place, name in enumerate(names)
        }

    def value(self, value: object, name: str, path: str, depth: int) -> object:
        if isinstance(value, Object):
            return self.mapping(value, path, depth)
        if not isinstance(value, Array):
            return value
        self.arrays += 1
        if name in self.columns:
            return self.column(value, path)
        bounds.require_shallow(depth)
        bounds.require_entries(len(value), path)
        return [self.value(each, "", f"{path}[{i}]", depth + 1) for i, each in enumerate(value)]

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
