"""What reports on scores of a model's answers share: the verdict, every query, and what was not asked."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import ranking
from macekit.reports.content import limitations, provenance, riskiest


def content(
    operation: str,
    title: str,
    fact: model.Fact,
    open_question: model.Inline,
    answer: model.AnswerPath,
    figures: model.Figures,
    context: model.Context,
) -> model.Report:
    """The limits, what each query finds, and what was not asked; ``fact`` and ``open_question`` are the operation's."""
    sections = (
        *riskiest.limits(answer),
        riskiest.every_query(answer, figures),
        *_not_asked(answer),
        riskiest.guarantees(answer),
        limitations.section(riskiest.open_questions(answer, open_question), answer["warnings"]),
        provenance.section(operation, answer["provenance"], context),
    )
    glance = model.Facts(tuple(_facts(answer, fact)))
    return model.Report(title, riskiest.headline(answer), glance, sections)


def _facts(answer: model.AnswerPath, fact: model.Fact) -> Iterator[model.Fact]:
    source = answer["provenance"]
    yield from riskiest.facts(answer)
    yield model.Fact(
        "Members",
        source["n_members"].number("count"),
        ("and ", source["n_nonmembers"].number("count"), " others"),
    )
    yield fact


def _not_asked(answer: model.AnswerPath) -> Iterator[model.Section]:
    reasons = answer["not_asked"]
    if reasons.value:
        lines = model.Bullets(tuple(riskiest.not_asked(reasons)))
        yield model.Section("not-asked", "Queries that were not asked", (lines,), (lines,))


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """What each query gives away."""
    return (ranking(answer),)
