"""A column of Arrow as NumPy has it: numbers and booleans as they are, text as labels; anything else is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.decoding.columns import refuse_ragged
from app.decoding.foreign import refusals
from app.decoding.labels import Labels, absent
from app.decoding.table import Values
from estimators.errors import InputError

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
            return _decoded(column, what, start)
        if _is_text(kind):
            return labels(pc.cast(column, pa.large_string()) if types.is_string_view(kind) else column)
        if types.is_decimal(kind):
            column = pc.cast(column, pa.float64())
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        if types.is_null(kind):
            return np.empty(0)
        found: NDArray[np.generic] = whole.to_numpy(zero_copy_only=False)
        return found


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
    found = values_of(flat, what, 0)
    if not isinstance(found, np.ndarray):
        raise InputError(f"{what}: lists of text cannot be used; need lists of numbers", field=what)
    return found.reshape(len(lists), -1) if len(lists) else np.empty(0)


def _lengths(lists: pa.Array) -> list[int]:
    import pyarrow.compute as pc

    found: list[int] = pc.list_value_length(lists).to_pylist()
    return found


def labels(column: pa.Array | pa.ChunkedArray) -> Labels:
    """Text without nulls as labels."""
    import pyarrow as pa

    encoded = column.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()  # chunks encoded together share one dictionary
    return Labels(encoded.indices.to_numpy(), encoded.dictionary.to_pylist())


def _decoded(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
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
