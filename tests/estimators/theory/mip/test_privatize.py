"""The wrapper: its shapes, its secrets, and an attack of our own that never beats what is certified."""

from dataclasses import fields

import numpy as np
import pytest
from numpy.typing import NDArray

from estimators.errors import DimensionMismatch, NotFinite, OutOfRange, TooFewRecords
from estimators.theory import mip
from estimators.theory.mip.refits import Purpose, root_of, stream
from estimators.theory.subsets import matrix
from tests.cases import each_case, refusals

Floats = NDArray[np.float64]
POINTS = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 10.0, 0.1]


def ols(rows: Floats) -> Floats:
    """Regression of the last column on the others."""
    return np.linalg.lstsq(np.column_stack([np.ones(len(rows)), rows[:, :-1]]), rows[:, -1], rcond=None)[0]


def covariance(rows: Floats) -> Floats:
    return np.cov(rows.T)


FITS = {"mean": lambda rows: rows[:, 0].mean(), "median": lambda rows: np.median(rows, axis=0), "ols": ols}
METHODS = {
    "swaps": mip.Swaps(rounds=128), "swaps, laplace": mip.Swaps(rounds=128, shape=mip.moment_laplace),
    "draws": mip.Draws(), "moment": mip.Moment(), "moment, one": mip.Moment(shape=mip.one_laplace),
    "paper": mip.Paper(),
}  # fmt: skip


@pytest.mark.slow
@each_case(
    "fit, method",
    *(("mean", method) for method in METHODS),
    *(("median", method) for method in ("swaps", "draws")),
    *(("ols", method) for method in ("swaps, laplace", "moment")),
)
def test_an_attack_of_our_own_never_beats_eta(fit, method) -> None:
    released = mip.privatize(FITS[fit], POINTS, 0.15, seed=3, method=METHODS[method])
    found = mip.attack(FITS[fit], POINTS, released.noise, released.scale, seed=4, shadows=300, releases=300)

    assert found.lower <= 0.5 + 0.15
    assert found.baseline == 0.5


@pytest.mark.slow
def test_the_attack_comes_near_what_is_attained_and_without_noise_to_speak_of_finds_everybody():
    rows, data, noise = matrix(8, 4, ""), POINTS[:8, 0], mip.Gaussian([1.0])
    truth = mip.attained_eta(rows @ data / 4, rows, noise, 0.3)
    found = mip.attack(np.mean, data, noise, 0.3, seed=5, shadows=1000, releases=6000)

    np.testing.assert_allclose(found.accuracy - 0.5, truth, atol=0.025)
    assert found.eta <= truth.max()

    released = mip.privatize(FITS["mean"], POINTS[:8], 0.1, seed=3)
    found = mip.attack(FITS["mean"], POINTS[:8], released.noise, released.scale / 1e6, seed=4)

    assert found.lower > 0.95  # there are but 70 halves


def test_swaps_add_less_noise_than_draws_and_both_far_less_than_the_paper() -> None:
    big = np.random.default_rng(1).normal(size=100)
    deviation = {
        name: float(mip.privatize(np.mean, big, 0.1, seed=1, method=METHODS[name]).deviation)
        for name in ("swaps", "draws", "moment", "paper")
    }

    assert deviation["swaps"] < deviation["moment"] < deviation["draws"] < deviation["paper"] / 100


@each_case("shape", [(), (3,), (3, 3)])
def test_parameters_keep_their_shape(shape) -> None:
    fit = {(): lambda r: r.mean(), (3,): lambda r: r.mean(axis=0), (3, 3): covariance}[shape]
    released = mip.privatize(fit, POINTS, 0.2, seed=1, method=mip.Moment())

    assert released.parameters.shape == released.deviation.shape == shape
    assert released.noise.dimension == int(np.prod(shape))


