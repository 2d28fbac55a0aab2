"""From bytes to a decoded body: columns of records, and the options of the question.

In reading order: body; columns, roles, table; format, which is what the readers of every format are: csv, json, jsonl,
npy, npz, arrow, parquet; compression around all of them. ``macekit.formats`` lists the formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import cast

import numpy as np
from numpy.typing import NDArray

from estimators.statement import Caution
from macekit.call import Body, Call
from macekit.catalogue import ARRAYS, BY_NAME, OF_GROUPS
from macekit.decoding import unnamed_columns
from macekit.decoding.body import DecodedBody, column_options
from macekit.decoding.columns import require_text
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded
from macekit.decoding.format import Column, Format
from macekit.decoding.table import check_arrays
from macekit.decoding.unnamed_columns import Look
from macekit.formats import READERS
from macekit.problems import Problem, fault
from macekit.schemas.query_string import WIDE


def reader_of(call: Call) -> Format:
    """The format of a body: the one place that asks for its media type."""
    if call.media_type not in READERS:
        detail = f"not known here; known are {', '.join(READERS)}"
        raise fault("unsupported-media-type", "Content-Type", detail)
    return _format_called(READERS[call.media_type])


@cache
def _format_called(name: str) -> Format:
    return cast("Format", import_module(f"macekit.decoding.{name}").FORMAT)


def decode(call: Call, body: Body) -> DecodedBody:
    """The whole body, decoded; raises ``Problem`` or the library's ``MaceError``, nothing else."""
    reader = reader_of(call)
    data = expanded(call, body)
    if BY_NAME[call.operation].tables:
        return reader.whole_tables(call, data).under_current_names(call.operation)
    result = reader.decode(call, data)
    if ARRAYS.get(call.operation):
        result = check_arrays(call.operation, result)
    elif unnamed_columns.wanted(result):
        result = replace(result, cautions=(*cautions_of(call, data, result), *result.cautions))
    return result.under_current_names(call.operation)


def cautions_of(call: Call, data: memoryview, result: DecodedBody) -> tuple[Caution, ...]:
    """What is odd about rows that share a label of a column that nobody named; ``result`` is the rest of the body."""
    rows = 0 if result.rows is None else len(result.rows)
    columns = unnamed_columns.first_labels(reader_of(call).first_labels, call, data, rows)
    codes = {name: each.codes for name, each in columns.items()}
    return unnamed_columns.cautions(codes, result, by_step=call.operation in OF_GROUPS)


def preview(call: Call, body: Body) -> list[Column]:
    """The columns of the table a body begins with; none if it is an array whose columns have no names."""
    columns = reader_of(call).preview(call, body)
    require_text([column.name for column in columns], "columns")
    return columns


def blocks(
    call: Call, body: Body, recorder: ColumnRecorder | None = None, look: Look | None = None
) -> Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]:
    """Members and nonmembers block after block of about a megabyte; either side of a block may be empty.

    ``recorder`` and ``look`` are told of each. Never the whole body, with the exceptions of ``tables``.
    """
    reader = reader_of(call)
    _require_countable(call)
    yield from reader.blocks(call, body, recorder, look)


def _require_countable(call: Call) -> None:
    """Refuse columns that need all records at once."""
    options = column_options(call)
    wide = options.members_column is not None or options.nonmembers_column is not None
    whole = "send the records whole"
    reasons = (
        (options.unit is not None, "unit", "unit: one record of each cannot be drawn while records are counted"),
        (bool(options.cluster), "cluster", f"cluster: counts do not say whose a row is; {whole}"),
        (options.model is not None, "model", f"model: counts do not say which model scored a row; {whole}"),
        (wide, WIDE[0], f"{' and '.join(WIDE)}: such a table is read as a whole"),
        (len(options.score) > 1, "score", "score: rows of numbers cannot be counted block by block"),
    )
    for is_asked, field, detail in reasons:
        if is_asked:
            raise Problem("bad-option", detail, field=field)
