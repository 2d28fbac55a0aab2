"""Members and nonmembers that no model has seen: how often the certified interval says otherwise."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from estimators import Scores
from estimators.advantage import ends_of
from estimators.adversary.learned import Learner, learned_validation

RUNS = 60
RECORDS = 100
"""A side."""

ALPHA = 0.025

Floats = NDArray[np.float64]


class Bayes:
    """Normal densities of either side, one for each coordinate, in the shape of a scikit-learn classifier."""

    def fit(self, rows: Floats, member: NDArray[np.int64]) -> None:
        sides = rows[member == 1], rows[member == 0]
        self.means = [side.mean(axis=0) for side in sides]
        self.variances = [side.var(axis=0) + 1e-9 * rows.var(axis=0).max() for side in sides]
        self.odds = len(sides[0]) / len(sides[1])

    def predict_proba(self, rows: Floats) -> Floats:
        member, nonmember = (
            -0.5 * (np.log(variance) + (rows - mean) ** 2 / variance).sum(axis=1)
            for mean, variance in zip(self.means, self.variances, strict=True)
        )
        share = 1.0 / (1.0 + np.exp(np.clip(nonmember - member, -700.0, 700.0)) / self.odds)
        return np.stack([1.0 - share, share], axis=1)


LEARNERS = (Learner("bayes", lambda seed: Bayes()),)
"""The quickest learner; the interval holds for any."""

Scored = Callable[[np.random.Generator, int], Floats]
"""Scores of so many records, in a world without a leak: the first half are called members."""


def false_alarms(scored: Scored, runs: int = RUNS, records: int = RECORDS) -> int:
    """In how many runs the interval of the advantage does not contain 0."""
    samples = (scored(np.random.default_rng(run), 2 * records) for run in range(runs))
    return sum(lower_end(Scores.of(each[:records], each[records:])) > 0.0 for each in samples)


def lower_end(sides: Scores) -> float:
    """The lower end of the interval of the advantage; the upper one says nothing of false alarms."""
    if sides.dimension > 1:
        return learned_validation(sides, 0.5, 0, LEARNERS).at(ALPHA).lower
    return ends_of(sides, 0.5, None, 0).lower(ALPHA)


def area(scores: Floats, member: NDArray[np.bool_]) -> float:
    """Probability that a member scores higher than a nonmember, ties by half."""
    above = scores[member][:, None] - scores[~member]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())
