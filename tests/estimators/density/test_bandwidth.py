"""Bandwidth rules against closed forms, slow twins and statsmodels."""

import numpy as np
import pytest
from statsmodels.nonparametric.bandwidths import bw_silverman

from estimators.density.bandwidth import (
    Bandwidth,
    Fixed,
    ImprovedSheatherJones,
    LeastSquaresCV,
    Sample,
    Scott,
    Silverman,
    spread_indices,
)
from estimators.errors import InvalidCounts, NotFinite, OutOfRange, TooFewRecords
from tests.cases import each_case, refusals

RULES: list[Bandwidth] = [Scott(), Silverman(), ImprovedSheatherJones(), LeastSquaresCV()]


def best_for_gaussian(n: int) -> float:
    """Minimiser of the asymptotic mean integrated squared error: (4/3)^(1/5) n^(-1/5)."""
    return float((4.0 / (3.0 * n)) ** 0.2)


def gaussian_mixture(n: int, apart: float) -> np.ndarray:
    return np.random.default_rng(5).normal(size=n) + apart * (np.arange(n) % 2)


def cross_validation_by_pairs(x: np.ndarray, h: float) -> float:
    """Literal leave-one-out criterion: integral of f^2 minus twice the mean of f without the record."""
    apart = x[:, None] - x
    n = len(x)
    square = np.exp(-(apart**2) / (4 * h * h)).sum() / (n * n * h * np.sqrt(4 * np.pi))
    others = np.exp(-(apart**2) / (2 * h * h))
    np.fill_diagonal(others, 0.0)
    return float(square - 2 * others.sum() / (n * (n - 1) * h * np.sqrt(2 * np.pi)))


def test_scott_is_the_deviation_times_the_rate_of_the_dimension_and_a_fixed_width_is_taken() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    widths = [Scott().choose(Sample.of(x), d) for d in (1, 2, 6)]

    assert Fixed(0.25).choose(Sample.of(np.full(9, 1.0)), 4) == 0.25
    assert widths == pytest.approx([x.std(ddof=1) * 5 ** (-1 / (d + 4)) for d in (1, 2, 6)], rel=1e-12)


@each_case("n", [20, 500, 30_000])
def test_silverman_agrees_with_statsmodels(n) -> None:
    x = np.random.default_rng(1).standard_t(3, size=n)
    width = Silverman().choose(Sample.of(x))

    assert width == pytest.approx(bw_silverman(x), rel=2e-3)  # statsmodels divides by 1.34898


@each_case("rule, noise", [(ImprovedSheatherJones(), 0.03), (LeastSquaresCV(), 0.2)])
def test_data_driven_rules_find_the_best_width_for_a_gaussian(rule, noise) -> None:
    n = 200_000  # cross-validation is known for its noise, of relative order n^(-1/10)
    width = rule.choose(Sample.of(np.random.default_rng(3).normal(size=n)))

    assert width == pytest.approx(best_for_gaussian(n), rel=noise)


