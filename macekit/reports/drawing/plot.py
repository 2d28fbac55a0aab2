"""A chart as a drawing: that part of Vega-Lite of which our charts are made; another mark, filter or shape is an error.

The same specification drawn by Vega-Lite itself has its marks at the same places (a test compares every kind of chart).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

from estimators.python.dataclass import dataclass
from macekit.reports.drawing import scales
from macekit.reports.drawing.marks import MIDDLE, Frame, Spec, dashes_of, rows_of, symbol
from macekit.reports.drawing.scales import Canvas, Drawing, number, width_of

CRISP = 0.5  # lines of one pixel lie between two
TICK, BESIDE = 5, 2  # how long the mark of a number is, and how far behind it the number stands
LINE, TITLE = 16, 35  # how far below an axis the line of its numbers and that of its title are
FEW = 5  # numbers along an axis that is asked for powers of ten and holds hardly one
APART = 40  # about so many pixels from number to number, where a chart does not say


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis as the layers define it together."""

    scale: scales.Scale
    length: float
    across: float
    """How far its lines reach over the chart."""
    title: str | None
    own: Mapping[str, Any]
    looks: Mapping[str, Any]
    marks: Sequence[tuple[float, str]]
    """Where along it a number or name stands, and how it is written."""

    @classmethod
    def of(
        cls, scale: scales.Scale, defs: Sequence[Spec], length: float, across: float, looks: Mapping[str, Any]
    ) -> Axis | None:
        """None where no layer speaks of an axis."""
        own: dict[str, Any] = {}
        for each in defs:
            own = {**(each.get("axis") or {}), **own}
        if not any("axis" in each or "title" in each for each in defs):
            return None
        title = next((each["title"] for each in defs if each.get("title")), None)
        return cls(scale, length, across, title, own, {**looks, **own}, _marks(scale, length, own))

    def grid(self, canvas: Canvas, *, lying: bool) -> None:
        """The lines behind what is drawn."""
        if isinstance(self.scale, scales.Numeric) and self.own.get("grid", True):
            far = number(self.across)
            lines = "".join(
                f"M{number(round(at) + CRISP)},{number(CRISP)}v{far}"
                if lying
                else f"M{number(CRISP)},{number(round(at) + CRISP)}h{far}"
                for at, _ in self.marks
            )
            canvas.path(lines, stroke=self.looks["gridColor"])

    def below(self, canvas: Canvas) -> None:
        """The axis at the foot."""
        foot = self.across + CRISP
        strokes = "".join(f"M{number(round(at) + CRISP)},{number(foot)}v{TICK}" for at, _ in self.marks)
        canvas.path(f"{strokes}M{number(CRISP)},{number(foot)}h{number(self.length)}", stroke=self.looks["tickColor"])
        size = self.looks["labelFontSize"]
        greedy = isinstance(self.scale, scales.Numeric) and self.scale.logarithmic
        for at, text in apart(self.marks, size, greedy=greedy):
            canvas.text(text, at + CRISP, foot + LINE, size, "middle", fill=self.looks["labelColor"])
        if self.title:
            place = self.length / 2.0 + CRISP, foot + TITLE
            canvas.text(self.title, *place, self.looks["titleFontSize"], "middle", fill=self.looks["titleColor"])

    def aside(self, canvas: Canvas) -> None:
        """The axis at the left."""
        marks, size = self.marks, self.looks["labelFontSize"]
        ticked, gap = self.own.get("ticks", True), self.own.get("labelPadding", BESIDE)
        strokes = "".join(f"M{number(CRISP)},{number(round(at) + CRISP)}h-{TICK}" for at, _ in marks) if ticked else ""
        if self.own.get("domain", True):
            strokes += f"M{number(CRISP)},{number(CRISP)}v{number(self.length)}"
        if strokes:
            canvas.path(strokes, stroke=self.looks["tickColor"])
        end = -(TICK * ticked + gap) + CRISP
        for at, text in marks:
            canvas.text(text, end, at + CRISP + MIDDLE * size, size, "end", fill=self.looks["labelColor"])
        if self.title:
            widest = max((width_of(text, size) for _, text in marks), default=0.0)
            place = end - widest - self.looks["titlePadding"] - 3, self.length / 2.0 + CRISP
            looks = {"fill": self.looks["titleColor"]}
            canvas.text(self.title, *place, self.looks["titleFontSize"], "middle", turned=True, **looks)


