from collections.abc import Iterator

import numpy as np
import pytest

from estimators.errors import OutOfRange
from estimators.theory.mis.security import (
    MERGES,
    balanced,
    c_k,
    cell_shares,
    frequent,
    gini_simpson,
    given_largest,
    intact,
    least_given_largest,
    most_diverse,
    rare,
    shannon,
    worst_delta,
)
from tests.cases import each_case


def draws(categories: int, count: int = 200) -> list[np.ndarray]:
    rng = np.random.default_rng(categories)
    return [rng.dirichlet(np.full(categories, a)) for a in (0.1, 0.5, 1.0, 10.0) for _ in range(count // 4)]


@each_case("k", [2, 3, 8, 50])
def test_lemma_23_the_uniform_distribution_has_the_most_c_k_which_is_equation_18(k):
    assert c_k([0.5, 0.25, 0.25]) == pytest.approx(0.5 + 2.0 * np.sqrt(3.0) / 4.0)
    assert c_k([1.0, 0.0]) == 0.0
    assert c_k(np.full(k, 1.0 / k)) == pytest.approx(most_diverse(k))
    assert max(c_k(p) for p in draws(k)) <= most_diverse(k)


@each_case("k", [2, 3, 5, 12])
def test_lemma_24_holds_every_distribution_and_is_attained(k):
    for p in draws(k):
        least, most = given_largest(p.max(), k)

        assert least - 1e-7 <= c_k(p) <= most + 1e-7
    for top in (0.55, 0.35, 0.21, 1.0 / 7.0):
        if top < 1.0 / k:
            continue
        least, most = given_largest(top, k)
        others = np.full(k - 1, (1.0 - top) / (k - 1))
        whole = int(1.0 / top + 1e-12)
        corner = [top] * whole + [max(1.0 - whole * top, 0.0)]

        assert c_k([top, *others]) == pytest.approx(most)
        assert c_k(corner) == pytest.approx(least, abs=1e-7)


@each_case("k", [2, 5, 30])
def test_entropies_lie_where_equations_23_to_25_say(k):
    for p in draws(k):
        diverse, gini, bits = c_k(p), gini_simpson(p), shannon(p)

        assert gini <= diverse / 2.0 + 1e-12
        assert diverse**2 / k <= gini + 1e-12
        assert bits <= diverse + 1e-12
        assert diverse <= np.sqrt(k * (1.0 - np.exp(-bits))) + 1e-7


def test_lemma_24_meets_lemma_23_and_its_least_needs_no_number_of_categories():
    for k in (2, 3, 7, 10, 49):
        assert given_largest(1.0 / k, k) == pytest.approx((most_diverse(k), most_diverse(k)), abs=1e-6)
    assert least_given_largest(0.3) == given_largest(0.3, 4)[0] == given_largest(0.3, 400)[0]
    with pytest.raises(OutOfRange):
        given_largest(0.1, 5)


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


@each_case("seed", range(3))
@each_case("cells", [1, 2, 3, 5, 7])
def test_of_all_merges_the_rarest_have_the_least_c_k_and_the_most_frequent_leave_the_most_as_they_are(cells, seed):
    p, every = np.random.default_rng(seed).dirichlet(np.full(7, 0.7)), list(merges(7, cells))

    least, most = min(c_k(cell_shares(p, each)) for each in every), max(intact(p, each) for each in every)
    assert c_k(cell_shares(p, rare(p, cells))) == pytest.approx(least, abs=1e-12)
    assert intact(p, frequent(p, cells)) == pytest.approx(most, abs=1e-12)


@each_case("gamma", [0.6, 1.0, 1.7])
def test_no_merge_raises_delta_and_none_raises_c_k(gamma):
    p = np.random.default_rng(3).dirichlet(np.ones(6))
    for cells in (1, 2, 4):
        for each in merges(6, cells):
            coarse = cell_shares(p, each)

            assert worst_delta(coarse, 9, gamma) <= worst_delta(p, 9, gamma) + 1e-12
            assert c_k(coarse) <= c_k(p) + 1e-12


def test_balanced_cells_come_close_to_equal_ones_however_many_are_dealt_out():
    p, many = np.random.default_rng(4).dirichlet(np.ones(300)), np.full(150_000, 1.0 / 150_000)

    assert most_diverse(10) - 1e-3 < c_k(cell_shares(p, balanced(p, 10))) <= most_diverse(10)
    assert np.ptp(np.bincount(balanced(many, 7))) <= 1


@each_case("merge", MERGES.values())
def test_as_many_cells_as_categories_changes_nothing_one_cell_leaves_nothing_and_others_are_none(merge):
    p = np.array([0.5, 0.3, 0.2])

    assert intact(p, merge(p, 3)) == pytest.approx(1.0)
    assert c_k(cell_shares(p, merge(p, 1))) == 0.0
    for cells in (0, 4, 1.5):
        with pytest.raises(OutOfRange):
            merge([0.5, 0.3, 0.2], cells)
