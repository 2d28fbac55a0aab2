"""``/v1/plan`` about a procedure: how many models it takes."""

from estimators.runs.procedure import plan_models
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import reply_of
from macekit.problems import fault
from macekit.questions.plan import PlanAnswer, PlanQuestion
from macekit.schemas.statements import WarningAnswer

OF_CLUSTERS = ("design_effect", "cluster_size", "correlation")


def answer(call: Call, body: DecodedBody, q: PlanQuestion) -> Reply:
    """Models for a decision about a procedure."""
    return reply_of(call, _of_models(q, encode.warnings(body.cautions)))


def _of_models(q: PlanQuestion, notes: list[WarningAnswer]) -> PlanAnswer:
    for name in ("spread", "records_per_model", "max_advantage"):
        if getattr(q, name) is None:
            detail = "a plan of models needs spread, records_per_model and max_advantage"
            raise fault("bad-option", name, detail)
    for name in OF_CLUSTERS:
        if getattr(q, name) is not None:
            detail = "a plan of models is one of independent records in each; remove it"
            raise fault("bad-option", name, detail)
    result = plan_models(
        q.expected,
        q.max_advantage or 0.0,
        q.spread or 0.0,
        q.records_per_model or 0,
        q.prior,
        q.member_share,
        q.confidence,
    )
    records = None if result.models is None else result.models * result.records
    members = None if result.models is None else result.models * round(q.member_share * result.records)
    return {
        "records": records,
        "members": members,
        "nonmembers": None if records is None or members is None else records - members,
        "models": result.models,
        "sentence": result.sentence,
        "warnings": notes,
    }
