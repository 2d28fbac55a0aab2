"""Charts with a line for each of several things, its interval drawn: groups, queries, differences, metrics."""

from collections.abc import Mapping, Sequence
from typing import Any

from estimators.python.dataclass import dataclass
from macekit.reports.charts.frame import Spec, amount, baseline, chart, layer, named, padded, rows, scaled, threshold
from macekit.reports.formatting import between, distinct, ends, finite, many, rounded, short_label, three
from macekit.reports.model import MOST_ROWS, AnswerPath, Cell, Figure, Phrase, Table, ranking_row, table_of
from macekit.reports.palette import INK, MEMBER, MUTED, NONMEMBER, WORDS

MOST = 40  # lines that are drawn: more could not be told apart

ROW = 24
PLOT = 300


@dataclass(frozen=True, slots=True)
class Line:
    """One thing of many: ``tick`` is what it would be without a leak, if each has its own."""

    name: object
    estimate: float | None
    lower: float
    upper: float
    note: str = ""
    tick: float | None = None

    @property
    def figures(self) -> str:
        """The estimate and its interval, as text."""
        point = "–" if self.estimate is None else three(self.estimate)
        return f"{point} {ends(self.lower, self.upper)}{self.note}"


def forest(lines: Sequence[Line], title: str, references: Sequence[Spec] = (), *also: float) -> Spec:
    """The lines in the order given, over one axis that has room for ``also``, too."""
    names = distinct([line.name for line in lines])
    data = [
        {
            "name": name,
            "lower": rounded(line.lower),
            "upper": rounded(line.upper),
            "figures": line.figures,
            **({} if line.estimate is None else {"estimate": rounded(line.estimate)}),
            **({} if line.tick is None else {"tick": rounded(line.tick)}),
        }
        for name, line in zip(names, lines, strict=True)
    ]
    values = finite(v for line in lines for v in (line.estimate, line.lower, line.upper, line.tick))
    low, high = padded(min([*values, *also]), max([*values, *also]))
    x = scaled("lower", title, (low, high), tickCount=6, orient="bottom")
    y = named("name", names)
    layers, look = list(references), dict[str, Any]()
    if any(line.tick is not None for line in lines):
        look = {"color": NONMEMBER, "thickness": 2.5, "size": 18, "opacity": 1}
        layers.append(_where("tick", layer("tick", {"x": amount("tick"), "y": y}, **look)))
    layers.append(layer("rule", {"x": x, "x2": {"field": "upper"}, "y": y}, color=MEMBER, strokeWidth=3))
    look = {"filled": True, "color": INK, "size": 60, "opacity": 1}
    layers.append(_where("estimate", layer("point", {"x": amount("estimate"), "y": y}, **look)))
    look = {"align": "left", "baseline": "middle", "color": MUTED, "fontSize": 12}
    layers.append(layer("text", {"text": {"field": "figures"}, "x": {"value": PLOT + 14}, "y": y}, **look))
    return chart(*layers, data=rows(data), width=PLOT, height=ROW * len(lines))


def _where(field: str, drawn: Spec) -> Spec:
    """Of the rows those that have a field."""
    return {"transform": [{"filter": f"isValid(datum.{field})"}], **drawn}


def left_out(count: int, total: int, what: str) -> str:
    """What to say where more lines there are than are drawn."""
    return f" The {count} first of {total:,} {what} are drawn." if count < total else ""


def groups(entries: AnswerPath, zero: float) -> Figure:
    """A line for each group, the highest mean risk first; those whose risk nothing is known of come last."""
    ordered = sorted(entries, key=lambda g: (g.value["risk"] is None, -(g.value["risk"] or 0.0)))
    lines = [
        Line(g["label"], g["risk"], g["lower"], g["upper"], f"  n = {g['records']}")
        for g in (each.value for each in ordered[:MOST])
    ]
    spec = with_limit(lines, "mean individual risk", "no leakage", zero)
    return Figure("groups", "Risk of each group", _groups_in_words(ordered, zero), spec, _table(ordered, entries.path))


def _groups_in_words(ordered: list[AnswerPath], zero: float) -> str:
    top = ordered[0].value
    count = len(ordered)
    worst = "Nothing is known of any group."
    if top["risk"] is not None:
        limits = between(top["lower"], top["upper"])
        worst = f"The highest mean risk of {many(count, 'group')} is {three(top['risk'])}, {limits}."
    return f"{worst} Without any leakage it would be {three(zero)}.{left_out(min(MOST, count), count, 'groups')}"


def _table(ordered: list[AnswerPath], where: str) -> Table:
    def row(group: AnswerPath) -> tuple[Cell, ...]:
        numbers = group.numbers("risk", "lower", "upper")
        return (group["label"].untrusted(), group["records"].number("count"), *numbers)

    head = ("group", "records", "risk", "lower", "upper")
    return table_of("Risk of each group", head, ordered, row, where=where)


