"""The report of a plan: how many records it takes, before there are any."""

from macekit.reports import model
from macekit.reports.content import limitations, provenance

OPEN: tuple[model.Inline, ...] = (
    ("A plan is made before there are records: it assumes that the expected advantage is the true one.",),
    (
        "It was worked out for scores that are normal on both sides and differ by a shift; other scores may "
        "need more records.",
    ),
    ("In about one sample in five, more records are needed than planned.",),
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The number, its two sides, and what it leaves open."""
    models = answer["models"]
    tiles = (
        *((model.Fact("Models", models.number("count"), ("to train",)),) if models.value is not None else ()),
        model.Fact("Records", answer["records"].number("count"), ("in all",)),
        model.Fact("Members", answer["members"].number("count"), ("among them",)),
        model.Fact("Nonmembers", answer["nonmembers"].number("count"), ("among them",)),
    )
    origin = model.Table("Origin", ("", ""), tuple(provenance.origin(answer["provenance"], context)))
    sections = (
        limitations.section(OPEN, answer["warnings"]),
        model.Section("provenance", "Where this comes from", (origin,)),
    )
    title = "Records needed" if models.value is None else "Models needed"
    return model.Report(title, model.Headline(None, answer["sentence"].quote()), model.Facts(tiles), sections)
