"""Numbers and names as a chart and its description write them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import accumulate

from estimators.statement import at_least, at_most
from macekit.text import plain

MOST = 32
"""Columns of a name that fit beside a chart."""

WIDE = frozenset("WF")
"""East Asian widths that take two columns."""


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


def inert(label: object, most: int = MOST) -> str:
    """A name from outside on one line, shortened; what would act instead of being seen is spelled out."""
    text = short(label) if isinstance(label, float) else str(label)
    seen = _fitting(plain(text[: most + 1]), most)
    return seen if seen.strip() else "(blank)"


def _fitting(text: str, most: int) -> str:
    """As much of a text as fits: the engine would cut what is too wide, and may cut through a letter."""
    reach = list(accumulate(map(_columns, text)))
    if not reach or reach[-1] <= most:
        return text
    return text[: sum(end < most for end in reach)] + "…"


def _columns(letter: str) -> int:
    """What a letter takes of a line; one that is outside the basic plane is mostly a picture."""
    return 2 if unicodedata.east_asian_width(letter) in WIDE or ord(letter) > 0xFFFF else 1


def distinct(labels: Sequence[object]) -> list[str]:
    """The names, inert, each told from all others: a scale has one place for each."""
    taken: set[str] = set()
    found = []
    for label in labels:
        name = plainly = inert(label)
        again = 1
        while name in taken:
            again += 1
            name = f"{plainly} ({again})"
        taken.add(name)
        found.append(name)
    return found
