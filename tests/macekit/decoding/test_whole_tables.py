"""Whole tables: one content in every format, missing values kept, several tables in one body."""

import csv
import io
import json
import struct
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from estimators.audits.queries import encode
from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET, Call
from macekit.decoding import reader_of
from macekit.decoding.whole_tables import require_tables
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import arrow_bytes
from tests.macekit.decoding.support import decode_tables as decode

TABLES = ("train", "holdout", "synthetic")

ROWS: dict[str, list[Any]] = {
    "age": [31, 47, 5, 80, 22, 31],
    "income": [2.5, None, 1.0, 4.25, 3.5, 2.5],
    "children": [0, None, 2, 1, None, 3],
    "married": [True, False, True, True, False, True],
    "job": ["baker", None, "judge", "nurse", "baker", "a, b"],
    "code": ["007", "012", "100", "007", "012", "100"],
    "born": [date(1990, 1, 2), date(1975, 5, 6), None, date(1941, 7, 8), date(1999, 9, 9), date(1990, 1, 2)],
    "table": ["train", "train", "holdout", "holdout", "synthetic", "synthetic"],
}


def written(table: pa.Table, media_type: str) -> bytes:
    if media_type != CSV:
        return arrow_bytes(table, media_type)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(table.column_names)
    for row in table.to_pylist():
        writer.writerow("" if value is None else str(value) for value in row.values())
    return text.getvalue().encode()


def as_json() -> bytes:
    tables: dict[str, dict[str, list[Any]]] = {}
    for name in TABLES:
        rows = [place for place, word in enumerate(ROWS["table"]) if word == name]
        tables[name] = {
            column: [value.isoformat() if isinstance(value := values[row], date) else value for row in rows]
            for column, values in ROWS.items()
            if column != "table"
        }
    return json.dumps({**tables, "max_copies_over_holdout": 0}).encode()


@each_case("media_type", [CSV, ARROW, ARROW_FILE, PARQUET, JSON])
def test_a_body_of_three_tables_is_the_same_points_in_every_format(media_type: str) -> None:
    if media_type == JSON:
        body = decode(Call("synthetic", JSON), memoryview(as_json()))
        assert body.options == {"max_copies_over_holdout": 0}
    else:
        call = Call("synthetic", media_type, query=(("max_copies_over_holdout", "0"),))
        body = decode(call, memoryview(written(pa.table(ROWS), media_type)))
        assert body.options == {"max_copies_over_holdout": "0"}
    wanted = decode(Call("synthetic", PARQUET), memoryview(written(pa.table(ROWS), PARQUET))).tables

    tables = encode(*(body.tables[name] for name in TABLES))
    others = encode(*(wanted[name] for name in TABLES))

    numbers = dict.fromkeys(["age", "income", "children", "married"], "number")
    kinds = numbers | {"job": "category", "code": "category", "born": "date"}
    assert {column.name: column.kind for column in tables.columns} == kinds
    for side in ("members", "nonmembers", "synthetic"):
        np.testing.assert_array_equal(getattr(tables, side).points, getattr(others, side).points)


@each_case("texts, values", [
    (["1", "2", ""], [1, 2, None]), (["1.5", "NA", "2"], [1.5, float("nan"), 2.0]),
    (["1", "nan"], [1, None]), (["1.5", "inf"], [1.5, float("inf")]),
    (["TRUE", "false", "n/a"], [True, False, None]), (["007", "8"], ["007", "8"]),
    (["x", "NA", " "], ["x", "NA", None]), ([" 3 ", "+4"], [3, 4]),
    (["18446744073709551616", "1"], [18446744073709551616, 1]), (["", ""], [None, None]),
    (["1e3", "-2"], [1000.0, -2.0]),
])  # fmt: skip
def test_what_a_column_of_csv_spells(texts: list[str], values: list[Any]) -> None:
    body = "name\n" + "".join(f'"{text}"\n' for text in texts)

    column = reader_of(call := Call("synthetic", CSV)).whole_columns(call, memoryview(body.encode()))["name"]

    assert repr(list(column) if isinstance(column, list) else column.tolist()) == repr(values)


