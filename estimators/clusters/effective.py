"""Limits for 40 clusters and more: exact binomial ones, at the number of rows that clusters leave.

The variance of an accuracy between clusters, against that of as many independent rows, is the design effect. No limit
lies within that of clusters reweighted at random, which knows how skew they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.special import gammaincinv, stdtrit

from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import Cellwise, Family, Threshold, TwoSided
from estimators.arrays import Booleans, Floats, Integers, dot, lengths
from estimators.clusters.blocks import Guesses
from estimators.clusters.design import Clusters
from estimators.limits.binomial import lower_limit, normal_quantile, upper_limit
from estimators.python.dataclass import dataclass
from estimators.sample.counts import Counts

DOUBTED = 2.0  # erring clusters whose variance is trusted as much as that which the scores' likeness makes
MIDDLE = 0.4  # beyond, quantiles are compared at this level

HALF_WAY = 0.5
"""From what is usual to certainty: clusters that a rule finds more often are exposed as a whole."""

ROUNDING = 1e-9  # sums in another order may differ by less

TINY = 1e-300
NO_SKEW = 1e-3  # a gamma law with less is normal

ExtraRates = tuple[float | None, float | None]
"""The rate at which a cluster is right that is added to either side; None: none is added."""

WRONG: ExtraRates = (0.0, 0.0)
AS_SEEN: ExtraRates = (None, None)


@dataclass(frozen=True, slots=True)
class Reweighted:
    """Mean, spread and skewness of an accuracy if clusters have random weights and one more, all wrong, is added.

    With weights of a Dirichlet law a quantile of it is Gaffke's (2005) limit of a bounded mean, and Clopper and
    Pearson's where each cluster is right or wrong as a whole. A gamma law has it to a hundredth of the level.
    """

    mean: float
    spread: float
    skewness: float

    @classmethod
    def of(
        cls, clusters: Clusters, share: Floats, right: Booleans | Floats, extra_rates: ExtraRates = WRONG
    ) -> Reweighted:
        """Of guesses of rows with these shares of the accuracy.

        A cluster that is added is as heavy as others are. Where none is, there is one that is as far off as those that
        were seen to be, on average by their squares.
        """
        residual, mean, extra = np.empty(clusters.rows), 0.0, []
        for (side, prior), extra_rate in zip(clusters.sides, extra_rates, strict=True):
            number = min(participants(totals_of(each[side], share[side])) for each in clusters.columns)
            more = number if extra_rate is None else number + 1.0
            rate = (dot(share[side], right[side]) / prior * number + (extra_rate or 0.0)) / max(more, TINY)
            # the root: weights of a Dirichlet law vary less than independent ones
            part = number / max(more, TINY) * sqrt(more / (more + 1.0))
            residual[side] = part * share[side] * (right[side] - rate)
            if extra_rate is not None:
                extra.append(part * prior / max(number, TINY) * (extra_rate - rate))
            mean += prior * rate
        squares = max(moment_between(clusters, residual, 2), dot(residual, residual))
        cubes = -moment_between(clusters, -residual, 3)
        if not extra:
            extra = [min(cubes / max(squares, TINY), 0.0)]
            mean += extra[0]
        elif clusters.share_sides:
            extra = [sum(extra)]
        squares += sum(each**2 for each in extra)
        cubes += sum(each**3 for each in extra)
        return cls(mean, sqrt(squares), 2.0 * cubes / max(squares**1.5, TINY))

    def lower(self, alpha: float) -> float:
        """The quantile of the gamma law that has these moments."""
        if abs(self.skewness) < NO_SKEW:
            return self.mean - normal_quantile(alpha) * self.spread
        shape = 4.0 / self.skewness**2
        quantile = float(gammaincinv(shape, alpha if self.skewness > 0.0 else 1.0 - alpha))
        return self.mean + (quantile - shape) * self.skewness / 2.0 * self.spread


@dataclass(frozen=True, slots=True)
class Accuracy:
    """p TPR + (1-p) TNR of guesses, as many independent guesses as vary as much, and the freedom of that variance.

    Nothing that clusters do can make it vary more than ``fewest`` independent guesses.
    """

    value: float
    guesses: float
    fewest: float
    freedom: float
    design_effect: float
    reweighted: Reweighted
    may_fail: tuple[MayFail, ...]

    @classmethod
    def of(
        cls,
        clusters: Clusters,
        weights: Floats,
        alike: Floats,
        right: Booleans,
        judged_rows: Booleans | None = None,
        is_best: bool = False,
    ) -> Accuracy:
        """Of the rows that were judged, by the totals of clusters (for two columns Cameron, Gelbach and Miller 2011).

        Where few clusters err, their variance says little: it is then taken to be that which the scores' likeness
        makes, ``alike`` times that of independent rows, and where hardly one does, that of clusters which err as a
        whole. Of the best rule (``is_best``) the opposite guesses are reweighted, for an upper end; if it makes one
        guess of all rows, as among few values that both sides have alike, they say nothing of how rows hang together.
        """
        rows = np.ones(clusters.rows, dtype=np.bool_) if judged_rows is None else judged_rows
        mass = np.where(rows, weights, 0.0)
        share, even, noise, residual = (np.empty(clusters.rows) for _ in range(4))
        for side, prior in clusters.sides:
            share[side] = prior * mass[side] / max(float(mass[side].sum()), TINY)
            even[side] = prior * rows[side] / max(int(rows[side].sum()), 1)
            rate = min(dot(share[side], right[side]) / prior, 1.0)
            noise[side] = rate * (1.0 - rate)
            residual[side] = share[side] * (right[side] - rate)
        value = dot(share, right)
        free, usual, equal = (dot(noise, each) for each in (share**2, share**2 * alike, even**2))
        spread = max(variance_between(clusters, residual), free)
        err = min(participants(totals_of(each, share * ~right)) for each in clusters.columns)
        most, whole = [], 0.0
        for side, prior in clusters.sides:
            heaviest = max(float((totals_of(each[side], share[side]) ** 2).sum()) for each in clusters.columns)
            most.append(float(noise[side].max()) * heaviest)
            whole = max(whole, heaviest / prior)
        doubt = 1.0 if is_best and noise.max() < ROUNDING else 1.0 / (1.0 + err) ** 2
        least = 1.0 / rows.sum()
        variance = max(value * (1.0 - value), TINY)
        by_scores = DOUBTED / (DOUBTED + err)
        effect = spread / equal if err and equal else whole / least
        spread = max(spread, (1.0 - by_scores) * spread + by_scores * usual)
        each = max((1.0 - doubt) * (spread / variance if err else 0.0) + doubt * whole, least)
        heavy = min(clusters.heavy(mass, column) - 2.0 for column in clusters.columns)
        together = (np.sqrt(most).sum() ** 2 if clusters.share_sides else sum(most)) / variance
        fewest = 1.0 / max(together, whole) if len(clusters.columns) == 1 else 0.0
        freedom = max(1.0, min(heavy, 2.0 * err))
        extra_rates = WRONG if judged_rows is None else AS_SEEN
        reweighted = Reweighted.of(clusters, share, ~right if is_best else right, extra_rates)
        may_fail = () if is_best else may_fail_of(clusters, share, right)
        return cls(value, 1.0 / each, fewest, freedom, max(1.0, effect), reweighted, may_fail)

    def trials(self, alpha: float) -> float:
        """Guesses at which a limit of this level allows for a variance that was itself estimated."""
        below = min(alpha, MIDDLE)  # at one half, both quantiles are 0
        trusted = (normal_quantile(below) / float(stdtrit(self.freedom, 1.0 - below))) ** 2
        return max(self.guesses * trusted, self.fewest)

    def lower(self, alpha: float) -> float:
        """Lower limit of the advantage."""
        trials = self.trials(alpha)
        by_variance = float(lower_limit(self.value * trials, trials, alpha))
        lost = max(each.lost(alpha) for each in self.may_fail)
        return 2.0 * max(0.0, min(by_variance, self.reweighted.lower(alpha), self.value - lost)) - 1.0


@dataclass(frozen=True, slots=True)
class EffectiveEnds:
    """Both ends by the variance between clusters: guesses of each shuffle, and the best rules of a class."""

    unseen: tuple[Accuracy, ...]
    best: tuple[Accuracy, ...]
    rates: tuple[float, ...]
    whole_clusters: WholeClusters
    finite_sample: bool = False

    @classmethod
    def of(
        cls,
        clusters: Clusters,
        weights: Floats,
        alike: Floats,
        at: Integers,
        fine: Counts,
        cells: Integers | None,
        changes: int | None,
        guesses: Guesses,
    ) -> EffectiveEnds:
        """Judge the guesses, and find the best rules: on cells that begin at ``cells``, and with so many changes."""
        unseen = accuracies(clusters, weights, alike, guesses)
        gain = gains(clusters, weights, at, fine.size)
        best, rates = [], []
        whole_clusters: WholeClusters = ()
        for family, starts, most in classes(fine, cells, changes):
            of_groups = np.add.reduceat(gain, starts)
            rule = np.repeat(family.fit(of_groups[None, :], clusters.prior > 0.5)[0], lengths(starts, fine.size))
            right = rule[at] == clusters.is_member
            best.append(Accuracy.of(clusters, weights, alike, right, is_best=True))
            rates.append(reach(of_groups, most))
            whole_clusters += whole_clusters_of(clusters, weights, right)
        return cls(unseen, tuple(best), tuple(rates), whole_clusters)

    def lower(self, alpha: float) -> float:
        """That of the guesses."""
        return lower_by_variance(self.unseen, alpha)

    def upper(self, alpha: float) -> float:
        """At what the class reaches on its own rows, with the fewest guesses that one of its best rules is worth."""
        trials, rate = min(each.trials(alpha) for each in self.best), max(self.rates)
        by_variance = 2.0 * float(upper_limit(min(trials * (1.0 + rate) / 2.0, trials), trials, alpha)) - 1.0
        by_weights = (
            own + 2.0 * (1.0 - each.value - each.reweighted.lower(alpha))
            for own, each in zip(self.rates, self.best, strict=True)
        )
        return max(by_variance, *by_weights, with_unseen(rate, self.whole_clusters, alpha))


@dataclass(frozen=True, slots=True)
class Whole:
    """About how many clusters of a side a rule is far more often right about than about others, and of how many.

    They are counted in clusters of one weight, as many as are as uneven as these.
    """

    count: float
    number: float

    def more(self, alpha: float) -> float:
        """By how much the share of such clusters may be larger than among those that were seen."""
        return float(upper_limit(self.count, self.number, alpha)) - self.count / self.number


WholeClusters = tuple[Whole, ...]
"""Of each side and column."""


def with_unseen(advantage: float, whole_clusters: WholeClusters, alpha: float) -> float:
    """What a rule may achieve if more clusters are exposed as a whole than were seen, of whose rows it finds all.

    The variance between few clusters says nothing of those: an exact limit of their share does.
    """
    return advantage + (1.0 - advantage) * max(each.more(alpha) for each in whole_clusters)


@dataclass(frozen=True, slots=True)
class MayFail:
    """Clusters of a column that a rule fails as a whole, of one side, or of both where a cluster has rows of both.

    ``part`` is what the accuracy loses if the rule is wrong about all rows of all of them.
    """

    part: float
    sides: WholeClusters

    def lost(self, alpha: float) -> float:
        """What the accuracy loses if more clusters fail than were seen.

        No less would hold: where a share of them is all wrong, one sample in 1 / alpha has none of so many.
        """
        return self.part * max(each.more(alpha) for each in self.sides)


def may_fail_of(clusters: Clusters, share: Floats, right: Booleans) -> tuple[MayFail, ...]:
    """Of guesses of rows with these shares of the accuracy."""
    whole, columns = whole_clusters_of(clusters, share, ~right), len(clusters.columns)
    by_side = whole[:columns], whole[columns:]
    if clusters.share_sides:
        return tuple(MayFail(dot(share, right), each) for each in zip(*by_side, strict=True))
    parts = (dot(share[side], right[side]) for side, _ in clusters.sides)
    return tuple(MayFail(part, (each,)) for part, of_side in zip(parts, by_side, strict=True) for each in of_side)


def whole_clusters_of(clusters: Clusters, weights: Floats, right: Booleans | Floats) -> WholeClusters:
    """Those that were seen, of a rule that is right about these rows, or each with a share of what it meets."""
    several = []
    for side, _ in clusters.sides:
        for column in clusters.columns:
            mass, shares = shares_right(column[side], weights[side], right[side])
            usual = float(np.median(shares))
            far = shares - usual > HALF_WAY * (1.0 - usual) + ROUNDING
            number = participants(mass)
            several.append(Whole(number * float(mass[far].sum() / mass.sum()), number))
    return tuple(several)


def shares_right(column: Integers, weights: Floats, right: Booleans | Floats) -> tuple[Floats, Floats]:
    """The weight of each cluster that has any, and the share of it that is right."""
    mass, part = totals_of(column, weights), totals_of(column, weights * right)
    return mass[mass > 0.0], part[mass > 0.0] / mass[mass > 0.0]


def accuracies(clusters: Clusters, weights: Floats, alike: Floats, guesses: Guesses) -> tuple[Accuracy, ...]:
    """Of the guesses of each shuffle."""
    return tuple(
        Accuracy.of(clusters, weights, alike, right, stage > 0)
        for right, stage in zip(guesses.right, guesses.stage, strict=True)
    )


def lower_by_variance(unseen: Sequence[Accuracy], alpha: float) -> float:
    """Lower limit of the advantage, the median over shuffles."""
    return float(np.median([each.lower(alpha) for each in unseen]))


Class = tuple[Family, Integers, int | None]


def classes(fine: Counts, cells: Integers | None, changes: int | None) -> list[Class]:
    """A family of each class that the upper end covers, the first fine cell of each of its groups, and its changes."""
    several: list[Class] = [] if cells is None else [(Cellwise("cells"), cells, None)]
    if changes is not None:
        several.append((Threshold() if changes <= 1 else TwoSided(), np.arange(fine.size), changes))
    return several


def gains(clusters: Clusters, weights: Floats, at: Integers, size: int) -> Floats:
    """p r_j - (1-p) q_j of each fine cell, rows by their weight."""
    total = np.zeros(size)
    for (side, _), part in zip(clusters.sides, (clusters.prior, clusters.prior - 1.0), strict=True):
        total += part * np.bincount(at[side], weights[side], size) / weights[side].sum()
    return total


def reach(gain: Floats, changes: int | None) -> float:
    """The advantage of a class's best rule on its own rows."""
    return float(np.abs(gain).sum() if changes is None else best_by_changes(gain, changes)[-1])


