"""The scores of members and nonmembers as a chart, and where on its axis each cell of a score lies."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from estimators.python.dataclass import dataclass
from estimators.statement import exactly
from macekit.reports.charts import frame
from macekit.reports.charts.frame import WIDTH, Spec, chart, drawable, placing, rows, scaled
from macekit.reports.formatting import distinct, many, rounded, short, three
from macekit.reports.model import MOST_ROWS, AnswerPath, Cell, Figure, Number, Phrase, Table
from macekit.reports.palette import BASELINE, MEMBER, MUTED, NONMEMBER, SURFACE

Span = tuple[float, float]
Point = Mapping[str, Any]


UNLIKE = 20.0
"""How many times as wide as the narrowest the widest bin is where an axis is by powers of ten."""

LEAST_START = 1e-3
"""Of the distance at which an outermost bin ends, the least at which it may begin to be drawn whole."""

DECADE = 10.0  # how many times as far as the nearest the farthest score lies, at least, on an axis by powers of ten
LEAST = 1e-300  # nearer scores are drawn there
MOST_POWERS = 8  # powers of ten that are written along an axis


@dataclass(frozen=True, slots=True)
class Along:
    """Where scores lie along a chart: evenly, or by powers of ten of their distance to 0 or to 1, where they crowd."""

    first: float
    last: float
    anchor: float | None = None

    @classmethod
    def of(cls, edges: Sequence[float]) -> "Along":
        """As the widths of bins ask for."""
        evenly, widths = cls(edges[0], edges[-1]), [right - left for left, right in pairwise(edges)][1:-1]
        if len(widths) < 2 or max(widths) < UNLIKE * min(widths):
            return evenly
        if widths[0] < widths[-1] and edges[0] >= 0.0:
            nearest, farthest, anchor = _nearest(edges), edges[-1], 0.0
        elif widths[0] > widths[-1] and edges[-1] <= 1.0:
            nearest, farthest, anchor = _nearest([1.0 - edge for edge in reversed(edges)]), 1.0 - edges[0], 1.0
        else:
            return evenly
        if farthest < DECADE * nearest:
            return evenly
        return cls(farthest, nearest, anchor) if anchor else cls(nearest, farthest, anchor)

    def at(self, score: float) -> float:
        """What stands for a score along the axis."""
        if self.anchor is None:
            return placing(self.first, self.last)(score)
        return rounded(self._distance(score))

    def _distance(self, score: float) -> float:
        """How far a score lies from where they crowd, as far as the axis goes."""
        nearest, farthest = sorted((self.first, self.last))
        return min(max(1.0 - score if self.anchor else score, nearest), farthest)

    def length(self, left: float, right: float) -> float:
        """How long what lies between two scores is drawn."""
        if self.anchor is None:
            return right - left
        return abs(math.log(self._distance(right)) - math.log(self._distance(left)))

    def from_the_left(self, points: Sequence[Point]) -> Sequence[Point]:
        """Points in the order of the numbers along the axis, as lines join them."""
        return points[::-1] if self.first > self.last else points

    @property
    def axis(self) -> Spec:
        """The axis itself."""
        ends = self.first, self.last
        if self.anchor is None:
            return scaled("score", "score", ends, tickCount=8, grid=False)
        low, high = math.floor(math.log10(min(ends))), math.ceil(math.log10(max(ends)))
        powers = [10.0**power for power in range(low, high + 1, -(-(high - low) // MOST_POWERS))]
        title = f"{'1 - score' if self.anchor else 'score'}, by powers of ten"
        inside = [power for power in powers if min(ends) <= power <= max(ends)]
        spec = scaled("score", title, ends, values=inside, grid=False)
        spec["scale"]["type"] = "log"
        return spec

    @property
    def in_words(self) -> str:
        """What a description says of it."""
        return "" if self.anchor is None else f", drawn by powers of ten of the distance to {self.anchor:.0f}"


def _nearest(distances: Sequence[float]) -> float:
    """Where the nearest bin begins to be drawn: one that reaches far further has the ratio of its neighbour."""
    first, second, third = distances[:3]
    return max(first if first > LEAST_START * second else second * (second / third), LEAST)


def spans(cells: Mapping[str, Any], edges: Sequence[float] | None) -> list[Span] | None:
    """From where to where each cell reaches; the open outer ones end at ``edges``. None without such an axis."""
    kind = cells["kind"]
    if kind == "intervals":
        return _between(cells["cuts"], edges)
    if kind == "grid":
        exponents = cells.get("exponents") or [cells["exponent"]] * len(cells["keys"])
        places = zip(cells["keys"], exponents, strict=True)
        return [(key * 2.0**exponent, (key + 1) * 2.0**exponent) for key, exponent in places]
    if kind == "lattice" and len(cells["low"]) == 1:
        low, high = cells["low"][0], cells["high"][0]
        width = (high - low) / cells["bins"] or 1.0
        return [(low + key * width, low + (key + 1) * width) for key in cells["keys"]]
    return None


def _between(cuts: Sequence[float], edges: Sequence[float] | None) -> list[Span]:
    """Cell j lies between cuts j-1 and j."""
    if not cuts:
        return [(edges[0], edges[-1])] if edges else [(0.0, 1.0)]
    room = (cuts[-1] - cuts[0]) / 8 or max(1.0, abs(cuts[0])) / 2
    low, high = (edges[0], edges[-1]) if edges else (cuts[0] - room, cuts[-1] + room)
    ends = [min(low, cuts[0] - room / 8), *cuts, max(high, cuts[-1] + room / 8)]
    return list(pairwise(ends))


def names(risk: AnswerPath) -> list[Cell]:
    """What each cell is called in a table."""
    cells = risk["cells"]["cells"]
    kind = cells.value["kind"]
    if "labels" in cells.value:
        return [label.untrusted() for label in cells["labels"]]
    if kind == "intervals" and len(cells["cuts"]):
        cuts = _told_apart([*cells["cuts"]])
        inner: list[Cell] = [Phrase((a, " to ", b)) for a, b in pairwise(cuts)]
        return [Phrase(("below ", cuts[0])), *inner, Phrase((cuts[-1], " or more"))]
    places = spans(cells.value, None)
    if places is None:
        return [f"cell {i + 1}" for i in range(len(risk["cells"]["members"]))]
    write = short if len({short(start) for start, _ in places}) == len(places) else exactly
    return [f"{write(start)} to {write(end)}" for start, end in places]


def _told_apart(ends: Sequence[AnswerPath]) -> list[Number]:
    """Ends of cells in few digits, or in all where some would read alike."""
    few = len({short(end.value) for end in ends}) == len(ends)
    return [end.number("plain" if few else "exact") for end in ends]


SIDES = ("members", "nonmembers")
COLOURS = (MEMBER, NONMEMBER)
DASHES = ((1, 0), (5, 3))

MOST = 20  # categories that are drawn, those of most records first


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
    return [
        (side, [count / max(1, sum(value[side]) + value[f"outside_{side}"]) for count in value[side]]) for side in SIDES
    ]


def _intervals(value: Any) -> tuple[Spec, str]:
    edges: list[float] = value["edges"]
    bins = len(edges) - 1
    along = Along.of(edges)
    mean = along.length(edges[0], edges[-1]) / bins
    points: list[Point] = []
    for name, shares in _shares(value):
        # Where bins are unlike, the share that a bin of mean width would hold: areas stay records.
        for (left, right), share in zip(pairwise(edges), shares, strict=True):
            length = along.length(left, right)
            height = rounded(share * (mean / length)) if length else math.inf
            if math.isfinite(height):
                points += [{"side": name, "score": along.at(end), "share": height} for end in (left, right)]
    y = _share("share of the side's records, per bin")
    side: Spec = {"field": "side", "type": "nominal", "sort": None}
    first = {"condition": {"test": f"datum.side === '{SIDES[0]}'", "value": MEMBER}, "value": NONMEMBER}
    colours, dashes = ({**side, "scale": {"domain": SIDES, "range": looks}} for looks in (COLOURS, DASHES))
    spec = chart(
        frame.layer("area", {"x": along.axis, "y": y, "detail": {"field": "side"}, "fill": first}, opacity=0.16),
        frame.layer("line", {"x": along.axis, "y": y, "stroke": colours, "strokeDash": dashes}, strokeWidth=2),
        data=rows(along.from_the_left(points)),
        height=230,
    )
    return spec, f"in {many(bins, 'bin')} between {edges[0]:.4g} and {edges[-1]:.4g}{along.in_words}"


def _categories(value: Any) -> tuple[Spec, str]:
    labels: Sequence[object] = value["labels"]
    frequent = most_frequent(value)
    names = distinct([labels[i] for i in frequent])
    bars = [
        {"name": name, "side": side, "share": rounded(shares[i])}
        for side, shares in _shares(value)
        for name, i in zip(names, frequent, strict=True)
    ]
    y = frame.named("name", names)
    y["scale"]["paddingInner"] = 0.25
    y["axis"]["labelPadding"] = 8
    side = {"field": "side", "type": "nominal", "sort": None}
    x = _share("share of the side's records")
    fills = {"domain": SIDES, "range": [MEMBER, SURFACE]}
    where = {
        "y": y,
        "yOffset": {**side, "scale": {"domain": SIDES}},
        "x": x,
        "fill": {**side, "scale": fills, "legend": {"symbolType": "square", "symbolSize": 120}},
        "stroke": {**side, "scale": {"domain": SIDES, "range": COLOURS}},
    }
    spec = chart(frame.layer("bar", where, strokeWidth=1.5), data=rows(bars), width=WIDTH - 140, height={"step": 13})
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
        names: list[Cell] = [scores["labels"][i].untrusted() for i in order[:MOST_ROWS]]
        return _counts(scores, "category", order, names)
    edges = _told_apart([*scores["edges"]])
    order = list(range(len(edges) - 1))
    names = [Phrase((start, " to ", end)) for start, end in pairwise(edges[: MOST_ROWS + 1])]
    return _counts(scores, "score", order, names)


def _counts(scores: AnswerPath, what: str, order: Sequence[int], names: Sequence[Cell]) -> Table:
    lines = tuple(
        (name, scores["members"][i].number("count"), scores["nonmembers"][i].number("count"))
        for i, name in zip(order, names, strict=False)
    )
    return Table("Records of each side", (what, *SIDES), lines, more=len(order) - len(lines), where=scores.path)


PLOT = 500
MOST_SLICES = 60  # slices that are drawn: of more, those of the narrowest intervals
KERNELS, SLICES = 3, 2  # the theorem that each curve is of

ENDS = ("lower", "upper")
COLUMNS = ("starts", "ends", "posterior", *ENDS)


def posterior(curves: AnswerPath, prior: float) -> Figure | None:
    """A line with its band for kernel densities, a bar for each slice."""
    by_theorem = {each.value["theorem"]: each for each in curves if each.value["posterior"]}
    if KERNELS not in by_theorem:
        return None
    smooth, slices = by_theorem[KERNELS], by_theorem.get(SLICES)
    low, high = smooth.value["starts"][0], smooth.value["starts"][-1]
    if not frame.drawable(low, high):
        return None
    at = frame.placing(low, high)
    x = frame.scaled("score", "score", (low, high), tickCount=8, grid=False)
    y = frame.scaled("lower", "chance of being a member", (0, 1), tickCount=5)
    line, bars = _line(smooth.value, at), [] if slices is None else _bars(slices.value, at)
    ends, middle = {"x": x, "y": y, "y2": {"field": "upper"}}, {"x": x, "y": frame.amount("posterior")}
    spec = frame.chart(
        frame.banded(ends, line),
        frame.layer("rule", ends, bars, color=MUTED, strokeWidth=1),
        frame.layer("point", middle, bars, color=MUTED, filled=True, size=14, opacity=1),
        frame.across("y", rounded(prior), BASELINE, frame.DASHED),
        frame.layer("line", middle, line, color=MEMBER, strokeWidth=2.5),
        frame.words(f"no leakage: {three(prior)}", {"value": PLOT + 8}, {"datum": rounded(prior)}, color=BASELINE),
        frame.note("line and band: kernel densities; dots and bars: slices"),
        width=PLOT,
        height=230,
    )
    title, text = "Chance of being a member, as published", _in_words(smooth, slices)
    return Figure("posterior", title, text, spec, _posterior_table(smooth))


def _line(curve: Mapping[str, Any], at: Any) -> list[dict[str, float]]:
    columns = (curve[name] for name in ("starts", "posterior", *ENDS))
    return [
        {"score": at(x), "posterior": rounded(p), "lower": rounded(low), "upper": rounded(high)}
        for x, p, low, high in zip(*columns, strict=True)
    ]


def _bars(curve: Mapping[str, Any], at: Any) -> list[dict[str, float]]:
    """Slices of the most records, which have the narrowest intervals, in the order of the score."""
    columns = zip(*(curve[name] for name in COLUMNS), strict=True)
    surest = sorted(columns, key=lambda row: row[4] - row[3])[:MOST_SLICES]
    return [
        {"score": at((a + b) / 2), "posterior": rounded(p), "lower": rounded(low), "upper": rounded(high)}
        for a, b, p, low, high in sorted(surest)
    ]


def _in_words(smooth: AnswerPath, slices: AnswerPath | None) -> str:
    values: Sequence[float] = smooth.value["posterior"]
    text = (
        f"Kernel densities (MACE, Theorem 3) put the chance of being a member between {three(min(values))} and "
        f"{three(max(values))} along this score. Their band covers {smooth.value['covers']}."
    )
    if slices is not None:
        text += f" The bars of slices (Theorem 2) cover {slices.value['covers']}."
    return text + " Neither is the certified interval, which is that of the individual risk."


def _posterior_table(curve: AnswerPath) -> Table:
    names = ("starts", "posterior", *ENDS)
    size = len(curve["posterior"])
    every = tuple(tuple(curve[name][i].number() for name in names) for i in range(min(size, MOST_ROWS)))
    head = ("score", "chance of being a member", "lower end", "upper end")
    return Table("Chance of being a member by kernel densities", head, every, more=0, where=curve.path)
