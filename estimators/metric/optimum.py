"""The best adversary for a metric on given counts.

At any value V the metric exceeds V where numerator - V denominator > 0, which is linear in the rates: so
the best rule takes cells in order of likelihood ratio, from one end or the other, up to some cell (MACE,
Lemma 3). Trying every prefix is exact and costs one sort.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from estimators.arrays import Floats, Integers
from estimators.errors import require_share
from estimators.metric.definition import Cut, Degeneracy, Metric
from estimators.sample.counts import Counts

Guesses = NDArray[np.bool_]

VANISHING_SHARE = 0.05
"""Least share of the guesses that make up the denominator, for metrics that are 0/0 without any."""


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
    tpr = np.concatenate([[0.0], np.cumsum(counts.members[order]) / counts.n_members])
    fpr = np.concatenate([[0.0], np.cumsum(counts.nonmembers[order]) / counts.n_nonmembers])
    share = objective.share(tpr, fpr)
    ends = [objective.low, objective.high, 1.0 - objective.low, 1.0 - objective.high]
    crossing = np.interp(ends, share, np.arange(len(share)))
    at = np.concatenate([np.arange(len(share)), crossing])
    tpr, fpr = (np.interp(at, np.arange(len(rate)), rate) for rate in (tpr, fpr))
    mirrored = np.repeat([False, True], len(at))
    tpr, fpr = np.concatenate([tpr, 1.0 - tpr]), np.concatenate([fpr, 1.0 - fpr])
    value = objective.value(tpr, fpr)
    best = int(np.argmax(value))
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


def best_prefix(objective: Objective, members: Integers, nonmembers: Integers, order: Integers) -> Guesses:
    """For each row of counts the cells that its best prefix of ``order``, or the rest, guesses member."""
    rows, size = members.shape
    start = np.zeros((rows, 1))
    tpr, fpr = (
        np.concatenate(
            [start, np.cumsum(np.take_along_axis(side, order, 1), axis=1) / side.sum(1)[:, None]], axis=1
        )
        for side in (members, nonmembers)
    )
    values = np.concatenate([objective.value(tpr, fpr), objective.value(1.0 - tpr, 1.0 - fpr)], axis=1)
    best = np.argmax(values, axis=1)
    length, mirrored = best % (size + 1), best > size
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(size), order.shape), axis=1)
    guesses: Guesses = (rank < length[:, None]) != mirrored[:, None]
    return guesses
