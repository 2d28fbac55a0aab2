"""One training run against a promise: records opened one by one, guesses right or wrong, and what no mechanism allows.

Membership has to be drawn, or nothing is certified. *A coin*: each record was in by a fair coin of its own; the promise
is then about adding or removing a record. *A split*: the sides were drawn at random out of one list; members are paired
with nonmembers at random, which of a pair was in is a fair coin, and the promise is about replacing one by the other.

**Epsilon by betting.** Records are opened from the ends of the scores, surest first, each time from the end with fewer
wrong guesses so far. A bet that guesses are right more often than q = e^epsilon / (1 + e^epsilon) wins with probability
alpha at most, whenever one stops (Ville), where the promise holds: nobody chooses a number of guesses. A delta lets
guesses be right beyond that, m (1 - q) delta of m records in the mean at most; j of them are forgiven, and more than j
have probability m (1 - q) delta / (j + 1) at most (Markov).

**A curve by counting.** Guesses whose number is fixed beforehand are right so often only if the curve allows it
(Mahloujifar, Melis and Chaudhuri 2025). No record has to be independent of another. Proofs of both: docs/methods.md,
section 15.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import exp, inf, log, pi
from typing import Literal

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from estimators.adversary.learned import learn_score
from estimators.arrays import Booleans, Floats, Integers
from estimators.errors import OutOfRange, UnknownName, require_count, require_open_unit, require_share
from estimators.privacy.epsilon import (
    ORDER_LEARNED,
    Direction,
    direction_of,
    ordered_by_half,
    shares_at_ends,
    ways_to_guess,
)
from estimators.sample.counting import finest
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import Caution, Guarantee, at_least, exactly, one_end
from estimators.theory.dp.promise import (
    Adjacency,
    ApproximateDp,
    Corners,
    Envelope,
    GaussianEnvelope,
    Inclusion,
    Pair,
    Promise,
    grant_of,
)
from estimators.theory.shifts import gaussian_epsilon

__all__ = [
    "Draw",
    "EpsilonInOneRun",
    "GaussianInOneRun",
    "OneRun",
    "PromiseInOneRun",
    "epsilon_over_runs",
    "one_run",
]

STAKES: Floats = np.array([0.05, 0.1, 0.2, 0.4, 0.7, 0.9, 0.98])[:, None]
"""Shares of what is had that are staked on each guess; the bet has an equal part on each."""

ON_DELTA = 0.1
"""Share of the level that is spent on delta letting more guesses be right than are forgiven."""

LARGEST = 60.0
"""Epsilons are looked for up to here."""

LOOKS = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Shares of the coins after which a run among several may stop; its bet has an equal part on each."""

CLOSE = 1e-6
"""How closely a bound is found, from below."""

ODD = 1e-4
"""Fair coins make sides as unequal as are refused with this probability."""

MOST_PAIRS = 5_000_000
"""About as many records of a side are paired at most."""


class Draw(Enum):
    """How it was drawn which records are members.

    Attributes:
        COIN: ``"coin"``: each record by a fair coin of its own.
        SPLIT: ``"split"``: the sides are a random split of one list of records.
        CHOSEN: ``"chosen"``: by date, by hand or otherwise; nothing is certified then.

    Example:
        >>> from estimators.theory.one_run import Draw
        >>> Draw("coin") is Draw.COIN
        True
    """

    COIN = "coin"
    SPLIT = "split"
    CHOSEN = "chosen"


