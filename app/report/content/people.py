"""What an advantage means in people, and what is read first: the same sentences wherever one is stated."""

from __future__ import annotations

from app.report.content import evidence
from app.report.content.guarantees import SIMULATED
from app.report.content.reach import Reach, assumed
from app.report.model import Fact, Facts, Headline, Paragraph, Words
from app.report.place import Place

COIN = 0.5
"""The prior at which guessing without the score is tossing a coin."""


def headline(answer: Place, result: Place) -> Headline:
    """The decision at a threshold, if one was given, and the sentence."""
    return Headline(result["verdict"]["decision"].value, answer["sentence"].said())


def facts(answer: Place, result: Place) -> Facts:
    """The interval, what it is held against, and what it was made from, as tiles."""
    advantage, verdict, source = result["advantage"], result["verdict"], answer["provenance"]
    held: Words = (advantage["confidence"].number("percent"), " confidence")
    blind: Words = ("the baseline: guessing without the score", *at_prior(source["options"]["prior"]))
    tiles = [
        Fact("Advantage at least", advantage["lower"].number(), held),
        Fact("Advantage at most", advantage["upper"].number(), (*held, *Reach.of(advantage).aside)),
        Fact("Without any leak", result["baseline"].number(), blind),
    ]
    if verdict:
        warned = any(each["code"].value == "limit_below_baseline" for each in result["warnings"])
        below = ", below the baseline" if warned else ""
        tiles.append(Fact("Acceptable at most", verdict["threshold"].number(), (f"the threshold{below}",)))
    return Facts((*tiles, *records(source)))


def records(source: Place) -> tuple[Fact, ...]:
    """How many records stand behind an answer."""
    both: Words = ("and ", source["n_nonmembers"].number("count"), " nonmember records")
    return (Fact("Member records", source["n_members"].number("count"), both),)


def at_prior(prior: Place) -> Words:
    """The prior that a baseline belongs to, where the answer names it."""
    return (", at a prior of ", prior.number("exact")) if prior else ()


def without_leak(baseline: Place, prior: Place) -> Fact:
    """The baseline as a tile."""
    return Fact(
        "Advantage without any leak",
        baseline.number(),
        ("the baseline: guessing without the score", *at_prior(prior)),
    )


def in_people(result: Place, prior: Place, flags: Place = evidence.NOTHING) -> tuple[Paragraph, ...]:
    """The advantage as right guesses in a hundred: (1 + advantage) / 2."""
    advantage, baseline = result["advantage"], result["baseline"]
    coin, reach = prior.value in (None, COIN), Reach.of(advantage)
    blind = "by tossing a coin" if coin else "by always guessing the likelier side"
    first: Words = (
        f"Show an adversary the {reach.seen} of one record and ask whether the record was used to train the model. "
        f"Without the {reach.seen}, {blind}, it is right ",
        baseline.number("guesses"),
        f" times in 100. With the {reach.seen}, ",
        *reach.right,
    )
    found = [Paragraph(first)]
    if not coin:
        likelier: Words = (
            "Before any score is seen, a record is taken to be a member with probability ",
            prior.number("exact"),
            " (the prior). Most guesses are right for that reason alone, so a large advantage is not alarming by "
            "itself: what counts is how far it lies above the baseline.",
        )
        found.append(Paragraph(likelier))
    if advantage["lower"].value <= baseline.value:
        found.append(Paragraph(_at_baseline(result, prior, flags)))
    return (*found, Paragraph(_rests_on(advantage)))


def _at_baseline(result: Place, prior: Place, flags: Place) -> Words:
    """What a lower end at the baseline says: little, and less where another number speaks for a leak."""
    if evidence.none(result, flags):
        return (
            "The lower end is what guessing without the score achieves. So these records do not show that the score "
            "gives anything away; they do not show that it gives nothing away, either.",
        )
    said: list[Words] = list(evidence.found(result, flags, prior))
    shown = [part for each in said for part in ("; ", *each)][1:]
    more: Words = (" Other numbers speak for a leak: ", *shown, ".") if shown else ()
    return (
        "The lower end is what guessing without the score achieves. So these records do not show a gain over the "
        "baseline at this prior; they do not rule one out, either.",
        *more,
    )


def _rests_on(advantage: Place) -> Words:
    """What stands behind the sentence; where that is contradicted, the headline stands on nothing, either."""
    if advantage["class_rejected"].value:
        return (
            f"It was assumed that {assumed(advantage)}: these records contradict it. Whatever is said above on that "
            "assumption falls with it; the lower end stands. More records will not settle it: ask for another class "
            "of adversaries, with estimator.",
        )
    guarantee = advantage["guarantee"]
    size = "proven at every sample size" if guarantee["finite_sample"].value else SIMULATED
    return (
        "The interval assumes: ",
        guarantee["assumes"].said(),
        f". That it holds as often as stated is {size}.",
    )
