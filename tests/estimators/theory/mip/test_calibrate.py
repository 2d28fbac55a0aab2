"""From fits made elsewhere to every calibration side by side."""

from math import inf

import numpy as np
import pytest

from estimators.errors import OutOfRange, TooFewRecords
from estimators.theory import mip
from estimators.theory.mip.calibrate import ALSO, CERTIFIED, ESTIMATED, Calibrator, Fits, bounds_of

DATA = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 2.0, 0.5, 1.0]
DRAWS = mip.fitted_draws(lambda rows: rows.mean(axis=0), DATA, 400, seed=1)
PAIRS = mip.swap_pairs(lambda rows: rows.mean(axis=0), DATA, 100, seed=2)
BOTH = Fits.of(DRAWS, PAIRS.before, PAIRS.after, PAIRS.record)


def test_all_ways_are_there_certified_ones_told_from_estimates_and_what_is_refuted_never_the_tightest():
    calibrator = Calibrator.of(BOTH)
    found = calibrator.calibrations("ball", mip.moment_laplace(calibrator.spread), 0.1)

    assert [(each.name, each.certified) for each in found] == [
        ("swaps", True), ("draws", True), ("moment", False), ("moment_tanh", False), ("moment_linear", False),
        ("theorem_9", False), ("corollary_10", False), ("corollary_10_printed", False),
    ]  # fmt: skip
    assert [each.name for each in found if not each.proven] == ["corollary_10_printed"]
    assert "independent of the pairs" in found[0].assumes

    calibrator = Calibrator.of(BOTH)
    bounds = bounds_of(calibrator.calibrations("ball", mip.moment_laplace(calibrator.spread), 0.49), ("swaps", "ball"))

    assert {bound.quantity for bound in bounds} == {CERTIFIED, ALSO, ESTIMATED}
    assert [bound.name for bound in bounds if bound.tightest] == ["swaps_ball", "moment_ball"]


def test_of_several_certificates_the_one_chosen_beforehand_is_marked_though_another_came_out_smaller():
    """The least of several random certificates misses more often than each: nobody is led to take it."""
    calibrator = Calibrator.of(BOTH)
    found = calibrator.calibrations("bell", mip.Gaussian(calibrator.spread), 0.1)
    bounds = {bound.name: bound for bound in bounds_of(found, ("draws", "bell"))}

    assert bounds["swaps_bell"].value < bounds["draws_bell"].value
    assert bounds["draws_bell"].tightest
    assert not bounds["swaps_bell"].tightest
    assert (bounds["draws_bell"].quantity, bounds["swaps_bell"].quantity) == (CERTIFIED, ALSO)
    assert "chosen before looking at the fits" in bounds["draws_bell"].assumes


def test_the_spread_comes_from_draws_that_certify_nothing_and_is_the_unit_of_noises():
    found, fresh = BOTH.shape(None, 2.0)

    np.testing.assert_array_equal(fresh, DRAWS[133:])
    np.testing.assert_allclose(found, mip.spread_of_draws(DRAWS[:133]))
    spread, every = BOTH.shape([1.0, 2.0, 3.0, 4.0], 2.0)  # given, it leaves all draws to the certificate
    assert every is BOTH.draws
    assert spread.tolist() == [1.0, 2.0, 3.0, 4.0]

    calibrator = Calibrator.of(BOTH)
    bell = mip.Gaussian(calibrator.spread)

    assert calibrator.relative(bell, 3.0) == pytest.approx(3.0)
    assert calibrator.relative(bell, inf) == inf
    ball = mip.moment_laplace(calibrator.spread)
    x = ball.sample(3.0, 200_000, np.random.default_rng(0)) / calibrator.spread
    assert calibrator.relative(ball, 3.0) == pytest.approx(np.sqrt((x**2).mean()), rel=0.01)


def test_the_noise_of_swaps_keeps_eta_against_our_own_attack() -> None:
    calibrator = Calibrator.of(BOTH)
    bell = mip.Gaussian(calibrator.spread)
    scale = calibrator.scales(bell)["swaps"](0.1)
    found = mip.attack(lambda rows: rows.mean(axis=0), DATA, bell, scale, seed=3, shadows=400, releases=500)

    assert found.eta <= 0.1


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(TooFewRecords, match="all three"):
        Fits.of(before=[1.0, 2.0], after=[1.0, 2.0])
    with pytest.raises(TooFewRecords, match="need draws"):
        Fits.of()
    with pytest.raises(OutOfRange, match="3 numbers for 4"):
        Calibrator.of(BOTH, [1.0, 1.0, 1.0])
    with pytest.raises(OutOfRange, match="moment"):
        Calibrator.of(Fits.of(DRAWS), None, 0.5)
