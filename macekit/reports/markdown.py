"""A report as GitHub-flavoured Markdown or as a section of a model card, with other people's words escaped."""

import json
import re
from collections.abc import Iterable, Iterator

from estimators.python.dataclass import dataclass
from macekit.reports import model
from macekit.reports.formatting import numeric, words
from macekit.reports.palette import WORDS

SPECIAL = re.compile(r"([\\`*{}\[\]#+!|<>&~$@]|:(?=[\w/+-])|(?<!\w)-|-(?!\w)|(?<![^\W_])_|_(?![^\W_]))")
"""Letters that Markdown, HTML within it, or a site's own mentions and addresses take for more than themselves.

A colon is one of them before a word, as in an address or an emoji; a hyphen and an underscore unless within a word.
"""

MENTIONS = re.compile(r'([@#%](?=[\w"])|\bGH(?=-\d)|[!~$&](?=\d))', re.IGNORECASE)
"""Characters that a site reads as a mention, escaped or not: they are separated from the name."""

COMMIT = re.compile(r"(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])", re.IGNORECASE)
PIECE = re.compile(r".{1,6}")
"""What a site takes for a change to source code, and pieces that are too short for that."""

CUT = "<!-- -->"

ADDRESS = re.compile(r"\b(www)\.", re.IGNORECASE)  # how an address begins that is made a link of, unasked


def markdown(report: model.Report) -> str:
    """The whole report; a table whose numbers all stand in a longer one is left out."""
    parts = [f"# {report.title}", *head(report.headline), *block(report.facts)]
    stated = [model.paths(part) for _, part in report.blocks() if isinstance(part, model.Table)]
    for each in report.sections:
        kept = tuple(
            part
            for part in each.blocks
            if not isinstance(part, model.Table)
            or not model.paths(part)
            or not any(model.paths(part) < others for others in stated)
        )
        parts += section(model.Section(each.name, each.title, kept))
    return "\n\n".join(parts) + "\n"


def head(headline: model.Headline) -> Iterator[str]:
    """The decision, the sentence, and what it must not hide."""
    sentence = inline((headline.sentence,))
    if headline.decision is None:
        yield f"**{sentence}**"
    else:
        verdict = WORDS[headline.decision]
        yield f"**{verdict.sign} {verdict.word}**"
        yield sentence
    if headline.covers:
        yield f"{model.COVERAGE}:"
        yield "\n".join(f"- {inline((line,))}" for line in headline.covers)
    if headline.warning is not None:
        mark = "**" if headline.severe else ""
        yield f"{mark}{inline((headline.warning,))}{mark}"
    if headline.signature:
        yield f"**{inline((headline.signature,))}**"


def section(part: model.Section, level: int = 2) -> Iterator[str]:
    """A heading, and what stands under it."""
    yield f"{'#' * level} {part.title}"
    for each in part.blocks:
        yield from block(each)


def block(part: model.Block) -> Iterator[str]:
    """One block, in as many paragraphs as it takes."""
    match part:
        case model.Paragraph(cells):
            yield inline(cells)
        case model.Bullets(items):
            yield "\n".join(f"- {inline(item)}" for item in items)
        case model.Listing(caption, text):
            yield f"{plain_text(caption)}:"
            yield fenced(text)
        case model.Facts(items):
            rows = tuple((fact.label, fact.value, model.Phrase(fact.note)) for fact in items)
            yield table(model.Table("At a glance", ("At a glance", "", ""), rows))
        case model.Table():
            yield from _captioned(part)
        case model.Figure():
            yield f"**{plain_text(part.title)}.** {plain_text(part.description)}"


def _captioned(part: model.Table) -> Iterator[str]:
    if part.caption:
        yield f"**{plain_text(part.caption)}**"
    yield table(part)
    more = f"{part.more:,} more in the JSON, at `{part.where}`." if part.more else ""
    text = " ".join(filter(None, (plain_text(part.note), more)))
    if text:
        yield text


