"""Limits of two rates hold at every level, and are as close as the p-values behind them allow."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta, binom

from estimators.limits import two_rates
from estimators.limits.two_rates import CLOSE, Design, TwoRates, weighted_accuracy_lower, weighted_accuracy_upper
from tests.cases import each_case

Floats = NDArray[np.float64]


def grid_upper(x: float, n: int, y: float, m: int, prior: float, alpha: float) -> float:
    """The limit by brute force: the best of a thousand points of the border."""
    design = Design.of(TwoRates.of_guesses(x, n, y, m, prior).share, alpha)
    e = np.linspace(design.low, design.high, 1001)
    a = 1.0 if x >= n else beta.isf(np.exp(-e), x + 1.0, n - x)
    c = 1.0 if y >= m else beta.isf(np.exp(-design.other(e)), y + 1.0, m - y)
    return float(np.max(prior * a + (1.0 - prior) * c))


@pytest.mark.slow
@each_case("n, m, prior, alpha", [
    (1000, 1000, 0.5, 0.025), (100, 9900, 0.01, 0.025), (8, 300, 0.3, 2.5e-4), (60, 300, 0.9, 5e-4),
    (8, 8, 0.5, 1e-6),
])  # fmt: skip
def test_a_limit_is_that_of_the_whole_border_and_hardly_above_it(n, m, prior, alpha) -> None:
    rng = np.random.default_rng(0)
    corners = [(0, 0), (0, m), (n, 0), (n, m), (n - 1, m), (n, m - 1), (1, m - 1), (n - 0.5, 0.25)]
    pairs = corners + [(rng.integers(0, n + 1), rng.integers(0, m + 1)) for _ in range(24)]
    x, y = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    for limit, a, c in zip(weighted_accuracy_upper(x, n, y, m, prior, alpha), x, y, strict=True):
        best = grid_upper(a, n, c, m, prior, alpha)
        seen = prior * a / n + (1.0 - prior) * c / m
        assert best - 1e-9 <= limit <= best + 2.0 * CLOSE * (best - seen) + 1e-9


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5, 0.8])
@pytest.mark.parametrize(("alpha", "alone"), [(0.1, 0.1), (0.025, 0.1), (0.025, 0.4)])
def test_a_design_refuses_uniform_p_values_as_often_as_it_says(share, alpha, alone) -> None:
    design = Design.of(share, alpha, alone)
    first, second = np.random.default_rng(1).exponential(size=(2, 100_000))
    refused = (first > design.cap) | (second > design.cap) | (share * first + (1 - share) * second > design.total)

    assert refused.mean() == pytest.approx(alpha, abs=4.0 * np.sqrt(alpha / 100_000))


def ends(n: int, m: int, prior: float, alpha: float) -> tuple[Floats, Floats]:
    """Both limits of every outcome."""
    right = np.arange(n + 1.0)[:, None], n, np.arange(m + 1.0)[None, :], m
    return weighted_accuracy_lower(*right, prior, alpha), weighted_accuracy_upper(*right, prior, alpha)


@pytest.mark.slow
@each_case("n, m, prior, alpha", [
    *((*design, alpha) for design in [(8, 60, 0.3), (30, 100, 0.9), (20, 20, 0.1)] for alpha in (0.1, 0.025, 5e-4)),
    *((*design, 0.025) for design in [(40, 40, 0.5), (20, 180, 0.5), (30, 300, 0.5), (40, 40, 0.1)]),
    *((*design, 0.025) for design in [(50, 15, 0.9), (60, 140, 0.3), (150, 150, 0.1)]),
    (60, 300, 0.9, 5e-4), (8, 300, 0.3, 5e-4),  # where limits in quadrature missed 18 times as often as they said
])  # fmt: skip
def test_limits_of_two_rates_never_miss_more_often_than_their_level(n, m, prior, alpha) -> None:
    """By every outcome, over a grid of rates that is fine near 1, where limits miss most."""
    low, high = ends(n, m, prior, alpha)
    rates = [np.r_[0.005, 0.02, 0.1, 0.3, 1.0 - np.geomspace(1e-4, 0.6 * k, 24) / k, 1.0] for k in (n, m)]
    laws = [binom.pmf(np.arange(k + 1), k, of[:, None]) for k, of in zip((n, m), rates, strict=True)]

    for (a, of_a), (c, of_c) in product(*(zip(*side, strict=True) for side in zip(rates, laws, strict=True))):
        truth = prior * a + (1.0 - prior) * c
        assert of_a @ (high < truth - 1e-12) @ of_c <= alpha
        assert of_a @ (low > truth + 1e-12) @ of_c <= alpha


def test_the_largest_limit_is_that_of_the_list() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 201, 60), rng.integers(0, 901, 60)
    rates = TwoRates.of_guesses(x, 200, y, 900, 0.3)
    each = rates.upper(0.3, 0.7, 0.025)
    assert rates.largest(0.3, 0.7, 0.025).value == pytest.approx(each.max(), rel=1e-3)
    assert rates.largest(0.3, 0.7, 0.025, floor=2.0).value <= 2.0


def test_a_falling_slope_takes_the_lower_limit_of_its_rate() -> None:
    difference = float(TwoRates.of(30, 100, 40, 100, 1.0, 1.0).upper(1.0, -1.0, 0.025))
    turned = float(TwoRates.of(30, 100, 60, 100, 1.0, 1.0).upper(1.0, 1.0, 0.025)) - 1.0

    assert difference == pytest.approx(turned, abs=1e-12)
    assert difference > -0.1


@pytest.mark.parametrize("alpha", [0.025, 5e-4])
def test_a_ratio_is_refused_exactly_where_its_numerator_cannot_reach_it(alpha) -> None:
    top, bottom = (0.0, 0.3, 0.0), (0.0, 0.3, 0.7)  # precision at prior 0.3
    rates = TwoRates.of([0, 5, 40, 100], 100, [0, 3, 90, 900], 900, 0.3, 0.7)
    limits = rates.ratio_upper(top, bottom, alpha, (0.0, 1.0))

    assert limits[0] == 1.0  # 0/0: nothing is known
    for i, rho in enumerate(limits[1:], 1):
        one = TwoRates(rates.hits_a[i], rates.n_a[i], rates.hits_c[i], rates.n_c[i], rates.share)
        assert float(one.upper(0.3 * (1.0 - rho), -0.7 * rho, alpha)) <= 1e-6
        assert rho == 1.0 or float(one.upper(0.3 * (1.0 - rho + 0.01), -0.7 * (rho - 0.01), alpha)) > 0.0
    assert rates.largest_ratio(top, bottom, alpha, (0.0, 1.0), 0.3) == pytest.approx(1.0)
    few = TwoRates.of([40, 80], 100, [300, 500], 900, 0.3, 0.7)
    each = few.ratio_upper(top, bottom, alpha, (0.0, 1.0))
    assert few.largest_ratio(top, bottom, alpha, (0.0, 1.0), 0.0) == pytest.approx(each.max(), rel=2e-3)


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_the_distance_to_a_limit_shrinks_as_the_root_of_the_records_up_to_a_hundred_billion(prior) -> None:
    """By the central limit theorem; of more records the floats of a tail have lost the digits that count."""
    distances = {}
    for n in (1e8, 1e10, two_rates.MOST_RECORDS, 1e15):
        hits, rejections = 0.6 * n, 0.7 * n
        upper = float(weighted_accuracy_upper(hits, n, rejections, n, prior, 0.025))
        distances[n] = (upper - prior * 0.6 - (1.0 - prior) * 0.7) * np.sqrt(min(n, two_rates.MOST_RECORDS))

    np.testing.assert_allclose(list(distances.values()), distances[1e8], rtol=2e-3)


def test_very_many_records_take_no_more_steps_than_many(monkeypatch) -> None:
    steps = []
    rate = two_rates._rate
    monkeypatch.setattr(two_rates, "_rate", lambda *arguments: steps.append(1) or rate(*arguments))

    for n in (1e9, 1e15):
        steps.append(0)
        weighted_accuracy_upper(0.6 * n, n, 1.4 * n, 2.0 * n, 0.5, 0.025)

    few, many = steps.index(0, 1), len(steps)
    assert many - few <= few + 2


def test_whole_slopes_are_as_good_as_others() -> None:
    rates = TwoRates.of(30, 100, 40, 100, 1, 1)

    assert rates.upper(1, 1, 0.025) == rates.upper(1.0, 1.0, 0.025) == pytest.approx(0.861, abs=0.001)
