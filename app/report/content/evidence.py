"""What else an answer shows where its advantage does not rise above the baseline: a gain is not all that leaks."""

from __future__ import annotations

from collections.abc import Iterator

from app.report.model import Words
from app.report.place import Place

NOTHING = Place(None)
"""No flags, of an answer that has none."""


def none(result: Place, flags: Place) -> bool:
    """Whether no number that the answer has speaks for a leak."""
    flagged = bool(flags["records"].value)
    return not (_beside_half(result["roc"]) or _bound(result["epsilon"]) or flagged)


def found(result: Place, flags: Place, prior: Place) -> Iterator[Words]:
    """The numbers that do; flags only where a record would not be flagged without any leak."""
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
        yield "epsilon is at least ", least, ", if inclusion was random and independent"
    if flags["records"].value and flags["threshold"].value >= 2.0 * (prior.value or 0.5) - 1.0:
        yield flags["records"].number("count"), " records are flagged as likelier members"


def _beside_half(roc: Place) -> bool:
    return bool(roc["auc_lower"]) and not roc["auc_lower"].value <= 0.5 <= roc["auc_upper"].value


def _bound(epsilon: Place) -> bool:
    return (epsilon["lower_bound"].value or 0.0) > 0.0
