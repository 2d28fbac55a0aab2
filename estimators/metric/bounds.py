"""Both ends of the interval for a metric's optimum, on counts.

Below, rules chosen on past records are judged on future ones (progressive selection, study 2.1).
Above, every rule of a declared class is given its own upper limit and the largest stands (study 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from estimators.adversary.changes import corners_of
from estimators.adversary.holdout import SHUFFLES, block_fractions
from estimators.adversary.many_changes import MANY_CHANGES, sums_around, widths_for
from estimators.arrays import Booleans, Floats, Integers, lengths
from estimators.errors import require_share
from estimators.limits.binomial import clopper_pearson
from estimators.limits.fieller import ratio_range
from estimators.limits.two_rates import Linear, TwoRates
from estimators.metric.definition import Cut, Degeneracy, Metric
from estimators.python.dataclass import dataclass
from estimators.sample.cells import Categories
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts

# The best adversary for a metric on given counts.
#
# At any value V the metric exceeds V where numerator - V denominator > 0, which is linear in the rates: so the best
# rule takes cells in order of likelihood ratio, from one end or the other, up to some cell (MACE, Lemma 3). Trying
# every prefix is exact and costs one sort.

VANISHING_SHARE = 0.05
"""Least share of the guesses that make up the denominator, for metrics that are 0/0 without any."""


SAFELY = 3.0  # standard errors beyond a least share that are asked of a rule on its past


@dataclass(frozen=True, slots=True)
class Objective:
    """A metric at a prior, over adversaries that guess member for ``low`` to ``high`` of all records."""

    metric: Metric
    prior: float
    low: float = 0.0
    high: float = 1.0

    @classmethod
    def of(cls, metric: Metric, prior: float, min_positive_share: float | None = None) -> Objective:
        """With a least share of member guesses, or of nonmember ones where only those can be missing."""
        why = metric.degeneracy(prior)
        vanishing = why in (Degeneracy.NO_MEMBER_GUESSES, Degeneracy.NO_NONMEMBER_GUESSES)
        share = (VANISHING_SHARE if vanishing else 0.0) if min_positive_share is None else min_positive_share
        share = require_share("min_positive_share", share)
        if why is Degeneracy.NO_NONMEMBER_GUESSES:
            return cls(metric, prior, 0.0, 1.0 - share)
        return cls(metric, prior, share, 1.0)

    @property
    def constrained(self) -> bool:
        """Whether some shares of member guesses are ruled out."""
        return self.low > 0.0 or self.high < 1.0

    def safely(self, n_members: int, n_nonmembers: int) -> Objective:
        """With limits of the share that a rule keeps on so many records and hardly breaks in truth."""
        variance = max(self.prior / n_members, (1.0 - self.prior) / n_nonmembers)
        low, rest = (
            each + min(SAFELY * (each * variance) ** 0.5, (1.0 - each) / 2.0) if each > 0.0 else 0.0
            for each in (self.low, 1.0 - self.high)
        )
        return Objective(self.metric, self.prior, low, 1.0 - rest)

    def share(self, tpr: Floats, fpr: Floats) -> Floats:
        """gamma = p TPR + (1-p) FPR: how many of all records are guessed member (erratum E21)."""
        return self.prior * tpr + (1.0 - self.prior) * fpr

    def value(self, tpr: Floats, fpr: Floats) -> Floats:
        """The metric at these rates; minus infinity where it is 0/0 or the share is ruled out."""
        value, share = self.metric.value(tpr, fpr, self.prior), self.share(tpr, fpr)
        ruled_out = np.isnan(value) | (share < self.low - 1e-12) | (share > self.high + 1e-12)
        return np.where(ruled_out, -np.inf, value)

    @property
    def trivial(self) -> float:
        """What guessing without looking at the score earns: TPR = FPR = the share guessed member.

        On that line the metric is monotone, so the ends decide; one that is 0/0 has its neighbour's value.
        """
        ends = np.array([max(self.low, 1e-9), self.low, self.high, min(self.high, 1.0 - 1e-9)])
        return float(np.fmax.reduce(self.metric.value(ends, ends, self.prior)))


@dataclass(frozen=True, slots=True)
class Optimum:
    """The best value on these counts, the rates that give it and the rule behind them."""

    value: float
    tpr: float
    fpr: float
    cut: Cut
    binding: bool


def optimum(counts: Counts, objective: Objective) -> Optimum:
    """Largest value over every adversary that sees the cell; a coin may decide in one cell to meet a share.

    Adversaries fill the polygon between the chain of prefixes and its mirror image, on which a ratio of
    linear forms is largest at a corner: a prefix, or where the share's limit crosses the chain.
    """
    order = likelihood_order(counts.members[None, :], counts.nonmembers[None, :])[0]
    tpr = np.concatenate([[0.0], counts.members[order].cumsum() / counts.n_members])
    fpr = np.concatenate([[0.0], counts.nonmembers[order].cumsum() / counts.n_nonmembers])
    share = objective.share(tpr, fpr)
    ends = [objective.low, objective.high, 1.0 - objective.low, 1.0 - objective.high]
    crossing = np.interp(ends, share, np.arange(len(share)))
    at = np.concatenate([np.arange(len(share)), crossing])
    tpr, fpr = (np.interp(at, np.arange(len(rate)), rate) for rate in (tpr, fpr))
    mirrored = np.repeat([False, True], len(at))
    tpr, fpr = np.concatenate([tpr, 1.0 - tpr]), np.concatenate([fpr, 1.0 - fpr])
    value = objective.value(tpr, fpr)
    best = int(value.argmax())
    edge = at[best % len(at)]
    gamma = float(objective.share(tpr[best : best + 1], fpr[best : best + 1])[0])
    above = not bool(mirrored[best])
    binding = (0.0 < objective.low >= gamma - 1e-9) or (1.0 > objective.high <= gamma + 1e-9)
    cut = objective.metric.cut_at(float(value[best]), objective.prior)
    if binding:  # the share, not Lemma 3, sets the threshold: the posterior of the cell where the rule stops
        posterior = posteriors(counts.members, counts.nonmembers, objective.prior)[order]
        marginal = posterior[min(int(np.ceil(edge)), len(posterior)) - 1] if edge > 0.0 else 1.0
        cut = Cut(float(marginal), above)
    return Optimum(float(value[best]), float(tpr[best]), float(fpr[best]), cut, binding)


def posteriors(members: Integers, nonmembers: Integers, prior: float) -> Floats:
    """eta_j = p r_j / (p r_j + (1-p) q_j) with the sample's shares; the prior itself where no record fell."""
    a = prior * members / members.sum(axis=-1, keepdims=True)
    b = (1.0 - prior) * nonmembers / nonmembers.sum(axis=-1, keepdims=True)
    empty = a + b == 0.0
    return np.where(empty, prior, a / np.where(empty, 1.0, a + b))