# --- records in the order in which they are opened ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """What was guessed: how far each stop of the way is, and ways to guess a number that is fixed beforehand.

    ``wrong`` and ``right`` are those of the stops that can be best for a bet. ``ways`` have a row each: how many are
    guessed, how many rightly, and whether all guesses are the same; ``shares`` are their shares of the level. ``looks``
    are how many were wrong and right once a share of the coins that is fixed beforehand was opened (``LOOKS``).
    """

    coins: int
    wrong: Floats
    right: Floats
    looks: Integers
    ways: Integers
    shares: Floats


def _of_coins(members: Integers, nonmembers: Integers) -> Guesses:
    """Records high up are called members, low down nonmembers."""
    pooled = members + nonmembers
    members, nonmembers = members[pooled > 0], nonmembers[pooled > 0]
    calls = ways_to_guess(members, nonmembers, Direction.HIGH)
    ways = np.column_stack([calls[:, 0] + calls[:, 1], calls[:, 2], calls[:, :2].min(axis=1) == 0])
    wrong, right = _from_both_ends((nonmembers[::-1], members[::-1]), (members, nonmembers))
    steps, coins = (wrong[: len(members)], right[: len(members)]), int(pooled.sum())  # each cell from one end
    return Guesses(coins, *_best_stops(*steps), _looks(coins, *steps), ways, shares_at_ends(calls))


def _from_both_ends(*ends: tuple[Integers, Integers]) -> tuple[Integers, Integers]:
    """Wrong and right guesses so far, each time on from the end with fewer wrong so far, then with fewer guesses."""
    wrong, right = (np.concatenate(sides) for sides in zip(*ends, strict=True))
    before = [
        np.concatenate([np.cumsum(each) - each for each in sides])
        for sides in ([w + r for w, r in ends], [w for w, _ in ends])
    ]
    order = np.lexsort(before)
    return np.cumsum(wrong[order]), np.cumsum(right[order])


def _of_pairs(members: Integers, nonmembers: Integers, seed: int) -> list[Guesses]:
    """Which of a pair is the member: the higher one is guessed, and of equal ones nothing.

    Pairs that lie furthest apart come first, which serves broad leaks; or those that reach furthest to either end,
    which serves few members far out.
    """
    pooled = members + nonmembers
    middle = np.cumsum(pooled) * 2 - pooled  # twice the middle rank of a cell
    rng = np.random.default_rng(seed)
    mine, others = (_in_random_order(side, middle, rng) for side in (members, nonmembers))
    pairs = min(len(mine), len(others))
    mine, others = mine[:pairs], others[:pairs]
    right, apart = mine > others, np.abs(mine - others)
    above, below = 2 * int(pooled.sum()) - np.maximum(mine, others), np.minimum(mine, others)
    up, down = (apart > 0) & (above <= below), (apart > 0) & (above > below)
    ends = _from_both_ends(_in_steps(above[up], right[up]), _in_steps(below[down], right[down]))
    wrong, hits = _in_steps(-apart[apart > 0], right[apart > 0])
    far = np.cumsum(wrong), np.cumsum(hits)
    return [
        Guesses(pairs, *_best_stops(*steps), _looks(pairs, *steps), *_numbers_of_guesses(*steps))
        for steps in (far, ends)
    ]


def _in_steps(places: Integers, right: Booleans) -> tuple[Integers, Integers]:
    """How many guesses are wrong and right at each place, the smallest first."""
    _, which = np.unique(places, return_inverse=True)
    number, hits = np.bincount(which), np.bincount(which, weights=right).astype(np.int64)
    return number - hits, hits


def _numbers_of_guesses(wrong: Integers, right: Integers) -> tuple[Integers, Floats]:
    """Ways to guess about 1, 2, 4, ... pairs, and all that differ; each with an equal share of the level."""
    total = wrong + right
    powers = 2 ** np.arange(int(total[-1]).bit_length() if len(total) else 0)
    at = np.unique(np.searchsorted(total, [*powers, *total[-1:]]))
    ways = np.column_stack([total[at], right[at], np.zeros(len(at), dtype=np.int64)])
    return ways, np.full(len(at), 1.0 / max(1, len(at)))


def _in_random_order(side: Integers, places: Integers, rng: np.random.Generator) -> Integers:
    """The places of the records of one side in random order."""
    if (
        side.sum() > MOST_PAIRS
    ):  # each stays by a coin: as good as any other draw, and no list of all is needed
        side = rng.binomial(side, MOST_PAIRS / side.sum())
    return np.asarray(rng.permutation(np.repeat(places, side)))


def _best_stops(wrong: Integers, right: Integers) -> tuple[Floats, Floats]:
    """Where a bet can be at its best: what it has is convex in both numbers, so at a corner of the hull of stops."""
    last = np.append(wrong[1:] > wrong[:-1], True)  # of stops with as many wrong it has most right
    across, up = wrong[last].astype(np.float64), right[last].astype(np.float64)
    while len(across) > 2:
        run, rise = np.diff(across), np.diff(up)
        corner = rise[:-1] * run[1:] > rise[1:] * run[:-1]  # above the line between its neighbours
        if corner.all():
            break
        keep = np.concatenate([[True], corner, [True]])
        across, up = across[keep], up[keep]
    return across, up


def _looks(coins: int, wrong: Integers, right: Integers) -> Integers:
    """Wrong and right guesses at the first stop with so large a share of the coins, or at the last."""
    if not len(wrong):
        return np.zeros((2, len(LOOKS)), dtype=np.int64)
    at = np.searchsorted(wrong + right, np.array(LOOKS) * coins)
    return np.stack([wrong, right])[:, np.minimum(at, len(wrong) - 1)]


# --- epsilon, by betting ------------------------------------------------------------------------------------------


def _log_wealth(guesses: Guesses, epsilon: float, forgiven: int) -> Floats:
    """Logarithm of what a bet against ``epsilon`` has at each stop, forgiven guesses counted as wrong."""
    win, lose = np.log1p(STAKES * exp(-epsilon)), np.log1p(-STAKES)  # (1 - q) / q is e^-epsilon
    each = (guesses.right - forgiven) * win + (guesses.wrong + forgiven) * lose
    return np.asarray(np.logaddexp.reduce(each, axis=0) - log(len(STAKES)))


def _forgiven(coins: int, epsilon: float, delta: float, level: float) -> int:
    """One less than a power of two: more guesses than that are let be right with probability ON_DELTA level at most."""
    forgiven, mean = 0, coins * delta / (1.0 + exp(epsilon))
    while mean > ON_DELTA * level * (forgiven + 1):
        forgiven = 2 * forgiven + 1
    return forgiven


def _bet_wins(guesses: Guesses, epsilon: float, delta: float, level: float) -> bool:
    """Whether (epsilon, delta) is refuted at a level."""
    forgiven = _forgiven(guesses.coins, epsilon, delta, level)
    need = -log(level * (1.0 - ON_DELTA) if delta else level)
    return bool(_log_wealth(guesses, epsilon, forgiven).max(initial=-inf) >= need)


def _epsilon_refuted(guesses: Guesses, delta: float, level: float) -> float:
    """The largest epsilon up to which all are refuted."""
    return _all_up_to(
        lambda epsilon: _bet_wins(guesses, epsilon, delta, level), _edges(guesses.coins, delta, level)
    )


def _edges(coins: int, delta: float, level: float) -> Iterator[float]:
    """Epsilons at which fewer guesses are forgiven than just below."""
    share = ON_DELTA * level / max(coins * delta, 1e-300)
    while share < 0.5:
        yield log(1.0 / share - 1.0)
        share *= 2.0


def _all_up_to(refuted: Callable[[float], bool], edges: Iterable[float]) -> float:
    """The largest epsilon up to which all are refuted: a larger one is harder to, as long as as many are forgiven."""
    low = 0.0
    if not refuted(low):
        return low
    for edge in sorted((*(edge for edge in edges if edge < LARGEST), LARGEST)):
        high = max(low, edge - 1e-9)
        if not refuted(high):
            return _last(refuted, low, high)
        low = high
    return low


def _last(refuted: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number that is refuted, to within CLOSE from below, where ``low`` is and ``high`` is not."""
    while high - low > CLOSE * max(1.0, low):
        middle = (low + high) / 2.0
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


