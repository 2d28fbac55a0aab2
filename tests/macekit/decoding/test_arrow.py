"""Typed columns keep their kind, and what is neither number nor text is refused by its kind."""

from __future__ import annotations

import datetime as dt
import decimal
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from estimators.errors import InputError, NotFinite
from macekit.call import ARROW, ARROW_FILE, PARQUET
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, arrow_bytes, read

MEMBER = pa.array([True, False] * 20)
NUMBERS = list(range(40))
FORMS = (ARROW, ARROW_FILE, PARQUET)


def ask(column: Any, media_type: str = ARROW, **more: Any) -> Any:
    table = pa.table({"score": column, "member": MEMBER})
    return read(arrow_bytes(table, media_type, **more), media_type).samples[""].members


QUARTERS = [i / 4 for i in NUMBERS]
TEXTS = [f"t{i % 3}" for i in NUMBERS]
WIDTHS = (pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64())
COLUMNS: dict[str, pa.Array | pa.ChunkedArray] = {
    **{str(width): pa.array(np.array(NUMBERS, width.to_pandas_dtype()), width) for width in WIDTHS},
    "booleans": pa.array([True] * 40),
    "decimals": pa.array([decimal.Decimal(i) / 4 for i in NUMBERS], pa.decimal128(10, 2)),
    "numbers in a dictionary": pa.array(QUARTERS).dictionary_encode(),
    "numbers in chunks": pa.chunked_array([pa.array(QUARTERS[:7]), pa.array(QUARTERS[7:])]),
    "text": pa.array(TEXTS),
    "large text": pa.array(TEXTS, pa.large_string()),
    "views of text": pa.array(TEXTS, pa.string_view()),
    "text in a dictionary": pa.array(TEXTS).dictionary_encode(),
    "text in two dictionaries": pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (TEXTS[:9], TEXTS[:8:-1])]
    ),
}


@each_case("media_type", FORMS)
@each_case("name", COLUMNS)
def test_values_are_what_they_are_in_any_width_and_dress(media_type: str, name: str) -> None:
    column = COLUMNS[name]
    if media_type == ARROW_FILE and isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries()  # a file holds one dictionary for each column

    found = ask(column, media_type)

    assert found.tolist() == column.to_pylist()[::2]
    assert not pa.types.is_primitive(column.type) or found.dtype == column.type.to_pandas_dtype()


class Labelled(pa.ExtensionType):
    def __init__(self) -> None:
        super().__init__(pa.float64(), "s3cret.type")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Labelled:
        return cls()


STRANGE = [
    (pa.array([dt.datetime(2024, 1, 1)] * 40), "times"),
    (pa.array([dt.date(2024, 1, 1)] * 40), "times"),
    (pa.array([1] * 40, pa.duration("s")), "times"),
    (pa.array([[1.0]] * 40), "nested"),
    (pa.array([[1.0, 2.0]] * 40, pa.list_(pa.float64(), 2)), "nested"),
    (pa.array([{"s3cret": 1}] * 40), "nested"),
    (pa.array([b"s3cret"] * 40), "another type"),
    (pa.ExtensionArray.from_storage(Labelled(), pa.array([1.0] * 40)), "extension"),
]


@each_case("media_type", [ARROW, PARQUET])
@each_case("column, match", STRANGE)
def test_a_column_of_anything_else_is_refused_by_its_kind(media_type: str, column: Any, match: str) -> None:
    pa.register_extension_type(Labelled())
    try:
        with pytest.raises(InputError, match=match) as caught:
            ask(column, media_type)
    finally:
        pa.unregister_extension_type("s3cret.type")

    assert caught.value.field == "score"
    assert "s3cret" not in str(caught.value)


@each_case("media_type", FORMS)
@each_case(
    "column",
    pa.array([None if i == 9 else float(i) for i in NUMBERS]),
    pa.array([None if i == 9 else "a" for i in NUMBERS]),
    pa.array([None if i == 9 else "a" for i in NUMBERS]).dictionary_encode(),
    pa.chunked_array([pa.array([1, 2, 3]), pa.array([None if i == 9 else i for i in NUMBERS[3:]])]),
)
def test_a_value_that_is_missing_names_its_row(media_type: str, column: Any) -> None:
    with pytest.raises(NotFinite, match="row 9 has no value") as caught:
        ask(column, media_type)

    assert caught.value.index == 9


def test_a_dictionary_that_holds_nothing_is_missing_where_it_is_used_and_no_type_from_its_first_row() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 5 + [1] + [0] * 34), pa.array(["a", None]))

    for nothing, row in ((column, 5), (pa.nulls(40), 0)):
        with pytest.raises(NotFinite, match=f"row {row} has no value"):
            ask(nothing)


@each_case("media_type", FORMS)
def test_two_columns_of_one_name_are_refused_if_that_name_is_used(media_type: str) -> None:
    twice = pa.table([pa.array(NUMBERS), pa.array(NUMBERS), MEMBER], names=["score", "score", "member"])
    beside = pa.table([pa.array(NUMBERS), MEMBER, MEMBER, MEMBER], names=["score", "x", "x", "member"])

    with pytest.raises(Problem):
        read(arrow_bytes(twice, media_type), media_type)
    found = read(arrow_bytes(beside, media_type), media_type).samples[""].members

    assert list(found) == NUMBERS[::2]  # type: ignore[arg-type]


def test_a_stream_without_its_end_marker_is_incomplete() -> None:
    body = arrow_bytes(pa.table({"score": NUMBERS, "member": MEMBER}), batch=10)

    with pytest.raises(Problem, match="end marker") as caught:
        read(body[:-8], ARROW)
    assert caught.value.kind.slug == "incomplete-body"
    with pytest.raises(Problem, match="follows"):
        read(body + body[-8:], ARROW)


def test_a_body_of_other_bytes_is_malformed_and_an_empty_one_incomplete() -> None:
    for media_type in FORMS:
        with pytest.raises(Problem) as caught:
            read(b"", media_type)
        assert caught.value.kind.slug == "incomplete-body"
        with pytest.raises(REFUSALS):
            read(b"s3cret" * 100, media_type)


def test_neither_compressed_batches_nor_a_parquet_file_expand_beyond_the_limit() -> None:
    table = pa.table({"score": np.zeros(10**6), "member": np.arange(10**6) % 2 == 0})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)

    for body, media_type in ((sink.getvalue(), ARROW), (arrow_bytes(table, PARQUET), PARQUET)):
        assert len(body) < 2**20
        with pytest.raises(Problem, match="expand"):
            read(body, media_type, limit=2**20)
