"""The optimal membership advantage, with an interval for the truth beside the point (MACE, section 5.1).

The lower end is an adversary judged on records it has not seen, which cannot look better than it is. The upper
end is the best adversary of a declared class on the records it was chosen on, which cannot look worse.
"""

from estimators.adversary.holdout import ORDERS
from estimators.adversary.targets import Target
from estimators.clusters.design import Labels
from estimators.errors import require_open_unit
from estimators.optimum.answer import Advantage
from estimators.optimum.ends import checked_ends
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores


def advantage(
    data: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    shuffles: int = ORDERS,
    cluster: Labels | None = None,
) -> Advantage:
    """Estimate the optimal advantage at ``prior`` from scores or from counts.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        prior: Probability that a record is a member before its score is seen, strictly between 0 and 1.
        target: Which adversaries the interval speaks of: ``CellsTarget()``, ``ThresholdTarget()``,
            ``TwoSidedTarget()`` or ``LearnedTarget()``. None: cells, or a learned adversary if scores are vectors.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        shuffles: Random orders of the records over which the lower end takes the median, at least 1. More make it
            depend less on the seed and take longer.
        cluster: Whom each row belongs to, if some belong together: a label for each row, members' rows first, or two
            columns of labels that cross (a person and a model), by name or in a list. A cluster may have rows on both
            sides. Both ends then hold for rows that are alike within a cluster.

    Raises:
        MaceError: a number out of its range, or scores that the target cannot use.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0.5, 1, 1000), rng.normal(0, 1, 1000))
        >>> result = advantage(scores, prior=0.5, confidence=0.95)
        >>> print(result.sentence)
        With 95% confidence the advantage over a coin toss is at least 0.104, whoever reads this score, and at most
        0.228 for attackers who accuse on one side of a cut, or inside or outside one range, or who sort the score into
        13 steps. A more intricate rule may do better.
        >>> result.lower < 0.197 < result.upper  # the true advantage of these two distributions
        True
    """
    confidence = require_open_unit("confidence", confidence)
    return checked_ends(data, prior, target, seed, shuffles, cluster).at(confidence)
