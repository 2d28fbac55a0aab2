"""The report of a model's predictions: the verdict, every query, how well it does, and what tells the sides apart."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.content import limitations, provenance, riskiest

ONE_MODEL: model.Inline = (
    "It is about this model, asked once about each row. Attackers who train models of their own, who see weights or "
    "several versions, or who ask about altered rows may find more.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The limits, then what each query finds, how well the model does, and the sides themselves."""
    measured = answer["strength"].value is not None
    sections = (
        *riskiest.limits(answer),
        riskiest.every_query(answer, figures),
        *riskiest.strength(answer["strength"]),
        _fit(answer),
        *riskiest.sides(answer["split"], figures),
        *riskiest.control(answer["control"]),
        *riskiest.by_group(answer, figures),
        riskiest.guarantees(answer),
        limitations.section(riskiest.open_questions(answer, ONE_MODEL), answer["warnings"]),
        provenance.section("model", answer["provenance"], context, grouped=measured),
    )
    glance = model.Facts(tuple(_facts(answer)))
    return model.Report("What a model's predictions give away", riskiest.headline(answer), glance, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    fit, source = answer["fit"], answer["provenance"]
    yield from riskiest.facts(answer)
    yield model.Fact(
        "On training rows",
        fit["members"].number(),
        (fit["measure"].untrusted(), "; on the others ", fit["nonmembers"].number()),
    )
    yield model.Fact(
        "Training rows",
        source["n_members"].number("count"),
        (
            "and ",
            source["n_nonmembers"].number("count"),
            " others; the predictions are ",
            answer["outputs"].untrusted(),
        ),
    )


def _fit(answer: model.AnswerPath) -> model.Section:
    blocks: list[model.Block] = [
        model.Paragraph(
            (
                answer["fit"]["sentence"].quote(),
                " A gap between them is overfitting, and whoever learns no more than whether the model is right has "
                "that much of an advantage.",
            )
        )
    ]
    reasons = answer["not_asked"]
    if reasons.value:
        rows = tuple((name, reasons[name].untrusted()) for name in reasons.value)
        blocks.append(model.Table("Queries that were not asked", ("Query", "Why"), rows))
    return model.Section(
        "fit", "How well the model does", tuple(blocks), (model.Bullets(tuple(riskiest.not_asked(reasons))),)
    )


figures = riskiest.figures
"""What each query gives away, the groups, and what tells the sides apart."""
