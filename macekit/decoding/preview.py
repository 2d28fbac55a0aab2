"""The columns of a table from its head alone: their names and what they hold, read off the first bytes of a file.

Of CSV, JSON lines, NPY and Arrow the beginning is enough, wherever it is cut off; of Parquet it is the footer, which
may come with the rows cut out from between, and of NPZ all of it.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Literal

import numpy as np

from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, NPY, NPZ, PARQUET, Body, Call
from macekit.decoding import jsonl, npz
from macekit.decoding.arrow import NAME as ARROW_NAME
from macekit.decoding.columns import refusals, require_text
from macekit.decoding.compression import expanded, head
from macekit.decoding.csv import BLOCK, header
from macekit.decoding.csv_values import BOOLEANS, MISSING, NUMBER
from macekit.decoding.npy import read_header
from macekit.decoding.parquet import NAME as PARQUET_NAME
from macekit.formats import ARROW_MAGIC
from macekit.problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

Type = Literal["number", "text", "boolean", "other"]

ROWS = 1000
"""Rows of CSV and lines of JSON that are looked at."""

LONGEST_SCHEMA = 2**24
DTYPES: dict[str, Type] = {"b": "boolean", "U": "text", "i": "number", "u": "number", "f": "number"}
WHOLE = re.compile(r"[+-]?[0-9]{1,30}")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    type: Type
    numbering: bool = False
    """Whether it may number the records: all different whole numbers in text, any where only types are read."""


def columns(call: Call, body: Body) -> list[Column]:
    """The columns of the table a body begins with; none if it is an array whose columns have no names."""
    if call.media_type not in HEADS:
        raise Problem(
            "unsupported-media-type",
            f"Content-Type: a table is needed, one of {', '.join(HEADS)}",
            field="Content-Type",
        )
    head_columns = HEADS[call.media_type](call, body)
    require_text([column.name for column in head_columns], "columns")
    return head_columns


def _csv(call: Call, body: Body) -> list[Column]:
    start = head(call, body, BLOCK)
    names, separator, size = header(start)
    text = start[size:].decode(errors="replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    sample = [row for row in _readable(islice(rows, ROWS)) if row]
    if len(sample) > 1 and len(sample) < ROWS and not text.endswith(("\n", "\r")):
        sample.pop()  # the last row may be cut off
    values = [[row[at] for row in sample if at < len(row)] for at in range(len(names))]
    return [
        Column(name, _type_of_text(column), _all_different(column))
        for name, column in zip(names, values, strict=True)
    ]


def _readable(rows: Iterable[list[str]]) -> Iterable[list[str]]:
    """Rows up to the first that is none: whoever reads all of them will say what is wrong."""
    try:
        yield from rows
    except csv.Error:
        return


def _type_of_text(values: list[str]) -> Type:
    """What text spells, leaving out what is missing."""
    words = [word for value in values if (word := value.strip().lower()) not in MISSING]
    if words and all(NUMBER.fullmatch(word) for word in words):
        return "number"
    return "boolean" if words and BOOLEANS.issuperset(words) else "text"


def _all_different(values: list[str]) -> bool:
    """Whether text spells whole numbers of which no two are the same."""
    whole = [WHOLE.fullmatch(value.strip()) for value in values]
    return len(values) > 1 and all(whole) and len({int(value) for value in values}) == len(values)


def _jsonl(call: Call, body: Body) -> list[Column]:
    start = head(call, body, BLOCK).removeprefix(jsonl.BOM)
    lines = [(number, line) for number, line in enumerate(start.split(b"\n"), 1) if line.strip(jsonl.BLANK)]
    if len(lines) > 1 and lines[-1][0] > start.count(b"\n"):
        lines.pop()  # the last line may be cut off
    if not lines:
        raise Problem("incomplete-body", "the body is empty; need a JSON object a line for each record")
    records = [jsonl.record_of(line, number, row) for row, (number, line) in enumerate(lines[:ROWS])]
    names = dict.fromkeys(name for record in records for name in record)
    return [_of_values(name, [record.get(name) for record in records]) for name in names]


def _of_values(name: str, values: list[object]) -> Column:
    """A column by the values that are there."""
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    whole = kinds == {int} and len(present) == len(values) > 1 and len(set(present)) == len(values)
    if kinds and kinds <= {int, float}:
        return Column(name, "number", whole)
    return Column(name, "text" if kinds == {str} else "boolean" if kinds == {bool} else "other")


def _npy(call: Call, body: Body) -> list[Column]:
    stream = io.BytesIO(head(call, body, BLOCK + 16))
    kind = read_header(stream.read).kind
    return [Column(name, _of_dtype(kind[name]), kind[name].kind in "iu") for name in kind.names or ()]


def _npz(call: Call, body: Body) -> list[Column]:
    arrays = npz.headers(expanded(call, body), call.expanded_limit)
    return [
        Column(
            name,
            _of_dtype(header.kind) if len(header.shape) == 1 else "other",
            len(header.shape) == 1 and header.kind.kind in "iu",
        )
        for name, header in arrays
    ]


def _of_dtype(kind: np.dtype[np.generic]) -> Type:
    return "other" if kind.shape else DTYPES.get(kind.kind, "other")


def _arrow(call: Call, body: Body) -> list[Column]:
    import pyarrow as pa

    start = head(call, body, LONGEST_SCHEMA)
    if not start:
        raise Problem("incomplete-body", f"the body is empty; need {ARROW_NAME}")
    if start.startswith(ARROW_MAGIC):
        start = start[8:]  # a file holds a stream, after its magic and two bytes
    with refusals(ARROW_NAME):
        return _of_schema(pa.ipc.read_schema(pa.py_buffer(start)))


def _parquet(call: Call, body: Body) -> list[Column]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = expanded(call, body)
    if not len(whole):
        raise Problem("incomplete-body", f"the body is empty; need {PARQUET_NAME}")
    with refusals(PARQUET_NAME):
        return _of_schema(pq.read_schema(pa.BufferReader(pa.py_buffer(whole))))


def _of_schema(schema: pa.Schema) -> list[Column]:
    from pyarrow import types

    return [Column(field.name, _of_type(field.type), types.is_integer(field.type)) for field in schema]


def _of_type(kind: pa.DataType) -> Type:
    from pyarrow import types

    inner = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(inner) or types.is_floating(inner) or types.is_decimal(inner):
        return "number"
    if types.is_boolean(inner):
        return "boolean"
    return (
        "text"
        if types.is_string(inner) or types.is_large_string(inner) or types.is_string_view(inner)
        else "other"
    )


HEADS: dict[str, Callable[[Call, Body], list[Column]]] = {
    CSV: _csv,
    NDJSON: _jsonl,
    NPY: _npy,
    NPZ: _npz,
    ARROW: _arrow,
    ARROW_FILE: _arrow,
    PARQUET: _parquet,
}
"""Who reads the head of which format."""
