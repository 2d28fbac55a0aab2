"""Answers as bytes: JSON without a number that is not finite, and rows as CSV or Arrow."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

Columns = Mapping[str, "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"]


def json_bytes(answer: object) -> bytes:
    """JSON; arrays as lists, masked entries and what is not finite as null.

    Into an array of Python's own, which says so when memory ends; the encoder's own does not, and crashes.
    """
    buffer = bytearray()
    _JSON.encode_into(answer, buffer)
    return bytes(buffer)


def plain(value: object) -> object:
    """An array or a NumPy scalar as Python's own."""
    if isinstance(value, np.ma.MaskedArray) and value.mask is np.ma.nomask:
        return value.data.tolist()
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")


_JSON = msgspec.json.Encoder(enc_hook=plain)


def arrow_bytes(columns: Columns, notes: Mapping[str, str]) -> bytes:
    """Columns as an Arrow stream; ``notes`` travel in the schema's metadata."""
    import pyarrow as pa

    table = pa.table({name: pa.array(np.ma.getdata(c), mask=_mask(c)) for name, c in columns.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata(dict(notes))) as writer:
        writer.write_table(table.replace_schema_metadata(dict(notes)))
    return bytes(sink.getvalue())


def csv_bytes(columns: Columns) -> bytes:
    """Columns as CSV with a header; an unknown value is an empty field. All columns are numbers: no formula."""
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({name: pa.array(np.ma.getdata(c), mask=_mask(c)) for name, c in columns.items()})
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return bytes(sink.getvalue())


def _mask(column: object) -> object:
    return np.ma.getmaskarray(column) if isinstance(column, np.ma.MaskedArray) else None
