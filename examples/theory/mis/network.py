"""A two-layer ReLU network under Adam, on all records at once: the paper's learner, in NumPy.

It begins as PyTorch's linear layers do, uniform within 1/sqrt(inputs): the paper ran PyTorch, and says nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating]

FORGET, FORGET_SQUARE, TINY = 0.9, 0.999, 1e-8  # Adam's own defaults


class Network:
    """x -> relu(x W + b) v + c, in single precision, learned by ``step``."""

    def __init__(self, rng: np.random.Generator, inputs: int, width: int, rate: float) -> None:
        self.rate = rate
        self.steps = 0
        shapes = ((inputs, width), inputs), (width, inputs), (width, width), (1, width)
        self.parameters: list[Numbers] = [
            rng.uniform(-1.0, 1.0, shape).astype(np.float32) / np.float32(np.sqrt(fan_in)) for shape, fan_in in shapes
        ]
        self._mean = [np.zeros_like(each) for each in self.parameters]
        self._square = [np.zeros_like(each) for each in self.parameters]

    def losses(self, x: Numbers, y: Numbers) -> NDArray[np.float64]:
        """The squared error on each record, a thousand at a time."""
        blocks = [self._forward(x[i : i + 1000])[1] - y[i : i + 1000] for i in range(0, len(x), 1000)]
        return np.concatenate(blocks).astype(np.float64) ** 2

    def gradients(self, x: Numbers, y: Numbers) -> list[Numbers]:
        """Of the mean squared error, one for each array of parameters."""
        units, output = self._forward(x)
        slope = 2.0 * (output - y) / np.float32(len(x))
        back = np.multiply.outer(slope, self.parameters[2])
        back *= units > 0
        return [x.T @ back, back.sum(axis=0), units.T @ slope, slope.sum(keepdims=True)]

    def step(self, x: Numbers, y: Numbers) -> None:
        """One iteration of Adam (Kingma and Ba 2015, Algorithm 1)."""
        self.steps += 1
        scale = self.rate / (1.0 - FORGET**self.steps)
        grown = 1.0 - FORGET_SQUARE**self.steps
        for i, gradient in enumerate(self.gradients(x, y)):
            self._mean[i] += (1.0 - FORGET) * (gradient - self._mean[i])
            self._square[i] += (1.0 - FORGET_SQUARE) * (gradient**2 - self._square[i])
            self.parameters[i] -= scale * self._mean[i] / (np.sqrt(self._square[i] / grown) + TINY)

    def _forward(self, x: Numbers) -> tuple[Numbers, Numbers]:
        first, shift, last, offset = self.parameters
        units = x @ first
        units += shift
        np.maximum(units, 0.0, out=units)
        return units, units @ last + offset
