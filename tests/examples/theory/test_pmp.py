"""The PMP paper's figures and numbers, at a small size."""

import subprocess
import sys
from functools import cache
from math import log
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from estimators.theory.pmp.exponential import Summed
from estimators.theory.pmp.gaussian import Gaussian
from examples.theory.pmp import (
    figure1,
    figure2,
    figure3,
    figure4,
    figure5,
    figure6,
    gaussian_mean,
    geometric_median,
    stated,
)
from examples.theory.pmp.sweep import Sweep
from examples.theory.readme import blocks
from examples.theory.truth import halves

ROOT = Path(__file__).parents[3]
HERE = ROOT / "examples" / "theory" / "pmp"
FIGURES = (figure1, figure2, figure3, figure4, figure5, figure6)
DRAWS = 20


@cache
def quick(figure: ModuleType) -> Sweep:
    result: Sweep = figure.figure(True)
    return result


def epsilons(setting: geometric_median.Setting) -> list[geometric_median.Epsilons]:
    losses = [geometric_median.losses(setting, seed) for seed in range(DRAWS)]
    return [geometric_median.by_sensitivity(setting, each) for each in losses]


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.__name__)
def test_a_practical_epsilon_is_no_larger_than_the_worst_case_on_the_same_records_and_that_than_dp(
    figure: ModuleType,
) -> None:
    result = quick(figure)

    of_dp, of_points = (result.dashed[f"eps~/{name}, exact"] for name in ("eps", "eps(X)"))
    assert len(of_dp) == len(result.at) >= 3
    assert all(0 < a <= b <= 1 for a, b in zip(of_dp, of_points, strict=True))


@pytest.mark.slow
def test_figure_1_rises_with_the_spread_and_its_ratio_on_the_records_does_not_depend_on_it() -> None:
    result = quick(figure1)

    rising, flat = result.solid["eps~/eps, sensitivity"][:3], result.solid["eps~/eps(X), sensitivity"][:3]
    assert result.at[:3] == (0.03, 0.3, 1.0)
    assert rising[0] < rising[1] < rising[2]
    assert max(flat) / min(flat) < 1.1


def test_figure_1_has_the_papers_numbers_within_its_draws() -> None:
    result = epsilons(figure1.SETTING)

    practical = [each.practical for each in result]
    tight, loose = (np.mean([each.practical / (each.dp * r) for each in result]) for r in (1.0, 20.0 / 11.0))
    assert min(practical) < 2.14 < max(practical)
    assert loose < 0.075 < tight
    assert np.mean([each.dp for each in result]) < 28.5 < np.mean([each.dp for each in result]) * 20.0 / 11.0


def test_figure_2_has_both_ratios_below_what_the_paper_states_at_50() -> None:
    result = epsilons(figure2.SETTING)

    of_dp = float(np.mean([each.practical / each.dp for each in result]))
    of_points = float(np.mean([each.practical / each.on_points for each in result]))
    assert 0.010 < of_dp < of_points < 0.0123
    assert of_points / of_dp < 1.05  # "epsilon is about epsilon(X)"


@pytest.mark.slow
def test_in_figure_2_the_definition_of_epsilon_on_the_records_leaves_half_of_it_at_every_clip() -> None:
    ratios = quick(figure2).dashed["eps~/eps(X), exact"]

    assert all(0.4 < ratio < 0.7 for ratio in ratios)


@pytest.mark.slow
@pytest.mark.parametrize(("figure", "falls"), [(figure2, True), (figure3, True), (figure5, True), (figure6, False)])
def test_the_ratio_to_dp_falls_or_rises_as_the_paper_says(figure: ModuleType, falls: bool) -> None:
    result = quick(figure)

    for name in (name for name in (*result.solid, *result.dashed) if name.startswith("eps~/eps,")):
        steps = np.diff({**result.solid, **result.dashed}[name])
        assert (steps < 0).all() if falls else (steps > 0).all()


