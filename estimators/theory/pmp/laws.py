"""Practical membership privacy of any algorithm with finitely many outcomes, exactly (PMP, Definition 2).

Half of 2n records are drawn, every half equally likely. An attacker who knows the 2n records compares
the law of the outcome given that a record is in with the law given that it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from estimators.errors import (
    DimensionMismatch,
    NotDistribution,
    require_count,
    require_nonnegative,
    require_share,
)
from estimators.theory import subsets

Floats = NDArray[np.float64]


class Worst(NamedTuple):
    """The record and the outcome at which the practical epsilon is reached, and what that outcome says."""

    record: int
    outcome: int
    says: Literal["member", "nonmember"]


@dataclass(frozen=True, slots=True)
class InOut:
    """Log probability of every outcome with a record in, and with it out: one row a record."""

    inside: Floats
    outside: Floats

    @property
    def log_ratios(self) -> Floats:
        """ln P(outcome | in) - ln P(outcome | out); outcomes that never happen say nothing."""
        with np.errstate(invalid="ignore"):
            found = self.inside - self.outside
        return np.where(np.isneginf(self.inside) & np.isneginf(self.outside), 0.0, found)

    @property
    def epsilons(self) -> Floats:
        """Practical epsilon of every record: the largest |ln ratio|, since Definition 2 binds both ways."""
        return np.asarray(np.abs(self.log_ratios).max(axis=1))

    @property
    def epsilon(self) -> float:
        """Practical epsilon: that of the worst record."""
        return float(self.epsilons.max())

    @property
    def one_way(self) -> float:
        """What Proposition 9 prints: the largest ln ratio of in over out, which forgets who is told to be out."""
        return float(self.log_ratios.max())

    @property
    def worst(self) -> Worst:
        """Where it is reached."""
        ratios = self.log_ratios
        record, outcome = np.unravel_index(np.abs(ratios).argmax(), ratios.shape)
        says: Literal["member", "nonmember"] = "member" if ratios[record, outcome] > 0.0 else "nonmember"
        return Worst(int(record), int(outcome), says)

    def deltas(self, epsilon: float) -> Floats:
        """Least delta that goes with epsilon, record by record: the larger of the two hockey sticks (Lemma 11)."""
        tilt = require_nonnegative("epsilon", epsilon)
        return np.maximum(
            _hockey_stick(self.inside, self.outside, tilt), _hockey_stick(self.outside, self.inside, tilt)
        )

    def epsilon_at(self, delta: float) -> float:
        """Least practical epsilon that goes with delta: infinite if an outcome beyond delta gives a record away."""
        delta = require_share("delta", delta)
        if delta == 0.0:
            return self.epsilon
        return max(_least(self.inside, self.outside, delta), _least(self.outside, self.inside, delta))

    @property
    def successes(self) -> Floats:
        """How often the best attacker is right, record by record: 1/2 + TV/2 exactly, not Lemma 6's bound on it."""
        return 0.5 + self.deltas(0.0) / 2.0

    @property
    def mip_eta(self) -> float:
        """What the best attacker of the worst record gains over a coin: MIP's eta."""
        return float(self.deltas(0.0).max() / 2.0)


def finite(laws: Floats, n: int) -> InOut:
    """The two laws of every record, from the law of the outcome given each training set.

    ``laws`` has a row for each of the C(2n, n) training sets in lexicographic order. Given x in D the
    C(2n, n)/2 training sets with x are equally likely (Lemma 3; its proof has 2/N where 1/N is meant).
    """
    n = require_count("n", n)
    table = np.asarray(laws, dtype=np.float64)
    if table.ndim != 2 or len(table) != comb(2 * n, n):
        raise DimensionMismatch(
            f"laws: got {len(table)} rows, need {comb(2 * n, n)}, one for each {n} of {2 * n} records",
            field="laws",
        )
    wrong = ~((table >= 0.0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) < 1e-9))
    if wrong.any():
        first = int(wrong.argmax())
        raise NotDistribution(
            f"laws: row {first} is no distribution, need numbers of at least 0 that sum to 1",
            field="laws",
            index=first,
        )
    rows = subsets.matrix(2 * n, n, "give fewer records").astype(np.float64)
    with np.errstate(divide="ignore"):
        return InOut(
            np.log(rows.T @ table / (len(table) / 2)), np.log((1.0 - rows).T @ table / (len(table) / 2))
        )


def _hockey_stick(one: Floats, other: Floats, tilt: float) -> Floats:
    return np.asarray(np.maximum(np.exp(one) - np.exp(other + tilt), 0.0).sum(axis=1))


def _least(one: Floats, other: Floats, delta: float) -> float:
    """Least epsilon with P(S) - e^eps Q(S) <= delta for all S; only sets of largest ratio matter (Neyman-Pearson)."""
    ratios = InOut(one, other).log_ratios
    order = np.argsort(-ratios, axis=1)
    p = np.cumsum(np.exp(np.take_along_axis(one, order, axis=1)), axis=1)
    q = np.cumsum(np.exp(np.take_along_axis(other, order, axis=1)), axis=1)
    beyond = p > delta * (1.0 + 1e-12)  # a sum that is delta but for rounding is within it
    with np.errstate(divide="ignore"):
        needed = np.log(p[beyond] - delta) - np.log(q[beyond])
    return max(float(needed.max(initial=0.0)), 0.0)
