"""Columns that nobody named, but which say whose a row is: seen in every format, and never in the way."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from estimators.clusters.dependent_rows import DEPENDENT, says_whose
from macekit.call import ARROW, CSV, NDJSON, NPZ, PARQUET
from macekit.decoding import unnamed_columns as spare
from macekit.decoding.body import DecodedBody
from tests.app.http.asked import TABLES
from tests.cases import each_case
from tests.macekit.decoding import support

FORMATS = [CSV, NDJSON, ARROW, PARQUET, NPZ]


def people(alike: float, seed: int = 0, number: int = 80, rows: int = 5) -> dict[str, NDArray[Any]]:
    """People whose rows are alike by so much, in an order of no meaning."""
    rng = np.random.default_rng(seed)
    person = rng.permutation(np.repeat(np.arange(number), rows))
    shared, own = rng.normal(size=number)[person], rng.normal(size=len(person))
    score = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
    return {"score": score, "member": person % 2 == 0, "patient_id": person}


def read(
    columns: dict[str, Any], media_type: str = CSV, operation: str = "advantage", **query: str
) -> DecodedBody:
    body = TABLES[media_type](pa.table(columns))
    return support.read(body, media_type, operation=operation, **{"score": "score", **query})


@each_case("media_type", FORMATS)
@each_case("text", [False, True])
def test_rows_of_one_label_that_are_alike_are_seen(media_type: str, text: bool) -> None:
    columns = people(0.5)
    if text:
        columns["patient_id"] = np.array([f"p{label}" for label in columns["patient_id"]])
    (caution,) = read(columns, media_type).cautions
    assert caution.code == DEPENDENT
    assert "'patient_id'" in caution.message
    assert "cluster" in caution.message


@each_case("media_type", FORMATS)
def test_another_column_of_membership_that_says_otherwise_is_seen(media_type: str) -> None:
    columns = people(0.0)
    for marks, codes in ((columns["member"], []), (columns["score"] > 0.0, ["membership_contradicted"])):
        for split in (marks, np.where(marks, "train", "test")):
            assert [each.code for each in read({**columns, "split": split}, media_type).cautions] == codes
    assert read({**columns, "split": columns["score"] > 0.0}, media_type, member="member").cautions == ()


def test_text_that_stands_in_an_index_is_read_too() -> None:
    columns: dict[str, Any] = people(0.5)
    texts = pa.array([f"p{label}" for label in columns["patient_id"]]).dictionary_encode()
    assert read({**columns, "patient_id": texts}, PARQUET).cautions


@each_case("query", [{"unit": "patient_id"}, {"cluster": "patient_id"}, {"unit": "row"}])
def test_nothing_is_said_where_it_was_said_whose_the_rows_are(query: dict[str, str]) -> None:
    columns = people(0.5)
    assert read({**columns, "row": np.arange(400)}, **query).cautions == ()


def test_a_vector_is_looked_at_by_its_first_number_and_text_not_at_all() -> None:
    columns = people(0.5)
    more = {**columns, "other": np.random.default_rng(1).normal(size=400)}
    assert read(more, score="score,other").cautions
    assert read({**columns, "score": np.where(columns["score"] > 0, "high", "low")}).cautions == ()


def test_of_several_queries_any_may_show_it() -> None:
    columns = people(0.5)
    more = {**columns, "noise": np.random.default_rng(1).normal(size=400)}
    assert read(more, operation="compare", score="noise,score").cautions
    alike = {**columns, "score": more["noise"], "noise": more["noise"]}
    assert read(alike, operation="compare").cautions == ()


@pytest.mark.slow
@each_case("kind", ["continuous", "rounded", "counts", "two values", "leaking", "heavy tails", "classes"])
def test_independent_rows_raise_no_alarm(kind: str) -> None:
    """None in 60 tables of each of 7 kinds: at the bound of 1 in 10,000 that is seen 96 times in 100."""
    for seed in range(60):
        columns: dict[str, Any] = people(0.0, seed, number=int(20 + 4 * (seed % 30)))
        score, rng = columns["score"], np.random.default_rng(seed)
        if kind == "rounded":
            score = np.round(score, 1)
        elif kind == "counts":
            score = rng.poisson(2.0, len(score))
        elif kind == "two values":
            score = (score > 1.0).astype(np.int64)
        elif kind == "leaking":
            score = score + 2.0 * columns["member"]
        elif kind == "heavy tails":
            score = rng.standard_cauchy(len(score))
        elif kind == "classes":  # rows of one class are alike, and independent
            columns["class_id"] = rng.integers(0, 10, len(score))
            score = score + columns["class_id"]
        assert read({**columns, "score": score, "id": np.arange(len(score))}, ARROW).cautions == (), seed


ODD: dict[str, Any] = {
    "gaps": [None, *range(399)],
    "blanks": ["", *map(str, range(399))],
    "fractions": np.arange(400) / 7,
    "lists": [[1, 2]] * 400,
    "one value": [1] * 400,
    "all different": range(400),
    "dates": np.arange("2020-01", "2053-05", dtype="datetime64[M]").astype("datetime64[s]"),
    "booleans": [True, False] * 200,
    "long": ["x" * 5000, *map(str, range(399))],
    "large": [2**63 + label // 5 for label in range(400)],
}


@pytest.mark.slow
@each_case("kind", sorted(ODD))
@each_case("media_type", [PARQUET, ARROW, NDJSON, CSV])
def test_a_spare_column_is_never_in_the_way(kind: str, media_type: str) -> None:
    columns = people(0.0)
    column = pa.array(ODD[kind], pa.uint64() if kind == "large" else None)
    if (kind == "lists" and media_type == CSV) or (kind == "dates" and media_type == NDJSON):
        column = pa.array([str(value) for value in column.to_pylist()])
    found = read({**columns, "user_id": column}, media_type)
    alone = read({name: columns[name] for name in ("score", "member")}, media_type)
    assert found.cautions == ()
    assert np.array_equal(np.asarray(found.samples[""].members), np.asarray(alone.samples[""].members))


def test_names_that_say_whose_a_row_is() -> None:
    whose = [
        "user_id", "userid", "patientNo", "person", "Document", "recordID", "model", "household_id", "doc-id",
    ]  # fmt: skip
    others = [
        "paid", "bid", "valid", "age", "class_id", "zip_code", "region_id", "identity_score", "batch_id",
    ]  # fmt: skip
    assert [name for name in [*whose, "id", *others, "score"] if says_whose(name)] == [*whose, "id"]


@pytest.mark.slow
def test_only_the_first_rows_of_a_large_table_are_looked_at() -> None:
    """So many rows alone say it, whichever side they are of, and what follows them costs nothing."""
    rng = np.random.default_rng(0)
    number = spare.ROWS + 5000
    person = np.arange(number) // 4
    score = rng.normal(size=number // 4 + 1)[person] + rng.normal(size=number)
    columns = {"score": score, "member": np.arange(number) < spare.ROWS + 1000, "user_id": person}
    for media_type in (CSV, PARQUET, NDJSON):
        (caution,) = read(columns, media_type).cautions
        rows = int(caution.message.split(" labels for ")[1].split()[0])
        assert rows <= spare.ROWS
    late = np.where(np.arange(number) < spare.ROWS, np.arange(number), number)
    assert read({**columns, "user_id": late}, PARQUET).cautions == ()


def test_lists_have_no_spare_columns() -> None:
    body = b'{"members": [1, 2, 3, 4, 5, 6, 7, 8], "nonmembers": [1, 2, 3, 4, 5, 6, 7, 8]}'

    assert support.read(body).cautions == ()
