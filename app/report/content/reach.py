"""Whom an upper end speaks of: never of every adversary there is, so it is named wherever one is told."""

from __future__ import annotations

from dataclasses import dataclass

from app.report.model import Words
from app.report.place import Place


@dataclass(frozen=True, slots=True)
class Reach:
    """Whom the upper end covers as an aside, and as the sentence on right guesses that names both ends.

    ``seen`` is what the adversary is shown: the score of a record, or its vector.
    """

    aside: Words
    seen: str
    right: Words

    @classmethod
    def of(cls, advantage: Place) -> Reach:
        """As the answer's own guarantee states it."""
        cells, covers = advantage["resolution"].number("count"), advantage["guarantee"]["covers"].value
        between = advantage["lower"].number("guesses"), " and ", advantage["upper"].number("guesses")
        sure: Words = (" times in 100 (with ", advantage["confidence"].number("percent"), " confidence)")
        if advantage["class_rejected"].value:
            least: Words = ("the best adversary is right at least ", between[0], *sure)
            return cls(
                (", but the class that was assumed is contradicted: ask for another",),
                "score",
                (*least, "; nothing is said from above."),
            )
        if "learned score" in covers:
            above: Words = ("of the learned score at ", cells, " cells")
            return cls(
                (", ", *above),
                "vector",
                (
                    "the best adversary is right between ",
                    *between,
                    *sure,
                    "; the upper end speaks of adversaries that see the learned score at ",
                    cells,
                    " cells.",
                ),
            )
        if "resolution" in covers:
            told: Words = ("the best adversary who sees it at a resolution of ", cells, " cells")
            return cls(
                (", at a resolution of ", cells, " cells"),
                "score",
                (*told, " is right between ", *between, *sure, "."),
            )
        taken = assumed(advantage)
        return cls(
            (f", if {taken}",),
            "score",
            (f"if {taken}, that adversary is right between ", *between, *sure, "."),
        )


def assumed(advantage: Place) -> str:
    """The class that was assumed, as the last words of what the upper end takes for granted."""
    return str(advantage["guarantee"]["assumes"].value).rpartition(", so ")[2]
