"""``/v1/report``: everything about one sample, and what its pictures are drawn from."""

from __future__ import annotations

from typing import cast

from numpy.typing import ArrayLike

from estimators import Assessment, Counts, IndividualRisk, Scores, individual_risk
from estimators.audit.roc import band
from estimators.risk.individual import RiskByCell, risk_by_cell
from estimators.sample.shape import shape
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.advantage import assessed
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.risk import by_group_of, group_rows, summary
from macekit.operations.samples import sample_of, submitted_scores
from macekit.problems import Problem
from macekit.schemas.answers import GroupAnswer
from macekit.schemas.questions import ReportQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """The answer of /v1/advantage, the distributions, the band of the ROC, the risk over the score, the groups."""
    question = parse_question(ReportQuestion, body)
    data = sample_of(body, question)
    if body.groups is not None and isinstance(data, Counts):
        raise Problem(
            "bad-option",
            "groups: counts hold no records, so none can be told to be in a group",
            field="groups",
        )
    assessment = assessed(data, question)
    histogram = shape(data, assessment.fine)
    risks = _risks(body, data, assessment, question)
    result = encode.assessment(assessment, data, provenance_options(question, call))
    document = {
        "sentence": result["sentence"],
        "result": result,
        "band": []
        if assessment.roc is None or assessment.fine is None
        else encode.points(band(assessment.fine, question.confidence)),
        "distribution": None if histogram is None else encode.distribution(histogram),
        "risk": summary(risks),
        "groups": _groups(risks, body, data, question),
        "warnings": encode.warnings((*assessment.cautions, *risks.cautions)),
        "provenance": result["provenance"],
    }
    return reply_of(call, document, data)


def _risks(
    body: DecodedBody, data: Scores | Counts, assessment: Assessment, question: ReportQuestion
) -> IndividualRisk | RiskByCell:
    """Individual risk: cell by cell, from counts that are made already, unless records must be told apart."""
    level = question.prior, question.confidence
    if isinstance(data, Counts) or (body.groups is None and body.units is None):
        return risk_by_cell(data if assessment.fine is None else assessment.fine, *level)
    every = None if body.units is None else submitted_scores(body)
    return individual_risk(data, *level, every, cast("ArrayLike | None", body.groups))


def _groups(
    risks: IndividualRisk | RiskByCell,
    body: DecodedBody,
    data: Scores | Counts,
    question: ReportQuestion,
) -> list[GroupAnswer]:
    if isinstance(risks, RiskByCell):
        return []
    return group_rows(risks, by_group_of(data, body.groups, question))
