from __future__ import annotations

import numpy as np
import pytest

from estimators.errors import OutOfRange
from estimators.theory.mis.diversity import (
    c_k,
    gini_simpson,
    given_largest,
    least_given_largest,
    most_diverse,
    shannon,
)


def draws(categories: int, count: int = 400) -> list[np.ndarray]:
    rng = np.random.default_rng(categories)
    return [rng.dirichlet(np.full(categories, a)) for a in (0.1, 0.5, 1.0, 10.0) for _ in range(count // 4)]


def test_c_k_is_equation_18():
    assert c_k([0.5, 0.25, 0.25]) == pytest.approx(0.5 + 2.0 * np.sqrt(3.0) / 4.0)
    assert c_k([1.0, 0.0]) == 0.0


@pytest.mark.parametrize("k", [2, 3, 8, 50])
def test_lemma_23_the_uniform_distribution_has_the_most(k):
    assert c_k(np.full(k, 1.0 / k)) == pytest.approx(most_diverse(k))
    assert max(c_k(p) for p in draws(k)) <= most_diverse(k)


@pytest.mark.parametrize("k", [2, 3, 5, 12])
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


def test_lemma_24_meets_lemma_23_at_the_uniform_distribution():
    for k in (2, 3, 7, 10, 49):
        assert given_largest(1.0 / k, k) == pytest.approx((most_diverse(k), most_diverse(k)), abs=1e-6)


def test_the_least_needs_no_number_of_categories():
    assert least_given_largest(0.3) == given_largest(0.3, 4)[0] == given_largest(0.3, 400)[0]


@pytest.mark.parametrize("k", [2, 5, 30])
def test_entropies_lie_where_equations_23_to_25_say(k):
    for p in draws(k):
        diverse, gini, bits = c_k(p), gini_simpson(p), shannon(p)

        assert gini <= diverse / 2.0 + 1e-12
        assert diverse**2 / k <= gini + 1e-12
        assert bits <= diverse + 1e-12
        assert diverse <= np.sqrt(k * (1.0 - np.exp(-bits))) + 1e-7


def test_a_largest_share_below_that_of_the_uniform_distribution_is_refused():
    with pytest.raises(OutOfRange):
        given_largest(0.1, 5)
