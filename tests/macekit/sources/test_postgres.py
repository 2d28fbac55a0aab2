"""A real PostgreSQL: batches by ADBC, the words of macekit.sql run there. Frames of it are in test_frames.py."""

from collections.abc import Iterator
from typing import Any

import pytest
from adbc_driver_postgresql import dbapi

import macekit
from tests.macekit.sources.support import NAMES, table

RECORDS = table()


@pytest.fixture
def cursor(postgres: str) -> Iterator[Any]:
    """Tables that are made here are gone afterwards."""
    with dbapi.connect(postgres) as connection, connection.cursor() as made:
        made.adbc_ingest("runs", RECORDS, mode="replace", temporary=True)
        yield made


def test_batches_of_adbc_are_counted_as_the_table_is(cursor: Any) -> None:
    cursor.execute("select loss, is_train from runs")

    batches = cursor.fetch_record_batch()
    assert macekit.counts(batches, **NAMES)["counts"] == macekit.counts(RECORDS, **NAMES)["counts"]


def test_questions_are_answered_from_batches_of_adbc(cursor: Any) -> None:
    cursor.execute("select loss, is_train, region from runs")

    answer = macekit.risk(cursor.fetch_record_batch(), **NAMES, group="region", top=3).answer

    assert answer == macekit.risk(RECORDS, **NAMES, group="region", top=3).answer


def test_a_null_in_a_batch_of_adbc_is_refused_with_its_row(cursor: Any) -> None:
    cursor.execute("select loss, is_train from runs union all select null, true")

    with pytest.raises(macekit.MaceProblem, match="score: row 3000 has no value"):
        macekit.counts(cursor.fetch_record_batch(), **NAMES)


@pytest.mark.parametrize("member", ["is_train", "part=train"])
def test_the_words_for_postgresql_count_there(cursor: Any, member: str) -> None:
    cursor.execute("alter table runs add part text")
    cursor.execute("update runs set part = case when is_train then 'train' else 'test' end")
    words = macekit.sql("postgres", table="runs", score="loss", member=member)
    first, second, third = words.removesuffix(";\n").split(";\n\n")

    cursor.execute(first)
    ends = cursor.fetch_arrow_table().to_pylist()
    rows = []
    for query in (second, third):
        cursor.execute(query)
        rows.append(cursor.fetch_arrow_table())
    merged = macekit.merged(rows)

    assert sorted(row["n"] for row in ends) == sorted(row["usable"] for row in ends)
    losses, said = RECORDS["loss"].to_pylist(), {row[end] for row in ends for end in ("low", "high")}
    assert said >= {min(losses), max(losses)}
    assert merged["counts"] == macekit.counts(RECORDS, **NAMES)["counts"]


def test_a_table_that_has_gone_is_one_line(postgres: str) -> None:
    import ibis

    database = ibis.connect(postgres)
    with dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("gone", RECORDS)
        connection.commit()
        there = database.table("gone")
        cursor.execute("drop table gone")
        connection.commit()
    try:
        with pytest.raises(macekit.MaceProblem) as problem:
            macekit.counts(there, **NAMES)
    finally:
        database.disconnect()

    assert problem.value.detail.startswith("ibis cannot count this frame: UndefinedTable")
    assert "\n" not in problem.value.detail
