"""The report on how many rows may go out: each size with its interval, and the largest that keeps the limit."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import sizes
from macekit.reports.content import guarantees, limitations, provenance, riskiest
from macekit.reports.content.plain_words import without_leak

HEAD = ("Rows", *riskiest.STEPS, "Copied rows", "With a near copy")

IN_ORDER: model.Inline = (
    "The rows of a size are the first of one random order, which the answer states (rows). Other rows of the same "
    "table, as many of them, may give away more.",
)
ADVANTAGE_ALONE: model.Inline = (
    "The advantage alone is limited here: near copies and exposed members of the rows that go out are warned of, and "
    "audited by `mace synthetic`.",
)
COPIES_JUDGED: dict[str, str] = {
    "unasked": "Nobody limited copies. A size that would pass fails all the same if training rows are shown to be "
    "copied, at a tenth of the level, which comes on top of it, unless they are accepted.",
    "accepted": "Copies were accepted: they are no reason to fail here, however many there are.",
}


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The largest size, then all of them."""
    table = model.Table("Every size", HEAD, tuple(map(_row, answer["steps"])), riskiest.BAND)
    referenced = bool(answer["n_reference"].value)
    sections = (
        model.Section("sizes", "Every size", (*figures.pick("sizes"), table), (table,)),
        *_limits(answer),
        guarantees.backings([("The interval of a size covers ", answer["steps"][0])]),
        limitations.section(_open(answer), answer["warnings"]),
        provenance.section("release-size", answer["provenance"], context, grouped=referenced),
    )
    facts = model.Facts(tuple(_facts(answer)))
    return model.Report("How many rows may go out", model.headline(answer, answer), facts, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    if answer["decision"].value is not None:
        detail: model.Inline = ("keep every limit",)
        if not answer["steps"][0]["limits"]:
            detail = ("keep the advantage at or below ", answer["max_advantage"].number("exact"))
        yield model.Fact("Rows that may go out", answer["largest"].number("count"), detail)
    yield without_leak(answer["baseline"], answer["provenance"]["options"]["prior"])
    yield model.Fact(
        "Released rows",
        answer["n_synthetic"].number("count"),
        (
            answer["provenance"]["n_members"].number("count"),
            " training, ",
            answer["provenance"]["n_nonmembers"].number("count"),
            " hold-out, ",
            answer["n_reference"].number("count"),
            " reference rows",
        ),
    )


def _limits(answer: model.AnswerPath) -> Iterator[model.Section]:
    """What is limited beside the advantage, size by size, if anything is."""
    rows = tuple(
        (step["size"].number("count"), *riskiest.limit_row(each))
        for step in answer["steps"]
        if step["limits"]
        for each in step["limits"]
    )
    if rows:
        table = model.Table("Further limits, size by size", ("Rows", *riskiest.LIMITS), rows)
        yield model.Section("limits", "Further limits", (table,), (table,))


def _row(step: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        step["size"].number("count"),
        *riskiest.step_row(step),
        *step.numbers("copies", "near_copies", kind="count"),
    )


def _open(answer: model.AnswerPath) -> Iterator[model.Inline]:
    yield IN_ORDER
    if not answer["steps"][0]["limits"]:
        yield ADVANTAGE_ALONE
    if answer["copies_judged"].value in COPIES_JUDGED:
        yield (COPIES_JUDGED[answer["copies_judged"].value],)
    yield riskiest.OTHERS
    yield from limitations.of_sample(answer["provenance"]["options"]["prior"])


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The advantage against the number of released rows."""
    return (sizes(answer),)
