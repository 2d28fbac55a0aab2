"""From a chart to SVG or PNG: Vega-Lite draws it, offline and without a browser; only shapes and text are kept.

The engine (V8, by vl-convert) is imported when something is drawn and not before: it does not survive a fork, so only
a process that forks no more may draw. Nothing is fetched: a specification that names an address is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

from macekit.memory import raise_limit
from macekit.problems import Problem
from macekit.reports.model import Figure
from macekit.reports.palette import INK, VARIABLES

# --- svg ----------------------------------------------------------------------------------------------------
# SVG from Vega, made fit for a page: only shapes and text, no more digits than can be seen, ids of its own.
#
# Elements and attributes are taken over from a list; whatever is not on it is an error here, and never on a page.

SPACE = "{http://www.w3.org/2000/svg}"
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts of the width that the engine reckons with, if the reader's machine has one."""

WIDER = 0.15
"""How much wider another font may be: room is left for it beside the labels at the left."""

POSITION_ATTRIBUTES = frozenset({"d", "transform", "x", "x1", "x2", "y", "y1", "y2", "width", "height"})
COLOUR_ATTRIBUTES = frozenset({"fill", "stroke"})
PLAIN_ATTRIBUTES = frozenset(
    {"clip-path", "fill-opacity", "font-size", "font-style", "font-weight", "id", "opacity", "r", "rx"}
    | {"stroke-dasharray", "stroke-dashoffset", "stroke-linecap", "stroke-linejoin", "stroke-miterlimit"}
    | {"stroke-opacity", "stroke-width", "text-anchor"}
)
IGNORED_ATTRIBUTES = frozenset(
    {"aria-hidden", "aria-label", "aria-roledescription", "class", "font-family", "pointer-events", "role"}
)
"""What means nothing here: there is one font, and the drawing as a whole has a role."""

ELEMENTS = frozenset({"g", "path", "line", "rect", "circle", "text", "tspan", "defs", "clipPath"})

NOTHING = frozenset({"", "M0,0h0v0h0Z"})
"""Paths that Vega draws for frames without a line."""

MOVED = re.compile(r"translate\((-?[\d.]+)")
DECIMALS = re.compile(r"-?\d*\.\d{3,}(?:e-?\d+)?")
VARIABLE = {colour: f"var({name})" for name, colour in VARIABLES.items()}

MARGIN = 16
HEAD = 30
"""Height of a title, in a file that shows several figures."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing's size, and what is in it."""

    width: float
    height: float
    parts: tuple[ET.Element, ...]

    @classmethod
    def of(cls, text: str) -> Drawing:
        """Read back what Vega wrote."""
        root = ET.fromstring(text)
        _renumber(root)
        return cls(float(root.get("width", 0)), float(root.get("height", 0)), tuple(root))

    @property
    def left(self) -> float:
        """How much stands at the left of the axes: names, mostly."""
        moved = next((part.get("transform", "") for part in self.parts if part.tag == f"{SPACE}g"), "")
        match = MOVED.match(moved)
        return float(match[1]) if match else 0.0

    def markup(self, style: SvgStyle) -> str:
        """All parts as text."""
        return "".join(piece for part in self.parts for piece in _markup(part, style))


@dataclass(frozen=True, slots=True)
class SvgStyle:
    """How a drawing is written: what its names begin with, and which colours are put in place of its own."""

    prefix: str
    colours: Mapping[str, str]


def inline(drawing: Drawing, name: str, title: str, description: str) -> str:
    """An element for a page: as wide as there is room, coloured by the page, with words for who cannot see it."""
    body = drawing.markup(SvgStyle(f"{name}-", VARIABLE))
    room = WIDER * drawing.left
    width, height = _number(drawing.width + room + MARGIN), _number(drawing.height)
    ids = f"{name}-title", f"{name}-desc"
    size = f'viewBox="{_number(-room)} 0 {width} {height}" width="{width}" height="{height}"'
    return (
        f'<svg {NAMESPACE} role="img" aria-labelledby="{ids[0]} {ids[1]}" {size} font-family="{FONT}">'
        f'<title id="{ids[0]}">{escape(title)}</title><desc id="{ids[1]}">{escape(description)}</desc>{body}</svg>'
    )


def standalone(drawings: Sequence[tuple[Drawing, str, str]]) -> str:
    """A file: all drawings one below the other, on a white ground, each under its title."""
    width = max(drawing.width for drawing, _, _ in drawings) + 2 * MARGIN
    pieces, top = [], float(MARGIN)
    for i, (drawing, title, description) in enumerate(drawings):
        place = f'x="{MARGIN}" y="{_number(top + 14)}"'
        heading = f'<text {place} font-size="15" font-weight="bold" fill="{INK}">{escape(title)}</text>'
        body = drawing.markup(SvgStyle(f"figure{i}-", {}))
        moved = f'<g transform="translate({MARGIN},{_number(top + HEAD)})">{body}</g>'
        pieces.append(f"<g>{heading}<desc>{escape(description)}</desc>{moved}</g>")
        top += HEAD + drawing.height + 2 * MARGIN
    height = top - MARGIN
    name = escape("; ".join(title for _, title, _ in drawings))
    return (
        f'<svg {NAMESPACE} role="img" aria-label={quoteattr(name)} viewBox="0 0 {_number(width)} {_number(height)}" '
        f'width="{_number(width)}" height="{_number(height)}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(pieces)}</svg>'
    )


