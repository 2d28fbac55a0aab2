"""NPZ is arrays by their names: nothing unpickled, nothing expanded before its size is known to fit."""

import io
import json
import re
import tracemalloc
import zipfile
from typing import Any

import numpy as np
import pytest

from estimators.errors import DimensionMismatch
from macekit.call import NPY, NPZ, Body, Call
from macekit.decoding import blocks, reader_of
from macekit.decoding import preview as columns
from macekit.decoding.format import join_sides
from macekit.operations import perform
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, call, npy_bytes, npz_bytes, packed, read, refusal

RNG = np.random.default_rng(3)
A, B = np.round(RNG.normal(1, 1, 30), 3), np.round(RNG.normal(0, 1, 20), 3)
SCORE, MEMBER = np.concatenate([A, B]), np.arange(50) < 30
LOSSES = np.array([k % 7 for k in range(12)], dtype=np.float64)


def npz(compress: bool = False, **arrays: Any) -> bytes:
    return npz_bytes(arrays, compress)


def zipped(*entries: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", compression) as file:
        for name, data in entries:
            file.writestr(name, data)
    return sink.getvalue()


def sides(body: bytes, encoding: str = "identity", **query: str) -> tuple[list[Any], list[Any]]:
    """What is read of each side."""
    sample = read(body, NPZ, encoding, **query).samples[""]
    return np.asarray(sample.members).tolist(), np.asarray(sample.nonmembers).tolist()


@each_case("compress", [False, True])
@each_case("encoding", ["identity", "gzip", "zstd"])
@each_case(
    "arrays",
    {"members": A, "nonmembers": B},
    {"score": SCORE, "member": MEMBER},
    {"scores": SCORE, "member": MEMBER.astype(int), "id": np.arange(50), "note": np.zeros(7)},
    {"Scores": SCORE, "split": np.where(MEMBER, "train", "test")},
    {"loss": SCORE, "member": MEMBER, "epoch": np.array([3])},
)
def test_both_sides_are_read(arrays: dict[str, Any], encoding: str, compress: bool) -> None:
    assert sides(packed(npz(compress, **arrays), encoding), encoding) == (A.tolist(), B.tolist())


@each_case("kind", [">f8", "<f4", "<i8", "u1", "?", "<U3"])
def test_every_type_is_read_as_npy_reads_it(kind: str) -> None:
    scores = (np.arange(50) % 3).astype(kind)
    table = np.empty(50, [("score", scores.dtype), ("member", "?")])
    table["score"], table["member"] = scores, MEMBER

    expected = answer(NPY, npy_bytes(table))

    assert answer(NPZ, npz(score=scores, member=MEMBER)) == expected
    assert answer(NPZ, npz(members=scores[:30], nonmembers=scores[30:])) == expected


def answer(media_type: str, body: bytes) -> Any:
    content = json.loads(bytes(perform(Call("counts", media_type), Body.of(body)).body))
    return content.get("counts", content.get("type"))


@each_case(
    "arrays",
    {"members": np.column_stack([A, A + 1]), "nonmembers": np.column_stack([B, B + 1])},
    {"scores": np.column_stack([SCORE, SCORE + 1]), "member": MEMBER},
    {"score": np.asfortranarray(np.column_stack([SCORE, SCORE + 1])), "member": MEMBER},
)
def test_two_dimensions_are_a_vector_for_each_record(arrays: dict[str, Any]) -> None:
    assert sides(npz(**arrays)) == tuple(np.column_stack([side, side + 1]).tolist() for side in (A, B))


def test_arrays_are_named_as_columns_are() -> None:
    body = npz(x=A, y=B, score=SCORE, who=np.where(MEMBER, "a", "b"), age=np.arange(50) // 10)

    for query, roles in (
        ({"members_column": "x", "nonmembers_column": "y"}, {"members": "x", "nonmembers": "y"}),
        ({"score": "score", "member": "who=a", "group": "age"}, {"score": "score", "member": "who", "group": "age"}),
    ):
        assert sides(body, **query)[0] == A.tolist()
        assert {each.role: each.name for each in read(body, NPZ, **query).columns} == roles
    assert {*read(npz(a=SCORE, b=-SCORE, member=MEMBER), NPZ, operation="compare").samples} == {"a", "b"}
    assert refusal(body, NPZ, members_column="x", nonmembers_column="y", group="age").field == "group"


def test_one_side_by_itself_and_arrays_of_theory() -> None:
    asked = Call("advantage", NPZ)
    parts = [reader_of(asked).side(asked, Body.of(npz(arr_0=each))) for each in (A, B)]
    sample = join_sides(*parts, ("m.npz", "n.npz")).samples[""]
    points = np.arange(12.0).reshape(6, 2)
    options = {"clip": "1", "sigma": "0.5", "delta": "1e-3"}

    assert np.asarray(sample.members).tolist() == A.tolist()
    result = read(npz(points=points), NPZ, operation="theory/pmp-gaussian", **options)
    assert np.asarray(result.arrays["points"]).tolist() == points.tolist()
    both = read(npz(train_losses=LOSSES, heldout_losses=LOSSES[:9]), NPZ, operation="theory/mis-overfitting")
    assert np.asarray(both.arrays["heldout_losses"]).tolist() == LOSSES[:9].tolist()


def test_points_of_two_lengths_are_refused() -> None:
    with pytest.raises(DimensionMismatch, match="points: one column has 9 values, another 12"):
        read(npz(a=LOSSES[:12], b=LOSSES[:9]), NPZ, operation="theory/pmp-gaussian", clip="1", sigma="0.5")


def test_the_columns_are_told() -> None:
    numbers = {"id": np.arange(9), "score": np.ones(9)}
    body = npz(**numbers, member=np.ones(9, bool), name=np.full(9, "x"), v=np.ones((9, 2)))

    told = columns(call(NPZ, operation="columns"), Body.of(body))

    types = {"id": "number", "score": "number", "member": "boolean", "name": "text", "v": "other"}
    assert {each.name: each.type for each in told} == types
    assert [each.name for each in told if each.numbering] == ["id"]


SOUND = ("members.npy", npy_bytes(A)), ("nonmembers.npy", npy_bytes(B))


def beside(name: str, data: bytes = npy_bytes(A)) -> bytes:
    """An entry beside a sound one."""
    return zipped((name, data), SOUND[1])


PAIR = np.column_stack([MEMBER, MEMBER])
MANY = ((f"a{k}.npy", npy_bytes(A[:1])) for k in range(1001))
BAD: dict[str, tuple[bytes, str, str]] = {
    "nothing": (b"", "incomplete-body", "is empty"),
    "no archive": (b"no such thing", "malformed-body", "not NPZ"),
    "cut off": (npz(members=A, nonmembers=B)[:-30], "malformed-body", "not NPZ"),
    "an empty archive": (zipped(), "incomplete-body", "archive is empty"),
    "an absolute path": (beside("/etc/members.npy"), "malformed-body", "entry 0 is no array"),
    "another folder": (beside("../members.npy"), "malformed-body", "entry 0 is no array"),
    "a drive": (beside("C:members.npy"), "malformed-body", "entry 0 is no array"),
    "a spreadsheet": (zipped(("[Content_Types].xml", b"<x/>")), "malformed-body", "export the table as CSV"),
    "another compression": (zipped(*SOUND, compression=zipfile.ZIP_BZIP2), "malformed-body", "never does"),
    "no array in it": (beside("members.npy", b"hello"), "incomplete-body", "header ended"),
    "less than announced": (beside("members.npy", npy_bytes(A)[:-8]), "incomplete-body", "announces 240"),
    "more than announced": (beside("members.npy", npy_bytes(A) + b"x"), "malformed-body", "follows"),
    "no dimension": (npz(members=np.float64(3), nonmembers=B), "dimension-mismatch", "0 dimensions"),
    "three dimensions": (npz(members=np.ones((2, 2, 2)), nonmembers=B), "dimension-mismatch", "3 dimensions"),
    "objects": (npz(members=np.array([None, 1], dtype=object), nonmembers=B), "pickle", "Python objects"),
    "a network": (zipped(("net/data/0", b"x" * 9999), ("net/data.pkl", b"x")), "pickle", "never opens"),
    "unequal": (npz(score=SCORE, member=MEMBER[:-1]), "dimension-mismatch", "member: .* 49 .* 50|50 .* 49"),
    "rows that are members": (npz(score=SCORE, member=PAIR), "dimension-mismatch", "member: .* 2 dimensions"),
    "no scores": (npz(member=MEMBER, a=SCORE, b=SCORE), "missing-field", "2 columns could be the scores"),
    "nobody": (npz(score=SCORE), "missing-field", "no column is called member"),
    "not finite": (npz(members=np.append(A, np.nan), nonmembers=B), "not-finite", "members: row 30 is NaN"),
    "too many": (zipped(*MANY), "out-of-range", "1001 entries"),
}


@each_case("name", BAD)
def test_what_is_wrong_is_said(name: str) -> None:
    body, slug, match = BAD[name]

    problem = refusal(body, NPZ)

    assert problem.kind.slug == slug
    assert re.search(match, str(problem))


def test_two_arrays_of_one_name_are_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        body = zipped(*SOUND, ("members.npy", npy_bytes(B)))

    assert "two arrays have the same name" in refusal(body, NPZ).detail


def test_a_damaged_archive_is_refused() -> None:
    whole = npz(compress=True, members=A, nonmembers=B)
    for at in range(0, len(whole), 7):
        body = bytearray(whole)
        body[at] ^= 0x55
        try:
            found = sides(bytes(body))
        except REFUSALS:
            continue
        assert found == (A.tolist(), B.tolist())


@pytest.mark.slow
def test_a_bomb_is_refused_before_it_is_expanded() -> None:
    limit = 2**22
    honest = npz(compress=True, members=np.zeros(2**22), nonmembers=B)
    many = npz(compress=True, members=np.zeros(2**18), nonmembers=np.zeros(2**18 + 9))
    head = npy_bytes(np.zeros(2))[:128]
    lying = zipped(("members.npy", head + bytes(2**26)), SOUND[1], compression=zipfile.ZIP_DEFLATED)
    unread = npz(compress=True, members=A, nonmembers=B, other=np.zeros(2**22))
    assert max(map(len, (honest, many, lying))) < limit // 16

    tracemalloc.start()
    for body, slug in ((honest, "too-large"), (many, "too-large"), (lying, "malformed-body")):
        assert refusal(body, NPZ, limit=limit).kind.slug == slug
    assert len(read(unread, NPZ, limit=limit).samples[""].members) == 30  # type: ignore[arg-type]
    assert tracemalloc.get_traced_memory()[1] < 3 * limit
    tracemalloc.stop()


def test_it_is_not_read_block_by_block() -> None:
    with pytest.raises(Problem, match="read as a whole"), Body.of(npz(members=A, nonmembers=B)) as held:
        list(blocks(call(NPZ), held))
    assert answer(NPZ, npz(members=A, nonmembers=B))["members"]