ENDS = ("estimate", "lower", "upper")


def ranking(answer: AnswerPath, one: str = "query", several: str = "queries") -> Figure:
    """The advantage of each query or release, the largest first, as the answer ranks them."""
    entries, zero = list(answer["ranking"]), float(answer["baseline"].value)
    lines = [_line(each.value["name"], each.value["advantage"]) for each in entries[:MOST]]
    most = answer.value["maximum"]
    text = (
        f"The largest advantage of {many(len(entries), one, several)} lies "
        f"{between(most['lower'], most['upper'])}; without any leakage it would be {three(zero)}."
    ) + left_out(len(lines), len(entries), several)

    table = table_of("The ranking", (one, *ENDS, "best rank", "worst rank"), answer["ranking"], ranking_row)
    spec = with_limit(lines, "advantage", "no leakage", zero)
    return Figure("ranking", f"What each {one} gives away", text, spec, table)


def differences(answer: AnswerPath) -> Figure | None:
    """How much more the first gives away than the second; what is decided and largest comes first."""
    pairs = sorted(answer["differences"], key=lambda d: (not d.value["decided"], -abs(d.value["estimate"])))
    if not pairs:
        return None
    lines = [_line(_pair_label(d), d.value, _decided(d)) for d in pairs[:MOST]]
    count = sum(d.value["decided"] for d in pairs)
    text = f"{count} of {many(len(pairs), 'difference')} are decided: their interval leaves out 0."
    text += left_out(len(lines), len(pairs), "differences")

    def row(pair: AnswerPath) -> tuple[Cell, ...]:
        return (Phrase((pair["first"].untrusted(), " − ", pair["second"].untrusted())), *pair.interval())

    table = table_of("The differences", ("first − second", *ENDS), pairs, row, where="differences")
    spec = with_limit(lines, "difference of advantages", "none", 0.0)
    return Figure("differences", "How much more one gives away than another", text, spec, table)


def _named(entry: AnswerPath) -> tuple[Cell, ...]:
    return (entry["name"].untrusted(), *entry.interval())


def _line(name: str, interval: Mapping[str, Any], note: str = "") -> Line:
    return Line(name, interval["estimate"], interval["lower"], interval["upper"], note)


def _pair_label(difference: AnswerPath) -> str:
    return " − ".join(short_label(difference.value[end], 14) for end in ("first", "second"))


def _decided(difference: AnswerPath) -> str:
    return "  decided" if difference.value["decided"] else ""


def columns(split: AnswerPath) -> Figure:
    """The advantage of who reads one column, those that differ most first; and of all together."""
    entries = list(split["columns"])
    together = _line("all together", split.value["advantage"])
    lines = [together, *(_line(each.value["name"], each.value) for each in entries[: MOST - 1])]
    count = sum(each.value["differs"] for each in entries)
    text = f"{count} of {many(len(entries), 'column')} tell the two sides apart by themselves, without any model."
    text += left_out(len(lines) - 1, len(entries), "columns")
    table = table_of("What each column tells", ("column", *ENDS), split["columns"], _named)
    spec = with_limit(lines, "advantage without any model", "none", 0.0)
    return Figure("columns", "What tells the sides apart without a model", text, spec, table)


def sizes(answer: AnswerPath) -> Figure:
    """A line for each size, the smallest first; the limit is drawn through."""
    steps, zero = list(answer["steps"]), float(answer["baseline"].value)
    first, last = steps[0].value, steps[-1].value
    text = (
        f"The advantage lies {between(first['lower'], first['upper'])} with {first['size']:,} released rows, and "
        f"{between(last['lower'], last['upper'])} with {last['size']:,}; without any leakage it would be {three(zero)}."
    ) + left_out(min(MOST, len(steps)), len(steps), "sizes")
    names = [f"{step.value['size']:,}" for step in steps]

    def row(step: AnswerPath) -> tuple[Cell, ...]:
        return (step["size"].number("count"), *step.interval())

    table = table_of("Every size", ("released rows", *ENDS), answer["steps"], row)
    title = "The advantage against the number of released rows"
    return Figure("sizes", title, text, _along(answer, names), table)


def steps(answer: AnswerPath) -> Figure:
    """A line for each step of a series, in its order; the limit is drawn through."""
    entries, zero = list(answer["steps"]), float(answer["baseline"].value)
    first, last = entries[0].value, entries[-1].value
    text = (
        f"The advantage lies {between(first['lower'], first['upper'])} at the first of {many(len(entries), 'step')}, "
        f"and {between(last['lower'], last['upper'])} at the last; without any leakage it would be {three(zero)}."
    ) + left_out(min(MOST, len(entries)), len(entries), "steps")
    names = [step.value["name"] for step in entries]
    table = table_of("Every step", ("step", *ENDS), answer["steps"], _named)
    return Figure("steps", "The advantage step by step", text, _along(answer, names), table)


