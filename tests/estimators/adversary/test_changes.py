"""The best rule with a few changes of its guess is the best of all such rules."""

import numpy as np
import pytest

from estimators.adversary.changes import best_by_changes, best_by_changes_each, rule_of_changes
from tests.cases import each_case


def best_by_trying(gain: np.ndarray, most: int) -> np.ndarray:
    """By dynamic programming over cells: the best value ending in each guess after so many changes."""
    value = np.full((2, most + 1), -np.inf)
    value[:, 0] = 0.0
    for place, each in enumerate(gain):
        if place:
            value[:, 1:] = np.maximum(value[:, 1:], value[::-1, :-1])
        value = value + np.array([[each], [-each]])
    return np.maximum.accumulate(value.max(axis=0))


@pytest.mark.slow
@each_case("most", [0, 1, 2, 3, 9])
def test_it_is_what_trying_every_rule_gives(most) -> None:
    rng = np.random.default_rng(most)
    for ties in [True, False] * 40:
        size = int(rng.integers(1, 30))
        gain = rng.integers(-3, 4, size).astype(float) if ties else rng.normal(size=size)
        np.testing.assert_allclose(best_by_changes(gain, most), best_by_trying(gain, most), atol=1e-9)


@each_case("most", [2, 3, 9])
def test_of_several_gains_each_has_what_it_has_alone(most) -> None:
    rng = np.random.default_rng(most)
    for size in (1, 2, 7, 40, 300) * 10:
        gains = rng.integers(-3, 4, (4, size)) * rng.choice([0.0, 1.0, 1.5], (4, 1))

        alone = [best_by_changes(gain, most).tolist() for gain in gains]
        assert best_by_changes_each(gains, most).tolist() == alone


def test_runs_that_only_grow_are_given_up_one_by_one() -> None:
    gain = np.arange(1.0, 41.0) * np.where(np.arange(40) % 2 == 0, 1.0, -1.0)

    np.testing.assert_allclose(best_by_changes(gain, 12), best_by_trying(gain, 12))
    assert best_by_changes(np.zeros(5), 4).tolist() == [0.0] * 5


@each_case("size", [257, 5000, 8191, 8192, 8447, 8448])
def test_long_scores_have_what_the_rule_with_more_changes_says_of_fewer(size) -> None:
    rng = np.random.default_rng(size)
    for ties in [True, False] * 10:
        gain = rng.integers(-3, 4, size).astype(float) if ties else rng.normal(size=size)
        np.testing.assert_allclose(best_by_changes(gain, 2), best_by_changes(gain, 3)[:3], atol=1e-9)


@pytest.mark.slow
@each_case("most", [1, 2, 3, 4, 5, 9, 16])
def test_the_rule_itself_has_what_the_best_has_and_no_more_changes(most) -> None:
    rng = np.random.default_rng(most)
    for ties in [True, False] * 25:
        size = int(rng.integers(1, 40))
        gain = rng.integers(-3, 4, size).astype(float) if ties else rng.normal(size=size)
        rule = rule_of_changes(gain, most)

        value = gain[rule].sum() - gain[~rule].sum()
        assert len(rule) == size
        assert np.count_nonzero(rule[1:] != rule[:-1]) <= most
        np.testing.assert_allclose(value, best_by_changes(gain, most)[-1], atol=1e-9)
