"""The optimum of a metric: against brute force, the paper's algorithms literally, both ends by simulation."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import ndtr
from scipy.stats import binom

from estimators import PRESETS, Counts, Scores, advantage, metric_optimum, preset
from estimators.adversary.targets import CellsTarget, ThresholdTarget
from estimators.errors import MetricError, OutOfRange, TooFewRecords, TooManyCells
from estimators.metric import bounds
from estimators.metric.bounds import (
    Objective,
    finer_views,
    held_out,
    optimum,
    posteriors,
    rule_lower,
    upper_limit,
    views_of,
)
from estimators.metric.definition import Cut, Degeneracy, Metric
from estimators.paper import algorithm_3
from estimators.sample.cells import Intervals
from estimators.sample.counting import by_rank, finest
from estimators.statement import at_least
from tests.cases import each_case, refusals
from tests.oracles import comb, gaussian_shift, most_misses, shift_for

NAMES = sorted(PRESETS)


def objective(name, prior, share=None, **parameters):
    return Objective.of(preset(name, prior, **parameters), prior, share)


def rule_upper(hits, n1, alarms, n0, goal, alpha):
    ratio = bounds._ratio_of(goal)
    return bounds._rates(hits, n1, alarms, n0, ratio).ratio_upper(*ratio, alpha, bounds.metric_range(goal))


def random_counts(seed, size=8):
    rng = np.random.default_rng(seed)
    return Counts.of(rng.integers(0, 30, size) + 1, rng.integers(0, 30, size) + 1)


def all_rules(counts):
    rules = np.array(list(itertools.product([0, 1], repeat=counts.size)))
    return rules @ counts.members / counts.n_members, rules @ counts.nonmembers / counts.n_nonmembers


def best_randomised(counts, goal):
    """Largest value over every randomised rule: Charnes and Cooper's linear program, scipy's solver."""
    (e0, ea, ec), (h0, ha, hc) = goal.metric.linear(goal.prior)
    r, q = counts.members / counts.n_members, counts.nonmembers / counts.n_nonmembers
    gain, cost, share = ea * r + ec * q, ha * r + hc * q, goal.prior * r + (1 - goal.prior) * q
    k = counts.size
    above = np.vstack([np.hstack([np.eye(k), -np.ones((k, 1))]), [*-share, goal.low], [*share, -goal.high]])
    return -linprog([*-gain, -e0], above, np.zeros(k + 2), [[*cost, h0]], [1.0], [(0, None)] * (k + 1)).fun


def gaussian_cells(advantage, spread=1.0, size=300):
    edges = np.linspace(-4, 5, size)
    m = shift_for(advantage) if advantage else 0.0
    r = np.diff(ndtr((edges - m) / spread), prepend=0, append=1)
    return r, np.diff(ndtr(edges), prepend=0, append=1), edges


def drawn(seed, n1, n0, advantage, spread=1.0):
    """Records of Gaussians, counted on a fine lattice."""
    rng, (r, q, edges) = np.random.default_rng(seed), gaussian_cells(advantage, spread)
    return Counts(rng.multinomial(n1, r), rng.multinomial(n0, q), Intervals(edges))


def true_value(r, q, goal):
    return optimum(Counts.of(np.round(r * 1e12).astype(int), np.round(q * 1e12).astype(int)), goal).value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_the_optimum_is_the_best_of_all_subsets_of_cells(name, prior):
    for seed in range(4):
        counts = random_counts(seed)
        goal = objective(name, prior, 0.0)

        best = optimum(counts, goal)

        assert best.value == pytest.approx(np.nanmax(goal.value(*all_rules(counts))), abs=1e-12)
        assert best.value == pytest.approx(float(goal.metric.value(best.tpr, best.fpr, prior)), abs=1e-12)


@pytest.mark.parametrize("name", ["precision", "npv", "f_beta", "jaccard", "balanced_accuracy"])
@pytest.mark.parametrize("share", [0.05, 0.3, 0.7])
def test_with_a_least_share_the_optimum_is_the_best_randomised_rule(name, share):
    for seed in range(4):
        counts, goal = random_counts(seed), objective(name, 0.2, share)

        best = optimum(counts, goal)

        assert best.value == pytest.approx(best_randomised(counts, goal), abs=1e-9)
        assert best.value >= goal.value(*all_rules(counts)).max() - 1e-12
        assert goal.low - 1e-9 <= 0.2 * best.tpr + 0.8 * best.fpr <= goal.high + 1e-9


def test_a_metric_that_rewards_errors_is_best_from_the_other_end():
    counts = random_counts(1)
    best = optimum(counts, Objective.of(Metric("error rate", a10=1.0, a01=1.0, b0=1.0), 0.3))

    assert best.value == pytest.approx(1 - np.min(preset("accuracy", 0.3).value(*all_rules(counts), 0.3)))
    assert not best.cut.above


@pytest.mark.parametrize("name", ["f_beta", "jaccard", "accuracy", "balanced_accuracy"])
def test_the_reported_threshold_picks_a_rule_as_good_as_the_optimum(name):
    counts, goal = random_counts(2), objective(name, 0.3)
    best = optimum(counts, goal)

    guess = best.cut.guesses(posteriors(counts.members, counts.nonmembers, 0.3))

    hits, alarms = counts.members[guess].sum(), counts.nonmembers[guess].sum()
    tpr, fpr = hits / counts.n_members, alarms / counts.n_nonmembers
    assert float(goal.value(tpr, fpr)) == pytest.approx(best.value, abs=1e-9)


def test_where_the_share_binds_the_threshold_is_the_posterior_of_the_cell_where_it_is_met():
    counts = Counts.of([40, 40, 20], [10, 50, 40])  # member share of mass .4*.2+.1*.8 = .16 in the first cell
    best = optimum(counts, objective("precision", 0.2, 0.3))

    assert best.binding
    assert best.cut == Cut(pytest.approx(0.2 * 0.4 / (0.2 * 0.4 + 0.8 * 0.5)), above=True)
    assert best.value == pytest.approx((0.08 + (0.3 - 0.16) * (0.08 / 0.48)) / 0.3)


def test_guessing_without_the_score_earns_the_trivial_value():
    for name, prior, share, trivial in [
        ("accuracy", 0.1, None, 0.9), ("advantage", 0.1, None, 0.8), ("balanced_accuracy", 0.1, None, 0.5),
        ("precision", 0.1, None, 0.1), ("precision", 0.1, 0.0, 0.1), ("npv", 0.1, None, 0.9),
        ("f_beta", 0.1, None, 2 * 0.1 / 1.1), ("jaccard", 0.3, None, 0.3), ("recall", 0.3, None, 1.0),
        ("accuracy", 0.1, 0.5, 0.5),
    ]:  # fmt: skip
        assert objective(name, prior, share).trivial == pytest.approx(trivial, abs=1e-6), name


def test_e18_precision_has_no_optimum_without_a_least_share_and_the_published_one_at_5_percent():
    r, q, _ = gaussian_cells(0.2, size=20_000)
    values = [true_value(r, q, objective("precision", 0.5, share)) for share in (0.05, 0.01, 0.001, 0.0001)]

    assert values[0] == pytest.approx(0.744, abs=5e-4)  # study T-C2
    assert (np.diff(values) > 0.03).all()


def test_an_evaluation_without_member_guesses_has_no_value():
    counts = Counts.of([2, 30], [0, 30])  # a tail of two records: one to learn from, one to choose by
    never = [algorithm_3(counts, preset("precision", 0.1), 0.1, seed) for seed in range(40)]

    assert any(p.value is None for p in never)
    assert all((p.value is None) == (p.member_guesses == 0) for p in never)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "prior", "n1", "n0", "advantage"), [
    ("balanced_accuracy", 0.1, 100, 500, 0.0), ("precision", 0.5, 200, 200, 0.0),
    ("precision", 0.1, 100, 500, 0.5), ("f_beta", 0.1, 100, 500, 0.0), ("f_beta", 0.5, 200, 200, 0.5),
    ("weighted_accuracy", 0.1, 100, 500, 0.5),
])  # fmt: skip
def test_the_lower_end_is_above_the_truth_in_at_most_one_run_of_forty(name, prior, n1, n0, advantage):
    r, q, edges = gaussian_cells(advantage)
    goal = objective(name, prior, **({"w1": 2, "w3": 3} if name == "weighted_accuracy" else {}))
    truth, rng, runs, wrong = true_value(r, q, goal), np.random.default_rng(int(100 * advantage) + n0), 40, 0
    for seed in range(runs):
        counts = Counts(rng.multinomial(n1, r), rng.multinomial(n0, q), Intervals(edges))
        wrong += held_out(*views_of(counts), goal, 0.025, seed, shuffles=1).lower > truth + 1e-9

    assert wrong <= most_misses(runs)


def test_a_rule_that_accuses_too_few_in_truth_does_not_lift_the_lower_end():
    """Memorised members make up 49 in 1,000 records, and 50 have to be accused: a sample may show more of them."""
    goal, runs, level, misses = objective("precision", 0.5), 60, 0.0005, 0
    r, q = np.append(np.full(999, 0.902 / 999), 0.098), np.append(np.full(999, 1 / 999), 0.0)
    truth, rng = true_value(r, q, goal), np.random.default_rng(5)
    assert truth == pytest.approx(0.9895, abs=1e-4)
    for seed in range(runs):
        sides = (rng.multinomial(20_000, side) for side in (r, q))
        fine, views = views_of(Counts.of(*sides, edges=np.arange(1.0, 1000.0)))
        misses += held_out(fine, views, goal, level, seed, 1).lower > truth
    assert misses <= most_misses(runs, level)


def test_the_lower_end_is_that_of_the_guesses_pooled_over_blocks():
    counts, goal = Counts.of([60, 30, 10], [10, 40, 50]), objective("f_beta", 0.5, 0.0)
    *guesses, _ = bounds._progressive(*views_of(counts), goal, counts.random(3))

    lower = held_out(*views_of(counts), goal, 0.025, 3, shuffles=1).lower
    assert lower == pytest.approx(rule_lower(*guesses, goal, 0.025), rel=1e-12)


@pytest.mark.slow
def test_no_rank_is_spared_judgement_in_every_sample_of_a_size():
    """Drawn by the seed alone the same ranks were held out each time: 75 of 1,471 lower ends were above the truth."""
    runs, n, truth, above = 500, 729, 2 * 0.8 / (1 + 0.8 + 0.1), 0
    rng = np.random.default_rng(2)
    samples = Counter((rng.binomial(n, 0.8), rng.binomial(n, 0.1)) for _ in range(runs))
    for (hits, alarms), times in samples.items():
        counts = Counts.of([n - hits, hits], [n - alarms, alarms], edges=[0.5])
        above += times * (metric_optimum(counts, preset("f1", 0.5)).interval.lower > truth)

    assert above <= most_misses(runs)


@pytest.mark.parametrize("name", ["balanced_accuracy", "f_beta"])
def test_the_upper_end_is_that_of_the_rule_with_the_largest_limit(name):
    counts, goal = Counts.of([60, 30, 10], [10, 40, 50]), objective(name, 0.5, 0.0)
    rules = np.array(list(itertools.product((0, 1), repeat=3)))
    largest = rule_upper(rules @ counts.members, 100, rules @ counts.nonmembers, 100, goal, 0.025).max()

    assert 0.0 <= upper_limit(*views_of(counts), goal, 0.025) - largest < 0.004


@pytest.mark.parametrize("name", ["balanced_accuracy", "f_beta"])
def test_a_least_share_that_rules_nothing_out_costs_a_tenth_of_the_error(name):
    """What is spent on the shares that rules may have in truth is not there for the metric."""
    views = views_of(Counts.of([60, 30, 10], [10, 40, 50]))
    limit = upper_limit(*views, objective(name, 0.5, 0.001), 0.025)

    assert limit == pytest.approx(upper_limit(*views, objective(name, 0.5, 0.0), 0.9 * 0.025), abs=1e-12)
    assert limit > upper_limit(*views, objective(name, 0.5, 0.0), 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["balanced_accuracy", "precision", "f_beta", "npv", "jaccard"])
@pytest.mark.parametrize(("prior", "n1", "n0"), [(0.5, 60, 60), (0.1, 30, 150)])
def test_each_rules_limits_miss_at_most_25_of_1000_enumerated_samples(name, prior, n1, n0):
    goal = objective(name, prior, 0.0)
    x, y = (side.ravel() for side in np.meshgrid(np.arange(n1 + 1.0), np.arange(n0 + 1.0), indexing="ij"))
    upper = rule_upper(x, n1, y, n0, goal, 0.025)
    lower = rule_lower(x, n1, y, n0, goal, 0.025)

    rates = (0.997, 0.003), (0.99, 0.1), (0.9, 0.01), (0.7, 0.3), (0.3, 0.003), (0.05, 0.02), (0.5, 0.5)
    for a, c in rates:
        truth = float(goal.metric.value(a, c, prior))
        weight = np.outer(binom.pmf(np.arange(n1 + 1), n1, a), binom.pmf(np.arange(n0 + 1), n0, c)).ravel()
        assert weight[upper < truth - 1e-12].sum() <= 0.025
        assert weight[lower > truth + 1e-12].sum() <= 0.025


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prior", [0.1, 0.5])
def test_every_preset_is_estimated_between_its_ends(name, prior):
    result = metric_optimum(drawn(6, 900, 700, 0.4), preset(name, prior), prior, seed=1)

    truth = true_value(*gaussian_cells(0.4)[:2], objective(name, prior))
    assert result.interval.lower <= result.value <= result.interval.upper
    assert result.interval.lower - 1e-9 <= truth <= result.interval.upper + 1e-9
    assert result.trivial <= result.interval.lower
    assert result.held_out <= result.resubstitution + 0.02
    assert result.degenerate == (
        PRESETS[name].formula in ("TP/(TP + FP)", "TP/(TP + FN)", "TN/(TN + FP)", "TN/(TN + FN)")
    )
    assert not result.class_rejected
    assert not result.interval.guarantee.finite_sample
    assert at_least(result.interval.lower) in result.sentence


def test_a_two_sided_leak_is_certified_although_no_single_cut_sees_it():
    goal = objective("balanced_accuracy", 0.1)

    result = metric_optimum(drawn(2, 2000, 2000, 0.0, spread=3.0), goal.metric, 0.1)

    tails = [np.r_[0.0, np.cumsum(side)] for side in gaussian_cells(0.0, spread=3.0)[:2]]
    best_cut = max(goal.value(*tails).max(), goal.value(1 - tails[0], 1 - tails[1]).max())
    assert result.interval.lower > best_cut
    assert result.leader in ("cells", "coarse_cells")


def test_recall_is_1_for_free_and_says_so():
    result = metric_optimum(random_counts(3), preset("recall", 0.2), 0.2)

    assert (result.interval.lower, result.value, result.interval.upper) == (1.0, 1.0, 1.0)
    assert result.degeneracy is Degeneracy.CONSTANT
    assert "degenerate_optimum" in {c.code for c in result.cautions}
    assert (result.threshold, result.direction) == (0.0, "above")


def test_precision_without_a_least_share_is_a_bound_on_a_handful_of_records():
    counts, metric = drawn(9, 500, 500, 0.2), preset("precision", 0.1)
    free = metric_optimum(counts, metric, 0.1, min_positive_share=0.0, bins=250)
    constrained = metric_optimum(counts, metric, 0.1)

    assert (free.resubstitution, free.interval.upper) == (1.0, pytest.approx(1.0))
    assert constrained.share_limits == (0.05, 1.0)
    assert constrained.interval.upper < 0.5
    assert "at least 5% of all records" in constrained.sentence
    few = metric_optimum(drawn(9, 60, 60, 1.0), metric, 0.1)
    assert [each.interval.width > 0.5 for each in (constrained, few)] == [False, True]
    warned = ["wide_interval" in {c.code for c in each.cautions} for each in (constrained, few)]
    assert warned == [False, True]


def test_identical_sides_certify_nothing_beyond_the_trivial_value_and_disjoint_ones_reach_the_top():
    alike = metric_optimum(Counts.of([50] * 8, [125] * 8), preset("f_beta", 0.1), 0.1)
    apart = metric_optimum(Counts.of([300, 0], [0, 900]), preset("jaccard", 0.1), 0.1)

    assert alike.interval.lower == pytest.approx(2 * 0.1 / 1.1)
    assert alike.interval.upper > alike.interval.lower
    assert apart.resubstitution == apart.interval.upper == 1.0
    assert apart.interval.lower > 0.95


def test_neither_the_order_of_unordered_cells_nor_the_same_seed_changes_a_thing_nor_is_more_confidence_shorter():
    counts, jaccard = Counts.of([300, 200, 100, 50], [100, 200, 300, 100]), preset("jaccard", 0.3)
    first, again, other = (metric_optimum(counts, jaccard, 0.3, seed=s) for s in (1, 1, 2))
    wide, narrow = (metric_optimum(random_counts(7), jaccard, 0.3, confidence=c).interval for c in (0.99, 0.8))
    sides, turn = np.array([[30, 4, 60, 11, 25], [10, 30, 40, 12, 2]]), [3, 0, 4, 2, 1]
    plain, turned = (metric_optimum(Counts.of(*x), preset("f_beta", 0.3), 0.3) for x in (sides, sides[:, turn]))

    assert first == again
    assert first.held_out != other.held_out
    assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert plain.resubstitution == pytest.approx(turned.resubstitution)
    assert plain.interval.upper == pytest.approx(turned.interval.upper)


test_what_cannot_be_estimated_is_refused_by_name = refusals("counts, metric, prior, options, error, words", [
    (random_counts(1), preset("precision", 0.1), 0.1, {"min_positive_share": 1.0}, OutOfRange, "positive_share"),
    (random_counts(1), preset("precision", 0.1), 1.0, {}, OutOfRange, "prior"),
    (Counts.of([2, 0], [3, 3]), preset("precision", 0.1), 0.1, {}, TooFewRecords, "at least 3"),
    (Counts.of([1] * 3 + [0] * 3, [0] * 3 + [1] * 3), preset("accuracy", 0.1), 0.1, {}, TooManyCells, None),
    (random_counts(1), Metric("bad", a11=1.0, b11=1.0, b10=-1.0), 0.3, {}, MetricError, "changes sign"),
], ask=lambda counts, metric, prior, options: metric_optimum(counts, metric, prior, **options))  # fmt: skip


@pytest.mark.parametrize(("n1", "n0"), [(3, 3), (3, 50), (40, 4)])
def test_very_few_records_give_a_wide_interval_and_a_caution_not_a_failure(n1, n0):
    result = metric_optimum(Counts.of([n1, 0, 0], [n0 - 1, 1, 0]), preset("f_beta", 0.1), 0.1)

    assert 0.0 <= result.interval.lower <= result.value <= result.interval.upper <= 1.0
    assert "few_records" in {c.code for c in result.cautions}


@pytest.mark.parametrize("prior", [0.5, 0.3])
def test_the_best_accuracy_and_the_advantage_are_one_number_with_one_interval(prior) -> None:
    counts = by_rank(Scores.of(*gaussian_shift(0.4).draw(np.random.default_rng(9), 600, 500)))
    accuracy, same = (metric_optimum(counts, preset(n, prior), prior) for n in ("accuracy", "advantage"))
    result = advantage(counts, prior)

    mine = accuracy.value, accuracy.interval.lower, accuracy.interval.upper
    theirs = result.value, result.lower, result.upper
    assert mine == pytest.approx([(1 + each) / 2 for each in theirs], abs=1e-12)
    assert same.value == pytest.approx(result.value, abs=1e-12)


@pytest.mark.parametrize("target", [CellsTarget(), CellsTarget(bins=5), ThresholdTarget()])
def test_an_advantage_that_is_known_already_changes_nothing(target):
    rng, accuracy = np.random.default_rng(6), preset("accuracy", 0.4)
    counts = Counts.of(*(rng.multinomial(n, np.full(40, 1 / 40)) for n in (400, 300)), range(39))
    known = advantage(counts, 0.4, target, seed=2)
    alone, shared = (metric_optimum(counts, accuracy, 0.4, seed=2, reuse=each) for each in (None, known))

    assert shared == alone


def test_the_precision_of_many_narrow_leaks_lies_between_its_ends() -> None:
    """Nine teeth in which 72% are members: it was certified between .354 and .566."""
    members, nonmembers = comb(9, 0.09, 6.0).draw(np.random.default_rng(0), 3000, 3000)
    teeth = [np.count_nonzero(9 * side % 1.0 < 0.09) for side in (members, nonmembers)]
    known = rule_lower(teeth[0], 3000, teeth[1], 3000, objective("precision", 0.3), 0.025)  # by who knows the teeth

    found = metric_optimum(finest(Scores.of(members, nonmembers)), preset("precision", 0.3), 0.3)

    assert 0.69 < known < 0.72 < found.interval.upper
    assert 0.65 < found.interval.lower < 0.72
    assert found.leader == "many_changes"
    assert "or change their guess at most 32 times along it" in found.interval.guarantee.covers


@pytest.mark.slow
@each_case("name, prior", [("precision", 0.3), ("f1", 0.7), ("balanced_accuracy", 0.1)])
def test_rules_at_many_scales_keep_their_level_without_a_leak(name, prior) -> None:
    goal, runs, wrong = objective(name, prior), 15, 0
    for seed in range(runs):
        members, nonmembers = np.random.default_rng(seed).random((2, 300))
        fine, _ = views_of(finest(Scores.of(members, nonmembers)))
        wrong += held_out(fine, finer_views(fine), goal, 0.025, seed, shuffles=1).lower > goal.trivial + 1e-9

    assert wrong <= most_misses(runs)
