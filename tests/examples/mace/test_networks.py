"""The networks behind the figures: their gradients against differences, Adam against another's, promises by hand."""

from math import sqrt

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.neural_network._stochastic_optimizers import AdamOptimizer

from estimators.theory.accounting import NoisySteps
from estimators.theory.dp.promise import Adjacency, GaussianDp
from examples.mace import gan
from examples.mace.gan import CLIP, Size, classifier, dp_cgan, js_gan, noise_multiplier, priv_gan, wgan_gp
from examples.mace.network import SLOPE, Adam, Floats, Network

SMALL = Size(epochs=20, discriminator=(16,), generator=(16,), noise=4)
STEP = 1e-6


def doubled(widths: tuple[int, ...], tanh: bool = False, seed: int = 0) -> Network:
    """A network in double precision, with shifts that are not 0, so that differences can be trusted."""
    rng = np.random.default_rng(seed)
    network = Network(rng, widths, tanh)
    network.weights = [each.astype(np.float64) for each in network.weights]
    network.shifts = [rng.normal(size=each.shape) for each in network.shifts]
    return network


def differences(network: Network, value: object) -> list[Floats]:
    """Of ``value()`` by each parameter of the network."""
    gradient = []
    for array in network.parameters:
        slopes = np.zeros_like(array)
        for at in np.ndindex(array.shape):
            before = array[at]
            array[at] = before + STEP
            above = value()  # type: ignore[operator]
            array[at] = before - STEP
            slopes[at] = (above - value()) / (2.0 * STEP)  # type: ignore[operator]
            array[at] = before
        gradient.append(slopes)
    return gradient


def by_hand(network: Network, x: Floats) -> Floats:
    for i, (weights, shift) in enumerate(zip(network.weights, network.shifts, strict=True)):
        x = x @ weights + shift
        if i < len(network.weights) - 1:
            x = np.where(x > 0, x, SLOPE * x)
    return np.tanh(x) if network.tanh else x


@pytest.mark.parametrize("tanh", [False, True])
def test_a_gradient_is_that_of_differences(tanh: bool) -> None:
    network, rng = doubled((3, 5, 4, 2), tanh), np.random.default_rng(1)
    x, weight = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))

    layers = network.layers(x)
    slopes = network.slopes(layers, weight)

    assert layers[-1] == pytest.approx(by_hand(network, x))
    numeric = differences(network, lambda: float((weight * by_hand(network, x)).sum()))
    for ours, other in zip(network.gradient(layers, slopes), numeric, strict=True):
        assert ours == pytest.approx(other, rel=1e-5, abs=1e-7)
    for at in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[at] = STEP
        rise = (weight * (by_hand(network, x + moved) - by_hand(network, x - moved))).sum() / (2.0 * STEP)
        assert slopes[0][at] == pytest.approx(rise, rel=1e-5, abs=1e-7)


def test_the_penalty_is_of_the_slopes_by_records_and_its_gradient_that_of_differences() -> None:
    network, x = doubled((3, 6, 5, 1)), np.random.default_rng(2).normal(size=(4, 3))

    def penalty() -> float:
        total = 0.0
        for record in x:
            shifted = np.vstack([record + STEP * np.eye(3), record - STEP * np.eye(3)])
            answers = by_hand(network, shifted)[:, 0]
            total += (np.linalg.norm((answers[:3] - answers[3:]) / (2.0 * STEP)) - 1.0) ** 2
        return total / len(x)

    value, gradient = network.penalty_gradient(x)

    assert value == pytest.approx(penalty(), rel=1e-6)
    numeric = differences(network, lambda: network.penalty_gradient(x)[0])
    for ours, other in zip(gradient, numeric, strict=True):
        assert ours == pytest.approx(other, rel=1e-4, abs=1e-6)


def test_no_record_moves_a_clipped_gradient_by_more_than_the_norm() -> None:
    network, rng = doubled((3, 5, 1)), np.random.default_rng(3)
    x = rng.normal(scale=10.0, size=(20, 3))

    def clipped(records: Floats, norm: float) -> Floats:
        layers = network.layers(records)
        slopes = network.slopes(layers, expit(layers[-1]) - 1.0)
        return np.concatenate([each.ravel() for each in network.clipped_gradient(layers, slopes, norm)])

    def one_by_one(records: Floats, norm: float) -> Floats:
        total = 0.0
        for record in records:
            layers = network.layers(record[None])
            slopes = network.slopes(layers, expit(layers[-1]) - 1.0)
            own = np.concatenate([each.ravel() for each in network.gradient(layers, slopes)])
            total += own * min(1.0, norm / np.linalg.norm(own))
        return total

    for norm_of in (0.1, 1.0, 1e9):
        assert clipped(x, norm_of) == pytest.approx(one_by_one(x, norm_of), rel=1e-9)
    for i in range(len(x)):
        assert np.linalg.norm(clipped(x, 0.1) - clipped(np.delete(x, i, 0), 0.1)) <= 0.1 * (1 + 1e-9)


