from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from estimators.errors import OutOfRange
from estimators.theory.mis.coarsen import MERGES, balanced, frequent, kept, merged, rare
from estimators.theory.mis.diversity import c_k, most_diverse
from estimators.theory.mis.security import worst_delta


def merges(categories: int, cells: int) -> Iterator[np.ndarray]:
    """Every merge of so many categories into exactly so many nonempty cells."""

    def grow(prefix: list[int], used: int) -> Iterator[list[int]]:
        if len(prefix) == categories:
            if used == cells:
                yield prefix
            return
        for cell in range(min(used + 1, cells)):
            yield from grow([*prefix, cell], max(used, cell + 1))

    for each in grow([], 0):
        yield np.array(each)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cells", [1, 2, 3, 5])
def test_keeping_the_rarest_has_the_least_c_k_of_all_merges(cells, seed):
    p = np.random.default_rng(seed).dirichlet(np.full(7, 0.7))
    least = min(c_k(merged(p, each)) for each in merges(7, cells))

    assert c_k(merged(p, rare(p, cells))) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cells", [1, 2, 3, 5, 7])
def test_keeping_the_most_frequent_leaves_the_most_records_as_they_are(cells, seed):
    p = np.random.default_rng(seed).dirichlet(np.full(7, 0.7))
    most = max(kept(p, each) for each in merges(7, cells))

    assert kept(p, frequent(p, cells)) == pytest.approx(most, abs=1e-12)


@pytest.mark.parametrize("gamma", [0.6, 1.0, 1.7])
def test_no_merge_raises_delta_and_none_raises_c_k(gamma):
    p = np.random.default_rng(3).dirichlet(np.ones(6))
    for cells in (1, 2, 4):
        for each in merges(6, cells):
            coarse = merged(p, each)

            assert worst_delta(coarse, 9, gamma) <= worst_delta(p, 9, gamma) + 1e-12
            assert c_k(coarse) <= c_k(p) + 1e-12


def test_balanced_cells_come_close_to_equal_ones():
    p = np.random.default_rng(4).dirichlet(np.ones(300))

    found = c_k(merged(p, balanced(p, 10)))

    assert most_diverse(10) - 1e-3 < found <= most_diverse(10)


def test_a_hundred_thousand_categories_and_more_are_dealt_out():
    p = np.full(150_000, 1.0 / 150_000)

    cells = np.bincount(balanced(p, 7))

    assert cells.max() - cells.min() <= 1


@pytest.mark.parametrize("merge", MERGES.values())
def test_as_many_cells_as_categories_changes_nothing_and_one_cell_leaves_nothing(merge):
    p = np.array([0.5, 0.3, 0.2])

    assert kept(p, merge(p, 3)) == pytest.approx(1.0)
    assert c_k(merged(p, merge(p, 1))) == 0.0


@pytest.mark.parametrize("merge", MERGES.values())
@pytest.mark.parametrize("cells", [0, 4, 1.5])
def test_cells_that_cannot_be_are_refused(merge, cells):
    with pytest.raises(OutOfRange):
        merge([0.5, 0.3, 0.2], cells)
