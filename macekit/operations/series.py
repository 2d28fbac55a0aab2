"""``/v1/series``: the advantage at every step of a series, and how far a limit is kept."""

from __future__ import annotations

from estimators.series import advantage_series
from estimators.statement import baseline
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode, riskiest
from macekit.operations.options import parse_question, provenance_options, reply_of
from macekit.operations.samples import by_release, clusters_of, queries_of, with_counts
from macekit.schemas.answers import SeriesAnswer
from macekit.schemas.questions import SeriesQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Every step with its interval, in the order in which the steps came."""
    question = parse_question(SeriesQuestion, body)
    samples = queries_of(body, question.query)
    cluster = clusters_of(body)
    data = samples if cluster else {name: with_counts(each) for name, each in samples.items()}
    series = advantage_series(
        by_release(data),
        question.max_advantage,
        question.prior,
        question.confidence,
        question.seed,
        cluster,
    )
    last, failed = series.last_passed, series.first_failed
    content: SeriesAnswer = {
        "sentence": series.sentence,
        "decision": riskiest.decision_of(series),
        "last_passed": None if last is None else str(last.label),
        "first_failed": None if failed is None else str(failed.label),
        "max_advantage": question.max_advantage,
        "baseline": baseline(question.prior),
        "steps": [
            {
                **riskiest.step(step),
                "name": str(step.label),
                "records_needed": step.records_needed,
                "clusters": encode.clusters(step.clusters),
            }
            for step in series.steps
        ],
        "warnings": encode.warnings((*body.cautions, *series.cautions)),
        "provenance": riskiest.provenances(
            body, samples, "series", question.seed, provenance_options(question, call)
        ),
    }
    return reply_of(call, content, *samples.values())
