"""What the papers share: numbers and laws as they come in, bounds side by side, and the units of what is gained.

An accuracy is members TPR + nonmembers (1 - FPR). Its gain over max(members, nonmembers) is MIP's eta at the weights
(prior, 1 - prior), half of what the advantage is above its baseline there, and Delta as a share of the smaller weight.
"""

from collections.abc import Iterable
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from estimators.arrays import Floats
from estimators.errors import (
    DimensionMismatch,
    NotDistribution,
    NotFinite,
    OutOfRange,
    TooFewRecords,
    require_open_unit,
    require_positive,
)
from estimators.python.dataclass import dataclass, replace
from estimators.statement import baseline

LARGEST = 1e150  # the square of what is larger overflows

SUM = 1e-9
"""Probabilities may miss one by so much, times the square root of their number: they were rounded on the way."""

ROUNDING = 1e-9  # how far from one a row of probabilities may sum


def rows_of(field: str, values: ArrayLike, most: float = LARGEST) -> Floats:
    """A matrix; a plain list of numbers is one number a row."""
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise OutOfRange.about(field, "need numbers, or rows of as many numbers each") from None
    if result.ndim == 1:
        result = result[:, None]
    if result.ndim != 2 or not result.size:
        raise TooFewRecords.about(field, "need at least one row of numbers")
    _refuse(~np.isfinite(result), field, NotFinite, "a number that is not finite")
    _refuse(np.abs(result) > most, field, OutOfRange, f"a number beyond {most:g}")
    return result


def distribution(values: ArrayLike, field: str = "probabilities") -> Floats:
    """The numbers if they are probabilities; scaled to sum to one exactly when rounding kept them from it."""
    result = np.asarray(values, dtype=np.float64).ravel()
    if not result.size:
        raise TooFewRecords.about(field, "got none, need at least one")
    total = float(result.sum())
    if not np.isfinite(total):
        raise NotFinite.about(field, "a probability is NaN or infinite")
    if result.min() < 0.0:
        raise NotDistribution.about(field, "a probability is negative", int(result.argmin()))
    if abs(total - 1.0) > SUM * max(1.0, result.size**0.5):
        raise NotDistribution.about(field, f"they sum to {total:.9g}, need 1")
    return result / total


def law_table(laws: ArrayLike, subsets: int) -> Floats:
    """A row of probabilities for each training set; each scaled to sum to one exactly."""
    try:
        table = np.asarray(laws, dtype=np.float64)
    except (TypeError, ValueError):
        raise DimensionMismatch.about("laws", "need rows of as many probabilities each") from None
    if table.ndim != 2 or len(table) != subsets:
        message = f"got {len(table) if table.ndim else 0} rows, need {subsets}: one row a training set"
        raise DimensionMismatch.about("laws", message)
    wrong = ~((table >= 0.0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) <= ROUNDING))  # true for NaN, too
    if wrong.any():
        message = "need probabilities in every row, at least 0 and with sum 1"
        raise NotDistribution.about("laws", message, int(wrong.argmax()))
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _refuse(bad: NDArray[np.bool_], field: str, error: type[NotFinite | OutOfRange], what: str) -> None:
    if bad.any():
        first = int(bad.any(axis=1).argmax())
        raise error(f"{field}: row {first} holds {what}", field=field, index=first)


SLACK = 1e-12  # by how much two ways to compute the same number may differ


@dataclass(frozen=True, slots=True)
class Bound:
    """One bound: ``name`` is stable, ``quantity`` is what it bounds, ``says`` is for people.

    ``proven`` is false for what a paper prints and a counterexample refutes: it is shown, and never the tightest.
    """

    quantity: str
    name: str
    says: str
    value: float
    source: str
    assumes: str = "none"
    proven: bool = True
    tightest: bool = False


def side_by_side(bounds: Iterable[Bound]) -> tuple[Bound, ...]:
    """Mark the smallest of what is proven, quantity by quantity; equals to rounding are all marked; order is kept."""
    table = tuple(bounds)
    least: dict[str, float] = {}
    for each in table:
        if each.proven:
            least[each.quantity] = min(each.value, least.get(each.quantity, each.value))
    return tuple(
        replace(each, tightest=each.proven and each.value < inf and each.value <= least[each.quantity] + SLACK)
        for each in table
    )


def gamma_of(nonmember_share: float, member_weight: float = 1.0) -> float:
    """MIS's gamma = nu/(lambda (1-nu)): how a false alarm weighs against a member missed; nu, the nonmembers' share."""
    nu = require_open_unit("nonmember_share", nonmember_share)
    return nu / (require_positive("member_weight", member_weight) * (1.0 - nu))


def guess_accuracy(nonmember_share: float, member_weight: float = 1.0) -> float:
    """Accuracy of the better constant guess: max(nu, lambda (1-nu)) (MIS, after Definition 2)."""
    nu = require_open_unit("nonmember_share", nonmember_share)
    return max(nu, require_positive("member_weight", member_weight) * (1.0 - nu))


def accuracy(delta: float, nonmember_share: float, member_weight: float = 1.0) -> float:
    """Accuracy of the best attack at Delta (MIS, Theorem 6): from the baseline at 0 to nu + lambda (1-nu) at 1."""
    smaller = min(nonmember_share, member_weight * (1.0 - nonmember_share))
    return guess_accuracy(nonmember_share, member_weight) + smaller * delta


def normalised(gain: float, members: float, nonmembers: float) -> float:
    """MIS's Delta of a gain: as a share of the smaller weight, which is all there is to be gained."""
    return gain / min(members, nonmembers)


def advantage_of(gain: float, prior: float) -> float:
    """The advantage of a gain at the prior: without one it is the baseline to the last bit."""
    return baseline(prior) + 2.0 * gain
