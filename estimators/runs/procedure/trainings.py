"""One trained model among several: its advantage seen from below and from above, and by how much records blur it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.adversary.changes import best_by_changes
from estimators.adversary.lower_end import LowerEnd
from estimators.errors import DimensionMismatch, InputError, TooFewRecords
from estimators.optimum.answer import MOST_CHANGES
from estimators.optimum.ends import Ends, ends_of
from estimators.sample.counts import Counts
from estimators.sample.scores import MIN_RECORDS, Scores, labels_of

Floats = NDArray[np.float64]

FEWEST = 4
"""Fewest models of which anything is said."""

MOST_NAMES = 3
"""Models that an error names."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a model's records show, without any limit.

    Attributes:
        unseen: The advantage of rules on records that they had not seen: on average at most the best attacker's.
        best: That of the best rule of the class on the records it was chosen on: on average at least the class's.
        noise: Variance of a rule's advantage that comes from the choice of the records.
        unseen_records: So many records of equal weight, at least, are behind ``unseen``.
        records: Likewise behind ``best``.
    """

    unseen: float
    best: float
    noise: float
    unseen_records: float
    records: float


def evidence_by(ends: Ends) -> Evidence:
    """What both ends of one model rest on."""
    if not isinstance(ends.validation, LowerEnd):  # pragma: no cover - vectors are refused before
        raise TypeError("need one number a record")
    prior, outcome = ends.prior, ends.validation.unseen.outcome
    unseen_records = float(outcome.n_members.mean()), float(outcome.n_nonmembers.mean())
    whole = float(ends.fine.n_members), float(ends.fine.n_nonmembers)
    rates = (
        outcome.true_positives.mean() / unseen_records[0],
        outcome.true_negatives.mean() / unseen_records[1],
    )
    weights = prior, 1.0 - prior
    spread = [w**2 * rate * (1.0 - rate) / n for w, rate, n in zip(weights, rates, whole, strict=True)]
    best = float(np.abs(ends.counts.weights(prior)).sum())
    if ends.changes is not None:
        best = max(best, float(best_by_changes(ends.fine.weights(prior), ends.changes)[-1]))
    return Evidence(
        float(2.0 * (weights[0] * rates[0] + weights[1] * rates[1]) - 1.0),
        best,
        float(4.0 * sum(spread)),
        min(n / w for n, w in zip(unseen_records, weights, strict=True)),
        min(n / w for n, w in zip(whole, weights, strict=True)),
    )


def best_of_changes(ends: Ends) -> Floats:
    """What the best rule of at most 0, 1, ... changes along one model's score has on the records it was chosen on."""
    if not ends.fine.cells.ordered:
        return np.zeros(MOST_CHANGES + 1)
    return best_by_changes(ends.fine.weights(ends.prior), MOST_CHANGES)


def evidence_in(counts: Counts, prior: float, seed: int) -> Evidence:
    """The same of one model's counts."""
    return evidence_by(ends_of(counts, prior, None, seed))


def seeds_of(models: int, seed: int) -> list[int]:
    """A seed for each model: shuffled alike, models would err alike, and would not be independent."""
    seeds: list[int] = np.random.default_rng(seed).integers(2**53, size=models).tolist()
    return seeds


def by_model(data: Scores, model: ArrayLike) -> dict[str, Scores]:
    """The scores of each model, in the order of their names.

    Args:
        data: Scores of both sides of all models.
        model: Which model scored each row, members' rows first.

    Raises:
        DimensionMismatch: vectors, or not a label for each row.
        InputError: a row without a label.
        TooFewRecords: too few models, or a model with too few rows of a side.
    """
    if data.dimension > 1:
        raise DimensionMismatch("model: got vectors, need one number a record", field="members")
    labels = labels_of(model, "model")
    rows = data.n_members + data.n_nonmembers
    if len(labels) != rows:
        raise DimensionMismatch(f"model: got {len(labels)} labels for {rows} rows", field="model")
    if labels.dtype.kind == "U" and (labels == "").any():
        row = int(np.argmax(labels == ""))
        raise InputError(
            f"model: row {row} has no label; need which model scored it", field="model", index=row
        )
    names, column = np.unique(labels, return_inverse=True)
    column = column.reshape(-1)
    if len(names) == 1:
        raise TooFewRecords(
            f"model: all rows are of one model, {names[0].item()!r}: nothing is known of another training; ask "
            f"about this model by itself, or train {FEWEST - 1} more",
            field="model",
        )
    if len(names) < FEWEST:
        raise TooFewRecords(
            f"model: got {len(names)} models, need at least {FEWEST} to tell how much they vary",
            field="model",
        )
    sides = column[: data.n_members], column[data.n_members :]
    for what, side in zip(("member", "nonmember"), sides, strict=True):
        few = names[np.bincount(side, minlength=len(names)) < MIN_RECORDS]
        if len(few):
            examples = ", ".join(repr(each) for each in few[:MOST_NAMES].tolist())
            more = ", ..." if len(few) > MOST_NAMES else ""
            raise TooFewRecords(
                f"model: {len(few)} of {len(names)} models ({examples}{more}) {'has' if len(few) == 1 else 'have'} "
                f"fewer than {MIN_RECORDS} {what} rows; every model needs members and nonmembers of its own",
                field="model",
            )
    parts = [
        np.split(
            scores[np.argsort(side, kind="stable")], np.cumsum(np.bincount(side, minlength=len(names)))[:-1]
        )
        for scores, side in zip((data.members, data.nonmembers), sides, strict=True)
    ]
    return {
        str(name): Scores(members, nonmembers, data.query, data.reason)
        for name, members, nonmembers in zip(names.tolist(), *parts, strict=True)
    }
