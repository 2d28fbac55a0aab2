"""Nearest neighbours equal brute force in float64, bit by bit, whatever they were searched with."""

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.typing import NDArray

from estimators import errors
from estimators.audits.queries import neighbours
from estimators.audits.queries.neighbours import nearest
from tests.cases import each_case

Floats = NDArray[np.float64]

ENGINES = ("tree", "scan", *(("faiss",) if neighbours._has("faiss") else ()))


def brute(records: Floats, rows: Floats, k: int, metric: str) -> Floats:
    """Every distance of every record, sorted."""
    gaps = records[:, None] - rows[None]
    far = np.abs(gaps).sum(axis=-1) if metric == "l1" else np.sqrt((gaps**2).sum(axis=-1))
    return np.asarray(np.sort(far, axis=1)[:, :k])


def gaussian(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=(n, 12))


def flat(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=(n, 2)) @ np.random.default_rng(1).normal(size=(2, 12))


def mixed(rng: np.random.Generator, n: int) -> Floats:
    return np.hstack([rng.random((n, 3)), 0.5 * np.eye(5)[rng.integers(0, 5, n)], rng.integers(0, 2, (n, 2))])


def categories(rng: np.random.Generator, n: int) -> Floats:
    return np.hstack([0.5 * np.eye(4)[rng.integers(0, 4, n)] for _ in range(3)])


def pixels(rng: np.random.Generator, n: int) -> Floats:
    return rng.integers(0, 17, (n, 16)).astype(np.float64)


def far_off(rng: np.random.Generator, n: int) -> Floats:
    """Small differences of large numbers: what a square expanded into three terms gets wrong."""
    return 1e8 + rng.normal(size=(n, 5))


def all_equal(rng: np.random.Generator, n: int) -> Floats:
    return np.full((n, 3), 0.1)


def thirds(rng: np.random.Generator, n: int) -> Floats:
    """Distances that are equal but for rounding."""
    return rng.integers(0, 4, (n, 9)) / 3.0


DATA: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    each.__name__: each for each in (gaussian, flat, mixed, categories, pixels, far_off, all_equal, thirds)
}


@pytest.mark.slow
@each_case(
    "name, metric, engine",
    [(name, metric, engine) for name in DATA for metric in ("l1", "l2") for engine in (*ENGINES, None)],
)
def test_neighbours_equal_brute_force_and_a_copy_is_at_zero(name, metric, engine) -> None:
    rng = np.random.default_rng(3)
    rows, records = DATA[name](rng, 400), DATA[name](rng, 100)
    records[:20] = rows[rng.integers(0, 400, 20)]

    for k in (1, 4):
        answer = nearest(records, rows, k, metric, engine)

        np.testing.assert_array_equal(answer.distances, brute(records, rows, k, metric))
        assert (answer.distances[:20, 0] == 0.0).all()
        at = rows[answer.rows] - records[:, None]
        again = np.abs(at).sum(axis=-1) if metric == "l1" else np.sqrt((at**2).sum(axis=-1))
        np.testing.assert_array_equal(again, answer.distances)  # the row that is named is at that distance


SHAPES = st.tuples(st.integers(1, 30), st.just(3))
SMALL = npst.arrays(np.float64, SHAPES, elements=st.floats(-100, 100, width=32))


@pytest.mark.slow
@settings(max_examples=30)
@given(SMALL, SMALL, st.integers(1, 6), st.sampled_from(("l1", "l2")), st.sampled_from(ENGINES))
def test_any_small_matrices(records, rows, k, metric, engine) -> None:
    answer = nearest(records, rows, k, metric, engine)

    np.testing.assert_array_equal(answer.distances, brute(records, rows, k, metric))


def test_what_is_chosen_follows_the_data_not_the_clock(monkeypatch, rng) -> None:
    monkeypatch.setattr(neighbours, "_has", lambda package: package == "sklearn")
    spread, line = rng.normal(size=(4000, 25)), flat(rng, 4000)

    assert nearest(spread, spread[:3000], 2, "l2").engine == "scan"
    assert nearest(spread[:50], spread[:500], 2, "l2").engine == "tree"  # few rows: whatever their shape
    assert nearest(line, line[:3000], 2, "l2").engine == "tree"

    monkeypatch.setattr(neighbours, "_has", lambda package: False)
    assert nearest(spread[:9], spread[:3000], 2, "l2").engine == "tree"  # nothing else is there
    with pytest.raises(errors.NotInstalled, match="pip install"):
        nearest(spread, spread, 1, engine="scan")


def test_blocks_do_not_change_the_answer_and_fewer_rows_than_k_are_as_many_neighbours(monkeypatch, rng) -> None:
    records, rows = mixed(rng, 500), mixed(rng, 300)
    whole = nearest(records, rows, 3).distances
    monkeypatch.setattr(neighbours, "BLOCK", 17)
    monkeypatch.setattr(neighbours, "FLOATS", 64)
    single = np.concatenate([nearest(record[None], rows, 3).distances for record in records[:40]])

    np.testing.assert_array_equal(nearest(records, rows, 3).distances, whole)
    np.testing.assert_array_equal(single, whole[:40])  # one record alone has the neighbours it has among others
    assert nearest(np.zeros((4, 2)), np.ones((3, 2)), 10).distances.shape == (4, 3)
    assert nearest(np.zeros((0, 2)), np.ones((3, 2)), 2).distances.shape == (0, 2)


@each_case("engine", ENGINES)
def test_no_matrix_of_all_distances_is_held(engine) -> None:
    rng = np.random.default_rng(6)
    records, rows = rng.random((5000, 2)), rng.random((5000, 2))
    nearest(records[:9], rows, 2, "l2", engine)  # imports
    tracemalloc.start()
    try:
        nearest(records, rows, 2, "l2", engine)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 5000 * 5000 * 8 / 20


GOOD = np.zeros((3, 2))


@each_case(
    "records, rows, k, options, error, words",
    (GOOD, GOOD[:0], 1, {}, errors.TooFewRecords, "at least one"),
    ([[0.0, 1.0], [np.nan, 1.0]], GOOD, 1, {}, errors.NotFinite, "row 1"),
    (GOOD + 1e200, GOOD, 1, {}, errors.NotFinite, "scale the columns"),
    (GOOD, np.zeros((3, 3)), 1, {}, errors.DimensionMismatch, "2 columns and rows 3"),
    (np.zeros((3, 2, 2)), GOOD, 1, {}, errors.DimensionMismatch, "flatten"),
    (GOOD, GOOD, 0, {}, errors.OutOfRange, "k"),
    (GOOD, GOOD, 1, {"metric": "L2"}, errors.UnknownName, "one of l1, l2"),
    (GOOD, GOOD, 1, {"engine": "trees"}, errors.UnknownName, "tree"),
)
def test_what_is_wrong_is_named(records, rows, k, options, error, words) -> None:
    with pytest.raises(error, match=words) as refusal:
        nearest(records, rows, k, **options)

    assert refusal.value.index == (1 if words == "row 1" else None)
