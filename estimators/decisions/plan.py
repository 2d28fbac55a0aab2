"""From an interval to a decision, and from an open decision to the records that would settle it."""

from functools import cache, lru_cache
from math import ceil

import numpy as np
from scipy.special import ndtr, ndtri

from estimators.adversary.lower_end import LowerEnd
from estimators.decisions.verdict import MOST_RECORDS, Decision, decision
from estimators.errors import OutOfRange, require_count, require_number, require_open_unit
from estimators.optimum.ends import Ends, checked_ends, ends_of
from estimators.python.dataclass import dataclass
from estimators.python.renamed import now_in, renamed
from estimators.sample.cells import Intervals
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import baseline, exactly

__all__ = ["Plan", "expected_design_effect", "plan_verdict", "plan_width"]

FINE = 256  # cells that stand for the score's full resolution in the world of a plan
RUNS = 40  # samples of each number of records
SAMPLES = 10  # samples without a leak of which the upper end is looked at

POWER = 0.8

ENOUGH_CLUSTERS = 40  # fewer are limited by betting, which takes far more records


@dataclass(frozen=True, slots=True)
class Plan:
    """Records of both sides together that are expected to be enough.

    Attributes:
        records: Records in all; None if more than a billion would be needed.
        members: How many of them are members.
        nonmembers: How many of them are nonmembers.
        sentence: The plan in plain words.

    Example:
        >>> from estimators import plan_width
        >>> plan = plan_width(expected=0.3, width=0.25)
        >>> plan.records == plan.members + plan.nonmembers
        True
    """

    records: int | None
    members: int | None
    nonmembers: int | None
    sentence: str


@renamed("threshold", "max_advantage")
def plan_verdict(
    expected: float,
    max_advantage: float,
    prior: float = 0.5,
    member_share: float = 0.5,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    cluster_size: int = 1,
) -> Plan:
    """Records for a decision about ``max_advantage`` in four samples of five, if the true advantage is ``expected``.

    Samples are simulated with Gaussian scores that have this advantage, drawn as counts, so a billion records cost
    what a thousand do; more records never decide less often, so bisection finds the fewest that suffice.

    Args:
        expected: The advantage that you expect, from the baseline |2 x prior - 1| up to but not including 1.
        max_advantage: Largest advantage that is acceptable, from -1 to 1. The nearer to ``expected``, the more
            records.
        prior, confidence: As for ``advantage``.
        member_share: Share of members among the records that you will score, strictly between 0 and 1.
        design_effect: How many times as many records in clusters it takes as independent ones: an earlier answer's, or
            ``expected_design_effect``.
        cluster_size: Records of one cluster; so many records are planned that there are 40 clusters at least.

    Raises:
        OutOfRange: an expected advantage below the baseline, or another number out of its range.

    Example:
        >>> from estimators import plan_verdict
        >>> print(plan_verdict(expected=0.5, max_advantage=0.1).sentence)
        about 52 records, 26 of them members, are enough to decide at a limit of 0.1 in four samples of five, if the
        true advantage is 0.5
    """
    require_reachable(expected, prior)
    most = require_number("max_advantage", max_advantage)

    if not -1.0 <= most <= 1.0:
        raise OutOfRange.about("max_advantage", f"got {most!r}, need a number between -1 and 1")
    purpose = f"to decide at a limit of {exactly(most)}"
    aim = _Decides(most)
    return _smallest(expected, prior, member_share, confidence, aim, purpose, design_effect, cluster_size)


