"""The area under the ROC curve of rows that come in clusters: the variance of placements by totals of clusters."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from estimators.clusters.betting import diagonals
from estimators.clusters.design import Clusters, Floats, Integers
from estimators.clusters.effective import DOUBTED, participants, totals_of, variance_between


@dataclass(frozen=True, slots=True)
class ClusteredArea:
    """An area, its standard error with the freedom of it, and pairs of clusters that share nothing.

    ``error`` is 0 where there are too few clusters for one: what is left is that ``pairs`` comparisons are independent.
    """

    value: float
    error: float
    freedom: float
    pairs: int


def clustered_area(
    clusters: Clusters, at: Integers, size: int, weights: Floats, alike: Floats
) -> ClusteredArea:
    """The share of weight in pairs of a member and a nonmember where the member is ahead, ties one half.

    Args:
        clusters: The cluster of each row, members first.
        at: The cell of each row; cells have an order.
        size: How many cells there are.
        weights: Weight of each row.
        alike: How much more a cluster's sum varies than that of independent rows, if rows are as alike as scores.
    """
    if clusters.by_betting:
        return _of_few(clusters, at, size)
    value, residual = _placements(clusters, at, size, weights)
    spread = max(variance_between(clusters, residual), float((residual**2).sum()))
    carriers = min(participants(totals_of(column, residual) ** 2) for column in clusters.columns)
    part = DOUBTED / (DOUBTED + carriers)
    usual = float((residual**2 * alike).sum())
    spread = max(spread, (1.0 - part) * spread + part * usual)
    heavy = min(clusters.heavy(weights, column) for column in clusters.columns) - 2.0
    return ClusteredArea(value, sqrt(spread), max(1.0, min(heavy, 2.0 * carriers)), _pairs(clusters))


def _placements(clusters: Clusters, at: Integers, size: int, weights: Floats) -> tuple[float, Floats]:
    """The area, and by how much each row moves it."""
    sides = clusters.is_member, ~clusters.is_member
    mass = [np.bincount(at[side], weights[side], size) / weights[side].sum() for side in sides]
    ahead = np.cumsum(mass[1]) - mass[1] / 2.0, 1.0 - np.cumsum(mass[0]) + mass[0] / 2.0
    value = float(mass[0] @ ahead[0])
    residual = np.empty(clusters.rows)
    for side, placement in zip(sides, ahead, strict=True):
        residual[side] = weights[side] / weights[side].sum() * (placement[at[side]] - value)
    return value, residual


def _of_few(clusters: Clusters, at: Integers, size: int) -> ClusteredArea:
    """Each cluster with one weight, and of two columns that cross rows that share nothing but a cluster."""
    if len(clusters.columns) > 1:
        clusters, rows = diagonals(clusters, 0)[0]
        at = at[rows]
    column, weights = clusters.columns[0], np.empty(clusters.rows)
    for side in (clusters.is_member, ~clusters.is_member):
        weights[side] = 1.0 / np.bincount(column[side])[column[side]]
    return ClusteredArea(_placements(clusters, at, size, weights)[0], 0.0, 1.0, _pairs(clusters))


def _pairs(clusters: Clusters) -> int:
    """Pairs of a cluster of members and one of nonmembers that can be formed at once."""
    pairs = []
    for column, number in zip(clusters.columns, clusters.numbers, strict=True):
        sides = [len(np.unique(column[side])) for side in (clusters.is_member, ~clusters.is_member)]
        pairs.append(min(*sides, number // 2))
    return max(1, min(pairs))
