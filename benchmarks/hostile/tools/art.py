"""Adversarial Robustness Toolbox: its black-box attack, a random forest trained on one half and judged on the other."""

from importlib import import_module

import numpy as np

from benchmarks.hostile.question import NotAsked, Question, Statement

NAME = "ART"
NEEDS = "adversarial-robustness-toolbox==1.20.1"
RUNS = 10


def ask(question: Question) -> Statement:
    """What its guesses are worth on the halves they were not learned from."""
    if question.members.dtype.kind != "f" or question.prior != 0.5 or len(question.members) > 20_000:
        raise NotAsked("numbers, a prior of 1/2, at most 20,000 records a side (a forest)")
    sides = [side.reshape(len(side), -1) for side in (question.members, question.nonmembers)]
    width = sides[0].shape[1]
    target = import_module("art.estimators.classification").BlackBoxClassifier(
        lambda rows: rows, (width,), max(2, width)
    )
    attack = import_module("art.attacks.inference.membership_inference").MembershipInferenceBlackBox(
        target, attack_model_type="rf"
    )
    halves = [(side[: len(side) // 2], side[len(side) // 2 :]) for side in sides]
    attack.fit(pred=halves[0][0], test_pred=halves[1][0])
    tpr, fpr = (float(np.mean(attack.infer(None, None, pred=half[1]))) for half in halves)
    return Statement(tpr - fpr)
