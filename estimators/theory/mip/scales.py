"""The scale of noise for a wanted eta, and back, from a central moment of the parameters: the paper's, and ours.

Central moments of the parameters over random halves, estimated: plug-in values, which no sample makes upper bounds.

Nothing bounded is known of a fit in general, and so no number of draws can bound its moments: a half with
probability 1/B^2 may send it anywhere, and move the moment by as much as it likes. What draws can certify is total
variation, which is bounded (``certificate``).

``sigma`` bounds (E size(theta - E theta)^M)^(1/M), in the norm that belongs to the noise. The laws of the parameters
with a record and without it are mixtures, total variation is convex, and a size of a - b is at most those of a - c and
b - c: so eta <= E TV(size(a - b)/s)/2 <= TV(2 sigma/s)/2, as TV is concave. On the line it is attained by +-sigma.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from estimators.errors import OutOfRange, TooFewRecords, require_number, require_positive
from estimators.theory.bounds import Bound, side_by_side
from estimators.theory.mip.noises import Gaussian, KNorm, Noise

Floats = NDArray[np.float64]


def spread_of_draws(draws: Floats, order: float = 2.0) -> Floats:
    """(mean |theta_i - mean|^M)^(1/M) of every coordinate, as in Algorithm 1, which forgets the bars around it."""
    order = require_order(order)
    if len(draws) < 2:
        raise TooFewRecords(f"draws: got {len(draws)}, need at least 2", field="draws")
    centred = np.abs(draws - draws.mean(axis=0))
    top = centred.max(axis=0)
    unit = np.where(top > 0.0, top, 1.0)
    result = unit * ((centred / unit) ** order).mean(axis=0) ** (1.0 / order)
    if not result.any():
        raise OutOfRange(
            "draws: all are equal, so there is no spread to scale the noise by",
            field="draws",
        )
    return np.asarray(result)


def moment_of(draws: Floats, noise: Noise, order: float = 2.0) -> float:
    """(mean size(theta - mean)^M)^(1/M) in the norm of a noise: an estimate of sigma."""
    sizes = noise.size(draws - draws.mean(axis=0))
    top = float(sizes.max())
    return top * float(((sizes / top) ** require_order(order)).mean()) ** (1.0 / order) if top > 0.0 else 0.0


def require_order(order: float) -> float:
    """Return ``order`` if it is at least 1 and finite."""
    number = require_number("moment", order)
    if not 1.0 <= number < float("inf"):
        raise OutOfRange(f"moment: got {number!r}, need a finite number of at least 1", field="moment")
    return number


THEOREM_9 = 7.5
COROLLARY_10 = 6.16


@dataclass(frozen=True, slots=True)
class Formula:
    """One calibration: from eta to the scale of a noise, and back."""

    name: str
    says: str
    source: str
    scale: Callable[[float], float]
    eta: Callable[[float], float]


def require_eta(eta: float) -> float:
    """Return ``eta`` if it lies strictly between 0 and 1/2: at 1/2 nothing is asked, at 0 no noise is enough."""
    number = require_number("eta", eta)
    if not 0.0 < number < 0.5:
        raise OutOfRange(f"eta: got {number!r}, need a number strictly between 0 and 1/2", field="eta")
    return number


def moment_scale(eta: float, noise: Noise, sigma: float) -> float:
    """Least scale our bound allows: 2 sigma over the shift whose total variation is 2 eta."""
    return 2.0 * require_positive("sigma", sigma) / noise.shift(2.0 * require_eta(eta))


def moment_eta(scale: float, noise: Noise, sigma: float) -> float:
    """What our bound says of a scale."""
    ratio = np.array([2.0 * require_positive("sigma", sigma) / require_positive("scale", scale)])
    return float(noise.total_variation(ratio)[0]) / 2.0


def linear_scale(eta: float, sigma: float) -> float:
    """sigma/(2 eta): any norm, any moment, any dimension (the study before this project)."""
    return require_positive("sigma", sigma) / (2.0 * require_eta(eta))


def tanh_scale(eta: float, sigma: float) -> float:
    """sigma/artanh(2 eta): log densities differ by at most ||v||/s either way. Valid; ours is less."""
    return require_positive("sigma", sigma) / float(np.arctanh(2.0 * require_eta(eta)))


def gaussian_linear_scale(eta: float, dimension: int) -> float:
    """sqrt(d)/(eta sqrt(2 pi)), in units of each coordinate's sigma."""
    return sqrt(dimension) / (require_eta(eta) * sqrt(2.0 * pi))


