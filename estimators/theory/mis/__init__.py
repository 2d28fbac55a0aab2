"""Membership inference security (Aubinais, Gassiat, Piantanida): what any algorithm may give away.

``assess`` is the whole of it for data in categories, ``assess_overfitting`` for the losses of a learner,
``assess_divergence`` for two laws of an output, ``assess_mean`` for the mean of Gaussian records.
"""

from estimators.theory.mis.assessment import Distribution
from estimators.theory.mis.binomials import Tally
from estimators.theory.mis.mean import DivergenceStatement, MeanStatement, assess_divergence, assess_mean
from estimators.theory.mis.statement import MisStatement, OverfittingStatement, assess, assess_overfitting

__all__ = [
    "Distribution",
    "DivergenceStatement",
    "MeanStatement",
    "MisStatement",
    "OverfittingStatement",
    "Tally",
    "assess",
    "assess_divergence",
    "assess_mean",
    "assess_overfitting",
]
