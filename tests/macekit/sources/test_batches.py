"""What gives Arrow batches is counted as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import macekit
from macekit.sources import reading
from tests.macekit.sources.support import NAMES, folder, table

RECORDS = table()


class Lines:
    """A data set of Hugging Face's kind: formats, and batches of tables."""

    def with_format(self, name: str) -> Lines:
        assert name == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        yield from (RECORDS.slice(at, 700) for at in range(0, len(RECORDS), 700))


class Capsule:
    """Whatever speaks Arrow's protocol of streams, such as a reader of ADBC."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return RECORDS.__arrow_c_stream__(requested_schema)


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dataset": lambda path: ds.dataset(folder(path, RECORDS), partitioning="hive"),
    "scanner": lambda path: ds.dataset(folder(path, RECORDS)).scanner(columns=[*NAMES.values()]),
    "reader": lambda _: RECORDS.to_reader(500),
    "batches": lambda _: RECORDS.to_batches(500),
    "iterator of batches": lambda _: iter(RECORDS.to_batches(500)),
    "iterator of frames": lambda _: (pl.from_arrow(RECORDS.slice(at, 1000)) for at in range(0, len(RECORDS), 1000)),
    "batches in another order": lambda _: (
        batch.select(["is_train", "loss"] if place % 2 else ["loss", "region", "is_train"])
        for place, batch in enumerate(RECORDS.to_batches(500))
    ),
    "data set": lambda _: Lines(),
    "capsule": lambda _: Capsule(),
    "lazy frame": lambda _: pl.from_arrow(RECORDS).lazy().filter(pl.col("loss") > -100),  # type: ignore[union-attr]
    "relation": lambda _: duckdb.connect().from_arrow(RECORDS).filter("loss > -100"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOURCES)
def test_batches_are_counted_as_the_table_is(kind, tmp_path, monkeypatch) -> None:
    whole = macekit.counts(RECORDS, **NAMES)

    assert macekit.counts(SOURCES[kind](tmp_path), **NAMES)["counts"] == whole["counts"]
    found = macekit.estimate(SOURCES[kind](tmp_path), **NAMES).answer
    assert found == macekit.estimate(RECORDS, **NAMES).answer

    monkeypatch.setattr(reading, "LARGE", 10_000)
    counted = macekit.estimate(SOURCES[kind](tmp_path), **NAMES)
    assert counted.advantage == macekit.estimate(counts=whole["counts"]).advantage


@pytest.mark.parametrize("kind", ["reader", "lazy frame", "relation"])
def test_what_each_record_is_needed_for_is_answered_of_few(kind: str, tmp_path: Path) -> None:
    options = {**NAMES, "group": "region", "top": 3}

    assert macekit.risk(SOURCES[kind](tmp_path), **options).answer == macekit.risk(RECORDS, **options).answer


def test_what_gives_no_batches_is_refused() -> None:
    with pytest.raises(macekit.MaceProblem, match="item 0 is float; need record batches") as problem:
        macekit.counts(iter([1.0, 2.0]))
    assert problem.value.kind == "wrong-type"


def test_a_column_that_is_not_in_all_batches_is_said() -> None:
    batches = [*RECORDS.to_batches(500), pa.record_batch({"loss": [1.0]})]

    with pytest.raises(macekit.MaceProblem, match="member: no column of the 1 has this name"):
        macekit.counts(iter(batches), **NAMES)


@pytest.mark.parametrize("question", [macekit.counts, macekit.estimate])
def test_rows_at_fault_are_numbered_through_all_batches(question: Callable[..., object]) -> None:
    batches = [*RECORDS.to_batches(500), pa.record_batch({"loss": [0.0, None], "is_train": [True, False]})]

    with pytest.raises(macekit.MaceProblem, match="score: row 3001 has no value") as problem:
        question(iter(batches), **NAMES)
    assert (problem.value.kind, problem.value.index) == ("not-finite", 3001)


def test_nothing_at_all_is_too_few() -> None:
    for question in (macekit.counts, macekit.estimate):
        with pytest.raises(macekit.MaceProblem) as problem:
            question(iter([]), **NAMES)
        assert problem.value.kind == "too-few-records"
