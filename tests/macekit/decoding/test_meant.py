"""What was read is what was meant: read right, or refused with the row or line, and never guessed."""

import io
import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from estimators.errors import InputError
from macekit.call import ARROW, CSV, JSON, NPY, PARQUET, Body
from macekit.decoding import blocks
from macekit.decoding.csv_quotes import Quotes
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, arrow_bytes, call, counted, npy_bytes, parquet_bytes, read, refusal

MEMBER = np.arange(400) % 2 == 0


def rows(values: Any, member: Any = MEMBER) -> bytes:
    lines = (f"{value},{int(side)}" for value, side in zip(values, member, strict=True))
    return ("score,member\n" + "\n".join(lines) + "\n").encode()


def refusals(body: bytes, media_type: str = CSV) -> list[Problem]:
    """What is said of a body, whole and in blocks."""
    with pytest.raises(REFUSALS) as caught:
        list(blocks(call(media_type), Body.of(body)))
    return [refusal(body, media_type), Problem.of(caught.value)]  # type: ignore[arg-type]


def test_blanks_behind_integers_are_no_part_of_them() -> None:
    values = [k % 12 for k in range(400)]
    padded = rows([f"{value} " if side else value for value, side in zip(values, MEMBER, strict=True)])

    found = read(padded, CSV)
    blockwise = counted(Body.of(padded), call(CSV))

    assert list(found.samples[""].members) == values[::2]  # type: ignore[arg-type]
    assert found.columns[0].notes == ("blanks around values dropped",)
    assert [side.tolist() for side in blockwise] == [values[::2], values[1::2]]


@each_case("odd", ["#N/A", ".", "?", "-", '"1 234"', "<5", "7x", "1_0", "0x1F"])
def test_one_odd_token_among_integers_is_named_by_its_row(odd: str) -> None:
    for problem in refusals(rows([*range(150), odd, *range(249)])):
        assert (problem.kind.slug, problem.index) == ("mixed-types", 150)
        assert "row 150 is text, but others are numbers" in problem.detail


def decimals(values: Iterable[int | str], scale: int, wide: int = 38) -> pa.Array:
    return pa.array([Decimal(value) for value in values], pa.decimal128(wide, scale))


@each_case("row", [0, 7])
def test_an_integer_of_more_digits_than_can_be_meant_is_named_by_its_row(row: int) -> None:
    values = [f"+{number}" for number in range(len(MEMBER))]
    values[row] = "+" + "1" * 1001

    for problem in refusals(rows(values)):
        assert (problem.index, problem.detail) == (row, f"score: row {row} has more than 1000 digits")


@each_case("media_type", [ARROW, PARQUET])
def test_decimals_without_a_fraction_are_the_integers_they_are(media_type: str) -> None:
    for first in (10**18, 2**63 - 200, 2**63, 2**64 - 200, -5, 10**30):
        values = [first + k for k in range(400)]
        table = pa.table({"score": decimals(values, 0), "member": MEMBER})

        found = read(arrow_bytes(table, media_type), media_type)

        assert found.samples[""].members.tolist() == values[::2]  # type: ignore[union-attr]
        assert found.columns[0].kind == "integers"
        long = ("integers of more than 64 bits",) if values[-1] >= 2**64 else ()
        assert found.columns[0].notes == ("decimals read as integers", *long)
    hundreds = pa.table({"score": decimals(range(0, 40_000, 100), -2, 9), "member": MEMBER})
    assert read(arrow_bytes(hundreds), ARROW).samples[""].members.tolist() == list(range(0, 40000, 200))  # type: ignore[union-attr]


def test_decimals_with_a_fraction_are_the_nearest_floats() -> None:
    rng = np.random.default_rng(0)
    texts = [f"{rng.integers(10**9)}.{rng.integers(10**9):09d}" for _ in range(398)]
    texts += ["0.000000001", "-0.100000000"]
    table = pa.table({"score": decimals(texts, 9), "member": MEMBER})

    assert read(arrow_bytes(table), ARROW).samples[""].members.tolist() == [float(t) for t in texts[::2]]  # type: ignore[union-attr]


@each_case(
    "text, line",
    ('1,2,"x\n' + "1,2,y\n" * 300, "line 2 opens a quote that is never closed"),
    ("1,2,y\n" * 98 + '1,2,"x\n' + "1,2,y\n" * 300, "line 100 opens a quote"),
    ("1,2,y\n" * 98 + '1,2,"x\n' + "1,2,y\n" * 30 + '1,2,"z"\n', "line 131 has text behind the quote .* line 100"),
    ('1,2,"a, b\n', "line 2 opens a quote"),
    ('1,2, "a, b"\n', "line 2 has blanks between a separator and a quote"),
)
def test_a_quote_that_would_swallow_rows_is_refused_with_its_line(text: str, line: str) -> None:
    for problem in refusals(b"score,member,note\n" + text.encode()):
        assert problem.kind.slug == "malformed-body"
        assert re.search(line, problem.detail)


