"""What finitely many outcomes give away, exactly: of any algorithm, and of the exponential mechanism by two ways.

Half of 2n records are drawn, every half equally likely (PMP, Definition 2). An attacker who knows the 2n records
compares the law of the outcome given that a record is in with the law given that it is not.

The exponential mechanism, for losses that are summed over records, meets in the middle: a training set is k of the
first n records and n - k of the rest, and e^(score) is a product of the two parts. So with E1 and E2 (parts x outcomes)
the normalisers of all pairs are the product Z = E1 E2', and the sums over training sets are E1 * ((1/Z) E2): three
matrix products, and one reciprocal a training set where enumeration takes an exponential for each outcome. For any
loss, and however far apart, it goes one training set after the other, in logs.
"""

from collections.abc import Iterable
from math import comb
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from estimators import errors
from estimators.arrays import Floats
from estimators.python.dataclass import dataclass
from estimators.theory import subsets


class Worst(NamedTuple):
    """The record and the outcome at which the practical epsilon is reached, and what that outcome says."""

    record: int
    outcome: int
    says: Literal["member", "nonmember"]


class Event(NamedTuple):
    """The record and the outcomes at which a practical epsilon at a delta is reached, and what they say together."""

    record: int
    outcomes: tuple[int, ...]
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
            result = self.inside - self.outside
        return np.where(np.isneginf(self.inside) & np.isneginf(self.outside), 0.0, result)

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
        tilt = errors.require_nonnegative("epsilon", epsilon)
        return np.maximum(
            _hockey_stick(self.inside, self.outside, tilt), _hockey_stick(self.outside, self.inside, tilt)
        )

    def epsilon_at(self, delta: float) -> float:
        """Least practical epsilon that goes with delta: infinite if an outcome beyond delta gives a record away."""
        return float(self.epsilons_at(delta).max())

    def epsilons_at(self, delta: float) -> Floats:
        """The same record by record."""
        delta = errors.require_from_zero_to_one("delta", delta)
        if delta == 0.0:
            return self.epsilons
        return np.maximum(_least(self.inside, self.outside, delta)[0], _least(self.outside, self.inside, delta)[0])

    def event_at(self, delta: float) -> Event | None:
        """Where the practical epsilon at delta is reached; None if it is 0, which no event is needed for."""
        delta = errors.require_from_zero_to_one("delta", delta)
        ways: tuple[tuple[Floats, Floats, Literal["member", "nonmember"]], ...] = (
            (self.inside, self.outside, "member"),
            (self.outside, self.inside, "nonmember"),
        )
        best: tuple[float, Event | None] = (0.0, None)
        for one, other, says in ways:
            least, order, size = _least(one, other, delta)
            record = int(least.argmax())
            if least[record] > best[0]:
                outcomes = tuple(sorted(int(each) for each in order[record, : size[record] + 1]))
                best = float(least[record]), Event(record, outcomes, says)
        return best[1]

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
    n = errors.require_count("n", n)
    table = np.asarray(laws, dtype=np.float64)
    if table.ndim != 2 or len(table) != comb(2 * n, n):
        message = f"got {len(table)} rows, need {comb(2 * n, n)}, one for each {n} of {2 * n} records"
        raise errors.DimensionMismatch.about("laws", message)
    wrong = ~((table >= 0.0).all(axis=1) & (np.abs(table.sum(axis=1) - 1.0) < 1e-9))
    if wrong.any():
        first = int(wrong.argmax())
        message = f"row {first} is no distribution, need numbers of at least 0 that sum to 1"
        raise errors.NotDistribution.about("laws", message, first)
    rows = subsets.matrix(2 * n, n, "give fewer records").astype(np.float64)
    with np.errstate(divide="ignore"):
        return InOut(np.log(rows.T @ table / (len(table) / 2)), np.log((1.0 - rows).T @ table / (len(table) / 2)))


def _hockey_stick(one: Floats, other: Floats, tilt: float) -> Floats:
    return np.asarray(np.maximum(np.exp(one) - np.exp(other + tilt), 0.0).sum(axis=1))