def _renumber(root: ET.Element) -> None:
    """Names in the order met: the engine counts on from drawing to drawing, and the same figure is the same bytes."""
    names: dict[str, str] = {}
    for element in root.iter():
        if (name := element.get("id")) is not None:
            element.set("id", names.setdefault(name, f"clip{len(names)}"))
    for element in root.iter():
        if (clip := element.get("clip-path")) is not None:
            name = clip.removeprefix("url(#").removesuffix(")")
            element.set("clip-path", f"url(#{names.get(name, name)})")


def _markup(element: ET.Element, style: SvgStyle) -> Iterator[str]:
    """One element and what is in it; groups that would hold nothing are left out."""
    name = element.tag.removeprefix(SPACE)
    if name not in ELEMENTS:
        raise ValueError(f"a drawing holds an element that is not expected: {name}")
    if (name == "path" and element.get("d", "") in NOTHING) or element.get("display") == "none":
        return
    inner = escape(element.text or "") + "".join(
        piece for child in element for piece in _markup(child, style)
    )
    if name in ("g", "defs") and not inner:
        return
    attributes = "".join(_attributes(element, style))
    if name == "g" and not attributes:
        yield inner
    else:
        yield f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"


def _attributes(element: ET.Element, style: SvgStyle) -> Iterator[str]:
    for name, value in element.items():
        if name not in IGNORED_ATTRIBUTES and (name, value) != ("opacity", "1"):
            yield f" {name}={quoteattr(_value(name, value, style))}"


def _value(name: str, value: str, style: SvgStyle) -> str:
    if name in POSITION_ATTRIBUTES:
        return DECIMALS.sub(lambda match: _number(float(match[0])), value)
    if name in COLOUR_ATTRIBUTES:
        return style.colours.get(value, value)
    if name == "id":
        return style.prefix + value
    if name == "clip-path":
        return value.replace("url(#", f"url(#{style.prefix}")
    if name not in PLAIN_ATTRIBUTES:
        raise ValueError(f"a drawing holds an attribute that is not expected: {name}")
    return value


def _number(value: float) -> str:
    """Two digits after the point: a hundredth of a pixel."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


# --- drawing ------------------------------------------------------------------------------------------------

# --- engine -------------------------------------------------------------------------------------------------
# The engine that draws: V8 with Vega-Lite in it, started at the first drawing of a process and kept from
# then on.

ROOM = 704 * 2**20
"""Bytes of writable addresses given to the engine beyond a limit: it reserves 512 MiB, and used up to 92 more."""

VERSION = "6.4"
"""Of Vega-Lite: named, so that a newer engine draws the same."""


def vega_svg(spec: Mapping[str, Any]) -> str:
    """A specification as SVG, as the engine writes it."""
    drawing: str = _engine().vegalite_to_svg(dict(spec), vl_version=VERSION, allowed_base_urls=[])
    return drawing


def rasterise(svg: str, scale: float) -> bytes:
    """A drawing as PNG."""
    image: bytes = _engine().svg_to_png(svg, scale=scale)
    return image


def _engine() -> Any:
    """The drawing engine, imported when something is drawn."""
    _make_room()
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise Problem(
            "not-installed", "a picture needs the package vl-convert-python; pip install 'macekit[report]'"
        ) from None
    return vl_convert


def missing_engine() -> str | None:
    """What to install before anything can be drawn; None where nothing is missing."""
    try:
        _engine()
    except Problem as problem:
        return problem.detail
    return None


@cache
def _make_room() -> None:
    """Raise a memory limit that the engine would exceed, once."""
    raise_limit(ROOM)


# --- drawing ------------------------------------------------------------------------------------------------

SCALE = 2.0
"""Pixels of a PNG for each unit of the drawing: sharp in print and on dense screens."""


def inline_svg(figure: Figure, name: str) -> str:
    """An element for a page that has no other of this ``name``: its colours are the page's variables."""
    return inline(_drawing(figure), name, figure.title, figure.description)


def svg(figures: Sequence[Figure]) -> bytes:
    """A file of its own: all figures, one below the other, on a white ground, each under its title."""
    return standalone([(_drawing(figure), figure.title, figure.description) for figure in figures]).encode()


def png(figures: Sequence[Figure]) -> bytes:
    """The same as pixels."""
    return rasterise(svg(figures).decode(), SCALE)


def _drawing(figure: Figure) -> Drawing:
    return Drawing.of(vega_svg(figure.spec))