# --- a curve, by counting -----------------------------------------------------------------------------------------


def _least_fpr(envelope: Envelope) -> Callable[[float], float]:
    """The least FPR at which a TPR is allowed."""
    if isinstance(envelope, GaussianEnvelope):
        mu = envelope.mu
        return lambda tpr: float(ndtr(ndtri(tpr) - mu)) if tpr < 1.0 else 1.0
    assert isinstance(envelope, Corners)
    across, up = envelope.fpr.tolist(), envelope.height.tolist()

    def least(tpr: float) -> float:
        at = bisect_left(up, tpr)
        if at == 0:
            return 0.0
        if at == len(up):
            return 1.0
        part = (tpr - up[at - 1]) / (up[at] - up[at - 1])
        return float(across[at - 1] + part * (across[at] - across[at - 1]))

    return least


def _possible(
    coins: int, guesses: int, right: int, alike: int, least_fpr: Callable[[float], float], chance: float
) -> bool:
    """Whether so many of the guesses may be right with this probability, or more do."""
    both = 2.0 if alike else 1.0
    hits, misses = chance * right / coins, chance * (guesses - right) / coins
    most = guesses / coins * (1.0 + 1e-12)
    for fewer in range(right - 1, -1, -1):
        if both * hits > 1.0:
            return False
        need = least_fpr(both * hits) / both
        if need <= misses:
            return True
        hits, misses = hits + fewer / (guesses - fewer) * (need - misses), need
        if hits + misses > most:
            return False
    return True


