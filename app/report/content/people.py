"""What an advantage means in people, and what is read first: the same sentences wherever one is stated."""

from __future__ import annotations

from app.report.model import Fact, Facts, Headline, Paragraph, Words
from app.report.place import Place

COIN = 0.5
"""The prior at which guessing without the score is tossing a coin."""


def headline(answer: Place) -> Headline:
    """The decision at a threshold, if one was given, and the sentence."""
    return Headline(answer["verdict"]["decision"].value, answer["sentence"].said())


def facts(answer: Place, result: Place) -> Facts:
    """The interval, what it is held against, and what it was made from, as tiles."""
    advantage, verdict, source = result["advantage"], result["verdict"], answer["provenance"]
    held: Words = (advantage["confidence"].number("percent"), " confidence")
    tiles = [
        Fact("Advantage at least", advantage["lower"].number(), held),
        Fact("Advantage at most", advantage["upper"].number(), held),
        Fact("Without any leak", result["baseline"].number(), ("the baseline: guessing without the score",)),
    ]
    if verdict:
        below = ", below the baseline" if beneath(verdict, result["baseline"]) else ""
        tiles.append(Fact("Acceptable at most", verdict["threshold"].number(), (f"the threshold{below}",)))
    return Facts((*tiles, *records(source)))


def records(source: Place) -> tuple[Fact, ...]:
    """How many records stand behind an answer."""
    both: Words = ("and ", source["n_nonmembers"].number("count"), " nonmember records")
    return (Fact("Member records", source["n_members"].number("count"), both),)


def beneath(verdict: Place, baseline: Place) -> bool:
    """Whether a threshold lies where no model can get: below what guessing without the score achieves."""
    return bool(verdict) and verdict["threshold"].value < baseline.value


def in_people(advantage: Place, baseline: Place, prior: Place, verdict: Place) -> tuple[Paragraph, ...]:
    """The advantage as right guesses in a hundred: (1 + advantage) / 2."""
    coin = prior.value in (None, COIN)
    blind = "by tossing a coin" if coin else "by always guessing the likelier side"
    first: Words = (
        "Show an adversary the score of one record and ask whether the record was used to train the model. "
        f"Without the score, {blind}, it is right ",
        baseline.number("guesses"),
        " times in 100. With the score, the best adversary is right between ",
        advantage["lower"].number("guesses"),
        " and ",
        advantage["upper"].number("guesses"),
        " times in 100 (with ",
        advantage["confidence"].number("percent"),
        " confidence).",
    )
    found = [Paragraph(first)]
    if not coin:
        likelier: Words = (
            "Before any score is seen, a record is taken to be a member with probability ",
            prior.number("exact"),
            " (the prior). Most guesses are right for that reason alone, so a large advantage is not "
            "alarming by itself: "
            "what counts is how far it lies above the baseline.",
        )
        found.append(Paragraph(likelier))
    if beneath(verdict, baseline):
        unreachable: Words = (
            "The threshold of ",
            verdict["threshold"].number(),
            " lies below the baseline of ",
            baseline.number(),
            ". It is exceeded whether or not anything leaks, so the decision says nothing about this model: choose a "
            "threshold above the baseline.",
        )
        found.append(Paragraph(unreachable))
    if advantage["lower"].value <= baseline.value:
        nothing = (
            "The lower end is what guessing without the score achieves. So these records do not show that the score "
            "gives anything away; they do not show that it gives nothing away, either."
        )
        found.append(Paragraph((nothing,)))
    return tuple(found)
