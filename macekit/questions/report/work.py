"""``/v1/report``: everything about one sample, and what its pictures are drawn from."""

from math import isinf
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from estimators import (
    Assessment,
    CellsTarget,
    Counts,
    IndividualRisk,
    LearnedTarget,
    MeanRisk,
    Scores,
    individual_risk,
    mean_risk,
)
from estimators.adversary.learned import DEFAULT_LEARNERS
from estimators.decisions.gate import Judgement, judge
from estimators.decisions.gate_sample import Limit
from estimators.decisions.group_limit import MaxGroupAdvantage
from estimators.decisions.maxima import MaxAdvantage
from estimators.errors import NotFinite, OutOfRange
from estimators.paper import EqualWidth, Kernel, record_risk
from estimators.privacy.band import best_precision, roc_band
from estimators.risk.cells import mean_from
from estimators.risk.individual import RiskByCell, risk_by_cell
from estimators.sample.locating import SampleRange
from estimators.sample.scores import Query
from estimators.sample.shape import Shape, shape
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode, samples
from macekit.operations.options import metric, parse_question, provenance_options, reading, reply_of, target
from macekit.problems import fault
from macekit.questions.advantage.work import assessed
from macekit.questions.gate import work as gate
from macekit.questions.report import ReportQuestion
from macekit.questions.risk.work import by_group_of, group_rows, metric_of_cells, rows_of_groups, summary
from macekit.schemas.answers import GroupAnswer, PosteriorCurveAnswer

CURVE_POINTS = 161  # points along the score at which kernel densities are stated


def answer(call: Call, body: DecodedBody) -> Reply:
    """The answer of /v1/advantage, the distributions, the band of the ROC, the risk over the score, the groups."""
    question = parse_question(ReportQuestion, body)
    data = samples.sample_of(body, question)
    if body.groups is not None and isinstance(data, Counts):
        detail = (
            "counts hold no records, so none can be told to be in a group; give the counts of each group "
            "with them (counts.by_group)"
        )
        raise fault("bad-option", "groups", detail)
    decision = None if question.max_group_advantage is None else _decision(body, data, question)
    assessment = assessed(data, question, body, with_limit=decision is None)
    lone = assessment.lone or data
    source = lone if assessment.learned is None else assessment.learned.scores
    histogram = shape(source, assessment.fine)
    risks = _risks(body, data, assessment, question)
    of_record = None
    if assessment.metric is not None and question.metric is not None:
        of_record = metric_of_cells(lone, risks, metric(question.metric, question.prior), question)
    result = encode.assessment(assessment, data, provenance_options(question, call), encode.columns_of(body))
    band, surest = None, []
    if assessment.roc is not None and assessment.fine is not None:
        band = roc_band(assessment.fine, question.confidence)
        surest = best_precision(assessment.fine, question.prior, question.confidence)
    document = {
        "sentence": result["sentence"] if decision is None else f"{decision.sentence} {result['sentence']}",
        "result": result,
        "band": [] if band is None else encode.band(band),
        "rarest_fpr": None if band is None else band.rarest,
        "precision": encode.best_precision(surest),
        "distribution": None if histogram is None else encode.distribution(histogram),
        "posterior": [] if histogram is None else _posterior(source, histogram, question),
        "risk": summary(risks, _mean(lone, assessment, risks), of_record),
        "groups": _groups(risks, body, data, question),
        "gate": None if decision is None else gate.decision(decision),
        "warnings": encode.warnings(
            (*(() if decision is None else decision.cautions), *assessment.cautions, *risks.cautions)
        ),
        "provenance": result["provenance"],
    }
    return reply_of(call, document, data)


