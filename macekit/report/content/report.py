"""The report of everything about one sample."""

from __future__ import annotations

from itertools import chain

from macekit.report.content import groups, limitations, provenance, risk
from macekit.report.content.advantage import TITLE, about, curve, numbers, promised
from macekit.report.content.plain_words import facts, headline
from macekit.report.model import Album, Context, Paragraph, Place, Report, Section


def content(answer: Place, album: Album, context: Context) -> Report:
    """The decision first, then what it rests on, then what it does not say and where it comes from."""
    result, grouped = answer["result"], answer["groups"]
    prior = answer["provenance"]["options"]["prior"]
    flags = answer["risk"]["flags"]
    open_questions = chain(limitations.of_assessment(result, prior, flags), limitations.of_groups(grouped))
    warnings = answer["warnings"], result["warnings"], answer["risk"]["warnings"]
    sections = (
        *about(result, album, prior, flags),
        *_scores(album),
        *curve(result["roc"], album),
        *_risk(answer["risk"], album),
        *groups.sections(grouped, album, prior, result["baseline"]),
        *promised(result, album),
        numbers(result),
        limitations.section(open_questions, *warnings),
        provenance.section("report", answer["provenance"], context, grouped=len(grouped) > 0),
    )
    return Report(TITLE, headline(answer, result), facts(answer, result), sections)


def _scores(album: Album) -> tuple[Section, ...]:
    drawn = album.named("distribution")
    return (Section("scores", "The scores of both sides", drawn),) if drawn else ()


def _risk(summary: Place, album: Album) -> tuple[Section, ...]:
    return (risk.section(summary, album, Paragraph((summary["sentence"].said(),))),) if summary else ()
