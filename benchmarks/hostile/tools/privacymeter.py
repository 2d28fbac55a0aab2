"""Privacy Meter: the ROC curve of its `MetricResult`, of which people take the largest distance from the diagonal."""

from importlib import import_module

import numpy as np

from benchmarks.hostile.question import NotAsked, Question, Statement

NAME = "Privacy Meter"
NEEDS = "privacy-meter==1.0.1"
RUNS = 120


def ask(question: Question) -> Statement:
    """It gives the curve of scores; the labels it also wants are those of the median."""
    if not question.is_number or question.prior != 0.5:
        raise NotAsked("one number a record, a prior of 1/2")
    scores = np.concatenate([question.members, question.nonmembers])
    labels = np.repeat([1, 0], [len(question.members), len(question.nonmembers)])
    result = import_module("privacy_meter.metric_result").MetricResult(
        "scores", scores >= np.median(scores), labels, predictions_proba=scores
    )
    fpr, tpr, _ = result.roc
    return Statement(float((tpr - fpr).max()))
