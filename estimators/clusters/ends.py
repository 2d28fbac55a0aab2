"""Both ends of the advantage of rows that come in clusters, and what the clusters cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np

from estimators.adversary.changes import best_by_changes
from estimators.adversary.families import COARSE
from estimators.adversary.holdout import SIMPLER, HeldOut
from estimators.adversary.lower_end import FEWEST_RECORDS, OF_MANY_CHANGES
from estimators.adversary.many_changes import MANY_CHANGES, readings, sign_of
from estimators.arrays import Booleans, Floats, Integers, distinct, dot
from estimators.clusters import betting, effective
from estimators.clusters.blocks import Guesses, guess_many_changes, guess_unseen
from estimators.clusters.design import Clusters, number_of
from estimators.python.dataclass import dataclass, replace
from estimators.sample.counting import resolution
from estimators.sample.counts import Counts
from estimators.sample.doubts import REPEATED
from estimators.statement import Caution, baseline

MOSTLY = 1.05
"""Different scores and clusters together are at most so many times as many as different scores alone."""

ALONE = "independent"  # the method where no two rows share a label


FEW_CLUSTERS = "few_clusters"  # the code of the caution that there are few clusters


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """What rows that come in clusters are worth.

    Attributes:
        design_effect: How many times as many such rows it takes as independent ones to say as much.
        effective_sample: How many independent rows would say as much.
        method: ``effective_sample``, by the variance between clusters, or ``betting``, valid at every number of them;
            ``independent`` where no two rows share a label.
    """

    columns: tuple[str, ...]
    numbers: tuple[int, ...]
    design_effect: float
    effective_sample: float
    method: str

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """A word on too few clusters to be trusted with their variance."""
        if self.method != "betting":
            return ()
        few = min(self.numbers)
        message = f"only {few} clusters, or few that are as heavy: expect a wide interval, as {few} records would have"
        return (Caution(FEW_CLUSTERS, message),)

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.method == ALONE:
            return f"No two rows share a label of {' and of '.join(map(repr, self.columns))}."
        clusters = " and ".join(
            f"{number} clusters of {name!r}" for name, number in zip(self.columns, self.numbers, strict=True)
        )
        return (
            f"The rows come in {clusters} and say as much as {self.effective_sample:.0f} independent ones "
            f"(design effect {self.design_effect:.2f})."
        )


@dataclass(frozen=True, eq=False, slots=True)
class ManyChanges:
    """What rules with many changes achieved on rows of clusters that they had not seen."""

    lower: Callable[[float], float]
    value: float


@dataclass(frozen=True, eq=False, slots=True)
class ClusteredEnds:
    """Both ends at any level, beside the point and the rule that leads.

    ``many`` is None where there was no sign of many changes; ``of_many`` is its share of the level in any case.
    ``changes`` is how many gain more than chance explains; None if none do.
    """

    limits: effective.EffectiveEnds | betting.BettingEnds
    prior: float
    value: float
    leader: str
    flattered: float
    size: int
    summary: ClusterSummary
    clusters: Clusters
    many: ManyChanges | None = None
    of_many: float = 0.0
    changes: int | None = None

    def at(self, alpha: float) -> HeldOut:
        """The lower end, and the rule that set the point."""
        lower = max(self.limits.lower(alpha * (1.0 - self.of_many)), baseline(self.prior))
        best = HeldOut(lower, self.value, self.leader, self.limits.finite_sample, (lower, lower))
        if self.many is None or (by_many := self.many.lower(alpha * self.of_many)) <= lower:
            return best
        value = max(self.many.value, by_many)
        return replace(best, lower=by_many, value=value, leader=MANY_CHANGES, orders=(by_many, by_many))

    def flattered_by(self, below: HeldOut) -> float:
        """What the leading rule has on its own rows: one with many changes flatters itself out of all measure."""
        return self.flattered if below.leader == self.leader else below.value

    def upper(self, alpha: float) -> float:
        """The upper end for the classes that were declared."""
        return float(min(1.0, max(self.limits.upper(alpha), baseline(self.prior))))


def doubts_left(clusters: Clusters, at: Integers, fine: Counts) -> tuple[Caution, ...]:
    """What is odd about the scores but for repetitions, where rows of one score are rows of one cluster."""
    within = any(each.code == REPEATED for each in fine.doubts) and any(
        len(distinct(at * number + column)) <= MOSTLY * fine.size
        for number, column in zip(clusters.numbers, clusters.columns, strict=True)
    )
    return tuple(each for each in fine.doubts if not (within and each.code == REPEATED))


def clustered_ends(
    clusters: Clusters,
    at: Integers,
    fine: Counts,
    bins: int | None,
    cells: bool,
    changes: int | None,
    seed: int,
    shuffles: int,
) -> ClusteredEnds:
    """Fit and judge adversaries by whole clusters.

    Args:
        at: The fine cell of each row.
        bins: Into how many cells they are joined; None: as many as suits what the rows are worth.
        cells: Whether the upper end covers adversaries who see these cells.
        changes: How many changes along the score it covers; None: none. With cells, more where more are evident.
    """
    correlations = clusters.correlations(at, fine)
    worth = clusters.worth(correlations)
    weights = clusters.weights(max(correlations))
    joins = fine.cells.kind in ("intervals", "grid") or bins is not None
    groups = fine.size
    if joins and fine.cells.ordered:
        groups = bins or min(resolution(int(worth)), betting.SUBSETS if clusters.by_betting else fine.size)
    starts = fine.group_starts(groups) if fine.cells.ordered else np.arange(fine.size)
    if starts.size == fine.size:
        changes = changes if not cells else None  # every rule reads the cells
    looks_finer, sign, evident = starts.size < fine.size and worth >= FEWEST_RECORDS, False, None
    if looks_finer:
        even = effective.gains(replace(clusters, prior=0.5), weights, at, fine.size)
        sign, evident = sign_of(fine, worth / clusters.rows, even)
    if cells and changes is not None:
        changes = max(changes, evident or 0)

    def guess(part: Clusters, cell: Integers, seed: int, orders: int = shuffles) -> Guesses:
        mass = weights if part is clusters else np.ones(part.rows)
        return guess_unseen(part, mass, cell, fine, groups, worth, seed, orders)

    guesses = guess(clusters, at, seed)
    own = effective.EffectiveEnds.of(
        clusters, weights, clusters.inflation(correlations), at, fine, starts if cells else None, changes, guesses
    )
    limits: effective.EffectiveEnds | betting.BettingEnds = own
    if clusters.by_betting:
        limits = betting.BettingEnds.of(clusters, at, fine, starts if cells else None, changes, guess, seed)
    many = (
        _many_changes(clusters, weights, clusters.inflation(correlations), at, fine, seed, shuffles) if sign else None
    )
    by_rule = np.median(guesses.by_rule, axis=0)
    effect = float(max(each.design_effect for each in own.best))
    error = np.sqrt(effect / clusters.rows)
    leader = int(np.argmax(by_rule >= by_rule.max() - SIMPLER * error))
    return ClusteredEnds(
        limits,
        clusters.prior,
        max(float(by_rule[leader]), baseline(clusters.prior)),
        guesses.names[leader],
        _flattered(guesses.names[leader], effective.gains(clusters, weights, at, fine.size), starts, fine),
        len(starts),
        ClusterSummary(
            clusters.names,
            clusters.numbers,
            effect,
            clusters.rows / effect,
            "betting" if limits.finite_sample else "effective_sample",
        ),
        clusters,
        many,
        OF_MANY_CHANGES if looks_finer else 0.0,
        evident,
    )


def _many_changes(
    clusters: Clusters, weights: Floats, alike: Floats, at: Integers, fine: Counts, seed: int, shuffles: int
) -> ManyChanges:
    """Judge rules at many scales by whole clusters, as the others are."""
    aspects = readings(fine)

    def guess(part: Clusters, cell: Integers, seed: int) -> Guesses:
        mass = weights if part is clusters else np.ones(part.rows)
        return guess_many_changes(part, mass, cell, aspects, seed, shuffles)

    rates = effective.accuracies(clusters, weights, alike, guess(clusters, at, seed))
    value = float(np.median([2.0 * each.value - 1.0 for each in rates]))
    if clusters.by_betting:
        return ManyChanges(
            partial(betting.lower_by_bets, betting.bets_on(betting.draws_of(clusters, seed), at, guess, seed)), value
        )
    return ManyChanges(partial(effective.lower_by_variance, rates), value)


def _flattered(leader: str, gain: Floats, starts: Integers, fine: Counts) -> float:
    """What the leading family's best rule has on the very rows it was chosen on."""
    changes = {"threshold": 1, "two_sided": 2}.get(leader)
    if changes is not None:
        return float(best_by_changes(gain, changes)[-1])
    groups = fine.group_starts(COARSE) if leader == "coarse_cells" else starts
    return float(np.abs(np.add.reduceat(gain, groups)).sum())