@cache
def records_without_leak(
    max_advantage: float, prior: float = 0.5, member_share: float = 0.5, confidence: float = 0.95
) -> int | None:
    """Records of both sides of which most samples keep a limit where nothing leaks; None if in practice no number does.

    Fewer cannot be expected to pass, whatever is true of them. The fewest are found by doubling and bisection, a few
    simulated samples each.
    """
    if max_advantage <= baseline(prior):
        return None
    alpha = (1.0 - confidence) / 2.0

    def pass_most(records: int) -> bool:
        members = min(max(MIN_RECORDS, round(member_share * records)), records - MIN_RECORDS)
        cells = plan_cells(0.0, member_share, max(FINE, resolution(records)))
        rng, failed = np.random.default_rng(records), 0
        for run in range(SAMPLES):
            counts = draw_counts(0.0, members, records - members, cells, rng)
            failed += checked_ends(counts, prior, None, run, 1).upper(alpha) > max_advantage
            if failed > SAMPLES * (1.0 - POWER):
                return False
        return True

    low = high = ceil(MIN_RECORDS / min(member_share, 1.0 - member_share))
    while not pass_most(high):
        if high >= MOST_RECORDS:
            return None
        low, high = high, min(2 * high, MOST_RECORDS)
    while high - low > 1 and high / low > 1.1:
        middle = round(np.sqrt(low * high))
        low, high = (low, middle) if pass_most(middle) else (middle, high)
    return high


def expected_design_effect(cluster_size: int, correlation: float) -> float:
    """The design effect of clusters of one size, if two scores of a cluster are so alike.

    Guesses of a rule at the median agree less than normal scores do: their correlation is 2/pi asin(correlation).

    Args:
        cluster_size: Records of one cluster.
        correlation: Correlation of two scores of one cluster and one side, from 0 to 1.

    Example:
        >>> from estimators.decisions.plan import expected_design_effect
        >>> round(expected_design_effect(cluster_size=50, correlation=0.5), 2)
        17.33
    """
    require_count("cluster_size", cluster_size)
    if not 0.0 <= require_number("correlation", correlation) <= 1.0:
        raise OutOfRange.about("correlation", f"got {correlation!r}, need a number from 0 to 1")
    return float(1.0 + (cluster_size - 1) * 2.0 / np.pi * np.arcsin(correlation))


def plan_width(
    expected: float,
    width: float,
    prior: float = 0.5,
    member_share: float = 0.5,
    confidence: float = 0.95,
    design_effect: float = 1.0,
    cluster_size: int = 1,
) -> Plan:
    """Records for an interval no wider than ``width`` in four samples of five, if the truth is ``expected``.

    Args:
        expected, member_share, design_effect, cluster_size: As for ``plan_verdict``.
        width: Largest distance between the two ends, strictly between 0 and 1.
        prior, confidence: As for ``advantage``.

    Raises:
        OutOfRange: an expected advantage below the baseline, or another number out of its range.

    Example:
        >>> from estimators import plan_width
        >>> print(plan_width(expected=0.3, width=0.25).sentence)
        about 450 records, 225 of them members, are enough for an interval no wider than 0.25 in four samples of five,
        if the true advantage is 0.3
    """
    require_reachable(expected, prior)
    require_open_unit("width", width)

    purpose = f"for an interval no wider than {exactly(width)}"
    aim = _NoWider(width)
    return _smallest(expected, prior, member_share, confidence, aim, purpose, design_effect, cluster_size)


def require_reachable(expected: float, prior: float) -> None:
    """Refuse to expect less than what guessing without the score has, or more than is possible."""
    prior = require_open_unit("prior", prior)
    expected, floor = require_number("expected", expected), baseline(prior)
    if not floor <= expected < 1.0:
        message = f"expected advantage: got {expected!r}, need at least the baseline {floor:g} and below 1"
        raise OutOfRange(message, field="expected")


@dataclass(frozen=True, slots=True)
class _Decides:
    """Whether an interval is on one side of a limit: no word of the verdict is needed."""

    most: float

    def by(self, lower: float, upper: float) -> bool:
        return decision(lower, upper, self.most) is not Decision.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class _NoWider:
    """Whether an interval is so narrow."""

    width: float

    def by(self, lower: float, upper: float) -> bool:
        return upper - lower <= self.width


def _is_reached(aim: _Decides | _NoWider, ends: Ends, alpha: float) -> bool:
    """Whether the interval is as it shall be; the limit of the best cut takes longest, and is seldom needed for it."""
    if isinstance(ends.validation, LowerEnd):
        upper = ends.upper(alpha)
        least, most = ends.validation.between(alpha)
        outcome = aim.by(least, upper)
        if most <= upper and aim.by(most, upper) == outcome:
            return outcome
    return aim.by(*ends.interval(alpha))


