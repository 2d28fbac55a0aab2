"""Kernel densities against literal sums over records, scipy and scikit-learn."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

from estimators.density.bandwidth import Fixed, ImprovedSheatherJones, Scott, Silverman
from estimators.density.kernel import LineDensities, absolute_sum, signed_risk, split_atoms
from estimators.density.space import PlaneDensities, PointDensities, densities_of
from estimators.errors import InputError, OutOfRange
from estimators.sample.scores import Query, Scores
from tests import oracles
from tests.cases import each_case, refusals

PRIORS = [0.5, 0.3, 0.1]


def literal_density(records: np.ndarray, width: float, points: np.ndarray) -> np.ndarray:
    """Eq. 17 with the Gaussian kernel, record by record."""
    bumps = np.exp(-0.5 * ((points[:, None] - records) / width) ** 2)
    return np.asarray(bumps.sum(axis=1)) / float(len(records) * width * np.sqrt(2 * np.pi))


def literal_advantage(a: np.ndarray, b: np.ndarray, widths: tuple[float, float], prior: float) -> float:
    """Theorem 6's integral by the trapezoid rule at 60 steps a bandwidth, stretch by stretch."""
    reach, pooled = 9 * max(widths), np.sort(np.concatenate([a, b]))
    breaks = np.flatnonzero(np.diff(pooled) > 2 * reach)
    total = 0.0
    for first, last in zip([0, *(breaks + 1)], [*breaks, len(pooled) - 1], strict=True):
        low, high = pooled[first] - reach, pooled[last] + reach
        grid = np.linspace(low, high, int((high - low) / min(widths) * 60))
        r, q = (
            literal_density(s[(s >= low) & (s <= high)], w, grid) * ((s >= low) & (s <= high)).mean()
            if ((s >= low) & (s <= high)).any()
            else np.zeros(len(grid))
            for s, w in ((a, widths[0]), (b, widths[1]))
        )
        total += float(np.trapezoid(np.abs(prior * r - (1 - prior) * q), grid))
    return total


