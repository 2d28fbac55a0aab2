"""The report of an individual-risk answer: risk over the score, the most exposed records, the groups."""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from macekit.reports.charts.forest import groups as forest_of_groups
from macekit.reports.charts.risk import risk as risk_chart
from macekit.reports.content import groups, limitations, provenance
from macekit.reports.content.plain_words import records
from macekit.reports.model import (
    TOP_RECORDS,
    AnswerPath,
    Block,
    Bullets,
    Cell,
    Context,
    Fact,
    Facts,
    Figure,
    Figures,
    Headline,
    Inline,
    Paragraph,
    Report,
    Section,
    Table,
)

# --- exposure -----------------------------------------------------------------------------------------------
# Individual risk: how exposed a record is at its score, and which records are flagged.

ENDS = ("signed_risk", "simultaneous_lower", "simultaneous_upper", "lower", "upper")

HEAD = ("Record", "Risk", "Lower end", "Upper end", "Signed risk", "Chance of being a member", "Flagged")


def section(risk: AnswerPath, figures: Figures, *before: Block) -> Section:
    """Risk over the score: in words, and drawn."""
    return Section(
        "risk", "Individual risk over the score", (*before, *_meaning(risk), *figures.pick("risk"))
    )


def _meaning(risk: AnswerPath) -> tuple[Paragraph, Bullets]:
    """What a risk is, and what its limits cover."""
    meaning = (
        "A record's risk says how surely an adversary who sees its score can tell whether it is a member: zero is "
        "not at all, one is for certain. Its sign says which way: above zero, a member. Records in the same cell (a "
        "group of similar scores) share one risk."
    )
    covers = (
        ("For one record named in advance, the interval covers ", risk["guarantee"]["covers"].quote(), "."),
        (
            "For all records together, the wider interval covers ",
            risk["simultaneous_guarantee"]["covers"].quote(),
            ".",
        ),
        (
            "On average over many such samples, at most ",
            risk["flags"]["rate"].number("percent"),
            " of the flagged records are false; in one sample it may be more.",
        ),
    )
    return Paragraph((meaning,)), Bullets((*covers, *_below(risk["baseline"])))


def _below(baseline: AnswerPath) -> tuple[Inline, ...]:
    """What a risk below the baseline is not, at a prior that has one."""
    if not baseline.value:
        return ()
    return (
        (
            "At this prior every risk is ",
            baseline.number(),
            " without any leak, and a risk may lie below it, where the score contradicts the likelier side. That is "
            "not a smaller leak.",
        ),
    )


def most_exposed(records: AnswerPath, top: int | None = None) -> Table:
    """The records that are most surely seen to be members; those of the same cell in the order they came.

    All that were asked for with ``top`` are listed.
    """
    order = _surest(records)[: TOP_RECORDS if top is None else top]
    rows = tuple(_row(records, int(at)) for at in order)
    note = (
        "The strongest evidence first, by the interval that holds for all records together. A record's number is its "
        "place in the input, counted from zero."
    )
    more = len(records["index"]) - len(rows)
    return Table("Records with the strongest evidence of membership", HEAD, rows, note, more, records.path)


def _surest(records: AnswerPath) -> NDArray[np.int64]:
    """By the lower ends where a record looks like a member; where not, one is the surer the lower its upper ends."""
    column = {name: np.asarray(records[name].value, dtype=float) for name in ENDS}
    member = column["signed_risk"] > 0.0
    together = np.where(member, column["simultaneous_lower"], -column["simultaneous_upper"])
    alone = np.where(member, column["lower"], -column["upper"])
    unknown = np.isnan(column["signed_risk"])
    return np.lexsort((-column["signed_risk"], -alone, -together, unknown))


def _row(records: AnswerPath, at: int) -> tuple[Cell, ...]:
    return (
        records["index"][at].number("exact"),
        records["risk"][at].number(),
        records["lower"][at].number(),
        records["upper"][at].number(),
        records["signed_risk"][at].number(),
        records["posterior"][at].number(),
        "yes" if records["flagged"][at].value else "",
    )


# --- risk ---------------------------------------------------------------------------------------------------


def content(answer: AnswerPath, figures: Figures, context: Context) -> Report:
    """The flags first, then the risk over the score, the most exposed records, and the groups."""
    source, flags, grouped = answer["provenance"], answer["flags"], answer["groups"]
    prior, top = source["options"]["prior"], source["options"].value.get("top")
    tiles = (
        Fact(
            "Records flagged",
            flags["records"].number("count"),
            ("membership is more likely than the threshold says",),
        ),
        Fact("Of them false, at most", flags["rate"].number("percent"), ("on average",)),
        Fact(
            "Without any leak",
            answer["baseline"].number(),
            ("the risk of every record", *groups.either_way(prior)),
        ),
        *records(source),
    )
    exposed = most_exposed(answer["records"], top)
    sections = (
        section(answer, figures),
        Section("records", "Records", (exposed,), (exposed.only(0, 1, 2, 3, 6),)),
        *groups.sections(grouped, figures, prior, answer["baseline"]),
        limitations.section(
            chain(
                limitations.of_guarantee(answer["guarantee"]),
                limitations.of_sample(prior),
                limitations.of_groups(grouped),
            ),
            answer["warnings"],
        ),
        provenance.section("individual-risk", source, context, grouped=len(grouped) > 0),
    )
    return Report(
        "Individual risk",
        Headline(None, answer["sentence"].quote()),
        Facts(tiles),
        sections,
    )


def figures(answer: AnswerPath) -> tuple[Figure | None, ...]:
    """The risk over the score, and the groups."""
    rows = answer["groups"]
    return risk_chart(answer), forest_of_groups(rows, answer.value["baseline"]) if len(rows) else None
