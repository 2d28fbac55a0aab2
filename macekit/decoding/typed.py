"""A column of Arrow as NumPy has it: numbers and booleans as they are, text as labels; anything else is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from estimators.errors import InputError, MixedTypes
from macekit.decoding.columns import Labels, absent, refusals, refuse_ragged
from macekit.decoding.table import Values, filled_sizes

if TYPE_CHECKING:
    import pyarrow as pa


def values_of(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """The values of one column; ``what`` is its role and ``start`` the number of its first row, for messages."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    kind = column.type
    _require_known(kind, what)
    with refusals("Arrow"):
        column.validate(full=True)  # offsets and indices are the sender's
    if column.null_count:
        missing = np.asarray(column.is_null())
        raise absent(what, start + int(np.argmax(missing)))
    with refusals("Arrow"):
        if types.is_dictionary(kind):
            return _of_dictionary(column, what, start)
        if _is_text(kind):
            return labels(pc.cast(column, pa.large_string()) if types.is_string_view(kind) else column)
        if types.is_decimal(kind):
            column = pc.cast(column, pa.float64())
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if types.is_null(kind):
            return np.empty(0)
        values: NDArray[np.generic] = whole.to_numpy(zero_copy_only=False)
        return values


def without_padding(
    columns: Sequence[pa.ChunkedArray], present: Callable[[pa.ChunkedArray], pa.ChunkedArray]
) -> list[pa.ChunkedArray]:
    """The columns of both sides without the blanks that the shorter one ends in; ``present`` says what is none."""
    sizes = filled_sizes([np.asarray(present(column), dtype=np.bool_) for column in columns])
    return [column.slice(0, size) for column, size in zip(columns, sizes, strict=True)]


def rows_of(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """The same, where a value may be a list of numbers: lists of one length are rows."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return values_of(column, what, start)
    with refusals("Arrow"):
        column.validate(full=True)
        if column.null_count:
            raise absent(what, start + int(np.argmax(np.asarray(column.is_null()))))
        lists = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        lengths = [kind.list_size] * len(lists) if types.is_fixed_size_list(kind) else _lengths(lists)
        flat = lists.flatten()
    refuse_ragged(lengths, what)
    if flat.null_count:
        raise absent(what, start + int(np.argmax(np.asarray(flat.is_null()))) // lengths[0])
    values = values_of(flat, what, 0)
    if not isinstance(values, np.ndarray):
        raise InputError(f"{what}: lists of text cannot be used; need lists of numbers", field=what)
    return values.reshape(len(lists), -1) if len(lists) else np.empty(0)


def _lengths(lists: pa.Array) -> list[int]:
    import pyarrow.compute as pc

    lengths: list[int] = pc.list_value_length(lists).to_pylist()
    return lengths


def labels(column: pa.Array | pa.ChunkedArray) -> Labels:
    """Text without nulls as labels."""
    import pyarrow as pa

    dictionary = column.dictionary_encode()
    if isinstance(dictionary, pa.ChunkedArray):
        dictionary = dictionary.combine_chunks()  # chunks encoded together share one dictionary
    return Labels(dictionary.indices.to_numpy(), dictionary.dictionary.to_pylist())


def _of_dictionary(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """A dictionary of text as labels, of numbers as numbers."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunks
        return np.empty(0)
    if _is_text(column.type.value_type):
        return Labels(column.indices.to_numpy(), column.dictionary.to_pylist())
    return values_of(column.dictionary_decode(), what, start)


def _require_known(kind: pa.DataType, what: str) -> None:
    """Refuse what is neither number nor text nor boolean, without quoting a type the caller may have named."""
    import pyarrow as pa

    types = pa.types
    inner = kind.value_type if types.is_dictionary(kind) else kind
    numbers = types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner)
    if numbers or types.is_boolean(inner) or _is_text(inner) or types.is_null(inner):
        return
    if types.is_temporal(inner):
        got = "times"
    elif types.is_nested(inner):
        got = "nested values; send one column for each number"
    elif isinstance(inner, pa.BaseExtensionType):
        got = "an extension type; send its storage"
    else:
        got = "another type"
    raise InputError(f"{what}: the column holds {got}, need numbers, text or booleans", field=what)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


