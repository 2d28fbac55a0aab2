"""The report of everything about one sample."""

from __future__ import annotations

from itertools import chain

from app.report.content import exposure, groups, provenance, unestablished
from app.report.content.advantage import TITLE, about, curve, numbers, promised
from app.report.content.album import Album
from app.report.content.people import facts, headline
from app.report.model import Context, Paragraph, Report, Section
from app.report.place import Place


def content(answer: Place, album: Album, context: Context) -> Report:
    """The decision first, then what it rests on, then what it does not say and where it comes from."""
    result, grouped = answer["result"], answer["groups"]
    prior = answer["provenance"]["options"]["prior"]
    flags = answer["risk"]["flags"]
    open_questions = chain(
        unestablished.of_assessment(result, prior, flags), unestablished.of_groups(grouped)
    )
    warnings = answer["warnings"], result["warnings"], answer["risk"]["warnings"]
    sections = (
        *about(result, album, prior, flags),
        *_scores(album),
        *curve(result["roc"], album),
        *_risk(answer["risk"], album),
        *groups.sections(grouped, album, prior, result["baseline"]),
        *promised(result, album),
        numbers(result),
        unestablished.section(open_questions, *warnings),
        provenance.section("report", answer["provenance"], context, grouped=len(grouped) > 0),
    )
    return Report(TITLE, headline(answer, result), facts(answer, result), sections)


def _scores(album: Album) -> tuple[Section, ...]:
    drawn = album.named("distribution")
    return (Section("scores", "The scores of both sides", drawn),) if drawn else ()


def _risk(risk: Place, album: Album) -> tuple[Section, ...]:
    return (exposure.section(risk, album, Paragraph((risk["sentence"].said(),))),) if risk else ()
