"""The first sentences of a report: what an advantage means in people, and which attackers its upper end covers."""

from __future__ import annotations

from collections.abc import Iterator

from estimators.privacy.epsilon import IF_DRAWN
from estimators.python.dataclass import dataclass
from estimators.statement import rules_along
from macekit.reports import model
from macekit.reports.content.guarantees import SIMULATED
from macekit.reports.model import AnswerPath, Cell, Fact, Facts, Headline, Inline, Paragraph, Phrase, Quote

# The class of attackers that an upper end covers is always named beside it: no upper end covers all attackers.

STEP = "A step is a group of equal or similar values."
"""The one word of the sentence that a reader may never have met."""


@dataclass(frozen=True, slots=True)
class AttackerClass:
    """The class in a few words, and the sentence on right guesses that names both ends.

    ``view`` is what the attacker is shown: the score of a record, or its vector.
    """

    aside: Inline
    view: str
    right: Inline

    @classmethod
    def of(cls, advantage: AnswerPath) -> AttackerClass:
        """The class that the answer's own guarantee states."""
        covers = advantage["guarantee"]["covers"].value
        cells: Inline = (advantage["resolution"].number("count"), _groups(advantage["resolution"]))
        sure: Inline = (" (with ", advantage["confidence"].number("percent"), " confidence)")
        least: Inline = ("the best attacker is right at least ", advantage["lower"].number("guesses"), " times in 100")
        most: Inline = (" at most ", advantage["upper"].number("guesses"), " times", *sure, ".")

        def both(*attackers: Cell) -> Inline:
            return (*least, ", whoever that is, and attackers who ", *attackers, *most)

        if advantage["class_rejected"].value:
            return cls(
                (", but the records contradict the assumed class of attacks: choose another",),
                "score",
                (*least, *sure, "; there is no upper limit."),
            )
        if "learned score" in covers:
            view = "see which of ", *cells, " of similar values the learned score falls in"
            return cls((", for a learned score sorted into ", *cells), "vector", both(*view))
        if "change their guess" in covers:
            rules = rules_anywhere(advantage)
            return cls((", for attackers who ", *rules), "score", (*both(*rules), f" {STEP}"))
        if "resolution" in covers:
            view = "see which of ", *cells, " of similar values the score falls in"
            return cls((", for a score sorted into ", *cells), "score", both(*view))
        assumption = assumed_class(advantage)
        return cls((f", if {assumption}",), "score", (*least, f", whoever that is, and, if {assumption},", *most))


def rules_anywhere(advantage: AnswerPath) -> Inline:
    """The rules that the upper end covers if their cuts may lie anywhere, in words to put after "attackers who"."""
    resolution = advantage["resolution"]
    steps = " step" if resolution.value == 1 else " steps"
    along = rules_along(advantage["changes"].value)
    return (f"{along}, or who sort the score into ", resolution.number("count"), steps)


def _groups(resolution: AnswerPath) -> str:
    return " group" if resolution.value == 1 else " groups"


def assumed_class(advantage: AnswerPath) -> str:
    """The assumed class: the last words of the assumption behind the upper end."""
    return str(advantage["guarantee"]["assumes"].value).rpartition(", so ")[2]


NOTHING = AnswerPath(None)  # no flags, of an answer that has none


def no_evidence(result: AnswerPath, flags: AnswerPath) -> bool:
    """Whether no number of the answer is evidence of a leak."""
    flagged = bool(flags["records"].value)
    bounds = _bound(result["epsilon"]) or _tails(result["exposure"])
    return not (_beside_half(result["roc"]) or bounds or flagged)


def evidence(result: AnswerPath, flags: AnswerPath, prior: AnswerPath) -> Iterator[Inline]:
    """The numbers that are evidence of a leak; flags only where a record would not be flagged without any leak."""
    if _beside_half(roc := result["roc"]):
        yield (
            "the area under the ROC is between ",
            roc["auc_lower"].number(),
            " and ",
            roc["auc_upper"].number(),
            ", where one half is no leak",
        )
    if _bound(epsilon := result["epsilon"]):
        least = epsilon["lower_bound"].number()
        yield "the mechanism's epsilon is at least ", least, f", {IF_DRAWN}"
    if _tails(exposure := result["exposure"]):
        yield "the epsilon of this score's two distributions is at least ", exposure["score_epsilon"].number()
    if flags["records"].value and flags["threshold"].value >= 2.0 * (prior.value or 0.5) - 1.0:
        yield (
            flags["records"].number("count"),
            " records lie where scores speak for membership more than chance would",
        )


def _beside_half(roc: AnswerPath) -> bool:
    return bool(roc["auc_lower"]) and not roc["auc_lower"].value <= 0.5 <= roc["auc_upper"].value


def _bound(epsilon: AnswerPath) -> bool:
    return (epsilon["lower_bound"].value or 0.0) > 0.0


def _tails(exposure: AnswerPath) -> bool:
    return (exposure["score_epsilon"].value or 0.0) > 0.0


def rare_exposure(exposure: AnswerPath) -> tuple[Quote | None, bool]:
    """Who is exposed though the average may pass, None if nobody is shown to be; and whether that is severe."""
    alarm = exposure and exposure["alarm"].value
    return exposure["sentence"].quote() if alarm else None, exposure["severe"].value is not False


BLIND = "the baseline: guessing without the score"

COIN = 0.5  # the prior at which guessing without the score is tossing a coin