def likelihood_order(members: Integers, nonmembers: Integers) -> Integers:
    """Cells of each row from the largest likelihood ratio to the smallest; empty ones as if it were 1."""
    return np.argsort(-posteriors(members, nonmembers, 0.5), axis=-1, kind="stable")


def best_prefix(objective: Objective, members: Integers, nonmembers: Integers, order: Integers) -> Booleans:
    """For each row of counts the cells that its best prefix of ``order``, or the rest, guesses member."""
    rows, size = members.shape
    start = np.zeros((rows, 1))
    tpr, fpr = (
        np.concatenate([start, np.cumsum(np.take_along_axis(side, order, 1), axis=1) / side.sum(1)[:, None]], axis=1)
        for side in (members, nonmembers)
    )
    values = np.concatenate([objective.value(tpr, fpr), objective.value(1.0 - tpr, 1.0 - fpr)], axis=1)
    best = values.argmax(axis=1)
    length, mirrored = best % (size + 1), best > size
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(size), order.shape), axis=1)
    guesses: Booleans = (rank < length[:, None]) != mirrored[:, None]
    return guesses


CUTS = 1024  # cells of equal mass at which an ordered score may be cut once

COARSE = 8
HULL_POINTS = 256
SHARE_OF_ALPHA = 0.1
"""Part of the upper end's error spent on the share of member guesses, where there is a least one."""


