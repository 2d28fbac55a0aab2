"""What was promised, how records became members, and the ROC curve that no adversary is above then.

That curve is concave, and its own mirror image, as a promise holds both ways round. Everything a promise allows is read
off it: the TPR at an FPR, and what members TPR + nonmembers (1 - FPR) gains over
the better constant guess. That is max(less TPR - more FPR), the smaller weight first, as a mirror image may be taken:
no difference of nearly equal numbers, however unequal the weights.

The laws of what an adversary sees, given that a record is a member and that it is not, are mixtures over training sets.
With a fixed number of members drawn at random, a set with the record goes to one without it by one replacement, and
uniformly so: take the record out, put in one drawn from the rest. Both laws are then the same mixture of pairs of
neighbours, and joint convexity hands them the promise for every share of members (MIP's Theorem 4 has it for one half
by a matching). A promise about *adding or removing* a record says this of two steps only: R(R(x)). Under
(epsilon, delta) that is within (2 epsilon, (1 + e^epsilon) delta), which is looser. Where each record is included by a
coin of its own, a record's two laws are one addition apart; a promise about replacing one says nothing of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from math import exp, inf, isfinite, log
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from estimators.arrays import Floats
from estimators.errors import OptionError, OutOfRange, require_from_zero_to_one, require_nonnegative
from estimators.python.dataclass import dataclass
from estimators.theory.shifts import gaussian_delta, gaussian_epsilon

LARGEST = 700.0  # beyond it e^epsilon is no float, and 1 - e^-epsilon is 1


class Envelope(Protocol):
    """The largest TPR at each FPR."""

    def tpr(self, fpr: ArrayLike) -> Floats:
        """Largest TPR at each FPR."""
        ...

    def gain(self, members: float, nonmembers: float) -> float:
        """Largest ``members`` TPR + ``nonmembers`` (1 - FPR), less the larger weight."""
        ...

    def twice(self) -> Envelope:
        """What two neighbours in a row allow, R(R(x)): the first takes FPR to R, the second R to R(R)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Corners:
    """Straight between its corners, which are in order of FPR and end at (1, 1)."""

    fpr: Floats
    height: Floats

    @classmethod
    def of(cls, epsilons: Sequence[float], deltas: Sequence[float]) -> Corners:
        """What several (epsilon, delta) allow at once: below each line delta + e^epsilon FPR and its mirror image.

        Left of the antidiagonal only the steep lines count, as a shallow one meets its own steep one there. One pair
        alone has the corners (0, delta), (a, 1-a), (1-delta, 1), a = (1-delta)/(1+e^epsilon) (Kairouz et al. 2015).
        """
        slope = np.exp(np.minimum(np.asarray(epsilons, dtype=np.float64), LARGEST))
        start = np.asarray(deltas, dtype=np.float64)
        at = int(np.lexsort((slope, start))[0])
        x, y = [0.0], [float(start[at])]
        end = (1.0 - start) / (1.0 + slope)  # where a line meets the antidiagonal
        while True:
            crossing = np.full(slope.shape, inf)
            flatter = slope < slope[at]
            crossing[flatter] = (start[flatter] - start[at]) / (slope[at] - slope[flatter])
            after = int(np.argmin(crossing))
            if crossing[after] >= end[at]:
                break
            x.append(float(crossing[after]))
            y.append(float(start[at] + slope[at] * crossing[after]))
            at = after
        across, up = np.array(x), np.array(y)
        middle = float(end[at])
        return cls(
            np.concatenate([across, [middle], 1.0 - up[::-1], [1.0]]),
            np.concatenate([up, [1.0 - middle], 1.0 - across[::-1], [1.0]]),
        )

    def tpr(self, fpr: ArrayLike) -> Floats:
        """Straight between the corners."""
        return np.asarray(np.interp(np.asarray(fpr, dtype=np.float64), self.fpr, self.height))

    def gain(self, members: float, nonmembers: float) -> float:
        """A linear function is largest at a corner; (0, 0) gains nothing."""
        less, more = sorted((members, nonmembers))
        return max(0.0, float(np.max(less * self.height - more * self.fpr)))

    def twice(self) -> Corners:
        """It bends where the first step does, and where the first step ends at a bend of the second."""
        rising = self.height < 1.0
        rising[np.argmax(~rising)] = True
        before = np.interp(self.fpr[self.fpr >= self.height[0]], self.height[rising], self.fpr[rising])
        at = np.unique(np.concatenate([self.fpr, before]))
        return Corners(at, self.tpr(self.tpr(at)))


