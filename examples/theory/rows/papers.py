"""What the papers print, letter by letter, mistakes and all."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb, exp, log, sqrt, tanh

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr


def mip_theorem_4(epsilon: float, delta: float) -> float:
    """Eta of an (epsilon, delta)-DP algorithm."""
    return delta + (1.0 - delta) / (1.0 + exp(-epsilon)) - 0.5


def mip_theorem_8(eta: float) -> float:
    """TPR - FPR under eta-MIP."""
    return eta


def mip_theorem_9(eta: float, moment: float) -> float:
    """Noise in units of sigma."""
    return float((7.5 / eta) ** (1.0 + 2.0 / moment))


def mip_corollary_10(eta: float, moment: float) -> float:
    """Noise in units of sigma, for a moment of at least 2."""
    return float((6.16 / eta) ** (1.0 + 2.0 / moment))


def mip_eta_of_noise(scale: float, moment: float) -> float:
    """Corollary 10 turned round: the eta it says of noise of so many sigma."""
    return 6.16 * float(scale ** (-moment / (moment + 2.0)))


def mace_theorem_1_4(epsilon: float, prior: float) -> float:
    """Membership advantage under epsilon-DP."""
    return tanh((epsilon + abs(log(prior / (1.0 - prior)))) / 2.0)


def mis_equation_8(information: float, gamma: float) -> float:
    """Delta from the mutual information, by Pinsker."""
    return max(1.0, gamma) * sqrt(information / 2.0)


def mis_equation_9(epsilon: float, delta: float, gamma: float) -> float:
    """Delta of an (epsilon, delta)-DP algorithm."""
    return max(1.0, gamma) * (max(exp(epsilon) - 1.0 / gamma, 0.0) - max(1.0 - 1.0 / gamma, 0.0) + delta)


def mis_theorem_11(alpha: float, below: float, gamma: float) -> float:
    """Sec of a procedure that overfits: a share alpha of members' losses above a level, ``below`` of fresh ones not."""
    return max(1.0, 1.0 / gamma) * (alpha + gamma * below)


def mis_theorem_14(p: Sequence[float], n: int, gamma: float) -> float:
    """The largest Delta of all procedures."""
    spread = sum(
        comb(n, b) * share**b * (1.0 - share) ** (n - b) * abs(b / n - gamma * share)
        for share in p
        for b in range(n + 1)
    )
    return max(1.0, gamma) * (spread / (2.0 * gamma) - abs(1.0 - 1.0 / gamma) / 2.0)


def mis_diversity(p: ArrayLike) -> float:
    """C_K."""
    shares = np.asarray(p, dtype=float)
    return float(np.sqrt(shares * (1.0 - shares)).sum())


def mis_corollary_15(p: ArrayLike, n: int) -> float:
    """c' C_K/sqrt(n), for n of at least 5 and above every 1/p_k."""
    return 0.44 * mis_diversity(p) / sqrt(n)


def pmp_lemma_13(epsilon: float) -> float:
    """Eta under epsilon-PMP."""
    return (1.0 - exp(-epsilon)) / 2.0


def pmp_lemma_6(epsilon: float) -> float:
    """How often an attack succeeds under epsilon-PMP."""
    return 1.0 / (1.0 + exp(-epsilon))


def pmp_corollary_4(delta: float) -> float:
    """n = 1: (epsilon, 2 delta)-PMP is (epsilon, delta)-DP, so the delta of DP is half of PMP's."""
    return delta / 2.0


def pmp_proposition_12(points: ArrayLike, x: int, sigma: float, epsilon: float) -> float:
    """Delta of record x under a sum with Gaussian noise, in its form after Proposition 12."""
    at = np.asarray(points, dtype=float)
    moved = np.abs(np.delete(at, x) - at[x])
    inner = ndtr(moved / (2.0 * sigma) - epsilon * sigma / moved)
    return float((inner - exp(epsilon) * ndtr(-moved / (2.0 * sigma) - epsilon * sigma / moved)).mean())
