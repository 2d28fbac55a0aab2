"""The linear generator of the earlier version's section 5.2: a covariance learned from half the records.

x ~ N(0, COVARIANCE), and G = S^(1/2) makes synthetic records where S minimises |S - mean of x x'|^2 by descent.
Symmetric matrices are written as vectors with their off-diagonal entries times sqrt 2, so that Euclid's norm is
Frobenius's: descent is then that of a mean, and one gradient is 2 (theta - t(x)) with t(x) = vec(x x').
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COVARIANCE: Floats = np.array([[2.0, 0.8, 0.3], [0.8, 1.0, 0.2], [0.3, 0.2, 0.5]])
RATE, STEPS = 0.1, 50
SEED = 20221111
ROWS, COLUMNS = np.triu_indices(len(COVARIANCE))
WEIGHTS = np.where(ROWS == COLUMNS, 1.0, sqrt(2))


def records(n: int, rng: np.random.Generator) -> Floats:
    """Draw n of them, each as t(x): all that descent sees."""
    x = rng.normal(size=(n, len(COVARIANCE))) @ np.linalg.cholesky(COVARIANCE).T
    return WEIGHTS * x[:, ROWS] * x[:, COLUMNS]


def half(n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """A random training set of n/2 records."""
    return rng.permutation(n)[: n // 2]


def trained(means: Floats) -> Floats:
    """Full-batch descent from 0, for one mean of t(x) or for many."""
    theta = np.zeros_like(means)
    for _ in range(STEPS):
        theta = theta - RATE * 2 * (theta - means)
    return theta


def gradient_norms(train: Floats) -> Floats:
    """Of every record at every step of ordinary descent: where to clip is read off them, which is not itself DP."""
    theta, norms = np.zeros(train.shape[1]), []
    for _ in range(STEPS):
        gradients = 2 * (theta - train)
        norms.append(np.linalg.norm(gradients, axis=1))
        theta = theta - RATE * gradients.mean(axis=0)
    return np.concatenate(norms)


def dp_trained(train: Floats, clip: float, multiplier: float, rng: np.random.Generator) -> Floats:
    """DP-SGD with the full batch: gradients clipped, their mean with Gaussian noise of multiplier * clip / m."""
    theta = np.zeros(train.shape[1])
    for _ in range(STEPS):
        gradients = 2 * (theta - train)
        shrunk = np.minimum(1.0, clip / np.linalg.norm(gradients, axis=1))
        noise = rng.normal(scale=multiplier * clip / len(train), size=theta.shape)
        theta = theta - RATE * (shrunk @ gradients / len(train) + noise)
    return theta


def relative_error(theta: Floats) -> float:
    """Of the covariance that the generator really makes: S^(1/2) needs an S without negative eigenvalues."""
    matrix = np.zeros_like(COVARIANCE)
    matrix[ROWS, COLUMNS] = matrix[COLUMNS, ROWS] = theta / WEIGHTS
    sizes, directions = np.linalg.eigh(matrix)
    covariance = (directions * np.maximum(sizes, 0.0)) @ directions.T
    return float(np.linalg.norm(covariance - COVARIANCE) / np.linalg.norm(COVARIANCE))
