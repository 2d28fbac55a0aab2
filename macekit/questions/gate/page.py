"""The report of a gate: every limit, and what the records say about it."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.gate import gate
from macekit.reports.content import groups, limitations, provenance
from macekit.reports.content.guarantees import Backing
from macekit.reports.content.plain_words import rare_exposure, records, without_leak, worth
from macekit.reports.palette import WORDS

MECHANISM: model.Inline = (
    "The mechanism that trained the model is not covered. Every limit, also one on epsilon, is about the score of "
    "this one model; keeping it does not show that a promise about the training is kept. What the records say the "
    "epsilon of the mechanism must be at least is another statement, which rests on how members were drawn: an audit "
    "makes it, and the two numbers may differ.",
)
EACH_ONCE: model.Inline = (
    "Each record has to be given once only, in one batch, and how many come in a batch must not depend on the scores "
    "in it. A few members whom almost no nonmember reaches are not looked for; a gate on all records at once does.",
)
HEAD = ("Limit", "At most", "Decision", "Estimate", "Lower end", "Upper end", "Confidence")


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The decision over all limits, then each of them."""
    source, limits = answer["provenance"], answer["limits"]
    names = {limit["name"].value for limit in limits}
    by_own = "group_advantage" in names
    grouped = by_own or "group_risk" in names
    sections = (
        every_limit(limits, figures.pick("gate")),
        *groups.every_group(answer["groups"], by_own=by_own),
        model.Section(
            "guarantees", "What stands behind the intervals", (model.Bullets(tuple(_backings(limits))),)
        ),
        limitations.section(_open(answer), answer["warnings"]),
        provenance.section("gate", source, context, grouped=grouped),
    )
    headline = model.Headline(
        answer["decision"].value,
        answer["sentence"].quote(),
        *rare_exposure(answer["exposure"]),
        answer["covers"].quotes(),
    )
    return model.Report("Membership leakage gate", headline, model.Facts(tuple(_facts(answer))), sections)


def every_limit(limits: model.AnswerPath, charts: tuple[model.Block, ...] = ()) -> model.Section:
    """Each limit with its decision, and why."""
    table = model.Table("Every limit", HEAD, tuple(map(_row, limits)))
    reasons = tuple((limit["about"].untrusted(), ": ", limit["reason"].quote(), ".") for limit in limits)
    return model.Section("limits", "Limits", (*charts, table, model.Bullets(reasons)), (table,))


def _facts(answer: model.AnswerPath) -> Iterator[model.Fact]:
    for limit in list(answer["limits"])[:4]:
        at: model.Inline = ("at most ", limit["maximum"].number("exact"), " is acceptable")
        end = limit["lower"] if limit["decision"].value == "fail" or not limit["upper"] else limit["upper"]
        word = "at least" if end.path.endswith("lower") else "at most"
        yield model.Fact(f"{_label(limit)}, {word}", end.number(), at)
        if limit["name"].value == "advantage":
            yield without_leak(answer["baseline"], answer["provenance"]["options"]["prior"])
    if answer["records_needed"]:
        yield model.Fact(
            "Records needed",
            answer["records_needed"].number("roughly"),
            ("in all, approximately, to decide",),
        )
    if answer["anytime"]:
        yield model.Fact(
            "Looks so far", answer["anytime"]["looks"].number("count"), ("the ends hold at all of them",)
        )
    yield from records(answer["anytime"] or answer["provenance"])
    yield from worth(answer["clusters"])


def _label(limit: model.AnswerPath) -> str:
    labels = {
        "advantage": "Advantage",
        "tpr": "Members found",
        "epsilon": "Epsilon of this score",
        "metric": "Metric",
        "group_advantage": "Advantage within a group",
        "group_risk": "Mean risk of a group",
    }
    return labels.get(limit["name"].value, "Limit")


def _row(limit: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        limit["about"].untrusted(),
        limit["maximum"].number("exact"),
        WORDS[limit["decision"].value].word,
        limit["estimate"].number(),
        limit["lower"].number(),
        limit["upper"].number(),
        limit["confidence"].number("percent"),
    )


def _above(limits: model.AnswerPath, warnings: model.AnswerPath) -> Iterator[model.Inline]:
    """The adversaries that no upper end covers."""
    if any(map(_is_of_a_class, limits)):
        yield (
            "Upper ends are for the attackers named with each limit: those who read the score (of vectors, a learned "
            "score) at a resolution, or change their guess a few times along it. An attacker who finds finer patterns "
            "may do better, and no number of records limits by how much.",
        )
    contradicted = any(each["code"].value == "class_rejected" for each in warnings)
    for limit in limits:
        if not _is_of_a_class(limit):
            assumes = limit["guarantee"]["assumes"].quote()
            yield (
                "The upper end of ",
                limit["about"].untrusted(),
                " holds only as far as its assumption does: ",
                assumes,
                ".",
            )
            if contradicted:
                yield limitations.CONTRADICTED


def _is_of_a_class(limit: model.AnswerPath) -> bool:
    """Whether its upper end is that of named attackers, and not of an assumed form of the best one."""
    covers = limit["guarantee"]["covers"].value
    return "resolution" in covers or "attackers who" in covers


def _backings(limits: model.AnswerPath) -> Iterator[model.Inline]:
    for limit in limits:
        backing = Backing.of(limit["guarantee"])
        yield (
            limit["about"].untrusted(),
            " covers ",
            backing.covers,
            "; it assumes: ",
            backing.assumes,
            f".{backing.caveat}",
        )


def _open(answer: model.AnswerPath) -> Iterator[model.Inline]:
    if answer["decision"].value == "pass":
        yield ("A pass says that no upper end is above its limit. It does not say that nothing leaks.",)
    yield from _above(answer["limits"], answer["warnings"])
    if answer["anytime"]:
        yield EACH_ONCE
    yield from limitations.of_exposure(answer["exposure"])
    yield MECHANISM
    yield from limitations.of_sample(answer["provenance"]["options"]["prior"], answer["clusters"])


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """Each limit with its interval."""
    return (gate(answer["limits"]),)
