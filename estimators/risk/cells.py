"""Risk of a cell: how much a score betrays of membership, with limits (MACE, Theorem 2).

The signed risk f_p = (p r - (1-p) q) / (p r + (1-p) q) lies between -1, surely a nonmember, and 1,
surely a member. Its magnitude |f_p| is the individual risk (MACE, Theorem 1); at p != 1/2 that is
|2p-1| in every cell when nothing leaks. Cells share few distinct pairs of counts; only those are worked out.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from estimators.adversary.learned import learn_score
from estimators.adversary.targets import CellsTarget
from estimators.arrays import Floats, Integers
from estimators.clusters.design import Labels
from estimators.errors import require_open_unit
from estimators.limits.binomial import clopper_pearson, lower_limit
from estimators.limits.fieller import signed_risk_limits
from estimators.optimum.advantage import advantage
from estimators.optimum.answer import Advantage
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counts import Counts
from estimators.sample.scores import Scores
from estimators.statement import (
    IID,
    VERSION,
    Caution,
    Estimate,
    Guarantee,
    Provenance,
    at_least,
    at_most,
    baseline,
    percent,
)

Masked: TypeAlias = "np.ma.MaskedArray[Any, np.dtype[np.float64]]"


class CellInterval(Protocol):
    """A way to bound the signed risk of cells from their counts."""

    name: ClassVar[str]

    def limits(
        self, members: Integers, n_members: int, nonmembers: Integers, n_nonmembers: int, prior: float, alpha: float
    ) -> tuple[Floats, Floats]:
        """Lower and upper limit, each of level 1 - alpha."""
        ...


@dataclass(frozen=True, slots=True)
class MoverFieller:
    """Ratio limits from two exact ones (study 2.5): narrower, and not valid at every level. Ask for it by name.

    For one category at 95% they miss at most 4.3% in all, but 3.4% at one end, where 2.5% is nominal. At 99% one end
    misses three times, at 99.9% fourteen times as often as it may; nor do they hold where cells are cut to hold a
    given number of records (5.6% at 95% with 100 a side and 33 a cell), nor for many cells at once.
    """

    name: ClassVar[str] = "mover_fieller"

    def limits(
        self, members: Integers, n_members: int, nonmembers: Integers, n_nonmembers: int, prior: float, alpha: float
    ) -> tuple[Floats, Floats]:
        """MOVER-Fieller with Clopper-Pearson ends."""
        return signed_risk_limits(members, n_members, nonmembers, n_nonmembers, prior, alpha)


@dataclass(frozen=True, slots=True)
class Conditional:
    """Clopper and Pearson's limits of the share of members among a cell's records, which fixes f_p.

    Given its records, a cell's members would be one binomial number if the sides' sizes were not fixed. As they are,
    they vary less, about a mean that is not quite the same: that the limits hold at every level is enumerated (study
    2.5) and simulated, not proven.
    """

    name: ClassVar[str] = "conditional"

    def limits(
        self, members: Integers, n_members: int, nonmembers: Integers, n_nonmembers: int, prior: float, alpha: float
    ) -> tuple[Floats, Floats]:
        """f(s) at the limits of s; it rises with s."""
        low, high = clopper_pearson(members, members + nonmembers, alpha)
        return tuple(risk_at_share(s, n_members, n_nonmembers, prior) for s in (low, high))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class Reach:
    """Other counts that the limits of a cell must reach as well: of a part of it, or of its neighbour.

    A cell's limits hold for its mean. Where its records do not lie evenly, the risk of one of them may be that of a
    part. So the end that lies away from "no leak" is moved out to that part's end, never in: what holds for the cell
    still does.
    """

    cell: Integers
    members: Integers
    nonmembers: Integers

    def widen(self, limits: Limits, ends: tuple[Floats, Floats], no_leak: float) -> Limits:
        """Limits that reach as far as ``ends``, which are those of these counts.

        A lower end above ``no_leak``, 2p-1, stays where it is, and so does an upper end below it.
        """
        lower, upper = limits.lower.copy(), limits.upper.copy()
        np.minimum.at(lower, self.cell, ends[0])
        np.maximum.at(upper, self.cell, ends[1])
        return Limits(
            np.where(limits.lower > no_leak, limits.lower, lower),
            np.where(limits.upper < no_leak, limits.upper, upper),
            limits.confidence,
            limits.guarantee,
        )


@dataclass(frozen=True, eq=False)
class Limits:
    """Lower and upper limits of many values, each pair or all pairs holding with ``confidence``."""

    lower: Floats
    upper: Floats
    confidence: float
    guarantee: Guarantee

    def folded(self) -> Limits:
        """Limits of the magnitudes: [0, max] where 0 lies between (erratum E13: the folded ends miss it)."""
        low, high = np.abs(self.lower), np.abs(self.upper)
        straddles = (self.lower <= 0.0) & (self.upper >= 0.0)
        return Limits(
            np.where(straddles, 0.0, np.minimum(low, high)), np.maximum(low, high), self.confidence, self.guarantee
        )


@dataclass(frozen=True, eq=False)
class CellRisks:
    """A row for each cell; where no record fell plug-in values are masked and limits say nothing.

    ``evidence`` is what cells are ranked by: the lower ends of their own signed risk, all at once and each alone,
    without what their limits reach beside them.
    """

    counts: Counts
    prior: float
    posterior: Masked
    signed_risk: Masked
    signed: Limits
    signed_simultaneous: Limits
    evidence: tuple[Floats, Floats]
    cautions: tuple[Caution, ...]
    provenance: Provenance

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.counts.size

    @property
    def risk(self) -> Masked:
        """|f_p|, plugged in."""
        return np.ma.abs(self.signed_risk)  # type: ignore[no-any-return]

    @property
    def mean(self) -> float:
        """Mean of the plug-in risk over the mixture, in which members have the prior's share: sum |p r - (1-p) q|."""
        return float(np.abs(self.counts.weights(self.prior)).sum())

    @cached_property
    def pointwise(self) -> Limits:
        """Limits of |f_p|, for one cell at a time."""
        return self.signed.folded()

    @cached_property
    def simultaneous(self) -> Limits:
        """Limits of |f_p| that hold for all cells, and so for all records, at once."""
        return self.signed_simultaneous.folded()

    @property
    def baseline(self) -> float:
        """|2p-1|: the risk of every record when nothing leaks."""
        return baseline(self.prior)

    @property
    def sentence(self) -> str:
        """The result in plain words."""
        worst = int(np.argmax(self.simultaneous.lower))
        low, high = self.simultaneous.lower[worst], self.simultaneous.upper[worst]
        return (
            f"With {percent(self.signed.confidence)} confidence in all {self.size} cells at once, the individual "
            f"risk lies between {at_least(low)} and {at_most(high)} in the cell where it is surest; without any leak "
            f"it would be {self.baseline:.3f} everywhere."
        )


