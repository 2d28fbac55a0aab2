"""The figures of the page, drawn: what the paper's estimates and the certified intervals say, beside no leak at all.

.venv/bin/python -m examples.mace.drawing        # each from its table in README.md and mnist.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from examples.theory.drawing import write_svg
from examples.theory.readme import blocks
from macekit.reports.charts.frame import Spec, chart, rows, scaled
from macekit.reports.palette import BASELINE, MEMBER, NONMEMBER, PASS, THRESHOLD

HERE = Path(__file__).parent
PAGES = {"README.md": "", "mnist.md": "mnist-"}
"""Pages with tables, and how their pictures' names begin."""

PAPER = re.compile(r"(?P<mean>-?[\d.]+)(?: \((?P<least>-?[\d.]+) to (?P<most>-?[\d.]+)\))?")
INTERVAL = re.compile(r"\[(?P<low>-?[\d.]+), (?P<high>-?[\d.]+)\]")

CEILING = "tanh(epsilon/2)"
KINDS = (
    "W_N",
    "W_N, labels shuffled",
    "U_N",
    "U_N, labels shuffled",
    "certified, a model each",
    "certified, labels shuffled",
    CEILING,
)
"""Columns of a table that are drawn, from the top of a query down."""

NO_LEAK = "each with labels shuffled: no leak"
COLOURS = {"W_N": MEMBER, "U_N": NONMEMBER, "certified, a model each": PASS, NO_LEAK: BASELINE, CEILING: THRESHOLD}

RISKS = {
    "the paper's highest risk": "W_N",
    "the same, labels shuffled": "W_N, labels shuffled",
    "highest risk of a cell, certified for all at once, a model each": "certified, a model each",
}
"""Figure 6 has highest risks in place of advantages."""

TITLES = {
    "figure1a": "Figure 1a: a query of the WGAN-GP",
    "figure1b": "Figure 1b: the model, and its synthetic records",
    "figure1c": "Figure 1c: what heuristics read",
    "figure2a": "Figure 2a: both discriminators of privGAN",
    "figure2b": "Figure 2b: discriminator, distance, and both",
    "figure3": "Figure 3: one member in ten",
    "figure4": "Figure 4: images with a box",
    "figure5": "Figure 5: a promise of epsilon",
    "figure6": "Figure 6: the highest risk of a record",
    "figure7": "Figure 7: the number of synthetic records",
    "figure8": "Figure 8: white box and black box",
}


def cells(table: str) -> list[dict[str, str]]:
    """The lines of a Markdown table, by column."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def picture(title: str, lines: Sequence[Mapping[str, str]]) -> Spec:
    """Each query from the top down, its estimates as points with their range over the models, intervals as lines."""
    marks = [part for line in lines for part in _parts(line)]
    kinds = [kind for kind in COLOURS if any(part["kind"] == kind for part in marks)]
    domain = min(0.0, *(float(part["low"]) for part in marks)), 1.0
    what = "risk" if "epsilon" in lines[0] else "advantage"
    place: Spec = {
        "y": {
            "field": "query",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"ticks": False, "domain": False},
        },
        "yOffset": {"field": "place", "type": "ordinal", "sort": None},
        "color": {
            "field": "kind",
            "type": "nominal",
            "scale": {"domain": kinds, "range": [COLOURS[kind] for kind in kinds]},
            "legend": {"columns": 2, "symbolLimit": 0},
        },
    }
    ends = {"x": scaled("low", what, domain), "x2": {"field": "high"}}
    means = [part for part in marks if "mean" in part]
    return chart(
        {"data": rows(marks), "mark": {"type": "rule", "strokeWidth": 2}, "encoding": {**place, **ends}},
        {
            "data": rows(means),
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": {**place, "x": scaled("mean", what, domain)},
        },
        title=title,
        height={"step": 5},
        width=420,
    )


def _parts(line: Mapping[str, str]) -> Iterator[dict[str, str | float]]:
    query = line.get("query") or f"epsilon {line['epsilon']}"
    columns = {kind: line[kind] for kind in KINDS if kind in line}
    columns |= {kind: line[column] for column, kind in RISKS.items() if column in line}
    for at, kind in enumerate(KINDS):
        text = columns.get(kind, "-")
        marks = {"query": query, "kind": NO_LEAK if "shuffled" in kind else kind}
        intervals = list(INTERVAL.finditer(text))
        for number, each in enumerate(intervals):
            low, high = float(each["low"]), float(each["high"])
            yield {**marks, "place": f"{at}.{number}", "low": low, "high": high}
        if not intervals and (match := PAPER.fullmatch(text)) is not None:
            mean = float(match["mean"])
            low, high = (float(match[end] or mean) for end in ("least", "most"))
            yield {**marks, "place": str(at), "mean": mean, "low": low, "high": high}


def pictures(page: Path) -> dict[str, Spec]:
    """Of each figure whose table stands on the page, by name."""
    tables = {name: cells(table) for name, table in blocks(page).items() if name in TITLES}
    return {name: picture(TITLES[name], lines) for name, lines in tables.items()}


def main() -> None:
    """Draw all."""
    for page, start in PAGES.items():
        for name, spec in pictures(HERE / page).items():
            write_svg(spec, HERE / f"{start}{name}.svg")


if __name__ == "__main__":
    main()
