"""MIP's figures and data sets, redrawn: the exact computations against independent ones, and what they show."""

from functools import cache
from itertools import pairwise
from math import comb, sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from estimators.theory import shifts
from estimators.theory.accounting import NoisySteps
from estimators.theory.dp.promise import Adjacency, GaussianDp
from estimators.theory.mip.attack import attained_eta
from estimators.theory.mip.noises import KNorm, Norm
from examples.theory.drawing import svg
from examples.theory.mip import figure1, proposition11, section52, small
from examples.theory.mip.__main__ import HERE, README
from examples.theory.mip.generator import STEPS, dp_trained, half, records, relative_error, trained
from examples.theory.mip.laplace import exact_eta
from examples.theory.mip.mechanisms import (
    DELTA,
    MECHANISMS,
    Run,
    accountant_epsilon,
    multiplier_by_epsilon,
    multiplier_exactly,
    swaps,
    theorem_4_epsilon,
)
from examples.theory.mip.proposition11 import Enumerated, scales_and_etas
from examples.theory.readme import blocks
from tests.examples.scripts import require_a_table_and_a_drawing

SMALL = (4, 6, 8, 10)
OURS = ("sigma/(2 eta)", "same, M = 1", "swaps")
QUICK = section52.Size(200, 4, (0.05, 0.1, 0.45))


def block(name: str) -> str:
    return blocks(README)[name]


# --- the exact eta ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.05, 0.7, 30.0])
def test_eta_under_laplace_noise_equals_the_integral_of_both_densities(scale: float) -> None:
    rng = np.random.default_rng(7)
    values, members = rng.normal(size=6), np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]] * 2, dtype=bool)

    result = exact_eta(values, members, scale)

    def difference(x: float, column: np.ndarray) -> float:
        density = np.exp(-np.abs(x - values) / scale) / (2 * scale)
        return abs(float(density[column].mean() - density[~column].mean()))

    ends = [values.min() - 40 * scale, *np.sort(values), values.max() + 40 * scale]
    for eta, column in zip(result, members.T, strict=True):
        whole = sum(quad(difference, low, high, args=(column,), limit=400)[0] for low, high in pairwise(ends))
        assert eta == pytest.approx(whole / 4, abs=2e-8)


@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_eta_under_laplace_noise_is_a_little_above_what_the_library_finds_on_a_grid(scale: float) -> None:
    world = Enumerated.of(6)

    exact = exact_eta(world.values, world.members, scale)
    grid = attained_eta(world.values, world.members, KNorm(Norm.one(1)), scale)

    assert (grid <= exact + 1e-12).all()
    assert grid == pytest.approx(exact, abs=1e-5)


def test_two_outputs_told_apart_by_laplace_noise_have_the_closed_form() -> None:
    result = exact_eta(np.array([0.0, 3.0]), np.array([[True], [False]]), 2.0)

    assert result[0] == pytest.approx(shifts.laplace_total_variation(1.5) / 2, rel=1e-14)


def test_equal_outputs_tell_nothing() -> None:
    members = np.array([[True, False], [False, True]])

    result = exact_eta(np.array([4.0, 4.0]), members, 1.0)

    assert result == pytest.approx(0.0, abs=1e-16)


# --- Proposition 11 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", SMALL)
def test_delta_in_closed_form_is_the_largest_of_all_swaps(n: int) -> None:
    assert Enumerated.of(n).swaps.max() == pytest.approx(proposition11.sensitivity(n), rel=1e-12)


@pytest.mark.parametrize("n", SMALL)
def test_deviations_are_below_their_closed_forms_and_the_papers_5(n: int) -> None:
    values = Enumerated.of(n).values

    assert values.var() <= proposition11.deviation_limit(n) ** 2 <= 5
    assert np.abs(values - values.mean()).mean() <= proposition11.mean_deviation_limit(n)
    assert np.sort(values)[:-1].sum() <= 6


@pytest.mark.parametrize("n", [12, 24, 48, 96])
def test_delta_grows_beyond_2_to_the_n_thirds(n: int) -> None:
    assert proposition11.sensitivity(n) > 2 ** (n / 3)


