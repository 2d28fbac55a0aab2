"""The report on candidates: what each gives away beside how useful it is, and which may go out."""

from collections.abc import Iterator

from macekit.questions.compare.page import origin
from macekit.reports import model
from macekit.reports.charts.forest import MOST
from macekit.reports.charts.frame import Spec, across, chart, padded, rows, scaled
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.plain_words import without_leak, worth
from macekit.reports.formatting import finite, many, rounded, short_label, three
from macekit.reports.palette import INK, MEMBER, MUTED, THRESHOLD, WORDS

HEAD = (
    "Candidate",
    "Utility",
    "Advantage",
    "Lower end",
    "Upper end",
    "Judged by at most",
    "Decision",
    "Query",
)

BAND = (
    "The two ends of a row hold for all rows at once. Judged by at most is the upper end that is held against the "
    "limit."
)
DECLARED: model.Inline = (
    "The candidates, and their order where they have one, have to be fixed before the records are seen. What is "
    "certified is that none of those that pass is above the limit; each one's own interval is wider.",
)
UTILITY: model.Inline = ("Utilities are taken as they were given. Measure them on other records than these.",)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Which may go out, then every candidate."""
    sources, entries = answer["provenance"], answer["steps"]
    table = model.table_of("Every candidate", HEAD, entries, _row, BAND)
    of_sample = limitations.of_sample(sources[0]["options"]["prior"], entries[0]["clusters"])
    sections = (
        model.Section("candidates", "Every candidate", (*figures.pick("candidates"), table), (table,)),
        guarantees.backings([("The interval of a candidate covers ", entries[0])]),
        limitations.section((DECLARED, UTILITY, riskiest.OTHERS, *of_sample), answer["warnings"]),
        origin(provenance.section("frontier", sources[0], context, sources=sources), sources),
    )
    facts = model.Facts(tuple(_facts(answer)))
    return model.Report("The best that may go out", model.headline(answer, answer), facts, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    best, limit = answer["best"], answer["max_advantage"].number("exact")
    yield model.Fact("May go out", "none" if best.value is None else best.untrusted(), ("the most useful",))
    number = answer["n_candidates"].number("count")
    words: model.Inline = ("of ", number, " keep the advantage at or below ", limit)
    yield model.Fact("Candidates that pass", answer["n_pass"].number("count"), words)
    yield without_leak(answer["baseline"], answer["provenance"][0]["options"]["prior"])
    yield from worth(answer["steps"][0]["clusters"])


def _row(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        step["name"].untrusted(),
        step["utility"].number("exact"),
        *step.interval(),
        step["decisive_upper"].number(),
        WORDS[step["decision"].value].word,
        step["query"].untrusted(),
    )


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The interval of each candidate over its utility; the limit is drawn through."""
    entries, most = list(answer["steps"]), float(answer["max_advantage"].value)
    data = [
        {
            "utility": rounded(step.value["utility"]),
            "lower": rounded(step.value["lower"]),
            "upper": rounded(step.value["upper"]),
            "judged": rounded(step.value["decisive_upper"]),
            "name": short_label(step.value["name"], 14),
            "may": step.value["decision"] == "pass",
        }
        for step in entries[:MOST]
    ]
    utilities = [row["utility"] for row in data]
    heights = finite([*(row[end] for row in data for end in ("lower", "upper")), most])
    x = scaled("utility", "utility", padded(min(utilities), max(utilities), 0.12), tickCount=6)
    y = scaled(
        "lower", "advantage (drawn through: the limit)", padded(min(heights), max(heights)), tickCount=6
    )
    colour: Spec = {"condition": {"test": "datum.may", "value": MEMBER}, "value": MUTED}
    layers: list[Spec] = [
        across("y", rounded(most), THRESHOLD),
        {
            "mark": {"type": "rule", "strokeWidth": 3},
            "encoding": {"x": x, "y": y, "y2": {"field": "upper"}, "color": colour},
        },
        {
            "mark": {
                "type": "tick",
                "orient": "horizontal",
                "thickness": 2.5,
                "size": 16,
                "color": INK,
                "opacity": 1,
            },
            "encoding": {"x": x, "y": {"field": "judged", "type": "quantitative"}},
        },
        {
            "mark": {"type": "text", "dy": -10, "baseline": "bottom", "fontSize": 12},
            "encoding": {
                "x": x,
                "y": {"field": "upper", "type": "quantitative"},
                "text": {"field": "name"},
                "color": colour,
            },
        },
    ]
    best = answer["best"].value
    may = "no candidate may go out" if best is None else f"{short_label(best, 40)} may go out"
    text = (
        f"Of {many(len(entries), 'candidate')}, {may}: the limit is {three(most)}. A line is a candidate's "
        "interval, its tick the upper end by which it is judged."
    )
    cells: tuple[tuple[model.Cell, ...], ...] = tuple(
        (step["name"].untrusted(), step["utility"].number("exact"), *step.numbers("lower", "upper"))
        for step in entries[:MOST]
    )
    table = model.Table("The candidates", ("candidate", "utility", "lower", "upper"), cells)
    spec = chart(*layers, data=rows(data), height=260)
    return (model.Figure("candidates", "What each gives away beside how useful it is", text, spec, table),)
