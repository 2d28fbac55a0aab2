"""Windows between order statistics show members anywhere along a score, and no more often than their level."""

import numpy as np
import pytest
from scipy.special import betaincinv
from scipy.stats import beta, kstest

from estimators.privacy.closeness import RANKS, fullest_windows
from estimators.privacy.direction import Direction
from estimators.privacy.exposure import SEVERE, exposure
from estimators.privacy.ranges import tails_of, windows_of
from estimators.privacy.share_ratio import ratio_limit
from estimators.sample.cells import Values
from estimators.sample.counting import by_grid, finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from tests.cases import each_case
from tests.estimators.privacy.values import ranks
from tests.oracles import most_misses

LEVEL = 0.025


def spike(rng: np.random.Generator, n: int, share: float = 0.05, at: float = 0.3) -> Scores:
    """Of members a share between ``at`` and ``at`` + 0.001, all others Gaussian."""
    members = np.where(rng.random(n) < share, rng.uniform(at, at + 0.001, n), rng.normal(size=n))
    return Scores.of(members, rng.normal(size=n))


def values(members: np.ndarray, nonmembers: np.ndarray) -> Counts:
    labels, at = np.unique(np.concatenate([members, nonmembers]), return_inverse=True)
    columns = [np.bincount(side, minlength=len(labels)) for side in (at[: len(members)], at[len(members) :])]
    return Counts.trusted(columns[0], columns[1], Values(labels))