def _count_refutes(guesses: Guesses, envelope: Envelope, level: float) -> bool:
    """Whether a curve is refuted at a level by any way to guess, each at its share."""
    least_fpr = _least_fpr(envelope)
    ways = zip(guesses.ways.tolist(), guesses.shares.tolist(), strict=True)
    return any(
        right and not _possible(guesses.coins, number, right, alike, least_fpr, level * share)
        for (number, right, alike), share in ways
    )


def _mu_refuted(guesses: Guesses, level: float) -> float:
    """The largest mu whose Gaussian curve is refuted."""

    def refuted(mu: float) -> bool:
        return _count_refutes(guesses, GaussianEnvelope(mu), level)

    high = 0.5
    if not refuted(0.0):
        return 0.0
    while high < LARGEST and refuted(high):
        high *= 2.0
    return _last(refuted, 0.0 if high == 0.5 else high / 2.0, high)


def _p_value(refuted: Callable[[float], bool]) -> float:
    """The smallest level at which a test refutes, from above; 1 if none does."""
    low, high = -700.0, 0.0
    if not refuted(1.0):
        return 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2.0
        low, high = (low, middle) if refuted(exp(middle)) else (middle, high)
    return exp(high)


# --- the whole answer ---------------------------------------------------------------------------------------------

ABOUT = {
    Adjacency.ADD_REMOVE: "adding or removing a record",
    Adjacency.REPLACE: "replacing one record by another",
}
ASSUMES = {
    Draw.COIN: "each record was in by a fair coin of its own, and scores were made without a look at the coins",
    Draw.SPLIT: "the sides were drawn at random out of one list of records, and scores were made without a look at "
    "who is on which side",
    Draw.CHOSEN: "members were not drawn at random, so no coin stands behind a guess and nothing is certified; the "
    "numbers are those of a random split, to compare runs by",
}


@dataclass(frozen=True, slots=True)
class EpsilonInOneRun:
    """What the mechanism's epsilon is at least, by betting, whatever the mechanism.

    Attributes:
        value: The bound; 0 if no epsilon is excluded.
        delta: The delta that it goes with.
        right: How many guesses were right at the stop that decided it.
        guesses: How many were made until then.
        stops: Guesses made and right guesses, at each stop that is the best for some bet.
    """

    value: float
    delta: float
    right: int
    guesses: int
    stops: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class PromiseInOneRun:
    """A promise held against the guesses.

    Attributes:
        contradicted: Whether no mechanism that keeps it has guesses as right as these, at the level of the answer.
        p_value: The smallest level at which it is contradicted, 1 if at none; shared with what else is stated.
        pair: The promise as one (epsilon, delta), if it has one.
    """

    contradicted: bool
    p_value: float
    pair: Pair | None


@dataclass(frozen=True, slots=True)
class GaussianInOneRun:
    """What mu is at least if the mechanism is Gaussian, and the epsilon that goes with it; nothing if it is not.

    Attributes:
        mu: The bound on mu; 0 if none is excluded.
        epsilon: The epsilon of that mu at the delta of the answer; infinite at delta 0.
    """

    mu: float
    epsilon: float


