"""Charts of limits and intervals: the advantage between no leakage and what is acceptable, each limit, and epsilon."""

from collections.abc import Mapping, Sequence
from typing import Any

from estimators.privacy.epsilon import IF_DRAWN
from estimators.statement import at_least, at_most, exactly, percent
from macekit.reports.charts import frame
from macekit.reports.formatting import between, ends, finite, rounded, short_label, three
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
    return Figure("interval", "The advantage and its interval", _in_words(value), spec, _table_of_lines(answer))


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


def _table_of_lines(answer: AnswerPath) -> Table:
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


MOST = 12
PLOT = 330

DECISIONS = {"yes": "pass", "no": "fail", "open": "inconclusive"}
"""Whether a measurement agrees with what is allowed, as the decision on a limit."""


def gate(limits: AnswerPath) -> Figure:
    """A row for each limit, those that fail first."""
    order = ("fail", "inconclusive", "pass")
    every = sorted(limits, key=lambda limit: order.index(limit.value["decision"]))
    first = [limit.value for limit in every[:MOST]]
    spec: frame.Spec = {"config": frame.CONFIG, "spacing": 14, "vconcat": [_row(limit) for limit in first]}
    text = " ".join(f"{limit['name'].replace('_', ' ')}: {_limit_in_words(limit)}" for limit in first)
    return Figure("gate", "Each limit and what the records say", text, spec, _table(every))


def agreement(entries: AnswerPath) -> Figure | None:
    """The same for what a claim allows: a row for each quantity that it limits."""
    limited = [row for row in entries if row["allowed"]]
    limits = [
        {
            **row.value,
            "maximum": row.value["allowed"],
            "decision": DECISIONS[row.value["agrees"]],
            "agrees": f"agrees: {row.value['agrees']}",
            "name": row.value["says"],
        }
        for row in limited[:MOST]
    ]
    if not limits:
        return None
    spec: frame.Spec = {"config": frame.CONFIG, "spacing": 14, "vconcat": [_row(limit) for limit in limits]}
    text = " ".join(f"{limit['name']}: {_limit_in_words(limit)}" for limit in limits)
    lines: tuple[tuple[Cell, ...], ...] = tuple(
        (row["says"].quote(), row["allowed"].number("ceiling"), row["lower"].number(), row["upper"].number())
        for row in limited
    )
    table = Table("Allowed and measured", ("quantity", "allowed at most", "lower", "upper"), lines)
    return Figure("agreement", "What is allowed and what the records say", text, spec, table)


def _row(limit: Mapping[str, Any]) -> frame.Spec:
    upper, most = limit["upper"], limit["maximum"]
    values = [v for v in (limit["lower"], limit["estimate"], upper, most) if v is not None]
    low, high = frame.padded(min(values), max(values), 0.12)
    end = high if upper is None else upper
    x = frame.scaled("lower", None, (low, high), tickCount=5, grid=False)
    middle, colour = {"value": 22}, WORDS[limit["decision"]].colour
    bar = {"lower": rounded(limit["lower"]), "upper": rounded(end)}
    where = {"x": x, "x2": {"field": "upper"}, "y": middle}
    layers: list[frame.Spec] = [
        frame.beyond(rounded(most), rounded(high)),
        {**frame.threshold(rounded(most)), "mark": {"type": "rule", "color": THRESHOLD, "strokeWidth": 2}},
        frame.layer("rule", where, [bar], color=colour, strokeWidth=7),
    ]
    if upper is None:
        layers.append(_dot(rounded(end), "triangle-right", colour, 160))
    if limit["estimate"] is not None:
        layers.append(_dot(rounded(limit["estimate"]), "circle", INK, 80))
    texts = (
        (short_label(limit["name"].replace("_", " ")), -12, 12, "right", "bold"),
        (f"at most {exactly(most)}", -12, 31, "right", "normal"),
        (_decision(limit), PLOT + 12, 12, "left", "bold"),
        (_interval(limit), PLOT + 12, 31, "left", "normal"),
    )
    layers += [_text(*parts) for parts in texts]
    return {"width": PLOT, "height": 44, "layer": layers}


