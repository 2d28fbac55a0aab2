"""What several independent runs show of epsilon: each goes on with what the bets before it have."""

from collections.abc import Sequence

from estimators.errors import OutOfRange, require_open_unit, require_share
from estimators.privacy.epsilon import Direction, direction_of
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.theory.one_run.betting import epsilon_refuted_over
from estimators.theory.one_run.statement import Draw, draw_of, guesses_of


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
    orders = list(
        zip(
            *(guesses_of(data, how, direction_of(direction), seed + at)[0] for at, data in enumerate(runs)),
            strict=True,
        )
    )
    each_level = level / max(1, len(orders))
    bounds = [0.0]
    for number in range(1, len(runs) + 1):
        bounds.append(
            max(bounds[-1], *(epsilon_refuted_over(order[:number], delta, each_level) for order in orders))
        )
    return tuple(bounds[1:])
