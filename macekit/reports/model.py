"""What a report consists of, whatever form it is written in: text, tables, charts, and numbers with their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

Kind = Literal["share", "plain", "floor", "ceiling", "count", "roughly", "exact", "percent", "guesses"]

MOST_ROWS = 200  # rows of a table of queries, groups or steps, and of the table behind a chart
TOP_RECORDS = 20  # records that a report lists: those most surely exposed
READ = "Columns that were read"  # what the fact and the table of them are called


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the answer, and its place there: ``path`` is dotted, as ``groups.3.risk``.

    ``kind`` says how it is written: a share with three digits after the point, a count in full, plain with up to four
    significant digits, floor and ceiling likewise but rounded down or up (for what is at least, or at most, so much),
    exact with all there are, a percent of one, and an advantage as the right guesses it means in a hundred. None is
    written as a dash.
    """

    value: float | None
    path: str
    kind: Kind = "share"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the answer, word for word."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Untrusted:
    """A name chosen by a user: shortened, and escaped wherever it is shown."""

    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Several words in one cell."""

    words: Inline


Cell: TypeAlias = "str | Number | Quote | Untrusted | Phrase"
Inline: TypeAlias = "tuple[Cell, ...]"  # text with numbers in it


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; the first column names the row. ``more`` rows are left to the answer, at ``where``."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    more: int = 0
    where: str = ""

    def only(self, *columns: int) -> Table:
        """The table with some of its columns, by their places; its note is about all of them."""
        head = tuple(self.head[place] for place in columns)
        rows = tuple(tuple(row[place] for place in columns) for row in self.rows)
        return replace(self, head=head, rows=rows, note="")


def listed(items: Iterable[Inline]) -> Inline:
    """``a, b, c``."""
    return tuple(cell for item in items for cell in (", ", *item))[1:]


def paths(table: Table) -> set[str]:
    """Where in the answer the numbers of a table stand."""
    return {number.path for row in table.rows for number in numbers(row)}


def numbers(cells: Iterable[Cell]) -> Iterator[Number]:
    """The numbers in a text."""
    for cell in cells:
        if isinstance(cell, Phrase):
            yield from numbers(cell.words)
        elif isinstance(cell, Number):
            yield cell


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to know at a glance: what it is, what it is worth, and what that means."""

    label: str
    value: Cell
    note: Inline = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What is read right after the headline."""

    items: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    words: Inline


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Something to be copied: a command, a request."""

    caption: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart: what it is called, what it shows in words, its Vega-Lite specification, and the numbers behind it."""

    name: str
    title: str
    description: str
    spec: Mapping[str, Any]
    table: Table


Block = Facts | Paragraph | Bullets | Listing | Table | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report, under a heading; ``name`` is its anchor.

    ``brief`` is what of it is shown where there is room for one screen only, as in a terminal.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    brief: tuple[Block, ...] = ()


Decision: TypeAlias = Literal["pass", "fail", "fail, or drift", "inconclusive", "not applicable"] | None
"""What was decided, if that was asked."""


COVERAGE = "What this pass covers"  # what the lines under a pass are called


@dataclass(frozen=True, slots=True)
class Headline:
    """What is read first: the decision, if one was asked for, the sentence, and what neither must hide.

    A warning that is not ``severe`` is shown calmly.
    """

    decision: Decision
    sentence: Quote
    warning: Quote | None = None
    severe: bool = True
    covers: tuple[Quote, ...] = ()
    """Whom and what a pass covers, a sentence each."""
    signature: str = ""
    """Whether that of a kept answer was checked; empty where there is none."""


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report."""

    title: str
    headline: Headline
    facts: Facts
    sections: tuple[Section, ...]

    def section(self, name: str) -> Section | None:
        """One part, if the report has it."""
        return next((each for each in self.sections if each.name == name), None)

    def blocks(self) -> Iterator[tuple[str, Block]]:
        """Every block with the title it stands under."""
        yield self.title, self.facts
        for section in self.sections:
            for block in section.blocks:
                yield section.title, block