# --- spelled ------------------------------------------------------------------------------------------------
# A column of CSV, where everything is text, as the numbers it spells; or as text, if it never was meant as
# numbers.

LOOKS = 32
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
BOOLEANS = frozenset({"true", "false"})
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-nan", "inf", "-inf", "infinity", "-infinity"})


Finder = Callable[[int], tuple[str, int]]
"""What a column is called in messages and the number of a row in it, from the place among all that is read."""


def typed_text(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """Integers if all are, else floats if all are numbers, else text."""
    return _typed(column, lambda at: (what, start + at))


def typed_texts(columns: Sequence[pa.ChunkedArray], what: Sequence[str]) -> list[Values]:
    """Several columns read as one, so that the same text is the same value in each; ``what`` each is, for messages."""
    import pyarrow as pa

    ends = np.cumsum([len(column) for column in columns])

    def find(at: int) -> tuple[str, int]:
        which = int(np.searchsorted(ends, at, side="right"))
        return what[which], at - int(ends[which] - len(columns[which]))

    chunks = [chunk for column in columns for chunk in column.chunks]
    values = _typed(pa.chunked_array(chunks, pa.string()), find)
    if isinstance(values, Labels):
        return [Labels(codes, values.texts) for codes in np.split(values.codes, ends[:-1])]
    return list(np.split(values, ends[:-1]))


def is_value(text: str) -> bool:
    """Whether a text is a value and no name of a column: a number, a boolean, or what stands for a missing number."""
    return bool(NUMBER.fullmatch(text)) or text.strip().lower() in {*MISSING - {""}, *BOOLEANS}


def _typed(column: pa.Array | pa.ChunkedArray, find: Finder) -> Values:
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.int64(), pa.uint64(), pa.float64()) if _may_be_whole(column) else (pa.float64(),):
        try:
            numbers = pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
        whole = pa.types.is_integer(kind)
        if whole and pc.any(pc.match_substring_regex(column, "[xX]")).as_py():
            break  # Arrow reads 0x1F as 31; nobody wrote a number
        if isinstance(numbers, pa.ChunkedArray):
            numbers = numbers.combine_chunks()
        values: np.ndarray[tuple[int], np.dtype[np.generic]] = numbers.to_numpy(zero_copy_only=False)
        if not whole and np.abs(values).max(initial=0.0) >= 2.0**63:
            break  # too long for 64 bits: perhaps identifiers, which floats would not tell apart
        return values
    return _by_text(labels(column), find)


def _may_be_whole(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a few looks find whole numbers only; a cast that fails says so for every row, which takes long."""
    looks = range(0, len(column), max(1, len(column) // LOOKS))
    return all(WHOLE.fullmatch(column[at].as_py()) for at in looks)


def _by_text(column: Labels, find: Finder) -> Values:
    """The same, text by text: what is not a number among fractions was a number once, or is missing."""
    texts = [text or "" for text in column.texts]
    number = np.array([NUMBER.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    missing = np.array([text.strip().lower() in MISSING for text in texts], dtype=np.bool_)
    comma = np.array([DECIMAL_COMMA.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    whole = all(WHOLE.fullmatch(text) for text in texts)
    if number.all():
        if whole:
            return column
        numbers = np.array([float(text) for text in texts], dtype=np.float64)
        return np.take(numbers, column.codes)
    if (number | missing).all() or "" in texts:
        raise absent(*find(column.first(missing) or 0))
    if comma.any() and (comma | number).all():
        what, first = find(column.first(comma) or 0)
        raise InputError(
            f"{what}: numbers have a decimal comma; need a decimal point", field=what, index=first
        )
    fractions = any(
        is_number and not WHOLE.fullmatch(text) for text, is_number in zip(texts, number, strict=True)
    )
    if fractions:
        what, row = find(column.first(~number) or 0)
        raise MixedTypes(f"{what}: row {row} is text, but others are fractions", field=what, index=row)
    return column
