"""A claimed (epsilon, delta) beside the records: what theory allows, what was measured, and whether they agree.

Each quantity has one interval, and the error is shared by all of them: with probability ``confidence`` no row says no
although the claim is true, and with half the error none says yes although its quantity is larger at the resolution its
guarantee names; at delta 0 both hold together. No upper end can do better without assumptions. A no holds at any
resolution. Three quantities are the same advantage in other units, so they share one interval.

**One run and delta.** Delta bounds what befalls a record on average over runs. One run may spend it on many records at
once: what prints every membership with probability delta is (0, delta)-DP, and so is what prints a share s of them with
probability delta/s, so spending delta of the error on the event is not enough. Given all else that a run let out, a
record's two laws are e^epsilon apart but for excesses whose means over runs are at most delta each. What a quantity can
be is a linear program with the excesses on its right-hand side, so the lines that are tight where all of them are
delta/beta bound it by a weighted sum of them everywhere (duality); by Markov's inequality it is above what
(epsilon, delta/beta) allows with probability beta at most. A row says no only beyond that. Its lower end misses with
half of the row's error, and beta is the half that the upper end would miss with, which is not needed for a no. Pure
epsilon-DP holds in every run, and nothing is added. Epsilon's own bound has its own price for delta.

What rows take for granted remains: scores that are independent draws given who is a member and what the run shares, and
for epsilon, records included each by a coin of its own, which members of a fixed number are not.
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Literal

from estimators.adversary.learned import learn_score
from estimators.errors import require_count, require_open_unit
from estimators.optimum.advantage import advantage
from estimators.privacy.closeness import epsilon_upper, tail_cells
from estimators.privacy.direction import Direction, direction_of
from estimators.privacy.epsilon import EMPIRICAL, IF_DRAWN, epsilon_lower_bound
from estimators.privacy.roc import FALSE_POSITIVE_RATES, operating_points
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import Caution, Estimate, Guarantee, Interval, at_least, at_most, baseline, exactly, percent
from estimators.theory.bounds import advantage_of, normalised
from estimators.theory.dp import Adjacency, ApproximateDp, DpCurve, Grant, Inclusion, grant_of
from estimators.theory.dp.promise import Envelope

__all__ = ["Agreement", "agreement"]

FIXED = Caution(
    "independent_inclusion",
    "epsilon's lower end is proven if each record is included independently of the others; here the number "
    "of members is fixed",
)
SHARED = (
    ", also given everything in a run that one record's membership does not change: delta may affect many records of "
    "one run at once, and a no takes that into account"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity: the largest value the claim allows, and what the records say; an upper end may be infinite.

    ``in_one_run`` is what the claim lets a run exceed only with the probability set aside for that.
    """

    quantity: str
    says: str
    ceiling: float
    in_one_run: float
    estimate: Estimate

    @property
    def agrees(self) -> Literal["yes", "no", "open"]:
        """``no`` if the lower end is above the ceiling of one run, ``yes`` if the upper end is at most ``ceiling``."""
        if self.estimate.lower > self.in_one_run:
            return "no"
        return "yes" if self.estimate.upper <= self.ceiling < inf else "open"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Every quantity of one claim; their intervals hold together with ``confidence``. ``agreement`` makes it.

    Attributes:
        epsilon: The claimed epsilon.
        delta: The claimed delta.
        prior: Probability that a record is a member before its score is seen.
        confidence: Probability that all intervals hold together.
        rows: One row for each quantity: what the claim allows, what the records say, and whether the two agree.
        cautions: What to know before using the numbers.
    """

    epsilon: float
    delta: float
    prior: float
    confidence: float
    rows: tuple[Row, ...]
    cautions: tuple[Caution, ...]

    @property
    def baseline(self) -> float:
        """The advantage of always guessing the likelier side."""
        return baseline(self.prior)

    @property
    def decision(self) -> Literal["contradicted", "not contradicted"]:
        """``contradicted`` if any row says no; that none does is no proof of the claim."""
        return "contradicted" if self._which("no") else "not contradicted"

    @property
    def sentence(self) -> str:
        """The outcome in plain words."""
        claim = f"epsilon {exactly(self.epsilon)} at delta {exactly(self.delta)}"
        sure, against = percent(self.confidence), self._which("no")
        if against:
            worst = against[0]
            average = f" of one run ({at_most(worst.ceiling)} on average)" if worst.in_one_run > worst.ceiling else ""
            return (
                f"The claim of {claim} is contradicted by {len(against)} of {len(self.rows)} quantities, all intervals "
                f"holding together with {sure} confidence: {worst.says} is at least "
                f"{at_least(worst.estimate.lower, beyond=worst.in_one_run)}, and the claim allows "
                f"{at_most(worst.in_one_run)}{average}, {self._assumption(worst)}. "
                f"Baseline of the advantage: {self.baseline:.3f}."
            )
        agreed = len(self._which("yes"))
        return (
            f"The claim of {claim} is not contradicted, which does not prove it: of {len(self.rows)} quantities "
            f"{agreed} are within what it allows, at the resolution of the score, and "
            f"{len(self.rows) - agreed} are open; all intervals hold together with {sure} "
            f"confidence. Baseline of the advantage: {self.baseline:.3f}."
        )

    @staticmethod
    def _assumption(row: Row) -> str:
        if row.quantity == "epsilon":
            return IF_DRAWN
        return "if scores are independent draws given who is a member"

    def _which(self, agrees: str) -> list[Row]:
        return [row for row in self.rows if row.agrees == agrees]


def agreement(
    data: Scores | Counts,
    epsilon: float,
    delta: float = 0.0,
    prior: float = 0.5,
    confidence: float = 0.95,
    rates: Sequence[float] = FALSE_POSITIVE_RATES,
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> Agreement:
    """Hold a claim against a sample: the advantage and what is made of it, TPR at each rate, and epsilon itself.

    What has no order has no rates. Of vectors, rates and epsilon are those of one learned score, on records that had no
    part in learning it.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        epsilon: The claimed epsilon, at least 0.
        delta: The claimed delta, from 0 up to but not including 1.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. It is that of all rows
            together.
        rates: False positive rates, each strictly between 0 and 1, at which to check the true positive rate.
        adjacency: Which training sets the claim compares: ``replace`` or ``add_remove``. None: the one that
            ``inclusion`` needs.
        inclusion: How records became members: ``fixed_number`` or ``independent``.
        direction: Which scores suggest membership: ``high``, ``low`` or ``either``.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Raises:
        MaceError: a number out of its range, or an adjacency that does not go with the inclusion.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.theory.agreement import agreement
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(2, 1, 500), rng.normal(0, 1, 500))
        >>> result = agreement(scores, epsilon=0.5)
        >>> print(result.sentence)
        The claim of epsilon 0.5 at delta 0 is contradicted by 5 of 10 quantities, all intervals holding together with
        95% confidence: the advantage at prior 0.5 is at least 0.642, and the claim allows 0.245, if scores are
        independent draws given who is a member. Baseline of the advantage: 0.000.
    """
    require_data(data, Scores, Counts)
    p, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    grant = grant_of(ApproximateDp(epsilon, delta), adjacency, inclusion)
    learned = None
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_score(data, p, require_count("seed", seed, 0))
    fine = data if isinstance(data, Counts) else finest(data) if learned is None else learned.counts
    ordered = _by_direction(direction) if fine.cells.ordered else {}
    tests = 2 + len(rates) * len(ordered)
    each = 1.0 - (1.0 - confidence) / tests
    curve = DpCurve((epsilon,), (delta / ((1.0 - each) / 2.0),))
    once = grant_of(curve, adjacency, inclusion).envelope
    rows: list[Row] = []
    best = advantage(fine if learned is None else data, p, confidence=each, seed=seed)
    rows.extend(_advantage(best.estimate, grant.envelope, once, delta, p))
    cautions = [*best.cautions, *(() if learned is None else (learned.caution,))]
    for which, low in ordered.items():
        rows.extend(_rates(fine, which, low, rates, grant.envelope, once, delta, each))
    epsilon_rows, epsilon_cautions = _epsilon(fine, grant, each, direction, seed)
    rows.extend(epsilon_rows)
    cautions.extend(epsilon_cautions)
    return Agreement(float(epsilon), float(delta), p, confidence, tuple(rows), tuple(dict.fromkeys(cautions)))


def _advantage(estimate: Estimate, envelope: Envelope, once: Envelope, delta: float, prior: float) -> Iterator[Row]:
    weights = prior, 1.0 - prior
    floor = baseline(prior)
    eta, most = envelope.gain(*weights), once.gain(*weights)
    estimate = _in_one_run(estimate, delta)
    ceiling, says = advantage_of(eta, prior), f"the advantage at prior {exactly(prior)}"
    yield Row("advantage", says, ceiling, advantage_of(most, prior), estimate)
    half = _scaled(estimate, floor, 2.0, "MIP's eta of this score: its accuracy above the better constant guess")
    yield Row("mip_eta", "MIP's eta", eta, most, half)
    share = _scaled(estimate, floor, 1.0 - floor, "MIS's Delta of this score at lambda 1: 1 less its security")
    ceiling, says = normalised(eta, *weights), "MIS's Delta, 1 less the security"
    yield Row("mis_delta", says, ceiling, normalised(most, *weights), share)


def _by_direction(direction: Direction | str) -> dict[str, bool]:
    """Which scores may speak for membership, and whether those are the low ones."""
    direction = direction_of(direction)
    both = {"high": False, "low": True}
    return {which: low for which, low in both.items() if direction in (Direction.EITHER, Direction(which))}


def _rates(
    counts: Counts,
    which: str,
    low: bool,
    rates: Sequence[float],
    envelope: Envelope,
    once: Envelope,
    delta: float,
    confidence: float,
) -> Iterator[Row]:
    for point in operating_points(counts, rates, confidence, low):
        ceiling, most = (min(1.0, float(each.tpr(point.fpr))) for each in (envelope, once))
        says = f"the TPR at FPR {exactly(point.fpr)}, {which} scores taken for members"
        name = f"tpr_at_fpr_{point.fpr:g}_{which}"
        yield Row(name, says, ceiling, most, _in_one_run(point.estimate, delta))


def _epsilon(
    fine: Counts, grant: Grant, confidence: float, direction: Direction | str, seed: int
) -> tuple[tuple[Row, ...], tuple[Caution, ...]]:
    """From below by guesses at the two ends of the scores, from above by what every set of cells allows."""
    if grant.pair is None:
        message = "the claim, about adding or removing one record, is none about replacing one at any epsilon"
        return (), (Caution("no_epsilon", message),)
    epsilon, delta = grant.pair
    bound = epsilon_lower_bound(fine, confidence, delta, direction, seed)
    cells = tail_cells(fine)
    upper = epsilon_upper(cells, delta, (1.0 - confidence) / 2.0, epsilon)
    high = inf if upper is None or upper < bound.value else upper
    covers = (
        f"the epsilon at delta {exactly(delta)}: the lower end is the mechanism's, at any resolution; the upper end is "
        f"that of this score's two distributions, at a resolution of {cells.size} cells, and not the mechanism's"
    )
    assumes, cautions = EMPIRICAL, bound.cautions
    if grant.fixed:
        assumes, cautions = f"{EMPIRICAL}; {FIXED.message}", (*cautions, FIXED)
    interval = Interval(bound.value, high, confidence, Guarantee(covers, assumes, delta == 0.0))
    row = Row("epsilon", f"epsilon at delta {exactly(delta)}", epsilon, epsilon, Estimate(None, interval))
    return (row,), cautions


def _in_one_run(estimate: Estimate, delta: float) -> Estimate:
    """What a no assumes, where there is a delta, is said with the interval."""
    if delta == 0.0:
        return estimate
    interval = estimate.interval
    guarantee = Guarantee(
        interval.guarantee.covers, interval.guarantee.assumes + SHARED, interval.guarantee.finite_sample
    )
    return replace(estimate, interval=replace(interval, guarantee=guarantee))


def _scaled(estimate: Estimate, less: float, by: float, covers: str) -> Estimate:
    """The advantage above its baseline in another unit."""
    interval = estimate.interval
    guarantee = Guarantee(covers, interval.guarantee.assumes, interval.guarantee.finite_sample)
    if by == 0.0:  # a prior that rounds to 0 or 1: nothing is above the baseline
        return Estimate(0.0, Interval(0.0, 1.0, interval.confidence, guarantee))
    low, high = (max(0.0, (end - less) / by) for end in (interval.lower, interval.upper))
    value = None if estimate.value is None else max(0.0, (estimate.value - less) / by)
    return Estimate(value, Interval(low, high, interval.confidence, guarantee))
