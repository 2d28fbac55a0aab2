"""``/v1/plan``: how many records it takes, or how many trained models."""

from estimators import plan_verdict, plan_width
from estimators.decisions.plan import expected_design_effect
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import answer_of_wing, encode
from macekit.operations.options import parse_question, reply_of
from macekit.problems import Problem, fault
from macekit.questions.plan import PlanAnswer, PlanQuestion
from macekit.schemas.statements import WarningAnswer


def answer(call: Call, body: DecodedBody) -> Reply:
    """Records for a decision about a limit, or for an interval of a width."""
    q = parse_question(PlanQuestion, body)
    if (q.max_advantage is None) == (q.width is None):
        detail = "plan: give max_advantage or width, one of the two"
        raise Problem("bad-option", detail, field="max_advantage")
    if (reply := answer_of_wing(call, body, q)) is not None:
        return reply
    return reply_of(call, _of_records(q, encode.warnings(body.cautions)))


def _of_records(q: PlanQuestion, notes: list[WarningAnswer]) -> PlanAnswer:
    shared = (q.prior, q.member_share, q.confidence, _design_effect(q), q.cluster_size or 1)
    result = (
        plan_verdict(q.expected, q.max_advantage, *shared)
        if q.max_advantage is not None
        else plan_width(q.expected, q.width or 0.0, *shared)
    )
    return encode.as_answer(PlanAnswer, result, models=None, warnings=notes)


def _design_effect(q: PlanQuestion) -> float:
    """How many times as many records it takes, as it was given or by how large and how alike clusters are."""
    if q.correlation is None:
        if q.cluster_size is not None and q.design_effect is None:
            detail = "says nothing by itself; give design_effect or correlation beside it"
            raise fault("bad-option", "cluster_size", detail)
        return q.design_effect or 1.0
    if q.design_effect is not None or q.cluster_size is None:
        what = "goes with cluster_size" if q.cluster_size is None else "does not go with design_effect"
        raise fault("bad-option", "correlation", what)
    return expected_design_effect(q.cluster_size, q.correlation)
