"""What several independent runs show of epsilon: each goes on with what the bets before it have."""

from collections.abc import Sequence

from estimators.errors import InputError, OutOfRange, require_open_unit, require_share
from estimators.privacy.epsilon import Direction, direction_of
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.theory.one_run.betting import epsilon_refuted_over
from estimators.theory.one_run.draws import Draw, draw_of, guesses_of
from estimators.theory.one_run.guesses import Guesses, median


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
    delta, how = require_share("delta", delta), draw_of(draw)
    if how is Draw.CHOSEN:
        raise OutOfRange(
            "draw: members that were chosen certify nothing, in several runs neither", field="draw"
        )
    each = [guesses_of(data, how, direction_of(direction), seed + at)[0] for at, data in enumerate(runs)]
    if len({len(orders) for orders in each}) > 1:
        raise InputError("runs: need scores of one kind, all with an order or none", field="runs")
    each_level = level / max(1, len(each[0])) if each else level

    def bound(runs: tuple[Guesses, ...], level: float) -> float:
        return epsilon_refuted_over(runs, delta, level)

    bounds = [0.0]
    for number in range(1, len(runs) + 1):
        orders = zip(*each[:number], strict=True)
        so_far = [tuple(zip(*order, strict=True)) for order in orders]
        bounds.append(max(bounds[-1], *(median(pairings, each_level, bound) for pairings in so_far)))
    return tuple(bounds[1:])
