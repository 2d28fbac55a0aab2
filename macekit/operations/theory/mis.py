"""``/v1/theory/mis``: membership inference security of any algorithm on data in categories."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import cast

import numpy as np

from estimators.statement import Caution, Estimate, at_least, at_most, percent
from estimators.theory.mis import assessment
from estimators.theory.mis.assessment import Known, Source
from estimators.theory.mis.diversity import given_largest, most_diverse
from estimators.theory.mis.overfitting import Overfitting, overfitting
from estimators.theory.mis.security import MOST_RECORDS, simple_delta
from estimators.theory.mis.tally import Tally
from estimators.theory.weights import accuracy, gamma_of, guess_accuracy
from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.operations import encode
from macekit.operations.encode import bounds, finite
from macekit.operations.options import origin, question_of, reply_of
from macekit.problems import Problem
from macekit.schemas.theory.mis import (
    CoarsenedAnswer,
    DiversityAnswer,
    MisAnswer,
    MisCurveAnswer,
    MisOverfittingAnswer,
    MisOverfittingQuestion,
    MisQuestion,
    NeededAnswer,
)

# --- mis overfitting ----------------------------------------------------------------------------------------
# ``/v1/theory/mis-overfitting``: how secure a learner is at most, given its losses.

ONE_MODEL = Caution(
    "one_model",
    "the losses are one model's: this bounds what cuts of the loss leave of that model's security, and is no statement "
    "about the algorithm, for which each loss has to come from a training of its own",
)
NO_GAP = Caution(
    "no_gap_shown",
    "the losses show no overfitting that would bound security, which is no evidence of security: other attacks may "
    "succeed",
)

AVERAGES = Caution(
    "averages_over_training_sets",
    "MIS is about an algorithm on training sets drawn at random from such data, and averages over them; one trained "
    "model may give away more or less",
)


def overfitting_answer(call: Call, material: Material) -> Reply:
    """The least upper bound on security over cuts of the loss, with the cuts."""
    q = question_of(MisOverfittingQuestion, material)
    train, heldout = (
        np.asarray(material.arrays[name], dtype=np.float64) for name in ("train_losses", "heldout_losses")
    )
    gamma = gamma_of(q.nonmember_share, q.member_weight)
    found = overfitting(train, heldout, gamma, q.confidence, q.thresholds, q.losses_of)
    cautions = [ONE_MODEL] if q.losses_of == "one_model" else [AVERAGES]
    if found.security.upper >= 1.0:
        cautions.append(NO_GAP)
    answered: MisOverfittingAnswer = {
        "sentence": _said_of_losses(q, found),
        "security": encode.interval(found.security),
        "delta_at_least": 1.0 - found.security.upper,
        "gamma": gamma,
        "baseline": guess_accuracy(q.nonmember_share, q.member_weight),
        "accuracy_at_least": accuracy(1.0 - found.security.upper, q.nonmember_share, q.member_weight),
        "threshold": float(found.threshold[found.best]),
        "curve": {
            "threshold": found.threshold.tolist(),
            "alpha": found.alpha.tolist(),
            "alpha_upper": found.alpha_upper.tolist(),
            "heldout": found.heldout.tolist(),
            "heldout_upper": found.heldout_upper.tolist(),
            "security_at_most": found.at_most.tolist(),
        },
        "warnings": encode.warnings(cautions),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


def _said_of_losses(q: MisOverfittingQuestion, found: Overfitting) -> str:
    what = "This model's security" if q.losses_of == "one_model" else "Security of the algorithm"
    upper = found.security.upper
    if upper >= 1.0:
        return f"The losses put no limit on security ({percent(q.confidence)} confidence)."
    share, weight = q.nonmember_share, q.member_weight
    least = at_least(accuracy(1.0 - upper, share, weight))
    return (
        f"{what} is at most {at_most(upper)} ({percent(q.confidence)} confidence): a cut of the loss alone has "
        f"an accuracy of at least {least}, against a baseline of {at_most(guess_accuracy(share, weight))} for guessing"
        f"{weighed(weight)}."
    )


def weighed(weight: float) -> str:
    """How true positives weigh in the accuracies of a sentence, if not like the rest."""
    return "" if weight == 1.0 else f" (a true positive counts {weight:g} times)"


# --- mis ----------------------------------------------------------------------------------------------------

SOURCES = ("values", "tallies", "probabilities")
STEPS = 13
"""Sizes of a curve when none were asked for: three to every tenfold, from a hundredth to a hundredfold."""

USUAL = 0.05
"""The Delta a curve is drawn around where there is no sample whose size would suggest one."""

WORST = Caution(
    "worst_share",
    "no share of nonmembers was given: security is at the worst share there is, where gamma is 1, so it holds at every "
    "share; the accuracy and its baseline are at that one share only",
)
UNKNOWN = Caution(
    "universe_unknown",
    "how many categories there are was not stated: C_K has no upper end then; Delta has one, which allows for what was "
    "not seen",
)
SINGLES = Caution(
    "mostly_singles",
    "most records are the only one of their category, and an algorithm that keeps its training set gives them away; "
    "coarsen the values first",
)


def answer(call: Call, material: Material) -> Reply:
    """Delta of the worst algorithm over sizes, how many records are enough, and what coarsening buys."""
    q = question_of(MisQuestion, material)
    source = _source(q, material)
    share = q.member_weight / (1.0 + q.member_weight) if q.nonmember_share is None else q.nonmember_share
    gamma = 1.0 if q.nonmember_share is None else gamma_of(share, q.member_weight)
    spread = assessment.diversity_of(source, q.confidence)
    sizes = q.sizes or _usual(source, spread)
    n = sizes[0] if q.sizes else _middle(source, sizes)
    at = assessment.delta_of(source, n, gamma, q.confidence)
    answered: MisAnswer = {
        "sentence": _said(q, source, n, at, share),
        "categories": source.categories,
        "records": source.records if isinstance(source, Tally) else None,
        "gamma": gamma,
        "baseline": guess_accuracy(share, q.member_weight),
        "accuracy_at_most": accuracy(at.upper, share, q.member_weight),
        "n": n,
        "diversity": _diversity(source, spread),
        "curve": _curve(source, sizes, gamma, q.confidence, spread),
        "records_needed": None if q.delta is None else _records(source, q.delta, gamma, q.confidence),
        "coarsened": None if q.coarsen_to is None else _coarsened(source, q, n, gamma),
        "bounds": bounds(assessment.bounds_of(source, n, gamma, q.confidence)),
        "warnings": encode.warnings(_cautions(q, source)),
        "provenance": origin(call, q, material.arrays),
    }
    return reply_of(call, answered)


def _source(q: MisQuestion, material: Material) -> Source:
    given = [name for name in SOURCES if name in material.arrays]
    if len(given) != 1:
        kind = "missing-field" if not given else "bad-option"
        field = given[1] if given else "values"
        raise Problem(kind, f"{field}: give one of {', '.join(SOURCES)}, and only one", field=field)
    column = material.arrays[given[0]]
    if given[0] == "probabilities":
        if q.universe is not None:
            raise Problem(
                "bad-option",
                "universe: belongs to values or tallies; probabilities are all there are",
                field="universe",
            )
        return Known.of(np.asarray(column, dtype=np.float64))
    if given[0] == "tallies":
        return Tally.of_counts(np.asarray(column), q.universe)
    return Tally.of_values(cast("list[object]", column), q.universe)


def _usual(source: Source, spread: Estimate) -> list[int]:
    """Sizes about that of the sample, or about what keeps Delta near a usual value."""
    middle = (
        source.records if isinstance(source, Tally) else (float(spread.value or 0.0) / (2.0 * USUAL)) ** 2
    )
    span = np.logspace(-2.0, 2.0, STEPS)
    sizes = np.unique(np.clip(np.round(max(middle, 1.0) * span), 1, MOST_RECORDS))
    return [int(size) for size in sizes]


def _middle(source: Source, sizes: list[int]) -> int:
    return source.records if isinstance(source, Tally) else sizes[len(sizes) // 2]


def _diversity(source: Source, found: Estimate) -> DiversityAnswer:
    spread = assessment.spread_of(source)
    sampled = isinstance(source, Tally)
    total = source.universe if isinstance(source, Tally) else source.categories
    return {
        "estimate": float(found.value or 0.0),
        "lower": found.lower,
        "upper": finite(found.upper),
        "confidence": found.interval.confidence if sampled else None,
        "guarantee": encode.guarantee(found.interval.guarantee) if sampled else None,
        "most": None if total is None else most_diverse(total),
        "largest_share": spread.largest,
        "least_given_largest": spread.least_given_largest,
        "most_given_largest": None if total is None else given_largest(spread.largest, total)[1],
        "gini_simpson": spread.gini_simpson,
        "shannon": spread.shannon,
    }


def _curve(
    source: Source, sizes: list[int], gamma: float, confidence: float, spread: Estimate
) -> MisCurveAnswer:
    found = [assessment.delta_of(source, n, gamma, confidence) for n in sizes]
    return {
        "n": sizes,
        "delta": [float(each.value or 0.0) for each in found],
        "delta_lower": [each.lower for each in found],
        "delta_upper": [each.upper for each in found],
        "security": [1.0 - float(each.value or 0.0) for each in found],
        "security_at_least": [1.0 - each.upper for each in found],
        "simple": [simple_delta(spread.upper, n) if isfinite(spread.upper) else None for n in sizes],
    }


def _records(source: Source, delta: float, gamma: float, confidence: float) -> NeededAnswer:
    found = assessment.records_of(source, delta, gamma, confidence)
    return {
        "delta": delta,
        "exact": _whole(found.exact),
        "certified": _whole(found.certified),
        "simple": _whole(found.simple),
    }


def _coarsened(source: Source, q: MisQuestion, n: int, gamma: float) -> CoarsenedAnswer:
    if max(q.coarsen_to or (1,)) > source.categories:
        raise Problem(
            "out-of-range",
            f"coarsen_to: need at most the {source.categories} categories there are",
            field="coarsen_to",
        )
    rows = assessment.coarsened(source, q.coarsen_to or (), n, gamma, q.confidence, q.delta)
    return {
        "cells": [row.cells for row in rows],
        "merge": [row.merge for row in rows],
        "c_k": [row.c_k for row in rows],
        "delta": [row.delta for row in rows],
        "delta_upper": [row.delta_upper for row in rows],
        "cells_upper": [row.cells_upper for row in rows],
        "kept": [row.kept for row in rows],
        "records": [None if row.records is None else _whole(row.records) for row in rows],
    }


def _cautions(q: MisQuestion, source: Source) -> list[Caution]:
    found = [AVERAGES]
    if q.nonmember_share is None:
        found.append(WORST)
    if isinstance(source, Tally):
        if source.universe is None:
            found.append(UNKNOWN)
        if source.seen[0] == 1 and 2 * int(source.times[0]) > source.records:
            found.append(SINGLES)
    return found


def _whole(value: float) -> int | None:
    return int(value) if value < inf else None


def _said(q: MisQuestion, source: Source, n: int, at: Estimate, share: float) -> str:
    sure = f" ({percent(q.confidence)} confidence)" if isinstance(source, Tally) else ""
    secure = f"any algorithm has a security of at least {at_least(1.0 - at.upper)}{sure}"
    most = at_most(accuracy(at.upper, share, q.member_weight))
    trivial = at_most(guess_accuracy(share, q.member_weight))
    attack = (
        f"no attack has an accuracy above {most}, against a baseline of {trivial} for guessing"
        f"{weighed(q.member_weight)}."
    )
    if q.nonmember_share is not None:
        return f"Trained on {n} such records, {secure}, at this share of nonmembers: {attack}"
    where = "as many nonmembers as members" if share == 0.5 else f"a share of nonmembers of {share:g}"
    return f"Trained on {n} such records, {secure}, whatever the share of nonmembers. With {where}, {attack}"


OPERATIONS: dict[str, Callable[[Call, Material], Reply]] = {
    "theory/mis": answer,
    "theory/mis-overfitting": overfitting_answer,
}
