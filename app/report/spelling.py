"""How numbers and other people's words are spelt, the same in every form of a report."""

from __future__ import annotations

from typing import assert_never

from app.report.model import Cell, Name, Number, Phrase, Said, Table
from app.words import plain, shown

DASH = "–"
LONGEST_SENTENCE = 2000
"""Characters of a sentence that are shown; names within it may be long."""


def spelt(number: Number) -> str:
    """A number as it is read; nothing is worse than minus nought."""
    value = number.value
    if value is None:
        return DASH
    match number.kind:
        case "share":
            return f"{value:z.3f}"
        case "plain":
            return f"{value:z.4g}"
        case "count":
            return f"{value:,}"
        case "exact":
            return repr(value)
        case "percent":
            return f"{100 * value:.6g}%"
        case "guesses":
            return f"{50 * (1 + value):.1f}".removesuffix(".0")
        case _ as never:
            assert_never(never)


def words(cell: Cell) -> str:
    """Any cell as text that is only read: nothing in it acts on a terminal, a page or a reader's eye."""
    match cell:
        case Number():
            return spelt(cell)
        case Said(text):
            return shown(text, LONGEST_SENTENCE)
        case Name(text):
            return shown(text)
        case Phrase(parts):
            return "".join(words(part) for part in parts)
        case _:
            return plain(cell)


def numeric(table: Table) -> tuple[bool, ...]:
    """Of each column, whether it holds numbers and nothing else: those are set to the right."""
    columns = [[cell for cell in column if cell != ""] for column in zip(*table.rows, strict=True)]
    found = tuple(bool(cells) and all(isinstance(cell, Number) for cell in cells) for cells in columns)
    return found or (False,) * len(table.head)
