"""Members and nonmembers that no model has seen: how often the certified interval says otherwise."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from estimators import Scores
from estimators.optimum.ends import ends_of

RUNS = 60
RECORDS = 100
"""A side."""

ALPHA = 0.025

Floats = NDArray[np.float64]


Scored = Callable[[np.random.Generator, int], Floats]
"""Scores of so many records, in a world without a leak: the first half are called members."""


def false_alarms(scored: Scored, runs: int = RUNS, records: int = RECORDS) -> int:
    """In how many runs the interval of the advantage does not contain 0."""
    samples = (scored(np.random.default_rng(run), 2 * records) for run in range(runs))
    sides = (Scores.of(each[:records], each[records:]) for each in samples)
    return sum(ends_of(each, 0.5, None, 0).lower(ALPHA) > 0.0 for each in sides)


def area(scores: Floats, member: NDArray[np.bool_]) -> float:
    """Probability that a member scores higher than a nonmember, ties by half."""
    above = scores[member][:, None] - scores[~member]
    return float((above > 0).mean() + 0.5 * (above == 0).mean())
