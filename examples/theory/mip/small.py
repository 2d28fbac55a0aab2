"""Section 5.2 at sizes where the truth can be known: what the best attack gets, and what certifies the noise."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from estimators.theory.mip.noises import Gaussian
from estimators.theory.mip.refits import fitted_draws, swap_pairs
from estimators.theory.mip.scales import Sizes
from estimators.theory.subsets import matrix
from examples.theory.mip.generator import SEED, Floats, records, trained
from examples.theory.mip.mechanisms import NOISE_RULES, Run, gaussian, swaps
from examples.theory.table import table

ESTIMATED = "nothing: the deviations are estimates"


def attacked(n: int, eta: float, times: int) -> dict[str, tuple[float, float]]:
    """What Proposition 2's attack, which no other beats, gets from a data set so small that all halves can be listed.

    Its accuracy is the mean of the larger of P(in | output) and P(out | output): simulated, for the worst record, with
    four standard errors. (DP-SGD's output has no density to write down: it is missing here.)
    """
    rng = np.random.default_rng([SEED, n])
    data = records(n, rng)
    members = matrix(n, n // 2, "take fewer records")
    thetas = trained(members @ data / (n // 2))
    results = {}
    for name, rule in NOISE_RULES.items():
        noise, scale = rule(Run(data, data[members[0]], thetas), eta)
        outputs = thetas[rng.integers(len(thetas), size=times)] + noise.sample(scale, times, rng)
        logs = np.array([noise.log_density(noise.size(outputs - theta) / scale) for theta in thetas])
        likely = np.exp(logs - logs.max(axis=0))
        inside = members.T @ likely / likely.sum(axis=0)
        gained = np.maximum(inside, 1 - inside) - 0.5
        worst = gained.mean(axis=1).argmax()
        results[name] = float(gained[worst].mean()), 4 * float(gained[worst].std()) / sqrt(times)
    return results


def attacks(n: int, eta: float, times: int) -> str:
    """The same as a table."""
    return table(
        (f"noise for eta = {eta}, n = {n}", "eta of the best attack"),
        [(name, f"{mean:.4f} ± {error:.4f}") for name, (mean, error) in attacked(n, eta, times).items()],
    )


def certified(n: int, pairs: Sequence[int], eta: float, confidence: float = 0.95) -> dict[str, float]:
    """The scale of one Gaussian noise by what is known of the fits: all swaps, some, or draws alone."""
    rng = np.random.default_rng([SEED, n])
    run = Run.of(n, rng)
    noise = Gaussian(run.spread())

    def fit(train: Floats) -> Floats:
        return trained(train.mean(axis=0))

    results = {ESTIMATED: gaussian(run, eta)[1], "all swaps": swaps(run, eta)[1]}
    for each in pairs:
        sample = swap_pairs(fit, run.data, each, seed=1)
        sizes = Sizes.of_swaps(noise, sample.before, sample.after, sample.record)
        results[f"{each} sampled swaps a record, at {confidence:.0%}"] = sizes.scale(eta, confidence)
    for draws in (100, 1000):
        sizes = Sizes.of_draws(noise, fitted_draws(fit, run.data, draws, seed=1))
        results[f"{draws} draws and no swaps, at {confidence:.0%}"] = sizes.scale(eta, confidence)
    return results


def certificates(n: int, pairs: Sequence[int], eta: float) -> str:
    """The same as a table."""
    head = (f"Gaussian noise for eta = {eta}, n = {n}, certified by", "scale, in deviations")
    return table(head, certified(n, pairs, eta).items())