def samples(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    match name:
        case "gaussian":
            return rng.normal(0.5, 1, 400), rng.normal(size=300)
        case "uneven":
            return rng.normal(size=20), rng.normal(1, 2, 1500)
        case "cauchy":
            return rng.standard_cauchy(200) + 1, rng.standard_cauchy(200)
        case "outlier":
            return np.append(rng.normal(0.5, 1, 200), 1e9), rng.normal(size=300)
        case "far modes":
            a, b = (np.append(rng.normal(size=150), rng.normal(m, 1, 150)) for m in (1e8, 1e8 + 1))
            return a, b
        case _:
            return rng.normal(2e-9, 1e-9, 300), rng.normal(0, 1e-9, 300)


def draw_sides(world: oracles.World, seed: int, n1: int, n0: int) -> tuple[np.ndarray, np.ndarray]:
    a, b = world.draw(np.random.default_rng(seed), n1, n0)
    return a.astype(np.float64), b.astype(np.float64)


@pytest.mark.slow
@each_case(
    "name, rule",
    *((name, Silverman()) for name in ("gaussian", "uneven", "cauchy", "outlier", "far modes")),
    *((name, ImprovedSheatherJones()) for name in ("gaussian", "cauchy", "outlier")),
    *((name, Fixed(0.05)) for name in ("gaussian", "far modes")),
)
def test_u_n_is_the_integral_over_literal_sums(name, rule) -> None:
    a, b = samples(name)
    result = LineDensities.of(a, b, rule)

    assert result.advantage(0.3) == pytest.approx(literal_advantage(a, b, result.widths, 0.3), abs=1e-6)


@each_case("name", ["gaussian", "uneven", "cauchy", "outlier", "far modes", "tiny scale"])
def test_risk_at_every_record_is_that_of_literal_sums(name) -> None:
    a, b = samples(name)
    points = np.concatenate([a, b])

    result = LineDensities.of(a, b, Silverman())

    r, q = literal_density(a, result.widths[0], points), literal_density(b, result.widths[1], points)
    expected = (0.1 * r - 0.9 * q) / (0.1 * r + 0.9 * q)
    assert result.at(points).signed_risk(0.1) == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_bandwidths_far_apart_get_a_grid_each() -> None:
    rng, prior = np.random.default_rng(14), 0.3
    a, b = np.append(rng.normal(0.5, 1, 40), [600.0, -300.0]), rng.normal(size=60)
    points = np.concatenate([a, b])
    result = LineDensities.of(a, b, Scott())

    assert result.widths[0] > 100 * result.widths[1]
    assert result.advantage(prior) == pytest.approx(literal_advantage(a, b, result.widths, prior), abs=1e-6)
    r, q = literal_density(a, result.widths[0], points), literal_density(b, result.widths[1], points)
    assert result.at(points).signed_risk(prior) == pytest.approx(signed_risk(r, q, prior), abs=1e-4)


def test_an_outlier_as_far_as_numbers_go_leaves_an_answer() -> None:
    a, b = samples("gaussian")
    values = [LineDensities.of(np.append(a, far), b, Scott()).advantage(0.3) for far in (1e6, 1e12, 1e100)]

    assert values == pytest.approx([1.0] * 3, abs=0.01)


def test_densities_are_scipy_s_integrate_to_one_and_are_never_negative() -> None:
    (a, b), points = samples("gaussian"), np.linspace(-5, 5, 77)
    ours = LineDensities.of(a, b, Scott()).at(points)
    cauchy = LineDensities.of(*samples("cauchy"), Silverman())

    assert ours.members == pytest.approx(gaussian_kde(a)(points), abs=1e-4)
    assert ours.nonmembers == pytest.approx(gaussian_kde(b)(points), abs=1e-4)
    assert cauchy.members.sum() * cauchy.lines[0].step == pytest.approx(1.0, abs=1e-9)
    assert min(cauchy.members.min(), cauchy.nonmembers.min()) >= 0.0


@pytest.mark.slow
@each_case("seed", range(3))
def test_cauchy_tails_of_many_records_keep_their_resolution(seed) -> None:
    world = oracles.cauchy_shift(0.2)
    a, b = draw_sides(world, seed, 60_000, 60_000)
    result = LineDensities.of(a, b, Silverman())

    assert result.lines[0].step <= min(result.widths) / 40
    for prior in (0.5, 0.3):
        assert result.advantage(prior) == pytest.approx(world.truth(prior), abs=0.02)


def test_points_between_cut_stretches_keep_their_densities_and_far_ones_get_the_prior() -> None:
    a, b = samples("outlier")
    points, far = np.array([1e9 - 0.3, 1e9 + 0.2, a[3] + 0.01]), np.array([-1e7, 1e4, 1e12])
    result = LineDensities.of(a, b, Silverman())

    # far out one record alone: its kernel at that distance; 1e9 carries 1e-7 of rounding itself
    assert result.at(points).members == pytest.approx(literal_density(a, result.widths[0], points), rel=1e-3)
    assert result.at(far).signed_risk(0.3) == pytest.approx([2 * 0.3 - 1] * 3)


@each_case("prior", PRIORS)
def test_atoms_are_counted_and_the_rest_is_smoothed(prior) -> None:
    world = oracles.atoms()
    a, b = draw_sides(world, 3, 100_000, 50_000)
    result = LineDensities.of(a, b, Silverman())

    assert result.atoms.values.tolist() == [0.7]
    assert result.atoms.members.tolist() == [int((a == 0.7).sum())]
    assert result.advantage(prior) == pytest.approx(world.truth(prior), abs=0.012)


def test_an_atom_that_only_members_have_is_not_smoothed_away(rng) -> None:
    a, b = rng.random(5000), rng.random(5000)
    a[:1000] = 0.5  # a fifth of the members: truth .5|.8 - 1| + .5 x .2 at prior 1/2
    result = LineDensities.of(a, b, Silverman())

    assert result.advantage(0.5) == pytest.approx(0.2, abs=0.04)
    assert result.at(np.array([0.5])).signed_risk(0.3) == pytest.approx([1.0])
    assert abs(result.at(np.array([0.5 + 1e-9])).signed_risk(0.5)[0] + 1 / 9) < 0.1  # (.8 - 1)/(.8 + 1)


@each_case("prior", PRIORS)
def test_few_distinct_values_are_all_atoms_and_give_w_n(prior) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 7, 900).astype(float), rng.binomial(6, 0.5, 500).astype(float)

    value = LineDensities.of(a, b, Silverman()).advantage(prior)

    share = [prior * (a == v).mean() - (1 - prior) * (b == v).mean() for v in range(7)]
    assert value == pytest.approx(np.abs(share).sum(), abs=1e-12)


