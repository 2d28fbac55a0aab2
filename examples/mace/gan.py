"""The generative models of the paper, small: JS-GAN, WGAN-GP, privGAN and a conditional GAN with a promise of DP.

Dense networks stand in for the paper's (its appendix E has convolutions for colour images); losses, optimiser and the
number of epochs are the paper's or its sources'. A model is what it was trained on, a ``Size`` and a seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from estimators.theory.shifts import gaussian_epsilon
from examples.mace.network import SINGLE, Adam, Floats, Network, Parameters

CLIP = 1.0
"""Norm that one record's gradient is clipped to; with Adam behind it, it only sets the unit of the noise."""


@dataclass(frozen=True)
class Size:
    """How large the networks are and how long they learn."""

    epochs: int
    discriminator: tuple[int, ...] = (256, 128)
    generator: tuple[int, ...] = (128, 128)
    noise: int = 32
    batch: int = 64
    rate: float = 2e-4

    def steps(self, records: int) -> int:
        """As many as see each record once an epoch."""
        return max(1, self.epochs * records // self.batch)


class Gan:
    """A generator and a discriminator of records of ``width`` numbers, given ``labels`` more that are told to both."""

    def __init__(self, rng: np.random.Generator, size: Size, width: int, labels: int = 0) -> None:
        self.size = size
        self.generator = Network(rng, (size.noise + labels, *size.generator, width), tanh=True)
        self.discriminator = Network(rng, (width + labels, *size.discriminator, 1))
        self.learns = Adam(self.generator, size.rate), Adam(self.discriminator, size.rate)

    def sample(self, rng: np.random.Generator, records: int, labels: Floats | None = None) -> Floats:
        """Synthetic records."""
        return self.generator(self.seeds(rng, records, labels))

    def seeds(self, rng: np.random.Generator, records: int, labels: Floats | None = None) -> Floats:
        """What the generator makes records of."""
        seeds = rng.normal(size=(records, self.size.noise)).astype(SINGLE)
        return seeds if labels is None else np.column_stack([seeds, labels])

    def logits(self, records: Floats, labels: Floats | None = None) -> Floats:
        """What the discriminator answers, before its sigmoid."""
        return self.discriminator(records if labels is None else np.column_stack([records, labels]))[:, 0]

    def answers(self, records: Floats, labels: Floats | None = None) -> Floats:
        """D(z), a probability."""
        return np.asarray(expit(self.logits(records, labels)), dtype=np.float64)

    def step_generator(self, seeds: Floats, extra: Floats | None = None, labels: Floats | None = None) -> None:
        """One step to be called real; ``extra`` are further slopes by the synthetic records."""
        layers = self.generator.layers(seeds)
        fake = layers[-1] if labels is None else np.column_stack([layers[-1], labels])
        answers = self.discriminator.layers(fake)
        slopes = self.discriminator.slopes(answers, (expit(answers[-1]) - 1.0) / len(seeds))
        by_records = slopes[0][:, : layers[-1].shape[1]]
        by_records = by_records if extra is None else by_records + extra
        self.learns[0].step(self.generator.gradient(layers, self.generator.slopes(layers, by_records)))


def _classified(network: Network, records: Floats, truth: float) -> Parameters:
    """Gradient of the mean cross entropy where all records have one ``truth``, 1 or 0."""
    layers = network.layers(records)
    return network.gradient(layers, network.slopes(layers, (expit(layers[-1]) - truth) / len(records)))


def _sum(*gradients: Parameters) -> Parameters:
    return [sum(parts[1:], start=parts[0]) for parts in zip(*gradients, strict=True)]


def js_gan(records: Floats, size: Size, seed: int) -> Gan:
    """The original GAN (Goodfellow et al. 2014), the generator with the loss that does not saturate."""
    rng = np.random.default_rng(seed)
    records = records.astype(SINGLE)
    gan = Gan(rng, size, records.shape[1])
    for _ in range(size.steps(len(records))):
        real = records[rng.integers(len(records), size=size.batch)]
        _step_discriminator(gan, real, gan.sample(rng, size.batch))
        gan.step_generator(gan.seeds(rng, size.batch))
    return gan


def _step_discriminator(gan: Gan, real: Floats, fake: Floats) -> None:
    gan.learns[1].step(_sum(_classified(gan.discriminator, real, 1.0), _classified(gan.discriminator, fake, 0.0)))


def wgan_gp(records: Floats, size: Size, seed: int, turns: int = 5, weight: float = 10.0) -> Gan:
    """WGAN-GP (Gulrajani et al. 2017): a critic without a sigmoid, ``turns`` steps of it to one of the generator."""
    rng = np.random.default_rng(seed)
    records = records.astype(SINGLE)
    gan = Gan(rng, size, records.shape[1])
    critic = gan.discriminator
    for step in range(size.steps(len(records))):
        real = records[rng.integers(len(records), size=size.batch)]
        fake = gan.sample(rng, size.batch)
        share = rng.random((size.batch, 1)).astype(SINGLE)
        penalty = critic.penalty_gradient(share * real + (1.0 - share) * fake)[1]
        pulls = []
        for side, sign in ((real, -1.0), (fake, 1.0)):
            layers = critic.layers(side)
            slopes = critic.slopes(layers, np.full((len(side), 1), sign / len(side), SINGLE))
            pulls.append(critic.gradient(layers, slopes))
        gan.learns[1].step(_sum(*pulls, [weight * each for each in penalty]))
        if step % turns == turns - 1:
            layers = gan.generator.layers(gan.seeds(rng, size.batch))
            answers = critic.layers(layers[-1])
            by_records = critic.slopes(answers, np.full((size.batch, 1), -1.0 / size.batch, SINGLE))[0]
            gan.learns[0].step(gan.generator.gradient(layers, gan.generator.slopes(layers, by_records)))
    return gan


def priv_gan(records: Floats, size: Size, seed: int, weight: float = 1.0) -> tuple[Gan, Gan]:
    """privGAN (Mukherjee et al. 2021) of two pairs, each with half of the records.

    One more network learns which generator made a record; each generator is also to have it guess the other.
    """
    rng = np.random.default_rng(seed)
    records = records.astype(SINGLE)
    pairs = Gan(rng, size, records.shape[1]), Gan(rng, size, records.shape[1])
    judge = Network(rng, (records.shape[1], *size.discriminator, 1))
    learns = Adam(judge, size.rate)
    halves = np.array_split(rng.permutation(len(records)), 2)
    for _ in range(size.steps(len(records) // 2)):
        for gan, half in zip(pairs, halves, strict=True):
            real = records[half[rng.integers(len(half), size=size.batch)]]
            _step_discriminator(gan, real, gan.sample(rng, size.batch))
        fakes = [gan.sample(rng, size.batch) for gan in pairs]
        learns.step(_sum(*(_classified(judge, fake, float(i)) for i, fake in enumerate(fakes))))
        for i, gan in enumerate(pairs):
            seeds = gan.seeds(rng, size.batch)
            layers = judge.layers(gan.generator(seeds))
            other = judge.slopes(layers, (expit(layers[-1]) - (1.0 - i)) / size.batch)[0]
            gan.step_generator(seeds, weight * other)
    return pairs


def noise_multiplier(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """Noise over the clipping norm, for a promise about replacing a record, and the mu that it comes to.

    Every record is in every step, so the promise is exactly mu-GDP with mu = 2 sqrt(steps) / noise.
    """
    mu = float(brentq(lambda each: gaussian_epsilon(each, delta) - epsilon, 1e-3, 100.0))
    return 2.0 * sqrt(steps) / mu, mu


def dp_cgan(records: Floats, labels: Floats, size: Size, seed: int, multiplier: float, steps: int) -> Gan:
    """A conditional GAN (DP-cGAN, Torkzadehmahani et al. 2019) whose discriminator sees records through noise alone.

    Each step takes all records, clips each one's gradient and adds Gaussian noise to their sum; synthetic records are
    made of what has its noise already. ``labels``, a row of numbers a record, are taken as public: the promise is about
    replacing a record by one of its label.
    """
    rng = np.random.default_rng(seed)
    records, labels = records.astype(SINGLE), labels.astype(SINGLE)
    gan = Gan(rng, size, records.shape[1], labels.shape[1])
    network, real = gan.discriminator, np.column_stack([records, labels])
    for _ in range(steps):
        layers = network.layers(real)
        clipped = network.clipped_gradient(layers, network.slopes(layers, expit(layers[-1]) - 1.0), CLIP)
        noisy: Parameters = [
            (each + rng.normal(0.0, multiplier * CLIP, each.shape).astype(SINGLE)) / len(real) for each in clipped
        ]
        fake_labels = labels[rng.integers(len(labels), size=size.batch)]
        fake = np.column_stack([gan.sample(rng, size.batch, fake_labels), fake_labels])
        gan.learns[1].step(_sum(noisy, _classified(network, fake, 0.0)))
        gan.step_generator(gan.seeds(rng, size.batch, fake_labels), labels=fake_labels)
    return gan


@dataclass(frozen=True)
class Classifier:
    """A binary classifier as in appendix E.3.3: its last layer but one has two rectified units."""

    network: Network

    def units(self, records: Floats) -> Floats:
        """The two units (white box)."""
        return self.network.layers(records)[-2]

    def answers(self, records: Floats) -> Floats:
        """The probability of the second class (black box)."""
        return np.asarray(expit(self.network(records)[:, 0]), dtype=np.float64)


def classifier(records: Floats, labels: Floats, size: Size, seed: int) -> Classifier:
    """Trained by cross entropy, until the epochs are over."""
    rng = np.random.default_rng(seed)
    records = records.astype(SINGLE)
    network = Network(rng, (records.shape[1], size.discriminator[-1], 2, 1))
    learns = Adam(network, 10.0 * size.rate, forget=0.9)
    for _ in range(size.steps(len(records))):
        rows = rng.integers(len(records), size=size.batch)
        layers = network.layers(records[rows])
        slopes = network.slopes(layers, (expit(layers[-1]) - labels[rows, None]) / size.batch)
        learns.step(network.gradient(layers, slopes))
    return Classifier(network)
