"""The section on groups: what each gives away by itself, and its mean risk, read off all records together."""

from functools import partial

from macekit.reports import model
from macekit.reports.palette import WORDS

OWN = ("Own advantage", "Lower end", "Upper end")
OF_RISK = ("Mean risk", "Lower end", "Upper end")
HEAD = ("Group", "Records", "Flagged", *OF_RISK, *OWN)

ABOUT: model.Inline = (
    "A group's own advantage is measured on its records alone, with limits that hold for all groups at once. Mean risk "
    "is the mean over a group's records of the risk that is read off all records together, from limits that hold for "
    "all records at once: it looks at no group by itself, and may be small where a group's own records betray it.",
)

OWN_OR_MEAN: model.Inline = (
    "A group's own advantage is measured on its records alone. Its mean risk is read off all records together and "
    "looks at no group by itself.",
)

COIN = 0.5  # the prior at which no risk is less than that of a model that does not leak


def sections(
    groups: model.AnswerPath, figures: model.Figures, prior: model.AnswerPath, baseline: model.AnswerPath
) -> tuple[model.Section, ...]:
    """The groups, if there are any."""
    if not len(groups):
        return ()
    risks = table(groups)
    blocks: tuple[model.Block, ...] = (
        model.Paragraph((*ABOUT, " Without any leak both are ", baseline.number(), *either_way(prior), ".")),
        *figures.pick("groups"),
        risks,
    )
    return (model.Section("groups", "Groups", blocks, (risks.only(0, 6, 7, 8, 3, 4, 5, 1, 2),)),)


def either_way(prior: model.AnswerPath) -> model.Inline:
    """What a risk below the baseline is not: a smaller leak."""
    if prior.value in (None, COIN):
        return ()
    return ("; at a prior of ", prior.number("exact"), " a risk may lie below it, which is not a smaller leak")


def table(groups: model.AnswerPath) -> model.Table:
    """A row for each, in the answer's order; of very many the most surely exposed."""
    first = list(groups)
    if len(first) > model.MOST_ROWS:
        surest = sorted(first, key=lambda group: -group["lower"].value)[: model.MOST_ROWS]
        paths = {group.path for group in surest}
        first = [group for group in first if group.path in paths]
    note = "Those with the highest lower ends are shown." if len(groups) > model.MOST_ROWS else ""
    return model.Table("Every group", HEAD, tuple(map(_row, first)), note, len(groups) - len(first), groups.path)


def _row(group: model.AnswerPath) -> tuple[model.Cell, ...]:
    return (
        group["label"].untrusted(),
        *group.numbers("records", "flagged", kind="count"),
        *group.numbers("risk", "lower", "upper"),
        *group["advantage"].interval(),
    )


SHARED = "All limits share the error of a wrong fail: lower ends here may be below those elsewhere."
"""Of ends that decide several limits."""

SIZES = ("Members", "Nonmembers", "Records needed")


def every_group(groups: model.AnswerPath, *, by_own: bool, beside: bool = False) -> tuple[model.Section, ...]:
    """Each group of a gate beside its limits, if there are any; those that do not pass come first.

    ``by_own`` says whether a limit judges each by itself: else the decision is one about its mean risk alone. Another
    section on groups may stand ``beside``.
    """
    if not len(groups):
        return ()
    every = sorted(groups, key=_standing)
    of_risk = any(group["risk"] for group in groups)
    decision = "Decision" if by_own else "Of its mean risk"
    head = ("Group", decision, *OWN, *(OF_RISK if of_risk else ()), *SIZES)
    name = "Every group beside its limit" if beside else "Every group"
    note = SHARED if beside else ""
    table = model.table_of(name, head, every, partial(_of_gate, of_risk=of_risk), note, where=groups.path)
    # what a screen has room for: without mean risks for what a group needs, too
    brief = table.only(*range(8))
    if beside:
        return (model.Section("judged-groups", "Groups beside their limit", (table,), (brief,)),)
    return (model.Section("groups", "Groups", (model.Paragraph(OWN_OR_MEAN), table), (brief,)),)


def _standing(group: model.AnswerPath) -> tuple[int, float]:
    """Fails first, then what is open, each by how much is shown."""
    own = group["advantage"] or group["risk"]
    order = ("fail", "inconclusive", "pass").index(group["decision"].value)
    return order, -float(own["lower"].value) if own else 0.0


def _of_gate(group: model.AnswerPath, *, of_risk: bool) -> tuple[model.Cell, ...]:
    own, risk = group["advantage"], group["risk"]
    return (
        group["label"].untrusted(),
        WORDS[group["decision"].value].word,
        *own.interval(),
        *(risk.interval() if of_risk else ()),
        *group.numbers("n_members", "n_nonmembers", kind="count"),
        group["records_needed"].number("roughly"),
    )
