"""Individual risk: literal twins, laws, and how often limits and flags keep their promise."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom, hypergeom
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from estimators import errors
from estimators.risk.cells import Conditional, Limits, MoverFieller, Reach, cell_risks, risk_at_share
from estimators.risk.flags import OverCells, OverRecords, benjamini_hochberg, binomial_tail, flag_members, sample_share
from estimators.risk.individual import individual_risk
from estimators.risk.partition import risk_cells
from estimators.sample.cells import Categories, Grid, Halves, Intervals
from estimators.sample.counting import by_boxes, by_grid
from estimators.sample.counts import Counts
from estimators.sample.grid import BUCKETS
from estimators.sample.locating import SampleRange, cell_of
from estimators.sample.scores import Scores
from estimators.statement import Guarantee
from tests.cases import each_case
from tests.oracles import gaussian_shift, identical, most_misses, scale, vector_shift

DESIGNS = ((20, 20, 0.5), (60, 60, 0.5), (20, 100, 0.5), (30, 270, 0.1), (60, 60, 0.1))
RATES = np.array([0.001, 0.01, 0.02, 0.05, *np.arange(0.1, 0.95, 0.1).round(1), 0.95, 0.98, 0.99, 0.999])


def categories(members, nonmembers):
    return Counts(np.array(members), np.array(nonmembers), Categories(np.arange(len(members))))


def risk_of(r, q, prior):
    return (prior * r - (1 - prior) * q) / (prior * r + (1 - prior) * q)


def true_risks(world, cells, prior):
    r = np.diff(world.member_cdf(cells.cuts), prepend=0.0, append=1.0)
    q = np.diff(world.nonmember_cdf(cells.cuts), prepend=0.0, append=1.0)
    return risk_of(r, q, prior)


def inside(limits, value):
    return (limits.lower <= value + 1e-12) & (value <= limits.upper + 1e-12)


def worst_miss(how, n1, n0, prior, alpha, folded):
    """Largest chance, over a 17x17 grid of cell probabilities, that the limits leave the truth out: enumerated."""
    x, y = np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij")
    limits = Limits(*how.limits(x, n1, y, n0, prior, alpha), 0.95, Guarantee("", "", True))
    limits = limits.folded() if folded else limits
    of_x, of_y = (binom.pmf(np.arange(n + 1), n, RATES[:, None]) for n in (n1, n0))
    misses = []
    for i, j in itertools.product(range(17), range(17)):
        f = risk_of(RATES[i], RATES[j], prior)
        misses.append(float(of_x[i] @ ~inside(limits, abs(f) if folded else f) @ of_y[j]))
    return max(misses)


# one cell


def test_plug_in_columns_are_the_formulas_written_out_by_table_and_by_sorting(rng):
    cells = cell_risks(categories([30, 0, 470], [10, 40, 450]), 0.2)

    expected = [risk_of(a / 500, b / 500, 0.2) for a, b in ((30, 10), (0, 40), (470, 450))]
    np.testing.assert_allclose(cells.signed_risk, expected)
    np.testing.assert_allclose(cells.risk, np.abs(expected))
    np.testing.assert_allclose(cells.posterior, [(1 + f) / 2 for f in expected])

    few = rng.poisson(3, (2, 3000))
    huge = categories(*np.append(few, [[10**6]] * 2, axis=1))  # too many for a table

    by_sort = cell_risks(huge, 0.3).signed_risk[:3000].filled(9.0)

    expected = [risk_of(a / huge.n_members, b / huge.n_nonmembers, 0.3) if a + b else 9.0 for a, b in few.T]
    np.testing.assert_allclose(by_sort, expected)


@each_case(
    "how, expected, default",
    [(MoverFieller(), (0.187531, 0.739197), False), (Conditional(), (0.176076, 0.746170), True)],
)
def test_limits_of_a_cell_meet_the_golden_values_and_conditional_ones_are_the_default(how, expected, default):
    counts = categories([30, 470], [10, 490])
    cells = cell_risks(counts, 0.5, interval=how)

    assert (cells.signed.lower[0], cells.signed.upper[0]) == pytest.approx(expected, abs=1e-6)
    assert not cells.signed.guarantee.finite_sample  # enumerated and simulated, not proven
    assert cell_risks(counts).provenance.method == "cells+conditional"
    assert (cell_risks(counts).signed.lower[0] == cells.signed.lower[0]) == default


def test_exact_limits_are_those_of_statsmodels_carried_over_to_the_risk():
    counts = categories([3, 0, 20, 77], [90, 5, 20, 785])
    cells = cell_risks(counts, 0.1, 0.9, Conditional())

    for j, (x, y) in enumerate(zip(counts.members, counts.nonmembers, strict=True)):
        low, high = proportion_confint(int(x), int(x + y), alpha=0.1, method="beta")
        odds = [0.1 * s / 100 / (0.9 * (1 - s) / 900) for s in (low, high)]
        assert cells.signed.lower[j] == pytest.approx((odds[0] - 1) / (odds[0] + 1))
        assert cells.signed.upper[j] == pytest.approx((odds[1] - 1) / (odds[1] + 1))


def test_all_cells_at_once_share_the_error_among_those_occupied_and_an_empty_one_can_have_any_risk():
    counts = categories([30, 0, 0, 70], [10, 50, 0, 40])
    together = cell_risks(counts, 0.3, 0.94, Conditional()).signed_simultaneous
    alone = cell_risks(counts, 0.3, 0.98, Conditional()).signed
    cells = cell_risks(categories([5, 0, 5], [5, 0, 7]), 0.1)

    np.testing.assert_allclose(together.lower, alone.lower)
    np.testing.assert_allclose(together.upper, alone.upper)
    assert cells.risk.tolist()[1] is cells.posterior.tolist()[1] is None
    assert (cells.signed.lower[1], cells.signed.upper[1]) == (-1.0, 1.0)
    assert (cells.simultaneous.lower[1], cells.pointwise.upper[1]) == (0.0, 1.0)
    assert np.isfinite(cells.signed_risk.data).all()


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40), st.floats(0.05, 0.95))
@settings(max_examples=60)
def test_a_cell_gets_the_same_row_among_any_others(pairs, prior):
    counts = categories([a for a, _ in pairs] + [9], [b for _, b in pairs] + [9])
    cells = cell_risks(counts, prior)

    for j, (x, y) in enumerate(pairs):
        low, high = Conditional().limits(
            np.array([x]), counts.n_members, np.array([y]), counts.n_nonmembers, prior, 0.025
        )
        assert (cells.signed.lower[j], cells.signed.upper[j]) == pytest.approx((low[0], high[0]))
        assert cells.pointwise.lower[j] <= cells.pointwise.upper[j]


@each_case("folded", [False, True])
@each_case("n1, n0, prior", DESIGNS)
def test_each_cell_is_covered_at_955_of_1000_by_enumeration(n1, n0, prior, folded):
    misses = {how: worst_miss(how, n1, n0, prior, 0.025, folded) for how in (MoverFieller(), Conditional())}

    assert max(misses.values()) <= 0.045


def worst_end(how, n1, n0, prior, alpha):
    """Largest chance that one end of the signed limits errs: the truths are those just beyond each limit there is."""
    x, y = np.meshgrid(np.arange(n1 + 1), np.arange(n0 + 1), indexing="ij")
    low, high = how.limits(x, n1, y, n0, prior, alpha)
    rates = np.concatenate([np.geomspace(1e-4, 0.1, 8), np.linspace(0.15, 0.95, 9), [0.98, 0.995, 0.9999]])
    of_y = binom.pmf(np.arange(n0 + 1), n0, rates[:, None])
    worst = 0.0
    for ends, step in ((low, -1e-9), (-high, -1e-9)):
        for end in np.unique(ends)[:: max(1, ends.size // 400)]:
            truth = end + step if ends is low else -(end + step)
            if not -1.0 < truth < 1.0:
                continue
            outside = (low > truth) if ends is low else (high < truth)
            a = rates * (1.0 - prior) / prior * (1.0 + truth) / (1.0 - truth)
            of_x = binom.pmf(np.arange(n1 + 1), n1, np.minimum(a, 1.0)[:, None])
            misses = np.einsum("rx,xy,ry->r", of_x, outside, of_y)[a <= 1.0]
            worst = max(worst, float(misses.max(initial=0.0)))
    return worst


SIGNED_DESIGNS = ((20, 20, 0.5), (8, 60, 0.5), (60, 8, 0.1), (40, 40, 0.99), (30, 50, 0.01))


@pytest.mark.slow
@each_case("alpha", [0.025, 0.0005])
@each_case("n1, n0, prior", SIGNED_DESIGNS)
def test_signed_limits_of_a_category_keep_every_level_by_enumeration(n1, n0, prior, alpha):
    assert worst_end(Conditional(), n1, n0, prior, alpha) <= alpha


@each_case("cells", [60, 1000])
def test_exact_limits_hold_at_the_levels_many_cells_need_where_ratio_limits_do_not(cells):
    level = 0.025 / cells

    assert worst_miss(Conditional(), 30, 270, 0.1, level, False) <= 2 * level
    assert worst_miss(MoverFieller(), 30, 270, 0.1, level, False) > 2 * level


def test_exact_limits_hold_in_cells_cut_to_a_size_where_ratio_limits_do_not():
    x = np.arange(34)
    chance = hypergeom.pmf(x, 200, 100, 33)  # no leak: 33 of 200 records, 100 of them members
    misses = []
    for how in (Conditional(), MoverFieller()):
        low, high = how.limits(x, 100, 33 - x, 100, 0.5, 0.025)
        misses.append(float(chance @ ((low > 0) | (high < 0))))

    assert misses[0] <= 0.05 < misses[1]
    counts = Counts(np.full(4, 9), np.full(4, 9), Intervals(np.arange(3.0)))
    assert not individual_risk(counts, 0.3, targets=[1]).cells.signed.guarantee.finite_sample


@pytest.mark.slow
@each_case("world, prior", [(identical(), 0.5), (gaussian_shift(0.5), 0.1), (scale(1.5), 0.5)])
def test_the_cells_of_a_continuous_score_are_covered_at_five_points_and_all_at_once(world, prior):
    rng, grid = np.random.default_rng(6), np.linspace(-8, 8, 20_001)
    pooled = (world.member_cdf(grid) + world.nonmember_cdf(grid)) / 2
    points = np.interp((0.05, 0.25, 0.5, 0.75, 0.95), pooled, grid)
    runs, missed, together = 80, np.zeros(5), 0
    for _ in range(runs):
        counts = risk_cells(Scores.of(*world.draw(rng, 300, 300), "continuous"))
        cells, truth = cell_risks(counts, prior), true_risks(world, counts.cells, prior)
        missed += ~inside(cells.pointwise, abs(truth))[counts.cells.locate(points)]
        together += not inside(cells.signed_simultaneous, truth).all()

    assert max(*missed, together) <= most_misses(runs, 0.05)


# flags


def test_the_share_a_threshold_means_gives_it_back_the_tail_is_a_sum_and_no_risk_passes_one():
    counts = categories([30, 70], [200, 700])
    share = sample_share(counts, 0.2, 0.4)
    hits, trials = np.array([0, 3, 7, 12, 0]), np.array([5, 9, 7, 40, 0])

    assert float(risk_at_share(np.asarray(share), 100, 900, 0.2)) == pytest.approx(0.4)
    assert sample_share(counts, 0.2, 2 * 0.2 - 1) == pytest.approx(0.1)
    np.testing.assert_allclose(binomial_tail(hits, trials, 0.1), binom.sf(hits - 1, trials, 0.1))
    with pytest.raises(errors.OutOfRange, match="threshold"):
        flag_members(categories([3], [4]), 0.3, threshold=1.0)


@given(
    st.lists(st.tuples(st.floats(0, 0.3), st.integers(0, 6)), min_size=1, max_size=40)
    | st.lists(st.tuples(st.floats(0, 0.3), st.just(1)), min_size=1, max_size=60)
)
@settings(max_examples=100)
def test_benjamini_hochberg_is_that_of_statsmodels_with_every_record_testing_for_itself(cells):
    p_values, sizes = np.array([p for p, _ in cells]), np.array([m for _, m in cells])

    ours = benjamini_hochberg(p_values, sizes.astype(float), 0.1)

    if sizes.sum():
        each = multipletests(np.repeat(p_values, sizes), 0.1, "fdr_bh")[0]
        np.testing.assert_array_equal(np.repeat(ours, sizes), each)
    else:
        assert not ours.any()


ZIPF = (1 / np.arange(1, 101)) / (1 / np.arange(1, 101)).sum()


@pytest.mark.slow
@each_case("n1, n0, prior", [(500, 500, 0.5), (100, 900, 0.1), (900, 100, 0.5)])
@each_case("shares", [np.full(20, 0.05), np.array([0.5, 0.3] + [0.01] * 20), ZIPF])
def test_without_leakage_at_most_one_run_in_twenty_flags_anything(shares, n1, n0, prior):
    rng, runs, any_flag = np.random.default_rng(7), 400, np.zeros(3)
    for _ in range(runs):
        sides = rng.multinomial(n1, shares), rng.multinomial(n0, shares)
        counts, exchanged = categories(*sides), categories(*reversed(sides))
        by_cells = flag_members(counts, prior, over=OverCells())
        result = flag_members(counts, prior), by_cells, flag_members(exchanged, 1 - prior)
        any_flag += [f.flagged.any() for f in result]

    assert any_flag.max() / runs <= 0.05


@pytest.mark.slow
@each_case("prior, digits", [(0.5, 9), (0.1, 1)])
def test_without_leakage_a_continuous_score_flags_in_at_most_one_run_of_twenty(prior, digits):
    rng = np.random.default_rng(8)
    samples = (Scores.of(*(rng.normal(size=n).round(digits) for n in (100, 900))) for _ in range(200))

    assert np.mean([individual_risk(each, prior).flagged.any() for each in samples]) <= 0.05


@each_case("over", [OverRecords(), OverCells()])
@each_case(
    "size, records, tau, prior",
    [(100, 2000, 0.0, 0.2), (100, 20_000, 0.0, 0.5), (100, 20_000, 0.2, 0.2), (1000, 20_000, 0.0, 0.5)],
)
def test_one_flag_in_twenty_is_false_at_most(size, records, tau, prior, over):
    rng, runs = np.random.default_rng(9), 100
    limit = (1 + tau) / (1 - tau)  # r/q at the threshold
    place, q = np.arange(size), np.full(size, 1 / size)
    leaking, at_limit = place < 0.12 * size, (place >= 0.12 * size) & (place < 0.4 * size)
    ratio = np.where(leaking, 2 * limit, np.where(at_limit, limit, 0.0))
    ratio[place >= 0.4 * size] = (1 - (q * ratio).sum()) / q[place >= 0.4 * size].sum()
    threshold, false, result = risk_of(limit, 1.0, prior), 0.0, 0.0

    for _ in range(runs):
        counts = categories(rng.multinomial(records // 2, q * ratio), rng.multinomial(records // 2, q))
        flagged = flag_members(counts, prior, threshold, over=over).flagged
        weight = over.weights(counts.pooled)
        false += weight[flagged & ~leaking].sum() / max(1.0, weight[flagged].sum()) / runs
        result += weight[flagged & leaking].sum() / weight[leaking].sum() / runs

    assert false <= 0.05
    assert result > (0.9 if records / size == 200 else 0.02)


# records


@pytest.fixture(scope="module")
def leaky():
    return Scores.of(*gaussian_shift(0.5).draw(np.random.default_rng(11), 300, 700), "continuous")


def test_every_record_gets_the_row_of_its_cell_members_first_whatever_the_scale_of_the_score(leaky):
    result = individual_risk(leaky, 0.2)

    cells = result.cells
    cell = cells.counts.cells.locate(np.concatenate([leaky.members, leaky.nonmembers]))
    of_cells = {
        "cell": np.arange(cells.size), "risk": np.abs(cells.signed_risk), "posterior": cells.posterior,
        "lower": cells.pointwise.lower, "upper": cells.pointwise.upper, "flagged": result.flags.flagged,
        "simultaneous_lower": cells.simultaneous.lower, "simultaneous_upper": cells.simultaneous.upper,
    }  # fmt: skip
    for name, column in of_cells.items():
        np.testing.assert_array_equal(getattr(result, name), column[cell], err_msg=name)
    assert 0 < result.flagged.sum() < result.size
    assert result.cautions == ()

    bent = Scores.of(np.exp(leaky.members), np.exp(leaky.nonmembers), "continuous")

    np.testing.assert_array_equal(individual_risk(bent, 0.2).lower, individual_risk(leaky, 0.2).lower)


@pytest.mark.slow
def test_targets_beyond_the_sample_are_unknown_not_extrapolated_be_they_numbers_categories_or_vectors(leaky):
    top = max(leaky.members.max(), leaky.nonmembers.max())
    result = individual_risk(leaky, 0.2, targets=[top, np.nextafter(top, np.inf), -50.0, 0.0])

    assert [r is None for r in result.risk.tolist()] == [False, True, True, False]
    assert result.signed_risk.mask.tolist() == [False, True, True, False]
    assert result.lower[[1, 2]].tolist() == [0.0, 0.0]
    assert result.upper[[1, 2]].tolist() == [1.0, 1.0]
    assert result.simultaneous_upper[1] == 1.0
    assert not result.flagged[[1, 2]].any()
    assert [c.code for c in result.cautions] == ["targets_unknown"]
    assert np.isfinite(result.risk.data).all()

    words = Scores.of(["a"] * 30 + ["b"] * 10, ["a"] * 20 + ["b"] * 60)
    scores = Scores.of(*vector_shift(2, 0.3).draw(np.random.default_rng(0), 200, 200))
    of_words = individual_risk(words, 0.3, targets=["b", "aa", "z"])
    result = individual_risk(scores, 0.3, targets=[[0.0, 0.0], [0.0, 99.0]])

    assert of_words.risk.mask.tolist() == [False, True, True]
    assert isinstance(result.cells.counts.cells, Halves)
    assert result.risk.mask.tolist() == [False, True]
    for data in (scores, by_boxes(scores, 8)):
        with pytest.raises(errors.DimensionMismatch):
            individual_risk(data, 0.3, targets=[0.0, 1.0])


def test_counts_answer_for_named_targets_as_the_scores_do_within_the_range_they_are_told(leaky):
    grid = by_grid(leaky)
    result = individual_risk(grid, 0.2, targets=[0.0, 1.0, 40.0])

    assert isinstance(grid.cells, Grid)
    assert result.cells.size == risk_cells(leaky).size
    direct = individual_risk(leaky, 0.2, targets=[0.0, 1.0, 40.0])
    np.testing.assert_allclose(result.lower, direct.lower, atol=0.01)
    assert result.risk.mask.tolist() == direct.risk.mask.tolist() == [False, False, True]
    with pytest.raises(errors.TooFewRecords, match="targets"):
        individual_risk(grid, 0.2)

    counts = Counts.of([30, 20, 9], [10, 20, 40], edges=[0.0, 1.0])
    reach = SampleRange(np.array([-2.0]), np.array([3.0]))

    assert individual_risk(counts, 0.3, targets=[-5.0, 2.0]).risk.mask.tolist() is False
    told = individual_risk(counts, 0.3, targets=[-5.0, 2.0], sample_range=reach)
    assert told.risk.mask.tolist() == [True, False]


@each_case(
    "name, given_as, error",
    ("targets", ["x"], errors.MixedTypes),
    ("targets", [0.1, np.nan], errors.NotFinite),
    ("targets", [[0.1, 0.2]], errors.DimensionMismatch),
    ("targets", 0.5, errors.InputError),
    ("targets", [[1.0], [1.0, 2.0]], errors.RaggedRows),
    ("groups", np.array(["a"] * 7), errors.DimensionMismatch),
    ("groups", np.array([np.nan] * 1000), errors.NotFinite),
    ("groups", np.array([None, 1] * 500), errors.MixedTypes),
)
def test_targets_and_labels_that_do_not_fit_are_refused(leaky, name, given_as, error):
    with pytest.raises(error, match=name):
        individual_risk(leaky, 0.2, **{name: given_as})


def test_the_top_are_the_surest_members_in_order_and_the_unknown_last(leaky):
    result = individual_risk(leaky, 0.2, targets=[-2.0, 99.0, 2.5, 0.3, 1.5, 2.6])
    none = individual_risk(leaky, 0.2, targets=[])
    one_alone = individual_risk(categories([1, 60, 39], [0, 20, 80]), 0.3, targets=[0, 2, 1])

    signed = result.cells.signed_simultaneous.lower
    best = sorted((i for i in range(6) if i != 1), key=lambda i: (-signed[result.cell[i]], i))
    np.testing.assert_array_equal(result.top(3).index, best[:3])
    assert (result.top(6).index[-1], result.top(99).size) == (1, 6)
    assert none.risk.tolist() == none.lower.tolist() == none.flagged.tolist() == []
    assert none.top(3).size == 0
    assert one_alone.risk[0] == 1.0
    assert one_alone.top(1).index.tolist() == [2]  # not the single member in its cell


@each_case("spread", [1.0, 1e-300, 1e300])
def test_cells_found_by_buckets_are_those_found_by_searching(spread):
    rng = np.random.default_rng(12)
    scores = rng.standard_cauchy(3 * BUCKETS).clip(-100, 100) * spread
    cuts = np.unique(rng.choice(scores, 126, replace=False))
    scores = np.concatenate([scores, cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf), [-1e308, 1e308]])
    np.testing.assert_array_equal(cell_of(scores, Intervals(cuts)), np.searchsorted(cuts, scores, side="right"))


# a few memorised records, and cells that hold more than one kind


def memorised(rng, n, share):
    """Scores of members of whom a share score where no nonmember does."""
    scores = rng.normal(size=n)
    known = rng.random(n) < share
    known[0] = True
    scores[known] = rng.normal(8.0, 0.5, known.sum())
    return scores, np.flatnonzero(known)


@each_case("tied", [False, True])
@each_case("sign", [1, -1])
def test_one_percent_of_rows_copied_into_a_release_are_all_flagged(sign, tied):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        copies = np.full(50, 12.0) if tied else rng.normal(12.0, 1.0, 50)
        members = sign * np.concatenate([copies, rng.normal(size=4950)])

        result = individual_risk(Scores.of(members, sign * rng.normal(size=5000), "continuous"))

        assert result.flagged[:50].all(), seed
        assert result.n_flagged < 120


@pytest.mark.slow
@each_case("n1, n0, share", [(500, 500, 0.02), (200, 1800, 0.02), (5000, 5000, 0.01)])
def test_the_interval_of_a_memorised_record_reaches_one(n1, n0, share):
    rng, uppers = np.random.default_rng(21), []
    for _ in range(60):
        members, known = memorised(rng, n1, share)
        uppers.append(individual_risk(Scores.of(members, rng.normal(size=n0))).upper[rng.choice(known)])

    assert np.mean(np.array(uppers) >= 0.95) >= 0.98
    # of one memorised record the two at the end may be one of each side
    assert np.mean(np.array(uppers) == 1.0) >= 0.8


@each_case("prior", [0.5, 0.1])
@each_case("sides", [(25, 15), (50, 70), (1000, 1000), (200, 1800), (3000, 300)])
def test_no_record_of_a_separated_sample_is_said_to_be_safe(sides, prior):
    result = individual_risk(Scores.of(np.arange(sides[0]) + 1e6, np.arange(sides[1])), prior)

    assert result.upper.min() >= 0.9
    assert result.simultaneous_upper.min() >= 0.9
    assert (result.simultaneous_upper >= result.upper).all()
    assert (result.simultaneous_lower <= result.lower).all()


@pytest.mark.slow
@each_case("shift, sides", [(0.0, (500, 500)), (0.0, (100, 900)), (0.6, (500, 500)), (0.6, (900, 100))])
def test_limits_hold_for_all_narrowing_cells_at_once_and_flags_without_leak_are_rare(shift, sides):
    rng, runs, above, below, flags = np.random.default_rng(22), 50, 0, 0, 0
    for _ in range(runs):
        result = individual_risk(Scores.of(rng.normal(shift, size=sides[0]), rng.normal(size=sides[1])))
        cuts, together = result.cells.counts.cells.cuts, result.cells.signed_simultaneous
        truth = risk_of(*(np.diff(ndtr(cuts - at), prepend=0.0, append=1.0) for at in (shift, 0.0)), 0.5)
        above += (together.lower > truth + 1e-9).any()
        below += (together.upper < truth - 1e-9).any()
        flags += result.flagged.any()

    assert max(above, below) <= most_misses(runs)
    assert shift or flags <= most_misses(runs, 0.05)


@pytest.mark.slow
@each_case("n1, n0, share", [(500, 500, 0.02), (200, 1800, 0.05), (2000, 2000, 0.01)])
def test_of_the_flags_of_narrowing_cells_at_most_one_in_twenty_is_false(n1, n0, share):
    rng, runs, false = np.random.default_rng(23), 100, 0.0
    for _ in range(runs):
        members, _ = memorised(rng, n1, share)
        result = individual_risk(Scores.of(members, rng.normal(size=n0)))
        counts, flagged = result.cells.counts, result.flags.flagged
        cuts, records = counts.cells.cuts, counts.pooled
        r = np.diff((1 - share) * ndtr(cuts) + share * ndtr((cuts - 8.0) / 0.5), prepend=0.0, append=1.0)
        q = np.diff(ndtr(cuts), prepend=0.0, append=1.0)
        false += records[flagged & (r <= q)].sum() / max(1, records[flagged].sum()) / runs

    assert false <= 0.05


def test_a_leak_of_a_whole_group_is_flagged_and_an_exposed_cell_exposes_no_group():
    spread = Counts(np.array([17, 17, 17, 17, 32]), np.array([8, 8, 8, 8, 68]), Intervals(np.arange(4.0)))
    one = Counts(np.array([30, 20, 50, 100]), np.array([0, 22, 56, 122]), Intervals(np.arange(3.0)))

    assert flag_members(spread, 0.5, groups=np.array([0, 4])).flagged.tolist() == [True] * 4 + [False]
    assert not flag_members(spread, 0.5, over=OverCells()).flagged.all()
    assert flag_members(one, 0.5, groups=np.array([0, 3])).flagged.tolist() == [True, False, False, False]


def test_the_top_are_ranked_by_their_own_cell_not_by_what_its_limits_reach_beside_it(rng):
    result = individual_risk(Scores.of(rng.normal(1.2, size=24), rng.normal(size=24)))

    own = cell_risks(result.cells.counts).signed_simultaneous.lower
    assert result.top(1).cell[0] == np.argmax(own)
    assert (result.cells.signed_simultaneous.lower < own).any()


def test_cells_narrow_alike_towards_both_ends_whatever_the_labels_and_a_tie_has_one_of_its_own(rng):
    scores = np.random.default_rng(0).normal(size=4000)
    first, second = scores[:2000], scores[2000:]
    sides = (first, second), (scores[::2], scores[1::2]), (-first, -second)
    one, other, mirrored = (risk_cells(Scores.of(*each)) for each in sides)

    np.testing.assert_array_equal(one.cells.cuts, other.cells.cuts)
    assert one.pooled[:4].tolist() == mirrored.pooled[:4].tolist() == sorted(one.pooled[:4])
    assert 16 <= one.pooled[0] < 32
    assert one.size <= 20 + 2 * 4
    assert risk_cells(Scores.of(first, second), 7).size == 7

    low = np.concatenate([np.full(60, -9.0), rng.normal(size=1940)])

    for scores in (low, -low):
        pooled = risk_cells(Scores.of(scores, rng.normal(size=2000), "continuous")).pooled
        assert 60 in (pooled[0], pooled[-1])


def test_what_a_cell_reaches_only_moves_the_end_away_from_no_leak():
    limits = Limits(
        np.array([-0.2, 0.3, -0.6]), np.array([0.2, 0.5, -0.3]), 0.95, Guarantee("", "", finite_sample=True)
    )
    reach = Reach(np.array([0, 1, 2, 2]), np.zeros(4), np.zeros(4))
    wider = reach.widen(limits, (np.array([-0.9, -0.8, -0.7, -0.65]), np.array([0.1, 0.9, 0.4, 0.8])), 0.0)

    np.testing.assert_array_equal(wider.lower, [-0.9, 0.3, -0.7])
    np.testing.assert_array_equal(wider.upper, [0.2, 0.9, -0.3])


# groups


def test_a_group_has_the_means_of_its_records_and_one_of_unknown_records_only_is_masked(leaky, rng):
    labels = rng.choice(["x", "y", "z"], 1000)
    result = individual_risk(leaky, 0.2, groups=labels)

    for g, label in enumerate(result.groups.labels):
        own = labels == label
        assert result.groups.records[g] == own.sum()
        assert result.groups.flagged[g] == result.flagged[own].sum()
        assert result.groups.risk[g] == pytest.approx(result.risk[own].mean())
        assert result.groups.lower[g] == pytest.approx(result.simultaneous_lower[own].mean())
        assert result.groups.upper[g] == pytest.approx(result.simultaneous_upper[own].mean())

    result = individual_risk(leaky, 0.2, targets=[0.0, 77.0, 88.0, 99.0], groups=[2, 2, 1, 1])

    assert result.groups.labels.tolist() == [1, 2]
    assert result.groups.risk.tolist()[0] is None
    assert (result.groups.lower[0], result.groups.upper[0]) == (0.0, 1.0)
    assert result.groups.unknown.tolist() == [2, 1]
    assert result.groups.records.tolist() == [0, 1]


@pytest.mark.slow
@each_case("prior", [0.5, 0.1])
def test_mean_risks_of_groups_are_covered_all_at_once(prior):
    rng, world, runs, hits = np.random.default_rng(14), gaussian_shift(0.5), 40, 0
    for _ in range(runs):
        labels = rng.choice(5, 600, p=[0.6, 0.3, 0.06, 0.03, 0.01])
        result = individual_risk(Scores.of(*world.draw(rng, 200, 400)), prior, groups=labels)
        truth = abs(true_risks(world, result.cells.counts.cells, prior))[result.cell]
        means = np.array([truth[labels == g].mean() for g in result.groups.labels])
        hits += ((result.groups.lower <= means) & (means <= result.groups.upper)).all()

    assert runs - hits <= most_misses(runs, 0.05)