@dataclass(frozen=True, slots=True)
class OneRun:
    """What one run shows of a promise; everything stated holds together. ``one_run`` makes it.

    Attributes:
        draw: How members were drawn.
        coins: Records that had a coin of their own, or pairs.
        confidence: Twice the error of all that is stated is 1 less this, as of one end of an interval.
        epsilon: What epsilon is at least.
        promise: The promise held against the guesses; None without one.
        gaussian: What mu is at least; None unless the mechanism was said to be Gaussian.
        guarantee: What is covered, and what has to be so.
        cautions: What to know before using the numbers.

    Example:
        >>> from estimators import Counts
        >>> from estimators.theory.one_run import one_run
        >>> result = one_run(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), "coin", direction="high")
        >>> round(result.epsilon.value, 3), result.decision
        (0.575, None)
    """

    draw: Draw
    coins: int
    confidence: float
    epsilon: EpsilonInOneRun
    promise: PromiseInOneRun | None
    gaussian: GaussianInOneRun | None
    guarantee: Guarantee
    cautions: tuple[Caution, ...]

    @property
    def decision(self) -> Literal["contradicted", "not contradicted", "inconclusive"] | None:
        """``contradicted``, ``not contradicted``, ``inconclusive`` where nothing was drawn; None without a promise."""
        if self.promise is None:
            return None
        if self.draw is Draw.CHOSEN:
            return "inconclusive"
        return "contradicted" if self.promise.contradicted else "not contradicted"

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        return " ".join(
            (*self._of_promise(), self._of_epsilon(), *self._of_mu())
            if self._is_certain
            else self._no_certificate()
        )

    @property
    def _is_certain(self) -> bool:
        return self.draw is not Draw.CHOSEN

    def _no_certificate(self) -> tuple[str, ...]:
        bound = self.epsilon
        return (
            "No certificate: members were not drawn at random, so no chance stands behind a guess.",
            f"Had the sides been drawn at random, epsilon at delta {bound.delta:g} would be at least "
            f"{at_least(bound.value)}.",
        )

    def _of_promise(self) -> tuple[str, ...]:
        if self.promise is None:
            return ()
        p, sure = self.promise.p_value, one_end(self.confidence)
        if self.promise.contradicted:
            return (
                f"The promise is contradicted with {sure}: guesses were right too often for it (p {p:.2g}).",
            )
        return (f"The promise is not contradicted with {sure} (p {p:.2g}), which does not prove it.",)

    def _of_epsilon(self) -> str:
        bound, sure = self.epsilon, one_end(self.confidence)
        if bound.value == 0.0:
            return f"With {sure} no epsilon at delta {bound.delta:g} is excluded."
        return (
            f"With {sure} the mechanism's epsilon at delta {bound.delta:g} is at least {at_least(bound.value)}, "
            f"whatever the mechanism: {bound.right} of {bound.guesses} guesses were right."
        )

    def _of_mu(self) -> tuple[str, ...]:
        if self.gaussian is None or self.gaussian.mu == 0.0:
            return ()
        epsilon = self.gaussian.epsilon
        reading = "" if epsilon == inf else f", so its epsilon is at least {at_least(epsilon)}"
        return (f"If the mechanism is Gaussian, its mu is at least {at_least(self.gaussian.mu)}{reading}.",)


