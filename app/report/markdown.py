"""A report as GitHub-flavoured Markdown: other people's words stay words, numbers stand under each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.report.model import (
    Block,
    Bullets,
    Cell,
    Facts,
    Figure,
    Headline,
    Listing,
    Name,
    Number,
    Paragraph,
    Phrase,
    Report,
    Said,
    Section,
    Table,
)
from app.report.spelling import numeric, words
from app.report.verdicts import WORDS

MEANT = re.compile(r"([\\`*_{}\[\]()#+!|<>&~$@:-])")
"""Letters that Markdown, HTML within it, or a site's own mentions and addresses take for more than themselves."""

CALLED = re.compile(r'([@#%](?=[\w"])|\bGH(?=\\-\d)|[!~$&](?=\d))', re.IGNORECASE)
"""What a site makes a mention of somebody or something of, escaped or not: it is cut off from its name."""

COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])", re.IGNORECASE)
PIECE = re.compile(r".{1,6}")
"""What a site takes for a change to source code, and pieces that are too short for that."""

CUT = "<!-- -->"

ADDRESS = re.compile(r"\b(www)\.", re.IGNORECASE)
"""How an address begins that is made a link of, unasked."""

MOST_ROWS = 40
"""Rows of a chart's numbers that are written; all are in the JSON."""


def markdown(report: Report) -> str:
    """The whole report."""
    parts = [f"# {report.title}", *head(report.headline), *block(report.facts)]
    for each in report.sections:
        parts += section(each)
    return "\n\n".join(parts) + "\n"


def head(headline: Headline) -> Iterator[str]:
    """The decision, and the sentence."""
    sentence = inline((headline.sentence,))
    if headline.decision is None:
        yield f"**{sentence}**"
    else:
        verdict = WORDS[headline.decision]
        yield f"**{verdict.sign} {verdict.word}**"
        yield sentence


def section(given: Section, level: int = 2) -> Iterator[str]:
    """A heading, and what stands under it."""
    yield f"{'#' * level} {given.title}"
    for each in given.blocks:
        yield from block(each)


def block(given: Block) -> Iterator[str]:
    """One block, in as many paragraphs as it takes."""
    match given:
        case Paragraph(said):
            yield inline(said)
        case Bullets(items):
            yield "\n".join(f"- {inline(item)}" for item in items)
        case Listing(caption, text):
            yield f"{escaped(caption)}:"
            yield fenced(text)
        case Facts(items):
            rows = tuple((fact.label, fact.value, Phrase(fact.note)) for fact in items)
            yield table(Table("At a glance", ("At a glance", "", ""), rows))
        case Table():
            yield from _captioned(given)
        case Figure():
            yield f"**{escaped(given.title)}.** {escaped(given.description)}"
            if len(given.table.rows) <= MOST_ROWS:
                yield from _captioned(given.table)


def _captioned(given: Table) -> Iterator[str]:
    if given.caption:
        yield f"**{escaped(given.caption)}**"
    yield table(given)
    more = f"{given.more:,} more in the JSON, at `{given.where}`." if given.more else ""
    said = " ".join(filter(None, (escaped(given.note), more)))
    if said:
        yield said


def table(given: Table) -> str:
    """Rows under a head; columns of numbers are set to the right."""
    rules = ["---:" if right else "---" for right in numeric(given)]
    lines = [
        [escaped(name) for name in given.head],
        rules,
        *([inline((c,)) for c in row] for row in given.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def inline(said: Iterable[Cell]) -> str:
    """Text with numbers in it, on one line."""
    return "".join(map(_cell, said))


def escaped(text: str) -> str:
    """Text of which nothing is taken for more than itself."""
    return inert(words(text))


def inert(text: str) -> str:
    """The same of a text that is spelt already."""
    meant = CALLED.sub(rf"\1{CUT}", ADDRESS.sub(r"\1\.", MEANT.sub(r"\\\1", text)))
    return COMMIT.sub(lambda found: CUT.join(PIECE.findall(found[0])), meant)


def fenced(text: str, language: str = "") -> str:
    """A listing, whatever it holds: the fence is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = "\n".join(words(line) for line in text.split("\n"))
    return f"{fence}{language}\n{body}\n{fence}"


def _cell(cell: Cell) -> str:
    match cell:
        case Number():
            return words(cell)
        case Said() | Name():
            return inert(words(cell))
        case Phrase(parts):
            return inline(parts)
        case _:
            return escaped(cell)
