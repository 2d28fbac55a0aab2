"""The metric of one record: what it would be over records with the same score (MACE, Definition 6, Theorem 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from estimators.metric.definition import Cut, Metric
from estimators.metric.estimate import metric_optimum
from estimators.python.dataclass import dataclass, replace
from estimators.risk.cells import CellRisks, cell_risks
from estimators.sample.counts import Counts, require_data
from estimators.statement import Caution, Guarantee

Masked: TypeAlias = "np.ma.MaskedArray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, eq=False)
class IndividualMetric:
    """The metric of one record, a row for each cell; values that are 0/0 there, or without a record, are masked.

    Attributes:
        metric: The metric.
        values: The metric of a record whose score lies in the cell.
        lower: Lower ends of its interval.
        upper: Upper ends of its interval.
        cut: The rule that guesses: the ``threshold`` on the posterior, and whether member is guessed ``above`` it.
        guesses_member: What the rule guesses in the cell; masked where no record fell.
        on_threshold: Whether the cell's interval contains the threshold, so that either guess may be right. If the
            threshold is estimated the range is that of both guesses, and the value that of the one which has any.
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

    metric: Metric
    values: Masked
    lower: Masked
    upper: Masked
    cut: Cut
    guesses_member: np.ma.MaskedArray[tuple[int], np.dtype[np.bool_]]
    on_threshold: NDArray[np.bool_]
    confidence: float
    guarantee: Guarantee
    cautions: tuple[Caution, ...]

    @property
    def n_undefined(self) -> int:
        """Cells that have records and no value: the metric is 0/0 under what the rule guesses there."""
        return int((np.ma.getmaskarray(self.values) & ~np.ma.getmaskarray(self.guesses_member)).sum())


def individual_metric(
    counts: Counts,
    metric: Metric,
    prior: float = 0.5,
    confidence: float = 0.95,
    seed: int = 0,
    cut: Cut | None = None,
    reuse: CellRisks | None = None,
) -> IndividualMetric:
    """Each cell's metric under the optimal rule, with the exact range over the interval of its posterior.

    The value depends on r and q through the posterior alone and is monotone on each side of the rule's
    threshold, so the ends and the two limits at the threshold are all that can be extreme: no optimiser
    (erratum E9). Where the threshold depends on the data (Lemma 3) it is estimated, and that is said.

    Args:
        counts: Counts of both sides (``Counts``).
        metric: The metric, such as ``preset("accuracy", prior)``.
        prior, seed: As for ``advantage``.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of one cell
            that was named in advance.
        cut: The rule. None: that of ``metric_optimum`` of the same counts and seed.
        reuse: The risks of the same counts, if there are any: their limits are taken.

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
    cells = cell_risks(counts, prior, confidence) if reuse is None else reuse
    threshold_known = metric.has_known_threshold
    if cut is None:
        cut = metric.known_cut(prior) if threshold_known else metric_optimum(counts, metric, prior, seed=seed).cut
    low, high = ((1.0 + end) / 2.0 for end in (cells.signed.lower, cells.signed.upper))  # f = 2 eta - 1
    lower, upper = metric.individual_range(low, high, cut)
    posterior, unknown = cells.posterior.filled(0.5), np.ma.getmaskarray(cells.posterior)
    values, on_threshold = metric.individual_value(posterior, cut), np.zeros(counts.size, dtype=np.bool_)
    if cut.threshold is not None:  # Theorem 4 asks that no cell stands there; precision's best one does
        on_threshold = (low <= cut.threshold) & (cut.threshold <= high) & ~unknown
    # the threshold may lie on either side of the whole interval, so either guess may be right
    if not threshold_known:
        for guess in (Cut(None, above=True), Cut(None, above=False)):
            least, most = metric.individual_range(low, high, guess)
            lower = np.where(on_threshold, np.fmin(lower, least), lower)
            upper = np.where(on_threshold, np.fmax(upper, most), upper)
            other = metric.individual_value(posterior, guess)
            values = np.where(on_threshold & np.isnan(values), other, values)
    at = f"threshold {cut.threshold:.4g}" if cut.threshold is not None else "a constant rule"
    result = IndividualMetric(
        metric,
        np.ma.masked_where(unknown | np.isnan(values), values),
        np.ma.masked_invalid(lower),
        np.ma.masked_invalid(upper),
        cut,
        np.ma.masked_where(unknown, cut.guesses(posterior)),
        on_threshold,
        cells.signed.confidence,
        Guarantee(
            f"{metric.name} of one cell named in advance, under the rule with {at}",
            cells.signed.guarantee.assumes,
            finite_sample=False,
        ),
        cells.cautions,
    )
    return replace(result, cautions=(*cells.cautions, *_cautions(result, threshold_known, at)))


def _cautions(result: IndividualMetric, threshold_known: bool, at: str) -> Iterator[Caution]:
    if not threshold_known:
        yield Caution("threshold_estimated", f"the optimal threshold depends on the data; ranges are for {at}")
    if result.n_undefined:
        yield Caution(
            "metric_undefined",
            f"{result.metric.name} has no value in {result.n_undefined} of {len(result.values)} cells: it is 0/0 "
            "under what the rule guesses there",
        )
