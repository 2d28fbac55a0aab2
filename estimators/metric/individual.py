"""The metric of one record: what it would be over records with the same score (MACE, Definition 6, Theorem 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.metric.definition import Cut, Metric
from estimators.metric.estimate import metric_optimum
from estimators.risk.cells import cell_risks
from estimators.sample.counts import Counts, require_data
from estimators.statement import Caution, Guarantee

Floats = NDArray[np.float64]
Masked = np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, eq=False)
class IndividualMetric:
    """The metric of one record, a row for each cell; values that are 0/0 there, or without a record, are masked.

    Attributes:
        values: The metric of a record whose score lies in the cell.
        lower: Lower ends of its interval.
        upper: Upper ends of its interval.
        cut: The rule that guesses: the ``threshold`` on the posterior, and whether member is guessed ``above`` it.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of one cell
            that was named in advance.
        guarantee: What the intervals cover and assume.
        cautions: What to know before using the numbers.

    Example:
        >>> from estimators import Counts, individual_metric, preset
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> individual_metric(counts, preset("accuracy", 0.5)).guarantee.covers
        'accuracy of one cell named in advance, under the rule with threshold 0.5'
    """

    values: Masked
    lower: Masked
    upper: Masked
    cut: Cut
    confidence: float
    guarantee: Guarantee
    cautions: tuple[Caution, ...]


def individual_metric(
    counts: Counts, metric: Metric, prior: float = 0.5, confidence: float = 0.95, seed: int = 0
) -> IndividualMetric:
    """Each cell's metric under the optimal rule, with the exact range over the interval of its posterior.

    The value depends on r and q through the posterior alone and is monotone on each side of the rule's
    threshold, so the ends and the two limits at the threshold are all that can be extreme: no optimiser
    (erratum E9). Where the threshold depends on the data (Lemma 3) it is estimated, and that is said.

    Args:
        counts: Counts of both sides (``Counts``).
        metric: The metric, such as ``preset("accuracy", prior)``.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of one cell
            that was named in advance.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        an ``IndividualMetric``.

    Example:
        >>> from estimators import Counts, individual_metric, preset
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> rows = individual_metric(counts, preset("accuracy", 0.5))
        >>> for value, lower, upper in zip(rows.values, rows.lower, rows.upper):
        ...     print(round(value, 3), round(lower, 3), round(upper, 3))
        0.714 0.594 0.816
        0.571 0.5 0.689
        0.833 0.715 0.917
    """
    require_data(counts, Counts)
    cells = cell_risks(counts, prior, confidence)
    threshold_known = metric.has_known_threshold
    cut = (
        metric.known_cut(prior)
        if threshold_known
        else metric_optimum(counts, metric, prior, seed=seed, shuffles=1).cut
    )
    low, high = ((1.0 + end) / 2.0 for end in (cells.signed.lower, cells.signed.upper))  # f = 2 eta - 1
    lower, upper = metric.individual_range(low, high, cut)
    values = metric.individual_value(cells.posterior.filled(0.5), cut)
    unknown = np.ma.getmaskarray(cells.posterior)
    at = f"threshold {cut.threshold:.4g}" if cut.threshold is not None else "a constant rule"
    estimated = Caution(
        "threshold_estimated", f"the optimal threshold depends on the data; ranges are for {at}"
    )
    return IndividualMetric(
        np.ma.masked_where(unknown | np.isnan(values), values),
        np.ma.masked_invalid(lower),
        np.ma.masked_invalid(upper),
        cut,
        confidence,
        Guarantee(
            f"{metric.name} of one cell named in advance, under the rule with {at}",
            cells.signed.guarantee.assumes,
            cells.signed.guarantee.finite_sample and threshold_known,
        ),
        cells.cautions if threshold_known else (*cells.cautions, estimated),
    )
