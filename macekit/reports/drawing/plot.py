"""A chart as a drawing: that part of Vega-Lite of which our charts are made; another mark, filter or shape is an error.

The same specification drawn by Vega-Lite itself has its marks at the same places (a test compares every kind of chart).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macekit.reports.drawing.axes import Axis, Legend
from macekit.reports.drawing.canvas import Canvas, Drawing, number
from macekit.reports.drawing.marks import Frame, Spec, rows_of
from macekit.reports.drawing.scales import PADDING_INNER, PADDING_OUTER, Bands, Row, Scale, Span, numeric

Layers = Sequence[tuple[Spec, Sequence[Row]]]


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
    return [
        layer["encoding"][channel] for layer, _ in layers if "field" in layer["encoding"].get(channel, {})
    ]


def _scale(channel: str, layers: Layers, place: Span) -> Scale | None:
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
        domain = next(
            (spec["scale"]["domain"] for spec, _ in channels if "domain" in spec.get("scale", {})), None
        )
        names = domain or dict.fromkeys(
            value for _, values in channels for value in values if value is not None
        )
        return Bands(list(names), abs(place[1] - place[0]))
    bars = any(
        layer["mark"]["type"] in ("area", "bar") and f"{channel}2" not in layer["encoding"]
        for layer, _ in layers
    )
    return numeric(channels, place, bars=bars)


def _shift(spec: Spec, layers: Layers) -> Bands | None:
    """The places of bars within a band, if it holds several."""
    shifts = [
        (layer["encoding"]["yOffset"], rows) for layer, rows in layers if "yOffset" in layer["encoding"]
    ]
    if not shifts:
        return None
    domain = shifts[0][0].get("scale", {}).get("domain")
    names = list(domain or dict.fromkeys(row[each["field"]] for each, rows in shifts for row in rows))
    return Bands(names, float(spec["height"]["step"]) * len(names))


def _vertical(spec: Spec, layers: Layers, shift: Bands | None) -> tuple[float, Scale | None]:
    """The height of a frame, and the scale in it; of bars the height hangs on how many there are."""
    if shift is None:
        height = float(spec["height"])
        return height, _scale("y", layers, (height, 0.0))
    own = _defs("y", layers)[0].get("scale", {})
    inner = float(own.get("paddingInner", PADDING_INNER))
    bands = _scale("y", layers, (0.0, 0.0))
    assert isinstance(bands, Bands)
    height = shift.length / (1.0 - inner) * (len(bands.names) - inner + 2.0 * PADDING_OUTER)
    return height, Bands(bands.names, height, inner, PADDING_OUTER)
