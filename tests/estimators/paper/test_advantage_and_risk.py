"""MACE's formulas, worked by hand, by slow twins and by the golden values of study section 6."""

from itertools import combinations
from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom, gaussian_kde, norm

from estimators import Counts, Scores, paper
from estimators.density.bandwidth import Fixed, Scott, Silverman
from estimators.density.kernel import LineDensities
from estimators.density.space import densities_of
from estimators.errors import OutOfRange
from estimators.limits.binomial import mcdiarmid_radius
from estimators.paper.advantage import null_of_cells
from tests import oracles
from tests.cases import each_case, refusals

TEN = Counts.of([5, 3, 2], [1, 4, 5])


def codes(result: object) -> set[str]:
    return {caution.code for caution in result.cautions}


def literal_w(members: np.ndarray, nonmembers: np.ndarray, prior: float, bins: int) -> float:
    """Theorem 5 over equal slices between the pooled extremes, record by record."""
    low, high = min(members.min(), nonmembers.min()), max(members.max(), nonmembers.max())
    weight = [0.0] * bins
    for side, w in ((members, prior / len(members)), (nonmembers, -(1 - prior) / len(nonmembers))):
        for x in side:
            weight[min(int((x - low) / (high - low) * bins), bins - 1)] += w
    return sum(abs(w) for w in weight)


def f(r: Any, q: Any, p: float) -> Any:
    return (p * r - (1 - p) * q) / (p * r + (1 - p) * q)


@pytest.mark.parametrize(("prior", "by_hand"), [(0.5, 0.4), (0.1, 0.8), (0.3, 0.08 + 0.19 + 0.29)])
def test_w_n_by_hand(prior, by_hand) -> None:
    """Members .5 .3 .2, nonmembers .1 .4 .5; at .3 it is |.15 - .07| + |.09 - .28| + |.06 - .35|."""
    many = Counts.of([5, 3, 2], [100, 400, 500])  # E21: the prior weights the sides whatever their numbers

    for counts in (TEN, many):
        assert paper.discrete_advantage(counts, prior).value == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.7])
def test_algorithm_1_reads_a_continuous_score_in_equal_slices_when_asked(prior) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(0.5, 1, 700), rng.normal(size=400)
    result = paper.algorithm_1(Scores.of(a, b), prior, reading=paper.EqualWidth())

    assert result.statistic == "W_N"
    assert result.value == pytest.approx(literal_w(a, b, prior, 100), abs=1e-12)
    assert "cells_from_data" in codes(result)
    assert result.interval.guarantee.assumes.endswith("here they span these records")
    assert not result.interval.guarantee.finite_sample


def test_algorithm_1_counts_categories_and_smooths_numbers() -> None:
    rng = np.random.default_rng(2)
    members, nonmembers = oracles.zipf(20).draw(rng, 500, 300)

    discrete = paper.algorithm_1(Scores.of(members, nonmembers), 0.3)
    continuous = paper.algorithm_1(Scores.of(rng.normal(size=90), rng.normal(size=80)), 0.3)

    both = set(members) | set(nonmembers)
    literal = sum(abs(0.3 * (members == c).mean() - 0.7 * (nonmembers == c).mean()) for c in both)
    assert (discrete.statistic, continuous.statistic) == ("W_N", "U_N")
    assert discrete.value == pytest.approx(literal, abs=1e-12)
    assert codes(discrete) == set()


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_u_n_is_the_integral_of_scipy_s_estimates(prior) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.6, 1, 150), rng.normal(size=90)
    grid = np.linspace(-8, 9, 60_001)

    result = paper.continuous_advantage(Scores.of(a, b), prior)

    difference = prior * gaussian_kde(a)(grid) - (1 - prior) * gaussian_kde(b)(grid)
    assert result.value == pytest.approx(np.trapezoid(np.abs(difference), grid), abs=1e-6)
    assert codes(result) == set()  # every run would say so: it stands beside the number
    assert result.interval.guarantee.assumes.endswith("here it was chosen from them: s n^(-1/5) (Scott 1992)")
    assert not result.interval.guarantee.finite_sample


def test_two_far_kernels_in_u_n_by_hand() -> None:
    """Members all near 0, nonmembers half near 0 with the same kernels, half far: |p - (1-p)/2| + (1-p)/2."""
    a, b = np.arange(8.0) * 1e-9, np.concatenate([np.arange(8.0) * 1e-9, 1e3 + np.arange(8.0) * 1e-9])
    value = paper.continuous_advantage(Scores.of(a, b, "continuous"), 0.3, bandwidth=Fixed(1.0)).value

    assert value == pytest.approx(abs(0.3 - 0.35) + 0.35, abs=1e-7)


