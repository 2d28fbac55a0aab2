"""The report of a metrics answer."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import metrics
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import records, worth

HEAD = (
    "Metric",
    "Without the score",
    "Guess member where the posterior is",
    "Called members, from",
    "to",
    "The paper prints",
    "Its rule accuses",
)

BRIEF = ("Metric", "Estimate", "Lower end", "Upper end", "Without the score")


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Each metric at its optimum: the first one's sentence, all in a table, each in words."""
    entries, source = answer["metrics"], answer["provenance"]
    table = Numbers()
    for metric in entries:
        table.interval(metric["name"].untrusted(), metric, metric["confidence"])
    brief = model.Table("Metrics", BRIEF, tuple(map(_brief, entries)))
    first = entries[0]
    tiles = (
        model.Fact("At least", first["lower"].number(), (first["name"].untrusted(),)),
        model.Fact("At most", first["upper"].number(), (first["name"].untrusted(),)),
        model.Fact("Without the score", first["trivial"].number(), ("the best guess without it",)),
        *records(source),
        *worth(answer["clusters"]),
    )
    prior = source["options"]["prior"]
    blocks: tuple[model.Block, ...] = (
        *figures.pick("metrics"),
        *table.tables("The largest value of each metric, over adversaries"),
        model.Table("How each is reached", HEAD, tuple(map(_row, entries))),
        model.Bullets(tuple((metric["sentence"].quote(),) for metric in entries)),
    )
    sections = (
        model.Section("metrics", "Metrics", blocks, (brief,)),
        limitations.section(_open(entries, prior, answer["clusters"]), *(metric["warnings"] for metric in entries)),
        provenance.section("metrics", source, context),
    )
    return model.Report(
        "Metrics of membership leakage", model.Headline(None, first["sentence"].quote()), model.Facts(tiles), sections
    )


def _brief(metric: model.AnswerPath) -> tuple[model.Cell, ...]:
    return metric["name"].untrusted(), *metric.numbers("estimate", "lower", "upper", "trivial")


def _row(metric: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        metric["name"].untrusted(),
        *metric.numbers("trivial", "threshold", "least_share", "most_share", "paper"),
        metric["paper_member_guesses"].number("count"),
    )


def _open(entries: model.AnswerPath, prior: model.AnswerPath, clusters: model.AnswerPath) -> Iterator[model.Inline]:
    for metric in entries:
        yield from limitations.of_optimum(metric)
    yield from limitations.of_sample(prior, clusters)


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """Each metric with its interval."""
    return (metrics(answer["metrics"]),)
