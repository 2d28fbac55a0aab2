"""What all charts share: size, axes, type, and the lines that mean the same in each of them."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from macekit.reports.palette import BAND, BASELINE, GRID, INK, MUTED, SURFACE, THRESHOLD


def drawable(low: float, high: float) -> bool:
    """Whether there is a picture of what lies between numbers that far apart, or that near."""
    span = high - low
    return math.isfinite(span) and span > 1e-300


def placing(low: float, high: float) -> Callable[[float], float]:
    """Rounds to a hundred-thousandth of the axis: less than any screen shows, in a third of the bytes."""
    digits = 5 - math.floor(math.log10(high - low))
    return lambda value: round(value, digits)


Spec: TypeAlias = dict[str, Any]
Row: TypeAlias = Mapping[str, Any]

WIDTH = 560  # of what is drawn between the axes, where a chart takes the whole width of a page

FONT = "sans-serif"

DASHED = (5, 4)  # the line of what there is without any leak

CONFIG: Spec = {
    "aria": False,
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "labelFontSize": 12,
        "labelFlush": False,
        "labelLimit": 0,  # names are cut before: Vega-Lite cuts through letters
        "titleColor": INK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "gridColor": GRID,
    },
    "legend": {
        "orient": "top",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 0,
        "title": None,
        "symbolType": "stroke",
        "symbolSize": 500,
        "symbolStrokeWidth": 2.5,
        "columnPadding": 24,
        "offset": 6,
    },
    "text": {"color": INK, "fontSize": 12},
}


def chart(*layers: Spec, **parts: Any) -> Spec:
    """Layers in one frame."""
    return {"width": WIDTH, "config": CONFIG, **parts, "layer": list(layers)}


def rows(values: Sequence[Row]) -> Spec:
    """Data that a layer brings along."""
    return {"values": [dict(row) for row in values]}


def layer(kind: str, encoding: Spec, data: Sequence[Row] | None = None, **mark: Any) -> Spec:
    """What is drawn of one kind of mark, of data that it brings along, or of those of the chart."""
    own = {} if data is None else {"data": rows(data)}
    return {**own, "mark": {"type": kind, **mark}, "encoding": encoding}


def amount(field: str) -> Spec:
    """A number, by an axis that another layer has."""
    return {"field": field, "type": "quantitative"}


def scaled(field: str, title: str | None, domain: Sequence[float] | None = None, **axis: Any) -> Spec:
    """A numeric axis."""
    scale: Spec = {"zero": False, "nice": False}
    if domain is not None:
        scale["domain"] = list(domain)
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def named(field: str, names: Sequence[str] | None = None) -> Spec:
    """The axis of names at the left, in the order of the data or of these."""
    axis = {"labelColor": INK, "domain": False, "ticks": False, "labelPadding": 10}
    scale = {} if names is None else {"scale": {"domain": names}}
    return {"field": field, "type": "nominal", "sort": None, "title": None, **scale, "axis": axis}


def across(axis: Literal["x", "y"], at: float, colour: str, dash: Sequence[int] = ()) -> Spec:
    """A line from edge to edge, at one place of an axis."""
    where: Spec = {axis: amount("at")}
    return layer("rule", where, [{"at": at}], color=colour, strokeWidth=1.5, strokeDash=list(dash))


def baseline(at: float) -> Spec:
    """Where nothing leaks: dashed."""
    return across("x", at, BASELINE, DASHED)


def threshold(at: float) -> Spec:
    """What is acceptable at most: drawn through."""
    return across("x", at, THRESHOLD)


def beyond(limit: float, high: float) -> Spec:
    """The ground of what would be too much."""
    where = {"x": amount("from"), "x2": {"field": "to"}}
    return layer("rect", where, [{"from": limit, "to": high}], color=GRID, opacity=0.6)


def banded(encoding: Spec, data: Sequence[Row], **mark: Any) -> Spec:
    """The ground between the ends of intervals."""
    return layer("area", encoding, data, color=BAND, opacity=0.65, **mark)


def words(text: str, x: Spec, y: Spec, **mark: Any) -> Spec:
    """Text in the chart itself, with a ground of its own where lines pass below."""
    style = {"baseline": "middle", "align": "left", **mark}
    return layer("text", {"text": {"value": text}, "x": x, "y": y}, [{}], **style)


def note(text: str) -> Spec:
    """What a chart says of itself, above it."""
    return words(text, {"value": 0}, {"value": -12}, color=MUTED)


def halo(text: Spec) -> list[Spec]:
    """The text over a thick outline of the ground's colour."""
    outline = {**text["mark"], "stroke": SURFACE, "strokeWidth": 4, "color": SURFACE, "strokeJoin": "round"}
    return [{**text, "mark": outline}, text]


def padded(low: float, high: float, share: float = 0.04) -> tuple[float, float]:
    """A range with room at both ends; around a single value, too."""
    room = share * (high - low) or 0.05
    return low - room, high + room
