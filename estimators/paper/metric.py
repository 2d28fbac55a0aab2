"""The largest value of a metric as the paper estimates it (MACE, section 5.2, Algorithms 2 and 3).

The posterior is learned on one part of the records, the rule that cuts it judged on another. Literal but for Eq. 20's
rates, which are weighted by the prior instead of the sample's member share (erratum E21). There is no interval.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from estimators.arrays import Floats, Integers, distinct
from estimators.density.space import EqualWidth, Kernel, densities_of
from estimators.errors import NotFinite, OutOfRange, TooFewRecords, require_open_unit
from estimators.metric.bounds import posteriors
from estimators.metric.definition import Cut, Metric
from estimators.paper.risk import RecordRisk, cells_of, kernel_of
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Caution

HALVES = np.array([0.5, 0.5])
THIRDS = np.array([1.0, 1.0, 1.0]) / 3.0

FEW_GUESSES = 30  # guesses of which a share is stated, below which that share is mostly chance


@dataclass(frozen=True, slots=True)
class PaperMetric:
    """What the paper's Algorithm 2 (threshold known) or 3 (threshold learned) prints; None for 0/0.

    Attributes:
        algorithm: 2 or 3.
        value: The rule's value on records it was not learned from.
        cut: The rule: the ``threshold`` on the posterior, and whether member is guessed ``above`` it.
        records: How many records these are.
        member_guesses: How many of them it guesses member.
        estimator: How the posterior was learned: ``histogram`` or ``kde``.
        cautions: What to know before using the number.
    """

    algorithm: int
    value: float | None
    cut: Cut
    records: int
    member_guesses: int
    estimator: Literal["histogram", "kde"]
    cautions: tuple[Caution, ...] = ()


def paper_metric(
    data: Scores | Counts, metric: Metric, prior: float, seed: int = 0, reading: EqualWidth | Kernel | None = None
) -> PaperMetric:
    """Algorithm 2 where Lemma 2 knows the threshold, else Algorithm 3.

    Args:
        data, prior, seed: As for ``advantage``.
        metric: The metric, such as ``preset("precision", prior)``.
        reading: How the posterior of a continuous score is learned: ``EqualWidth(bins)`` or ``Kernel(bandwidth)``.
            None: kernel densities with Scott's bandwidth, or slices where these scores have none; counts by their
            cells.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, preset
        >>> from estimators.paper import Kernel, paper_metric
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, 2000), rng.normal(0, 1, 2000))
        >>> accuracy = paper_metric(scores, preset("accuracy", 0.5), 0.5, reading=Kernel())
        >>> accuracy.algorithm, round(accuracy.value, 2)
        (2, 0.67)
    """
    return paper_metrics(data, [metric], prior, seed, reading)[0]


def paper_metrics(
    data: Scores | Counts,
    metrics: Sequence[Metric],
    prior: float,
    seed: int = 0,
    reading: EqualWidth | Kernel | None = None,
) -> list[PaperMetric]:
    """Several metrics of the same records: what ``paper_metric`` gives for each, from posteriors learned once.

    Args:
        data, prior, seed: As for ``advantage``.
        metrics: The metrics, such as ``[preset("accuracy", prior), preset("f_beta", prior)]``.
        reading: As in ``paper_metric``.

    Example:
        >>> from estimators import Counts, preset
        >>> from estimators.paper import paper_metrics
        >>> counts = Counts.of([40, 60], [70, 30])
        >>> [each.algorithm for each in paper_metrics(counts, [preset("accuracy", 0.5), preset("f_beta", 0.5)], 0.5)]
        [2, 3]
    """
    parts: dict[bool, list[Part]] = {}

    def measured(metric: Metric) -> PaperMetric:
        known = metric.has_known_threshold
        if known not in parts:
            parts[known] = list(_parts(data, reading, HALVES if known else THIRDS, prior, seed))
        return _with_known_cut(metric, prior, parts[True]) if known else _with_learned_cut(metric, prior, parts[False])

    try:
        return [measured(metric) for metric in metrics]
    except (NotFinite, OutOfRange):
        if reading is not None:
            raise
        # scores at the ends of what a float holds
        return paper_metrics(data, metrics, prior, seed, EqualWidth())


def algorithm_2(
    data: Scores | Counts, metric: Metric, prior: float, seed: int = 0, reading: EqualWidth | Kernel | None = None
) -> PaperMetric:
    """Learn the posterior on S1, cut it at the known threshold, evaluate on S2 (MACE, Algorithm 2)."""
    return _with_known_cut(metric, prior, list(_parts(data, reading, HALVES, prior, seed)))


def algorithm_3(
    data: Scores | Counts, metric: Metric, prior: float, seed: int = 0, reading: EqualWidth | Kernel | None = None
) -> PaperMetric:
    """Learn the posterior on S1, the threshold on S2, evaluate on S3 (MACE, Algorithm 3).

    The rule cuts the estimated posterior, sgn(eta^ - t^), not the true one as in Theorem 9 (erratum E20).
    """
    return _with_learned_cut(metric, prior, list(_parts(data, reading, THIRDS, prior, seed)))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Members and nonmembers of one part of the records where they stand, and the posterior there, learned on another.

    They stand in cells, or each record by itself.
    """

    members: Integers
    nonmembers: Integers
    eta: Floats
    estimator: Literal["histogram", "kde"]


