"""Bodies as they come over the wire, and how they are asked about."""

import gzip
import io
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from estimators import MaceError
from macekit.call import ARROW, CSV, JSON, NDJSON, NPY, NPZ, PARQUET, Body, Call
from macekit.decoding import blocks, decode, reader_of
from macekit.decoding.body import DecodedBody
from macekit.operation import TABLES
from macekit.problems import Problem

FORMATS = tuple(each for each in TABLES if each != NPZ)
"""Tables that are read in blocks, too."""
REFUSALS = (Problem, MaceError)
SECRET = "s3cret"


def call(
    media_type: str = JSON, encoding: str = "identity", operation: str = "advantage", limit: int = 2**30, **query: str
) -> Call:
    return Call(operation, media_type, encoding, tuple(query.items()), expanded_limit=limit)


def read(body: bytes, *asked: str, **query: Any) -> DecodedBody:
    """What is read of a body, asked about by a `call`."""
    with Body.of(body) as held:
        return decode(call(*asked, **query), held)


def decode_tables(asked: Call, data: memoryview) -> DecodedBody:
    """What is read of a body that holds several tables."""
    return reader_of(asked).whole_tables(asked, data)


def refusal(body: bytes, *asked: str, **query: Any) -> Problem:
    """What is said of a body that is not read, which repeats no secret of it."""
    with pytest.raises(REFUSALS) as caught:
        read(body, *asked, **query)
    problem = Problem.of(caught.value)  # type: ignore[arg-type]
    assert SECRET not in f"{caught.value} {problem.detail} {problem.field}"
    return problem


def counted(body: Body, asked: Call) -> tuple[np.ndarray, np.ndarray]:
    """All blocks of a body, joined."""
    parts = list(blocks(asked, body))
    members, nonmembers = ([part[side] for part in parts if len(part[side])] for side in (0, 1))
    return tuple(np.concatenate(side) if side else np.empty(0) for side in (members, nonmembers))  # type: ignore[return-value]


@contextmanager
def piped(data: bytes) -> Iterator[Body]:
    """A body that comes through a real pipe while it is read."""
    out, into = os.pipe()

    def send() -> None:
        with os.fdopen(into, "wb") as sink, suppress(BrokenPipeError):
            sink.write(data)

    sender = threading.Thread(target=send)
    sender.start()
    body = Body.of_descriptor(out)
    try:
        yield body
    finally:
        body.close()
        sender.join()


def packed(data: bytes, encoding: str) -> bytes:
    if encoding == "gzip":
        return gzip.compress(data, mtime=0)
    if encoding == "zstd":
        return bytes(pa.compress(data, codec="zstd", asbytes=True))
    return data


def table_bytes(columns: Mapping[str, Any], media_type: str) -> bytes:
    """A table in a format, written by that format's own writer."""
    if media_type == NPY:
        arrays = {name: np.asarray(values) for name, values in columns.items()}
        kinds = [(name, array.dtype) for name, array in arrays.items()]
        found = np.empty(len(next(iter(arrays.values()))), dtype=kinds)
        for name, array in arrays.items():
            found[name] = array
        return npy_bytes(found)
    if media_type == NPZ:
        return npz_bytes({name: np.asarray(values) for name, values in columns.items()})
    return arrow_bytes(pa.table(dict(columns)), media_type)


def lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def in_one(body: Mapping[str, Any], media_type: str = CSV, column: str = "table") -> bytes:
    """The tables of a question as one, a column of which says of each row to which it belongs."""
    tables = {name: table for name, table in body.items() if isinstance(table, dict)}
    names = [*next(iter(tables.values()))]
    columns = {name: np.concatenate([table[name] for table in tables.values()]) for name in names}
    columns[column] = np.repeat([*tables], [len(table[names[0]]) for table in tables.values()])
    return table_bytes(columns, media_type)


def arrow_bytes(table: pa.Table, media_type: str = ARROW, batch: int | None = None) -> bytes:
    sink = io.BytesIO()
    if media_type == CSV:
        pyarrow.csv.write_csv(table, sink)
    elif media_type == NDJSON:
        sink.write(lines(*table.to_pylist()))
    elif media_type == PARQUET:
        return parquet_bytes(table, row_group_size=batch)
    elif media_type == ARROW:
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=batch)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=batch)
    return sink.getvalue()


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def npz_bytes(arrays: Mapping[str, Any], compress: bool = False) -> bytes:
    sink = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(sink, **arrays)
    return sink.getvalue()


def npy_bytes(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array, allow_pickle=True)
    return sink.getvalue()


# --- several files in one body ---

Part = tuple[str, str | None, bytes]
"""A name, what its file is called if it is one, and its bytes."""


def form(*parts: Part, boundary: str = "xYz") -> bytes:
    lines = []
    for name, file, content in parts:
        called = "" if file is None else f'; filename="{file}"'
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{called}\r\n\r\n'
        lines.append(head.encode())
        lines += [content, b"\r\n"]
    return b"".join([*lines, f"--{boundary}--\r\n".encode()])
