"""What one run shows of a promise and of epsilon, in words."""

from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import Literal

import numpy as np

from estimators.errors import OptionError, require_count, require_open_unit, require_share
from estimators.privacy.direction import Direction, direction_of
from estimators.python.dataclass import dataclass, field, replace
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import Caution, Guarantee, at_least, exactly, one_end
from estimators.theory.dp.promise import (
    Adjacency,
    ApproximateDp,
    Envelope,
    GaussianEnvelope,
    Grant,
    Inclusion,
    Pair,
    Promise,
    grant_of,
)
from estimators.theory.one_run.betting import (
    all_refuted,
    bet_wins,
    count_refutes,
    epsilon_refuted,
    forgiven_guesses,
    log_wealth,
    mu_refuted,
    p_value,
)
from estimators.theory.one_run.guesses import ASSUMES, Draw, Guesses, Order, draw_of, guesses_of, median
from estimators.theory.shifts import gaussian_epsilon

ABOUT = {Adjacency.ADD_REMOVE: "adding or removing a record", Adjacency.REPLACE: "replacing one record by another"}


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
        adjacency: Which training sets all of this is about: a coin adds or removes a record, a pair replaces one.
        coins: Records that had a coin of their own, or pairs.
        confidence: Twice the error of all that is stated is 1 less this, as of one end of an interval.
        epsilon: What epsilon is at least.
        promise: The promise held against the guesses; None without one.
        gaussian: What mu is at least; None unless the mechanism was said to be Gaussian.
        guarantee: What is covered, and what has to be so.
        cautions: What to know before using the numbers.
        bounds: What epsilon is at least after each of several runs, which hold together; empty of one run.
        coins_of_runs: The coins of each of several runs.
    """

    draw: Draw
    adjacency: Adjacency
    coins: int
    confidence: float
    epsilon: EpsilonInOneRun
    promise: PromiseInOneRun | None
    gaussian: GaussianInOneRun | None
    guarantee: Guarantee
    cautions: tuple[Caution, ...]
    bounds: tuple[float, ...] = ()
    coins_of_runs: tuple[int, ...] = ()

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
            if self.draw is not Draw.CHOSEN
            else self._no_certificate()
        )

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
        p, sure, about = self.promise.p_value, one_end(self.confidence), ABOUT[self.adjacency]
        if self.promise.contradicted:
            return (
                f"The promise about {about} is contradicted with {sure}: guesses were right too often for it "
                f"(p {p:.2g}).",
            )
        return (f"The promise about {about} is not contradicted with {sure} (p {p:.2g}), which does not prove it.",)

    def _of_epsilon(self) -> str:
        bound, sure = self.epsilon, one_end(self.confidence)
        after = f" after {len(self.bounds)} runs" if self.bounds else ""
        if bound.value == 0.0:
            return f"With {sure} no epsilon at delta {bound.delta:g} is excluded{after}."
        guesses = f": {bound.right} of {bound.guesses} guesses were right"
        return (
            f"With {sure} the mechanism's epsilon at delta {bound.delta:g}, about {ABOUT[self.adjacency]}, is at least "
            f"{at_least(bound.value)}{after}, whatever the mechanism"
            f"{' and whichever run was the last' if after else guesses}."
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
        adjacency: Which training sets the promise compares: ``replace`` or ``add_remove``; needed with a promise unless
            each record had a coin, which is about adding or removing one.
        gaussian: Whether the mechanism is known to be Gaussian: then mu is bounded, too.
        direction: Which end of the scores speaks for membership: ``"high"``, ``"low"`` or ``"either"``. Knowing it
            makes all of this sharper; it has to be known before the scores are looked at.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer. Of a split, pairs
            are drawn five times, and what is stated is what most of them show.

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
        The promise about adding or removing a record is contradicted with ...
    """
    require_data(data, Scores, Counts)
    level = (1.0 - require_open_unit("confidence", confidence)) / 2.0
    delta, how = require_share("delta", delta), draw_of(draw)
    require_count("seed", seed, 0)
    alone = how is Draw.COIN
    about = about_of(how)
    envelope: Envelope | None = None
    pair, by_count = None, False
    if promise is not None:
        grant, by_count = grant_for(promise, how, adjacency, delta)
        envelope, pair = grant.envelope, grant.pair
        delta = delta if pair is None else pair[1]
    orders, cautions = guesses_of(data, how, direction_of(direction), seed)
    parts = 1 + by_count + (gaussian and not (by_count and isinstance(envelope, GaussianEnvelope)))
    each_level = level / parts / len(orders)
    bound = _best_bound(orders, delta, each_level)
    test = None
    if promise is not None:
        least = min(_least_levels(orders, delta, pair, envelope if by_count else None), default=1.0)
        test = PromiseInOneRun(least <= each_level, min(1.0, least * parts * len(orders)), pair)
    normal = None
    if gaussian:
        mu = max(median(each, each_level, mu_refuted) for each in orders)
        normal = GaussianInOneRun(mu, gaussian_epsilon(mu, delta) if mu and delta else (inf if mu else 0.0))
    if bound.value == 0.0 and not any(_could_show(each, delta, each_level) for each in orders):
        cautions.append(too_few(orders[0][0].coins, how))
    of_vectors = isinstance(data, Scores) and data.dimension > 1  # as many of either side as are learned from
    guarantee = Guarantee(coverage(how, delta), ASSUMES[how], how is not Draw.CHOSEN and not (alone and of_vectors))
    return OneRun(
        how, about, orders[0][0].coins, confidence, bound, test, normal, guarantee, tuple(dict.fromkeys(cautions))
    )


