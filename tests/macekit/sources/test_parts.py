"""Counts of batches, made anywhere and in any order, are those of all records together."""

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macekit
from tests.cases import each_case
from tests.macekit.sources.support import NAMES, table

RECORDS = table(2000)

FORMS: dict[str, Callable[[pa.RecordBatch], Any]] = {
    "batch": lambda batch: batch,
    "pandas": lambda batch: batch.to_pandas(),
    "polars": pl.from_arrow,
    "columns": lambda batch: batch.to_pydict(),
}


@pytest.mark.parametrize("form", FORMS)
def test_parts_of_any_form_are_merged_to_all(form: str) -> None:
    parts = [macekit.partial(FORMS[form](batch), **NAMES) for batch in RECORDS.to_batches(170)]

    merged = macekit.merged(reversed(parts))

    whole = macekit.counts(RECORDS, **NAMES)
    assert merged["counts"] == whole["counts"]
    assert merged["input_sha256"] == whole["input_sha256"]


def test_rows_may_be_summed_on_the_way() -> None:
    rows = pa.concat_tables(macekit.partial(batch, **NAMES) for batch in RECORDS.to_batches(170))

    summed = duckdb.sql(
        "select kind, exponent, key, sum(members) as members, sum(nonmembers) as nonmembers from rows group by all"
    )

    assert len(summed) < len(rows)
    for each in (summed, rows.to_pylist(), rows.to_pandas(), rows.to_batches(99), pl.from_arrow(rows)):
        assert macekit.merged(each)["counts"] == macekit.counts(RECORDS, **NAMES)["counts"]


SPECIAL = st.sampled_from([-0.0, 5e-324, -5e-324, 1e300, -1e300, 1.7e308])
NUMBERS = st.one_of(SPECIAL, st.floats(allow_nan=False, allow_infinity=False))
INTEGERS = st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**64 - 1), st.integers(2**53, 2**53 + 3))
BLOCKS = st.one_of(
    *(
        st.lists(st.lists(st.tuples(values, st.booleans()), max_size=8), max_size=6)
        for values in (
            NUMBERS, INTEGERS, st.integers(0, 3), st.sampled_from(["a", "A", "ä", "日"]), st.booleans(),
        )
    )
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=60)
@given(blocks=BLOCKS, order=st.randoms(use_true_random=False))
def test_the_law(blocks: list[list[tuple[Any, bool]]], order: Any) -> None:
    records = [record for block in blocks for record in block]
    twice = records * 2  # so that no category has a record of its own

    def arrow(some: list[tuple[Any, bool]]) -> pa.RecordBatch:
        scores = [score for score, _ in some]
        big = all(type(score) is int for score in scores) and max(scores, default=0) >= 2**63
        kind = (pa.uint64() if min(scores) >= 0 else pa.decimal128(38, 0)) if big else None
        return pa.record_batch({"score": pa.array(scores, kind), "member": pa.array([m for _, m in some], pa.bool_())})

    parts = [macekit.partial(arrow(block)) for block in blocks + blocks if block]
    order.shuffle(parts)

    def outcome(ask: Callable[[], Any]) -> object:
        try:
            counts = ask()["counts"]
            counts["cells"].pop("frequent", None)  # what is frequent in a small part need not be in all
            return counts
        except macekit.MaceProblem as problem:
            return problem.kind

    assert outcome(lambda: macekit.merged(parts)) == outcome(lambda: macekit.counts(iter([arrow(twice)])))


def test_integers_and_fractions_meet_on_the_grid() -> None:
    whole = pa.record_batch({"score": np.arange(50), "member": [True, False] * 25})
    parts = pa.record_batch({"score": np.arange(50) / 8, "member": [True, False] * 25})

    merged = macekit.merged([macekit.partial(whole), macekit.partial(parts)])

    assert merged["counts"] == macekit.counts(iter([whole, parts]))["counts"]
    assert merged["counts"]["cells"]["kind"] == "grid"


def test_integers_on_the_grid_as_asked() -> None:
    batch = pa.record_batch({"score": np.arange(50), "member": [True, False] * 25})

    merged = macekit.merged([macekit.partial(batch, query="continuous")])

    assert merged["counts"] == macekit.counts(pa.table(batch), query="continuous")["counts"]


