"""NPY is read by hand: nothing unpickled, nothing allocated on the word of a header."""

import io
from typing import Any

import numpy as np
import pytest

from macekit.call import NPY, Body
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, call, counted, npy_bytes, read, refusal

VALUES = np.round(np.random.default_rng(2).normal(size=40), 2)
MEMBER = np.arange(40) % 3 == 0
KINDS = ["<f8", ">f8", "<f4", ">f4", "<f2", np.longdouble, "<i8", ">i8", "<i4", "i1", "u1", ">u8", "?"]


def lying(descr: str = "'<f8'", shape: str = "(3,)", data: bytes = b"", fortran: str = "False") -> bytes:
    """A file with a header of our own making."""
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text + data


@each_case("kind", KINDS)
def test_the_first_values_of_a_plain_array_are_members(kind: Any) -> None:
    array = VALUES.astype(kind)

    found = read(npy_bytes(array), NPY, members="15")

    sample = found.samples[""]
    assert isinstance(sample.members, np.ndarray)
    assert sample.members.dtype.isnative
    assert sample.members.tolist() == array[:15].tolist()
    assert list(sample.nonmembers) == array[15:].tolist()  # type: ignore[arg-type]
    assert found.rows is not None
    assert found.rows.tolist() == list(range(40))
    assert found.options == {}


@each_case("kind", ["<f8", ">f8", "<f4", "<i8", "<i2"])
@each_case("order", ["C", "F"])
def test_the_last_column_of_a_matrix_is_membership(kind: str, order: Any) -> None:
    array = np.array(np.column_stack([VALUES * 10, VALUES * 20, MEMBER]).astype(kind), order=order)

    assert np.array_equal(members(array, score="0,1"), array[MEMBER, :2])
    assert np.array_equal(members(array[:, 1:]), array[MEMBER, 1])


def members(array: np.ndarray, **query: str) -> np.ndarray:
    return np.asarray(read(npy_bytes(array), NPY, **query).samples[""].members)


def test_columns_of_a_matrix_go_by_their_numbers() -> None:
    array = np.column_stack([MEMBER, VALUES, VALUES + 1])

    assert np.array_equal(members(array, member="0", score="2"), VALUES[MEMBER] + 1)


def test_numbers_are_read_where_they_lie() -> None:
    body = npy_bytes(np.linspace(0, 1, 1000))

    found = read(body, NPY, members="500").samples[""].members

    assert isinstance(found, np.ndarray)
    assert np.shares_memory(found, np.frombuffer(body, np.uint8))


@each_case("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format_is_read(version: tuple[int, int]) -> None:
    sink = io.BytesIO()
    np.lib.format.write_array(sink, VALUES, version=version)

    assert len(read(sink.getvalue(), NPY, members="15").samples[""].members) == 15  # type: ignore[arg-type]


@each_case(
    "body, slug, match",
    (b"", "incomplete-body", "header"),
    (b"\x93NUMPY\x01\x00", "incomplete-body", "header"),
    (b"\x93NUMPY\x09\x00aaaa", "malformed-body", "not NPY"),
    (b"s3cret, s3cret", "malformed-body", "not NPY"),
    (b"PK\x03\x04aaaaaaaa", "unsupported-media-type", "NPZ"),
    (lying(shape="(16000000000,)"), "incomplete-body", "announces 128000000000 bytes"),
    (lying(shape=f"({2**62}, {2**62})"), "incomplete-body", "announces"),
    (lying(shape="(0,)", data=b"x"), "malformed-body", "follows"),
    (lying(shape="(1,)", data=b"x" * 9), "malformed-body", "follows"),
    (lying(shape="(-3,)"), "malformed-body", "not one"),
    (lying(shape="(True,)"), "malformed-body", "not one"),
    (lying(shape="3"), "malformed-body", "not one"),
    (lying(shape="()", data=b"x" * 8), "dimension-mismatch", "0 dimensions"),
    (lying(shape="(1, 1, 1)", data=b"x" * 8), "dimension-mismatch", "3 dimensions"),
    (lying(shape="(1, 1)", data=b"x" * 8), "dimension-mismatch", "2 dimensions"),
    (lying(shape=f"({10**18}, 0)"), "dimension-mismatch", "2 dimensions"),
    (lying(descr="'O'"), "pickle", "objects"),
    (npy_bytes(np.array([1, "a", None], dtype=object)), "pickle", "objects"),
    (lying(descr="[('score', 'O'), ('member', '?')]"), "pickle", "objects"),
    (lying(descr="'V0'"), "malformed-body", "no room"),
    (lying(descr="('<f8', (3,))"), "malformed-body", "arrays themselves"),
    (lying(descr="'s3cret'"), "malformed-body", "cannot be read"),
    (lying(descr="__import__('os')"), "malformed-body", "cannot be read"),
    (lying(descr="'<f8'", fortran="1"), "malformed-body", "not one"),
    (lying(descr="(" * 100_000), "malformed-body", "cannot be read"),
    (lying(descr="-" * 100_000 + "1"), "malformed-body", "cannot be read"),
    (lying(descr="'" + "x" * 300_000 + "'"), "malformed-body", "longer"),
    (b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"x" * 100, "malformed-body", "longer"),
)
def test_a_header_that_lies_is_found_out(body: bytes, slug: str, match: str) -> None:
    problem = refusal(body, NPY, members="1")

    assert problem.kind.slug == slug
    assert match in problem.detail


@each_case("array", [VALUES.astype(complex), VALUES.astype("M8[s]"), np.array([b"a"] * 40), np.zeros(40, "V8")])
def test_what_is_no_number_is_refused(array: np.ndarray) -> None:
    with pytest.raises(REFUSALS):
        members(array, members="15")


@each_case("kind", ["V8", "S1", "c16", "M8[s]", "m8[s]", "(2,)?", "(1,)?", "(2,)i1"])
@each_case("query", [{}, {"member": "member=1"}])
def test_membership_that_is_no_number_is_refused(kind: str, query: dict[str, str]) -> None:
    body = npy_bytes(np.zeros(40, dtype=[("score", "<f8"), ("member", kind)]))

    for reader in (
        lambda: read(body, NPY, **query),
        lambda: counted(Body.of(body), call(NPY, operation="counts", **query)),
    ):
        with pytest.raises(REFUSALS, match="a column of this type cannot be used"):
            reader()


def test_columns_without_a_type_are_refused() -> None:
    with pytest.raises(REFUSALS, match="a column of this type cannot be used"):
        members(np.zeros((30, 2), "V8"))  # mutant 296823 of benchmarks/fuzz.py


def test_fields_within_fields_are_refused_if_they_are_used() -> None:
    array = np.zeros(10, dtype=[("score", "<f8", (2,)), ("member", "?"), ("x", [("y", "<f8")])])
    for name in ("score", "x"):
        with pytest.raises(Exception, match="cannot be used"):
            members(array, score=name)


@each_case("number", ["-1", "41", "1.5", "x", "", "1" * 40, "٣"])
def test_a_number_of_members_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(Problem, match="whole number from 0 to 40") as caught:
        members(VALUES, members=number)

    assert caught.value.field == "members"


def test_a_number_of_members_belongs_to_a_plain_array() -> None:
    with pytest.raises(Problem, match="needs members=N"):
        members(VALUES)
    with pytest.raises(Problem, match="one dimension"):
        members(np.column_stack([VALUES, MEMBER]), members="3")