@pytest.mark.slow
def test_a_vector_s_u_n_says_how_it_was_integrated() -> None:
    rng = np.random.default_rng(4)
    scores = Scores.of(rng.normal(size=(80, 3)), rng.normal(size=(60, 3)))
    result = paper.algorithm_1(scores, 0.3, reading=paper.Kernel(Fixed(0.5), seed=2))

    assert codes(result) == {"monte_carlo"}
    assert result.value == densities_of(scores, Fixed(0.5), 2).advantage(0.3)


def test_the_interval_names_the_expectation_and_stays_where_it_can_be() -> None:
    wide = paper.discrete_advantage(TEN, 0.3)
    narrow = paper.discrete_advantage(Counts.of([5000, 3000, 2000], [1000, 4000, 5000]), 0.3)
    radius = sqrt(2 * log(2 / 0.05) * (0.3**2 + 0.7**2) / 10_000)

    assert "expectation of the statistic W_N, not the advantage" in wide.interval.guarantee.covers
    assert wide.interval.guarantee.assumes.endswith("without looking at these records")
    assert wide.interval.guarantee.finite_sample
    assert (wide.interval.lower, wide.interval.upper) == pytest.approx((0.4, 1.0))
    ends = narrow.interval.lower, narrow.interval.upper
    assert ends == pytest.approx((0.56 - radius, 0.56 + radius), abs=1e-12)


def test_the_interval_covers_the_expectation_of_w_n() -> None:
    draws = np.random.default_rng(5).multinomial(60, [0.2] * 5, size=(300, 2))
    prior, n = 0.3, 60
    # E|X - c| cell by cell: two independent binomials, summed over all pairs
    x = np.arange(n + 1)
    mass = binom.pmf(x, n, 0.2)
    mean = 5 * (np.abs(prior * x[:, None] - (1 - prior) * x) / n * mass[:, None] * mass).sum()
    result = [paper.discrete_advantage(Counts.of(a, b), prior) for a, b in draws]

    assert np.mean([mean in each.interval for each in result]) >= 0.95
    assert np.mean([each.value for each in result]) == pytest.approx(mean, abs=0.013)


@pytest.mark.slow
@pytest.mark.parametrize(("prior", "n1", "n0"), [(0.5, 400, 400), (0.2, 600, 150)])
@pytest.mark.parametrize("law", ["normal", "skewed", "rounded"])
def test_the_null_level_is_the_mean_without_a_leak(prior, n1, n0, law) -> None:
    """Both statistics are above 0 by chance: 0.164 for 100 cells and 1,000 records a side that leak nothing."""
    rng = np.random.default_rng(6)
    laws = {"normal": lambda x: x, "skewed": lambda x: np.exp(2.0 * x), "rounded": lambda x: np.round(x, 1)}
    samples = [Scores.of(*(laws[law](rng.normal(size=n)) for n in (n1, n0)), "continuous") for _ in range(16)]
    for reading in (paper.EqualWidth(), paper.Kernel(Scott()), paper.Kernel(Fixed(0.3))):
        results = [paper.algorithm_1(each, prior, reading=reading) for each in samples]
        values, levels = ([getattr(r, name) for r in results] for name in ("value", "null_level"))

        # the level is an estimate, too: that of a skewed score as scattered as the statistic itself
        error = np.hypot(np.std(values), np.std(levels)) / sqrt(len(samples))
        excess = np.mean(values) - abs(2 * prior - 1)
        assert abs(np.mean(levels) - np.mean(values)) < 3.0 * error + 0.2 * excess + 0.003


def test_the_null_level_of_w_n_is_the_mean_over_all_shares_of_the_labels() -> None:
    """Five records, two of them members, in cells of 2, 2 and 1: all ten ways to name the members."""
    cells = np.array([0, 0, 1, 1, 2])
    values = []
    for members in combinations(range(5), 2):
        a = np.bincount(cells[list(members)], minlength=3)
        values.append(np.abs(0.3 * a / 2 - 0.7 * (np.array([2, 2, 1]) - a) / 3).sum())

    assert null_of_cells(np.array([2, 2, 1]), 2, 3, 0.3) == pytest.approx(np.mean(values), abs=1e-12)


