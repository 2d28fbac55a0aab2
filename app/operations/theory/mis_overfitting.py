"""``/v1/theory/mis-overfitting``: how secure a learner is at most, given its losses."""

from __future__ import annotations

import numpy as np

from app.encoding import statements
from app.operations.answering import question_of, reply_of
from app.operations.theory.origin import origin
from estimators.statement import Caution, at_least, at_most, percent
from estimators.theory.mis.overfitting import Overfitting, overfitting
from estimators.theory.weights import accuracy, gamma_of, guess_accuracy
from macekit.call import Call, Reply
from macekit.decoding.body import Material
from macekit.schemas.theory.mis import MisOverfittingAnswer, MisOverfittingQuestion

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


def answer(call: Call, material: Material) -> Reply:
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
        "security": statements.interval(found.security),
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
        "warnings": statements.warnings(cautions),
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
