"""Membership inference privacy (Izzo et al.): how much noise keeps every attack near a coin's.

``privatize`` is the whole of it: any fitting function in, noisy parameters and a certified eta out. ``assess`` says how
much noise fits call for that were made elsewhere.
"""

from estimators.theory.mip.attack import AttackResult, MipFiniteStatement, attack, attained_eta, finite_eta, laws_of
from estimators.theory.mip.calibrate import Calibration, Fits
from estimators.theory.mip.noises import Gaussian, KNorm, Noise, Norm
from estimators.theory.mip.privatize import (
    Draws,
    Moment,
    Paper,
    PrivateFit,
    Swaps,
    euclid_laplace,
    max_laplace,
    moment_laplace,
    one_laplace,
    privatize,
)
from estimators.theory.mip.refits import Refits, SwapPairs, fitted_draws, swap_pairs
from estimators.theory.mip.scales import (
    Formula,
    Sizes,
    corollary_10_scale,
    formulas,
    gaussian_linear_scale,
    gaussian_sigma,
    linear_scale,
    moment_eta,
    moment_of,
    moment_scale,
    scale_bounds,
    spread_of_draws,
    tanh_scale,
    theorem_9_scale,
)
from estimators.theory.mip.statement import MipStatement, assess

__all__ = [
    "AttackResult",
    "Calibration",
    "Draws",
    "Fits",
    "Formula",
    "Gaussian",
    "KNorm",
    "MipFiniteStatement",
    "MipStatement",
    "Moment",
    "Noise",
    "Norm",
    "Paper",
    "PrivateFit",
    "Refits",
    "Sizes",
    "SwapPairs",
    "Swaps",
    "assess",
    "attack",
    "attained_eta",
    "corollary_10_scale",
    "euclid_laplace",
    "finite_eta",
    "fitted_draws",
    "formulas",
    "gaussian_linear_scale",
    "gaussian_sigma",
    "laws_of",
    "linear_scale",
    "max_laplace",
    "moment_eta",
    "moment_laplace",
    "moment_of",
    "moment_scale",
    "one_laplace",
    "privatize",
    "scale_bounds",
    "spread_of_draws",
    "swap_pairs",
    "tanh_scale",
    "theorem_9_scale",
]
