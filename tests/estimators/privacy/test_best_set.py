"""The true positive rate of the best few ranges: bounds against a search of all sets, ends by simulation."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from estimators import Counts, Decision, Scores
from estimators.decisions.gate import judge
from estimators.decisions.tpr_limit import MaxTpr
from estimators.errors import OutOfRange
from estimators.limits.binomial import clopper_pearson
from estimators.privacy.ranges import most_members, tpr_at_least, tpr_at_most, tpr_seen
from estimators.sample.cells import Categories, Values
from tests.cases import each_case
from tests.estimators.privacy.values import tallied
from tests.oracles import most_misses

LEVEL = 0.025


def literally(counts: Counts, nonmembers: int, ranges: int) -> int:
    """Most members in any set of so few ranges, or labels, with at most so many nonmembers: every set is tried."""
    rules = np.arange(2**counts.size)[:, None] >> np.arange(counts.size) & 1
    begins = rules[:, 0] + (np.diff(rules) == 1).sum(axis=1)
    pieces = begins if counts.cells.ordered else rules.sum(axis=1)
    allowed = (pieces <= ranges) & (rules @ counts.nonmembers <= nonmembers)
    return int((rules @ counts.members)[allowed].max(initial=0))


@pytest.mark.slow
@each_case("cells", [Values, Categories])
@each_case("ranges", [1, 2, 4])
def test_no_set_of_so_few_ranges_holds_more_members_than_the_bound_and_the_bound_is_close(cells, ranges):
    rng, over = np.random.default_rng(1), []
    for _ in range(10):
        counts = tallied(rng.integers(0, 9, 40), rng.integers(0, 9, 40), 9, cells)
        for nonmembers in (0, 3, 12):
            most, bound = literally(counts, nonmembers, ranges), most_members(counts, nonmembers, ranges)

            assert most <= bound <= 40
            over.append(bound - most)

    assert np.mean(over) < 3.0


def test_two_ends_are_two_ranges_and_pairs_of_labels_are_bounded_by_their_two_largest() -> None:
    ends = Counts.of([50, 5, 45], [0, 100, 0], edges=[0.0, 1.0])
    sides = np.repeat(np.arange(6), [9, 7, 5, 3, 2, 1]), np.repeat(np.arange(6), [1, 1, 1, 4, 8, 9])
    counts = tallied(*sides, 6, Categories)
    every = (list(pair) for pair in combinations(range(6), 2))
    pairs = max(int(counts.members[pair].sum()) for pair in every if counts.nonmembers[pair].sum() <= 2)

    assert (most_members(ends, 0, 1), most_members(ends, 0, 2)) == (50, 95)
    assert pairs == most_members(counts, 2, 2) == 16


def test_an_upper_end_spends_half_of_its_error_on_whom_a_rate_accuses_and_half_on_members() -> None:
    sides = np.random.default_rng(4).integers(0, 9, (2, 300))
    counts = tallied(*sides, 9)
    accused = next(c for c in range(300) if binom.sf(c, 300, 0.1) <= LEVEL / 2.0)

    most = clopper_pearson(most_members(counts, accused, 4), 300, LEVEL / 2.0)[1]
    assert tpr_at_most(counts, 0.1, LEVEL) == pytest.approx(most)


def spiked(rng: np.random.Generator, n: int, share: float, mass: float) -> Scores:
    """A share of members in a window of the middle that holds this share of nonmembers."""
    members = np.where(rng.random(n) < share, 0.5 + mass * rng.random(n), rng.random(n))
    return Scores.of(members, rng.random(n))


def require_few_misses(samples: Iterable[Scores | Counts], rate: float, truth: float) -> None:
    estimates = [judge(each, [MaxTpr(0.5, rate)]).limits[0].estimate for each in samples]
    missed = sum(each.lower > truth for each in estimates), sum(each.upper < truth for each in estimates)

    assert max(missed) <= most_misses(len(estimates), LEVEL)


@pytest.mark.slow
@each_case("mass, rate", [(0.01, 0.01), (0.004, 0.01), (0.04, 0.01)])
def test_both_ends_hold_for_a_window_anywhere(mass, rate) -> None:
    """The best set is the window, with as much of the rest as the rate allows, or the part of it that it allows."""
    rng, share = np.random.default_rng(2), 0.06
    truth = (share + (1 - share) * mass) * min(1.0, rate / mass) + (1 - share) * max(0.0, rate - mass)
    require_few_misses((spiked(rng, 2000, share, mass) for _ in range(20)), rate, truth)


@pytest.mark.slow
@each_case("cells", [Values, Categories])
def test_both_ends_hold_for_atoms_and_labels_that_are_accused_in_part(cells) -> None:
    rng = np.random.default_rng(3)
    r, q = np.full(20, 0.7 / 19), np.full(20, 0.96 / 19)
    r[7], q[7] = 0.3, 0.04  # half of it may be accused
    sides = ([rng.choice(20, 1500, p=law / law.sum()) for law in (r, q)] for _ in range(25))
    require_few_misses((tallied(*each, 20, cells) for each in sides), 0.02, 0.15)


@pytest.mark.slow
def test_a_spike_inside_the_score_does_not_pass_and_clean_scores_do() -> None:
    limit, passes = MaxTpr(0.02, 0.001), 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        members = np.where(rng.random(10_000) < 0.05, rng.uniform(0.3, 0.301, 10_000), rng.normal(size=10**4))
        spike = judge(Scores.of(members, rng.normal(size=10_000)), [limit])
        clean = judge(Scores.of(*rng.normal(size=(2, 10_000))), [limit])

        assert spike.decision is not Decision.PASS
        assert spike.limits[0].threshold.upper < 0.02  # a threshold alone would have passed
        passes += clean.decision is Decision.PASS

    assert passes == 8


def test_the_words_say_how_many_ranges_and_what_a_threshold_alone_finds() -> None:
    spike = spiked(np.random.default_rng(0), 20_000, 0.05, 0.0005)
    ordered = judge(spike, [MaxTpr(0.02, 0.001)])
    sides = np.random.default_rng(0).integers(0, 9, (2, 300))
    labels = judge(tallied(*sides, 9, Categories), [MaxTpr(0.5, 0.1)])
    one = judge(spike, [MaxTpr(0.9, 0.001, ranges=1)])

    assert ordered.decision is Decision.FAIL
    assert "by the best set of at most 4 ranges of the score, is at least" in ordered.sentence
    assert "(by a threshold alone 0.000 to 0.003)" in ordered.sentence
    assert (ordered.limits[0].ranges, labels.limits[0].ranges, one.limits[0].ranges) == (4, 4, 1)
    assert "by the best set of at most 4 labels," in labels.sentence
    assert labels.limits[0].threshold is None
    assert "at most 4 ranges of the score" in ordered.limits[0].estimate.interval.guarantee.covers


@pytest.mark.slow
def test_odd_counts_have_an_answer() -> None:
    one = Counts.of([5, 5], [1, 0], edges=[0.0])
    single = Counts.of([50], [40], edges=[])
    huge = Counts.of([10**15, 10**14, 10**15], [10**16, 10**3, 10**16], edges=[0.0, 1.0])

    assert tpr_at_least(one, 0.1, LEVEL) == tpr_at_least(single, 0.1, LEVEL) == 0.0
    assert tpr_seen(one, 0.1) == 0.0
    assert tpr_at_most(one, 0.1, LEVEL) == 1.0
    assert 0.0 < tpr_at_most(single, 0.001, LEVEL) <= 1.0
    assert tpr_at_most(huge, 1e-4, LEVEL) == pytest.approx(1 / 21, rel=0.01)
    assert tpr_at_least(huge, 1e-4, LEVEL) == pytest.approx(1 / 21, rel=0.01)


def test_ranges_are_a_number_from_one_on() -> None:
    for ranges in (0, -1):
        with pytest.raises(OutOfRange, match="ranges"):
            judge(Counts.of([5, 5], [5, 5], edges=[0.0]), [MaxTpr(0.5, 0.1, ranges=ranges)])


def booleans(members: int, nonmembers: int, n: int, cells: type[Categories] = Values) -> Counts:
    return Counts.trusted(np.array([n - members, members]), np.array([n - nonmembers, nonmembers]), cells(np.arange(2)))


def test_a_score_of_two_values_is_judged_as_two_labels_are_and_none_is_named_where_no_number_settles_it() -> None:
    """Who accuses few of those with the likelier value finds 0.012 of members, as numbers or as text."""
    values, labels = (booleans(900, 750, 1500, cells) for cells in (Values, Categories))
    each = [judge(counts, [MaxTpr(0.1, 0.01)]).limits[0] for counts in (values, labels)]
    at_the_limit = judge(values, [MaxTpr(0.012, 0.01)])

    assert [limit.verdict.decision for limit in each] == [Decision.PASS, Decision.PASS]
    assert each[0].estimate.upper == each[1].estimate.upper < 0.03
    assert [limit.estimate.value for limit in each] == pytest.approx([0.012, 0.012], abs=1e-4)
    assert 0.0095 < each[0].estimate.lower < each[1].estimate.lower < 0.012  # ranges share the error with the values
    assert judge(values, [MaxTpr(0.005, 0.01)]).decision is Decision.FAIL
    assert at_the_limit.limits[0].verdict.records_needed is None
    assert "no number of records" in at_the_limit.sentence


@each_case("members, nonmembers, limit", [(450, 18, 0.28), (450, 18, 0.1), (900, 750, 0.02)])
def test_of_few_values_as_many_records_as_are_named_settle_it(members, nonmembers, limit) -> None:
    open_yet = judge(booleans(members, nonmembers, 1500), [MaxTpr(limit, 0.01)])
    times = open_yet.limits[0].verdict.records_needed / 3000
    decided = [
        judge(booleans(*(round(each * more * times) for each in (members, nonmembers, 1500))), [MaxTpr(limit, 0.01)])
        for more in (0.9, 1.0)
    ]

    assert [each.decision is Decision.INCONCLUSIVE for each in [open_yet, *decided]] == [True, True, False]
