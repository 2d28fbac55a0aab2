"""The metric of one record as the paper states it (MACE, Definition 6 and Theorem 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.density.readings import EqualWidth, Kernel
from estimators.metric.definition import Cut, Metric
from estimators.paper.metric import paper_metric
from estimators.paper.risk import RecordRisk
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordMetric:
    """The metric of each record, from its f_p and the interval of that; NaN where the metric is 0/0 there.

    Attributes:
        metric: The metric.
        values: The metric over records with the same score, under the rule.
        lower: The least value for any f_p in the interval.
        upper: The largest.
        cut: The rule that guesses: the ``threshold`` on the posterior, and whether member is guessed ``above`` it.
        algorithm: 3 if Algorithm 3 learned the threshold, None if Lemma 2 knows it.
    """

    metric: Metric
    values: Floats
    lower: Floats
    upper: Floats
    cut: Cut
    algorithm: int | None


def record_metric(
    data: Scores | Counts,
    risk: RecordRisk,
    metric: Metric,
    prior: float,
    seed: int = 0,
    reading: EqualWidth | Kernel | None = None,
) -> RecordMetric:
    """Eq. 18 at each record's f_p, and its range over the interval (Theorem 4), under the rule of Lemma 2 or 3.

    Args:
        data: What ``risk`` was made of; where Lemma 2 does not know the threshold, Algorithm 3 learns it from these.
        risk: What ``record_risk`` gives.
        metric: The metric, such as ``preset("accuracy", prior)``.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        reading: How a continuous score is read, as for ``risk``.

    Returns:
        a ``RecordMetric``.

    Example:
        >>> from estimators import Scores, preset
        >>> from estimators.paper import record_metric, record_risk
        >>> scores = Scores.of(["a"] * 60 + ["b"] * 40, ["a"] * 20 + ["b"] * 80)
        >>> risk = record_risk(scores, prior=0.5)
        >>> rows = record_metric(scores, risk, preset("accuracy", 0.5), 0.5)
        >>> rows.values[[0, -1]].round(3).tolist()  # accuracy of the optimal guess for an "a" and for a "b"
        [0.75, 0.667]
    """
    known = metric.has_known_threshold
    cut = metric.known_cut(prior) if known else paper_metric(data, metric, prior, seed, reading).cut
    posterior, low, high = (
        (1.0 + column) / 2.0 for column in (risk.risk.values, risk.risk.lower, risk.risk.upper)
    )
    lower, upper = metric.individual_range(low, high, cut)
    values = metric.individual_value(np.where(np.isnan(posterior), 0.5, posterior), cut)
    return RecordMetric(
        metric, np.where(np.isnan(posterior), np.nan, values), lower, upper, cut, None if known else 3
    )