def about_of(how: Draw) -> Adjacency:
    """Which training sets a draw is about: a coin adds or removes a record, a pair replaces one."""
    return Adjacency.ADD_REMOVE if how is Draw.COIN else Adjacency.REPLACE


def grant_for(
    promise: Promise | Mapping[Adjacency, Promise], how: Draw, adjacency: Adjacency | str | None, delta: float
) -> tuple[Grant, bool]:
    """What a promise allows as members were drawn, and whether it is a curve and no single (epsilon, delta)."""
    if not (how is Draw.COIN or adjacency or isinstance(promise, Mapping)):
        raise OptionError.about(
            "adjacency",
            "members whom no coin drew show what replacing a record does; is the promise about that "
            "(replace), or, as of most accountants, about adding or removing one (add_remove)?",
        )
    each = promise[about_of(how)] if isinstance(promise, Mapping) else promise
    inclusion = Inclusion.INDEPENDENT if how is Draw.COIN else Inclusion.FIXED_NUMBER
    return grant_of(each, adjacency, inclusion, delta), not isinstance(each, ApproximateDp)


def coverage(how: Draw, delta: float) -> str:
    """What a guarantee covers, in words."""
    return f"the mechanism's promise about {ABOUT[about_of(how)]}, and its epsilon at delta {exactly(delta)} from below"


def too_few(coins: int, how: Draw) -> Caution:
    """That no bound could follow."""
    return Caution(
        "too_few_records",
        f"{coins} {'records' if how is Draw.COIN else 'pairs'} are too few: even if all guesses were right, "
        "no bound on epsilon would follow",
    )


def _least_levels(orders: list[Order], delta: float, pair: Pair | None, curve: Envelope | None) -> Iterator[float]:
    """The smallest level at which each test of a promise refutes it: the bet on its epsilon, and the count."""

    def least(refuted: Callable[[Guesses, float], bool]) -> float:
        return p_value(lambda level: any(median(each, level, refuted) for each in orders))

    if pair is not None:
        yield least(lambda guesses, level: all_refuted(guesses, pair[0], delta, level))
    if curve is not None:
        yield least(lambda guesses, level: count_refutes(guesses, curve, level))


@dataclass(order=True, frozen=True, slots=True)
class Bound:
    """A bound of one pairing, and what it is from."""

    value: float
    level: float = field(compare=False)
    guesses: Guesses = field(compare=False)


def _best_bound(orders: list[Order], delta: float, level: float) -> EpsilonInOneRun:
    """The larger bound of the orders, and the guesses that decided it."""

    def bound(guesses: Guesses, level: float) -> Bound:
        return Bound(epsilon_refuted(guesses, delta, level), level, guesses)

    best = max((median(each, level, bound) for each in orders), key=lambda each: each.value)
    return with_stops(best, delta)


def with_stops(best: Bound, delta: float) -> EpsilonInOneRun:
    """A bound with the guesses that decided it."""
    way, value = best.guesses, best.value
    at = int(np.argmax(log_wealth(way, value, forgiven_guesses(way.coins, value, delta, best.level))))
    right, guesses = way.right.astype(np.int64).tolist(), (way.right + way.wrong).astype(np.int64).tolist()
    stops = [(number, hits) for number, hits in zip(guesses, right, strict=True) if number]
    return EpsilonInOneRun(value, delta, right[at], guesses[at], tuple(stops))


def _could_show(order: Order, delta: float, level: float) -> bool:
    """Whether an epsilon would be excluded if every guess were right."""

    def shows(guesses: Guesses, level: float) -> bool:
        right = np.array([float(guesses.coins)])
        return bet_wins(replace(guesses, right=right, wrong=0.0 * right), 0.0, delta, level)

    return median(order, level, shows)
