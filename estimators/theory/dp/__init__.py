"""What differential privacy promises about membership, at any prior: a ROC curve that no adversary is above.

``assess`` and ``convert`` are the whole of it; ``ceilings`` has the closed forms and their inverses.
"""

from estimators.privacy.epsilon import advantage_ceiling, epsilon_from_advantage
from estimators.theory.dp.ceilings import (
    bounds,
    epsilon_from_mip_eta,
    gdp_ceiling,
    gdp_from_advantage,
    gdp_from_epsilon,
    individual_risk_ceiling,
    mip_eta,
    tpr_ceiling,
    tpr_floor,
)
from estimators.theory.dp.conversion import ConversionStatement, Converted, convert
from estimators.theory.dp.promise import (
    Adjacency,
    ApproximateDp,
    DpCurve,
    GaussianDp,
    Grant,
    Inclusion,
    Promise,
    grant_of,
)
from estimators.theory.dp.statement import DpStatement, Keeping, Reading, RocEnvelope, assess, keeping

__all__ = [
    "Adjacency",
    "ApproximateDp",
    "ConversionStatement",
    "Converted",
    "DpCurve",
    "DpStatement",
    "GaussianDp",
    "Grant",
    "Inclusion",
    "Keeping",
    "Promise",
    "Reading",
    "RocEnvelope",
    "advantage_ceiling",
    "assess",
    "bounds",
    "convert",
    "epsilon_from_advantage",
    "epsilon_from_mip_eta",
    "gdp_ceiling",
    "gdp_from_advantage",
    "gdp_from_epsilon",
    "grant_of",
    "individual_risk_ceiling",
    "keeping",
    "mip_eta",
    "tpr_ceiling",
    "tpr_floor",
]