@dataclass(frozen=True, eq=False, slots=True)
class View:
    """How adversaries see the cells: joined into groups, sorted by likelihood ratio or in score order.

    The likelihood ratio of a group may be that of so many groups around it.
    """

    name: str
    starts: Integers
    sort: bool
    width: int = 1

    def counts(self, fine: Counts) -> Counts:
        """The groups' counts, free of any meaning of the cells."""
        members, nonmembers = (np.add.reduceat(side, self.starts) for side in (fine.members, fine.nonmembers))
        return Counts.trusted(members, nonmembers, Categories(np.arange(len(members))))

    def fit(self, objective: Objective, members: Integers, nonmembers: Integers) -> Booleans:
        """The best rule for each row of counts over the fine cells."""
        a, b = (np.add.reduceat(side, self.starts, axis=1) for side in (members, nonmembers))
        order = np.broadcast_to(np.arange(a.shape[1]), a.shape)
        if self.sort:
            order = likelihood_order(a, b) if self.width == 1 else likelihood_order(*self._around(a, b))
        sizes = lengths(self.starts, members.shape[1])
        return np.repeat(best_prefix(objective, a, b, order), sizes, axis=1)

    def _around(self, *sides: Integers) -> list[Integers]:
        """Counts of so many groups around each."""
        running = [np.concatenate([np.zeros((len(side), 1), np.int64), side.cumsum(axis=1)], axis=1) for side in sides]
        return [sums_around(sums, self.width) for sums in running]


def views_of(counts: Counts, bins: int | None = None) -> tuple[Counts, tuple[View, ...]]:
    """The cells that rules are fitted on and the ways to look at them, chosen by pooled counts alone."""
    if not counts.cells.ordered:
        return counts.require_shared_cells(), (View("cells", np.arange(counts.size), True),)
    joins = counts.cells.kind in ("intervals", "grid") or bins is not None
    fine = counts.coarsen(CUTS) if joins else counts
    groups = [("cells", (bins or resolution(counts.n_records)) if joins else fine.size), ("coarse_cells", COARSE)]
    views = [View(name, fine.group_starts(size), True) for name, size in groups if name == "cells" or fine.size > 12]
    return fine, (*views, View("threshold", np.arange(fine.size), False))


def finer_views(fine: Counts) -> tuple[View, ...]:
    """Every cell by itself, and by more and more of its neighbours."""
    every = np.arange(fine.size)
    return tuple(View(MANY_CHANGES, every, True, width) for width in widths_for(fine.size))


@dataclass(frozen=True, slots=True)
class HeldOutMetric:
    """What rules chosen on the past achieved on the future."""

    lower: float
    value: float
    leader: str


def held_out(
    fine: Counts, views: Sequence[View], objective: Objective, alpha: float, seed: int, shuffles: int = SHUFFLES
) -> HeldOutMetric:
    """Lower limit of the optimum, of level 1 - alpha, by progressive selection (study 2.1 and 2.4).

    TP and FP pooled over blocks are those of an adversary that draws one of the blocks' rules at random,
    hence of one no better than the best. A little more than a least share of member guesses is asked of each rule on
    its past, and what it may truly lack of that share is made up for (``_allowed_lower``).
    One shuffle has the level of MOVER; the median of several is steadier.
    """
    rng = fine.random(seed)
    asked = objective.safely(fine.n_members, fine.n_nonmembers)
    runs = [_progressive(fine, views, asked, rng) for _ in range(shuffles)]
    tp, n1, fp, n0, leaders = np.array(runs).T
    if objective.constrained:
        lowers = np.array([_allowed_lower(*run[:4], objective, alpha) for run in runs])
    elif len(set(zip(n1.tolist(), n0.tolist(), strict=True))) == 1:  # of one size they are weighted alike
        lowers = rule_lower(tp, n1, fp, n0, objective, alpha)
    else:
        lowers = np.array([rule_lower(*run[:4], objective, alpha) for run in runs])
    values = []
    for hits, members, alarms, nonmembers, _ in runs:
        value = float(objective.metric.value(hits / members, alarms / nonmembers, objective.prior))
        values.append(objective.trivial if np.isnan(value) else value)
    leader = int(np.bincount(leaders).argmax())
    trivial = objective.trivial
    return HeldOutMetric(
        max(float(np.median(lowers)), trivial), max(float(np.median(values)), trivial), views[leader].name
    )


