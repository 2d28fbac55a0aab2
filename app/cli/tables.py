"""Tables of scores as files: written block by block, in the form of the suffix."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, BinaryIO

from app.cli.inputs import Misuse
from app.cli.outputs import Target

Columns = Mapping[str, Sequence[Any]]
"""Columns of one length by their names, as Python's own values."""

Write = Callable[[Columns], None]


@contextmanager
def table_of(target: Target) -> Iterator[Write]:
    """A function that writes the next rows of a table; each call has the same columns."""
    with target.writing() as file, ExitStack() as stack:
        yield WRITERS[target.suffix](file, stack, target.name)


def _lines(file: BinaryIO, stack: ExitStack, name: str) -> Write:
    def write(columns: Columns) -> None:
        for row in zip(*columns.values(), strict=True):
            file.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False).encode() + b"\n")

    return write


def _csv(file: BinaryIO, stack: ExitStack, name: str) -> Write:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    stack.callback(text.detach)
    rows = csv.writer(text, lineterminator="\n")
    header: list[str] = []

    def write(columns: Columns) -> None:
        if not header:
            header.extend(columns)
            rows.writerow(header)
        rows.writerows(zip(*columns.values(), strict=True))

    return write


def _parquet(file: BinaryIO, stack: ExitStack, name: str) -> Write:
    import pyarrow as pa
    from pyarrow import parquet

    writers: list[parquet.ParquetWriter] = []

    def write(columns: Columns) -> None:
        try:
            table = pa.table(dict(columns), schema=writers[0].schema if writers else None)
        except (pa.ArrowException, OverflowError):
            raise Misuse(f"{name}: a column holds whole numbers that Parquet has no type for") from None
        if not writers:
            writers.append(stack.enter_context(parquet.ParquetWriter(file, table.schema)))
        writers[0].write_table(table)

    return write


def _npz(file: BinaryIO, stack: ExitStack, name: str) -> Write:
    """Arrays of all rows, written once there are no more."""
    import numpy as np

    parts: dict[str, list[Any]] = {}

    def write(columns: Columns) -> None:
        for column, values in columns.items():
            parts.setdefault(column, []).extend(values)

    def save() -> None:
        arrays: dict[str, Any] = {column: np.array(values) for column, values in parts.items()}
        np.savez(file, **arrays)

    stack.callback(save)
    return write


WRITERS: dict[str, Callable[[BinaryIO, ExitStack, str], Write]] = {
    ".jsonl": _lines,
    ".ndjson": _lines,
    ".csv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
}
"""Who writes which suffix."""
