"""Bodies of texts: what a language model said of each, one after another, as it was written down.

Of JSON lines a value a line, of a JSON document each entry of its list, of arrays each row. What the values mean is for
the question to say; nothing is held longer than it takes to read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macekit.problems import Problem, fault

LOGPROBS, LENGTHS = "logprobs", "lengths"

Arrays = Mapping[str, NDArray[Any]]


class Entry(NamedTuple):
    """What was written of one text, where it stands in words, its place from 0, and its side, if that is known."""

    value: object
    where: str
    row: int
    is_member: bool | None = None

    @property
    def field(self) -> str | None:
        """Where it stood in a question, if its side is a field there."""
        return None if self.is_member is None else "members" if self.is_member else "nonmembers"


def texts_needed() -> Problem:
    """What is said where only texts will do."""
    detail = "texts are needed: JSON lines, a JSON document, NPY or NPZ"
    return Problem("unsupported-media-type", detail, field="Content-Type")


def of_document(document: object) -> Iterator[Entry]:
    """Each entry of a list, or the document itself."""
    entries = document if isinstance(document, list) else [document]
    for row, value in enumerate(entries):
        yield Entry(value, f"record {row}", row)


def of_arrays(arrays: Arrays) -> Iterator[Entry]:
    """A record for each row of ``logprobs``, which is padded with NaN; or for each of ``lengths``, one after another.

    Arrays of the same shape are lists of it, too; of one dimension and as many values as there are records, its fields.
    """
    if LOGPROBS not in arrays:
        raise fault("missing-field", LOGPROBS, "no array has this name; need the tokens' log-probabilities")
    logs = arrays[LOGPROBS]
    lists: Mapping[str, Sequence[NDArray[Any]]]
    if logs.ndim == 2:
        lists = {name: [*array] for name, array in arrays.items() if array.ndim == 2}
        count = len(logs)
    elif logs.ndim == 1 and LENGTHS in arrays:
        lists = {name: _cut(array, arrays[LENGTHS]) for name, array in arrays.items() if array.shape == logs.shape}
        count = len(arrays[LENGTHS])
    else:
        detail = "need a row for each text, padded with NaN; or all tokens in one dimension, and lengths"
        raise fault("dimension-mismatch", LOGPROBS, detail)
    fields = {name: array for name, array in arrays.items() if name not in (*lists, LENGTHS)}
    if any(len(each) != count for each in (*fields.values(), *lists.values())):
        words = f"there are {count} texts, and an array of another length"
        raise fault("dimension-mismatch", LOGPROBS, words)
    for row in range(count):
        value = {name: array[row].tolist() for name, array in fields.items()}
        value |= {name: _without_padding(each[row]) for name, each in lists.items()}
        yield Entry(value, f"record {row}", row)


def _cut(array: NDArray[Any], lengths: NDArray[Any]) -> list[NDArray[Any]]:
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths < 0).any() or lengths.sum() != len(array):
        detail = f"need a whole number for each text, {len(array)} in all, as {LOGPROBS} has tokens"
        raise fault("dimension-mismatch", LENGTHS, detail)
    return np.split(array, np.cumsum(lengths.astype(np.int64))[:-1])


def _without_padding(row: NDArray[Any]) -> NDArray[Any]:
    """The numbers up to the last that is none of NaN, without a first token that has none."""
    if row.dtype.kind != "f":
        return row
    there = np.flatnonzero(~np.isnan(row))
    return row[there[0] : there[-1] + 1] if len(there) else row[:0]
