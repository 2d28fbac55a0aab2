"""Theorem 1.2: the mean individual risk over the mixture is the optimal advantage, in truth and of one sample."""

import numpy as np
import pytest

from estimators import CellsTarget, Counts, Scores, advantage, individual_risk, mean_risk
from estimators.paper import discrete_advantage
from estimators.risk.individual import risk_by_cell
from estimators.sample.cells import Intervals
from tests.cases import each_case
from tests.oracles import categories, gaussian_shift, identical, most_misses, scale

PRIORS = (0.01, 0.1, 0.5, 0.9)


@pytest.mark.slow
@each_case("prior", PRIORS)
@each_case("world", [identical(), gaussian_shift(0.3), scale()])
def test_the_mean_of_the_true_risk_over_the_mixture_is_the_true_advantage(world, prior) -> None:
    cuts = np.linspace(-6, 7, 200_001)
    r, q = (np.diff(cdf(cuts)) for cdf in (world.member_cdf, world.nonmember_cdf))
    mixture = prior * r + (1 - prior) * q
    risk = np.abs(prior * r - (1 - prior) * q) / np.where(mixture > 0, mixture, 1)

    assert (mixture * risk).sum() == pytest.approx(world.truth(prior), abs=1e-4)


@each_case("prior", PRIORS)
def test_the_mean_of_the_risks_that_are_stated_is_the_sum_over_their_cells(prior) -> None:
    rng = np.random.default_rng(0)
    scores = Scores.of(rng.normal(0.5, 1, 300), rng.normal(0, 1, 900))
    risks = individual_risk(scores, prior)

    mean = mean_risk(scores, risks.cells).plug_in

    n1, n0 = 300, 900
    weight = np.concatenate([np.full(n1, prior / n1), np.full(n0, (1 - prior) / n0)])
    # record by record
    assert mean == pytest.approx(float((weight * risks.risk.filled(0.0)).sum()), abs=1e-12)
    # W_N of the cells
    assert mean == pytest.approx(discrete_advantage(risks.cells.counts, prior).value, abs=1e-12)
    posterior = risks.posterior.filled(0.0)
    assert mean == pytest.approx(float((weight * np.abs(2 * posterior - 1)).sum()), abs=1e-12)


def test_the_interval_is_that_of_the_advantage_and_says_so(rng) -> None:
    scores = Scores.of(rng.normal(0.5, 1, 500), rng.normal(0, 1, 500))

    mean = mean_risk(scores, risk_by_cell(scores, 0.3).cells, 0.9, 7)

    expected = advantage(scores, 0.3, CellsTarget(), 0.9, 7)
    found = mean.estimate.value, mean.estimate.lower, mean.estimate.upper
    assert found == (expected.value, expected.lower, expected.upper)
    assert mean.baseline == pytest.approx(0.4)
    assert "which is the optimal advantage (MACE, Theorem 1.2)" in mean.estimate.interval.guarantee.covers
    assert "it is the best attacker's advantage" in mean.sentence


@pytest.mark.slow
@each_case("prior, n1, n0", [(0.5, 100, 100), (0.01, 40, 400), (0.9, 300, 60)])
def test_the_interval_covers_the_true_mean_where_the_plug_in_lies_above_what_its_cells_can_tell(prior, n1, n0) -> None:
    rng, runs, low, high, excess = np.random.default_rng(1), 6, 0, 0, 0.0
    for world in (identical(), gaussian_shift(0.3), categories(6, 0.2)):
        for run in range(runs):
            scores = Scores.of(*world.draw(rng, n1, n0))
            cells = risk_by_cell(scores, prior).cells
            mean = mean_risk(scores, cells, seed=run)
            low += mean.estimate.lower > world.truth(prior) + 1e-9
            high += mean.estimate.upper < world.truth(prior) - 1e-9
            cut = cells.counts.cells
            told = world.truth_at(cut.cuts, prior) if isinstance(cut, Intervals) else world.truth(prior)
            assert told <= world.truth(prior) + 1e-6  # which is by quadrature
            excess += mean.plug_in - told

    assert max(low, high) <= most_misses(3 * runs, 0.025)
    assert excess > -1e-9


def test_the_plug_in_may_lie_below_the_mean_risk_and_the_interval_does_not() -> None:
    """Two cells cut at the median tell nothing of a leak that has two sides."""
    world = scale(3.0)
    scores = Scores.of(*world.draw(np.random.default_rng(2), 2000, 2000))
    mean = mean_risk(scores, risk_by_cell(scores, bins=2).cells, bins=2)

    assert mean.plug_in < 0.1 < world.truth(0.5)
    assert mean.estimate.upper > world.truth(0.5)


@pytest.mark.slow
def test_counts_and_vectors_have_a_mean_risk_too(rng) -> None:
    counts = Counts.of([90, 5, 5], [10, 45, 45])
    mean = mean_risk(counts, risk_by_cell(counts).cells)
    assert mean.plug_in == pytest.approx(0.8)
    assert mean.estimate.lower < 0.8 < mean.estimate.upper

    vectors = Scores.of(rng.normal(1, 1, (300, 2)), rng.normal(0, 1, (300, 2)))
    mean = mean_risk(vectors, risk_by_cell(vectors).cells)
    assert mean.estimate.lower < mean.plug_in
    assert mean.estimate.lower > 0.2
