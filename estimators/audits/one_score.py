"""One score a record or a unit: of several columns the sharpest or a combination, of a unit's records one or the mean.

What hangs on who is a member is learned on known records that are set aside; all else treats every record alike,
whatever group it is of. So a permutation test between the groups is exact whatever score comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import kolmogorov, ndtri

from estimators import errors
from estimators.arrays import Floats, groups_by_rank, random_of
from estimators.audits.mixtures import SPARE
from estimators.privacy.direction import Direction
from estimators.python.dataclass import dataclass
from estimators.sample.plain_arrays import labels_of
from estimators.sample.scores import MIN_RECORDS
from estimators.statement import Caution

GROUPS = ("members", "nonmembers", "candidates")

Labels = NDArray[Any]

ASIDE = 20
"""Records of a known group, at least, that are set aside to learn the direction or to choose the score, or half of
them."""

A_COLUMN = 10
"""Records of a known group that are set aside for each column that is combined, if ``MOST_ASIDE`` allows."""

MOST_ASIDE = 0.3  # share of a known group, at most, that is set aside for ``A_COLUMN``

HALVINGS = 10
"""How often the records set aside are halved to compare the combination with the sharpest column."""

COMPARED = 10_000  # records of each group, at most, by which they are compared

HELD_BACK = 4.0
"""Records' worth of spread that is added to each column's, as by logistic regression's usual penalty."""

UNITS_DIFFER = "units_differ"  # the code of a caution beside which no pass stands
UNLIKE_UNITS = 0.01  # the chance, at most, that groups of one law are said to differ in records a unit


@dataclass(frozen=True, slots=True, eq=False)
class OneScore:
    """The column that is read, and whether its low end speaks for use; or what each column counts."""

    column: int
    is_low: bool
    weights: Floats

    def of(self, rows: Floats) -> Floats:
        """A score a record, of which a high one speaks for use."""
        if len(self.weights):
            return np.asarray((rows * self.weights).sum(axis=1))
        return (-1.0 if self.is_low else 1.0) * rows[:, self.column]


def sharpest(members: Floats, nonmembers: Floats, ends: Direction) -> OneScore:
    """The column whose ranks tell the records apart best."""
    leans = np.array([lean(a, b) for a, b in zip(members.T, nonmembers.T, strict=True)])
    is_low = ends is Direction.LOW
    column = int(np.argmax(np.abs(leans) if ends is Direction.EITHER else -leans if is_low else leans))
    if ends is Direction.EITHER:
        is_low = bool(leans[column] < 0.0)
    return OneScore(column, is_low, np.zeros(0))


def combination(members: Floats, nonmembers: Floats) -> OneScore:
    """Fisher's discriminant, held back where records are few; four digits of it, so that no processor differs."""
    number = len(members) + len(nonmembers)
    within = [each - each.mean(axis=0) for each in (members, nonmembers)]
    spread = (sum(each.T @ each for each in within) + HELD_BACK * np.eye(members.shape[1])) / number
    weights = np.linalg.solve(spread, members.mean(axis=0) - nonmembers.mean(axis=0))
    weights = np.round(weights / max(np.abs(weights).sum(), 1e-12), 4) + 0.0
    return OneScore(int(np.argmax(np.abs(weights))), False, weights)


def combination_pays(members: Floats, nonmembers: Floats, ends: Direction, rng: np.random.Generator) -> bool:
    """Whether a half's combination tells the other half apart better than its sharpest column does, in the mean."""
    gain = 0.0
    for _ in range(HALVINGS):
        halves = [np.array_split(rng.permutation(each[:COMPARED]), 2) for each in (members, nonmembers)]
        for half, other in ((0, 1), (1, 0)):
            a, b = (each[half] for each in halves)
            joint, single = (
                lean(*(score.of(each[other]) for each in halves)) for score in (combination(a, b), sharpest(a, b, ends))
            )
            gain += joint - single
    return gain > 0.0


def lean(a: Floats, b: Floats) -> float:
    """The area under the ROC curve beyond one half."""
    b = np.sort(b)
    return float((np.searchsorted(b, a, "left") + np.searchsorted(b, a, "right")).mean() / (2 * len(b)) - 0.5)


