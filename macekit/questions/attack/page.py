"""The report of a given attack: its own advantage, its rates and metrics, and how far it is from the best."""

from collections.abc import Iterator

from macekit.reports import model
from macekit.reports.charts.forest import attack
from macekit.reports.content import limitations, provenance
from macekit.reports.content.guarantees import Numbers
from macekit.reports.content.plain_words import BLIND, at_prior, records, sure, worth

METRICS = ("Metric of this attack", "Value", "Lower end", "Upper end")


def content(answer: model.AnswerPath, figures: model.Figures, context: model.Context) -> model.Report:
    """The attack beside the optimum, what it accuses, and its metrics."""
    own, optimum, source = answer["attack"], answer["optimum"], answer["provenance"]
    prior, confidence = source["options"]["prior"], own["confidence"]
    tiles = (
        model.Fact("Advantage of this attack at least", own["lower"].number(), sure(own)),
        model.Fact("At most", own["upper"].number(), sure(own)),
        model.Fact(
            "The best attacker has more, at most",
            answer["gap"]["upper"].number(),
            ("and at least ", answer["gap"]["lower"].number()),
        ),
        model.Fact("Without any leak", answer["baseline"].number(), (BLIND, *at_prior(prior))),
        *records(source),
        *worth(optimum["clusters"]),
    )
    numbers = Numbers()
    numbers.interval("Advantage of this attack", own, confidence)
    numbers.derived("Baseline: the advantage without any leak", answer["baseline"])
    numbers.interval("Optimal advantage", optimum, confidence)
    numbers.interval("Optimal advantage minus this attack's", answer["gap"], confidence)
    if share := answer["share_of_optimum"]:
        numbers.interval("Share of the optimal gain that this attack has", share, confidence)
    numbers.interval("True positive rate", answer["true_positive_rate"], confidence)
    numbers.interval("False positive rate", answer["false_positive_rate"], confidence)
    sections = (
        model.Section(
            "attack",
            "The attack, and the best there is",
            (*figures.pick("attack"), model.Bullets(tuple(_rule(answer["rule"])))),
        ),
        numbers.section("The attack beside the optimum"),
        model.Section("metrics", "Metrics of this attack", (_metrics(answer["metrics"]),)),
        limitations.section(_open(answer, prior), answer["warnings"]),
        provenance.section("attack", source, context),
    )
    return model.Report(
        "A given attack", model.Headline(None, answer["sentence"].quote()), model.Facts(tiles), sections
    )


def _rule(rule: model.AnswerPath) -> Iterator[model.Inline]:
    """What was accused, and from where on."""
    accused: model.Inline = (
        rule["members_accused"].number("count"),
        " members and ",
        rule["nonmembers_accused"].number("count"),
        " nonmembers were accused",
    )
    if rule["kind"].value == "guesses":
        yield (*accused, ": those that the attack guessed to be members.")
    else:
        yield (*accused, f": the scores {rule['side'].value} the cut of ", rule["cut"].number("exact"), ", and at it.")
    if rule["chosen_before"].value:
        yield ("The intervals take the attack to have been fixed before these records were seen.",)
    else:
        yield ("The cut was read off these records; the intervals of this attack allow for that.",)


def _metrics(entries: model.AnswerPath) -> model.Table:
    rows: tuple[tuple[model.Cell, ...], ...] = tuple((each["name"].untrusted(), *each.interval()) for each in entries)
    note = (
        "Of this attack, not of the best one. Each interval holds by itself. Where there is a dash the metric has no "
        "value."
    )
    return model.Table("Metrics of this attack", METRICS, rows, note)


def _open(answer: model.AnswerPath, prior: model.AnswerPath) -> Iterator[model.Inline]:
    yield ("An attack that is close to the best here may be far from the best use of another score.",)
    if answer["rule"]["chosen_before"].value:
        yield (
            "If the attack was trained or tuned on these records, its interval does not hold. For a threshold, say so "
            "with the option chosen_before.",
        )
    if not answer["share_of_optimum"]:
        yield ("These records do not show that there is anything to gain, so no share of it is stated.",)
    yield from limitations.of_sample(prior, answer["optimum"]["clusters"])


def figures(answer: model.AnswerPath) -> tuple[model.Figure | None, ...]:
    """The attack beside the optimum."""
    return (attack(answer),)
