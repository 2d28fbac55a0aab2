"""The optimal membership advantage, with an interval for the truth beside the point (MACE, section 5.1).

The lower end is an adversary judged on records it has not seen, which cannot look better than it is. The upper
end is the best adversary of a declared class on the records it was chosen on, which cannot look worse.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from estimators.adversary.families import (
    Cellwise,
    Family,
    Smoothed,
    Threshold,
    TwoSided,
    families_for,
    in_sample,
)
from estimators.adversary.holdout import SHUFFLES, HeldOut, held_out
from estimators.adversary.insample import (
    MANY_CELLS,
    cells_upper,
    second_moment,
    threshold_upper,
    two_sided_upper,
)
from estimators.adversary.learned import DEFAULT_LEARNERS, Learner, learned_counts, learned_held_out
from estimators.errors import IncompatibleCells, InputError, OptionError, require_count, require_open_unit
from estimators.sample.counting import finest, resolution
from estimators.sample.counts import Counts, require_data
from estimators.sample.scores import Scores
from estimators.statement import (
    IID,
    MLR,
    UNIMODAL,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Interval,
    Provenance,
    at_least,
    at_most,
    baseline,
    percent,
    sorted_into,
)

CUTS = 1024
"""Cells from which threshold and two-sided adversaries are learned; their upper ends use every cut."""


@dataclass(frozen=True, slots=True)
class CellsTarget:
    """Adversaries at a stated resolution; every family that can be told apart there competes for the lower end.

    Makes no assumption about how the best adversary decides. In exchange the upper end of the interval speaks only of
    adversaries who see in which of the cells a score falls, and not where within it.

    Args:
        bins: Into how many cells of about equal size scores with an order are joined, at least 1. None: the cube root
            of the number of records, at least 4. Categories stay as they are.
        universe: How many categories there are, if more than were seen in the sample, at least 1. The upper end then
            allows for the unseen ones. Only for categories.
        name: What the provenance calls this choice; leave it.

    Example:
        >>> from estimators import CellsTarget, Counts, advantage
        >>> counts = Counts.of([10, 20, 30, 40], [40, 30, 20, 10], edges=[0.2, 0.5, 0.8])
        >>> advantage(counts, target=CellsTarget(bins=2)).resolution
        2
    """

    bins: int | None = None
    universe: int | None = None
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
        in the score, so the best adversary is a threshold
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
    name: str = "learned"


Target = CellsTarget | ThresholdTarget | TwoSidedTarget | LearnedTarget


@dataclass(frozen=True, slots=True)
class Advantage:
    """The optimal advantage: estimate, certified interval, and what they are worth.

    The advantage is 2 x accuracy - 1 of the best adversary: 1 if it is always right, and 0 at a prior of 0.5 if the
    score tells nothing. ``advantage`` makes it.

    Attributes:
        estimate: The point estimate with its interval and guarantee.
        baseline: The advantage of an adversary who sees no score and always guesses the likelier side, |2 x prior - 1|.
        resolution: How many cells the score was joined to.
        leader: Which family of adversaries set the lower end, such as ``threshold`` or ``cells``.
        class_rejected: Whether the records contradict what ``target`` assumes; the upper end is then 1.
        class_upper: The upper end before such a contradiction was allowed for.
        cautions: What to know before using the numbers.
        provenance: Method, version, numbers of records, prior and seed.
        target: The adversaries that were asked about.

    Example:
        >>> from estimators import Counts, advantage
        >>> result = advantage(Counts.of([20, 30, 50], [50, 40, 10], edges=[0.2, 0.7]), prior=0.2)
        >>> round(result.lower, 3), round(result.value, 3), round(result.upper, 3)
        (0.6, 0.633, 0.739)
        >>> round(result.baseline, 3), result.over
        (0.6, 'where always guessing the likelier side already gives 0.600')
    """

    estimate: Estimate
    baseline: float
    resolution: int
    leader: str
    class_rejected: bool
    class_upper: float
    cautions: tuple[Caution, ...]
    provenance: Provenance
    target: Target = field(repr=False)

    @property
    def value(self) -> float:
        """The point estimate."""
        return float(self.estimate.value or 0.0)

    @property
    def lower(self) -> float:
        """Lower end of the certified interval."""
        return self.estimate.lower

    @property
    def upper(self) -> float:
        """Upper end of the certified interval."""
        return self.estimate.upper

    @property
    def mip_eta(self) -> float:
        """Accuracy above the better constant guess: MIP's eta for this one model."""
        return (self.value - self.baseline) / 2.0

    @property
    def mis_delta(self) -> float:
        """Gain over the baseline as a share of what there is to gain: MIS's Delta for this one model."""
        room = 1.0 - self.baseline  # none, if the prior is 1e-17 from certainty
        return (self.value - self.baseline) / room if room else 0.0

    @property
    def security(self) -> float:
        """1 - Delta (MIS, Eq. 5), for this one model."""
        return 1.0 - self.mis_delta

    @property
    def over(self) -> str:
        """What the advantage is compared with; every sentence that states an advantage ends with it."""
        if self.baseline == 0:
            return "over a coin toss"
        return f"where always guessing the likelier side already gives {self.baseline:.3f}"

    @property
    def scope(self) -> str:
        """The attackers that the upper end covers, as words to put after "the advantage"."""
        return {
            "cells": f" of any attacker who reads this score, {sorted_into(self.resolution)},",
            "threshold": ", if the best attack is a threshold on the score,",
            "two_sided": ", if the best attack accuses the scores inside one interval, or those outside it,",
            "learned": f" of any attacker who reads the learned score, {sorted_into(self.resolution)},",
        }[self.target.name]

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        who = {
            "cells": f"who reads this score, {sorted_into(self.resolution)},",
            "threshold": "who reads this score, if the best attack is a threshold on it,",
            "two_sided": "who reads this score, if the best attack accuses the scores inside one interval, or those "
            "outside it,",
            "learned": "who reads this vector",
        }[self.target.name]
        interval = self.estimate.interval
        bound = f"between {at_least(interval.lower)} and {at_most(interval.upper)}"
        tail = (
            f" The upper end is for attackers who read the learned score, {sorted_into(self.resolution)}."
            if self.target.name == "learned"
            else ""
        )
        sure = percent(interval.confidence)
        return f"With {sure} confidence the best attacker {who} has an advantage {bound}, {self.over}.{tail}"