Fortunes = tuple[betting.Shares, ...]


@dataclass(frozen=True, eq=False, slots=True)
class RuleEnds:
    """Both ends, at any level, of a rule that was fixed before rows in clusters were seen.

    They are of its guesses from below, and of the opposite ones from above.
    """

    right: effective.Accuracy | Fortunes
    wrong: effective.Accuracy | Fortunes

    @classmethod
    def of(cls, clusters: Clusters, at: Integers, fine: Counts, right: Booleans, seed: int) -> RuleEnds:
        """Judge the guesses: all rows are unseen, as nothing was learned from any.

        Args:
            seed: Whole number from which draws of rows are made, where two columns cross and have few labels.
        """
        if clusters.by_betting:
            draws = betting.draws_of(clusters, seed)
            by_bets, against = (
                tuple(betting.of_guesses(part, each[rows], np.ones(part.rows, dtype=np.int64)) for part, rows in draws)
                for each in (right, ~right)
            )
            return cls(by_bets, against)
        correlations = clusters.correlations(at, fine)
        weights, alike = clusters.weights(max(correlations)), clusters.inflation(correlations)
        one, other = (effective.Accuracy.of(clusters, weights, alike, each) for each in (right, ~right))
        return cls(one, other)

    @property
    def finite_sample(self) -> bool:
        """Whether they hold at every number of clusters."""
        return not isinstance(self.right, effective.Accuracy)

    def advantage(self, alpha: float) -> tuple[float, float]:
        """Lower and upper end, each of level 1 - alpha."""
        return _lower(self.right, alpha), -_lower(self.wrong, alpha)


