"""The mean risk of each group, the highest first."""

from __future__ import annotations

from app.report.charts.forest import MOST, Line, forest, left_out
from app.report.charts.frame import baseline
from app.report.charts.words import between, many, rounded, three
from app.report.model import Cell, Figure, Table
from app.report.place import Place

ROWS = 200


def groups(found: Place, zero: float) -> Figure:
    """A line for each group; those whose risk nothing is known of come last."""
    ordered = sorted(found, key=lambda g: (g.value["risk"] is None, -(g.value["risk"] or 0.0)))
    drawn = ordered[:MOST]
    lines = [
        Line(
            g.value["label"],
            g.value["risk"],
            g.value["lower"],
            g.value["upper"],
            f"  n = {g.value['records']}",
        )
        for g in drawn
    ]
    spec = forest(
        lines, "mean individual risk (dashed: no leakage)", [baseline(rounded(zero))], rounded(zero)
    )
    return Figure(
        "groups", "Risk of each group", _described(ordered, zero), spec, _table(ordered, found.path)
    )


def _described(ordered: list[Place], zero: float) -> str:
    top = ordered[0].value
    count = len(ordered)
    worst = "Nothing is known of any group."
    if top["risk"] is not None:
        limits = between(top["lower"], top["upper"])
        worst = f"The highest mean risk of {many(count, 'group')} is {three(top['risk'])}, {limits}."
    return (
        f"{worst} Without any leakage it would be {three(zero)}.{left_out(min(MOST, count), count, 'groups')}"
    )


def _table(ordered: list[Place], where: str) -> Table:
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (
            g["label"].name(),
            g["records"].number("count"),
            *(g[column].number() for column in ("risk", "lower", "upper")),
        )
        for g in ordered[:ROWS]
    )
    head = ("group", "records", "risk", "lower", "upper")
    return Table("Risk of each group", head, lines, more=len(ordered) - len(lines), where=where)
