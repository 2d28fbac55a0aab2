"""What both pictures of a ROC are drawn from: the curve, the band around it, the points asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any

from app.report.charts.frame import DASHED, Spec, halo, rows, words
from app.report.charts.words import rounded
from app.report.model import Cell, Phrase, Table
from app.report.palette import BASELINE
from app.report.place import Place

MOST = 240
"""Points of a curve: more than there are pixels would only weigh."""

SIDE = 340
"""Of the square that a curve is drawn in."""

Point = tuple[float, float]

ENDS = ("tpr", "lower", "upper")


def curve(roc: Mapping[str, Any]) -> list[dict[str, float]]:
    """The curve as data, thinned to even steps along it."""
    return _thinned(list(zip(roc["fpr"], roc["tpr"], strict=True)), lambda rate: rate)


def corner(roc: Mapping[str, Any], floor: float) -> list[dict[str, float]]:
    """The same for axes that are logarithmic from ``floor`` on: straight pieces bend there, and get points between."""
    points: list[Point] = []
    for (fpr, tpr), (to, up) in pairwise(zip(roc["fpr"], roc["tpr"], strict=True)):
        points.append((fpr, tpr))
        if to > fpr and up > tpr:
            share = (up - tpr) / (to - fpr)
            steps = (at for at in _decades(floor) if fpr < at < to)
            points += [(at, tpr + share * (at - fpr)) for at in steps]
    points.append((roc["fpr"][-1], roc["tpr"][-1]))
    seen = [(max(fpr, floor), max(tpr, floor)) for fpr, tpr in points]
    return _thinned(seen, lambda rate: log10(rate) / -log10(floor))


def _decades(floor: float) -> list[float]:
    """Ten points a decade, from the floor to 1."""
    count = round(-log10(floor) * 10)
    return [10.0 ** (-i / 10) for i in range(count, -1, -1)]


def _thinned(every: Sequence[Point], along: Callable[[float], float]) -> list[dict[str, float]]:
    kept, since = list(every[:1]), 0.0
    for before, after in pairwise(every):
        since += sum(abs(along(b) - along(a)) for a, b in zip(before, after, strict=True))
        if since >= 2.0 / MOST or (since and len(every) <= MOST):
            kept.append(after)
            since = 0.0
    if kept[-1] != every[-1]:
        kept.append(every[-1])
    return [{"fpr": rounded(fpr), "tpr": rounded(tpr)} for fpr, tpr in kept]


def diagonal(floor: float, x: Spec, y: Spec) -> Spec:
    """The curve of an adversary who guesses; it begins where the axes do."""
    return {
        "data": rows([{"fpr": floor, "tpr": floor}, {"fpr": 1, "tpr": 1}]),
        "mark": {"type": "line", "color": BASELINE, "strokeDash": DASHED, "strokeWidth": 1.5},
        "encoding": {"x": x, "y": y},
    }


def guessing() -> list[Spec]:
    """What the diagonal is called, in the corner beneath it."""
    return in_corner("guessing: no leakage", 16, color=BASELINE)


def in_corner(text: str, height: int, **mark: Any) -> list[Spec]:
    """Text at the right end of the square, so far above its foot, legible over lines."""
    at = {"value": SIDE - 8}, {"value": SIDE - height}
    return halo(words(text, *at, align="right", **mark))


def limits(of: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """Intervals of the true positive rate as data."""
    return [{name: rounded(point[name]) for name in ("fpr", *ENDS)} for point in of]


def asked(roc: Place) -> Table:
    """The points asked for, in numbers, and the area."""
    lines: list[tuple[Cell, ...]] = [
        (Phrase(("at FPR ", point["fpr"].number("plain"))), *(point[end].number() for end in ENDS))
        for point in roc["operating_points"]
    ]
    area = (roc[end].number() for end in ("auc", "auc_lower", "auc_upper"))
    lines.append(("area under the curve", *area))
    return Table("Rates", ("true positive rate", "value", "lower", "upper"), tuple(lines))
