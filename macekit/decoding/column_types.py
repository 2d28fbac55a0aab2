"""A column of a table as its head alone tells it: its name, and what it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from macekit.decoding.csv_values import BOOLEANS, MISSING, NUMBER
from macekit.decoding.typed import inner_type, is_text

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal["number", "text", "boolean", "other"]

ROWS = 1000
"""Rows of CSV and lines of JSON that are looked at."""

DTYPES: dict[str, Type] = {"b": "boolean", "U": "text", "i": "number", "u": "number", "f": "number"}
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    type: Type
    numbering: bool = False
    """Whether it may number the records: all different whole numbers in text, any where only types are read."""

    @classmethod
    def of_text(cls, name: str, values: Sequence[str]) -> Column:
        """By what text spells, leaving out what is missing."""
        words = [word for value in values if (word := value.strip().lower()) not in MISSING]
        whole = [WHOLE.fullmatch(value.strip()) for value in values]
        numbering = len(values) > 1 and all(whole) and len({int(value) for value in values}) == len(values)
        if words and all(NUMBER.fullmatch(word) for word in words):
            return cls(name, "number", numbering)
        return cls(name, "boolean" if words and BOOLEANS.issuperset(words) else "text", numbering)

    @classmethod
    def of_values(cls, name: str, values: Sequence[object]) -> Column:
        """By the values that are there."""
        present = [value for value in values if value is not None]
        kinds = set(map(type, present))
        whole = kinds == {int} and len(present) == len(values) > 1 and len(set(present)) == len(values)
        if kinds and kinds <= {int, float}:
            return cls(name, "number", whole)
        return cls(name, "text" if kinds == {str} else "boolean" if kinds == {bool} else "other")

    @classmethod
    def of_dtype(cls, name: str, kind: np.dtype[np.generic], plain: bool = True) -> Column:
        """By the type of an array; one that is not ``plain`` is no column."""
        if not plain:
            return cls(name, "other")
        return cls(name, "other" if kind.shape else DTYPES.get(kind.kind, "other"), kind.kind in "iu")

    @classmethod
    def of_schema(cls, schema: pa.Schema) -> list[Column]:
        """All columns of a schema of Arrow's."""
        from pyarrow import types

        return [cls(field.name, _of_type(field.type), types.is_integer(field.type)) for field in schema]


def _of_type(kind: pa.DataType) -> Type:
    from pyarrow import types

    inner = inner_type(kind)
    if types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner):
        return "number"
    return "boolean" if types.is_boolean(inner) else "text" if is_text(inner) else "other"
