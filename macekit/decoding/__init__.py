"""From bytes to a decoded body: columns of records, and the options of the question.

In reading order: body; columns, bounds, json; roles, table; typed, arrow, parquet, csv, npy; compression around all of
them; pairs, for two bodies, one a side; preview, which reads no more than the columns' names and types.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET, Body, Call
from macekit.catalogue import ARRAYS
from macekit.decoding import arrow, csv, json, npy, parquet
from macekit.decoding.account import Account
from macekit.decoding.body import DecodedBody, column_options
from macekit.decoding.compression import expanded, unpacked
from macekit.decoding.table import check_arrays, sides
from macekit.problems import Problem
from macekit.schemas.query import WIDE

READERS = {
    JSON: json.decode,
    CSV: csv.decode,
    NPY: npy.decode,
    ARROW: arrow.decode,
    ARROW_FILE: arrow.decode,
    PARQUET: parquet.decode,
}
"""Who reads which media type."""


def decode(call: Call, body: Body) -> DecodedBody:
    """The whole body, decoded; raises ``Problem`` or the library's ``MaceError``, nothing else."""
    _require_known(call)
    result = READERS[call.media_type](call, expanded(call, body))
    return check_arrays(call.operation, result) if ARRAYS.get(call.operation) else result


def blocks(
    call: Call, body: Body, account: Account | None = None
) -> Iterator[tuple[NDArray[np.generic], NDArray[np.generic]]]:
    """Members and nonmembers block after block of about a megabyte; either side of a block may be empty.

    ``account`` is told of each block what columns were read.

    Never the whole body, with three exceptions: a Parquet or Arrow file that is compressed or comes through a pipe, for
    its index stands at its end; columns in Fortran order; an Arrow batch, which is read as a whole.
    """
    _require_known(call)
    if column_options(call).unit is not None:
        raise Problem(
            "bad-option", "unit: one record of each cannot be drawn while records are counted", field="unit"
        )
    if column_options(call).members_column is not None or column_options(call).nonmembers_column is not None:
        raise Problem("bad-option", f"{' and '.join(WIDE)}: such a table is read as a whole", field=WIDE[0])
    if len(column_options(call).score) > 1:
        raise Problem("bad-option", "score: rows of numbers cannot be counted block by block", field="score")
    limit = call.expanded_limit
    values: set[str] = set()
    if call.media_type == NPY:
        yield from npy.blocks(call, unpacked(call, body), account)
    elif call.media_type == CSV:
        yield from (
            sides(table, layout, limit, values, account)
            for table, layout in csv.blocks(call, unpacked(call, body))
        )
    elif call.media_type == PARQUET:
        yield from (
            sides(table, layout, limit, values, account)
            for table, layout in parquet.blocks(call, expanded(call, body))
        )
    elif call.media_type in (ARROW, ARROW_FILE):
        in_place = call.media_type == ARROW_FILE or (body.seekable and call.encoding == "identity")
        source = expanded(call, body) if in_place else unpacked(call, body)
        yield from (
            sides(table, layout, limit, values, account) for table, layout in arrow.blocks(call, source)
        )
    else:
        raise Problem(
            "unsupported-media-type", "JSON is read as a whole; it cannot be counted block by block"
        )


def _require_known(call: Call) -> None:
    if call.media_type not in READERS:
        raise Problem(
            "unsupported-media-type",
            f"Content-Type: not known here; known are {', '.join(READERS)}",
            field="Content-Type",
        )
