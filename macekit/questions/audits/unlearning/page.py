"""The report on unlearning: what still tells forgotten records, and how far that is from retraining."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import ENDS, Line, with_limit
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import sure
from macekit.reports.formatting import between, rounded

OPEN: tuple[model.Inline, ...] = (
    (
        "That this score does not tell forgotten from never-seen records is no proof that nothing of them is left: "
        "another score, a look inside the model or a little more training (relearning) may bring it out.",
    ),
    (
        "Never-seen records are taken to be of the kind of the forgotten ones. If they differ in kind or date, so do "
        "their scores, and that is no memory: the scores of a retrained model show it.",
    ),
    ("A fail is a difference that is shown, either way: forgetting too much tells the records, too.",),
    ("Records are taken to be independent. Several rows about one person are not: keep one of each.",),
    limitations.CONFIDENCE,
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Each number with its interval, the picture, and what a pass is not."""
    residual, excess, share = answer["residual"], answer["excess"], answer["remaining_share"]
    verdict, retained = answer["verdict"], bool(answer["n_retained"].value)
    numbers = Numbers()
    numbers.interval("Residual advantage", residual, residual["confidence"])
    numbers.derived("The smallest limit on it that so many records pass", answer["least_limit"])
    if excess:
        numbers.interval("Excess over the retrained model", excess, excess["confidence"])
        numbers.derived("The smallest limit on it that so many records pass", answer["excess_least_limit"])
    if share:
        numbers.interval("Remaining share", share, share["confidence"])
    sections = (
        model.Section("left", "What is left", figures.pick("unlearning")),
        numbers.section("What is left, and what can pass"),
        limitations.section(OPEN, answer["warnings"]),
        provenance.section("unlearning", answer["provenance"], context, grouped=retained),
    )
    headline = model.headline(answer, verdict)
    facts = model.Facts(tuple(_facts(answer)))
    return model.Report("What is left of forgotten records", headline, facts, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    parts = (
        ("Told from never-seen, at most", answer["residual"]),
        ("Off the retrained model, at most", answer["excess"]),
        ("Remaining share, at most", answer["remaining_share"]),
    )
    for label, part in parts:
        if part:
            note = ("and at least ", part["lower"].number(), "; ", *sure(part))
            yield model.Fact(label, part["upper"].number(), note)
    if to_pass := answer["records_to_pass"]:
        yield model.Fact("Records to pass with", to_pass.number("roughly"), ("of both sides, if nothing is left",))
    source, retained = answer["provenance"], answer["n_retained"].number("count")
    others = (source["n_nonmembers"].number("count"), " never-seen and ", retained, " retained")
    yield model.Fact("Forgotten records", source["n_members"].number("count"), others)


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """What is left, by each measure that there is; the limit is drawn through."""
    excess, limit = answer["excess"], answer["verdict"]["threshold"].value
    parts: list[tuple[str, model.Cell, model.AnswerPath]] = [
        (name, name, part)
        for name, part in (("residual advantage", answer["residual"]), ("excess over retraining", excess))
        if part
    ]
    for each in answer["cuts"]:
        above = each["above"].number("percent")
        cell = model.Phrase(("excess, ", above, " above"))
        parts.append((f"excess, {100 * each['above'].value:g}% above", cell, each))
    if share := answer["remaining_share"]:
        parts.append(("remaining share", "remaining share", share))
    lines = [Line(name, *(part.value[end] for end in ENDS)) for name, _, part in parts]
    spec = with_limit(lines, "what is left", "nothing", 0.0, None if limit is None else rounded(limit))
    ends = between(answer["residual"]["lower"].value, answer["residual"]["upper"].value)
    text = f"The residual advantage lies {ends}; it is 0 where nothing is left."
    rows: tuple[tuple[model.Cell, ...], ...] = tuple((cell, *part.interval()) for _, cell, part in parts)
    table = model.Table("What is left", ("", *ENDS), rows)
    return (model.Figure("unlearning", "What is left of forgotten records", text, spec, table),)