def theorem_9_scale(eta: float, sigma: float, moment: float) -> float:
    """The paper's (7.5/eta)^(1+2/M) sigma."""
    return _paper_scale(THEOREM_9, eta, sigma, moment)


def corollary_10_scale(eta: float, sigma: float, moment: float) -> float:
    """The paper's (6.16/eta)^(1+2/M) sigma, for M >= 2."""
    if moment < 2.0:
        raise OutOfRange("moment: the paper's Corollary 10 needs at least 2; use Theorem 9", field="moment")
    return _paper_scale(COROLLARY_10, eta, sigma, moment)


def gaussian_sigma(dimension: int, moment: float) -> float:
    """E size(theta - E theta) if the spread holds the coordinates' M-th moments: sqrt(d), or d^(1/M) for M < 2."""
    return float(dimension ** max(0.5, 1.0 / moment))


def formulas(noise: Noise, sigma: float, moment: float = 2.0) -> tuple[Formula, ...]:
    """Every calibration from one moment that applies to a noise, ours first."""
    ours = Formula(
        "moment",
        "eta <= TV(2 sigma/s)/2, solved for s",
        "this project",
        lambda eta: moment_scale(eta, noise, sigma),
        lambda scale: moment_eta(scale, noise, sigma),
    )
    if isinstance(noise, Gaussian):
        slope = 2.0 / sqrt(2.0 * pi)  # 2 Phi(v/2) - 1 <= v/sqrt(2 pi)
        return (ours, _linear(sigma * slope, "eta <= sigma/(s sqrt(2 pi))"))
    tanh = Formula(
        "moment_tanh",
        "eta <= tanh(sigma/s)/2",
        "this project",
        lambda eta: tanh_scale(eta, sigma),
        lambda scale: float(np.tanh(sigma / require_positive("scale", scale))) / 2.0,
    )
    result = [ours, tanh, _linear(sigma, "eta <= sigma/(2 s)")]
    if isinstance(noise, KNorm):
        result.append(_paper("theorem_9", THEOREM_9, sigma, moment, "MIP, Theorem 9"))
        if moment >= 2.0:
            result.append(_paper("corollary_10", COROLLARY_10, sigma, moment, "MIP, Corollary 10"))
    return tuple(result)


def scale_bounds(eta: float, noise: Noise, sigma: float, moment: float = 2.0) -> tuple[Bound, ...]:
    """The scale each says is enough, side by side."""
    assumes = "sigma is at least the moment of the parameters over random halves"
    return side_by_side(
        Bound("scale of the noise", each.name, each.says, each.scale(eta), each.source, assumes)
        for each in formulas(noise, sigma, moment)
    )


def _linear(sigma: float, says: str) -> Formula:
    return Formula(
        "moment_linear",
        says,
        "this project",
        lambda eta: linear_scale(eta, sigma),
        lambda scale: min(0.5, sigma / (2.0 * require_positive("scale", scale))),
    )


def _paper(name: str, constant: float, sigma: float, moment: float, source: str) -> Formula:
    """Its proof stops at one dimension (erratum); what it says holds, since ours needs far less noise."""
    return Formula(
        name,
        f"eta = {constant} (sigma/s)^(M/(M+2))",
        source,
        lambda eta: _paper_scale(constant, eta, sigma, moment),
        lambda scale: min(
            0.5, constant * (sigma / require_positive("scale", scale)) ** (moment / (moment + 2.0))
        ),
    )


def _paper_scale(constant: float, eta: float, sigma: float, moment: float) -> float:
    return float((constant / require_eta(eta)) ** (1.0 + 2.0 / moment)) * require_positive("sigma", sigma)
