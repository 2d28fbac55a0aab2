"""The largest value of a metric over adversaries, with an interval for the truth beside the point.

Below, rules chosen on past records are judged on future ones: the pooled outcome is a mediant of their
metrics, so it cannot exceed the best one. Above, the best rule of a declared class looks at least as good
on its own records as it is. Both ends carry exact limits of the rates through MOVER-Fieller (study 2.4).
"""

from collections.abc import Sequence
from operator import attrgetter

from estimators.adversary.holdout import ORDERS
from estimators.adversary.lower_end import FEWEST_RECORDS, OF_MANY_CHANGES
from estimators.adversary.many_changes import HINT, gain_by_changes
from estimators.adversary.targets import CellsTarget
from estimators.errors import MetricError, TooFewRecords, require_count, require_open_unit
from estimators.metric.bounds import (
    HeldOutMetric,
    Objective,
    View,
    finer_views,
    held_out,
    in_sample,
    metric_range,
    optimum,
    upper_limit,
    views_of,
)
from estimators.metric.definition import Cut, Degeneracy, Metric
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage, times
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts, require_data
from estimators.statement import (
    IID,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    Provenance,
    at_least,
    at_most,
    percent,
    sorted_into,
)

WIDE = 0.5  # from this width on an interval of a share of few guesses is warned of
LEAST_RECORDS = 3  # one of each side to learn from, one to choose by and one to judge on


@dataclass(frozen=True, slots=True)
class MetricEstimate:
    """The optimum of a metric: estimate, interval, the rule behind it, and what it is worth.

    ``metric_optimum`` makes it.

    Attributes:
        metric: The metric.
        estimate: The point estimate with its interval and guarantee.
        resubstitution: The best rule's value on the records it was chosen on, which flatters it.
        held_out: The value of rules on records they had not seen.
        cut: The best rule: the ``threshold`` on the posterior, and whether member is guessed ``above`` it.
        trivial: The value of guessing without the score.
        degeneracy: Why the optimum says nothing about leakage, as for recall; None if it does say something.
        share_limits: Least and greatest share of records that the adversary may guess member.
        resolution: How many cells the score was joined to.
        leader: Which family of adversaries set the lower end.
        class_rejected: Whether the two ends contradict each other; the upper end is then the largest value there is.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.

    Example:
        >>> from estimators import Counts, metric_optimum, preset
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> best = metric_optimum(counts, preset("accuracy", 0.5))
        >>> best.threshold, best.direction, best.trivial, best.degenerate
        (0.5, 'above', 0.5, False)
    """

    metric: Metric
    estimate: Estimate
    resubstitution: float
    held_out: float
    cut: Cut
    trivial: float
    degeneracy: Degeneracy | None
    share_limits: tuple[float, float]
    resolution: int
    leader: str
    class_rejected: bool
    cautions: tuple[Caution, ...]
    provenance: Provenance

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.metric.name

    @property
    def value(self) -> float:
        """The point estimate."""
        return float(self.estimate.value if self.estimate.value is not None else self.trivial)

    @property
    def interval(self) -> Interval:
        """Interval for the optimum."""
        return self.estimate.interval

    @property
    def threshold(self) -> float | None:
        """Posterior at which the best rule changes its guess; None if its guess is constant."""
        return self.cut.threshold

    @property
    def direction(self) -> str:
        """On which side of the threshold it guesses member."""
        return "above" if self.cut.above else "below"

    @property
    def degenerate(self) -> bool:
        """Whether the optimum by itself says nothing about leakage."""
        return self.degeneracy is not None

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        low, high = self.share_limits
        limit = f", guessing member for at least {100 * low:.3g}% of all records" if low > 0.0 else ""
        limit += f", guessing nonmember for at least {100 * (1 - high):.3g}% of all records" if high < 1.0 else ""
        return (
            f"With {percent(self.interval.confidence)} confidence the best {self.name.replace('_', ' ')} of "
            f"an attacker who reads this score, {sorted_into(self.resolution)}{limit}, is between "
            f"{at_least(self.interval.lower)} and {at_most(self.interval.upper)}; guessing without the score gives "
            f"{self.trivial:.3f}."
        )


