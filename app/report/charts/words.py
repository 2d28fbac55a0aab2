"""Numbers and names as a chart and its description write them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from app.words import plain

MOST = 32
"""Characters of a name that fit beside a chart."""


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
    """An interval."""
    return f"[{three(lower)}, {three(upper)}]"


def finite(values: Iterable[float | None]) -> list[float]:
    """The numbers there are."""
    return [value for value in values if value is not None and math.isfinite(value)]


def inert(label: object, most: int = MOST) -> str:
    """A name from outside on one line, shortened; what would act instead of being seen is spelled out."""
    text = short(label) if isinstance(label, float) else str(label)
    seen = plain(text[: most + 1])  # what is cut off anyway need not be spelled
    return (seen if len(seen) <= most else seen[: most - 1] + "…") if seen.strip() else "(blank)"


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