def normal_ranks(rows: Sequence[Floats]) -> list[Floats]:
    """Scores as the normal law would have them at their ranks among all records, whatever group they are of."""
    columns = []
    for column in np.concatenate(rows).T:
        _, place, number = np.unique(column, return_inverse=True, return_counts=True)
        columns.append(ndtri((np.cumsum(number) - number / 2.0) / len(column))[place])
    return np.split(np.column_stack(columns), np.cumsum([len(each) for each in rows[:-1]]))


def random_by_ranks(rows: Sequence[Floats], ends: Direction, seed: int) -> np.random.Generator:
    """Random numbers for the groups of these records in the order of each column's scores.

    By the seed alone the same ranks of every sample of a size would be set aside: no sample of the others.
    """
    toward = [-each if ends is Direction.LOW else each for each in rows]
    several = [groups_by_rank(*columns) for columns in zip(*(each.T for each in toward), strict=True)]
    differ = (np.concatenate(rows) != rows[0][0]).any(axis=0)  # a column of one score is as if it were not there
    return random_of(seed, *(each for each, counts in zip(several, differ, strict=True) if counts))


def set_aside(rows: Floats, rng: np.random.Generator, wish: int = 0) -> tuple[Floats, Floats]:
    """Known records that learn the score, and those that are mixed; whatever order they came in."""
    number = max(int(SPARE * len(rows)), min(ASIDE, len(rows) // 2), min(wish, int(MOST_ASIDE * len(rows))))
    rows = rows[np.lexsort(rows.T)]
    order = rng.permutation(len(rows))
    return rows[order[:number]], rows[order[number:]]


def labels_of_units(rows: Sequence[Floats], units: Sequence[ArrayLike]) -> list[Labels]:
    """The unit of each record of a group; a unit of two groups is refused, since it is in one by itself."""
    labels = [labels_of(each, "units") for each in units]
    if [len(each) for each in labels] != [len(each) for each in rows]:
        raise errors.DimensionMismatch.about("units", "need a label for each record of each group")
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if shared := len(np.intersect1d(labels[i], labels[j])):
            message = f"{shared} of {GROUPS[i]} stand in {GROUPS[j]}, too; leave their records out of one"
            raise errors.InputError.about("units", message)
    for name, own in zip(GROUPS, labels, strict=True):
        if (number := len(np.unique(own))) < MIN_RECORDS:
            message = f"{name}: got {number} units, need at least {MIN_RECORDS}"
            raise errors.TooFewRecords(message, field="units")
    return labels


def means(rows: Sequence[Floats], labels: Sequence[Labels]) -> list[Floats]:
    """The mean of each unit's scores in each column, to the last digit whatever order its records came in."""
    result = []
    for name, group, own in zip(GROUPS, rows, labels, strict=True):
        orders = [np.lexsort((column, own)) for column in group.T]
        _, first, number = np.unique(own[orders[0]], return_index=True, return_counts=True)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = [np.add.reduceat(column[at], first) for column, at in zip(group.T, orders, strict=True)]
        result.append(np.column_stack(sums) / number[:, None])
        if not np.isfinite(result[-1]).all():
            raise errors.NotFinite.about(name, "the sum of a unit's scores is too large a number")
    return result


def unlike_units(labels: Sequence[Labels]) -> list[Caution]:
    """Whether the groups differ in records a unit, by Kolmogorov's test of each two, which is careful with ties.

    Where units of as many records are alike in two groups, the laws of their means differ no more than those numbers'.
    """
    sizes = [np.unique(each, return_counts=True)[1] for each in labels]
    every = np.unique(np.concatenate(sizes))
    shares = [np.searchsorted(np.sort(each), every, "right") / len(each) for each in sizes]
    p_values = [
        kolmogorov(np.abs(shares[i] - shares[j]).max() / np.sqrt(1.0 / len(sizes[i]) + 1.0 / len(sizes[j])))
        for i, j in combinations(range(len(GROUPS)), 2)
    ]
    if min(p_values) >= UNLIKE_UNITS / len(p_values):
        return []
    numbers = ", ".join(f"{name} {each.mean():.1f}" for name, each in zip(GROUPS, sizes, strict=True))
    message = (
        f"groups differ in records a unit by more than chance (in the mean, {numbers}): a mean of few varies more than "
        "one of many, so that the candidates may be no mixture, or the interval wrong. Cut units to one length, or "
        "compare one record of each"
    )
    return [Caution(UNITS_DIFFER, message)]
