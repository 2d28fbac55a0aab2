"""``/v1/plan``: how many records it takes, or how many trained models."""

from __future__ import annotations

from estimators import plan_verdict, plan_width
from estimators.decisions.plan import expected_design_effect
from estimators.runs.procedure import plan_models
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import parse_question, reply_of
from macekit.problems import Problem
from macekit.questions.plan.contract import PlanAnswer, PlanQuestion
from macekit.schemas.statements import WarningAnswer

OF_CLUSTERS = ("design_effect", "cluster_size", "correlation")


def answer(call: Call, body: DecodedBody) -> Reply:
    """Records for a decision about a limit, or for an interval of a width; models for a decision about a procedure."""
    q = parse_question(PlanQuestion, body)
    if (q.max_advantage is None) == (q.width is None):
        raise Problem(
            "bad-option", "plan: give max_advantage or width, one of the two", field="max_advantage"
        )
    work = _of_records if q.spread is None and q.records_per_model is None else _of_models
    return reply_of(call, work(q, encode.warnings(body.cautions)))


def _of_records(q: PlanQuestion, notes: list[WarningAnswer]) -> PlanAnswer:
    shared = (q.prior, q.member_share, q.confidence, _design_effect(q), q.cluster_size or 1)
    result = (
        plan_verdict(q.expected, q.max_advantage, *shared)
        if q.max_advantage is not None
        else plan_width(q.expected, q.width or 0.0, *shared)
    )
    return {
        "records": result.records,
        "members": result.members,
        "nonmembers": result.nonmembers,
        "models": None,
        "sentence": result.sentence,
        "warnings": notes,
    }


def _design_effect(q: PlanQuestion) -> float:
    """How many times as many records it takes, as it was given or by how large and how alike clusters are."""
    if q.correlation is None:
        if q.cluster_size is not None and q.design_effect is None:
            raise Problem(
                "bad-option",
                "cluster_size: says nothing by itself; give design_effect or correlation beside it",
                field="cluster_size",
            )
        return q.design_effect or 1.0
    if q.design_effect is not None or q.cluster_size is None:
        what = "goes with cluster_size" if q.cluster_size is None else "does not go with design_effect"
        raise Problem("bad-option", f"correlation: {what}", field="correlation")
    return expected_design_effect(q.cluster_size, q.correlation)


def _of_models(q: PlanQuestion, notes: list[WarningAnswer]) -> PlanAnswer:
    for name in ("spread", "records_per_model", "max_advantage"):
        if getattr(q, name) is None:
            raise Problem(
                "bad-option",
                f"{name}: a plan of models needs spread, records_per_model and max_advantage",
                field=name,
            )
    for name in OF_CLUSTERS:
        if getattr(q, name) is not None:
            raise Problem(
                "bad-option",
                f"{name}: a plan of models is one of independent records in each; remove it",
                field=name,
            )
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
