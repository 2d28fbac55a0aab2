"""Ways to train the linear generator with a wanted eta: DP-SGD, the paper's noise, and ours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from math import log, sqrt

import numpy as np
from scipy.special import ndtri

from estimators.theory.mip.noises import Gaussian, KNorm, Noise, Norm
from estimators.theory.mip.scales import corollary_10_scale, gaussian_linear_scale, linear_scale, moment_scale
from estimators.theory.shifts import gaussian_sigma
from examples.theory.mip.generator import RATE, STEPS, Floats, dp_trained, gradient_norms, half, records, trained

DELTA = 1e-5
SPLITS = 128
"""Random halves of which the paper estimates the deviations."""


@dataclass(frozen=True)
class Run:
    """One data set, one random half of it, and what is known of the algorithm's output over all halves."""

    data: Floats
    train: Floats
    draws: Floats

    @classmethod
    def of(cls, n: int, rng: np.random.Generator) -> Run:
        """As the paper does: the deviations come from other halves of the same records."""
        data = records(n, rng)
        means = np.array([data[half(n, rng)].mean(axis=0) for _ in range(SPLITS)])
        return cls(data, data[half(n, rng)], trained(means))

    @cached_property
    def theta(self) -> Floats:
        """Trained without any noise."""
        return trained(self.train.mean(axis=0))

    def spread(self, moment: int = 2) -> Floats:
        """Corollary 8's sigma_i, estimated: nothing proves that they are large enough."""
        return np.asarray((np.abs(self.draws - self.draws.mean(axis=0)) ** moment).mean(axis=0) ** (1 / moment))

    @cached_property
    def clips(self) -> dict[str, float]:
        """Where DP-SGD may clip: at the median of the gradients' norms, as the paper does, or beyond them all."""
        norms = gradient_norms(self.train)
        return {"median": float(np.median(norms)), "largest": float(norms.max())}

    @cached_property
    def reach(self) -> float:
        """The root mean square of the moves of theta when a record is swapped, for the worst record, in spreads.

        Descent is linear: a swap moves theta by (t(y) - t(x)) times a constant, whatever the other records are.
        """
        step = (1 - (1 - 2 * RATE) ** STEPS) / len(self.train)
        scaled = (self.data - self.data.mean(axis=0)) * (step / self.spread())
        squares = (scaled**2).sum(axis=1)
        n = len(squares)
        return sqrt(float(squares.max() + squares.mean()) * n / (n - 1))


Mechanism = Callable[[Run, float, np.random.Generator], Floats]
NoiseRule = Callable[[Run, float], tuple[Noise, float]]
"""The noise to add for an eta, and its scale."""


def theorem_4_epsilon(eta: float) -> float:
    """The epsilon that goes with DELTA and eta: eta = delta + (1 - delta)/(1 + e^-epsilon) - 1/2."""
    return log((0.5 + eta - DELTA) / (0.5 - eta))


def multiplier_by_epsilon(eta: float) -> float:
    """The paper's way: the (epsilon, DELTA) of Theorem 4, and the noise that has it over all steps.

    Full-batch steps compose to one Gaussian mechanism; replacing a record moves a clipped sum by twice the clip.
    """
    return 2 * sqrt(STEPS) * gaussian_sigma(1.0, theorem_4_epsilon(eta), DELTA)


def multiplier_exactly(eta: float) -> float:
    """The same steps are mu-GDP, whose best attack has eta = Phi(mu/2) - 1/2: no delta is lost."""
    return 2 * sqrt(STEPS) / (2 * float(ndtri(0.5 + eta)))


def accountant_epsilon(multiplier: float) -> float:
    """What dp_accounting's Renyi accountant says of these steps at DELTA: an upper bound, and the usual one."""
    events, renyi = import_module("dp_accounting"), import_module("dp_accounting.rdp")
    accountant = renyi.RdpAccountant()
    accountant.compose(events.GaussianDpEvent(multiplier / 2), STEPS)  # a replaced record moves two clips
    return float(accountant.get_epsilon(DELTA))


def dp_sgd(multiplier: Callable[[float], float], clip: str) -> Mechanism:
    """DP-SGD with one of the two, and one of the places to clip."""
    return lambda run, eta, rng: dp_trained(run.train, run.clips[clip], multiplier(eta), rng)


def as_printed(moment: int) -> Mechanism:
    """Corollary 8 as it is printed: the radius is Laplace's."""

    def add(run: Run, eta: float, rng: np.random.Generator) -> Floats:
        radius = rng.laplace(scale=corollary_10_scale(eta, 1.0, moment))
        return np.asarray(run.theta + radius * Norm.moment(run.spread(moment), moment).sphere(1, rng)[0])

    return add


def corrected(moment: int) -> NoiseRule:
    """The density of which Theorem 7 speaks: the radius is a Gamma variable of shape d."""
    return lambda run, eta: (KNorm(Norm.moment(run.spread(moment), moment)), corollary_10_scale(eta, 1.0, moment))


def half_deviation(run: Run, eta: float) -> tuple[Noise, float]:
    """Ours with the paper's norm, M = 2: that density with scale 1/(2 eta), for its second moment is 1."""
    return KNorm(Norm.moment(run.spread())), linear_scale(eta, 1.0)


def solved(run: Run, eta: float) -> tuple[Noise, float]:
    """The same with the density's own total variation in place of the line's."""
    noise = KNorm(Norm.moment(run.spread()))
    return noise, moment_scale(eta, noise, 1.0)


def gaussian(run: Run, eta: float) -> tuple[Noise, float]:
    """Ours, Gaussian: sqrt(d)/(eta sqrt(2 pi)) deviations."""
    return Gaussian(run.spread()), gaussian_linear_scale(eta, len(run.theta))


def swaps(run: Run, eta: float) -> tuple[Noise, float]:
    """Ours, by neighbours: eta <= E[Phi(v/(2s))] - 1/2 <= Phi(rms v/(2s)) - 1/2, for Phi is concave there.

    All swaps are reckoned with, so this is certified; the deviations give the noise no more than its shape.
    """
    return Gaussian(run.spread()), run.reach / (2 * float(ndtri(0.5 + eta)))


NOISE_RULES: dict[str, NoiseRule] = {
    "MIP, right radius, M = 8": corrected(8),
    "ours, sigma/(2 eta)": half_deviation,
    "ours, solved": solved,
    "ours, Gaussian": gaussian,
    "ours, swaps": swaps,
}


def adding(noise: NoiseRule) -> Mechanism:
    """Train, then add it once."""

    def add(run: Run, eta: float, rng: np.random.Generator) -> Floats:
        kind, scale = noise(run, eta)
        return np.asarray(run.theta + kind.sample(scale, 1, rng)[0])

    return add


MECHANISMS: dict[str, Mechanism] = {
    "DP-SGD, (epsilon, 1e-5), clip at the median": dp_sgd(multiplier_by_epsilon, "median"),
    "DP-SGD, GDP, clip at the median": dp_sgd(multiplier_exactly, "median"),
    "DP-SGD, GDP, clip at the largest": dp_sgd(multiplier_exactly, "largest"),
    **{f"MIP as printed, M = {moment}": as_printed(moment) for moment in (2, 4, 8)},
    **{name: adding(noise) for name, noise in NOISE_RULES.items()},
}