def _lower(way: effective.Accuracy | Fortunes, alpha: float) -> float:
    return way.lower(alpha) if isinstance(way, effective.Accuracy) else betting.lower_by_bets(way, alpha)


# The area under the ROC curve of rows that come in clusters: the variance of placements by totals of clusters.


@dataclass(frozen=True, slots=True)
class LargestArea:
    """What an area may be, by clusters that are ahead as a whole and by how skew clusters are."""

    value: float
    whole_clusters: effective.WholeClusters
    reweighted: tuple[effective.Reweighted, ...]

    @classmethod
    def of(cls, clusters: Clusters, weights: Floats, ahead: Floats, value: float) -> LargestArea:
        """Of rows that are ahead of such shares of the other side.

        The area is either rate of an accuracy with the prior 1/2. The cluster that is added stands on the side where
        it counts most, as far ahead as any that was seen; ``effective.with_unseen`` is for others.
        """
        share, least = np.empty(clusters.rows), []
        for side, prior in clusters.sides:
            share[side] = prior * weights[side] / weights[side].sum()
            of_columns = [
                effective.shares_right(column[side], weights[side], 1.0 - ahead[side])[1] for column in clusters.columns
            ]
            least.append(min(float(shares.min()) for shares in of_columns))
        one, other = least
        either_side: list[effective.ExtraRates] = (
            [(one, other)] if clusters.share_sides else [(one, None), (None, other)]
        )
        return cls(
            value,
            effective.whole_clusters_of(clusters, weights, ahead),
            tuple(effective.Reweighted.of(clusters, share, 1.0 - ahead, each) for each in either_side),
        )

    def at(self, alpha: float) -> float:
        """Its upper limit of this level."""
        by_weights = max(2.0 * (1.0 - each.lower(alpha)) - self.value for each in self.reweighted)
        return min(1.0, max(by_weights, effective.with_unseen(self.value, self.whole_clusters, alpha)))