def test_as_section_4_prints_the_data_set_delta_shrinks_and_the_proposition_fails() -> None:
    as_printed = [Enumerated.of(n, printed_in_section_4=True).swaps.max() for n in SMALL]

    assert as_printed == sorted(as_printed, reverse=True)
    for n, delta in zip(SMALL, as_printed, strict=True):
        assert delta < 1 / sqrt(comb(n, n // 2)) < 1 < 2 ** (n / 3)


@cache
def cached_scales(n: int, eta: float) -> dict[str, tuple[float, float]]:
    return scales_and_etas(n, eta)


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("n", SMALL)
def test_no_calibration_leaves_more_than_the_wanted_eta(n: int, eta: float) -> None:
    for scale, left in cached_scales(n, eta).values():
        assert scale > 0
        assert left <= eta + 1e-9


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("n", SMALL)
def test_each_of_our_calibrations_needs_less_than_the_one_before_and_than_the_paper(n: int, eta: float) -> None:
    scales = [cached_scales(n, eta)[name][0] for name in ("paper", *OURS, "least of all")]

    assert scales == sorted(scales, reverse=True)


@pytest.mark.parametrize("n", SMALL)
def test_the_papers_noise_leaves_less_than_a_thousandth_of_what_was_wanted(n: int) -> None:
    assert cached_scales(n, 0.1)["paper"][1] < 1e-4


@pytest.mark.parametrize("n", [4, 6, 8, 10])
@pytest.mark.parametrize("eta", [0.1, 0.3, 0.45])
def test_the_closed_form_by_swaps_is_enough_noise_for_the_enumerated_ones(n: int, eta: float) -> None:
    limit = proposition11.swaps_limit(n, eta)

    if np.isfinite(limit):
        assert limit >= Enumerated.of(n).swap_scale(eta) * (1 - 1e-9)


def test_dp_needs_more_as_records_come_and_mip_by_swaps_needs_less() -> None:
    dp = [proposition11.laplace_for_dp(n, 0.1) for n in figure1.SIZES]
    swapped = [proposition11.swaps_limit(n, 0.1) for n in figure1.SIZES]

    assert dp == sorted(dp)
    assert swapped == sorted(swapped, reverse=True)
    assert dp[0] / swapped[0] > 1e13


# --- Figure 1 -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [36, 40, 44, 48])
def test_what_the_paper_says_of_its_figure_holds(n: int) -> None:
    lines = figure1.lines()

    for eta in np.arange(0.01, 0.5, 0.01):
        assert lines["MIP, the paper's, any n"](float(eta)) < lines[f"DP, n = {n}"](float(eta))


def test_our_line_is_far_below_the_papers_at_the_same_sigma() -> None:
    lines = figure1.lines()

    ratios = [lines["MIP, the paper's, any n"](eta) / lines["MIP, sigma/(2 eta), any n"](eta) for eta in (0.1, 0.499)]
    assert ratios == pytest.approx([758.9, 152.1], rel=1e-3)


def test_the_crossings_are_where_both_noises_are_equal() -> None:
    lines, eta = figure1.lines(), figure1.crossing(36)

    assert lines["MIP, the paper's, any n"](eta) == pytest.approx(lines["DP, n = 36"](eta), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("example", [figure1, proposition11])
def test_the_figure_shown_is_the_one_drawn(example: ModuleType) -> None:
    name = example.__name__.rpartition(".")[2]

    assert (HERE / f"{name}.svg").read_text("utf-8") == svg(example.figure())


@pytest.mark.slow
def test_the_tables_shown_are_those_computed() -> None:
    assert block("figure1") == figure1.markdown()
    assert block("proposition11") == proposition11.markdown()


# --- section 5.2 of the earlier version ---------------------------------------------------------------------


@cache
def run(n: int = 200) -> Run:
    return Run.of(n, np.random.default_rng([5, n]))


@cache
def errors() -> section52.Errors:
    return section52.measured(QUICK)


def mean_error(name: str, eta: float) -> float:
    return float(errors().noisy[list(MECHANISMS).index(name), QUICK.etas.index(eta)].mean())


def test_descent_ends_at_the_mean() -> None:
    means = np.random.default_rng(1).normal(size=(3, 6))

    assert trained(means) == pytest.approx(means, rel=1e-4)


def test_dp_training_without_clipping_or_noise_is_descent() -> None:
    ours = run()

    result = dp_trained(ours.train, 1e9, 0.0, np.random.default_rng(0))

    assert result == pytest.approx(ours.theta, rel=1e-12)


def test_the_relative_error_of_the_true_covariance_is_0_and_of_nothing_is_1() -> None:
    truth = records(400_000, np.random.default_rng(2)).mean(axis=0)

    assert relative_error(truth) < 0.02
    assert relative_error(np.zeros(6)) == pytest.approx(1.0)
    assert relative_error(-truth) == pytest.approx(1.0)


@pytest.mark.parametrize("eta", [0.05, 0.2, 0.45])
def test_the_multiplier_has_the_epsilon_that_accountants_find(eta: float) -> None:
    import dp_accounting
    from dp_accounting.pld import PLDAccountant

    multiplier = multiplier_by_epsilon(eta)
    exact = PLDAccountant().compose(dp_accounting.GaussianDpEvent(multiplier / 2), STEPS).get_epsilon(DELTA)

    assert exact == pytest.approx(theorem_4_epsilon(eta), rel=2e-3)
    assert theorem_4_epsilon(eta) <= accountant_epsilon(multiplier) <= 2 * theorem_4_epsilon(eta)
    assert DELTA + (1 - DELTA) / (1 + np.exp(-theorem_4_epsilon(eta))) - 0.5 == pytest.approx(eta)


@pytest.mark.parametrize("eta", [0.05, 0.45])
def test_the_librarys_accountant_says_the_same_of_the_exact_multiplier(eta: float) -> None:
    promise = NoisySteps(multiplier_exactly(eta), STEPS).promise(Adjacency.REPLACE)

    assert isinstance(promise, GaussianDp)
    assert ndtr(promise.mu / 2) - 0.5 == pytest.approx(eta, rel=1e-12)


@pytest.mark.parametrize("eta", [0.05, 0.2, 0.45])
def test_the_exact_multiplier_has_this_eta_and_is_smaller(eta: float) -> None:
    mu = 2 * sqrt(STEPS) / multiplier_exactly(eta)

    assert ndtr(mu / 2) - 0.5 == pytest.approx(eta, rel=1e-12)
    assert multiplier_exactly(eta) < multiplier_by_epsilon(eta)


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize("eta", [0.02, 0.1, 0.45])
def test_the_closed_form_by_swaps_is_enough_and_hardly_more_than_all_pairs_need(n: int, eta: float) -> None:
    ours = run(n)
    noise, scale = swaps(ours, eta)
    worst = 0.0
    for record in ours.data:
        # every pair is trained twice, with and without the record, on top of the same other ones
        others = ours.train[1:].sum(axis=0)
        pairs = trained(np.array([others + record, *(others + ours.data)]) / len(ours.train))
        moved = noise.total_variation(noise.size(pairs[1:] - pairs[0]) / scale)
        worst = max(worst, float(moved.sum()) / (n - 1) / 2)

    assert 0.9 * eta <= worst <= eta + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("eta", "worst"), [(0.05, 0.03), (0.3, 0.2)])
def test_the_best_attack_of_all_never_gets_beyond_eta(eta: float, worst: float) -> None:
    result = small.attacked(8, eta, 4_000)

    for mean, error in result.values():
        assert mean - error <= eta
    assert result["ours, swaps"][0] >= worst
    assert result["MIP, right radius, M = 8"][0] < eta / 10


@pytest.mark.slow
def test_sampled_swaps_certify_a_scale_above_the_one_that_all_of_them_need() -> None:
    result = small.certified(40, (50, 200), 0.1)

    assert (
        result["all swaps"] < result["200 sampled swaps a record, at 95%"] < result["50 sampled swaps a record, at 95%"]
    )


def test_by_swaps_the_error_is_least_and_the_papers_noise_drowns_it() -> None:
    for eta in (0.05, 0.1):
        least = mean_error("ours, swaps", eta)
        assert least < mean_error("ours, Gaussian", eta) < mean_error("MIP as printed, M = 2", eta) / 10
        assert least < mean_error("DP-SGD, (epsilon, 1e-5), clip at the median", eta)


def test_clipping_at_the_median_biases_dp_without_any_noise() -> None:
    assert (errors().clipped > errors().plain).all()
    assert errors().clipped.mean() > 0.3
    assert mean_error("DP-SGD, GDP, clip at the median", 0.45) > 0.9 * errors().clipped.mean()


def test_a_training_set_is_half_of_the_records() -> None:
    assert len(set(half(20, np.random.default_rng(0)))) == 10


@pytest.mark.slow
@pytest.mark.parametrize("example", [figure1, proposition11, section52])
def test_every_example_prints_its_tables(example: ModuleType, tmp_path: Path) -> None:
    require_a_table_and_a_drawing(example, tmp_path)


@pytest.mark.slow
def test_the_simulated_table_shown_is_the_one_computed() -> None:
    size = section52.FULL.sizes[0]
    computed, in_readme = section52.errors(section52.measured(size)), block("section52").split("\n\n")[0]

    for ours, theirs in zip(computed.splitlines()[2:], in_readme.splitlines()[2:], strict=True):
        cells = [[float(cell.split("±")[0]) for cell in line.split("|")[2:-1]] for line in (ours, theirs)]
        assert ours.split("|")[1] == theirs.split("|")[1]
        assert cells[0] == pytest.approx(cells[1], rel=0.02)
