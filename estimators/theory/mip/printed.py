"""Corollary 10 as printed: a Laplace radius in d dimensions, and what an attack attains against it.

Shells of radius r have volume r^(d-1), so this is not the density exp(-||x||/c) of Theorem 9 unless d = 1: it has a
pole at 0, and lies as near the parameters in a million dimensions as in one. In enough dimensions it hides nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from estimators.errors import require_count, require_positive
from estimators.theory.mip.scales import corollary_10_scale


def printed_eta(scale: float, dimension: int) -> float:
    """eta that is attained at theta = +-sigma_i in every coordinate by membership, with M = 2 and this radius.

    The density falls with the distance, so the nearer of the two centres, 2 apart, is the likelier: TV is
    P(r |cos| < 1) with r exponential of mean ``scale`` and cos^2 ~ Beta(1/2, (d-1)/2).
    """
    scale, d = require_positive("scale", scale), require_count("dimension", dimension)
    if d == 1:
        return float(-np.expm1(-1.0 / scale)) / 2.0
    log_radius = np.arange(-40.0, 4.0, 0.001)
    radius = np.exp(log_radius)
    weights = radius * np.exp(-radius)
    near = betainc(0.5, (d - 1) / 2.0, np.minimum(1.0, 1.0 / (scale * radius) ** 2))
    return float((near * weights).sum() / weights.sum()) / 2.0


def printed_fails_from(eta: float) -> int:
    """Least dimension in which Corollary 10 as printed (M = 2) lets an attack gain more than the eta it promises."""
    scale = corollary_10_scale(eta, 1.0, 2.0)
    low, high = 1, 2
    while printed_eta(scale, high) <= eta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if printed_eta(scale, middle) <= eta else (low, middle)
    return high
