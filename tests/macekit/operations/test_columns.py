"""``/v1/columns`` reads the head of a file: whole or cut off, in every format, bad or empty."""

import gzip
import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET, Body, Call
from macekit.operations import perform
from tests.app.http.asked import ENCODERS, as_arrow, as_csv, as_parquet
from tests.cases import each_case
from tests.macekit.decoding.support import arrow_bytes, npy_bytes

ROWS = 30_000
TABLE = pa.table(
    {
        "score": np.random.default_rng(0).random(ROWS),
        "Member": np.arange(ROWS) % 2 == 0,
        "group": ["a", "b, or c", "=1+1"] * (ROWS // 3),
        "age": np.arange(ROWS),
        "when": pa.array(np.arange(ROWS), pa.timestamp("s")),
        "kind": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
    }
)
KINDS = ("number", "boolean", "text", "number", "other", "text")
TYPES = dict(zip(TABLE.column_names, KINDS, strict=True))
ROLES = {"score": ["score"], "member": "Member", "group": "group"}
SPELT = TYPES | {"when": "text"}
"""In CSV everything is text that spells something."""


def reply(body: bytes, media_type: str = CSV, **more: Any) -> tuple[int, Any]:
    found = perform(Call("columns", media_type, **more), Body.of(body))
    return found.status, json.loads(bytes(found.body))


def found(body: bytes, media_type: str = CSV, **more: Any) -> Any:
    status, answer = reply(body, media_type, **more)
    assert status == 200, answer
    return answer


def types(answer: Any) -> dict[str, str]:
    return {column["name"]: column["type"] for column in answer["columns"]}


def roles(answer: Any) -> dict[str, Any]:
    return {name: answer[name] for name in ROLES}


def structured() -> bytes:
    kinds = ["f4", "?", "U3", "u1", "M8[s]", "U1"]
    return npy_bytes(np.zeros(9, [*zip(TYPES, kinds, strict=True)]))


@each_case("media_type, body, expected", [
        (CSV, as_csv(TABLE), SPELT), (NPY, structured(), TYPES), (ARROW, as_arrow(TABLE), TYPES),
        (ARROW, arrow_bytes(TABLE, ARROW_FILE), TYPES), (ARROW_FILE, arrow_bytes(TABLE, ARROW_FILE), TYPES),
    ])  # fmt: skip
def test_a_head_is_enough_wherever_it_is_cut(media_type: str, body: bytes, expected: dict[str, str]) -> None:
    least = 300 if media_type in (CSV, NPY) else 1000  # the schema of Arrow is longer
    for size in (least, 4096, 2**18, None):
        answer = found(body[:size], media_type)

        assert types(answer) == expected, size
        assert roles(answer) == ROLES, size


def test_of_parquet_the_footer_is_enough() -> None:
    body = as_parquet(TABLE)
    cut = b"PAR1" + body[-8 - int.from_bytes(body[-8:-4], "little") :]

    answer = found(cut, PARQUET)

    assert len(cut) < len(body) / 10
    assert answer == found(body, PARQUET)
    assert types(answer) == TYPES
    assert roles(answer) == ROLES


@each_case("encoding", ENCODERS)
def test_a_compressed_head_may_be_cut_too(encoding: str) -> None:
    body = ENCODERS[encoding](as_csv(TABLE))

    for size in (2**17, None):
        assert types(found(body[:size], CSV, encoding=encoding)) == SPELT


def test_plain_arrays_have_no_columns() -> None:
    for array in (np.zeros(9), np.zeros((9, 3))):
        nothing = {"score": None, "no_score": None, "member": None, "group": None, "truth": None}
        assert found(npy_bytes(array), NPY) == {"columns": [], **nothing, "ids": [], "rows": 9}


@each_case("header, truth, ids", [
    ("age,label,p_0", "label", []), ("Y,p_0", "Y", []), ("label,target,p_0", None, []),
    ("id,patient_id,age", None, ["id", "patient_id"]), (",age", None, [""]),
])  # fmt: skip
def test_the_truth_and_what_numbers_the_rows_are_known_by_their_names(header, truth, ids) -> None:
    answer = found(f"{header}\n".encode())

    assert (answer["truth"], answer["ids"]) == (truth, ids)


def test_how_many_rows_there_are_is_said_where_the_file_says_it() -> None:
    assert found(as_parquet(TABLE), PARQUET)["rows"] == ROWS
    assert found(structured(), NPY)["rows"] == 9
    assert found(as_csv(TABLE))["rows"] is None


@each_case(
    "header, expected",
    ("score,split", (["score"], "split", None)),
    ("score,label", (["score"], None, None)),
    ("loss,label,is_train", (["loss"], "is_train", None)),
    ("gap,label,is_train", (None, "is_train", None)),
    ("SCORE;is_member;GROUP", (["SCORE"], "is_member", "GROUP")),
    ("loss\tmembership", (["loss"], "membership", None)),
    ("margin,gap,member", (None, "member", None)),
    ("margin,inside", (None, None, None)),
    ("loss,margin,member", (["loss"], "member", None)),
    ("confidence,Loss,member", (["Loss"], "member", None)),
    ("probability,logit,member", (["logit"], "member", None)),
    ("age,attack_score,member", (["attack_score"], "member", None)),
    ("score_2,age,member", (["score_2"], "member", None)),
    ("loss,loss,score,member", (["score"], "member", None)),
    ("score,score,age,member", (None, "member", None)),
    ("id,margin,member", (["margin"], "member", None)),
    (",margin,member", (["margin"], "member", None)),
    ("Unnamed: 0,Index,record_id,margin,member", (["margin"], "member", None)),
    ("id,member", (None, "member", None)),
    ("member,member,score", (["score"], None, None)),
    ("loss,member,group", (["loss"], "member", "group")),
    ("score", (["score"], None, None)),
    ("group,group,score,in_train", (["score"], "in_train", None)),
)
def test_roles_are_those_the_service_takes_and_null_where_that_is_not_clear(header, expected) -> None:
    answer = found(f"{header}\n".encode())

    assert (answer["score"], answer["member"], answer["group"]) == expected
    assert {column["type"] for column in answer["columns"]} == {"text"}


SPELT_OUT = b'a,b,c,d,e\n1, 0.5,true,"x\n1",\n,NaN,False,2,\n-3,1e5,TRUE,,NA\n4,cut of'


@each_case(
    "body, expected",
    (SPELT_OUT, {"a": "number", "b": "number", "c": "boolean", "d": "text", "e": "text"}),
    (b"a,b\n1,x", {"a": "number", "b": "text"}),  # a single row without an end counts
)
def test_what_csv_spells_decides_and_what_is_missing_does_not(body: bytes, expected: dict[str, str]) -> None:
    assert types(found(body)) == expected


def test_names_come_back_as_they_are_whatever_they_hold() -> None:
    names = ["=cmd|' /C calc'!A0", "<script>", "\u202egnirts", "x" * 5000]

    assert list(types(found(as_csv(pa.table({name: [1] for name in names}))))) == names


CUT = as_arrow(TABLE)[:100]


@each_case("media_type, body, status, slug", [
    (CSV, b"", 400, "incomplete-body"), (CSV, b"\n\n", 400, "incomplete-body"),
    (CSV, b"1,2\n3,4\n", 422, "missing-field"), (CSV, b"\xff\xfe\n", 400, "malformed-body"),
    (CSV, b"a" * 2**19, 400, "malformed-body"), (NPY, b"", 400, "incomplete-body"),
    (NPY, b"no such thing", 400, "malformed-body"), (NPY, structured()[:50], 400, "incomplete-body"),
    (NPY, npy_bytes(np.array([None, {}], dtype=object)), 415, "pickle"),
    (ARROW, b"", 400, "incomplete-body"), (ARROW, b"no such thing", 400, "incomplete-body"),
    (ARROW, as_csv(TABLE), 400, "incomplete-body"), (ARROW, CUT, 400, "incomplete-body"),
    (PARQUET, b"", 400, "incomplete-body"), (PARQUET, as_csv(TABLE)[:5000], 400, "malformed-body"),
    (PARQUET, as_parquet(TABLE)[:5000], 400, "malformed-body"),
    (JSON, b"{}", 415, "unsupported-media-type"),
])  # fmt: skip
def test_what_is_no_head_of_a_table_is_refused_and_not_repeated(media_type, body, status, slug) -> None:
    came, problem = reply(body, media_type)

    assert (came, problem["type"]) == (status, f"urn:mace:problem:{slug}")
    assert "such thing" not in problem["detail"]


def test_names_that_are_no_text_and_options_are_refused() -> None:
    sink = io.BytesIO()
    np.lib.format.write_array_header_1_0(sink, {"descr": [("\\ud800", "<f8")], "fortran_order": False, "shape": (3,)})

    for (status, problem), expected in (
        (reply(sink.getvalue().replace(b"\\\\ud800", b"\\ud800 "), NPY), (400, "malformed-body")),
        (reply(b"a\n1\n", query=(("score", "a"),)), (422, "unknown-field")),
    ):
        assert (status, problem["type"].rpartition(":")[2]) == expected


@pytest.mark.slow
def test_what_a_compressed_head_expands_to_is_bounded() -> None:
    bomb = gzip.compress(b"a,b\n" + bytes(2**26))

    assert len(found(bomb, encoding="gzip", expanded_limit=2**20)["columns"]) == 2


def test_hostile_schemas_do_no_harm() -> None:
    rng = np.random.default_rng(0)
    few = TABLE.slice(0, 50)
    for media_type, body in ((PARQUET, as_parquet(few)), (ARROW, as_arrow(few))):
        for _ in range(200):
            broken = bytearray(body)
            for at in rng.integers(0, len(body), 5):
                broken[at] = rng.integers(0, 256)
            assert reply(bytes(broken), media_type)[0] in (200, 400, 422)


def test_a_file_with_two_columns_of_one_name_is_described() -> None:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array(["x"])], ["a", "a"]), sink)

    assert [column["type"] for column in found(sink.getvalue(), PARQUET)["columns"]] == ["number", "text"]