@pytest.mark.slow
def test_the_certified_say_so_the_estimated_do_not_and_nothing_of_the_half_is_kept():
    for name, method in METHODS.items():
        released = mip.privatize(np.mean, POINTS[:, 0], 0.2, seed=2, method=method, confidence=0.9)

        certified = name.startswith(("swaps", "draws"))
        assert released.certified is certified
        assert released.confidence == (0.9 if certified else None)
        assert released.guarantee.finite_sample is certified
        assert (released.baseline, released.accuracy, released.method) == (0.5, 0.7, method.name)

    released = mip.privatize(np.mean, POINTS[:, 0], 0.2, seed=2)

    assert {each.name for each in fields(released)} == {
        "parameters", "noise", "scale", "eta", "baseline", "confidence", "method", "guarantee"
    }  # fmt: skip


def test_the_scale_does_not_depend_on_the_released_half() -> None:
    """It comes from a stream of its own: a fit that notes its training sets sees the released one last."""
    seen: list[tuple[float, ...]] = []

    def noting(rows: Floats) -> float:
        seen.append(tuple(sorted(rows)))
        return float(rows.mean())

    released = mip.privatize(noting, POINTS[:, 0], 0.2, seed=2, method=mip.Moment(draws=8))
    calls = len(seen)
    mip.privatize(noting, POINTS[:, 0], 0.4, seed=2, method=mip.Moment(draws=8))

    assert calls == 10  # one for the shape, eight, and the one that is released
    assert seen[9] == seen[19]
    assert released.scale > 0.0


def test_a_fit_that_draws_numbers_itself_and_minds_the_order_is_as_welcome(rng) -> None:
    def walk(rows: Floats) -> float:
        value = 0.0
        for row in rows:
            value += 0.2 * (row - value)
        return value + 0.01 * float(rng.normal())

    assert mip.privatize(walk, POINTS[:, 0], 0.2, seed=2, method=mip.Swaps(rounds=64)).certified


def test_an_odd_number_of_records_has_a_baseline_above_one_half() -> None:
    released = mip.privatize(np.mean, POINTS[:7, 0], 0.2, seed=2)
    found = mip.attack(np.mean, POINTS[:7, 0], released.noise, released.scale, seed=1)

    assert released.baseline == found.baseline == pytest.approx(4 / 7)
    assert released.accuracy == pytest.approx(4 / 7 + 0.2)
    assert found.eta <= 0.2