@each_case("size", [1, 2, 3, 7, 100])
def test_quotes_that_are_closed_are_no_matter_wherever_the_file_is_cut(size: int) -> None:
    text = b'\n1,"a ""b""\nc"\n2,5" pipe\n3,""\n4,""""\n5,"q" \n"6","x"' * 90
    quotes = Quotes(",")

    for at in range(0, len(text), size):
        quotes.feed(text[at : at + size])
    quotes.end()


def test_a_second_header_is_no_record() -> None:
    once = rows(["cat" if k % 3 else "dog" for k in range(400)])

    assert all("row 400 is the header once more" in problem.detail for problem in refusals(once + once))
    assert all("row 400" in problem.detail for problem in refusals(rows(range(400)) + rows(range(400))))


def test_half_floats_in_dictionaries_of_several_batches_are_the_numbers_they_are() -> None:
    halves = [np.array(part, np.float16) for part in ([1.5, -0.0, 2.0], [2.0, 7.25, 1.5])]
    schema = pa.schema([("score", pa.dictionary(pa.int8(), pa.float16())), ("member", pa.bool_())])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for half in halves:
            column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0], pa.int8()), pa.array(half))
            writer.write_batch(pa.record_batch([column, pa.array([True, False] * 2)], schema=schema))

    sample = read(sink.getvalue(), ARROW).samples[""]

    assert list(sample.members) == [1.5, 2.0, 2.0, 1.5]  # type: ignore[arg-type]
    assert list(sample.nonmembers) == [0.0, 1.5, 7.25, 2.0]  # type: ignore[arg-type]


def test_text_that_ends_in_a_nul_is_refused_in_every_format() -> None:
    texts = ["a\0" if k == 6 else "a" for k in range(400)]
    table = pa.table({"score": texts, "member": MEMBER})
    bodies = {
        JSON: b'{"members": ["a", "a\\u0000"], "nonmembers": ["a"]}',
        CSV: rows(texts),
        ARROW: arrow_bytes(table),
        PARQUET: arrow_bytes(table, PARQUET),
    }

    for media_type, body in bodies.items():
        with pytest.raises(InputError, match=r"(row 6|record 1) is text that ends in a NUL"):
            read(body, media_type)


def test_a_parquet_page_that_was_damaged_is_refused() -> None:
    values = np.arange(400) * 1.25 + 0.5
    table = pa.table({"score": values, "member": MEMBER})
    body = parquet_bytes(table, compression="none", use_dictionary=False, write_page_checksum=True)
    assert read(body, PARQUET).samples[""].members.tolist() == values[::2].tolist()  # type: ignore[union-attr]
    at = body.index(values[77].tobytes())
    damaged = body[: at + 7] + bytes([body[at + 7] ^ 1]) + body[at + 8 :]

    for problem in refusals(damaged, PARQUET):
        assert problem.kind.slug == "malformed-body"
        assert "damaged" in problem.detail


def lying(shape: object) -> bytes:
    body = npy_bytes(np.empty((0, 2)))
    said = repr((0, 2)).encode()
    return body.replace(said + b", }" + b" " * 40, f"{shape!r}, }}".encode().ljust(len(said) + 43))


SHAPES = [(0, 10**20), (2**32, 2**32), (10**20, 0), (0, 10**20, 5), (5, 0), (2**40, 3), (0, 2**17)]


@pytest.mark.slow
@each_case("shape", SHAPES)
def test_an_array_is_measured_before_its_columns_get_names(shape: tuple[int, ...]) -> None:
    for operation, query in (
        ("advantage", {}),
        ("theory/pmp-gaussian", {"clip": "1"}),
        ("theory/pmp-gaussian", {"clip": "1", "column": "0"}),
    ):
        with suppress(*REFUSALS):
            sample = read(lying(shape), NPY, operation=operation, **query).samples[""]
            assert [len(side) for side in (sample.members, sample.nonmembers)] == [0, 0]  # type: ignore[arg-type]


@each_case("media_type", [ARROW, PARQUET])
def test_a_table_without_columns_is_no_question_of_theory(media_type: str) -> None:
    with pytest.raises(Problem, match="no columns"):
        read(arrow_bytes(pa.table({}), media_type), media_type, operation="theory/pmp-gaussian", clip="1")
