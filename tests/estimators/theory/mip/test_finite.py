"""Proposition 2, exactly: against brute force over adversaries, at any size of the training set."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, NotDistribution, OutOfRange, TooManySubsets
from estimators.theory import mip
from estimators.theory.mip.attack import coupled
from estimators.theory.subsets import matrix
from tests.cases import each_case


def best_of_all_adversaries(laws: NDArray[np.float64], n: int, k: int, record: int) -> float:
    """Every deterministic rule from outcomes to guesses: its accuracy, literally."""
    sets = list(combinations(range(n), k))
    best = 0.0
    for rule in product((False, True), repeat=laws.shape[1]):
        inside = [(law, record in members) for members, law in zip(sets, laws, strict=True)]
        right = sum(law[outcome] for law, own in inside for outcome, guess in enumerate(rule) if guess == own)
        best = max(best, right / len(sets))
    return best


def random_laws(n: int, k: int, outcomes: int, seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.full(outcomes, 0.4), len(list(combinations(range(n), k))))


@each_case("n, k", [(2, 1), (4, 2), (5, 2), (5, 3), (6, 1), (6, 5)])
def test_eta_is_what_the_best_of_all_adversaries_gains_and_the_rule_is_right_as_often(n, k) -> None:
    laws, sets = random_laws(n, k, 4, seed=n + k), list(combinations(range(n), k))
    found = mip.finite_eta(laws, n, k)

    for record in range(n):
        best = best_of_all_adversaries(laws, n, k, record)
        assert found.per_record[record] == pytest.approx(best - max(k / n, 1 - k / n), abs=1e-12)
        says_in = found.says_in[record]
        right = sum(law[says_in == (record in members)].sum() for members, law in zip(sets, laws, strict=True))
        assert right / len(sets) == pytest.approx(best, abs=1e-12)
    assert (found.eta, found.baseline) == (found.per_record[found.worst], max(k / n, 1 - k / n))


def test_an_output_that_tells_nothing_says_out_and_leaks_nothing_and_one_that_tells_all_does():
    third = 1.0 / 3.0
    same = mip.finite_eta([[third, third, third]] * 6, records=4)
    impossible = mip.finite_eta([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0]], records=2)

    assert not same.says_in.any()
    assert impossible.says_in.tolist() == [[True, False, False], [False, True, False]]

    np.testing.assert_allclose(mip.finite_eta(np.eye(20), 6).per_record, 0.5, atol=1e-12)
    for seed in range(20):
        found = mip.finite_eta(np.tile(np.random.default_rng(seed).dirichlet(np.ones(7)), (20, 1)), 6)
        assert 0.0 <= found.eta < 1e-14
        assert 0.0 <= found.bound < 1e-14


@pytest.mark.slow
@each_case("n, k", [(4, 2), (5, 2), (6, 3), (7, 5)])
def test_swaps_never_say_less_than_the_truth(n, k) -> None:
    rows = matrix(n, k, "")
    for seed in range(20):
        laws = random_laws(n, k, 3, seed)
        found = mip.finite_eta(laws, n, k)

        # the sum itself: the answer has the larger of it and of eta, for the sake of rounding
        raw = np.array([coupled(laws, rows, record, k) for record in range(n)])
        assert (raw >= found.per_record - 1e-12).all()
        np.testing.assert_allclose(found.coupling, raw, atol=1e-12)
        assert raw.max() <= min(k, n - k) / n + 1e-12


@each_case("epsilon", [0.1, 1.0, 5.0])
@each_case("delta", [0.0, 0.05, 0.5])
def test_theorem_4_is_attained_by_the_papers_mechanism(epsilon, delta) -> None:
    high, low = (1 - delta) / (1 + np.exp(-epsilon)), (1 - delta) / (1 + np.exp(epsilon))

    found = mip.finite_eta([[delta, high, low, 0.0], [0.0, low, high, delta]], 2)

    promised = delta + (1 - delta) / (1 + np.exp(-epsilon)) - 0.5
    np.testing.assert_allclose(found.per_record, promised, atol=1e-12)
    np.testing.assert_allclose(found.coupling, promised, atol=1e-12)


def test_laws_come_in_lexicographic_order_and_theorem_5s_algorithm_leaks_less_the_more_records():
    def told(members: tuple[int, ...]) -> list[float]:
        return [1.0, 0.0] if members == tuple(range(len(members))) else [0.0, 1.0]

    few, many = (mip.finite_eta(mip.laws_of(told, n), n).eta for n in (4, 10))

    assert few == pytest.approx(1 / 6)  # the first half alone is told, 1 of C(4, 2)
    assert many == pytest.approx(1 / 252)

    seen: list[tuple[int, ...]] = []

    def law(members: tuple[int, ...]) -> list[float]:
        seen.append(members)
        return [0.5, 0.5]

    assert mip.laws_of(law, 5, 2).shape == (10, 2)
    assert seen == list(combinations(range(5), 2))


def test_what_does_not_fit_is_refused_and_not_repeated():
    with pytest.raises(DimensionMismatch, match="need 6"):
        mip.finite_eta(np.eye(5), 4)
    with pytest.raises(DimensionMismatch, match="rows of as many"):
        mip.finite_eta([[0.5, 0.5], [1.0]], 2)
    with pytest.raises(OutOfRange, match="everybody is in"):
        mip.finite_eta(np.eye(1), 4, 4)
    with pytest.raises(TooManySubsets, match="swaps or draws"):
        mip.finite_eta(np.eye(2), 40)

    for row in ([0.7, 0.2], [1.5, -0.5], [float("nan"), 1.0]):
        with pytest.raises(NotDistribution, match="sum 1") as caught:
            mip.finite_eta([[0.5, 0.5], row], 2)
        assert caught.value.index == 1
        assert "0.7" not in caught.value.message
