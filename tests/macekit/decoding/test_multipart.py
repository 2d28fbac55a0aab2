"""Several files in one body: the same answers as from JSON, whatever each file is; and nothing of a broken form."""

import gzip
import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from macekit.call import CSV, FORM_DATA, PARQUET, Body, Call
from macekit.operations import perform
from tests.cases import each_case
from tests.macekit.asking import asked, post, refused
from tests.macekit.decoding.support import Part, form, lines, npy_bytes, table_bytes

posted, answer = partial(post, media_type=FORM_DATA), partial(asked, media_type=FORM_DATA)


def refusal(operation: str, body: bytes) -> tuple[str, str]:
    problem = refused(operation, body, FORM_DATA)
    return problem["kind"], problem["detail"]


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    """All but where the records came from."""
    return {name: value for name, value in found.items() if name not in ("provenance", "columns")}


RNG = np.random.default_rng(0)
MEMBERS, NONMEMBERS = RNG.normal(0.7, 1.0, 80).tolist(), RNG.normal(0.0, 1.0, 60).tolist()
PEOPLE = {
    side: {"age": RNG.integers(18, 80, 60).tolist(), "town": RNG.choice(["a", "b", "c"], 60).tolist()}
    for side in ("train", "holdout")
}
SIDES = (
    ("members", "m.csv", table_bytes({"score": MEMBERS}, CSV)),
    ("nonmembers", "n.parquet", table_bytes({"score": NONMEMBERS}, PARQUET)),
)
LIMIT = ("max_advantage", None, b"0.2")


@pytest.mark.slow
def test_a_file_for_each_side_and_options_beside_them_are_the_question_in_json() -> None:
    question = {
        "members": MEMBERS, "nonmembers": NONMEMBERS, "max_advantage": 0.2,
        "metric": {"preset": "f_beta", "beta": 2.0}, "max": 0.9,
    }  # fmt: skip
    expected = numbers(asked("gate", question))
    more = ("metric.preset", None, b"f_beta"), ("metric.beta", None, b"2"), ("max", None, b"0.9")

    for parts in ((*SIDES, LIMIT, *more), (LIMIT, *reversed(SIDES), *more)):
        assert numbers(answer("gate", form(*parts))) == expected
    in_query = {"max_advantage": "0.2", "metric.preset": "f_beta", "metric.beta": "2", "max": "0.9"}
    assert numbers(answer("gate", form(*SIDES), **in_query)) == expected


@each_case("pack", [bytes, gzip.compress])
def test_one_file_of_both_sides_may_be_compressed_and_its_columns_are_named_as_ever(pack: Any) -> None:
    scores, member = [*MEMBERS, *NONMEMBERS], [1] * len(MEMBERS) + [0] * len(NONMEMBERS)
    file = pack(table_bytes({"loss": scores, "other": scores, "seen": member}, CSV))
    expected = numbers(asked("advantage", {"members": MEMBERS, "nonmembers": NONMEMBERS}))

    named = (("score", None, b"loss"), ("member", None, b"seen"))
    found = answer("advantage", form(("scores", "s.csv", file), *named))
    assert numbers(found) == expected
    assert found["provenance"]["options"].items() >= {"score": "loss", "member": "seen"}.items()


def test_each_file_of_a_comparison_is_a_query() -> None:
    member = [1] * len(MEMBERS) + [0] * len(NONMEMBERS)
    both = table_bytes({"score": [*MEMBERS, *NONMEMBERS], "member": member}, CSV)
    sample = {"members": MEMBERS, "nonmembers": NONMEMBERS}
    expected = asked("compare", {"queries": {"old": sample, "new": sample}})

    assert numbers(answer("compare", form(("old", "1", both), ("new", "2", both)))) == numbers(expected)


@pytest.mark.slow
def test_each_table_is_a_file_and_its_missing_values_are_known() -> None:
    tables = {side: table_bytes(columns, CSV) for side, columns in PEOPLE.items()}
    expected = numbers(asked("check", PEOPLE))

    parts: list[Part] = [(side, f"{side}.csv", content) for side, content in tables.items()]
    assert numbers(answer("check", form(*parts))) == expected
    # no name of a file: told by its first bytes
    parts[0] = ("train", None, table_bytes(PEOPLE["train"], PARQUET))
    parts.append(("", "", b""))
    assert posted("check", form(*parts)).problem == "bad-records"
    parts[-1] = ("holdout2", "", b"")
    assert numbers(answer("check", form(*parts))) == expected


@each_case(
    "operation, names", [("check", ("train", "holdout")), ("gate", ("members", "nonmembers")), ("compare", "ab")]
)
def test_files_may_expand_together_as_far_as_one_body_may(operation: str, names: Sequence[str]) -> None:
    rows = b"score,%s\n" % (b"fold" if "members" in names else b"member") + b"0.25,1\n0.75,0\n" * 50_000
    parts = [(name, f"{name}.csv.gz", gzip.compress(rows)) for name in names]
    limit = len(rows) + len(rows) // 2

    reply = perform(Call(operation, FORM_DATA, expanded_limit=limit), Body.of(form(*parts)))

    assert reply.problem == "too-large", bytes(reply.body)[:200]
    twice = gzip.compress(gzip.compress(rows))
    packed = form(*((name, f"{name}.gz", twice) for name in names))
    again = perform(Call(operation, FORM_DATA), Body.of(packed))
    assert again.problem == "malformed-body", "one layer is opened, and no more"


