"""The exponential mechanism (PMP, Proposition 9), exactly.

Outcome w is chosen with probability proportional to exp(-epsilon l(w, D) / (2 Delta)). The paper
states one direction of the ratio; Definition 2 binds both, so |ln ratio| is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from estimators import errors
from estimators.arrays import Floats
from estimators.python.dataclass import dataclass, field
from estimators.theory import subsets
from estimators.theory.bounds import rows_of
from estimators.theory.pmp.laws import WIDEST, InOut, laws_of_blocks, laws_of_sums, span

Places = NDArray[np.intp]


class Neighbours:
    """Iterates over (i, j, places of the sets with i, places of the same with j instead), i < j, of n of 2n records.

    Places are those of the lexicographic order; every two neighbours come up exactly once.
    """

    def __init__(self, n: int) -> None:
        self.records = 2 * n
        self.bits = 1 << np.arange(self.records, dtype=np.int64)
        self.place = np.empty(1 << self.records, dtype=np.int32)
        start = 0
        for block in subsets.all_subsets(self.records, n):
            self.place[block @ self.bits] = np.arange(start, start + len(block), dtype=np.int32)
            start += len(block)
        fewer = subsets.all_subsets(self.records, n - 1)
        self.rest = np.concatenate([block @ self.bits for block in fewer])

    def __iter__(self) -> Iterator[tuple[int, int, Places, Places]]:
        for i, j in combinations(range(self.records), 2):
            one, other = self.bits[i], self.bits[j]
            rest = self.rest[(self.rest & (one | other)) == 0]
            yield i, j, self.place[rest | one].astype(np.intp), self.place[rest | other].astype(np.intp)


INSTEAD = "set draws to sample training sets at random and get an interval"

MOST_SUMMED = 200_000_000
"""Training sets of summed losses, of which there are fewer than a billion multiplications for each outcome."""

MOST_PAIRED = 800_000  # training sets whose neighbours are all compared

MOST_PAIRS = 100_000_000
"""Pairs of records (or of outcomes), times outcomes (or records), that are compared: 10 seconds for exchanges."""

STEEPEST = 1e10  # logits beyond are refused: the rounding of their sums alone would move the log of a ratio
MOST_N = 11  # largest n for which a table of all C(2n, n) training sets is read


@dataclass(frozen=True)
class Summed:
    """An exponential mechanism whose loss is summed over the training set.

    Args:
        losses: Loss of every outcome: a row for each of the 2n records.
        sensitivity: Most that the loss of a training set changes when one record is exchanged, over all data; above 0.

    Raises:
        MaceError: an odd number of rows, or a sensitivity that these losses exceed.

    Example:
        >>> from estimators.theory import pmp
        >>> mechanism = pmp.Summed([[0, 1], [0, 1], [1, 0], [1, 0]], sensitivity=1.0)  # four records, two outcomes
        >>> mechanism.n, round(mechanism.exact(1.0).epsilon, 3)
        (2, 0.311)
    """

    losses: Floats
    sensitivity: float
    n: int = field(init=False)

    def __post_init__(self) -> None:
        losses = rows_of("losses", self.losses)
        errors.require_positive("sensitivity", self.sensitivity)
        if len(losses) < 2 or len(losses) % 2:
            raise errors.TooFewRecords.about("losses", f"got {len(losses)} rows, need an even number, 2n")
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "n", len(losses) // 2)
        _require_reach(float((losses.max(axis=0) - losses.min(axis=0)).max()), self.sensitivity)

    @classmethod
    def mean(cls, losses: Floats, sensitivity: float) -> Summed:
        """The same for a loss that is the mean over the training set.

        Args:
            losses: As for ``Summed``.
            sensitivity: As for ``Summed``, of the mean.
        """
        table = rows_of("losses", losses)
        return cls(table / max(len(table) // 2, 1), sensitivity)

    def scores(self, epsilon: float) -> Floats:
        """What each record adds to the logits of the outcomes, but for a constant of the record.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        return _logits(self.losses, self.sensitivity, epsilon)

    def exact(self, epsilon: float) -> InOut:
        """The laws of every record, over all C(2n, n) training sets.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        scores = self.scores(epsilon)
        if span(scores) <= WIDEST:
            most = min(MOST_SUMMED, 5_000_000_000 // scores.shape[1])
            subsets.require_few(len(scores), self.n, INSTEAD, most)
            return laws_of_sums(scores)
        number = subsets.require_few(len(scores), self.n, INSTEAD)
        blocks = ((subset, subset @ scores) for subset in subsets.all_subsets(len(scores), self.n))
        return laws_of_blocks(blocks, number, len(scores))

    def on_records(self, epsilon: float) -> float:
        """DP's epsilon with both training sets among these records: the paper's epsilon(X).

        A swap of x for x' moves all logits by d, fixed, and their normaliser by c: the extremes of c are enough.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        scores = self.scores(epsilon)
        subsets.require_few(len(scores), self.n, INSTEAD, MOST_PAIRED)
        subset = subsets.all_subsets(len(scores), self.n)
        normalisers = np.concatenate([logsumexp(block @ scores, axis=1) for block in subset])
        result = 0.0
        for i, j, with_i, with_j in Neighbours(self.n):
            d = scores[i] - scores[j]
            c = normalisers[with_i] - normalisers[with_j]
            result = max(result, float(d.max() - c.min()), float(c.max() - d.min()))
        return result

    def exchanges(self, epsilon: float) -> Floats:
        """An upper bound on every record's practical epsilon in O(n^2), however many training sets there are.

        P_in is the mean over D' without x, and over the n records x' in D', of p(D' - x' + x). Such an exchange
        moves ln p_w by d_w - c, where d = score(x) - score(x') and c, by which the normaliser moves, lies
        between min d and max d. So P_in/P_out is at most the mean of e^(d_w - min d) over the worst n of the x',
        and P_out/P_in the mean of e^(max d - d_w). It rises with epsilon, and never exceeds it.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        require_pairs(len(self.losses), self.losses.size)
        scores = np.ascontiguousarray(self.scores(epsilon).T)
        result = np.zeros(2 * self.n)
        for x in range(2 * self.n):
            d = scores[:, [x]] - np.delete(scores, x, axis=1)
            up, down = d - d.min(axis=0), d.max(axis=0) - d
            result[x] = max(_worst_mean(up, self.n), _worst_mean(down, self.n))
        return np.minimum(result, epsilon)


@dataclass(frozen=True)
class Tabled:
    """An exponential mechanism with any loss of a training set.

    Args:
        losses: Loss of every outcome: a row for each of the C(2n, n) training sets, in lexicographic order.
        sensitivity: As for ``Summed``.

    Raises:
        MaceError: a number of rows that is not C(2n, n), or a sensitivity that these losses exceed.

    Example:
        >>> from estimators.theory import pmp
        >>> mechanism = pmp.Tabled([[0, 1], [1, 0]], sensitivity=1.0)  # one of two records is used
        >>> round(pmp.assess_exponential(mechanism, epsilon=1.0).practical_epsilon, 3)
        0.5
    """

    losses: Floats
    sensitivity: float
    n: int = field(init=False)

    def __post_init__(self) -> None:
        losses = rows_of("losses", self.losses)
        errors.require_positive("sensitivity", self.sensitivity)
        n = next((n for n in range(1, MOST_N + 1) if comb(2 * n, n) == len(losses)), 0)
        if not n:
            message = f"got {len(losses)} rows, need C(2n, n), one for each training set: 2, 6, 20, 70, ..."
            raise errors.DimensionMismatch.about("losses", message)
        object.__setattr__(self, "losses", losses)
        object.__setattr__(self, "n", n)
        reach = max(float(np.abs(losses[a] - losses[b]).max()) for _, _, a, b in Neighbours(n))
        _require_reach(reach, self.sensitivity)

    def logits(self, epsilon: float) -> Floats:
        """Log probabilities of the outcomes, but for a constant, training set by training set.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        return _logits(self.losses, self.sensitivity, epsilon)

    def exact(self, epsilon: float) -> InOut:
        """The laws of every record, over all C(2n, n) training sets.

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        subset = subsets.matrix(2 * self.n, self.n, INSTEAD)
        return laws_of_blocks([(subset, self.logits(epsilon))], len(subset), 2 * self.n)

    def on_records(self, epsilon: float) -> float:
        """DP's epsilon with both training sets among these records: the paper's epsilon(X).

        Args:
            epsilon: Epsilon of the mechanism's differential privacy, at least 0.
        """
        logs = log_softmax(self.logits(epsilon), axis=1)
        return max(float(np.abs(logs[a] - logs[b]).max()) for _, _, a, b in Neighbours(self.n))


def require_pairs(several: int, cells: int) -> None:
    """Refuse what takes records or outcomes two by two, where it would take more than a quarter of a minute."""
    if several * cells > MOST_PAIRS:
        raise errors.OutOfRange.about(
            "losses",
            f"got a table of {cells:,} numbers to compare with {several:,} others each, need at most "
            f"{MOST_PAIRS:,} pairs; take fewer outcomes, or DP's own epsilon, which is never exceeded",
        )


def _worst_mean(moved: Floats, n: int) -> float:
    """Log of the mean of e^moved over the n largest of a row, for the worst row."""
    moved.partition(n - 1, axis=1)  # of 2n - 1, in place
    worst = moved[:, n - 1 :]
    top = worst.max(axis=1, keepdims=True)
    return float((np.log(np.exp(worst - top).mean(axis=1)) + top[:, 0]).max())


def _logits(losses: Floats, sensitivity: float, epsilon: float) -> Floats:
    """-epsilon l / (2 Delta), every row about its mean: a constant of a row is in no probability."""
    steepness = errors.require_nonnegative("epsilon", epsilon) / sensitivity / 2.0
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        result = (losses.mean(axis=1, keepdims=True) - losses) * steepness
    if not bool((np.abs(result) <= STEEPEST).all()):
        raise errors.OutOfRange.about(
            "sensitivity",
            f"the losses of two outcomes differ so much that a logit exceeds {STEEPEST:g}; use "
            "outcomes closer to each other, or a smaller epsilon",
        )
    return np.asarray(result)


def _require_reach(reach: float, sensitivity: float) -> None:
    """A sensitivity below what these very losses show would make epsilon a promise nobody keeps."""
    if reach > sensitivity * (1.0 + 1e-9):
        raise errors.OutOfRange.about(
            "sensitivity", "exchanging one of these records changes a loss by more than that; give at least that change"
        )
