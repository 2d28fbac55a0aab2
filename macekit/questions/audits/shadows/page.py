"""The report of the signals of a model and of its shadows."""

from macekit.questions.audits import scored_page
from macekit.reports import model

SHADOWS: model.Inline = (
    "It is about attackers who train such shadows. Better shadows, or more of them, may find more, and so may who sees "
    "weights, or asks about altered records.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The verdict, then what each query finds."""
    fact = model.Fact(
        "Shadow models",
        answer["shadows"].number("count"),
        ("their signals are ", answer["scale"].untrusted()),
    )
    title = "What a model gives away beside its shadows"
    return scored_page.content("shadows", title, fact, SHADOWS, answer, figures, context)


figures = scored_page.figures
"""What each query gives away."""