@each_case(
    "operation, parts, slug, words",
    ("gate", SIDES[:1], "missing-field", "nonmembers: is missing"),
    ("gate", (LIMIT,), "missing-field", "holds no file; send scores"),
    ("gate", (*SIDES, ("member", "x.csv", b"1")), "unknown-field", "did you mean 'members'?"),
    ("gate", (*SIDES, ("other", "", b"1")), "unknown-field", "a part with a file is not known"),
    ("gate", (*SIDES, SIDES[0]), "bad-option", "given twice"),
    ("gate", (*SIDES, LIMIT, LIMIT), "bad-option", "query string: an option is given twice"),
    ("gate", (*SIDES, ("scores", "s.csv", b"1")), "bad-option", "scores: holds both sides"),
    ("gate", (*SIDES, ("max_advantag", None, b"1")), "unknown-field", "did you mean 'max_advantage'?"),
    ("gate", (*SIDES, ("prior", None, b"\xff")), "bad-option", "is not UTF-8"),
    ("gate", (*SIDES, ("prior", None, b"1" * 70_000)), "bad-option", "is longer than"),
    ("gate", (SIDES[0], ("nonmembers", "n.csv", b"score\n1\nx\n")), None, "nonmember"),
    ("gate", (("scores", "s.pkl", b"\x80\x04K\x01."),), "pickle", "scores: "),
    ("check", (("train", "t.csv", b"a\n1\n"),), "missing-field", "holdout: is required"),
    ("check", (("train", "t.json", b"{}"), ("holdout", "h.csv", b"a\n1\n")), "unsupported-media-type", "train: "),
    ("compare", (("a", "a.csv", b"score,member\n1,1\n"),), None, ""),
    ("gate", tuple((f"o{n}", None, b"1") for n in range(300)), "out-of-range", "more than 256 parts"),
)
def test_what_is_wrong_is_said_of_its_part(operation, parts, slug, words) -> None:
    found, detail = refusal(operation, form(*parts))

    assert slug in (found, None), detail
    assert words in detail


@each_case(
    "body, words",
    (b"", "does not begin with its boundary"),
    (b"score\n1\n", "does not begin with its boundary"),
    (b"--\r\n", "does not begin with its boundary"),
    (b"--x\r\n\r\n\r\n--x--", "no end of its headers"),
    (b'--x\r\nContent-Disposition: attachment; name="a"\r\n\r\n1\r\n--x--', "has no name"),
    (b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--", "has no name"),
    (b"--x\r\n" + b"A: b\r\n" * 3000 + b"\r\n1\r\n--x--", "no end of its headers"),
    (
        b'--x\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n--x--',
        "transfer encoding",
    ),
)
def test_what_is_no_form_is_refused(body: bytes, words: str) -> None:
    assert words in refusal("gate", body)[1]


@pytest.mark.slow
def test_a_form_that_is_cut_anywhere_is_refused_and_one_with_other_bytes_refused_or_read() -> None:
    few = (
        ("members", "m.csv", table_bytes({"score": range(9)}, CSV)),
        ("nonmembers", "n.parquet", table_bytes({"score": range(9)}, PARQUET)),
    )
    whole = form(*few, LIMIT)
    assert posted("gate", whole).status == 200
    for end in range(whole.rindex(b"--")):
        assert posted("gate", whole[:end]).problem is not None, end

    chance = random.Random(1)
    for _ in range(800):
        body = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            body[chance.randrange(len(body))] = chance.randrange(256)
        assert posted("gate", bytes(body)).status in (200, 400, 413, 415, 422)


@pytest.mark.parametrize("boundary", ["-" * 40 + "0123", "a'b(c)+_,./:=?", "x" * 70])
def test_any_boundary_will_do(boundary: str) -> None:
    assert answer("gate", form(*SIDES, LIMIT, boundary=boundary))["decision"]


def test_texts_come_as_a_file_for_each_side_in_whatever_form_each_is() -> None:
    scales = {"members": 1, "nonmembers": 4}
    sides = {name: [[-0.5 * k, -scale] for k in range(12)] for name, scale in scales.items()}
    array, seen = npy_bytes(np.array(sides["nonmembers"])), lines(*sides["members"])

    parts = ("members", "seen.jsonl.gz", gzip.compress(seen)), ("nonmembers", "unseen.npy", array)
    found = answer("text", form(*parts, ("max_advantage", None, b"0.1")))

    assert found == asked("text", sides | {"max_advantage": 0.1})
    alone = refusal("text", form(("members", "seen.jsonl", seen)))
    assert alone == ("missing-field", "nonmembers: is required and missing")
    assert refusal("text", form(("members", "a.jsonl", b'["a"]\n'), ("nonmembers", "b.jsonl", seen)))[1] == (
        "members: line 1: logprobs: token 0 is text; need a number"
    )
