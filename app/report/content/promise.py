"""A promised epsilon, beside what the records show: in an audit, and wherever one was named."""

from __future__ import annotations

from app.report.content.album import Album
from app.report.model import Block, Bullets, Section
from app.report.place import Place


def sections(answer: Place, album: Album, *figures: str) -> tuple[Section, ...]:
    """What was promised and what the records show, with the figures of these names; none without a promise or bound."""
    said = [each.said() for each in (answer["epsilon"]["sentence"], answer["claim"]["sentence"]) if each]
    blocks: tuple[Block, ...] = (*album.named(*figures), Bullets(tuple((each,) for each in said)))
    return (Section("promise", "What was promised, and what the records show", blocks),) if said else ()
