"""From a figure to a drawing: Vega-Lite draws, offline and without a browser; what it draws is made inert and small.

The engine (V8, by vl-convert) is imported when something is drawn and not before: it does not survive a fork, so only
a process that forks no more may draw. Nothing is fetched: a specification that names an address is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.report.engine import painted, rastered
from app.report.model import Figure
from app.report.svg import Drawing, alone, inline

SCALE = 2.0
"""Pixels of a PNG for each unit of the drawing: sharp in print and on dense screens."""


def inline_svg(figure: Figure, name: str) -> str:
    """An element for a page that has no other of this ``name``: its colours are the page's variables."""
    return inline(_drawn(figure), name, figure.title, figure.description)


def svg(figures: Sequence[Figure]) -> bytes:
    """A file of its own: all figures, one below the other, on a white ground, each under its title."""
    return alone([(_drawn(figure), figure.title, figure.description) for figure in figures]).encode()


def png(figures: Sequence[Figure]) -> bytes:
    """The same as pixels."""
    return rastered(svg(figures).decode(), SCALE)


def _drawn(figure: Figure) -> Drawing:
    return Drawing.of(painted(figure.spec))