def table(part: model.Table) -> str:
    """Rows under a head; columns of numbers are set to the right."""
    rules = ["---:" if right else "---" for right in numeric(part)]
    lines = [[plain_text(name) for name in part.head], rules, *([inline((c,)) for c in row] for row in part.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def inline(cells: Iterable[model.Cell]) -> str:
    """Text with numbers in it, on one line."""
    return "".join(map(_cell, cells))


def plain_text(text: str) -> str:
    """Text for a reader, with nothing in it that Markdown would interpret."""
    return escape_markdown(words(text))


def escape_markdown(text: str) -> str:
    """A text in which no character has a meaning to Markdown or to the site that shows it."""
    text = MENTIONS.sub(rf"\1{CUT}", ADDRESS.sub(r"\1\.", SPECIAL.sub(r"\\\1", text)))
    return COMMIT.sub(lambda match: CUT.join(PIECE.findall(match[0])), text)


def fenced(text: str, language: str = "") -> str:
    """A listing, whatever it holds: the fence is longer than any in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    body = "\n".join(words(line) for line in text.split("\n"))
    return f"{fence}{language}\n{body}\n{fence}"


def _cell(cell: model.Cell) -> str:
    match cell:
        case model.Number():
            return words(cell)
        case model.Quote() | model.Untrusted():
            return escape_markdown(words(cell))
        case model.Phrase(parts):
            return inline(parts)
        case _:
            return plain_text(cell)


TITLE = "Membership leakage"
CARD_SECTIONS = ("people", "promise", "metrics", "ranking", "limits", "guarantees", "not-established", "provenance")
"""Sections of a report that a card repeats; the whole report is linked from it."""

METADATA = "For the YAML block at the top of the card, with the names of your model and data for MODEL and DATA:"


COUNTS = frozenset({"count", "roughly"})
"""Kinds of number that say how many records there are, or have to be."""

SETTING = ("prior", "confidence", "resolution", "max_advantage", "threshold", "delta")
"""What a number holds for: without these it cannot be held against another."""


@dataclass(frozen=True, slots=True)
class Result:
    """One entry of the metadata; ``value`` as YAML writes it."""

    kind: str
    name: str
    value: str


def card(report: model.Report) -> str:
    """The section: a short verdict, the numbers, how they were measured, their limits, and the metadata."""
    parts = [f"## {TITLE}", *head(report.headline), *block(report.facts)]
    for name in CARD_SECTIONS:
        part = report.section(name)
        if part is not None:
            parts += section(model.Section(part.name, part.title, part.blocks), 3)
    results = list(_results(report))
    if results:
        parts += ["### Metadata", METADATA, fenced("\n".join(_index(results, _setting(report))), "yaml")]
    return "\n\n".join(parts) + "\n"


def _results(report: model.Report) -> Iterator[Result]:
    """The decision, and every number read at a glance that is measured: how many records there were is not."""
    decision = report.headline.decision
    if decision is not None:
        yield Result("mace_decision", "Decision", json.dumps(decision))
    for fact in report.facts.items:
        number = fact.value
        if isinstance(number, model.Number) and number.value is not None and number.kind not in COUNTS:
            kind = number.path.removeprefix("result.").replace(".", "_")
            yield Result(f"mace_{kind}", fact.label, repr(number.value))


def _setting(report: model.Report) -> dict[str, float]:
    """What the results hold for, from what the tiles say beside their numbers and the options as understood."""
    cells = [cell for fact in report.facts.items for cell in model.numbers(fact.note)]
    origin = report.section("provenance")
    for part in () if origin is None else origin.blocks:
        if isinstance(part, model.Table):
            cells += [cell for row in part.rows for cell in model.numbers(row)]
    setting: dict[str, float] = {}
    for cell in cells:
        name = cell.path.rpartition(".")[2]
        if name in SETTING and cell.value is not None:
            setting.setdefault(name, cell.value)
    return {name: setting[name] for name in SETTING if name in setting}


def _index(results: list[Result], setting: dict[str, float]) -> Iterator[str]:
    """``model-index`` as the hub reads it; text in JSON's quotes, which are YAML's, too."""
    yield from (
        "model-index:",
        "- name: MODEL",
        "  results:",
        "  - task:",
        "      type: membership-inference",
        "      name: Membership inference",
        "    dataset:",
        "      type: DATA",
        "      name: DATA",
        "    metrics:",
    )
    for result in results:
        yield f"    - type: {json.dumps(result.kind)}"
        yield f"      name: {json.dumps(result.name)}"
        yield f"      value: {result.value}"
        if setting:
            yield "      args:"
        for name, value in setting.items():
            yield f"        {name}: {value!r}"