def _dot(at: float, shape: str, colour: str, size: int, height: int = 22) -> frame.Spec:
    look = {"shape": shape, "filled": True, "color": colour, "size": size, "opacity": 1}
    return frame.layer("point", {"x": frame.amount("at"), "y": {"value": height}}, [{"at": at}], **look)


def _text(text: str, x: int, y: int, align: str, weight: str) -> frame.Spec:
    colour = INK if weight == "bold" else MUTED
    return frame.words(text, {"value": x}, {"value": y}, align=align, fontWeight=weight, color=colour)


def _interval(limit: Mapping[str, Any]) -> str:
    end = "…)" if limit["upper"] is None else f"{at_most(limit['upper'])}]"
    return f"[{at_least(limit['lower'])}, {end}"


def _decision(limit: Mapping[str, Any]) -> str:
    """The decision for people, or whether a measurement agrees with what is allowed."""
    return str(limit.get("agrees") or WORDS[limit["decision"]].word.lower())


def _limit_in_words(limit: Mapping[str, Any]) -> str:
    upper = "with no upper end" if limit["upper"] is None else f"at most {at_most(limit['upper'])}"
    return f"{_decision(limit)}, at least {at_least(limit['lower'])}, {upper}, against {exactly(limit['maximum'])}."


def _table(every: list[AnswerPath]) -> Table:
    lines: list[tuple[Cell, ...]] = [
        (
            short_label(limit.value["name"].replace("_", " ")),
            limit["maximum"].number("exact"),
            *limit.interval(),
            _decision(limit.value),
        )
        for limit in every
    ]
    return Table("The limits", ("limit", "at most", "estimate", "lower", "upper", "decision"), tuple(lines))


def epsilon(answer: AnswerPath) -> Figure:
    """A bar from the lower bound onwards: epsilon is somewhere on it; a claim left of it is contradicted."""
    evidence, claim = answer.value["epsilon"], answer.value["claim"]
    bound, least = rounded(evidence["lower_bound"]), at_least(evidence["lower_bound"])
    claimed = None if claim is None else rounded(claim["epsilon"])
    high = max(1.6 * bound, 1.25 * (claimed or 0.0)) or 1.0
    x = frame.scaled("lower", "epsilon", (0, high), tickCount=7)
    where, bar = ({"x": x, "x2": {"field": "upper"}, "y": {"value": 40}}, {"lower": bound, "upper": rounded(high)})
    said, at = f"the records say: at least {least}", {"datum": bound, "type": "quantitative"}
    layers: list[frame.Spec] = [
        frame.layer("rule", where, [bar], color=INK, strokeWidth=9),
        _dot(rounded(high), "triangle-right", INK, 260, 40),
        *frame.halo(frame.words(said, at, {"value": 18}, fontWeight="bold")),
    ]
    text = (
        f"{IF_DRAWN.capitalize()}, the mechanism's epsilon is at least {least} at delta "
        f"{exactly(evidence['delta'])}, with {percent(evidence['confidence'])} confidence."
    )
    lines: list[tuple[Cell, ...]] = [("lower bound", answer["epsilon"]["lower_bound"].number())]
    if claim is not None and claimed is not None:
        text += f" The claim of {exactly(claimed)} is {claim['decision']}."
        lines.append(("claimed", answer["claim"]["epsilon"].number("plain")))
        far = claimed > high / 2
        name = frame.words(
            f"claimed: {exactly(claimed)}, {claim['decision']}",
            {"datum": claimed, "type": "quantitative"},
            {"value": -10},
            align="right" if far else "left",
            color=THRESHOLD,
            fontWeight="bold",
        )
        layers = [frame.threshold(claimed), *layers, name]
    table = Table("Epsilon", ("", "epsilon"), tuple(lines))
    spec = frame.chart(*layers, height=64)
    return Figure("epsilon", "What the mechanism's epsilon must be at least", text, spec, table)
