"""A claimed (epsilon, delta) beside the records: what theory allows, what was measured, and whether they agree.

Each quantity has one interval, and the error is shared by all of them, so that with probability ``confidence`` no row
says no although the claim is true, and none says yes although its quantity is larger. A no holds at any resolution; a
yes speaks of the score at the resolution its guarantee names, as no upper end can do better without assumptions. Three
quantities are the same advantage in other units, so they share one interval.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from estimators.advantage import advantage
from estimators.audit.closeness import epsilon_upper, tail_cells
from estimators.audit.epsilon import EMPIRICAL, Direction, epsilon_lower_bound
from estimators.audit.roc import FALSE_POSITIVE_RATES, operating_points
from estimators.errors import require_open_unit
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import Caution, Estimate, Guarantee, Interval, at_least, at_most, percent
from estimators.theory.dp import Adjacency, ApproximateDp, Grant, Inclusion, granted
from estimators.theory.dp.envelope import advantage_of
from estimators.theory.dp.papers import normalised


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity: the largest value the claim allows, and what the records say; an upper end may be infinite."""

    quantity: str
    says: str
    allowed: float
    found: Estimate

    @property
    def agrees(self) -> Literal["yes", "no", "open"]:
        """``yes`` if the upper end is allowed, ``no`` if the lower end is above what is allowed, else ``open``."""
        if self.found.lower > self.allowed:
            return "no"
        return "yes" if self.found.upper <= self.allowed < inf else "open"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Every quantity of one claim; their intervals hold together with ``confidence``."""

    epsilon: float
    delta: float
    prior: float
    confidence: float
    rows: tuple[Row, ...]
    cautions: tuple[Caution, ...]

    @property
    def baseline(self) -> float:
        """The advantage of always guessing the likelier side."""
        return abs(2.0 * self.prior - 1.0)

    @property
    def decision(self) -> Literal["contradicted", "not contradicted"]:
        """``contradicted`` if any row says no; that none does is no proof of the claim."""
        return "contradicted" if self._which("no") else "not contradicted"

    @property
    def sentence(self) -> str:
        """The outcome in plain words."""
        claim = f"epsilon {self.epsilon:g} at delta {self.delta:g}"
        sure, against = percent(self.confidence), self._which("no")
        if against:
            worst = against[0]
            return (
                f"The claim of {claim} is contradicted by {len(against)} of {len(self.rows)} quantities, all intervals "
                f"holding together with {sure} confidence: {worst.says} is at least "
                f"{at_least(worst.found.lower, beyond=worst.allowed)}, and the claim allows {at_most(worst.allowed)}. "
                f"Baseline of the advantage: {self.baseline:.3f}."
            )
        agreed = len(self._which("yes"))
        return (
            f"The claim of {claim} is not contradicted, which does not prove it: of {len(self.rows)} quantities "
            f"{agreed} are within what it allows, as far as the score is resolved, and "
            f"{len(self.rows) - agreed} are open, all intervals holding together with {sure} "
            f"confidence. Baseline of the advantage: {self.baseline:.3f}."
        )

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

    A vector has an advantage only, by a learned adversary; what has no order has no rates.
    """
    require_data(data, Scores, Counts)
    p, confidence = require_open_unit("prior", prior), require_open_unit("confidence", confidence)
    grant = granted(ApproximateDp(epsilon, delta), adjacency, inclusion)
    vector = isinstance(data, Scores) and data.dimension > 1
    fine = data if isinstance(data, Counts) else None if vector else finest(data)
    asked = tuple(rates) if fine is not None and fine.cells.ordered else ()
    tests = 1 + len(asked) + (fine is not None)
    each = 1.0 - (1.0 - confidence) / tests
    rows: list[Row] = []
    best = advantage(data if fine is None else fine, p, confidence=each, seed=seed)
    rows.extend(_advantage(best.estimate, grant, p))
    cautions = [*best.cautions]
    if fine is not None:
        rows.extend(_rates(fine, asked, grant, each))
        row, said = _epsilon(fine, grant, each, direction, seed)
        rows.extend(row)
        cautions.extend(said)
    return Agreement(float(epsilon), float(delta), p, confidence, tuple(rows), tuple(dict.fromkeys(cautions)))


def _advantage(found: Estimate, grant: Grant, prior: float) -> Iterator[Row]:
    baseline = abs(2.0 * prior - 1.0)
    best = grant.envelope.best(prior, 1.0 - prior)
    eta = max(0.0, best - max(prior, 1.0 - prior))
    yield Row("advantage", f"the advantage at prior {prior:g}", advantage_of(best, prior), found)
    half = _scaled(
        found, baseline, 2.0, "MIP's eta of this score: its accuracy above the better constant guess"
    )
    yield Row("mip_eta", "MIP's eta", eta, half)
    share = _scaled(
        found, baseline, 1.0 - baseline, "MIS's Delta of this score at lambda 1: 1 less its security"
    )
    allowed = normalised(best, prior, 1.0 - prior)
    yield Row("mis_delta", "MIS's Delta, 1 less the security", allowed, share)


def _rates(fine: Counts, rates: Sequence[float], grant: Grant, confidence: float) -> Iterator[Row]:
    for point in operating_points(fine, rates, confidence):
        allowed = min(1.0, float(grant.envelope.tpr(point.fpr)))
        yield Row(f"tpr_at_fpr_{point.fpr:g}", f"the TPR at FPR {point.fpr:g}", allowed, point.estimate)


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
        f"the epsilon at delta {delta:g} of this score's two distributions: lower end at any resolution, upper end at "
        f"a resolution of {cells.size} cells; not that of the mechanism"
    )
    interval = Interval(bound.value, high, confidence, Guarantee(covers, EMPIRICAL, delta == 0.0))
    row = Row("epsilon", f"epsilon at delta {delta:g}", epsilon, Estimate(None, interval))
    return (row,), bound.cautions


def _scaled(found: Estimate, less: float, by: float, covers: str) -> Estimate:
    """The advantage above its baseline in another unit."""
    given = found.interval
    guarantee = Guarantee(covers, given.guarantee.assumes, given.guarantee.finite_sample)
    if by == 0.0:  # a prior that rounds to 0 or 1: nothing is above the baseline
        return Estimate(0.0, Interval(0.0, 1.0, given.confidence, guarantee))
    low, high = (max(0.0, (end - less) / by) for end in (given.lower, given.upper))
    value = None if found.value is None else max(0.0, (found.value - less) / by)
    return Estimate(value, Interval(low, high, given.confidence, guarantee))