def test_rounded_scores_are_no_atoms_while_the_kernel_covers_their_step_but_where_they_saturate(rng) -> None:
    a, b = np.round(rng.normal(0.5, 0.2, (2, 1000)), 2)
    saturated = np.minimum(np.round(rng.normal(0.6, 0.3, 4000), 2), 1.0)
    atoms, rest, _ = split_atoms(a, b)

    assert (atoms.size, len(rest)) == (0, 1000)
    assert LineDensities.of(a, b, Silverman()).advantage(0.5) < 0.1  # W_N of such values is about .15
    assert split_atoms(saturated, saturated[::2])[0].values.tolist() == [1.0]


@each_case("prior", PRIORS)
def test_constant_sides_need_no_bandwidth(prior) -> None:
    low, high, normal = np.full(30, 0.3), np.full(20, 0.4), np.random.default_rng(8).normal(size=5000)
    pairs = (low, low), (low, high), (high * 20, normal)
    same, apart, one = (LineDensities.of(*each, Scott()).advantage(prior) for each in pairs)

    assert same == pytest.approx(abs(2 * prior - 1))
    assert apart == pytest.approx(1.0)
    assert one == pytest.approx(1.0, abs=1e-3)


@pytest.mark.slow
def test_a_tiny_bandwidth_makes_every_record_its_own_island_and_one_too_small_for_any_grid_is_refused():
    x = np.random.default_rng(9).random(100_000)
    result = LineDensities.of(x[:3000:2], x[1:3000:2], Fixed(1e-9))

    assert result.advantage(0.3) == pytest.approx(1.0, abs=1e-3)
    assert result.at(x[:3000:2]).signed_risk(0.3) == pytest.approx(np.ones(1500))
    with pytest.raises(OutOfRange, match="bandwidth"):
        LineDensities.of(x[::2], x[1::2], Fixed(1e-7))


def test_the_prior_weights_the_densities_never_the_share_in_the_sample_and_is_swapped_with_the_sides():
    a, b = samples("uneven")
    there, back = LineDensities.of(a, b, Scott()), LineDensities.of(b, a, Scott())

    for prior in PRIORS:
        assert back.advantage(1 - prior) == pytest.approx(there.advantage(prior), abs=1e-12)

    # erratum E21: nine times the nonmembers, each repeated, leave densities and advantage alone.
    a, b = samples("gaussian")
    few, many = LineDensities.of(a, b, Fixed(0.3)), LineDensities.of(a, np.tile(b, 9), Fixed(0.3))

    assert many.atoms.size == few.atoms.size == 0
    for prior in PRIORS:
        assert many.advantage(prior) == pytest.approx(few.advantage(prior), abs=1e-9)


