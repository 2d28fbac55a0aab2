"""The report of a released table: the verdict, every query, copies, and what tells the sides apart anyway."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.content import limitations, provenance, riskiest

ONE_RELEASE: model.Inline = (
    "It is about this release alone. Another one drawn from the same generator may give away more, and a second "
    "release adds to the first.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The limits, then what each query finds, copies, and the sides themselves."""
    referenced = bool(answer["n_reference"].value)
    sections = (
        *riskiest.limits(answer),
        riskiest.every_query(answer, figures),
        _copies(answer),
        *riskiest.sides(answer["split"], figures),
        *riskiest.control(answer["control"]),
        *riskiest.by_group(answer, figures),
        riskiest.guarantees(
            answer,
            ("Copies beyond chance are ", answer["copies"]["beyond_chance"]),
            ("Near copies beyond chance are ", answer["near_copies"]["beyond_chance"]),
        ),
        limitations.section(riskiest.open_questions(answer, ONE_RELEASE), answer["warnings"]),
        provenance.section("synthetic", answer["provenance"], context, grouped=referenced),
    )
    glance = model.Facts(tuple(_facts(answer)))
    return model.Report("What a released table gives away", riskiest.headline(answer), glance, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    copies = answer["copies"]
    yield from riskiest.facts(answer)
    yield model.Fact(
        "Training rows in the release",
        copies["members"].number("count"),
        (
            "in as few digits as either has; of the hold-out "
            if _coarser(copies)
            else "as they are; of the hold-out ",
            copies["nonmembers"].number("count"),
        ),
    )
    yield model.Fact(
        "Training rows",
        copies["n_members"].number("count"),
        (
            "and ",
            copies["n_nonmembers"].number("count"),
            " hold-out, ",
            answer["n_synthetic"].number("count"),
            " released, ",
            answer["n_reference"].number("count"),
            " reference rows",
        ),
    )


WHY_JUDGED = {
    "unasked": "Nobody limited copies. They are judged all the same: what would be a pass is a fail if training rows "
    "are shown to be copied, at a tenth of the level, which comes on top of it, unless they are accepted.",
    "accepted": "Copies were accepted: they are no reason to fail here, however many there are.",
}


def _copies(answer: model.AnswerPath) -> model.Section:
    copies = answer["copies"]
    words: model.Inline = (
        copies["sentence"].quote(),
        " The hold-out was not released: what stands of it in the release stands there by chance, as rows of few "
        "categories do.",
    )
    near: model.Inline = (answer["near_copies"]["sentence"].quote(),)
    blocks: list[model.Block] = [model.Paragraph(words), model.Paragraph(near)]
    if copies["judged"].value in WHY_JUDGED:
        blocks.append(model.Paragraph((WHY_JUDGED[copies["judged"].value],)))
    coarser = _coarser(copies)
    if not coarser:
        blocks.append(model.Paragraph(("Rows are compared as they are in every column.",)))
        return model.Section("copies", "Copied rows", tuple(blocks))
    table = model.table_of(
        "Columns compared with fewer digits",
        ("Column", "Rows are compared at"),
        coarser,
        lambda each: (each["name"].untrusted(), each["precision"].untrusted()),
        most=riskiest.MOST,
        where=copies["columns"].path,
    )
    why: model.Inline = (
        "One table is written with fewer digits than another; all other columns are compared as they are.",
    )
    return model.Section("copies", "Copied rows", (*blocks, model.Paragraph(why), table), (table,))


def _coarser(copies: model.AnswerPath) -> list[model.AnswerPath]:
    """Columns in which rows are compared with fewer digits than one table has."""
    return [each for each in copies["columns"] if each["precision"].value is not None]


figures = riskiest.figures
"""What each query gives away, the groups, and what tells the sides apart."""