def test_the_null_level_of_large_cells_and_of_many_records() -> None:
    """Beside direct draws: cells above 64 records are taken as normal, many records drawn with replacement."""
    rng = np.random.default_rng(7)
    pooled = np.array([40, 90, 700, 170])
    a = rng.multivariate_hypergeometric(pooled, 600, 20_000)
    drawn = np.abs(0.4 * a / 600 - 0.6 * (pooled - a) / 400).sum(axis=1).mean()

    assert null_of_cells(pooled, 600, 400, 0.4) == pytest.approx(drawn, rel=0.01)
    few = null_of_cells(np.full(10**6, 9), 4 * 10**6, 5 * 10**6, 0.5)
    assert null_of_cells(np.full(2 * 10**6, 9), 8 * 10**6, 10**7, 0.5) == pytest.approx(few, rel=1e-5)


@pytest.mark.slow
@each_case("dimension", [2, 3])
def test_the_null_level_of_a_vector_s_u_n(dimension) -> None:
    rng = np.random.default_rng(8)
    samples = (Scores.of(*rng.normal(size=(2, 200, dimension))) for _ in range(3))
    results = [paper.continuous_advantage(each, 0.5, bandwidth=Fixed(0.5)) for each in samples]

    value, level = (np.mean([getattr(r, name) for r in results]) for name in ("value", "null_level"))
    assert level == pytest.approx(value, rel=0.1)


@pytest.mark.parametrize("prior", [0.5, 0.1, 0.8])
def test_theorem_2_is_the_two_opposite_corners(prior) -> None:
    a, b, delta = [7, 13, 40], [22, 9, 1], 0.1
    golden = paper.discrete_risk(Counts.of([30, 470], [10, 490]), 0.5)
    assert (golden.lower[0], golden.upper[0]) == pytest.approx((-0.006723, 0.822478), abs=1e-6)

    risk = paper.discrete_risk(Counts.of(a, b), prior, 1 - delta)

    for j, (x, y) in enumerate(zip(a, b, strict=True)):
        r = beta.ppf([delta / 4, 1 - delta / 4], [x, x + 1], [60 - x + 1, 60 - x])
        q = beta.ppf([delta / 4, 1 - delta / 4], [y, y + 1], [32 - y + 1, 32 - y])
        ends = f(r[0], q[1], prior), f(r[1], q[0], prior)
        assert (risk.lower[j], risk.upper[j]) == pytest.approx(ends, abs=1e-9)
        assert risk.values[j] == pytest.approx(f(x / 60, y / 32, prior), abs=1e-12)


@pytest.mark.slow
def test_e11_a_quarter_of_delta_in_each_tail_covers() -> None:
    """erratum E11: by exact enumeration over all outcomes."""
    n, prior = 30, 0.1
    hits = np.arange(n + 1)
    boxes = [[paper.discrete_risk(Counts.of([x, n - x], [y, n - y]), prior, 0.9) for y in hits] for x in hits]
    for r, q in ((0.02, 0.02), (0.3, 0.1), (0.5, 0.9)):
        truth = f(r, q, prior)
        inside = np.array([[box.lower[0] <= truth <= box.upper[0] for box in row] for row in boxes])
        assert binom.pmf(hits, n, r) @ inside @ binom.pmf(hits, n, q) >= 0.9


def test_e12_zero_corners_are_certain_ends_and_unseen_cells_say_nothing() -> None:
    risk = paper.discrete_risk(Counts.of([0, 4, 0, 6], [5, 0, 0, 3]), 0.1)

    assert risk.lower.tolist()[:3] == [-1.0, pytest.approx(risk.lower[1]), -1.0]
    assert risk.upper.tolist()[1:3] == [1.0, 1.0]
    assert -1 < risk.lower[1] < 1
    assert -1 < risk.upper[0] < 1
    assert risk.values.tolist()[:3] == pytest.approx([-1.0, 1.0, np.nan], nan_ok=True)
    assert np.isfinite(np.concatenate([risk.lower, risk.upper])).all()
    densities = LineDensities.of(*np.random.default_rng(6).normal(size=(2, 200)), Silverman())
    far = paper.continuous_risk(densities, np.array([50.0, -80.0]), 0.1)  # both densities are zero there
    assert (far.lower.tolist(), far.upper.tolist()) == ([-1.0, -1.0], [1.0, 1.0])
    assert np.isnan(far.values).all()


