"""From a chart to SVG or PNG: Vega-Lite draws it, offline and without a browser; only shapes and text are kept.

The engine (V8, by vl-convert) is imported when something is drawn and not before: it does not survive a fork, so only
a process that forks no more may draw. Nothing is fetched: a specification that names an address is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from macekit.memory import raise_limit
from macekit.problems import Problem
from macekit.reports.model import Figure
from macekit.reports.svg import Drawing, inline, standalone

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
