"""``/v1/procedure``: what a training procedure gives away, from several models that it trained."""

from typing import cast

from numpy.typing import ArrayLike

from estimators import Counts, Estimate, Interval
from estimators.runs.procedure import ProcedureVerdict, procedure_advantage
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_acceptance_acts
from macekit.operations.options import parse_question, provenance, reply_of
from macekit.operations.samples import sample_of
from macekit.problems import fault
from macekit.questions.runs.procedure import ProcedureAnswer, ProcedureQuestion, ProcedureVerdictAnswer
from macekit.schemas.statements import IntervalAnswer


def answer(call: Call, body: DecodedBody) -> Reply:
    """The mean over trainings, the next model, and how they vary."""
    question = parse_question(ProcedureQuestion, body)
    require_acceptance_acts(question)
    if body.units is not None:
        raise fault("bad-option", "units", "does not go with model, of which all records are used")
    data = sample_of(body, question)
    if isinstance(data, Counts):
        raise fault("bad-option", "counts", "do not say which model scored a record; send scores")
    if body.models is None:
        raise fault("missing-field", "model", "is required and missing: which model scored each record")
    if question.accept_simulated and question.max_advantage is None:
        detail = "without max_advantage there is no verdict to rest on it"
        raise fault("bad-option", "accept_simulated", detail)
    result = procedure_advantage(
        data, cast("ArrayLike", body.models), question.prior, question.confidence, question.seed
    )
    verdict = None
    if question.max_advantage is not None:
        verdict = result.verdict(question.max_advantage, question.accept_simulated, question.accept_exposure)
    content: ProcedureAnswer = {
        "sentence": result.sentence if verdict is None else f"{verdict.sentence} {result.sentence}",
        "advantage": encode.interval(result.estimate),
        "next_model": _without_estimate(result.next_model),
        "any_variation": _without_estimate(result.any_variation),
        "spread": encode.interval(result.spread),
        "records_cannot": encode.interval(result.records_cannot),
        "baseline": result.baseline,
        "verdict": None if verdict is None else _verdict(verdict),
        "models": [
            {
                **encode.interval(each.estimate),
                "name": each.label,
                "members": each.n_members,
                "nonmembers": each.n_nonmembers,
            }
            for each in result.models
        ],
        "warnings": encode.warnings((*body.cautions, *(() if verdict is None else verdict.cautions), *result.cautions)),
        "provenance": provenance(call, question, body, data, result.provenance.method),
    }
    return reply_of(call, content, data)


def _without_estimate(interval: Interval) -> IntervalAnswer:
    return encode.interval(Estimate(None, interval))


def _verdict(verdict: ProcedureVerdict) -> ProcedureVerdictAnswer:
    rests_on = "any_variation" if verdict.is_proven else "advantage"
    return encode.as_answer(ProcedureVerdictAnswer, verdict, decision=verdict.decision.value, rests_on=rests_on)