@dataclass(frozen=True, slots=True)
class GaussianEnvelope:
    """Phi(Phi^-1(FPR) + mu), the curve of N(mu, 1) against N(0, 1) (Dong, Roth and Su 2022)."""

    mu: float

    def tpr(self, fpr: ArrayLike) -> Floats:
        """The height of the curve."""
        return np.asarray(ndtr(ndtri(np.asarray(fpr, dtype=np.float64)) + self.mu))

    def gain(self, members: float, nonmembers: float) -> float:
        """At the cut where the weighted densities are equal, mu/2 + log(more/less)/mu."""
        if self.mu == 0.0:
            return 0.0
        less, more = sorted((members, nonmembers))
        tilt = log(more / less) / self.mu
        return max(0.0, float(less * ndtr(self.mu / 2.0 - tilt) - more * ndtr(-self.mu / 2.0 - tilt)))

    def twice(self) -> GaussianEnvelope:
        """Two shifts add up."""
        return GaussianEnvelope(2.0 * self.mu)


Pair = tuple[float, float]

POINTS, NEXT_TO_NOTHING = 101, 1e-12
"""How a Gaussian promise is written down as (epsilon, delta): so many pairs, down to this delta."""


class Adjacency(Enum):
    """Which training sets a promise compares."""

    REPLACE = "replace"
    ADD_REMOVE = "add_remove"


class Inclusion(Enum):
    """How records became members."""

    FIXED_NUMBER = "fixed_number"
    INDEPENDENT = "independent"


class Promise(Protocol):
    """A promise about any two neighbours."""

    def envelope(self) -> Envelope:
        """What it allows between two neighbours."""
        ...

    def pair(self, delta: float | None) -> Pair | None:
        """It as one (epsilon, delta), if it has one."""
        ...


