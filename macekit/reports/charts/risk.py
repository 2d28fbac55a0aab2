"""Individual risk over the score: the signed risk in each cell, with the interval of that cell alone.

Signed, so that a score of which all are surely nonmembers does not look like one that exposes members.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from macekit.reports.charts import frame
from macekit.reports.charts.distribution import Along, Span, names, spans
from macekit.reports.charts.forest import MOST, Line, left_out, with_limit
from macekit.reports.formatting import between, many, rounded, three
from macekit.reports.model import MOST_ROWS, AnswerPath, Cell, Figure, Table
from macekit.reports.palette import BASELINE, MEMBER

STEPS = 250
"""Steps that are drawn: neighbours share one where there are more, which shows the least and the most of them."""

PLOT = 500
NAMED_KINDS = ("categories", "values")
COLUMNS = ("risk", "lower", "upper", "signed_risk", "simultaneous_lower", "simultaneous_upper")
SIGNED = ("signed_risk", "signed_lower", "signed_upper")
OF_METRIC = ("metric", "metric_lower", "metric_upper")
AXIS = "signed risk: above, members"


def risk(answer: AnswerPath, edges: Sequence[float] | None = None) -> Figure | None:
    """Steps over a score, lines by category; none for vectors, whose cells lie on no line."""
    cells = answer.value["cells"]
    kind = cells["cells"]["kind"]
    indices = [i for i, value in enumerate(cells["risk"]) if value is not None]
    if not indices:
        return None
    if kind in NAMED_KINDS:
        spec, remark = _lines(answer.value, indices)
    else:
        places = spans(cells["cells"], edges)
        if places is None or not frame.drawable(places[0][0], places[-1][1]):
            return None
        along = Along.of(edges) if edges else Along(places[0][0], places[-1][1])
        if along.anchor is None:
            along = Along(places[0][0], places[-1][1])
        spec, remark = _steps(answer.value, indices, places, along), ""
    text = _in_words(answer.value, indices) + remark
    return Figure("risk", "Individual risk over the score", text, spec, _table(answer, names(answer)))


def _steps(value: Mapping[str, Any], indices: Sequence[int], places: Sequence[Span], along: Along) -> frame.Spec:
    cells, zero = value["cells"], rounded(value["signed_baseline"])
    steps = [{"from": places[i][0], "to": places[i][1], **{n: cells[n][i] for n in SIGNED}} for i in indices]
    points, x = along.from_the_left(_polyline(_merge_steps(steps), along.at)), along.axis
    y = frame.scaled("signed_lower", AXIS, (-1, 1), tickCount=5)
    run = {"field": "run", "type": "nominal"}
    middle = {"x": x, "y": frame.amount("signed_risk"), "detail": run}
    return frame.chart(
        frame.banded({"x": x, "y": y, "y2": {"field": "signed_upper"}, "detail": run}, points),
        frame.across("y", zero, BASELINE, frame.DASHED),
        frame.layer("line", middle, points, color=MEMBER, strokeWidth=2.5),
        frame.words(f"no leakage: {three(zero)}", {"value": PLOT + 8}, {"datum": zero}, color=BASELINE),
        frame.note("band: interval of each cell by itself"),
        width=PLOT,
        height=230,
    )


def _merge_steps(steps: list[dict[str, float]]) -> list[dict[str, float]]:
    """Neighbouring steps as one, from the least lower to the greatest upper end, at the greatest risk among them."""
    size = -(-len(steps) // STEPS)
    groups = [steps[i : i + size] for i in range(0, len(steps), size)]
    return [
        {
            "from": group[0]["from"],
            "to": group[-1]["to"],
            "signed_risk": max(step["signed_risk"] for step in group),
            "signed_lower": min(step["signed_lower"] for step in group),
            "signed_upper": max(step["signed_upper"] for step in group),
        }
        for group in groups
    ]


def _polyline(steps: Sequence[Mapping[str, float]], at: Callable[[float], float]) -> list[dict[str, float]]:
    """Both ends of each step; where no record fell between two of them, a new run begins."""
    points: list[dict[str, float]] = []
    run, end = 0, steps[0]["from"]
    for step in steps:
        run += step["from"] > end
        end = step["to"]
        sizes = {name: rounded(step[name]) for name in SIGNED}
        points += [{"score": at(score), "run": run, **sizes} for score in (step["from"], step["to"])]
    return points


def _lines(value: Mapping[str, Any], indices: Sequence[int]) -> tuple[frame.Spec, str]:
    cells, labels = value["cells"], value["cells"]["cells"]["labels"]
    first = sorted(indices, key=lambda i: (-cells["signed_risk"][i], i))[:MOST]
    if all(isinstance(labels[i], int | float) for i in first):
        first.sort()  # numbers have an order of their own
    lines = [Line(labels[i], *(cells[name][i] for name in SIGNED)) for i in first]
    zero = rounded(value["signed_baseline"])
    spec = with_limit(lines, "signed risk: right, members", "no leakage", zero)
    remark = left_out(len(first), len(indices), "categories")
    return spec, remark


def _in_words(value: Mapping[str, Any], indices: Sequence[int]) -> str:
    cells = value["cells"]
    worst = _surest(cells, indices)
    highest = max(cells["signed_risk"][i] for i in indices)
    higher = ""
    if three(highest) != three(cells["signed_risk"][worst]):
        higher = f" The highest signed risk, {three(highest)}, is that of a cell whose records show less so surely."
    together = between(cells["simultaneous_lower"][worst], cells["simultaneous_upper"][worst])
    return (
        f"Of {many(len(indices), 'cell')}, membership is shown most surely by one whose signed risk is "
        f"{three(cells['signed_risk'][worst])}: by the interval that holds for all cells together, the risk there lies "
        f"{together}.{higher} Without any leakage it would be {three(value['baseline'])} everywhere. Drawn is the "
        "signed risk: where it is low the score speaks for a nonmember, which exposes no member. Each interval drawn "
        "holds for its cell alone."
    )


def _surest(cells: Mapping[str, Any], indices: Sequence[int]) -> int:
    """Where members are most surely seen, by the signed risk's lower end that holds whichever cell is picked."""

    def evidence(i: int) -> tuple[float, float]:
        signed = cells["signed_risk"][i]
        return cells["simultaneous_lower"][i] if signed > 0 else -cells["simultaneous_upper"][i], signed

    return max(indices, key=evidence)


def _table(answer: AnswerPath, names: Sequence[Cell]) -> Table:
    cells = answer["cells"]
    of_metric = OF_METRIC if cells["metric"] else ()
    every = tuple(
        (
            name,
            *(cells[side][i].number("count") for side in ("members", "nonmembers")),
            *(cells[column][i].number() for column in (*COLUMNS, *of_metric)),
        )
        for i, name in enumerate(names[:MOST_ROWS])
    )
    head = (
        "cell",
        "members",
        "nonmembers",
        *COLUMNS[:3],
        "signed risk",
        "lower, all cells",
        "upper, all cells",
        *(name.replace("_", ", ") for name in of_metric),
    )
    return Table("Risk of each cell", head, every, more=len(names) - len(every), where=cells.path)