def literally(counts: Counts, within: int) -> int:
    """Members strictly between two nonmembers with so many between them, at most; window by window."""
    cells = np.repeat(np.arange(counts.size), counts.nonmembers)
    starts = range(0, len(cells) - within - 1, max(1, (within + 1) // 8))
    inside = [counts.members[cells[i] + 1 : cells[i + within + 1]].sum() for i in starts]
    return int(max(inside))


@each_case("top", [5, 60, 10**6])
@each_case("sides", [(40, 60), (300, 50), (90, 2), (7, 3)])
def test_the_fullest_window_is_that_of_a_search_window_by_window(rng, top, sides) -> None:
    counts = values(*(rng.integers(0, top, n) for n in sides))
    windows = fullest_windows(counts)

    sizes = (0, 1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45)
    assert windows.within.tolist() == [k for k in sizes if k + 2 <= sides[1]]
    for at, within in enumerate(windows.within.tolist()):
        assert windows.members[at] == literally(counts, within)
        cells = slice(windows.first[at], windows.behind[at])
        assert counts.members[cells].sum() == windows.members[at]
        assert counts.nonmembers[cells].sum() == windows.nonmembers[at] <= within


def test_one_nonmember_bounds_no_window_and_a_single_cell_holds_none() -> None:
    assert len(fullest_windows(Counts.of([5, 5], [1, 0], edges=[0.0])).within) == 0
    assert exposure(Counts.of([5, 5], [1, 0], edges=[0.0])).tail is None
    one = fullest_windows(Counts.of([50], [40], edges=[]))

    assert one.members.tolist() == [0] * len(one.within)


@pytest.mark.slow
def test_counts_of_any_size_are_searched_at_a_resolution_that_costs_no_more() -> None:
    huge = Counts.of([10**17, 10**16, 10**17], [10**18, 10**3, 10**18], edges=[0.0, 1.0])
    windows, result = fullest_windows(huge), exposure(huge)

    assert 1.0 / (2.0 * windows.shares[0]) <= RANKS
    assert windows.shares.sum() <= 1.0
    assert (result.tail.direction, result.tail.low, result.tail.high) == ("window", 0.0, 1.0)
    assert (result.tail.members, result.tail.nonmembers) == (10**16, 10**3)
    assert result.severe


def test_what_a_window_truly_holds_of_nonmembers_has_the_law_that_its_limit_uses(rng) -> None:
    shares = np.sort(rng.random((4000, 30)), axis=1)

    for k in (0, 4, 8):
        assert kstest(shares[:, 10 + k + 1] - shares[:, 10], beta(k + 1, 30 - k).cdf).pvalue > 1e-3


@pytest.mark.slow
@each_case("top", [40, 10**9])
@each_case("sides", [(200, 200), (900, 100), (100, 900)])
def test_without_a_leak_windows_alone_show_something_no_more_often_than_their_level(top, sides) -> None:
    rng, runs, misses = np.random.default_rng(5), 120, 0
    for _ in range(runs):
        windows = windows_of(values(*(rng.integers(0, top, n) for n in sides)), LEVEL)
        three = zip(windows.members.tolist(), windows.ended_by.tolist(), windows.levels.tolist(), strict=True)
        misses += any(m and ratio_limit(m, sides[0], k, sides[1], level) > 0.0 for m, k, level in three)

    assert misses <= most_misses(runs, LEVEL)


@pytest.mark.slow
@each_case("ratio", [3.0, 12.0])
def test_the_limit_of_windows_is_not_above_a_known_ratio_more_often_than_its_level(ratio) -> None:
    """Members lie in a band in which they are so many times as often as nonmembers everywhere."""
    rng, runs, misses, shown = np.random.default_rng(6), 60, 0, 0
    for _ in range(runs):
        members = 0.3 + rng.random(400) / ratio  # nonmembers are uniform on [0, 1]
        windows = windows_of(ranks(members, rng.random(400)), LEVEL)
        limit = 0.0  # the largest of all: each has to exceed those before
        for m, k, level in zip(
            windows.members.tolist(), windows.ended_by.tolist(), windows.levels.tolist(), strict=True
        ):
            limit = ratio_limit(m, 400, k, 400, level, limit) if m else limit
        misses += limit > np.log(ratio)
        shown += limit > 0.0

    assert misses <= most_misses(runs, LEVEL)
    assert shown == runs


@pytest.mark.slow
def test_a_severe_set_is_no_more_often_shown_than_the_level_where_none_is() -> None:
    """At the very edge of both: 0.5% of members, at ten times the share of nonmembers."""
    rng, runs, severe = np.random.default_rng(7), 80, 0
    for _ in range(runs):
        members = np.where(rng.random(4000) < 0.0049, 0.5 + 0.00049 * rng.random(4000), rng.random(4000))
        severe += exposure(ranks(members, rng.random(4000))).severe

    assert severe <= most_misses(runs, LEVEL)


@each_case("at", [0.3, -1.8, 2.6])
@each_case("turned", [False, True])
def test_a_spike_of_members_inside_the_score_is_found_and_named(at, turned) -> None:
    for seed in range(5):
        scores = spike(np.random.default_rng(seed), 10_000, 0.05, at)
        if turned:
            scores = Scores.of(np.negative(scores.members), np.negative(scores.nonmembers))
        result = exposure(scores)
        tail = result.tail

        assert result.severe
        assert tail.direction == "window"
        low, high = sorted([-tail.low, -tail.high] if turned else [tail.low, tail.high])
        assert at - 0.03 < low < high < at + 0.03
        both = scores.members, scores.nonmembers
        inside = [((side >= tail.low) & (side < tail.high)).sum() for side in both]
        assert [tail.members, tail.nonmembers] == inside
        assert tail.tpr_lower < 0.055
        assert tail.score_epsilon >= np.log(SEVERE)


def test_a_spike_of_nonmembers_exposes_nobody_and_counts_for_the_epsilon(rng) -> None:
    scores = spike(rng, 10_000)
    result = exposure(Scores.of(scores.nonmembers, scores.members))

    assert not result.alarm
    assert result.nonmember_tail.direction == "window"
    assert result.score_epsilon == result.nonmember_tail.score_epsilon > 2.0
    assert "nonmembers and 4 of 10,000 members score between 0.3 and 0.3009" in result.sentence


def test_the_sentence_says_between_which_scores_they_lie_with_as_many_digits_as_it_takes() -> None:
    cut = Counts.of([9000, 500, 500], [5000, 3, 4997], edges=[0.2999, 0.3007])
    alone = exposure(values(np.repeat([1, 7, 9], [800, 90, 110]), np.repeat([1, 9], [600, 400])))
    empty = Counts.of([9000, 500, 500], [5000, 0, 5000], edges=[0.25, 0.5])

    finding = "500 of 10,000 members and 3 of 10,000 nonmembers score between 0.2999 and 0.3007"
    assert exposure(cut).finding == finding
    said = "500 of 10,000 members score between 0.25 and 0.5, where no nonmember lies"
    assert exposure(empty).finding == said
    assert alone.finding == "90 of 1,000 members have the score 7, where no nonmember lies"
    assert (alone.tail.low, alone.tail.high) == (7.0, 7.0)


def test_counts_on_a_grid_and_many_records_show_the_same_spike(rng) -> None:
    scores = spike(rng, 20_000)
    fine, grid = exposure(finest(scores)), exposure(by_grid(scores))
    many = exposure(spike(rng, 150_000, 0.02))

    assert fine.severe
    assert grid.severe
    assert grid.tail.low == pytest.approx(0.3, abs=0.002)
    assert many.severe
    assert many.tail.high == pytest.approx(0.301, abs=0.002)


def test_what_tails_of_members_show_costs_nothing(rng) -> None:
    """They have as much of the error as before windows were looked at: nine tenths."""
    counts = ranks(np.concatenate([rng.random(1000), rng.random(30) + 2.0]), rng.random(1000))
    tails = tails_of(counts, 0.9 * LEVEL, Direction.EITHER)
    three = zip(tails.members.tolist(), tails.ended_by.tolist(), tails.levels.tolist(), strict=True)
    limits = [ratio_limit(m, counts.n_members, k, 1000, level) for m, k, level in three if m]

    assert exposure(counts).members_epsilon == pytest.approx(max(limits), abs=2e-5)
    assert betaincinv(1.0, 1000.0, 1.0 - tails.levels[0]) == pytest.approx(exposure(counts).tail.fpr_upper)


@pytest.mark.slow
@each_case("n, k", [(500, 1), (2000, 4), (2000, 8), (10_000, 1), (10_000, 16)])
def test_a_window_exposes_whom_an_end_of_the_score_would_be_shown_to_hold_about_twice_as_often(n, k) -> None:
    """Windows share so little of the error that as much as at an end, twice as often, could not be shown of them."""

    def inside(m: int) -> Counts:
        return Counts.of([n // 2, m, n - n // 2 - m], [n // 2, k, n - n // 2 - k], edges=[0.0, 1.0])

    def at_the_end(m: int) -> Counts:
        return Counts.of([n - m, m], [n - k, k], edges=[0.0])

    fewest = next(m for m in range(4 * k, n // 2) if exposure(inside(m)).alarm)
    found, tail = exposure(inside(fewest)).tail, exposure(at_the_end(fewest)).tail

    assert (found.direction, found.members, found.nonmembers) == ("window", fewest, k)
    assert np.log(1.25) <= found.score_epsilon < np.log(1.4)
    assert np.log(1.9) < tail.score_epsilon < np.log(4.0)


def test_a_window_that_exposes_a_few_hides_no_larger_limit_of_an_end_that_exposes_nobody() -> None:
    counts = Counts.of([5000, 37, 4963], [7951, 1, 2048], edges=[0.0, 1.0])
    result, without = exposure(counts), exposure(Counts.of([5037, 4963], [7952, 2048], edges=[1.0]))

    assert result.alarm
    assert not without.alarm
    assert result.tail.direction == "window"
    assert result.members_epsilon == pytest.approx(without.members_epsilon, abs=2e-5)
    assert result.score_epsilon == result.members_epsilon
    assert result.members_epsilon > result.tail.score_epsilon
