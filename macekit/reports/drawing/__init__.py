"""From a chart to SVG or PNG, offline, without a browser and without an engine.

SVG needs nothing but Python; for pixels a package is imported when they are asked for. Nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from macekit.problems import Problem
from macekit.reports.drawing.plot import draw
from macekit.reports.drawing.scales import Drawing, number
from macekit.reports.model import Figure
from macekit.reports.palette import INK, VARIABLES

NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
FONT = "Arial, Liberation Sans, Helvetica, sans-serif"
"""Fonts of the width that is reckoned with, if the reader's machine has one."""

WIDER = 0.15  # how much wider another font may be: room is left for it beside the labels at the left

VARIABLE = {colour: f"var({name})" for name, colour in VARIABLES.items()}

MARGIN = 16
HEAD = 30  # height of a title, in a file that shows several figures
SCALE = 2.0  # pixels of a PNG for each unit of the drawing: sharp in print and on dense screens
VERSION = "6.4"  # of Vega-Lite, that the charts are written for


def inline_svg(figure: Figure, name: str) -> str:
    """An element for a page that has no other of this ``name``: as wide as there is room, coloured by the page's
    variables, with words for who cannot see it.
    """
    drawing = draw(figure.spec, f"{name}-", VARIABLE)
    room = WIDER * drawing.left
    width, height = number(drawing.width + room + MARGIN), number(drawing.height)
    ids = f"{name}-title", f"{name}-desc"
    size = f'viewBox="{number(-room)} 0 {width} {height}" width="{width}" height="{height}"'
    return (
        f'<svg {NAMESPACE} role="img" aria-labelledby="{ids[0]} {ids[1]}" {size} font-family="{FONT}">'
        f'<title id="{ids[0]}">{escape(figure.title)}</title><desc id="{ids[1]}">{escape(figure.description)}</desc>'
        f"{drawing.body}</svg>"
    )


def svg(figures: Sequence[Figure]) -> bytes:
    """A file of its own: all figures, one below the other, on a white ground, each under its title."""
    drawings = [draw(figure.spec, f"figure{place}-") for place, figure in enumerate(figures)]
    return standalone([(each, of.title, of.description) for each, of in zip(drawings, figures, strict=True)]).encode()


def standalone(drawings: Sequence[tuple[Drawing, str, str]]) -> str:
    """The same of drawings, each with its title and what it shows in words."""
    width = max(drawing.width for drawing, _, _ in drawings) + 2 * MARGIN
    pieces, top = [], float(MARGIN)
    for drawing, title, description in drawings:
        place = f'x="{MARGIN}" y="{number(top + 14)}"'
        heading = f'<text {place} font-size="15" font-weight="bold" fill="{INK}">{escape(title)}</text>'
        moved = f'<g transform="translate({MARGIN},{number(top + HEAD)})">{drawing.body}</g>'
        pieces.append(f"<g>{heading}<desc>{escape(description)}</desc>{moved}</g>")
        top += HEAD + drawing.height + 2 * MARGIN
    height = top - MARGIN
    name = escape("; ".join(title for _, title, _ in drawings))
    return (
        f'<svg {NAMESPACE} role="img" aria-label={quoteattr(name)} viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" font-family="sans-serif">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(pieces)}</svg>'
    )


def png(figures: Sequence[Figure]) -> bytes:
    """The same as pixels."""
    image: bytes = _pixels().svg_to_png(svg(figures).decode(), scale=SCALE)
    return image


def _pixels() -> Any:
    try:
        import vl_convert
    except ModuleNotFoundError:
        detail = "a PNG needs the package vl-convert-python; pip install 'macekit[report]'"
        raise Problem("not-installed", detail) from None
    return vl_convert
