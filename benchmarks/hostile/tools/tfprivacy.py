"""TensorFlow Privacy, by its formulas: the largest |tpr - fpr|, and Bailey's bound of a ratio at every threshold.

`membership_inference_attack` of tensorflow/privacy: the advantage of a ROC curve, and as epsilon's lower bound the
largest, over thresholds, both sides and both directions, of Bailey's (1987) lower limit of the ratio of two rates at
95%.
"""

import numpy as np
from scipy.stats import norm

from benchmarks.hostile.question import NotAsked, Question, Statement
from benchmarks.hostile.tools.roc import Integers, above

NAME = "TF Privacy (formulas)"
RUNS = 300


def ask(question: Question) -> Statement:
    if not question.is_number or question.prior != 0.5:
        raise NotAsked("one number a record, a prior of 1/2")
    n, m = len(question.members), len(question.nonmembers)
    tp, fp = above(question.members, question.nonmembers)
    ratios = [bailey(tp, fp, n, m), bailey(m - fp, n - tp, m, n)]
    ratios += [bailey(fp, tp, m, n), bailey(n - tp, m - fp, n, m)]
    bound = max(float(each.max()) for each in ratios)
    epsilon = float(np.log(bound)) if bound > 0.0 else 0.0
    return Statement(float(np.abs(tp / n - fp / m).max()), None, None, None, max(0.0, epsilon), epsilon > 0.0)


def bailey(hits: Integers, others: Integers, n: int, m: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Lower limit of the ratio of hits / n to others / m: no others count as half of one, all records as half fewer."""
    z = float(norm.isf(0.05))
    y1, y2 = np.where(hits == n, n - 0.5, hits), np.where(others == m, m - 0.5, np.maximum(others, 0.5))
    q1, q2 = 1.0 - y1 / n, 1.0 - y2 / m
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(q1 / y1 + q2 / y2 - z**2 * q1 * q2 / (9.0 * y1 * y2))
        limit = y1 / n / (y2 / m) * ((1.0 - z / 3.0 * spread) / (1.0 - z**2 * q2 / (9.0 * y2))) ** 3
    return np.where(y1 > 0, limit, 0.0)
