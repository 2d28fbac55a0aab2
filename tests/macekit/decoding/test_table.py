"""A table says who is a member in one of its columns; every format gives the same material."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from estimators.errors import InputError, MaceError, MixedTypes, NotFinite
from macekit.call import ARROW, ARROW_FILE, CSV, NDJSON, NPY, PARQUET, Body
from macekit.decoding.body import options
from macekit.problems import Problem
from tests.cases import each_case, refusals
from tests.macekit.decoding.support import FORMATS, REFUSALS, call, counted, read, refusal, table_bytes

RNG = np.random.default_rng(5)
MEMBER = RNG.random(200) < 0.4
SCORE = RNG.normal(size=200)
GROUP = RNG.choice(["a", "b"], 200)
UNIT = RNG.integers(0, 50, 200)


def members(given: dict[str, Any], media_type: str, **query: str) -> np.ndarray:
    """Who is read as a member of a table."""
    return np.asarray(read(table_bytes(given, media_type), media_type, **query).samples[""].members)


def csv(text: str, **query: str) -> Any:
    return read(text.encode(), CSV, **query)


@each_case("media_type", FORMATS)
def test_members_and_nonmembers_come_in_the_order_of_their_rows(media_type: str) -> None:
    body = table_bytes({"score": SCORE, "member": MEMBER, "g": GROUP, "u": UNIT}, media_type)

    found = read(body, media_type, group="g", unit="u", prior="0.3")

    sample = found.samples[""]
    rows = np.concatenate([np.flatnonzero(MEMBER), np.flatnonzero(~MEMBER)])
    assert np.array_equal(sample.members, SCORE[MEMBER])  # type: ignore[arg-type]
    assert np.array_equal(sample.nonmembers, SCORE[~MEMBER])  # type: ignore[arg-type]
    assert found.rows is not None
    assert found.groups is not None
    assert found.units is not None
    assert found.rows.dtype == np.int64
    assert found.rows.tolist() == rows.tolist()
    assert list(found.groups) == GROUP[rows].tolist()
    assert [int(unit) for unit in found.units] == UNIT[rows].tolist()  # type: ignore[call-overload]
    assert found.textual
    assert found.options == {"prior": "0.3"}
    names = {each.role: each.name for each in found.columns}
    assert names == {"score": "score", "member": "member", "group": "g", "unit": "u"}
    typed = ["numbers", "booleans", "text", "integers"] if media_type != CSV else ["numbers", *["text"] * 3]
    assert [each.kind for each in found.columns] == typed


CALLED = [
    ("score", "Members"), ("x", "membership"), ("x", "Is_Train"), ("Score", "in_train"), ("loss", "split"),
]  # fmt: skip
WORDS = [
    *[("member", "nonmember"), ("In", "OUT"), ("true", "False"), ("1", "0"), ("yes", " no ")],
    *[("train", "test"), ("Train", "holdout"), ("seen", "unseen")],
]
READ: dict[str, tuple[dict[str, Any], dict[str, str], np.ndarray]] = {
    **{f"called {member}": ({score: SCORE, member: MEMBER}, {}, SCORE[MEMBER]) for score, member in CALLED},
    **{
        f"{yes} or {no}": ({"score": SCORE, "member": np.where(MEMBER, yes, no)}, {}, SCORE[MEMBER])
        for yes, no in WORDS
    },
    **{
        f"0 or 1 as {kind.__name__}": ({"score": SCORE, "member": MEMBER.astype(kind)}, {}, SCORE[MEMBER])
        for kind in (np.bool_, np.int8, np.uint64, np.float32, np.float64)
    },
    "text scores are categories": ({"score": GROUP, "member": MEMBER}, {}, GROUP[MEMBER]),
    "several columns are rows of a vector query": (
        {"a": SCORE, "member": MEMBER, "b": UNIT},
        {"score": "b, a"},
        np.column_stack([UNIT, SCORE])[MEMBER],
    ),
    "the exact name of a column wins over a column and a value": (
        {"score": SCORE, "part": np.where(MEMBER, 5, 6), "part=6": MEMBER},
        {"member": "part=6", "score": "score"},
        SCORE[MEMBER],
    ),
}
"""Ways to say who is a member and which columns are scores: the columns, the query, and what is read of members."""
"""Ways to say who is a member."""


@each_case("media_type", FORMATS)
@each_case("way", READ)
def test_membership_goes_by_its_usual_names_in_words_or_as_numbers_and_scores_are_what_they_are(
    media_type: str, way: str
) -> None:
    given, query, expected = READ[way]
    assert np.array_equal(members(given, media_type, **query), expected)


@each_case("media_type", FORMATS)
def test_columns_to_compare_are_queries_of_their_own(media_type: str) -> None:
    body = table_bytes({"first": SCORE, "member": MEMBER, "second": UNIT, "g": GROUP}, media_type)

    every = read(body, media_type, operation="compare", group="g").samples
    named = read(body, media_type, operation="compare", score="second,first").samples

    assert list(every) == ["first", "second"]
    assert list(named) == ["second", "first"]
    assert np.array_equal(every["second"].nonmembers, UNIT[~MEMBER])  # type: ignore[arg-type]


@each_case("media_type", FORMATS)
@each_case("bad", [np.where(np.arange(200) == 17, 2, MEMBER), np.where(np.arange(200) == 17, "s3cret", "in")])
def test_a_membership_that_is_none_names_its_row(media_type: str, bad: Any) -> None:
    problem = refusal(table_bytes({"score": SCORE, "member": bad}, media_type), media_type)

    assert (problem.kind.slug, problem.index) == ("bad-records", 17)
    assert "row 17" in problem.detail


@each_case("media_type", FORMATS)
@each_case("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_names_its_row(media_type: str, value: float) -> None:
    scores = SCORE.copy()
    scores[41] = value

    with pytest.raises(NotFinite, match="row 41") as caught:
        members({"score": scores, "member": MEMBER}, media_type)

    assert caught.value.index == 41


@each_case("media_type", [each for each in FORMATS if each != NDJSON])  # keys stand in lines
def test_a_table_without_rows_has_empty_sides(media_type: str) -> None:
    found = read(table_bytes({"score": SCORE[:0], "member": MEMBER[:0]}, media_type), media_type)

    assert len(found.samples[""].members) == 0  # type: ignore[arg-type]
    assert len(found.samples[""].nonmembers) == 0  # type: ignore[arg-type]


WIDE = {"members_column": "a", "nonmembers_column": "b"}
ONE, TWO = {"a": SCORE, "member": MEMBER}, {"a": SCORE, "b": SCORE}
QUESTIONS: list[tuple[dict[str, Any], dict[str, str], str, str | None, str]] = [
    ({"s3cret": SCORE, "other": SCORE}, {}, "missing-field", "member", "no column is called"),
    ({**TWO, "member": MEMBER}, {}, "missing-field", "score", "2 columns could be"),
    ({"member": MEMBER}, {}, "missing-field", "score", "every column is taken for something else"),
    (ONE, {"score": "s3cret"}, "unknown-name", "score", "no column of the 2"),
    (ONE, {"member": "s3cret"}, "unknown-name", "member", "no column"),
    (ONE, {"group": "s3cret"}, "unknown-name", "group", "no column"),
    (ONE, {"unit": ""}, "unknown-name", "unit", "no column"),
    (ONE, {"score": "member"}, "bad-option", None, "two of them"),
    (ONE, {"score": "a,a"}, "bad-option", None, "two of them"),
    ({**ONE, "Member": MEMBER}, {}, "bad-option", "member", "say which"),
    ({"a": SCORE, "label": MEMBER}, {}, "missing-field", "member", "'label' is not .* with member=label"),
    ({"a": SCORE, "m": MEMBER}, {"member": "m=s3cret"}, "unknown-name", "member", "no row has the value"),
    (ONE, {"member": "s3cret=1"}, "unknown-name", "member", "no column"),
    (TWO, {"members_column": "a"}, "missing-field", "nonmembers_column", "go together"),
    (TWO, {**WIDE, "nonmembers_column": "x"}, "unknown-name", "nonmembers_column", "no column"),
    (TWO, {**WIDE, "nonmembers_column": "a"}, "bad-option", "members_column", "for both sides"),
    (TWO, {**WIDE, "member": "a"}, "bad-option", "member", "does not go with"),
    (TWO, {**WIDE, "score": "a"}, "bad-option", "score", "does not go with"),
]


@each_case("media_type", FORMATS)
@each_case("given, query, slug, field, match", QUESTIONS)
def test_a_column_that_cannot_be_told_is_asked_for_without_repeating_names(
    media_type: str, given: dict[str, Any], query: dict[str, str], slug: str, field: str | None, match: str
) -> None:
    problem = refusal(table_bytes(given, media_type), media_type, **query)

    assert (problem.kind.slug, problem.field) == (slug, field)
    assert re.search(match, problem.detail)


MANY = {"member": MEMBER[:3], **{f"q{i}": SCORE[:3] for i in range(1001)}}
MIXED = {"score": SCORE, "member": MEMBER, "g": GROUP}


def of_queries(given: dict[str, Any], media_type: str) -> Any:
    return read(table_bytes(given, media_type), media_type, operation="compare")


test_what_cannot_be_read_together_is_refused = refusals(
    "ask, error, words",
    (lambda: of_queries({"score": SCORE, "member": MEMBER, "q" * 201: SCORE}, CSV), Problem, "201 characters"),
    (lambda: of_queries(MANY, ARROW), Problem, "at most 1000"),
    (lambda: members(MIXED, ARROW, score="score,g"), MixedTypes, None),  # text and numbers make no vector
    (lambda: csv("score,member,u\n1,1,a\n2,0,\n", unit="u", score="score"), NotFinite, "unit: row 1 has no value"),
)


@pytest.mark.slow
@each_case("media_type", [CSV, ARROW, PARQUET])
def test_ten_thousand_columns_are_read_if_two_are_named(media_type: str) -> None:
    many = {"member": MEMBER[:20], **{f"q{i}": SCORE[:20] for i in range(9_999)}}

    assert np.array_equal(members(many, media_type, score="q777"), SCORE[:20][MEMBER[:20]])


def test_long_texts_in_many_rows_do_not_eat_the_memory() -> None:
    wide = ("b" * 900, 2**20, "too much memory")
    long = ("s3cret" * 200, 2**30, "row 7 has more than 1000 char")
    for text, limit, match in (wide, long):
        texts = ["a"] * 7 + [text] + ["a"] * 49_992
        with pytest.raises(Problem, match=match):
            read(table_bytes({"score": texts, "member": [0, 1] * 25_000}, PARQUET), PARQUET, limit=limit)


def test_options_with_dots_are_nested_and_stay_text() -> None:
    metric = {"metric.preset": "f_beta", "metric.beta": "2"}

    asked = call(CSV, **metric, **{"estimator.kind": "histogram"}, prior="0.5", score="x")

    nested = {"metric": {"preset": "f_beta", "beta": "2"}, "estimator": {"kind": "histogram"}}
    assert options(asked) == {**nested, "prior": "0.5"}


@each_case("query", [
    (("prior", "0.5"), ("prior", "0.6")), (("score", "a"), ("score", "b")),
    (("metric", "accuracy"), ("metric.beta", "2")), (("metric.beta", "2"), ("metric", "accuracy")),
    (("a.b.c.d.e", "1"),), tuple((f"o{i}", "1") for i in range(201)),
])  # fmt: skip
def test_options_that_say_two_things_are_refused(query: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(Problem):
        options(replace(call(CSV), query=query))


def test_a_media_type_that_is_not_known_is_told_those_that_are() -> None:
    problem = refusal(b"", "image/png")

    assert problem.kind.slug == "unsupported-media-type"
    assert ARROW_FILE in problem.detail


@each_case("text", [
    "score,member\n0.5,1\n0.25,0\n", "score,member\r\n0.5,1\r\n0.25,0\r\n",
    "\ufeffscore,member\n0.5,1\n0.25,0", "score;member\n0.5;1\n0.25;0\n",
    "score\tmember\n0.5\t1\n0.25\t0\n", '"score","member"\n"0.5","1"\n"0.25","0"\n',
    " score , member \n 0.5 , 1 \n0.25,0\n", 'note,score,member\n"a, ""b""\nc",0.5,1\n,0.25,0\n',
    '"no;te;;",score,member\nx,0.5,1\n,.25,0\n', "\n\nscore,member\n0.5,1\n\n25e-2,0\n",
    "score,member\r0.5,1\r0.25,0\r",
])  # fmt: skip
def test_csv_is_read_however_it_was_written(text: str) -> None:
    sample = csv(text, score="score").samples[""]

    assert (list(sample.members), list(sample.nonmembers)) == ([0.5], [0.25])


@each_case("values, expected", [
    (["1", "2"], [1, 2]), (["1", "2.5"], [1.0, 2.5]), (["+1", "-2"], [1, -2]),
    (["1 ", " 2", "\u00a03"], [1, 2, 3]),
    (["+9007199254740993 ", "9007199254740992"], [9007199254740993, 9007199254740992]),
    (["007", "012"], [7, 12]), ([" 0.5", "1 "], [0.5, 1.0]), (["1e3", "-0.0"], [1000.0, -0.0]),
    ([str(2**63), "1"], [2**63, 1]), ([str(2**70), str(2**70 + 1)], [2**70, 2**70 + 1]),
    (["-1", str(2**63)], [-1, 2**63]), (["1e30", "2"], [1e30, 2.0]), (["0x1F", "0x2F"], ["0x1F", "0x2F"]),
    (["true", "False", "TRUE "], [True, False, True]), (["cat ", " dog", "a b"], ["cat", "dog", "a b"]),
    (["2024-01-01", "NA"], ["2024-01-01", "NA"]),
])  # fmt: skip
def test_a_csv_column_is_numbers_only_if_all_of_it_is(values: list[str], expected: list[object]) -> None:
    found = csv("score,member\n" + "".join(f"{value},1\n" for value in values)).samples[""].members

    assert found.tolist() == expected
    assert [type(value) for value in found.tolist()] == [type(value) for value in expected]


@each_case(
    "values, kind, match",
    (["0.5", "", "0.7"], NotFinite, "row 1 has no value"),
    (["0.5", "0.6", "NaN"], NotFinite, "row 2"),
    (["0.5", "inf"], NotFinite, "row 1"),
    (["a", "", "b"], NotFinite, "row 1 has no value"),
    (["0.5", "0.6", "0.7x"], MixedTypes, "row 2 is text"),
    (["1", '"0,6"', "0.7"], InputError, "decimal comma"),
    (['"0,5"', '"0,6"'], MaceError, "decimal point"),
    (["5", "1e999"], NotFinite, "row 1"),
    (["0", "1", "2+"], MixedTypes, "row 2 is text, but others are numbers.*query=discrete"),
    *((["1", "2", "3", odd, "5"], MaceError, "row 3 is ") for odd in ("#N/A", ".", "?", "-", "1 234", "<5")),
    (["1", "2", "N/A"], NotFinite, "row 2 has no value"),
    (["true", "false", "maybe"], MixedTypes, "row 2 is text, but others are true or false"),
    (["true", "1"], MixedTypes, "row 0 is text, but others are numbers"),
    (["007", "7"], Problem, "row 0 is a whole number that begins with zeros"),
    (["a", "b", "a "], Problem, "row 0 is a text that stands with blanks"),
)
def test_what_was_meant_as_a_number_and_is_none_names_its_row(values, kind, match) -> None:
    with pytest.raises(kind, match=match):
        csv("score,member\n" + "".join(f"{value},1\n" for value in values))


@each_case(
    "body, slug, match",
    (b"", "incomplete-body", "empty"),
    (b"\n\n", "incomplete-body", "empty"),
    (b"\xef\xbb\xbf", "incomplete-body", "empty"),
    (b"0.5,1\n0.6,0\n", "missing-field", "header"),
    (b"score,member\n0.5,1\n0.5,1,s3cret\n", "malformed-body", "row 1 has 3 values, the header 2"),
    (b"score,member\n0.5\n", "malformed-body", "row 0 has 1 values"),
    (b'"score,member\n0.5,1\n', "malformed-body", "quotes"),
    (b"sc\xffre,member\n0.5,1\n", "malformed-body", "not UTF-8"),
    (b"score,member\n\xff,1\n", "malformed-body", "CSV"),
    ("score,member\n0.5,1\n".encode("utf-16"), "malformed-body", "not UTF-8"),
    (b"x" * 2**20, "malformed-body", "longer"),
    (b"score,member\n" + b"1" * 2**21 + b",1\n", "malformed-body", "CSV"),
)
def test_csv_that_cannot_be_read_is_a_problem_that_says_why(body: bytes, slug: str, match: str) -> None:
    problem = refusal(body, CSV)

    assert problem.kind.slug == slug
    assert match in problem.detail


def test_rows_of_numbers_take_integers_beyond_64_bits_and_refuse_those_that_no_float_is_near() -> None:
    text = "a,b,member\n1,0.5,1\n{},0.5,1\n"

    assert csv(text.format(2**70), score="a,b").samples[""].members.tolist() == [[1, 0.5], [2.0**70, 0.5]]
    with pytest.raises(NotFinite, match="score: row 1 is NaN or infinite") as caught:
        csv(text.format(10**400), score="a,b")
    assert caught.value.index == 1


def test_csv_with_a_header_alone_has_no_records() -> None:
    for text in ("score,member", "score,member\n", "score,member\r\n\r\n"):
        assert len(csv(text).samples[""].members) == 0


def test_refusals_stay_small() -> None:
    problem = refusal(table_bytes({f"{'n' * 500}{i}": SCORE for i in range(100)}, NPY), NPY)

    assert len(problem.detail) < 1200


@each_case("media_type", FORMATS)
def test_one_of_two_values_may_be_named_for_members(media_type: str) -> None:
    for values, named in (
        (np.where(MEMBER, "fold 1", "rest"), "fold 1"), (np.where(MEMBER, "a=b", "b"), "a=b"),
        (np.where(MEMBER, 3, 7), "3"), (np.where(MEMBER, 2.5, 0.5), "2.50"), (~MEMBER, "false"),
    ):  # fmt: skip
        for name in ("part", "part=x"):
            query = {"member": f"{name}={named}", "score": "score"}

            assert np.array_equal(members({"score": SCORE, name: values}, media_type, **query), SCORE[MEMBER]), query


@each_case("media_type", FORMATS)
def test_more_than_two_parts_of_a_data_set_are_refused(media_type: str) -> None:
    third = np.arange(200) == 150
    for values, query, match in (
        (np.where(third, "val", np.where(MEMBER, "train", "test")), {}, "row 150 is of a validation split"),
        (np.where(third, "holdout", np.where(MEMBER, "train", "test")), {}, "holds 3 parts of a data set"),
        (np.where(third, "c", np.where(MEMBER, "a", "b")), {"member": "member=a"}, "more than two values"),
        (np.where(third, 9, np.where(MEMBER, 7, 8)), {"member": "member=7"}, "more than two values"),
        (np.where(third, " ", np.where(MEMBER, "a", "b")), {"member": "member=a"}, "row 150 has no value"),
    ):
        with pytest.raises(REFUSALS, match=match):
            members({"score": SCORE, "member": values}, media_type, **query)


def padded(values: np.ndarray, size: int, media_type: str) -> Any:
    """A column that ends in what a format has for nothing."""
    blanks = [np.nan if media_type == NPY else None] * (size - len(values))
    return np.array([*values, *blanks]) if media_type == NPY else [*values.tolist(), *blanks]


@each_case("media_type", FORMATS)
def test_a_table_may_have_a_column_for_each_side(media_type: str) -> None:
    kinds = {"numbers": (SCORE[:120], SCORE[120:])}
    if media_type != NPY:
        kinds["integers"] = UNIT[:120], UNIT[120:]
        kinds["text"] = GROUP[:120], GROUP[120:]
    for kind, (members, nonmembers) in kinds.items():
        table = {"b": padded(nonmembers, 120, media_type), "id": np.arange(120), "a": members}
        alone = {"score": np.concatenate([members, nonmembers]), "member": np.arange(200) < 120}
        expected = read(table_bytes(alone, media_type), media_type, prior="0.3")

        found = read(table_bytes(table, media_type), media_type, prior="0.3", **WIDE)

        for side in ("members", "nonmembers"):
            values, others = (np.asarray(getattr(each.samples[""], side)) for each in (found, expected))
            assert values.dtype == others.dtype, kind
            assert np.array_equal(values, others), kind
        assert found.options == {"prior": "0.3"}


def test_numbers_beside_text_are_names_only_if_so_asked() -> None:
    wide, long = "a,b\n12,0a\n13,012\n14,\n", "score,member\n0,1\n1,0\n2+,1\n"
    for text, query in ((wide, WIDE), (long, {})):
        with pytest.raises(MixedTypes, match="text, but others are numbers"):
            csv(text, **query)

    both = csv(wide, **WIDE, query="discrete").samples[""]
    assert [list(side) for side in (both.members, both.nonmembers)] == [["12", "13", "14"], ["0a", "012"]]
    assert csv(long, query="discrete").samples[""].members.tolist() == ["0", "2+"]
    assert csv("score,member\n7,1\n007,0\n", query="discrete").samples[""].members.tolist() == ["7"]
    assert csv("score,member\n7,1\n8,0\n", query="discrete").samples[""].members.tolist() == [7]


@each_case("media_type", FORMATS)
def test_only_the_end_of_the_shorter_column_may_be_blank(media_type: str) -> None:
    for row, match in ((7, "nonmembers_column: row 7"), (199, "row 199 is missing in both")):
        holes = SCORE.tolist()
        holes[row] = np.nan if media_type == NPY else None
        full = SCORE.tolist() if row == 7 else holes
        whole = np.array if media_type == NPY else list

        with pytest.raises(REFUSALS, match=match):
            members({"a": whole(full), "b": whole(holes)}, media_type, **WIDE)


def test_a_table_with_a_column_for_each_side_is_not_counted_in_blocks_nor_compared() -> None:
    body = table_bytes({"a": SCORE, "b": SCORE}, CSV)

    with pytest.raises(Problem, match="read as a whole"):
        counted(Body.of(body), call(CSV, **WIDE))
    with pytest.raises(Problem, match="comparison"):
        read(body, CSV, operation="compare", **WIDE)


@pytest.mark.slow
@each_case("media_type", FORMATS)
def test_a_third_part_is_refused_though_it_comes_in_another_block(media_type: str) -> None:
    parts = np.repeat(["train", "test", "unseen"], (66_000, 66_000, 10))
    body = table_bytes({"score": np.arange(len(parts)) / 7, "split": parts}, media_type)

    with pytest.raises(Problem, match="holds 3 parts"):
        counted(Body.of(body), call(media_type))
    with pytest.raises(Problem, match="more than two values"):
        counted(Body.of(body), call(media_type, member="split=train"))
