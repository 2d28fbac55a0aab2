"""``/v1/advantage``: everything about one sample."""

from __future__ import annotations

from dataclasses import replace

from estimators import Assessment, AssessOptions, Counts, Scores, assess
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_advantage_acts
from macekit.operations.options import metric, parse_question, provenance_options, reading, reply_of, target
from macekit.operations.samples import clusters_of, sample_of
from macekit.schemas.questions import AdvantageQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """The optimal advantage with its interval, and what belongs to it."""
    question = parse_question(AdvantageQuestion, body)
    data = sample_of(body, question)
    return reply_of(
        call,
        encode.assessment(
            assessed(data, question, body), data, provenance_options(question, call), encode.columns_of(body)
        ),
        data,
    )


def assessed(
    data: Scores | Counts, question: AdvantageQuestion, body: DecodedBody, *, with_limit: bool = True
) -> Assessment:
    """Everything the library has to say to the question, and first what is odd about the rows.

    ``with_limit`` says whether its limit is judged here, and not with others.
    """
    adversaries = target(question.estimator, question.changes)
    require_advantage_acts(question, data, units=body.units is not None)
    assessment = assess(
        data,
        AssessOptions(
            prior=question.prior,
            target=adversaries,
            metric=None if question.metric is None else metric(question.metric, question.prior),
            confidence=question.confidence,
            max_advantage=question.max_advantage if with_limit else None,
            claimed_epsilon=question.claimed_epsilon,
            claimed_delta=question.claimed_delta,
            operating_points=tuple(question.operating_points),
            seed=question.seed,
            reading=reading(question.estimator, question.seed),
            set_members=question.set_members,
            set_nonmembers=question.set_nonmembers,
            accept_exposure=question.accept_exposure,
        ),
        clusters_of(body),
    )
    return replace(assessment, cautions=(*body.cautions, *assessment.cautions))
