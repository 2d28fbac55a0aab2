"""The report of an individual-risk answer."""

from __future__ import annotations

from itertools import chain

from app.report.content import exposure, groups, provenance, unestablished
from app.report.content.album import Album
from app.report.content.people import records
from app.report.model import Context, Fact, Facts, Headline, Report, Section
from app.report.place import Place


def content(answer: Place, album: Album, context: Context) -> Report:
    """The flags first, then the risk over the score, the most exposed records, and the groups."""
    source, flags, grouped = answer["provenance"], answer["flags"], answer["groups"]
    prior = source["options"]["prior"]
    tiles = (
        Fact(
            "Records flagged",
            flags["records"].number("count"),
            ("as likelier members than the threshold says",),
        ),
        Fact("Of them false, at most", flags["rate"].number("percent"), ("on average",)),
        Fact(
            "Without any leak",
            answer["baseline"].number(),
            ("the risk of every record", *groups.either_way(prior)),
        ),
        *records(source),
    )
    sections = (
        exposure.section(answer, album),
        Section("records", "Records", (exposure.most_exposed(answer["records"]),)),
        *groups.sections(grouped, album, prior, answer["baseline"]),
        unestablished.section(
            chain(
                unestablished.of_guarantee(answer["guarantee"]),
                unestablished.of_sample(prior),
                unestablished.of_groups(grouped),
            ),
            answer["warnings"],
        ),
        provenance.section("individual-risk", source, context, grouped=len(grouped) > 0),
    )
    return Report(
        "Individual risk",
        Headline(None, answer["sentence"].said()),
        Facts(tiles),
        sections,
    )
