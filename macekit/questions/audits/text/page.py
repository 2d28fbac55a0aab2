"""The report of a language model's log-probabilities of texts."""

from macekit.questions.audits import scored_page
from macekit.reports import model

ONE_PASS: model.Inline = (
    "It is about attackers who read the log-probabilities of these texts as they are. Who asks about altered texts, "
    "trains models of its own, or sees weights may find more; and lengths that differ between the sides are found as a "
    "leak that is none.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The verdict, then what each query finds."""
    fact = model.Fact(
        "Texts",
        answer["texts"].number("count"),
        (answer["tokens"].number("count"), " tokens, written as ", answer["layout"].untrusted()),
    )
    title = "What a language model gives away about texts"
    return scored_page.content("text", title, fact, ONE_PASS, answer, figures, context)


figures = scored_page.figures
"""What each query gives away."""
