"""Whatever bytes come, the answer is material or a refusal, and never an error of another library."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macekit.call import ARROW, ARROW_FILE, CSV, NPY, PARQUET, Body
from macekit.decoding import blocks, decode
from tests.cases import each_case
from tests.macekit.decoding.support import REFUSALS, arrow_bytes, call, npy_bytes, table_bytes

RNG = np.random.default_rng(1)
SCORE = RNG.normal(size=60)
MEMBER = RNG.random(60) < 0.5
TABLE = pa.table({"score": SCORE, "member": MEMBER, "g": pa.array(list("abcdef") * 10).dictionary_encode()})
BODIES = {
    CSV: arrow_bytes(TABLE, CSV),
    NPY: table_bytes({"score": SCORE, "member": MEMBER, "g": np.array(list("abcdef") * 10)}, NPY),
    ARROW: arrow_bytes(TABLE, ARROW, batch=20),
    ARROW_FILE: arrow_bytes(TABLE, ARROW_FILE, batch=20),
    PARQUET: arrow_bytes(TABLE, PARQUET, batch=20),
}
FORMATS = sorted(BODIES)


def survives(body: bytes, media_type: str) -> int:
    """Decode in both ways; the number of times it was refused."""
    refused = 0
    for query in ({"score": "score", "group": "g"}, {"score": "g"}):
        asked = call(media_type, limit=2**24, **query)
        for reader in (decode, lambda asked, held: list(blocks(asked, held))):
            with Body.of(body) as held:
                try:
                    reader(asked, held)  # type: ignore[operator]
                except REFUSALS as problem:
                    refused += 1
                    assert len(str(problem)) < 1200  # noqa: PT017 - many bodies in one test
    return refused


@each_case("media_type", FORMATS)
def test_the_whole_body_is_read_and_one_that_is_cut_at_any_of_many_places_is_refused(media_type: str) -> None:
    body = BODIES[media_type]

    assert survives(body, media_type) == 0
    for size in np.linspace(0, len(body) - 1, 30).astype(int):
        assert survives(body[:size], media_type) == 4 or media_type == CSV


@pytest.mark.slow
@pytest.mark.parametrize("media_type", FORMATS)
@settings(max_examples=60)
@example([(361, 233), (438, 10), (1247, 49), (1337, 148)])  # an Arrow dictionary that says it is 2.8e15 texts long
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_body_with_bytes_changed_is_material_or_refused(media_type, changes) -> None:
    body = bytearray(BODIES[media_type])
    for at, value in changes:
        body[at % len(body)] = value

    survives(bytes(body), media_type)


@pytest.mark.parametrize("media_type", FORMATS)
@settings(max_examples=40)
@given(st.binary(max_size=200), st.integers(0, 300), st.integers(0, 300))
def test_random_bytes_are_refused_or_read(media_type: str, noise: bytes, head: int, tail: int) -> None:
    body = BODIES[media_type]

    survives(body[:head] + noise + body[len(body) - tail :], media_type)


@each_case("descr", ["<U100000000", "|V4000000000", "<f8", "<U0", "|S0", "<M8[ns]", "<c16"])
def test_npy_types_of_any_size_are_refused_or_read(descr: str) -> None:
    survives(npy_bytes(np.zeros(3)).replace(b"'<f8'", f"'{descr}'".encode()), NPY)
