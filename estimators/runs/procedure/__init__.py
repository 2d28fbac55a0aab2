"""Several models that one training procedure made: what it gives away, and what the next one will."""

from estimators.runs.procedure.answer import ModelAdvantage, Procedure, ProcedureVerdict, procedure_advantage
from estimators.runs.procedure.planning import ModelPlan, plan_models

__all__ = ["ModelAdvantage", "ModelPlan", "Procedure", "ProcedureVerdict", "plan_models", "procedure_advantage"]
