"""What the records say the mechanism's epsilon must be at least: guess at one end of the scores or both, else abstain.

Under epsilon-DP no more guesses are right than so many independent coins of known bias (Steinke, Nasr and Jagielski
2023; study 2.6): a guess "member" is right with probability at most e^epsilon p / (e^epsilon p + 1 - p), whatever the
scores and the membership of the records before it, p being the probability of a member.

A delta gives records away beyond that: at most delta of them for each record, in the mean over runs, whatever is
guessed. So by Markov more than j of all N are given away with probability at most N delta / (j + 1). Every way to guess
forgives j right guesses, and that probability is paid once for all of them (docs/methods.md, section 5).
"""

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, expit, logit

from estimators import errors
from estimators.arrays import Floats, Integers, random_of
from estimators.limits.binomial import binomial_sum_law, lower_limit
from estimators.limits.root import brentq
from estimators.privacy.direction import Direction, direction_of
from estimators.python.dataclass import dataclass, field
from estimators.sample.counts import Counts, require_data
from estimators.statement import Caution, Guarantee, at_least, one_end

__all__ = ["ClaimCheck", "EpsilonBound", "check_claim", "epsilon_lower_bound"]


SHARES = (0.01, 0.03, 0.1, 0.2, 0.35, 0.5)
"""Shares of the records at each end about which guesses are made at both ends at once."""

AT_BOTH_ENDS = 0.8
"""Share of the level that guesses at both ends have; a leak at one end is so plain there that little is enough."""

ON_DELTA = 0.8
"""Share of the level that is spent at most on delta giving away more records than are forgiven."""

MANY_GUESSES = 10**8
"""Past this many the exact law of two kinds of coins costs seconds and gains nothing over one binomial."""

IF_DRAWN = "if each record was a member by a coin of its own"
"""What every bound on the epsilon of a mechanism rests on, wherever one is named."""

EMPIRICAL = (
    "each record was a member by a coin of its own, independent of all others, with the probability of the member "
    "share (canaries). A random split into sides of a fixed size is not covered by the proof as it is: there all "
    "others' membership gives a record's away. Lists of members and nonmembers chosen otherwise make this an empirical "
    "figure, no proof about the mechanism"
)


ORDER_LEARNED = Caution(
    "order_learned_on_half",
    "categories have no order, so it was learned from one half of the records, and the guesses were about the other "
    "half",
)


@dataclass(frozen=True, slots=True)
class EpsilonBound:
    """A lower bound on the mechanism's epsilon: above it with probability at most (1 - confidence) / 2, leaking or not.

    Attributes:
        value: The bound on the epsilon of the mechanism; 0 if the records exclude none.
        delta: The delta that it goes with.
        confidence: Twice its error is 1 less this, as of the lower end of a two-sided interval.
        right: How many of the guesses that decided it were right.
        guesses: How many guesses those were.
        guarantee: What it covers, and how members must have been drawn.
        cautions: What to know before using the number.
    """

    value: float
    delta: float
    confidence: float
    right: int
    guesses: int
    guarantee: Guarantee
    cautions: tuple[Caution, ...] = field(default=())

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        sure = one_end(self.confidence)
        if self.value == 0.0:
            return (
                f"With {sure} these records show no lower bound on the mechanism's epsilon above 0 at delta "
                f"{self.delta:g}: "
                "no epsilon is excluded."
            )
        return (
            f"With {sure} the mechanism's epsilon is at least {at_least(self.value)} at delta "
            f"{self.delta:g}, {IF_DRAWN}: {self.right} of {self.guesses} guesses were "
            "right."
        )


@dataclass(frozen=True, slots=True)
class ClaimCheck:
    """Whether the records contradict a claimed (epsilon, delta); that they do not is no proof of it.

    Attributes:
        epsilon: The epsilon that was claimed.
        delta: The delta that was claimed.
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        bound: What the records say epsilon must be at least.
        ceiling: The largest advantage that the claim allows at this prior.
    """

    epsilon: float
    delta: float
    prior: float
    bound: EpsilonBound
    ceiling: float

    @property
    def decision(self) -> str:
        """``contradicted`` or ``not contradicted``."""
        return "contradicted" if self.bound.value > self.epsilon else "not contradicted"

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        sure = one_end(self.bound.confidence)
        tail = "" if self.decision == "contradicted" else ", which does not prove the claim"
        return (
            f"The claim of epsilon {self.epsilon:g} at delta {self.delta:g} is {self.decision}: with {sure} "
            f"the mechanism's epsilon is at least {at_least(self.bound.value)}, {IF_DRAWN}{tail}. "
            f"It would cap the advantage at prior {self.prior:g} at {self.ceiling:.3f}."
        )


