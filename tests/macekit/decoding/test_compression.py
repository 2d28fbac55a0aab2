"""What was compressed is expanded within its limit, or refused by what is wrong with it."""

import json
import zlib

import numpy as np
import pytest

from macekit.call import CSV, JSON, NPY
from macekit.decoding import blocks
from macekit.formats import READERS
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, call, counted, npy_bytes, packed, piped, read, refusal

DOCUMENT = {"members": [0.5, 1.5], "nonmembers": [2, 3]}
BODY = json.dumps(DOCUMENT).encode()
PACKED = ("gzip", "zstd")


@each_case("encoding", PACKED)
def test_a_compressed_body_is_what_it_was_in_one_part_or_several(encoding: str) -> None:
    for parts in ([BODY], [BODY[:10], BODY[10:]], [BODY[at : at + 1] for at in range(len(BODY))]):
        body = b"".join(packed(part, encoding) for part in parts)

        assert list(read(body, encoding=encoding).samples[""].members) == [0.5, 1.5]  # type: ignore[arg-type]


@pytest.mark.slow
@each_case("encoding", PACKED)
@each_case("media_type", [JSON, CSV, NPY])
def test_a_bomb_is_not_expanded_beyond_the_limit(encoding: str, media_type: str) -> None:
    problem = refusal(packed(bytes(20 * 2**20), encoding), media_type, encoding, limit=2**20)

    assert problem.kind.slug == "too-large"
    assert "more than 1048576 bytes" in problem.detail


@each_case("encoding", PACKED)
def test_a_bomb_is_not_expanded_beyond_the_limit_while_it_is_streamed(encoding: str) -> None:
    bomb = packed(b"score,member\n" + b"0.5,1\n" * 10**5 * 3, encoding)

    with piped(bomb) as body, pytest.raises(Problem, match="expands"):
        counted(body, call(CSV, encoding, limit=2**20))


@each_case("encoding", PACKED)
def test_a_compressed_body_cut_anywhere_is_incomplete(encoding: str) -> None:
    numbers = np.random.default_rng(0).normal(size=500).tolist()
    body = packed(json.dumps({"members": numbers}).encode(), encoding)

    for size in np.linspace(0, len(body) - 1, 50).astype(int):
        assert refusal(body[:size], encoding=encoding).kind.slug == "incomplete-body"


@each_case("encoding", PACKED)
def test_what_follows_compressed_data_is_refused(encoding: str) -> None:
    problem = refusal(packed(BODY, encoding) + b"garbage that is long enough", encoding=encoding)

    assert problem.kind.slug in ("malformed-body", "incomplete-body")


@each_case("encoding", PACKED)
def test_damaged_data_is_refused_or_another_body(encoding: str) -> None:
    body = bytearray(packed(json.dumps({"members": list(range(2000))}).encode(), encoding))
    for at in range(0, len(body), max(1, len(body) // 50)):
        damaged = bytearray(body)
        damaged[at] ^= 0xFF
        try:
            read(bytes(damaged), encoding=encoding)
        except REFUSALS:
            continue  # zstd may carry no checksum: then other bytes are another body


@each_case("body, encoding", [(BODY, "gzip"), (BODY, "zstd"), (zlib.compress(BODY), "gzip")])
def test_a_body_that_is_not_compressed_as_it_says_is_malformed(body: bytes, encoding: str) -> None:
    assert f"not {encoding}" in refusal(body, encoding=encoding).detail


@each_case("media_type", READERS)
@each_case("encoding", PACKED)
def test_a_body_that_does_not_say_that_it_is_compressed_is_called_what_it_is(media_type: str, encoding: str) -> None:
    for said, body in (("identity", packed(BODY, encoding)), ("gzip", packed(packed(BODY, encoding), "gzip"))):
        problem = refusal(body, media_type, said)

        assert problem.kind.slug == "malformed-body"
        assert f"begins as {encoding} does; one layer is opened, where Content-Encoding" in problem.detail


def test_an_encoding_that_is_not_known_is_told_those_that_are() -> None:
    problem = refusal(BODY, encoding="br")

    assert problem.kind.slug == "unsupported-media-type"
    assert "identity, gzip, zstd" in problem.detail


def test_a_header_that_announces_more_than_the_limit_is_refused_before_it_is_read() -> None:
    body = npy_bytes(np.zeros(10))
    body = body.replace(b"(10,)", b"(10000000000000,)")

    with piped(body) as held, pytest.raises(Problem) as caught:
        list(blocks(call(NPY, members="5"), held))

    assert caught.value.kind.slug in ("incomplete-body", "malformed-body")