def cell_risks(
    counts: Counts,
    prior: float = 0.5,
    confidence: float = 0.95,
    interval: CellInterval | None = None,
    reach: Reach | None = None,
    together: int | None = None,
    choices: Integers | None = None,
) -> CellRisks:
    """Risk of each cell with limits for it alone and, Bonferroni, for all occupied cells at once.

    ``interval`` is for one cell at a time, ``Conditional()`` by default. All at once is always by it: conditional on
    how many records each cell holds, so the occupied ones are all there are. With ``reach`` the limits reach further.
    All at once are ``together`` cells, if others than these belong to them. A part of a cell that was chosen from
    several ``choices`` has their share of the error, and is bounded by ``Conditional()``.
    """
    prior = require_open_unit("prior", prior)
    confidence = require_open_unit("confidence", confidence)
    one = interval or Conditional()
    n1, n0, empty = counts.n_members, counts.n_nonmembers, counts.pooled == 0
    x, y, back = _distinct_pairs(counts.members, counts.nonmembers)
    a, b = prior * x / n1, (1.0 - prior) * y / n0
    total = np.where(a + b > 0.0, a + b, 1.0)  # 0/0 where no record fell: masked below
    delta, target = 1.0 - confidence, f"the risk, signed or not, at the resolution of {counts.size} cells"

    def limits(how: CellInterval, alpha: float, together: str) -> tuple[Limits, Floats]:
        low, high = (each[back] for each in how.limits(x, n1, y, n0, prior, alpha))
        if choices is not None:
            part = np.flatnonzero(choices > 1)
            m, k, shared = counts.members[part], counts.nonmembers[part], alpha / choices[part]
            low[part] = risk_at_share(lower_limit(m, m + k, shared), n1, n0, prior)
            high[part] = risk_at_share(1.0 - lower_limit(k, m + k, shared), n1, n0, prior)
        of_cells = Limits(low, high, confidence, Guarantee(f"{target}, {together}", IID, finite_sample=False))
        if reach is None:
            return of_cells, of_cells.lower
        ends = how.limits(reach.members, n1, reach.nonmembers, n0, prior, alpha)
        return reach.widen(of_cells, ends, 2.0 * prior - 1.0), of_cells.lower

    alone, evidence_alone = limits(one, delta / 2.0, "of one cell named in advance")
    occupied = int((~empty).sum()) if together is None else together
    every, evidence = limits(Conditional(), delta / 2.0 / occupied, "of all cells at once")
    return CellRisks(
        counts,
        prior,
        np.ma.MaskedArray((a / total)[back], mask=empty),
        np.ma.MaskedArray(((a - b) / total)[back], mask=empty),
        alone,
        every,
        (evidence, evidence_alone),
        tuple(counts.cautions()),
        Provenance(f"cells+{one.name}", VERSION, n1, n0, prior, None),
    )


