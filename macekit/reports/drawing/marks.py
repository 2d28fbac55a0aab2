"""The layers of a chart: lines, areas, rules, bars, points, ticks and words, each where its scales put it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import Any, TypeAlias

from estimators.python.dataclass import dataclass
from macekit.reports.drawing.scales import Bands, Canvas, Row, Scale, number, path_of
from macekit.reports.palette import INK

Spec: TypeAlias = Mapping[str, Any]
Point: TypeAlias = tuple[float, float]

TEST = re.compile(r"datum\.(\w+)(?: === '(.*)')?")
"""Conditions that a chart may have: that a field holds this text, or anything that counts as true."""

VALID = re.compile(r"isValid\(datum\.(\w+)\)")

MIDDLE, ABOVE = 1 / 3, -0.21
"""How far below its place the line of a text is, as shares of its size: of text around it, and over it."""

BASELINES = {"middle": MIDDLE, "bottom": ABOVE}

HALF_OF_ROOT = sqrt(3.0) / 2.0


def rows_of(layer: Spec, around: Spec) -> list[Row]:
    """What a layer shows: its own rows or the chart's, without those that its filter leaves out."""
    data = layer.get("data", around.get("data", {"values": ()}))
    if set(data) != {"values"}:
        message = f"a chart may hold its data and nothing else, which is not allowed: {', '.join(data)}"
        raise ValueError(message)
    rows: list[Row] = list(data["values"])
    for step in layer.get("transform", ()):
        match = VALID.fullmatch(step["filter"])
        if match is None:
            raise ValueError(f"a chart filters by what cannot be drawn: {step['filter']}")
        rows = [row for row in rows if row.get(match[1]) is not None]
    return rows


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a chart's layers are drawn: its size, and its scales."""

    width: float
    height: float
    x: Scale | None
    y: Scale | None
    shift: Bands | None = None
    """Of bars beside each other within a band."""

    def draw(self, canvas: Canvas, layer: Spec, rows: Sequence[Row]) -> None:
        """Put a layer over what is there."""
        mark = layer["mark"]
        if mark["type"] not in MARKS:
            raise ValueError(f"a chart has a mark that cannot be drawn: {mark['type']}")
        MARKS[mark["type"]](self, canvas, mark, layer["encoding"], rows)

    def _along(self, channel: str, encoding: Spec, rows: Sequence[Row]) -> Sequence[float | None]:
        """Where rows lie in one direction: at a pixel, a value, or the value of a field; None where there is none."""
        spec, scale = encoding.get(channel), self.x if channel[0] == "x" else self.y
        if spec is not None and "value" in spec:
            return [float(spec["value"])] * len(rows)
        if spec is None or scale is None:
            return [None] * len(rows)
        if channel == "y" and "yOffset" in encoding and self.shift is not None and isinstance(scale, Bands):
            field, beside = spec["field"], encoding["yOffset"]["field"]
            return [scale.start(row[field]) + self.shift.at(row[beside]) for row in rows]
        values = [spec["datum"]] * len(rows) if "datum" in spec else [row.get(spec["field"]) for row in rows]
        places = iter(scale.places([value for value in values if value is not None]))
        return [None if value is None else next(places) for value in values]

    def _middles(self, encoding: Spec, rows: Sequence[Row]) -> list[Point]:
        """The same in both directions; in the middle where a layer says nothing of one."""
        return [
            (self.width / 2.0 if x is None else x, self.height / 2.0 if y is None else y)
            for x, y in zip(*(self._along(channel, encoding, rows) for channel in "xy"), strict=True)
        ]

    def _clipped(self, canvas: Canvas, mark: Spec) -> str | None:
        return canvas.clip(self.width, self.height) if mark.get("clip") else None

    def _line(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        for part in _parts(encoding, rows):
            points = self._middles(encoding, _in_order(encoding, part))
            if mark.get("interpolate") == "step-after":
                points = _stairs(points)
            dashes = mark.get("strokeDash") or _looked_up(encoding, ("strokeDash",), part[0], None)
            canvas.lines(
                points,
                stroke=_looked_up(encoding, ("stroke", "color"), part[0], mark.get("stroke", mark.get("color"))),
                stroke_width=mark.get("strokeWidth", 2),
                stroke_dasharray=dashes_of(dashes),
                clip_path=self._clipped(canvas, mark),
            )

    def _area(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        for part in _parts(encoding, rows):
            ordered = _in_order(encoding, part)
            upper = self._middles(encoding, ordered)
            floor = self.height if self.y is None or isinstance(self.y, Bands) else self.y.at(0.0)
            ends = self._along("y2", encoding, ordered)
            lower = [(x, floor if end is None else end) for (x, _), end in zip(upper, ends, strict=True)]
            canvas.lines(
                [*upper, *reversed(lower)],
                close=True,
                fill=_looked_up(encoding, ("fill", "color"), part[0], mark.get("color")),
                opacity=mark.get("opacity"),
                clip_path=self._clipped(canvas, mark),
            )

    def _corners(self, encoding: Spec, rows: Sequence[Row]) -> Iterator[tuple[Row, Point, Point]]:
        """From where to where something reaches, of each row that has a value for that."""
        along = (self._along(channel, encoding, rows) for channel in ("x", "y", "x2", "y2"))
        for row, x, y, right, foot in zip(rows, *along, strict=True):
            if (x is not None or "x" not in encoding) and (y is not None or "y" not in encoding):
                yield row, _ends(x, right, self.width), _ends(y, foot, self.height)

    def _rule(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        for row, *corners in self._corners(encoding, rows):
            canvas.lines(
                list(zip(*corners, strict=True)),
                stroke=_looked_up(encoding, ("stroke", "color"), row, mark.get("color")),
                stroke_width=mark.get("strokeWidth", 1),
                stroke_dasharray=dashes_of(mark.get("strokeDash")),
                clip_path=self._clipped(canvas, mark),
            )

    def _rect(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        for _, (left, right), (top, foot) in self._corners(encoding, rows):
            outline = [(left, top), (right, top), (right, foot), (left, foot)]
            canvas.lines(outline, close=True, fill=mark.get("color"), opacity=mark.get("opacity"))

    def _bar(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        """Lying, from 0; beside each other those of one name."""
        if not isinstance(self.y, Bands) or self.x is None:
            raise ValueError("a chart has bars that do not lie")
        for row in rows:
            top, thick = self.y.start(row[encoding["y"]["field"]]), self.y.band
            if self.shift is not None:
                top += self.shift.start(row[encoding["yOffset"]["field"]])
                thick = self.shift.band
            first, last = self.x.at(0), self.x.at(row[encoding["x"]["field"]])
            corners = [(first, top), (last, top), (last, top + thick), (first, top + thick)]
            canvas.lines(
                corners,
                close=True,
                fill=_looked_up(encoding, ("fill", "color"), row, mark.get("color")),
                stroke=_looked_up(encoding, ("stroke",), row, mark.get("stroke")),
                stroke_width=mark.get("strokeWidth"),
            )

    def _point(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        colour = mark.get("color")
        fill = mark.get("fill", colour if mark.get("filled") else None)
        looks = {"stroke": mark.get("stroke", None if mark.get("filled") else colour)}
        looks |= {"stroke_width": mark.get("strokeWidth"), "opacity": mark.get("opacity")}
        for row, (x, y) in zip(rows, self._middles(encoding, rows), strict=True):
            if any(row.get(encoding[channel].get("field"), 0.0) is None for channel in "xy" if channel in encoding):
                continue
            radius = sqrt(mark["size"]) / 2.0
            canvas.reach((x - radius, y - radius), (x + radius, y + radius))
            inside = _looked_up(encoding, ("fill", "color"), row, fill)
            canvas.path(symbol(mark.get("shape", "circle"), x, y, radius), fill=inside, **looks)

    def _tick(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        """A short stroke across the axis along which it tells something."""
        half = mark["size"] / 2.0
        for x, y in self._middles(encoding, rows):
            lying = mark.get("orient") == "horizontal"
            ends = [(x - half, y), (x + half, y)] if lying else [(x, y - half), (x, y + half)]
            canvas.lines(ends, stroke=mark["color"], stroke_width=mark["thickness"])

    def _text(self, canvas: Canvas, mark: Spec, encoding: Spec, rows: Sequence[Row]) -> None:
        size = mark.get("fontSize", 12)
        for row, (x, y) in zip(rows, self._middles(encoding, rows), strict=True):
            words = encoding["text"]
            bold = mark.get("fontWeight") == "bold"
            canvas.text(
                str(words["value"] if "value" in words else row[words["field"]]),
                x + mark.get("dx", 0),
                y + mark.get("dy", 0) + BASELINES.get(mark.get("baseline", ""), 0.0) * size,
                size,
                {"left": "start", "right": "end"}.get(mark.get("align", ""), "middle"),
                fill=_looked_up(encoding, ("color",), row, mark.get("color", INK)),
                font_weight="bold" if bold else None,
                stroke=mark.get("stroke"),
                stroke_width=mark.get("strokeWidth"),
                stroke_linejoin=mark.get("strokeJoin"),
            )


MARKS = {
    "area": Frame._area,
    "bar": Frame._bar,
    "line": Frame._line,
    "point": Frame._point,
    "rect": Frame._rect,
    "rule": Frame._rule,
    "text": Frame._text,
    "tick": Frame._tick,
}


def _ends(first: float | None, last: float | None, edge: float) -> Point:
    """From one place to another; to itself where there is no other, and from edge to edge where there is none."""
    return (0.0, edge) if first is None else (first, first if last is None else last)


def symbol(shape: str, x: float, y: float, radius: float) -> str:
    """The outline of a point."""
    high = HALF_OF_ROOT * radius
    match shape:
        case "circle":
            r = number(radius)
            half = f"a{r},{r},0,1,1,"
            return f"M{number(x + radius)},{number(y)}{half}{number(-2 * radius)},0{half}{number(2 * radius)},0Z"
        case "square":
            corners = [(-radius, -radius), (radius, -radius), (radius, radius), (-radius, radius)]
        case "triangle-down":
            corners = [(0.0, high), (-radius, -high), (radius, -high)]
        case "triangle-right":
            corners = [(high, 0.0), (-high, -radius), (-high, radius)]
        case _:
            raise ValueError(f"a chart has points of a shape that cannot be drawn: {shape}")
    return path_of([(x + dx, y + dy) for dx, dy in corners]) + "Z"


def _parts(encoding: Spec, rows: Sequence[Row]) -> Iterable[list[Row]]:
    """The rows of each line or area, in the order of their first ones."""
    fields = {
        encoding[name]["field"]
        for name in ("detail", "stroke", "color", "strokeDash")
        if "field" in encoding.get(name, {})
    }
    parts: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple(row.get(name) for name in sorted(fields)), []).append(row)
    return parts.values()


def _in_order(encoding: Spec, rows: list[Row]) -> list[Row]:
    """Along the axis, unless the order is that of the rows."""
    field = encoding["x"].get("field")
    if encoding.get("order", {"value": 0}) == {"value": None} or field is None:
        return rows
    return sorted(rows, key=lambda row: row[field])


def _stairs(points: Sequence[Point]) -> list[Point]:
    steps = [points[0]]
    for x, y in points[1:]:
        steps += [(x, steps[-1][1]), (x, y)]
    return steps


def _looked_up(encoding: Spec, channels: Sequence[str], row: Row, otherwise: Any) -> Any:
    """A look that hangs on a row's field or on a condition, else that of the mark."""
    spec = next((encoding[channel] for channel in channels if channel in encoding), None)
    if spec is None:
        return otherwise
    if "condition" in spec:
        match = TEST.fullmatch(spec["condition"]["test"])
        if match is None:
            raise ValueError(f"a chart has a condition that cannot be drawn: {spec['condition']['test']}")
        value = row.get(match[1])
        return spec["condition"]["value"] if (value == match[2] if match[2] is not None else value) else spec["value"]
    if "field" in spec:
        scale = spec["scale"]
        return scale["range"][list(scale["domain"]).index(row[spec["field"]])]
    return spec.get("value", otherwise)


def dashes_of(dashes: Sequence[float] | None) -> str | None:
    """None for a line without gaps."""
    if not dashes or (len(dashes) == 2 and dashes[1] == 0):
        return None
    return ",".join(number(each) for each in dashes)
