"""How numbers and other people's words are spelt, the same in every form of a report."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import assert_never

from app.report.model import Cell, Name, Number, Phrase, Said, Table
from estimators.statement import at_least, at_most, figures_down, figures_up
from macekit.text import plain, shown

DASH = "–"

LOWER = frozenset({"lower", "lower_bound", "simultaneous_lower", "auc_lower"})
UPPER = frozenset({"upper", "simultaneous_upper", "auc_upper"})
"""What ends of intervals are called: they are rounded outward, so that what is read holds."""

FINEST = 24
"""Digits after the point that tell the largest advantage a float can be from certainty."""
LONGEST_SENTENCE = 2000
"""Characters of a sentence that are shown; names within it may be long."""


def spelt(number: Number) -> str:
    """A number as it is read; nothing is worse than minus nought."""
    value = number.value
    if value is None:
        return DASH
    match number.kind:
        case "share":
            return _outward(number)(value)
        case "plain":
            return f"{value:z.4g}"
        case "floor":
            return figures_down(value)
        case "ceiling":
            return figures_up(value)
        case "count":
            return f"{value:,}"
        case "exact":
            return repr(value)
        case "percent":
            return f"{100 * value:.6g}%"
        case "guesses":
            return _guesses(number, value)
        case _ as never:
            assert_never(never)


def called(path: str) -> str:
    """What stands at a path: the name of its list, of an entry."""
    return next((part for part in reversed(path.split(".")) if not part.isdecimal()), "")


def _outward(number: Number) -> Callable[[float], str]:
    name = called(number.path)
    return at_least if name in LOWER else at_most if name in UPPER else "{:z.3f}".format


def _guesses(number: Number, value: float) -> str:
    """Right guesses in a hundred: with so many digits that only what is certain reads as all, or as none."""
    name = called(number.path)
    towards = ROUND_FLOOR if name in LOWER else ROUND_CEILING if name in UPPER else ROUND_HALF_EVEN
    exact = 50 * (1 + Decimal(repr(value)))
    said = (exact.quantize(Decimal(1).scaleb(-digits), towards) for digits in range(1, FINEST))
    told = next((each for each in said if each not in (0, 100) or each == exact), exact)
    return f"{told:f}".removesuffix(".0")


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
