"""Lines of JSON: each value is of the type that it says it is, and what is wrong is named by its line or row."""

import json
import re
from typing import Any

import numpy as np
import pytest

from macekit.call import NDJSON, Body, Call
from macekit.decoding import blocks, jsonl, reader_of
from macekit.decoding import preview as columns
from macekit.decoding.format import join_sides
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, call, counted, lines, packed, piped, read, refusal

ROWS = [{"score": k / 8, "member": k % 2 == 0, "group": "ab"[k % 3 == 0]} for k in range(40)]


def after(more: object) -> bytes:
    """The rows, and one more."""
    return lines(*ROWS) + (more if isinstance(more, bytes) else lines(more))


def record(score: object, member: object = True) -> dict[str, object]:
    return {"score": score, "member": member}


TWICE = b'{"score": 1, "member": 1, "member": 0}\n'
OTHERS = lines({"x": 1, "member": 1}, {"x": 1, "member": 0, "score": 3})
HALVES = b'{"score": "a", "member": 1}\n{"score": "\\ud800", "member": 1}\n'
CUT = lines(*ROWS[:3])[:-9] + b"\n" + lines(*ROWS)
WRONG: dict[str, tuple[bytes, str, str, int | None]] = {
    "nothing": (b"", "incomplete-body", "is empty", None),
    "blank lines": (b"\n \n", "incomplete-body", "is empty", None),
    "cut off in the last line": (lines(*ROWS)[:-9], "incomplete-body", "line 40: the JSON ended", 39),
    "cut off in a line before it": (CUT, "incomplete-body", "line 3: the JSON ended", 2),
    "something behind an object": (after(b'{"score": 1} x'), "malformed-body", "line 41: .* at byte 13", 40),
    "two objects in a line": (b'{"score": 1}{"score": 2}\n', "malformed-body", "line 1: ", 0),
    "an indented object": (json.dumps(ROWS[0], indent=1).encode(), "incomplete-body", "line 1: ", 0),
    "a list": (b"[1, 1]\n", "malformed-body", "line 1: the line is JSON but no object", 0),
    "a number": (after(b"\n7\n"), "malformed-body", "line 42: .* no object", 40),
    "one name twice": (after(TWICE), "malformed-body", "line 41: .* member occurs twice in one object", 40),
    "no UTF-8": (after(b'{"score": "\xff"}'), "malformed-body", "line 41: .*not UTF-8 at byte 11", 40),
    "a missing score": (after({"member": 1}), "not-finite", "score: row 40 has no value", 40),
    "a null": (after({"member": True, "score": None}), "not-finite", "score: row 40 has no value", 40),
    "a missing member": (after({"score": 1}), "not-finite", "member: row 40 has no value", 40),
    "NaN": (after(b'{"score": NaN, "member": true}'), "not-finite", "score: row 40 is NaN", 40),
    "beyond floats": (after(b'{"score": 1e400, "member": true}'), "not-finite", "score: row 40", 40),
    "text": (after(record("7")), "mixed-types", "score: row 40 is text but others are a number", 40),
    "1 among truth": (after(record(7, 1)), "mixed-types", "member: row 40 is a number but .* a boolean", 40),
    "a list among numbers": (after(record([7])), "mixed-types", "score: row 40 is a row", 40),
    "lists": (lines(record([7, 8])), "wrong-type", "score: row 0 is a list", 0),
    "objects": (lines(record({"x": 7})), "wrong-type", "score: row 0 is an object", 0),
    "who is no member": (lines(ROWS[0], record(1, "x")), "mixed-types", "member: row 1 is text", 1),
    "half of a pair": (HALVES, "malformed-body", "score: row 1 holds half", 1),
    "no score": (
        lines({"a": 1, "b": 2, "member": 1}), "missing-field", "score: 2 columns could be the", None,
    ),
    "other columns later": (OTHERS, "bad-records", "line 2 has a key that no line before it has", 1),
}  # fmt: skip


def refusal_of_both(body: bytes, **query: str) -> Problem:
    """What is said of a body, whole and in blocks."""
    with pytest.raises(REFUSALS) as caught:
        counted(Body.of(body), call(NDJSON, **query))
    found = refusal(body, NDJSON, **query)
    assert Problem.of(caught.value).document() == found.document()  # type: ignore[arg-type]
    return found


@each_case("name", WRONG)
def test_what_is_wrong_is_named_by_its_line_or_row(name: str) -> None:
    body, slug, match, index = WRONG[name]

    problem = refusal_of_both(body)

    assert (problem.kind.slug, problem.index) == (slug, index)
    assert re.search(match, str(problem))


def sides(body: bytes, encoding: str = "identity", **query: str) -> tuple[list[Any], list[Any]]:
    """What is read of each side."""
    sample = read(body, NDJSON, encoding, **query).samples[""]
    return np.asarray(sample.members).tolist(), np.asarray(sample.nonmembers).tolist()


def test_a_key_that_is_not_read_may_come_and_go() -> None:
    body = lines({**record(1, 1), "note": "x"}, {"member": 0, "score": 2.5}, {**record(3, 1), "y": []})

    assert sides(body) == ([1.0, 3.0], [2.5])
    assert sides(lines({"x": 1, "member": 1}, {"x": 2, "member": 0, "score": 3}), score="x") == ([1], [2])


def test_the_shorter_column_of_two_sides_ends_in_blanks() -> None:
    roles = {"members_column": "a", "nonmembers_column": "b"}
    rows = [{"a": k, "b": k + 0.5} for k in range(9)] + [{"a": 9, "b": None}, {"a": 10}]

    assert sides(lines(*rows), **roles) == (list(range(11)), [k + 0.5 for k in range(9)])
    with pytest.raises(REFUSALS, match="nonmembers_column: row 1 has no value"):
        read(lines(rows[0], {"a": 1}, *rows), NDJSON, **roles)