def metric_optimum(
    counts: Counts,
    metric: Metric,
    prior: float = 0.5,
    min_positive_share: float | None = None,
    confidence: float = 0.95,
    bins: int | None = None,
    seed: int = 0,
    shuffles: int = ORDERS,
    reuse: Advantage | None = None,
) -> MetricEstimate:
    """Estimate the largest value of ``metric`` over adversaries at ``prior``.

    Where the metric is a line in accuracy its optimum is the advantage's. Ordered cells are joined to ``bins`` of
    equal mass; every single cut of the score competes too.

    Args:
        counts: Counts of both sides (``Counts``).
        metric: The metric, such as ``preset("precision", prior)``, or your own ``Metric``.
        prior, confidence, seed, shuffles: As for ``advantage``.
        min_positive_share: Least share of all records that the adversary must guess member (for NPV: nonmember), from 0
            up to but not including 1. None: 5% for metrics such as precision, which would otherwise be best for an
            adversary who hardly ever guesses; else 0.
        bins: Into how many cells of about equal size scores with an order are joined, at least 2. None: the cube root
            of the number of records, at least 4. Categories stay as they are.
        reuse: The ``Advantage`` of the same counts with the same options, if there is one: it is not computed again. Of
            rows that come in clusters it is that of all rows, and the counts are those of ``lone_rows``.

    Raises:
        MetricError: no metric at this prior, for example because every adversary has the same value.
        TooFewRecords: fewer than 3 records on a side.

    Example:
        >>> from estimators import Counts, metric_optimum, preset
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> print(metric_optimum(counts, preset("precision", 0.5)).sentence)
        With 95% confidence the best precision of an attacker who reads this score, sorted into 3 groups of similar
        values, guessing member for at least 5% of all records, is between 0.683 and 1.000; guessing without the score
        gives 0.500.
    """
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    require_count("shuffles", shuffles)
    require_count("seed", seed, 0)
    require_data(counts, Counts)
    if not isinstance(metric, Metric):
        raise MetricError.about("metric", f"got {type(metric).__name__}, need a Metric such as preset(name, prior)")
    if bins is not None:
        require_count("bins", bins, 2)
    objective = Objective.of(metric, prior, min_positive_share)
    least = min(counts.n_members, counts.n_nonmembers)
    if least < LEAST_RECORDS:
        raise TooFewRecords(f"metric: got {least} records on a side, need at least {LEAST_RECORDS}", field="members")
    alpha = (1.0 - confidence) / 2.0
    fine, views = views_of(counts, bins)
    cells = views[0].counts(fine)
    why, best = metric.degeneracy(prior), optimum(cells, objective)
    low, high = metric_range(objective)
    line = metric.line_in_accuracy(prior)
    resolution = cells.size
    if line is not None and not objective.constrained:
        target = CellsTarget(bins)
        if reuse is not None and reuse.target == target:
            result = reuse
        else:
            result = advantage(counts, prior, target, confidence, seed, shuffles)
        point, lower, upper = (line[0] + line[1] * (1.0 + v) / 2.0 for v in (result.value, result.lower, result.upper))
        value, leader, rejected = point, result.leader, result.class_rejected
        guarantee, resolution = result.estimate.interval.guarantee, result.resolution
    else:
        below, changes = _lower_end(counts, fine, views, objective, alpha, seed, shuffles)
        upper, lower, value, leader = (
            upper_limit(fine, views, objective, alpha, changes),
            below.lower,
            below.value,
            below.leader,
        )
        rejected = upper < lower
        upper = high if rejected else upper
        flattered = next((in_sample(fine, view, objective) for view in views if view.name == leader), value)
        point = min(high, max(low, objective.trivial, (value + flattered) / 2.0))
        guarantee = _guarantee(objective, cells.size, fine.cells.ordered, changes)
    interval = Interval(lower, upper, confidence, guarantee)
    threshold_known = metric.has_known_threshold and not objective.constrained
    cut = metric.known_cut(prior) if threshold_known else best.cut if best.binding else metric.cut_at(point, prior)
    return MetricEstimate(
        metric,
        Estimate(point, interval),
        best.value,
        value,
        cut,
        objective.trivial,
        why,
        (objective.low, objective.high),
        resolution,
        leader,
        rejected,
        (*counts.doubts, *_cautions(objective.metric.name, why, cells, rejected), *_wide(objective, interval)),
        Provenance("metric+progressive", VERSION, counts.n_members, counts.n_nonmembers, prior, seed),
    )


def is_line(metric: Metric, prior: float, min_positive_share: float | None = None) -> bool:
    """Whether the optimum is that of the advantage: then what clusters cost it is known, too."""
    constrained = Objective.of(metric, prior, min_positive_share).constrained
    return metric.line_in_accuracy(prior) is not None and not constrained


def _lower_end(
    counts: Counts, fine: Counts, views: Sequence[View], objective: Objective, alpha: float, seed: int, shuffles: int
) -> tuple[HeldOutMetric, int | None]:
    """What rules achieve on unseen records, and how many changes of guess along the score are evident.

    Rules with many changes have a part of the level of their own, whether there is a sign of them or not.
    """
    if not counts.cells.ordered or counts.n_records < FEWEST_RECORDS or len(views[0].starts) == fine.size:
        return held_out(fine, views, objective, alpha, seed, shuffles), None
    below = held_out(fine, views, objective, alpha * (1.0 - OF_MANY_CHANGES), seed, shuffles)
    changes = gain_by_changes(counts)
    if changes.beyond > HINT:
        many = held_out(fine, finer_views(fine), objective, alpha * OF_MANY_CHANGES, seed, shuffles)
        below = max(below, many, key=attrgetter("lower"))
    return below, changes.evident


def _guarantee(objective: Objective, resolution: int, ordered: bool, changes: int | None) -> Guarantee:
    more = "cut it once" if changes is None else f"change their guess {times(changes)} along it"
    who = f"adversaries that see the score at a resolution of {resolution} cells"
    who += f" or {more}" if ordered else ""
    limits = ""
    if objective.constrained:
        limits = f" and guess member for {100 * objective.low:.3g}% to {100 * objective.high:.3g}% of all records"
    return Guarantee(f"the largest {objective.metric.name} of {who}{limits}", IID, finite_sample=False)


def _cautions(name: str, why: Degeneracy | None, cells: Counts, rejected: bool) -> list[Caution]:
    cautions = cells.cautions()
    if why is not None:
        cautions.append(Caution("degenerate_optimum", f"{name}: {why.value}"))
    if rejected:
        message = (
            "the lower end lies above the upper end for adversaries at this resolution; "
            "the upper end is therefore the largest value there is"
        )
        cautions.append(Caution("class_rejected", message))
    return cautions


def _wide(objective: Objective, interval: Interval) -> list[Caution]:
    """Whether a share of few guesses is left open by so much that neither end says much alone."""
    if not objective.constrained or interval.width <= WIDE:
        return []
    message = (
        f"{objective.metric.name}: it is a share of few guesses, and these records leave open what is between "
        f"{at_least(interval.lower)} and {at_most(interval.upper)}: the lower end is shown, the upper end is only not "
        "ruled out; more records of both sides, or a larger min_positive_share, bring them nearer"
    )
    return [Caution("wide_interval", message)]
