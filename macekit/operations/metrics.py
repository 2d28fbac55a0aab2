"""``/v1/metrics``: several metrics of one sample."""

from __future__ import annotations

from dataclasses import replace

from estimators import PRESETS, Caution, Counts, MetricEstimate, metric_optimum
from estimators.adversary.learned import LearnedScore
from estimators.paper import paper_metrics
from estimators.report import fingerprint
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode
from macekit.operations.effects import require_bins_act
from macekit.operations.options import metric, paper_reading, parse_question, provenance_options, reply_of
from macekit.operations.samples import one_score, sample_of, with_counts
from macekit.schemas.answers import MetricsAnswer
from macekit.schemas.questions import MetricsQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Each metric at its optimum, with an interval of its own."""
    question = parse_question(MetricsQuestion, body)
    data = sample_of(body, question)
    require_bins_act(question.bins, data, values=True)
    scores, learned = one_score(data, question)
    counts = with_counts(scores) if learned is None else learned.counts
    assert isinstance(counts, Counts)
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
    # of vectors the paper has densities and cells, but they take long: only if they are asked for
    read = scores if question.estimator is None else data
    by_paper = paper_metrics(
        read, [each.metric for each in results], question.prior, question.seed, published
    )
    document: MetricsAnswer = {
        "metrics": [
            encode.metric(_about(each, learned, body.cautions), of_paper)
            for each, of_paper in zip(results, by_paper, strict=True)
        ],
        "learned_score": encode.learned_score(learned or counts),
        "provenance": encode.provenance(
            data,
            results[0].provenance.method,
            question.seed,
            provenance_options(question, call),
            encode.columns_of(body),
            fingerprint(data),
        ),
    }
    return reply_of(call, document, data)


def _about(
    result: MetricEstimate, learned: LearnedScore | None, cautions: tuple[Caution, ...]
) -> MetricEstimate:
    """A metric that says first what is odd about the rows, and which learned score it speaks of, if it does of one."""
    first = cautions if learned is None else (*cautions, learned.caution)
    return replace(result, cautions=(*first, *result.cautions))
