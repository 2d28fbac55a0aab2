"""Blocks joined are the whole: through a real pipe or from memory, compressed or not."""

import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from estimators import Counts
from estimators.errors import NotFinite
from estimators.sample.counting import by_category, by_grid
from estimators.sample.scores import Query, Scores
from estimators.sample.stream import CountStream
from macekit.call import ARROW, ARROW_FILE, CSV, JSON, NPY, PARQUET, Body
from macekit.decoding import blocks
from macekit.problems import Problem
from tests.cases import each_case
from tests.macekit.decoding.support import FORMATS, arrow_bytes, call, counted, npy_bytes, packed, piped, table_bytes

N = 140_000
"""More than a block holds."""
RNG = np.random.default_rng(11)
SCORE = RNG.normal(size=N)
MEMBER = RNG.random(N) < 0.4
LABEL = RNG.choice(["a", "bb", "c"], N)


def tallied(body: Body, asked: Any) -> Counts:
    tally = CountStream()
    for members, nonmembers in blocks(asked, body):
        tally = tally.plus(members, nonmembers)
    return tally.counts()


@cache
def body_of(media_type: str) -> bytes:
    return table_bytes({"score": SCORE, "member": MEMBER}, media_type)


@pytest.mark.slow
@pytest.mark.parametrize("media_type", FORMATS)
@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
def test_counts_of_blocks_from_a_pipe_are_those_of_the_whole(media_type: str, encoding: str) -> None:
    with piped(packed(body_of(media_type), encoding)) as held:
        found = tallied(held, call(media_type, encoding))

    whole = by_grid(Scores.of(SCORE[MEMBER], SCORE[~MEMBER]))
    assert found.to_dict() == whole.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("media_type", FORMATS)
@pytest.mark.parametrize("column", [LABEL, (SCORE * 100).astype(int)])
def test_text_and_integers_are_counted_by_value(media_type: str, column: Any) -> None:
    whole = by_category(Scores.of(column[MEMBER], column[~MEMBER], Query.DISCRETE))

    with Body.of(table_bytes({"score": column, "member": MEMBER}, media_type)) as held:
        assert tallied(held, call(media_type)).to_dict() == whole.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("media_type", [*FORMATS, ARROW_FILE])
def test_blocks_are_small_and_in_order(media_type: str) -> None:
    with Body.of(body_of(media_type)) as held:
        parts = list(blocks(call(media_type), held))

    assert len(parts) > 1
    assert max(len(a) + len(b) for a, b in parts) <= 2**17
    assert np.array_equal(np.concatenate([a for a, _ in parts]), SCORE[MEMBER])
    assert np.array_equal(np.concatenate([b for _, b in parts]), SCORE[~MEMBER])


@each_case("order", ["C", "F"])
def test_a_matrix_comes_in_blocks_in_either_order(order: Any) -> None:
    array = np.array(np.column_stack([SCORE, MEMBER]), order=order)

    with piped(npy_bytes(array)) as held:
        members, nonmembers = counted(held, call(NPY))

    assert np.array_equal(members, SCORE[MEMBER])
    assert np.array_equal(nonmembers, SCORE[~MEMBER])
    if order == "F":
        with piped(npy_bytes(array)) as held, pytest.raises(Problem, match="C order"):
            counted(held, call(NPY, limit=2**20))


def test_a_plain_array_comes_in_blocks_with_members_first() -> None:
    with piped(npy_bytes(SCORE)) as held:
        members, nonmembers = counted(held, call(NPY, members="132001"))

    assert np.array_equal(members, SCORE[:132_001])
    assert np.array_equal(nonmembers, SCORE[132_001:])


@pytest.mark.slow
@pytest.mark.parametrize("media_type", FORMATS)
def test_a_bad_score_is_named_by_its_row_among_all(media_type: str) -> None:
    scores = SCORE.copy()
    scores[135_001] = np.nan
    body = Body.of(table_bytes({"score": scores, "member": MEMBER}, media_type))

    with body, pytest.raises(NotFinite) as caught:
        counted(body, call(media_type))

    assert caught.value.index == 135_001


@pytest.mark.parametrize("media_type", [NPY, ARROW, PARQUET])  # a table of text may end after any row
def test_a_pipe_that_ends_too_soon_is_incomplete(media_type: str) -> None:
    body = table_bytes({"score": SCORE[:50_000], "member": MEMBER[:50_000]}, media_type)

    with piped(body[: len(body) * 2 // 3]) as held, pytest.raises(Problem) as caught:
        counted(held, call(media_type))

    assert caught.value.kind.slug in ("incomplete-body", "malformed-body")


def test_what_follows_the_data_in_a_pipe_is_refused() -> None:
    for media_type in (NPY, ARROW):
        body = table_bytes({"score": SCORE[:100], "member": MEMBER[:100]}, media_type)
        with piped(body + b"more") as held, pytest.raises(Problem, match="follows"):
            counted(held, call(media_type))


def test_a_batch_that_announces_more_than_the_limit_is_not_allocated() -> None:
    body = arrow_bytes(pa.table({"score": SCORE, "member": MEMBER}))

    with piped(body) as held, pytest.raises(Problem, match="announces") as caught:
        counted(held, call(ARROW, limit=2**20))

    assert caught.value.kind.slug == "too-large"


def test_vectors_units_and_json_are_not_counted_block_by_block() -> None:
    body = table_bytes({"a": SCORE[:9], "b": SCORE[:9], "member": MEMBER[:9]}, CSV)
    for asked in (call(CSV, score="a,b"), call(CSV, score="a", unit="b"), call(JSON), call("image/png")):
        with Body.of(body) as held, pytest.raises(Problem):
            list(blocks(asked, held))


def test_csv_of_a_header_alone_has_no_blocks() -> None:
    with piped(b"score,member\n") as held:
        assert [len(part) for part in counted(held, call(CSV))] == [0, 0]


MEASURE = """
import os, sys
from macekit.call import Body, Call
from macekit.decoding import blocks
from estimators.sample.stream import CountStream
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
def run(path):
    out, into = os.pipe()
    if os.fork() == 0:
        os.close(out)
        with open(path, "rb") as source, os.fdopen(into, "wb") as sink:
            while piece := source.read(2**16):
                sink.write(piece)
        os._exit(0)
    os.close(into)
    tally = CountStream()
    body = Body.of_descriptor(out)
    for members, nonmembers in blocks(Call("counts", sys.argv[1]), body):
        tally = tally.plus(members, nonmembers)
    body.close()
    os.wait()
    return tally.counts().size
run(sys.argv[2])
before = peak()
run(sys.argv[3])
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("media_type", [CSV, NPY, ARROW])
def test_a_body_many_times_as_long_takes_no_more_memory(media_type: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("short", "long")]
        for path, times in zip(paths, (1, 24), strict=True):
            score, member = (np.tile(column[:100_000], times) for column in (SCORE, MEMBER))
            table = pa.table({"score": score, "member": member})
            npy = npy_bytes(np.column_stack([score, member]))
            path.write_bytes(npy if media_type == NPY else arrow_bytes(table, media_type, batch=100_000))

        grown = subprocess.run(
            [sys.executable, "-c", MEASURE, media_type, *paths], check=True, capture_output=True, text=True
        )

    assert int(grown.stdout) < 16 * 2**20
