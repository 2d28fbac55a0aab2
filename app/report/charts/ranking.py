"""Several queries beside each other: what each gives away, and how much more than another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.report.charts.forest import MOST, Line, forest, left_out
from app.report.charts.frame import baseline
from app.report.charts.words import between, inert, many, rounded, three
from app.report.model import Cell, Figure, Phrase, Table
from app.report.place import Place

ROWS = 200
ENDS = ("estimate", "lower", "upper")


def ranking(answer: Place) -> Figure:
    """The advantage of each query, the largest first, as the answer ranks them."""
    found, zero = list(answer["ranking"]), float(answer["baseline"].value)
    lines = [_line(each.value["name"], each.value["advantage"]) for each in found[:MOST]]
    most = answer.value["maximum"]
    text = (
        f"The largest advantage of {many(len(found), 'query', 'queries')} lies "
        f"{between(most['lower'], most['upper'])}; without any leakage it would be {three(zero)}."
    ) + left_out(len(lines), len(found), "queries")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            each["name"].name(),
            *(each["advantage"][end].number() for end in ENDS),
            each["best_rank"].number("count"),
            each["worst_rank"].number("count"),
        )
        for each in found[:ROWS]
    )
    head = ("query", *ENDS, "best rank", "worst rank")
    table = Table("The ranking", head, rows, more=len(found) - len(rows), where="ranking")
    spec = forest(lines, "advantage (dashed: no leakage)", [baseline(rounded(zero))], rounded(zero))
    return Figure("ranking", "What each query gives away", text, spec, table)


def differences(answer: Place) -> Figure | None:
    """How much more the first gives away than the second; what is decided and largest comes first."""
    found = sorted(answer["differences"], key=lambda d: (not d.value["decided"], -abs(d.value["estimate"])))
    if not found:
        return None
    lines = [_line(_named(d), d.value, _decided(d)) for d in found[:MOST]]
    count = sum(d.value["decided"] for d in found)
    text = f"{count} of {many(len(found), 'difference')} are decided: their interval leaves out 0."
    text += left_out(len(lines), len(found), "differences")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Phrase((d["first"].name(), " − ", d["second"].name())), *(d[end].number() for end in ENDS))
        for d in found[:ROWS]
    )
    head = ("first − second", *ENDS)
    table = Table("The differences", head, rows, more=len(found) - len(rows), where="differences")
    spec = forest(lines, "difference of advantages (dashed: none)", [baseline(0.0)], 0.0)
    return Figure("differences", "How much more one gives away than another", text, spec, table)


def _line(name: str, found: Mapping[str, Any], note: str = "") -> Line:
    return Line(name, found["estimate"], found["lower"], found["upper"], note)


def _named(difference: Place) -> str:
    return " − ".join(inert(difference.value[end], 14) for end in ("first", "second"))


def _decided(difference: Place) -> str:
    return "  decided" if difference.value["decided"] else ""
