"""What a report is made of, whatever it is written as: words, tables, figures, and numbers that know their origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

Kind = Literal["share", "plain", "floor", "ceiling", "count", "exact", "percent", "guesses"]

LISTED = 20
"""Records that a report lists: the most surely exposed."""


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
class Said:
    """A sentence of the answer, word for word."""

    text: str
    path: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name chosen by a user: shortened, and escaped wherever it is shown."""

    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Several words in one cell."""

    words: Words


Cell: TypeAlias = "str | Number | Said | Name | Phrase"
Words: TypeAlias = "tuple[Cell, ...]"
"""Text with numbers in it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; the first column names the row. ``more`` rows are left to the answer, at ``where``."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    more: int = 0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing to know at a glance: what it is, what it is worth, and what that means."""

    label: str
    value: Cell
    note: Words = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """What is read right after the headline."""

    items: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    words: Words


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[Words, ...]


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
    """A part of a report, under a heading; ``name`` is its anchor."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """What is read first: the decision, if one was asked for, and the sentence."""

    decision: Literal["pass", "fail", "inconclusive"] | None
    sentence: Said


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
    """What an answer does not know of itself: the file it was about, and when it was made (ISO 8601).

    ``others`` are further files: that of nonmembers after that of members, or the other queries of a comparison.
    """

    source: str | None = None
    made: str | None = None
    others: tuple[str, ...] = ()

    @classmethod
    def now(cls, source: str | None = None, others: tuple[str, ...] = ()) -> Context:
        """Of an answer that has just come: to the minute, which is what a reader asks."""
        return cls(source, datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"), others)


# --- place --------------------------------------------------------------------------------------------------
# A place in an answer: numbers and sentences taken from it know where they came from, so no path can be
# wrong.


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the decoded answer, and its dotted path. Whatever is not there, or null, is an empty place."""

    value: Any
    path: str = ""

    def __getitem__(self, key: str | int) -> Place:
        path = f"{self.path}.{key}" if self.path else str(key)
        held = self.value
        if isinstance(key, str):
            return Place(held.get(key) if isinstance(held, dict) else None, path)
        return Place(held[key], path)

    def __iter__(self) -> Iterator[Place]:
        return (self[i] for i in range(len(self.value or ())))

    def __len__(self) -> int:
        return len(self.value or ())

    def __bool__(self) -> bool:
        return self.value is not None

    def number(self, kind: Kind = "share") -> Number:
        """The number here."""
        return Number(self.value, self.path, kind)

    def said(self) -> Said:
        """The sentence here."""
        return Said(self.value or "", self.path)

    def name(self) -> Name:
        """The name here, which a user chose; labels may also be numbers and booleans."""
        return Name(self.value if isinstance(self.value, str) else str(self.value), self.path)


def at(answer: Place, path: str) -> Place:
    """The place a dotted path leads to."""
    for name in path.split("."):
        answer = answer[name]
    return answer


# --- album --------------------------------------------------------------------------------------------------
# The charts of one answer, by name: each section asks for its own.


@dataclass(frozen=True, slots=True, eq=False)
class Album:
    """All figures there are."""

    figures: tuple[Figure, ...]

    def named(self, *names: str) -> tuple[Figure, ...]:
        """Those of these names that there are, in this order."""
        return tuple(each for name in names for each in self.figures if each.name == name)


Content = Callable[[Place, Album, Context], Report]
"""Makes the report of an answer."""

Draw = Callable[[Place], tuple[Figure | None, ...]]
"""Draws the pictures of an answer; None for one that it has not."""
