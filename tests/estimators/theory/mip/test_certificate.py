"""Certified scales: they keep eta as often as they say, whether from swaps or from draws, in worlds gone through."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mip
from estimators.theory.subsets import matrix

LINE = mip.KNorm(mip.Norm.euclid(1))
BELL = mip.Gaussian([1.0])
HALVES = matrix(6, 3, "")
DATA = np.random.default_rng(4).exponential(size=6) ** 2


def mean_swaps(generator: np.random.Generator, rounds: int) -> tuple[NDArray[np.float64], ...]:
    """Pairs of means of three of six, as ``swap_pairs`` makes them, without fitting."""
    found = mip.swap_pairs(np.mean, DATA, rounds, seed=int(generator.integers(2**31)))
    return found.before, found.after, found.record.astype(float)


def swap_eta(scale: float, noise: mip.Noise) -> float:
    """The exact bound by swaps of the worst record."""
    apart = np.abs(DATA[:, None] - DATA[None, :]) / 3.0
    return float((noise.total_variation((apart / scale).ravel()).reshape(6, 6).sum(axis=1) / 5.0).max()) / 2.0


def draw_eta(scale: float, noise: mip.Noise) -> float:
    """The exact bound by independent draws."""
    theta = HALVES @ DATA / 3.0
    return float(noise.total_variation((np.abs(theta[:, None] - theta) / scale).ravel()).mean())


def attained(scale: float, noise: mip.Noise) -> float:
    return float(mip.attained_eta(HALVES @ DATA / 3.0, HALVES, noise, scale).max())


@pytest.mark.parametrize("noise", [LINE, BELL], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 5.0])
def test_truth_is_below_swaps_and_swaps_and_draws_are_both_bounds(noise: mip.Noise, scale: float) -> None:
    assert attained(scale, noise) <= swap_eta(scale, noise) + 1e-12
    assert attained(scale, noise) <= draw_eta(scale, noise) + 1e-12


@pytest.mark.parametrize("noise", [LINE, BELL], ids=["laplace", "gaussian"])
def test_the_bound_by_draws_is_attained_where_the_parameter_tells_membership(noise: mip.Noise) -> None:
    rows = np.array([[True, False], [False, True]])

    truth = mip.attained_eta([1.0, -1.0], rows, noise, 3.0).max()

    by_draws = noise.total_variation(np.array([2.0 / 3.0]))[0] / 2.0  # half of the pairs agree
    assert truth == pytest.approx(by_draws, rel=1e-5)


def test_a_scale_chosen_on_the_swaps_themselves_is_too_small_no_more_often_than_stated() -> None:
    generator, runs, eta, confidence = np.random.default_rng(5), 100, 0.2, 0.8

    scales = [
        mip.Sizes.of_swaps(BELL, *mean_swaps(generator, 40)).scale(eta, confidence) for _ in range(runs)
    ]

    assert np.mean([swap_eta(scale, BELL) > eta for scale in scales]) <= 1 - confidence
    assert all(attained(scale, BELL) <= eta for scale in scales)
    assert np.median([swap_eta(scale, BELL) for scale in scales]) > 0.6 * eta  # and not for nothing


def test_a_scale_chosen_on_the_draws_themselves_is_too_small_no_more_often_than_stated() -> None:
    generator, runs, eta, confidence = np.random.default_rng(6), 200, 0.2, 0.8
    theta = HALVES @ DATA / 3.0

    scales = [
        mip.Sizes.of_draws(LINE, theta[generator.integers(20, size=120)]).scale(eta, confidence)
        for _ in range(runs)
    ]

    assert np.mean([draw_eta(scale, LINE) > eta for scale in scales]) <= 1 - confidence
    assert np.median([draw_eta(scale, LINE) for scale in scales]) > 0.7 * eta


def test_draws_certify_within_a_seventh_of_what_the_moment_bound_would_say_if_it_knew_the_moment() -> None:
    """Gaussian parameters: E|theta - theta'|/(2 s) is 2/sqrt(pi) of sigma/(2 s), to first order."""
    draws = np.random.default_rng(7).normal(size=200_000)

    ratio = mip.Sizes.of_draws(LINE, draws).scale(0.01) / mip.linear_scale(0.01, 1.0)

    assert 1.12 < ratio < 1.14  # 2/sqrt(pi) is 1.128


def test_eta_and_scale_are_each_others_inverse_and_fall_together() -> None:
    sizes = mip.Sizes.of_swaps(LINE, *mean_swaps(np.random.default_rng(8), 200))
    scales = [sizes.scale(eta) for eta in (0.05, 0.1, 0.2, 0.4)]

    assert scales == sorted(scales, reverse=True)
    for eta, scale in zip((0.05, 0.1, 0.2, 0.4), scales, strict=True):
        assert sizes.eta(scale) == pytest.approx(eta, rel=1e-5)
        assert sizes.eta(scale) <= eta
        assert sizes.scale(eta, 0.99) > scale


def test_too_few_pairs_certify_no_scale_and_say_how_many_it_takes() -> None:
    sizes = mip.Sizes.of_swaps(LINE, *mean_swaps(np.random.default_rng(9), 10))

    assert sizes.scale(0.01) == inf
    assert sizes.fewest == 10
    assert sizes.needed(0.01) > 100
    assert sizes.eta(0.001) <= 0.5


def test_a_parameter_that_moves_without_noise_is_never_certified() -> None:
    noise = mip.Gaussian([1.0, 0.0])
    before, after = np.zeros((300, 2)), np.tile([0.1, 0.1], (300, 1))

    assert mip.Sizes.of_swaps(noise, before, after, np.zeros(300)).scale(0.1) == inf


def test_parameters_that_never_move_need_no_noise() -> None:
    rows = np.ones((300, 1))

    assert mip.Sizes.of_swaps(LINE, rows, rows, np.zeros(300)).scale(0.1) == 0.0


def test_records_may_have_any_labels() -> None:
    before, after, record = mean_swaps(np.random.default_rng(10), 60)
    names = np.array([f"patient {int(r)}" for r in record])

    assert mip.Sizes.of_swaps(BELL, before, after, names).scale(0.1) == pytest.approx(
        mip.Sizes.of_swaps(BELL, before, after, record).scale(0.1)
    )


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(DimensionMismatch, match="as many rows"):
        mip.Sizes.of_swaps(LINE, [1.0, 2.0], [1.0], [0, 1])
    with pytest.raises(DimensionMismatch, match="the noise has 1"):
        mip.Sizes.of_draws(LINE, [[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(TooFewRecords):
        mip.Sizes.of_draws(LINE, [1.0])
    with pytest.raises(TooFewRecords):
        mip.Sizes.of_draws(LINE, [])
    with pytest.raises(NotFinite) as caught:
        mip.Sizes.of_draws(LINE, [1.0, float("inf"), 2.0])
    assert caught.value.index == 1
    with pytest.raises(OutOfRange, match="need numbers"):
        mip.Sizes.of_draws(LINE, ["a", "b"])
    with pytest.raises(OutOfRange):
        mip.Sizes.of_draws(LINE, [1.0, 2.0]).scale(0.7)
