"""The optimal advantage: its interval between no leakage and what is acceptable, the published one beneath."""

from collections.abc import Mapping, Sequence
from typing import Any

from estimators.statement import exactly, percent
from macekit.reports.charts import frame
from macekit.reports.formatting import between, ends, finite, rounded, three
from macekit.reports.model import AnswerPath, Cell, Figure, Table
from macekit.reports.palette import BASELINE, INK, MUTED, SURFACE, THRESHOLD, WORDS

ROW = 46


def interval(answer: AnswerPath) -> Figure:
    """The chart that is read first: where the interval lies says what was decided."""
    value = answer.value
    limit = (value.get("verdict") or {}).get("threshold")
    lines = _lines(value)
    marks = _references(value, limit)
    values = finite([v for line in lines for v in (line["lower"], line["upper"])] + [mark["at"] for mark in marks])
    low, high = frame.padded(min(values), max(values), 0.06)
    x = frame.scaled("lower", "advantage of the best adversary", (low, high), tickCount=7, grid=True)
    y = frame.named("row")
    decision = (value.get("verdict") or {}).get("decision")
    spec = frame.chart(
        *([] if limit is None else [frame.beyond(rounded(limit), high)]),
        frame.baseline(rounded(value["baseline"])),
        *([] if limit is None else [frame.threshold(rounded(limit))]),
        *([frame.across("x", mark["at"], MUTED, (2, 3)) for mark in marks if mark["what"] == "ceiling"]),
        *_labels(marks, low, high),
        *_bars(lines, x, y, WORDS[decision].colour if decision else INK, low, high),
        height=ROW * len(lines),
    )
    return Figure("interval", "The advantage and its interval", _in_words(value), spec, _table(answer))


def _lines(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = [("certified", value["advantage"])]
    if value.get("paper"):
        parts.append((f"as published ({value['paper']['statistic']})", value["paper"]))
    return [
        {
            "row": name,
            "kind": kind,
            "lower": rounded(part["lower"]),
            "upper": rounded(part["upper"]),
            "figures": ("" if part["estimate"] is None else three(part["estimate"]) + " ")
            + ends(part["lower"], part["upper"]),
            **({} if part["estimate"] is None else {"estimate": rounded(part["estimate"])}),
        }
        for kind, (name, part) in enumerate(parts)
    ]


def _references(value: Mapping[str, Any], limit: float | None) -> list[dict[str, Any]]:
    zero = value["baseline"]
    marks = [("baseline", zero, f"no leakage: {three(zero)}", BASELINE)]
    if limit is not None:
        marks.append(("threshold", limit, f"limit: {exactly(limit)}", THRESHOLD))
    if claim := value.get("claim"):
        ceiling = claim["advantage_ceiling"]
        marks.append(("ceiling", ceiling, f"ceiling of the claimed epsilon: {three(ceiling)}", MUTED))
    return [{"what": what, "at": rounded(at), "text": text, "colour": colour} for what, at, text, colour in marks]


def _labels(marks: Sequence[Mapping[str, Any]], low: float, high: float) -> list[frame.Spec]:
    """The name of each line above the chart, one below the other, so that neighbours do not meet."""
    count, middle = len(marks), (low + high) / 2
    names: list[frame.Spec] = []
    strokes: list[frame.Spec] = []
    for place, mark in enumerate(marks):
        data, below = [{"at": mark["at"]}], 17 * (count - 1 - place)
        side = {"align": "right", "dx": -5} if mark["at"] > middle else {"align": "left", "dx": 5}
        bold = {"baseline": "middle", "color": mark["colour"], "fontWeight": "bold", "fontSize": 12}
        where = {"text": {"value": mark["text"]}, "x": frame.amount("at"), "y": {"value": -13 - below}}
        names.append(frame.layer("text", where, data, **side, **bold))
        where = {"x": frame.amount("at"), "y": {"value": -21 - below}, "y2": {"value": 0}}
        strokes.append(frame.layer("rule", where, data, color=mark["colour"], strokeWidth=1))
    return names + strokes


def _bars(
    lines: Sequence[Mapping[str, Any]], x: frame.Spec, y: frame.Spec, colour: str, low: float, high: float
) -> list[frame.Spec]:
    """The certified interval thick and its estimate full, the published one thin and hollow; the figures above."""
    point = {"x": frame.amount("estimate"), "y": y}
    layers: list[frame.Spec] = []
    for line in lines:
        first, right = line["kind"] == 0, line["lower"] > (low + high) / 2
        where = {"x": x, "x2": {"field": "upper"}, "y": y}
        bar = {"color": colour if first else MUTED, "strokeWidth": 9 if first else 2.5}
        layers.append(frame.layer("rule", where, [line], **bar))
        if "estimate" in line:
            dot = {"size": 120 if first else 70, "fill": SURFACE, "stroke": INK, "strokeWidth": 2, "opacity": 1}
            layers.append(frame.layer("point", point, [line], **dot))
        text = {
            "align": "right" if right else "left",
            "baseline": "middle",
            "dy": -15,
            "fontSize": 14 if first else 12,
            "fontWeight": "bold" if first else "normal",
            "color": INK if first else MUTED,
        }
        where = {"text": {"field": "figures"}, "x": frame.amount("upper" if right else "lower"), "y": y}
        layers += frame.halo(frame.layer("text", where, [line], **text))
    return layers


def _in_words(value: Mapping[str, Any]) -> str:
    best = value["advantage"]
    estimate = "" if best["estimate"] is None else f"The estimate is {three(best['estimate'])}. "
    text = (
        f"{estimate}With {percent(best['confidence'])} confidence the advantage lies "
        f"{between(best['lower'], best['upper'])}; without any leakage it would be {three(value['baseline'])}."
    )
    if verdict := value.get("verdict"):
        text += f" The limit is {exactly(verdict['threshold'])}: {WORDS[verdict['decision']].word.lower()}."
    return text


def _table(answer: AnswerPath) -> Table:
    rows_of: list[tuple[Cell, ...]] = [("certified", *answer["advantage"].interval())]
    if answer.value.get("paper"):
        name = f"as published ({answer.value['paper']['statistic']})"
        rows_of.append((name, *answer["paper"].interval()))
    rows_of.append(("baseline: no leakage", answer["baseline"].number(), "", ""))
    if answer.value.get("verdict"):
        rows_of.append(("limit", answer["verdict"]["threshold"].number("exact"), "", ""))
    if answer.value.get("claim"):
        ceiling = answer["claim"]["advantage_ceiling"].number()
        rows_of.append(("ceiling of the claimed epsilon", ceiling, "", ""))
    return Table("The advantage", ("", "value", "lower", "upper"), tuple(rows_of))
