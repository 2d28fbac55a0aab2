"""What a chart shows and where, as it is drawn here and as Vega-Lite draws it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

import vl_convert

from macekit.reports.charts.frame import Spec
from macekit.reports.drawing import VERSION
from macekit.reports.drawing.plot import draw
from macekit.reports.palette import GRID, MUTED

SPACE = "{http://www.w3.org/2000/svg}"
MOVED = re.compile(r"translate\(([-\d.e]+),([-\d.e]+)\)")
COMMAND = re.compile(r"([MLhvaAZ])([^MLhvaAZ]*)")
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")

Point = tuple[float, float]


@dataclass
class Seen:
    """What a drawing shows, by places in the frame of the chart."""

    words: dict[str, list[Point]] = field(default_factory=dict)
    shapes: list[tuple[tuple[object, ...], list[float]]] = field(default_factory=list)
    """Of each shape but the axes: its looks, and the box around it."""

    @classmethod
    def of(cls, svg: str) -> Seen:
        """Read it off: the outermost group is moved by the room around the frame."""
        group = ET.fromstring(svg)[0]
        (x, y), seen = _moved(group), cls()
        seen._add(group, -x, -y)
        return seen

    def _add(self, element: ET.Element, x: float, y: float) -> None:
        if element.get("display") == "none" or element.tag in (f"{SPACE}defs", f"{SPACE}clipPath"):
            return
        dx, dy = _moved(element)
        x, y = x + dx, y + dy
        if element.tag == f"{SPACE}text" and element.text:
            place = x + float(element.get("x", 0)), y + float(element.get("y", 0))
            self.words.setdefault(element.text, []).append(place)
        elif element.tag in (f"{SPACE}path", f"{SPACE}line"):
            self._add_shape(element, x, y)
        for child in element:
            self._add(child, x, y)

    def _add_shape(self, element: ET.Element, x: float, y: float) -> None:
        fill, stroke = element.get("fill"), element.get("stroke")
        axis = stroke in (GRID, MUTED) and element.get("stroke-width", "1") == "1" and fill is None
        outline = element.get("d") or f"M0,0L{element.get('x2')},{element.get('y2')}"
        if axis or not (fill or stroke):
            return
        points = [(x + a, y + b) for a, b in _points(outline)]
        box = [f(each) for f in (min, max) for each in zip(*points, strict=True)]
        dashes = element.get("stroke-dasharray", "")
        looks = fill or stroke, float(element.get("opacity", 1)), "" if dashes == "1,0" else dashes
        self.shapes.append((looks, box))


def _moved(element: ET.Element) -> Point:
    """How far a group or a text is moved; what follows a quarter turn to the left moves it along the other axis."""
    straight, turned, after = element.get("transform", "").partition("rotate(-90)")
    x = sum(float(match[1]) for match in MOVED.finditer(straight))
    y = sum(float(match[2]) for match in MOVED.finditer(straight))
    return x + sum(float(match[2]) for match in MOVED.finditer(after)) * bool(turned), y


def _points(outline: str) -> Iterator[Point]:
    x = y = 0.0
    for command, arguments in COMMAND.findall(outline):
        numbers = [float(each) for each in NUMBER.findall(arguments)]
        match command:
            case "M" | "L":
                x, y = numbers
            case "h":
                x += numbers[0]
            case "v":
                y += numbers[0]
            case "a" | "A":
                x, y = (numbers[-2], numbers[-1]) if command == "A" else (x + numbers[-2], y + numbers[-1])
        yield x, y


def kinds(specs: Iterable[Spec]) -> list[Spec]:
    """One chart of each kind: of those that differ in nothing but their data the first."""
    found: dict[str, Spec] = {}
    for spec in specs:
        for part in spec.get("vconcat", [spec]):
            whole = {"config": spec["config"], **json.loads(json.dumps(part))}
            found.setdefault(json.dumps(_without_data(whole)), whole)
    return list(found.values())


def _without_data(value: Any, key: str = "") -> Any:
    """The same with types in place of values, and of lists that are no layers the first of each."""
    if isinstance(value, dict):
        return {name: _without_data(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_data(each) for each in (value if key == "layer" else value[:1])]
    if isinstance(value, int | float) or key in ("value", "title", "color"):
        return type(value).__name__
    return value


def _without_legends(spec: Any) -> Any:
    """The same without what is laid out in another way."""
    if isinstance(spec, list):
        return [_without_legends(each) for each in spec]
    if not isinstance(spec, dict):
        return spec
    legend = {"legend": None} if "range" in spec.get("scale", ()) else {}
    return {name: _without_legends(value) for name, value in spec.items()} | legend


def ours_and_theirs(spec: Spec) -> tuple[Seen, Seen]:
    """What a chart shows as it is drawn here, and as Vega-Lite draws it."""
    bare = {**_without_legends(spec), "config": spec["config"]}
    ours = f'<svg xmlns="{SPACE.strip("{}")}">{draw(bare).body}</svg>'
    return Seen.of(ours), Seen.of(vl_convert.vegalite_to_svg(bare, vl_version=VERSION))
