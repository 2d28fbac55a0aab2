"""What a practical epsilon means: how often an attacker is right, and what that is as MIP's eta."""

from __future__ import annotations

import numpy as np

from estimators.errors import require_nonnegative
from estimators.theory.dp import advantage_ceiling


def success(epsilon: float, delta: float = 0.0) -> float:
    """No attacker is right more often: 1/(1+e^-eps) at delta 0 (Lemma 6), delta + (1-delta)/(1+e^-eps) beyond.

    In and out are as likely, and their laws are (epsilon, delta)-close both ways: the corners of the DP ROC curve.
    """
    return (1.0 + advantage_ceiling(epsilon, delta)) / 2.0


def mip_eta(epsilon: float, delta: float = 0.0) -> float:
    """MIP's eta of what is (epsilon, delta)-PMP: success less a coin's half, tanh(eps/2)/2 at delta 0."""
    return advantage_ceiling(epsilon, delta) / 2.0


def mip_eta_as_printed(epsilon: float) -> float:
    """Lemma 13's (1 - e^-eps)/2: true, and twice too large for small epsilon."""
    return float(-np.expm1(-require_nonnegative("epsilon", epsilon)) / 2.0)
