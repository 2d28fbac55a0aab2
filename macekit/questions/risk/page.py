"""The report of an individual-risk answer: risk over the score, the most exposed records, the groups."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from macekit.reports import model
from macekit.reports.charts.forest import groups as forest_of_groups
from macekit.reports.charts.risk import risk as risk_chart
from macekit.reports.content import groups, limitations, provenance
from macekit.reports.content.plain_words import at_prior, records, worth

ENDS = ("signed_risk", "simultaneous_lower", "simultaneous_upper", "lower", "upper")

HEAD = ("Record", "Risk", "Lower end", "Upper end", "Signed risk", "Chance of being a member", "Flagged")

BRIEF = (0, 1, 2, 3, 6)  # columns of that for one screen
PUBLISHED = "As published"  # the first of the columns that state what the paper does

COLUMNS = (
    ("metric", "metric_lower", "metric_upper"),
    ("paper_signed_risk", "paper_lower", "paper_upper"),
    ("paper_metric", "paper_metric_lower", "paper_metric_upper"),
)
"""What is stated if it was asked for: a number and its two ends."""


def section(risk: model.AnswerPath, figures: model.Figures, *before: model.Block) -> model.Section:
    """Risk over the score: in words, and drawn."""
    return model.Section("risk", "Individual risk over the score", (*before, *_meaning(risk), *figures.pick("risk")))


def _meaning(risk: model.AnswerPath) -> tuple[model.Paragraph, model.Bullets]:
    """What a risk is, and what its limits cover."""
    meaning = (
        "A record's risk says how surely an adversary who sees its score can tell whether it is a member: zero is "
        "not at all, one is for certain. Its sign says which way: above zero, a member. Records in the same cell (a "
        "group of similar scores) share one risk."
    )
    covers = (
        ("For one record named in advance, the interval covers ", risk["guarantee"]["covers"].quote(), "."),
        ("For all records together, the wider interval covers ", risk["simultaneous_guarantee"]["covers"].quote(), "."),
        (
            "A flag is a statement about a cell. On average over many such samples, at most ",
            risk["flags"]["rate"].number("percent"),
            " of the flagged ",
            risk["flags"]["over"].untrusted(),
            " are flagged without cause; in one sample it may be more, and records of one cell may differ. A flag "
            "makes no record a member",
            *_of_them_members(risk["flags"]),
            ".",
        ),
    )
    mean: model.Inline = (risk["mean"]["sentence"].quote(),)
    return model.Paragraph((meaning,)), model.Bullets((*covers, mean, *_below(risk["baseline"])))


def _of_them_members(flags: model.AnswerPath) -> model.Inline:
    """How many of the flagged are members at the prior, if any are flagged."""
    share = flags["member_share"]
    return (": at this prior an estimated share of ", share.number(), " of the flagged are") if share else ()


def _below(baseline: model.AnswerPath) -> tuple[model.Inline, ...]:
    """What a risk below the baseline is not, at a prior that has one."""
    if not baseline.value:
        return ()
    return (
        (
            "At this prior every risk is ",
            baseline.number(),
            " without any leak, and a risk may lie below it, where the score contradicts the likelier side. That is "
            "not a smaller leak.",
        ),
    )


def most_exposed(records: model.AnswerPath, top: int | None = None) -> model.Table:
    """The records that are most surely seen to be members; those of the same cell in the order they came.

    All that were asked for with ``top`` are listed, in the order in which they were answered.
    """
    order = _surest(records)[: model.TOP_RECORDS] if top is None else np.arange(min(top, len(records["index"])))
    rows = tuple(_row(records, int(at)) for at in order)
    head: tuple[str, ...] = HEAD
    head += ("Metric", "From", "To") if records["metric"] else ()
    head += (PUBLISHED, "From", "To") if records["paper_signed_risk"] else ()
    head += ("Metric as published", "From", "To") if records["paper_metric"] else ()
    note = (
        "The strongest evidence first, by the interval that holds for all records together. A record's number is its "
        "place in the input, counted from zero."
    )
    more = len(records["index"]) - len(rows)
    return model.Table("Records with the strongest evidence of membership", head, rows, note, more, records.path)


def _for_one_screen(exposed: model.Table) -> Iterator[model.Table]:
    """The table as narrow as a screen: what the paper states of the records is a table of its own."""
    width = len(exposed.head)
    published = exposed.head.index(PUBLISHED) if PUBLISHED in exposed.head else width
    yield exposed.only(*BRIEF, *range(len(HEAD), published))
    if published < width:
        yield replace(exposed.only(0, *range(published, width)), caption="The same records as published")


def _first(lists: tuple[model.Bullets, ...]) -> tuple[model.Bullets, ...]:
    """Of each list the first item, where there is little room."""
    return tuple(model.Bullets(each.items[:1]) for each in lists)


def metric_rule(rule: model.AnswerPath) -> tuple[model.Bullets, ...]:
    """Under which rule the metric of a record is stated, what its interval covers, and why it may have no value."""
    if not rule:
        return ()
    if rule["threshold"]:
        way = "above" if rule["direction"].value == "above" else "below"
        where: model.Inline = (f" where the chance of being a member is {way} ", rule["threshold"].number(), ".")
    else:
        where = (" everywhere." if rule["direction"].value == "above" else " nowhere.",)
    items: list[model.Inline] = [
        ("The metric of a record is its ", rule["name"].untrusted(), ", if member is guessed", *where),
        ("Its interval covers ", rule["guarantee"]["covers"].quote(), "."),
    ]
    if rule["guarantee"]["finite_sample"].value is False:
        items.append(("That interval is not proven at every sample size: its threshold is estimated.",))
    if why := rule["undefined"]:
        items.append(("Where the metric is a dash it has no value: ", why.quote(), "."))
    return (model.Bullets(tuple(items)),)


def _published(paper: model.AnswerPath) -> tuple[model.Bullets, ...]:
    """What the columns as published are, and what their intervals cover."""
    if not paper:
        return ()
    if paper["estimator"].value == "histogram":
        how: model.Inline = ("by the ", paper["cells"].number("exact"), " cells that have records")
    else:
        members, nonmembers = (each.number() for each in paper["bandwidth"])
        how = ("by kernel densities, of bandwidths ", members, " for members and ", nonmembers, " for nonmembers")
    items: list[model.Inline] = [
        ("As published: the signed risk of MACE's Theorem ", paper["theorem"].number("exact"), ", ", *how, "."),
        ("Its interval covers ", paper["covers"].quote(), ". It assumes: ", paper["assumes"].quote(), "."),
    ]
    if threshold := paper["metric_threshold"]:
        items.append(("The metric as published is for a threshold of ", threshold.number(), " on the posterior."))
    items += [(each["message"].quote(), ".") for each in paper["warnings"]]
    return (model.Bullets(tuple(items)),)


def _surest(records: model.AnswerPath) -> NDArray[np.int64]:
    """By the lower ends where a record looks like a member; where not, one is the surer the lower its upper ends."""
    column = {name: np.asarray(records[name].value, dtype=float) for name in ENDS}
    member = column["signed_risk"] > 0.0
    together = np.where(member, column["simultaneous_lower"], -column["simultaneous_upper"])
    alone = np.where(member, column["lower"], -column["upper"])
    unknown = np.isnan(column["signed_risk"])
    return np.lexsort((-column["signed_risk"], -alone, -together, unknown))


def _row(records: model.AnswerPath, at: int) -> tuple[model.Cell, ...]:
    return (
        records["index"][at].number("exact"),
        *(records[name][at].number() for name in ("risk", "lower", "upper", "signed_risk", "posterior")),
        "yes" if records["flagged"][at].value else "",
        *(records[name][at].number() for names in COLUMNS for name in names if records[names[0]]),
    )


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The flags first, then the risk over the score, the most exposed records, and the groups."""
    source, flags, grouped = answer["provenance"], answer["flags"], answer["groups"]
    prior, top = source["options"]["prior"], source["options"].value.get("top")
    tiles = (
        model.Fact(
            "Records flagged",
            flags["records"].number("count"),
            ("by their cells, membership is likelier than the threshold says",),
        ),
        model.Fact("Of them members, about", flags["member_share"].number(), ("an estimate", *at_prior(prior))),
        model.Fact(
            "Without any leak", answer["baseline"].number(), ("the risk of every record", *groups.either_way(prior))
        ),
        model.Fact(
            "Mean risk at most",
            answer["mean"]["upper"].number(),
            ("and at least ", answer["mean"]["lower"].number(), ": the best attacker's advantage"),
        ),
        *records(source),
        *worth(answer["mean"]["clusters"]),
    )
    exposed = most_exposed(answer["records"], top)
    rule = (*metric_rule(answer["metric_rule"]), *_published(answer["paper"]))
    sections = (
        section(answer, figures),
        model.Section("records", "Records", (exposed, *rule), (*_for_one_screen(exposed), *_first(rule))),
        *groups.sections(grouped, figures, prior, answer["baseline"]),
        limitations.section(
            chain(
                limitations.of_guarantee(answer["guarantee"]),
                limitations.of_sample(prior, answer["mean"]["clusters"]),
                limitations.of_groups(grouped),
            ),
            answer["warnings"],
        ),
        provenance.section("individual-risk", source, context, grouped=len(grouped) > 0),
    )
    return model.Report(
        "Individual risk", model.Headline(None, answer["sentence"].quote()), model.Facts(tiles), sections
    )


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The risk over the score, and the groups."""
    rows = answer["groups"]
    return risk_chart(answer), forest_of_groups(rows, answer.value["baseline"]) if len(rows) else None