@dataclass(frozen=True, slots=True)
class Context:
    """What an answer does not know of itself: the file it was about, and the date of the report (ISO 8601), if asked
    for: without one the same answer has the same bytes.

    ``others`` are further files: that of nonmembers after that of members, or the other queries of a comparison;
    ``signature`` says whether that of a kept answer was checked.
    """

    source: str | None = None
    date: str | None = None
    others: tuple[str, ...] = ()
    signature: str = ""


def minute() -> str:
    """The time, to the minute, which is what a reader asks."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ")


# Numbers and sentences are taken from the answer together with their place in it, so no path can be wrong.


@dataclass(frozen=True, slots=True)
class AnswerPath:
    """A value of the decoded answer, and its dotted path; the value is None where nothing is there, or null."""

    value: Any
    path: str = ""

    def __getitem__(self, key: str | int) -> AnswerPath:
        path = f"{self.path}.{key}" if self.path else str(key)
        value = self.value
        if isinstance(key, str):
            return AnswerPath(value.get(key) if isinstance(value, dict) else None, path)
        return AnswerPath(value[key], path)

    def __iter__(self) -> Iterator[AnswerPath]:
        return (self[i] for i in range(len(self.value or ())))

    def __len__(self) -> int:
        return len(self.value or ())

    def __bool__(self) -> bool:
        return self.value is not None

    def number(self, kind: Kind = "share") -> Number:
        """The number here."""
        return Number(self.value, self.path, kind)

    def numbers(self, *names: str, kind: Kind = "share") -> tuple[Number, ...]:
        """The numbers of these names here, all written alike."""
        return tuple(self[name].number(kind) for name in names)

    def interval(self) -> tuple[Number, Number, Number]:
        """The estimate here, and both ends of its interval."""
        return self["estimate"].number(), self["lower"].number(), self["upper"].number()

    def quote(self) -> Quote:
        """The sentence here."""
        return Quote(self.value or "", self.path)

    def quotes(self) -> tuple[Quote, ...]:
        """The sentences of the list here; none where there is no list."""
        return tuple(each.quote() for each in self) if self.value else ()

    def untrusted(self) -> Untrusted:
        """The name here, which a user chose; labels may also be numbers and booleans."""
        return Untrusted(self.value if isinstance(self.value, str) else str(self.value), self.path)


def headline(answer: AnswerPath, verdict: AnswerPath, warning: Quote | None = None, severe: bool = True) -> Headline:
    """The sentence of an answer, with what was decided in it, and what neither must hide."""
    covers = verdict["covers"].quotes()
    return Headline(verdict["decision"].value, answer["sentence"].quote(), warning, severe, covers)


def table_of(
    caption: str,
    head: tuple[str, ...],
    entries: AnswerPath | Sequence[AnswerPath],
    row: Callable[[AnswerPath], tuple[Cell, ...]],
    note: str = "",
    most: int = MOST_ROWS,
    where: str = "",
) -> Table:
    """A row for each of the first of many entries; the others are left to the answer."""
    first = tuple(row(entry) for entry in list(entries)[:most])
    path = entries.path if isinstance(entries, AnswerPath) else where
    return Table(caption, head, first, note, len(entries) - len(first), path)


def ranking_row(place: AnswerPath) -> tuple[Cell, ...]:
    """One place of a ranking."""
    ranks = place.numbers("best_rank", "worst_rank", kind="count")
    return place["name"].untrusted(), *place["advantage"].interval(), *ranks


def at(answer: AnswerPath, path: str) -> AnswerPath:
    """What a dotted path leads to."""
    for name in path.split("."):
        answer = answer[name]
    return answer


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """The charts of one answer; each section picks its own by name."""

    items: tuple[Figure, ...]

    def pick(self, *names: str) -> tuple[Figure, ...]:
        """The charts with these names that the answer has, in the order of the names."""
        return tuple(each for name in names for each in self.items if each.name == name)


Content = Callable[[AnswerPath, Figures, Context], Report]  # makes the report of an answer

Draw = Callable[[AnswerPath], tuple[Figure | None, ...]]
"""Draws the pictures of an answer; None for one that it has not."""


@dataclass(frozen=True, slots=True)
class Page:
    """What makes the report of one operation, and its pictures, where it shares a module with others."""

    content: Content
    figures: Draw | None = None