@dataclass(frozen=True, slots=True)
class ClusteredArea:
    """An area, its standard error with the freedom of it, and pairs of clusters that share nothing.

    ``error`` is 0 where there are too few clusters for one: what is left is that ``pairs`` comparisons are independent.
    ``largest`` is what the area may be, and what is left of 1.
    """

    value: float
    error: float
    freedom: float
    pairs: int
    largest: tuple[LargestArea, ...] = ()


def clustered_area(clusters: Clusters, at: Integers, size: int, weights: Floats, alike: Floats) -> ClusteredArea:
    """The share of weight in pairs of a member and a nonmember where the member is ahead, ties one half.

    Args:
        at: The cell of each row; cells have an order.
        alike: How much more a cluster's sum varies than that of independent rows, if rows are as alike as scores.
    """
    if clusters.by_betting:
        return _of_few(clusters, at, size)
    value, ahead = _placements(clusters, at, size, weights)
    residual = np.empty(clusters.rows)
    for side, _ in clusters.sides:
        residual[side] = weights[side] / weights[side].sum() * (ahead[side] - value)
    spread = max(effective.variance_between(clusters, residual), float((residual**2).sum()))
    carriers = min(effective.participants(effective.totals_of(column, residual) ** 2) for column in clusters.columns)
    part = effective.DOUBTED / (effective.DOUBTED + carriers)
    usual = float((residual**2 * alike).sum())
    spread = max(spread, (1.0 - part) * spread + part * usual)
    heavy = min(clusters.heavy(weights, column) for column in clusters.columns) - 2.0
    return ClusteredArea(
        value,
        sqrt(spread),
        max(1.0, min(heavy, 2.0 * carriers)),
        _pairs(clusters),
        (LargestArea.of(clusters, weights, ahead, value), LargestArea.of(clusters, weights, 1.0 - ahead, 1.0 - value)),
    )


def _placements(clusters: Clusters, at: Integers, size: int, weights: Floats) -> tuple[float, Floats]:
    """The area, and of which share of the other side each row is on the right side."""
    sides = [side for side, _ in clusters.sides]
    mass = [np.bincount(at[side], weights[side], size) / weights[side].sum() for side in sides]
    ahead = np.cumsum(mass[1]) - mass[1] / 2.0, 1.0 - np.cumsum(mass[0]) + mass[0] / 2.0
    of_rows = np.empty(clusters.rows)
    for side, placement in zip(sides, ahead, strict=True):
        of_rows[side] = placement[at[side]]
    return dot(mass[0], ahead[0]), of_rows


def _of_few(clusters: Clusters, at: Integers, size: int) -> ClusteredArea:
    """Each cluster with one weight, and of two columns that cross rows that share nothing but a cluster."""
    if len(clusters.columns) > 1:
        clusters, rows = betting.diagonals(clusters, 0)[0]
        at = at[rows]
    column, weights = clusters.columns[0], np.empty(clusters.rows)
    for side, _ in clusters.sides:
        weights[side] = 1.0 / np.bincount(column[side])[column[side]]
    return ClusteredArea(_placements(clusters, at, size, weights)[0], 0.0, 1.0, _pairs(clusters))


def _pairs(clusters: Clusters) -> int:
    """Pairs of a cluster of members and one of nonmembers that can be formed at once."""
    pairs = []
    for column, number in zip(clusters.columns, clusters.numbers, strict=True):
        sides = [number_of(column[side]) for side, _ in clusters.sides]
        pairs.append(min(*sides, number // 2))
    return max(1, min(pairs))
