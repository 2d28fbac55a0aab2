"""Reports of this wing that share theirs: on scores of a model's answers, and on releases side by side."""

from collections.abc import Iterator

from macekit.questions.compare.page import side_by_side
from macekit.reports import model
from macekit.reports.charts.forest import differences, ranking
from macekit.reports.content import limitations, provenance, riskiest
from macekit.reports.palette import WORDS

ONE_PASS: model.Inline = (
    "It is about attackers who read the log-probabilities of these texts as they are. Who asks about altered texts, "
    "trains models of its own, or sees weights may find more; and lengths that differ between the sides are found as a "
    "leak that is none.",
)
SHADOWS: model.Inline = (
    "It is about attackers who train such shadows. Better shadows, or more of them, may find more, and so may who sees "
    "weights, or asks about altered records.",
)
RELEASES = ("Release", *riskiest.RANKS[1:], "Riskiest query", "Decision")


def texts(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """A language model's log-probabilities of texts."""
    of = (answer["tokens"].number("count"), " tokens, written as ", answer["layout"].untrusted())
    fact = model.Fact("Texts", answer["texts"].number("count"), of)
    title = "What a language model gives away about texts"
    return _scored("text", title, fact, ONE_PASS, answer, figures, context)


def shadows(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The signals of a model and of its shadows."""
    of = ("their signals are ", answer["scale"].untrusted())
    fact = model.Fact("Shadow models", answer["shadows"].number("count"), of)
    title = "What a model gives away beside its shadows"
    return _scored("shadows", title, fact, SHADOWS, answer, figures, context)


def _scored(
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


def releases(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Each release by its riskiest query, then what any comparison has."""
    by_name = {release["name"].value: release for release in answer["releases"]}

    def row(place: model.AnswerPath) -> tuple[model.Cell, ...]:
        release = by_name[place["name"].value]
        decision = release["decision"].value
        word = "" if decision is None else WORDS[decision].word
        return (*riskiest.rank(place), release["query"].untrusted(), word)

    ranks = model.table_of("Ranking", RELEASES, answer["ranking"], row, riskiest.TOGETHER)
    return side_by_side("compare-releases", "Releases side by side", ranks, answer, figures, context)


PAGES = {
    "text": model.Page(texts, lambda answer: (ranking(answer),)),
    "shadows": model.Page(shadows, lambda answer: (ranking(answer),)),
    "compare_releases": model.Page(
        releases, lambda answer: (ranking(answer, "release", "releases"), differences(answer))
    ),
}
"""By the key of the operation."""
