"""A line for each of several things: its interval, its estimate, and both in figures beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.report.charts.frame import Spec, chart, padded, rows, scaled
from app.report.charts.words import distinct, ends, finite, rounded, three
from app.report.palette import INK, MEMBER, MUTED, NONMEMBER

MOST = 40
"""Lines that are drawn: more could not be told apart."""

ROW = 24
PLOT = 300


@dataclass(frozen=True, slots=True)
class Line:
    """One thing of many: ``tick`` is what it would be without a leak, if each has its own."""

    name: object
    estimate: float | None
    lower: float
    upper: float
    note: str = ""
    tick: float | None = None

    @property
    def figures(self) -> str:
        """The estimate and its interval, as text."""
        point = "–" if self.estimate is None else three(self.estimate)
        return f"{point} {ends(self.lower, self.upper)}{self.note}"


def forest(lines: Sequence[Line], title: str, references: Sequence[Spec] = (), *also: float) -> Spec:
    """The lines in the order given, over one axis that has room for ``also``, too."""
    names = distinct([line.name for line in lines])
    data = [
        {
            "name": name,
            "lower": rounded(line.lower),
            "upper": rounded(line.upper),
            "figures": line.figures,
            **({} if line.estimate is None else {"estimate": rounded(line.estimate)}),
            **({} if line.tick is None else {"tick": rounded(line.tick)}),
        }
        for name, line in zip(names, lines, strict=True)
    ]
    known = finite(v for line in lines for v in (line.estimate, line.lower, line.upper, line.tick))
    low, high = padded(min([*known, *also]), max([*known, *also]))
    x = scaled("lower", title, (low, high), tickCount=6, orient="bottom")
    y: Spec = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": names},
        "axis": {"labelColor": INK, "domain": False, "ticks": False, "labelPadding": 10},
    }
    point = {"x": {"field": "estimate", "type": "quantitative"}, "y": y}
    layers: list[Spec] = [
        *references,
        {
            "mark": {"type": "rule", "color": MEMBER, "strokeWidth": 3},
            "encoding": {"x": x, "x2": {"field": "upper"}, "y": y},
        },
        {
            "transform": [{"filter": "isValid(datum.estimate)"}],
            "mark": {"type": "point", "filled": True, "color": INK, "size": 60, "opacity": 1},
            "encoding": point,
        },
        {
            "mark": {"type": "text", "align": "left", "baseline": "middle", "color": MUTED, "fontSize": 12},
            "encoding": {"text": {"field": "figures"}, "x": {"value": PLOT + 14}, "y": y},
        },
    ]
    if any(line.tick is not None for line in lines):
        layers.insert(
            len(references),
            {
                "transform": [{"filter": "isValid(datum.tick)"}],
                "mark": {"type": "tick", "color": NONMEMBER, "thickness": 2.5, "size": 18, "opacity": 1},
                "encoding": {"x": {"field": "tick", "type": "quantitative"}, "y": y},
            },
        )
    parts: dict[str, Any] = {"data": rows(data), "width": PLOT, "height": ROW * len(lines)}
    return chart(*layers, **parts)


def left_out(shown: int, all_of: int, what: str) -> str:
    """What to say where more lines there are than are drawn."""
    return f" The {shown} first of {all_of:,} {what} are drawn." if shown < all_of else ""