def _progressive(
    fine: Counts, views: Sequence[View], objective: Objective, rng: np.random.Generator
) -> tuple[int, int, int, int, int]:
    members, nonmembers = fine.blocks(block_fractions(fine.n_members, fine.n_nonmembers), rng)
    past = members[:-1].cumsum(axis=0), nonmembers[:-1].cumsum(axis=0)
    guesses = np.stack([view.fit(objective, *past) for view in views])
    tp, fp = np.einsum("vbc,bc->vb", guesses, members[1:]), np.einsum("vbc,bc->vb", guesses, nonmembers[1:])
    n1, n0 = members[1:].sum(axis=1), nonmembers[1:].sum(axis=1)
    so_far = objective.metric.value(
        tp.cumsum(axis=1) / np.maximum(n1.cumsum(), 1), fp.cumsum(axis=1) / np.maximum(n0.cumsum(), 1), objective.prior
    )
    # the view that led before a block speaks for it; before there is a record the last, which overfits least
    leading = np.argmax(np.where(np.isnan(so_far), -np.inf, so_far)[::-1], axis=0)
    leaders = len(views) - 1 - np.concatenate([[0], leading])
    blocks = np.arange(len(n1))
    return (
        int(tp[leaders[:-1], blocks].sum()),
        int(n1.sum()),
        int(fp[leaders[:-1], blocks].sum()),
        int(n0.sum()),
        int(leaders[-1]),
    )


def in_sample(fine: Counts, view: View, objective: Objective) -> float:
    """Metric of the view's best rule on the very records it was chosen on."""
    if view.sort:
        return optimum(view.counts(fine), objective).value
    guess = view.fit(objective, fine.members[None, :], fine.nonmembers[None, :])[0]
    tpr, fpr = fine.members[guess].sum() / fine.n_members, fine.nonmembers[guess].sum() / fine.n_nonmembers
    return float(objective.value(np.asarray(tpr), np.asarray(fpr)))


def metric_range(objective: Objective) -> tuple[float, float]:
    """Least and greatest value of the metric at any rates."""
    return ratio_range(*objective.metric.linear(objective.prior))