def test_figure_4_does_not_have_a_practical_epsilon_below_0_9_but_a_ratio_below_0_09() -> None:
    result = gaussian_mean.mean_epsilons(figure4.SETTING, 5)

    assert figure4.SETTING.target == 10.0
    assert result["exact"][0] > 5.0
    assert result["scaled"][0] > 5.0
    assert result["scaled"][1] < 0.09


@pytest.mark.slow
def test_figure_4_rises_when_scaled_and_falls_by_lemma_10() -> None:
    result = quick(figure4)

    assert (np.diff(result.solid["eps~/eps, scaled"]) > 0).all()
    assert (np.diff(result.dashed["eps~/eps, exact"]) < 0).all()


def test_the_modular_sums_have_the_practical_epsilon_of_whole_number_counts() -> None:
    assert halves.sum_modulo(3) == pytest.approx(log(2), abs=1e-15)
    assert halves.sum_modulo(6) == pytest.approx(log(38 / 37), abs=1e-15)
    assert halves.sum_modulo(6) < log(40 / 37)


def test_a_drawn_mechanism_is_as_practical_as_brute_force_says() -> None:
    setting = geometric_median.Setting(dimension=2, sigma=1.0, clip=3.0, vectors=4, target=2.0, half=3)
    losses = geometric_median.losses(setting, 1)

    result = geometric_median.exactly(setting, losses)

    laws = halves.laws_of_halves(losses / 3, result.dp / (2 * setting.sensitivity))
    assert result.practical == pytest.approx(halves.practical_epsilon(laws), rel=1e-12)
    assert halves.worst_case_epsilon(laws) == pytest.approx(setting.target, rel=1e-8)
    assert Summed.mean(losses, setting.sensitivity).exchanges(result.dp).max() >= result.practical


def test_a_drawn_mean_keeps_delta_at_its_practical_epsilon_and_no_less() -> None:
    result = gaussian_mean.moves(figure5.SETTING, 0)
    mechanism = Gaussian(result, 1.0)

    epsilon = mechanism.epsilon(0.01)

    assert mechanism.delta(epsilon) <= 0.01
    assert mechanism.delta(epsilon * (1 - 1e-6)) > 0.01


@pytest.mark.slow
def test_every_number_of_the_text_has_a_line() -> None:
    result = stated.markdown(quick=True)

    for number in (
        "52.5%", "0.999", "ln 2", "ln(40/37)", "28.5", "2.14", "0.075", "0.0123", "0.53", "< 0.9", "eps~ = 1",
    ):  # fmt: skip
        assert number in result
    assert len(result.splitlines()) == len(blocks(HERE / "README.md")["stated"].splitlines())


@pytest.mark.slow
def test_the_readme_has_the_ratios_that_are_computed() -> None:
    result = gaussian_mean.mean_epsilons(figure4.SETTING, gaussian_mean.DRAWS)

    ratios = [f"{result[reading][i]:.3g}" for reading in ("scaled", "exact") for i in (1, 2)]
    assert blocks(HERE / "README.md")["figure4"].splitlines()[-1] == f"| 10 | {' | '.join(ratios)} |"


@pytest.mark.slow
def test_a_figure_is_drawn_by_its_command(tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"

    process = subprocess.run(
        [sys.executable, "-m", "examples.theory.pmp.figure4", "--quick", "-o", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=ROOT,
    )

    assert process.stdout.startswith("| eps(X) |")
    assert path.read_text().startswith("<svg") or path.read_text().startswith("<?xml")


def test_every_figure_stands_beside_its_table() -> None:
    names = [figure.__name__.rsplit(".", 1)[-1] for figure in FIGURES]

    assert all((HERE / f"{name}.svg").read_text().rstrip().endswith("</svg>") for name in names)
    assert set(blocks(HERE / "README.md")) == {"stated", *names}
