"""``/v1/metrics``: several metrics of one sample."""

from __future__ import annotations

from estimators import PRESETS, Counts, metric_optimum
from estimators.report import fingerprint
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.options import metric, question_of, reply_of, stated
from macekit.operations.samples import counted, sample_of
from macekit.problems import Problem
from macekit.schemas.answers import MetricsAnswer
from macekit.schemas.questions import MetricsQuestion


def answer(call: Call, material: DecodedBody) -> Reply:
    """Each metric at its optimum, with an interval of its own."""
    question = question_of(MetricsQuestion, material)
    data = sample_of(material, question)
    counts = counted(data)
    if not isinstance(counts, Counts):
        raise Problem(
            "bad-option",
            "metrics: need one score for each record, not a vector; send the score of a learned adversary, "
            "or ask /v1/advantage",
            field="members",
        )
    wanted = question.metrics if question.metrics is not None else list(PRESETS)
    found = [
        metric_optimum(
            counts,
            metric(given, question.prior),  # type: ignore[arg-type]
            question.prior,
            question.min_positive_share,
            question.confidence,
            question.bins,
            question.seed,
        )
        for given in wanted
    ]
    answered: MetricsAnswer = {
        "metrics": [encode.metric(each) for each in found],
        "provenance": encode.provenance(
            data, found[0].provenance.method, question.seed, stated(question, call), fingerprint(data)
        ),
    }
    return reply_of(call, answered, data)
