"""``/v1/plan``: how many records it takes."""

from __future__ import annotations

from estimators import plan_verdict, plan_width
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations.options import parse_question, reply_of
from macekit.problems import Problem
from macekit.schemas.answers import PlanAnswer
from macekit.schemas.questions import PlanQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Records for a decision at a threshold, or for an interval of a width."""
    q = parse_question(PlanQuestion, body)
    if (q.threshold is None) == (q.width is None):
        raise Problem("bad-option", "plan: give threshold or width, one of the two", field="threshold")
    shared = (q.prior, q.member_share, q.confidence)
    result = (
        plan_verdict(q.expected, q.threshold, *shared)
        if q.threshold is not None
        else plan_width(q.expected, q.width or 0.0, *shared)
    )
    document: PlanAnswer = {
        "records": result.records,
        "members": result.members,
        "nonmembers": result.nonmembers,
        "sentence": result.sentence,
    }
    return reply_of(call, document)
