"""From bytes to a decoded body: columns of records, and the options of the question.

In reading order: body; columns, bounds, json; roles, table; typed, arrow, parquet, csv, jsonl, npy, npz; compression
around all of them; pairs, for two bodies, one a side; preview, which reads no more than the columns' names and types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Body, Call
from macekit.catalogue import ARRAYS, BY_NAME
from macekit.decoding import arrow, csv, json, jsonl, npy, npz, parquet
from macekit.decoding import unnamed_columns as spare
from macekit.decoding import whole_tables as whole
from macekit.decoding.body import DecodedBody, column_options
from macekit.decoding.columns_read import ColumnRecorder
from macekit.decoding.compression import expanded, unpacked
from macekit.decoding.roles import Roles
from macekit.decoding.table import Table, check_arrays, sides
from macekit.problems import Problem
from macekit.schemas.query_string import WIDE

READERS = {
    JSON: json.decode,
    CSV: csv.decode,
    NDJSON: jsonl.decode,
    NPY: npy.decode,
    NPZ: npz.decode,
    ARROW: arrow.decode,
    ARROW_FILE: arrow.decode,
    PARQUET: parquet.decode,
}
"""Who reads which media type."""


def decode(call: Call, body: Body) -> DecodedBody:
    """The whole body, decoded; raises ``Problem`` or the library's ``MaceError``, nothing else."""
    return _decode(call, body).under_current_names(call.operation)


def _decode(call: Call, body: Body) -> DecodedBody:
    _require_known(call)
    if BY_NAME[call.operation].tables:
        return whole.decode(call, expanded(call, body))
    data = expanded(call, body)
    result = READERS[call.media_type](call, data)
    if ARRAYS.get(call.operation):
        return check_arrays(call.operation, result)
    return replace(result, cautions=spare.cautions_of(call, data, result)) if spare.wanted(result) else result


def blocks(
    call: Call, body: Body, recorder: ColumnRecorder | None = None
) -> Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]:
    """Members and nonmembers block after block of about a megabyte; either side of a block may be empty.

    ``recorder`` is told of each block what columns were read. Never the whole body, with the exceptions of ``tables``.
    """
    _require_known(call)
    _require_countable(call)
    if call.media_type == NPY:
        yield from npy.blocks(call, unpacked(call, body), recorder)
        return
    values: set[str] = set()
    for table, layout in tables(call, body):
        yield sides(table, layout, call.expanded_limit, values, recorder)


def tables(call: Call, body: Body) -> Iterator[tuple[Table, Roles]]:
    """The columns in use block after block of about a megabyte, and what they are.

    Never the whole body, with three exceptions: a Parquet or Arrow file that is compressed or comes through a pipe, for
    its index stands at its end; columns in Fortran order; an Arrow batch, which is read as a whole.
    """
    _require_known(call)
    if call.media_type == NPY:
        yield from npy.tables(call, unpacked(call, body))
    elif call.media_type == CSV:
        yield from csv.blocks(call, unpacked(call, body))
    elif call.media_type == NDJSON:
        yield from jsonl.blocks(call, unpacked(call, body).read)
    elif call.media_type == PARQUET:
        yield from parquet.blocks(call, expanded(call, body))
    elif call.media_type in (ARROW, ARROW_FILE):
        in_place = call.media_type == ARROW_FILE or (body.seekable and call.encoding == "identity")
        yield from arrow.blocks(call, expanded(call, body) if in_place else unpacked(call, body))
    else:
        raise Problem(
            "unsupported-media-type",
            "JSON and NPZ are read as a whole; they cannot be counted block by block",
        )


def _require_countable(call: Call) -> None:
    """Refuse columns that need all records at once."""
    options = column_options(call)
    if options.unit is not None:
        raise Problem(
            "bad-option", "unit: one record of each cannot be drawn while records are counted", field="unit"
        )
    if options.cluster:
        raise Problem(
            "bad-option", "cluster: counts do not say whose a row is; send the records whole", field="cluster"
        )
    if options.model is not None:
        raise Problem(
            "bad-option",
            "model: counts do not say which model scored a row; send the records whole",
            field="model",
        )
    if options.members_column is not None or options.nonmembers_column is not None:
        raise Problem("bad-option", f"{' and '.join(WIDE)}: such a table is read as a whole", field=WIDE[0])
    if len(options.score) > 1:
        raise Problem("bad-option", "score: rows of numbers cannot be counted block by block", field="score")


def _require_known(call: Call) -> None:
    if call.media_type not in READERS:
        raise Problem(
            "unsupported-media-type",
            f"Content-Type: not known here; known are {', '.join(READERS)}",
            field="Content-Type",
        )
