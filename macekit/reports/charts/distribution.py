"""The scores of members and nonmembers as a chart, and where on its axis each cell of a score lies."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from macekit.reports.charts.frame import WIDTH, Spec, chart, drawable, placing, rows, scaled
from macekit.reports.formatting import distinct, many, rounded, short
from macekit.reports.model import AnswerPath, Cell, Figure, Phrase, Table
from macekit.reports.palette import INK, MEMBER, NONMEMBER, SURFACE

# --- spans --------------------------------------------------------------------------------------------------
# Where on the score's axis each cell lies, for cells of one score that have an order; and what a cell is
# called.

Span = tuple[float, float]


def spans(cells: Mapping[str, Any], edges: Sequence[float] | None) -> list[Span] | None:
    """From where to where each cell reaches; the open outer ones end at ``edges``. None without such an axis."""
    kind = cells["kind"]
    if kind == "intervals":
        return _between(cells["cuts"], edges)
    if kind == "grid":
        step = 2.0 ** cells["exponent"]
        return [(key * step, (key + 1) * step) for key in cells["keys"]]
    if kind == "lattice" and len(cells["low"]) == 1:
        return _sliced(cells["low"][0], cells["high"][0], cells["bins"], cells["keys"])
    return None


def _between(cuts: Sequence[float], edges: Sequence[float] | None) -> list[Span]:
    """Cell j lies between cuts j-1 and j."""
    if not cuts:
        return [(edges[0], edges[-1])] if edges else [(0.0, 1.0)]
    room = (cuts[-1] - cuts[0]) / 8 or max(1.0, abs(cuts[0])) / 2
    low, high = (edges[0], edges[-1]) if edges else (cuts[0] - room, cuts[-1] + room)
    ends = [min(low, cuts[0] - room / 8), *cuts, max(high, cuts[-1] + room / 8)]
    return list(pairwise(ends))


def _sliced(low: float, high: float, bins: int, keys: Sequence[int]) -> list[Span]:
    width = (high - low) / bins or 1.0
    return [(low + key * width, low + (key + 1) * width) for key in keys]


def names(risk: AnswerPath) -> list[Cell]:
    """What each cell is called in a table."""
    cells = risk["cells"]["cells"]
    kind = cells.value["kind"]
    if "labels" in cells.value:
        return [label.untrusted() for label in cells["labels"]]
    if kind == "intervals" and len(cells["cuts"]):
        cuts = [cut.number("plain") for cut in cells["cuts"]]
        inner: list[Cell] = [Phrase((a, " to ", b)) for a, b in pairwise(cuts)]
        return [Phrase(("below ", cuts[0])), *inner, Phrase((cuts[-1], " or more"))]
    places = spans(cells.value, None)
    size = len(risk["cells"]["members"])
    return [f"cell {i + 1}" for i in range(size)] if places is None else [_span(place) for place in places]


def _span(place: Span) -> str:
    return f"{short(place[0])} to {short(place[1])}"


# --- distribution -------------------------------------------------------------------------------------------

SIDES = ("members", "nonmembers")
COLOURS = (MEMBER, NONMEMBER)
DASHES = ((1, 0), (5, 3))

MOST = 20
"""Categories that are drawn, those of most records first."""

ROWS = 200


def distribution(scores: AnswerPath) -> Figure | None:
    """Both sides over the score, or over the categories; none of scores too far apart for a picture."""
    value = scores.value
    if value["kind"] == "intervals" and not drawable(value["edges"][0], value["edges"][-1]):
        return None
    spec, layout = _categories(value) if value["kind"] == "categories" else _intervals(value)
    outside = value["outside_members"] + value["outside_nonmembers"]
    beyond = f" Beyond what is drawn: {many(outside, 'record')}." if outside else ""
    count = sum(value["members"]) + value["outside_members"]
    other = sum(value["nonmembers"]) + value["outside_nonmembers"]
    text = f"Scores of {many(count, 'member')} and of {many(other, 'nonmember')}, {layout}.{beyond}"
    return Figure("distribution", "Scores of members and nonmembers", text, spec, _table(scores))


def _share(title: str) -> Spec:
    axis = {"format": "~p", "tickCount": 5}
    return {"field": "share", "type": "quantitative", "title": title, "stack": None, "axis": axis}


def _shares(value: Any) -> list[tuple[str, list[float]]]:
    """Of each side, the share of its records in each bin."""
    return [
        (side, [count / max(1, sum(value[side]) + value[f"outside_{side}"]) for count in value[side]])
        for side in SIDES
    ]


def _intervals(value: Any) -> tuple[Spec, str]:
    edges: list[float] = value["edges"]
    bins = len(edges) - 1
    mean = (edges[-1] - edges[0]) / bins
    at = placing(edges[0], edges[-1])
    points: list[dict[str, Any]] = []
    for name, shares in _shares(value):
        # Where bins are unlike, the share that a bin of mean width would hold: areas stay records.
        for (left, right), share in zip(pairwise(edges), shares, strict=True):
            height = rounded(share * (mean / (right - left)))
            if math.isfinite(height):
                points += [{"side": name, "score": at(end), "share": height} for end in (left, right)]
    x = scaled("score", "score", (edges[0], edges[-1]), tickCount=8, grid=False)
    y = _share("share of the side's records, per bin")
    side: Spec = {"field": "side", "type": "nominal", "sort": None}
    first = {"condition": {"test": f"datum.side === '{SIDES[0]}'", "value": MEMBER}, "value": NONMEMBER}
    colours = {**side, "scale": {"domain": SIDES, "range": COLOURS}}
    spec = chart(
        {
            "mark": {"type": "area", "opacity": 0.16},
            "encoding": {"x": x, "y": y, "detail": {"field": "side"}, "fill": first},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {
                "x": x,
                "y": y,
                "stroke": colours,
                "strokeDash": {**side, "scale": {"domain": SIDES, "range": DASHES}},
            },
        },
        data=rows(points),
        height=230,
    )
    return spec, f"in {many(bins, 'bin')} between {edges[0]:.4g} and {edges[-1]:.4g}"


def _categories(value: Any) -> tuple[Spec, str]:
    labels: Sequence[object] = value["labels"]
    frequent = most_frequent(value)
    names = distinct([labels[i] for i in frequent])
    bars = [
        {"name": name, "side": side, "share": rounded(shares[i])}
        for side, shares in _shares(value)
        for name, i in zip(names, frequent, strict=True)
    ]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": None,
        "title": None,
        "scale": {"domain": names, "paddingInner": 0.25},
        "axis": {"labelColor": INK, "domain": False, "ticks": False, "labelPadding": 8},
    }
    side = {"field": "side", "type": "nominal", "sort": None}
    x = _share("share of the side's records")
    fills = {"domain": SIDES, "range": [MEMBER, SURFACE]}
    bar = {
        "mark": {"type": "bar", "strokeWidth": 1.5},
        "encoding": {
            "y": y,
            "yOffset": {**side, "scale": {"domain": SIDES}},
            "x": x,
            "fill": {**side, "scale": fills, "legend": {"symbolType": "square", "symbolSize": 120}},
            "stroke": {**side, "scale": {"domain": SIDES, "range": COLOURS}},
        },
    }
    spec = chart(bar, data=rows(bars), width=WIDTH - 140, height={"step": 13})
    some = f", of which the {len(frequent)} most frequent are drawn" if len(frequent) < len(labels) else ""
    return spec, f"in {many(len(labels), 'category', 'categories')}{some}"


def most_frequent(value: Any) -> list[int]:
    """The categories of most records: numbers in their order, names by how many records they have."""
    frequent = _by_records(value)[:MOST]
    numbers = all(isinstance(value["labels"][i], int | float) for i in frequent)
    return sorted(frequent) if numbers else frequent


def _by_records(value: Any) -> list[int]:
    pooled = [a + b for a, b in zip(value["members"], value["nonmembers"], strict=True)]
    return sorted(range(len(pooled)), key=lambda i: (-pooled[i], i))


def _table(scores: AnswerPath) -> Table:
    if scores.value["kind"] == "categories":
        order = _by_records(scores.value)
        names: list[Cell] = [scores["labels"][i].untrusted() for i in order[:ROWS]]
        return _counts(scores, "category", order, names)
    edges = scores["edges"]
    order = list(range(len(edges) - 1))
    names = [Phrase((edges[i].number("plain"), " to ", edges[i + 1].number("plain"))) for i in order[:ROWS]]
    return _counts(scores, "score", order, names)


def _counts(scores: AnswerPath, what: str, order: Sequence[int], names: Sequence[Cell]) -> Table:
    lines = tuple(
        (name, scores["members"][i].number("count"), scores["nonmembers"][i].number("count"))
        for i, name in zip(order, names, strict=False)
    )
    return Table(
        "Records of each side", (what, *SIDES), lines, more=len(order) - len(lines), where=scores.path
    )
