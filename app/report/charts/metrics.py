"""Several metrics at their optimum, each with what guessing without the score gives."""

from __future__ import annotations

from app.report.charts.forest import Line, forest
from app.report.charts.words import inert, many
from app.report.model import Cell, Figure, Table
from app.report.place import Place


def metrics(found: Place) -> Figure:
    """A line for each metric; a tick marks its trivial value."""
    lines = [
        Line(named(m), m.value["estimate"], m.value["lower"], m.value["upper"], tick=m.value["trivial"])
        for m in found
    ]
    above = sum(m.value["lower"] > m.value["trivial"] for m in found)
    text = f"{above} of {many(len(found), 'metric')} are surely above what guessing without the score gives."
    columns = ("estimate", "lower", "upper", "trivial")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (named(m), *(m[column].number() for column in columns)) for m in found
    )
    table = Table("The metrics", ("metric", *columns[:3], "without the score"), rows)
    spec = forest(lines, "value at its optimum (upright tick: without the score)")
    return Figure("metrics", "Metrics at their optimum", text, spec, table)


def named(metric: Place) -> str:
    """A metric's name in words; one of the caller's own holds letters, digits and spaces only."""
    return inert(str(metric.value["name"]).replace("_", " "))
