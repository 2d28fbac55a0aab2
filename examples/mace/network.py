"""Dense networks with gradients written out, and Adam: what a GAN of the paper needs, in NumPy.

Hidden units are LeakyReLUs of slope 0.2 (appendix E of the paper). Almost everywhere such a network is linear, so that
the gradient of its own gradient, which WGAN-GP's penalty needs, is a product of its weights too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Parameters = list[Floats]

SLOPE = 0.2
FORGET_SQUARE, TINY = 0.999, 1e-8
SINGLE = np.float32


class Network:
    """x -> dense -> LeakyReLU -> ... -> dense, with ``tanh`` at the end if asked; a record a row.

    Parameters are in single precision, answers in that of the records.
    """

    def __init__(self, rng: np.random.Generator, widths: Sequence[int], tanh: bool = False) -> None:
        self.tanh = tanh
        self.weights = [
            rng.normal(0.0, np.sqrt(2.0 / fan_in), (fan_in, out)).astype(SINGLE) for fan_in, out in pairwise(widths)
        ]
        self.shifts = [np.zeros(out, SINGLE) for out in widths[1:]]

    @property
    def parameters(self) -> Parameters:
        """All weights, then all shifts: the arrays themselves, which an optimiser changes in place."""
        return [*self.weights, *self.shifts]

    def layers(self, x: Floats) -> list[Floats]:
        """The records, and what each layer makes of them."""
        answers = [x]
        for i, (weights, shift) in enumerate(zip(self.weights, self.shifts, strict=True)):
            units = answers[-1] @ weights + shift
            if i < len(self.weights) - 1:
                units = np.maximum(units, SLOPE * units)
            elif self.tanh:
                units = np.tanh(units)
            answers.append(units)
        return answers

    def __call__(self, x: Floats) -> Floats:
        """The last layer's answer."""
        return self.layers(x)[-1]

    def slopes(self, layers: Sequence[Floats], at_end: Floats) -> list[Floats]:
        """Of a sum over records, by each layer's answer before its LeakyReLU, and by the records, first.

        ``at_end`` are its slopes by the network's answer.
        """
        back = at_end * (1.0 - layers[-1] ** 2) if self.tanh else at_end
        slopes = [back]
        for i in range(len(self.weights) - 1, -1, -1):
            back = back @ self.weights[i].T
            if i:
                back = back * _bends(layers[i])
            slopes.insert(0, back)
        return slopes

    def gradient(self, layers: Sequence[Floats], slopes: Sequence[Floats]) -> Parameters:
        """Of the same sum, by ``parameters``."""
        pairs = list(zip(layers[:-1], slopes[1:], strict=True))
        return [*(x.T @ back for x, back in pairs), *(back.sum(axis=0) for _, back in pairs)]

    def clipped_gradient(self, layers: Sequence[Floats], slopes: Sequence[Floats], norm: float) -> Parameters:
        """The same with each record's own gradient, all parameters together, scaled down to ``norm`` at most."""
        squares = sum(
            ((x**2).sum(axis=1) + 1.0) * (back**2).sum(axis=1) for x, back in zip(layers[:-1], slopes[1:], strict=True)
        )
        share = np.minimum(1.0, norm / np.maximum(np.sqrt(squares), TINY))[:, None]
        return self.gradient(layers, [share * back for back in slopes])

    def penalty_gradient(self, x: Floats) -> tuple[float, Parameters]:
        """Mean of (|gradient by a record| - 1)^2 over records (Gulrajani et al. 2017), and its gradient.

        For one answer a record and no ``tanh``. The shifts move no slope, almost everywhere.
        """
        layers = self.layers(x)
        slopes = self.slopes(layers, np.ones((len(x), 1), x.dtype))
        length = np.sqrt((slopes[0] ** 2).sum(axis=1, keepdims=True))
        ahead = 2.0 * (length - 1.0) / np.maximum(length, TINY) * slopes[0] / len(x)
        by_weights = []
        for i, weights in enumerate(self.weights):
            by_weights.append(ahead.T @ slopes[i + 1])
            if i < len(self.weights) - 1:
                ahead = (ahead @ weights) * _bends(layers[i + 1])
        by_shifts = [np.zeros_like(each) for each in self.shifts]
        return float(((length - 1.0) ** 2).mean()), [*by_weights, *by_shifts]


def _bends(units: Floats) -> Floats:
    """Slope of each LeakyReLU, whose answer has its sign."""
    slopes: Floats = np.where(units > 0.0, units.dtype.type(1.0), units.dtype.type(SLOPE))
    return slopes


class Adam:
    """Changes the parameters of a network in place (Kingma and Ba 2015, Algorithm 1)."""

    def __init__(self, network: Network, rate: float, forget: float = 0.5) -> None:
        self.parameters = network.parameters
        self.rate = rate
        self.forget = forget
        self.steps = 0
        self._mean = [np.zeros_like(each) for each in self.parameters]
        self._square = [np.zeros_like(each) for each in self.parameters]

    def step(self, gradient: Parameters) -> None:
        """One step down."""
        self.steps += 1
        scale = self.rate / (1.0 - self.forget**self.steps)
        grown = 1.0 - FORGET_SQUARE**self.steps
        for i, slope in enumerate(gradient):
            self._mean[i] += (1.0 - self.forget) * (slope - self._mean[i])
            self._square[i] += (1.0 - FORGET_SQUARE) * (slope**2 - self._square[i])
            self.parameters[i] -= scale * self._mean[i] / (np.sqrt(self._square[i] / grown) + TINY)
