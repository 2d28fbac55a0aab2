"""What is drawn of a sample: no record is lost, no tail squashes the picture, no value falls between two bins."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from estimators import Counts, Scores
from estimators.sample.counting import by_boxes, by_category, by_equal_mass, by_grid, finest
from estimators.sample.shape import BINS, LABELS, Shape, shape
from tests.cases import each_case


def shape_of(data: Scores | Counts) -> Shape:
    result = shape(data)
    assert result.members.sum() + result.outside_members == data.n_members
    assert result.nonmembers.sum() + result.outside_nonmembers == data.n_nonmembers
    assert (result.edges is None) != (result.labels is None)
    bins = len(result.labels) if result.edges is None else len(result.edges) - 1
    assert len(result.members) == len(result.nonmembers) == bins
    return result


def counts_of(side: np.ndarray, edges: np.ndarray) -> list[int]:
    """A literal twin: bins are closed on the left, the last one on both sides."""
    ends = [(low, high, high == edges[-1]) for low, high in pairwise(edges)]
    return [int(sum(1 for x in side if low <= x < high or (last and x == high))) for low, high, last in ends]


@each_case("records", [20, 500])
def test_records_are_counted_where_they_lie_in_bins_of_equal_width(records) -> None:
    rng = np.random.default_rng(records)
    members, nonmembers = rng.normal(1.0, 1.0, records), rng.normal(0.0, 1.0, records + 5)
    result = shape_of(Scores.of(members, nonmembers))

    assert np.ptp(np.diff(result.edges)) < 1e-12
    assert result.members.tolist() == counts_of(members, result.edges)
    assert result.nonmembers.tolist() == counts_of(nonmembers, result.edges)
    assert (result.outside_members, result.outside_nonmembers) == (0, 0)
    pooled = np.concatenate([members, nonmembers])
    assert result.edges[[0, -1]].tolist() == [pooled.min(), pooled.max()]


def test_a_large_sample_is_drawn_from_its_finest_counts_without_counting_again(rng) -> None:
    data = Scores.of(rng.normal(1.0, 1.0, 200_000), rng.normal(0.0, 1.0, 200_000))
    result = shape_of(data)

    assert result.edges.tolist() == shape(data, finest(data)).edges.tolist()
    assert result.members.tolist() == np.histogram(data.members, result.edges)[0].tolist()
    assert (len(result.members), result.outside_members + result.outside_nonmembers) == (BINS, 0)


@each_case("make", [lambda s: s, by_grid, lambda s: by_equal_mass(s, 4000)])
def test_heavy_tails_lie_outside_and_are_few(make) -> None:
    rng = np.random.default_rng(2)
    data = Scores.of(rng.standard_cauchy(50_000), rng.standard_cauchy(50_000))
    result = shape_of(make(data))

    assert 0 < result.outside_members + result.outside_nonmembers <= 0.0102 * 100_000
    assert result.edges[-1] - result.edges[0] < 0.01 * (np.max(data.members) - np.min(data.members))


def test_one_far_record_among_few_lies_outside_and_tails_that_are_not_long_are_shown_whole(rng):
    result = shape_of(Scores.of(rng.normal(size=20), np.append(rng.normal(size=20), 1e9)))

    assert (result.outside_members, result.outside_nonmembers) == (0, 1)
    assert result.edges[-1] < 10.0

    rng = np.random.default_rng(4)
    for members in (rng.random(20_000), rng.normal(size=20_000), rng.exponential(size=5_000)):
        result = shape_of(Scores.of(members, rng.permutation(members)))
        assert result.outside_members + result.outside_nonmembers == 0


@each_case("step", [1.0, 0.01, 0.25])
def test_every_bin_holds_as_many_of_evenly_spaced_values_as_any_other(step) -> None:
    values = np.tile(np.round(np.arange(300) * step, 10), 4)
    result = shape_of(Scores.of(values, values, "continuous"))

    assert len(set(result.members[:-1].tolist())) == 1
    assert len(result.members) <= BINS


def test_many_integers_are_drawn_as_floats_few_and_booleans_as_categories_and_vectors_not_at_all(rng):
    values = np.random.default_rng(5).integers(0, 300, (2, 4000))
    of_integers = shape_of(Scores.of(*values, "discrete"))
    of_floats = shape_of(Scores.of(*values.astype(float), "continuous"))

    assert of_integers.edges.tolist() == of_floats.edges.tolist()
    assert of_integers.members.tolist() == of_floats.members.tolist()

    vectors = Scores.of(*rng.normal(size=(2, 50, 2)))

    assert shape_of(Scores.of(*rng.integers(1, 7, (2, 400)))).labels.tolist() == [1, 2, 3, 4, 5, 6]
    assert shape_of(Scores.of([True, False] * 20, [True, False] * 20)).members.tolist() == [20, 20]
    assert shape(vectors) is shape(by_boxes(vectors, 8)) is None


@pytest.mark.parametrize("kind", ["records", "counts"])
@pytest.mark.parametrize("near", [0.0, 1.0])
def test_scores_that_crowd_next_to_0_or_1_have_bins_by_powers_of_the_distance(near, kind, rng) -> None:
    """Nine in ten of a model's confidences lay in one bin."""
    sides = [expit(rng.normal(by, 3.0, 4000)) for by in (7.0, 5.0)]
    scores = Scores.of(*(side if near else 1.0 - side for side in sides))
    found = shape_of(scores if kind == "records" else by_grid(scores))

    pooled, distances = found.members + found.nonmembers, np.abs(found.edges - near)
    steps = np.abs(np.diff(np.log(distances[2:-2])))
    assert pooled.max() < 0.1 * pooled.sum()
    assert steps.max() < 1.5 * steps.min()
    assert found.edges[-1] <= 1.0