def test_the_kink_correction_is_right_to_the_third_power_of_the_step_and_a_zero_on_one_side_is_certain() -> None:
    x = np.arange(-10, 10, 0.02) + 0.0037
    values = x * np.exp(-(x**2))
    integral = 0.02 * absolute_sum(values)
    risk = signed_risk(np.array([0.0, 2.0, 0.0, 1.0]), np.array([0.0, 0.0, 3.0, 1.0]), 0.1)

    assert integral == pytest.approx(1.0, abs=1e-6)  # the integral of |x| exp(-x^2)
    assert abs(0.02 * np.abs(values).sum() - integral) > 5e-6
    assert risk == pytest.approx([-0.8, 1.0, -1.0, -0.8])  # of nothing that of the prior


def plane_samples(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(12)
    return rng.normal(0.3, 1, (n, 2)) * [1.0, 40.0], rng.normal(size=(n, 2)) * [1.0, 40.0]


def test_a_plane_agrees_with_sums_over_records_by_scikit_learn() -> None:
    a, b = plane_samples(2000)
    result = densities_of(Scores.of(a, b), Scott())

    assert isinstance(result, PlaneDensities)
    found = result.at(a[:300])
    for side, width, at in zip((a, b), result.widths, (found.members, found.nonmembers), strict=True):
        kernels = KernelDensity(bandwidth=1.0).fit(side / width)
        other = np.exp(kernels.score_samples(a[:300] / width)) / width.prod()
        assert at == pytest.approx(other, rel=4e-3, abs=1e-9)


@pytest.mark.slow
def test_a_plane_integrates_what_points_at_random_integrate() -> None:
    a, b = plane_samples(1500)
    plane, points = PlaneDensities.of(a, b, Scott()), PointDensities.of(a, b, Scott(), seed=1)

    for prior in PRIORS:
        assert abs(plane.advantage(prior) - points.advantage(prior)) < 4 * points.standard_error(prior) + 1e-4


@pytest.mark.slow
def test_a_plane_with_a_far_outlier_is_summed_directly() -> None:
    a, b = plane_samples(200)
    a[0] = 1e9
    result = densities_of(Scores.of(a, b), Silverman())

    assert isinstance(result, PointDensities)
    assert result.at(a[:1]).members[0] == pytest.approx(1 / (200 * result.volumes[0] * 2 * np.pi))


@pytest.mark.slow
@each_case("d", [3, 6, 10])
def test_sums_in_many_dimensions_agree_with_scikit_learn(d) -> None:
    rng = np.random.default_rng(d)
    a, b = rng.normal(0.2, 1, (150, d)), rng.normal(size=(400, d)) * 2
    result = densities_of(Scores.of(a, b), Scott())

    assert isinstance(result, PointDensities)
    for side, width, at in zip((a, b), result.widths, (result.at(a).members, result.at(a).nonmembers), strict=True):
        other = np.exp(KernelDensity(bandwidth=1.0).fit(side / width).score_samples(a / width)) / width.prod()
        assert at == pytest.approx(other, rel=1e-9)


@pytest.mark.slow
def test_the_monte_carlo_integral_of_separable_sides_is_the_line_s_and_a_seed_repeats() -> None:
    """Every axis but one has the same single value for both sides, so U_N is that of the one axis."""
    a, b = samples("gaussian")
    pad = np.zeros((400, 2))
    vectors = np.column_stack([a, pad]), np.column_stack([b, pad[:300]])
    result, again, other = (PointDensities.of(*vectors, Fixed(0.3), seed=seed) for seed in (3, 3, 4))

    line = LineDensities.of(a, b, Fixed(0.3))
    for prior in PRIORS:
        assert abs(result.advantage(prior) - line.advantage(prior)) < 4 * result.standard_error(prior)
    assert result.advantage(0.3) == again.advantage(0.3) != other.advantage(0.3)


test_categories_and_many_dimensions_are_refused = refusals(
    "ask, words",
    (lambda: densities_of(Scores.of(list("abcabcabc"), list("abcabcabc")), Scott()), "categories"),
    (lambda: densities_of(Scores.of(np.eye(20)[:, :11], np.eye(20)[:, :11], Query.CONTINUOUS), Scott()), "at most 10"),
    error=InputError,
)
