"""What several independent runs show of epsilon: each goes on with what the bets before it have."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from estimators import errors
from estimators.privacy.direction import Direction, direction_of
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Caution, Guarantee
from estimators.theory.dp.promise import Adjacency, Pair, Promise
from estimators.theory.one_run import statement
from estimators.theory.one_run.betting import epsilon_refuted_over, p_value, refuted_after
from estimators.theory.one_run.guesses import ASSUMES, Draw, Guesses, draw_of, guesses_of, median

Orders = list[list[tuple[Guesses, ...]]]
"""Of each order of guesses, and each pairing, those about one run after another."""


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
    level = (1.0 - errors.require_open_unit("confidence", confidence)) / 2.0
    delta, how = errors.require_share("delta", delta), draw_of(draw)
    orders, _ = _orders(runs, how, direction_of(direction), seed)
    return tuple(bound.value for bound in _bounds(orders, delta, level))


def several_runs(
    runs: Sequence[Scores | Counts],
    draw: Draw | str,
    promise: Promise | Mapping[Adjacency, Promise] | None = None,
    delta: float = 0.0,
    confidence: float = 0.95,
    adjacency: Adjacency | str | None = None,
    direction: Direction | str = Direction.EITHER,
    seed: int = 0,
) -> statement.OneRun:
    """Hold a promise against several independent runs, and say after each what its epsilon is at least.

    The promise is held as one epsilon at a delta, against the same bet as ``epsilon_over_runs``: no level is spent on
    it, and it may be looked at after each run.

    Args:
        runs: Scores of both sides of each run, or their counts, in order; two at least.
        draw: As for ``epsilon_over_runs``.
        promise, delta, confidence, adjacency, direction: As for ``one_run``.
        seed: Whole number from which everything random is drawn.

    Raises:
        MaceError: as of ``one_run``; fewer than two runs, or a promise without an epsilon at this delta.

    Example:
        >>> from estimators import Counts
        >>> from estimators.theory.dp import ApproximateDp
        >>> from estimators.theory.one_run import several_runs
        >>> run = Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7])
        >>> result = several_runs([run] * 3, "coin", ApproximateDp(0.1), direction="high")
        >>> [round(bound, 2) for bound in result.bounds], result.decision
        ([0.55, 0.76, 0.85], 'contradicted')
    """
    level = (1.0 - errors.require_open_unit("confidence", confidence)) / 2.0
    delta, how = errors.require_share("delta", delta), draw_of(draw)
    errors.require_count("seed", seed, 0)
    if len(runs) < 2:
        raise errors.TooFewRecords.about("runs", f"got {len(runs)}, need at least 2; ask about one by itself")
    pair = None if promise is None else statement.grant_for(promise, how, adjacency, delta)[0].pair
    if promise is not None and pair is None:
        raise errors.OptionError.about(
            "delta", "several runs are held against a promise as one epsilon; give a delta above 0 at which it has one"
        )
    delta = delta if pair is None else pair[1]
    orders, cautions = _orders(runs, how, direction_of(direction), seed)
    bounds = _bounds(orders, delta, level)
    each_level, coins = level / len(orders), tuple(run.coins for run in orders[0][0])
    test = None
    if pair is not None:
        least = p_value(lambda level: any(_is_refuted(order, pair, level) for order in orders))
        test = statement.PromiseInOneRun(least <= each_level, min(1.0, least * len(orders)), pair)
    best = bounds[-1]
    if best.value == 0.0 and not any(_could_show(order, delta, each_level) for order in orders):
        cautions.append(statement.too_few(sum(coins), how))
    of_vectors = any(isinstance(data, Scores) and data.dimension > 1 for data in runs)
    assumes = f"{ASSUMES[how]}; so in each run anew, which is trained independently of the others"
    return statement.OneRun(
        how,
        statement.about_of(how),
        sum(coins),
        confidence,
        statement.with_stops(best, delta),
        test,
        None,
        Guarantee(statement.coverage(how, delta), assumes, not (how is Draw.COIN and of_vectors)),
        tuple(dict.fromkeys(cautions)),
        tuple(bound.value for bound in bounds),
        coins,
    )


def _orders(
    runs: Sequence[Scores | Counts], how: Draw, direction: Direction, seed: int
) -> tuple[Orders, list[Caution]]:
    """The guesses about each run, by order and pairing, and what to know of the scores."""
    if how is Draw.CHOSEN:
        message = "members that were chosen certify nothing, in several runs neither"
        raise errors.OutOfRange.about("draw", message)
    each, cautions = list[list[tuple[Guesses, ...]]](), list[Caution]()
    for at, data in enumerate(runs):
        orders, own = guesses_of(data, how, direction, seed + at)
        each.append(orders)
        cautions += own
    if len({len(orders) for orders in each}) > 1:
        raise errors.InputError.about("runs", "need scores of one kind, all with an order or none")
    return [list(zip(*order, strict=True)) for order in zip(*each, strict=True)], cautions


def _bounds(orders: Orders, delta: float, level: float) -> list[statement.Bound]:
    """The bound after each run, with its guesses at the looks of all runs so far."""

    def bound(runs: tuple[Guesses, ...], level: float) -> statement.Bound:
        return statement.Bound(epsilon_refuted_over(runs, delta, level), level, _as_one(runs))

    bounds, best = list[statement.Bound](), None
    for number in range(1, 1 + (len(orders[0][0]) if orders else 0)):
        so_far = ([pairing[:number] for pairing in order] for order in orders)
        now = max((median(order, level / len(orders), bound) for order in so_far), key=lambda each: each.value)
        best = now if best is None or now.value >= best.value else best
        bounds.append(best)
    return bounds


def _as_one(runs: Sequence[Guesses]) -> Guesses:
    """Guesses of several runs, as far as each was at the same look."""
    wrong, right = np.stack([run.looks for run in runs]).sum(axis=0).astype(np.float64)
    return replace(runs[0], coins=sum(run.coins for run in runs), wrong=wrong, right=right)


def _is_refuted(order: list[tuple[Guesses, ...]], pair: Pair, level: float) -> bool:
    """Whether more than half of the pairings refute a pair after the same run, each at its part of the level."""
    part = level * (len(order) + 1) / (2 * len(order))
    wins = np.sum([refuted_after(runs, *pair, part) for runs in order], axis=0)
    return bool((wins > len(order) // 2).any())


def _could_show(order: list[tuple[Guesses, ...]], delta: float, level: float) -> bool:
    """Whether an epsilon would be excluded if every guess were right."""

    def all_right(run: Guesses) -> Guesses:
        return replace(run, looks=np.stack([0 * run.looks[0], 0 * run.looks[1] + run.coins]))

    return _is_refuted([tuple(map(all_right, runs)) for runs in order], (0.0, delta), level)
