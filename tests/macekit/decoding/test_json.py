"""JSON gives exactly what was written, or says what is wrong with it and where."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators import Counts
from estimators.errors import MixedTypes, NotFinite, RaggedRows
from macekit.decoding import json_values as reader
from macekit.decoding.columns import COLUMNS
from macekit.decoding.json_values import NotPlainError, read_careful, read_fast
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, read, refusal


@pytest.fixture(scope="module", params=[True, False], ids=["simdjson", "no simdjson"], autouse=True)
def has_simdjson(request: pytest.FixtureRequest) -> Iterator[None]:
    """Everything here holds with simdjson installed, and without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "HAS_SIMDJSON", request.param)
        yield


def plain(value: Any) -> Any:
    """Columns as lists again."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def equal(found: Any, meant: Any) -> bool:
    """Whether two values are the same number or text; within a column of floats an integer is the nearest float."""
    if isinstance(meant, list):
        return isinstance(found, list) and len(found) == len(meant) and all(map(equal, found, meant))
    if isinstance(meant, bool | str) or isinstance(found, bool | str) or meant is None:
        return type(found) is type(meant) and found == meant
    if isinstance(found, float):
        return found == float(meant) and math.copysign(1, found) == math.copysign(1, float(meant))
    return type(found) is type(meant) and found == meant


numbers = st.one_of(
    st.integers(-10, 10),
    st.integers(-(2**63), 2**64),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, -0.0, 2.0**53, 5e-324, 1e308]),
)
leaves = st.one_of(numbers, st.text(max_size=5), st.booleans(), st.none())
arrays = st.one_of(
    st.lists(numbers, max_size=8),
    st.lists(st.lists(numbers, min_size=2, max_size=2), max_size=5),
    st.lists(st.text('[]a\\"', max_size=4), max_size=6),
    st.lists(st.booleans(), max_size=6),
    st.lists(st.recursive(leaves, lambda inner: st.lists(inner, max_size=4), max_leaves=8), max_size=5),
)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from(["members", "nonmembers", "targets", "units", "prior"]), arrays, max_size=4))
def test_any_array_is_what_was_written_or_an_error(document: dict[str, Any]) -> None:
    body = json.dumps(document).encode()

    try:
        found = reader.read(memoryview(body))
    except REFUSALS:
        return

    assert found.keys() == document.keys()
    for name, values in document.items():
        assert equal(plain(found[name]), values)


@pytest.mark.slow
@settings(max_examples=120)
@given(
    st.dictionaries(
        st.sampled_from(["members", "groups", "counts", "x"]),
        arrays | st.dictionaries(st.sampled_from(["keys", "y"]), arrays),
    )
)
def test_the_fast_path_gives_what_the_careful_one_gives(document: dict[str, Any]) -> None:
    body = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")

    try:
        quick = read_fast(body)
    except NotPlainError:
        return
    except REFUSALS as refused:
        with pytest.raises(type(refused)):
            read_careful(body)
        return
    slow = read_careful(body)

    assert equal([*plain(quick).items()], [*plain(slow).items()])
    assert all(type(quick[name]) is type(slow[name]) for name in quick)
    assert all(getattr(quick[name], "dtype", None) == getattr(slow[name], "dtype", None) for name in quick)


NESTED = [*("[1,[2,3],4]", "[1,[2],3]", "[[1],2]", "[1,2,[]]"), *("[[1,2],[[3],4]]", "[[1,2],[[3,4]]]", "[[],[1,[]]]")]


@each_case(
    "body",
    *(f'{{"{name}": {text}, "prior": 0.5}}' for name in sorted(COLUMNS) for text in NESTED),
    '{"members": [[1, 2], 3, [4, 5]], "nonmembers": [1, [2], 3]}',  # may not make up for each other's brackets
)
def test_an_array_within_numbers_is_never_flattened(body: str) -> None:
    with pytest.raises(REFUSALS):
        read(body.encode())


@each_case("text, dtype", [
    ("[1, 2]", np.int64), ("[1, 2.5]", np.float64), ("[-0.0]", np.float64), ("[1e3]", np.float64),
    ("[18446744073709551615, 1]", np.uint64), ("[]", np.float64), ("[[1, 2], [3, 4]]", np.float64),
    (f"[{2**70}, {2**70 + 1}, -1, {2**63}]", object),
])  # fmt: skip
def test_numbers_keep_their_kind(text: str, dtype: type) -> None:
    found = read(f'{{"members": {text}}}'.encode()).samples[""].members

    assert isinstance(found, np.ndarray)
    assert found.dtype == dtype
    assert found.tolist() == json.loads(text)


BAD = [
    (b'{"members": [1, true]}', MixedTypes, "members", 1),
    (b'{"members": [1, "2"]}', MixedTypes, "members", 1),
    (b'{"members": [1, 2, null]}', NotFinite, "members", 2),
    (b'{"members": [1, {}]}', MixedTypes, "members", 1),
    (b'{"members": [NaN]}', NotFinite, "members", 0),
    (b'{"members": [1, -Infinity]}', NotFinite, "members", 1),
    (b'{"nonmembers": [1, 2, 1e999]}', NotFinite, "nonmembers", 2),
    (b'{"nonmembers": [0.5, 1' + b"0" * 400 + b"]}", NotFinite, "nonmembers", 1),
    (b'{"members": [[1, 2], [3, 1e400]]}', NotFinite, "members", 1),
    (b'{"members": [[1, 2], [3]]}', RaggedRows, "members", 1),
    (b'{"queries": {"a": {}, "b": {"members": [1, null]}}}', NotFinite, "queries[1].members", 1),
    (b'{"counts": {"members": [1, NaN]}}', NotFinite, "counts.members", 1),
]


@each_case("body, kind, field, index", BAD)
def test_a_bad_value_is_named_by_its_field_and_index(body: bytes, kind: type, field: str, index: int) -> None:
    with pytest.raises(kind) as caught:
        read(body)

    assert (caught.value.field, caught.value.index) == (field, index)


UNREADABLE = [
    (b"", "incomplete-body", "empty"),
    (b"  \n", "incomplete-body", "empty"),
    (b"[1, 2]", "malformed-body", "no object"),
    (b"3", "malformed-body", "no object"),
    (b'{"members": [1, 2}', "malformed-body", "at byte 17"),
    ('{"ä": [1, 2}'.encode(), "malformed-body", "at byte 12"),
    (b'\xef\xbb\xbf{"members": [1, 2}', "malformed-body", "at byte 20"),
    (b'{"members": [1, 2]} x', "malformed-body", "at byte 20"),
    (b'{"members": [1, 2]}\0', "malformed-body", "at byte 19"),
    (b'{"members": [1, 2', "incomplete-body", "at byte 17"),
    (b'{"query": "au', "incomplete-body", "at byte"),
    (b'{"query": "\xff"}', "malformed-body", "not UTF-8 at byte 11"),
    (b'{"query": "\\ud800"}', "malformed-body", "surrogate"),
    (b'{"\\udc00": 1}', "malformed-body", "surrogate"),
    (b'{"members": ["a", "\\ud800"]}', "malformed-body", "record 1"),
    (b'{"prior": 0.5, "prior": 0.6}', "malformed-body", "twice"),
    (b'{"members": [1], "members": [2]}', "malformed-body", "members occurs twice"),
    (b'{"a\\u0000b": 1, "a": 2}', "unknown-field", "NUL"),
    (b'{"prior": NaN}', "out-of-range", "NaN"),
    (b'{"prior": 1e999}', "out-of-range", "^prior: NaN or beyond 1e308"),
    (b'{"operating_points": [0.1, NaN]}', "out-of-range", "NaN"),
    (b'{"members": [' + b"1" * 5000 + b"]}", "out-of-range", "thousands of digits"),
    (b'{"members": 3}', "wrong-type", "need a list"),
    (b'{"members": [null]}', "not-finite", "record 0 has no value"),
    (b'{"members": [[1, "2"]]}', "wrong-type", "row 0 holds a value that is text"),
    (b'{"counts": [1]}', "wrong-type", "counts"),
    (b'{"queries": [1]}', "wrong-type", "queries"),
    (b'{"queries": {"a": 1}}', "wrong-type", r"queries\[0\]"),
    (b'{"queries": {"a": {"member": [1]}}}', "unknown-field", "did you mean 'members'"),
    (b'{"queries": {"": {"members": [1]}}}', "out-of-range", "0 characters"),
    (b'{"queries": {"' + b"q" * 201 + b'": {"members": [1]}}}', "out-of-range", "201 characters"),
    (b'{"members": [1], "queries": {"a": {"members": [1]}}}', "bad-option", "queries"),
    (b'{"groups": {"members": [1]}}', "missing-field", "groups"),
    (b'{"units": {"member": [1]}}', "unknown-field", "units"),
    (b"[" * 10**6, "malformed-body", "deeper"),
    (b'{"a":' * 10**5, "malformed-body", "deeper"),
    (b'{"a":' * 100 + b"1" + b"}" * 100, "malformed-body", "deeper"),
]


@each_case("body, slug, match", UNREADABLE)
def test_a_body_that_cannot_be_read_is_a_problem_that_says_why(body: bytes, slug: str, match: str) -> None:
    problem = refusal(body)

    assert problem.kind.slug == slug
    assert re.search(match, problem.detail)
    assert len(problem.body()) < 4096


def test_no_value_of_the_caller_is_repeated() -> None:
    for body in (b'{"s3cret": [1, {"members": ["s3cret", 1]}]}', b'{"members": ["s3cret", 1]}', b'{"s3cret": s3cret}'):
        refusal(body)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert read(b'\xef\xbb\xbf{"members": [1, 2]}').samples[""].members is not None


def test_null_stands_for_what_is_not_there() -> None:
    found = read(
        b'{"members": [1], "nonmembers": null, "counts": null, "groups": null, "queries": null, "metric": null}'
    )

    assert found.samples[""].nonmembers is None
    assert found.samples[""].counts is None
    assert found.groups is None
    assert found.options == {"metric": None}
    assert read(b'{"members": null, "counts": null}').samples == {}


def test_several_queries_go_by_their_names() -> None:
    found = read(
        b'{"queries": {"b": {"members": [1], "nonmembers": [2.5]}, "a": {"counts": {"members": [1]}}}, "prior": 0.3}'
    )

    assert list(found.samples) == ["b", "a"]
    assert found.samples["a"].counts is not None
    assert found.options == {"prior": 0.3}


def test_at_most_a_thousand_queries_fit() -> None:
    queries = {f"q{i}": {"members": [1]} for i in range(1001)}

    assert len(read(json.dumps({"queries": dict(list(queries.items())[:1000])}).encode()).samples) == 1000
    with pytest.raises(Problem, match="1000"):
        read(json.dumps({"queries": queries}).encode())


def test_labels_may_come_side_by_side() -> None:
    numbers = read(b'{"groups": {"members": [1, 2], "nonmembers": [3]}}').groups
    texts = read(b'{"groups": {"members": ["a"], "nonmembers": ["b"]}}').groups

    assert numbers is not None
    assert list(numbers) == [1, 2, 3]
    assert texts == ["a", "b"]
    for other in (b'["1"]', b"[true]"):  # of two kinds, as in one list
        with pytest.raises(MixedTypes, match="all text or all numbers"):
            read(b'{"groups": {"members": [1], "nonmembers": ' + other + b"}}")


def test_counts_are_read_as_the_library_wrote_them() -> None:
    counts = Counts.of([5, 3, 2], [1, 4, 5], [0.0, 1.0])

    found = read(json.dumps({"counts": counts.to_dict()}).encode()).samples[""].counts

    assert found is not None
    assert Counts.from_dict(found).to_dict() == counts.to_dict()


@pytest.mark.slow
def test_ten_thousand_shards_are_read() -> None:
    cells = {"kind": "grid", "exponent": 0, "keys": [1, 2]}
    shard = {"members": [1, 2], "nonmembers": [3, 4], "cells": cells}

    found = read(json.dumps({"shards": [shard] * 10_000}).encode()).options["shards"]

    assert isinstance(found, list)
    assert len(found) == 10_000


def test_options_of_a_json_body_do_not_stand_in_the_address() -> None:
    with pytest.raises(Problem, match="stand in it, not in the query string"):
        read(b'{"members": [1]}', prior="0.5")


def test_those_of_a_file_of_counts_do_unless_it_has_some() -> None:
    sides = {"members": [5, 5], "nonmembers": [5, 5]}
    written = {"sentence": "", "counts": sides, "columns": [], "input_sha256": ""}

    found = read(json.dumps(written).encode(), prior="0.5", **{"metric.beta": "2"})

    assert (found.options, found.textual) == ({"prior": "0.5", "metric": {"beta": "2"}}, True)
    assert Counts.from_dict(found.samples[""].counts).to_dict() == Counts.from_dict(sides).to_dict()
    for more, named in (({"seed": 3}, {"prior": "0.5"}), ({}, {"score": "loss"})):
        with pytest.raises(Problem, match="stand in it, not in the query string"):
            read(json.dumps(written | more).encode(), **named)


def test_what_is_known_to_be_odd_comes_with_the_records() -> None:
    known = [{"code": "dependent_rows", "message": "rows of one 'id' are alike"}]
    sides = {"members": [1, 2], "nonmembers": [3]}
    for records in (sides, {"queries": {"a": sides, "b": sides}}, {"counts": sides}):
        found = read(json.dumps({**records, "warnings": known}).encode())
        assert [(each.code, each.message) for each in found.cautions] == [(*known[0].values(),)]
        assert found.options == {}
        assert read(json.dumps({**records, "warnings": None}).encode()).cautions == ()
        for wrong in ("odd", [1], [{"code": "odd"}], {"code": "odd", "message": ""}):
            assert refusal(json.dumps({**records, "warnings": wrong}).encode()).kind.slug == "wrong-type"


@settings(max_examples=80)
@given(st.binary(max_size=60) | st.text('{}[]",:0123456789.eE-+ntfmembrs\\u', max_size=60).map(str.encode))
def test_random_bytes_are_material_or_a_problem(body: bytes) -> None:
    try:
        read(body)
    except REFUSALS:
        return


def test_a_body_cut_anywhere_is_a_problem() -> None:
    body = b'{"members": [0.25, 1, 2e3], "nonmembers": [[1, 2], [3, 4]], "groups": {"members": ["a[", "\\u00e4"]}}'

    for size in range(len(body)):
        assert refusal(body[:size]).kind.slug in ("incomplete-body", "malformed-body")
