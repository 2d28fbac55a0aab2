"""Reports of this wing: a series step by step, candidates beside how useful they are, and a training procedure."""

from collections.abc import Iterable, Iterator

from macekit.questions.compare.page import origin
from macekit.reports import model
from macekit.reports.charts.forest import MOST, steps, trainings
from macekit.reports.charts.frame import Spec, across, amount, chart, layer, padded, rows, scaled
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import records, sure, without_leak, worth
from macekit.reports.formatting import finite, many, rounded, short_label, three
from macekit.reports.palette import INK, MEMBER, MUTED, THRESHOLD, WORDS

MODELS = ("Model", "Advantage", "Lower end", "Upper end", "Members", "Nonmembers")
CANDIDATES = ("Candidate", "Utility", "Advantage", "Lower end", "Upper end", "Judged by at most", "Decision", "Query")
OF_CANDIDATES = (
    "The two ends of a row hold for all rows at once. Judged by at most is the upper end that is held against the "
    "limit."
)
DECLARED: model.Inline = (
    "The candidates, and their order where they have one, have to be fixed before the records are seen. What is "
    "certified is that none of those that pass is above the limit; each one's own interval is wider.",
)
UTILITY: model.Inline = ("Utilities are taken as they were given. Measure them on other records than these.",)
IN_ORDER: model.Inline = (
    "The steps and their order have to be fixed before the records are seen. Later steps may give away less than "
    "earlier ones; how far the limit is kept ends before the first that is not shown to keep it.",
)
TRAININGS: tuple[model.Inline, ...] = (
    (
        "The mean, and the next model, are of trainings that vary as these did. A kind of training that is rare, and "
        "gives away much more, shows only if it is among them.",
    ),
    (
        "Models are taken to be trained independently, each with records of its own: new data, a new split and a new "
        "seed. If they share records, the limits are about models trained on such records.",
    ),
)


def _in_turn(
    operation: str,
    title: str,
    what: str,
    table: model.Table,
    answer: model.AnswerPath,
    figures: model.Figures,
    context: model.Context,
    facts: Iterable[model.Fact],
    open_questions: Iterable[model.Inline],
) -> model.Report:
    """Every one of the answer's ``steps``, which are called ``what``, each with an input of its own."""
    sources, entries = answer["provenance"], answer["steps"]
    prior, clusters = sources[0]["options"]["prior"], entries[0]["clusters"]
    name = f"{what}s"
    sections = (
        model.Section(name, table.caption, (*figures.pick(name), table), (table,)),
        guarantees.backings([(f"The interval of a {what} covers ", entries[0])]),
        limitations.section(
            (*open_questions, riskiest.OTHERS, *limitations.of_sample(prior, clusters)), answer["warnings"]
        ),
        origin(provenance.section(operation, sources[0], context, sources=sources), sources),
    )
    tiles = model.Facts((*facts, without_leak(answer["baseline"], prior), *worth(clusters)))
    return model.Report(title, model.headline(answer, answer), tiles, sections)