def _along(answer: AnswerPath, names: Sequence[str]) -> Spec:
    """A line for each step, over one axis with the baseline and the limit."""
    entries = list(answer["steps"])[:MOST]
    lines = [_line(name, step.value, _mark(step)) for name, step in zip(names, entries, strict=False)]
    return with_limit(lines, "advantage", "no leakage", answer["baseline"].value, answer["max_advantage"].value)


def with_limit(lines: Sequence[Line], what: str, without: str, zero: float, limit: float | None = None) -> Spec:
    """Lines over one axis with what there is without a leak, dashed, and the limit, drawn through, if there is one."""
    references, also = [baseline(rounded(zero))], [rounded(zero)]
    title = f"{what} (dashed: {without})"
    if limit is not None:
        title = f"{what} (dashed: {without}; drawn through: the limit)"
        references.append(threshold(rounded(limit)))
        also.append(limit)
    return forest(lines, title, references, *also)


def _mark(step: AnswerPath) -> str:
    decision = step.value["decision"]
    return "" if decision is None else f"  {WORDS[decision].word.lower()}"


def trainings(answer: AnswerPath) -> Figure:
    """A line for the mean and for the next model, then one for each model; the limit is drawn through."""
    zero, entries = float(answer["baseline"].value), list(answer["models"])
    mean, coming = answer["advantage"], answer["next_model"]
    parts = [("mean of trainings", mean), ("the next model", coming)]
    lines = [_line(name, part.value) for name, part in parts]
    lines += [_line(each.value["name"], each.value) for each in entries[: MOST - len(lines)]]
    spec = with_limit(lines, "advantage", "no leakage", zero, answer["verdict"]["threshold"].value)
    text = (
        f"The advantage lies {between(mean.value['lower'], mean.value['upper'])} on average over trainings, and "
        f"{between(coming.value['lower'], coming.value['upper'])} on the next model; without any leakage it would be "
        f"{three(zero)}."
    ) + left_out(len(lines) - len(parts), len(entries), "models")
    cells: list[tuple[Cell, AnswerPath]] = [*parts, *((each["name"].untrusted(), each) for each in entries[:MOST_ROWS])]
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *part.interval()) for name, part in cells)
    table = Table("Every model", ("model", *ENDS), rows, more=max(0, len(entries) - MOST_ROWS), where="models")
    return Figure("models", "The models of a training procedure", text, spec, table)


def attack(answer: AnswerPath) -> Figure:
    """An attack's own advantage above that of the best attacker, and what guessing without the score gives."""
    parts = (("this attack", answer["attack"]), ("the best attacker", answer["optimum"]))
    zero = float(answer["baseline"].value)
    lines = [_line(name, part.value) for name, part in parts]
    spec = with_limit(lines, "advantage", "no leakage", zero)
    gap = answer.value["gap"]
    text = (
        f"The attack's advantage lies {between(answer.value['attack']['lower'], answer.value['attack']['upper'])}; "
        f"the best attacker has {between(gap['lower'], gap['upper'])} more. Without any leakage an advantage would be "
        f"{three(zero)}."
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple((name, *part.interval()) for name, part in parts)
    table = Table("The attack and the optimum", ("", *ENDS), rows)
    return Figure("attack", "The attack, and the best there is", text, spec, table)


def metrics(entries: AnswerPath) -> Figure:
    """A line for each metric at its optimum; a tick marks what guessing without the score gives."""
    lines = [
        Line(metric_label(m), m.value["estimate"], m.value["lower"], m.value["upper"], tick=m.value["trivial"])
        for m in entries
    ]
    above = sum(m.value["lower"] > m.value["trivial"] for m in entries)
    text = (
        f"{above} of {many(len(entries), 'metric')} have an interval that lies entirely above what guessing without "
        "the score gives."
    )
    columns = ("estimate", "lower", "upper", "trivial")
    rows: tuple[tuple[Cell, ...], ...] = tuple((metric_label(m), *m.numbers(*columns)) for m in entries)
    table = Table("The metrics", ("metric", *columns[:3], "without the score"), rows)
    spec = forest(lines, "value at its optimum (upright tick: without the score)")
    return Figure("metrics", "Metrics at their optimum", text, spec, table)


def metric_label(metric: AnswerPath) -> str:
    """A metric's name in words; one of the caller's own holds letters, digits and spaces only."""
    return short_label(str(metric.value["name"]).replace("_", " "))