def half_of(rows: int) -> int:
    """How many of twice as many records were used, if there is a row for each way to choose them."""
    n = 1
    while comb(2 * n, n) < rows:
        n += 1
    if comb(2 * n, n) != rows:
        raise errors.DimensionMismatch.about(
            "laws", f"got {rows} rows, need one for each half of 2, 4, 6, 8, ... records: 2, 6, 20, 70, ... rows"
        )
    return n


def _least(one: Floats, other: Floats, delta: float) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
    """Least epsilon with P(S) - e^eps Q(S) <= delta for all S; only sets of largest ratio matter (Neyman-Pearson).

    Record by record, with the outcomes in the order of their ratios, and the last of those in the worst set.
    """
    ratios = InOut(one, other).log_ratios
    order = np.argsort(-ratios, axis=1)
    p = np.cumsum(np.exp(np.take_along_axis(one, order, axis=1)), axis=1)
    q = np.cumsum(np.exp(np.take_along_axis(other, order, axis=1)), axis=1)
    beyond = p > delta * (1.0 + 1e-12)  # a sum that is delta but for rounding is within it
    least = np.full(p.shape, -np.inf)
    with np.errstate(divide="ignore"):
        least[beyond] = np.log(p[beyond] - delta) - np.log(q[beyond])
    return np.maximum(least.max(axis=1), 0.0), order, least.argmax(axis=1)


WIDEST = 600.0
"""Logs of one training set may lie this far apart: products and reciprocals of both parts are still floats."""

CELLS = 1 << 21  # pairs of parts at a time


def span(scores: Floats) -> float:
    """How far apart the log probabilities of two outcomes can be, at most, on any training set."""
    return float((scores.max(axis=1) - scores.min(axis=1)).sum())


def laws_of_sums(scores: Floats) -> InOut:
    """The laws of every record from ``scores`` (2n records x outcomes), whose sum over a training set is its logit."""
    n = len(scores) // 2
    first, second = scores[:n], scores[n:]
    inside, outside = np.zeros_like(scores), np.zeros_like(scores)
    for k in range(n + 1):
        a, e1 = _parts(first, k)
        b, e2 = _parts(second, n - k)
        share2 = np.zeros_like(e2)
        step = max(1, CELLS // len(e2))
        for start in range(0, len(e1), step):
            part = slice(start, start + step)
            inverse = 1.0 / (e1[part] @ e2.T)
            share1 = e1[part] * (inverse @ e2)
            inside[:n] += a[part].T @ share1
            outside[:n] += (1.0 - a[part]).T @ share1
            share2 += inverse.T @ e1[part]
        share2 *= e2
        inside[n:] += b.T @ share2
        outside[n:] += (1.0 - b).T @ share2
    half = np.log(subsets.how_many(2 * n, n) / 2)
    return InOut(np.log(inside) - half, np.log(outside) - half)


def _parts(scores: Floats, size: int) -> tuple[Floats, Floats]:
    """All parts of a size: their rows, and e^(sum of scores) with the largest outcome at 1."""
    rows = np.concatenate(list(subsets.all_subsets(len(scores), size))).astype(np.float64)
    total = rows @ scores
    return rows, np.exp(total - total.max(axis=1, keepdims=True))


Blocks = Iterable[tuple[NDArray[np.bool_], Floats]]


def laws_of_blocks(blocks: Blocks, training_sets: int, records: int) -> InOut:
    """The laws of every record from blocks of training sets and the logits of their outcomes."""
    inside: list[Floats] = []
    outside: list[Floats] = []
    for rows, logits in blocks:
        logs = log_softmax(logits, axis=1)
        inside.append(_sums(rows, logs, records))
        outside.append(_sums(~rows, logs, records))
    half = np.log(training_sets / 2)
    return InOut(logsumexp(inside, axis=0) - half, logsumexp(outside, axis=0) - half)


def _sums(rows: NDArray[np.bool_], logs: Floats, records: int) -> Floats:
    """Log of the sum of probabilities over the training sets each record is in."""
    if logs.min() > -600.0:  # no probability and no sum of them underflows
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(rows.astype(np.float64).T @ np.exp(logs)))
    nothing = np.full(logs.shape[1], -np.inf)
    return np.stack([logsumexp(logs[rows[:, x]], axis=0) if rows[:, x].any() else nothing for x in range(records)])
