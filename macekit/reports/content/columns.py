"""The columns that an answer read, and how each was taken: on the first screen, and in full beside its provenance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from macekit.reports.model import READ, AnswerPath, Cell, Fact, Facts, Inline, Phrase, Report, Table

MOST = 6
"""Columns that are named on the first screen."""

MOST_ROWS = 40
"""Columns that are listed beside the provenance; a thousand queries are in the JSON."""

MORE = "more than a thousand different values"


def with_columns(report: Report, answer: AnswerPath) -> Report:
    """The report with the columns that were read among its facts, if there is something to say of one."""
    read = columns(answer["provenance"])
    how = notes(read)
    if not how:
        return report
    names: list[Cell] = []
    for column in read[:MOST]:
        names += [", "] if names else []
        names.append(column["name"].untrusted())
    if len(read) > MOST:
        names.append(f" and {len(read) - MOST} more")
    fact = Fact(READ, Phrase(tuple(names)), how)
    return replace(report, facts=Facts((*report.facts.items, fact)))


def _says_something(column: AnswerPath) -> bool:
    """Whether a column was chosen or understood, as arrays that were sent by their names were not."""
    return column["name"].value != column["role"].value or bool(column["notes"].value)


def notes(read: Sequence[AnswerPath]) -> Inline:
    """How each of the first columns was taken; nothing, if there is nothing to say of any."""
    if not any(_says_something(column) for column in read):
        return ()
    parts: list[Cell] = []
    for column in read[:MOST]:
        parts += [", "] if parts else []
        parts.append(column["role"].untrusted())
        if column["name"].value != column["role"].value:
            parts += [" from ", column["name"].untrusted()]
        remarks = _remarks(column)
        parts += [" (", *_how_taken(column), *(("; ", *remarks) if remarks else ()), ")"]
    return tuple(parts)


def table(source: AnswerPath) -> Table | None:
    """Every column that was read."""
    read = columns(source)
    rows = tuple(_row(column) for column in read[:MOST_ROWS])
    head = ("Read as", "Column", "It holds", "Understood or dropped")
    more = max(0, len(read) - MOST_ROWS)
    where = "provenance" if isinstance(source.value, list) else "provenance.columns"
    return Table(READ, head, rows, more=more, where=where) if rows else None


def columns(source: AnswerPath) -> Sequence[AnswerPath]:
    """Every column that was read; of several queries those of each, then, once, those that they share."""
    if not isinstance(source.value, list):
        return list(source["columns"])
    read: dict[tuple[str, str], list[AnswerPath]] = {}
    for each in source:
        for column in each["columns"]:
            read.setdefault((str(column["role"].value), str(column["name"].value)), []).append(column)
    return [same[0] for same in sorted(read.values(), key=lambda same: len(same) > 1)]


def _row(column: AnswerPath) -> tuple[Cell, ...]:
    return (
        column["role"].untrusted(),
        column["name"].untrusted(),
        Phrase(_how_taken(column)),
        Phrase(_remarks(column)),
    )


def _remarks(column: AnswerPath) -> Inline:
    """What was dropped or understood."""
    remarks: list[Cell] = []
    for note in column["notes"]:
        remarks += [", "] if remarks else []
        remarks.append(note.untrusted())
    return tuple(remarks)


def _how_taken(column: AnswerPath) -> Inline:
    """What a column holds, and how many different values."""
    kind = column["kind"]
    if kind.value == "counts" or str(kind.value).startswith("rows"):
        return (kind.untrusted(),)
    if not column["distinct"]:
        return kind.untrusted(), ", ", MORE
    return kind.untrusted(), ", ", column["distinct"].number("count"), " different"
