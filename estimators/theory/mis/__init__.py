"""Membership inference security (Aubinais, Gassiat, Piantanida): what any algorithm may give away.

``assess`` is the whole of it for data in categories, ``assess_overfitting`` for the losses of a learner.
"""

from estimators.theory.mis.assessment import Distribution
from estimators.theory.mis.statement import (
    MisStatement,
    OverfittingStatement,
    assess,
    assess_overfitting,
)
from estimators.theory.mis.tally import Tally

__all__ = ["Distribution", "MisStatement", "OverfittingStatement", "Tally", "assess", "assess_overfitting"]