def advantage(
    data: Scores | Counts,
    prior: float = 0.5,
    target: Target | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    shuffles: int = SHUFFLES,
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

    Returns:
        an ``Advantage``: estimate, interval, guarantee and the result as a sentence.

    Raises:
        MaceError: a number out of its range, or scores that the target cannot use.

    Example:
        >>> import numpy as np
        >>> from estimators import Scores, advantage
        >>> rng = np.random.default_rng(0)
        >>> scores = Scores.of(rng.normal(0.5, 1, 1000), rng.normal(0, 1, 1000))
        >>> result = advantage(scores, prior=0.5, confidence=0.95)
        >>> print(result.sentence)
        With 95% confidence the best attacker who reads this score, sorted into 13 cells of similar values, has an
        advantage between 0.119 and 0.223, over a coin toss.
        >>> result.lower < 0.197 < result.upper  # the true advantage of these two distributions
        True
    """
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    require_count("shuffles", shuffles)
    require_count("seed", seed, 0)
    require_data(data, Scores, Counts)
    _check_target(target)
    target = target or (LearnedTarget() if isinstance(data, Scores) and data.dimension > 1 else CellsTarget())
    alpha = (1.0 - confidence) / 2.0
    if isinstance(target, LearnedTarget):
        if not isinstance(data, Scores):
            raise InputError("a learned adversary needs scores, not counts", field="estimator")
        if "U" in (data.members.dtype.kind, data.nonmembers.dtype.kind):
            raise InputError("a learned adversary needs numbers, got text", field="estimator")
        below = learned_held_out(data, prior, alpha, seed, target.learners)
        counts, _ = learned_counts(data, prior, seed, target.learners, target.bins)
        upper = cells_upper(counts, prior, alpha)
        return _answer(
            counts, prior, confidence, target, below, upper, seed, data.n_members, data.n_nonmembers
        )
    fine = data if isinstance(data, Counts) else finest(data)
    counts = cells_for(fine, target)
    families = families_for(counts)
    below = held_out(counts, prior, families, alpha, seed, shuffles)
    upper = _upper(fine, counts, target, prior, alpha)
    return _answer(counts, prior, confidence, target, below, upper, seed, fine.n_members, fine.n_nonmembers)


def _check_target(target: object) -> None:
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
    if isinstance(target, LearnedTarget) and not target.learners:
        raise OptionError("learners: got none, need at least 1", field="estimator")


def cells_for(fine: Counts, target: Target) -> Counts:
    """The cells on which a target's adversaries are learned: chosen by pooled counts alone."""
    if isinstance(target, CellsTarget):
        keeps_cells = fine.cells.kind not in ("intervals", "grid") and target.bins is None
        if keeps_cells or not fine.cells.ordered:
            return fine.require_shared_cells()
        return fine.coarsen(resolution(fine.n_records) if target.bins is None else target.bins)
    if not fine.cells.ordered:
        raise IncompatibleCells(
            f"a {target.name} adversary needs scores with an order, got {fine.cells.kind}", field="estimator"
        )
    return fine.coarsen(CUTS)


def _upper(fine: Counts, counts: Counts, target: Target, prior: float, alpha: float) -> float:
    if isinstance(target, ThresholdTarget):
        return threshold_upper(fine, prior, alpha)
    if isinstance(target, TwoSidedTarget):
        return two_sided_upper(fine, prior, alpha)
    universe = target.universe if isinstance(target, CellsTarget) else None
    return cells_upper(counts, prior, alpha, universe)


def _answer(
    counts: Counts,
    prior: float,
    confidence: float,
    target: Target,
    below: HeldOut,
    above: float,
    seed: int,
    n_members: int,
    n_nonmembers: int,
) -> Advantage:
    rejected = above < below.lower
    flattered = in_sample(_class_of(below.leader, counts), counts, prior)
    if counts.size > MANY_CELLS:
        flattered = min(flattered, second_moment(counts, prior))
    point = (below.value + flattered) / 2.0
    # a rejected class bounds nothing from above: the only honest upper end left is 1
    interval = Interval(
        below.lower, 1.0 if rejected else above, confidence, _guarantee(counts, prior, target, below.exact)
    )
    cautions = tuple(_cautions(counts, target, rejected))
    return Advantage(
        Estimate(
            min(interval.upper, max(point, interval.lower)), interval
        ),  # the lower end is at least the baseline
        baseline(prior),
        counts.size,
        below.leader,
        rejected,
        above,
        cautions,
        Provenance(f"{target.name}+progressive", VERSION, n_members, n_nonmembers, prior, seed),
        target,
    )


def _class_of(leader: str, counts: Counts) -> Family:
    families: dict[str, Family] = {f.name: f for f in families_for(counts)} | {
        "threshold": Threshold(),
        "two_sided": TwoSided(),
    }
    family = families.get(leader, Cellwise("cells"))
    return Cellwise("cells") if isinstance(family, Smoothed) else family


def _guarantee(counts: Counts, prior: float, target: Target, exact_lower: bool) -> Guarantee:
    covers, assumes = {
        "cells": (
            f"the optimal advantage of adversaries that see the score at a resolution of {counts.size} cells",
            IID,
        ),
        "threshold": ("the optimal advantage", MLR),
        "two_sided": ("the optimal advantage", UNIMODAL),
        "learned": (
            "lower end: the optimal advantage of any adversary that sees the vector; "
            f"upper end: of adversaries that see the learned score at a resolution of {counts.size} cells",
            IID,
        ),
    }[target.name]
    return Guarantee(covers, assumes, finite_sample=exact_lower and counts.size <= MANY_CELLS)


def _cautions(counts: Counts, target: Target, rejected: bool) -> list[Caution]:
    cautions = counts.cautions()
    if rejected:
        cautions.append(
            Caution(
                "class_rejected",
                f"the records contradict the assumption that the best adversary is of the {target.name} class; "
                "the upper end is therefore 1",
            )
        )
    return cautions
