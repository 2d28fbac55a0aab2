"""The report of a plan: how many records it takes, before there are any."""

from macekit.reports.content import limitations, provenance
from macekit.reports.model import (
    AnswerPath,
    Context,
    Fact,
    Facts,
    Figures,
    Headline,
    Inline,
    Report,
    Section,
    Table,
)

OPEN: tuple[Inline, ...] = (
    ("A plan is made before there are records: it assumes that the expected advantage is the true one.",),
    (
        "It was worked out for scores that are normal on both sides and differ by a shift; other scores may "
        "need more records.",
    ),
    ("In about one sample in five, more records are needed than planned.",),
)


def content(answer: AnswerPath, figures: Figures, context: Context) -> Report:
    """The number, its two sides, and what it leaves open."""
    models = answer["models"]
    tiles = (
        *((Fact("Models", models.number("count"), ("to train",)),) if models.value is not None else ()),
        Fact("Records", answer["records"].number("count"), ("in all",)),
        Fact("Members", answer["members"].number("count"), ("among them",)),
        Fact("Nonmembers", answer["nonmembers"].number("count"), ("among them",)),
    )
    origin = Table("Origin", ("", ""), tuple(provenance.origin(answer["provenance"], context)))
    sections = (
        limitations.section(OPEN, answer["warnings"]),
        Section("provenance", "Where this comes from", (origin,)),
    )
    title = "Records needed" if models.value is None else "Models needed"
    return Report(title, Headline(None, answer["sentence"].quote()), Facts(tiles), sections)
