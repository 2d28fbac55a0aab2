"""``/v1/metrics``: several metrics of one sample."""

from dataclasses import replace

from estimators import Caution, CellsTarget, Counts, MetricEstimate, Scores, advantage, metric_optimum
from estimators.adversary.learned import LearnedScore
from estimators.clusters.dependent_rows import lone_caution
from estimators.metric.estimate import is_line
from estimators.metric.presets import every_metric
from estimators.paper import paper_metrics
from estimators.sample.digests import fingerprint
from macekit.call import Call, Reply
from macekit.decoding.body import DecodedBody
from macekit.operations import encode, options
from macekit.operations.effects import require_bins_act
from macekit.operations.samples import clusters_of, lone_of, one_score, sample_of
from macekit.questions.metrics import MetricsAnswer, MetricsQuestion


def answer(call: Call, body: DecodedBody) -> Reply:
    """Each metric at its optimum, with an interval of its own."""
    question = options.parse_question(MetricsQuestion, body)
    data = sample_of(body, question)
    bins, notes = options.cells_asked(question)
    require_bins_act(bins, data, values=True)
    cluster = clusters_of(body)
    lone = lone_of(data, cluster, question.seed)
    counts, learned = one_score(lone, question)
    published = options.paper_reading(question.estimator, bins)
    choice = question.metrics if question.metrics is not None else every_metric()
    of_all = None  # what accuracy and all that is a line in it rest on, where rows come in clusters
    if cluster is not None and learned is None:
        of_all = advantage(data, question.prior, CellsTarget(bins), question.confidence, question.seed, cluster=cluster)
    results = [
        metric_optimum(
            counts,
            options.metric(option, question.prior),
            question.prior,
            question.min_positive_share,
            question.confidence,
            bins,
            question.seed,
            reuse=of_all,
        )
        for option in choice
    ]
    # the cells are counted already; slices and kernel densities, of vectors too, only if they are asked for
    read = counts if published is None else lone
    by_paper = paper_metrics(read, [each.metric for each in results], question.prior, question.seed, published)
    document: MetricsAnswer = {
        "metrics": [
            encode.metric(_about(each, learned, (*notes, *body.cautions, *_rows(each, lone, data, question))), of_paper)
            for each, of_paper in zip(results, by_paper, strict=True)
        ],
        "learned_score": encode.learned_score(learned or counts),
        "clusters": None if of_all is None else encode.clusters(of_all.clusters),
        "provenance": options.provenance(call, question, body, data, results[0].provenance.method, fingerprint(data)),
    }
    return options.reply_of(call, document, data)


def _rows(
    result: MetricEstimate, lone: Scores | Counts, data: Scores | Counts, question: MetricsQuestion
) -> tuple[Caution, ...]:
    """From which rows a metric is stated that does not allow for clusters."""
    of_all = is_line(result.metric, question.prior, question.min_positive_share)
    return () if of_all else lone_caution(lone, data)


def _about(result: MetricEstimate, learned: LearnedScore | None, cautions: tuple[Caution, ...]) -> MetricEstimate:
    """A metric that says first what is odd about the rows, and which learned score it speaks of, if it does of one."""
    first = cautions if learned is None else (*cautions, learned.caution)
    return replace(result, cautions=(*first, *result.cautions))
