"""Figures of the papers as SVG: line charts by what draws the reports; the same figure is the same bytes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from macekit.reports.charts.frame import Spec, chart, rows
from macekit.reports.drawing import standalone
from macekit.reports.drawing.plot import draw
from macekit.reports.drawing.scales import Drawing
from macekit.reports.palette import BASELINE, FAIL, INK, MEMBER, NONMEMBER, OPEN, PASS, THRESHOLD

COLOURS = (MEMBER, NONMEMBER, PASS, THRESHOLD, BASELINE, OPEN, FAIL, INK)
DASH = [5, 4]


def line_chart(
    title: str,
    x_title: str,
    y_title: str,
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    log_x: bool = False,
    log_y: bool = False,
    dashed: Collection[str] = (),
) -> Spec:
    """One line for each series, in the order given; what no axis can show (not finite, or not above 0 on a logarithmic
    one) is left out, and the line has a gap there.
    """
    points = [(name, *point) for name, (xs, ys) in series.items() for point in _points(xs, ys, log_x, log_y)]
    entries = [{"series": name, "part": part, "x": x, "y": y} for name, part, x, y in points]
    names = list(series)
    dashes = [DASH if name in dashed else [1, 0] for name in names]
    colours = [COLOURS[i % len(COLOURS)] for i in range(len(names))]
    wide = {"symbolLimit": 0, "columns": 2}
    encoding = {
        "x": _axis("x", x_title, [x for _, _, x, _ in points] if log_x else None),
        "y": _axis("y", y_title, [y for *_, y in points] if log_y else None),
        "color": _by_name("series", names, colours, wide),
        "strokeDash": _by_name("series", names, dashes, wide),
        "detail": {"field": "part", "type": "nominal"},
        "order": {"value": None},
    }
    line = {"data": rows(entries), "mark": {"type": "line", "strokeWidth": 2, "clip": True}, "encoding": encoding}
    return chart(line, title=title, height=320)


def write_svg(figures: Spec | Sequence[Spec], path: str | Path) -> None:
    """One file: all figures, one below the other, on a white ground, each under its title."""
    Path(path).write_text(svg(figures), encoding="utf-8")


def svg(figures: Spec | Sequence[Spec]) -> str:
    """The same as text."""
    several = [figures] if isinstance(figures, Mapping) else figures
    return standalone([_drawing(spec, f"figure{place}-") for place, spec in enumerate(several)]) + "\n"


def _drawing(spec: Spec, prefix: str) -> tuple[Drawing, str, str]:
    title = str(spec.get("title", ""))
    return draw(spec, prefix), title, str(spec.get("description", title))


def _points(xs: ArrayLike, ys: ArrayLike, log_x: bool, log_y: bool) -> list[tuple[int, float, float]]:
    """What can be shown, and which unbroken part of the line it belongs to; six digits are more than a pixel."""
    points, part = [], 0
    for x, y in zip(_floats(xs), _floats(ys), strict=True):
        if _shows(x, log_x) and _shows(y, log_y):
            points.append((part, float(f"{x:.6g}"), float(f"{y:.6g}")))
        else:
            part += 1
    return points


def _floats(values: ArrayLike) -> list[float]:
    return [float(value) for value in np.asarray(values, dtype=np.float64)]


def _shows(value: float, logarithmic: bool) -> bool:
    return math.isfinite(value) and (value > 0 or not logarithmic)


def _axis(field: str, title: str, logarithmic: list[float] | None) -> dict[str, Any]:
    """An axis; ``logarithmic`` are its values, if it is."""
    scale: dict[str, Any] = {"type": "linear", "nice": False, "zero": False}
    axis: dict[str, Any] = {"tickCount": 6}
    if logarithmic:
        room = max(1.05, (max(logarithmic) / min(logarithmic)) ** 0.02)
        low, high = (float(f"{end:.6g}") for end in (min(logarithmic) / room, max(logarithmic) * room))
        scale |= {"type": "log", "domain": [low, high]}
        axis |= {"values": _marks(low, high)}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, "axis": axis}


def _marks(low: float, high: float) -> list[float]:
    """Powers of ten, as many as eight at most; 1, 2 and 5 times them where there would be fewer than three."""
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    if last - first < 2:
        candidates = [float(f"{digit}e{power}") for power in range(first - 1, last + 1) for digit in (1, 2, 5)]
        return [mark for mark in candidates if low <= mark <= high]
    return [float(f"1e{power}") for power in range(first, last + 1, 1 + (last - first) // 8)]


def _by_name(field: str, names: list[str], values: Sequence[Any], legend: dict[str, Any]) -> dict[str, Any]:
    scale = {"domain": names, "range": list(values)}
    return {"field": field, "type": "nominal", "scale": scale, "legend": legend}