def _marks(scale: scales.Scale, length: float, own: Mapping[str, Any]) -> list[tuple[float, str]]:
    if isinstance(scale, scales.Bands):
        return [(scale.at(name), str(name)) for name in scale.names]
    low, high = sorted(scale.domain)
    values = own.get("values")
    if values is None:
        values = scale.marks(own.get("tickCount", ceil(length / APART)))
    first, last = (
        end - 1e-9 * side * (abs(end) if scale.logarithmic else high - low) for side, end in ((1, low), (-1, high))
    )
    inside = [value for value in values if first <= value <= last]
    if len(inside) < 2 and scale.logarithmic:  # within one decade
        inside = scale.marks(FEW)
    form = own.get("format", "~r" if scale.logarithmic else None)
    return [(scale.at(value), text) for value, text in zip(inside, scales.labels(inside, form), strict=True)]


def apart(marks: Sequence[tuple[float, str]], size: float, *, greedy: bool) -> list[tuple[float, str]]:
    """Those that do not run into each other: as many as fit one after the other, or every second until all do."""
    spans = [
        (at - width_of(text, size) / 2.0, at + width_of(text, size) / 2.0, (at, text)) for at, text in sorted(marks)
    ]
    if greedy:
        fitting = spans[:1]
        for span in spans[1:]:
            if span[0] > fitting[-1][1]:
                fitting.append(span)
        return [mark for _, _, mark in fitting]
    while any(before[1] >= behind[0] for before, behind in pairwise(spans)):
        spans = spans[::2]
    return [mark for _, _, mark in spans]


SYMBOL, ENTRY, ABOVE, ROW = 4, 2, 2.25, 4
"""Room in a legend: behind a symbol, behind an entry beside the chart's own, above the chart, between two rows."""