def test_adam_moves_as_scikit_learns_does() -> None:
    network, rng = doubled((3, 4, 1)), np.random.default_rng(4)
    theirs = [each.copy() for each in network.parameters]
    optimizer = AdamOptimizer(theirs, learning_rate_init=0.01, beta_1=0.5)
    ours = Adam(network, 0.01)

    for _ in range(20):
        gradient = [rng.normal(size=each.shape) for each in theirs]
        optimizer.update_params(theirs, gradient)
        ours.step(gradient)

    for one, other in zip(network.parameters, theirs, strict=True):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-5)


# --- models ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def records() -> Floats:
    return np.random.default_rng(5).uniform(-1.0, 1.0, (60, 6))


@pytest.mark.parametrize("make", [js_gan, wgan_gp, lambda *a: priv_gan(*a)[1]], ids=["js", "wgan", "priv"])
def test_a_model_is_its_records_its_size_and_its_seed(make: object, records: Floats) -> None:
    first, again, other = (make(records, SMALL, seed) for seed in (0, 0, 1))  # type: ignore[operator]

    assert np.array_equal(first.logits(records), again.logits(records))
    assert not np.array_equal(first.logits(records), other.logits(records))
    synthetic = first.sample(np.random.default_rng(0), 500)
    assert synthetic.shape == (500, 6)
    assert np.abs(synthetic).max() <= 1.0


@pytest.mark.slow
def test_a_gan_learns_where_records_lie() -> None:
    blob = np.random.default_rng(6).normal([0.6, -0.4], 0.05, (200, 2))

    model = js_gan(blob, Size(epochs=300, discriminator=(32,), generator=(32,), noise=4, rate=1e-3), 0)

    assert np.abs(model.sample(np.random.default_rng(1), 2000).mean(axis=0) - [0.6, -0.4]).max() < 0.2


def test_a_classifier_answers_by_its_two_units_alone(records: Floats) -> None:
    labels = (records[:, 0] > 0).astype(np.float64)

    model = classifier(records, labels, Size(epochs=400, discriminator=(16,)), 0)

    units, network = model.units(records), model.network
    assert units.shape == (60, 2)
    again = expit(units @ network.weights[-1][:, 0] + network.shifts[-1][0])
    assert model.answers(records) == pytest.approx(again, rel=1e-6)
    assert ((model.answers(records) > 0.5) == (labels > 0.5)).mean() > 0.95


# --- the promise ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 10.0])
def test_the_noise_keeps_the_promise(epsilon: float) -> None:
    multiplier, mu = noise_multiplier(epsilon, 1e-5, 200)

    delta = norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon) * norm.cdf(-epsilon / mu - mu / 2)
    assert delta == pytest.approx(1e-5, rel=1e-4)  # Balle and Wang 2018
    assert mu == pytest.approx(2.0 * sqrt(200) / multiplier)  # 200 sums that move by 2 at most, noise each
    promise = NoisySteps(multiplier, 200).promise(Adjacency.REPLACE)
    assert isinstance(promise, GaussianDp)
    assert promise.mu == pytest.approx(mu)


def test_records_reach_the_model_through_the_noised_sum_alone(records: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = np.ones((60, 1))
    real = [dp_cgan(each, labels, SMALL, 0, 1.0, 10).logits(records, labels) for each in (records, -records)]
    assert not np.array_equal(*real)

    def nothing(network: Network, layers: object, slopes: object, norm_of: float) -> list[Floats]:
        assert norm_of == CLIP
        return [np.zeros_like(each) for each in network.parameters]

    monkeypatch.setattr(gan.Network, "clipped_gradient", nothing)

    blind = [dp_cgan(each, labels, SMALL, 0, 1.0, 10).logits(records, labels) for each in (records, -records)]
    assert np.array_equal(*blind)


def test_the_noise_is_as_large_as_it_is_said_to_be(records: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    gradients: list[Floats] = []
    monkeypatch.setattr(gan.Network, "clipped_gradient", lambda self, *_: [0.0 * each for each in self.parameters])
    monkeypatch.setattr(gan, "_classified", lambda network, *_: [0.0 * each for each in network.parameters])
    monkeypatch.setattr(gan.Gan, "step_generator", lambda *_, **__: None)
    monkeypatch.setattr(gan.Adam, "step", lambda _, gradient: gradients.extend(each.ravel() for each in gradient))

    dp_cgan(records, np.ones((60, 1)), SMALL, 0, 30.0, 40)

    noise = np.concatenate(gradients) * len(records)
    assert noise.std() == pytest.approx(30.0 * CLIP, rel=4 / sqrt(2 * noise.size))
    assert abs(noise.mean()) < 4 * 30.0 / sqrt(noise.size)
