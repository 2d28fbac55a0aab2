"""The report on exposed members: how many, and how right a list of them is, however long it is made."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.frame import amount, chart, layer, rows, scaled
from macekit.reports.content import guarantees, limitations, provenance
from macekit.reports.content.plain_words import records, sure
from macekit.reports.formatting import rounded
from macekit.reports.palette import INK, MEMBER

HEAD = ("Listed members", "At most false", "Shown to be exposed", "Score of the last")

NULL: model.Inline = (
    "A member is exposed here whose score is not one that a nonmember would have. Nonmembers of another kind or "
    "date, or that took part in training the model or the score, make lists wrong.",
)
ALL_ALIKE: model.Inline = (
    "A longer list may be right as well: what is stated is the most that may be false, whatever the others are.",
)
NAMES: model.Inline = ("The list names records. Handle it as you handle the records themselves.",)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """How many are exposed, then lists of every length."""
    table = _table(answer)
    sections = (
        model.Section("lists", "Lists of every length", (*figures.pick("lists"), table), (table,)),
        guarantees.backings([("The numbers cover ", answer)]),
        limitations.section((NULL, ALL_ALIKE, NAMES), answer["warnings"]),
        provenance.section("exposed", answer["provenance"], context),
    )
    headline = model.Headline(None, answer["sentence"].quote())
    return model.Report("Which members are exposed", headline, model.Facts(tuple(_facts(answer))), sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    yield model.Fact("Exposed, at least", answer["at_least"].number("count"), sure(answer))
    yield model.Fact(
        "Listed",
        answer["n_listed"].number("count"),
        ("of them at most ", answer["most_false"].number("count"), " false"),
    )
    yield from records(answer)


def _table(answer: model.AnswerPath) -> model.Table:
    every = list(answer["lists"])
    lines = tuple(
        (*each.numbers("records", "most_false", "exposed", kind="count"), each["score"].number())
        for each in every[::10]
    )
    return model.Table("Some of all lists", HEAD, lines, more=len(every) - len(lines), where="lists")


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The share that may be false against the length of the list."""
    data = [
        {"records": each.value["records"], "share": rounded(each.value["most_false"] / each.value["records"])}
        for each in answer["lists"]
    ]
    x = scaled("records", "listed members", tickCount=6)
    x["scale"] = {"type": "log", "nice": False}
    y = scaled("share", "share that may be false, at most", (0.0, 1.02), tickCount=6)
    at = {"x": x, "y": y}
    most = [{"at": answer["max_false_share"].value}]
    limit = layer("rule", {"y": amount("at")}, most, color=INK, strokeDash=[4, 4])
    line = layer("line", at, interpolate="step-after", color=MEMBER)
    text = (
        f"{len(answer['listed']):,} of {answer['n_members'].value:,} members are listed; at least "
        f"{answer['at_least'].value:,} are exposed. Dashed: the largest false share that was asked for."
    )
    spec = chart(limit, line, data=rows(data), height=240)
    return (model.Figure("lists", "How right a list is, however long", text, spec, _table(answer)),)
