"""Where on the score's axis each cell lies, for cells of one score that have an order; and what a cell is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from app.report.charts.words import short
from app.report.model import Cell, Phrase
from app.report.place import Place

Span = tuple[float, float]


def spans(cells: Mapping[str, Any], edges: Sequence[float] | None) -> list[Span] | None:
    """From where to where each cell reaches; the open outer ones end at ``edges``. None without such an axis."""
    kind = cells["kind"]
    if kind == "intervals":
        return _between(cells["cuts"], edges)
    if kind == "grid":
        step = 2.0 ** cells["exponent"]
        return [(key * step, (key + 1) * step) for key in cells["keys"]]
    if kind == "lattice" and len(cells["low"]) == 1:
        return _sliced(cells["low"][0], cells["high"][0], cells["bins"], cells["keys"])
    return None


def _between(cuts: Sequence[float], edges: Sequence[float] | None) -> list[Span]:
    """Cell j lies between cuts j-1 and j."""
    if not cuts:
        return [(edges[0], edges[-1])] if edges else [(0.0, 1.0)]
    room = (cuts[-1] - cuts[0]) / 8 or max(1.0, abs(cuts[0])) / 2
    low, high = (edges[0], edges[-1]) if edges else (cuts[0] - room, cuts[-1] + room)
    ends = [min(low, cuts[0] - room / 8), *cuts, max(high, cuts[-1] + room / 8)]
    return list(pairwise(ends))


def _sliced(low: float, high: float, bins: int, keys: Sequence[int]) -> list[Span]:
    width = (high - low) / bins or 1.0
    return [(low + key * width, low + (key + 1) * width) for key in keys]


def names(found: Place) -> list[Cell]:
    """What each cell is called in a table."""
    cells = found["cells"]["cells"]
    kind = cells.value["kind"]
    if "labels" in cells.value:
        return [label.name() for label in cells["labels"]]
    if kind == "intervals" and len(cells["cuts"]):
        cuts = [cut.number("plain") for cut in cells["cuts"]]
        inner: list[Cell] = [Phrase((a, " to ", b)) for a, b in pairwise(cuts)]
        return [Phrase(("below ", cuts[0])), *inner, Phrase((cuts[-1], " or more"))]
    places = spans(cells.value, None)
    size = len(found["cells"]["members"])
    return [f"cell {i + 1}" for i in range(size)] if places is None else [_span(place) for place in places]


def _span(place: Span) -> str:
    return f"{short(place[0])} to {short(place[1])}"
