"""Which adversaries an answer speaks of."""

from estimators.adversary.learned import DEFAULT_LEARNERS, Learner
from estimators.errors import OptionError, require_count
from estimators.python.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CellsTarget:
    """Adversaries at a stated resolution; every family that can be told apart there competes for the lower end.

    The lower end makes no assumption about how the best adversary decides. The upper end speaks of adversaries who
    change their guess a few times along the score, wherever, and of those who see in which of the cells a score falls,
    and not where within it.

    Args:
        bins: Into how many cells of about equal size scores with an order are joined, at least 1. None: the cube root
            of the number of records, at least 4. Categories stay as they are.
        universe: How many categories there are, if more than were seen in the sample, at least 1. The upper end then
            allows for the unseen ones. Only for categories.
        changes: How often an adversary may change their guess along a score with an order, at any places, at least 0.
            The upper end is right if the posterior crosses one half no more often.
        name: What the provenance calls this choice; leave it.

    Example:
        >>> from estimators import CellsTarget, Counts, advantage
        >>> counts = Counts.of([10, 20, 30, 40], [40, 30, 20, 10], edges=[0.2, 0.5, 0.8])
        >>> advantage(counts, target=CellsTarget(bins=2)).resolution
        2
    """

    bins: int | None = None
    universe: int | None = None
    changes: int = 2
    name: str = "cells"


@dataclass(frozen=True, slots=True)
class ThresholdTarget:
    """The optimal adversary, taken to be a threshold.

    The interval is narrower than that of ``CellsTarget`` and has no resolution, but it is right only if higher scores
    always make membership likelier (or always less likely). If the records contradict that, the upper end is 1.

    Args:
        name: What the provenance calls this choice; leave it.

    Example:
        >>> from estimators import Counts, ThresholdTarget, advantage
        >>> counts = Counts.of([10, 20, 30, 40], [40, 30, 20, 10], edges=[0.2, 0.5, 0.8])
        >>> print(advantage(counts, target=ThresholdTarget()).estimate.interval.guarantee.assumes)
        records of each side are independent draws from that side's distribution; the likelihood ratio is monotone
        in the score, so the best adversary is a threshold; cells were fixed without a look at who is a member
    """

    name: str = "threshold"


@dataclass(frozen=True, slots=True)
class TwoSidedTarget:
    """The optimal adversary, taken to be an interval or its complement.

    For scores of which both extremes, or only the middle, speak for membership. If the records contradict that, the
    upper end is 1.

    Args:
        name: What the provenance calls this choice; leave it.

    Example:
        >>> from estimators import Counts, ThresholdTarget, TwoSidedTarget, advantage
        >>> ends = Counts.of([45, 10, 45], [10, 80, 10], edges=[0.3, 0.7])  # members lie at both ends
        >>> advantage(ends, target=TwoSidedTarget()).class_rejected
        False
        >>> advantage(ends, target=ThresholdTarget()).class_rejected
        True
    """

    name: str = "two_sided"


@dataclass(frozen=True, slots=True)
class LearnedTarget:
    """Any adversary that sees the vector, below; adversaries that see one learned score, above.

    For scores that are rows of several numbers: classifiers learn from one part of the records and are judged on the
    rest. Needs scikit-learn.

    Args:
        learners: Which classifiers compete: any of ``quadratic()``, ``logistic()``, ``boxes()`` and ``boosting()`` from
            ``estimators.adversary.learned``. All four by default.
        bins: Cells at which the learned score is certified from above, at least 1. None: the cube root of the number
            of records that certify it, at least 4.
        accept_learned_score: Whether a verdict may pass by the learned score. Its upper end says nothing of attackers
            who read more from the vector than was learned here, so that without this no verdict passes.
        name: What the provenance calls this choice; leave it.

    Example:
        >>> import numpy as np
        >>> from estimators import LearnedTarget, Scores, advantage
        >>> from estimators.adversary.learned import logistic
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(1, 1, (300, 2)), rng.normal(0, 1, (300, 2)))
        >>> result = advantage(scores, target=LearnedTarget(learners=(logistic(),)))
        >>> 0.3 < result.lower < result.upper
        True
    """

    learners: tuple[Learner, ...] = DEFAULT_LEARNERS
    bins: int | None = None
    accept_learned_score: bool = False
    name: str = "learned"


Target = CellsTarget | ThresholdTarget | TwoSidedTarget | LearnedTarget


def require_target(target: object) -> None:
    """Refuse a target that is none, and counts of its cells that are no counts."""
    if not isinstance(target, Target | None):
        raise OptionError(
            f"target: got {type(target).__name__}, need CellsTarget(), ThresholdTarget(), TwoSidedTarget() "
            "or LearnedTarget()",
            field="estimator",
        )
    for name in ("bins", "universe"):
        if getattr(target, name, None) is not None:
            require_count(name, getattr(target, name))
    if isinstance(target, CellsTarget):
        require_count("changes", target.changes, 0)
    if isinstance(target, LearnedTarget) and not target.learners:
        raise OptionError("learners: got none, need at least 1", field="estimator")