@dataclass(frozen=True, slots=True)
class Legend:
    """What each name of a scale of colours looks like, above the chart."""

    names: Sequence[str]
    channels: Mapping[str, Mapping[str, Any]]
    own: Mapping[str, Any]

    @classmethod
    def of(cls, layers: Sequence[Spec], looks: Mapping[str, Any]) -> Legend | None:
        """The looks that hang on one field, if a layer has such and does not forbid it."""
        channels: dict[str, Mapping[str, Any]] = {}
        own: dict[str, Any] = dict(looks)
        is_there = False
        for layer in layers:
            for name in ("fill", "stroke", "color", "strokeDash"):
                spec = layer["encoding"].get(name, {})
                if "field" in spec:
                    channels[name] = dict(zip(spec["scale"]["domain"], spec["scale"]["range"], strict=True))
                    legend = spec.get("legend", {})
                    is_there |= legend is not None
                    own |= legend or {}
        if not is_there:
            return None
        return cls(list(next(iter(channels.values()))), channels, own)

    def draw(self, canvas: Canvas) -> None:
        """One entry beside the other, in rows if there are columns."""
        size, radius = self.own["labelFontSize"], sqrt(self.own["symbolSize"]) / 2.0
        edge = self.own["symbolStrokeWidth"]
        wide = ceil(2.0 * radius + edge)
        columns = self.own.get("columns") or len(self.names)
        steps = [wide + SYMBOL + ceil(width_of(name, size)) + ENTRY + self.own["columnPadding"] for name in self.names]
        widths = [max(steps[column::columns]) for column in range(min(columns, len(self.names)))]
        lines = ceil(len(self.names) / columns)
        for place, name in enumerate(self.names):
            left = sum(widths[: place % columns])
            line = -ABOVE - self.own["offset"] - (lines - 1 - place // columns) * (size + ROW)
            self._symbol(canvas, name, left + wide / 2.0, line - MIDDLE * size, radius)
            canvas.text(name, left + wide + SYMBOL, line, size, fill=self.own["labelColor"])

    def _symbol(self, canvas: Canvas, name: str, x: float, y: float, radius: float) -> None:
        fill, dashes = (self.channels.get(each, {}).get(name) for each in ("fill", "strokeDash"))
        stroke = next((self.channels[each][name] for each in ("stroke", "color") if each in self.channels), None)
        looks: dict[str, object] = {"stroke": stroke, "stroke_width": self.own["symbolStrokeWidth"]}
        canvas.reach((x - radius, y - radius), (x + radius, y + radius))
        if self.own["symbolType"] == "stroke":
            outline = f"M{number(x - radius)},{number(y)}h{number(2.0 * radius)}"
            canvas.path(outline, **looks, stroke_dasharray=dashes_of(dashes))
        else:
            canvas.path(symbol(self.own["symbolType"], x, y, radius), fill=fill, **looks)


Layers = Sequence[tuple[Spec, Sequence[scales.Row]]]


def draw(spec: Spec, prefix: str = "", colours: Mapping[str, str] | None = None) -> Drawing:
    """A chart, or several below each other; names in it begin with ``prefix``."""
    canvas = Canvas(prefix, colours or {})
    if "vconcat" not in spec:
        _chart(canvas, spec, spec["config"])
        return canvas.finished()
    top = 0.0
    for each in spec["vconcat"]:
        part = Canvas(prefix, colours or {}, clips=canvas.clips)
        _chart(part, each, spec["config"])
        left, above, right, below = part.box
        place = top - above if canvas.pieces else 0.0
        moved = f'<g transform="translate(0,{number(place)})">' if place else "<g>"
        canvas.pieces.append(f"{moved}{''.join(part.pieces)}</g>")
        canvas.reach((left, place + above), (right, place + below))
        top = place + below + spec["spacing"]
    return canvas.finished()


def _chart(canvas: Canvas, spec: Spec, config: Mapping[str, Any]) -> None:
    """One frame with its layers, its axes around it and its legend above."""
    layers = [(layer, rows_of(layer, spec)) for layer in spec["layer"]]
    width = float(spec["width"])
    shift = _shift(spec, layers)
    height, y = _vertical(spec, layers, shift)
    x = _scale("x", layers, (0.0, width))
    canvas.reach((0.0, 0.0), (width, height))
    looks = config["axis"]
    below = None if x is None else Axis.of(x, _defs("x", layers), width, height, looks)
    aside = None if y is None else Axis.of(y, _defs("y", layers), height, width, looks)
    if below is not None:
        below.grid(canvas, lying=True)
    if aside is not None:
        aside.grid(canvas, lying=False)
    if below is not None:
        below.below(canvas)
    if aside is not None:
        aside.aside(canvas)
    frame = Frame(width, height, x, y, shift)
    for layer, rows in layers:
        frame.draw(canvas, layer, rows)
    legend = Legend.of(spec["layer"], config["legend"])
    if legend is not None:
        legend.draw(canvas)


def _defs(channel: str, layers: Layers) -> list[Spec]:
    """What the layers say of a direction, where it is one of values and not of pixels."""
    return [layer["encoding"][channel] for layer, _ in layers if "field" in layer["encoding"].get(channel, {})]


def _scale(channel: str, layers: Layers, place: scales.Span) -> scales.Scale | None:
    """The scale of a direction, which all layers share."""
    channels: list[tuple[Spec, list[object]]] = []
    for layer, rows in layers:
        for name in (channel, f"{channel}2"):
            spec = layer["encoding"].get(name, {})
            if "field" in spec:
                channels.append((layer["encoding"][channel], [row.get(spec["field"]) for row in rows]))
            elif "datum" in spec:
                channels.append((spec, [spec["datum"]]))
    if not channels:
        return None
    if any(spec.get("type") == "nominal" for spec, _ in channels):
        domain = next((spec["scale"]["domain"] for spec, _ in channels if "domain" in spec.get("scale", {})), None)
        names = domain or dict.fromkeys(value for _, values in channels for value in values if value is not None)
        return scales.Bands(list(names), abs(place[1] - place[0]))
    bars = any(
        layer["mark"]["type"] in ("area", "bar") and f"{channel}2" not in layer["encoding"] for layer, _ in layers
    )
    return scales.numeric(channels, place, bars=bars)


def _shift(spec: Spec, layers: Layers) -> scales.Bands | None:
    """The places of bars within a band, if it holds several."""
    shifts = [(layer["encoding"]["yOffset"], rows) for layer, rows in layers if "yOffset" in layer["encoding"]]
    if not shifts:
        return None
    domain = shifts[0][0].get("scale", {}).get("domain")
    names = list(domain or dict.fromkeys(row[each["field"]] for each, rows in shifts for row in rows))
    return scales.Bands(names, float(spec["height"]["step"]) * len(names))


def _vertical(spec: Spec, layers: Layers, shift: scales.Bands | None) -> tuple[float, scales.Scale | None]:
    """The height of a frame, and the scale in it; of bars the height hangs on how many there are."""
    if shift is None:
        height = float(spec["height"])
        return height, _scale("y", layers, (height, 0.0))
    own = _defs("y", layers)[0].get("scale", {})
    inner = float(own.get("paddingInner", scales.PADDING_INNER))
    bands = _scale("y", layers, (0.0, 0.0))
    assert isinstance(bands, scales.Bands)
    height = shift.length / (1.0 - inner) * (len(bands.names) - inner + 2.0 * scales.PADDING_OUTER)
    return height, scales.Bands(bands.names, height, inner, scales.PADDING_OUTER)
