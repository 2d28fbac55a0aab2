"""How numbers, names and sentences are written, the same in every form of a report and in charts."""

import math
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from itertools import accumulate
from typing import assert_never

from estimators.statement import at_least, at_most, figures_down, figures_up, percent, roughly
from macekit.reports.model import Cell, Number, Phrase, Quote, Table, Untrusted
from macekit.text import escape_controls, printable

DASH = "–"

BOUNDS = frozenset({"lower_bound", "score_epsilon"})
"""Lower ends whose names do not end in "lower"; every other end of an interval ends in "lower" or "upper"."""

CONFIDENCE = "confidence"
"""What a confidence is called: it is written with every digit, so that only certainty reads as 100%."""

FINEST = 24  # digits after the point that tell the largest advantage a float can be from certainty
LONGEST_SENTENCE = 2000  # characters of a sentence that are shown; names within it may be long


def format_number(number: Number) -> str:
    """A number as readers see it; never "-0"."""
    value = number.value
    if value is None:
        return DASH
    match number.kind:
        case "share":
            # ends of intervals are rounded outward, so that what is read holds; anything else to the nearest
            return (at_least if is_lower(number.path) else at_most if is_upper(number.path) else three)(value)
        case "plain":
            return f"{value:z.4g}"
        case "floor":
            return figures_down(value)
        case "ceiling":
            return figures_up(value)
        case "count":
            return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}".removesuffix(".0")
        case "roughly":
            return roughly(int(value))
        case "exact":
            return repr(value).removesuffix(".0")
        case "percent":
            return percent(value) if field_name(number.path) == CONFIDENCE else f"{100 * value:.6g}%"
        case "guesses":
            return _guesses(number, value)
        case _ as never:
            assert_never(never)


def field_name(path: str) -> str:
    """The last name in a path; an entry of a list has the name of the list."""
    return next((part for part in reversed(path.split(".")) if not part.isdecimal()), "")


def is_lower(path: str) -> bool:
    """Whether a number is the lower end of an interval, by the name of its place."""
    name = field_name(path)
    return name in BOUNDS or name.endswith("lower")


def is_upper(path: str) -> bool:
    """Whether it is an upper end."""
    return field_name(path).endswith("upper")


def _guesses(number: Number, value: float) -> str:
    """Right guesses in a hundred: with so many digits that only what is certain reads as all, or as none."""
    path = number.path
    towards = ROUND_FLOOR if is_lower(path) else ROUND_CEILING if is_upper(path) else ROUND_HALF_EVEN
    exact = 50 * (1 + Decimal(repr(value)))
    candidates = (exact.quantize(Decimal(1).scaleb(-digits), towards) for digits in range(1, FINEST))
    nearest = next((each for each in candidates if each not in (0, 100) or each == exact), exact)
    return f"{nearest:f}".removesuffix(".0")


def words(cell: Cell) -> str:
    """Any cell as text that is only read: nothing in it acts on a terminal, a page or a reader's eye."""
    match cell:
        case Number():
            return format_number(cell)
        case Quote(text):
            return printable(text, LONGEST_SENTENCE)
        case Untrusted(text):
            return printable(text)
        case Phrase(parts):
            return "".join(words(part) for part in parts)
        case _:
            return escape_controls(cell)


def numeric(table: Table) -> tuple[bool, ...]:
    """Of each column, whether it holds numbers and nothing else: those are set to the right."""
    columns = [[cell for cell in column if cell != ""] for column in zip(*table.rows, strict=True)]
    flags = tuple(bool(cells) and all(isinstance(cell, Number) for cell in cells) for cells in columns)
    return flags or (False,) * len(table.head)


MOST = 32  # columns of a name that fit beside a chart
WIDE = frozenset("WF")  # East Asian widths that take two columns


def rounded(value: float) -> float:
    """Six significant digits: finer than any screen, and a third of the bytes."""
    return float(f"{value:z.6g}")


def three(value: float) -> str:
    """Three digits after the point, as every share is written."""
    return f"{value:z.3f}"


def short(value: float) -> str:
    """A number of any size, in a few characters."""
    return f"{value:z.4g}"


def many(count: int, thing: str, things: str = "") -> str:
    """A number of things."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


def ends(lower: float, upper: float) -> str:
    """An interval, its ends rounded outward."""
    return f"[{at_least(lower)}, {at_most(upper)}]"


def between(lower: float, upper: float) -> str:
    """The same within a sentence."""
    return f"between {at_least(lower)} and {at_most(upper)}"


def finite(values: Iterable[float | None]) -> list[float]:
    """The numbers there are."""
    return [value for value in values if value is not None and math.isfinite(value)]


def short_label(label: object, most: int = MOST) -> str:
    """A name from outside on one line, shortened, with control characters written out."""
    text = short(label) if isinstance(label, float) else str(label)
    visible = _fitting(escape_controls(text[: most + 1]), most)
    return visible if visible.strip() else "(blank)"


def _fitting(text: str, most: int) -> str:
    """As much of a text as fits, whole letters of it."""
    reach = list(accumulate(map(_columns, text)))
    if not reach or reach[-1] <= most:
        return text
    return text[: sum(end < most for end in reach)] + "…"


def _columns(letter: str) -> int:
    """What a letter takes of a line; one that is outside the basic plane is mostly a picture."""
    return 2 if unicodedata.east_asian_width(letter) in WIDE or ord(letter) > 0xFFFF else 1


def distinct(labels: Sequence[object]) -> list[str]:
    """The names as short labels that all differ: a scale has one place for each."""
    earlier: set[str] = set()
    result = []
    for label in labels:
        name = plainly = short_label(label)
        again = 1
        while name in earlier:
            again += 1
            name = f"{plainly} ({again})"
        earlier.add(name)
        result.append(name)
    return result