def _decision(body: DecodedBody, data: Scores | Counts, question: ReportQuestion) -> Judgement:
    """The limit on each group by itself, with that on all records if there is one: they share the error."""
    table = samples.groups_of_counts(body, data) if isinstance(data, Counts) else None
    if body.groups is None and table is None:
        detail = "max_group_advantage needs a label for each record, or counts with those of each group"
        raise fault("missing-field", "groups", detail)
    adversaries = target(question.estimator, question.changes)
    labels = samples.groups_of_kept(body, question) if table is None else table
    limits: list[Limit] = [MaxGroupAdvantage(cast("float", question.max_group_advantage), labels, adversaries)]
    if question.max_advantage is not None:
        limits.insert(0, MaxAdvantage(question.max_advantage, adversaries))
    learned = adversaries if isinstance(adversaries, LearnedTarget) else None
    level = question.prior, question.confidence, question.seed
    return judge(data, limits, *level, learned, samples.clusters_of(body), question.accept_exposure)


def _risks(
    body: DecodedBody, data: Scores | Counts, assessment: Assessment, question: ReportQuestion
) -> IndividualRisk | RiskByCell:
    """Individual risk: cell by cell, from counts that are made already, unless records must be told apart."""
    level = question.prior, question.confidence
    adversaries = assessment.options.target
    learners = adversaries.learners if isinstance(adversaries, LearnedTarget) else DEFAULT_LEARNERS
    thinned = body.units is not None or assessment.lone is not None
    if isinstance(data, Counts) or (body.groups is None and not thinned):
        vector = isinstance(data, Scores) and data.dimension > 1
        whole = data if assessment.fine is None or vector else assessment.fine
        return risk_by_cell(whole, *level, seed=question.seed, learners=learners)
    every = samples.submitted_scores(body, data) if thinned else None
    return individual_risk(
        assessment.lone or data,
        *level,
        every,
        cast("ArrayLike | None", body.groups),
        seed=question.seed,
        stand_for=samples.stand_for(body, data, question),
        learners=learners,
        sample_range=SampleRange.of(data),
    )


def _posterior(data: Scores | Counts, picture: Shape, question: ReportQuestion) -> list[PosteriorCurveAnswer]:
    """The chance of being a member along the score, by kernel densities and by slices, as the paper states it."""
    if not isinstance(data, Scores) or data.query is not Query.CONTINUOUS or picture.edges is None:
        return []
    choice = reading(question.estimator)
    slices = choice if isinstance(choice, EqualWidth) else EqualWidth()
    low, high = (float(f([f(data.members), f(data.nonmembers)])) for f in (np.min, np.max))
    if isinf(high - low):
        return []
    edges = np.linspace(low, high, slices.bins + 1)
    edges = edges[(edges >= picture.edges[0]) & (edges <= picture.edges[-1])]
    points = np.linspace(float(picture.edges[0]), float(picture.edges[-1]), CURVE_POINTS)
    curves = []
    for way, starts, ends in (
        (choice if isinstance(choice, Kernel) else Kernel(), points, points),
        (slices, edges[:-1], edges[1:]),
    ):
        try:
            rows = record_risk(data, question.prior, question.confidence, way, (starts + ends) / 2.0)
        except (NotFinite, OutOfRange):  # scores at the ends of what a float holds have no bandwidth
            continue
        curves.append(encode.posterior_curve(rows, starts, ends))
    return curves


def _mean(data: Scores | Counts, assessment: Assessment, risks: IndividualRisk | RiskByCell) -> MeanRisk:
    """The mean risk: the advantage of this answer, where that is of the cells and not of an assumed class."""
    options = assessment.options
    vector = isinstance(data, Scores) and data.dimension > 1
    if assessment.advantage.target == CellsTarget() and not vector:
        return mean_from(assessment.advantage, risks.cells)
    boxes = vector and assessment.learned is None
    whole = data if boxes else assessment.fine or data
    return mean_risk(whole, risks.cells, options.confidence, options.seed)


def _groups(
    risks: IndividualRisk | RiskByCell, body: DecodedBody, data: Scores | Counts, question: ReportQuestion
) -> list[GroupAnswer]:
    if isinstance(risks, RiskByCell):
        return rows_of_groups(body, data, risks, question) if isinstance(data, Counts) else []
    return group_rows(risks.groups, by_group_of(data, body.groups, question, samples.clusters_of(body)))
