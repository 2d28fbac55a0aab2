"""From what a model answers about its training rows and about others to one verdict on the model."""

from estimators.audits.model.answers import (
    KINDS,
    SCALES,
    TOGETHER,
    Outputs,
    Scale,
    Shadows,
    floor_of,
    kind_of,
    left_out_of_shadows,
    require_no_shares,
    shadow_scores,
    shadow_signals,
    without_same_order,
)
from estimators.audits.model.strength import MOST_PLANTED, Strength, planting, query_strength
from estimators.audits.model.verdict import Fit, ModelAudit, audit_model

__all__ = [
    "KINDS",
    "MOST_PLANTED",
    "SCALES",
    "TOGETHER",
    "Fit",
    "ModelAudit",
    "Outputs",
    "Scale",
    "Shadows",
    "Strength",
    "audit_model",
    "floor_of",
    "kind_of",
    "left_out_of_shadows",
    "planting",
    "query_strength",
    "require_no_shares",
    "shadow_scores",
    "shadow_signals",
    "without_same_order",
]
