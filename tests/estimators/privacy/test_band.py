"""A band that holds the whole ROC at once."""

import numpy as np
import pytest

from benchmarks.band import WORLDS, holds
from estimators import Counts, Scores, roc_band
from estimators.errors import IncompatibleCells, InputError, OutOfRange
from estimators.limits.every_cut import records_beyond, share_limits
from estimators.privacy.roc import operating_points
from estimators.sample.counting import EXACT_RECORDS, by_edges, by_grid, finest
from estimators.sample.stream import CountStream
from tests.cases import each_case, refusals
from tests.oracles import most_misses


@each_case("records", [8, 200, 50_000])
def test_a_band_reaches_from_few_to_nearly_all_and_never_falls(records) -> None:
    rng = np.random.default_rng(0)

    band = roc_band(Scores.of(rng.normal(1.0, 1.0, records), rng.normal(0.0, 1.0, records)))

    assert (band.fpr[0], band.fpr[-1]) == pytest.approx((1e-4, 0.99))
    for ends in (band.fpr, band.lower, band.tpr, band.upper):
        assert np.all(np.diff(ends) >= 0.0)
    assert np.all((band.lower <= band.tpr) & (band.tpr <= band.upper))
    assert np.all((band.lower == 0.0) | (band.fpr >= band.rarest))
    assert band.guarantee.finite_sample == (records < 50_000)  # of so many not every rank was looked at


@each_case("sides", [(8, 8), (9, 30), (40, 25), (60, 300)])
def test_limits_are_those_of_their_definition(sides) -> None:
    rng = np.random.default_rng(sides)
    shifts = zip((1, 0), sides, strict=True)
    members, nonmembers = (np.round(rng.normal(shift, 1.0, n), 1) for shift, n in shifts)
    alpha, rates = 1.0 - 0.9**0.5, [0.01, 0.1, 0.25, 0.5, 0.9]

    band = roc_band(Scores.of(members, nonmembers), 0.9, rates)

    cuts = [np.inf, *np.unique(np.concatenate([members, nonmembers]))[::-1]]
    above = [np.array([(side >= cut).sum() for cut in cuts]) for side in (members, nonmembers)]
    (c, d), (a, b) = (share_limits(k, n, alpha) for k, n in zip(above, sides, strict=True))
    assert band.lower.tolist() == [max([0.0, *c[b <= rate]]) for rate in rates]
    assert band.upper.tolist() == [d[a <= rate].max() for rate in rates]
    assert band.tpr.tolist() == [(above[0] / sides[0])[above[1] <= rate * sides[1]].max() for rate in rates]


@pytest.mark.slow
@each_case("world", WORLDS)
def test_the_whole_curve_lies_within_as_often_as_it_says(world) -> None:
    rng, runs, sides = np.random.default_rng(WORLDS.index(world)), 80, (60, 150)

    missed = sum(not holds(world, *world.draw(rng, *sides), share_limits) for _ in range(runs))

    assert missed <= most_misses(runs, 0.05)


@pytest.mark.slow
def test_limits_of_one_rate_each_do_not_hold_as_a_band_and_are_narrower() -> None:
    rng, runs, missed = np.random.default_rng(4), 100, 0
    for _ in range(runs):
        counts = finest(Scores.of(rng.normal(size=200), rng.normal(size=200)))
        band = roc_band(counts)
        single = [each.estimate.interval for each in operating_points(counts, band.fpr.tolist())]
        missed += any(not each.lower <= f <= each.upper for each, f in zip(single, band.fpr, strict=True))
        wider = (band.upper - band.lower) - np.array([each.upper - each.lower for each in single])
        assert wider.mean() > 0.0

    assert missed > most_misses(runs, 0.05)


LINE = Scores.of(np.arange(8.0), np.arange(9.0))


def test_the_band_of_sides_wholly_apart_of_one_score_for_all_and_at_no_rate() -> None:
    apart = roc_band(Scores.of(np.arange(500.0) + 1000.0, np.arange(500.0)), rates=[0.001, 0.02, 0.5])
    same = roc_band(Scores.of(np.ones(50), np.ones(50)), rates=[0.1, 0.5])

    assert apart.lower[0] == 0.0
    assert apart.lower[1] > 0.97
    assert apart.rarest < 0.02
    assert same.lower.tolist() == [0.0, 0.0]
    assert np.all(same.upper < 0.2)  # only a cut above everybody accuses half of nonmembers at most
    assert roc_band(LINE, rates=[]).fpr.tolist() == []


def test_cells_of_more_scores_than_are_told_apart_may_be_cut() -> None:
    rng, n = np.random.default_rng(0), EXACT_RECORDS
    members, nonmembers = rng.normal(0.5, 1.0, n), rng.normal(0.0, 1.0, n)
    rates = [1e-4, 0.001, 0.1, 0.5]

    whole = roc_band(Scores.of(members, nonmembers), rates=rates)

    cuts = np.sort(np.concatenate([members, nonmembers]))[::-1]
    above = [n - np.searchsorted(np.sort(side), cuts) for side in (members, nonmembers)]
    alpha = 1.0 - 0.95**0.5
    most = [above[1].searchsorted(k, side="right") - 1 for k in records_beyond(np.array(rates), n, alpha)]
    exact = zip(*(share_limits(above[0][at], n, alpha)[end] for end, at in enumerate(most)), strict=True)
    for at, (low, high) in enumerate(exact):
        assert low - 5e-4 <= whole.lower[at] <= low
        assert high <= whole.upper[at] <= high + 5e-4


def test_cuts_within_cells_of_counts_lie_within_the_band_and_cells_of_a_grid_cost_nothing() -> None:
    """Before, the curve lay above the band of these cells in every sample."""
    rng, world = np.random.default_rng(8), WORLDS[1]
    for _ in range(20):
        scores = Scores.of(*world.draw(rng, 500, 500))
        band = roc_band(by_edges(scores, np.array([-1.0, 0.0, 1.0, 2.0])))
        truth = world.roc(band.fpr)
        assert np.all((band.lower <= truth + 1e-12) & (truth <= band.upper + 1e-12))
        exact, on_grid = roc_band(scores), roc_band(by_grid(scores))
        assert np.allclose(exact.upper, on_grid.upper, atol=0.005)


def test_a_score_within_a_cell_is_accused_as_a_whole() -> None:
    """That of frequent scores of a grid, whose cell has other records, too: 300 and 200 at 0.5, one of each beside."""
    sides = (np.concatenate([np.full(n, 0.5), [0.5 + 1e-9], np.linspace(0.0, 0.4, 500 - n)]) for n in (300, 200))
    counts = CountStream.on_grid().plus(*sides).counts()
    assert int(counts.alike()[0].max()) == 300
    upper = roc_band(counts, rates=[0.1]).upper[0]
    assert upper < 0.05 < 300 / 501  # whoever accuses one of these nonmembers accuses 200 of 501


test_what_has_no_curve_is_refused = refusals(
    "ask, error, words",
    (lambda: roc_band(Counts.of([3, 4], [4, 3])), IncompatibleCells, "have no order"),
    (lambda: roc_band([0.5, 0.7]), InputError, "need Scores"),
    (lambda: roc_band(LINE, confidence=1.0), OutOfRange, None),
    *((lambda rates=rates: roc_band(LINE, rates=rates), OutOfRange, None) for rates in ([0.0], [0.1, float("nan")])),
)