@each_case("block", [1, 7, 100, 2**20])
@each_case("encoding", ["identity", "gzip", "zstd"])
def test_blocks_are_the_whole_wherever_they_are_cut(block, encoding, monkeypatch) -> None:
    monkeypatch.setattr(jsonl, "BLOCK", block)
    body = packed(b"\n" + lines(*ROWS)[:-1], encoding)

    with piped(body) as pipe:
        members, nonmembers = counted(pipe, call(NDJSON, encoding))

    expected = [k / 8 for k in range(0, 40, 2)], [k / 8 for k in range(1, 40, 2)]
    assert (members.tolist(), nonmembers.tolist()) == sides(body, encoding) == expected


@each_case("first", [1, 2**53 + 1, 2**63, 2**70, -1])
def test_integers_stay_what_they_are_from_block_to_block(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "BLOCK", 40)
    values = [first, 2**63 + 1, 5, -3, 2**64 - 1, first]

    assert sides(lines(*map(record, values)))[0] == values
    assert sides(lines(*map(record, [*values, 0.5])))[0] == [*map(float, values), 0.5]


def test_a_line_without_end_is_refused_before_it_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 5000)
    monkeypatch.setattr(jsonl, "BLOCK", 1000)

    problem = refusal_of_both(lines(*ROWS) + b'{"score": "' + b"x" * 10**6)

    assert (problem.kind.slug, problem.detail) == ("too-large", "JSONL, line 41: longer than 5000 bytes")


@pytest.mark.slow
def test_keys_are_bounded() -> None:
    body = lines(*({"score": k, "member": True, f"key{k}": 1} for k in range(3000)))

    problem = refusal_of_both(body, score="score", member="member")

    assert problem.kind.slug == "out-of-range"
    assert "more than 2048 different keys" in problem.detail


def test_neither_keys_nor_values_are_repeated() -> None:
    for body in (
        b'{"s3cret": 1, "s3cret": 2}',
        b'{"score": "s3cret',
        b'{"s3cret": {"score": s3cret}}',
        lines({"x": 1, "member": 1}, {"x": "s3cret", "member": 0}),
        lines({"x": 1, "member": 1}, {"x": 1, "member": 0, "s3cret": 1}),
    ):
        refusal_of_both(body)


def test_arrays_may_be_lists_of_one_length() -> None:
    body = lines(*({"points": [k, k + 0.5]} for k in range(9)))
    options = {"clip": "1", "sigma": "0.5", "delta": "1e-3"}

    result = read(body, NDJSON, operation="theory/pmp-gaussian", **options)

    assert np.asarray(result.arrays["points"]).tolist() == [[k, k + 0.5] for k in range(9)]
    short, text = ([1], "row 9 has 1 values, row 0 has 2"), ([1, "x"], "row 9 holds a value that is text")
    for wrong, match in (short, text):
        with pytest.raises(REFUSALS, match=match):
            read(body + lines({"points": wrong}), NDJSON, operation="theory/pmp-gaussian", **options)


def test_the_head_tells_the_columns() -> None:
    notes = ["a", *[None] * 98]
    rows = [{"id": k, "member": k % 2 == 0, "x": k / 2, "note": note, "of": []} for k, note in enumerate(notes)]
    body = lines(*rows)

    for cut in (len(body), 1000):
        found = columns(call(NDJSON, operation="columns"), Body.of(body[:cut]))

        assert [each.name for each in found] == list(rows[0])
        assert [each.type for each in found] == ["number", "boolean", "number", "text", "other"]
        assert [each.numbering for each in found] == [True, False, False, False, False]


def test_one_side_by_itself() -> None:
    asked = Call("advantage", NDJSON)
    sides = ([{"score": value} for value in values] for values in ([1, 2], [0.5, 3]))
    parts = [reader_of(asked).side(asked, Body.of(lines(*side))) for side in sides]

    sample = join_sides(*parts, ("m.jsonl", "n.jsonl")).samples[""]

    assert np.asarray(sample.members).tolist() == [1, 2]
    assert np.asarray(sample.nonmembers).tolist() == [0.5, 3.0]


def test_a_whole_table_keeps_types_and_what_is_missing() -> None:
    rows = [{"age": 31, "city": "a", "x": 0.5}, {"age": None, "city": "b"}, {"city": None}]

    table = jsonl.FORMAT.whole_columns(Call("synthetic", NDJSON), memoryview(lines(*rows)))

    expected = {"age": [31, None, None], "city": ["a", "b", None], "x": [0.5, None, None]}
    assert {name: list(column) for name, column in table.items()} == expected
    with pytest.raises(Problem, match="holds a list or an object in row 1"):
        jsonl.FORMAT.whole_columns(Call("synthetic", NDJSON), memoryview(lines({"x": 1}, {"x": [1]})))


def test_blocks_are_refused_what_is_read_as_a_whole() -> None:
    with pytest.raises(Problem, match="block by block"), Body.of(lines(*ROWS)) as held:
        list(blocks(call(NDJSON, score="score,group"), held))


@each_case("end", ["\n", "\r\n", "\n\n"])
def test_lines_that_are_said_to_be_json_are_told_what_they_are(end: str) -> None:
    with pytest.raises(Problem, match=r"not JSON at byte \d+; if each of its lines is an object, it is JSON lines"):
        read(lines(*ROWS).replace(b"\n", end.encode()))
    for body in (b'{"members": [1]} {"members": [1]}', b'{"members": [1]}\nx'):
        with pytest.raises(Problem, match=r"not JSON at byte \d+$"):
            read(body)
