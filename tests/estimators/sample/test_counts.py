"""Counts merge exactly in any order, split with the law of shuffled records, and write themselves down."""

import json
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, multivariate_hypergeom, poisson

from estimators.errors import IncompatibleCells, InputError, InvalidCounts, TooFewRecords, TooManyCells
from estimators.sample import counting
from estimators.sample.cells import Boxes, Categories, Intervals
from estimators.sample.counting import by_lattice
from estimators.sample.counts import Counts
from estimators.sample.grid import GRID_CELLS, Grid
from estimators.sample.scores import Query, Scores
from estimators.sample.splits import some_of
from tests.cases import each_case, refusals


def same(a: Counts, b: Counts) -> bool:
    return a.to_dict() == b.to_dict()


def draw(seed: int, n: int = 400, spread: float = 1.0) -> Scores:
    rng = np.random.default_rng(seed)
    return Scores.of(rng.normal(0.4, spread, size=n), rng.normal(0, spread, size=n), Query.CONTINUOUS)


def join(parts: list[Scores]) -> Scores:
    members, nonmembers = [p.members for p in parts], [p.nonmembers for p in parts]
    return Scores.of(np.concatenate(members), np.concatenate(nonmembers), parts[0].query)


def test_shards_of_a_growing_grid_merged_out_of_order_equal_one_pass_and_span_no_more_than_the_limit():
    shards = [draw(seed, spread=10.0 ** (seed - 3)) for seed in range(7)]
    whole = counting.by_grid(join(shards))
    total = counting.by_grid(shards[5])
    for index in (2, 6, 0, 4, 1, 3):
        total = total.merge(counting.by_grid(shards[index]))

    assert same(total, whole)

    cells = counting.by_grid(draw(1, 5000)).merge(counting.by_grid(draw(2, 5000, 1e6))).cells

    assert isinstance(cells, Grid)
    assert cells.keys[-1] - cells.keys[0] < GRID_CELLS


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.lists(st.floats(-1e300, 1e300, allow_subnormal=True), min_size=16, max_size=24), min_size=3, max_size=3)
)
def test_grid_merging_is_associative_and_commutative_for_any_finite_scores(values) -> None:
    a, b, c = (counting.by_grid(Scores.of(v[:8], v[8:], Query.CONTINUOUS)) for v in values)

    assert same(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert same(a.merge(b), b.merge(a))


VECTORS = Scores.of(*(np.random.default_rng(n).normal(size=(n, 2)) for n in (300, 200)))


@each_case("counts", [
    counting.by_grid(draw(7)), counting.by_rank(draw(7)), counting.by_edges(draw(7), [-1.0, 0.0, 1.0]),
    counting.by_category(Scores.of(np.round(draw(7).members), np.round(draw(7).nonmembers), "discrete")),
    counting.by_boxes(VECTORS, 16), counting.by_lattice(VECTORS, 10),
])  # fmt: skip
def test_counts_survive_json(counts) -> None:
    assert same(Counts.from_dict(json.loads(json.dumps(counts.to_dict()))), counts)


def test_posted_counts_with_outer_edges_equal_those_with_inner_cuts() -> None:
    sides = [5, 3, 2], [1, 4, 5]

    assert same(Counts.of(*sides, [0.0, 1.0, 2.0, 3.0]), Counts.of(*sides, [1.0, 2.0]))


def posted(**cells: object) -> dict[str, object]:
    return {"members": [1, 2], "nonmembers": [1, 2], "cells": cells or None}


test_malformed_counts_are_refused_with_the_reason = refusals(
    "value, words",
    ({"members": [1, 2]}, "nonmembers is missing"),
    ({"members": [1, -2], "nonmembers": [1, 1]}, "cell 1 is negative"),
    ({"members": [1, 2.5], "nonmembers": [1, 1]}, "cell 1 is not a whole number"),
    ({"members": [1, 2], "nonmembers": [1]}, "2 member cells but 1 nonmember"),
    ({"members": [1, 2], "nonmembers": [1, 1], "edges": [1.0, 2.0]}, "edges: got 2"),
    ({"members": [1, 2, 3], "nonmembers": [1, 1, 1], "edges": [2.0, 1.0]}, "strictly increasing"),
    ({"members": ["a"], "nonmembers": [1]}, "need whole numbers"),
    ({"members": [1], "nonmembers": [1], "cells": {"kind": "circle"}}, "unknown kind"),
    ({"members": [1], "nonmembers": [1], "cells": {"kind": "grid"}}, "incomplete"),
    (posted(), None),
    (posted(kind="grid", exponent=0, keys=[2, 1]), None),
    (posted(kind="grid", exponent=99999, keys=[1, 2]), None),
    (posted(kind="grid", exponent=0, keys=[1, 10**30]), None),
    (posted(kind="categories", labels=["b", "b"]), None),
    (posted(kind="values", labels=[np.nan, 1.0]), None),
    (posted(kind="boxes", axes=[-5], cuts=[1.0]), None),
    error=InvalidCounts,
    ask=Counts.from_dict,
)


NAMES = [f"user-{i}" for i in range(200)]
ROWS = np.random.default_rng(0).normal(size=(50, 20))


test_what_cannot_be_counted_is_refused = refusals("ask, error, words", [
    (lambda: Counts.of([0, 0], [1, 1]), TooFewRecords, None),
    (lambda: counting.by_category(Scores.of(NAMES[:100], NAMES[100:])), TooManyCells,
     "each of the 200 records has a cell of its own"),
    (lambda: counting.by_lattice(Scores.of(ROWS, ROWS), 100), TooManyCells, "use fewer bins"),
    (lambda: counting.by_edges(draw(1), [0.0]).merge(counting.by_edges(draw(1), [0.5])), IncompatibleCells,
     "count both on the same cells"),
    (lambda: counting.on_cells(Scores.of(list("aaaaaaaab"), ["a"] * 9), Categories(np.array(["a"]))), InputError,
     "record 8 falls into none"),
])  # fmt: skip


@each_case("axes, bins", [(1, 100), (2, 10)])
def test_the_lattice_counts_what_numpy_counts(axes, bins) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(500, axes)), rng.normal(size=(400, axes))
    ends = list(zip(np.minimum(a.min(0), b.min(0)), np.maximum(a.max(0), b.max(0)), strict=True))

    counts = counting.by_lattice(Scores.of(a, b), bins)

    for side, column in ((a, counts.members), (b, counts.nonmembers)):
        dense = np.zeros(bins**axes, dtype=int)
        dense[counts.cells.keys if axes > 1 else slice(None)] = column
        np.testing.assert_array_equal(dense, np.histogramdd(side, bins=bins, range=ends)[0].ravel())