def check_claim(
    counts: Counts,
    epsilon: float,
    delta: float = 0.0,
    confidence: float = 0.95,
    prior: float = 0.5,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> ClaimCheck:
    """Compare a claimed (epsilon, delta) with the lower bound the records give at that delta.

    Args:
        counts: Counts of both sides (``Counts``).
        epsilon: Epsilon of the differential privacy that was promised, at least 0.
        delta: Delta that was promised with it, from 0 up to but not including 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. A bound is the lower
            end of such an interval.
        prior, seed: As for ``advantage``.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes the bound sharper; it has to be known before the scores are looked at.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.epsilon import check_claim
        >>> print(check_claim(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), epsilon=0.5).sentence)
        The claim of epsilon 0.5 at delta 0 is contradicted: with 97.5% confidence (one end of a 95% interval) the
        mechanism's epsilon is at least 0.668, if each record was a member by a coin of its own. It would cap the
        advantage at prior 0.5 at 0.245.
    """
    ceiling = advantage_ceiling(epsilon, delta, prior)
    bound = epsilon_lower_bound(counts, confidence, delta, direction, seed)
    return ClaimCheck(float(epsilon), float(delta), float(prior), bound, ceiling)


def epsilon_lower_bound(
    counts: Counts,
    confidence: float = 0.95,
    delta: float = 0.0,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> EpsilonBound:
    """Largest epsilon of the mechanism that the number of right guesses rejects.

    Guesses are made at both ends of the scores at once, at six shares of the records, and at either end alone, of 1,
    2, 4, ... records up to one half, so that a leak at one end shows, of members or of nonmembers. Which records those
    are depends on the pooled counts alone, whole cells at a time. Under epsilon-DP the odds of a guess are at most
    e^epsilon times the prior odds, so the number right is stochastically below a sum of coins of bias
    sigmoid(epsilon + lambda) for "member" and sigmoid(epsilon - lambda) for "nonmember", lambda = logit(n1/N). Guesses
    at both ends share four fifths of the level, those at one end the rest. Cells without an order get one from a random
    half of the counts, drawn with ``seed``; the guesses are then made on the other half.

    Args:
        counts, confidence, direction: As for ``check_claim``.
        delta: The delta of the epsilon, from 0 up to but not including 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Example:
        >>> from estimators import Counts
        >>> from estimators.privacy.epsilon import epsilon_lower_bound
        >>> counts = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> round(epsilon_lower_bound(counts).value, 3), round(epsilon_lower_bound(counts, direction="high").value, 3)
        (0.669, 0.717)
    """
    confidence = errors.require_open_unit("confidence", confidence)
    level = (1.0 - confidence) / 2.0
    require_data(counts, Counts)
    errors.require_count("seed", seed, 0)
    delta = errors.require_share("delta", delta)
    ends = direction_of(direction)
    members, nonmembers, cautions = counts.members, counts.nonmembers, list[Caution]()
    if not counts.cells.ordered:
        ends = Direction.HIGH
        members, nonmembers = _ordered_by_half(counts, seed)
        cautions.append(ORDER_LEARNED)
    value, right, guesses = 0.0, 0, 0
    ways = _ways_to_guess(members, nonmembers, ends)
    n1, n0 = int(members.sum()), int(nonmembers.sum())
    if n1 and n0 and len(ways):
        leaks = (n1 + n0) * delta
        forgiven = max(0, ceil(leaks / (ON_DELTA * level)) - 1)
        level -= leaks / (forgiven + 1)
        ways = ways[_can_reject(ways, n1, n0, forgiven, level)]
        levels = _levels(ways, level)
        value, right, guesses = _largest_rejected(ways, levels, n1, n0, forgiven)
        if not _can_reject(ways, n1, n0, forgiven, levels).any():
            message = (
                f"{n1} members and {n0} nonmembers are too few: even if all guesses were right, no bound "
                "on epsilon would follow"
            )
            cautions.append(Caution("too_few_records", message))
    else:
        cautions.append(Caution("one_cell", "every record has the same score, so no guess is better than chance"))
    covers = f"the epsilon of the mechanism's (epsilon, {delta:g})-DP, from below (empirical)"
    guarantee = Guarantee(covers, EMPIRICAL, True)
    return EpsilonBound(value, float(delta), confidence, right, guesses, guarantee, tuple(cautions))


def _ordered_by_half(counts: Counts, seed: int) -> tuple[Integers, Integers]:
    """One random half, its cells in the order of member share on the other half (shrunk by one record)."""
    rng = random_of(seed, counts.members, counts.nonmembers)  # by the seed alone, both halves err the same way
    members, nonmembers = counts.blocks(np.array([0.5, 0.5]), rng)
    share = (members[0] + counts.member_share) / (members[0] + nonmembers[0] + 1.0)
    order = share.argsort(kind="stable")
    return members[1][order], nonmembers[1][order]


def _ways_to_guess(members: Integers, nonmembers: Integers, ends: Direction) -> Integers:
    """Distinct ways to guess: how many records are called member, how many nonmember, and how many of both rightly.

    At both ends at once by shares of the records; at one end alone, with the other left open, by powers of two.
    """
    pooled = members + nonmembers
    some = np.flatnonzero(pooled)
    if len(some) < 2:
        return np.zeros((0, 3), dtype=np.int64)
    if len(some) < len(pooled):
        members, pooled = members[some], pooled[some]
    records_left, members_left = np.zeros((2, len(pooled) + 1), dtype=np.int64)
    pooled.cumsum(out=records_left[1:])
    members.cumsum(out=members_left[1:])
    total, total_in = int(records_left[-1]), int(members_left[-1])
    records_right = total - records_left[::-1]
    shares: Floats = np.array(SHARES) * total
    powers: Floats = 2.0 ** np.arange((total // 2).bit_length(), dtype=np.float64)
    cells = set(zip(_cells_for(records_left, shares), _cells_for(records_right, shares), strict=True))
    cells |= {(low, 0) for low in _cells_for(records_left, powers) if 2 * records_left[low] <= total}
    cells |= {(0, high) for high in _cells_for(records_right, powers) if 2 * records_right[high] <= total}
    low, high = np.array(sorted(cells)).T
    bottom, bottom_in = records_left[low], members_left[low]
    top, top_in = records_right[high], total_in - members_left[-1 - high]
    ways = []
    if ends is not Direction.LOW:
        ways.append(np.column_stack([top, bottom, top_in + bottom - bottom_in]))
    if ends is not Direction.HIGH:
        ways.append(np.column_stack([bottom, top, bottom_in + top - top_in]))
    return np.concatenate(ways)


def _cells_for(records_left: Integers, targets: Floats) -> list[int]:
    """For each number of records, how many cells from the left hold it most nearly: at least one, the fewer in a draw.

    That rule keeps the two ends apart, since no share is above one half. ``records_left`` are those left of a cell.
    """
    above = records_left.searchsorted(targets)
    nearer_below = targets - records_left[above - 1] <= records_left[above] - targets
    cells: list[int] = np.maximum(above - nearer_below, 1).tolist()
    return cells


def _can_reject(ways: Integers, n1: int, n0: int, forgiven: int, level: float | Floats) -> NDArray[np.bool_]:
    """Which ways show something where all guesses are right; known before anybody looks at who is a member."""
    said_in, said_out, _ = ways.T
    guesses = said_in + said_out
    by_chance = (said_in * float(n1) + said_out * float(n0)) / (guesses * float(n1 + n0))
    return np.asarray(lower_limit(guesses - forgiven, guesses, level) > by_chance)


def _levels(ways: Integers, level: float) -> Floats:
    """The level of each way, equal among those at both ends and among those at one; either kind alone has all of it."""
    both = (ways[:, 0] > 0) & (ways[:, 1] > 0)
    weights = np.where(both, AT_BOTH_ENDS, 1.0 - AT_BOTH_ENDS)
    weights /= np.where(both, np.count_nonzero(both), np.count_nonzero(~both))
    shares: Floats = weights / weights.sum()
    return level * shares


def _largest_rejected(ways: Integers, levels: Floats, n1: int, n0: int, forgiven: int) -> tuple[float, int, int]:
    """Largest epsilon that a way to guess rejects, 0 if none does, and that way's right guesses and guesses."""
    said_in, said_out, hits = ways.T
    guesses, records, log_odds = said_in + said_out, float(n1 + n0), float(np.log(n1 / n0))
    # where all are guessed, n1 being what it is, the number right moves in steps of two: count one less
    right = hits - ((records - guesses) * min(n1, n0) < records) - forgiven
    one_kind = (log_odds == 0.0) | (said_in == 0) | (said_out == 0)
    coins = log_odds * np.where(said_out == 0, 1.0, -1.0)
    limits = np.where(one_kind, logit(lower_limit(right, guesses, levels)) - coins, np.inf)
    # the most telling first: what cannot beat it is passed over at once
    telling = (hits * records - said_in * float(n1) - said_out * float(n0)) / np.sqrt(guesses)
    result = 0.0, 0, 0
    for at in np.lexsort((-telling, -limits)):
        bound = float(limits[at])
        if not one_kind[at]:
            sides = int(said_in[at]), int(said_out[at])
            bound = _rejected_up_to(*sides, int(right[at]), log_odds, float(levels[at]), result[0])
        if bound > result[0]:
            result = bound, int(hits[at]), int(guesses[at])
    return result


def _rejected_up_to(
    guesses_in: int, guesses_out: int, right: int, log_odds: float, level: float, start: float
) -> float:
    """Epsilon above ``start`` up to which ``right`` guesses are improbable, P <= level; ``start`` if there is none."""
    many = guesses_in + guesses_out > MANY_GUESSES
    aim = min(float(right), guesses_in + guesses_out - 0.5)
    if many:  # the mean bias as one binomial: valid (Hoeffding 1956)
        aim = lower_limit(right, guesses_in + guesses_out, level) * (guesses_in + guesses_out)

    def gap(epsilon: float) -> float:
        return float(aim - guesses_in * expit(epsilon + log_odds) - guesses_out * expit(epsilon - log_odds))

    def excess(epsilon: float) -> float:
        first, law = binomial_sum_law(guesses_in, epsilon + log_odds, guesses_out, epsilon - log_odds)
        return float(np.log(max(float(law[max(0, right - first) :].sum()), 1e-300) / level))

    if gap(start) <= 0.0:
        return start
    if many:
        return float(brentq(gap, start, 700.0))
    if _at_least(right, (guesses_in, start + log_odds), (guesses_out, start - log_odds)) > 1.01 * level:
        return start  # at once
    if excess(start) >= 0.0:
        return start
    likely = float(brentq(gap, start, start + abs(log_odds) + 60.0))
    return float(brentq(excess, start, likely, xtol=1e-9))


def _at_least(right: int, first: tuple[int, float], second: tuple[int, float]) -> float:
    """Probability of so many right guesses or more, from below: each of two kinds of coins does its part.

    A kind is how many coins there are, and their log odds.
    """
    (n, p), (m, q) = ((number, float(expit(log_odds))) for number, log_odds in (first, second))
    variances = n * p * (1.0 - p), m * q * (1.0 - q)
    part = round(n * p + (right - n * p - m * q) * variances[0] / max(sum(variances), 1e-300))
    part = max(right - m, min(part, n))
    return float(bdtrc(part - 1, n, p) * bdtrc(right - part - 1, m, q))


# The advantage that (epsilon, delta)-differential privacy allows at any prior, and the epsilon that one asks for.
#
# Closed forms; ``estimators.theory.dp`` has those of other promises, and what four papers make of them.


def advantage_ceiling(epsilon: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Largest advantage over the population that (epsilon, delta)-DP allows: max(|2p-1|, tanh(epsilon/2)) at delta 0.

    The ROC curve of any such mechanism lies below the corners (0, delta), (a, 1-a), (1-delta, 1) with
    a = (1-delta)/(1+e^epsilon), and accuracy is linear, so a corner is best (erratum E3).
    Membership and training must both be random: on a fixed S a 0-DP model may have advantage 1 (E1).
    """
    epsilon = errors.require_nonnegative("epsilon", epsilon)
    delta = errors.require_from_zero_to_one("delta", delta)
    p = errors.require_open_unit("prior", prior)
    inner = delta + (1.0 - delta) * float(np.tanh(epsilon / 2.0))  # 1 - 2a, to the last bit near 0
    return max(inner, 1.0 - 2.0 * min(p, 1.0 - p) * (1.0 - delta))


def epsilon_from_advantage(advantage: float, delta: float = 0.0, prior: float = 0.5) -> float:
    """Smallest epsilon whose ceiling reaches ``advantage``: 2 atanh(advantage) at delta 0, prior 1/2.

    Put in a lower bound on the advantage and it is one on epsilon (study 2.6); infinite at 1.
    """
    advantage = errors.require_from_zero_to_one("advantage", advantage)
    if advantage <= advantage_ceiling(0.0, delta, prior):
        return 0.0
    if advantage == 1.0:
        return float("inf")
    return float(np.log1p(2.0 * (advantage - delta) / (1.0 - advantage)))
