"""Frames that compute for themselves: counts and refusals of every engine are those of the same table here."""

from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import macekit
from macekit.engines import frames
from tests.cases import each_case
from tests.macekit.sources.conftest import Give
from tests.macekit.sources.support import NAMES, table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis and DuckDB's

RECORDS = table(1000)
SIZE = 400
INSIDE = np.random.default_rng(1).random(SIZE) < 0.5
CODES = np.random.default_rng(2).integers(0, 4, SIZE)


def refused(source: Any, **options: Any) -> macekit.MaceProblem:
    with pytest.raises(macekit.MaceProblem) as problem:
        macekit.counts(source, **options)
    return problem.value


def drawn(values: Any, kind: pa.DataType | None = None) -> pa.Array:
    """Values at random, every one of them often."""
    places = np.random.default_rng(2).integers(0, len(values), SIZE)
    return pa.array([values[place] for place in places], kind)


SCORES = {
    "hostile floats": drawn([-0.0, 0.0, 5e-324, -5e-324, 1e300, -1e300, 0.1, 3.0]),
    "tiny floats": pa.array(np.random.default_rng(3).normal(size=SIZE) * 1e-300),
    "floats of 32 bits": pa.array(np.random.default_rng(3).normal(size=SIZE).astype(np.float32)),
    "one value": pa.array([0.1] * SIZE),
    "integers": drawn([-3, 0, 7, 2**31]),
    "small integers": drawn([-3, 0, 7], pa.int8()),
    "integers beyond 2^53": drawn([2**53, 2**53 + 1, -(2**62) - 1, 5]),
    "truths": drawn([True, False]),
    "text": drawn(["a", "A", "ä", "日本", "", " a"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("scores", SCORES.values(), ids=SCORES)
def test_scores_count_the_same_everywhere(give, scores, request) -> None:
    records = pa.table({"score": scores, "member": INSIDE})

    here, there = macekit.counts(records), macekit.counts(give(records))

    if "hostile" in request.node.name:  # an engine looks for frequent scores at the two ends of a cell alone
        here["counts"]["cells"].pop("frequent")
        there["counts"]["cells"].pop("frequent")
    assert there["counts"] == here["counts"]
    assert there["input_sha256"] == here["input_sha256"]


MEMBERS: dict[str, tuple[list[Any], str]] = {
    "integers": ([0, 1], "member"),
    "floats": ([0.0, 1.0], "member"),
    "words": (["test", "Train"], "member"),
    "a named value": (["spring", "autumn"], "member=autumn"),
    "a named number": ([3, 8], "member=8"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("values", "named"), MEMBERS.values(), ids=MEMBERS)
def test_membership_is_read_as_here(give: Give, values: list[Any], named: str) -> None:
    records = pa.table({"score": SCORES["small integers"], "member": [values[int(each)] for each in INSIDE]})

    here, there = (macekit.counts(source, member=named) for source in (records.to_reader(), give(records)))

    assert there["counts"] == here["counts"]
    assert there["columns"][1] == here["columns"][1]


TINY = SCORES["tiny floats"]


def with_one(column: Any, value: object) -> pa.Array:
    values = pa.array(column).to_pylist()
    values[17] = value
    return pa.array(values)


REFUSED: dict[str, tuple[Any, Any]] = {
    "a null score": (with_one(TINY, None), INSIDE),
    "a score that is NaN": (with_one(TINY, float("nan")), INSIDE),
    "an infinite score": (with_one(TINY, -float("inf")), INSIDE),
    "a null integer": (with_one(SCORES["integers"], None), INSIDE),
    "a null text": (with_one(SCORES["text"], None), INSIDE),
    "a null membership": (TINY, with_one(INSIDE, None)),
    "a third membership": (TINY, with_one(INSIDE.astype(int), 2)),
    "a third word": (TINY, with_one(["in", "out"] * 200, "valid")),
    "three parts": (TINY, with_one(["train", "test"] * 200, "holdout")),
    "one side": (TINY, [True] * SIZE),
    "text that spells numbers": (drawn(["0.5", "1.25%"]), INSIDE),
    "times": (pa.array([0] * SIZE, pa.timestamp("us")), INSIDE),
}


@pytest.mark.slow
@pytest.mark.parametrize(("scores", "member"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_refused_as_here(give: Give, scores: Any, member: Any) -> None:
    records = pa.table({"score": scores, "member": member})

    here, there = refused(records.to_reader()), refused(give(records))

    assert (there.kind, there.field) == (here.kind, here.field)
    assert there.index is None  # rows of an engine have no order


@pytest.mark.slow
def test_questions_are_answered_from_the_counts_and_no_row_is_collected(give: Give) -> None:
    frame, counted = give(RECORDS), macekit.counts(RECORDS, **NAMES)["counts"]

    assert macekit.estimate(frame, **NAMES).advantage == macekit.estimate(counts=counted).advantage
    both = macekit.compare({"one": frame, "two": frame}, **NAMES)
    here = macekit.compare({"one": {"counts": counted}, "two": {"counts": counted}})
    assert [place.advantage.estimate for place in both.ranking] == [here.ranking[0].advantage.estimate] * 2
    risks = (macekit.risk, {}), (macekit.risk, {"group": "region"})
    for question, options in (*risks, (macekit.estimate, {"estimator": {"kind": "kde"}})):
        with pytest.raises(macekit.MaceProblem, match="only counts come back; collect the records"):
            question(frame, **NAMES, **options)


@pytest.mark.slow
def test_what_cannot_be_counted_is_refused_and_a_grid_may_be_asked_for(give: Give) -> None:
    frame = give(RECORDS)
    grid = macekit.counts(RECORDS, **NAMES, cells="grid")["counts"]
    money = pa.array([Decimal("0.10"), Decimal("0.20")] * (SIZE // 2))

    assert macekit.counts(frame, **NAMES, cells="grid")["counts"] == grid
    assert refused(frame, **NAMES, cells="equal_mass").kind == "bad-option"
    assert refused(frame, score="los", member="is_train").kind == "unknown-name"
    assert "cast it" in refused(give(pa.table({"score": money, "member": INSIDE}))).detail


@pytest.mark.slow
@each_case(
    "scores, words",
    (pd.Categorical(CODES), "categories of type int64; cast it"),
    (pd.Categorical(CODES / 4), "categories of type double; cast it"),
    (pd.Categorical(CODES > 1), "categories of type bool; cast it"),
    ([date(2020, 1, int(code) + 1) for code in CODES], "made of date objects, which Dask writes as text; cast it"),
    ([Decimal(int(code)) for code in CODES], "made of decimal objects, which Dask writes as text; cast it"),
    (CODES.astype(str).astype(object), None),
    (pd.array(CODES.astype(str), dtype="string"), None),
    (pd.Categorical(CODES.astype(str)), None),
)
def test_dask_makes_no_text_of_what_is_none(scores: Any, words: str | None) -> None:
    import dask.dataframe as dd

    here = pd.DataFrame({"score": scores, "member": INSIDE})
    there = dd.from_pandas(here, npartitions=2)

    for frame in (there, there[there.member | ~there.member]):
        if words is None:
            assert macekit.counts(frame)["counts"] == macekit.counts(here)["counts"]
        else:
            assert words in refused(frame).detail


@pytest.mark.slow
def test_many_integers_go_to_the_grid_as_here(give: Give, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MOST_VALUES", 50)
    monkeypatch.setattr("estimators.sample.parts.MOST_VALUES", 50)
    monkeypatch.setattr("estimators.sample.stream.MOST_VALUES", 50)
    scores = pa.array(np.random.default_rng(5).integers(-(2**60), 2**60, SIZE))
    records = pa.table({"score": scores, "member": INSIDE})

    assert macekit.counts(give(records))["counts"] == macekit.counts(records)["counts"]


@pytest.mark.parametrize(("rule", "different"), [("", 3), ("collate nocase", 2)])
def test_texts_are_the_same_where_the_collation_says_so(rule: str, different: int) -> None:
    import ibis

    database = ibis.duckdb.connect()
    database.raw_sql(f"create table words (score varchar {rule}, member boolean)")
    database.raw_sql("insert into words select ['a', 'A', 'b'][1 + i % 3], i % 2 = 0 from range(120) as r(i)")

    counts = macekit.counts(database.table("words"))["counts"]

    assert len(counts["members"]) == different
    assert sum(counts["members"]) + sum(counts["nonmembers"]) == 120


def test_what_an_engine_cannot_do_is_one_line() -> None:
    import ibis

    problem = refused(ibis.table({"score": "float64", "member": "boolean"}, name="nowhere"))

    assert problem.detail.startswith("ibis cannot count this frame: ")
    assert "\n" not in problem.detail


@pytest.mark.slow
@pytest.mark.parametrize("scores", ["fractions", "integers"])
def test_the_same_records_on_both_sides_of_a_frame_do_not_pass(give: Give, scores: str) -> None:
    once = np.random.default_rng(8).normal(size=2000)
    some = once if scores == "fractions" else (1e9 * once).astype(np.int64)
    half, member = ["a", "b"] * 2000, np.arange(4000) < 2000
    frame = give(pa.table({"score": np.tile(some, 2), "member": member, "half": half}))

    for asked in ({"max_advantage": 0.1}, {"group": "half", "max_group_advantage": 0.2}):
        assert macekit.gate(frame, **asked)["undecided_because"] == "sides_share_records"


# --- the words of databases ---------------------------------------------------------------------------------


def test_the_queries_of_a_database_make_rows_that_merge() -> None:
    records = RECORDS.rename_columns(["loss", "member", "region"])
    connection = duckdb.connect()
    connection.register("runs", records)

    program = macekit.sql("duckdb", table="runs", score="loss").removesuffix(";\n")
    first, second, third = program.split(";\n\n")

    ends = connection.sql(first)
    assert ends.columns == ["member", "n", "usable", "low", "high"]
    assert {row[1] == row[2] for row in ends.fetchall()} == {True}
    wanted = macekit.counts(records, score="loss")["counts"]
    assert macekit.merged(connection.sql(second))["counts"] == wanted
    assert connection.sql(third).columns == ["kind", "exponent", "key", "members", "nonmembers"]
    both = macekit.merged([connection.sql(second).to_arrow_table(), connection.sql(third).to_arrow_table()])
    assert both["counts"] == wanted

    scores = np.where(np.arange(1000) % 3 == 0, 0.1, RECORDS["loss"])
    often = pa.table({"loss": scores, "member": RECORDS["is_train"]})
    connection.register("runs", often)
    rows = [connection.sql(query).to_arrow_table() for query in (second, third)]
    assert macekit.merged(rows)["counts"] == macekit.counts(often, score="loss")["counts"]
    alone = macekit.gate(counts=macekit.merged(rows[:1])["counts"], max_advantage=0.9)
    assert alone["undecided_because"] == "crowded_cell"


DIALECTS = "athena bigquery clickhouse databricks duckdb mssql mysql oracle postgres snowflake trino"


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS.split())
def test_every_database_has_words_for_it(dialect: str) -> None:
    import sqlglot

    read = {"mssql": "tsql"}.get(dialect, dialect)

    queries = [each for each in sqlglot.parse(macekit.sql(dialect), read=read) if each is not None]

    assert [len([*query.find_all(sqlglot.exp.Group)]) for query in queries] == [1, 1, 1]
    for query in queries[1:]:
        assert query.named_selects == ["kind", "exponent", "key", "members", "nonmembers"]
    assert "'train'" in macekit.sql(dialect, member="split=train")


def test_a_database_that_is_not_known_is_said() -> None:
    with pytest.raises(macekit.MaceProblem, match="ibis for nosuch"):
        macekit.sql("nosuch")