def test_nothing_and_one_side_are_parts() -> None:
    empty = RECORDS.slice(0, 0)
    sides = [RECORDS.filter(pa.compute.equal(RECORDS["is_train"], each)) for each in (True, False)]

    assert len(macekit.partial(empty, **NAMES)) == 0
    merged = macekit.merged([macekit.partial(each, **NAMES) for each in (empty, *sides)])
    assert merged["counts"] == macekit.counts(RECORDS, **NAMES)["counts"]
    with pytest.raises(macekit.MaceProblem) as problem:
        macekit.merged([macekit.partial(sides[0], **NAMES)])
    assert problem.value.kind == "too-few-records"


@each_case(
    "batch, kind",
    ({"score": [0.5, None], "member": [True, False]}, "not-finite"),
    ({"score": [0.5, float("nan")], "member": [True, False]}, "not-finite"),
    ({"score": [0.5, 1.0], "member": [True, None]}, "not-finite"),
    ({"score": [0.5, 1.0], "member": [1, 2]}, "bad-records"),
    ({"score": [0.5, 1.0]}, "missing-field"),
    ([0.5, 1.0], "wrong-type"),
)
def test_a_batch_at_fault_is_refused(batch: Any, kind: str) -> None:
    with pytest.raises(macekit.MaceProblem) as problem:
        macekit.partial(batch)
    assert problem.value.kind == kind


ROW = {"kind": "grid", "exponent": 0, "key": "1", "members": 5, "nonmembers": 5}


@pytest.mark.parametrize(("rows", "kind"), [
    (3, "wrong-type"), ([3], "wrong-type"), ([], "too-few-records"),
    (pa.table({"kind": ["grid"]}), "missing-field"), ([ROW | {"kind": "boxes"}], "unknown-name"),
    ([ROW | {"key": "one"}], "bad-counts"), ([ROW | {"key": str(2**70)}], "bad-counts"),
    ([ROW, ROW | {"kind": "frequent", "key": "one"}], "bad-counts"),
    ([ROW, ROW | {"kind": "frequent", "key": "nan"}], "bad-counts"),
    ([ROW | {"members": None}], "bad-counts"), ([ROW | {"members": 0.5}], "bad-counts"),
    ([ROW | {"members": -5}, ROW | {"members": 50}], "bad-counts"),
    ([ROW, ROW | {"kind": "text"}], "mixed-types"),
])  # fmt: skip
def test_rows_that_are_none_of_partials_are_refused(rows: Any, kind: str) -> None:
    with pytest.raises(macekit.MaceProblem) as problem:
        macekit.merged(rows)
    assert problem.value.kind == kind


SIDES = [True, False, True]


@each_case("score, kind, field, index", [
    ([0.123456, "secret", 2.0], "mixed-types", "score", 1), ([1.0, 2.0, 0.123456j], "wrong-type", "score", 2),
    ([0.123456, 2.0], "dimension-mismatch", "member", None), ([[0.123456, 2.0], 3.0, 4.0], "mixed-types", "score", 1),
    ([1, 2, 10**30], "bad-records", "score", 2), (0.123456, "wrong-type", "score", None),
    ("abc", "wrong-type", "score", None), ([1.0, np.ma.masked, 2.0], "not-finite", "score", 1),
    (np.full((3, 2), 0.123456), "bad-records", "score", None), ({"secret": 0.123456}, "wrong-type", "score", None),
])  # fmt: skip
@each_case("ask", [macekit.partial, lambda batch: macekit.counts_by(batch | {"by": list("aba")}, "by")])
def test_what_arrow_refuses_is_refused_in_our_words_and_no_value_is_repeated(score, kind, field, index, ask) -> None:
    with pytest.raises(macekit.MaceProblem) as caught:
        ask({"score": score, "member": SIDES})

    assert (caught.value.kind, caught.value.field, caught.value.index) == (kind, field, index)
    assert not any(value in str(caught.value) for value in ("0.123456", "secret", "1" + 30 * "0"))


def test_columns_that_are_not_counted_may_hold_anything() -> None:
    batch = {"score": [1.0, 2.0, 3.0], "member": SIDES}

    assert macekit.partial({"note": [1, "a", 1j], **batch}).equals(macekit.partial(batch))
