"""Epsilon's upper end: its algebra, its law, and how seldom it is too low."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import beta

from estimators.adversary.insample import RARE_ALONE
from estimators.privacy import closeness
from estimators.sample.cells import Categories
from estimators.sample.counting import finest
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from tests.cases import each_case
from tests.oracles import gaussian_shift, most_misses, shift_for

ALPHA = 0.025


def divergence(r: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(r - np.exp(epsilon) * q, 0).sum())


def true_epsilon(r: np.ndarray, q: np.ndarray, delta: float) -> float:
    def excess(epsilon: float) -> float:
        return max(divergence(r, q, epsilon), divergence(q, r, epsilon)) - delta

    return 0.0 if excess(0) <= 0 else float(brentq(excess, 0, 60, xtol=1e-12))


def counts_of(members: np.ndarray, nonmembers: np.ndarray) -> Counts:
    return Counts(members, nonmembers, Categories(np.arange(len(members))))


@each_case("seed", range(5))
def test_a_divergence_is_the_optimal_advantage_at_another_prior(seed) -> None:
    rng = np.random.default_rng(seed)
    r, q = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(7))
    epsilon = rng.uniform(0, 4)
    p = 1 / (1 + np.exp(epsilon))

    for prior, there in ((p, divergence(r, q, epsilon)), (1 - p, divergence(q, r, epsilon))):
        advantage = np.abs(prior * r - (1 - prior) * q).sum()
        assert advantage == pytest.approx(1 - 2 * p + 2 * p * there, abs=1e-12)


def test_the_plug_in_of_randomized_response_is_its_epsilon_and_a_cell_of_one_side_has_none():
    counts = counts_of(np.array([7500, 2500]), np.array([2500, 7500]))

    assert closeness.plug_in_epsilon(counts, 0.0) == pytest.approx(np.log(3), abs=1e-3)
    assert closeness.plug_in_epsilon(counts, 0.1) == pytest.approx(np.log(0.65 / 0.25), abs=1e-3)

    counts = counts_of(np.array([10, 90]), np.array([0, 100]))

    assert closeness.plug_in_epsilon(counts, 0.0) is None
    assert closeness.plug_in_epsilon(counts, 0.1) == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_where_nothing_was_seen_the_rule_of_four_over_n_limits_delta() -> None:
    counts = counts_of(np.array([1000, 0]), np.array([1000, 0]))
    least = 1 - (RARE_ALONE * ALPHA) ** (1 / 1000)  # of what nobody was seen in

    assert closeness.epsilon_upper(counts, 0.9 * least, ALPHA) is None
    assert closeness.epsilon_upper(counts, 4 * least, ALPHA) is not None
    assert closeness.epsilon_upper(counts_of(np.full(4, 10**8), np.full(4, 10**8)), 0.0, ALPHA) is None


def test_the_lower_end_is_the_best_ratio_of_exact_limits_each_of_its_part_of_alpha() -> None:
    counts = counts_of(np.array([90, 10]), np.array([20, 80]))
    level = 0.9 * ALPHA / (4 * 2 * 2)  # two ends of four tails of two orders, at each of two cuts
    ratio = beta.ppf(level, 80, 21) / beta.ppf(1 - level, 11, 90)

    assert closeness.epsilon_lower(counts, 0.0, ALPHA) == pytest.approx(np.log(ratio), rel=1e-9)


def test_of_members_inside_the_score_it_is_that_of_windows_which_share_a_tenth_of_alpha() -> None:
    counts = Counts.of([4000, 900, 5100], [5000, 3, 4997], edges=[0.0, 1.0])
    windows = closeness.fullest_windows(counts)
    level = 0.1 * ALPHA / (2 * 2) * windows.shares  # either way, and either limit
    least = beta.ppf(level, windows.members, 10_001 - windows.members)
    ratio = least / beta.ppf(1 - level, windows.within + 1, 10_000 - windows.within)

    assert closeness.epsilon_lower(counts, 0.0, ALPHA) == pytest.approx(np.log(np.nanmax(ratio)), rel=1e-9)


@pytest.mark.slow
def test_more_records_and_a_larger_delta_bring_the_upper_end_down_and_sides_may_change_places():
    r, q = np.array([0.4, 0.3, 0.2, 0.1]), np.full(4, 0.25)

    ends = [
        closeness.epsilon_upper(counts_of((n * r).astype(np.int64), (n * q).astype(np.int64)), 0.02, ALPHA)
        for n in (1_000, 10_000, 100_000, 10_000_000)
    ]

    finite = [end for end in ends if end is not None]
    assert len(finite) == 4
    assert finite == sorted(finite, reverse=True)
    assert finite[-1] == pytest.approx(true_epsilon(r, q, 0.02), abs=0.01)

    a, b = np.array([300, 200, 500]), np.array([200, 300, 500])
    ends = [closeness.epsilon_upper(counts_of(a, b), delta, ALPHA) for delta in (0.02, 0.05, 0.1, 0.3)]

    assert all(end is not None for end in ends)
    assert ends == sorted(ends, key=lambda end: -(end or 0.0))
    assert ends[-1] == 0.0
    turned = [closeness.epsilon_upper(counts_of(b, a), delta, ALPHA) for delta in (0.02, 0.05, 0.1, 0.3)]
    assert turned == ends


@pytest.mark.slow
def test_passing_is_nested_and_the_start_of_the_search_passes_exactly_if_it_is_at_least_the_end(rng):
    for _ in range(5):
        counts = counts_of(rng.integers(0, 60, 6), rng.integers(0, 60, 6))

        passes = [closeness.within(counts, epsilon, 0.15, ALPHA) for epsilon in np.linspace(0, 6, 25)]

        assert passes == sorted(passes)

    counts = counts_of(np.array([300, 200, 500]), np.array([200, 300, 500]))
    end = closeness.epsilon_upper(counts, 0.05, ALPHA)

    for start in (0.0, end - 0.01, end + 0.01, closeness.LARGEST, 700.0):
        result = closeness.epsilon_upper(counts, 0.05, ALPHA, start)
        assert result == pytest.approx(end, abs=2e-3)
        assert (result <= start) == closeness.within(counts, min(start, closeness.LARGEST), 0.05, ALPHA)


LAWS = [
    ("no leak", np.full(6, 1 / 6), np.full(6, 1 / 6), 0.05),
    ("randomized response", np.array([0.7, 0.3]), np.array([0.3, 0.7]), 0.03),
    ("rare and large", np.array([0.06, 0.94]), np.array([0.001, 0.999]), 0.03),
    ("slope", np.array([0.4, 0.3, 0.2, 0.1]), np.full(4, 0.25), 0.02),
]


@pytest.mark.slow
@each_case("law, sides", [*((law, (60, 60)) for law in LAWS), *((law, (50, 450)) for law in LAWS[2:])])
def test_the_upper_end_is_seldom_below_the_truth(law, sides) -> None:
    _, r, q, delta = law
    rng, runs, truth = np.random.default_rng(3), 60, true_epsilon(r, q, delta)
    samples = (counts_of(rng.multinomial(sides[0], r), rng.multinomial(sides[1], q)) for _ in range(runs))
    short = sum(closeness.within(each, truth - 1e-9, delta, ALPHA) for each in samples if truth > 0)

    assert short <= most_misses(runs)  # exact limits err far less


def test_cells_narrow_towards_both_ends_and_labels_have_no_say(rng) -> None:
    scores = rng.normal(size=4000)
    one = finest(Scores.of(scores[:2000], scores[2000:]))
    other = finest(Scores.of(scores[::2], scores[1::2]))

    cells = closeness.tail_cells(one)

    pooled = cells.pooled
    assert pooled.sum() == 4000
    assert 16 <= pooled[0] < 40
    assert 16 <= pooled[-1] < 40
    assert list(pooled[:4]) == sorted(pooled[:4])
    assert cells.cells.to_dict() == closeness.tail_cells(other).cells.to_dict()
    assert closeness.tail_cells(one, 5).size == 5


@pytest.mark.slow
@each_case("delta", [0.01, 0.1])
@each_case("advantage", [0.0, 0.3])
def test_the_lower_end_by_tails_is_seldom_above_the_truth(delta, advantage) -> None:
    world, rng, runs = gaussian_shift(advantage), np.random.default_rng(2), 60
    truth = _gaussian_epsilon(shift_for(advantage), delta) if advantage else 0.0
    samples = (finest(Scores.of(*world.draw(rng, 60, 140))) for _ in range(runs))

    assert sum(closeness.epsilon_lower(each, delta, ALPHA) > truth for each in samples) <= most_misses(runs)


def test_the_lower_end_by_tails_comes_near_the_truth() -> None:
    data = Scores.of(*gaussian_shift(0.3).draw(np.random.default_rng(0), 200_000, 200_000))
    assert 0.75 < closeness.epsilon_lower(finest(data), 0.01, ALPHA) / _gaussian_epsilon(shift_for(0.3), 0.01) < 1


def _gaussian_epsilon(shift: float, delta: float) -> float:
    """delta(epsilon) of two unit Gaussians (Balle and Wang 2018)."""

    def excess(epsilon: float) -> float:
        return float(ndtr(shift / 2 - epsilon / shift) - np.exp(epsilon) * ndtr(-shift / 2 - epsilon / shift) - delta)

    return 0.0 if excess(0) <= 0 else float(brentq(excess, 0, 60))


def test_so_many_records_with_the_same_shares_pass_and_fewer_do_not() -> None:
    counts = counts_of(np.array([60, 40]), np.array([40, 60]))
    records_needed = closeness.records_to_pass(counts, 0.5, 0.05, ALPHA, 10**9)

    assert closeness.records_to_pass(counts, 1.0, 0.05, ALPHA, 250) is None  # more than the most
    assert closeness.records_to_pass(counts, 1.0, 0.0, ALPHA, 10**9) is None
    for records, passes in ((records_needed, True), (records_needed / 1.1, False)):
        both = counts.members, counts.nonmembers
        sides = (np.rint(records / 200 * each).astype(np.int64) for each in both)
        assert closeness.within(counts_of(*sides), 0.5, 0.05, ALPHA) is passes
