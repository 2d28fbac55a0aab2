"""The columns that an answer read, and how each was taken: on the first screen, and in full beside its provenance."""

from __future__ import annotations

from dataclasses import replace

from macekit.reports.model import AnswerPath, Cell, Fact, Facts, Inline, Phrase, Report, Table

MOST = 6
"""Columns that are named on the first screen."""

MORE = "more than 1000 different values"


def with_columns(report: Report, answer: AnswerPath) -> Report:
    """The report with the columns that were read among its facts."""
    read = _columns(answer)
    if not read.value:
        return report
    names: list[Cell] = []
    notes: list[Cell] = []
    for column in list(read)[:MOST]:
        names += [", "] if names else []
        names.append(column["name"].untrusted())
        notes += ["; "] if notes else []
        notes += [column["role"].untrusted(), ": ", *_taken(column)]
        remarks = _remarks(column)
        notes += [" (", *remarks, ")"] if remarks else []
    if len(read) > MOST:
        names.append(f" and {len(read) - MOST} more")
    fact = Fact("Columns that were read", Phrase(tuple(names)), tuple(notes))
    return replace(report, facts=Facts((*report.facts.items, fact)))


def table(source: AnswerPath) -> Table | None:
    """Every column that was read."""
    rows = tuple(_row(column) for column in source["columns"])
    head = ("Read as", "Column", "It holds", "Understood or dropped")
    return Table("Columns that were read", head, rows) if rows else None


def _columns(answer: AnswerPath) -> AnswerPath:
    source = answer["provenance"]
    if isinstance(source.value, list):
        source = source[0] if source.value else AnswerPath(None)
    return source["columns"]


def _row(column: AnswerPath) -> tuple[Cell, ...]:
    return (
        column["role"].untrusted(),
        column["name"].untrusted(),
        Phrase(_taken(column)),
        Phrase(_remarks(column)),
    )


def _remarks(column: AnswerPath) -> Inline:
    """What was dropped or understood."""
    remarks: list[Cell] = []
    for note in column["notes"]:
        remarks += [", "] if remarks else []
        remarks.append(note.untrusted())
    return tuple(remarks)


def _taken(column: AnswerPath) -> Inline:
    """What a column holds, and how many different values."""
    kind = column["kind"]
    if kind.value == "counts" or str(kind.value).startswith("rows"):
        return (kind.untrusted(),)
    if not column["distinct"]:
        return kind.untrusted(), ", ", MORE
    return kind.untrusted(), ", ", column["distinct"].number("count"), " different"