def upper_limit(
    fine: Counts, views: Sequence[View], objective: Objective, alpha: float, changes: int | None = None
) -> float:
    """Upper limit, of level 1 - alpha, for every rule on the groups of the first view and every single cut.

    With ``changes`` also for rules with so many changes of guess along the cells.

    The best rule is unknown but fixed, so the largest of all rules' own limits is a limit for it. Rules on
    groups fill the polygon between the chain of prefixes and its mirror image; its border is covered by
    small boxes and each box is judged by its corners, so nothing lies beyond what is judged. A rule whose
    true share of member guesses is allowed may show another one: all whose share could be allowed count.
    """
    n1, n0 = float(fine.n_members), float(fine.n_nonmembers)
    tp, fp = _chain(views[0].counts(fine), views[0])
    if changes is not None:
        right = corners_of(fine.members, fine.nonmembers, views[0].starts, changes)
        tp, fp = n1 * right[:, 0], n0 * (1.0 - right[:, 1])
    steps = max(1, -(-HULL_POINTS // max(len(tp) - 1, 1)))
    at = np.linspace(0.0, len(tp) - 1.0, (len(tp) - 1) * steps + 1)
    tp, fp = (np.interp(at, np.arange(len(side)), side) for side in (tp, fp))
    corners = [(tp[1:], fp[:-1]), (tp[:-1], fp[1:]), (tp[1:], fp[1:]), (tp[:-1], fp[:-1])]
    corners += [_chain(view.counts(fine), view) for view in views if not view.sort]
    hits = np.concatenate([a for a, _ in corners])
    alarms = np.concatenate([c for _, c in corners])
    hits, alarms = np.concatenate([hits, n1 - hits]), np.concatenate([alarms, n0 - alarms])
    if objective.constrained:
        level, p = alpha * SHARE_OF_ALPHA / 2.0, objective.prior
        ends = zip(clopper_pearson(hits, n1, level), clopper_pearson(alarms, n0, level), strict=True)
        least, most = (p * a + (1.0 - p) * c for a, c in ends)
        possible = (most >= objective.low) & (least <= objective.high)
        hits, alarms, alpha = hits[possible], alarms[possible], alpha * (1.0 - SHARE_OF_ALPHA)
    if not hits.size:
        return objective.trivial
    ratio = _ratio_of(objective)
    rates = _rates(hits, n1, alarms, n0, ratio)
    at_least = max(objective.trivial, float(objective.value(hits / n1, alarms / n0).max()))
    return rates.largest_ratio(*ratio, alpha, metric_range(objective), at_least)


def rule_lower(
    hits: ArrayLike,
    n_members: float,
    alarms: ArrayLike,
    n_nonmembers: float,
    objective: Objective,
    alpha: float,
    others: tuple[float, float] = (0.0, 0.0),
) -> Floats:
    """Lower limit, of level 1 - alpha, of the metric of each fixed rule.

    With ``others`` it is of who takes this share of all records out of the rule's hands, and accuses so many of these.
    """
    ratio = _ratio_of(objective)
    low, high = metric_range(objective)
    rates = _rates(hits, n_members, alarms, n_nonmembers, ratio)
    out, accused = others
    (e0, ea, ec), bottom = ((k + out * accused * (a + c), (1.0 - out) * a, (1.0 - out) * c) for k, a, c in ratio)
    return -rates.ratio_upper((-e0, -ea, -ec), bottom, alpha, (-high, -low))


def _allowed_lower(
    hits: float, n_members: float, alarms: float, n_nonmembers: float, objective: Objective, alpha: float
) -> float:
    """Lower limit for the best rule whose share of member guesses is allowed, by one whose share may not be.

    What a rule may lack of the least share, at a part of the error, it gets by accusing some records at random; what it
    may have too much, by letting some go. So who is judged is allowed, and no better than the best.
    """
    level, p = alpha * SHARE_OF_ALPHA / 2.0, objective.prior
    sides = (hits, n_members), (alarms, n_nonmembers)
    ends = zip(*(clopper_pearson(np.asarray(x), n, level) for x, n in sides), strict=True)
    least, most = (float(p * a + (1.0 - p) * c) for a, c in ends)
    others = 0.0, 0.0
    if least < objective.low:
        others = (objective.low - least) / (1.0 - least), 1.0
    elif most > objective.high:
        others = (most - objective.high) / most, 0.0
    level = alpha * (1.0 - SHARE_OF_ALPHA)
    return float(rule_lower(hits, n_members, alarms, n_nonmembers, objective, level, others))


def _ratio_of(objective: Objective) -> tuple[Linear, Linear]:
    """The metric's numerator and denominator, linear in TPR and FPR, the denominator positive."""
    (e0, ea, ec), (h0, ha, hc) = objective.metric.linear(objective.prior)
    if h0 + (ha + hc) / 2.0 < 0.0:  # it does not change its sign on the unit square
        return (-e0, -ea, -ec), (-h0, -ha, -hc)
    return (e0, ea, ec), (h0, ha, hc)


def _rates(
    hits: ArrayLike, n_members: float, alarms: ArrayLike, n_nonmembers: float, ratio: tuple[Linear, Linear]
) -> TwoRates:
    """The two rates, weighted as they weigh in the metric."""
    (_, ea, ec), (_, ha, hc) = ratio
    return TwoRates.of(hits, n_members, alarms, n_nonmembers, abs(ea) + abs(ha), abs(ec) + abs(hc))


def _chain(groups: Counts, view: View) -> tuple[Floats, Floats]:
    """True and false positives of every prefix of the groups."""
    members, nonmembers = groups.members, groups.nonmembers
    if view.sort:
        order = likelihood_order(members[None, :], nonmembers[None, :])[0]
        members, nonmembers = members[order], nonmembers[order]
    tp, fp = (np.concatenate([[0], side.cumsum()]).astype(np.float64) for side in (members, nonmembers))
    return tp, fp
