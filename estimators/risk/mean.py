"""The mean individual risk: over the mixture of members and nonmembers it is the optimal advantage (MACE, Theorem 1.2).

A record drawn as a member with the prior's probability has the risk |f_p| of its score. The mean of that is
sum |p r - (1-p) q|, what the best attacker has. So the certified interval of one is that of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from estimators.adversary.learned import learn_score
from estimators.adversary.targets import CellsTarget
from estimators.clusters.design import Labels
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.risk.cells import CellRisks
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import Estimate, at_least, at_most, percent


@dataclass(frozen=True, slots=True)
class MeanRisk:
    """The mean risk of records that are members with the prior's probability; ``mean_risk`` makes it.

    Attributes:
        estimate: The point estimate with its interval, which is that of the optimal advantage.
        plug_in: The mean of the plug-in risks of the cells over the same mixture. It is biased upward for what the
            cells can tell, which is less than the mean risk where scores within a cell tell more.
        baseline: What it is if nothing leaks, |2 x prior - 1|.
        advantage: The optimal advantage that it equals.

    Example:
        >>> from estimators import Counts, individual_risk, mean_risk
        >>> counts = Counts.of([90, 5, 5], [10, 45, 45], edges=[0.2, 0.7])
        >>> mean = mean_risk(counts, individual_risk(counts, targets=[0.1]).cells)
        >>> round(mean.estimate.lower, 2), round(mean.plug_in, 2), round(mean.estimate.upper, 2)
        (0.67, 0.8, 0.88)
    """

    estimate: Estimate
    plug_in: float
    baseline: float
    advantage: Advantage

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        low, high = at_least(self.estimate.lower), at_most(self.estimate.upper)
        return (
            f"With {percent(self.estimate.interval.confidence)} confidence the mean risk of records that are members "
            f"with the prior's probability is at least {low}, whoever reads the score, and at most {high} for "
            f"attackers who {self.advantage.attacker}: it is the best attacker's advantage. Without any leak it would "
            f"be {self.baseline:.3f}."
        )


def mean_risk(
    data: Scores | Counts,
    cells: CellRisks,
    confidence: float = 0.95,
    seed: int = 0,
    bins: int | None = None,
    cluster: Labels | None = None,
) -> MeanRisk:
    """The mean individual risk over the mixture, with the interval of the advantage that it equals.

    Args:
        data: Scores of both sides (``Scores.of``) or their counts (``Counts``).
        cells: The risk of the cells of the same data: ``individual_risk(...).cells``. Its prior is the mixture's.
        confidence: Probability that both ends of an interval hold, strictly between 0 and 1.
        seed: Whole number from which everything random is drawn; the same seed gives the same answer.
        bins: The number of cells that the risk was asked at. None: as the advantage chooses.
        cluster: Whom each record belongs to, if some belong together, as in ``advantage``.

    Returns:
        a ``MeanRisk``.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, individual_risk, mean_risk
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0.5, 1, 1000), rng.normal(0, 1, 1000))
        >>> mean = mean_risk(scores, individual_risk(scores).cells)
        >>> mean.estimate.lower < 0.197 < mean.estimate.upper  # the true mean risk, and the true advantage
        True
    """
    whole = data
    if isinstance(data, Scores) and data.dimension > 1:  # of the two halves the first: they are no one sample
        whole, cluster = learn_score(data, cells.prior, seed).counts, None
    result = advantage(whole, cells.prior, CellsTarget(bins), confidence, seed, cluster=cluster)
    return mean_from(result, cells)


def mean_from(result: Advantage, cells: CellRisks) -> MeanRisk:
    """The same from an advantage that is known already."""
    interval = result.estimate.interval
    guarantee = replace(interval.guarantee, covers=_covers(interval.guarantee.covers))
    estimate = Estimate(result.estimate.value, replace(interval, guarantee=guarantee))
    return MeanRisk(estimate, cells.mean, result.baseline, result)


def _covers(advantage: str) -> str:
    return (
        "the mean risk of records that are members with the prior's probability, which is the optimal advantage "
        f"(MACE, Theorem 1.2); that as: {advantage}"
    )
