"""A column of CSV, where everything is text, as the numbers it spells; or as text, if it never was meant as numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from app.decoding.labels import Labels, absent
from app.decoding.table import Values
from app.decoding.typed import labels
from estimators.errors import InputError, MixedTypes

if TYPE_CHECKING:
    import pyarrow as pa

LOOKS = 32
WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*", re.ASCII)
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-nan", "inf", "-inf", "infinity", "-infinity"})


def spelled(column: pa.Array | pa.ChunkedArray, what: str, start: int) -> Values:
    """Integers if all are, else floats if all are numbers, else text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for kind in (pa.int64(), pa.uint64(), pa.float64()) if _may_be_whole(column) else (pa.float64(),):
        try:
            found = pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
        whole = pa.types.is_integer(kind)
        if whole and pc.any(pc.match_substring_regex(column, "[xX]")).as_py():
            break  # Arrow reads 0x1F as 31; nobody wrote a number
        if isinstance(found, pa.ChunkedArray):
            found = found.combine_chunks()
        values: np.ndarray[tuple[int], np.dtype[np.generic]] = found.to_numpy(zero_copy_only=False)
        if not whole and np.abs(values).max(initial=0.0) >= 2.0**63:
            break  # too long for 64 bits: perhaps identifiers, which floats would not tell apart
        return values
    return _by_text(labels(column), what, start)


def _may_be_whole(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether a few looks find whole numbers only; a cast that fails says so for every row, which takes long."""
    looks = range(0, len(column), max(1, len(column) // LOOKS))
    return all(WHOLE.fullmatch(column[at].as_py()) for at in looks)


def _by_text(found: Labels, what: str, start: int) -> Values:
    """The same, text by text: what is not a number among fractions was a number once, or is missing."""
    texts = [text or "" for text in found.texts]
    number = np.array([NUMBER.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    missing = np.array([text.strip().lower() in MISSING for text in texts], dtype=np.bool_)
    comma = np.array([DECIMAL_COMMA.fullmatch(text) is not None for text in texts], dtype=np.bool_)
    whole = all(WHOLE.fullmatch(text) for text in texts)
    if number.all():
        if whole:
            return found
        numbers = np.array([float(text) for text in texts], dtype=np.float64)
        return np.take(numbers, found.codes)
    if (number | missing).all() or "" in texts:
        raise absent(what, start + (found.first(missing) or 0))
    if comma.any() and (comma | number).all():
        first = start + (found.first(comma) or 0)
        raise InputError(
            f"{what}: numbers have a decimal comma; need a decimal point", field=what, index=first
        )
    fractions = any(
        is_number and not WHOLE.fullmatch(text) for text, is_number in zip(texts, number, strict=True)
    )
    if fractions:
        row = start + (found.first(~number) or 0)
        raise MixedTypes(f"{what}: row {row} is text, but others are fractions", field=what, index=row)
    return found
