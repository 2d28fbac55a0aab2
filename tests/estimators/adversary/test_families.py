"""Fitted rules against exhaustive search."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from estimators.adversary import families
from estimators.sample.counting import by_rank
from estimators.sample.counts import Counts
from estimators.sample.scores import Query, Scores
from tests.cases import each_case
from tests.oracles import atoms, gaussian_shift

GAINS = np.random.default_rng(0).normal(size=(40, 7))


def worth(gain: np.ndarray, guesses: np.ndarray) -> float:
    return float(gain[guesses].sum() - gain[~guesses].sum())


CELLS = np.arange(7)
EVERY = [np.array(rule) for rule in product([False, True], repeat=7)]


@each_case(
    "family, rules, changes",
    (families.Threshold(), [cut <= CELLS for cut in range(8)], 1),
    (families.TwoSided(), [(i <= CELLS) & (j > CELLS) for i, j in combinations_with_replacement(range(8), 2)], 2),
    (families.Cellwise("cells"), EVERY, 6),
)
def test_no_rule_of_its_family_or_its_complement_beats_the_fitted_one(family, rules, changes) -> None:
    for gain, rule in zip(GAINS, family.fit(GAINS, tie=False), strict=True):
        assert worth(gain, rule) == pytest.approx(max(abs(worth(gain, each)) for each in rules), abs=1e-12)
        assert np.abs(np.diff(rule.astype(int))).sum() <= changes


def test_joined_cells_share_a_guess_unseen_ones_have_the_priors_and_a_tiny_bandwidth_changes_none():
    guesses = families.OnGroups(families.Cellwise("coarse"), np.array([0, 3, 5])).fit(GAINS, tie=False)

    assert (guesses[:, 0] == guesses[:, 2]).all()
    assert (guesses[:, 3] == guesses[:, 4]).all()

    gain = np.zeros((1, 3))

    assert families.Cellwise("cells").fit(gain, tie=True).all()
    assert not families.Cellwise("cells").fit(gain, tie=False).any()

    np.testing.assert_array_equal(
        families.Smoothed(1e-3).fit(GAINS, tie=False), families.Cellwise("cells").fit(GAINS, tie=False)
    )


@each_case("prior", [0.5, 0.1])
def test_the_in_sample_threshold_equals_a_sweep_over_every_score(prior) -> None:
    a, b = atoms().draw(np.random.default_rng(1), 200, 300)
    cuts = np.unique(np.concatenate([a, b]))
    sweep = [2 * (prior * np.mean(a >= c) + (1 - prior) * np.mean(b < c)) - 1 for c in cuts]
    sweep += [-v for v in sweep] + [abs(1 - 2 * prior)]
    value = families.in_sample(families.Threshold(), by_rank(Scores.of(a, b, Query.CONTINUOUS)), prior)

    assert value == pytest.approx(max(sweep), abs=1e-12)


def test_the_in_sample_cellwise_value_is_the_papers_statistic() -> None:
    # study section 6: W_N for members (5, 3, 2), nonmembers (1, 4, 5)
    counts = Counts.of([5, 3, 2], [1, 4, 5])

    assert families.in_sample(families.Cellwise("cells"), counts, 0.5) == pytest.approx(0.4, abs=1e-12)
    assert families.in_sample(families.Cellwise("cells"), counts, 0.1) == pytest.approx(0.8, abs=1e-12)


def test_ordered_cells_offer_every_family_simplest_first_and_unordered_ones_no_threshold() -> None:
    counts = by_rank(Scores.of(*gaussian_shift(0.2).draw(np.random.default_rng(0), 500, 500))).coarsen(20)
    ordered, unordered = ([f.name for f in families.families_for(c)] for c in (counts, Counts.of([5, 3, 2], [1, 4, 5])))

    assert ordered == ["threshold", "two_sided", "coarse_cells", "kde", "cells"]
    assert unordered == ["cells", "unseen_labels"]
