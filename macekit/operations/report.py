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
from macekit.operations.options import question_of, reply_of, stated
from macekit.operations.risk import by_group_of, group_rows, summary
from macekit.operations.samples import posted, sample_of
from macekit.problems import Problem
from macekit.schemas.answers import GroupAnswer
from macekit.schemas.questions import ReportQuestion


def answer(call: Call, material: DecodedBody) -> Reply:
    """The answer of /v1/advantage, the distributions, the band of the ROC, the risk over the score, the groups."""
    question = question_of(ReportQuestion, material)
    data = sample_of(material, question)
    if material.groups is not None and isinstance(data, Counts):
        raise Problem(
            "bad-option",
            "groups: counts hold no records, so none can be told to be in a group",
            field="groups",
        )
    found = assessed(data, question)
    drawn = shape(data, found.fine)
    exposed = _exposed(material, data, found, question)
    result = encode.assessment(found, data, stated(question, call))
    answered = {
        "sentence": result["sentence"],
        "result": result,
        "band": []
        if found.roc is None or found.fine is None
        else encode.points(band(found.fine, question.confidence)),
        "distribution": None if drawn is None else encode.distribution(drawn),
        "risk": summary(exposed),
        "groups": _groups(exposed, material, data, question),
        "warnings": encode.warnings((*found.cautions, *exposed.cautions)),
        "provenance": result["provenance"],
    }
    return reply_of(call, answered, data)


def _exposed(
    material: DecodedBody, data: Scores | Counts, found: Assessment, question: ReportQuestion
) -> IndividualRisk | RiskByCell:
    """Individual risk: cell by cell, from counts that are made already, unless records must be told apart."""
    asked = question.prior, question.confidence
    if isinstance(data, Counts) or (material.groups is None and material.units is None):
        return risk_by_cell(data if found.fine is None else found.fine, *asked)
    every = None if material.units is None else posted(material)
    return individual_risk(data, *asked, every, cast("ArrayLike | None", material.groups))


def _groups(
    exposed: IndividualRisk | RiskByCell,
    material: DecodedBody,
    data: Scores | Counts,
    question: ReportQuestion,
) -> list[GroupAnswer]:
    if isinstance(exposed, RiskByCell):
        return []
    return group_rows(exposed, by_group_of(data, material.groups, question))