def test_cells_and_boxes_of_equal_mass_hold_it_keep_ties_together_and_answer_for_every_row(rng):
    x = np.where(rng.random(5000) < 0.4, 1.0, rng.random(5000))

    counts = counting.by_equal_mass(Scores.of(x, rng.random(5000), Query.CONTINUOUS), 10)

    at_one = counts.cells.locate(np.array([1.0, 0.999999]))
    assert at_one[0] != at_one[1]
    assert counts.pooled[at_one[0]] == (x == 1.0).sum()
    assert counts.pooled[: at_one[0]].max() < 1.5 * 10_000 / 10

    rows = np.random.default_rng(0).normal(size=(1024, 3))

    boxes = Boxes.halving(rows, 16)

    counts = np.bincount(boxes.locate(rows), minlength=16)
    assert counts.min() == counts.max() == 64
    assert boxes.locate(np.array([[1e9, -1e9, 0.0]])).shape == (1,)


@each_case("transform", [np.exp, lambda x: x**3, np.arctan])
def test_ranks_do_not_change_under_a_monotone_transform(transform) -> None:
    s = draw(5, 900)
    t = Scores.of(transform(s.members), transform(s.nonmembers), Query.CONTINUOUS)

    for count in (counting.by_rank, counting.by_equal_mass):
        a, b = count(s), count(t)
        np.testing.assert_array_equal(a.members, b.members)
        np.testing.assert_array_equal(a.nonmembers, b.nonmembers)