@each_case("noise", [mip.Gaussian([1.0]), mip.KNorm(mip.Norm.euclid(1))])
@each_case("n", [3, 5, 7])
def test_of_an_odd_number_of_records_eta_is_above_guessing_that_all_are_out(n, noise) -> None:
    """Every half gone through: the gain on (n+1)/(2n) is below half of the total variation that is bounded."""
    rows, data = matrix(n, n // 2, ""), np.random.default_rng(n).normal(size=n) ** 3
    theta, scale = rows @ data / (n // 2), 0.5
    grid = np.linspace(theta.min() - 20.0, theta.max() + 20.0, 40_001)
    density = np.exp(noise.log_density(np.abs(grid[None, :] - theta[:, None]) / scale))
    density /= density.sum(axis=1, keepdims=True)
    pairs = noise.total_variation((np.abs(theta[:, None] - theta) / scale).ravel()).mean()
    sigma = float(theta.std())

    for record in rows.T:
        joint = [density[side].sum(axis=0) / len(rows) for side in (record, ~record)]
        gain = np.maximum(*joint).sum() - (n - n // 2) / n

        apart = (np.abs(theta[record][:, None] - theta[~record]) / scale).ravel()
        assert gain <= noise.total_variation(apart).mean() / 2.0 + 1e-6
        assert gain <= pairs + 1e-6
        assert gain <= mip.moment_eta(scale, noise, sigma) + 1e-6


def test_the_seed_alone_decides_and_without_one_the_operating_system_gives_128_bits() -> None:
    first, again, other, *unseeded = (
        mip.privatize(np.mean, LINE, 0.2, seed=s, method=mip.Draws()) for s in (2, 2, 3, None, None)
    )

    assert (first.parameters, first.scale) == (again.parameters, again.scale)
    assert first.parameters != other.parameters
    assert first.scale != other.scale
    assert unseeded[0].parameters != unseeded[1].parameters
    assert int(root_of(None).entropy).bit_length() > 96
    assert root_of(None).entropy != root_of(None).entropy


def test_pairs_are_a_half_with_the_record_and_without_and_draws_of_one_seed_share_no_training_set():
    """Powers of two: a sum tells the set."""
    data = 2.0 ** np.arange(10)
    pairs = mip.swap_pairs(np.sum, data, 30, seed=0)

    assert np.bincount(pairs.record).tolist() == [30] * 10  # one swap a round for every record
    assert pairs.before.shape == pairs.after.shape == (300, 1)
    for before, after, record in zip(pairs.before[:, 0], pairs.after[:, 0], pairs.record, strict=True):
        with_it, without = int(before), int(after)
        assert with_it >> record & 1 == 1
        assert without >> record & 1 == 0
        assert (with_it ^ without).bit_count() == 2
        assert with_it.bit_count() == 5

    # Powers of two: a sum tells the set, and of 184,756 hardly one comes twice by itself.
    data = 2.0 ** np.arange(20)
    draws = set(mip.fitted_draws(np.sum, data, 20, seed=1)[:, 0])
    pairs = mip.swap_pairs(np.sum, data, 20, seed=1)

    assert not draws & set(pairs.before[:, 0])
    assert not draws & set(pairs.after[:, 0])
    drawn = [stream(root_of(1), purpose).random() for purpose in Purpose]
    assert len(set(drawn)) == len(Purpose)


def returned(value: object, eta: float = 0.1) -> object:
    """The release of a fit that returns this whatever it is given."""
    return mip.privatize(lambda rows: value, POINTS, eta, seed=0)


LINE = POINTS[:, 0]


test_what_cannot_be_done_is_said = refusals("ask, error, words", [
    (lambda: mip.privatize(np.mean, LINE, 0.5, seed=0), OutOfRange, "eta"),
    (lambda: mip.privatize(np.mean, [1.0], 0.1, seed=0), TooFewRecords, "data"),
    (lambda: mip.privatize(np.mean, LINE, 0.1, seed=0, method=mip.Swaps(rounds=4)), TooFewRecords,
     "rounds: got 4 pairs for each record, need at least"),
    (lambda: mip.privatize(len, POINTS, 0.1, seed=0), OutOfRange, "all are equal"),
    (lambda: mip.privatize(lambda rows: rows[rows[:, 0] > 0, 0], POINTS, 0.1, seed=0), DimensionMismatch,
     "fixed shape"),
    (lambda: mip.privatize(np.mean, [[1.0], [2.0, 3.0]], 0.1, seed=0), DimensionMismatch, "one shape"),
    (lambda: mip.privatize(np.mean, LINE, 0.1, seed=-1), OutOfRange, "seed"),
    (lambda: returned(np.nan), NotFinite, "fit: "),
    (lambda: returned([]), TooFewRecords, "fit: "),
    (lambda: returned(1j), OutOfRange, "fit: "),
    (lambda: returned(np.array([1.0 + 1j, 2.0])), OutOfRange, "fit: "),
    (lambda: returned("1.5"), OutOfRange, "fit: "),
    (lambda: returned(["a", "b"]), OutOfRange, "fit: "),
    (lambda: returned(None), OutOfRange, "fit: "),
    (lambda: returned([[1.0], [2.0, 3.0]]), DimensionMismatch, "fit: "),
    (lambda: returned(np.array(["2020-01-01"], dtype="datetime64[D]")), OutOfRange, "fit: "),
])  # fmt: skip


def test_a_fit_whose_shape_depends_on_the_half_is_refused_though_its_size_does_not() -> None:
    """Only the released half has record 0: as many numbers, in another shape, would tell so whatever the noise."""
    data = np.arange(30.0)

    def telling(rows: Floats) -> Floats:
        found = np.array([rows.mean(), rows.max()])
        return found[None, :] if 0.0 in rows else found

    for seed in range(4):
        with pytest.raises(DimensionMismatch, match="fixed shape"):
            mip.privatize(telling, data, 0.2, seed=seed, method=mip.Moment(draws=8))
        with pytest.raises(DimensionMismatch, match="fixed shape"):
            mip.fitted_draws(telling, data, 20, seed=seed)
        with pytest.raises(DimensionMismatch, match="fixed shape"):
            mip.swap_pairs(telling, data, 1, seed=seed)
