"""The corner of the ROC that an attacker on one person cares about: few false alarms, both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.report.charts.curve import SIDE, asked, corner, diagonal, guessing, limits
from app.report.charts.frame import BANDED, Spec, chart, note, rows
from app.report.charts.words import between, finite, three
from app.report.model import Figure
from app.report.palette import INK, MEMBER
from app.report.place import Place

LEAST = 1e-6
"""The farthest out that is drawn."""


def low_fpr(found: Place, band: Place | None) -> Figure | None:
    """The points asked for with their intervals; none where no point was asked for."""
    given = found.value
    if not given["operating_points"]:
        return None
    around = [] if band is None else limits(band.value)
    asked_for = limits(given["operating_points"])
    floor = _floor(asked_for)
    x, y = _axis("fpr", "false positive rate", floor), _axis("tpr", "true positive rate", floor)
    inside = [_bar(p, floor) for p in around if p["fpr"] >= floor and p["upper"] > floor]
    spec = chart(
        *([_area(inside, x)] if inside else []),
        diagonal(floor, x, y),
        {
            "data": rows(corner(given, floor)),
            "mark": {"type": "line", "color": MEMBER, "strokeWidth": 2, "clip": True},
            "encoding": {"x": x, "y": y},
        },
        *_points(asked_for, floor, x, y),
        *guessing(),
        width=SIDE,
        height=SIDE,
    )
    return Figure("low-fpr", "ROC where false alarms are few", _described(given), spec, asked(found))


def _floor(points: Sequence[Mapping[str, float]]) -> float:
    """A power of ten below everything positive, but not so far out that the rest is squeezed."""
    positive = [v for p in points for v in (p["fpr"], p["tpr"], p["lower"]) if v > 0]
    least = max(min(positive), LEAST, min(p["fpr"] for p in points) / 10)
    return float(10.0 ** math.floor(math.log10(least) - 1e-9))


def _axis(field: str, title: str, floor: float) -> Spec:
    powers = [10.0**e for e in range(round(math.log10(floor)), 1)]
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "domain": [floor, 1], "nice": False},
        "axis": {"values": powers, "format": "~r"},
    }


def _area(inside: Sequence[Mapping[str, float]], x: Spec) -> Spec:
    log = {"type": "log"}
    return {
        "data": rows(inside),
        "mark": {**BANDED, "clip": True},
        "encoding": {
            "x": x,
            "y": {"field": "lower", "type": "quantitative", "scale": log},
            "y2": {"field": "upper"},
        },
    }


def _points(points: Sequence[Mapping[str, float]], floor: float, x: Spec, y: Spec) -> list[Spec]:
    """Each point and its interval; a triangle at the foot where the interval goes on down to 0."""
    bars = [_bar(p, floor) for p in points]
    feet = [{"fpr": p["fpr"], "tpr": floor} for p in points if p["lower"] <= 0]
    seen = [{"fpr": p["fpr"], "tpr": p["tpr"]} for p in points if p["tpr"] >= floor]
    low: Spec = {"field": "lower", "type": "quantitative", "scale": {"type": "log"}}
    bar = {"type": "rule", "color": INK, "strokeWidth": 1.5, "clip": True}
    dot = {"type": "point", "filled": True, "color": INK, "size": 70, "opacity": 1}
    foot = {"type": "point", "filled": True, "shape": "triangle-down", "color": INK, "size": 90, "opacity": 1}
    layers: list[Spec] = [
        {"data": rows(bars), "mark": bar, "encoding": {"x": x, "y": low, "y2": {"field": "upper"}}},
        {"data": rows(seen), "mark": dot, "encoding": {"x": x, "y": y}},
    ]
    if feet:
        seen_below = note("▼ lower end is 0")
        layers += [{"data": rows(feet), "mark": foot, "encoding": {"x": x, "y": y}}, seen_below]
    return layers


def _bar(point: Mapping[str, float], floor: float) -> dict[str, float]:
    """An interval as far as the axis shows it."""
    return {"fpr": point["fpr"], "lower": max(point["lower"], floor), "upper": max(point["upper"], floor)}


def _described(given: Mapping[str, Any]) -> str:
    parts = [
        f"at a false positive rate of {p['fpr']:.4g} the true positive rate is {three(p['tpr'])}, "
        f"{between(p['lower'], p['upper'])}"
        for p in given["operating_points"][:5]
        if finite([p["tpr"]])
    ]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."
