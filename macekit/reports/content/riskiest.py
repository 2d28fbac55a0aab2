"""What reports on a release and on a model share: limits, every query, exposed members, and the sides themselves."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import columns as forest_of_columns
from macekit.reports.charts.forest import groups as forest_of_groups
from macekit.reports.charts.forest import ranking
from macekit.reports.content import groups, limitations
from macekit.reports.content.guarantees import backings
from macekit.reports.content.plain_words import rare_exposure, sure, without_leak
from macekit.reports.palette import WORDS
from macekit.text import printable

RANKS = ("Query", "Advantage", "Lower end", "Upper end", "Best rank", "Worst rank")
LIMITS = ("Limit", "At most", "Decision", "Query", "Seen", "Lower end", "Upper end")
QUERIES = ("Query", "A high score says", "From")
TAILS = ("Query", "Members", "Nonmembers", "Members, at least", "Nonmembers, at most", "Probable, at least")
COLUMNS = ("Column", "Kind", "Advantage", "Lower end", "Upper end", "They differ")
MOST = 40  # columns that are listed

LABELS = {
    "advantage": "The riskiest query's advantage",
    "group_advantage": "The riskiest query's advantage within a group",
    "tpr": "Members found",
    "exposed": "Members exposed",
    "copies": "Copied rows",
    "near_copies": "Rows with a near copy",
}

TOGETHER = (
    "The intervals of this table hold for all its rows at once. The largest advantage and a limit are one number each: "
    "their ends hold alone, and may be narrower."
)
BAND = (
    "The two ends of a row hold for all rows at once. By itself at most is the upper end of that row alone, "
    "which decides whether it keeps the limit once all rows above it do."
)
"""Why one row has two upper ends."""
STEPS = ("Advantage", "Lower end", "Upper end", "By itself at most", "Decision", "Query")

OTHERS: model.Inline = (
    "Only these queries were asked. Another one may find more, and so may all of them together: an attacker who reads "
    "several scores of a row is not covered.",
)


def headline(answer: model.AnswerPath) -> model.Headline:
    """The decision, its sentence, and that members are exposed, whatever was decided."""
    return model.headline(answer, answer, *rare_exposure(answer["exposures"][0]))


def facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    """The riskiest query's interval, and what it is without a leak."""
    largest, prior = answer["maximum"], answer["provenance"]["options"]["prior"]
    confidence, first = sure(largest), answer["ranking"][0]["name"].untrusted()
    yield model.Fact("Riskiest query, at least", largest["lower"].number(), confidence)
    yield model.Fact("Riskiest query, at most", largest["upper"].number(), (*confidence, "; first comes ", first))
    yield without_leak(answer["baseline"], prior)


def limits(answer: model.AnswerPath) -> Iterator[model.Section]:
    """Each limit with its decision, if there are any."""
    every = answer["limits"]
    if every:
        table = model.Table("Every limit", LIMITS, tuple(map(limit_row, every)))
        reasons = tuple((*_label(limit), ": ", limit["reason"].quote(), ".") for limit in every)
        yield model.Section("limits", "Limits", (table, model.Bullets(reasons)), (table,))


def _label(limit: model.AnswerPath) -> model.Inline:
    return (LABELS.get(limit["name"].value, "Limit"),)


def limit_row(limit: model.AnswerPath) -> tuple[model.Cell, ...]:
    """A limit as a row of the table of them."""
    kind: model.Kind = "count" if limit["name"].value in ("copies", "near_copies") else "share"
    return (
        *_label(limit),
        limit["maximum"].number("exact" if kind == "share" else kind),
        WORDS[limit["decision"].value].word,
        limit["query"].untrusted(),
        *limit.numbers("estimate", "lower", "upper", kind=kind),
    )


def every_query(answer: model.AnswerPath, figures: model.Figures) -> model.Section:
    """What each query gives away, and whom it exposes."""
    ranks = model.Table("Every query", RANKS, tuple(map(model.ranking_row, answer["ranking"])), TOGETHER)
    words = model.Table(
        "What the queries ask",
        QUERIES,
        tuple((each["name"].untrusted(), each["says"].quote(), each["paper"].quote()) for each in answer["queries"]),
    )
    tails = tuple(_tail(each) for each in answer["exposures"] if each["tail"])
    blocks: list[model.Block] = [*figures.pick("ranking"), ranks]
    if tails:
        blocks.append(model.Table("Members whom scores expose", TAILS, tails))
    else:
        blocks.append(model.Paragraph((answer["exposures"][0]["sentence"].quote(),)))
    return model.Section("ranking", "Every query", (*blocks, words), (ranks,))