def totals_of(column: Integers, values: Floats) -> Floats:
    """The sum over each cluster."""
    return np.asarray(np.bincount(column, values), dtype=np.float64)


def moment_between(clusters: Clusters, residual: Floats, power: int) -> float:
    """Sum of a power of clusters' totals; of two columns that cross, no less than that of either."""
    sums = [float((totals_of(column, residual) ** power).sum()) for column in clusters.columns]
    if len(sums) > 1:
        sums.append(sums[0] + sums[1] - float((totals_of(clusters.crossings, residual) ** power).sum()))
    return max(sums)


def variance_between(clusters: Clusters, residual: Floats) -> float:
    """Variance of a sum of what rows add; of two columns that cross, no less than that of either."""
    spreads = [_between(column, residual) for column in clusters.columns]
    if len(spreads) > 1:
        spreads.append(spreads[0] + spreads[1] - _between(clusters.crossings, residual))
    return max(spreads)


def _between(column: Integers, residual: Floats) -> float:
    """The same from the totals of one column's clusters."""
    totals = totals_of(column, residual)
    number = int(np.count_nonzero(np.bincount(column, residual != 0.0)))
    return float((totals**2).sum()) * number / max(number - 1, 1)


def participants(parts: Floats) -> float:
    """How many equal parts are as uneven as these."""
    return float(parts.sum()) ** 2 / max(float((parts**2).sum()), TINY) if parts.any() else 0.0
