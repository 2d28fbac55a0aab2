"""How sure the surest accusation is, of those that find at least a share of the members."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from benchmarks.band import WORLDS, shifted, surest
from estimators import Counts, Scores, best_precision
from estimators.errors import IncompatibleCells, OutOfRange
from estimators.limits.every_cut import share_limits
from estimators.privacy import band
from estimators.privacy.roc import from_the_top
from estimators.sample.counting import EXACT_RECORDS, by_edges, by_grid, finest
from tests.cases import each_case, refusals
from tests.oracles import most_misses


@pytest.mark.slow
@each_case("world", WORLDS[1::2])
def test_each_end_misses_the_truth_as_seldom_as_it_says(world) -> None:
    rng, runs, shares = np.random.default_rng(WORLDS.index(world)), 100, [0.02, 0.25]
    truths = [surest(world, 0.1, share) for share in shares]

    drawn = (Scores.of(*world.draw(rng, 80, 200)) for _ in range(runs))
    found = [[each.estimate for each in best_precision(scores, 0.1, 0.9, shares)] for scores in drawn]
    ends = np.array([[(each.lower, each.upper) for each in estimates] for estimates in found])

    above = (ends[..., 0] > np.add(truths, 1e-4)).sum(axis=0)
    below = (ends[..., 1] < np.add(truths, -1e-4)).sum(axis=0)
    assert max(*above, *below) <= most_misses(runs, 0.05)


@pytest.mark.slow
def test_a_lower_end_is_refuted_at_one_of_eight_members_by_the_chance_of_so_few_nonmembers() -> None:
    """By drawing U; the lower end has it from parts of its law, which can only raise the chance."""
    rng = np.random.default_rng(5)
    scores = Scores.of(rng.normal(1.0, 1.0, 300), rng.normal(0.0, 1.0, 400))
    prior, share, alpha = 0.2, 0.1, 0.025
    (found,) = best_precision(scores, prior, 1.0 - 2.0 * alpha, [share])
    ratio = prior * (1.0 - found.estimate.lower) / ((1.0 - prior) * found.estimate.lower)

    members, nonmembers = np.sort(scores.members)[::-1], scores.nonmembers
    chances = []
    for k in np.geomspace(50, 300, band.RANKS, endpoint=False).round().astype(int):
        above = rng.beta(k, 301 - k, 200_000)
        so_few = binom.cdf((nonmembers >= members[k - 1]).sum(), 400, ratio * above)
        chances.append(np.where(above < share, 1.0, so_few).mean())
    before, first = beta.cdf(share, [49, 50], [252, 251])
    assert first <= alpha / band.RANKS / 8.0 < before
    assert 0.8 < min(chances) / (alpha / band.RANKS) < 1.02
    assert found.estimate.lower > 0.3  # the truth is .686


@each_case("sides", [(9, 30), (60, 300)])
def test_an_upper_end_is_that_of_limits_of_every_cut_that_may_find_enough(sides) -> None:
    rng, prior, share = np.random.default_rng(sides), 0.3, 0.4
    members, nonmembers = (np.round(rng.normal(1.0, 1.0, n), 1) for n in sides)
    (found,) = best_precision(Scores.of(members, nonmembers), prior, 0.9, [share])

    cuts = [np.inf, *np.unique(np.concatenate([members, nonmembers]))[::-1]]
    above = [np.array([(side >= cut).sum() for cut in cuts]) for side in (members, nonmembers)]
    alpha = 1.0 - 0.95**0.5
    (_, most), (fewest, _) = (share_limits(k, n, alpha) for k, n in zip(above, sides, strict=True))
    of_cuts = prior * most / (prior * most + (1.0 - prior) * fewest)
    assert found.estimate.upper == pytest.approx(of_cuts[most >= share].max())


def test_limits_shared_by_cuts_are_looser_by_little(monkeypatch) -> None:
    rng = np.random.default_rng(6)
    scores = Scores.of(rng.normal(1.0, 1.0, 6000), rng.normal(0.0, 1.0, 6000))
    shared = best_precision(scores, 0.1)
    monkeypatch.setattr(band, "EVERY_CUT", 10**9)

    for some, every in zip(shared, best_precision(scores, 0.1), strict=True):
        assert every.estimate.lower == some.estimate.lower
        assert every.estimate.upper <= some.estimate.upper <= every.estimate.upper + 0.04


def test_of_many_records_a_threshold_between_those_counted_is_covered() -> None:
    rng = np.random.default_rng(7)
    scores = Scores.of(rng.normal(1.0, 1.0, EXACT_RECORDS), rng.normal(0.0, 1.0, EXACT_RECORDS))
    counts = finest(scores)
    assert counts.size < counts.n_records
    hits, alarms = from_the_top(counts)
    (found,) = best_precision(scores, 0.1, 0.95, [0.05])

    first = np.searchsorted(hits, 0.05 * EXACT_RECORDS)
    next_hits = hits[first + 1] / EXACT_RECORDS
    assert found.estimate.upper > 0.1 * next_hits / (0.1 * next_hits + 0.9 * alarms[first] / EXACT_RECORDS)
    assert found.estimate.lower < surest(shifted(1.0), 0.1, 0.05) < found.estimate.upper
    assert found.estimate.upper - found.estimate.lower < 0.1


def test_a_cut_within_a_cell_of_counts_is_covered() -> None:
    """Before, the truth lay above the upper end of these cells in every sample."""
    rng, world = np.random.default_rng(8), shifted(1.0)
    truth = surest(world, 0.1, 0.25)
    for _ in range(10):
        scores = Scores.of(*world.draw(rng, 2000, 2000))
        (of_cells,) = best_precision(by_edges(scores, np.array([-1.0, 0.0, 1.0, 2.0, 3.0])), 0.1, shares=[0.25])
        on_grid, exact = (best_precision(each, 0.1, shares=[0.25])[0].estimate for each in (by_grid(scores), scores))
        assert of_cells.estimate.lower < truth < of_cells.estimate.upper
        assert on_grid.upper == pytest.approx(exact.upper, abs=0.01)


def test_sides_apart_and_alike_one_score_for_all_and_all_of_the_members() -> None:
    apart = best_precision(Scores.of(np.arange(500.0) + 1000.0, np.arange(500.0)), 0.1)
    same = best_precision(Scores.of(np.ones(50), np.ones(50)), 0.1)
    (all_of_them,) = best_precision(SOME, 0.5, shares=[1.0])

    assert {each.estimate.upper for each in apart} == {each.estimate.value for each in apart} == {1.0}
    assert all(each.estimate.lower > 0.8 for each in apart)
    assert [(each.estimate.lower, each.estimate.value) for each in same] == [pytest.approx((0.1, 0.1))] * 4
    assert apart[1].sentence.startswith(
        "With 95% confidence: the best cut that finds at least 5% of members is right in between "
    )
    assert all_of_them.estimate.value == 0.5


SOME = Counts.of([5, 3], [3, 5], edges=[0.5])

test_what_is_not_a_share_and_has_no_order_is_refused = refusals(
    "ask, error, words",
    *((lambda s=s: best_precision(SOME, shares=[s]), OutOfRange, "share") for s in (0.0, 1.1, float("nan"))),
    *((lambda prior=prior: best_precision(SOME, prior), OutOfRange, "prior") for prior in (0.0, 1.0)),
    (lambda: best_precision(Counts.of([5, 3], [3, 5])), IncompatibleCells, None),
)
