"""The ROC as two charts: the whole curve, and its corner of few false alarms on logarithmic axes."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import log10
from typing import Any

from macekit.reports.charts.frame import DASHED, Spec, amount, banded, chart, halo, layer, note, scaled, words
from macekit.reports.formatting import between, ends, finite, rounded, three
from macekit.reports.model import AnswerPath, Cell, Figure, Phrase, Table
from macekit.reports.palette import BASELINE, INK, MEMBER

MOST = 240  # points of a curve: more than there are pixels would only weigh
SIDE = 340  # of the square that a curve is drawn in

Point = tuple[float, float]

ENDS = ("tpr", "lower", "upper")


def curve(roc: Mapping[str, Any]) -> list[dict[str, float]]:
    """The curve as data, thinned to even steps along it."""
    return _thinned(list(zip(roc["fpr"], roc["tpr"], strict=True)), lambda rate: rate)


def corner(roc: Mapping[str, Any], floor: float) -> list[dict[str, float]]:
    """The same for axes that are logarithmic from ``floor`` on: straight pieces bend there, and get points between."""
    points = list[Point]()
    marks = [10.0 ** (-i / 10) for i in range(round(-log10(floor) * 10), -1, -1)]  # ten points a decade
    for (fpr, tpr), (to, up) in pairwise(zip(roc["fpr"], roc["tpr"], strict=True)):
        points.append((fpr, tpr))
        if to > fpr and up > tpr:
            share = (up - tpr) / (to - fpr)
            steps = (at for at in marks if fpr < at < to)
            points += [(at, tpr + share * (at - fpr)) for at in steps]
    points.append((roc["fpr"][-1], roc["tpr"][-1]))
    visible = [(max(fpr, floor), max(tpr, floor)) for fpr, tpr in points]
    return _thinned(visible, lambda rate: log10(rate) / -log10(floor))


def _thinned(every: Sequence[Point], along: Callable[[float], float]) -> list[dict[str, float]]:
    points, since = list(every[:1]), 0.0
    for before, after in pairwise(every):
        since += sum(abs(along(b) - along(a)) for a, b in zip(before, after, strict=True))
        if since >= 2.0 / MOST or (since and len(every) <= MOST):
            points.append(after)
            since = 0.0
    if points[-1] != every[-1]:
        points.append(every[-1])
    return [{"fpr": rounded(fpr), "tpr": rounded(tpr)} for fpr, tpr in points]


def diagonal(floor: float, x: Spec, y: Spec) -> Spec:
    """The curve of an adversary who guesses; it begins where the axes do."""
    corners: list[Spec] = [{"fpr": floor, "tpr": floor}, {"fpr": 1, "tpr": 1}]
    return layer("line", {"x": x, "y": y}, corners, color=BASELINE, strokeDash=DASHED, strokeWidth=1.5)


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


def rates_table(roc: AnswerPath) -> Table:
    """The points asked for, in numbers, and the area."""
    lines: list[tuple[Cell, ...]] = [
        (Phrase(("at FPR ", point["fpr"].number("plain"))), *point.numbers(*ENDS)) for point in roc["operating_points"]
    ]
    lines.append(("area under the curve", *roc.numbers("auc", "auc_lower", "auc_upper")))
    return Table("Rates", ("true positive rate", "value", "lower", "upper"), tuple(lines))


def roc(answer: AnswerPath, band: AnswerPath | None) -> Figure:
    """The curve with its band over the diagonal of an adversary who guesses."""
    value = answer.value
    x = scaled("fpr", "false positive rate", (0, 1), tickCount=5)
    y = scaled("tpr", "true positive rate", (0, 1), tickCount=5)
    where = {"x": x, "y": y, "order": {"value": None}}
    area = f"area {three(value['auc'])} {ends(value['auc_lower'], value['auc_upper'])}"
    spec = chart(
        *([] if band is None or not len(band) else _band(band, x)),
        diagonal(0, x, y),
        layer("line", where, curve(value), color=MEMBER, strokeWidth=2.5, interpolate="linear"),
        *guessing(),
        *in_corner(area, 36, fontWeight="bold", color=INK),
        width=SIDE,
        height=SIDE,
    )
    text = (
        f"The area under the curve is {three(value['auc'])}, "
        f"{between(value['auc_lower'], value['auc_upper'])}; guessing gives 0.5."
    )
    if band is not None and len(band):
        text += " With the same confidence the whole curve lies within the band, whichever rate is looked at."
    return Figure("roc", "ROC: members found against false alarms", text, spec, rates_table(answer))


def _band(band: AnswerPath, x: Spec) -> list[Spec]:
    """The limits along the curve, all of which hold together."""
    between_ends = {"x": x, "y": amount("lower"), "y2": {"field": "upper"}}
    return [banded(between_ends, stairs(band.value)), note("band: the whole curve lies within")]


def stairs(band: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """What holds between the rates: the lower limit of the one before, the upper limit of the one behind."""
    steps = [
        {"fpr": at, "lower": before["lower"], "upper": behind["upper"]}
        for before, behind in pairwise(band)
        for at in (before["fpr"], behind["fpr"])
    ]
    return [{name: rounded(value) for name, value in step.items()} for step in steps]


LEAST = 1e-6  # the farthest out that is drawn


def low_fpr(answer: AnswerPath, band: AnswerPath | None) -> Figure | None:
    """The points asked for with their intervals; none where no point was asked for."""
    value = answer.value
    if not value["operating_points"]:
        return None
    around = [] if band is None else stairs(band.value)
    operating_points = limits(value["operating_points"])
    floor = _floor(operating_points)
    x, y = _axis("fpr", "false positive rate", floor), _axis("tpr", "true positive rate", floor)
    inside = [_bar(p, floor) for p in around if p["fpr"] >= floor and p["upper"] > floor]
    spec = chart(
        *([_area(inside, x)] if inside else []),
        diagonal(floor, x, y),
        layer("line", {"x": x, "y": y}, corner(value, floor), color=MEMBER, strokeWidth=2, clip=True),
        *_points(operating_points, floor, x, y),
        *guessing(),
        width=SIDE,
        height=SIDE,
    )
    text = _in_words(value)
    if band is not None and len(band):
        text += " Each of these intervals is for a rate named beforehand; the band holds at every rate at once."
    return Figure("low-fpr", "ROC where false alarms are few", text, spec, rates_table(answer))


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
    low = {**amount("lower"), "scale": {"type": "log"}}
    return banded({"x": x, "y": low, "y2": {"field": "upper"}}, inside, clip=True)


def _points(points: Sequence[Mapping[str, float]], floor: float, x: Spec, y: Spec) -> list[Spec]:
    """Each point and its interval; a triangle at the foot where the interval goes on down to 0."""
    bars = [_bar(p, floor) for p in points]
    feet = [{"fpr": p["fpr"], "tpr": floor} for p in points if p["lower"] <= 0]
    visible = [{"fpr": p["fpr"], "tpr": p["tpr"]} for p in points if p["tpr"] >= floor]
    low: Spec = {**amount("lower"), "scale": {"type": "log"}}
    where = {"x": x, "y": low, "y2": {"field": "upper"}}
    at = {"x": x, "y": y}
    layers = [
        layer("rule", where, bars, color=INK, strokeWidth=1.5, clip=True),
        layer("point", at, visible, filled=True, color=INK, size=70, opacity=1),
    ]
    if feet:
        foot = {"filled": True, "shape": "triangle-down", "color": INK, "size": 90, "opacity": 1}
        layers += [layer("point", at, feet, **foot), note("▼ lower end is 0")]
    return layers


def _bar(point: Mapping[str, float], floor: float) -> dict[str, float]:
    """An interval as far as the axis shows it."""
    return {"fpr": point["fpr"], "lower": max(point["lower"], floor), "upper": max(point["upper"], floor)}


def _in_words(value: Mapping[str, Any]) -> str:
    parts = [
        f"at a false positive rate of {p['fpr']:.4g} the true positive rate is {three(p['tpr'])}, "
        f"{between(p['lower'], p['upper'])}"
        for p in value["operating_points"][:5]
        if finite([p["tpr"]])
    ]
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "."