def risk_at_share(share: Floats, n_members: int, n_nonmembers: int, prior: float) -> Floats:
    """Signed risk of a cell whose sampled records are members with this share (study 2.5)."""
    a, b = prior * share / n_members, (1.0 - prior) * (1.0 - share) / n_nonmembers
    return np.asarray((a - b) / (a + b))


def _distinct_pairs(members: Integers, nonmembers: Integers) -> tuple[Integers, Integers, Integers]:
    """Every pair of counts once, and which of them each cell has; by a table where one is small enough."""
    base = int(nonmembers.max(initial=0)) + 1
    key = members * base + nonmembers
    top = (int(members.max(initial=0)) + 1) * base
    if top > 4 * len(key) + 1024:
        distinct, back = np.unique(key, return_inverse=True)
        return distinct // base, distinct % base, back.reshape(-1)
    distinct = np.flatnonzero(np.bincount(key, minlength=top))
    place = np.zeros(top, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct // base, distinct % base, place[key]


# The mean individual risk: over the mixture of members and nonmembers it is the optimal advantage (MACE, Theorem 1.2).
#
# A record drawn as a member with the prior's probability has the risk |f_p| of its score. The mean of that is
# sum |p r - (1-p) q|, what the best attacker has. So the certified interval of one is that of the other.


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
        data, confidence, seed: As for ``advantage``.
        cells: The risk of the cells of the same data: ``individual_risk(...).cells``. Its prior is the mixture's.
        bins: The number of cells that the risk was asked at. None: as the advantage chooses.
        cluster: Whom each record belongs to, if some belong together, as in ``advantage``.

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
    covers = (
        "the mean risk of records that are members with the prior's probability, which is the optimal advantage "
        f"(MACE, Theorem 1.2); that as: {interval.guarantee.covers}"
    )
    guarantee = replace(interval.guarantee, covers=covers)
    estimate = Estimate(result.estimate.value, replace(interval, guarantee=guarantee))
    return MeanRisk(estimate, cells.mean, result.baseline, result)
