"""Noise with a Laplace radius on the uniform sphere, as MIP's Corollary 10 prints it."""

from __future__ import annotations

from math import exp, log, sqrt

from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import beta


def laplace_radius_eta(scale: float, dimension: int) -> float:
    """Half the total variation of two copies whose centres are 2 apart, in units of ``scale``'s.

    The nearer centre is the likelier one, as the density falls with the distance; so the two are told apart unless the
    noise goes further than 1 along the line of centres, where the radius is exponential and cos^2 is a beta variable.
    """
    if dimension == 1:
        return (1.0 - exp(-1.0 / scale)) / 2.0

    def weight(log_radius: float) -> float:
        radius = exp(log_radius)
        return radius * exp(-radius) * near(radius * scale)

    def near(radius: float) -> float:
        if dimension > 10**4:  # the cosine is normal, but for a share of 1/dimension
            return float(2.0 * ndtr(sqrt(dimension) / radius) - 1.0)
        return float(beta.cdf(min(1.0, 1.0 / radius**2), 0.5, (dimension - 1) / 2.0))

    integral, _ = quad(weight, -40.0, log(60.0), limit=400)
    return float(integral) / 2.0
