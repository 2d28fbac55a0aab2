"""The report of everything about one sample."""

from itertools import chain

from macekit.questions.advantage.page import TITLE, about, claim, curve, curves, numbers, promise
from macekit.questions.gate import page as gate
from macekit.questions.risk import page as risk
from macekit.reports import model
from macekit.reports.charts.distribution import distribution, posterior
from macekit.reports.charts.forest import groups as forest_of_groups
from macekit.reports.charts.gate import interval
from macekit.reports.charts.risk import risk as risk_chart
from macekit.reports.content import groups, limitations, provenance
from macekit.reports.content.plain_words import facts, rare_exposure


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The decision first, then what it rests on, then what it does not say and where it comes from."""
    result, grouped = answer["result"], answer["groups"]
    prior = answer["provenance"]["options"]["prior"]
    flags = answer["risk"]["flags"]
    open_questions = chain(limitations.of_assessment(result, prior, flags), limitations.of_groups(grouped))
    warnings = answer["warnings"], result["warnings"], answer["risk"]["warnings"]
    decision = answer["gate"]
    sections = (
        *_limits(decision),
        *about(result, figures, prior, flags),
        *_scores(figures),
        *curve(result["roc"], figures),
        *_precision(answer["precision"], prior),
        *_risk(answer["risk"], figures),
        *_posterior(figures),
        *groups.sections(grouped, figures, prior, result["baseline"]),
        *promise(result, figures),
        numbers(result),
        limitations.section(open_questions, *warnings),
        provenance.section("report", answer["provenance"], context, grouped=len(grouped) > 0),
    )
    verdict = decision if decision else result["verdict"]
    first = model.headline(answer, verdict, *rare_exposure(result["exposure"]))
    return model.Report(TITLE, first, facts(answer, result), sections)


def _limits(decision: model.AnswerPath) -> tuple[model.Section, ...]:
    """The limits and each group, if groups were limited."""
    if not decision:
        return ()
    return (gate.every_limit(decision["limits"]), *groups.every_group(decision["groups"], by_own=True, beside=True))


def _scores(figures: model.Figures) -> tuple[model.Section, ...]:
    charts = figures.pick("distribution")
    return (model.Section("scores", "The scores of both sides", charts),) if charts else ()


def _precision(rows: model.AnswerPath, prior: model.AnswerPath) -> tuple[model.Section, ...]:
    """How sure the surest accusation is, where scores have an order."""
    if not len(rows):
        return ()
    said = (
        "Who accuses few records is right more often. The table has the best cut among those that find at least this "
        "share of members, if a record is a member with a probability of ",
        prior.number("exact"),
        ". Name the share beforehand: each row holds by itself. Without a least share there is no upper end: nobody "
        "can rule out a few members beyond all scores.",
    )
    head = ("Members found, at least", "Right, on these records", "Lower end", "Upper end")
    shown = tuple((row["share"].number("exact"), *row.interval()) for row in rows)
    return (
        model.Section(
            "precision",
            "How sure an accusation can be",
            (
                model.Paragraph(said),
                model.Table("The best precision, by the least share of members found", head, shown),
            ),
        ),
    )


def _risk(summary: model.AnswerPath, figures: model.Figures) -> tuple[model.Section, ...]:
    if not summary:
        return ()
    rule = risk.metric_rule(summary["metric_rule"])
    return (risk.section(summary, figures, model.Paragraph((summary["sentence"].quote(),)), *rule),)


def _posterior(figures: model.Figures) -> tuple[model.Section, ...]:
    charts = figures.pick("posterior")
    return (model.Section("posterior", "The chance of being a member, as published", charts),) if charts else ()


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The interval, how the scores lie, the curve, the risk, the groups, and the claim."""
    result, shape, risks = answer["result"], answer["distribution"], answer["risk"]
    edges = shape.value.get("edges") if shape else None
    return (
        interval(result),
        distribution(shape) if shape else None,
        *curves(result, answer["band"]),
        risk_chart(risks, edges) if risks else None,
        posterior(answer["posterior"], answer["provenance"]["options"]["prior"].value),
        forest_of_groups(answer["groups"], result.value["baseline"]) if len(answer["groups"]) else None,
        claim(result),
    )