@each_case("rule", [ImprovedSheatherJones(), LeastSquaresCV()])
def test_two_far_modes_do_not_blur_the_width(rule) -> None:
    n = 30_000
    best = best_for_gaussian(n // 2)  # two Gaussians that do not meet: each as if alone
    widths = [rule.choose(Sample.of(gaussian_mixture(n, apart))) for apart in (20.0, 1e5)]

    assert widths == pytest.approx([best, best], rel=0.2)
    assert Silverman().choose(Sample.of(gaussian_mixture(n, 20.0))) > 5 * best


@each_case("rule", RULES)
def test_every_rule_scales_with_the_data_and_ignores_where_they_lie(rule) -> None:
    x = np.random.default_rng(4).normal(size=3000) + 0.7 * (np.arange(3000) % 3)
    width = rule.choose(Sample.of(x))

    for scale in (1e-9, 1e6):
        assert rule.choose(Sample.of((x + 5.0) * scale)) == pytest.approx(width * scale, rel=1e-3)


@each_case("rule", [Silverman(), ImprovedSheatherJones(), LeastSquaresCV()])
def test_one_far_outlier_does_not_change_a_robust_width(rule) -> None:
    x = np.random.default_rng(6).normal(size=5000)
    clean, spoiled = rule.choose(Sample.of(x)), rule.choose(Sample.of(np.append(x, 1e9)))

    assert spoiled == pytest.approx(clean, rel=0.05)
    assert Scott().choose(Sample.of(np.append(x, 1e9))) > 1e5 * clean


@pytest.mark.slow
def test_cross_validation_is_the_minimum_of_the_sum_over_pairs() -> None:
    x = np.random.default_rng(7).gamma(3.0, size=400)
    trial = np.geomspace(0.1, 2.0, 100)
    width = LeastSquaresCV().choose(Sample.of(x))

    assert cross_validation_by_pairs(x, width) <= min(cross_validation_by_pairs(x, h) for h in trial) + 1e-6


def test_sheather_jones_solves_its_equation_written_with_pairwise_sums() -> None:
    x = np.random.default_rng(8).normal(size=300)
    squares = (x[:, None] - x).ravel() ** 2

    h = ImprovedSheatherJones().choose(Sample.of(x))

    # ||f^(s)||^2 from pairs: (-1)^s phi^(2s)(x_i - x_j; sqrt(2t)), then Botev's chain from the root's own t
    def norm2(s: int, t: float) -> float:
        u = squares / (2 * t)
        mean = (hermite(2 * s, np.sqrt(u)) * np.exp(-u / 2)).mean()
        return float((-1) ** s * mean / np.sqrt(4 * np.pi * t) / (2 * t) ** s)

    energy = norm2(7, h * h)
    for s in range(6, 1, -1):
        odd = np.prod(np.arange(1, 2 * s, 2))
        t = ((1 + 0.5 ** (s + 0.5)) / 3 * 2 * odd / (300 * np.sqrt(np.pi / 2) * energy)) ** (2 / (3 + 2 * s))
        energy = norm2(s, t)
    assert (2 * 300 * np.sqrt(np.pi) * energy) ** -0.2 == pytest.approx(h, rel=0.02)


def hermite(k: int, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.polynomial.hermite_e.hermeval(x, [0.0] * k + [1.0]))


def test_counts_on_a_grid_choose_what_their_records_choose() -> None:
    x = np.random.default_rng(9).normal(2.0, 3.0, size=100_000)
    counts, edges = np.histogram(x, 4000, (-15.0, 20.0))
    step = edges[1] - edges[0]
    from_counts = [rule.choose(Sample.of_counts(counts, edges[0] + step / 2, step)) for rule in RULES]

    assert from_counts == pytest.approx([rule.choose(Sample.of(x)) for rule in RULES], rel=0.01)


test_what_has_no_width_is_refused = refusals("ask, error, words", [
    *((lambda rule=rule: rule.choose(Sample.of(np.full(50, 3.0))), OutOfRange, "equal records have no scale")
      for rule in RULES),
    *((lambda width=width: Fixed(width), OutOfRange, "bandwidth") for width in (0.0, -1.0, np.nan, np.inf)),
    (lambda: Sample.of([1.0]), TooFewRecords, None),
    (lambda: Sample.of([1.0, np.nan, 2.0]), NotFinite, None),
    (lambda: Sample.of_counts([1, -1, 5], 0.0, 1.0), InvalidCounts, None),
    (lambda: Sample.of_counts([1, 0], 0.0, 1.0), TooFewRecords, None),
])  # fmt: skip


def test_spread_indices_stay_inside_and_have_no_period() -> None:
    at = spread_indices(10_000, 1000)

    assert at.min() >= 0
    assert at.max() < 10_000
    assert abs((at % 2).mean() - 0.5) < 0.1  # interleaved sides are both seen
    assert np.abs(np.bincount(at // 1000) - 100).max() <= 2  # sorted records are seen evenly


def test_quartiles_are_numpys_and_of_many_records_come_from_the_grid():
    for n in (2, 3, 4, 5, 6, 7, 200, 201, 202, 203):
        x = np.random.default_rng(n).normal(size=n)
        first, third = np.quantile(x, [0.25, 0.75])
        assert Sample.of(x).quartile_range == third - first

    x = np.random.default_rng(2).gamma(2.0, size=200_000)
    sample = Sample.of(x)

    assert sample.quartile_range == pytest.approx(np.subtract(*np.quantile(x, [0.75, 0.25])), rel=1e-3)
