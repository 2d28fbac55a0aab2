"""What theory allows beside what was measured."""

from __future__ import annotations

from app.report.content import provenance, unestablished
from app.report.content.album import Album
from app.report.content.guarantees import Numbers
from app.report.content.people import records
from app.report.model import Block, Cell, Context, Fact, Facts, Headline, Report, Section, Table, Words
from app.report.place import Place

HEAD = ("Quantity", "Allowed at most", "In one run", "Estimate", "Lower end", "Upper end", "Agrees")
RESOLVED: Words = (
    "A yes is about this score at the resolution its guarantee names. Between the cells more may show, so that a false "
    "claim may have a yes in every row; only a no is about every resolution.",
)
NOT_SHOWN: Words = (
    "That nothing contradicts the claim does not show that it was kept: another attack may find more.",
)


def content(answer: Place, album: Album, context: Context) -> Report:
    """The decision, then quantity by quantity what is allowed and what was found."""
    source = answer["provenance"]
    tiles = (
        Fact(
            "Epsilon promised",
            answer["claimed_epsilon"].number("exact"),
            ("at delta ", answer["claimed_delta"].number("exact")),
        ),
        Fact(
            "Advantage without any leak",
            answer["baseline"].number(),
            ("the baseline: guessing without the score",),
        ),
        *records(source),
    )
    blocks: tuple[Block, ...] = (
        *album.figures,
        Table("What is allowed, and what was measured", HEAD, tuple(map(_row, answer["rows"]))),
    )
    backing = Numbers()
    for row in answer["rows"]:
        backing.interval(row["says"].said(), row, answer["confidence"])
    sections = (
        Section("agreement", "What theory allows, and what was measured", blocks),
        Section("numbers", "The numbers, and what they are worth", backing.tables("Every number")),
        unestablished.section(
            (NOT_SHOWN, RESOLVED, *unestablished.of_sample(source["options"]["prior"])), answer["warnings"]
        ),
        provenance.section("theory/together", source, context),
    )
    broken = answer["decision"].value == "contradicted"
    headline = Headline("fail" if broken else None, answer["sentence"].said())
    return Report("Theory and measurement together", headline, Facts(tiles), sections)


def _row(row: Place) -> tuple[Cell, ...]:
    ends = (row[name].number() for name in ("estimate", "lower", "upper"))
    allowed = (row[name].number("ceiling") for name in ("allowed", "allowed_in_one_run"))
    return (row["says"].said(), *allowed, *ends, row["agrees"].said())
