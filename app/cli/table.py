"""A table of numbers with their limits, as it is printed: limits are rounded outward, so that they hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from estimators.statement import at_least, at_most

NAME_WIDTH = 22


@dataclass(frozen=True, slots=True)
class Row:
    """One line: what it is, its value, the limits of its interval, and what to know of it."""

    name: str
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    note: str = ""


def lines(rows: Iterable[Row], last: str) -> list[str]:
    """The table with its header; ``last`` stands over the notes."""
    listed = list(rows)
    width = max([NAME_WIDTH, *(len(row.name) + 2 for row in listed)])
    head = f"{'':<{width}}{'estimate':>9}{'lower':>9}{'upper':>9}   {last}"
    return [head.rstrip(), *(_line(row, width) for row in listed)]


def _line(row: Row, width: int) -> str:
    estimate = "" if row.estimate is None else f"{row.estimate:z.3f}"
    lower = "" if row.lower is None else at_least(row.lower)
    upper = "" if row.upper is None else at_most(row.upper)
    numbers = f"{estimate:>9}{lower:>9}{upper:>9}"
    return f"{row.name:<{width}}{numbers}   {row.note}".rstrip()