def headline(answer: AnswerPath, result: AnswerPath) -> Headline:
    """The decision at a threshold, if one was given, and the sentence."""
    return model.headline(answer, result["verdict"], *rare_exposure(result["exposure"]))


def facts(answer: AnswerPath, result: AnswerPath) -> Facts:
    """The interval, the values to compare it with, and the number of records, as tiles."""
    advantage, verdict, source = result["advantage"], result["verdict"], answer["provenance"]
    confidence, blind = sure(advantage), (BLIND, *at_prior(source["options"]["prior"]))
    tiles = [
        Fact("Advantage at least", advantage["lower"].number(), confidence),
        Fact("Advantage at most", advantage["upper"].number(), (*confidence, *AttackerClass.of(advantage).aside)),
        Fact("Without any leak", result["baseline"].number(), blind),
    ]
    if verdict:
        warned = any(each["code"].value == "limit_below_baseline" for each in result["warnings"])
        below = ", below the baseline" if warned else ""
        tiles.append(Fact("Acceptable at most", verdict["threshold"].number("exact"), (f"your limit{below}",)))
    return Facts((*tiles, *records(source), *worth(advantage["clusters"])))


def records(source: AnswerPath) -> tuple[Fact, ...]:
    """How many records stand behind an answer."""
    both: Inline = ("and ", source["n_nonmembers"].number("count"), " nonmember records")
    return (Fact("Member records", source["n_members"].number("count"), both),)


def worth(clusters: AnswerPath) -> tuple[Fact, ...]:
    """What rows that come in clusters are worth, where clusters were named."""
    if not clusters:
        return ()
    number: list[Phrase] = [
        Phrase((number.number("count"), " of ", name.untrusted()))
        for number, name in zip(clusters["numbers"], clusters["columns"], strict=True)
    ]
    note: Inline = (
        "the effective sample; design effect ",
        clusters["design_effect"].number("plain"),
        "; clusters: ",
        number[0],
        *(part for each in number[1:] for part in (" and ", each)),
    )
    return (Fact("Worth independent records", clusters["effective_sample"].number("floor"), note),)


def sure(statement: AnswerPath) -> Inline:
    """The confidence of a statement, as the note of a tile."""
    return statement["confidence"].number("percent"), " confidence"


def at_prior(prior: AnswerPath) -> Inline:
    """The prior that a baseline belongs to, where the answer names it."""
    return (", at a prior of ", prior.number("exact")) if prior else ()


def without_leak(baseline: AnswerPath, prior: AnswerPath) -> Fact:
    """The baseline as a tile."""
    return Fact("Advantage without any leak", baseline.number(), (BLIND, *at_prior(prior)))


def in_people(result: AnswerPath, prior: AnswerPath, flags: AnswerPath = NOTHING) -> tuple[Paragraph, ...]:
    """The advantage as right guesses in a hundred: (1 + advantage) / 2."""
    advantage, baseline = result["advantage"], result["baseline"]
    coin, attackers = prior.value in (None, COIN), AttackerClass.of(advantage)
    blind = "by tossing a coin" if coin else "by always guessing the likelier side"
    first: Inline = (
        f"Show an attacker the {attackers.view} of one record and ask whether the record was used to train the model. "
        f"Without the {attackers.view}, {blind}, the attacker is right ",
        baseline.number("guesses"),
        f" times in 100. With the {attackers.view}, ",
        *attackers.right,
    )
    paragraphs = [Paragraph(first)]
    if not coin:
        likelier: Inline = (
            "Before any score is seen, a record is taken to be a member with probability ",
            prior.number("exact"),
            " (the prior). Most guesses are right for that reason alone, so a large advantage is not alarming by "
            "itself: what counts is how far it lies above the baseline.",
        )
        paragraphs.append(Paragraph(likelier))
    if advantage["lower"].value <= baseline.value:
        paragraphs.append(Paragraph(_at_baseline(result, prior, flags)))
    return (*paragraphs, Paragraph(_rests_on(advantage)))


def _at_baseline(result: AnswerPath, prior: AnswerPath, flags: AnswerPath) -> Inline:
    """What a lower end at the baseline means; it means even less where another number is evidence of a leak."""
    if no_evidence(result, flags):
        return (
            "The lower end is what guessing without the score achieves. So these records do not show that the score "
            "gives anything away; they do not show that it gives nothing away, either.",
        )
    items: list[Inline] = list(evidence(result, flags, prior))
    words = [part for each in items for part in ("; ", *each)][1:]
    more: Inline = (" Other numbers are evidence of a leak: ", *words, ".") if words else ()
    return (
        "The lower end is what guessing without the score achieves. So these records do not show a gain over the "
        "baseline at this prior; they do not rule one out, either.",
        *more,
    )


def _rests_on(advantage: AnswerPath) -> Inline:
    """What the sentence assumes; where the records contradict that, the headline has no basis, either."""
    if advantage["class_rejected"].value:
        return (
            f"The upper end assumes that {assumed_class(advantage)}, and these records contradict that. Disregard "
            "every statement above that rests on this assumption; the lower end remains valid. More records will not "
            "help: choose another class of attacks with the option estimator.",
        )
    guarantee = advantage["guarantee"]
    coverage = "is proven at every sample size" if guarantee["finite_sample"].value else f"was {SIMULATED}, not proven"
    return "The interval assumes: ", guarantee["assumes"].quote(), f". Its coverage {coverage}."
