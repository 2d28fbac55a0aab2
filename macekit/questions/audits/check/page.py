"""The report on two sides of a split: whether anything tells them apart without a model."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import columns as forest
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.plain_words import sure

NOT_SHOWN: model.Inline = (
    "That nothing is shown is no proof that the sides are alike: the upper end says how far they may differ for those "
    "who read the learned score.",
)
ROWS_ALONE: model.Inline = (
    "It is about the rows alone. A model may still remember its training rows: ask `mace model` about its predictions.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The interval, and each column by itself."""
    table = riskiest.columns(answer)
    sections = (
        model.Section("columns", "Every column", (*figures.pick("columns"), table), (table,)),
        *riskiest.control(answer["control"]),
        *_match(answer["match"]),
        guarantees.backings([("The interval covers ", answer["advantage"])]),
        limitations.section(_open(answer), answer["warnings"]),
        provenance.section("check", answer["provenance"], context),
    )
    headline = model.Headline(None, answer["sentence"].quote())
    return model.Report(
        "Whether the hold-out is fair", headline, model.Facts(tuple(_facts(answer))), sections
    )


def _match(match: model.AnswerPath) -> Iterator[model.Section]:
    """How many rows are alike, and whether those still differ."""
    if match.value is None:
        return
    split = match["split"]
    words: list[model.Inline] = [(match["sentence"].quote(),)]
    tables: tuple[model.Table, ...] = ()
    if split.value is None:
        words.append(("They are too few to be checked again.",))
    else:
        words.append(("Of these rows alone: ", split["sentence"].quote()))
        row: tuple[model.Cell, ...] = ("The rows that are alike", *split["advantage"].interval())
        head = ("Rows", "Told apart", "Lower end", "Upper end")
        tables = (model.Table("Rows that are alike, checked again", head, (row,)),)
    words.append(("Their places are in the answer: match.train, match.holdout.",))
    blocks: tuple[model.Block, ...] = (*(model.Paragraph(each) for each in words), *tables)
    yield model.Section("match", "Rows that are alike", blocks, tables)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    advantage, source = answer["advantage"], answer["provenance"]
    confidence = sure(advantage)
    yield model.Fact(
        "Told apart, at least", advantage["lower"].number(), (*confidence, "; advantage without any model")
    )
    yield model.Fact("Told apart, at most", advantage["upper"].number(), confidence)
    yield model.Fact(
        "Training rows",
        source["n_members"].number("count"),
        ("and ", source["n_nonmembers"].number("count"), " hold-out rows"),
    )


def _open(answer: model.AnswerPath) -> Iterator[model.Inline]:
    if not answer["differs"].value:
        yield NOT_SHOWN
    yield ROWS_ALONE


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """What each column tells by itself."""
    return (forest(answer),)