def _smallest(
    expected: float,
    prior: float,
    share: float,
    confidence: float,
    aim: _Decides | _NoWider,
    purpose: str,
    design_effect: float,
    cluster_size: int,
) -> Plan:
    share, confidence = require_open_unit("member_share", share), require_open_unit("confidence", confidence)
    require_count("cluster_size", cluster_size)
    if not 1.0 <= require_number("design_effect", design_effect) < MOST_RECORDS:
        raise OutOfRange.about("design_effect", f"got {design_effect!r}, need at least 1")
    high = _fewest(float(expected), float(prior), share, (1.0 - confidence) / 2.0, aim, RUNS)
    if high is None:
        sentence = f"in practice no number of records is enough {purpose}: more than {MOST_RECORDS} would be needed"
        return Plan(None, None, None, sentence)
    in_clusters = design_effect > 1.0 or cluster_size > 1
    if in_clusters:
        high = max(int(np.ceil(high * design_effect)), ENOUGH_CLUSTERS * cluster_size)
    members = round(share * high)
    clusters = f" in {-(-high // cluster_size)} clusters," if cluster_size > 1 else ""
    effect = f" and the design effect {design_effect:.3g}" if in_clusters else ""
    return Plan(
        high,
        members,
        high - members,
        f"about {high} records, {members} of them members,{clusters} are "
        f"enough {purpose} in four samples of five, if the true advantage is {expected:g}{effect}",
    )


@lru_cache(maxsize=128)
def _fewest(
    expected: float, prior: float, share: float, alpha: float, aim: _Decides | _NoWider, runs: int
) -> int | None:
    """Records of which four samples of five are what is wanted; None if in practice no number is.

    It takes a second, and the same question is asked again: in another form, or for clusters.
    """
    shift = shift_for(expected, prior)

    def suffices(records: int) -> bool:
        rng = np.random.default_rng(records)
        members = max(8, round(share * records))
        nonmembers = max(8, records - members)
        cells = plan_cells(shift, share, max(FINE, resolution(members + nonmembers)))
        successes, quota = 0, POWER * runs
        for run in range(runs):
            counts = draw_counts(shift, members, nonmembers, cells, rng)
            successes += _is_reached(aim, ends_of(counts, prior, None, run, 1), alpha)
            if successes >= quota or successes + runs - run - 1 < quota:  # the runs left cannot change it
                break
        return successes >= quota

    low, high = 16, 64
    while not suffices(high):
        if high >= MOST_RECORDS:
            return None
        low, high = high, min(high * 4, MOST_RECORDS)
    while high / low > 1.05:
        middle = round(np.sqrt(low * high))
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def shift_for(expected: float, prior: float) -> float:
    """Mean difference of two unit Gaussians whose optimal advantage at ``prior`` is ``expected``."""

    def advantage_at(m: float) -> float:
        if m == 0.0:
            return baseline(prior)
        cut = m / 2.0 + np.log((1.0 - prior) / prior) / m  # where p r = (1-p) q
        return float(2.0 * (prior * ndtr(m - cut) + (1.0 - prior) * ndtr(cut)) - 1.0)

    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if advantage_at(middle) < expected else (low, middle)
    return 0.0 if expected <= baseline(prior) else high


def plan_cells(shift: float, share: float, size: int) -> Intervals:
    """Cuts of equal pooled mass in the world of the plan."""
    grid = np.linspace(-9.0, 9.0 + shift, 20_001)
    pooled = share * ndtr(grid - shift) + (1.0 - share) * ndtr(grid)
    cuts = np.interp(np.arange(1, size) / size, pooled, grid)
    return Intervals(np.unique(cuts if shift else ndtri(np.arange(1, size) / size)))


def draw_counts(shift: float, members: int, nonmembers: int, cells: Intervals, rng: np.random.Generator) -> Counts:
    """So many records of both sides in the world of the plan."""
    r = np.diff(ndtr(cells.cuts - shift), prepend=0.0, append=1.0)
    q = np.diff(ndtr(cells.cuts), prepend=0.0, append=1.0)
    return Counts(rng.multinomial(members, r), rng.multinomial(nonmembers, q), cells)


__getattr__ = now_in("estimators.decisions.verdict", "Decision", "Verdict", "verdict")
