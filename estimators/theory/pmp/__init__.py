"""Practical membership privacy (Lowy et al.): what a mechanism reveals to an attacker who knows 2n candidate records.

The attacker does not know which n were used. ``assess_exponential``, ``assess_gaussian`` and, for any algorithm with
finitely many outcomes, ``assess_finite`` are the whole of it.
"""

from estimators.theory.pmp.exponential import Summed, Tabled
from estimators.theory.pmp.statement import (
    ExponentialStatement,
    GaussianStatement,
    PmpFiniteStatement,
    assess_exponential,
    assess_finite,
    assess_gaussian,
)

__all__ = [
    "ExponentialStatement",
    "GaussianStatement",
    "PmpFiniteStatement",
    "Summed",
    "Tabled",
    "assess_exponential",
    "assess_finite",
    "assess_gaussian",
]