@pytest.mark.parametrize(
    "side",
    [
        lambda rng: np.where(rng.random(4000) < 0.7, 0.0, rng.random(4000)),
        lambda rng: np.where(rng.random(4000) < 0.7, 1.0, rng.random(4000)),
        lambda rng: rng.normal(size=4000) ** 3,
        lambda rng: 5.0 + expit(rng.normal(7.0, 3.0, 4000)),
    ],
    ids=["zeros", "ones", "both signs", "not next to 1"],
)
def test_one_value_that_many_have_is_no_crowd_and_neither_is_one_elsewhere(side, rng) -> None:
    widths = np.diff(shape_of(Scores.of(side(rng), side(rng))).edges)
    assert widths.max() == pytest.approx(widths.min())


def test_categories_have_a_bin_each_and_only_the_rarest_are_left_out(rng) -> None:
    labels = [f"label {i:02}" for i in range(60)]
    members = rng.choice(labels, 5000, p=np.arange(1, 61) / 1830)
    nonmembers = rng.choice(labels, 5000, p=np.arange(1, 61) / 1830)

    result = shape_of(Scores.of(members, nonmembers))

    pooled = by_category(Scores.of(members, nonmembers)).pooled
    assert len(result.labels) == LABELS
    assert result.labels.tolist() == sorted(result.labels.tolist())
    assert (result.members + result.nonmembers).min() >= np.sort(pooled)[-LABELS]


def test_posted_intervals_are_the_bins_open_ones_as_wide_as_their_neighbours_and_empty_ends_left_out():
    result = shape_of(Counts.of([120, 300, 580], [310, 420, 270], [0.4, 0.7]))
    some = shape_of(Counts.of([0, 0, 5, 0, 7, 0], [0, 0, 1, 0, 1, 0], [0.0, 1.0, 2.0, 3.0, 4.0]))

    assert result.members.tolist() == [120, 300, 580]
    assert result.edges == pytest.approx([0.1, 0.4, 0.7, 1.0])
    assert (some.edges.tolist(), some.members.tolist()) == ([1.0, 2.0, 3.0, 4.0], [5, 0, 7])


def test_many_posted_cells_are_joined_to_about_equal_widths_and_a_grid_is_cut_at_its_edges(rng):
    cuts = np.sort(np.random.default_rng(8).random(5000))
    ones = np.ones(5001, dtype=np.int64)
    result = shape_of(Counts.of(ones, ones, cuts))

    assert len(result.members) <= BINS
    assert set(result.edges[1:-1]) <= set(cuts)
    assert np.diff(result.edges).max() < 2.0 * np.diff(result.edges).min()

    data = Scores.of(rng.normal(size=3000), rng.normal(size=3000))
    result = shape_of(by_grid(data))

    assert result.members.tolist() == np.histogram(data.members, result.edges)[0].tolist()


EXTREME = st.sampled_from([0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308, -1.7e308, np.finfo(float).max])


@pytest.mark.slow
@given(st.lists(st.one_of(EXTREME, st.floats(allow_nan=False, allow_infinity=False)), min_size=16, max_size=64))
def test_whatever_the_numbers_all_records_are_accounted_for(values) -> None:
    half = len(values) // 2
    data = Scores.of(values[:half], values[half:], "continuous")

    for each in (data, finest(data), by_grid(data)):
        edges = shape_of(each).edges
        assert np.isfinite(edges).all()
        assert (edges[1:] > edges[:-1]).all()


CUTS = st.lists(st.floats(-1e308, 1e308), min_size=1, max_size=80, unique=True)


@each_case("cut", [np.finfo(float).max, -np.finfo(float).max])
def test_there_is_room_beyond_the_largest_cut(cut) -> None:
    edges = shape_of(Counts.of([1, 2], [2, 1], [cut])).edges

    assert (edges[1:] > edges[:-1]).all()


@pytest.mark.slow
@given(CUTS, st.data())
def test_whatever_the_cuts_all_records_are_accounted_for(cuts, data) -> None:
    tallies = st.lists(st.integers(0, 2**40), min_size=len(cuts) + 1, max_size=len(cuts) + 1).filter(any)
    edges = shape_of(Counts.of(data.draw(tallies), data.draw(tallies), sorted(cuts))).edges

    assert np.isfinite(edges).all()
    assert (edges[1:] > edges[:-1]).all()