def test_theorem_2_is_proven_for_cells_that_were_there_before_the_records() -> None:
    rng = np.random.default_rng(60)
    numbers = Scores.of(rng.normal(size=300), rng.normal(size=300))
    words = Scores.of(rng.choice(list("abc"), 300), rng.choice(list("abc"), 300))
    slices, categories = (paper.record_risk(each, 0.5, reading=paper.EqualWidth(10)).risk for each in (numbers, words))
    counts = paper.record_risk(Counts.of([20, 30], [30, 20], edges=[0.5]), 0.5, targets=[0.2]).risk

    assert [each.guarantee.finite_sample for each in (slices, categories, counts)] == [False, True, True]
    assert slices.guarantee.assumes.endswith("; here they span these records")
    assert counts.guarantee.assumes.endswith("cells fixed in advance, without looking at these records")


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_theorem_3_is_lemma_4_with_each_side_s_own_n(prior) -> None:
    rng = np.random.default_rng(7)
    a, b, h, delta = rng.normal(0.5, 1, 2000), rng.normal(size=300), 0.25, 0.1
    points = np.array([-0.7, 0.0, 0.4, 1.2])

    risk = paper.continuous_risk(LineDensities.of(a, b, Fixed(h)), points, prior, 1 - delta)

    z, mu = norm.ppf(1 - delta / 4), 0.28209479177387814
    for j, x in enumerate(points):
        r, q = (norm.pdf((x - side) / h).mean() / h for side in (a, b))
        r_off, q_off = z * sqrt(mu * r / (2000 * h)), z * sqrt(mu * q / (300 * h))
        assert risk.values[j] == pytest.approx(f(r, q, prior), abs=1e-4)
        assert risk.lower[j] == pytest.approx(f(r - r_off, q + q_off, prior), abs=1e-4)
        assert risk.upper[j] == pytest.approx(f(r + r_off, q - q_off, prior), abs=1e-4)
    assert not risk.guarantee.finite_sample


def test_e14_limits_of_a_density_below_zero_are_clipped() -> None:
    """erratum E14: as printed, r_lower < 0 puts f below -1; clipped, f stays in [-1, 1]."""
    rng = np.random.default_rng(8)
    a, b, h, p = rng.normal(3, 1, 60), rng.normal(size=60), 0.3, 0.3
    densities = LineDensities.of(a, b, Fixed(h))
    points = np.linspace(-2, 5, 200)
    at = densities.at(points)

    risk = paper.continuous_risk(densities, points, p)

    z = norm.ppf(1 - 0.05 / 4)
    r_low = at.members - z * np.sqrt(paper.kernel_roughness(1) * at.members / (60 * h))
    q_high = at.nonmembers + z * np.sqrt(paper.kernel_roughness(1) * at.nonmembers / (60 * h))
    with np.errstate(all="ignore"):
        assert np.nanmin(f(r_low, q_high, p)) < -1.0
    assert (risk.lower.min(), risk.upper.max()) == (-1.0, 1.0)
    assert ((risk.lower <= risk.values) & (risk.values <= risk.upper)).all()


def test_theorem_3_covers_the_smoothed_densities() -> None:
    """Around E r_N, a Gaussian of variance 1 + h^2, not around r: that is what asymptotic normality gives."""
    rng = np.random.default_rng(9)
    h, prior, points = 0.4, 0.3, np.array([-0.5, 0.3, 1.0])
    spread = sqrt(1 + h * h)
    truth = f(norm.pdf(points, 0.5, spread), norm.pdf(points, 0, spread), prior)
    hits = []
    for _ in range(100):
        densities = LineDensities.of(rng.normal(0.5, 1, 500), rng.normal(size=900), Fixed(h))
        risk = paper.continuous_risk(densities, points, prior, 0.9)
        hits.append((risk.lower <= truth) & (truth <= risk.upper))

    assert (np.mean(hits, axis=0) >= 0.9).all()


def test_an_atom_s_risk_is_theorem_2_s() -> None:
    rng = np.random.default_rng(10)
    a, b = np.append(rng.random(70), [1.0] * 30), np.append(rng.random(490), [1.0] * 10)

    risk = paper.continuous_risk(LineDensities.of(a, b, Silverman()), np.array([1.0]), 0.1)

    box = paper.discrete_risk(Counts.of([30, 70], [10, 490]), 0.1)
    ours, theirs = ((each.lower[0], each.values[0], each.upper[0]) for each in (risk, box))
    assert ours == pytest.approx(theirs)


