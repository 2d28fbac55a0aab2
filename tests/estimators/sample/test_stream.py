"""Counts made block by block are those of the whole, whatever the blocks and their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from estimators.errors import InputError, MixedTypes, NotFinite, TooFewRecords, TooManyCells
from estimators.sample import stream
from estimators.sample.counting import by_category, by_grid
from estimators.sample.counts import Counts
from estimators.sample.grid import cells_at, finest_exponent
from estimators.sample.growing_grid import PIECE
from estimators.sample.scores import Query, Scores
from estimators.sample.stream import CountStream
from tests.cases import each_case, refusals

Side = NDArray[np.generic]
NOTHING = np.empty(0)


def same(a: Counts, b: Counts) -> bool:
    """Which scores are frequent a stream may learn late, and then miss some of their records."""
    first, second = (each.to_dict() for each in (a, b))
    for value in (first, second):
        value["cells"].pop("frequent", None)
    return first == second and type(a.cells) is type(b.cells)


def in_blocks(members: Side, nonmembers: Side, cuts: list[int], order: int) -> CountStream:
    """Blocks of one side or both, in an order of their own."""
    ends = sorted(cut % (len(members) + 1) for cut in cuts)
    blocks = [(part, nonmembers[:0]) for part in np.split(members, ends)]
    for number, part in enumerate(np.split(nonmembers, [len(nonmembers) // 2])):
        blocks[number] = (blocks[number][0], part)
    tally = CountStream()
    for index in np.random.default_rng(order).permutation(len(blocks)):
        tally = tally.plus(*blocks[index])
    return tally


numbers = st.one_of(
    st.floats(-1e3, 1e3),
    st.floats(1, 1 + 1e-12),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([5e-324, -5e-324, 1e300, -1e300]),
    st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 2.0**52, 2.0**53, 65535.0, 65536.0]),
)
confidences = st.one_of(
    st.floats(0, 1),
    st.floats(1e-17, 1e-2).map(lambda distance: 1.0 - distance),
    st.sampled_from([1.0, 1.0 - 2.0**-53, 0.5, 1.0 - 2.0**-7, 0.0, 200.0]),
)
splits = st.lists(st.integers(0, 1000), min_size=1, max_size=5)


SIDES = {
    "numbers": (numbers, numbers, by_grid, Query.CONTINUOUS),
    "confidences": (confidences, confidences, by_grid, Query.CONTINUOUS),
    "integers": (
        st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), st.integers(-5, 5), by_category, Query.DISCRETE,
    ),
    "text": (
        st.sampled_from(["a", "b", "ab", "ß", ""]) | st.text("xyz"), st.sampled_from("abc"), by_category, Query.AUTO,
    ),
}  # fmt: skip


@pytest.mark.slow
@each_case("kind", SIDES)
def test_any_split_in_any_order_gives_the_cells_of_the_whole(kind) -> None:
    ones, others, count, query = SIDES[kind]

    @settings(max_examples=30)
    @given(*(st.lists(side, min_size=8, max_size=50) for side in (ones, others)), splits, st.integers(0, 99))
    def check(members, nonmembers, cuts, order) -> None:
        a, b = np.array(members), np.array(nonmembers)

        assert same(in_blocks(a, b, cuts, order).counts(), count(Scores.of(a, b, query)))

    check()


@each_case("shift, scale", [(-3.0, 1e-9), (0.0, 1.0), (10.0, 1e9)])
def test_many_blocks_of_a_normal_sample_and_one_larger_than_a_piece_give_the_grid_of_the_whole(shift, scale):
    rng = np.random.default_rng(3)
    a, b = (scale * (rng.normal(size=50_000) + shift) for _ in range(2))
    far = np.abs(rng.standard_cauchy(size=PIECE + 5)), rng.standard_cauchy(size=PIECE * 2)

    for counts, sides in (
        (in_blocks(a, b, list(range(1000, 50_000, 3000)), 5).counts(), (a, b)),
        (CountStream().plus(*far).counts(), far),
    ):
        every = np.concatenate(sides)
        exponents, keys = cells_at(every, finest_exponent(float(every.min()), float(every.max())))
        edges, at = np.unique(np.ldexp(keys.astype(float), exponents), return_inverse=True)
        assert (counts.lower_edges() == edges).all()
        for column, places in zip((counts.members, counts.nonmembers), np.split(at, [len(sides[0])]), strict=True):
            assert (column == np.bincount(places, minlength=len(edges))).all()


def test_integers_before_or_after_floats_or_of_too_many_values_fall_on_the_grid_of_all(monkeypatch, rng):
    whole, fractions = np.arange(-20, 30), np.linspace(-1, 7, 50)
    expected = by_grid(Scores.of(np.concatenate([whole, fractions]), fractions, Query.CONTINUOUS))
    first = CountStream().plus(whole, NOTHING).plus(fractions, fractions)
    last = CountStream().plus(fractions, fractions).plus(whole, NOTHING)

    assert same(first.counts(), expected)
    assert same(last.counts(), expected)

    monkeypatch.setattr(stream, "MOST_VALUES", 100)
    a, b = rng.integers(-(10**12), 10**12, 500), rng.integers(0, 10**12, 500)
    assert same(in_blocks(a, b, [40, 200, 300], 2).counts(), by_grid(Scores.of(a, b, Query.CONTINUOUS)))


@each_case("first", [0, 1, 2])
def test_integers_that_no_64_bits_hold_are_counted_as_their_texts_in_any_order(first) -> None:
    blocks = [np.array([2**63, 7], np.uint64), np.array([-1, 7]), np.array([2**70, 2**70 + 1, 7], object)]
    blocks = [*blocks[first:], *blocks[:first]] * 4

    stream = CountStream()
    for block in blocks:
        stream = stream.plus(block, block[:1])

    texts = [str(value) for block in blocks for value in block.tolist()]
    heads = [str(block.tolist()[0]) for block in blocks]
    assert same(stream.counts(), by_category(Scores.of(texts, heads)))
    assert stream.plus(np.array([0.5]), NOTHING).counts().cells.kind == "grid"
    with pytest.raises(MixedTypes):
        stream.plus(np.array(["7"]), NOTHING)


def test_identifiers_that_came_as_objects_are_told_apart_where_64_bits_hold_them() -> None:
    """One side of a column of which only the other side has an integer beyond 64 bits: both came as objects."""
    near, beyond = 2**64 - 9, 2**64
    a, b = np.array([near] * 8, object), np.array([near] * 7 + [beyond], object)

    for blocks in ([(a, b)], [(a, NOTHING), (NOTHING, b)], [(NOTHING, b), (a, NOTHING)]):
        tally = CountStream()
        for block in blocks:
            tally = tally.plus(*block)

        cells = {"kind": "categories", "labels": [str(near), str(beyond)]}
        assert tally.counts().to_dict() == {"members": [8, 0], "nonmembers": [7, 1], "cells": cells}
    assert CountStream().plus(a, a).counts().cells.to_dict() == {"kind": "values", "labels": [near]}
    unsigned = CountStream().plus(np.array([2**63 + 1, 2**63 + 2] * 4, dtype=np.uint64), NOTHING)
    cells = unsigned.plus(NOTHING, np.arange(8)).counts().cells
    assert cells.to_dict()["labels"] == [*range(8), 2**63 + 1, 2**63 + 2]


integers = st.one_of(st.integers(-5, 5), *(st.integers(end - 3, end + 3) for end in (-(2**63), 2**63, 2**64)))


@pytest.mark.slow
@settings(max_examples=50)
@given(
    st.lists(integers, min_size=8, max_size=40),
    st.lists(integers, min_size=8, max_size=40),
    splits,
    st.integers(0, 99),
    st.booleans(),
)
def test_any_split_of_integers_of_any_size_gives_the_cells_of_the_whole(members, nonmembers, cuts, order, many) -> None:
    a, b = np.array(members, object), np.array(nonmembers, object)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "MOST_VALUES", 6 if many else 100)
        split, whole = in_blocks(a, b, cuts, order).counts(), CountStream().plus(a, b).counts()

    assert same(split, whole)
    distinct = len({*members, *nonmembers})
    expected = Query.CONTINUOUS if many and distinct > 6 else Query.DISCRETE
    scores = Scores.of(a, b, expected)
    assert same(whole, by_category(scores) if expected is Query.DISCRETE else by_grid(scores))


@pytest.mark.slow
@settings(max_examples=50)
@given(st.lists(integers | st.integers(-(10**300), 10**300), min_size=8, max_size=40), splits, st.integers(0, 99))
def test_on_the_grid_from_the_start_integers_of_any_size_are_the_floats_near_them(values, cuts, order):
    a = np.array(values, object)
    tally = CountStream.on_grid()
    for index in np.random.default_rng(order).permutation(len(a)):
        tally = tally.plus(a[index : index + 1], NOTHING)
    counts = tally.plus(NOTHING, a).counts()

    assert same(counts, by_grid(Scores.of(a, a, Query.CONTINUOUS)))
    assert same(counts, by_grid(Scores.of(a.astype(float), a.astype(float), Query.CONTINUOUS)))


def test_text_and_integers_that_no_float_is_near_are_refused_on_the_grid():
    near, beyond = np.array([2**1024 - 2**970 - 1], object), np.array([1, -(2**1024 - 2**970)], object)
    assert CountStream().plus(near, np.array([0.5])).n_members == 1

    with pytest.raises(NotFinite, match="member scores: record 2 is beyond 1e308") as refusal:
        CountStream().plus(np.array([0.5]), NOTHING).plus(beyond, NOTHING)
    assert (refusal.value.field, refusal.value.index) == ("members", 2)

    with pytest.raises(NotFinite, match="nonmember scores: one is beyond 1e308") as refusal:
        CountStream().plus(NOTHING, beyond).plus(np.array([0.5]), NOTHING)
    assert refusal.value.field == "nonmembers"

    with pytest.raises(InputError, match="nonmember scores: got text, a grid needs numbers") as refusal:
        CountStream.on_grid().plus(NOTHING, np.array(["a"]))

    assert refusal.value.field == "nonmembers"
    assert not isinstance(refusal.value, MixedTypes)


@each_case("kind", [np.float16, np.float32, np.longdouble, ">f8"])
def test_floats_of_any_width_count_as_the_numbers_they_are_and_another_block_leaves_a_stream_alone(kind) -> None:
    a = np.linspace(-1, 1, 50).astype(kind)
    first = CountStream().plus(a, a[::2])
    first.plus(a, a)

    assert same(first.counts(), by_grid(Scores.of(a, a[::2], Query.CONTINUOUS)))
    assert CountStream().plus(a[:16] > 0, a[34:] > 0).counts().cells.to_dict()["labels"] == [0, 1]


@each_case("value", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_is_named_by_its_place_among_all_of_its_side(value) -> None:
    block = np.linspace(0, 1, 100)
    bad = block.copy()
    bad[7] = value

    with pytest.raises(NotFinite, match="nonmember scores: record 207") as refusal:
        CountStream().plus(block, block).plus(block, block).plus(block, bad)

    assert (refusal.value.field, refusal.value.index) == ("nonmembers", 207)


WORDS = np.array([f"name {i}" for i in range(20)])


test_what_cannot_be_counted_is_refused = refusals("ask, error, words", [
    (lambda: CountStream().plus(np.array(["a"]), np.array([1])), MixedTypes, None),
    (lambda: CountStream().plus(np.array([1.0]), NOTHING).plus(np.array(["a"]), NOTHING), MixedTypes, None),
    (lambda: CountStream().plus(np.arange(8), np.arange(7)).counts(), TooFewRecords,
     "nonmember scores: got 7, need at least 8"),
    (lambda: CountStream().counts(), TooFewRecords, None),
    (lambda: CountStream().plus(WORDS[:10], WORDS[10:]).counts(), TooManyCells, None),
    (lambda: CountStream().plus(np.zeros((3, 2)), NOTHING), InputError, "rows"),
    (lambda: CountStream().plus(np.array([None, 1]), NOTHING), InputError, "not supported"),
])  # fmt: skip
