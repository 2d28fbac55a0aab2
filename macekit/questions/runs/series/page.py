"""The report on a series: each step with its interval, and how far the limit is kept."""

from collections.abc import Iterator

from macekit.questions.compare.page import origin
from macekit.reports import model
from macekit.reports.charts.forest import steps
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.plain_words import without_leak, worth

IN_ORDER: model.Inline = (
    "The steps and their order have to be fixed before the records are seen. Later steps may give away less than "
    "earlier ones; how far the limit is kept ends before the first that is not shown to keep it.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """How far the limit is kept, then every step."""
    sources, entries = answer["provenance"], answer["steps"]
    table = model.table_of("Every step", ("Step", *riskiest.STEPS), entries, _row, riskiest.BAND)
    sections = (
        model.Section("steps", "Every step", (*figures.pick("steps"), table), (table,)),
        guarantees.backings([("The interval of a step covers ", entries[0])]),
        limitations.section(_open(answer), answer["warnings"]),
        origin(provenance.section("series", sources[0], context, sources=sources), sources),
    )
    facts = model.Facts(tuple(_facts(answer)))
    return model.Report("The advantage along a series", model.headline(answer, answer), facts, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    last, failed = answer["last_passed"], answer["first_failed"]
    if answer["decision"].value is not None:
        limit: model.Inline = ("keep the advantage at or below ", answer["max_advantage"].number("exact"))
        yield model.Fact("All steps up to", "none" if last.value is None else last.untrusted(), limit)
        yield model.Fact(
            "First shown to exceed it", "none" if failed.value is None else failed.untrusted(), ()
        )
    yield without_leak(answer["baseline"], answer["provenance"][0]["options"]["prior"])
    yield from worth(answer["steps"][0]["clusters"])


def _row(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return step["name"].untrusted(), *riskiest.step_row(step)


def _open(answer: model.AnswerPath) -> Iterator[model.Inline]:
    yield IN_ORDER
    yield riskiest.OTHERS
    yield from limitations.of_sample(
        answer["provenance"][0]["options"]["prior"], answer["steps"][0]["clusters"]
    )


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The advantage step by step."""
    return (steps(answer),)