@pytest.mark.slow
@each_case("shape", ["normal", "cauchy", "two far clusters", "atom", "constant", "huge", "subnormal", "lognormal"])
def test_fine_cells_of_many_records_agree_with_a_direct_count(shape) -> None:
    rng = np.random.default_rng(6)
    x = {
        "normal": lambda n: rng.normal(size=n),
        "cauchy": rng.standard_cauchy,
        "two far clusters": lambda n: rng.normal(size=n) * 1e-6 + rng.choice([-1e9, 1e9], size=n),
        "atom": lambda n: np.minimum(rng.normal(size=n), 0.5),
        "constant": lambda n: np.full(n, 3.25),
        "huge": lambda n: rng.choice([-1.7e308, 1.7e308, 1.0], size=n) * rng.random(n),
        "subnormal": lambda n: 5e-324 * rng.integers(0, 1000, n),
        "lognormal": lambda n: np.exp(20 * rng.normal(size=n)),
    }[shape]
    scores = Scores.of(x(90_000), x(70_000), Query.CONTINUOUS)

    counts = counting.by_rank(scores)

    again = counting.on_cells(scores, counts.cells)
    np.testing.assert_array_equal(counts.members, again.members)
    np.testing.assert_array_equal(counts.nonmembers, again.nonmembers)
    values, repeats = np.unique(np.concatenate([scores.members, scores.nonmembers]), return_counts=True)
    assert counts.pooled.max() <= max(repeats.max() + 160_000 // 4096, 160_000 // 2048), values.size


@each_case("n", [60, 60_000])
def test_blocks_add_up_to_the_whole_do_not_overflow_and_several_shuffles_are_one_after_the_other(n) -> None:
    counts, fractions = Counts.of([n, 2 * n, 3 * n], [4 * n, n, n]), np.array([0.1, 0.3, 0.6])
    billions = Counts.of([2 * 10**9, 10**9], [10**9, 10**9])
    members, nonmembers = counts.blocks(fractions, np.random.default_rng(0))
    many, _ = billions.blocks(np.array([0.5, 0.5]), np.random.default_rng(0))
    shuffles, rng = counts.shuffles(fractions, np.random.default_rng(4), 3), np.random.default_rng(4)

    np.testing.assert_array_equal(members.sum(axis=0), counts.members)
    np.testing.assert_array_equal(nonmembers.sum(axis=0), counts.nonmembers)
    np.testing.assert_array_equal(members.sum(axis=1), np.array([0.6, 1.8, 3.6]) * n)
    assert many.sum() == 3 * 10**9
    assert abs(many[0, 0] - 10**9) < 10**6
    for shuffle in range(3):
        one, other = counts.blocks(fractions, rng)
        np.testing.assert_array_equal(shuffles[0][shuffle], one)
        np.testing.assert_array_equal(shuffles[1][shuffle], other)


@pytest.mark.slow
@each_case("n, cells", [(30, 1), (3000, 1), (3000, 40)])
def test_blocks_follow_the_hypergeometric_law_whichever_way_they_are_drawn(n, cells) -> None:
    counts = Counts.of([n, *[3 * n // cells] * cells], [n] * (cells + 1))
    rng = np.random.default_rng(1)

    draws = np.array([counts.blocks(np.array([0.25, 0.75]), rng)[0][0, 0] for _ in range(2000)])

    total, block = 4 * n, n  # textbook mean and variance of the hypergeometric distribution
    mean = block * n / total
    variance = block * (n / total) * (1 - n / total) * (total - block) / (total - 1)
    assert abs(draws.mean() - mean) < 4 * np.sqrt(variance / 4000)
    assert abs(draws.var() / variance - 1) < 0.1


@each_case("size", [1, 3, 5, 6])
def test_some_of_the_records_are_drawn_by_the_hypergeometric_law(size) -> None:
    """Every outcome as often as SciPy's law has it; a word of 64 bits is more than a cell here, and less than one.

    Chances that are a tenth off are seen in 98 of 100 such samples, a record that no bit draws in each of the four.
    """
    counts, rng, draws = np.array([3, 0, 2, 65]), np.random.default_rng(2), 5_000
    counts[-1] = 2 if size < 6 else 65
    total = int(counts.sum())
    found = Counter(tuple(some_of(counts, total, size, rng).tolist()) for _ in range(draws))
    law = multivariate_hypergeom(counts, size)
    outcomes = [each for each in product(*(range(n + 1) for n in counts)) if sum(each) == size]
    expected = draws * np.array([law.pmf(each) for each in outcomes])
    observed = np.array([found[each] for each in outcomes])

    assert observed.sum() == draws
    often = expected >= 5
    excess = ((observed - expected)[often] ** 2 / expected[often]).sum()
    assert chi2.sf(excess, often.sum() - 1) > 1e-4
    assert observed[~often].sum() <= poisson.isf(1e-4, max(expected[~often].sum(), 1e-9))


@each_case("distinct", [1, 5, 3000, 60_000])
def test_text_is_counted_as_numpy_counts_it(distinct) -> None:
    rng = np.random.default_rng(distinct)
    labels = np.array([f"{'é' * (k % 3)}label-{k}" for k in range(distinct)])
    sides = [labels[rng.integers(0, distinct, n)] for n in (40_000, 30_000)]
    counts = counting.by_category(Scores.of(*sides))

    for side, column in zip(sides, (counts.members, counts.nonmembers), strict=True):
        names, expected = np.unique(side, return_counts=True)
        assert counts.cells.labels[column > 0].tolist() == names.tolist()
        assert column[column > 0].tolist() == expected.tolist()


def test_categories_merge_by_label_and_those_of_different_width_meet_in_one_cell() -> None:
    sides = (list("aaaabbbb"), list("aaaaaaab")), (["b"] * 4 + ["abc"] * 4, ["abc"] * 7 + ["abcdefgh"])
    one, other = (counting.by_category(Scores.of(*each)) for each in sides)
    total = one.merge(other)

    assert total.cells.to_dict()["labels"] == ["a", "abc", "abcdefgh", "b"]
    assert (total.members.tolist(), total.nonmembers.tolist()) == ([4, 4, 0, 8], [7, 7, 1, 1])
    assert (other.members.tolist(), other.nonmembers.tolist()) == ([4, 0, 4], [7, 1, 0])


@each_case(
    "bad", [[1.0, np.nan], [1.0, np.inf], [1e19, 1.0], [10**30, 1], [None, 1], ["a", "b"], [[1], [1, 2]], [1j, 1]]
)
def test_counts_that_are_no_counts_are_refused_by_a_typed_error_that_repeats_nothing(bad) -> None:
    with pytest.raises(InvalidCounts) as refusal:
        Counts.of(bad, [1, 2])
    assert "'a'" not in str(refusal.value)


@each_case("ends", [(0.0, 1e-310), (0.0, 5e-324), (-1.7e308, 1.7e308), (1.0, 1.0 + 2.3e-16)])
def test_equal_width_cells_of_any_range_count_every_record(ends) -> None:
    counts = by_lattice(Scores.of(ends * 10, ends * 10, Query.CONTINUOUS), 100)

    assert (counts.n_members, counts.n_nonmembers) == (20, 20)
    assert (counts.members[0], counts.members[-1]) == (10, 10)


@each_case("decimals", [0, 1, 9])
def test_counts_made_here_would_pass_every_check(decimals) -> None:
    rng = np.random.default_rng(decimals)
    a, b = np.round(rng.normal(size=500), decimals), np.round(rng.normal(size=400), decimals)

    result = counting.by_rank(Scores.of(a, b, Query.CONTINUOUS))
    counts = Counts(result.members, result.nonmembers, result.cells)

    values = np.unique(np.concatenate([a, b]))
    np.testing.assert_array_equal(result.cells.cuts, values[1:])
    np.testing.assert_array_equal(result.members, (a == values[:, None]).sum(axis=1))
    np.testing.assert_array_equal(result.nonmembers, (b == values[:, None]).sum(axis=1))
    assert (result.n_members, result.n_nonmembers) == (counts.n_members, counts.n_nonmembers) == (500, 400)


@each_case("size", [1, 4, 8, 20])
def test_groups_start_where_coarse_cells_do_which_keep_every_record_and_the_order(size) -> None:
    few = counting.by_rank(draw(2, 30)) if size < 20 else Counts.of([3, 1, 4], [1, 5, 9], edges=[0.0, 1.0])
    fine = counting.by_rank(draw(2, 3000))
    coarse = fine.coarsen(20)

    np.testing.assert_array_equal(few.lower_edges()[few.group_starts(size)[1:]], few.coarsen(size).lower_edges()[1:])
    assert isinstance(coarse.cells, Intervals)
    assert (coarse.n_members, coarse.size) == (fine.n_members, 20)
    np.testing.assert_array_equal(counting.on_cells(draw(2, 3000), coarse.cells).members, coarse.members)


@each_case("scale", [1e-300, 1.0, 1e300])
def test_scores_far_from_a_grid_are_in_none_of_its_cells(scale) -> None:
    records = np.repeat(scale * np.array([-1.0, 0.5, 1.0]), 3)
    grid = counting.by_grid(Scores.of(records, records)).cells
    far = np.array([-1e308, -2e300, -2.0, 2.0, 2e300, 1e308])
    outside = (far < records[0]) | (far > records[-1])

    assert set(grid.locate(records).tolist()) == set(range(grid.size))
    assert set(grid.locate(far[outside]).tolist()) == {-1}


@each_case("slot_bits", [counting.SLOT_BITS, 6, 2])
@each_case("widths", [(1, 1), (3, 3), (3, 8), (9, 2)])
@each_case("several", [2, 40, 3000])
def test_texts_are_counted_whatever_slots_they_meet_in(slot_bits, widths, several, monkeypatch) -> None:
    monkeypatch.setattr(counting, "SLOT_BITS", slot_bits)
    monkeypatch.setattr(counting, "BLOCK_OF_TEXT", 700)
    rng = np.random.default_rng(several)
    words = ["", "ä", "日本", "𝔘", *(f"{'x' * (k % 7)}{k}" for k in range(several))]
    sides = [np.array([word[:width] for word in words])[rng.integers(0, several, 4000)] for width in widths]

    counts = counting.by_category(Scores.of(*sides))

    expected = [Counter(side.tolist()) for side in sides]
    labels = counts.cells.labels.tolist()
    assert labels == sorted(expected[0] | expected[1])
    assert counts.members.tolist() == [expected[0][label] for label in labels]
    assert counts.nonmembers.tolist() == [expected[1][label] for label in labels]


def test_a_cell_is_in_the_group_of_its_middle_record() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        sides = rng.integers(0, rng.choice([2, 5, 50]), (2, int(rng.integers(2, 60))))
        sides[:, [0, -1]] += 1
        counts = Counts.of(*sides, np.arange(1.0, sides.shape[1]))
        for size in (1, 2, 3, 7, 8, 20):
            starts = counts.group_starts(size)
            if size < counts.size:
                middle = (counts.pooled.cumsum() - counts.pooled / 2.0) * (size / counts.n_records)
                group = [np.floor(at) if 2.0 * at <= size else np.ceil(at) - 1.0 for at in middle]
                assert starts.tolist() == [0, *(np.flatnonzero(np.diff(group)) + 1)]
