"""The section on groups: the mean risk of each, and what it gives away by itself."""

from __future__ import annotations

from macekit.reports.model import AnswerPath, Block, Cell, Figures, Inline, Paragraph, Section, Table

MOST = 200
"""Groups that are shown: the most surely exposed of them, if there are more."""

HEAD = (
    "Group",
    "Records",
    "Flagged",
    "Mean risk",
    "Lower end",
    "Upper end",
    "Own advantage",
    "Lower end",
    "Upper end",
)

ABOUT: Inline = (
    "Risk is the mean over a group's records, from limits that hold for all records at once. A group's own "
    "advantage is measured on its records alone, with limits that hold for all groups at once.",
)

COIN = 0.5
"""The prior at which no risk is less than that of a model that does not leak."""


def sections(
    groups: AnswerPath, figures: Figures, prior: AnswerPath, baseline: AnswerPath
) -> tuple[Section, ...]:
    """The groups, if there are any."""
    if not len(groups):
        return ()
    risks = table(groups)
    blocks: tuple[Block, ...] = (
        Paragraph((*ABOUT, *_blind(prior, baseline))),
        *figures.pick("groups"),
        risks,
    )
    return (Section("groups", "Groups", blocks, (risks.only(0, 3, 4, 5, 1, 2),)),)


def _blind(prior: AnswerPath, baseline: AnswerPath) -> Inline:
    """What both numbers are without any leak."""
    return (" Without any leak both are ", baseline.number(), *either_way(prior), ".")


def either_way(prior: AnswerPath) -> Inline:
    """What a risk below the baseline is not: a smaller leak."""
    if prior.value in (None, COIN):
        return ()
    return (
        "; at a prior of ",
        prior.number("exact"),
        " a risk may lie below it, which is not a smaller leak",
    )


def table(groups: AnswerPath) -> Table:
    """A row for each, in the answer's order."""
    first = list(groups)
    if len(first) > MOST:
        surest = sorted(first, key=lambda group: -group["lower"].value)[:MOST]
        paths = {group.path for group in surest}
        first = [group for group in first if group.path in paths]
    note = "Those with the highest lower ends are shown." if len(groups) > MOST else ""
    return Table("Risk by group", HEAD, tuple(map(_row, first)), note, len(groups) - len(first), groups.path)


def _row(group: AnswerPath) -> tuple[Cell, ...]:
    own = group["advantage"]
    return (
        group["label"].untrusted(),
        group["records"].number("count"),
        group["flagged"].number("count"),
        group["risk"].number(),
        group["lower"].number(),
        group["upper"].number(),
        own["estimate"].number(),
        own["lower"].number(),
        own["upper"].number(),
    )