@dataclass(frozen=True, slots=True)
class ApproximateDp:
    """(epsilon, delta)-DP; pure at delta 0.

    Args:
        epsilon: Epsilon of the promise, at least 0.
        delta: Delta that goes with it, from 0 to 1; at 1 nothing is promised.

    Raises:
        OutOfRange: a number out of its range.

    Example:
        >>> from estimators.theory import dp
        >>> promise = dp.ApproximateDp(1.0, delta=1e-5)
        >>> round(float(promise.envelope().tpr(0.01)), 5)  # the largest TPR at an FPR of 0.01
        0.02719
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_nonnegative("epsilon", self.epsilon)
        require_from_zero_to_one("delta", self.delta)

    def envelope(self) -> Corners:
        """Three corners."""
        return Corners.of([self.epsilon], [self.delta])

    def pair(self, delta: float | None = None) -> Pair:
        """Itself, whatever delta is asked for.

        Args:
            delta: Not used.
        """
        return self.epsilon, self.delta


@dataclass(frozen=True, slots=True)
class GaussianDp:
    """mu-GDP: no easier to tell apart than N(0, 1) and N(mu, 1).

    Args:
        mu: Distance of the two normal distributions, at least 0.

    Raises:
        OutOfRange: a negative mu.

    Example:
        >>> from estimators.theory import dp
        >>> epsilon, delta = dp.GaussianDp(1.0).pair(1e-5)
        >>> round(epsilon, 3), delta
        (4.377, 1e-05)
    """

    mu: float

    def __post_init__(self) -> None:
        require_nonnegative("mu", self.mu)

    def envelope(self) -> GaussianEnvelope:
        """The Gaussian curve."""
        return GaussianEnvelope(self.mu)

    def pair(self, delta: float | None) -> Pair | None:
        """The least epsilon at ``delta``, exactly (Balle and Wang 2018).

        Args:
            delta: Where epsilon is wanted. None: there is no pair.
        """
        if delta is None:
            return None
        epsilon = gaussian_epsilon(self.mu, delta)
        return (epsilon, delta) if isfinite(epsilon) else None

    def curve(self) -> DpCurve:
        """Its (epsilon, delta), from epsilon 0 to where delta is next to nothing."""
        epsilons = np.linspace(0.0, gaussian_epsilon(self.mu, NEXT_TO_NOTHING), POINTS).tolist()
        return DpCurve(tuple(epsilons), tuple(gaussian_delta(self.mu, e) for e in epsilons))


@dataclass(frozen=True, slots=True)
class DpCurve:
    """Many (epsilon, delta) of one mechanism, all of which hold.

    Args:
        epsilons: Epsilons, at least one, each at least 0.
        deltas: The delta at each of them, at least 0; one of 1 or more promises nothing.

    Raises:
        OutOfRange: a negative number, or not as many deltas as epsilons.

    Example:
        >>> from estimators.theory import dp
        >>> curve = dp.DpCurve((0.5, 1.0, 2.0), (0.1, 0.01, 1e-6))
        >>> curve.pair(0.05)
        (1.0, 0.05)
        >>> dp.assess(curve).sentence.partition(",")[0]
        'The promise allows an advantage of at most 0.321 at prior 0.5'
    """

    epsilons: tuple[float, ...]
    deltas: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.epsilons or len(self.epsilons) != len(self.deltas):
            raise OutOfRange.about("curve", "need as many deltas as epsilons, and at least one")
        for epsilon, delta in zip(self.epsilons, self.deltas, strict=True):
            require_nonnegative("epsilon", epsilon)
            require_nonnegative("delta", delta)

    def envelope(self) -> Corners:
        """Below every one of its pairs; a delta of 1 or more says nothing."""
        return Corners.of(self.epsilons, [min(delta, 1.0) for delta in self.deltas])

    def pair(self, delta: float | None) -> Pair | None:
        """The smallest of its epsilons at which delta is no larger.

        Args:
            delta: Where epsilon is wanted. None: there is no pair.
        """
        if delta is None:
            return None
        enough = [e for e, d in zip(self.epsilons, self.deltas, strict=True) if d <= delta]
        return (min(enough), delta) if enough else None


@dataclass(frozen=True, slots=True)
class Grant:
    """What a promise comes to between a record's two laws.

    ``pair`` is the promise as one (epsilon, delta), for the formulas that need one; ``pure`` its epsilon if delta is 0.
    ``plain`` where that pair says all there is, ``fixed`` where members are a fixed number. ``source`` says whose
    envelope it is, ``assumes`` what it takes for granted.
    """

    envelope: Envelope
    pair: Pair | None
    source: str
    assumes: str
    plain: bool
    fixed: bool

    @property
    def pure(self) -> float | None:
        """Its epsilon at delta 0, if it has one."""
        return self.pair[0] if self.pair is not None and self.pair[1] == 0.0 else None


REPLACING = "a fixed number of members is drawn at random; the promise is about replacing one record"
ADDING = "each record is a member independently of the others; the promise is about adding or removing one record"
TWO_STEPS = (
    "a fixed number of members is drawn at random; the promise about adding or removing one record is applied twice"
)


def grant_of(
    promise: Promise,
    adjacency: Adjacency | str | None = None,
    inclusion: Inclusion | str = Inclusion.FIXED_NUMBER,
    delta: float | None = None,
) -> Grant:
    """The envelope of a record's two laws; no ``adjacency`` stands for the one that ``inclusion`` needs.

    ``delta`` is where a promise that is a curve is read as one (epsilon, delta).
    """
    how = Inclusion(inclusion)
    fixed = how is Inclusion.FIXED_NUMBER
    about = Adjacency(adjacency) if adjacency is not None else Adjacency.REPLACE if fixed else Adjacency.ADD_REMOVE
    envelope = promise.envelope()
    source = "Dong, Roth and Su 2022" if isinstance(envelope, GaussianEnvelope) else "Kairouz, Oh and Viswanath 2015"
    if about is Adjacency.REPLACE and not fixed:
        raise OptionError.about(
            "adjacency",
            "a promise about replacing a record compares training sets of one size, so it does "
            "not apply when each record is included independently; use add_remove",
        )
    if about is Adjacency.REPLACE or not fixed:
        plain, assumes = isinstance(promise, ApproximateDp), REPLACING if fixed else ADDING
        return Grant(envelope, promise.pair(delta), source, assumes, plain, fixed)
    pair = _two_steps(promise, delta)
    return Grant(envelope.twice(), pair, f"{source}, twice", TWO_STEPS, plain=False, fixed=fixed)


def _two_steps(promise: Promise, delta: float | None) -> Pair | None:
    """(2 epsilon, (1 + e^epsilon) delta): P <= e^eps M + delta and M <= e^eps Q + delta. Exact for mu-GDP."""
    if isinstance(promise, GaussianDp):
        return GaussianDp(2.0 * promise.mu).pair(delta)
    once = promise.pair(delta)
    if once is None:
        return None
    both = (1.0 + exp(min(once[0], 700.0))) * once[1] if once[1] else 0.0
    return (2.0 * once[0], both) if both < 1.0 and once[0] < inf else None