MOMENTS = pa.array([datetime(2024, 1, 2, 3), None], pa.timestamp("s", "Europe/Berlin"))


@each_case(
    "column, values",
    (pa.array([1, None], pa.int8()), [1, None]),
    (pa.array([2**64 - 1], pa.uint64()), [2**64 - 1]),
    (pa.array(["a", None]).dictionary_encode(), ["a", None]),
    (pa.array([1.5, None], pa.float16()), [1.5, np.nan]),
    (pa.array([Decimal("1.50"), None]), [Decimal("1.50"), None]),
    (pa.array([None, None]), [None, None]),
    (MOMENTS, np.array(["2024-01-02T03", "NaT"], "datetime64[us]")),
)
@each_case("media_type", [ARROW, PARQUET])
def test_types_are_kept_and_missing_values_too(media_type: str, column: pa.Array, values: Any) -> None:
    body = written(pa.table({"x": column}), media_type)

    found = reader_of(call := Call("synthetic", media_type)).whole_columns(call, memoryview(body))

    np.testing.assert_array_equal(np.asarray(found["x"]), np.asarray(values))


@each_case(
    "media_type, body, detail",
    (CSV, "a,b\n1,2\n", "no column is called table"),
    (CSV, "a,table\n1,train\n2,validation\n", "row 1 is none of train, holdout"),
    (CSV, "a,a,table\n1,2,train\n", "column 1 has the name of another"),
    (CSV, "a,,table\n1,2,train\n", "column 1 has no name"),
    (CSV, "", "the body is empty"),
    (CSV, 'a,table\n"1,train\n', "quote"),
    (JSON, "[]", "no object"),
    (JSON, '{"train": [1]}', "train: need an object"),
    (JSON, '{"train": {"a": 1}}', "train: column 0 is no list"),
    (JSON, '{"train": {"a": [[1]]}}', "train: column 0 holds a list or an object in row 0"),
    (JSON, '{"train": {"": [1]}}', "column 0 has no name"),
    (JSON, '{"train": {"a": [1], "a": [2]}}', "occurs twice"),
    (JSON, '{"train": {"a": ["\\ud800"]}}', "surrogate"),
    (JSON, '{"train": {"a": [1]}', "ended before it was complete"),
)
def test_a_body_that_cannot_be_parted_into_tables_is_refused(media_type: str, body: str, detail: str) -> None:
    with pytest.raises(Problem, match=detail):
        decode(Call("synthetic", media_type), memoryview(body.encode()))


def test_columns_that_are_no_values_and_arrays_are_refused() -> None:
    nested = written(pa.table({"x": pa.array([[1], [2]])}), PARQUET)
    with pytest.raises(Problem, match="column 0 holds nested values"):
        reader_of(call := Call("synthetic", PARQUET)).whole_columns(call, memoryview(nested))
    runs = pa.table({"x": pc.run_end_encode(pa.array([1, 1]))})
    with pytest.raises(Problem, match=r"run-end encoded values .decode them"):
        reader_of(call := Call("synthetic", ARROW)).whole_columns(call, memoryview(written(runs, ARROW)))
    with pytest.raises(Problem, match="a table is needed"):
        reader_of(call := Call("synthetic", NPY)).whole_columns(call, memoryview(b"\x93NUMPY"))
    with pytest.raises(Problem, match="synthetic: is required and missing"):
        require_tables("synthetic", {"train": {}, "holdout": {}})


@each_case("media_type", [ARROW, ARROW_FILE])
def test_a_column_whose_offsets_lead_out_of_it_ends_no_process(media_type: str) -> None:
    body = arrow_bytes(pa.table({"name": ["four"] * 50, "table": ["train"] * 50}), media_type)
    offsets = struct.pack("<4i", 0, 4, 8, 12)
    assert body.count(offsets) >= 1
    damaged = body.replace(offsets, struct.pack("<4i", 0, 4, 2**30, 12))

    with pytest.raises(Problem, match="damaged on the way"):
        reader_of(call := Call("synthetic", media_type)).whole_columns(call, memoryview(damaged))