def one_run(
    data: Scores | Counts,
    draw: Draw | str,
    promise: Promise | Mapping[Adjacency, Promise] | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    adjacency: Adjacency | str | None = None,
    gaussian: bool = False,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> OneRun:
    """Hold a promise against one run, and say what its epsilon is at least whatever the mechanism.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        draw: How members were drawn: ``"coin"``, ``"split"`` or ``"chosen"``.
        promise: What was promised (``estimators.theory.dp``), by adjacency if it has one each; None: only bounds.
        delta: The delta to bound epsilon at, from 0 up to but not including 1; an (epsilon, delta) has its own.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1. All that is stated
            together has the error of one end.
        adjacency: Which training sets the promise compares: ``replace`` or ``add_remove``. None: the one that
            ``draw`` needs.
        gaussian: Whether the mechanism is known to be Gaussian: then mu is bounded, too.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes all of this sharper; it has to be known before the scores are looked at.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.

    Returns:
        a ``OneRun``.

    Raises:
        MaceError: a number out of its range, an adjacency that does not go with how members were drawn, or sides so
            unequal that no fair coins make them.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.theory.dp import GaussianDp
        >>> from estimators.theory.one_run import one_run
        >>> rng = np.random.default_rng(0)
        >>> member = rng.random(1000) < 0.5
        >>> scores = rng.normal(member * 2.0, 1)
        >>> result = one_run(Scores.of(scores[member], scores[~member]), "coin", GaussianDp(0.5), delta=1e-5)
        >>> print(result.sentence)
        The promise is contradicted with 97.5% confidence (one end of a 95% interval): guesses were right too often for
        it (p 2.2e-08). With 97.5% confidence (one end of a 95% interval) the mechanism's epsilon at delta 1e-05 is at
        least 3.397, whatever the mechanism: 203 of 203 guesses were right.
    """
    require_data(data, Scores, Counts)
    level = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    delta, how = require_share("delta", delta), _draw_of(draw)
    require_count("seed", seed, 0)
    alone = how is Draw.COIN
    about = Adjacency.ADD_REMOVE if alone else Adjacency.REPLACE
    envelope: Envelope | None = None
    pair, by_count = None, False
    if promise is not None:
        each = promise[about] if isinstance(promise, Mapping) else promise
        inclusion = Inclusion.INDEPENDENT if alone else Inclusion.FIXED_NUMBER
        grant = grant_of(each, adjacency, inclusion, delta)
        envelope, pair, by_count = grant.envelope, grant.pair, not isinstance(each, ApproximateDp)
        delta = delta if pair is None else pair[1]
    ways, cautions = _guesses(data, how, direction_of(direction), seed)
    parts = 1 + by_count + (gaussian and not (by_count and isinstance(envelope, GaussianEnvelope)))
    each_level = level / parts / len(ways)
    bound = _best_bound(ways, delta, each_level)
    test = None
    if promise is not None:
        least = min(_least_levels(ways, delta, pair, envelope if by_count else None), default=1.0)
        test = PromiseInOneRun(least <= each_level, min(1.0, least * parts * len(ways)), pair)
    normal = None
    if gaussian:
        mu = max(_mu_refuted(way, each_level) for way in ways)
        normal = GaussianInOneRun(mu, gaussian_epsilon(mu, delta) if mu and delta else (inf if mu else 0.0))
    if bound.value == 0.0 and not any(_could_show(way, delta, each_level) for way in ways):
        message = (
            f"{ways[0].coins} {'records' if alone else 'pairs'} are too few: even if all guesses were right, no bound "
            "on epsilon would follow"
        )
        cautions.append(Caution("too_few_records", message))
    covers = (
        f"the mechanism's promise about {ABOUT[about]}, and its epsilon at delta {exactly(delta)} from below"
    )
    guarantee = Guarantee(covers, ASSUMES[how], how is not Draw.CHOSEN)
    return OneRun(
        how, ways[0].coins, confidence, bound, test, normal, guarantee, tuple(dict.fromkeys(cautions))
    )


def _draw_of(draw: Draw | str) -> Draw:
    try:
        return Draw(draw)
    except ValueError:
        raise UnknownName.among("draw", draw, [each.value for each in Draw]) from None


def _guesses(
    data: Scores | Counts, draw: Draw, direction: Direction, seed: int
) -> tuple[list[Guesses], list[Caution]]:
    """The orders of guesses, of one direction or of both, and what to know of the scores they are about."""
    cautions: list[Caution] = []
    if isinstance(data, Scores) and data.dimension > 1:
        learned = learn_score(data, 0.5, seed)
        counts = learned.counts
        cautions.append(learned.caution)
    else:
        counts = finest(data) if isinstance(data, Scores) else data
    members, nonmembers = counts.members, counts.nonmembers
    if not counts.cells.ordered:
        direction = Direction.HIGH
        members, nonmembers = ordered_by_half(counts, seed)
        cautions.append(ORDER_LEARNED)
    cautions.extend(counts.doubts)
    if draw is Draw.COIN:
        _require_fair(int(members.sum()), int(nonmembers.sum()))
    if draw is Draw.CHOSEN:
        cautions.append(Caution("no_certificate", ASSUMES[draw]))
    both = [(members, nonmembers)] if direction is not Direction.LOW else []
    if direction is not Direction.HIGH:
        both.append((members[::-1], nonmembers[::-1]))
    if draw is Draw.COIN:
        return [_of_coins(*each) for each in both], cautions
    return [guesses for each in both for guesses in _of_pairs(*each, seed)], cautions


def _require_fair(members: int, nonmembers: int) -> None:
    """Refuse what fair coins all but never make: then they were not fair, or not all records are here."""
    if 2.0 * float(bdtr(min(members, nonmembers), members + nonmembers, 0.5)) < ODD:
        raise OutOfRange(
            f"draw: {members} members and {nonmembers} nonmembers are no fair coins; post every record that had a "
            "coin, or say split or chosen",
            field="draw",
        )


def _least_levels(
    ways: list[Guesses], delta: float, pair: Pair | None, curve: Envelope | None
) -> Iterator[float]:
    """The smallest level at which each test of a promise refutes it: the bet on its epsilon, and the count."""
    if pair is not None:
        yield _p_value(lambda level: any(_bet_wins(way, pair[0], delta, level) for way in ways))
    if curve is not None:
        yield _p_value(lambda level: any(_count_refutes(way, curve, level) for way in ways))


def _best_bound(ways: list[Guesses], delta: float, level: float) -> EpsilonInOneRun:
    """The larger bound of the directions, and the guesses that decided it."""
    values = [_epsilon_refuted(way, delta, level) for way in ways]
    best = int(np.argmax(values))
    value, way = values[best], ways[best]
    at = int(np.argmax(_log_wealth(way, value, _forgiven(way.coins, value, delta, level))))
    right, guesses = way.right.astype(np.int64).tolist(), (way.right + way.wrong).astype(np.int64).tolist()
    return EpsilonInOneRun(value, delta, right[at], guesses[at], tuple(zip(guesses, right, strict=True)))


def _could_show(way: Guesses, delta: float, level: float) -> bool:
    """Whether an epsilon would be excluded if every guess were right."""
    right = np.array([float(way.coins)])
    return _bet_wins(replace(way, right=right, wrong=0.0 * right), 0.0, delta, level)


# --- several independent runs -------------------------------------------------------------------------------------


def epsilon_over_runs(
    runs: Sequence[Scores | Counts],
    draw: Draw | str,
    delta: float = 0.0,
    confidence: float = 0.95,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> tuple[float, ...]:
    """Say after each of several independent runs of one mechanism how large its epsilon is at least.

    Each run is trained anew, with coins or a split of its own. Its bet stops at shares of the coins that are fixed
    beforehand, and the next run goes on with what it has. All bounds hold together: stop after any run.

    Args:
        runs: Scores of both sides of each run, or their counts, in order.
        draw: How members were drawn in each: ``"coin"`` or ``"split"``; ``"chosen"`` certifies nothing.
        delta: The delta to bound epsilon at, from 0 up to but not including 1.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1; the bounds together have
            the error of one end.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``.
        seed: Whole number from which everything random is drawn.

    Returns:
        a bound after each run; none is below the one before.

    Raises:
        MaceError: a number out of its range, or sides so unequal that no fair coins make them.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores
        >>> from estimators.theory.one_run import epsilon_over_runs
        >>> rng, runs = np.random.default_rng(0), []
        >>> for _ in range(3):
        ...     member = rng.random(500) < 0.5
        ...     score = rng.normal(member * 2.0, 1)
        ...     runs.append(Scores.of(score[member], score[~member]))
        >>> [round(bound, 1) for bound in epsilon_over_runs(runs, "coin", direction="high")]
        [2.7, 2.8, 3.3]
    """
    level = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    delta, how = require_share("delta", delta), _draw_of(draw)
    if how is Draw.CHOSEN:
        raise OutOfRange(
            "draw: members that were chosen certify nothing, in several runs neither", field="draw"
        )
    orders = list(
        zip(
            *(_guesses(data, how, direction_of(direction), seed + at)[0] for at, data in enumerate(runs)),
            strict=True,
        )
    )
    each_level = level / max(1, len(orders))
    bounds = [0.0]
    for number in range(1, len(runs) + 1):
        bounds.append(max(bounds[-1], *(_over(order[:number], delta, each_level) for order in orders)))
    return tuple(bounds[1:])


def _over(runs: Sequence[Guesses], delta: float, level: float) -> float:
    """The largest epsilon up to which all are refuted by what the bet has after the last of these runs."""
    parts = [
        level * 6.0 / (pi * at) ** 2 for at in range(1, len(runs) + 1)
    ]  # of the level, however many runs follow
    need = -log(level * (1.0 - ON_DELTA) if delta else level)

    def refuted(epsilon: float) -> bool:
        win, lose = np.log1p(STAKES * exp(-epsilon)), np.log1p(-STAKES)
        wealth = 0.0
        for run, part in zip(runs, parts, strict=True):
            forgiven = _forgiven(run.coins, epsilon, delta, part)
            wrong, right = run.looks
            bets = (right - forgiven) * win + (wrong + forgiven) * lose
            wealth += float(np.logaddexp.reduce(bets, axis=None)) - log(bets.size)
        return wealth >= need

    edges = [edge for run, part in zip(runs, parts, strict=True) for edge in _edges(run.coins, delta, part)]
    return _all_up_to(refuted, edges)
