"""The report of an advantage answer, and the sections it shares with the report of everything."""

from macekit.questions.audit import page as audit
from macekit.reports import model
from macekit.reports.charts.gate import epsilon, interval
from macekit.reports.charts.roc import low_fpr, roc
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers, add_assessment
from macekit.reports.content.plain_words import NOTHING, facts, headline, in_people

TITLE = "Membership leakage"


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """Everything about one sample."""
    prior = answer["provenance"]["options"]["prior"]
    sections = (
        *about(answer, figures, prior),
        *curve(answer["roc"], figures),
        *promise(answer, figures),
        numbers(answer),
        limitations.section(limitations.of_assessment(answer, prior), answer["warnings"]),
        provenance.section("advantage", answer["provenance"], context),
    )
    return model.Report(TITLE, headline(answer, answer), facts(answer, answer), sections)


def about(
    result: model.AnswerPath, figures: model.Figures, prior: model.AnswerPath, flags: model.AnswerPath = NOTHING
) -> tuple[model.Section, ...]:
    """The interval beside what it is held against, and what it means in people."""
    pictured = figures.pick("interval")
    interval = (model.Section("interval", "The advantage, and what to compare it with", pictured),) if pictured else ()
    people = in_people(result, prior, flags)
    return (
        *interval,
        model.Section("people", "What it means in people", people),
        *on_this_set(result["on_this_set"]),
        *by_changes(result["upper_by_changes"]),
    )


def on_this_set(result: model.AnswerPath) -> tuple[model.Section, ...]:
    """The advantage on exactly these records, if the size of their set was told."""
    if not result:
        return ()
    says: model.Inline = (
        result["sentence"].quote(),
        " Decide on the advantage above, which is that on records drawn anew: of few records somebody who knows who is "
        "who always finds a rule that fits them.",
    )
    return (model.Section("this-set", "On exactly this set of records", (model.Paragraph(says),)),)


def by_changes(limits: model.AnswerPath) -> tuple[model.Section, ...]:
    """The upper end for attackers with more and more changes of guess, where scores have an order."""
    if not limits.value:
        return ()
    says: model.Inline = (
        "An attacker who accuses the scores above a threshold changes their guess once along the score; one who "
        "accuses those inside an interval, twice. Each upper end holds for every attacker with at most so many "
        "changes, wherever they lie. If it is acceptable at some number, so is the score for all of these.",
    )
    rows = tuple((limit["changes"].number("count"), limit["upper"].number()) for limit in limits)
    table = model.Table("Upper end of the advantage", ("Changes of guess at most", "Upper end"), rows)
    message = "Attackers who find finer patterns in the score"
    return (model.Section("changes", message, (model.Paragraph(says), table)),)


def curve(roc: model.AnswerPath, figures: model.Figures) -> tuple[model.Section, ...]:
    """Every threshold at once, where scores have an order."""
    if not roc:
        return ()
    area: model.Inline = (
        "An attacker who accuses every record with a score above a threshold finds some of the members and "
        "falsely accuses some nonmembers; the curve shows every threshold. The area under the curve is ",
        roc["auc"].number(),
        " (between ",
        roc["auc_lower"].number(),
        " and ",
        roc["auc_upper"].number(),
        "); guessing without the score gives one half. ",
        *_far_left(roc),
    )
    points = tuple(
        (point["fpr"].number("exact"), *point.numbers("tpr", "lower", "upper")) for point in roc["operating_points"]
    )
    head = ("False positive rate", "True positive rate", "Lower end", "Upper end")
    rates = (model.Table("Members found, at the false positive rates asked for", head, points),) if points else ()
    return (
        model.Section(
            "roc", "Every threshold at once", (model.Paragraph(area), *figures.pick("roc", "low-fpr"), *rates)
        ),
    )


def _far_left(roc: model.AnswerPath) -> model.Inline:
    """Where to look; with reversed scores every rate of the curve is that of the wrong guess."""
    if not limitations.reversed_scores(roc):
        return ("The far left of the curve shows attackers who can afford almost no false accusations.",)
    return (
        "Members score lower than nonmembers here, while the curve is that of guessing member above a threshold: "
        "negated scores would show the attackers who can afford almost no false accusations.",
    )


def promise(result: model.AnswerPath, figures: model.Figures) -> tuple[model.Section, ...]:
    """The promise that was named, if one was."""
    return audit.promise_sections(result, figures, "epsilon") if result["claim"] else ()


def numbers(result: model.AnswerPath) -> model.Section:
    """The table of numbers, with their guarantees."""
    table = Numbers()
    add_assessment(table, result)
    return table.section("Every number, with its interval")


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The interval, the curve, and the claim."""
    return interval(answer), *curves(answer, None), claim(answer)


def curves(result: model.AnswerPath, band: model.AnswerPath | None) -> tuple[model.Figure | None, ...]:
    """The ROC curve, whole and at its left end."""
    points = result["roc"]
    return (roc(points, band), low_fpr(points, band)) if points else ()


def claim(result: model.AnswerPath) -> model.Figure | None:
    """A claim that was checked; an empirical epsilon alone stands among the numbers."""
    return epsilon(result) if result["claim"] and result["epsilon"] else None