def step_row(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    """What each of several things gives away, held against a limit in their order."""
    decision = step["decision"].value
    return (
        *step.interval(),
        step["decisive_upper"].number(),
        "" if decision is None else WORDS[decision].word,
        step["query"].untrusted(),
    )


def _tail(exposure: model.AnswerPath) -> tuple[model.Cell, ...]:
    tail = exposure["tail"]
    return (
        exposure["query"].untrusted(),
        *tail.numbers("members", "nonmembers", kind="count"),
        *tail.numbers("tpr_lower", "fpr_upper", "precision_lower"),
    )


def not_asked(reasons: model.AnswerPath) -> Iterator[model.Inline]:
    """A line for each reason, with all queries that were not asked for it."""
    names: dict[str, list[str]] = {}
    for name, why in (reasons.value or {}).items():
        names.setdefault(why, []).append(name)
    for several in names.values():
        yield f"not asked: {printable(', '.join(several), 200)}: ", reasons[several[0]].untrusted()


def by_group(answer: model.AnswerPath, figures: model.Figures) -> tuple[model.Section, ...]:
    """The groups, if there are any."""
    prior = answer["provenance"]["options"]["prior"]
    return groups.sections(answer["groups"], figures, prior, answer["baseline"])


def sides(split: model.AnswerPath, figures: model.Figures) -> Iterator[model.Section]:
    """Whether the sides differ anyway, if that was asked."""
    if split:
        words = model.Paragraph((split["sentence"].quote(),))
        blocks: tuple[model.Block, ...] = (words, *figures.pick("columns"), columns(split))
        yield model.Section("split", "Whether the hold-out is fair", blocks, ())


def control(control: model.AnswerPath) -> Iterator[model.Section]:
    """How much of the sides' difference reaches a score whose model saw neither, if there is one."""
    if control.value is not None:
        row: tuple[model.Cell, ...] = ("The control score", *control.interval())
        table = model.Table("A model that saw neither side", ("Score", "Advantage", "Lower end", "Upper end"), (row,))
        yield model.Section(
            "control", "What reaches a score", (model.Paragraph((control["sentence"].quote(),)), table), (table,)
        )


def strength(strength: model.AnswerPath) -> Iterator[model.Section]:
    """What the queries see of records that are known to be in training, if that was measured."""
    if strength.value is not None:
        rows = [("By the queries asked", strength["advantage"])]
        if strength["beside"]:
            rows.append(("Beside the model without them", strength["beside"]))
        table = model.Table(
            "A leak that is known to be there",
            ("Seen", "Advantage", "Lower end", "Upper end"),
            tuple((words, *row.interval()) for words, row in rows),
            "One who sees the training rows is right about every record.",
        )
        words = model.Paragraph((strength["sentence"].quote(),))
        yield model.Section("strength", "How strong the queries are", (words, table), (table,))


def columns(split: model.AnswerPath) -> model.Table:
    """Each column by itself, those that differ most first."""
    return model.table_of("Every column by itself", COLUMNS, split["columns"], _column, most=MOST)


def _column(column: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        column["name"].untrusted(),
        column["kind"].untrusted(),
        *column.interval(),
        "yes" if column["differs"].value else "not shown",
    )


def guarantees(answer: model.AnswerPath, *further: tuple[model.Cell, model.AnswerPath]) -> model.Section:
    """What stands behind each interval."""
    statements: list[tuple[model.Cell, model.AnswerPath]] = [
        ("The largest covers ", answer["maximum"]),
        ("A query's advantage covers ", answer["ranking"][0]["advantage"]),
        ("An exposed member's limits cover ", answer["exposures"][0]),
        *further,
    ]
    if answer["split"]:
        statements.append(("What tells the sides apart covers ", answer["split"]["advantage"]))
    return backings(statements)


def open_questions(answer: model.AnswerPath, *further: model.Inline) -> Iterator[model.Inline]:
    """What a pass does not say, and which attackers were not looked at."""
    if answer["decision"].value == "pass":
        yield ("A pass says that no upper end is above its limit. It does not say that nothing leaks.",)
    yield OTHERS
    yield from further
    yield from limitations.of_groups(answer["groups"])
    scope = () if answer["copies"] else limitations.SCOPE
    yield from limitations.of_sample(answer["provenance"]["options"]["prior"], scope=scope)


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """What each query gives away, the groups, and what tells the sides apart."""
    within, split = answer["groups"], answer["split"]
    return (
        ranking(answer),
        forest_of_groups(within, answer["baseline"].value) if len(within) else None,
        forest_of_columns(split) if split else None,
    )
