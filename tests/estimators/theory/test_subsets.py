"""Training sets: all of them in order, or some at random."""

from itertools import combinations
from math import comb

import numpy as np

from estimators.errors import OutOfRange, TooFewRecords, TooManySubsets
from estimators.theory import subsets
from tests.cases import each_case, refusals


@each_case("records, size", [(1, 0), (1, 1), (6, 3), (7, 2), (5, 5)])
@each_case("block", [1, 4, 1000])
def test_all_come_once_in_the_order_of_itertools(records, size, block) -> None:
    rows = np.concatenate(list(subsets.all_subsets(records, size, block)))

    assert [tuple(np.flatnonzero(row)) for row in rows] == list(combinations(range(records), size))
    assert (subsets.positions(rows) == np.arange(comb(records, size))).all()


def test_random_ones_have_the_size_are_uniform_and_come_again_from_the_seed() -> None:
    rows = np.concatenate(list(subsets.random_subsets(6, 3, 40_000, seed=5)))
    again = np.concatenate(list(subsets.random_subsets(6, 3, 40_000, seed=5)))

    assert (rows.sum(axis=1) == 3).all()
    assert (rows == again).all()
    seen = np.bincount(subsets.positions(rows), minlength=20)
    assert ((seen - 2000) ** 2 / 2000).sum() < 43.8  # chi-square, 19 degrees: 0.1% at 43.8


test_too_many_are_refused_with_what_to_use_instead = refusals(
    "ask, error, words",
    (lambda: subsets.matrix(60, 30, "set draws"), TooManySubsets, "set draws"),
    # 2e600: no float holds it; or more digits than memory
    (lambda: subsets.matrix(2000, 1000, "set draws"), TooManySubsets, r"more than 10\^15 ways"),
    (lambda: subsets.matrix(2**52, 2**51, "set draws"), TooManySubsets, "set draws"),
    (lambda: subsets.how_many(3, 4), TooFewRecords, None),
    (lambda: next(subsets.random_subsets(6, 3, 0, seed=0)), OutOfRange, None),
)
