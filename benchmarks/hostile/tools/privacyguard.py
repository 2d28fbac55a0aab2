"""PrivacyGuard, by its formulas: the bootstrap of the best threshold's accuracy, and Clopper and Pearson's epsilon.

`AnalysisNode` of facebookresearch/PrivacyGuard: 1,000 resamples of as many records as the smaller side has, the 2.5 and
97.5 percentiles of the accuracy at equal sides, higher scores members'; epsilon from the first half of the records, at
every threshold, each limit at 97.5%, the largest ratio of 1 - fnr to fpr or of 1 - fpr to fnr.
"""

import numpy as np
from scipy.stats import beta

from benchmarks.hostile.question import Column, Covers, NotAsked, Question, Statement
from benchmarks.hostile.tools.roc import above

NAME = "PrivacyGuard (formulas)"
RUNS = 40
RESAMPLES = 1000


def ask(question: Question) -> Statement:
    if not question.is_number or question.prior != 0.5 or len(question.members) > 20_000:
        raise NotAsked("one number a record, a prior of 1/2, at most 20,000 records a side (a thousand resamples)")
    rng = np.random.default_rng(0)
    members, nonmembers = question.members, question.nonmembers
    size = min(len(members), len(nonmembers))
    gains = np.sort(
        [
            _gain(members[rng.integers(0, len(members), size)], nonmembers[rng.integers(0, len(nonmembers), size)])
            for _ in range(RESAMPLES)
        ]
    )
    lower, upper = gains[int(0.025 * RESAMPLES) - 1], gains[int(0.975 * RESAMPLES)]
    epsilon = _epsilon(members, nonmembers)
    return Statement(float(gains.mean()), float(lower), float(upper), Covers.MEMBERS_ABOVE, epsilon, bool(lower > 0.0))


def _gain(members: Column, nonmembers: Column) -> float:
    """Twice the accuracy of the best threshold, less 1."""
    tp, fp = above(members, nonmembers)
    return float((tp / len(members) - fp / len(nonmembers)).max())


def _epsilon(members: Column, nonmembers: Column) -> float:
    size = min(len(members), len(nonmembers)) // 2
    tp, fp = above(members[:size], nonmembers[:size])
    tp, fp = tp[1:], fp[1:]
    fnr, fpr = (
        np.where(errors == size, 1.0, beta.isf(0.025, errors + 1, np.maximum(size - errors, 1)))
        for errors in (size - tp, fp)
    )
    ratio = max(((1.0 - fnr) / (fpr + 1e-30)).max(), ((1.0 - fpr) / (fnr + 1e-30)).max())
    return max(0.0, float(np.log(ratio + 1e-30)))
