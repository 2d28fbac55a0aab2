"""A column of Arrow as NumPy has it: numbers and booleans as they are, text as labels; anything else is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from estimators.errors import InputError
from estimators.sample.integers import as_64_bit
from macekit.decoding.columns import Labels, absent, as_numpy, refusals, refuse_ragged
from macekit.decoding.table import Values, filled_sizes
from macekit.problems import fault

if TYPE_CHECKING:
    import pyarrow as pa


def values_of(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """The values of one column; ``what`` is its role and ``start`` the number of its first row, for messages."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    kind = column.type
    _require_known(kind, what)
    column = _filled(column)
    with refusals("Arrow"):
        column.validate(full=True)  # offsets and indices are the sender's
    if column.null_count:
        missing = np.asarray(column.is_null())
        raise absent(what, start + int(np.argmax(missing)))
    with refusals("Arrow"):
        if types.is_dictionary(kind):
            return _of_dictionary(column, what, start)
        if is_text(kind):
            return labels(pc.cast(column, pa.large_string()) if types.is_string_view(kind) else column)
        if types.is_decimal(kind):
            return _of_decimals(column)
        if types.is_null(kind):
            return np.empty(0)
        values: NDArray[np.generic] = as_numpy(column)
        return values


def _filled(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The same without chunks of no rows, which Arrow cuts out of others and then cannot join with them."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return pa.chunked_array([chunk for chunk in column.chunks if len(chunk)], column.type)


def without_padding(
    columns: Sequence[pa.ChunkedArray], present: Callable[[pa.ChunkedArray], pa.ChunkedArray]
) -> list[pa.ChunkedArray]:
    """The columns of both sides without the blanks that the shorter one ends in; ``present`` says what is none."""
    sizes = filled_sizes([np.asarray(present(column), dtype=np.bool_) for column in columns])
    return [column.slice(0, size) for column, size in zip(columns, sizes, strict=True)]


def padding_note(rows: int, filled: int) -> list[str]:
    """That the shorter column of a table of two sides ends in blanks, if it does."""
    return [f"{rows - filled} blank rows at the end dropped"] if filled < rows else []


def rows_of(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """The same, where a value may be a list of numbers: lists of one length are rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, column.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return values_of(column, what, start)
    column = _filled(column)
    with refusals("Arrow"):
        column.validate(full=True)
        if column.null_count:
            raise absent(what, start + int(np.argmax(np.asarray(column.is_null()))))
        lists = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        lengths = (
            [kind.list_size] * len(lists) if types.is_fixed_size_list(kind) else pc.list_value_length(lists).to_pylist()
        )
        flat = lists.flatten()
    refuse_ragged(lengths, what)
    if flat.null_count:
        raise absent(what, start + int(np.argmax(np.asarray(flat.is_null()))) // lengths[0])
    values = values_of(flat, what, 0)
    if not isinstance(values, np.ndarray):
        raise fault(InputError, what, "lists of text cannot be used; need lists of numbers")
    return values.reshape(len(lists), -1) if len(lists) else np.empty(0)


def labels(column: pa.Array | pa.ChunkedArray) -> Labels:
    """Text without nulls as labels."""
    import pyarrow as pa

    dictionary = column.dictionary_encode()
    if isinstance(dictionary, pa.ChunkedArray):
        dictionary = dictionary.combine_chunks()  # chunks encoded together share one dictionary
    return Labels(as_numpy(dictionary.indices), dictionary.dictionary.to_pylist())


def _of_dictionary(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """A dictionary of text as labels, of numbers as numbers."""
    import pyarrow as pa

    # by chunks: Arrow unifies dictionaries of half floats as integers
    if not is_text(column.type.value_type):
        chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        plain = [chunk.dictionary_decode() for chunk in chunks]
        return values_of(pa.chunked_array(plain, column.type.value_type), what, start)
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no chunks
        return np.empty(0)
    return Labels(as_numpy(column.indices), column.dictionary.to_pylist())


def _of_decimals(column: pa.Array | pa.ChunkedArray) -> NDArray[np.generic]:
    """Decimals without a fraction as the integers they are, others as the floats nearest to them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.type.scale > 0:
        column = pc.cast(pc.cast(column, pa.string()), pa.float64())  # a cast of its own is an ulp off
    elif column.type.scale == 0:
        for kind in (pa.int64(), pa.uint64()):
            try:
                column = pc.cast(column, kind)
                break
            except pa.ArrowInvalid:
                continue
    if pa.types.is_decimal(column.type):
        return as_64_bit(np.array([int(value) for value in column.to_pylist()], dtype=object))
    values: NDArray[np.generic] = as_numpy(column)
    return values


def notes_of(kind: pa.DataType) -> tuple[str, ...]:
    """What is understood in reading a column of this type."""
    import pyarrow as pa

    inner = inner_type(kind)
    if not pa.types.is_decimal(inner):
        return ()
    return ("decimals read as the nearest floats" if inner.scale > 0 else "decimals read as integers",)


def _require_known(kind: pa.DataType, what: str) -> None:
    """Refuse what is neither number nor text nor boolean, without quoting a type the caller may have named."""
    import pyarrow as pa

    types = pa.types
    inner = inner_type(kind)
    numbers = types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner)
    if numbers or types.is_boolean(inner) or is_text(inner) or types.is_null(inner):
        return
    if types.is_temporal(inner):
        got = "times"
    elif types.is_run_end_encoded(inner):
        got = "run-end encoded values; decode them (pyarrow.compute.run_end_decode)"
    elif types.is_nested(inner):
        got = "nested values; send one column for each number"
    elif isinstance(inner, pa.BaseExtensionType):
        got = "an extension type; send its storage"
    else:
        got = "another type"
    raise fault(InputError, what, f"the column holds {got}, need numbers, text or booleans")


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of text."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def inner_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a dictionary, or the type itself."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind
