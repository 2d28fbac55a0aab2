"""What cannot be used is refused the same way here and with a server, by its record, and repeats no score."""

import os
import pickle
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import macekit
from tests.cases import each_case
from tests.macekit.client.worlds import CONTAINERS, Tensor, shuffled, world

MEMBERS, NONMEMBERS = world()
SIDES = MEMBERS, NONMEMBERS


def refused(client: Any, *given: Any, ask: str = "estimate", **options: Any) -> macekit.MaceProblem:
    with pytest.raises(macekit.MaceProblem) as caught:
        getattr(client, ask)(*given, **options)
    return caught.value


@each_case("container", sorted(set(CONTAINERS) - {"pandas, nullable"}))
@each_case("bad", [np.nan, np.inf])
def test_a_score_that_is_not_finite_is_named_by_its_record(container, bad, mace) -> None:
    broken = MEMBERS.copy()
    broken[7] = bad

    for client in (macekit, mace):
        problem = refused(client, CONTAINERS[container](broken), NONMEMBERS)

        found = problem.kind, problem.field, problem.index, problem.status
        assert found == ("not-finite", "members", 7, 422)
        assert " 7 " in problem.detail


HIDDEN = np.ma.masked_array(MEMBERS, np.arange(len(MEMBERS)) == 20)


@each_case("given", [
    list(HIDDEN), np.array(list(HIDDEN), dtype=object), pd.Series(list(HIDDEN), dtype=object),
    list(np.ma.column_stack([HIDDEN, HIDDEN])), [[each, 1.0] for each in HIDDEN], [(each, 1.0) for each in HIDDEN],
    {"score": [*HIDDEN, *HIDDEN], "member": [True, False] * len(HIDDEN)},
    {"score": [*MEMBERS, *MEMBERS], "member": [*[True] * 20, np.ma.masked, *[False] * (2 * len(MEMBERS) - 21)]},
])  # fmt: skip
def test_a_masked_record_of_a_list_is_no_zero(given, mace) -> None:
    for client in (macekit, mace):
        problem = refused(client, given, None if isinstance(given, dict) else NONMEMBERS)

        assert (problem.kind, problem.index) == ("not-finite", 20)
        assert "record 20 is masked" in problem.detail


@each_case("unit", ["Y", "D", "s", "us", "ns", "ps", "as"])
@each_case("code", ["M8", "m8"])
def test_times_in_a_list_are_no_integers_whatever_their_unit(unit, code) -> None:
    times = np.arange(100).astype(f"{code}[{unit}]")

    for given in (list(times), pd.Series(list(times), dtype=object), list(times.reshape(-1, 2)), [np.array(times[0])]):
        problem = refused(macekit, given, NONMEMBERS)

        assert (problem.kind, problem.field) in (("wrong-type", "members"), ("bad-records", "members"))


@each_case("given, kind, index", [
    (pd.Series([*MEMBERS[:7], None], dtype="Float64"), "not-finite", 7),
    (pl.Series([*MEMBERS[:7], None]), "not-finite", 7), (pa.array([*MEMBERS[:7], None]), "not-finite", 7),
    (np.ma.masked_array(MEMBERS[:8], [False] * 7 + [True]), "not-finite", 7),
    (pd.Series(["a"] * 7 + [None]), "not-finite", 7),
    (pd.Series(["a"] * 7 + [None], dtype="category"), "not-finite", 7),
    ([*MEMBERS[:7], None], "not-finite", 7), ([*MEMBERS[:7], "0.5"], "mixed-types", 7),
    ([None, *MEMBERS], "not-finite", 0), ([None] * 9, "not-finite", 0),
    ([*["a"] * 7, float("nan")], "not-finite", 7),
    (pd.Series([*["a"] * 7, float("nan")], dtype=object), "not-finite", 7),
    (np.array([1.5, "a"], dtype=object), "mixed-types", 1), ([*MEMBERS[:7], 1j], "wrong-type", 7),
    ([[1.0, 2.0], [1.0]], "ragged-rows", 1), ([[1.0, 2.0], [1.0, None]], "wrong-type", 1),
    ([[1.0, 2.0], [1.0, 1j]], "wrong-type", 1), (["a" * 1001], "out-of-range", 0),
    (np.array(["a", "\ud800"]), "malformed-body", 1), (np.array([["a", "b"]]), "wrong-type", 0),
    ({1.0, 2.0}, "wrong-type", None), (b"scores", "wrong-type", None), (3.0, "wrong-type", None),
    (Tensor(np.array([{}, {}])), "wrong-type", 0), (np.float64(3.0), "bad-records", None),
    (np.zeros((2, 2, 2)), "bad-records", None), (np.zeros(9, "S3"), "bad-records", None),
    (np.zeros(9, "M8[s]"), "bad-records", None), (np.zeros(9, complex), "bad-records", None),
    (pl.Series([[1.0, 2.0]] * 9), "bad-records", None), (MEMBERS[:3], "too-few-records", None),
    ([], "too-few-records", None), ("scores.csv", "bad-records", None),
])  # fmt: skip
def test_what_is_no_column_of_scores_is_refused(given, kind, index, mace) -> None:
    for client in (macekit, mace):
        problem = refused(client, given, NONMEMBERS)

        assert (problem.kind, problem.index) == (kind, index)
        assert problem.title
        assert "0.5" not in problem.detail


@cache
def of_risk() -> macekit.Result:
    return macekit.risk(MEMBERS, NONMEMBERS)


@cache
def of_estimate() -> macekit.Result:
    return macekit.estimate(MEMBERS, NONMEMBERS)


@each_case("ask, given, options, got", lambda: [
    ("estimate", (), {"counts": of_risk()}, "risk"), ("estimate", (), {"counts": of_risk().to_dict()}, "risk"),
    ("estimate", (), {"counts": of_estimate()}, "estimate"), ("estimate", (of_estimate(),), {}, "estimate"),
    ("estimate", (of_estimate().to_dict(),), {}, "estimate"),
    ("estimate", (macekit.counts(MEMBERS, NONMEMBERS),), {}, "counts"),
    ("gate", (MEMBERS, of_risk()), {"max_advantage": 0.1}, "risk"), ("counts", (), {"shards": [of_risk()]}, "risk"),
    ("compare", ({"a": of_risk(), "b": of_risk()},), {}, "risk"),
    ("compare", ({"a": of_risk().to_dict(), "b": of_risk().to_dict()},), {}, "risk"),
])  # fmt: skip
def test_an_answer_of_another_question_is_no_counts(ask, given, options, got, mace) -> None:
    for client in (macekit, mace):
        problem = refused(client, *given, ask=ask, **options)

        assert problem.kind == "wrong-type"
        assert re.search(rf"got an answer of macekit\.{got};.* counts, or an answer of macekit\.counts", problem.detail)


@each_case("given", lambda: [of_risk(), of_estimate(), of_risk().to_dict()])
def test_there_is_no_table_of_risks_of_an_answer_without_counts(given) -> None:
    assert refused(macekit, given, ask="risk_table").field == "counts"


@each_case(
    "column, got", [(1.0, "float"), ("abc", "str"), (None, "NoneType"), (np.array(3.0), "ndarray"), ({}, "dict")]
)
def test_a_column_of_a_whole_table_is_no_single_value(column, got, mace) -> None:
    for client in (macekit, mace):
        problem = refused(client, {"a": column}, {"a": column}, ask="check_split")

        assert (problem.kind, problem.field) == ("wrong-type", "train")
        assert f"column 'a' is of type {got}; need a list" in problem.detail


def test_columns_of_a_whole_table_have_names_of_their_own(mace) -> None:
    """The last of one name stood for all, and a leak in the first passed."""
    frame = pd.DataFrame(np.arange(20.0).reshape(10, 2), columns=["a", "a"])
    for client in (macekit, mace):
        problem = refused(client, frame, frame, ask="check_split")

        assert (problem.kind, problem.field) == ("bad-records", "train")
        assert "two columns are called 'a'" in problem.detail


def test_a_tensor_that_is_not_here_is_told_what_to_do() -> None:
    class Elsewhere:
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            raise TypeError("can't convert device tensor to numpy")

    assert "detach" in refused(macekit, Elsewhere(), NONMEMBERS).detail


TABLE = shuffled()
ROLES = {"score": "loss", "member": "is_train"}
AS_FLAT = {"score": "x.score", "member": "x.member"}


@each_case(
    "given, options, kind, field",
    ([TABLE], ROLES | {"score": "los"}, "unknown-name", "score"),
    ([pl.DataFrame(TABLE).lazy()], ROLES | {"score": "los"}, "unknown-name", "score"),
    ([{"loss": MEMBERS, "label": MEMBERS > 0}], {"score": "loss"}, "missing-field", "member"),
    ([TABLE | {"confidence": TABLE["loss"]}], {"member": "is_train"}, "missing-field", "score"),
    ([TABLE], ROLES | {"score": 3}, "wrong-type", "score"),
    ([TABLE | {"is_train": [True]}], ROLES, "dimension-mismatch", "member"),
    ([TABLE | {"is_train": TABLE["id"]}], ROLES, "bad-records", "member"),
    ([TABLE], ROLES | {"units": [1]}, "bad-option", "units"),
    ([TABLE], ROLES | {"prior": 2}, "out-of-range", "prior"),
    ([MEMBERS], {}, "missing-field", "nonmembers"),
    ([], {}, "missing-field", "members"),
    (SIDES, {"prior": 2.0}, "out-of-range", "prior"),
    (SIDES, {"prior": float("nan")}, "out-of-range", "prior"),
    (SIDES, {"prior": "much"}, "wrong-type", "prior"),
    (SIDES, {"prior": object()}, "wrong-type", "prior"),
    (SIDES, {"metric": {"preset": "f_beta", "bta": 2}}, "unknown-field", "beta"),
    (SIDES, {"metric": {"preset": "f_beta", "beta": -2}}, "out-of-range", "metric.beta"),
    (SIDES, {"units": ["a"]}, "dimension-mismatch", "units"),
    (SIDES, {"units": {"members": ["a"]}}, "missing-field", "units"),
    (SIDES, {"units": {"member": ["a"]}}, "unknown-field", "members"),
    (SIDES, {"units": {"members": ["a"], "nonmembers": [1]}}, "mixed-types", "units"),
    (SIDES, {"counts": {"members": [1], "nonmembers": [1]}}, "bad-option", "counts"),
    (SIDES, {"member": "is_train"}, "bad-option", "member"),
)
def test_what_is_wrong_with_a_table_or_an_option_is_said_by_its_name(given, options, kind, field, mace):
    for client in (macekit, mace):
        problem = refused(client, *given, **options)

        assert (problem.kind, problem.field) == (kind, field)


COUNTED = macekit.counts(*SIDES)
PLACES = pd.DataFrame({0: TABLE["loss"], 1: TABLE["is_train"]})
LEVELS = PLACES.set_axis(pd.MultiIndex.from_tuples([("x", "score"), ("x", "member")]), axis=1)
COUNTS_FIRST = r"got {}; need counts.*files of them go first: macekit\.estimate\("


@each_case(
    "ask, given, options, words",
    ("estimate", [], {"counts": "counts.json"}, COUNTS_FIRST.format("str")),
    ("estimate", [], {"counts": Path("counts.json")}, COUNTS_FIRST.format("PosixPath")),
    ("estimate", [], {"counts": [COUNTED, COUNTED]}, COUNTS_FIRST.format("list")),
    ("estimate", [], {"counts": np.arange(3)}, COUNTS_FIRST.format("ndarray")),
    ("compare", [{"a": {"counts": "counts.json"}}], {}, COUNTS_FIRST.format("str")),
    ("counts", [], {"shards": ["counts.json"]}, COUNTS_FIRST.format("str")),
    ("counts", [], {"shards": "counts.json"}, "got str; need a list of counts"),
    ("counts", [], {"shards": COUNTED}, "got Result; need a list of counts"),
    ("counts", [], {"shards": 3}, "got int; need a list of counts"),
    ("compare", [{"a": (MEMBERS,)}], {}, "got a tuple of 1; need a pair"),
    ("compare", [{"a": (MEMBERS, MEMBERS, MEMBERS)}], {}, "got a tuple of 3; need a pair"),
    ("estimate", [PLACES], {"score": 0, "member": 1}, 'need text, such as "0" for a column 0'),
    ("estimate", [LEVELS], {}, "several levels; flatten them: frame"),
    ("estimate", [LEVELS], {"score": ("x", "score"), "member": ("x", "member")}, "several levels; flatten them"),
)
def test_what_to_give_in_its_place_is_said(ask, given, options, words, mace) -> None:
    for client in (macekit, mace):
        assert re.search(words, refused(client, *given, ask=ask, **options).detail)


def test_columns_without_names_of_their_own_are_named_as_text() -> None:
    wanted = macekit.estimate(TABLE, **ROLES).advantage

    assert macekit.estimate(PLACES, score="0", member="1").advantage == wanted
    assert macekit.estimate(LEVELS.set_axis(LEVELS.columns.map(".".join), axis=1), **AS_FLAT).advantage == wanted


@each_case("score", ["loss,id", ["loss,id"], ["loss", "id,"]])
def test_a_comma_in_the_name_of_a_column_is_not_taken_for_two_names(score: Any, mace: macekit.Mace) -> None:
    for client in (macekit, mace):
        problem = refused(client, TABLE | {"loss,id": TABLE["loss"]}, **ROLES | {"score": score})

        assert (problem.kind, problem.field) == ("bad-option", "score")
        assert "in a list" in problem.detail


@each_case(
    "ask, given, options",
    ("compare", [{"\ud800a": SIDES, "b": SIDES}], {}),
    ("compare", [{"a": SIDES, "b": SIDES}], {"against": "\ud800"}),
    ("metrics", SIDES, {"metrics": [{"\ud800": 1}]}),
)
def test_text_that_is_none_is_refused(ask, given, options, mace) -> None:
    for client in (macekit, mace):
        assert refused(client, *given, ask=ask, **options).kind in ("malformed-body", "wrong-type")


@each_case("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_row_without_a_score_is_named_by_its_number(frame: Any) -> None:
    problem = refused(macekit, frame({"score": [0.1, None, 0.3], "member": [True, False, True]}))

    assert (problem.kind, problem.field, problem.index) == ("not-finite", "score", 1)


def test_a_column_of_nobodys_business_may_hold_anything() -> None:
    frame = pd.DataFrame({"score": MEMBERS, "member": MEMBERS > 0, "notes": [object()] * len(MEMBERS)})

    assert macekit.estimate(frame, score="score").provenance.n_members == (MEMBERS > 0).sum()


def test_options_of_numpys_types_are_as_good_as_pythons() -> None:
    given = {"prior": np.float32(0.25), "seed": np.int64(3), "operating_points": np.array([0.01, 0.1])}

    found = macekit.estimate(*SIDES, **given)

    assert (found.provenance.options["prior"], found.provenance.seed) == (0.25, 3)


@each_case("client", [macekit, macekit.Mace("http://127.0.0.1:1")])
def test_an_unknown_keyword_is_a_type_error_that_knows_the_nearest(client: Any) -> None:
    with pytest.raises(
        TypeError, match=r"estimate\(\) got an unexpected keyword argument 'priro'; did you mean 'prior'"
    ):
        client.estimate(*SIDES, priro=0.1)
    with pytest.raises(TypeError, match=r"known are .*max_advantage"):
        client.plan(zzz=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, mace: macekit.Mace) -> None:
    table, side = tmp_path / "scores.csv", tmp_path / "members.npy"
    for path, sides in ((table, [table]), (side, [side, NONMEMBERS])):
        os.mkfifo(path)
        for client in (macekit, mace):
            assert "no regular file" in refused(client, *sides).detail


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        macekit.estimate(tmp_path / "scores.csv")


def test_a_problem_survives_a_pickle() -> None:
    problem = refused(macekit, MEMBERS[:3], NONMEMBERS)

    again = pickle.loads(pickle.dumps(problem))

    assert (again.kind, again.detail, again.field) == (problem.kind, problem.detail, problem.field)


def test_scores_and_labels_as_scikit_learn_takes_them_are_refused(mace: macekit.Mace) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.random(120), rng.integers(0, 2, 120)

    for client in (macekit, mace):
        for sides in ((scores, labels), (labels, scores)):
            problem = refused(client, *sides)
            assert (problem.kind, problem.status) == ("bad-records", 422)
            assert 'macekit.estimate({"score": scores, "member": labels})' in problem.detail
        assert client.estimate({"score": scores, "member": labels}).operation == "advantage"


@each_case("form", ["{:.1%}", "tensor({:.3f})", "{}"])
def test_numbers_as_text_are_refused_through_every_door(form, mace, tmp_path) -> None:
    texts = [form.format(value) for value in np.random.default_rng(1).random(60)]
    member = [place % 2 for place in range(60)]
    file = tmp_path / "scores.csv"
    file.write_text("\n".join(["score,member", *(f"{s},{m}" for s, m in zip(texts, member, strict=True))]))

    for client in (macekit, mace):
        for given in ((texts[:30], texts[30:]), (pd.Series(texts[:30]), pd.Series(texts[30:]))):
            problem = refused(client, *given)
            assert (problem.status, problem.index) == (422, 0)
            assert "text that spells a number" in problem.detail
            assert texts[0] not in problem.detail
        if form == "{}":
            assert client.estimate(file).answer["provenance"]["n_members"] == 30  # CSV knows no other numbers
        else:
            assert "text that spells a number" in refused(client, file).detail
            assert "text that spells a number" in refused(client, file, ask="counts").detail


@each_case("name", ["scores.pkl", "scores.joblib", "scores.npy", "both.npy"])
def test_a_pickle_is_never_opened(name: str, tmp_path: Path, mace: macekit.Mace) -> None:
    path = tmp_path / name
    if name == "scores.npy":
        np.save(path, MEMBERS.astype(object), allow_pickle=True)
    else:
        path.write_bytes(pickle.dumps(MEMBERS, None if name == "both.npy" else 0))

    for client in (macekit, mace):
        problem = refused(client, path, path)

        assert (problem.kind, problem.field, problem.status) == ("pickle", "members", 415)
        assert "numpy.savez('scores.npz', members=a, nonmembers=b)" in problem.detail
        if name != "scores.npy":
            assert refused(client, path).kind == "pickle"


def test_a_file_that_is_called_npy_and_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.npy"
    for content in (b"", b"PK\x03\x04", b"score,member\n"):
        path.write_bytes(content)

        assert refused(macekit, path, path).kind == "malformed-body"


@each_case(
    "call, said",
    (
        lambda: macekit.estimate([1, 2], [3, 4], 0.1),
        "estimate() takes members and nonmembers by position, and everything else by its name, such as "
        "max_advantage=0.1 or prior=0.1",
    ),
    (
        lambda: macekit.risk([1, 2], [3, 4], 0.1),
        "risk() takes members and nonmembers by position, and everything else by its name, such as prior=0.1",
    ),
    (
        lambda: macekit.plan(0.1),
        "plan() takes nothing by position, and everything else by its name, such as max_advantage=0.1 or prior=0.1",
    ),
    (
        lambda: macekit.audit_model(1, 2, 3, 4, 5, 0.1),
        "audit_model() takes model and X_train and y_train and X_test and y_test by position, and everything else "
        "by its name, such as max_advantage=0.1 or prior=0.1",
    ),
)
def test_an_argument_without_a_place_is_refused_with_its_possible_names(call: Any, said: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()

    assert str(raised.value) == said


@each_case("name", ["compare", "compare_releases", "advantage_series"])
def test_the_odd_one_of_several_queries_is_named(name: str, mace: macekit.Mace) -> None:
    texts = [f"m{row}" for row in range(30)], [f"n{row}" for row in range(30)]
    for odd, kind in (((MEMBERS[:3], NONMEMBERS), "too-few-records"), (texts, "too-many-cells")):
        for client, said in ((macekit, "query 'odd': "), (mace, "query 1: ")):
            problem = refused(client, {"good": SIDES, "odd": odd}, ask=name)
            assert (problem.kind, problem.detail.startswith(said)) == (kind, True)
    rows = np.arange(60)
    frame = pd.DataFrame({"member": rows % 2, "good": rows % 7 / 7, "odd": np.where(rows == 7, np.nan, rows)})
    assert refused(macekit, frame, ask=name, score=["good", "odd"]).detail.startswith("odd: score: record 7 is NaN")


def test_why_a_comparison_is_not_applicable_names_the_query() -> None:
    answer = macekit.compare({"good": SIDES, "odd": (MEMBERS, MEMBERS)}, max_advantage=0.99)
    assert answer.sentence.startswith(f"Not applicable: query 'odd': {len(MEMBERS)} scores stand on both sides")
    (said,) = (each.message for each in answer.warnings if each.code == "sides_share_records")
    assert said in answer.sentence


@each_case("column", ["score", "g"])
def test_integers_of_more_than_64_bits_are_read_of_a_frame_as_of_a_list(column: str) -> None:
    """pandas holds them as objects, and Arrow's own error came out."""
    rows = np.arange(60)
    long = [10**30 + int(row) % 5 for row in rows]
    frame = pd.DataFrame({"score": rows * 7 % 11 / 7, "member": rows % 2, "g": rows % 3}).assign(**{column: long})
    sides = {side: frame[frame["member"] == inside] for side, inside in (("members", 1), ("nonmembers", 0))}
    of_frame = macekit.report(frame, score="score", group="g")
    lists = {side: each["score"].tolist() for side, each in sides.items()}
    groups = {side: each["g"].tolist() for side, each in sides.items()}
    assert of_frame.advantage == macekit.report(**lists, groups=groups).advantage
