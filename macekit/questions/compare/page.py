"""The report of a comparison."""

from collections.abc import Iterable

from macekit.reports import model
from macekit.reports.charts.forest import differences, ranking
from macekit.reports.content import limitations, provenance, riskiest
from macekit.reports.content.guarantees import backings
from macekit.reports.content.plain_words import AttackerClass, sure, without_leak, worth
from macekit.reports.content.riskiest import RANKS, TOGETHER

DIFFERENCES = ("First minus second", "Difference", "Lower end", "Upper end", "Decided")
INPUTS = ("Member records", "Nonmember records", "SHA-256 of the scores", "How scores were read")


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The ranking, then the differences, then the inputs one by one."""
    ranks = model.table_of("Ranking", RANKS, answer["ranking"], model.ranking_row, TOGETHER)
    title, limits = "Comparison of membership leakage", riskiest.limits(answer)
    return side_by_side("compare", title, ranks, answer, figures, context, limits)


def side_by_side(
    operation: str,
    title: str,
    ranks: model.Table,
    answer: model.AnswerPath,
    figures: model.Figures,
    context: model.Context,
    limits: Iterable[model.Section] = (),
) -> model.Report:
    """The report of several queries, or releases, of the same records, with the table that ranks them."""
    ranking, differences, sources = answer["ranking"], answer["differences"], answer["provenance"]
    largest = answer["maximum"]
    confidence, prior = sure(largest), sources[0]["options"]["prior"]
    blind = without_leak(answer["baseline"], prior)
    tiles = (
        model.Fact("The largest is at least", largest["lower"].number(), confidence),
        model.Fact(
            "The largest is at most", largest["upper"].number(), (*confidence, *_attackers(ranking[0]["advantage"]))
        ),
        blind,
        model.Fact("Comes first", ranking[0]["name"].untrusted(), ("by its estimate",)),
        *worth(ranking[0]["advantage"]["clusters"]),
    )
    ranking_blocks: tuple[model.Block, ...] = (
        model.Paragraph(
            (f"Without any leak every {ranks.head[0].lower()}'s advantage is ", blind.value, ": ", *blind.note, ".")
        ),
        *figures.pick("ranking"),
        ranks,
    )
    sections = [*limits, model.Section("ranking", "Ranking", ranking_blocks, (ranks,))]
    if len(differences):
        difference_blocks: tuple[model.Block, ...] = (
            *figures.pick("differences"),
            gaps := model.table_of("Differences", DIFFERENCES, differences, _difference),
        )
        sections.append(model.Section("differences", "Differences", difference_blocks, (gaps,)))
    sections += [
        backings(
            [
                ("The largest covers ", largest),
                *(("A rank's advantage covers ", each["advantage"]) for each in list(ranking)[:1]),
                *(("A difference covers ", each) for each in list(differences)[:1]),
            ]
        ),
        limitations.section(limitations.of_sample(prior, ranking[0]["advantage"]["clusters"]), answer["warnings"]),
        origin(provenance.section(operation, sources[0], context, sources=sources), sources),
    ]
    return model.Report(title, model.headline(answer, answer), model.Facts(tiles), tuple(sections))


def _attackers(advantage: model.AnswerPath) -> model.Inline:
    """The attackers that the upper ends cover: one class for all queries, but each query has cells of its own."""
    if "resolution" in advantage["guarantee"]["covers"].value:
        return (", each query at its own resolution",)
    return AttackerClass.of(advantage).aside


def _difference(pair: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        model.Phrase((pair["first"].untrusted(), " – ", pair["second"].untrusted())),
        *pair.interval(),
        "they differ" if pair["decided"].value else "not shown to differ",
    )


def origin(section: model.Section, sources: model.AnswerPath) -> model.Section:
    """The origin of the first input is that of all but for the records themselves."""
    inputs = model.table_of("Inputs", INPUTS, sources, _input, "In the order in which they came.")
    words: model.Inline = ("The table of origin describes the first input; method and options are the same for all.",)
    return model.Section(
        section.name, section.title, (section.blocks[0], model.Paragraph(words), inputs, *section.blocks[1:])
    )


def _input(source: model.AnswerPath) -> tuple[model.Cell, ...]:
    sides = source.numbers("n_members", "n_nonmembers", kind="count")
    return (*sides, source["input_sha256"].quote(), source["query"].quote())


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The ranking, and the differences."""
    return ranking(answer), differences(answer)
