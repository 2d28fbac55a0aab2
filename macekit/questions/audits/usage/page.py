"""The report on how large a share of some records was trained on."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import Line, forest
from macekit.reports.charts.frame import threshold
from macekit.reports.content import guarantees, limitations, provenance
from macekit.reports.content.plain_words import sure
from macekit.reports.formatting import between, rounded, three

ALIKE: model.Inline = (
    "The interval takes for granted that members score alike, whether they are known or candidates: of the same "
    "kind and date, and seen as often. No data test that: where they were seen less often, the upper end is too low.",
)
DRIFT: model.Inline = (
    "Every lower end takes for granted that records which were not used score as the known nonmembers do. If the "
    "candidates are of another date or source, a difference that no training made counts as use.",
)


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The interval, and the end that takes less for granted."""
    sections = (
        model.Section("share", "How large a share", (*figures.pick("share"), *_weights(answer))),
        guarantees.backings([("The interval covers ", answer["share"])]),
        limitations.section((ALIKE, DRIFT, limitations.CONFIDENCE), answer["warnings"]),
        provenance.section("usage", answer["provenance"], context),
    )
    facts = model.Facts(tuple(_facts(answer)))
    return model.Report("How much of it was trained on", model.headline(answer, answer), facts, sections)


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    confidence = sure(answer["share"])
    if answer["is_mixture"].value:
        yield model.Fact("Trained on, at least", answer["share"]["lower"].number(), confidence)
        yield model.Fact("Trained on, at most", answer["share"]["upper"].number(), confidence)
    else:
        yield model.Fact("Trained on", "no mixture", ("of members and nonmembers: no interval holds",))
    yield model.Fact("However members score, at least", answer["lower_whatever"].number(), confidence)
    yield model.Fact("That none was used", answer["none_used"].number(), ("p-value",))
    if sum(each["role"].value == "score" for each in answer["provenance"]["columns"]) > 1:
        how = "a combination" if len(answer["weights"]) else "the sharpest"
        yield model.Fact("Score that was read", answer["score"].untrusted(), (how,))
    yield model.Fact(
        "Candidates",
        answer["n_candidates"].number("count"),
        (
            answer["n_members"].number("count"),
            " known members, ",
            answer["n_nonmembers"].number("count"),
            " known nonmembers",
        ),
    )


def _weights(answer: model.AnswerPath) -> Iterator[model.Table]:
    if len(answer["weights"]):
        note = "Ranks among all records, as the normal law has them; positive where high scores speak for use."
        rows = tuple((each["column"].untrusted(), each["weight"].number("plain")) for each in answer["weights"])
        yield model.Table("What each score counts in their combination", ("score", "weight"), rows, note)


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The interval, if there is one, and the end that holds however members score; the limit is drawn through."""
    share, least, most = answer["share"], answer["lower_whatever"], answer["max_share"].value
    lines = [Line("however they score", None, least.value, 1.0)]
    cells: list[tuple[model.Cell, ...]] = [("however members score", least.number(), "all of them")]
    text = f"However members score, the share is at least {three(least.value)}."
    if answer["is_mixture"].value:
        lines.insert(0, Line("as the known ones", None, share.value["lower"], share.value["upper"]))
        cells.insert(0, ("as the known ones", share["lower"].number(), share["upper"].number()))
        text = f"The share lies {between(share.value['lower'], share.value['upper'])}. {text}"
    title = "share trained on" + ("" if most is None else " (drawn through: the limit)")
    limits = [] if most is None else [threshold(rounded(most))]
    spec = forest(lines, title, limits, 0.0, 1.0, *([] if most is None else [most]))
    table = model.Table("The share", ("if members score", "lower", "upper"), tuple(cells))
    return (model.Figure("share", "How large a share was trained on", text, spec, table),)
