"""``/v1/metrics``: several metrics of one sample."""

from __future__ import annotations

from estimators import PRESETS, Counts, metric_optimum
from estimators.paper import paper_metric
from estimators.report import fingerprint
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import metric, paper_reading, parse_question, provenance_options, reply_of
from macekit.operations.samples import sample_of, with_counts
from macekit.problems import Problem
from macekit.schemas.answers import MetricsAnswer
from macekit.schemas.questions import MetricsQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Each metric at its optimum, with an interval of its own."""
    question = parse_question(MetricsQuestion, body)
    data = sample_of(body, question)
    counts = with_counts(data)
    if not isinstance(counts, Counts):
        raise Problem(
            "bad-option",
            "metrics: need one score for each record, not a vector; send the score of a learned adversary, "
            "or ask /v1/advantage",
            field="members",
        )
    published = paper_reading(question.estimator, question.bins)
    choice = question.metrics if question.metrics is not None else list(PRESETS)
    results = [
        metric_optimum(
            counts,
            metric(option, question.prior),  # type: ignore[arg-type]
            question.prior,
            question.min_positive_share,
            question.confidence,
            question.bins,
            question.seed,
        )
        for option in choice
    ]
    document: MetricsAnswer = {
        "metrics": [
            encode.metric(each, paper_metric(data, each.metric, question.prior, question.seed, published))
            for each in results
        ],
        "provenance": encode.provenance(
            data,
            results[0].provenance.method,
            question.seed,
            provenance_options(question, call),
            fingerprint(data),
        ),
    }
    return reply_of(call, document, data)
