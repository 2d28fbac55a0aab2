"""The wrapper: its shapes, its secrets, and an attack of our own that never beats what is certified."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mip

Floats = NDArray[np.float64]
POINTS = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]


def ols(rows: Floats) -> Floats:
    """Regression of the last column on the others."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(rows)), rows[:, :-1]]), rows[:, -1], rcond=None)[0]


def covariance(rows: Floats) -> Floats:
    return np.cov(rows.T)


FITS = {"mean": lambda rows: rows[:, 0].mean(), "median": lambda rows: np.median(rows, axis=0), "ols": ols}
METHODS = {
    "swaps": mip.Swaps(rounds=128),
    "swaps, laplace": mip.Swaps(rounds=128, shape=mip.moment_laplace),
    "draws": mip.Draws(),
    "moment": mip.Moment(),
    "moment, one": mip.Moment(shape=mip.one_laplace),
    "paper": mip.Paper(),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("method", METHODS)
def test_an_attack_of_our_own_never_beats_eta(fit: str, method: str) -> None:
    eta = 0.15
    released = mip.privatize(FITS[fit], POINTS, eta, seed=3, method=METHODS[method])

    found = mip.attack(FITS[fit], POINTS, released.noise, released.scale, seed=4, shadows=400, releases=400)

    assert found.lower <= 0.5 + eta
    assert found.baseline == 0.5


def test_without_noise_to_speak_of_the_same_attack_finds_everybody() -> None:
    released = mip.privatize(FITS["mean"], POINTS[:8], 0.1, seed=3)

    found = mip.attack(FITS["mean"], POINTS[:8], released.noise, released.scale / 1e6, seed=4)

    assert found.lower > 0.95  # there are but 70 halves


def test_the_attack_comes_near_what_is_attained() -> None:
    from estimators.theory.subsets import matrix

    rows, data, noise = matrix(8, 4, ""), POINTS[:8, 0], mip.Gaussian([1.0])
    truth = mip.attained_eta(rows @ data / 4, rows, noise, 0.3)

    found = mip.attack(np.mean, data, noise, 0.3, seed=5, shadows=2000, releases=8000)

    np.testing.assert_allclose(found.accuracy - 0.5, truth, atol=0.025)
    assert found.eta <= truth.max()


def test_swaps_add_less_noise_than_draws_and_both_far_less_than_the_paper() -> None:
    big = np.random.default_rng(1).normal(size=100)
    deviation = {
        name: float(mip.privatize(np.mean, big, 0.1, seed=1, method=METHODS[name]).deviation)
        for name in ("swaps", "draws", "moment", "paper")
    }

    assert deviation["swaps"] < deviation["moment"] < deviation["draws"] < deviation["paper"] / 100


@pytest.mark.parametrize("shape", [(), (3,), (3, 3)])
def test_parameters_keep_their_shape(shape: tuple[int, ...]) -> None:
    fit = {(): lambda r: r.mean(), (3,): lambda r: r.mean(axis=0), (3, 3): covariance}[shape]

    released = mip.privatize(fit, POINTS, 0.2, seed=1, method=mip.Moment())

    assert released.parameters.shape == released.deviation.shape == shape
    assert released.noise.dimension == int(np.prod(shape))


def test_the_certified_say_so_and_the_estimated_do_not() -> None:
    for name, method in METHODS.items():
        released = mip.privatize(np.mean, POINTS[:, 0], 0.2, seed=2, method=method, confidence=0.9)

        certified = name.startswith(("swaps", "draws"))
        assert released.certified is certified
        assert released.confidence == (0.9 if certified else None)
        assert released.guarantee.finite_sample is certified
        assert released.accuracy == 0.7
        assert released.method == method.name


def test_nothing_of_the_half_is_kept() -> None:
    released = mip.privatize(np.mean, POINTS[:, 0], 0.2, seed=2)

    assert {each.name for each in fields(released)} == {
        "parameters", "noise", "scale", "eta", "confidence", "method", "guarantee"
    }  # fmt: skip


def test_the_seed_alone_decides() -> None:
    first, again, other = (
        mip.privatize(np.mean, POINTS[:, 0], 0.2, seed=s, method=mip.Draws()) for s in (2, 2, 3)
    )

    assert first.parameters == again.parameters != other.parameters
    assert first.scale == again.scale != other.scale


def test_the_scale_does_not_depend_on_the_released_half() -> None:
    """It comes from a stream of its own: a fit that notes its training sets sees the released one last."""
    seen: list[tuple[float, ...]] = []

    def noting(rows: Floats) -> float:
        seen.append(tuple(sorted(rows)))
        return float(rows.mean())

    released = mip.privatize(noting, POINTS[:, 0], 0.2, seed=2, method=mip.Moment(draws=8))
    calls = len(seen)
    mip.privatize(noting, POINTS[:, 0], 0.4, seed=2, method=mip.Moment(draws=8))

    assert calls == 9
    assert seen[8] == seen[17]
    assert released.scale > 0.0


def test_a_fit_that_draws_numbers_itself_and_minds_the_order_is_as_welcome() -> None:
    generator = np.random.default_rng(5)

    def walk(rows: Floats) -> float:
        value = 0.0
        for row in rows:
            value += 0.2 * (row - value)
        return value + 0.01 * float(generator.normal())

    released = mip.privatize(walk, POINTS[:, 0], 0.2, seed=2, method=mip.Swaps(rounds=64))

    assert released.certified


def test_an_odd_number_of_records_has_a_baseline_above_one_half() -> None:
    released = mip.privatize(np.mean, POINTS[:7, 0], 0.2, seed=2)

    found = mip.attack(np.mean, POINTS[:7, 0], released.noise, released.scale, seed=1)

    assert found.baseline == pytest.approx(4 / 7)
    assert found.eta <= 0.2


def test_every_record_gets_one_swap_a_round() -> None:
    pairs = mip.swap_pairs(np.mean, POINTS[:, 0], 5, seed=0)

    assert np.bincount(pairs.record).tolist() == [5] * 30
    assert pairs.before.shape == pairs.after.shape == (150, 1)


def test_pairs_are_a_half_with_the_record_and_the_same_half_without() -> None:
    """Powers of two: a sum tells the set."""
    data = 2.0 ** np.arange(10)

    pairs = mip.swap_pairs(np.sum, data, 30, seed=0)

    for before, after, record in zip(pairs.before[:, 0], pairs.after[:, 0], pairs.record, strict=True):
        with_it, without = int(before), int(after)
        assert with_it >> record & 1 == 1
        assert without >> record & 1 == 0
        assert (with_it ^ without).bit_count() == 2
        assert with_it.bit_count() == 5


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(OutOfRange, match="eta"):
        mip.privatize(np.mean, POINTS[:, 0], 0.5, seed=0)
    with pytest.raises(TooFewRecords, match="data"):
        mip.privatize(np.mean, [1.0], 0.1, seed=0)
    with pytest.raises(TooFewRecords, match="rounds: got 4 pairs a record, need at least"):
        mip.privatize(np.mean, POINTS[:, 0], 0.1, seed=0, method=mip.Swaps(rounds=4))
    with pytest.raises(OutOfRange, match="nothing to hide"):
        mip.privatize(len, POINTS, 0.1, seed=0)
    with pytest.raises(NotFinite, match="fit"):
        mip.privatize(lambda rows: np.nan, POINTS, 0.1, seed=0)
    with pytest.raises(TooFewRecords, match="fit"):
        mip.privatize(lambda rows: [], POINTS, 0.1, seed=0)
    with pytest.raises(DimensionMismatch, match="fixed shape"):
        mip.privatize(lambda rows: rows[rows[:, 0] > 0, 0], POINTS, 0.1, seed=0)
    with pytest.raises(OutOfRange, match="seed"):
        mip.privatize(np.mean, POINTS[:, 0], 0.1, seed=-1)