RECORDS = [(100 + at, at % 7, at / 8, at % 2) for at in range(20)]
NUMBERED = pa.table(dict(zip(("row", "age", "gap", "member"), zip(*RECORDS, strict=True), strict=True)))
WRITERS = {CSV: as_csv, ARROW: as_arrow, PARQUET: as_parquet}


@each_case("media_type", WRITERS)
def test_a_column_of_all_different_whole_numbers_is_not_taken_for_scores_but_by_its_name(media_type: str) -> None:
    answer = found(WRITERS[media_type](NUMBERED.select(["row", "gap", "member"])), media_type)

    assert (answer["score"], answer["no_score"]) == (["gap"], None)
    assert found(b"score,member\n1,1\n2,0\n3,1\n")["score"] == ["score"]


def test_why_no_column_is_taken_for_scores_is_said() -> None:
    several = found(as_csv(NUMBERED))
    numbers = found(as_csv(NUMBERED.select(["row", "member"])))

    assert several["score"] is None
    assert several["no_score"] == (
        "2 columns could be the scores, and none is called score, loss, confidence, logit or probability"
    )
    assert numbers["score"] is None
    assert "number the records" in numbers["no_score"]


def test_the_service_reads_what_is_suggested_unless_two_columns_have_usual_names() -> None:
    rows = "".join(f"{at},{at / 7},{-at / 9},{at % 2}\n" for at in range(40)).encode()
    clear, unclear = b"id,loss,margin,member\n" + rows, b"id,loss,logit,member\n" + rows

    assert found(clear)["score"] == found(unclear)["score"] == ["loss"]
    named = perform(Call("advantage", CSV, query=(("score", "loss"),)), Body.of(clear))
    usual = perform(Call("advantage", CSV), Body.of(clear))
    refused = perform(Call("advantage", CSV), Body.of(unclear))
    assert usual.status == named.status == 200
    assert json.loads(bytes(usual.body))["advantage"] == json.loads(bytes(named.body))["advantage"]
    assert json.loads(bytes(refused.body))["field"] == "score"