@each_case("d, golden", [(1, 0.28209), (2, 0.07958), (3, 0.02245)])
def test_mu_k_of_a_product_kernel(d, golden) -> None:
    x = np.linspace(-9, 9, 4001)
    value = paper.kernel_roughness(d)

    assert value == pytest.approx(golden, abs=5e-6)
    assert value == pytest.approx(np.trapezoid(norm.pdf(x) ** 2, x) ** d, rel=1e-9)


def test_e15_the_radius_for_a_prior_that_is_not_the_share_in_the_sample() -> None:
    rng = np.random.default_rng(11)
    radius = mcdiarmid_radius(0.5, 20, 1980, 0.05)
    few, many = rng.multinomial(20, [0.5, 0.5], 400), rng.multinomial(1980, [0.5, 0.5], 400)
    values = [paper.discrete_advantage(Counts.of(a, b), 0.5).value for a, b in zip(few, many, strict=True)]
    off = np.abs(np.array(values) - np.mean(values))

    assert radius == pytest.approx(0.305211, abs=1e-6)
    assert (off > radius).mean() <= 0.05
    assert (off > sqrt(2 / 2000 * log(2 / 0.05))).mean() > 0.3  # the printed radius, .0607


def test_e16_one_record_moves_w_n_far_beyond_two_over_n() -> None:
    rng = np.random.default_rng(12)
    a, b = rng.normal(0.5, 1, 500), rng.normal(size=500)
    plane = rng.normal(size=(2, 300, 2))
    plane[0, 0, 1] = 1e5  # on one axis
    sides = (a, b), (np.append(a[:-1], 1e6), b), plane
    before, after, of_plane = (paper.algorithm_1(Scores.of(*each), 0.5, reading=paper.EqualWidth(50)) for each in sides)

    assert before.value > 0.15
    assert after.value < 0.01  # one of 1000 records, bounded difference promised: .002
    assert ["outlier_range" in codes(each) for each in (before, after, of_plane)] == [False, True, True]


def test_e16_one_record_moves_u_n_through_scott_s_bandwidth() -> None:
    rng = np.random.default_rng(13)
    a, b = rng.normal(0.5, 1, 500), rng.normal(size=500)
    plain, moved = Scores.of(a, b), Scores.of(np.append(a[:-1], 1e6), b)
    before, after = (paper.continuous_advantage(each, 0.5) for each in (plain, moved))
    fixed = [paper.continuous_advantage(each, 0.5, bandwidth=Fixed(0.3)) for each in (plain, moved)]

    assert before.value < 0.3
    assert after.value > 0.9
    assert abs(fixed[0].value - fixed[1].value) <= 2 / 1000
    assert codes(fixed[1]) == set()


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 1000])
def test_e17_a_bandwidth_that_shrinks_too_fast_never_finds_no_leak(n) -> None:
    """erratum E17: h -> 0 alone is not enough; with N h -> 0 every record stands alone: U_N -> 1."""
    scores, widths = Scores.of(*np.random.default_rng(15).normal(size=(2, n))), (Fixed(n**-1.5), Scott())
    hasty, steady = (paper.continuous_advantage(scores, 0.5, bandwidth=h).value for h in widths)

    assert hasty > 0.9
    assert steady < 0.15


def test_cells_that_outrun_the_sample_and_atoms_that_are_counted_are_said_to() -> None:
    rng = np.random.default_rng(16)
    crowded, roomy = (Scores.of(*rng.normal(size=(2, n, 1))) for n in (100, 2000))
    result = [paper.algorithm_1(scores, 0.3, reading=paper.EqualWidth()) for scores in (crowded, roomy)]
    atoms = Scores.of(*oracles.atoms().draw(np.random.default_rng(17), 4000, 4000))
    counted = paper.continuous_advantage(atoms, 0.3)

    assert ["cells_outrun_sample" in codes(each) for each in result] == [True, False]
    assert "atoms" in codes(counted)
    assert counted.value == pytest.approx(oracles.atoms().truth(0.3), abs=0.03)


test_a_prior_or_confidence_outside_the_open_unit_is_refused = refusals(
    "ask, words",
    *((lambda bad=bad: paper.discrete_advantage(TEN, bad), "prior") for bad in (0.0, 1.0, float("nan"), -0.2)),
    *((lambda bad=bad: paper.discrete_risk(TEN, 0.5, bad), "confidence") for bad in (0.0, 1.0, float("nan"), -0.2)),
    error=OutOfRange,
)
