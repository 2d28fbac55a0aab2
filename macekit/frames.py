"""An answer as a frame of whichever library is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib.util import find_spec
from typing import Any

from macekit.numbers import Row, rows


def frame(operation: str, answer: Mapping[str, Any]) -> Any:
    """The records of a risk answer, the bounds of theory, or else a row for each statement; of pandas, or of Polars."""
    if operation == "individual-risk":
        columns = records(answer)
    else:
        columns = bounds(answer) if answer.get("bounds") else _statements(answer)
    if find_spec("pandas") is not None:
        import pandas as pd

        return pd.DataFrame(columns)
    if find_spec("polars") is not None:
        import polars as pl

        return pl.DataFrame(columns)
    raise ImportError("to_frame needs pandas or Polars; neither is installed")


def records(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """What is said of each record, column by column; without those nobody asked for."""
    return {name: column for name, column in answer["records"].items() if column is not None}


def bounds(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """The bounds of theory, one a row."""
    return {name: [bound[name] for bound in answer["bounds"]] for name in answer["bounds"][0]}


def records_csv(answer: Mapping[str, Any]) -> bytes:
    """The same as CSV, as the service writes them; all columns are numbers or flags: no formula."""
    import pyarrow as pa
    from pyarrow import csv

    sink = pa.BufferOutputStream()
    csv.write_csv(pa.table({name: pa.array(column) for name, column in records(answer).items()}), sink)
    return bytes(sink.getvalue())


def _statements(answer: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    found = rows(answer)
    return {field.name: [getattr(row, field.name) for row in found] for field in fields(Row)}