def series(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """How far the limit is kept, then every step."""
    table = model.table_of("Every step", ("Step", *riskiest.STEPS), answer["steps"], _step, riskiest.BAND)
    facts, title = _steps_up_to(answer), "The advantage along a series"
    return _in_turn("series", title, "step", table, answer, figures, context, facts, (IN_ORDER,))


def _steps_up_to(answer: model.AnswerPath) -> Iterator[model.Fact]:
    last, failed = answer["last_passed"], answer["first_failed"]
    if answer["decision"].value is not None:
        limit: model.Inline = ("keep the advantage at or below ", answer["max_advantage"].number("exact"))
        yield model.Fact("All steps up to", "none" if last.value is None else last.untrusted(), limit)
        yield model.Fact("First shown to exceed it", "none" if failed.value is None else failed.untrusted(), ())


def _step(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return step["name"].untrusted(), *riskiest.step_row(step)


def frontier(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Which may go out, then every candidate."""
    table = model.table_of("Every candidate", CANDIDATES, answer["steps"], _candidate, OF_CANDIDATES)
    facts, title = _may_go_out(answer), "The best that may go out"
    left_open = (DECLARED, UTILITY)
    return _in_turn("frontier", title, "candidate", table, answer, figures, context, facts, left_open)


def _may_go_out(answer: model.AnswerPath) -> Iterator[model.Fact]:
    best, limit = answer["best"], answer["max_advantage"].number("exact")
    yield model.Fact("May go out", "none" if best.value is None else best.untrusted(), ("the most useful",))
    number = answer["n_candidates"].number("count")
    words: model.Inline = ("of ", number, " keep the advantage at or below ", limit)
    yield model.Fact("Candidates that pass", answer["n_pass"].number("count"), words)


def _candidate(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        step["name"].untrusted(),
        step["utility"].number("exact"),
        *step.interval(),
        step["decisive_upper"].number(),
        WORDS[step["decision"].value].word,
        step["query"].untrusted(),
    )


def candidates(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
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
    y = scaled("lower", "advantage (drawn through: the limit)", padded(min(heights), max(heights)), tickCount=6)
    colour: Spec = {"condition": {"test": "datum.may", "value": MEMBER}, "value": MUTED}
    tick: Spec = {"orient": "horizontal", "thickness": 2.5, "size": 16, "color": INK, "opacity": 1}
    name = {"x": x, "y": amount("upper"), "text": {"field": "name"}, "color": colour}
    layers: list[Spec] = [
        across("y", rounded(most), THRESHOLD),
        layer("rule", {"x": x, "y": y, "y2": {"field": "upper"}, "color": colour}, strokeWidth=3),
        layer("tick", {"x": x, "y": amount("judged")}, **tick),
        layer("text", name, dy=-10, baseline="bottom", fontSize=12),
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


def procedure(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The procedure, its next model, then every model."""
    source, mean, coming = answer["provenance"], answer["advantage"], answer["next_model"]
    confidence = mean["confidence"]
    tiles = (
        model.Fact("Advantage on average at least", mean["lower"].number(), sure(mean)),
        model.Fact("On average at most", mean["upper"].number(), sure(mean)),
        model.Fact("The next model at most", coming["upper"].number(), ("and at least ", coming["lower"].number())),
        model.Fact(
            "More records cannot remove",
            answer["records_cannot"]["estimate"].number("percent"),
            ("of the variance: models differ",),
        ),
        *_settles(answer["verdict"]),
        without_leak(answer["baseline"], source["options"]["prior"]),
        *records(source),
    )
    numbers = Numbers()
    numbers.interval("Mean advantage over trainings", mean, confidence)
    numbers.interval("The same, however trainings vary", answer["any_variation"], confidence)
    numbers.interval("Advantage of the next model", coming, confidence)
    numbers.interval("Standard deviation between trainings", answer["spread"], confidence)
    numbers.interval("Share of the variance between trainings", answer["records_cannot"], confidence)
    numbers.derived("Baseline: the advantage without any leak", answer["baseline"])
    note = "Each interval is about this model alone, and holds by itself."
    table = model.table_of("Every model", MODELS, answer["models"], _model, note)
    prior = source["options"]["prior"]
    of_trainings = limitations.of_sample(prior, scope=limitations.OF_PROCEDURE)
    sections = (
        *_verdict(answer["verdict"]),
        numbers.section("The procedure"),
        model.Section("models", "Every model", (*figures.pick("models"), table), (table,)),
        limitations.section((*TRAININGS, *of_trainings), answer["warnings"]),
        provenance.section("procedure", source, context),
    )
    first = model.headline(answer, answer["verdict"])
    return model.Report("A training procedure", first, model.Facts(tiles), sections)


def _verdict(verdict: model.AnswerPath) -> Iterator[model.Section]:
    """Why it was decided so, and what would settle it."""
    if verdict:
        yield model.Section("verdict", "The verdict", (model.Bullets(((verdict["reason"].quote(), "."),)),))


def _settles(verdict: model.AnswerPath) -> Iterator[model.Fact]:
    """What an open verdict takes."""
    if verdict["decision"].value == "inconclusive":
        records: model.Inline = ("in all",)
        if verdict["records_needed"]:
            records = ("in all, or ", verdict["records_needed"].number("count"), " records of these models")
        yield model.Fact("Models that would settle it", verdict["models_needed"].number("count"), records)


def _model(entry: model.AnswerPath) -> tuple[model.Cell, ...]:
    sides = entry.numbers("members", "nonmembers", kind="count")
    return entry["name"].untrusted(), *entry.interval(), *sides


PAGES = {
    "series": model.Page(series, lambda answer: (steps(answer),)),
    "frontier": model.Page(frontier, candidates),
    "procedure": model.Page(procedure, lambda answer: (trainings(answer),)),
}
"""By the key of the operation."""