def _parts(
    data: Scores | Counts, reading: EqualWidth | Kernel | None, shares: Floats, prior: float, seed: int
) -> Iterator[Part]:
    """The parts after the first, on which the posterior is learned."""
    prior = require_open_unit("prior", prior)
    if min(data.n_members, data.n_nonmembers) < len(shares):
        raise TooFewRecords(f"metric: need at least {len(shares)} records on a side", field="members")
    rng = np.random.default_rng(seed)
    kernel = kernel_of(data, reading)
    if kernel is None or not isinstance(data, Scores):
        counts = cells_of(data, reading)
        has_steps = counts.cells.kind in ("intervals", "grid")  # else a value or a label is a cell of its own
        if isinstance(data, Counts) and has_steps:
            counts = counts.coarsen(resolution(counts.n_records))
        members, nonmembers = counts.blocks(shares, rng)
        eta = posteriors(members[0], nonmembers[0], prior)
        yield from (Part(a, b, eta, "histogram") for a, b in zip(members[1:], nonmembers[1:], strict=True))
        return
    sides = [
        np.split(side[rng.permutation(len(side))], np.rint(shares.cumsum() * len(side)).astype(int)[:-1])
        for side in (data.members, data.nonmembers)
    ]
    densities = densities_of(replace(data, members=sides[0][0], nonmembers=sides[1][0]), kernel.bandwidth, kernel.seed)
    for a, b in zip(sides[0][1:], sides[1][1:], strict=True):
        member = np.concatenate([np.ones(len(a), dtype=np.int64), np.zeros(len(b), dtype=np.int64)])
        eta = densities.at(np.concatenate([a, b]).astype(np.float64)).posterior(prior)
        yield Part(member, 1 - member, eta, "kde")


def _with_known_cut(metric: Metric, prior: float, parts: list[Part]) -> PaperMetric:
    (judge,) = parts
    return _evaluate(2, metric, prior, metric.known_cut(prior), judge)


def _with_learned_cut(metric: Metric, prior: float, parts: list[Part]) -> PaperMetric:
    choose, judge = parts
    eta = distinct(np.concatenate([choose.eta, judge.eta]) if judge.eta is not choose.eta else choose.eta)
    steps = eta[(eta > 0.0) & (eta < 1.0)]
    cuts = np.concatenate([[0.0], steps]) if steps.size else np.array([0.5])  # eta > 0 is what x -> 0 gives
    by_eta = choose.eta.argsort(kind="stable")
    below = choose.eta[by_eta].searchsorted(cuts, side="right")
    tpr, fpr = (
        1.0 - np.concatenate([[0], side[by_eta].cumsum()])[below] / side.sum()
        for side in (choose.members, choose.nonmembers)
    )
    value = metric.value(tpr, fpr, prior)
    worth = np.where(np.isnan(value), -np.inf, value)
    best = int(worth.argmax())
    above = metric.cut_at(float(worth[best]), prior).above if np.isfinite(worth[best]) else True
    if not above:  # Lemma 3's second case, "solved similarly": member below the threshold
        worth = np.nan_to_num(metric.value(1.0 - tpr, 1.0 - fpr, prior), nan=-np.inf)
        best = int(worth.argmax())
    return _evaluate(3, metric, prior, Cut(float(cuts[best]), above), judge)


def _evaluate(algorithm: int, metric: Metric, prior: float, cut: Cut, part: Part) -> PaperMetric:
    guesses = cut.guesses(part.eta)
    tp, fp = int(part.members[guesses].sum()), int(part.nonmembers[guesses].sum())
    value = float(metric.value(tp / part.members.sum(), fp / part.nonmembers.sum(), prior))
    records = int(part.members.sum() + part.nonmembers.sum())
    return PaperMetric(
        algorithm,
        None if np.isnan(value) else value,
        cut,
        records,
        tp + fp,
        part.estimator,
        tuple(_few_guesses(metric, prior, tp + fp, records)),
    )


def _few_guesses(metric: Metric, prior: float, accused: int, records: int) -> Iterator[Caution]:
    """A share of the guesses of one kind, as precision and NPV are, where there are few of these guesses."""
    for corner, guesses, word in ((0.0, accused, "accuses"), (1.0, records - accused, "does not accuse")):
        if np.isnan(metric.value(corner, corner, prior)) and guesses < FEW_GUESSES:
            yield Caution(
                "few_paper_guesses",
                f"the paper's {metric.name.replace('_', ' ')} is a share of the {guesses} records that its rule "
                f"{word}, of {records} that it was judged on: of fewer than {FEW_GUESSES} it is mostly chance; decide "
                "by the certified interval",
            )


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
        prior, seed: As for ``advantage``.
        reading: How a continuous score is read, as for ``risk``.

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
    posterior, low, high = ((1.0 + column) / 2.0 for column in (risk.risk.values, risk.risk.lower, risk.risk.upper))
    lower, upper = metric.individual_range(low, high, cut)
    values = metric.individual_value(np.where(np.isnan(posterior), 0.5, posterior), cut)
    return RecordMetric(metric, np.where(np.isnan(posterior), np.nan, values), lower, upper, cut, None if known else 3)
